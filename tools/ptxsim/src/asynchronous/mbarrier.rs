//! mbarrier objects (PTX ISA 9.7.13.15), kept as 64 bits in shared memory like on hardware.

use crate::clock::trace::Effect;
use crate::exec::env::Env;
use crate::exec::fault::Trap;
use crate::exec::flow::Flow;
use crate::exec::frame::Frame;
use crate::exec::memory::{Place, addresses, place};
use crate::exec::warp::{Wait, Warp};
use crate::program::inst::{Address, MbarOp, Reg, WaitPhase};
use crate::program::{LANES, lanes};

/// Largest arrival count and largest magnitude of the transaction count.
pub const MAX_COUNT: u64 = (1 << 20) - 1;

/// The fields of an mbarrier object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mbarrier {
    /// arrivals that the current phase still needs
    pub pending: u64,
    /// arrivals that each phase needs
    pub expected: u64,
    /// bytes announced and not yet arrived
    pub tx: i64,
    /// parity of the current, incomplete phase
    pub phase: bool,
}

impl Mbarrier {
    /// The 64 bits.
    pub fn to_bits(self) -> u64 {
        self.pending
            | self.expected << 20
            | (self.tx as u64 & 0x1f_ffff) << 40
            | u64::from(self.phase) << 61
            | 1 << 63
    }

    /// Reads 64 bits; `None` if they are no initialised mbarrier.
    pub fn from_bits(bits: u64) -> Option<Mbarrier> {
        (bits >> 62 == 2).then(|| Mbarrier {
            pending: bits & MAX_COUNT,
            expected: bits >> 20 & MAX_COUNT,
            tx: crate::num::int::sign_extend(bits >> 40, 21),
            phase: bits >> 61 & 1 == 1,
        })
    }

    /// Counts `n` arrivals.
    fn arrive(&mut self, n: u64) -> Result<bool, String> {
        if n > self.pending {
            return Err(format!(
                "{n} arrivals at an mbarrier phase that expects only {} more of {}: it was initialised with too small a \
                 count, or somebody arrives twice in a phase",
                self.pending, self.expected
            ));
        }
        self.pending -= n;
        Ok(self.complete())
    }

    fn add_tx(&mut self, bytes: i64) -> Result<bool, String> {
        self.tx += bytes;
        if self.tx.unsigned_abs() > MAX_COUNT {
            return Err(format!(
                "mbarrier transaction count {} is out of range (2^20 - 1)",
                self.tx
            ));
        }
        Ok(self.complete())
    }

    /// Ends the phase if nothing is missing.
    fn complete(&mut self) -> bool {
        let done = self.pending == 0 && self.tx == 0;
        if done {
            self.pending = self.expected;
            self.phase = !self.phase;
        }
        done
    }
}

impl Env<'_> {
    /// The mbarrier at a place; it must be initialised.
    pub fn mbarrier(&self, rank: usize, offset: u64) -> Result<Mbarrier, Trap> {
        let cta = &self.ctas[rank];
        if !offset.is_multiple_of(8) || !cta.holds(offset, 8) {
            return Err(Trap::new(format!(
                "mbarrier address {offset:#x} is misaligned or outside shared memory"
            )));
        }
        let mut word = [0; 8];
        word.copy_from_slice(&cta.shared[offset as usize..offset as usize + 8]);
        Mbarrier::from_bits(u64::from_le_bytes(word)).filter(|_| cta.written[offset as usize]).ok_or_else(|| {
            Trap::new(format!(
                "{offset:#x} is no initialised mbarrier: mbarrier.init must come first, then a barrier so that its \
                 effect is visible"
            ))
        })
    }

    fn put_mbarrier(&mut self, rank: usize, offset: u64, barrier: Mbarrier) {
        self.ctas[rank].put(offset as usize, &barrier.to_bits().to_le_bytes());
    }

    fn change(
        &mut self,
        rank: usize,
        offset: u64,
        f: impl FnOnce(&mut Mbarrier) -> Result<bool, String>,
    ) -> Result<Mbarrier, Trap> {
        let before = self.mbarrier(rank, offset)?;
        let mut after = before;
        let completed = f(&mut after)
            .map_err(|m| Trap::new(format!("mbarrier {offset:#x} of block {rank}: {m}")))?;
        if completed {
            self.failed_polls = 0;
            if let Some(tape) = &mut self.tape {
                tape.mbarrier_completes(rank, offset);
            }
        }
        self.put_mbarrier(rank, offset, after);
        Ok(before)
    }

    /// `complete_tx` by an asynchronous copy.
    pub fn complete_tx(&mut self, rank: usize, offset: u64, bytes: u64) -> Result<(), Trap> {
        self.change(rank, offset, |b| b.add_tx(-(bytes as i64)))
            .map(|_| ())
    }

    /// One arrival by an asynchronous operation.
    pub fn async_arrive(&mut self, rank: usize, offset: u64) -> Result<(), Trap> {
        self.change(rank, offset, |b| b.arrive(1)).map(|_| ())
    }

    /// One more pending arrival (`cp.async.mbarrier.arrive` without `.noinc`).
    pub fn add_pending(&mut self, rank: usize, offset: u64) -> Result<(), Trap> {
        let add = |b: &mut Mbarrier| {
            b.pending += 1;
            if b.pending > MAX_COUNT {
                Err("too many pending arrivals".into())
            } else {
                Ok(false)
            }
        };
        self.change(rank, offset, add).map(|_| ())
    }
}

