//! Why a launch ends without results.

use crate::exec::Fault;
use crate::tensormap::TensorMapError;

/// Why a launch failed.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// the kernel did something wrong
    #[error(transparent)]
    Fault(#[from] Box<Fault>),
    /// the launch does not fit the kernel
    #[error("cannot launch: {0}")]
    Bad(String),
    /// a tensor map that hardware would refuse
    #[error("cannot launch: tensor map of parameter {param}: {error}")]
    TensorMap {
        /// index of the parameter
        param: usize,
        /// what is wrong with it
        error: TensorMapError,
    },
}
