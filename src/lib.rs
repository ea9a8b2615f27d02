//! tilec: an open compiler from CUDA Tile IR to PTX.

pub mod bytecode;
pub mod dialect;
pub mod ir;
pub mod layout;
pub mod scalar;
