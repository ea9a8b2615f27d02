//! Decoding: an entry's operations as [`Code`].

use rustc_hash::FxHashMap;

use super::code::{Code, Ending, Fold, MAX_DEPTH, Slot, Step, What};
use super::operation::{Decoded, Operation};
use super::types::TileType;
use super::{elementwise, misc, mma, pointers, shape, views};
use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as Name;
use crate::ir::{BlockId, Diagnostic, Module, OpId, Type, ValueId};

/// Decodes the operations of one entry.
pub struct Decoder<'m> {
    module: &'m Module,
    slots: FxHashMap<ValueId, Slot>,
    depth: usize,
}

impl<'m> Decoder<'m> {
    pub fn new(module: &'m Module) -> Self {
        Self {
            module,
            slots: FxHashMap::default(),
            depth: 0,
        }
    }

    /// How many values the decoded code uses.
    pub fn slots(&self) -> usize {
        self.slots.len()
    }

    fn slot(&mut self, value: ValueId) -> Slot {
        let next = self.slots.len() as Slot;
        *self.slots.entry(value).or_insert(next)
    }

    pub fn block(&mut self, block: BlockId) -> Result<Code, Diagnostic> {
        if self.depth >= MAX_DEPTH {
            return Err(Diagnostic::error(format!(
                "regions are nested more than {MAX_DEPTH} deep"
            )));
        }
        self.depth += 1;
        let block = self.module.block(block);
        let arguments = block.args.iter().map(|&v| self.slot(v)).collect();
        let steps: Result<Vec<Step>, Diagnostic> =
            block.ops.iter().map(|&op| self.step(op)).collect();
        self.depth -= 1;
        let lanewise = block.ops.iter().all(|&op| {
            let op = self.module.op(op);
            let traits = op.def().traits;
            traits.has(Traits::ELEMENTWISE)
                || traits.has(Traits::CONSTANT)
                || Name::of(op.kind) == Some(Name::Yield)
        });
        Ok(Code {
            arguments,
            steps: steps?,
            lanewise,
        })
    }

    fn region(&mut self, op: OpId, i: usize) -> Result<Option<Code>, Diagnostic> {
        self.module
            .body_of(op, i)
            .map(|block| self.block(block))
            .transpose()
    }

    fn body(&mut self, op: OpId) -> Result<Code, Diagnostic> {
        self.region(op, 0)?
            .ok_or_else(|| self.error(op, "has no body".into()))
    }

    fn step(&mut self, id: OpId) -> Result<Step, Diagnostic> {
        let op = self.module.op(id);
        let Some(name) = Name::of(op.kind) else {
            return Err(self.error(id, "is not an operation of cuda_tile".into()));
        };
        let inputs = op.operands.iter().map(|&v| self.slot(v)).collect();
        let outputs = op.results.iter().map(|&v| self.slot(v)).collect();
        let tile = |&v: &ValueId| {
            let ty = self.module.ty(v);
            match self.module.types.get(ty) {
                Type::Tile { .. } => {
                    TileType::of(self.module, ty).map(|t| Some((t.elem.bits(), t.count())))
                }
                _ => Ok(None),
            }
        };
        let tiles: Result<_, String> = op.results.iter().map(tile).collect();
        Ok(Step {
            op: id,
            inputs,
            outputs,
            tiles: tiles.map_err(|message| self.error(id, message))?,
            what: self.what(id, name)?,
        })
    }

    fn what(&mut self, id: OpId, name: Name) -> Result<What, Diagnostic> {
        let op = self.module.op(id);
        let operation = Operation {
            module: self.module,
            id,
            op,
            name,
        };
        Ok(match name {
            Name::Yield => What::End(Ending::Yield),
            Name::Continue => What::End(Ending::Continue),
            Name::Break => What::End(Ending::Break),
            Name::Return => What::End(Ending::Return),
            Name::If => What::If {
                then: self.body(id)?,
                otherwise: self.region(id, 1)?,
            },
            Name::Loop => What::Loop(self.body(id)?),
            Name::For => {
                let width = operation.operand(0).and_then(|ty| ty.int_width());
                What::For {
                    width: width.map_err(|message| self.error(id, message))?,
                    unsigned: op.has_unit("unsignedCmp"),
                    body: self.body(id)?,
                }
            }
            Name::Reduce | Name::Scan => {
                let body = self.body(id)?;
                let fold = Fold::new(&operation, body);
                What::Fold(Box::new(fold.map_err(|message| self.error(id, message))?))
            }
            _ => match decode(&operation) {
                Ok(Some(action)) => What::Do(action),
                Ok(None) => return Err(self.error(id, unsupported(name))),
                Err(message) => return Err(self.error(id, message)),
            },
        })
    }

    fn error(&self, op: OpId, message: String) -> Diagnostic {
        located(self.module, op, message)
    }
}

/// A diagnostic about an operation of the module.
pub fn located(module: &Module, op: OpId, message: String) -> Diagnostic {
    let op = module.op(op);
    Diagnostic::error(message)
        .on(op.kind.to_string())
        .at(module.source_place(op.loc))
}

fn unsupported(name: Name) -> String {
    match name {
        Name::PreviewCall => "calls a function that is not in the module".into(),
        _ => "cannot stand inside a kernel".into(),
    }
}

fn decode(o: &Operation) -> Decoded {
    const DECODERS: [fn(&Operation) -> Decoded; 6] = [
        elementwise::decode,
        shape::decode,
        views::decode,
        mma::decode,
        misc::decode,
        pointers::decode,
    ];
    for decode in DECODERS {
        if let Some(action) = decode(o)? {
            return Ok(Some(action));
        }
    }
    Ok(None)
}
