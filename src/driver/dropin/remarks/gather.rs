//! The facts of remarks, from a module at nv_tileas, where every access has found its instruction.

use super::{Category, Kind, Remark};
use crate::compile::Compilation;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums::{self, PipelineKind};
use crate::dialect::nv_tileas::{Op as S, view::PipelineCreate};
use crate::facts::access::operand;
use crate::ir::{Attr, LocId, Module, OpId, Place, ValueId};
use crate::lower::tileas::{COPIES, Missed, TENSOR_COPIES};

/// All remarks, kernel by kernel, in the order of the program.
pub fn remarks(c: &Compilation) -> Vec<Remark> {
    let m = &c.module;
    let mut out = Vec::new();
    let funcs = m.ops_under(m.body);
    for func in funcs {
        let Some(name) = m.symbol(func) else {
            continue;
        };
        if S::of(m.op(func).kind) == Some(S::Func) {
            let name = name.to_owned();
            let missed = c.notes.missed.iter().filter(|x| x.kernel == name).collect();
            let mut kernel = Kernel {
                m,
                func,
                name,
                missed,
                out: Vec::new(),
            };
            kernel.read();
            out.append(&mut kernel.out);
        }
    }
    out
}

struct Kernel<'a> {
    m: &'a Module,
    func: OpId,
    name: String,
    missed: Vec<&'a Missed>,
    out: Vec<Remark>,
}

/// What an access goes by.
const INSTRUCTION: &str = "Instruction";

