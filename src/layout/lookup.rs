//! Where each place of one distributed layout finds its element in another.

use super::gf2::{Matrix, low_mask};
use super::{In, Layout, LayoutError};

/// The map G from the destination's places to the source's with
/// `source ∘ G = destination`, split by registers, lanes and warps. Where the source
/// holds an element more than once, the nearest place is taken: the same thread if it
/// can be, else the same warp.
#[derive(Clone, Debug)]
pub struct Lookup {
    pub(super) source_registers: u32,
    pub(super) source_lanes: u32,
    /// Register bits of the destination that repeat others.
    pub(super) redundant: u64,
    /// (register, register without redundant bits that holds the same).
    pub(super) copies: Vec<(u32, u32)>,
    pub(super) register: Vec<Found>,
    pub(super) lane: Vec<Found>,
    pub(super) warp: Vec<Found>,
}

/// What one bit of a destination place adds to the source place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub register: u64,
    pub lane: u64,
    pub warp: u64,
}

impl Lookup {
    /// Errors if the tiles differ or the source lacks elements.
    pub fn new(source: &Layout, destination: &Layout) -> Result<Lookup, LayoutError> {
        if source.shape() != destination.shape() {
            return Err(source.mismatch(destination));
        }
        if source.in_bits(In::Block) + destination.in_bits(In::Block) > 0 {
            return Err(LayoutError::Unsupported(
                "a conversion between blocks of a cluster".into(),
            ));
        }
        let finder = Finder::new(source);
        let find = |input: In| -> Option<Vec<Found>> {
            let bits = (0u32..).zip(destination.bases(input));
            bits.map(|(bit, &element)| finder.find(input, bit, element))
                .collect()
        };
        let all = || Some((find(In::Register)?, find(In::Lane)?, find(In::Warp)?));
        let (register, lane, warp) =
            all().ok_or_else(|| LayoutError::NotSurjective(source.to_string()))?;
        Ok(Lookup {
            source_registers: source.in_bits(In::Register),
            source_lanes: source.in_bits(In::Lane),
            redundant: destination.matrix(&[In::Register]).free_columns(),
            copies: copies(&destination.matrix(&[In::Register])),
            register,
            lane,
            warp,
        })
    }

    /// If every thread holds what it needs, in registers that are the same in all
    /// threads: for each destination register, the source register.
    pub fn registers_only(&self) -> Option<Vec<u32>> {
        let stays = |(bit, f): (usize, &Found), lane: bool| {
            let (l, w) = if lane { (1 << bit, 0) } else { (0, 1 << bit) };
            *f == Found {
                register: 0,
                lane: l,
                warp: w,
            }
        };
        let threads_stay = self.lane.iter().enumerate().all(|x| stays(x, true))
            && self.warp.iter().enumerate().all(|x| stays(x, false));
        let in_thread = self.register.iter().all(|f| f.lane == 0 && f.warp == 0);
        (threads_stay && in_thread).then(|| {
            let m = self.register_to(|f| f.register, self.source_registers);
            (0..1u64 << self.register.len())
                .map(|r| m.apply(r) as u32)
                .collect()
        })
    }

    /// Whether every warp holds what it needs.
    pub(super) fn stays_in_warp(&self) -> bool {
        let own = |(bit, f): (usize, &Found)| f.warp == 1 << bit;
        self.register.iter().chain(&self.lane).all(|f| f.warp == 0)
            && self.warp.iter().enumerate().all(own)
    }

    pub(super) fn register_to(&self, part: impl Fn(&Found) -> u64, rows: u32) -> Matrix {
        Matrix::new(rows, self.register.iter().map(part).collect())
    }

    pub(super) fn lane_to(&self, part: impl Fn(&Found) -> u64, rows: u32) -> Matrix {
        Matrix::new(rows, self.lane.iter().map(part).collect())
    }

    pub(super) fn warp_to(&self, part: impl Fn(&Found) -> u64, rows: u32) -> Matrix {
        Matrix::new(rows, self.warp.iter().map(part).collect())
    }
}

/// The registers that repeat others: (register, the one without redundant bits that
/// holds the same element).
fn copies(registers: &Matrix) -> Vec<(u32, u32)> {
    let free = registers.free_columns();
    let all = 0..1u64 << registers.cols();
    // Solving never uses a free column, so it finds the one that stands for the others.
    all.filter(|r| r & free != 0)
        .filter_map(|r| Some((r as u32, registers.solve(registers.apply(r))? as u32)))
        .collect()
}

/// Solves for places of the source, nearest first.
struct Finder<'a> {
    source: &'a Layout,
    registers: Matrix,
    in_warp: Matrix,
    everywhere: Matrix,
}

impl<'a> Finder<'a> {
    fn new(source: &'a Layout) -> Finder<'a> {
        Finder {
            source,
            registers: source.matrix(&[In::Register]),
            in_warp: source.matrix(&[In::Register, In::Lane]),
            everywhere: source.matrix(&[In::Register, In::Lane, In::Warp]),
        }
    }

    /// The place whose element is `element`, for bit `bit` of `input` of the destination:
    /// the same bit of the source if that will do, corrected by registers, then lanes,
    /// then warps.
    fn find(&self, input: In, bit: u32, element: u64) -> Option<Found> {
        let r = self.source.in_bits(In::Register);
        let l = self.source.in_bits(In::Lane);
        let same = (input != In::Register)
            .then(|| self.source.bases(input).get(bit as usize))
            .flatten();
        let own = match input {
            In::Lane => 1u64 << r << bit,
            _ => 1u64 << r << l << bit,
        };
        let from = [same.map(|&s| (own, element ^ s)), Some((0, element))];
        let levels = [&self.registers, &self.in_warp, &self.everywhere];
        let mut tries = levels
            .iter()
            .flat_map(|m| from.iter().flatten().map(move |t| (m, t)));
        let place = tries.find_map(|(m, (start, rest))| m.solve(*rest).map(|x| x ^ start))?;
        Some(Found {
            register: place & low_mask(r),
            lane: place >> r & low_mask(l),
            warp: place >> r >> l,
        })
    }
}