/// The block and offset of a shared address, for mbarriers and copies.
pub fn shared_at(
    env: &Env<'_>,
    warp: &Warp,
    address: &Address,
    value: u64,
) -> Result<(usize, u64), Trap> {
    match place(env, warp, address.space, value)? {
        Place::Shared { cta, offset } => Ok((cta, offset)),
        _ => Err(Trap::new(format!(
            "address {value:#x} is not in shared memory"
        ))),
    }
}

/// All `mbarrier` instructions.
pub fn execute(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    op: &MbarOp,
    address: &Address,
) -> Result<Flow, Trap> {
    if let MbarOp::PendingCount { dst, state } = op {
        let row = warp
            .source(env, frame, *state, active)?
            .map(|s| s & MAX_COUNT);
        warp.set(frame, *dst, active, &row);
        return Ok(Flow::Next);
    }
    let base = addresses(env, warp, frame, address, active)?;
    if let MbarOp::TestWait {
        result,
        phase,
        blocking,
    } = op
    {
        return wait(
            env, warp, frame, active, address, &base, *result, *phase, *blocking,
        );
    }
    for lane in lanes(active) {
        let (rank, offset) = shared_at(env, warp, address, base[lane]).map_err(|t| t.at(lane))?;
        if !matches!(op, MbarOp::Init { .. }) {
            env.use_mbarrier(warp, rank, offset)
                .map_err(|t| t.at(lane))?;
        }
        one(env, warp, frame, lane, op, rank, offset).map_err(|t| t.at(lane))?;
    }
    Ok(Flow::Next)
}

fn one(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    lane: usize,
    op: &MbarOp,
    rank: usize,
    offset: u64,
) -> Result<(), Trap> {
    let bit = 1 << lane;
    let value = |env: &Env<'_>, warp: &Warp, src| {
        warp.source(env, frame, src, bit)
            .map(|row| row[lane] & 0xffff_ffff)
    };
    match op {
        MbarOp::Init { count } => {
            let count = value(env, warp, *count)?;
            if !(1..=MAX_COUNT).contains(&count) {
                return Err(Trap::new(format!(
                    "mbarrier count {count} is not 1 to 2^20 - 1"
                )));
            }
            if !offset.is_multiple_of(8) || !env.ctas[rank].holds(offset, 8) {
                return Err(Trap::new(format!(
                    "mbarrier address {offset:#x} is misaligned or outside shared memory"
                )));
            }
            env.put_mbarrier(
                rank,
                offset,
                Mbarrier {
                    pending: count,
                    expected: count,
                    tx: 0,
                    phase: false,
                },
            );
            env.mbarrier_initialised(warp, rank, offset);
            if let Some(tape) = &mut env.tape {
                tape.mbarrier_initialised(rank, offset);
            }
        }
        MbarOp::Inval => {
            env.mbarrier(rank, offset)?;
            env.ctas[rank].shared[offset as usize..offset as usize + 8].fill(0);
        }
        MbarOp::ExpectTx { bytes } => {
            let bytes = value(env, warp, *bytes)?;
            env.change(rank, offset, |b| b.add_tx(bytes as i64))?;
        }
        MbarOp::CompleteTx { bytes } => {
            let bytes = value(env, warp, *bytes)?;
            env.change(rank, offset, |b| b.add_tx(-(bytes as i64)))?;
        }
        MbarOp::Arrive {
            count,
            expect,
            drop,
            no_complete,
            state,
        } => {
            let count = count.map(|c| value(env, warp, c)).transpose()?.unwrap_or(1);
            let expect = expect.map(|e| value(env, warp, e)).transpose()?;
            env.note(warp, |tape| {
                Some(Effect::Arrive(tape.mbarrier_arrival(rank, offset)))
            });
            let before = env.change(rank, offset, |b| {
                arrive(b, count, expect, *drop, *no_complete)
            })?;
            env.release_to_mbarrier(warp, rank, offset);
            if let Some(dst) = state {
                set_lane(warp, frame, *dst, lane, before.to_bits());
            }
        }
        MbarOp::TestWait { .. } | MbarOp::PendingCount { .. } => {}
    }
    Ok(())
}

