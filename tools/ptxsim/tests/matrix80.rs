//! Pipelined products for sm_80 and one product of every mma family, compiled by nvcc, against plain sums.

mod common;

use common::{Stream, bytes, program, run, values};
use half::{bf16, f16};
use ptxsim::{Arg, Launch};

fn int(v: usize) -> Arg {
    Arg::scalar((v as i32).to_le_bytes())
}

#[test]
fn pipelined_f16_product() {
    let program = program("mma80", "sm_80", "gemm_f16");
    for (m, n, k, seed) in [(64, 64, 32, 1), (100, 72, 136, 2), (128, 128, 256, 3)] {
        let mut stream = Stream(seed);
        let a: Vec<f16> = stream.reals(m * k).into_iter().map(f16::from_f32).collect();
        let b: Vec<f16> = stream.reals(k * n).into_iter().map(f16::from_f32).collect();
        let raw = |v: &[f16]| bytes(&v.iter().map(|h| h.to_bits()).collect::<Vec<_>>());
        let mut launch = Launch::new(&program);
        let (ba, bb) = (
            launch.add_buffer("A", raw(&a)),
            launch.add_buffer("B", raw(&b)),
        );
        let c = launch.add_buffer("C", vec![0; 4 * m * n]);
        launch.args = vec![
            Arg::buffer(ba),
            Arg::buffer(bb),
            Arg::buffer(c),
            int(m),
            int(n),
            int(k),
        ];
        launch.grid = [n.div_ceil(64) as u32, m.div_ceil(64) as u32, 1];
        (launch.block, launch.seed) = ([128, 1, 1], seed);
        run(&mut launch);
        let got: Vec<f32> = values(&launch.buffers[c].bytes);
        for r in 0..m {
            for col in 0..n {
                let want: f64 = (0..k)
                    .map(|i| a[r * k + i].to_f64() * b[i * n + col].to_f64())
                    .sum();
                assert!(
                    (f64::from(got[r * n + col]) - want).abs() < 1e-3,
                    "{r} {col}: {} {want}",
                    got[r * n + col]
                );
            }
        }
    }
}

/// C = A (16 × k) × Bt' (k × 8) in single precision.
fn family(name: &str, k: usize, put: fn(f32) -> Vec<u8>, value: fn(f32) -> f32) {
    let program = program("mma80", "sm_80", name);
    let mut stream = Stream(k as u64);
    let (a, b) = (stream.reals(16 * k), stream.reals(8 * k));
    let mut launch = Launch::new(&program);
    let ba = launch.add_buffer("A", a.iter().flat_map(|&x| put(x)).collect());
    let bb = launch.add_buffer("Bt", b.iter().flat_map(|&x| put(x)).collect());
    let c = launch.add_buffer("C", vec![0; 4 * 128]);
    launch.args = vec![Arg::buffer(ba), Arg::buffer(bb), Arg::buffer(c)];
    launch.block = [32, 1, 1];
    run(&mut launch);
    let got: Vec<f32> = values(&launch.buffers[c].bytes);
    for r in 0..16 {
        for col in 0..8 {
            let want: f32 = (0..k)
                .map(|i| value(a[r * k + i]) * value(b[col * k + i]))
                .sum();
            assert!(
                (got[r * 8 + col] - want).abs() < 1e-5,
                "{name} {r} {col}: {} {want}",
                got[r * 8 + col]
            );
        }
    }
}

#[test]
fn every_floating_family() {
    family(
        "mma_bf16",
        16,
        |x| bf16::from_f32(x).to_bits().to_le_bytes().to_vec(),
        |x| bf16::from_f32(x).to_f32(),
    );
    family(
        "mma_tf32",
        8,
        |x| x.to_le_bytes().to_vec(),
        |x| f32::from_bits(x.to_bits() & !0x1fff),
    );
}

#[test]
fn integer_and_double_families() {
    let s8 = program("mma80", "sm_80", "mma_s8");
    let mut stream = Stream(9);
    let a: Vec<i8> = (0..16 * 32).map(|_| stream.bits() as i8).collect();
    let b: Vec<i8> = (0..8 * 32).map(|_| stream.bits() as i8).collect();
    let mut launch = Launch::new(&s8);
    let (ba, bb) = (
        launch.add_buffer("A", bytes(&a)),
        launch.add_buffer("Bt", bytes(&b)),
    );
    let c = launch.add_buffer("C", vec![0; 512]);
    launch.args = vec![Arg::buffer(ba), Arg::buffer(bb), Arg::buffer(c)];
    launch.block = [32, 1, 1];
    run(&mut launch);
    for (i, got) in values::<i32>(&launch.buffers[c].bytes)
        .into_iter()
        .enumerate()
    {
        let want: i32 = (0..32)
            .map(|k| i32::from(a[i / 8 * 32 + k]) * i32::from(b[i % 8 * 32 + k]))
            .sum();
        assert_eq!(got, want);
    }
    let f64s = program("mma80", "sm_80", "mma_f64");
    let (a, b): (Vec<f64>, Vec<f64>) = (
        (0..32).map(|_| stream.real().into()).collect(),
        (0..32).map(|_| stream.real().into()).collect(),
    );
    let mut launch = Launch::new(&f64s);
    let (ba, bb) = (
        launch.add_buffer("A", bytes(&a)),
        launch.add_buffer("Bt", bytes(&b)),
    );
    let c = launch.add_buffer("C", vec![0; 512]);
    launch.args = vec![Arg::buffer(ba), Arg::buffer(bb), Arg::buffer(c)];
    launch.block = [32, 1, 1];
    run(&mut launch);
    for (i, got) in values::<f64>(&launch.buffers[c].bytes)
        .into_iter()
        .enumerate()
    {
        let want: f64 = (0..4).map(|k| a[i / 8 * 4 + k] * b[i % 8 * 4 + k]).sum();
        assert!((got - want).abs() < 1e-14);
    }
}

#[test]
fn a_missing_cp_async_wait_is_found() {
    for (entry, good) in [("cp_async_waited", true), ("cp_async_no_wait", false)] {
        let program = program("mma80", "sm_80", entry);
        let data: Vec<u32> = (0..128).collect();
        let mut launch = Launch::new(&program);
        let (a, b) = (
            launch.add_buffer("in", bytes(&data)),
            launch.add_buffer("out", vec![0; 512]),
        );
        launch.args = vec![Arg::buffer(a), Arg::buffer(b)];
        launch.block = [32, 1, 1];
        match launch.run() {
            Ok(_) => {
                assert!(good, "{entry} passed");
                assert_eq!(values::<u32>(&launch.buffers[b].bytes), data);
            }
            Err(fault) => assert!(
                !good && fault.to_string().contains("nobody here has waited for"),
                "{entry}: {fault}"
            ),
        }
    }
}
