//! Conversions and shared-memory choices, carried out element by element.

use proptest::prelude::*;

use super::super::Shape;
use super::super::blocked::Blocked;
use super::super::fixtures::{accumulator, mma_sync};
use super::super::ldmatrix::Matrices;
use super::super::mma::{MatmulShape, Wgmma};
use super::super::pieces::convert_within;
use super::*;

const ALL: Capabilities = Capabilities {
    ldmatrix: true,
    stmatrix: true,
    bytes: true,
};

/// Registers of all threads: `[thread][register]`.
type Registers = Vec<Vec<u64>>;

fn values(l: &Layout) -> Registers {
    let thread = |t: u64| {
        (0..l.registers())
            .map(|r| l.flat(r, t % 32, t / 32))
            .collect()
    };
    (0..32 * l.warps()).map(thread).collect()
}

fn select(v: &mut Registers, selects: &[super::super::shuffle::Select]) {
    for s in selects {
        for (tid, regs) in v.iter_mut().enumerate() {
            if (tid as u32 & s.tid_mask).count_ones() % 2 == 1 {
                let old = regs.clone();
                for (r, x) in regs.iter_mut().enumerate() {
                    *x = old[r ^ s.register_xor as usize];
                }
            }
        }
    }
}

fn shuffle(p: &ShufflePlan, mut v: Registers, registers: u64) -> Registers {
    select(&mut v, &p.before);
    let mut w = vec![vec![u64::MAX; registers as usize]; v.len()];
    for round in &p.rounds {
        assert_eq!(round.source.len(), round.destination.len());
        for (tid, taken) in w.iter_mut().enumerate() {
            let mapped = p
                .lane_map
                .iter()
                .filter(|(b, _)| tid >> b & 1 == 1)
                .fold(0, |l, (_, x)| l ^ x);
            assert!(!p.butterfly || mapped as usize == tid % 32);
            let from = tid / 32 * 32 + (mapped ^ round.lane_xor) as usize;
            for (&s, &d) in round.source.iter().zip(&round.destination) {
                taken[d as usize] = v[from][s as usize];
            }
        }
    }
    select(&mut w, &p.after);
    for regs in &mut w {
        for &(to, from) in &p.copies {
            regs[to as usize] = regs[from as usize];
        }
    }
    w
}

/// The (register, byte offset) pairs of thread `tid`, with copies.
fn pairs(t: &Transfer, tid: u64, element_bytes: u64) -> Vec<(u32, u64)> {
    let (lane, warp) = (tid % 32, tid - tid % 32);
    match t {
        Transfer::Plain(p) => p
            .accesses()
            .flat_map(|(xor, a)| {
                let at = (p.thread_offset(tid) ^ xor) + a.offset;
                (0..)
                    .zip(&a.registers)
                    .map(move |(i, &r)| (r, at + i * element_bytes))
                    .collect::<Vec<_>>()
            })
            .collect(),
        Transfer::Matrix(p) => {
            let accesses = p
                .groups
                .iter()
                .flat_map(|g| g.accesses.iter().map(move |a| (g.xor, a)));
            accesses
                .flat_map(|(xor, a)| {
                    (0..).zip(&a.registers).map(move |(i, &r)| {
                        let (word, element) = (i / u64::from(p.packed), i % u64::from(p.packed));
                        let (row, byte) = match p.kind {
                            Matrices::Rows => (
                                8 * word + lane / 4,
                                4 * (lane % 4) + element * element_bytes,
                            ),
                            Matrices::Columns => (
                                8 * word + 2 * (lane % 4) + element,
                                lane / 4 * element_bytes,
                            ),
                            Matrices::Bytes => (
                                16 * (word / 2) + 4 * (lane % 4) + element,
                                lane / 4 + word % 2 * 8,
                            ),
                        };
                        let row = (p.thread_offset(row + warp) ^ xor) + a.offset;
                        (r, row + byte)
                    })
                })
                .collect()
        }
    }
}

