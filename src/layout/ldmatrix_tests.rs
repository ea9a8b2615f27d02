//! What `ldmatrix` and `stmatrix` move, element by element, from their description.

use super::super::Shape;
use super::super::fixtures::{accumulator, mma_sync};
use super::super::mma::{MatmulShape, MmaSync, Paired, Wgmma};
use super::super::shared::Swizzle;
use super::*;

/// Does what the instruction does, from its description, and compares each element
/// that a lane receives with the one the layouts say.
fn check(l: &Layout, s: &SharedLayout, kind: Matrices) -> MatrixPlan {
    let p = plan(l, s, kind).unwrap().expect("the instruction fits");
    let bytes = u64::from(s.element_bits()) / 8;
    let mut seen = vec![0; l.registers() as usize];
    for warp in 0..l.warps() {
        for group in &p.groups {
            for access in &group.accesses {
                let address =
                    |lane: u64| (p.thread_offset(lane + 32 * warp) ^ group.xor) + access.offset;
                for (i, &r) in (0..).zip(&access.registers) {
                    let (word, element) = (i / u64::from(p.packed), i % u64::from(p.packed));
                    seen[r as usize] += u32::from(warp == 0);
                    for lane in 0..32 {
                        // Transposed, the unit is 16 bits: one element, or two bytes.
                        let (row, byte) = match kind {
                            Matrices::Rows => (lane / 4, 4 * (lane % 4) + element * bytes),
                            Matrices::Columns => {
                                let unit = element * bytes / 2;
                                (2 * (lane % 4) + unit, lane / 4 * 2 + element * bytes % 2)
                            }
                            Matrices::Bytes => (4 * (lane % 4) + element, lane / 4 + word % 2 * 8),
                        };
                        let at = address(match kind {
                            Matrices::Bytes => 16 * (word / 2) + row,
                            _ => 8 * word + row,
                        });
                        assert_eq!(at % 16, 0);
                        assert_eq!(at + byte, s.byte_offset(&l.coords(r.into(), lane, warp)));
                    }
                }
            }
        }
    }
    for &(copy, of) in &p.copies {
        assert_eq!(l.flat(copy.into(), 3, 0), l.flat(of.into(), 3, 0));
        seen[copy as usize] += 1;
    }
    assert!(seen.iter().all(|&n| n == 1));
    let instructions = p.instructions() as u64;
    let counted = Cost {
        wavefronts: instructions * u64::from(p.wavefronts),
        instructions,
        bases: p.groups.len() as u64,
    };
    let offsets = Offsets::new(l, s).unwrap().unwrap();
    assert_eq!(offsets.cost(kind, Taken::SINGLY), Some(counted));
    p
}

fn strips(order: &[usize], bits: u32) -> SharedLayout {
    let shape = Shape::new(&[64, 64]).unwrap();
    SharedLayout::strips(
        &shape,
        order,
        bits,
        Swizzle::widest(64 * u64::from(bits) / 8),
    )
    .unwrap()
}

#[test]
fn loads_mma_operands_without_conflicts() {
    let p = check(
        &mma_sync(16, 16).a().unwrap(),
        &strips(&[1, 0], 16),
        Matrices::Rows,
    );
    assert_eq!(
        (p.matrices, p.packed, p.wavefronts, p.instructions()),
        (4, 2, 4, 8)
    );
    // B with K contiguous, and with N contiguous (transposed).
    let b = mma_sync(16, 16).b().unwrap();
    assert_eq!(
        check(&b, &strips(&[0, 1], 16), Matrices::Rows).wavefronts,
        4
    );
    assert_eq!(
        check(&b, &strips(&[1, 0], 16), Matrices::Columns).wavefronts,
        4
    );
    // A with M contiguous.
    assert_eq!(
        check(
            &mma_sync(16, 16).a().unwrap(),
            &strips(&[0, 1], 16),
            Matrices::Columns
        )
        .matrices,
        4
    );
    check(
        &mma_sync(8, 32).a().unwrap(),
        &strips(&[1, 0], 8),
        Matrices::Rows,
    );
    check(
        &mma_sync(32, 8).a().unwrap(),
        &strips(&[1, 0], 32),
        Matrices::Rows,
    );
    check(
        &mma_sync(32, 8).b().unwrap(),
        &strips(&[0, 1], 32),
        Matrices::Rows,
    );
}

