//! Programs: an entry decoded, its parameters and arguments, the module's globals.

use rustc_hash::FxHashMap;

use super::code::Code;
use super::decode::{Decoder, located};
use super::elementwise::from_bytes;
use super::memory::Memory;
use super::types::{Elem, TileType};
use super::value::{Value, Values};
use crate::dialect::cuda_tile::Op as Name;
use crate::ir::{Attr, Dense, Diagnostic, Module, OpId, Type};
use crate::scalar::int;

/// An entry made ready to run.
pub struct Program<'m> {
    pub(super) module: &'m Module,
    pub(super) name: String,
    parameters: Vec<Elem>,
    pub(super) code: Code,
    /// How many values the code uses.
    pub(super) slots: usize,
    pub(super) globals: FxHashMap<String, u64>,
}

/// A kernel argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Argument {
    Scalar {
        elem: Elem,
        bits: u64,
    },
    /// An address in [`Memory`].
    Pointer(u64),
}

/// A grid and its arguments.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Tile blocks along x, y and z.
    pub grid: [u32; 3],
    pub arguments: Vec<Argument>,
}

impl<'m> Program<'m> {
    /// Decodes an entry (the only one, unless named) and puts the module's globals into memory.
    pub fn new(
        module: &'m Module,
        entry: Option<&str>,
        memory: &mut Memory,
    ) -> Result<Self, Diagnostic> {
        Self::with_globals(module, entry, memory, &|_| None)
    }

    /// The same where globals may have a place already, by name: memory that was lent, which keeps what earlier launches wrote.
    pub fn with_globals(
        module: &'m Module,
        entry: Option<&str>,
        memory: &mut Memory,
        placed: &dyn Fn(&str) -> Option<u64>,
    ) -> Result<Self, Diagnostic> {
        let (name, op) = find_entry(module, entry)?;
        let globals = load_globals(module, memory, placed)?;
        let mut decoder = Decoder::new(module);
        let body = module
            .body_of(op, 0)
            .ok_or_else(|| located(module, op, "has no body".into()))?;
        let parameters = module.block(body).args.iter().map(|&v| {
            let ty = TileType::of(module, module.ty(v))?;
            match ty.shape.len() {
                0 => Ok(ty.elem),
                _ => Err("parameters must be scalars".to_owned()),
            }
        });
        let parameters: Result<Vec<Elem>, String> = parameters.collect();
        let code = decoder.block(body)?;
        Ok(Self {
            module,
            name,
            parameters: parameters.map_err(|message| located(module, op, message))?,
            code,
            slots: decoder.slots(),
            globals,
        })
    }

    /// The entry's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The types of the parameters.
    pub fn parameters(&self) -> &[Elem] {
        &self.parameters
    }

    /// The launch's arguments as the entry's values.
    pub(super) fn bind(&self, launch: &Launch) -> Result<Values, Diagnostic> {
        let wrong =
            |message: String| Diagnostic::error(format!("kernel `{}` {message}", self.name));
        if launch.arguments.len() != self.parameters.len() {
            return Err(wrong(format!(
                "takes {} arguments, not {}",
                self.parameters.len(),
                launch.arguments.len()
            )));
        }
        let pairs = self.parameters.iter().zip(&launch.arguments).enumerate();
        pairs
            .map(|(i, (&parameter, &argument))| {
                let bits = match (parameter, argument) {
                    (Elem::Ptr { .. }, Argument::Pointer(address)) => address,
                    (_, Argument::Scalar { elem, bits }) if same(parameter, elem) => {
                        bits & int::mask(parameter.bits())
                    }
                    (_, Argument::Scalar { elem, .. }) => {
                        return Err(wrong(format!(
                            "takes {parameter}, not {elem}, as argument {i}"
                        )));
                    }
                    (_, Argument::Pointer(_)) => {
                        return Err(wrong(format!(
                            "takes {parameter}, not a buffer, as argument {i}"
                        )));
                    }
                };
                Ok(Value::splat(parameter.bits(), bits))
            })
            .collect()
    }
}

