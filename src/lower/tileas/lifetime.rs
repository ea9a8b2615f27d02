//! When something is in use: what is never in use at the same time can have the same bytes of shared memory, or the
//! same columns of tensor memory.

use super::look::{ancestor_in, behind};
use crate::dialect::cuda_tile::Op as C;
use crate::ir::{BlockId, Module, OpId, RegionId, ValueId};
use std::ops::Range;

/// The operations of one block during which something is in use, and what they hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    block: BlockId,
    first: usize,
    last: usize,
}

/// How a lifetime stands to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// They have an operation in common.
    Together,
    /// It ends before the other begins.
    Before,
    /// It begins when the other has ended.
    After,
    /// Control goes one way or the other.
    Apart,
}

impl Lifetime {
    /// Of a tile that is stored where it is known: until the last of `readers`, which are in its block or in what its
    /// operations hold, since they use what it defines.
    pub fn of_tile(
        m: &Module,
        body: BlockId,
        tile: ValueId,
        readers: impl IntoIterator<Item = OpId>,
    ) -> Lifetime {
        let (block, first) = behind(m, tile);
        let ops = &m.block(block).ops;
        let place = |reader| {
            let op = ancestor_in(m, body, block, reader)?;
            ops.iter().position(|&o| o == op)
        };
        let last = readers.into_iter().filter_map(place).max();
        Lifetime {
            block,
            first,
            last: last.unwrap_or(first).max(first),
        }
    }

    /// How this one stands to `other`.
    pub fn meeting(self, m: &Module, body: BlockId, other: Lifetime) -> Meeting {
        let (own, others) = (self.outwards(m, body), other.outwards(m, body));
        let common = own.iter().find_map(|a| {
            let b = others.iter().find(|b| b.within.block == a.within.block)?;
            Some((a, b))
        });
        let Some((a, b)) = common else {
            return Meeting::Together;
        };
        if a.within.last < b.within.first {
            return Meeting::Before;
        }
        if b.within.last < a.within.first {
            return Meeting::After;
        }
        match (a.held, b.held) {
            (Some((op, r)), Some((o, s))) if op == o && r != s && is_choice(m, op) => {
                Meeting::Apart
            }
            _ => Meeting::Together,
        }
    }

    /// It as a lifetime in its own block, and in each block around that.
    fn outwards(self, m: &Module, body: BlockId) -> Vec<Seen> {
        let mut seen = vec![Seen {
            within: self,
            held: None,
        }];
        let mut block = self.block;
        while block != body {
            let region = m.block(block).region;
            let holder = m.region(region).parent;
            block = m.op(holder).block;
            let ops = m.block(block).ops.iter();
            let Some(at) = ops.clone().position(|&o| o == holder) else {
                break;
            };
            seen.push(Seen {
                within: Lifetime {
                    block,
                    first: at,
                    last: at,
                },
                held: Some((holder, region)),
            });
        }
        seen
    }
}

/// A lifetime as a block sees it.
struct Seen {
    within: Lifetime,
    /// The operation of the block, and its region, that hold all of it.
    held: Option<(OpId, RegionId)>,
}

fn is_choice(m: &Module, op: OpId) -> bool {
    C::of(m.op(op).kind) == Some(C::If)
}

/// The lowest place for `size` that leaves what is `taken` alone.
pub fn lowest_gap(taken: impl IntoIterator<Item = Range<u64>>, size: u64) -> u64 {
    let mut taken: Vec<Range<u64>> = taken.into_iter().collect();
    taken.sort_unstable_by_key(|r| (r.start, r.end));
    let mut first = 0;
    for range in taken {
        if first + size <= range.start {
            break;
        }
        first = first.max(range.end);
    }
    first
}

/// Whether two ranges have something in common.
pub fn intersect(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start < b.end && b.start < a.end
}
