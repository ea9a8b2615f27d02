//! Conversions by warp shuffles.
//!
//! In a shuffle the lane that gives chooses the register, knowing only its own number,
//! and the lane that takes chooses the lane. If G looks up places (see [`Lookup`]),
//! the destination's register `r` of lane `l` is found in lane `G_lr r + G_ll l`. When
//! `G_ll` alone sends several lanes that want different registers to one source lane,
//! the lanes are made to fetch different destination registers in the same round,
//! `r = c + R l`, with R chosen so that `N = G_ll + G_lr R` no longer does. Then what
//! a source lane must give is a linear function K of its number, and
//!
//! 1. every lane permutes its registers by xor with `K lane` (selects);
//! 2. round `c` takes register `sigma c` of lane `N lane + G_lr c`;
//! 3. every lane permutes what it got by xor with `R lane` (selects).

use super::In;
use super::gf2::{Matrix, Subspace, low_mask, ones};
use super::lookup::Lookup;

/// A conversion between layouts in which every warp keeps its elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShufflePlan {
    /// Selects on the source's registers, in order.
    pub before: Vec<Select>,
    /// Lane numbers to xor for each bit of tid: (bit of tid, lane). With a round's
    /// `lane_xor` this is the lane that a thread takes from.
    pub lane_map: Vec<(u32, u32)>,
    /// Whether `lane_map` is a thread's own lane, so that rounds are butterflies
    /// (`shfl.bfly` by `lane_xor`, or a move if that is 0).
    pub butterfly: bool,
    /// The shuffles.
    pub rounds: Vec<Round>,
    /// Selects on the received registers, in order.
    pub after: Vec<Select>,
    /// Destination registers that repeat others: (register, the one that holds the same).
    pub copies: Vec<(u32, u32)>,
}

/// In threads where the parity of `tid & tid_mask` is odd, every register `r` takes the
/// value of register `r ^ register_xor` (all at once).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Select {
    /// Bits of the thread's number that decide.
    pub tid_mask: u32,
    /// Registers that change places.
    pub register_xor: u32,
}

/// One shuffle of up to 32 bits: every thread receives in register `destination[i]` what
/// register `source[i]` of lane `lane_map(tid) ^ lane_xor` of its warp holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// Registers given.
    pub source: Vec<u32>,
    /// Registers received.
    pub destination: Vec<u32>,
    /// What to xor to the lane taken from.
    pub lane_xor: u32,
}

/// Issue slots that a shuffle is taken to cost.
const SHUFFLE_COST: u64 = 2;

impl ShufflePlan {
    /// The plan for a lookup that stays in each warp; none if it does not, or if no R helps.
    pub fn new(lookup: &Lookup, element_bits: u32) -> Option<ShufflePlan> {
        if !lookup.stays_in_warp() || lookup.lane.len() as u32 != In::LANE_BITS {
            return None;
        }
        Maps::new(lookup)?.plan(lookup, element_bits)
    }

    /// Issue slots per warp.
    pub fn cost(&self, element_bits: u32) -> u64 {
        let words = u64::from(element_bits.div_ceil(32));
        let moves = |r: &&Round| self.butterfly && r.lane_xor == 0;
        let shuffles = self.rounds.len() - self.rounds.iter().filter(moves).count();
        let selects = (self.before.len() + self.after.len()) * self.rounds.len();
        words * (SHUFFLE_COST * shuffles as u64 + selects as u64)
    }
}

/// The parts of G, and what is solved for.
struct Maps {
    /// Destination register to source lane and register.
    lr: Matrix,
    rr: Matrix,
    /// R: lane to destination register.
    r: Matrix,
    /// N: lane to source lane.
    n: Matrix,
    /// K: source lane to source register.
    k: Matrix,
    /// What a warp's number adds to the source lane and to the source register.
    warp_lane: Matrix,
    warp_register: Matrix,
}

impl Maps {
    fn new(lookup: &Lookup) -> Option<Maps> {
        let (registers, lanes) = (lookup.source_registers, lookup.source_lanes);
        let lr = lookup.register_to(|f| f.lane, lanes);
        let rr = lookup.register_to(|f| f.register, registers);
        let ll = lookup.lane_to(|f| f.lane, lanes);
        let rl = lookup.lane_to(|f| f.register, registers);
        let r = spread(&ll, &rl, &lr, lookup.redundant)?;
        let n = add(&ll, &lr.compose(&r));
        let m = add(&rl, &rr.compose(&r));
        let k = extend(&n, &m)?;
        let warp_lane = lookup.warp_to(|f| f.lane, lanes);
        let warp_register = add(
            &lookup.warp_to(|f| f.register, registers),
            &k.compose(&warp_lane),
        );
        Some(Maps {
            lr,
            rr,
            r,
            n,
            k,
            warp_lane,
            warp_register,
        })
    }

    fn plan(&self, lookup: &Lookup, element_bits: u32) -> Option<ShufflePlan> {
        let before = self.k.beside(&self.warp_register);
        let lane_map = self.n.beside(&self.warp_lane);
        let own = Matrix::identity(In::LANE_BITS)
            .beside(&Matrix::zero(In::LANE_BITS, self.warp_lane.cols()));
        Some(ShufflePlan {
            before: selects(&before),
            butterfly: lane_map == own,
            lane_map: bits_of(&lane_map),
            rounds: self.rounds(lookup.redundant, element_bits),
            after: selects(&self.r),
            copies: lookup.copies.clone(),
        })
    }