fn through_memory(p: &SharedPlan, v: &Registers, registers: u64) -> Registers {
    let bytes = u64::from(p.shared.element_bits()) / 8;
    let mut memory = std::collections::BTreeMap::new();
    // Warps that do not wait for each other see what they have stored themselves.
    let seen_by = |tid: usize| if p.in_warp { tid / 32 } else { 0 };
    let redundant = match &p.store {
        Transfer::Plain(p) => p.redundant_tid,
        Transfer::Matrix(_) => 0,
    };
    for (tid, regs) in v.iter().enumerate() {
        if tid as u64 & redundant != 0 {
            continue;
        }
        for (r, at) in pairs(&p.store, tid as u64, bytes) {
            let old = memory.insert((seen_by(tid), at), regs[r as usize]);
            assert!(old.is_none_or(|o| o == regs[r as usize]));
        }
    }
    let copies = match &p.load {
        Transfer::Plain(p) => &p.copies,
        Transfer::Matrix(p) => &p.copies,
    };
    let load = |tid: usize| {
        let mut regs = vec![u64::MAX; registers as usize];
        for (r, at) in pairs(&p.load, tid as u64, bytes) {
            regs[r as usize] = memory[&(seen_by(tid), at)];
        }
        for &(to, from) in copies {
            regs[to as usize] = regs[from as usize];
        }
        regs
    };
    (0..v.len()).map(load).collect()
}

fn carry_out(p: &Planned, v: Registers, registers: u64) -> Registers {
    match &p.conversion {
        Conversion::Identity => v,
        Conversion::Registers(map) => v
            .iter()
            .map(|regs| map.iter().map(|&r| regs[r as usize]).collect())
            .collect(),
        Conversion::Shuffle(s) => shuffle(s, v, registers),
        Conversion::Shared(s) => through_memory(s, &v, registers),
    }
}

fn run(p: &Planned, source: &Layout, destination: &Layout) {
    let got = carry_out(p, values(source), destination.registers());
    assert_eq!(got, values(destination), "{source} -> {destination}: {p:?}");
}

/// Runs a conversion in pieces of at most `max_bytes`.
fn run_pieces(source: &Layout, destination: &Layout, bits: u32, max_bytes: u64) -> usize {
    let p = convert_within(source, destination, bits, ALL, max_bytes).unwrap();
    let v = values(source);
    let mut got = vec![vec![u64::MAX; destination.registers() as usize]; v.len()];
    for (from, to) in &p.registers {
        let piece = v
            .iter()
            .map(|regs| from.iter().map(|&r| regs[r as usize]).collect())
            .collect();
        for (regs, done) in got
            .iter_mut()
            .zip(carry_out(&p.plan, piece, to.len() as u64))
        {
            to.iter().zip(done).for_each(|(&r, x)| regs[r as usize] = x);
        }
    }
    assert_eq!(got, values(destination), "{source} -> {destination}: {p:?}");
    p.registers.len()
}

/// Runs the chosen conversion, the trip through shared memory, and shuffles if they do.
fn check(source: &Layout, destination: &Layout, bits: u32) -> Planned {
    let p = convert(source, destination, bits, ALL).unwrap();
    run(&p, source, destination);
    let shared = through_shared(source, destination, bits, ALL).unwrap();
    run(&shared, source, destination);
    let lookup = Lookup::new(source, destination).unwrap();
    let mut cheapest = shared.cost;
    if let Some(s) = ShufflePlan::new(&lookup, bits) {
        cheapest = cheapest.min(s.cost(bits));
        run(
            &Planned {
                cost: 0,
                conversion: Conversion::Shuffle(s),
            },
            source,
            destination,
        );
    }
    assert!(p.cost <= cheapest);
    p
}

fn blocked(extents: &[u64], order: &[usize], max_vector: u64, bits: u32) -> Layout {
    let shape = Shape::new(extents).unwrap();
    Blocked {
        shape,
        order: order.to_vec(),
        max_vector,
        element_bits: bits,
        warps: 4,
    }
    .layout()
    .unwrap()
}