#[test]
fn loads_bytes_whose_columns_are_wanted() {
    let mma = mma_sync(8, 32);
    let p = check(&mma.b().unwrap(), &strips(&[1, 0], 8), Matrices::Bytes);
    // Two matrices are 512 bytes, of which a wavefront brings 128.
    assert_eq!((p.matrices, p.wavefronts, p.instructions()), (2, 4, 4));
    let p = check(&mma.a().unwrap(), &strips(&[0, 1], 8), Matrices::Bytes);
    assert_eq!((p.matrices, p.wavefronts), (2, 4));
    // Where rows are wanted, columns are not.
    let a = plan(&mma.a().unwrap(), &strips(&[1, 0], 8), Matrices::Bytes);
    assert_eq!(a.unwrap(), None);
}

#[test]
fn loads_pairs_of_bytes_whose_columns_are_wanted() {
    let paired = MmaSync {
        paired: Paired {
            rows: true,
            columns: 2,
        },
        ..mma_sync(8, 32)
    };
    // 64 bytes of a lane's, 16 by each instruction; the 8 rows of a matrix are two of each of four, two apart.
    let p = check(&paired.b().unwrap(), &strips(&[1, 0], 8), Matrices::Columns);
    assert_eq!((p.matrices, p.packed, p.instructions()), (4, 4, 4));
    let p = check(&paired.a().unwrap(), &strips(&[0, 1], 8), Matrices::Columns);
    assert_eq!((p.matrices, p.packed, p.instructions()), (4, 4, 4));
    // Of bytes widened to f16 a thread has two along K.
    let halves = MmaSync {
        paired: paired.paired,
        ..mma_sync(16, 16)
    };
    let p = check(&halves.b().unwrap(), &strips(&[1, 0], 8), Matrices::Columns);
    assert_eq!((p.matrices, p.packed), (4, 4));
}

#[test]
fn unswizzled_rows_conflict() {
    let shape = Shape::new(&[64, 64]).unwrap();
    let plain = SharedLayout::row_major(&shape, &[1, 0], 16).unwrap();
    assert_eq!(
        check(&mma_sync(16, 16).a().unwrap(), &plain, Matrices::Rows).wavefronts,
        32
    );
}

#[test]
fn stores_wgmma_accumulators() {
    let l = accumulator(64, 64);
    let p = check(&l, &strips(&[1, 0], 16), Matrices::Rows);
    assert_eq!((p.instructions(), p.wavefronts), (4, 4));
    check(&l, &strips(&[0, 1], 16), Matrices::Columns);
}

#[test]
fn loads_bytes_whose_rows_are_contiguous() {
    let tile = MatmulShape {
        m: 128,
        n: 64,
        k: 64,
    };
    let fragment = |paired| {
        Wgmma {
            tile,
            element_bits: 8,
            warpgroups_m: 1,
            warpgroups_n: 1,
            paired,
        }
        .a_in_registers()
        .unwrap()
    };
    let shape = Shape::new(&[128, 64]).unwrap();
    let s = SharedLayout::strips(&shape, &[0, 1], 8, Swizzle::B128).unwrap();
    // 64 bytes of each lane, 16 by each instruction; the 8 rows of a matrix are two, two K apart, of each of four.
    let p = check(&fragment(true), &s, Matrices::Columns);
    assert_eq!((p.matrices, p.packed, p.instructions()), (4, 4, 4));
    // A lane's rows that are 8 apart are not in one unit of 16 bits.
    assert_eq!(plan(&fragment(false), &s, Matrices::Columns).unwrap(), None);
}

#[test]
fn repeated_registers_become_copies() {
    let l = mma_sync(16, 16).a().unwrap();
    let l = l.with_bases(In::Register, |r| r.insert(1, 0)).unwrap();
    let p = check(&l, &strips(&[1, 0], 16), Matrices::Rows);
    assert_eq!(p.copies.len() as u64, l.registers() / 2);
}

#[test]
fn does_not_fit_other_layouts() {
    let a = mma_sync(16, 16).a().unwrap();
    assert_eq!(
        plan(&a, &strips(&[0, 1], 16), Matrices::Rows).unwrap(),
        None
    );
    assert_eq!(
        plan(&a, &strips(&[1, 0], 16), Matrices::Columns).unwrap(),
        None
    );
    assert_eq!(
        plan(
            &mma_sync(8, 32).b().unwrap(),
            &strips(&[1, 0], 8),
            Matrices::Columns
        )
        .unwrap(),
        None
    );
    let narrow =
        SharedLayout::swizzled(&Shape::new(&[64, 64]).unwrap(), &[1, 0], 16, 2, 1, 8).unwrap();
    assert_eq!(
        plan(&a, &narrow, Matrices::Rows).unwrap(),
        None,
        "rows of 16 bytes are broken up"
    );
}
