//! Every run of the corpus, in the interpreter and in the simulator, against numpy. Run by `tools/test`.

#[path = "../common/npy.rs"]
mod npy;
#[path = "../common/runs.rs"]
mod runs;
#[path = "../common/toolkit.rs"]
mod toolkit;

mod numerics;
mod resident;
mod selectors;
mod simulated;
