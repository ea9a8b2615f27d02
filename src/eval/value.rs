//! Run-time values.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::scalar::Lanes;

/// What an SSA value holds. Tokens order nothing here: a block runs its operations in order.
#[derive(Clone, Debug)]
pub enum Value {
    /// Elements in row-major order; one element alone is a splat.
    Tile(Arc<Lanes>),
    Tensor(Arc<Tensor>),
    Token,
}

/// A tensor in memory.
#[derive(Debug, PartialEq, Eq)]
pub struct Tensor {
    pub base: u64,
    /// Extents and strides in elements.
    pub shape: SmallVec<[u64; 4]>,
    pub strides: SmallVec<[u64; 4]>,
}

pub type Values = SmallVec<[Value; 2]>;

impl Value {
    pub fn tile(lanes: Lanes) -> Self {
        Value::Tile(Arc::new(lanes))
    }

    /// A tile all of whose elements are one pattern of `bits` bits.
    pub fn splat(bits: u32, value: u64) -> Self {
        Value::tile(Lanes::splat(bits, value))
    }
}

/// The operands of one execution of an operation.
pub struct Args<'a>(pub &'a [Value]);

impl Args<'_> {
    pub fn lanes(&self, i: usize) -> Result<&Lanes, String> {
        match self.0.get(i) {
            Some(Value::Tile(lanes)) => Ok(lanes),
            _ => Err(format!("operand {i} is not a tile")),
        }
    }

    pub fn tensor(&self, i: usize) -> Result<&Tensor, String> {
        match self.0.get(i) {
            Some(Value::Tensor(tensor)) => Ok(tensor),
            _ => Err(format!("operand {i} is not a view")),
        }
    }

    /// The value of a scalar operand.
    pub fn scalar(&self, i: usize) -> Result<u64, String> {
        Ok(self.lanes(i)?.get(0))
    }

    pub fn value(&self, i: usize) -> Result<Value, String> {
        self.0
            .get(i)
            .cloned()
            .ok_or_else(|| format!("operand {i} is missing"))
    }
}
