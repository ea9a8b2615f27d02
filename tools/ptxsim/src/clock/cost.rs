//! The instructions of a program with what each costs on a GPU: computed once, read by every replayed event.

use super::gpu::Gpu;
use super::operands::Operands;
use super::weight::Pipe;
use crate::program::Program;
use crate::program::inst::{AccTy, Inst, MatTy, MbarOp, Op, Space, Wgmma, WgmmaA};
use crate::program::tensor::Tensor;

/// Cycles in 64ths, so that time is exact and ordered.
pub type Tick = u64;
/// One cycle.
pub const CYCLE: Tick = 64;

/// Cycles as ticks.
pub fn ticks(cycles: f64) -> Tick {
    (cycles.max(0.0) * CYCLE as f64).round() as Tick
}

/// What the model does with an instruction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Action {
    /// nothing but its pipeline
    Compute,
    /// a load whose result comes from where its effects say
    Load,
    /// a matrix product whose result is in registers
    Mma,
    /// a matrix product of four warps, in flight
    Wgmma {
        /// of the shared memory's data path, in ticks
        operands: Tick,
    },
    WgmmaCommit,
    WgmmaWait(u32),
    CpAsyncCommit,
    /// all of them if none
    CpAsyncWait(Option<u32>),
    BulkCommit,
    BulkWait {
        pending: u32,
        read_only: bool,
    },
    /// a load from tensor memory
    TensorLoad,
    /// waits for an mbarrier
    Mbarrier,
    /// waits for a barrier
    Barrier,
}

/// An instruction with its cost.
#[derive(Debug, Clone)]
pub struct Cost {
    /// its pipeline
    pub pipe: Pipe,
    /// slots of the scheduler
    pub issue: Tick,
    /// of its pipeline: how long it is taken
    pub busy: Tick,
    /// the same while the tensor core beside it multiplies for a warpgroup
    pub beside: Tick,
    /// from issue until a dependent instruction can issue
    pub latency: Tick,
    pub action: Action,
    pub operands: Operands,
    /// PTX line
    pub line: u32,
}

/// The costs of a program's instructions.
#[derive(Debug, Clone)]
pub struct Costs {
    pub code: Vec<Cost>,
    /// places of the scoreboard
    pub places: usize,
    /// products of warpgroups that a tensor core has before it
    pub wgmma_queue: usize,
}

/// Schedulers of a multiprocessor.
pub const PARTS: usize = 4;
const LANES: f64 = 32.0;

/// Rate that a figure states for the multiprocessor, as ticks of one of its four parts for a warp.
fn part(rate: f64) -> Tick {
    ticks(LANES / (rate / PARTS as f64))
}

/// An element type as the table of rates names it.
pub fn element(ty: MatTy) -> &'static str {
    match ty {
        MatTy::F16 => "f16",
        MatTy::BF16 => "bf16",
        MatTy::TF32 => "tf32",
        MatTy::F64 => "f64",
        MatTy::E4M3 | MatTy::E5M2 | MatTy::E2M3 | MatTy::E3M2 => "e4m3",
        MatTy::E2M1 => "e2m1",
        MatTy::S8 | MatTy::U8 => "s8",
        MatTy::S4 | MatTy::U4 => "s4",
        MatTy::B1 => "b1",
    }
}

/// The name of a rate: element type, and the accumulator where it is single precision.
pub fn rate_name(a: MatTy, d: AccTy) -> String {
    match d {
        AccTy::F32 => format!("{}>f32", element(a)),
        _ => element(a).to_owned(),
    }
}

impl Costs {
    /// What a program's instructions cost on `gpu`. The error names a matrix type for which there is no rate.
    pub fn of(program: &Program, gpu: &Gpu) -> Result<Costs, String> {
        let mut code = Vec::with_capacity(program.code.len());
        for inst in &program.code {
            code.push(cost(inst, gpu)?);
        }
        let places = code.iter().map(|c| c.operands.places()).max().unwrap_or(0);
        Ok(Costs {
            code,
            places: places as usize,
            wgmma_queue: gpu.get("wgmma_queue") as usize,
        })
    }
}