impl Kernel<'_> {
    fn read(&mut self) {
        let ops = self.m.body_of(self.func, 0);
        let ops = ops.map(|body| self.m.ops_under(body)).unwrap_or_default();
        for &op in &ops {
            match (S::of(self.m.op(op).kind), C::of(self.m.op(op).kind)) {
                (Some(S::Load | S::TiledLoad), _) => {
                    self.load(op, "Global-memory load instruction")
                }
                (Some(S::TiledCopy), _) => self.load(op, "Ldgsts instruction"),
                (Some(S::TmaLoad), _) => self.load(op, "TMA Load instruction"),
                (Some(S::Dot | S::ScaledDot), _) => self.dot(op),
                (Some(S::AsyncDot), _) => self.warpgroup_dot(op),
                (_, Some(C::For | C::Loop)) => self.repeated(op),
                _ => {}
            }
        }
        self.failures();
    }

    /// A remark, once: copies of an operation, in front of a loop and in both roles, say the same.
    fn remark(
        &mut self,
        (kind, category, name): (Kind, Category, &'static str),
        text: &'static str,
        loc: LocId,
        args: Vec<(&'static str, String)>,
    ) {
        let remark = Remark {
            kind,
            category,
            name,
            function: self.name.clone(),
            place: self.m.source_of(loc),
            text,
            args,
        };
        if remark.place == Place::Nowhere || !self.out.contains(&remark) {
            self.out.push(remark);
        }
    }

    fn load(&mut self, op: OpId, by: &str) {
        let mut args = vec![(INSTRUCTION, by.to_owned())];
        let data = self.m.op(op);
        if let (Some(S::TmaLoad), Some(Attr::I32s(box_dims))) =
            (S::of(data.kind), data.attr_named("traversal"))
        {
            args.push(("Shape", format!("{box_dims:?}")));
        }
        self.remark(
            (
                Kind::Passed,
                Category::Memory,
                "RemarkMemoryLoadInstructionSelected",
            ),
            "Load instruction selected",
            data.loc,
            args,
        );
    }

    fn dot(&mut self, op: OpId) {
        let data = self.m.op(op);
        let atom = match data.attr_named("atom") {
            Some(Attr::Enum(case)) => enums::DOT_ATOM.case(case.0),
            _ => None,
        };
        let atom = atom.unwrap_or_default();
        let extents: Vec<u32> = atom
            .split(['m', 'n', 'k'])
            .filter_map(|part| part.parse().ok())
            .collect();
        let tensor_core = extents.len() == 3;
        let shape = if tensor_core { extents } else { vec![1, 1, 1] };
        let (kind, text, by) = match tensor_core {
            true => (
                Kind::Passed,
                "MMA operation successfully optimized to use Tensor Cores",
                "Tensor-core SM80",
            ),
            false => (
                Kind::Failed,
                "MMA operation failed to optimize to use Tensor Cores, it is using FMA instructions instead",
                "FMA",
            ),
        };
        let args = vec![
            (INSTRUCTION, by.to_owned()),
            ("Shape", format!("{shape:?}")),
        ];
        self.remark(
            (kind, Category::TensorCore, "RemarkTensorCoreMMA"),
            text,
            data.loc,
            args,
        );
    }

    /// A matmul by `wgmma`: 64 rows, the columns of one warpgroup, 256 bits of K.
    fn warpgroup_dot(&mut self, op: OpId) {
        let data = self.m.op(op);
        let groups = match data.attr_named("warpgroups") {
            Some(Attr::I32s(groups)) => groups.get(1).copied().unwrap_or(1),
            _ => 1,
        };
        let tile = |name: &str| self.m.types.as_tile(self.m.ty(operand(data, name)?));
        let columns = tile("acc").and_then(|(_, dims)| dims.get(1).copied());
        let columns = columns.unwrap_or(0) / u64::try_from(groups.max(1)).unwrap_or(1);
        let bits = tile("lhs").and_then(|(element, _)| self.m.types.bits(element));
        let bits = bits.unwrap_or(16);
        let args = vec![
            (INSTRUCTION, "Tensor-core SM90".to_owned()),
            ("Shape", format!("[64, {columns}, {}]", 256 / bits.max(1))),
        ];
        self.remark(
            (Kind::Passed, Category::TensorCore, "RemarkTensorCoreMMA"),
            "MMA operation successfully optimized to use Tensor Cores",
            data.loc,
            args,
        );
    }

    /// Whether a loop is pipelined, and how.
    fn repeated(&mut self, op: OpId) {
        let m = self.m;
        let own = m.body_of(op, 0).map(|b| m.block(b).ops.clone());
        let own = own.unwrap_or_default();
        let is = |o: OpId, kinds: &[S]| S::of(m.op(o).kind).is_some_and(|k| kinds.contains(&k));
        let waits: Vec<OpId> = own
            .iter()
            .copied()
            .filter(|&o| is(o, &[S::ConsumerWait]))
            .collect();
        for &wait in &waits {
            if let Some(args) = operand(m.op(wait), "pipeline").and_then(|p| self.pipeline(p)) {
                self.remark(
                    (Kind::Passed, Category::Memory, "RemarkLoopPipelined"),
                    "Loop pipelined",
                    m.op(op).loc,
                    args,
                );
            }
        }
        let loads = own.iter().any(|&o| is(o, &[S::Load, S::TiledLoad]));
        if waits.is_empty() && loads {
            let reasons = self.against(op);
            self.remark(
                (Kind::Missed, Category::Memory, "RemarkLoopNotPipelined"),
                "Loop not pipelined",
                m.op(op).loc,
                reasons,
            );
        }
    }

    fn pipeline(&self, pipeline: ValueId) -> Option<Vec<(&'static str, String)>> {
        let create = PipelineCreate::of(self.m.op(self.m.def_op(pipeline)?))?;
        let by = match create.kind() {
            PipelineKind::Tma => "TMA by a producer warp",
            PipelineKind::Mma => "tcgen05.mma",
            PipelineKind::Registers => "loads and stores",
            PipelineKind::CpAsync => "cp.async",
        };
        let mut args = vec![
            ("Mechanism", by.to_owned()),
            ("Stages", create.stages().to_string()),
        ];
        // What threads bring is not counted in bytes.
        if create.bytes() > 0 {
            args.push(("BytesPerStage", create.bytes().to_string()));
        }
        Some(args)
    }

    /// What stood against a pipeline for a loop: notes on it, on what it holds, and on the whole kernel.
    fn against(&self, op: OpId) -> Vec<(&'static str, String)> {
        let m = self.m;
        let body = m.body_of(op, 0).map(|b| m.ops_under(b)).unwrap_or_default();
        let concerns = |x: &&&Missed| {
            let places = body.iter().chain([&op, &self.func]);
            COPIES.contains(&x.what) && places.into_iter().any(|&o| m.op(o).loc == x.loc)
        };
        let mut reasons: Vec<String> = Vec::new();
        for missed in self.missed.iter().filter(concerns) {
            let reason = format!("no {}: {}", missed.what, self.placed(missed));
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        let matmul = |&o: &OpId| {
            matches!(
                S::of(m.op(o).kind),
                Some(S::Dot | S::ScaledDot | S::AsyncDot)
            )
        };
        if reasons.is_empty() && !body.iter().any(matmul) {
            reasons.push("no matmul in the loop uses what it loads".to_owned());
        }
        reasons.into_iter().map(|r| ("Reason", r)).collect()
    }

    /// A reason, behind the place that it is about.
    fn placed(&self, missed: &Missed) -> String {
        match self.m.source_of(missed.loc) {
            Place::Line { file, line, column } => {
                format!("loc(\"{file}\":{line}:{column}): {}", missed.why)
            }
            _ => missed.why.clone(),
        }
    }

    /// Loads without tensor copies, matmuls without warpgroups.
    fn failures(&mut self) {
        for missed in self.missed.clone() {
            let what = match missed.what {
                TENSOR_COPIES => (
                    (Kind::Failed, Category::Memory, "RemarkMemoryTmaLoadFailed"),
                    "Failed to select TMA load instruction",
                ),
                "wgmma" => (
                    (
                        Kind::Missed,
                        Category::TensorCore,
                        "RemarkTensorCoreWarpgroupMissed",
                    ),
                    "MMA operation does not use warpgroup instructions",
                ),
                _ => continue,
            };
            let reason = self.placed(missed);
            self.remark(what.0, what.1, missed.loc, vec![("Reason", reason)]);
        }
    }
}
