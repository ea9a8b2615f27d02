//! `wgmma`: matrix products by four warps, finished when their group is waited for (PTX ISA 9.7.15).
//!
//! Each warp computes its 16 of the 64 rows by itself. Operands in shared memory, A's registers and the accumulators are
//! read when the product happens, which is as late as the wait allows: what changes in between changes the result.

mod operands;
mod queue;

use crate::asynchronous::due;
use crate::check::Agent;
use crate::exec::env::Env;
use crate::exec::fault::Trap;
use crate::exec::frame::Frame;
use crate::exec::warp::{ACCUMULATOR, Warp};
use crate::matrix::descriptor::Descriptor;
use crate::program::inst::{AccTy, MatTy, Op, Reg, Src, Wgmma, WgmmaA};
use crate::program::{LANES, Row};
use crate::record::Kind;
use operands::Operands;
use queue::Operation;

pub use queue::Queue;

/// Rows that one warp of the four computes.
const ROWS: usize = 16;

/// Checks an instruction when it is decoded.
pub fn check(w: &Wgmma, m: usize) -> Result<(), String> {
    let bits = w.a_ty.container_bits(false) as usize;
    if m != 64 || !w.n.is_multiple_of(8) || !(8..=256).contains(&w.n) {
        return Err("the shape is none that wgmma has".into());
    }
    let k = 256 / bits * if w.sparse.is_some() { 2 } else { 1 };
    if w.k != k {
        return Err(format!("k is {}, these types need {k}", w.k));
    }
    if w.a_ty == MatTy::B1 && (w.sparse.is_some() || !w.bit_and) {
        return Err("1-bit products have .and.popc and no sparse form".into());
    }
    let per_reg = if w.d_ty == AccTy::F16 { 4 } else { 2 };
    if w.d.len() != w.n / per_reg {
        return Err(format!(
            "{} accumulator registers, the shape needs {}",
            w.d.len(),
            w.n / per_reg
        ));
    }
    if let WgmmaA::Registers(regs) = &w.a
        && regs.len() != 4
    {
        return Err(format!("A has {} registers, it needs 4", regs.len()));
    }
    if bits != 16 && (w.a_mn_major || w.b_mn_major) {
        return Err("only 16-bit elements can be MN-major".into());
    }
    Ok(())
}

fn uniform(env: &Env<'_>, warp: &Warp, frame: Frame, src: Src) -> Result<u64, Trap> {
    let row = warp.source(env, frame, src, u32::MAX)?;
    match row.iter().position(|&x| x != row[0]) {
        Some(lane) => Err(Trap::lane(
            lane,
            "disagrees with its warp about a matrix descriptor",
        )),
        None => Ok(row[0]),
    }
}

/// `wgmma.fence`
pub fn fence(warp: &mut Warp) {
    warp.pending.wgmma.fenced_at = warp.steps;
}

/// `wgmma.mma_async`
pub fn issue(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    pc: u32,
    line: u32,
    w: &Wgmma,
) -> Result<(), Trap> {
    let whole = env.shared.warps_per_block() / 4 * 4;
    if warp.id >= whole {
        return Err(Trap::new(
            "wgmma needs the four warps of a warpgroup, and this block has fewer here",
        ));
    }
    warp.products = (warp.products.0 + 1, line);
    let a = match &w.a {
        WgmmaA::Descriptor(src) => Some(Descriptor::decode(uniform(env, warp, frame, *src)?)),
        WgmmaA::Registers(regs) => {
            for &src in regs {
                warp.source(env, frame, src, u32::MAX)?;
                check_fenced(warp, frame, src_row(src))?;
            }
            None
        }
    };
    let b = Descriptor::decode(uniform(env, warp, frame, w.b)?);
    let scale = warp.pred(env, frame, w.scale_d, u32::MAX)?;
    if scale != 0 && scale != u32::MAX {
        return Err(Trap::new("lanes disagree about scale-d of wgmma"));
    }
    let accumulate = scale != 0;
    for reg in &w.d {
        let row = (frame.rows + reg.0) as usize;
        if accumulate
            && warp.defined[row] != u32::MAX
            && env.shared.checks.uninitialised
            && warp.in_flight[row] == 0
        {
            return Err(Trap::new(
                "accumulates into registers that nothing has written; pass scale-d = 0 or zero them",
            ));
        }
        check_fenced(warp, frame, Some(reg.0))?;
    }
    let metadata = w
        .sparse
        .map(|(src, _)| warp.source(env, frame, src, u32::MAX))
        .transpose()?;
    let agent = env.issue(warp, line, "wgmma");
    check_operands(env, warp, agent, w, a.as_ref(), &b)?;
    for reg in &w.d {
        warp.in_flight[(frame.rows + reg.0) as usize] |= ACCUMULATOR;
    }
    if let WgmmaA::Registers(regs) = &w.a {
        for row in regs.iter().filter_map(|&s| src_row(s)) {
            warp.in_flight[(frame.rows + row) as usize] |= READ_ONLY;
        }
    }
    warp.any_in_flight = true;
    let due = due(&mut env.rng, env.clock);
    env.count_matrix(ROWS * w.n * w.k);
    let group = warp.pending.wgmma.groups;
    env.begin(warp, Kind::Wgmma, group, line, (ROWS * w.n * w.k) as u64);
    warp.pending.wgmma.operations.push(Operation {
        pc,
        frame,
        a,
        b,
        accumulate,
        group: None,
        metadata,
        due,
        done: false,
        agent,
        started: group,
    });
    Ok(())
}

