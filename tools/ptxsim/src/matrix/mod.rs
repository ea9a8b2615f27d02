//! Matrix arithmetic and the fragments that matrix instructions spread over a warp.

pub mod descriptor;
pub mod element;
pub mod fragment;
pub mod mma;
pub mod moves;
pub mod product;
pub mod rough;
pub mod sparse;
pub mod volta;
pub mod wmma;
