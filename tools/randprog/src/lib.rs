//! Random Tile IR programs: made of decisions, run in the reference interpreter and, compiled for several
//! targets, in the simulator; what differs is shrunk. See `docs/random-programs.md`.

pub mod choices;
pub mod generate;
pub mod known;
pub mod program;
pub mod run;
pub mod shrink;
pub mod types;