    /// One round for each set of destination registers that come from one lane and
    /// together fill 32 bits.
    fn rounds(&self, redundant: u64, element_bits: u32) -> Vec<Round> {
        let kept: Vec<u64> = (0..self.lr.cols())
            .map(|b| 1 << b)
            .filter(|b| b & redundant == 0)
            .collect();
        let kept_space = Subspace::span(self.lr.cols(), &kept);
        let same_lane = self.lr.kernel().intersection(&kept_space);
        let most = (32 / element_bits.min(32)).ilog2() as usize;
        let pack: Vec<u64> = same_lane.basis().iter().copied().take(most).collect();
        let rest = Subspace::span(self.lr.cols(), &pack).extend_from(&kept);

        let combine = |vectors: &[u64], i: u64| ones(i).fold(0, |acc, b| acc ^ vectors[b as usize]);
        let source = |c: u64| self.rr.apply(c) ^ self.k.apply(self.lr.apply(c));
        (0..1u64 << rest.len())
            .map(|i| {
                let first = combine(&rest, i);
                let together = (0..1u64 << pack.len()).map(|p| first ^ combine(&pack, p));
                let (destination, source) = together.map(|c| (c as u32, source(c) as u32)).unzip();
                Round {
                    source,
                    destination,
                    lane_xor: self.lr.apply(first) as u32,
                }
            })
            .collect()
    }
}

/// R: makes lanes that want different registers of one lane fetch other registers, that
/// lie in other lanes. None if the destination's registers do not reach enough lanes.
fn spread(ll: &Matrix, rl: &Matrix, lr: &Matrix, redundant: u64) -> Option<Matrix> {
    let same_lane = ll.kernel();
    // Of these lanes, those that want the same register too need nothing.
    let both = Matrix::new(ll.rows() + rl.rows(), stack(ll, rl));
    let clashing = both.kernel().extend_from(same_lane.basis());
    let mut lanes = ll.image();
    let mut moves = Vec::new();
    for &lane in &clashing {
        let usable = (0..lr.cols()).filter(|b| redundant >> b & 1 == 0);
        let register = usable
            .map(|b| 1u64 << b)
            .find(|&b| lanes.insert(lr.apply(b)))?;
        moves.push((lane, register));
    }
    // R sends each clashing lane vector to its register and a complement to zero.
    let mut basis: Vec<u64> = moves.iter().map(|m| m.0).collect();
    basis.extend(Subspace::span(ll.cols(), &basis).complement_units());
    let coordinates = Matrix::new(ll.cols(), basis);
    let column = |bit: u32| {
        let in_basis = coordinates.solve(1 << bit)? & low_mask(moves.len() as u32);
        Some(ones(in_basis).fold(0, |acc, i| acc ^ moves[i as usize].1))
    };
    let columns: Option<Vec<u64>> = (0..ll.cols()).map(column).collect();
    Some(Matrix::new(lr.cols(), columns?))
}

/// K with `K ∘ n = m`, zero on a complement of the image of `n`; none if `m` tells apart
/// what `n` does not.
fn extend(n: &Matrix, m: &Matrix) -> Option<Matrix> {
    if n.kernel().basis().iter().any(|&l| m.apply(l) != 0) {
        return None;
    }
    // A basis of the outputs of n: its independent columns, then units.
    let free = n.free_columns();
    let independent: Vec<usize> = (0..n.cols() as usize)
        .filter(|b| free >> b & 1 == 0)
        .collect();
    let mut basis: Vec<u64> = independent.iter().map(|&b| n.columns()[b]).collect();
    basis.extend(n.image().complement_units());
    let coordinates = Matrix::new(n.rows(), basis);
    let column = |bit: u32| {
        let in_basis = coordinates.solve(1 << bit)? & low_mask(independent.len() as u32);
        Some(ones(in_basis).fold(0, |acc, i| acc ^ m.columns()[independent[i as usize]]))
    };
    let columns: Option<Vec<u64>> = (0..n.rows()).map(column).collect();
    Some(Matrix::new(m.rows(), columns?))
}

/// The selects that together xor the register number with `map(tid)`.
fn selects(map: &Matrix) -> Vec<Select> {
    let image = map.image();
    let coordinates = Matrix::new(map.rows(), image.basis().to_vec());
    let parts: Vec<u64> = map
        .columns()
        .iter()
        .map(|&c| coordinates.solve(c).unwrap_or(0))
        .collect();
    let select = |(i, &register_xor): (usize, &u64)| Select {
        tid_mask: parts
            .iter()
            .enumerate()
            .fold(0, |m, (bit, p)| m | ((p >> i & 1) as u32) << bit),
        register_xor: register_xor as u32,
    };
    image.basis().iter().enumerate().map(select).collect()
}

fn bits_of(map: &Matrix) -> Vec<(u32, u32)> {
    (0..)
        .zip(map.columns())
        .filter(|(_, c)| **c != 0)
        .map(|(bit, &c)| (bit, c as u32))
        .collect()
}

/// Sum of two maps.
fn add(a: &Matrix, b: &Matrix) -> Matrix {
    Matrix::new(
        a.rows(),
        a.columns()
            .iter()
            .zip(b.columns())
            .map(|(x, y)| x ^ y)
            .collect(),
    )
}

/// Columns of `a` over those of `b`.
fn stack(a: &Matrix, b: &Matrix) -> Vec<u64> {
    a.columns()
        .iter()
        .zip(b.columns())
        .map(|(x, y)| x | y << a.rows())
        .collect()
}
