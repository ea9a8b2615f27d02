//! Kernels in plain CUDA C++, compiled by nvcc, against the same sums in Rust.

mod common;

use common::{Stream, bytes, program, run, values};
use ptxsim::{Arg, Launch};

const ARCH: &str = "sm_80";

#[test]
fn saxpy() {
    let program = program("basic", ARCH, "saxpy");
    let mut stream = Stream(1);
    let n = 1000;
    let (x, y) = (stream.reals(n), stream.reals(n));
    let mut launch = Launch::new(&program);
    let (bx, by) = (
        launch.add_buffer("x", bytes(&x)),
        launch.add_buffer("y", bytes(&y)),
    );
    let out = launch.add_buffer("out", vec![0; 4 * n]);
    launch.args = vec![
        Arg::scalar(2.5f32.to_le_bytes()),
        Arg::buffer(bx),
        Arg::buffer(by),
        Arg::buffer(out),
        Arg::scalar((n as i32).to_le_bytes()),
    ];
    (launch.grid, launch.block) = ([8, 1, 1], [128, 1, 1]);
    run(&mut launch);
    let got: Vec<f32> = values(&launch.buffers[out].bytes);
    for i in 0..n {
        assert_eq!(got[i], 2.5f32.mul_add(x[i], y[i]), "{i}");
    }
}

#[test]
fn block_sum_with_float_atomics() {
    let program = program("basic", ARCH, "block_sum");
    let x: Vec<f32> = (0..1000).map(|i| (i % 17) as f32).collect();
    let mut launch = Launch::new(&program);
    let bx = launch.add_buffer("x", bytes(&x));
    let total = launch.add_buffer("total", bytes(&[0f32]));
    launch.args = vec![
        Arg::buffer(bx),
        Arg::buffer(total),
        Arg::scalar(1000i32.to_le_bytes()),
    ];
    (launch.grid, launch.block) = ([8, 1, 1], [128, 1, 1]);
    run(&mut launch);
    assert_eq!(
        values::<f32>(&launch.buffers[total].bytes),
        [x.iter().sum::<f32>()]
    );
}

#[test]
fn histogram() {
    let program = program("basic", ARCH, "histogram");
    let mut stream = Stream(2);
    let x: Vec<u8> = (0..5000).map(|_| (stream.bits() % 251) as u8).collect();
    let mut want = [0u32; 256];
    x.iter().for_each(|&b| want[b as usize] += 1);
    let mut launch = Launch::new(&program);
    let (bx, bins) = (
        launch.add_buffer("x", x),
        launch.add_buffer("bins", vec![0; 1024]),
    );
    launch.args = vec![
        Arg::buffer(bx),
        Arg::buffer(bins),
        Arg::scalar(5000i32.to_le_bytes()),
    ];
    (launch.grid, launch.block) = ([6, 1, 1], [96, 1, 1]);
    run(&mut launch);
    assert_eq!(values::<u32>(&launch.buffers[bins].bytes), want);
}

#[test]
fn transpose() {
    let program = program("basic", ARCH, "transpose");
    let (rows, cols) = (70, 45);
    let x = Stream(3).reals(rows * cols);
    let mut launch = Launch::new(&program);
    let (a, b) = (
        launch.add_buffer("in", bytes(&x)),
        launch.add_buffer("out", vec![0; 4 * rows * cols]),
    );
    let int = |v: usize| Arg::scalar((v as i32).to_le_bytes());
    launch.args = vec![Arg::buffer(a), Arg::buffer(b), int(rows), int(cols)];
    (launch.grid, launch.block) = ([2, 3, 1], [32, 8, 1]);
    run(&mut launch);
    let got: Vec<f32> = values(&launch.buffers[b].bytes);
    for r in 0..rows {
        for c in 0..cols {
            assert_eq!(got[c * rows + r], x[r * cols + c]);
        }
    }
}

