//! Launching an entry: the interface of the simulator as a library.

use crate::asynchronous::starts::Starts;
use crate::check::global::GlobalRaces;
use crate::clock::trace::Neighbour;
use crate::clock::{ClusterTrace, Sampling};
use crate::error::LaunchError;
use crate::exec::env::{Checks, Shared};
use crate::exec::global::{GlobalMemory, Region};
use crate::exec::objects::{self, Heap};
use crate::exec::{rng::Rng, stats::Stats};
use crate::manifest::EntryManifest;
use crate::program::{Program, window};
use crate::record::{Observer, Timeline};
use crate::run::{Outcome, RESIDENT, clusters, run_grid};
use crate::{Arg, Buffer, arguments};
use std::sync::{Arc, Mutex};

pub use crate::module::Module;

/// A launch. Fill it in, then [`Launch::run`].
pub struct Launch<'p> {
    /// what to run
    pub program: &'p Program,
    /// blocks; clusters where the entry has `.blocksareclusters`
    pub grid: [u32; 3],
    /// threads per block; the entry's `.reqntid` if it has one
    pub block: [u32; 3],
    /// blocks per cluster; the entry's `.reqnctapercluster` if it has one
    pub cluster: [u32; 3],
    /// dynamic shared memory in bytes
    pub dynamic_shared: u32,
    /// entry parameters in PTX order, hidden ones included
    pub args: Vec<Arg>,
    /// device buffers
    pub buffers: Vec<Buffer>,
    /// memory of the process that a driver lends, in the order of addresses; kernels use its addresses as they are
    pub lent: Arc<[Region]>,
    /// all blocks are on the device at once and may wait for each other (`cudaLaunchCooperativeKernel`); entries that
    /// ask for the grid's workspace, as `grid.sync()` does, are launched so by default
    pub cooperative: bool,
    /// interleaving and completion times of asynchronous work
    pub seed: u64,
    /// which checks run
    pub checks: Checks,
    /// whether accesses are counted for the statistics; instructions and copies always are
    pub count: bool,
    /// number of the cluster whose timeline is recorded
    pub timeline: Option<u64>,
    /// which clusters are recorded for the clock
    pub sampling: Option<Sampling>,
    /// who watches
    pub observer: Option<&'p dyn Observer>,
    /// a launch that executes more warp instructions than this in one cluster is stopped
    pub max_steps: u64,
    /// what the kernel had printed when it was stopped by a fault; otherwise the report has it
    pub printed: String,
}

/// What a launch leaves besides its buffers.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// what the kernel printed
    pub output: String,
    /// counters
    pub stats: Stats,
    /// module variables after the launch: name and bytes
    pub variables: Vec<(String, Vec<u8>)>,
    /// what happened when, if the launch asked for it
    pub timeline: Option<Timeline>,
    /// what the clock replays, by ascending number of the cluster
    pub recorded: Vec<ClusterTrace>,
    /// what clusters beside one another read
    pub neighbours: Vec<Neighbour>,
}

impl<'p> Launch<'p> {
    /// A launch of one block with the sizes that the entry asks for.
    pub fn new(program: &'p Program) -> Launch<'p> {
        Launch {
            program,
            grid: [1; 3],
            block: program.attributes.reqntid.unwrap_or([1; 3]),
            cluster: program.attributes.cluster.unwrap_or([1; 3]),
            dynamic_shared: 0,
            args: Vec::new(),
            buffers: Vec::new(),
            lent: Arc::default(),
            cooperative: program.needs.cooperation,
            seed: 1,
            checks: Checks::ALL,
            count: false,
            timeline: None,
            sampling: None,
            observer: None,
            max_steps: 1 << 36,
            printed: String::new(),
        }
    }

    /// A launch of one block as `entry` says: sizes, and behind `own`, the entry's own arguments, the tensor maps
    /// that it describes.
    pub fn of_entry(
        program: &'p Program,
        entry: &EntryManifest,
        own: Vec<Arg>,
    ) -> Result<Launch<'p>, String> {
        if own.len() != entry.params.len() {
            let (have, want, name) = (own.len(), entry.params.len(), &entry.name);
            return Err(format!(
                "{have} arguments for {want} parameters of `{name}`"
            ));
        }
        let mut launch = Launch::new(program);
        (launch.block, launch.cluster) = (entry.block, entry.cluster);
        launch.dynamic_shared = entry.shared_bytes;
        for map in &entry.tensor_maps {
            let map = arguments::tensor_map(map, &own)?;
            launch.args.push(Arg::TensorMap(map));
        }
        launch.args.splice(0..0, own);
        Ok(launch)
    }

