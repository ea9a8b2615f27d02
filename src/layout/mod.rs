//! Linear layouts: where the elements of a tile live, as linear maps over bits.
//!
//! Every tile dimension is a power of two, so a place in the machine (register,
//! lane, warp, block, or an offset in shared memory) and a coordinate of the tile
//! are both vectors of bits, and every layout that matters on a GPU is a matrix
//! over GF(2) between them (Zhou et al., *Linear Layouts*, arXiv 2505.23819).
//! This module is that algebra and the questions code generation asks of it. It
//! knows nothing of the compiler's IR: plain numbers in, plain data out.
//!
//! - [`gf2`]: matrices and subspaces over GF(2);
//! - [`shape`], [`linear`]: [`Shape`] and [`Layout`], the map from a place to a coordinate;
//! - [`ops`]: how layouts follow tile operations (reshape, permute, slice, broadcast, …);
//! - [`blocked`]: coalesced layouts for loads, stores and elementwise work;
//! - [`mma`]: the fragments of `mma.sync` and `wgmma`;
//! - [`scales`]: the scale factors of block-scaled `mma.sync`;
//! - [`shared`]: shared-memory layouts and their swizzles;
//! - [`addr`]: byte offsets as thread base, xor constants and immediates;
//! - [`bank`]: bank conflicts;
//! - [`ldmatrix`]: where `ldmatrix` and `stmatrix` fit;
//! - [`swizzle`]: the shared layout for a tile written and read in two layouts;
//! - [`bytes`]: elements smaller than a byte;
//! - [`convert`]: from one register layout to another ([`lookup`], [`shuffle`]);
//! - [`pieces`]: parts of a tile that are a choice of registers;
//! - [`reduce`], [`scan`] ([`scan_steps`], [`scan_totals`]): in the thread, between lanes, between warps;
//! - [`tensor`]: matrices in tensor memory;
//! - [`tensor_scales`]: their scale factors;
//! - [`tcgen05`]: descriptors of `tcgen05.mma`;
//! - [`tma`]: a shared tile as TMA boxes;
//! - [`wgmma_desc`]: a shared tile as a `wgmma` matrix descriptor.

pub mod addr;
pub mod bank;
pub mod between;
pub mod blocked;
pub mod bytes;
pub mod convert;
mod error;
#[cfg(test)]
mod fixtures;
pub mod gf2;
pub mod halves;
pub mod ldmatrix;
pub mod linear;
pub mod lookup;
pub mod mma;
pub mod ops;
pub mod pieces;
mod print;
pub mod reduce;
mod runs;
pub mod scales;
pub mod scan;
pub mod scan_steps;
pub mod scan_totals;
pub mod shape;
pub mod shared;
pub mod shuffle;
pub mod swizzle;
pub mod tcgen05;
pub mod tensor;
pub mod tensor_scales;
pub mod tma;
pub mod wgmma_desc;

pub use error::LayoutError;
pub use linear::{In, Layout, Place};
pub use shape::Shape;