#[test]
fn warp_scan() {
    let program = program("basic", ARCH, "warp_scan");
    let x: Vec<i32> = (0..64).map(|i| i * i - 30).collect();
    let mut launch = Launch::new(&program);
    let (a, b) = (
        launch.add_buffer("in", bytes(&x)),
        launch.add_buffer("out", vec![0; 256]),
    );
    launch.args = vec![Arg::buffer(a), Arg::buffer(b)];
    (launch.grid, launch.block) = ([2, 1, 1], [32, 1, 1]);
    run(&mut launch);
    let got: Vec<i32> = values(&launch.buffers[b].bytes);
    for block in 0..2 {
        for i in 0..32 {
            assert_eq!(
                got[block * 32 + i],
                x[block * 32..=block * 32 + i].iter().sum::<i32>()
            );
        }
    }
}

#[test]
fn collatz_diverges_and_reconverges() {
    let program = program("basic", ARCH, "collatz");
    let mut launch = Launch::new(&program);
    let out = launch.add_buffer("steps", vec![0; 4 * 500]);
    launch.args = vec![Arg::buffer(out), Arg::scalar(500i32.to_le_bytes())];
    (launch.grid, launch.block) = ([4, 1, 1], [128, 1, 1]);
    run(&mut launch);
    let got: Vec<i32> = values(&launch.buffers[out].bytes);
    for (i, &steps) in got.iter().enumerate() {
        let (mut x, mut count) = (i as u64 + 1, 0);
        while x != 1 {
            x = if x % 2 == 1 { 3 * x + 1 } else { x / 2 };
            count += 1;
        }
        assert_eq!(steps, count);
    }
}

#[test]
fn recursion() {
    let program = program("basic", ARCH, "recursion");
    let mut launch = Launch::new(&program);
    let out = launch.add_buffer("out", vec![0; 128]);
    launch.args = vec![Arg::buffer(out)];
    launch.block = [32, 1, 1];
    run(&mut launch);
    let got: Vec<i32> = values(&launch.buffers[out].bytes);
    for (i, &x) in got.iter().enumerate() {
        let (m, n) = (i as i32 & 1, i as i32 & 7);
        assert_eq!(x, if m == 0 { n + 1 } else { n + 2 });
    }
}

#[test]
fn softmax() {
    let program = program("basic", ARCH, "softmax");
    let (rows, cols) = (5, 77);
    let x: Vec<f32> = Stream(4)
        .reals(rows * cols)
        .iter()
        .map(|v| v * 10.0)
        .collect();
    let mut launch = Launch::new(&program);
    let (a, b) = (
        launch.add_buffer("in", bytes(&x)),
        launch.add_buffer("out", vec![0; 4 * rows * cols]),
    );
    launch.args = vec![
        Arg::buffer(a),
        Arg::buffer(b),
        Arg::scalar((cols as i32).to_le_bytes()),
    ];
    (launch.grid, launch.block) = ([rows as u32, 1, 1], [32, 1, 1]);
    run(&mut launch);
    let got: Vec<f32> = values(&launch.buffers[b].bytes);
    for r in 0..rows {
        let row = &x[r * cols..(r + 1) * cols];
        let best = row.iter().copied().fold(f32::MIN, f32::max);
        let sum: f64 = row.iter().map(|v| f64::from(v - best).exp()).sum();
        for c in 0..cols {
            let want = f64::from(row[c] - best).exp() / sum;
            assert!((f64::from(got[r * cols + c]) - want).abs() < 1e-6);
        }
    }
}

