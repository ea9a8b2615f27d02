//! Kernels that rules are to be good for: their `nvvm` stage, and how often rules would fire there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use tilec::compile::{Compiler, Options, Stage};
use tilec::dialect::{Dialect, nvvm};
use tilec::egraph::{self, Context, Legal, TableCost};
use tilec::ir::Module;
use tilec::isel::SelectionCost;
use tilec::rules::RuleSet;

use crate::engine::Engine;
use crate::mine::{self, Terms};

/// The bytecode files under these paths, in order.
pub fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut list = Vec::new();
    for path in paths {
        collect(path, &mut list).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    list.sort();
    Ok(list)
}

fn collect(path: &Path, list: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if !path.is_dir() {
        list.push(path.to_owned());
        return Ok(());
    }
    for entry in std::fs::read_dir(path)? {
        let path = entry?.path();
        if path.is_dir() || path.extension().is_some_and(|e| e == "tilebc") {
            collect(&path, list)?;
        }
    }
    Ok(())
}

/// The `nvvm` stage of a file; nothing where the target has no such kernel.
fn lowered(file: &Path, compiler: &Compiler) -> Result<Option<Module>, String> {
    let bytes = std::fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let module = tilec::input::bytecode(&bytes).map_err(|e| format!("{}: {e}", file.display()))?;
    Ok(compiler
        .lower_to(module, Stage::Nvvm)
        .ok()
        .map(|c| c.module))
}

/// The terms of all kernels, before and after the rules that the engine has.
pub fn terms(files: &[PathBuf], engine: &Engine) -> Result<Terms, String> {
    let compiler = Compiler::new(Options::new(engine.target)).map_err(|e| e.to_string())?;
    let each = |file: &PathBuf| {
        let (mut plain, mut selected) = (Terms::new(), Terms::new());
        if let Some(mut module) = lowered(file, &compiler)? {
            mine::mine(&module, &mut plain);
            let run = tilec::compile::stage::Options {
                tables: Some(engine.tables()),
                ..tilec::compile::stage::Options::new(engine.target)
            };
            let group = tilec::rules::files::Group::Isel;
            tilec::compile::stage::run(&mut module, group, &engine.rules, &run)
                .map_err(|e| e.to_string())?;
            mine::mine(&module, &mut selected);
        }
        // What both have is there once.
        for (key, term) in selected {
            let known = plain.entry(key).or_insert_with(|| mine::Term {
                count: 0,
                ..term.clone()
            });
            known.count = known.count.max(term.count);
        }
        Ok(plain)
    };
    let all: Result<Vec<Terms>, String> = files.par_iter().map(each).collect();
    let mut sum = Terms::new();
    for (key, term) in all?.into_iter().flatten() {
        let known = sum.entry(key).or_insert_with(|| mine::Term {
            count: 0,
            ..term.clone()
        });
        known.count += term.count;
    }
    Ok(sum)
}

/// How often a rule does something in kernels.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Fires {
    /// Times that it matched and said something new.
    pub times: u64,
    /// Times that what it said was chosen.
    pub chosen: u64,
    /// Modules in which it was chosen.
    pub modules: u64,
}

/// How often each rule of the set fires in the kernels of the files, together with all others.
pub fn fires(
    files: &[PathBuf],
    engine: &Engine,
    rules: &RuleSet,
) -> Result<BTreeMap<String, Fires>, String> {
    let compiler = Compiler::new(Options::new(engine.target)).map_err(|e| e.to_string())?;
    let each = |file: &PathBuf| {
        let mut fired: BTreeMap<String, Fires> = BTreeMap::new();
        let Some(mut module) = lowered(file, &compiler)? else {
            return Ok(fired);
        };
        let table = TableCost {
            rules,
            legal: Legal::All,
        };
        let model = SelectionCost::new(table, engine.tables(), engine.target);
        let context = Context::new(engine.target, Dialect::Nvvm);
        for func in module.block(module.body).ops.clone() {
            if nvvm::Op::of(module.op(func).kind) != Some(nvvm::Op::Func) {
                continue;
            }
            let limits = egraph::Limits::default();
            let selected = egraph::select(&mut module, func, rules, &context, &model, limits);
            let (_, report) = selected.map_err(|e| format!("{}: {e}", file.display()))?;
            for rule in report.fired {
                let entry = fired.entry(rule.rule).or_default();
                entry.times += u64::from(rule.times);
                entry.chosen += u64::from(rule.chosen);
                entry.modules |= u64::from(rule.chosen > 0);
            }
        }
        Ok(fired)
    };
    let all: Result<Vec<_>, String> = files.par_iter().map(each).collect();
    let mut sum: BTreeMap<String, Fires> = BTreeMap::new();
    for (name, fires) in all?.into_iter().flatten() {
        let entry = sum.entry(name).or_default();
        entry.times += fires.times;
        entry.chosen += fires.chosen;
        entry.modules += fires.modules;
    }
    Ok(sum)
}
