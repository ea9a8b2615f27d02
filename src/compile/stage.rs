//! A rule group over every function of a module.

use crate::dialect::cuda_tile::Op as C;
use crate::dialect::{Dialect, Traits};
use crate::egraph::{self, Context, CostModel, Legal, Limits, Report, TableCost};
use crate::ir::{BlockId, Diagnostic, Module, OpId};
use crate::isel::{SelectionCost, Tables};
use crate::rules::RuleSet;
use crate::rules::files::Group;
use crate::target::Target;

/// How a stage runs.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    pub target: Target,
    /// What operations cost in the group [`Group::Isel`]: the instructions that compute them.
    pub tables: Option<&'a Tables>,
    /// Record the cost of each choice.
    pub explain: bool,
    pub limits: Limits,
}

impl Options<'_> {
    pub fn new(target: Target) -> Self {
        Options {
            target,
            tables: None,
            explain: false,
            limits: Limits::default(),
        }
    }
}

/// The dialect in which a group writes the constants that it finds.
fn constants(group: Group) -> Dialect {
    match group {
        Group::Tile | Group::TileAaToTileAs => Dialect::CudaTile,
        Group::TileAsToNvvm | Group::Isel => Dialect::Nvvm,
    }
}

/// Rewrites every function with the rules of `group`. Returns function names and what was done.
///
/// # Errors
/// What no rule lowers, and rules that make what does not fit.
pub fn run(
    module: &mut Module,
    group: Group,
    rules: &RuleSet,
    options: &Options,
) -> Result<Vec<(String, Report)>, Diagnostic> {
    let legal = match group {
        Group::TileAsToNvvm => Legal::NoElementwiseTile,
        _ => Legal::All,
    };
    let context = Context {
        target: options.target,
        constants: constants(group),
        explain: options.explain,
    };
    let by_table = TableCost { rules, legal };
    let by_instruction;
    let model: &dyn CostModel = match options.tables {
        Some(tables) => {
            by_instruction = SelectionCost::new(by_table, tables, options.target);
            &by_instruction
        }
        None => &by_table,
    };
    let mut reports = Vec::new();
    for func in functions(module) {
        let report = egraph::rewrite(module, func, rules, &context, model, options.limits)?;
        reports.push((name(module, func), report));
    }
    Ok(reports)
}

/// The kernels: isolated operations with code, also inside a nested module.
fn functions(module: &Module) -> Vec<OpId> {
    fn collect(module: &Module, block: BlockId, out: &mut Vec<OpId>) {
        for &op in &module.block(block).ops {
            let data = module.op(op);
            if C::of(data.kind) == Some(C::Module) {
                if let Some(body) = module.body_of(op, 0) {
                    collect(module, body, out);
                }
            } else if data.def().traits.has(Traits::ISOLATED) && !data.regions.is_empty() {
                out.push(op);
            }
        }
    }
    let mut out = Vec::new();
    collect(module, module.body, &mut out);
    out
}

fn name(module: &Module, func: OpId) -> String {
    module.symbol(func).unwrap_or_default().to_owned()
}
