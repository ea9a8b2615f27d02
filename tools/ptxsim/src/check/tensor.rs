//! Tensor memory: what each access may see and overwrite (PTX ISA 9.7.16.6).
//!
//! `tcgen05` operations are ordered among themselves in two ways. *Completed*: `tcgen05.wait::ld` and `::st` for loads
//! and stores, the mbarrier of a `tcgen05.commit` for the others. *Issued before*, which is enough for the pairs that
//! the ISA calls pipelined. Both are components of vector clocks, four for each warp. Between threads this knowledge
//! travels along with barriers and mbarriers, but only what `tcgen05.fence::before_thread_sync` has published, and only
//! `tcgen05.fence::after_thread_sync` lets a warp rely on it; a `tcgen05.commit` publishes by itself.
//!
//! Remembered are the last write and the last reads of every 16 lanes of a column.

use super::{Agent, Checker, Clock, View};
use crate::exec::fault::Trap;
use std::ops::Range;

/// How an operation uses tensor memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TensorUse {
    /// not at all
    #[default]
    None,
    /// `tcgen05.ld`
    Load,
    /// `tcgen05.st`
    Store,
    /// D of `tcgen05.mma`: its address and a number for its shape
    Accumulator(u32, u32),
    /// A, scale factors and metadata of `tcgen05.mma`
    Operand,
    /// `tcgen05.cp`; true for `.4x256b`
    Copy(bool),
    /// `tcgen05.shift`
    Shift,
    /// `tcgen05.dealloc`
    Free,
}

impl TensorUse {
    fn writes(self) -> bool {
        !matches!(self, TensorUse::Load | TensorUse::Operand)
    }

    /// Whether the ISA runs `next` after `self` as they were issued (9.7.16.6.2). That `tcgen05.cp` waits for the
    /// `tcgen05.mma` that reads what it overwrites is not in its list, but what all producers of block-scaled products
    /// rely on; nor is that a `tcgen05.mma` writes what an earlier one reads after it has read it, which attention relies on
    /// in CUTLASS and FlashAttention, where the next scores overwrite the probabilities.
    fn pipelined(self, next: TensorUse) -> bool {
        use TensorUse as U;
        match (self, next) {
            (U::Accumulator(a, s), U::Accumulator(b, t)) => (a, s) == (b, t),
            (U::Copy(_) | U::Shift, U::Accumulator(..) | U::Operand) => true,
            (U::Operand, U::Accumulator(..)) => true,
            (U::Accumulator(..) | U::Operand, U::Shift | U::Copy(_)) => true,
            (U::Shift, U::Copy(four)) => four,
            _ => false,
        }
    }

    fn name(self) -> &'static str {
        match self {
            TensorUse::None => "nobody",
            TensorUse::Load => "tcgen05.ld",
            TensorUse::Store => "tcgen05.st",
            TensorUse::Accumulator(..) | TensorUse::Operand => "tcgen05.mma",
            TensorUse::Copy(_) => "tcgen05.cp",
            TensorUse::Shift => "tcgen05.shift",
            TensorUse::Free => "tcgen05.dealloc",
        }
    }

    /// Component of a warp that tells that it has completed.
    fn completion(self) -> usize {
        match self {
            TensorUse::Load => LOADS,
            TensorUse::Store => STORES,
            _ => COMPLETED,
        }
    }
}

/// Components of a warp.
const ISSUED: usize = 0;
const COMPLETED: usize = 1;
const LOADS: usize = 2;
const STORES: usize = 3;
const PER_WARP: usize = 4;

/// Who touched a place last.
#[derive(Debug, Clone, Copy, Default)]
struct Touch {
    warp: u16,
    how: TensorUse,
    number: u32,
    line: u32,
}

