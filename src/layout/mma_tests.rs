//! Each layout against the formulas of the PTX ISA's fragment figures, written out
//! as they stand there.

use super::*;

fn single(k: u64, element_bits: u32) -> MmaSync {
    let m = if k == 4 && element_bits == 64 { 8 } else { 16 };
    let shape = MatmulShape { m, n: 8, k };
    MmaSync {
        tile: shape,
        instruction: shape,
        element_bits,
        warps_m: 1,
        warps_n: 1,
        batch: None,
        paired: Paired::NONE,
    }
}

/// A tile of f16 for m16n8k16, shared out among `warps` along M and N.
fn shared_out(tile: MatmulShape, warps: [u64; 2]) -> MmaSync {
    MmaSync {
        tile,
        warps_m: warps[0],
        warps_n: warps[1],
        ..single(16, 16)
    }
}

fn expect(l: &Layout, formula: impl Fn(u64, u64) -> (u64, u64)) {
    for lane in 0..32 {
        for i in 0..l.registers() {
            let (row, col) = formula(i, lane);
            assert_eq!(
                l.coords(i, lane, 0).as_slice(),
                &[row, col],
                "a{i} of lane {lane} in {l}"
            );
        }
    }
    assert!(l.is_surjective() && l.is_injective());
}

#[test]
fn m16n8k8_16_bit() {
    let f = single(8, 16);
    expect(&f.a().unwrap(), |i, lane| {
        (
            if i < 2 { lane >> 2 } else { (lane >> 2) + 8 },
            (lane % 4) * 2 + (i & 1),
        )
    });
    expect(&f.b().unwrap(), |i, lane| ((lane % 4) * 2 + i, lane >> 2));
}

#[test]
fn m16n8k16_16_bit() {
    let f = single(16, 16);
    expect(&f.a().unwrap(), |i, lane| {
        let row = if i < 2 || (4..6).contains(&i) {
            lane >> 2
        } else {
            (lane >> 2) + 8
        };
        let col = (lane % 4) * 2 + (i & 1);
        (row, if i < 4 { col } else { col + 8 })
    });
    expect(&f.b().unwrap(), |i, lane| {
        let row = (lane % 4) * 2 + (i & 1);
        (if i < 2 { row } else { row + 8 }, lane >> 2)
    });
    expect(&f.c().unwrap(), |i, lane| {
        (
            if i < 2 { lane >> 2 } else { (lane >> 2) + 8 },
            (lane % 4) * 2 + (i & 1),
        )
    });
}

#[test]
fn m16n8k4_and_k8_tf32() {
    expect(&single(4, 32).a().unwrap(), |i, lane| {
        (if i == 0 { lane >> 2 } else { (lane >> 2) + 8 }, lane % 4)
    });
    expect(&single(4, 32).b().unwrap(), |_, lane| (lane % 4, lane >> 2));
    expect(&single(8, 32).a().unwrap(), |i, lane| {
        let row = if i == 0 || i == 2 {
            lane >> 2
        } else {
            (lane >> 2) + 8
        };
        (row, if i < 2 { lane % 4 } else { lane % 4 + 4 })
    });
    expect(&single(8, 32).b().unwrap(), |i, lane| {
        (if i == 0 { lane % 4 } else { lane % 4 + 4 }, lane >> 2)
    });
}

#[test]
fn m16n8k16_and_k32_8_bit() {
    expect(&single(16, 8).a().unwrap(), |i, lane| {
        (
            if i < 4 { lane >> 2 } else { (lane >> 2) + 8 },
            (lane % 4) * 4 + (i & 3),
        )
    });
    expect(&single(16, 8).b().unwrap(), |i, lane| {
        ((lane % 4) * 4 + i, lane >> 2)
    });
    expect(&single(32, 8).a().unwrap(), |i, lane| {
        let row = if i < 4 || (8..12).contains(&i) {
            lane >> 2
        } else {
            (lane >> 2) + 8
        };
        let col = (lane % 4) * 4 + (i & 3);
        (row, if i < 8 { col } else { col + 16 })
    });
    expect(&single(32, 8).b().unwrap(), |i, lane| {
        let row = (lane % 4) * 4 + (i & 3);
        (if i < 4 { row } else { row + 16 }, lane >> 2)
    });
}

