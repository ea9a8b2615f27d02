//! TMA, mbarrier, wgmma and clusters in hand-written CUDA C++ for sm_90a, and what goes wrong when a step is left out.

mod common;

use common::{Stream, bytes, program, run, values};
use half::f16;
use ptxsim::tensormap::{Element, MapBase, Swizzle};
use ptxsim::{Arg, Launch, TensorMap};

/// A row-major matrix as a tensor map.
fn matrix(
    buffer: usize,
    element: Element,
    rows: usize,
    cols: usize,
    box_cols: u32,
    box_rows: u32,
    swizzle: Swizzle,
) -> TensorMap {
    let base = MapBase::Buffer {
        index: buffer,
        offset: 0,
    };
    let stride = cols as u64 * u64::from(element.bytes());
    let mut map = TensorMap::tiled(
        base,
        element,
        &[cols as u64, rows as u64],
        &[stride],
        &[box_cols, box_rows],
    );
    map.swizzle = swizzle;
    map
}

#[test]
fn warp_specialised_product() {
    let program = program("hopper", "sm_90a", "gemm");
    for (m, n, k, seed) in [
        (64, 64, 64, 1),
        (128, 64, 200, 2),
        (100, 136, 512, 3),
        (100, 136, 512, 4),
        (256, 256, 256, 5),
    ] {
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
            Arg::TensorMap(matrix(ba, Element::F16, m, k, 64, 64, Swizzle::B128)),
            Arg::TensorMap(matrix(bb, Element::F16, k, n, 64, 64, Swizzle::B128)),
            Arg::TensorMap(matrix(c, Element::F32, m, n, 64, 64, Swizzle::None)),
            Arg::scalar((k as i32).to_le_bytes()),
        ];
        launch.grid = [n.div_ceil(64) as u32, m.div_ceil(64) as u32, 1];
        (launch.block, launch.seed, launch.dynamic_shared) =
            ([256, 1, 1], seed, 3 * 16384 + 16384 + 64);
        run(&mut launch);
        let got: Vec<f32> = values(&launch.buffers[c].bytes);
        for r in 0..m {
            for col in 0..n {
                let want: f64 = (0..k)
                    .map(|i| a[r * k + i].to_f64() * b[i * n + col].to_f64())
                    .sum();
                assert!(
                    (f64::from(got[r * n + col]) - want).abs() < 2e-3,
                    "{m}x{n}x{k} {r} {col}: {} {want}",
                    got[r * n + col]
                );
            }
        }
    }
}

#[test]
fn cluster_with_distributed_shared_memory() {
    let program = program("hopper", "sm_90a", "cluster_sum");
    let data: Vec<i32> = (0..8).map(|i| i * i + 1).collect();
    let mut launch = Launch::new(&program);
    let (a, b) = (
        launch.add_buffer("in", bytes(&data)),
        launch.add_buffer("out", vec![0; 8]),
    );
    launch.args = vec![Arg::buffer(a), Arg::buffer(b)];
    (launch.grid, launch.block) = ([8, 1, 1], [32, 1, 1]);
    assert_eq!(launch.cluster, [4, 1, 1]);
    run(&mut launch);
    assert_eq!(
        values::<i32>(&launch.buffers[b].bytes),
        [data[..4].iter().sum::<i32>(), data[4..].iter().sum()]
    );
}

/// Runs a protocol kernel over several interleavings; `Err` holds the first fault.
fn protocol(mode: usize) -> Result<(), String> {
    let program = program("hopper", "sm_90a", &format!("protocol_{mode}"));
    let data: Vec<i32> = (0..1024).collect();
    for seed in 1..6 {
        let mut launch = Launch::new(&program);
        let (a, b) = (
            launch.add_buffer("in", bytes(&data)),
            launch.add_buffer("out", vec![0; 4096]),
        );
        let plain = launch.add_buffer("plain", vec![0; 4]);
        launch.args = vec![
            Arg::TensorMap(matrix(a, Element::S32, 32, 32, 32, 32, Swizzle::None)),
            Arg::TensorMap(matrix(b, Element::S32, 32, 32, 32, 32, Swizzle::None)),
            Arg::buffer(plain),
        ];
        (launch.block, launch.seed) = ([64, 1, 1], seed);
        launch.run().map_err(|e| e.to_string())?;
        let want: Vec<i32> = data.iter().map(|x| x * 3 + 1).collect();
        assert_eq!(values::<i32>(&launch.buffers[b].bytes), want);
    }
    Ok(())
}

#[test]
fn the_right_protocol_passes() {
    protocol(0).unwrap();
}

#[test]
fn every_flaw_is_named() {
    for (mode, flaw, message) in [
        (1, "mbarrier used before init", "no initialised mbarrier"),
        (2, "count that nobody reaches", "1 of 2 arrivals"),
        (
            3,
            "expect_tx that never completes",
            "4096 bytes are missing",
        ),
        (
            4,
            "read before the wait",
            "nobody here has waited for|nothing has written",
        ),
        (
            5,
            "wait for the wrong parity",
            "nobody here has waited for|nothing has written",
        ),
        (6, "no fence.proxy.async", "without a fence.proxy.async"),
        (7, "no barrier before the store", "data race"),
        (8, "no wait for the store's reads", "still reads"),
        (9, "barrier that half the threads reach", "divergently"),
        (10, "arrivals without a waiter are fine once", ""),
        (
            11,
            "more arrivals than the count",
            "2 arrivals at an mbarrier phase that expects only 1",
        ),
    ] {
        match protocol(mode) {
            Ok(()) => assert!(message.is_empty(), "{flaw}: passed"),
            Err(fault) => assert!(
                !message.is_empty() && message.split('|').any(|m| fault.contains(m)),
                "{flaw}: {fault}"
            ),
        }
    }
}
