//! Rules, lowerings, selection, and what comes of them, without a tool of NVIDIA's.

#[path = "../common/change.rs"]
mod change;
#[path = "../common/nvvm.rs"]
mod nvvm;
#[path = "../common/ssa.rs"]
mod ssa;

mod checked;
mod circles;
mod copies;
mod egraph;
mod facts;
mod layers;
mod lowered;
mod promises;
mod protocol;
mod rules;
mod selection;
mod stages;
mod widths;
