//! tilec: an open compiler from CUDA Tile IR to PTX.

pub mod asm;
pub mod bytecode;
pub mod compile;
pub mod dialect;
pub mod driver;
pub mod egraph;
pub mod eval;
pub mod frozen;
pub mod ir;
pub mod isel;
pub mod launch;
pub mod layout;
pub mod lower;
#[cfg(test)]
mod made_up;
pub mod ptx;
pub mod rules;
pub mod scalar;
pub mod target;
pub mod verify;
