//! What is passed to an entry.

use crate::tensormap::TensorMap;

/// A device buffer.
#[derive(Debug, Clone, Default)]
pub struct Buffer {
    /// name for messages
    pub name: String,
    /// contents before the launch, replaced by those after it
    pub bytes: Vec<u8>,
}

/// One entry parameter.
#[derive(Debug, Clone)]
pub enum Arg {
    /// the bytes of a value
    Scalar(Vec<u8>),
    /// the address of a buffer, by index, plus an offset in bytes
    Buffer {
        /// which
        index: usize,
        /// bytes added to its address
        offset: u64,
    },
    /// a hidden 128-byte tensor map
    TensorMap(TensorMap),
}

impl Arg {
    /// A value in its little-endian bytes.
    pub fn scalar<const N: usize>(bytes: [u8; N]) -> Arg {
        Arg::Scalar(bytes.to_vec())
    }

    /// The address of a buffer.
    pub fn buffer(index: usize) -> Arg {
        Arg::Buffer { index, offset: 0 }
    }
}
