//! A functional simulator of PTX: it runs what a compiler emitted on the CPU, with asynchronous copies and matrix
//! operations that really complete late, and finds what a GPU would only hang on.
//!
//! [`parse`] reads text, [`decode`] turns one entry into a [`program`], [`exec`] runs it; [`launch`] is the interface.
#![warn(missing_docs)]

pub mod argument;
pub mod arguments;
pub mod asynchronous;
pub mod check;
pub mod clock;
pub mod decode;
mod error;
pub mod exec;
pub mod launch;
pub mod manifest;
pub mod matrix;
pub mod module;
pub mod num;
pub mod parse;
pub mod program;
pub mod record;
mod run;
pub mod suite;
pub mod tensormap;

pub use argument::{Arg, Buffer};
pub use error::LaunchError;
pub use launch::{Launch, Module, Report};
pub use tensormap::TensorMap;
