//! Loops that stream tiles become pipelines.
//!
//! Two mechanisms. [`roles`] takes any kernel whose matmuls read tiles that a tensor map describes: a producer
//! warp runs the part of the program that says what is loaded, the other warps the rest. [`Prefetch`] is any loop
//! with loads that feed matmuls; [`cp_async`] builds its multi-stage `cp.async` form. Both leave the protocol in
//! the IR as `nv_tileas.async.*` operations, which [`super::protocol`] verifies.
//!
//! What matmuls read that no loop loads again, and no producer brings, [`once`] copies.
//!
//! Loops that feed no matmul are [`mod@stream`]s: the same mechanisms, where they pay.
//!
//! What `cp.async` starts iterations ahead must follow from the loop's counter alone ([`induction`] writes carried
//! counters that way). No load that is started ahead may wait for a write in the loop; for those in front of it a fence waits.

pub mod ahead;
pub mod cp_async;
pub mod described;
pub mod guard;
pub mod induction;
pub mod next;
pub mod once;
pub mod padding;
pub mod prefetch;
pub mod purpose;
pub mod roles;
pub mod slice;
pub mod stream;
pub mod sum;
pub mod tma;
pub mod tokens;

pub use prefetch::Prefetch;
