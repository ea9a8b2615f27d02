//! The CUDA driver API on a machine without a GPU: `libcuda.so.1` backed by ptxsim and tilec.
//!
//! `README.md` says what a program sees. Here is how it is made:
//!
//! | module | what |
//! |---|---|
//! | `api/` | the exported functions, one file per subject; they take C's arguments apart and call the rest |
//! | [`table`] | all functions of `cuda.h` by name and version, from `functions.tsv` |
//! | [`memory`] | blocks of memory that kernels may touch, at the process's own addresses |
//! | [`image`] | what can be loaded: recognised, measured, compiled, cached |
//! | [`module`] | loaded images with their kernels and variables |
//! | [`launch`] | kernels run |
//! | [`stream`], [`event`], [`graph`] | the order of work |
//! | [`context`], [`device`] | what there is, and what has gone wrong in it |
//! | [`front`] | the same library in front of a real driver |
//! | [`status`], [`call`], [`settings`] | results, the border to C, the environment |
//!
//! `unsafe` is here because C passes raw pointers; each use states what `cuda.h` asks of the caller.
#![warn(missing_docs)]

pub mod abi;
pub mod account;
pub mod api;
pub mod call;
pub mod context;
pub mod device;
pub mod event;
pub mod front;
pub mod graph;
pub mod handles;
pub mod image;
pub mod launch;
pub mod memory;
pub mod module;
pub mod pool;
pub mod settings;
pub mod status;
pub mod stream;
pub mod table;
pub mod work;