    /// Adds a buffer; returns its index.
    pub fn add_buffer(&mut self, name: &str, bytes: Vec<u8>) -> usize {
        self.buffers.push(Buffer {
            name: name.to_owned(),
            bytes,
        });
        self.buffers.len() - 1
    }

    /// Device addresses of the buffers, 256-byte aligned with guard gaps between them.
    pub fn addresses(&self) -> Vec<u64> {
        let mut next = window::BUFFERS;
        self.buffers
            .iter()
            .map(|buffer| {
                let address = next;
                next = (address + buffer.bytes.len() as u64 + (1 << 20)).next_multiple_of(1 << 16);
                address
            })
            .collect()
    }

    /// Clusters of the grid.
    pub fn clusters(&self) -> u64 {
        self.shape().into_iter().map(u64::from).product()
    }

    /// Clusters of the grid along each axis.
    pub fn shape(&self) -> [u32; 3] {
        clusters(self.blocks(), self.cluster)
    }

    /// The grid in blocks (PTX ISA 9.0, "Cluster Dimension Directives: .blocksareclusters").
    fn blocks(&self) -> [u32; 3] {
        match self.program.attributes.blocks_are_clusters {
            true => std::array::from_fn(|i| self.grid[i].saturating_mul(self.cluster[i])),
            false => self.grid,
        }
    }

    fn check(&self) -> Result<(), LaunchError> {
        let bad = |message: String| Err(LaunchError::Bad(message));
        let threads = self.block.iter().try_fold(1u32, |p, &x| p.checked_mul(x));
        if !threads.is_some_and(|t| (1..=1024).contains(&t)) {
            return bad(format!(
                "a block of {:?} threads; a block has 1 to 1024",
                self.block
            ));
        }
        if let Some(required) = self.program.attributes.reqntid.filter(|r| *r != self.block) {
            return bad(format!(
                "block {:?}, but the entry has .reqntid {required:?}",
                self.block
            ));
        }
        if let Some(max) = self.program.attributes.maxntid
            && threads > max.iter().try_fold(1u32, |p, &x| p.checked_mul(x))
        {
            return bad(format!(
                "block {:?} exceeds the entry's .maxntid {max:?}",
                self.block
            ));
        }
        let grid = self.blocks();
        if grid.contains(&0) || grid[0] > i32::MAX as u32 || grid[1] > 65535 || grid[2] > 65535 {
            return bad(format!("grid {:?} is empty or too large", self.grid));
        }
        let blocks: u64 = self.cluster.iter().map(|&c| u64::from(c)).product();
        if !(1..=16).contains(&blocks) {
            return bad(format!(
                "cluster {:?}; a cluster has 1 to 16 blocks",
                self.cluster
            ));
        }
        if (0..3).any(|i| !grid[i].is_multiple_of(self.cluster[i])) {
            return bad(format!(
                "grid {grid:?} is no multiple of cluster {:?}",
                self.cluster
            ));
        }
        let attributes = &self.program.attributes;
        if attributes.blocks_are_clusters
            && (attributes.cluster.is_none() || attributes.reqntid.is_none())
        {
            return bad(".blocksareclusters wants .reqntid and .reqnctapercluster".into());
        }
        let total = self.clusters();
        if self.cooperative && total > RESIDENT as u64 {
            return bad(format!(
                "a cooperative launch of {total} clusters; at most {RESIDENT} are on the device at once"
            ));
        }
        if self.dynamic_shared > 1 << 20 {
            return bad(format!(
                "{} bytes of dynamic shared memory",
                self.dynamic_shared
            ));
        }
        if self.args.len() != self.program.params.len() {
            return bad(format!(
                "{} arguments for {} parameters",
                self.args.len(),
                self.program.params.len()
            ));
        }
        Ok(())
    }

