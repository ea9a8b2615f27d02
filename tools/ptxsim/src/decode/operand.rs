//! Operands: registers, constants, addresses.

use super::Result;
use super::binding::Binding;
use super::literal::literal_bits;
use super::names::Function;
use crate::parse::ast::{Instruction, Operand, VarSpace};
use crate::parse::number::Literal;
use crate::program::inst::{Address, Op, Pred, PredSrc, Reg, Space, Special, Src};
use crate::program::types::{Class, Ty};

/// No guard.
pub const ALWAYS: PredSrc = PredSrc {
    pred: None,
    negated: false,
};

impl<'a> Function<'_, 'a> {
    /// Operand `index` of `inst`, or an error that says that it is missing.
    pub fn operand<'i>(&self, inst: &'i Instruction<'a>, index: usize) -> Result<&'i Operand<'a>> {
        match inst.operands.get(index) {
            Some(operand) => Ok(operand),
            None => self.error(format!("`{}` lacks operand {}", inst.mnemonic(), index + 1)),
        }
    }

    /// Operand `index` as a source of type `ty`.
    pub fn src_at(&mut self, inst: &Instruction<'a>, index: usize, ty: Ty) -> Result<Src> {
        let operand = self.operand(inst, index)?;
        self.src(operand, ty)
    }

    /// Operand `index` as a destination of type `ty`.
    pub fn dst_at(&mut self, inst: &Instruction<'a>, index: usize, ty: Ty) -> Result<Reg> {
        let operand = self.operand(inst, index)?;
        self.dst(operand, ty)
    }

    /// A constant source.
    pub fn constant(&mut self, bits: u64) -> Src {
        Src::Const(self.program.constant(bits))
    }

    /// A source of type `ty`: a register, a literal, a special register or the address of a variable.
    pub fn src(&mut self, operand: &Operand<'a>, ty: Ty) -> Result<Src> {
        match operand {
            Operand::Number { text, negative } => match Literal::parse(text, *negative) {
                Some(literal) => Ok(self.constant(literal_bits(literal, ty))),
                None => self.error(format!("`{text}` is no number")),
            },
            Operand::Name(name, suffix) => self.named_source(name, *suffix, 0),
            Operand::SymbolOffset(name, offset) => self.named_source(name, None, *offset),
            Operand::Vector(items) if items.len() == 1 => self.src(&items[0], ty),
            _ => self.error("expected a register or a constant"),
        }
    }

    fn named_source(&mut self, name: &'a str, suffix: Option<&str>, offset: i64) -> Result<Src> {
        if let Some(special) = super::names::special_register(name, suffix) {
            return Ok(Src::Reg(self.special(special).0));
        }
        match self.lookup(name) {
            Some(Binding::Register { row, vector, .. }) => {
                if offset != 0 {
                    return self.error("register plus offset is only an address");
                }
                Ok(Src::Reg(row + self.vector_element(suffix, vector)?))
            }
            Some(Binding::Variable { space, address, .. }) => match space {
                VarSpace::Local | VarSpace::Param if !self.is_entry_param(name) => {
                    let at = address.wrapping_add_signed(offset) as u32;
                    let special = if space == VarSpace::Local {
                        Special::LocalAddress(at)
                    } else {
                        Special::CallParamAddress(at)
                    };
                    Ok(Src::Reg(self.special(special).0))
                }
                _ => Ok(self.constant(address.wrapping_add_signed(offset))),
            },
            Some(Binding::Predicate(_)) => {
                self.error(format!("`{name}` is a predicate, not a value"))
            }
            None => match self.program.function_address(name) {
                Some(address) => Ok(self.constant(address)),
                None => self.error(format!("`{name}` is not declared")),
            },
        }
    }

    fn vector_element(&self, suffix: Option<&str>, vector: u32) -> Result<u32> {
        let index = match suffix {
            None => 0,
            Some("x" | "r") => 0,
            Some("y" | "g") => 1,
            Some("z" | "b") => 2,
            Some("w" | "a") => 3,
            Some(other) => return self.error(format!("`.{other}` is no vector element")),
        };
        if index >= vector {
            self.error("vector element out of range")
        } else {
            Ok(index)
        }
    }

    /// A temporary row that holds a special register.
    pub fn special(&mut self, special: Special) -> Reg {
        let dst = self.temporary();
        self.push(ALWAYS, Op::Special { dst, special });
        dst
    }

    /// A destination register.
    pub fn dst(&mut self, operand: &Operand<'a>, ty: Ty) -> Result<Reg> {
        match self.dst_or_sink(operand, ty)? {
            Some(reg) => Ok(reg),
            None => Ok(self.temporary()),
        }
    }

    /// A destination register, or `None` for `_`.
    pub fn dst_or_sink(&mut self, operand: &Operand<'a>, ty: Ty) -> Result<Option<Reg>> {
        match operand {
            Operand::Name("_", None) => Ok(None),
            Operand::Name(name, suffix) => match self.lookup(name) {
                Some(Binding::Register {
                    row,
                    vector,
                    ty: declared,
                }) => {
                    if declared.bits() < ty.bits() && ty.bits() != 128 {
                        return self.error(format!(
                            "`{name}` has {} bits, too few for a .{} result",
                            declared.bits(),
                            ty.name()
                        ));
                    }
                    Ok(Some(Reg(row + self.vector_element(*suffix, vector)?)))
                }
                Some(Binding::Predicate(_)) => {
                    self.error(format!("`{name}` is a predicate, not a register"))
                }
                _ => self.error(format!("`{name}` is no register")),
            },
            Operand::Vector(items) if items.len() == 1 => self.dst_or_sink(&items[0], ty),
            _ => self.error("expected a destination register"),
        }
    }

    /// The items of a vector operand; a plain operand is a vector of one, a vector register its elements.
    pub fn items(&self, operand: &Operand<'a>) -> Vec<Operand<'a>> {
        if let Operand::Name(name, None) = operand
            && let Some(Binding::Register {
                vector: n @ 2..=4, ..
            }) = self.lookup(name)
        {
            return ["x", "y", "z", "w"]
                .iter()
                .take(n as usize)
                .map(|s| Operand::Name(name, Some(s)))
                .collect();
        }
        match operand {
            Operand::Vector(items) => items.clone(),
            other => vec![other.clone()],
        }
    }

    /// Sources of a vector operand.
    pub fn srcs(&mut self, operand: &Operand<'a>, ty: Ty) -> Result<Vec<Src>> {
        self.items(operand)
            .iter()
            .map(|item| self.src(item, ty))
            .collect()
    }

    /// Destinations of a vector operand.
    pub fn dsts(&mut self, operand: &Operand<'a>, ty: Ty) -> Result<Vec<Option<Reg>>> {
        self.items(operand)
            .iter()
            .map(|item| self.dst_or_sink(item, ty))
            .collect()
    }

    /// A predicate by name.
    pub fn pred_named(&self, name: &str) -> Result<PredSrc> {
        match self.lookup(name) {
            Some(Binding::Predicate(pred)) => Ok(PredSrc {
                pred: Some(pred),
                negated: false,
            }),
            _ => self.error(format!("`{name}` is no predicate")),
        }
    }

    /// A predicate as a source: `%p`, `!%p`, or a constant.
    pub fn pred_src(&self, operand: &Operand<'a>) -> Result<PredSrc> {
        match operand {
            Operand::Name(name, None) => self.pred_named(name),
            Operand::Not(name) => Ok(PredSrc {
                negated: true,
                ..self.pred_named(name)?
            }),
            Operand::Number { text, negative } => {
                let zero = Literal::parse(text, *negative).is_none_or(|l| l.as_int() == 0);
                Ok(PredSrc {
                    pred: None,
                    negated: zero,
                })
            }
            _ => self.error("expected a predicate"),
        }
    }

    /// A predicate as a destination; `None` for `_`.
    pub fn pred_dst(&self, operand: &Operand<'a>) -> Result<Option<Pred>> {
        match operand {
            Operand::Name("_", None) => Ok(None),
            Operand::Name(name, None) => Ok(self.pred_named(name)?.pred),
            _ => self.error("expected a predicate"),
        }
    }

    /// Operand `index` as an address in `space`.
    pub fn address_at(
        &mut self,
        inst: &Instruction<'a>,
        index: usize,
        space: Space,
    ) -> Result<Address> {
        let operand = self.operand(inst, index)?;
        self.address(operand, space)
    }

    /// An address operand; what follows a comma in the brackets is the caller's.
    pub fn address(&mut self, operand: &Operand<'a>, space: Space) -> Result<Address> {
        let (base, offset) = match operand {
            Operand::Memory { base, offset, .. } => (base.as_ref(), *offset),
            // `call` and `tensormap` operands come without brackets.
            Operand::Name(..) | Operand::Number { .. } => (operand, 0),
            _ => return self.error("expected an address in brackets"),
        };
        if let Operand::Name(name, None) = base
            && let Some(Binding::Variable {
                space: var_space,
                address,
                ..
            }) = self.lookup(name)
        {
            return self.variable_address(name, var_space, address, space, offset);
        }
        let base = self.src(base, Ty::B64)?;
        let space = if space == Space::CallParam {
            Space::Param
        } else {
            space
        };
        Ok(Address {
            space,
            base,
            offset,
            in_frame: false,
        })
    }

    fn variable_address(
        &mut self,
        name: &str,
        var_space: VarSpace,
        address: u64,
        space: Space,
        offset: i64,
    ) -> Result<Address> {
        let in_frame = match var_space {
            VarSpace::Local => true,
            VarSpace::Param | VarSpace::Reg => !self.is_entry_param(name),
            _ => false,
        };
        let own = match var_space {
            VarSpace::Global => Space::Global,
            VarSpace::Const => Space::Const,
            VarSpace::Shared => Space::Shared,
            VarSpace::Local => Space::Local,
            VarSpace::Param | VarSpace::Reg if in_frame => Space::CallParam,
            VarSpace::Param | VarSpace::Reg => Space::Param,
        };
        let compatible = space == own
            || space == Space::Generic
            || matches!(
                (space, own),
                (Space::SharedCluster, Space::Shared) | (Space::CallParam, Space::Param)
            );
        if !compatible {
            return self.error(format!(
                "`{name}` does not lie in the state space of this access"
            ));
        }
        Ok(Address {
            space: own,
            base: self.constant(address),
            offset,
            in_frame,
        })
    }

    /// Checks that an integer or bit type has one of the widths.
    pub fn check_class(&self, ty: Ty, classes: &[Class]) -> Result<()> {
        if classes.contains(&ty.class()) {
            Ok(())
        } else {
            self.error(format!("type .{} does not fit here", ty.name()))
        }
    }
}