fn arrive(
    b: &mut Mbarrier,
    count: u64,
    expect: Option<u64>,
    drop: bool,
    no_complete: bool,
) -> Result<bool, String> {
    // expect_tx comes before the arrival (PTX ISA 9.7.13.15.13).
    if let Some(bytes) = expect {
        b.tx += bytes as i64;
        if b.tx.unsigned_abs() > MAX_COUNT {
            return Err(format!("transaction count {} is out of range", b.tx));
        }
    }
    if drop {
        b.expected = b
            .expected
            .checked_sub(count)
            .ok_or("arrive_drop below zero")?;
    }
    let completed = b.arrive(count)?;
    if completed && no_complete {
        return Err("arrive.noComplete completed the phase".into());
    }
    Ok(completed)
}

fn set_lane(warp: &mut Warp, frame: Frame, dst: Reg, lane: usize, value: u64) {
    let mut row = [0; LANES];
    row[lane] = value;
    warp.set(frame, dst, 1 << lane, &row);
}

/// `test_wait` and `try_wait`.
#[allow(clippy::too_many_arguments)]
fn wait(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    address: &Address,
    base: &[u64; LANES],
    result: crate::program::inst::Pred,
    phase: WaitPhase,
    blocking: bool,
) -> Result<Flow, Trap> {
    let source = match phase {
        WaitPhase::State(src) | WaitPhase::Parity(src) => src,
    };
    let phases = warp.source(env, frame, source, active)?;
    let (mut done, mut missing) = (0u32, None);
    let mut seen: Vec<(usize, u64)> = Vec::new();
    for lane in lanes(active) {
        let (rank, offset) = shared_at(env, warp, address, base[lane]).map_err(|t| t.at(lane))?;
        let barrier = env.mbarrier(rank, offset).map_err(|t| t.at(lane))?;
        env.use_mbarrier(warp, rank, offset)
            .map_err(|t| t.at(lane))?;
        let parity = match phase {
            WaitPhase::Parity(_) => phases[lane] & 1 == 1,
            WaitPhase::State(_) => Mbarrier::from_bits(phases[lane]).is_some_and(|b| b.phase),
        };
        if barrier.phase != parity {
            done |= 1 << lane;
            env.acquire_from_mbarrier(warp, rank, offset);
            if env.tape.is_some() && !seen.contains(&(rank, offset)) {
                seen.push((rank, offset));
            }
        } else {
            missing = Some(Wait::Mbarrier {
                rank: rank as u32,
                offset: offset as u32,
                parity,
            });
        }
    }
    // A blocking wait suspends unless some lane can go on; now and then it gives up early, as its time limit allows.
    if let (true, Some(wait), 0) = (blocking, missing, done)
        && env.rng.below(8) != 0
    {
        return Ok(Flow::Wait(wait));
    }
    warp.set_pred(frame, result, active, done);
    if missing.is_some() {
        env.failed_polls += 1;
        return Ok(Flow::Yield);
    }
    env.note_phases(warp, &seen);
    Ok(Flow::Next)
}