/// Whether a scalar of type `given` can be passed for `wanted`: the same type, or its bits as an
/// integer where the type has no numbers of its own on the command line.
fn same(wanted: Elem, given: Elem) -> bool {
    wanted == given
        || matches!((wanted, given), (Elem::Float(format), Elem::Int(width)) if format.bits().max(8) == width)
        || (wanted == Elem::Int(1) && given == Elem::Int(8))
}

/// Operations at module level, those directly inside an explicit module operation included.
fn items(module: &Module) -> Vec<OpId> {
    let mut items = Vec::new();
    for &op in &module.block(module.body).ops {
        if Name::of(module.op(op).kind) == Some(Name::Module)
            && let Some(body) = module.body_of(op, 0)
        {
            items.extend(module.block(body).ops.iter().copied());
        } else {
            items.push(op);
        }
    }
    items
}

fn find_entry(module: &Module, wanted: Option<&str>) -> Result<(String, OpId), Diagnostic> {
    let is_entry = |&op: &OpId| Name::of(module.op(op).kind) == Some(Name::Entry);
    let entries: Vec<OpId> = items(module).into_iter().filter(is_entry).collect();
    let names = || {
        let names: Vec<&str> = entries
            .iter()
            .map(|&op| module.symbol(op).unwrap_or_default())
            .collect();
        names.join(", ")
    };
    let found = match (wanted, &entries[..]) {
        (Some(wanted), _) => entries
            .iter()
            .find(|&&op| module.symbol(op).unwrap_or_default() == wanted),
        (None, [only]) => Some(only),
        (None, []) => return Err(Diagnostic::error("the module has no entry")),
        (None, _) => {
            return Err(Diagnostic::error("the module has several entries").note(names()));
        }
    };
    match (found, wanted) {
        (Some(&op), _) => Ok((module.symbol(op).unwrap_or_default().to_owned(), op)),
        (None, wanted) => Err(Diagnostic::error(format!(
            "the module has no entry `{}`",
            wanted.unwrap_or_default()
        ))
        .note(format!("its entries: {}", names()))),
    }
}

fn load_globals(
    module: &Module,
    memory: &mut Memory,
    placed: &dyn Fn(&str) -> Option<u64>,
) -> Result<FxHashMap<String, u64>, Diagnostic> {
    let mut globals = FxHashMap::default();
    for op in items(module) {
        if Name::of(module.op(op).kind) != Some(Name::Global) {
            continue;
        }
        let name = module.symbol(op).unwrap_or_default();
        let address = match placed(name) {
            Some(address) => address,
            None => load_global(module, op, name, memory)
                .map_err(|message| located(module, op, message))?,
        };
        globals.insert(name.to_owned(), address);
    }
    Ok(globals)
}

fn load_global(module: &Module, op: OpId, name: &str, memory: &mut Memory) -> Result<u64, String> {
    let Some(Attr::Dense {
        data: Dense::Bytes(data),
        ty,
    }) = module.op(op).attr_named("value")
    else {
        return Err("a global without data".into());
    };
    let ty = match module.types.get(*ty) {
        Type::Tile { .. } => TileType::of(module, *ty)?,
        _ => return Err("a global must be a tile".into()),
    };
    let lanes = from_bytes(&ty, data)?;
    let lanes = lanes.expand(ty.count());
    let bytes: Vec<u8> = match ty.elem.memory_bits() {
        4 => {
            let nibbles: Vec<u8> = lanes.iter().map(|v| v as u8 & 0xf).collect();
            let join = |pair: &[u8]| pair[0] | pair.get(1).copied().unwrap_or(0) << 4;
            nibbles.chunks(2).map(join).collect()
        }
        bits => lanes
            .iter()
            .flat_map(|v| v.to_le_bytes().into_iter().take(bits as usize / 8))
            .collect(),
    };
    let label = format!("global `{name}`");
    if module.op(op).has_unit("constant") {
        memory.add_constant(label, &bytes)
    } else {
        memory.add(label, &bytes)
    }
}