#[test]
fn m8n8k4_f64() {
    let f = single(4, 64);
    expect(&f.a().unwrap(), |_, lane| (lane >> 2, lane % 4));
    expect(&f.b().unwrap(), |_, lane| (lane % 4, lane >> 2));
    expect(&f.c().unwrap(), |i, lane| (lane >> 2, (lane % 4) * 2 + i));
}

/// A layout as CuTe states it: (extent, stride) of each mode of thread and of value,
/// strides counting down columns of `rows` rows. For shapes whose figures the PTX ISA
/// states less plainly.
fn expect_cute(l: &Layout, rows: u64, thread: &[(u64, u64)], value: &[(u64, u64)]) {
    let index = |mut x: u64, modes: &[(u64, u64)]| {
        let mut at = 0;
        for &(extent, stride) in modes {
            at += x % extent * stride;
            x /= extent;
        }
        at
    };
    for t in 0..32 * l.warps() {
        for v in 0..l.registers() {
            let at = index(t, thread) + index(v, value);
            assert_eq!(
                l.coords(v, t % 32, t / 32).as_slice(),
                &[at % rows, at / rows]
            );
        }
    }
}

#[test]
fn f64_and_wgmma_fragments_as_cute_states_them() {
    for k in [4, 8, 16] {
        let shape = MatmulShape { m: 16, n: 8, k };
        let f = MmaSync {
            tile: shape,
            instruction: shape,
            element_bits: 64,
            warps_m: 1,
            warps_n: 1,
            batch: None,
            paired: Paired::NONE,
        };
        expect_cute(
            &f.a().unwrap(),
            16,
            &[(4, 16), (8, 1)],
            &[(2, 8), (k / 4, 64)],
        );
        expect_cute(&f.c().unwrap(), 16, &[(4, 32), (8, 1)], &[(2, 16), (2, 8)]);
        // CuTe's B is n by k.
        expect_cute(
            &f.b().unwrap().permute(&[1, 0]).unwrap(),
            8,
            &[(4, 8), (8, 1)],
            &[(k / 4, 32)],
        );
    }
    let a = |element_bits, k| {
        let tile = MatmulShape { m: 64, n: 8, k };
        Wgmma {
            tile,
            element_bits,
            warpgroups_m: 1,
            warpgroups_n: 1,
            paired: false,
        }
        .a_in_registers()
        .unwrap()
    };
    expect_cute(
        &a(32, 8),
        64,
        &[(4, 64), (8, 1), (4, 16)],
        &[(2, 8), (2, 256)],
    );
    expect_cute(
        &a(16, 16),
        64,
        &[(4, 128), (8, 1), (4, 16)],
        &[(2, 64), (2, 8), (2, 512)],
    );
    expect_cute(
        &a(8, 32),
        64,
        &[(4, 256), (8, 1), (4, 16)],
        &[(4, 64), (2, 8), (2, 1024)],
    );
}

#[test]
fn warps_split_rows_and_columns_contiguously() {
    let (m, n, k) = (64, 64, 32);
    let f = shared_out(MatmulShape { m, n, k }, [2, 2]);
    let (a, b, c) = (f.a().unwrap(), f.b().unwrap(), f.c().unwrap());
    for warp in 0..4 {
        let (wm, wn) = (warp % 2, warp / 2);
        for (l, rows, cols) in [
            (&a, 32 * wm..32 * wm + 32, 0..32),
            (&b, 0..32, 32 * wn..32 * wn + 32),
            (&c, 32 * wm..32 * wm + 32, 32 * wn..32 * wn + 32),
        ] {
            for lane in 0..32 {
                for r in 0..l.registers() {
                    let at = l.coords(r, lane, warp);
                    assert!(rows.contains(&at[0]) && cols.contains(&at[1]));
                }
            }
            assert!(l.is_surjective());
        }
    }
    assert_eq!(a.free_variable_masks(), [0, 0, 0b10, 0, 0]);
    assert_eq!(b.free_variable_masks(), [0, 0, 0b01, 0, 0]);
    // The first instruction's registers come first: a0..a7 are one m16k16.
    assert!((0..8).all(|r| a.coords(r, 31, 0).iter().all(|&x| x < 16)));
}

