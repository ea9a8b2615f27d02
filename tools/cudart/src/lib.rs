//! The CUDA runtime API (`cudaMalloc`, `<<<…>>>`) on the CUDA driver API: `libcudart.so.13`.
//!
//! NVIDIA's runtime library accepts no driver but NVIDIA's. Programs that link the shared runtime find this one under
//! `tilec emulate`, and reach the emulated driver through it; it uses nothing but documented functions of the driver.
//!
//! | module | what |
//! |---|---|
//! | [`functions`] | what `functions.tsv` says only hands on to the driver, or is not there |
//! | [`driver`] | the driver's functions, found by name |
//! | [`call`] | the border to C, and a thread's last error |
//! | [`context`] | which device and context a thread works with |
//! | [`registry`] | the images, kernels and variables that nvcc's code registers when a program starts |
//! | [`launch`], [`memory`], [`copy`], [`symbol`], [`device`], [`event`], [`graph`], [`error`] | the API by subject |
//!
//! `unsafe` is here because C passes raw pointers; each use states what the documentation asks of the caller.
#![warn(missing_docs)]
#![allow(non_snake_case)]

#[macro_use]
pub mod call;
#[macro_use]
pub mod driver;
pub mod context;
pub mod copy;
pub mod device;
pub mod error;
pub mod event;
pub mod functions;
pub mod graph;
pub mod launch;
pub mod memory;
pub mod registry;
pub mod symbol;
