//! Decoding of a module: the entry, the functions it reaches, the variables it names.

use super::names::{Binding, Function};
use super::{Result, instruction, operand};
use crate::parse::ParseError;
use crate::parse::ast::{self, Init, Statement, VarSpace, Variable};
use crate::parse::number::Literal;
use crate::program::class::Class;
use crate::program::inst::{Callee, Op, Special};
use crate::program::types::Ty;
use crate::program::{
    EntryAttributes, EntryParam, FunctionInfo, GlobalVariable, LANES, Needs, Program, Row, window,
};
use rustc_hash::FxHashMap;

/// Shared and local memory of one block or thread may not exceed this many bytes.
const MAX_SMALL_BYTES: u64 = 1 << 24;
/// Global and constant variables may not exceed this many bytes in all.
const MAX_GLOBAL_BYTES: u64 = 1 << 31;

/// A program being built.
pub struct Builder<'a> {
    module: &'a ast::Module<'a>,
    constants: Vec<Row>,
    constant_index: FxHashMap<u64, u32>,
    variables: FxHashMap<&'a str, Binding>,
    globals: Vec<GlobalVariable>,
    /// functions by name, in the order in which they will be decoded
    function_index: FxHashMap<&'a str, u32>,
    order: Vec<&'a ast::Function<'a>>,
    shared_end: u64,
    shared_names: Vec<(String, u32, u32)>,
    next_global: u64,
    next_const: u64,
    dynamic_shared: Vec<(&'a str, u32)>,
}

/// Size and alignment in bytes of a variable; unsized arrays have size 0.
pub fn layout_of(variable: &Variable<'_>) -> Result<(u32, u32)> {
    let fail = |message: String| {
        Err(ParseError {
            line: variable.line,
            message,
        })
    };
    let Some(ty) = Ty::parse(variable.ty) else {
        return fail(format!(
            "type .{} of variable `{}` is not supported",
            variable.ty, variable.name
        ));
    };
    let element = u64::from(ty.bytes()) * variable.vector;
    let align = variable.align.unwrap_or(element).max(1);
    if !align.is_power_of_two() || align > 4096 {
        return fail(format!(
            "alignment {align} of `{}` is not a power of two up to 4096",
            variable.name
        ));
    }
    match element
        .checked_mul(variable.count.unwrap_or(0))
        .filter(|&s| s < MAX_GLOBAL_BYTES)
    {
        Some(size) => Ok((size as u32, align as u32)),
        None => fail(format!("variable `{}` is too large", variable.name)),
    }
}

impl<'a> Builder<'a> {
    /// The index of the row that holds `bits` in every lane.
    pub fn constant(&mut self, bits: u64) -> u32 {
        let next = self.constants.len() as u32;
        let index = *self.constant_index.entry(bits).or_insert(next);
        if index == next {
            self.constants.push([bits; LANES]);
        }
        index
    }

    /// A module variable.
    pub fn variable(&self, name: &str) -> Option<Binding> {
        self.variables.get(name).copied()
    }

    /// The number of a function; it will be decoded.
    pub fn function(&mut self, name: &str) -> Option<u32> {
        if let Some(&index) = self.function_index.get(name) {
            return Some(index);
        }
        // A definition wins over its declarations.
        let function = self
            .module
            .functions
            .iter()
            .find(|f| f.name == name && f.body.is_some())?;
        let index = self.order.len() as u32;
        self.order.push(function);
        self.function_index.insert(function.name, index);
        Some(index)
    }

    /// The code address of a function whose address is taken.
    pub fn function_address(&mut self, name: &str) -> Option<u64> {
        self.function(name)
            .map(|index| window::CODE + u64::from(index) * 16)
    }

