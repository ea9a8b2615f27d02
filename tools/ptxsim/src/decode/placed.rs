//! Where variables lie, and who says so.

use super::Result;
use crate::parse::ParseError;
use crate::parse::ast::Variable;
use crate::program::types::Ty;

/// A global or constant variable that needs a place. Name and line together tell it from all others of its module.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// its name
    pub name: &'a str,
    /// line of its declaration
    pub line: u32,
    /// bytes
    pub size: u32,
    /// alignment in bytes
    pub align: u32,
    /// `.const`
    pub is_const: bool,
}

/// Who says where the global and constant variables of a module lie: the same place every time it is asked.
pub trait Places {
    /// The address of a variable. Its first contents are those of [`crate::program::GlobalVariable::bytes`] once all is decoded.
    fn place(&mut self, variable: &Wanted<'_>) -> u64;
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

/// Global and constant variables may not exceed this many bytes in all.
pub(super) const MAX_GLOBAL_BYTES: u64 = 1 << 31;