fn cost(inst: &Inst, gpu: &Gpu) -> Result<Cost, String> {
    let weight = inst.weight;
    let (pipe, times) = match &inst.op {
        // Halves of registers are put together by a byte permutation.
        Op::Pack { bits, .. } | Op::Unpack { bits, .. } if *bits < 32 => (Pipe::Alu, 1),
        Op::Special { .. } => (Pipe::Alu, 1),
        // Parameters are operands from the constant bank.
        Op::Load { address, .. } if matches!(address.space, Space::Param | Space::Const) => {
            (Pipe::Free, 0)
        }
        _ => (weight.pipe, weight.times),
    };
    let extra = ticks(f64::from(weight.extra));
    let times64 = u64::from(times);
    let (busy, latency) = rates(pipe, gpu);
    let mut cost = Cost {
        pipe,
        issue: times64 * CYCLE + extra,
        busy: times64 * busy,
        beside: 0,
        latency: latency + extra,
        action: action(&inst.op, gpu),
        operands: Operands::of(inst),
        line: inst.line,
    };
    match &inst.op {
        Op::Mma(mma) => matrix(&mut cost, &mma.product, gpu)?,
        Op::Wmma(product) => matrix(&mut cost, product, gpu)?,
        Op::Wgmma(w) => {
            let rate = rate(gpu, w.a_ty, w.d_ty)?;
            let work = 16 * w.n * w.k / if w.sparse.is_some() { 2 } else { 1 };
            cost.busy = ticks(work as f64 / (rate / PARTS as f64));
            cost.latency = cost.busy + ticks(gpu.get("wgmma_latency"));
        }
        // They only order; MoveMatrix goes the way of a shuffle.
        Op::WgmmaFence | Op::WgmmaCommit | Op::WgmmaWait { .. } => cost.pipe = Pipe::Control,
        Op::MoveMatrix { .. } => {
            cost.pipe = Pipe::Shuffle;
            (cost.busy, cost.latency) = rates(Pipe::Shuffle, gpu);
        }
        // A word of each lane is a cycle's work of tensor memory's path, not of the scheduler.
        Op::Tensor(Tensor::Move(mv)) => {
            let words = ticks(mv.regs.len() as f64).max(CYCLE);
            (cost.pipe, cost.busy) = (Pipe::TensorMemory, words);
            cost.latency = words + ticks(gpu.get("shared_latency"));
        }
        // A load's registers are waited for where they are read.
        Op::Tensor(Tensor::Wait { stores: false }) => (cost.pipe, cost.issue) = (Pipe::Free, 0),
        // The tensor core's own work is an effect of the event.
        Op::Tensor(_) => (cost.pipe, cost.busy) = (Pipe::Control, 0),
        Op::MatrixMove(_) => {
            cost.pipe = Pipe::Memory;
            cost.busy = part(gpu.get("lsu")) / PARTS as u64;
        }
        _ if cost.action == Action::Mbarrier => cost.latency = ticks(gpu.get("mbarrier_test")),
        _ => {}
    }
    cost.beside = (cost.busy as f64 * beside_wgmma(cost.pipe, gpu)) as Tick;
    Ok(cost)
}

/// How much longer an instruction takes its pipeline beside products of a warpgroup on the same part.
fn beside_wgmma(pipe: Pipe, gpu: &Gpu) -> f64 {
    match pipe {
        Pipe::Fma | Pipe::FmaPair | Pipe::Half | Pipe::Multiply => gpu.get("fma_beside_wgmma"),
        Pipe::Alu | Pipe::Convert | Pipe::Vote => gpu.get("alu_beside_wgmma"),
        Pipe::Special | Pipe::ConvertWide | Pipe::Count => gpu.get("special_beside_wgmma"),
        _ => 1.0,
    }
}

