//! What can be wrong with a question asked of the layout algebra.

use thiserror::Error;

/// Why a layout could not be built or an operation on layouts has no answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LayoutError {
    /// A dimension or count that must be a power of two is not.
    #[error("{what} is {value}, which is not a power of two")]
    NotPowerOfTwo {
        /// What the number counts.
        what: &'static str,
        /// The number.
        value: u64,
    },
    /// More bits than the algebra holds in one vector.
    #[error("{bits} bits of {what} are more than the {max} that a layout can hold")]
    TooManyBits {
        /// What the bits index.
        what: &'static str,
        /// How many were asked for.
        bits: u32,
        /// How many there may be.
        max: u32,
    },
    /// Two layouts that must cover the same tile do not.
    #[error("layouts cover different tiles: {left} and {right}")]
    ShapeMismatch {
        /// Printed shape of the first.
        left: String,
        /// Printed shape of the second.
        right: String,
    },
    /// A dimension number that the tile does not have.
    #[error("dimension {dim} of a tile of rank {rank}")]
    NoSuchDim {
        /// The dimension asked for.
        dim: usize,
        /// The rank of the tile.
        rank: usize,
    },
    /// A list of dimensions that is not a permutation of the tile's dimensions.
    #[error("{0:?} is not a permutation of the tile's dimensions")]
    NotAPermutation(Vec<usize>),
    /// A layout that must reach every element of its tile does not.
    #[error("layout does not reach every element of the tile: {0}")]
    NotSurjective(String),
    /// A tile or instruction parameter that the hardware does not have.
    #[error("{0}")]
    Unsupported(String),
}
