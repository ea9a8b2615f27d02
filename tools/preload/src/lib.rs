//! What `tilec emulate` preloads, for programs that do not reach the emulated driver as they are.
//!
//! | module | for programs that |
//! |---|---|
//! | [`nvrtc`] | compile with NVRTC and ask for machine code |
//! | `runtime` | have NVIDIA's static runtime inside them |
//! | `bindings` | use the runtime by cuda-python |
//!
//! `unsafe` is here because the loader and the C library are reached by C's functions; each use says why it is sound.
#![warn(missing_docs)]

#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
mod bindings;
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
mod elf;
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
mod loader;
pub mod nvrtc;
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
mod runtime;
