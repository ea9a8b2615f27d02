//! Warps with roles: a producer that starts tensor copies, consumers that do the rest.
//!
//! ```text
//! alloc buffers              (rings of stages)
//! pipeline.create
//! warp_specialize
//!   producer: its slice of the program, each site of loads as
//!             { producer_acquire; tma_load …; producer_commit }
//!   consumer: the program, around what reads a site's tiles
//!             { consumer_wait; local_load …; …; consumer_release }
//! ```
//! The producer runs the slice of the kernel ([`mod@slice`]) that says which tiles are loaded: scalars, and the control
//! flow around the loads. [`sites`] finds the loads and gives them rings, [`mod@thread`] carries each ring's iteration
//! number through both programs. Loads stand at any depth, in several loops and under branches; the next loop's
//! loads are under way while this one's results are stored. Those that tokens order behind accesses of the last iteration
//! have one stage, which is handed back behind these ([`sites::Site::behind`]).
//!
//! What no tensor map describes comes into the same stages by `cp.async` of a producer of many warps ([`copies`]), whose
//! slice makes tiles of pointers, too.

mod apply;
mod context;
mod copies;
mod decide;
mod multicast;
mod plan;
mod reductions;
mod sites;
pub mod slice;
pub mod steps;
mod streams;
pub mod thread;
mod turns;

pub use apply::apply;
pub use context::Context;
pub use plan::Plan;
pub use slice::{Copier, Slice};
pub use steps::{number, step};
