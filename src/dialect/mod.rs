//! Operation tables: every operation of every dialect, declared once.
//!
//! The bytecode reader and writer, the text parser and printer, the structural verifier, the
//! interpreter's dispatch and the reference page all come from these tables. To add an operation:
//! add its row here, its semantics where the stage needs it, and its rules.

mod constraint;
mod control;
pub mod cuda_tile;
mod declare;
mod def;
pub mod enums;
mod markdown;
pub mod meaning;
pub mod modes;
pub mod nv_tileaa;
pub mod nv_tileas;
pub mod nvvm;
pub mod parts;
mod registry;
pub mod resolve;

pub use constraint::{Elem, Is};
pub use control::Control;
pub use def::{
    Arity, AttrDef, AttrKind, Default, Dialect, EnumDef, OpDef, OpKind, attr, one, op, opt, region,
    result, var,
};
pub use def::{OperandDef, RegionDef, ResultDef, ResultType, Traits, Version};