#[test]
fn packed_halves() {
    use half::{bf16, f16};
    let program = program("basic", ARCH, "halves");
    let mut stream = Stream(5);
    let a: Vec<f16> = stream.reals(64).into_iter().map(f16::from_f32).collect();
    let b: Vec<f16> = stream.reals(64).into_iter().map(f16::from_f32).collect();
    let raw = |v: &[f16]| bytes(&v.iter().map(|h| h.to_bits()).collect::<Vec<_>>());
    let mut launch = Launch::new(&program);
    let (ba, bb) = (
        launch.add_buffer("a", raw(&a)),
        launch.add_buffer("b", raw(&b)),
    );
    let (out, bf) = (
        launch.add_buffer("out", vec![0; 128]),
        launch.add_buffer("bf", vec![0; 128]),
    );
    launch.args = vec![
        Arg::buffer(ba),
        Arg::buffer(bb),
        Arg::buffer(out),
        Arg::buffer(bf),
        Arg::scalar(32i32.to_le_bytes()),
    ];
    launch.block = [32, 1, 1];
    run(&mut launch);
    let (got, got_bf): (Vec<u16>, Vec<u16>) = (
        values(&launch.buffers[out].bytes),
        values(&launch.buffers[bf].bytes),
    );
    for i in 0..64 {
        let exact = a[i].to_f64() * b[i].to_f64() + 0.5;
        assert_eq!(got[i], f16::from_f64(exact).to_bits());
        let want = if i % 2 == 0 {
            a[i].to_f32() * 3.0
        } else {
            a[i].to_f32() / 7.0
        };
        assert_eq!(got_bf[i], bf16::from_f32(want).to_bits());
    }
}

#[test]
fn double_precision_library() {
    let program = program("basic", ARCH, "doubles");
    let x: Vec<f64> = (0..32).map(|i| f64::from(i - 16) * 1.37 + 0.01).collect();
    let mut launch = Launch::new(&program);
    let (a, b) = (
        launch.add_buffer("x", bytes(&x)),
        launch.add_buffer("out", vec![0; 256]),
    );
    launch.args = vec![
        Arg::buffer(a),
        Arg::buffer(b),
        Arg::scalar(32i32.to_le_bytes()),
    ];
    launch.block = [32, 1, 1];
    run(&mut launch);
    for (x, got) in x.iter().zip(values::<f64>(&launch.buffers[b].bytes)) {
        let want =
            x.sin() * x.abs().sqrt() + x.abs().powf(0.3) / (1.0 + x * x) + (x.abs() + 1.0).ln();
        assert!(
            (got - want).abs() <= 1e-13 * want.abs().max(1.0),
            "{x}: {got} {want}"
        );
    }
}

#[test]
fn integer_zoo() {
    let program = program("basic", ARCH, "integers");
    let mut stream = Stream(6);
    let a: Vec<i64> = (0..32).map(|i| stream.bits() as i64 >> (i % 20)).collect();
    let b: Vec<i64> = (0..32)
        .map(|i| stream.bits() as i64 >> (i * 2 % 50) | 1)
        .collect();
    let mut launch = Launch::new(&program);
    let (ba, bb) = (
        launch.add_buffer("a", bytes(&a)),
        launch.add_buffer("b", bytes(&b)),
    );
    let out = launch.add_buffer("out", vec![0; 256]);
    launch.args = vec![Arg::buffer(ba), Arg::buffer(bb), Arg::buffer(out)];
    launch.block = [32, 1, 1];
    run(&mut launch);
    for (i, got) in values::<i64>(&launch.buffers[out].bytes)
        .into_iter()
        .enumerate()
    {
        let (x, y) = (a[i], b[i]);
        let pool = (y as u32 as u64) << 32 | x as u32 as u64;
        let byte = |n: u32| pool >> (8 * n) & 0xff;
        let perm = byte(5) | byte(1) << 8 | byte(7) << 16 | byte(3) << 24;
        let funnel = (pool << 7 >> 32) as u32;
        let s24 = |v: i64| i64::from((v as i32) << 8 >> 8);
        let mul24 = (s24(x) * s24(y)) as i32;
        let dp4a = (0..4)
            .map(|k| i32::from((x >> (8 * k)) as i8) * i32::from((y >> (8 * k)) as i8))
            .sum::<i32>()
            + 5;
        let high = ((u128::from(x as u64) * u128::from(y as u64)) >> 64) as i64;
        let want = (x / y)
            ^ (x % y)
            ^ high
            ^ i64::from(x.count_ones())
            ^ i64::from(y.leading_zeros())
            ^ i64::from((x as u32).reverse_bits() as i32)
            ^ i64::from(perm as u32)
            ^ i64::from(funnel)
            ^ i64::from(mul24)
            ^ i64::from(dp4a)
            ^ i64::from((x as i32).min(y as i32))
            ^ i64::from(if x == 0 { 0 } else { x.trailing_zeros() + 1 });
        assert_eq!(got, want, "{i}");
    }
}

