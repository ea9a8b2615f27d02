//! Execution: warps of a cluster interleaved by a seeded scheduler over a decoded program.

pub mod access;
pub mod alu;
pub mod atomic;
pub mod block;
pub mod call;
pub mod cluster;
pub mod collective;
pub mod counters;
mod deadlock;
mod ending;
pub mod env;
pub mod fault;
pub mod flow;
pub mod foreign;
pub mod frame;
pub mod global;
pub mod heap;
pub mod hooks;
pub mod late;
pub mod memory;
pub mod objects;
pub mod printf;
pub mod rare;
pub mod registers;
pub mod report;
pub mod rng;
pub mod stack;
pub mod stats;
pub mod step;
pub mod store;
pub mod tape;
pub mod warp;

pub use cluster::Cluster;
pub use env::{Env, Shared};
pub use fault::{Fault, Trap};