#[test]
fn longer_runs_of_an_accumulator_stay_in_their_warps() {
    let tile = MatmulShape {
        m: 128,
        n: 64,
        k: 16,
    };
    let wgmma = Wgmma {
        tile,
        element_bits: 16,
        warpgroups_m: 2,
        warpgroups_n: 1,
        paired: false,
    };
    let accumulator = wgmma.accumulator().unwrap();
    let runs = accumulator.with_runs(&[1, 0], 8).unwrap();
    let planned = check(&runs, &accumulator, 16);
    let Conversion::Shared(plan) = &planned.conversion else {
        panic!("{planned:?}");
    };
    assert!(plan.in_warp);
    let rows = Layout::distributed(
        accumulator.shape().clone(),
        runs.bases(In::Register).to_vec(),
        runs.bases(In::Lane).to_vec(),
        runs.bases(In::Warp).iter().rev().copied().collect(),
    );
    let Conversion::Shared(plan) = check(&rows.unwrap(), &accumulator, 16).conversion else {
        panic!("warps exchange rows");
    };
    assert!(!plan.in_warp);
}

#[test]
fn nothing_and_renaming() {
    let a = blocked(&[64, 64], &[1, 0], 8, 16);
    assert_eq!(
        check(&a, &a, 16),
        Planned {
            conversion: Conversion::Identity,
            cost: 0
        }
    );
    let swapped = a.with_bases(In::Register, |r| r.swap(0, 4)).unwrap();
    let Conversion::Registers(map) = check(&a, &swapped, 16).conversion else {
        panic!()
    };
    assert_eq!(&map[..2], &[0, 16]);
    // An accumulator is the A operand of the next matmul, as it stands.
    let w = Wgmma {
        tile: MatmulShape {
            m: 64,
            n: 64,
            k: 64,
        },
        element_bits: 16,
        warpgroups_m: 1,
        warpgroups_n: 1,
        paired: false,
    };
    assert_eq!(
        check(&accumulator(64, 64), &w.a_in_registers().unwrap(), 16).conversion,
        Conversion::Identity
    );
}

#[test]
fn transposing_quads_is_shuffled() {
    // Four registers and two lane bits change places.
    let shape = Shape::new(&[16, 32]).unwrap();
    let at = |v: [u64; 4]| v.to_vec();
    let rows = Layout::distributed(
        shape.clone(),
        vec![1, 2],
        vec![4, 8, 16, 32, 64],
        at([128, 256, 0, 0])[..2].to_vec(),
    );
    let cols = Layout::distributed(shape, vec![4, 8], vec![1, 2, 16, 32, 64], vec![128, 256]);
    let p = check(&rows.unwrap(), &cols.unwrap(), 32);
    let Conversion::Shuffle(s) = &p.conversion else {
        panic!("{p:?}")
    };
    assert_eq!((s.rounds.len(), s.before.len(), s.after.len()), (4, 2, 2));
}

/// Wavefronts of a transfer of `bytes` by all four warps, per warp, without conflicts.
fn ideal(bytes: u64) -> u64 {
    bytes / 4 / 128
}

/// On one side a matrix instruction, on the other vectors of 128 bits, no conflicts.
fn assert_matrix_and_vectors(p: &Planned) {
    let Conversion::Shared(s) = &p.conversion else {
        panic!("{p:?}")
    };
    let (m, a) = match (&s.store, &s.load) {
        (Transfer::Matrix(m), Transfer::Plain(a)) | (Transfer::Plain(a), Transfer::Matrix(m)) => {
            (m, a)
        }
        _ => panic!("{s:?}"),
    };
    assert_eq!((m.wavefronts, a.vector_bits), (m.matrices, 128), "{s:?}");
}

#[test]
fn accumulators_are_stored_and_reread_without_conflicts() {
    for n in [32, 64, 128] {
        let out = blocked(&[64, n], &[1, 0], 8, 16);
        assert_matrix_and_vectors(&check(&accumulator(64, n), &out, 16));
        // The same by ldmatrix alone, for targets without stmatrix.
        for stmatrix in [false, true] {
            let c = swizzle::choose(
                &accumulator(64, n),
                &out,
                16,
                Capabilities {
                    ldmatrix: true,
                    stmatrix,
                    bytes: false,
                },
            );
            assert_eq!(c.unwrap().cost.wavefronts, 2 * ideal(64 * n * 2));
        }
        // With vectors on one side only, 4-byte accesses on the other: still no conflicts.
        let c = swizzle::choose(&accumulator(64, n), &out, 16, Capabilities::default()).unwrap();
        assert_eq!(c.cost.wavefronts, 2 * ideal(64 * n * 2));
    }
}

