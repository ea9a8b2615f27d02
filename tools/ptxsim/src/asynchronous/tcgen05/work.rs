//! `tcgen05` operations in flight.

use super::moved::{Fill, Shift};
use super::product::Product;
use crate::asynchronous::bulk::Origin;
use crate::check::Committed;
use std::collections::VecDeque;
use std::ops::Range;

/// Operations of a cluster in flight, oldest first.
#[derive(Debug, Default)]
pub struct Queue {
    pub(super) pending: VecDeque<Operation>,
    pub(super) next: u64,
    /// the `.cta_group` that the kernel uses: true for 2
    pub pair: Option<bool>,
}

#[derive(Debug)]
pub(super) struct Operation {
    pub(super) id: u64,
    pub(super) due: u64,
    pub(super) origin: Origin,
    pub(super) work: Work,
}

/// What an operation does when it happens.
#[derive(Debug)]
pub enum Work {
    /// `tcgen05.mma`
    Product(Box<Product>),
    /// `tcgen05.cp`
    Fill(Box<Fill>),
    /// `tcgen05.shift`
    Shift(Shift),
    /// `tcgen05.commit`: an arrival at each mbarrier
    Commit {
        /// block and offset
        targets: Vec<(usize, u64)>,
        /// what the issuer hands on
        view: Option<Committed>,
    },
}

impl Work {
    /// Blocks and columns of tensor memory that it touches.
    pub(super) fn touches(&self, cta: usize, columns: &Range<usize>) -> bool {
        let overlap = |r: &Range<usize>| r.start < columns.end && columns.start < r.end;
        match self {
            Work::Product(p) => p.blocks.contains(&cta) && p.columns().iter().any(overlap),
            Work::Fill(f) => f.blocks.contains(&cta) && overlap(&f.columns()),
            Work::Shift(s) => s.blocks.contains(&cta) && overlap(&s.columns()),
            Work::Commit { .. } => false,
        }
    }
}