/// The row of a tile that row `r` of an instruction is.
fn tile_row(r: u64, paired: bool) -> u64 {
    match paired {
        true => r / 16 * 16 + r % 8 * 2 + r / 8 % 2,
        false => r,
    }
}

#[test]
fn wgmma_accumulator() {
    for (n, paired) in [8, 64, 256]
        .into_iter()
        .flat_map(|n| [(n, false), (n, true)])
    {
        let w = Wgmma {
            tile: MatmulShape { m: 64, n, k: 16 },
            element_bits: 16,
            warpgroups_m: 1,
            warpgroups_n: 1,
            paired,
        };
        let l = w.accumulator().unwrap();
        assert_eq!((l.registers(), l.warps()), (n / 2, 4));
        for (thread, i) in (0..128).flat_map(|t| (0..n / 2).map(move |i| (t, i))) {
            let (lane, warp) = (thread % 32, thread / 32);
            let row = tile_row(16 * warp + lane / 4 + 8 * (i / 2 % 2), paired);
            let col = 8 * (i / 4) + 2 * (lane % 4) + i % 2;
            assert_eq!(l.coords(i, lane, warp).as_slice(), &[row, col]);
        }
    }
}

#[test]
fn wgmma_a_registers() {
    for paired in [false, true] {
        let w = Wgmma {
            tile: MatmulShape {
                m: 64,
                n: 64,
                k: 16,
            },
            element_bits: 16,
            warpgroups_m: 1,
            warpgroups_n: 1,
            paired,
        };
        let l = w.a_in_registers().unwrap();
        for (thread, i) in (0..128).flat_map(|t| (0..8).map(move |i| (t, i))) {
            let (lane, warp) = (thread % 32, thread / 32);
            let row = tile_row(16 * warp + lane / 4 + 8 * (i / 2 % 2), paired);
            let col = 8 * (i / 4) + 2 * (lane % 4) + i % 2;
            assert_eq!(l.coords(i, lane, warp).as_slice(), &[row, col]);
        }
    }
}

#[test]
fn wgmma_over_two_warpgroups() {
    let tile = MatmulShape {
        m: 128,
        n: 256,
        k: 64,
    };
    let rows = Wgmma {
        tile,
        element_bits: 16,
        warpgroups_m: 2,
        warpgroups_n: 1,
        paired: false,
    }
    .accumulator()
    .unwrap();
    let cols = Wgmma {
        tile,
        element_bits: 16,
        warpgroups_m: 1,
        warpgroups_n: 2,
        paired: false,
    }
    .accumulator()
    .unwrap();
    for l in [&rows, &cols] {
        assert!(l.is_surjective() && l.is_injective());
        assert_eq!((l.registers(), l.warps()), (128, 8));
    }
    assert!((0..128).all(|r| rows.coords(r, 7, 5)[0] >= 64));
    assert!((0..128).all(|r| cols.coords(r, 7, 5)[1] >= 128));
}

#[test]
fn refuses_what_the_hardware_lacks() {
    let mut f = single(16, 16);
    f.instruction.k = 4;
    assert!(
        f.c()
            .unwrap_err()
            .to_string()
            .contains("m16n8k4 for 16-bit")
    );
    let mut f = single(16, 16);
    f.warps_m = 2;
    assert!(f.a().is_err());
}

#[test]
fn columns_that_a_tile_lacks_are_repeated() {
    for (k, bits) in [(16, 16), (32, 8), (8, 32), (4, 64)] {
        let whole = single(k, bits);
        for n in [4, 2, 1] {
            let mut few = whole;
            few.tile.n = n;
            assert_eq!(few.instructions(), [1, 1, 1]);
            let of_result = u64::from(few.copies());
            for (whole, few, copies) in [(whole.b(), few.b(), 1), (whole.c(), few.c(), of_result)] {
                let (whole, few) = (whole.unwrap(), few.unwrap());
                assert_eq!(few.registers() * copies, whole.registers());
                for (lane, r) in (0..32 * whole.registers()).map(|x| (x % 32, x / 32)) {
                    let mut at = whole.coords(r, lane, 0).to_vec();
                    at[1] %= n;
                    assert_eq!(few.coords(r / copies, lane, 0).as_slice(), &at[..]);
                }
            }
        }
    }
}