#[test]
fn operands_come_through_matrix_instructions() {
    for order in [[1, 0], [0, 1]] {
        let from = blocked(&[64, 64], &order, 8, 16);
        for to in [mma_sync(16, 16).a().unwrap(), mma_sync(16, 16).b().unwrap()] {
            assert_matrix_and_vectors(&check(&from, &to, 16));
            let c = swizzle::choose(&from, &to, 16, ALL).unwrap();
            // Written once, read by two warps each.
            assert_eq!(c.cost.wavefronts, 3 * ideal(64 * 64 * 2));
        }
    }
}

/// The elements of each load.
fn loads(plan: &SharedPlan) -> Vec<&[u32]> {
    let groups = match &plan.load {
        Transfer::Plain(p) => &p.groups,
        Transfer::Matrix(p) => &p.groups,
    };
    let all = groups.iter().flat_map(|g| &g.accesses);
    all.map(|a| &a.registers[..]).collect()
}

#[test]
fn a_load_brings_whole_fragments() {
    let mma = |bits| mma_sync(bits, if bits == 32 { 8 } else { 16 });
    for bits in [16, 32] {
        // Four registers of A, two of B.
        let packed = 32 / bits;
        for (to, beside) in [(mma(bits).a(), 4 * packed), (mma(bits).b(), 2 * packed)] {
            for (order, vector) in [([1, 0], 4), ([1, 0], 8), ([0, 1], 4), ([0, 1], 2)] {
                // Nothing transposes elements of 32 bits.
                if bits == 32 && order == [0, 1] {
                    continue;
                }
                let from = blocked(&[64, 64], &order, vector, bits);
                fragments_are_whole(&from, to.as_ref().unwrap(), beside, bits);
            }
        }
    }
}

/// Runs the conversion for what takes so many elements of `to` side by side; each load brings some of one such group, or whole
/// groups.
fn fragments_are_whole(from: &Layout, to: &Layout, beside: u32, bits: u32) {
    let stmatrix = [true, false].map(|stmatrix| Capabilities { stmatrix, ..ALL });
    for capabilities in stmatrix {
        let taken = Taken { beside, times: 2 };
        let wanted = Wanted { layout: to, taken };
        let planned = through_shared(from, wanted, bits, capabilities).unwrap();
        run(&planned, from, to);
        let Conversion::Shared(plan) = &planned.conversion else {
            panic!("{planned:?}");
        };
        for load in loads(plan) {
            for group in load.chunks(beside as usize) {
                let whole = (group[0] as usize).is_multiple_of(group.len());
                let in_order = (group[0]..).zip(group).all(|(i, &e)| i == e);
                assert!(whole && in_order, "{from} -> {to}: {load:?}");
            }
        }
    }
}

#[test]
fn bytes_of_columns_come_through_matrix_instructions() {
    let from = blocked(&[64, 64], &[1, 0], 16, 8);
    let to = mma_sync(8, 32).b().unwrap();
    check(&from, &to, 8);
    let without = Capabilities {
        bytes: false,
        ..ALL
    };
    let plain = swizzle::choose(&from, &to, 8, without).unwrap();
    let with = swizzle::choose(&from, &to, 8, ALL).unwrap();
    assert_eq!(with.load, Access::Matrix(Matrices::Bytes));
    assert!(with.cost < plain.cost, "{:?} {:?}", with.cost, plain.cost);
}

#[test]
fn large_tiles_go_in_pieces() {
    let from = accumulator(128, 128);
    assert_eq!(
        run_pieces(&from, &blocked(&[128, 128], &[1, 0], 4, 32), 32, 16 << 10),
        4
    );
    assert_eq!(
        run_pieces(&from, &blocked(&[128, 128], &[1, 0], 8, 16), 16, 64 << 10),
        1
    );
}