    fn declare_module_variable(&mut self, variable: &'a Variable<'a>) -> Result<()> {
        let (size, align) = layout_of(variable)?;
        let address = match variable.space {
            VarSpace::Shared => self.place_shared(variable, size, align)?,
            VarSpace::Global | VarSpace::Const => self.place_global(variable, size, align)?,
            _ => {
                return Err(ParseError {
                    line: variable.line,
                    message: format!(
                        "variable `{}` cannot be declared outside a function",
                        variable.name
                    ),
                });
            }
        };
        self.variables.insert(
            variable.name,
            Binding::Variable {
                space: variable.space,
                address,
                size,
            },
        );
        Ok(())
    }

    /// Places a shared variable; unsized ones come after all others and get their address at the end.
    fn place_shared(&mut self, variable: &Variable<'a>, size: u32, align: u32) -> Result<u64> {
        if variable.count.is_none() {
            self.dynamic_shared.push((variable.name, align));
            return Ok(0);
        }
        let address = self.shared_end.next_multiple_of(u64::from(align));
        self.shared_end = address + u64::from(size);
        if self.shared_end > MAX_SMALL_BYTES {
            return Err(ParseError {
                line: variable.line,
                message: "too much shared memory".into(),
            });
        }
        self.shared_names
            .push((variable.name.to_owned(), address as u32, size));
        Ok(address)
    }

    fn place_global(&mut self, variable: &Variable<'a>, size: u32, align: u32) -> Result<u64> {
        let is_const = variable.space == VarSpace::Const;
        let next = if is_const {
            &mut self.next_const
        } else {
            &mut self.next_global
        };
        // Gaps between variables catch accesses that run over.
        let address = next.next_multiple_of(u64::from(align.max(16)));
        *next = address + u64::from(size).max(1) + 16;
        if size as usize > MAX_GLOBAL_BYTES as usize || *next - address > MAX_GLOBAL_BYTES {
            return Err(ParseError {
                line: variable.line,
                message: "variable is too large".into(),
            });
        }
        self.globals.push(GlobalVariable {
            name: variable.name.to_owned(),
            address,
            bytes: Vec::new(),
            is_const,
        });
        Ok(address)
    }

    fn initialise(&mut self, index: usize, variable: &'a Variable<'a>) -> Result<()> {
        let (size, _) = layout_of(variable)?;
        let element = Ty::parse(variable.ty).unwrap_or(Ty::B8);
        let mut bytes = Vec::with_capacity(size as usize);
        for init in &variable.init {
            let bits = self.initial_bits(variable, init, element)?;
            bytes.extend_from_slice(&bits.to_le_bytes()[..(element.bytes() as usize).min(8)]);
        }
        if bytes.len() > size as usize {
            return Err(ParseError {
                line: variable.line,
                message: format!("too many initial values for `{}`", variable.name),
            });
        }
        bytes.resize(size as usize, 0);
        if let Some(global) = self.globals.get_mut(index) {
            global.bytes = bytes;
        }
        Ok(())
    }

    fn initial_bits(&mut self, variable: &Variable<'a>, init: &Init<'a>, ty: Ty) -> Result<u64> {
        let fail = |message: String| {
            Err(ParseError {
                line: variable.line,
                message,
            })
        };
        match init {
            Init::Number { text, negative } => match Literal::parse(text, *negative) {
                Some(literal) => Ok(operand::literal_bits(literal, ty)),
                None => fail(format!("`{text}` is no number")),
            },
            Init::Address {
                symbol,
                offset,
                generic,
            } => {
                let address = match self.variable(symbol) {
                    Some(Binding::Variable {
                        space: VarSpace::Shared,
                        address,
                        ..
                    }) if *generic => Some(window::SHARED + address),
                    Some(Binding::Variable { address, .. }) => Some(address),
                    _ => self.function_address(symbol),
                };
                match address {
                    Some(address) => Ok(address.wrapping_add_signed(*offset)),
                    None => fail(format!("`{symbol}` in an initialiser is not declared")),
                }
            }
        }
    }
}

