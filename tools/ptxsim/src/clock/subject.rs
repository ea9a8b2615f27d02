//! What is estimated.

use crate::clock::ClusterTrace;
use crate::clock::trace::Neighbour;
use crate::program::Program;

/// What is to be timed.
pub struct Subject<'a> {
    /// the kernel
    pub program: &'a Program,
    /// what some of its clusters did, by ascending number
    pub traces: &'a [ClusterTrace],
    /// what clusters beside one another read, by ascending number
    pub neighbours: &'a [Neighbour],
    /// clusters of the grid along each axis
    pub shape: [u32; 3],
    /// threads of a block
    pub threads: u32,
    /// bytes of shared memory of a block, static and dynamic
    pub shared: u32,
    /// registers of a thread, as `ptxas -v` says; without, the entry's `.maxnreg`
    pub registers: Option<u32>,
    /// bytes of the buffers of the launch
    pub buffers: u64,
    /// clock in MHz; without, what the GPU's figures say for the load
    pub mhz: Option<f64>,
}

impl Subject<'_> {
    pub(super) fn clusters(&self) -> u64 {
        self.shape.into_iter().map(u64::from).product()
    }
}
