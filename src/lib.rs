//! tilec: an open compiler from CUDA Tile IR to PTX.

pub mod asm;
pub mod bytecode;
pub mod compile;
pub mod dialect;
pub mod driver;
pub mod egraph;
pub mod eval;
pub mod facts;
pub mod frozen;
pub mod input;
pub mod ir;
pub mod isel;
pub mod launch;
pub mod layout;
pub mod lower;
pub mod machine;
#[cfg(test)]
mod made_up;
pub mod ptx;
pub mod rules;
pub mod scalar;
mod sexpr;
pub mod target;
pub mod verify;