    fn param_bytes(&self, addresses: &[u64]) -> Result<Vec<u8>, LaunchError> {
        let mut params = vec![0; self.program.param_bytes as usize];
        for (i, (arg, param)) in self.args.iter().zip(&self.program.params).enumerate() {
            let bytes = match arg {
                Arg::Scalar(bytes) => bytes.clone(),
                Arg::Buffer { index, offset } => match addresses.get(*index) {
                    Some(base) => (base + offset).to_le_bytes().to_vec(),
                    None => {
                        return Err(LaunchError::Bad(format!(
                            "parameter {i} names buffer {index}, which does not exist"
                        )));
                    }
                },
                Arg::TensorMap(map) => {
                    let resolved = map
                        .resolve(addresses)
                        .map_err(|error| LaunchError::TensorMap { param: i, error })?;
                    resolved
                        .check()
                        .map_err(|error| LaunchError::TensorMap { param: i, error })?;
                    resolved.to_bytes().to_vec()
                }
            };
            if bytes.len() != param.size as usize {
                return Err(LaunchError::Bad(format!(
                    "parameter {i} `{}` has {} bytes, the argument {}",
                    param.name,
                    param.size,
                    bytes.len()
                )));
            }
            params[param.offset as usize..][..bytes.len()].copy_from_slice(&bytes);
        }
        Ok(params)
    }

    /// What the driver adds to global memory.
    fn driver_memory(&self) -> Vec<Region> {
        let mut regions = Vec::new();
        if self.program.needs.heap {
            let zeros = vec![0; objects::BYTES as usize];
            regions.push(Region::new("device heap", window::HEAP, &zeros, false));
        }
        if self.cooperative {
            regions.push(Region::new("grid workspace", window::GRID, &[0; 64], false));
        }
        regions
    }

    /// Runs the launch. Buffers hold their new contents afterwards, after a fault too.
    pub fn run(&mut self) -> Result<Report, LaunchError> {
        self.check()?;
        let addresses = self.addresses();
        let params = self.param_bytes(&addresses)?;
        let buffers = self
            .buffers
            .iter()
            .zip(&addresses)
            .map(|(b, &a)| Region::new(&b.name, a, &b.bytes, false));
        let variables = self
            .program
            .variables
            .iter()
            .filter(|v| !v.placed)
            .map(|v| Region::new(&v.name, v.address, &v.bytes, v.is_const));
        let own = self.driver_memory();
        let regions = buffers.chain(variables).chain(own).collect();
        let global = GlobalMemory::new(regions, Arc::clone(&self.lent));
        let total = self.clusters();
        // The order in which blocks start is part of the seed.
        let rotation = if self.seed.is_multiple_of(2) {
            Rng::new(self.seed, u64::MAX).below(total as usize) as u64
        } else {
            0
        };
        let starts = match &self.sampling {
            Some(sampling) if sampling.only => Starts::only(sampling.all()),
            _ => Starts::new(total, rotation),
        };
        let heap = Heap::default();
        let (output, wide_atomics) = (Mutex::new(String::new()), Mutex::new(()));
        let races = (self.checks.races && self.checks.global_races).then(GlobalRaces::default);
        let shared = Shared {
            program: self.program,
            global: &global,
            params,
            grid: self.blocks(),
            block: self.block,
            cluster: self.cluster,
            dynamic_bytes: self.dynamic_shared,
            checks: self.checks,
            count: self.count,
            seed: self.seed,
            output: &output,
            wide_atomics: &wide_atomics,
            heap: &heap,
            cooperative: self.cooperative,
            starts: &starts,
            races: races.as_ref(),
            timeline: self.timeline,
            sampling: self.sampling.as_ref(),
            observer: self.observer,
        };
        let result = run_grid(&shared, self.max_steps);
        for (buffer, &address) in self.buffers.iter_mut().zip(&addresses) {
            if let Some(region) = global.regions().iter().find(|r| r.base == address) {
                buffer.bytes = region.bytes();
            }
        }
        drop(shared);
        let output = output.into_inner().unwrap_or_default();
        let Outcome {
            stats,
            timeline,
            recorded,
            neighbours,
        } = match result {
            Ok(result) => result,
            Err(error) => {
                self.printed = output;
                return Err(error);
            }
        };
        let variables = self
            .program
            .variables
            .iter()
            .filter_map(|v| {
                global
                    .regions()
                    .iter()
                    .find(|r| r.base == v.address)
                    .map(|r| (v.name.clone(), r.bytes()))
            })
            .collect();
        Ok(Report {
            output,
            stats,
            variables,
            timeline,
            recorded,
            neighbours,
        })
    }
}
