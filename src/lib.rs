//! tilec: an open compiler from CUDA Tile IR to PTX.

pub mod asm;
pub mod bytecode;
pub mod compile;
pub mod dialect;
#[cfg(feature = "cli")]
pub mod driver;
pub mod egraph;
#[cfg(feature = "sim")]
pub mod eval;
pub mod explain;
pub mod facts;
pub mod input;
pub mod ir;
pub mod isel;
pub mod launch;
pub mod layout;
pub mod llvm;
pub mod lower;
pub mod machine;
#[cfg(all(test, feature = "sim"))]
mod made_up;
pub mod ptx;
pub mod ptxas;
pub mod rules;
pub mod scalar;
mod sexpr;
pub mod target;
pub mod verify;
pub mod view;