/// A register that an operation in flight reads.
pub const READ_ONLY: u8 = 2;

fn src_row(src: Src) -> Option<u32> {
    match src {
        Src::Reg(row) => Some(row),
        Src::Const(_) => None,
    }
}

/// Registers written since the last `wgmma.fence` may not be handed to wgmma, except by wgmma itself.
fn check_fenced(warp: &Warp, frame: Frame, row: Option<u32>) -> Result<(), Trap> {
    let Some(row) = row else { return Ok(()) };
    let row = (frame.rows + row) as usize;
    if warp.in_flight[row] & ACCUMULATOR == 0 && warp.written_at[row] > warp.pending.wgmma.fenced_at
    {
        return Err(Trap::new(
            "wgmma uses a register that was written after the last wgmma.fence; put a wgmma.fence before the first \
             wgmma.mma_async that follows the write",
        ));
    }
    Ok(())
}

/// Operand chunks must be initialised, waited for, and visible to the async proxy.
fn check_operands(
    env: &mut Env<'_>,
    warp: &Warp,
    agent: Agent,
    w: &Wgmma,
    a: Option<&Descriptor>,
    b: &Descriptor,
) -> Result<(), Trap> {
    let per_chunk = 128 / w.a_ty.container_bits(false) as usize;
    let mut chunks = chunks_of(b, 0..w.n, w.k, w.k / per_chunk, w.b_mn_major);
    if let Some(a) = a {
        let first = warp.id as usize % 4 * ROWS;
        let k = stored_k(w);
        chunks.extend(chunks_of(
            a,
            first..first + ROWS,
            k,
            k / per_chunk,
            w.a_mn_major,
        ));
    }
    for at in chunks {
        if !env.ctas[warp.cta].holds(at, 16) {
            return Err(crate::exec::memory::shared_outside(
                env,
                at,
                16,
                env.ctas[warp.cta].shared.len(),
            ));
        }
        env.async_read(agent, warp, warp.cta, at, 16)?;
        if env.shared.checks.uninitialised
            && env.ctas[warp.cta].written[at as usize..at as usize + 16].contains(&false)
        {
            return Err(Trap::new(format!(
                "wgmma reads shared memory at {at:#x} that nothing has written"
            )));
        }
    }
    Ok(())
}

/// Elements of a row of A as it is stored: half of them if it is sparse.
fn stored_k(w: &Wgmma) -> usize {
    if w.sparse.is_some() { w.k / 2 } else { w.k }
}

/// Addresses of all 16-byte chunks of some rows.
fn chunks_of(
    d: &Descriptor,
    rows: std::ops::Range<usize>,
    k: usize,
    chunks: usize,
    mn_major: bool,
) -> Vec<u64> {
    if mn_major {
        return (0..k)
            .flat_map(|k| (rows.start / 8..rows.end / 8).map(move |c| d.mn_major_chunk(c, k)))
            .collect();
    }
    rows.flat_map(|mn| (0..chunks).map(move |chunk| d.k_major_chunk(mn, chunk)))
        .collect()
}

/// `wgmma.commit_group`
pub fn commit(warp: &mut Warp) {
    let queue = &mut warp.pending.wgmma;
    for operation in queue.operations.iter_mut().filter(|o| o.group.is_none()) {
        operation.group = Some(queue.groups);
    }
    queue.groups += 1;
}

/// `wgmma.wait_group`
pub fn wait(env: &mut Env<'_>, warp: &mut Warp, pending: u32) -> Result<(), Trap> {
    let limit = warp.pending.wgmma.groups.saturating_sub(pending.into());
    let finished = warp
        .pending
        .wgmma
        .operations
        .iter()
        .take_while(|o| o.group.is_some_and(|g| g < limit))
        .count();
    for i in 0..finished {
        perform(env, warp, i)?;
        let agent = warp.pending.wgmma.operations[i].agent;
        env.acquire(warp, agent);
    }
    warp.pending.wgmma.operations.drain(..finished);
    refresh_flight(env, warp);
    Ok(())
}