/// Ticks that a pipeline of a part is taken, and the latency of its results.
fn rates(pipe: Pipe, gpu: &Gpu) -> (Tick, Tick) {
    let alu = ticks(gpu.get("alu_latency"));
    let special = ticks(gpu.get("special_latency"));
    match pipe {
        Pipe::Free => (0, 0),
        Pipe::Control => (0, alu),
        Pipe::Alu => (part(gpu.get("int_add")), alu),
        Pipe::Fma => (part(gpu.get("f32")), alu),
        Pipe::FmaPair => (2 * part(gpu.get("f32")), alu),
        Pipe::Half => (part(gpu.get("f16x2")), alu),
        Pipe::Multiply => (part(gpu.get("int_mul")), alu),
        Pipe::Double => (part(gpu.get("f64")), ticks(gpu.get("f64_latency"))),
        Pipe::Special => (part(gpu.get("special")), special),
        Pipe::Convert => (part(gpu.get("convert")), alu),
        Pipe::ConvertWide => (part(gpu.get("convert_wide")), special),
        Pipe::Count => (part(gpu.get("popc")), special),
        Pipe::Vote => (part(gpu.get("vote")), special),
        // Through the data path of shared memory, which the four parts share.
        Pipe::Shuffle => (
            part(gpu.get("shuffle")) / PARTS as u64,
            ticks(gpu.get("shared_latency")),
        ),
        Pipe::Memory => (part(gpu.get("lsu")) / PARTS as u64, alu),
        Pipe::TensorMemory => (0, ticks(gpu.get("shared_latency"))),
        Pipe::Tensor => (0, ticks(gpu.get("mma_latency"))),
    }
}

fn rate(gpu: &Gpu, a: MatTy, d: AccTy) -> Result<f64, String> {
    let name = rate_name(a, d);
    gpu.multiply_adds(&name)
        .ok_or_else(|| format!("{} has no rate for matrix products of {name}", gpu.name))
}

fn matrix(cost: &mut Cost, p: &crate::program::inst::Product, gpu: &Gpu) -> Result<(), String> {
    let rate = rate(gpu, p.a_ty, p.d_ty)? * gpu.get("warp_mma_share");
    cost.pipe = Pipe::Tensor;
    cost.busy = ticks((p.m * p.n * p.k) as f64 / (rate / PARTS as f64));
    cost.latency = ticks(gpu.get("mma_latency")).max(cost.busy);
    Ok(())
}

/// What one of four warps makes the data path of shared memory read for a WGMMA.
fn operand_ticks(w: &Wgmma, gpu: &Gpu) -> Tick {
    let bits = w.a_ty.container_bits(false) as usize;
    let a = match w.a {
        WgmmaA::Descriptor(_) => 64 * w.k,
        WgmmaA::Registers(_) => 0,
    };
    let bytes = (w.n * w.k + a) * bits / 8 / PARTS;
    ticks(bytes as f64 / gpu.get("shared_bytes_per_clock"))
}

fn action(op: &Op, gpu: &Gpu) -> Action {
    match op {
        Op::Load { .. } | Op::Atom { .. } | Op::MatrixMove(_) | Op::WmmaMove(_) => Action::Load,
        Op::Mma(_) | Op::Wmma(_) => Action::Mma,
        Op::Wgmma(w) => Action::Wgmma {
            operands: operand_ticks(w, gpu),
        },
        Op::WgmmaCommit => Action::WgmmaCommit,
        Op::WgmmaWait { pending } => Action::WgmmaWait(*pending),
        Op::CpAsyncCommit => Action::CpAsyncCommit,
        Op::CpAsyncWait { pending } => Action::CpAsyncWait(*pending),
        Op::BulkCommit => Action::BulkCommit,
        Op::BulkWait { pending, read_only } => Action::BulkWait {
            pending: *pending,
            read_only: *read_only,
        },
        Op::Tensor(Tensor::Move(mv)) if !mv.store => Action::TensorLoad,
        Op::Mbarrier {
            op: MbarOp::TestWait { .. },
            ..
        } => Action::Mbarrier,
        Op::Bar { .. } | Op::ClusterWait => Action::Barrier,
        _ => Action::Compute,
    }
}