#[test]
fn conversions_print_what_they_do() {
    let a = blocked(&[64, 64], &[1, 0], 8, 16);
    let only_ldmatrix = Capabilities {
        ldmatrix: true,
        stmatrix: false,
        bytes: false,
    };
    let text = |to: &Layout| {
        convert(&a, to, 16, only_ldmatrix)
            .unwrap()
            .conversion
            .to_string()
    };
    assert_eq!(text(&a), "nothing to do");
    assert_eq!(
        text(&mma_sync(16, 16).a().unwrap()),
        "through 8192 bytes of shared memory: 4 x 128-bit stores, 8 x ldmatrix.x4"
    );
}

#[test]
fn transposes_of_f32_have_no_conflicts() {
    let (a, b) = (
        blocked(&[64, 64], &[1, 0], 4, 32),
        blocked(&[64, 64], &[0, 1], 4, 32),
    );
    let c = swizzle::choose(&a, &b, 32, Capabilities::default()).unwrap();
    let ideal = 64 * 64 * 4 / 4 / 128;
    assert_eq!(c.cost.wavefronts, 2 * ideal);
    check(&a, &b, 32);
    check(
        &blocked(&[64, 64], &[1, 0], 16, 8),
        &blocked(&[64, 64], &[0, 1], 16, 8),
        8,
    );
}

#[test]
fn broadcasts_are_read_from_the_nearest_place() {
    let a = blocked(&[16], &[0], 4, 32);
    let b = Layout::distributed(
        Shape::new(&[16]).unwrap(),
        vec![1, 2, 4, 8],
        vec![0; 5],
        vec![0, 0],
    )
    .unwrap();
    check(&a, &b, 32);
    let p = check(&b, &a, 32);
    assert!(
        matches!(&p.conversion, Conversion::Shuffle(s) if s.butterfly && s.rounds.iter().all(|r| r.lane_xor == 0))
    );
}

/// Random layouts of whole warps that reach every element.
fn surjective(bits: &'static [u8], registers: usize) -> impl Strategy<Value = Layout> {
    let shape = Shape::from_bits(bits).unwrap();
    let n = shape.total_bits() as usize;
    let vectors = proptest::collection::vec(0..shape.elements(), registers + 5 + 1);
    (vectors, any::<u64>()).prop_map(move |(mut v, seed)| {
        // Complete the first vectors to a spanning set at pseudo-random positions.
        let missing = super::super::gf2::Subspace::span(n as u32, &v).complement_units();
        let len = v.len();
        let mut state = seed;
        for m in missing {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
            let i = (state >> 33) as usize % len;
            v[i] ^= m;
        }
        let (r, t) = v.split_at(registers);
        Layout::distributed(shape.clone(), r.to_vec(), t[..5].to_vec(), t[5..].to_vec()).unwrap()
    })
}

proptest! {
    #[test]
    fn any_layout_to_any_other(
        a in surjective(&[3, 4], 3),
        b in surjective(&[3, 4], 2),
        bits in prop::sample::select(vec![8u32, 16, 32, 64]),
    ) {
        if a.is_surjective() {
            check(&a, &b, bits);
            run_pieces(&a, &b, bits, 32);
        }
    }

    /// Permutations of register and lane bits, which shuffles must always manage.
    #[test]
    fn permutations_within_a_warp_are_shuffles(
        order in Just((0..8u32).collect::<Vec<_>>()).prop_shuffle(),
        warp in 0u64..256,
        bits in prop::sample::select(vec![8u32, 16, 32]),
    ) {
        let shape = Shape::from_bits(&[4, 5]).unwrap();
        let unit: Vec<u64> = (0..8).map(|b| 1 << b).collect();
        let a = Layout::distributed(shape.clone(), unit[..3].to_vec(), unit[3..].to_vec(), vec![256]).unwrap();
        let p: Vec<u64> = order.iter().map(|&b| 1 << b).collect();
        let b = Layout::distributed(shape, p[..3].to_vec(), p[3..].to_vec(), vec![256 | warp]).unwrap();
        let lookup = Lookup::new(&a, &b).unwrap();
        prop_assert!(ShufflePlan::new(&lookup, bits).is_some());
        check(&a, &b, bits);
    }
}
