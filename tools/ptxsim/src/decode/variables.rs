//! Variables of a module: where they lie and what they hold at first.

use super::binding::Binding;
use super::builder::Builder;
use super::placed::{MAX_GLOBAL_BYTES, layout_of};
use super::{Result, literal};
use crate::decode::Wanted;
use crate::parse::ParseError;
use crate::parse::ast::{self, Init, Statement, VarSpace, Variable};
use crate::parse::number::Literal;
use crate::program::types::Ty;
use crate::program::{GlobalVariable, window};

/// Shared and local memory of one block or thread may not exceed this many bytes.
pub(super) const MAX_SMALL_BYTES: u64 = 1 << 24;
impl<'a> Builder<'a> {
    pub(super) fn declare_module_variable(&mut self, variable: &'a Variable<'a>) -> Result<()> {
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
        if let Some(places) = self.places.as_deref_mut() {
            let wanted = Wanted {
                name: variable.name,
                line: variable.line,
                size,
                align,
                is_const,
            };
            let address = places.place(&wanted);
            self.globals.push(GlobalVariable {
                name: variable.name.to_owned(),
                address,
                bytes: Vec::new(),
                is_const,
                placed: true,
            });
            return Ok(address);
        }
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
            placed: false,
        });
        Ok(address)
    }

    pub(super) fn initialise(&mut self, index: usize, variable: &'a Variable<'a>) -> Result<()> {
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
                Some(literal) => Ok(literal::literal_bits(literal, ty)),
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

    /// Shared variables inside bodies: those of the entry and of every device function.
    pub(super) fn place_body_shared(&mut self, entry: &'a ast::Function<'a>) -> Result<()> {
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
    pub(super) fn place_dynamic_shared(&mut self) {
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
            // A sized variable of that name in the entry's body hides it.
            let hidden = |b: &Binding| matches!(b, Binding::Variable { size, .. } if *size > 0);
            if !self.variables.get(name).is_some_and(hidden) {
                self.variables.insert(name, binding);
            }
        }
    }
}
