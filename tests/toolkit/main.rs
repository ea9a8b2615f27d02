//! What needs the pinned toolkit (`tools/toolkit`): NVIDIA's tools, and Python with numpy. Run by `tools/test`.

#[path = "../common/aliases.rs"]
mod aliases;
#[path = "../common/browser.rs"]
mod browser;
#[path = "../common/change.rs"]
mod change;
#[path = "../common/html.rs"]
mod html;
#[path = "../common/npy.rs"]
mod npy;
#[path = "../common/nvvm.rs"]
mod nvvm;
#[path = "../common/ssa.rs"]
mod ssa;
#[path = "../common/toolkit.rs"]
mod toolkit;

mod assembles;
mod bench;
mod corpus;
mod disassembly;
mod dropin;
mod instructions;
mod interleavings;
mod invalid;
mod isel;
mod locations;
mod pack;
mod page;
mod proofs;
mod quality;
mod remarks;
mod scalar_formats;
mod targets;
mod tools;
mod view;