impl Touch {
    /// Whether `operand`, an operation of the same warp, has read what this one wrote.
    fn read_by(&self, operand: &Touch) -> bool {
        self.how.writes()
            && operand.how == TensorUse::Operand
            && operand.warp == self.warp
            && operand.number > self.number
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Place {
    write: Touch,
    load: Touch,
    operand: Touch,
}

/// What the checker knows about tensor memory.
#[derive(Debug, Default)]
pub(super) struct TensorChecker {
    /// by block, once used: eight groups of 16 lanes for each column
    places: Vec<Vec<Place>>,
    /// what each warp's operations may rely on
    usable: Vec<Clock>,
    /// loads and stores of each warp so far
    loads: Vec<u32>,
    stores: Vec<u32>,
    /// fences are not asked for
    lenient: bool,
}

const GROUPS: usize = 8;
const COLUMNS: usize = 512;

/// One access of an operation to a rectangle of tensor memory.
#[derive(Debug, Clone)]
pub struct TensorAccess {
    /// warp within the cluster
    pub warp: usize,
    /// block
    pub cta: usize,
    /// groups of 16 lanes, as bits
    pub groups: u8,
    /// columns
    pub columns: Range<usize>,
    /// how
    pub how: TensorUse,
    /// number of the operation among those of its kind and warp
    pub number: u32,
    /// PTX line
    pub line: u32,
}

/// What a commit hands on when it completes.
#[derive(Debug)]
pub struct Committed(View);

impl TensorChecker {
    pub(super) fn new(blocks: usize, warps: usize) -> TensorChecker {
        TensorChecker {
            places: vec![Vec::new(); blocks],
            usable: vec![Clock::default(); warps],
            loads: vec![0; warps],
            stores: vec![0; warps],
            lenient: false,
        }
    }
}

impl Checker {
    /// Does not ask for `tcgen05.fence`.
    pub fn without_tensor_fences(&mut self) {
        self.tensor.lenient = true;
    }

    /// A new `tcgen05.mma`, `.cp` or `.shift` of a warp: all of a warp are one agent, as one commit waits for all.
    pub fn tensor_issue(&mut self, warp: usize, line: u32, what: &'static str) -> Agent {
        let slot = super::SLOTS as usize + warp;
        let entry = &mut self.slots[slot];
        entry.clock += 1;
        (entry.line, entry.what) = (line, what);
        let agent = Agent {
            slot: slot as u32,
            clock: entry.clock,
        };
        self.tensor.usable[warp].raise(PER_WARP * warp + ISSUED, agent.clock);
        self.warps[warp]
            .tensor_unfenced
            .raise(PER_WARP * warp + ISSUED, agent.clock);
        self.warps[warp].order.bump(warp + 1);
        agent
    }

    /// Number of a new load or store of a warp.
    pub fn tensor_move(&mut self, warp: usize, store: bool) -> u32 {
        let counts = if store {
            &mut self.tensor.stores
        } else {
            &mut self.tensor.loads
        };
        counts[warp] += 1;
        counts[warp]
    }

    /// `tcgen05.wait`
    pub fn tensor_wait(&mut self, warp: usize, stores: bool) {
        let (component, number) = if stores {
            (STORES, self.tensor.stores[warp])
        } else {
            (LOADS, self.tensor.loads[warp])
        };
        let component = PER_WARP * warp + component;
        self.tensor.usable[warp].raise(component, number);
        self.warps[warp].tensor_unfenced.raise(component, number);
    }

    /// `tcgen05.fence`
    pub fn tensor_fence(&mut self, warp: usize, after: bool) {
        let (usable, view) = (&mut self.tensor.usable[warp], &mut self.warps[warp]);
        if after {
            usable.join(&view.tensor);
        } else {
            view.tensor.join(usable);
        }
    }

    /// `tcgen05.commit`: what waits for it will know.
    pub fn tensor_commit(&mut self, warp: usize) -> Committed {
        let slot = super::SLOTS as usize + warp;
        let number = self.slots[slot].clock;
        let mut view = self.warps[warp].clone();
        let component = 1 + self.warps.len() + slot;
        view.order.raise(component, number);
        view.proxy.raise(component, number);
        view.tensor.join(&self.tensor.usable[warp]);
        let completed = PER_WARP * warp + COMPLETED;
        view.tensor.raise(completed, number);
        view.tensor_unfenced.raise(completed, number);
        self.warps[warp].order.bump(warp + 1);
        Committed(view)
    }

    /// The commit arrives at an mbarrier.
    pub fn tensor_committed(
        &mut self,
        committed: &Committed,
        rank: usize,
        offset: u64,
        phase: bool,
    ) {
        self.release_view(&committed.0, rank, offset, phase);
    }

    /// The columns are somebody else's from now on.
    pub fn tensor_forget(&mut self, cta: usize, columns: Range<usize>) {
        if let Some(places) =
            self.tensor.places[cta].get_mut(columns.start * GROUPS..columns.end * GROUPS)
        {
            places.fill(Place::default());
        }
    }

    /// Checks an access and remembers it.
    pub fn tensor_access(&mut self, a: &TensorAccess) -> Result<(), Trap> {
        if self.tensor.places[a.cta].is_empty() {
            self.tensor.places[a.cta] = vec![Place::default(); GROUPS * COLUMNS];
        }
        let touch = Touch {
            warp: a.warp as u16,
            how: a.how,
            number: a.number,
            line: a.line,
        };
        for column in a.columns.clone() {
            for group in (0..GROUPS).filter(|g| a.groups >> g & 1 == 1) {
                let index = column * GROUPS + group;
                let place = self.tensor.places[a.cta][index];
                let others = [place.write, place.load, place.operand];
                let wanted = if a.how.writes() {
                    &others[..]
                } else {
                    &others[..1]
                };
                for old in wanted {
                    let lenient = self.tensor.lenient;
                    // What read it since comes behind it.
                    let read_since = old.read_by(&place.operand)
                        && self.tensor_ordered(a, &place.operand, lenient);
                    if !read_since && !self.tensor_ordered(a, old, lenient) {
                        return Err(self.tensor_conflict(a, old, column, group));
                    }
                }
                let place = &mut self.tensor.places[a.cta][index];
                match a.how {
                    TensorUse::Load => place.load = touch,
                    TensorUse::Operand => place.operand = touch,
                    _ => place.write = touch,
                }
            }
        }
        Ok(())
    }

    fn tensor_ordered(&self, a: &TensorAccess, old: &Touch, lenient: bool) -> bool {
        let (who, asynchronous) = (
            usize::from(old.warp),
            old.how.completion() == COMPLETED && a.how.completion() == COMPLETED,
        );
        let itself = asynchronous && who == a.warp && old.number == a.number;
        if old.how == TensorUse::None || itself {
            return true;
        }
        let knows = if lenient || a.how == TensorUse::Free {
            &self.warps[a.warp].tensor_unfenced
        } else {
            &self.tensor.usable[a.warp]
        };
        let component = |c: usize| knows.get(PER_WARP * who + c);
        component(old.how.completion()) >= old.number
            || old.how.pipelined(a.how) && component(ISSUED) >= old.number
    }

    fn tensor_conflict(&self, a: &TensorAccess, old: &Touch, column: usize, group: usize) -> Trap {
        let verb = match (a.how.writes(), old.how.writes()) {
            (_, _) if a.how == TensorUse::Free => "frees",
            (true, _) => "writes",
            (false, _) => "reads",
        };
        let did = if old.how.writes() { "writes" } else { "reads" };
        let place = format!(
            "{} {verb} tensor memory at column {column}, lanes {}-{}, which the {} of line {} {did}",
            a.how.name(),
            16 * group,
            16 * group + 15,
            old.how.name(),
            old.line
        );
        let advice = if self.tensor_ordered(a, old, true) {
            let mut received = self.tensor.usable[a.warp].clone();
            received.join(&self.warps[a.warp].tensor);
            let component = PER_WARP * usize::from(old.warp) + old.how.completion();
            if received.get(component) >= old.number {
                "without a tcgen05.fence::after_thread_sync since the threads have synchronised; put one after the wait"
            } else {
                "without a tcgen05.fence::before_thread_sync before the threads synchronised (or without ::after_thread_sync \
                 after it); put them around the barrier"
            }
        } else {
            match old.how {
                TensorUse::Load => {
                    "and nobody here knows that it is done; execute tcgen05.wait::ld there, then synchronise"
                }
                TensorUse::Store => {
                    "and nobody here knows that it is done; execute tcgen05.wait::st there, then synchronise"
                }
                _ => {
                    "and nobody here has waited for; tcgen05.commit it to an mbarrier and wait for its phase first"
                }
            }
        };
        Trap::new(format!("{place}, {advice}"))
    }
}
