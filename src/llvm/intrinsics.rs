//! Instructions that an intrinsic stands for: no inline assembly is needed.
//!
//! Source: the NVPTX usage guide and NVIDIA's NVVM IR specification; each name was tried with libNVVM, which takes an
//! intrinsic that it doesn't know for a function.

use super::body::Val;
use super::kernel::Kernel;
use super::types::{Flavor, Ty};
use crate::machine::mir::{self, Atom};
use crate::machine::table::{Role, Row};

/// An operand of an intrinsic, an i32.
enum Arg {
    /// All lanes of a warp.
    AllLanes,
    /// The instruction's source of this number.
    Source(usize),
    /// That source, which is 0, is not passed.
    Zero(usize),
}

use Arg::{AllLanes, Source, Zero};

/// A mnemonic, the dialect that has the intrinsic (`None`: both), its name, its operands.
type Known = (&'static str, Option<Flavor>, &'static str, &'static [Arg]);

const MODERN: Option<Flavor> = Some(Flavor::Modern);
const SHUFFLE: &[Arg] = &[AllLanes, Source(0), Source(1), Source(2)];

/// The first row whose operands fit counts.
const KNOWN: &[Known] = &[
    (
        "shfl.sync.bfly.b32",
        None,
        "llvm.nvvm.shfl.sync.bfly.i32",
        SHUFFLE,
    ),
    (
        "shfl.sync.idx.b32",
        None,
        "llvm.nvvm.shfl.sync.idx.i32",
        SHUFFLE,
    ),
    (
        "shfl.sync.up.b32",
        None,
        "llvm.nvvm.shfl.sync.up.i32",
        SHUFFLE,
    ),
    (
        "shfl.sync.down.b32",
        None,
        "llvm.nvvm.shfl.sync.down.i32",
        SHUFFLE,
    ),
    (
        "bar.warp.sync",
        None,
        "llvm.nvvm.bar.warp.sync",
        &[AllLanes],
    ),
    ("bar.sync", None, "llvm.nvvm.barrier0", &[Zero(0)]),
    (
        "bar.sync",
        MODERN,
        "llvm.nvvm.barrier.cta.sync.aligned.all",
        &[Source(0)],
    ),
    (
        "bar.sync",
        MODERN,
        "llvm.nvvm.barrier.cta.sync.aligned.count",
        &[Source(0), Source(1)],
    ),
    ("trap", None, "llvm.trap", &[]),
    ("nanosleep.u32", MODERN, "llvm.nvvm.nanosleep", &[Source(0)]),
    (
        "cp.async.commit_group",
        MODERN,
        "llvm.nvvm.cp.async.commit.group",
        &[],
    ),
    (
        "cp.async.wait_group",
        MODERN,
        "llvm.nvvm.cp.async.wait.group",
        &[Source(0)],
    ),
    (
        "cp.async.bulk.commit_group",
        MODERN,
        "llvm.nvvm.cp.async.bulk.commit.group",
        &[],
    ),
    (
        "cp.async.bulk.wait_group",
        MODERN,
        "llvm.nvvm.cp.async.bulk.wait.group",
        &[Source(0)],
    ),
    (
        "cp.async.bulk.wait_group.read",
        MODERN,
        "llvm.nvvm.cp.async.bulk.wait.group.read",
        &[Source(0)],
    ),
    (
        "griddepcontrol.wait",
        MODERN,
        "llvm.nvvm.griddepcontrol.wait",
        &[],
    ),
    (
        "griddepcontrol.launch_dependents",
        MODERN,
        "llvm.nvvm.griddepcontrol.launch.dependents",
        &[],
    ),
    (
        "fence.proxy.async.shared::cta",
        MODERN,
        "llvm.nvvm.fence.proxy.async.shared_cta",
        &[],
    ),
];

impl Kernel<'_, '_> {
    /// Repetition `rep` of an instruction as an intrinsic, with what its sources are: its result, an i32, if it
    /// has one. `None` where there is no intrinsic for it.
    pub(super) fn as_intrinsic(
        &mut self,
        op: &mir::Op,
        row: &Row,
        rep: usize,
        mut value: impl FnMut(&mut Self, Atom) -> Val,
    ) -> Option<Option<Val>> {
        if op.guard.is_some() {
            return None;
        }
        let slots = row.slots.iter().zip(&op.operands);
        let sources = slots.filter(|(slot, _)| slot.role != Role::Def);
        let sources: Vec<Atom> = sources
            .filter_map(|(_, o)| o.atoms.get(rep).copied())
            .collect();
        let flavor = self.body.flavor;
        let fits = |(mnemonic, dialect, _, args): &&Known| {
            let passed = args.iter().filter(|a| !matches!(a, AllLanes)).count();
            let zeros = args.iter().all(|a| match a {
                Zero(i) => sources.get(*i) == Some(&Atom::Imm(0)),
                _ => true,
            });
            *mnemonic == &*op.insn.mnemonic
                && dialect.is_none_or(|d| d == flavor)
                && passed == sources.len()
                && zeros
        };
        let (_, _, name, args) = KNOWN.iter().find(fits)?;
        let mut values = Vec::new();
        for arg in *args {
            match arg {
                AllLanes => values.push(self.body.constant(Ty::Int(32), u64::MAX)),
                Source(i) => {
                    let source = value(self, *sources.get(*i)?);
                    values.push(self.body.cast(&source, Ty::Int(32)));
                }
                Zero(_) => {}
            }
        }
        match row.slots.iter().any(|s| s.role == Role::Def) {
            true => Some(Some(self.call(name, Ty::Int(32), &values))),
            false => {
                self.call_effect(name, &values);
                Some(None)
            }
        }
    }
}
