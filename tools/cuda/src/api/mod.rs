//! The exported functions, one file per subject. `../../functions.tsv` lists them.
//!
//! Each body runs with its caller's promises: pointers are null or point to what `cuda.h` says, with room for it.
#![allow(
    non_snake_case,
    missing_docs,
    clippy::missing_safety_doc,
    clippy::too_many_arguments
)]

/// Exports functions: the bodies are `Result`s, and run inside [`crate::call::answer`]. In front of a real driver it is
/// the driver's function that runs, or the one of [`crate::front`] that takes its place.
macro_rules! export {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => {
        $(
            $(#[$doc])*
            // Some bodies touch no pointer.
            #[allow(unused_unsafe)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($arg: $ty),*) -> crate::status::Status {
                static FRONT: crate::front::Slot =
                    crate::front::Slot::new(concat!(stringify!($name), "\0"));
                if let Some(found) = FRONT.get() {
                    type Function = unsafe extern "C" fn($($ty),*) -> crate::status::Status;
                    // SAFETY: the function has the type that `cuda.h` gives it; the promises are the caller's.
                    return unsafe {
                        std::mem::transmute::<*const std::ffi::c_void, Function>(found)($($arg),*)
                    };
                }
                // SAFETY: the body relies on what `cuda.h` asks of the caller, and on nothing else.
                crate::call::answer(stringify!($name), || unsafe { $body })
            }
        )*
    };
}

pub mod context;
pub mod copy;
pub mod device;
pub mod event;
pub mod graph;
pub mod graph_nodes;
pub mod ipc;
pub mod launch;
pub mod lend;
pub mod library;
pub mod memory;
pub mod module;
pub mod occupancy;
pub mod pointer;
pub mod pool;
pub mod stream;
pub mod system;
pub mod tensormap;