#[test]
fn m8n8k16_s8() {
    let f = MmaSync {
        tile: MatmulShape { m: 8, n: 8, k: 16 },
        instruction: MatmulShape { m: 8, n: 8, k: 16 },
        ..single(16, 8)
    };
    expect(&f.a().unwrap(), |i, lane| (lane >> 2, lane % 4 * 4 + i));
    expect(&f.b().unwrap(), |i, lane| (lane % 4 * 4 + i, lane >> 2));
    expect(&f.c().unwrap(), |i, lane| (lane >> 2, lane % 4 * 2 + i));
    let paired = Paired {
        rows: true,
        columns: 1,
    };
    assert!(MmaSync { paired, ..f }.a().is_err());
}

/// As the figures have them, with rows r and r + 8 at 2r and 2r + 1 and columns c of two instructions at 2c and 2c + 1.
#[test]
fn pairs_are_neighbours() {
    let plain = shared_out(
        MatmulShape {
            m: 64,
            n: 64,
            k: 32,
        },
        [2, 2],
    );
    let paired = MmaSync {
        paired: Paired {
            rows: true,
            columns: 2,
        },
        ..plain
    };
    let row = |r: u64| r & !15 | (r & 7) << 1 | r >> 3 & 1;
    let column = |c: u64| c & !15 | (c & 7) << 1 | c >> 3 & 1;
    let same = |x: u64| x;
    type Moved<'m> = [&'m dyn Fn(u64) -> u64; 2];
    let cases: [(_, _, Moved<'_>); 3] = [
        (plain.a(), paired.a(), [&row, &same]),
        (plain.b(), paired.b(), [&same, &column]),
        (plain.c(), paired.c(), [&row, &column]),
    ];
    for (plain, paired, moved) in cases {
        let (plain, paired) = (plain.unwrap(), paired.unwrap());
        assert_eq!(plain.registers(), paired.registers());
        let places = (0..4).flat_map(|w| (0..32).map(move |l| (w, l)));
        for (warp, lane) in places {
            for r in 0..plain.registers() {
                let at = plain.coords(r, lane, warp);
                let expected = [moved[0](at[0]), moved[1](at[1])];
                assert_eq!(paired.coords(r, lane, warp).as_slice(), &expected);
            }
        }
    }
    // A warp that has columns of one instruction has no second one for the others.
    let narrow = shared_out(
        MatmulShape {
            m: 64,
            n: 16,
            k: 32,
        },
        [2, 2],
    );
    let paired = MmaSync {
        paired: paired.paired,
        ..narrow
    };
    assert!(paired.b().is_err() && paired.c().is_err());
}

#[test]
fn warps_split_a_batch_contiguously() {
    let (m, n, k) = (32, 16, 16);
    let one = shared_out(MatmulShape { m, n, k }, [2, 1]);
    let eight = MmaSync {
        batch: Some(Batch {
            matrices: 8,
            warps: 4,
        }),
        ..one
    };
    assert_eq!(eight.matrices(), 2);
    for (matrix, batch) in [
        (one.a(), eight.a()),
        (one.b(), eight.b()),
        (one.c(), eight.c()),
    ] {
        let (matrix, batch) = (matrix.unwrap(), batch.unwrap());
        let own = matrix.registers();
        assert_eq!(batch.registers(), 2 * own);
        for (warp, lane, r) in
            (0..8).flat_map(|w| (0..32 * 2 * own).map(move |x| (w, x % 32, x / 32)))
        {
            let at = matrix.coords(r % own, lane, warp % 2);
            let number = 2 * (warp / 2) + r / own;
            assert_eq!(
                batch.coords(r, lane, warp).as_slice(),
                &[number, at[0], at[1]]
            );
        }
    }
}
