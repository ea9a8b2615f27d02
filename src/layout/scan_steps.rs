//! The steps of a scan: which elements take what of which others.

use super::{In, Layout, LayoutError};

/// One step: for each pair `(to, from)`, in the threads that take part,
/// `v[to] = op(from_value, v[to])` with `from_value = v[from]` of the thread whose lane is
/// `lane.of(own lane)` and whose warp is `warp.of(own warp)`, as it was before the step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanStep {
    /// Registers: (to, from).
    pub registers: Vec<(u32, u32)>,
    /// The threads that take part: all, or those whose tid has this bit as given.
    pub only: Option<(u32, bool)>,
    /// The lane that holds the values.
    pub lane: Source,
    /// The warp that holds them.
    pub warp: Source,
}

/// How a number of another thread is made from a thread's own: `x & !clear | set`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Source {
    /// Bits to clear.
    pub clear: u32,
    /// Bits to set.
    pub set: u32,
}

impl Source {
    /// The number that goes with `own`.
    pub fn of(self, own: u32) -> u32 {
        own & !self.clear | self.set
    }

    /// Whether it is always the thread's own.
    pub fn is_own(self) -> bool {
        self == Source::default()
    }
}

/// What a step needs besides registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Nothing: both values are the thread's.
    Thread,
    /// A shuffle for each distinct `from`.
    Warp,
    /// Shared memory and a barrier.
    Block,
}

impl ScanStep {
    /// The registers that take part.
    pub fn targets(&self) -> Vec<u32> {
        self.registers.iter().map(|r| r.0).collect()
    }

    /// How far the values come.
    pub fn reach(&self) -> Reach {
        match (self.warp.is_own(), self.lane.is_own()) {
            (false, _) => Reach::Block,
            (true, false) => Reach::Warp,
            (true, true) => Reach::Thread,
        }
    }
}

/// For each bit of the coordinate along `dim`, the input bit that moves along it.
pub(super) fn owners(layout: &Layout, dim: usize) -> Result<Vec<(In, u32)>, LayoutError> {
    layout.shape().check_dim(dim)?;
    let mask = layout.shape().dim_mask(dim);
    let inputs = [In::Register, In::Lane, In::Warp];
    let all = inputs
        .iter()
        .flat_map(|&i| (0..).zip(layout.bases(i)).map(move |(bit, &v)| (i, bit, v)));
    let along: Vec<_> = all.filter(|x| x.2 & mask != 0).collect();
    let owner = |bit: u32| {
        let unit = layout.shape().along(dim, 1 << bit);
        along.iter().find(|x| x.2 == unit).map(|x| (x.0, x.1))
    };
    let bits = layout.shape().dim_bits(dim);
    let owners: Option<Vec<_>> = (0..bits).map(owner).collect();
    owners
        .filter(|o| o.len() == along.len() && layout.in_bits(In::Block) == 0)
        .ok_or_else(|| {
            LayoutError::Unsupported(format!(
                "a scan along dimension {dim}, whose bits are mixed, of {layout}"
            ))
        })
}

/// The steps of a scan, each of the bit of one owner.
pub(super) fn steps(layout: &Layout, owners: &[(In, u32)], reverse: bool) -> Vec<ScanStep> {
    let before = |b: usize| owners.get(..b).unwrap_or_default();
    let step = |(b, &own): (usize, &(In, u32))| step(layout, before(b), own, reverse);
    owners.iter().enumerate().map(step).collect()
}

/// The steps that scan runs of neighbours in a thread, whose registers these bits number: one element after the other, which
/// takes one combination each.
pub(super) fn in_turn(layout: &Layout, bits: &[u32], reverse: bool) -> Vec<ScanStep> {
    let inside = bits.iter().fold(0u32, |mask, bit| mask | 1 << bit);
    let starts = (0..layout.registers() as u32).filter(|r| r & inside == 0);
    let starts: Vec<u32> = starts.collect();
    let place = |element: u32| {
        let set = (0..)
            .zip(bits)
            .filter(|&(i, _): &(u32, _)| element >> i & 1 == 1);
        set.fold(0, |r, (_, bit)| r | 1 << bit)
    };
    let last = (1u32 << bits.len()) - 1;
    let step = |i: u32| {
        let (to, from) = match reverse {
            false => (place(i), place(i - 1)),
            true => (place(last - i), place(last - i + 1)),
        };
        ScanStep {
            registers: starts.iter().map(|r| (r | to, r | from)).collect(),
            only: None,
            lane: Source::default(),
            warp: Source::default(),
        }
    };
    (1..=last).map(step).collect()
}

fn step(layout: &Layout, lower: &[(In, u32)], own: (In, u32), reverse: bool) -> ScanStep {
    let (mut clear, mut set) = ([0u32; 5], [0u32; 5]);
    // Forward: from the half with the bit clear, its last element; backward, mirrored.
    let (own_side, lower_side) = if reverse {
        (&mut set, &mut clear)
    } else {
        (&mut clear, &mut set)
    };
    own_side[own.0 as usize] |= 1 << own.1;
    for &(input, bit) in lower {
        lower_side[input as usize] |= 1 << bit;
    }
    let source = |input: In| Source {
        clear: clear[input as usize],
        set: set[input as usize],
    };
    let takes = |bits: u32, bit: u32| (bits >> bit & 1 == 1) != reverse;
    let from = source(In::Register);
    let registers = (0..layout.registers() as u32)
        .filter(|&r| own.0 != In::Register || takes(r, own.1))
        .map(|r| (r, from.of(r)))
        .collect();
    let only = match own.0 {
        In::Lane => Some((own.1, !reverse)),
        In::Warp => Some((layout.in_bits(In::Lane) + own.1, !reverse)),
        _ => None,
    };
    ScanStep {
        registers,
        only,
        lane: source(In::Lane),
        warp: source(In::Warp),
    }
}
