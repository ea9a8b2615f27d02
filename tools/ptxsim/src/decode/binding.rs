//! What a name stands for.

use crate::parse::ast::VarSpace;
use crate::program::operand::Pred;
use crate::program::types::Ty;

/// What a name stands for.
#[derive(Debug, Clone, Copy)]
pub enum Binding {
    /// A general register.
    Register {
        /// first row
        row: u32,
        /// elements, for vector registers
        vector: u32,
        /// declared type
        ty: Ty,
    },
    /// A predicate register.
    Predicate(Pred),
    /// A variable with its address in its space.
    Variable {
        /// where it lives
        space: VarSpace,
        /// address or offset there
        address: u64,
        /// size in bytes
        size: u32,
    },
}
