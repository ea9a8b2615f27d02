//! Decoding of a module: the entry, the functions it reaches, the variables it names.

use super::builder::{Builder, code_address};
use super::placed::{Places, layout_of};
use super::{Result, function};
use crate::parse::ParseError;
use crate::parse::ast::{self, VarSpace};
use crate::program::inst::{Callee, Op, Special};
use crate::program::{EntryAttributes, EntryParam, FunctionInfo, Needs, Program, window};
use rustc_hash::FxHashMap;

/// Decodes entry `name` of `module`, or its only entry if `name` is `None`.
pub fn decode(module: &ast::Module<'_>, name: Option<&str>) -> Result<Program> {
    decode_with(module, name, None)
}

/// The same with variables where `places` says.
pub fn decode_placed(
    module: &ast::Module<'_>,
    name: Option<&str>,
    places: &mut dyn Places,
) -> Result<Program> {
    decode_with(module, name, Some(places))
}

fn decode_with<'a>(
    module: &'a ast::Module<'a>,
    name: Option<&str>,
    places: Option<&'a mut dyn Places>,
) -> Result<Program> {
    let entry = find_entry(module, name)?;
    let mut builder = Builder {
        module,
        constants: Vec::new(),
        constant_index: FxHashMap::default(),
        variables: FxHashMap::default(),
        globals: Vec::new(),
        function_index: FxHashMap::default(),
        order: vec![entry],
        shared_end: window::SHARED_BASE,
        shared_names: Vec::new(),
        next_global: window::GLOBAL,
        next_const: window::CONST,
        dynamic_shared: Vec::new(),
        places,
    };
    builder.function_index.insert(entry.name, 0);
    builder.constant(0);
    for variable in &module.variables {
        builder.declare_module_variable(variable)?;
    }
    builder.place_body_shared(entry)?;
    builder.place_dynamic_shared();
    let initialised: Vec<_> = module
        .variables
        .iter()
        .filter(|v| matches!(v.space, VarSpace::Global | VarSpace::Const))
        .collect();
    for (index, variable) in initialised.into_iter().enumerate() {
        builder.initialise(index, variable)?;
    }
    finish(builder, entry)
}

fn find_entry<'a>(
    module: &'a ast::Module<'a>,
    name: Option<&str>,
) -> Result<&'a ast::Function<'a>> {
    let entries = || {
        module
            .functions
            .iter()
            .filter(|f| f.is_entry && f.body.is_some())
    };
    let wanted = |f: &&ast::Function<'_>| name.is_none_or(|name| f.name == name);
    let mut found = entries().filter(wanted);
    let fail = |message| Err(ParseError { line: 1, message });
    let names = || entries().map(|f| f.name).collect::<Vec<_>>().join(", ");
    match (found.next(), name) {
        (Some(entry), Some(_)) => Ok(entry),
        (Some(entry), None) if found.next().is_none() => Ok(entry),
        (Some(_), None) => fail(format!(
            "the module has several entries, name one: {}",
            names()
        )),
        (None, Some(name)) => fail(format!("no entry `{name}`; the module has: {}", names())),
        (None, None) => fail("the module has no entry".into()),
    }
}

fn finish<'a>(mut builder: Builder<'a>, entry: &'a ast::Function<'a>) -> Result<Program> {
    let params = entry_params(entry)?;
    let mut code = Vec::new();
    let mut functions: Vec<FunctionInfo> = Vec::new();
    // Decoding a function may add functions to the order.
    while let Some(&function) = builder.order.get(functions.len()) {
        let start = code.len() as u32;
        let (info, mut instructions) = function::decode(&mut builder, function, start, &params)?;
        functions.push(info);
        code.append(&mut instructions);
    }
    let mut needs = Needs::default();
    for inst in &code {
        match &inst.op {
            Op::Call { callee, .. } => needs.heap |= matches!(callee, Callee::Malloc),
            Op::Special { special, .. } => {
                needs.cooperation |= matches!(special, Special::Envreg(Some(1 | 2)));
            }
            _ => {}
        }
    }
    let function_addresses = (0u32..)
        .zip(&builder.order)
        .filter_map(|(i, function)| Some((code_address(builder.module, function)?, i)))
        .collect();
    let param_bytes = params.last().map_or(0, |p| p.offset + p.size);
    Ok(Program {
        entry: entry.name.to_owned(),
        target: target_of(builder.module),
        code,
        functions,
        constants: builder.constants,
        params,
        param_bytes,
        attributes: attributes_of(entry)?,
        needs,
        variables: builder.globals,
        shared_end: builder.shared_end as u32,
        shared_names: builder.shared_names,
        function_addresses,
    })
}

fn target_of(module: &ast::Module<'_>) -> (u32, Option<char>) {
    let Some(arch) = module.target.first().and_then(|t| t.strip_prefix("sm_")) else {
        return (0, None);
    };
    let suffix = arch.chars().last().filter(|c| c.is_ascii_alphabetic());
    (
        arch.trim_end_matches(|c: char| c.is_ascii_alphabetic())
            .parse()
            .unwrap_or(0),
        suffix,
    )
}

fn attributes_of(entry: &ast::Function<'_>) -> Result<EntryAttributes> {
    let mut attributes = EntryAttributes::default();
    for (word, values) in &entry.directives {
        let fit = |i: usize| {
            values.get(i).map_or(Ok(1), |&v| {
                u32::try_from(v).map_err(|_| ParseError {
                    line: entry.line,
                    message: format!(".{word} is too large"),
                })
            })
        };
        let triple = || -> Result<[u32; 3]> { Ok([fit(0)?, fit(1)?, fit(2)?]) };
        match *word {
            "reqntid" => attributes.reqntid = Some(triple()?),
            "maxntid" => attributes.maxntid = Some(triple()?),
            "reqnctapercluster" => attributes.cluster = Some(triple()?),
            "blocksareclusters" => attributes.blocks_are_clusters = true,
            "maxnreg" => attributes.maxnreg = Some(fit(0)?),
            "minnctapersm" => attributes.minnctapersm = Some(fit(0)?),
            "maxnctapersm"
            | "explicitcluster"
            | "maxclusterrank"
            | "noreturn"
            | "abi_preserve"
            | "language"
            | "abi_preserve_control" => {}
            _ => {
                return Err(ParseError {
                    line: entry.line,
                    message: format!("directive .{word} is not supported"),
                });
            }
        }
    }
    Ok(attributes)
}

fn entry_params(entry: &ast::Function<'_>) -> Result<Vec<EntryParam>> {
    let mut params = Vec::new();
    let mut end = 0u32;
    for param in &entry.params {
        let (size, align) = layout_of(param)?;
        let offset = end.next_multiple_of(align);
        end = offset.saturating_add(size);
        if end > 32764 {
            return Err(ParseError {
                line: param.line,
                message: "parameters exceed 32764 bytes".into(),
            });
        }
        params.push(EntryParam {
            name: param.name.to_owned(),
            offset,
            size,
        });
    }
    Ok(params)
}