/// Marks the registers of what is still in flight, and only those.
fn refresh_flight(env: &Env<'_>, warp: &mut Warp) {
    warp.in_flight.fill(0);
    warp.any_in_flight = !warp.pending.wgmma.operations.is_empty();
    let operations: Vec<(u32, Frame)> = warp
        .pending
        .wgmma
        .operations
        .iter()
        .map(|o| (o.pc, o.frame))
        .collect();
    for (pc, frame) in operations {
        let Op::Wgmma(w) = &env.shared.program.code[pc as usize].op else {
            continue;
        };
        for reg in &w.d {
            warp.in_flight[(frame.rows + reg.0) as usize] |= ACCUMULATOR;
        }
        if let WgmmaA::Registers(regs) = &w.a {
            for row in regs.iter().filter_map(|&s| src_row(s)) {
                warp.in_flight[(frame.rows + row) as usize] |= READ_ONLY;
            }
        }
    }
}

/// Lets everything happen whose registers a plain move copies: compilers move accumulators in flight by renaming.
pub fn settle(env: &mut Env<'_>, warp: &mut Warp) -> Result<(), Trap> {
    for i in 0..warp.pending.wgmma.operations.len() {
        perform(env, warp, i)?;
    }
    Ok(())
}

/// Lets operations that are due happen, in order; if `force`, at least one.
pub fn tick(env: &mut Env<'_>, warp: &mut Warp, force: bool) -> Result<bool, (u32, Trap)> {
    let mut any = false;
    for i in 0..warp.pending.wgmma.operations.len() {
        let operation = &warp.pending.wgmma.operations[i];
        if operation.done {
            continue;
        }
        let forced = force && !any;
        if operation.due > env.clock && !forced {
            break;
        }
        let line = env.shared.program.code[operation.pc as usize].line;
        perform(env, warp, i).map_err(|trap| (line, trap))?;
        any = true;
    }
    Ok(any)
}

/// Computes operation `index` unless it has happened.
fn perform(env: &mut Env<'_>, warp: &mut Warp, index: usize) -> Result<(), Trap> {
    let operation = &mut warp.pending.wgmma.operations[index];
    if std::mem::replace(&mut operation.done, true) {
        return Ok(());
    }
    let started = operation.started;
    let (frame, a, b, accumulate, pc, metadata) = (
        operation.frame,
        operation.a,
        operation.b,
        operation.accumulate,
        operation.pc,
        operation.metadata,
    );
    env.end(warp, Kind::Wgmma, started);
    let Op::Wgmma(w) = &env.shared.program.code[pc as usize].op else {
        return Ok(());
    };
    let raw = |warp: &Warp, regs: &[u32]| -> Vec<Row> {
        regs.iter()
            .map(|r| warp.regs[(frame.rows + r) as usize])
            .collect()
    };
    let a_regs = match &w.a {
        WgmmaA::Registers(regs) => Some(
            regs.iter()
                .map(|&s| match s {
                    Src::Reg(row) => warp.regs[(frame.rows + row) as usize],
                    Src::Const(c) => env.shared.program.constants[c as usize],
                })
                .collect::<Vec<Row>>(),
        ),
        WgmmaA::Descriptor(_) => None,
    };
    let d_rows: Vec<u32> = w.d.iter().map(|r| r.0).collect();
    let old = if accumulate {
        raw(warp, &d_rows)
    } else {
        vec![[0; LANES]; d_rows.len()]
    };
    if env.skips_products() {
        for (reg, row) in w.d.iter().zip(&old) {
            write_result(warp, frame, *reg, row);
        }
        return Ok(());
    }
    let shared = &env.ctas[warp.cta].shared;
    let first = warp.id as usize % 4 * ROWS;
    let operands = Operands {
        w,
        shared,
        a,
        a_regs,
        b,
        first,
        metadata,
    };
    let new = if w.a_ty.is_integer() {
        operands.integers(&old)?
    } else {
        operands.reals(&old)?
    };
    for (reg, row) in w.d.iter().zip(&new) {
        write_result(warp, frame, *reg, row);
    }
    Ok(())
}

/// An accumulator changes without being "written" by the program.
fn write_result(warp: &mut Warp, frame: Frame, reg: Reg, value: &Row) {
    let row = (frame.rows + reg.0) as usize;
    warp.regs[row] = *value;
    warp.defined[row] = u32::MAX;
}
