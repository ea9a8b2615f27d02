//! What a launch did, counted.

use crate::program::Program;
use crate::program::class::Class;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Bytes that lanes moved to and from one kind of memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// by loads
    pub load_bytes: u64,
    /// by stores
    pub store_bytes: u64,
    /// by atomic operations
    pub atomic_bytes: u64,
}

/// Which way an access goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Direction {
    Load,
    Store,
    Atomic,
}

impl Traffic {
    /// Counts an access.
    pub fn add(&mut self, how: Direction, bytes: u64) {
        *match how {
            Direction::Load => &mut self.load_bytes,
            Direction::Store => &mut self.store_bytes,
            Direction::Atomic => &mut self.atomic_bytes,
        } += bytes;
    }

    fn join(&mut self, other: &Traffic) {
        self.load_bytes += other.load_bytes;
        self.store_bytes += other.store_bytes;
        self.atomic_bytes += other.atomic_bytes;
    }
}

/// Counters of a launch or a part of it. Instructions, copies and matrix work are always counted, the rest only if the
/// launch asks for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// instructions executed by warps
    pub warp_instructions: u64,
    /// instructions executed by lanes
    pub thread_instructions: u64,
    /// the same by class
    pub thread_instructions_by_class: BTreeMap<Class, u64>,
    /// global and constant memory
    pub global: Traffic,
    /// the block's own shared memory
    pub shared: Traffic,
    /// shared memory of other blocks of the cluster
    pub shared_of_other_blocks: Traffic,
    /// local memory
    pub local: Traffic,
    /// parameters of the kernel and of calls
    pub parameters: Traffic,
    /// instructions that accessed global memory, by warps
    pub global_accesses: u64,
    /// those that touched more 32-byte sectors than their bytes need
    pub uncoalesced_accesses: u64,
    /// 32-byte sectors of global memory that were touched
    pub global_sectors: u64,
    /// fewest sectors that could have carried those bytes
    pub global_sectors_ideal: u64,
    /// instructions that accessed shared memory, by warps
    pub shared_accesses: u64,
    /// extra passes over shared memory because lanes hit the same bank
    pub bank_conflicts: u64,
    /// bytes moved by asynchronous copies
    pub async_bytes: u64,
    /// multiply-adds in matrix instructions
    pub matrix_multiply_adds: u64,
    /// those issued while an asynchronous copy of the cluster was in flight
    pub matrix_multiply_adds_beside_copies: u64,
}

impl Stats {
    /// Adds lanes that executed each instruction of a program.
    pub fn executed(&mut self, program: &Program, counts: &[u64]) {
        for (inst, &count) in program.code.iter().zip(counts).filter(|(_, n)| **n > 0) {
            self.thread_instructions += count;
            *self
                .thread_instructions_by_class
                .entry(inst.class)
                .or_default() += count;
        }
    }

    /// Adds another count.
    pub fn add(&mut self, other: &Stats) {
        self.warp_instructions += other.warp_instructions;
        self.thread_instructions += other.thread_instructions;
        for (class, count) in &other.thread_instructions_by_class {
            *self.thread_instructions_by_class.entry(*class).or_default() += count;
        }
        self.global.join(&other.global);
        self.shared.join(&other.shared);
        self.shared_of_other_blocks
            .join(&other.shared_of_other_blocks);
        self.local.join(&other.local);
        self.parameters.join(&other.parameters);
        self.global_accesses += other.global_accesses;
        self.uncoalesced_accesses += other.uncoalesced_accesses;
        self.global_sectors += other.global_sectors;
        self.global_sectors_ideal += other.global_sectors_ideal;
        self.shared_accesses += other.shared_accesses;
        self.bank_conflicts += other.bank_conflicts;
        self.async_bytes += other.async_bytes;
        self.matrix_multiply_adds += other.matrix_multiply_adds;
        self.matrix_multiply_adds_beside_copies += other.matrix_multiply_adds_beside_copies;
    }

    /// Share of the matrix work that was issued while a copy was in flight; `None` without matrix work.
    pub fn overlap(&self) -> Option<f64> {
        (self.matrix_multiply_adds > 0).then(|| {
            self.matrix_multiply_adds_beside_copies as f64 / self.matrix_multiply_adds as f64
        })
    }

    /// A table for people; counters that are zero are left out.
    pub fn table(&self) -> String {
        let mut out = String::new();
        let mut line = |name: &str, value: u64| {
            if value > 0 {
                let _ = writeln!(out, "{name:<34} {value:>16}");
            }
        };
        line("warp instructions", self.warp_instructions);
        line("thread instructions", self.thread_instructions);
        for (class, count) in &self.thread_instructions_by_class {
            line(&format!("  {class:?}"), *count);
        }
        for (name, traffic) in [
            ("global memory", self.global),
            ("shared memory", self.shared),
            ("shared memory of other blocks", self.shared_of_other_blocks),
            ("local memory", self.local),
            ("parameters", self.parameters),
        ] {
            let total = traffic.load_bytes + traffic.store_bytes + traffic.atomic_bytes;
            line(&format!("{name}, bytes"), total);
            line("  loaded", traffic.load_bytes);
            line("  stored", traffic.store_bytes);
            line("  atomic", traffic.atomic_bytes);
        }
        line("asynchronous copies, bytes", self.async_bytes);
        line("global accesses", self.global_accesses);
        line("  uncoalesced", self.uncoalesced_accesses);
        line("  sectors", self.global_sectors);
        line("  sectors at best", self.global_sectors_ideal);
        line("shared accesses", self.shared_accesses);
        line("  bank conflicts", self.bank_conflicts);
        line("matrix multiply-adds", self.matrix_multiply_adds);
        line(
            "  while copies are in flight",
            self.matrix_multiply_adds_beside_copies,
        );
        if let Some(overlap) = self.overlap() {
            let _ = writeln!(
                out,
                "{:<34} {:>15.1}%",
                "overlap of copies and matrix work",
                100.0 * overlap
            );
        }
        out
    }
}
