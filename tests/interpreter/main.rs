//! The reference interpreter and its arithmetic.

#[path = "../common/ssa.rs"]
mod ssa;

mod cuda_math;
mod elementary;
mod elementwise;
mod eval_complete;
mod eval_robust;
mod eval_shapes;
