//! How fast the simulator is: thread instructions per second on one core, and a product on the tensor cores of Hopper.
//! `cargo bench -p ptxsim`; the `fast` lines leave out the race and initialisation checks as `--fast` does.

mod kernels;

use divan::Bencher;
use divan::counter::ItemsCount;
use ptxsim::exec::env::Checks;
use ptxsim::tensormap::{Element, MapBase, Swizzle, TensorMap};
use ptxsim::{Arg, Launch, Module};

fn main() {
    divan::main();
}

/// Runs a kernel of 8 blocks of 256 threads with a buffer; counts thread instructions.
fn straight(bencher: Bencher<'_, '_>, text: &str, checks: Checks, cores: usize) {
    let program = Module::new(text).and_then(|m| m.entry(None)).unwrap();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(cores)
        .build()
        .unwrap();
    let run = || {
        let mut launch = Launch::new(&program);
        let buffer = launch.add_buffer("x", vec![0; 4 * 8 * 256 * 16]);
        launch.args = vec![Arg::buffer(buffer)];
        (launch.grid, launch.block, launch.checks) = ([8, 1, 1], [256, 1, 1], checks);
        pool.install(|| launch.run()).unwrap().stats
    };
    let instructions = run().thread_instructions;
    bencher.counter(ItemsCount::new(instructions)).bench(run);
}

#[divan::bench(args = ["integer", "float", "half", "memory"], sample_count = 5, sample_size = 1)]
fn one_core_fast(bencher: Bencher<'_, '_>, kind: &str) {
    straight(bencher, &kernels::straight(kind), Checks::NONE, 1);
}

#[divan::bench(args = ["integer", "float", "half", "memory"], sample_count = 5, sample_size = 1)]
fn one_core_checked(bencher: Bencher<'_, '_>, kind: &str) {
    straight(bencher, &kernels::straight(kind), Checks::ALL, 1);
}

/// 512 × 512 × 512 in f16 with TMA, mbarriers and wgmma, on two cores.
fn matmul(bencher: Bencher<'_, '_>, checks: Checks) {
    const N: usize = 512;
    let program = Module::new(kernels::matmul())
        .and_then(|m| m.entry(None))
        .unwrap();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .build()
        .unwrap();
    // Small integers: every sum is exact.
    let value = |i: usize, j: usize, salt: usize| ((i * 7 + j * 13 + salt) % 9) as f32 - 4.0;
    let half = |salt: usize| -> Vec<u8> {
        let element = |x: usize| half::f16::from_f32(value(x / N, x % N, salt)).to_le_bytes();
        (0..N * N).flat_map(element).collect()
    };
    let (a, b) = (half(0), half(5));
    let map = |index: usize, rows: u32| {
        let base = MapBase::Buffer { index, offset: 0 };
        let mut map = TensorMap::tiled(base, Element::F16, &[512, 512], &[1024], &[64, rows]);
        map.swizzle = Swizzle::B128;
        Arg::TensorMap(map)
    };
    let run = || {
        let mut launch = Launch::new(&program);
        launch.add_buffer("a", a.clone());
        launch.add_buffer("b", b.clone());
        let c = launch.add_buffer("c", vec![0; 4 * N * N]);
        launch.args = vec![map(0, 64), map(1, 128), Arg::buffer(c)];
        (launch.grid, launch.checks) = ([4, 8, 1], checks);
        pool.install(|| launch.run()).unwrap();
        launch.buffers.swap_remove(c).bytes
    };
    let result = run();
    for (i, j) in [(0, 0), (1, 2), (100, 300), (511, 511), (63, 128)] {
        let want: f32 = (0..N).map(|k| value(i, k, 0) * value(j, k, 5)).sum();
        let at = 4 * (i * N + j);
        let got = f32::from_le_bytes(result[at..at + 4].try_into().unwrap());
        assert_eq!(got, want, "element {i}, {j}");
    }
    bencher.counter(ItemsCount::new(N * N * N)).bench(run);
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn wgmma_512_fast(bencher: Bencher<'_, '_>) {
    matmul(bencher, Checks::NONE);
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn wgmma_512_checked(bencher: Bencher<'_, '_>) {
    matmul(bencher, Checks::ALL);
}
