//! What a scan does between warps, at once.
//!
//! Behind the steps in a thread and between lanes, the last lane of each row of lanes has the total of each of its runs. It
//! writes them to shared memory; the lanes of every warp read those of the warp's lines, one or a few each, and scan them by
//! shuffles; each thread then takes what precedes its runs from the lanes that have it. That is one barrier, however many
//! warps and runs a line goes over, instead of one for each step.

use super::scan_steps::{ScanStep, owners, steps};
use super::{In, Layout, Shape};

/// The bits of a lane's number.
const LANE_BITS: usize = 5;

/// Where totals go, who scans them, and who has what precedes which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Totals {
    /// Totals of the block.
    pub places: u64,
    /// The bits of a thread's number that say whether it writes totals, and what they are then.
    pub writers: (u64, u64),
    /// Where a thread's totals begin: places for each bit of its number. The others follow.
    pub written: Vec<(u32, u64)>,
    /// Where a thread reads: places for each bit of its number, and for each of its registers.
    pub read: Vec<(u32, u64)>,
    pub registers: Vec<u64>,
    /// How those who have read scan.
    pub steps: Vec<ScanStep>,
    /// The bits of a lane's number that say its place among totals of a line.
    pub lane_mask: u32,
    /// For each register, the one that holds the totals before its own (behind them, where the scan is reversed), unless
    /// nothing precedes them.
    pub preceding: Vec<Option<u32>>,
    /// The lane that has what precedes a thread's first total, by the bits of the thread's number.
    pub lanes: Vec<(u32, u64)>,
    /// For each total of a thread: the register of that lane, and the bits in which the lane's number differs.
    pub sources: Vec<(u32, u32)>,
}

/// A bit that numbers totals: the owner of it in the scanned layout, and places in shared memory.
#[derive(Clone, Copy)]
struct Bit {
    owner: (In, u32),
    places: u64,
}

impl Totals {
    /// Fewest steps that this replaces.
    const LEAST: usize = 2;
    /// Runs of a thread for each total that it reads.
    const RUNS: usize = 4;

    /// The totals behind the steps of `inside` bits in the thread and `lanes` bits of neighbouring lanes.
    pub(super) fn of(
        layout: &Layout,
        owners: &[(In, u32)],
        [inside, lanes]: [usize; 2],
        reverse: bool,
    ) -> Option<Totals> {
        let (scanned, steps) = owners.split_at_checked(inside + lanes)?;
        let between_warps = steps.iter().any(|o| o.0 == In::Warp);
        if steps.len() < Self::LEAST || !between_warps || steps.iter().any(|o| o.0 == In::Lane) {
            return None;
        }
        let along = |owner: (In, u32)| scanned.contains(&owner);
        let bits = |input: In| {
            let all = (0..layout.in_bits(input)).map(move |bit| (input, bit));
            all.filter(|&o| !along(o)).collect::<Vec<_>>()
        };
        // A thread's totals lie beside each other, then come the lines of its warp's other lanes, then warps.
        let order = [In::Register, In::Lane, In::Warp].map(bits).concat();
        let placed: Vec<Bit> = (0..)
            .zip(&order)
            .map(|(i, &owner)| Bit {
                owner,
                places: 1 << i,
            })
            .collect();
        let find = |owner: (In, u32)| placed.iter().find(|b| b.owner == owner).copied();
        let mut numbered: Vec<Bit> = steps.iter().filter_map(|&o| find(o)).collect();
        let lines = |input: In| {
            let of = move |b: &&Bit| b.owner.0 == input && !steps.contains(&b.owner);
            placed.iter().filter(of).copied().collect::<Vec<Bit>>()
        };
        numbered.extend(lines(In::Lane));
        numbered.extend(lines(In::Register));
        let in_lanes = numbered.len().min(LANE_BITS);
        let (by_lane, by_register) = numbered.split_at(in_lanes);
        let runs = 1usize << bits(In::Register).len();
        // Which register has what precedes a total must not depend on the thread.
        let fits = by_register.iter().all(|b| b.owner.0 == In::Register)
            && by_register.len() < usize::BITS as usize
            && (Self::RUNS << by_register.len() <= runs || by_register.is_empty());
        if !fits {
            return None;
        }
        let tid = |(input, bit): (In, u32)| match input {
            In::Warp => layout.in_bits(In::Lane) + bit,
            _ => bit,
        };
        let own_warps = lines(In::Warp)
            .into_iter()
            .map(|b| (tid(b.owner), b.places));
        let of_lanes = (0..).zip(by_lane).map(|(lane, b)| (lane, b.places));
        let writers = scanned.iter().filter(|o| o.0 == In::Lane);
        let writers = writers.fold(0, |mask, &o| mask | 1u64 << tid(o));
        let written = placed.iter().filter(|b| b.owner.0 != In::Register);
        let number = |b: &Bit| numbered.iter().position(|n| n.owner == b.owner);
        let lanes_of = placed
            .iter()
            .filter(|b| b.owner.0 != In::Register)
            .filter_map(|b| Some((tid(b.owner), 1u64 << number(b)?)));
        let sources = (0..runs as u64).map(|run| {
            let set = placed
                .iter()
                .filter(|b| b.owner.0 == In::Register && run & b.places != 0);
            let at = set.filter_map(number).fold(0u32, |at, i| at | 1 << i);
            (at >> in_lanes, at & ((1 << in_lanes) - 1))
        });
        let high = steps.len().saturating_sub(in_lanes);
        Some(Totals {
            places: 1 << placed.len(),
            writers: (writers, if reverse { 0 } else { writers }),
            written: written.map(|b| (tid(b.owner), b.places)).collect(),
            read: of_lanes.chain(own_warps).collect(),
            registers: combinations(by_register),
            steps: among_totals(numbered.len(), steps.len(), reverse)?,
            lane_mask: (1 << steps.len().min(in_lanes)) - 1,
            preceding: (0..1u32 << by_register.len())
                .map(|r| preceding(r, (1 << high) - 1, reverse))
                .collect(),
            lanes: lanes_of.collect(),
            sources: sources.collect(),
        })
    }
}

/// Places for each combination of bits.
fn combinations(bits: &[Bit]) -> Vec<u64> {
    let sum = |r: u64| {
        let set = (0..).zip(bits).filter(|&(i, _): &(u32, _)| r >> i & 1 == 1);
        set.map(|(_, b)| b.places).sum()
    };
    (0..1u64 << bits.len()).map(sum).collect()
}

/// The register whose last lane comes before the first lane of register `r`; the bits `along` of a register's number
/// say its place in the line.
fn preceding(r: u32, along: u32, reverse: bool) -> Option<u32> {
    match reverse {
        false => (r & along != 0).then(|| r - 1),
        true => (r & along != along).then_some(r + 1),
    }
}

/// How lanes scan the totals that so many bits number, of which `along` say their place in a line.
fn among_totals(bits: usize, along: usize, reverse: bool) -> Option<Vec<ScanStep>> {
    let shape = Shape::from_bits(&[(bits - along) as u8, along as u8]).ok()?;
    let units: Vec<u64> = (0..bits).map(|b| 1u64 << b).collect();
    let (lane, register) = units.split_at(bits.min(LANE_BITS));
    let mut lane = lane.to_vec();
    lane.resize(LANE_BITS, 0);
    let layout = Layout::distributed(shape, register.to_vec(), lane, vec![]).ok()?;
    let owners = owners(&layout, 1).ok()?;
    Some(steps(&layout, &owners, reverse))
}
