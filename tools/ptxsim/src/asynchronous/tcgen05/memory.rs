//! Tensor memory of one block: 128 lanes × 512 columns of 32 bits, and who holds which columns.

use crate::exec::fault::Trap;
use std::ops::Range;

/// Lanes of a column.
pub const LANES: usize = 128;
/// Columns of a multiprocessor.
pub const COLUMNS: usize = 512;

/// An address: lane in the upper half, column in the lower (PTX ISA 9.7.16.1.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// 0-127
    pub lane: usize,
    /// 0-511
    pub column: usize,
}

impl Place {
    /// Splits an address.
    pub fn of(address: u64) -> Place {
        Place {
            lane: (address >> 16 & 0xffff) as usize,
            column: (address & 0xffff) as usize,
        }
    }
}

/// Columns that a block holds.
#[derive(Debug, Clone)]
pub struct Held {
    /// which
    pub columns: Range<usize>,
    /// warp that allocated them
    pub warp: u32,
    /// PTX line of the allocation
    pub line: u32,
    /// `.cta_group::2`
    pub pair: bool,
}

/// What a warp has asked for together with its peer.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    /// columns
    pub count: usize,
    /// first column of what is given back; none for an allocation
    pub freed: Option<usize>,
    /// who asks
    pub warp: u32,
    /// PTX line
    pub line: u32,
    /// what the peer's warp has obtained for both
    pub granted: Option<usize>,
}

/// Who else may live on the multiprocessor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Neighbour {
    /// not decided yet
    #[default]
    Unknown,
    /// nobody
    Absent,
    /// another kernel's block that holds these columns, until somebody needs them
    Holds(Range<usize>),
}

/// The operand that a collector buffer was filled with: its address or descriptor, and its shape.
pub type Collected = (u64, u64);

/// A block's tensor memory.
#[derive(Debug, Default)]
pub struct TensorMemory {
    cells: Vec<u32>,
    /// lanes of each column that have been written
    written: Vec<u128>,
    /// what is allocated
    pub held: Vec<Held>,
    /// columns of the last allocation
    pub last: Option<usize>,
    /// no more allocations
    pub relinquished: bool,
    /// collective allocation under way
    pub request: Option<Request>,
    /// another block beside this one
    pub neighbour: Neighbour,
    /// collector buffers: B's 0 to 3, then A's
    pub collectors: [Option<Collected>; 5],
}

impl TensorMemory {
    /// Takes columns; their contents are undefined.
    pub fn take(&mut self, held: Held) {
        if self.cells.is_empty() {
            self.cells = vec![0; LANES * COLUMNS];
            self.written = vec![0; COLUMNS];
        }
        self.written[held.columns.clone()].fill(0);
        self.last = Some(held.columns.len());
        self.held.push(held);
    }

    /// A word, if it has been written.
    pub fn get(&self, lane: usize, column: usize) -> Option<u32> {
        let written = self.written.get(column)? >> (lane & 127) & 1 == 1;
        written.then(|| self.cells[column * LANES + lane])
    }

    /// Writes a word.
    pub fn set(&mut self, lane: usize, column: usize, value: Option<u32>) {
        if let Some(cell) = self.cells.get_mut(column * LANES + lane) {
            let bit = 1u128 << (lane & 127);
            match value {
                Some(value) => {
                    *cell = value;
                    self.written[column] |= bit;
                }
                None => self.written[column] &= !bit,
            }
        }
    }

    /// Refuses columns that are not allocated.
    pub fn check(&self, columns: &Range<usize>, what: &str) -> Result<(), Trap> {
        let missing = columns
            .clone()
            .find(|c| !self.held.iter().any(|h| h.columns.contains(c)));
        let Some(column) = missing else { return Ok(()) };
        Err(Trap::new(format!(
            "{what} uses tensor memory columns {} to {}, of which column {column} is not allocated: it never was, or \
             tcgen05.dealloc has given it back",
            columns.start,
            columns.end - 1
        )))
    }
}