#[test]
fn votes_and_block_reductions() {
    let program = program("basic", ARCH, "votes");
    let x: Vec<i32> = (0..64).map(|i| i * 7 % 11).collect();
    let mut launch = Launch::new(&program);
    let (a, b) = (
        launch.add_buffer("x", bytes(&x)),
        launch.add_buffer("out", vec![0; 256]),
    );
    launch.args = vec![Arg::buffer(a), Arg::buffer(b)];
    launch.block = [64, 1, 1];
    run(&mut launch);
    let count = x.iter().filter(|&&v| v > 3).count() as u32;
    for (i, got) in values::<u32>(&launch.buffers[b].bytes)
        .into_iter()
        .enumerate()
    {
        let warp = &x[i / 32 * 32..][..32];
        let mask = |f: &dyn Fn(i32) -> bool| {
            warp.iter()
                .enumerate()
                .filter(|(_, v)| f(**v))
                .fold(0u32, |m, (l, _)| m | 1 << l)
        };
        let sum: i32 = warp.iter().sum();
        let want = mask(&|v| v & 1 == 1)
            ^ mask(&|v| v == x[i]).wrapping_mul(3)
            ^ (sum as u32 * 5)
            ^ 7
            ^ (count * 11);
        assert_eq!(got, want, "{i}");
    }
}

#[test]
fn dynamic_shared_memory() {
    let program = program("basic", ARCH, "reverse_dynamic");
    let x: Vec<i32> = (0..100).collect();
    let mut launch = Launch::new(&program);
    let a = launch.add_buffer("x", bytes(&x));
    launch.args = vec![Arg::buffer(a)];
    launch.block = [100, 1, 1];
    let fault = launch.run().unwrap_err().to_string();
    assert!(
        fault.contains("shared access") && fault.contains("out of bounds"),
        "{fault}"
    );
    launch.dynamic_shared = 400;
    run(&mut launch);
    assert_eq!(
        values::<i32>(&launch.buffers[a].bytes),
        (0..100).rev().collect::<Vec<_>>()
    );
}

#[test]
fn spin_lock_makes_progress_in_one_warp() {
    let program = program("basic", ARCH, "spin_lock");
    let mut launch = Launch::new(&program);
    let out = launch.add_buffer("out", vec![0; 8]);
    launch.args = vec![Arg::buffer(out)];
    (launch.grid, launch.block) = ([2, 1, 1], [64, 1, 1]);
    launch.max_steps = 10_000_000;
    let report = run(&mut launch);
    assert_eq!(values::<i32>(&launch.buffers[out].bytes), [0, 128 * 25]);
    let counter = report
        .variables
        .iter()
        .find(|(name, _)| name == "counter")
        .unwrap();
    assert_eq!(values::<i32>(&counter.1), [128]);
}

#[test]
fn printf() {
    let program = program("basic", ARCH, "say");
    let mut launch = Launch::new(&program);
    launch.args = vec![Arg::scalar(5i32.to_le_bytes())];
    launch.block = [2, 1, 1];
    assert_eq!(
        run(&mut launch).output,
        "block 0 thread 0:  2.50 ok\nblock 0 thread 1:  2.50 ok\n"
    );
}

#[test]
fn out_of_bounds_names_kernel_lane_and_buffer() {
    let program = program("basic", ARCH, "out_of_bounds");
    let mut launch = Launch::new(&program);
    let x = launch.add_buffer("weights", vec![0; 64]);
    launch.args = vec![Arg::buffer(x), Arg::scalar(10i32.to_le_bytes())];
    launch.block = [32, 1, 1];
    let fault = launch.run().unwrap_err().to_string();
    assert!(
        fault.contains("`out_of_bounds`")
            && fault.contains("lane 6")
            && fault.contains("0 bytes past the end of `weights`"),
        "{fault}"
    );
}