/// Decodes entry `name` of `module`, or its only entry if `name` is `None`.
pub fn decode(module: &ast::Module<'_>, name: Option<&str>) -> Result<Program> {
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

impl<'a> Builder<'a> {
    /// Shared variables inside bodies: those of the entry and of every device function.
    fn place_body_shared(&mut self, entry: &'a ast::Function<'a>) -> Result<()> {
        for function in &self.module.functions {
            let wanted = !function.is_entry || std::ptr::eq(function, entry);
            if let (true, Some(body)) = (wanted, &function.body) {
                self.place_shared_in(body)?;
            }
        }
        Ok(())
    }

    fn place_shared_in(&mut self, body: &'a [Statement<'a>]) -> Result<()> {
        for statement in body {
            match statement {
                Statement::Block(inner) => self.place_shared_in(inner)?,
                Statement::Variable(variable)
                    if matches!(
                        variable.space,
                        VarSpace::Shared | VarSpace::Global | VarSpace::Const
                    ) =>
                {
                    self.declare_module_variable(variable)?;
                    if variable.space != VarSpace::Shared {
                        self.initialise(self.globals.len() - 1, variable)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// All unsized shared arrays start at the same address, after everything else.
    fn place_dynamic_shared(&mut self) {
        if self.dynamic_shared.is_empty() {
            return;
        }
        let align = self
            .dynamic_shared
            .iter()
            .map(|&(_, align)| align)
            .max()
            .unwrap_or(16)
            .max(16);
        self.shared_end = self.shared_end.next_multiple_of(u64::from(align));
        for (name, _) in std::mem::take(&mut self.dynamic_shared) {
            let binding = Binding::Variable {
                space: VarSpace::Shared,
                address: self.shared_end,
                size: 0,
            };
            self.variables.insert(name, binding);
        }
    }
}

fn find_entry<'a>(
    module: &'a ast::Module<'a>,
    name: Option<&str>,
) -> Result<&'a ast::Function<'a>> {
    let entries: Vec<_> = module
        .functions
        .iter()
        .filter(|f| f.is_entry && f.body.is_some())
        .collect();
    let fail = |message| Err(ParseError { line: 1, message });
    let names = || {
        entries
            .iter()
            .map(|f| f.name)
            .collect::<Vec<_>>()
            .join(", ")
    };
    match (name, entries.as_slice()) {
        (Some(name), _) => match entries.iter().find(|f| f.name == name) {
            Some(entry) => Ok(entry),
            None => fail(format!("no entry `{name}`; the module has: {}", names())),
        },
        (None, [entry]) => Ok(entry),
        (None, []) => fail("the module has no entry".into()),
        (None, _) => fail(format!(
            "the module has several entries, name one: {}",
            names()
        )),
    }
}

fn finish<'a>(mut builder: Builder<'a>, entry: &'a ast::Function<'a>) -> Result<Program> {
    let params = entry_params(entry)?;
    let mut code = Vec::new();
    let mut functions: Vec<FunctionInfo> = Vec::new();
    // Decoding a function may add functions to the order.
    while let Some(&function) = builder.order.get(functions.len()) {
        let start = code.len() as u32;
        let (info, mut instructions) = decode_function(&mut builder, function, start, &params)?;
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
    let function_addresses = (0..functions.len() as u32)
        .map(|i| (window::CODE + u64::from(i) * 16, i))
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
            "maxnreg" => attributes.maxnreg = Some(fit(0)?),
            "minnctapersm" => attributes.minnctapersm = Some(fit(0)?),
            "maxnctapersm"
            | "explicitcluster"
            | "maxclusterrank"
            | "noreturn"
            | "blocksareclusters"
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

fn decode_function<'a>(
    builder: &mut Builder<'a>,
    function: &'a ast::Function<'a>,
    start: u32,
    params: &[EntryParam],
) -> Result<(FunctionInfo, Vec<crate::program::inst::Inst>)> {
    let mut cx = Function::new(builder, function.name, function.is_entry, function.line);
    if function.is_entry {
        for (formal, param) in function.params.iter().zip(params) {
            cx.bind_variable(
                formal.name,
                VarSpace::Param,
                window::PARAM + u64::from(param.offset),
                param.size,
            );
        }
    } else {
        for formal in &function.returns {
            let (place, row) = formal_place(&mut cx, formal)?;
            cx.info.returns.push(place);
            cx.info.return_rows.push(row);
        }
        for formal in &function.params {
            let (place, row) = formal_place(&mut cx, formal)?;
            cx.info.params.push(place);
            cx.info.param_rows.push(row);
        }
    }
    cx.info.start = start;
    let body = function.body.as_deref().unwrap_or(&[]);
    block(&mut cx, body)?;
    let end = if function.is_entry {
        Op::Exit
    } else {
        Op::Return
    };
    cx.push(operand::ALWAYS, end);
    cx.resolve_labels(start)?;
    Ok((cx.info, cx.code))
}

fn formal_place<'a>(
    cx: &mut Function<'_, 'a>,
    formal: &'a Variable<'a>,
) -> Result<((u32, u32), Option<u32>)> {
    if formal.space == VarSpace::Reg {
        cx.declare_registers(formal.ty, 1, &[(formal.name, None)])?;
        let row = match cx.lookup(formal.name) {
            Some(Binding::Register { row, .. }) => Some(row),
            _ => return cx.error("predicate parameters are not supported"),
        };
        return Ok(((0, 0), row));
    }
    let place = call_param(cx, formal)?;
    Ok((place, None))
}

/// Room for a call parameter in the frame.
fn call_param<'a>(cx: &mut Function<'_, 'a>, variable: &Variable<'a>) -> Result<(u32, u32)> {
    let (size, align) = cx.layout(variable)?;
    let offset = cx.info.param_bytes.next_multiple_of(align.max(8));
    if u64::from(offset) + u64::from(size) > MAX_SMALL_BYTES {
        return cx.error("call parameters are too large");
    }
    cx.info.param_bytes = offset + size;
    cx.bind_variable(variable.name, VarSpace::Param, u64::from(offset), size);
    Ok((offset, size))
}

fn block<'a>(cx: &mut Function<'_, 'a>, statements: &'a [Statement<'a>]) -> Result<()> {
    cx.open_scope(statements)?;
    for statement in statements {
        match statement {
            Statement::Registers {
                ty,
                vector,
                names,
                line,
            } => {
                cx.line = *line;
                cx.declare_registers(ty, *vector, names)?;
            }
            Statement::Variable(variable) => declare(cx, variable)?,
            Statement::Label(name, _) => cx.place_label(name),
            Statement::Block(inner) => block(cx, inner)?,
            Statement::BranchTargets(..) | Statement::CallPrototype(_) => {}
            Statement::Instruction(inst) => {
                cx.line = inst.line;
                cx.class = Class::of(&inst.opcode);
                instruction(cx, inst)?;
            }
        }
    }
    cx.close_scope();
    Ok(())
}

fn declare<'a>(cx: &mut Function<'_, 'a>, variable: &'a Variable<'a>) -> Result<()> {
    match variable.space {
        VarSpace::Local => {
            let (size, align) = cx.layout(variable)?;
            let offset = cx.info.local_bytes.next_multiple_of(align);
            if u64::from(offset) + u64::from(size) > MAX_SMALL_BYTES {
                return cx.error("too much local memory");
            }
            cx.info.local_bytes = offset + size;
            cx.bind_variable(variable.name, VarSpace::Local, u64::from(offset), size);
            Ok(())
        }
        VarSpace::Param => call_param(cx, variable).map(|_| ()),
        // Placed for the whole module beforehand; the module's table finds them.
        _ => Ok(()),
    }
}
