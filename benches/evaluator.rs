//! The interpreter on whole kernels.

use divan::Bencher;
use tilec::bytecode;
use tilec::eval::{Argument, Elem, Hooks, Launch, Memory, Program};

fn main() {
    divan::main();
}

/// Rows, columns and depth of the product.
const N: usize = 1024;

/// `tests/corpus/matmul.py` on matrices of f16, 1024 × 1024 × 1024: the aim is 10 s on two cores.
#[divan::bench(args = ["f16_64x64x32", "f16_128x128x64"], sample_count = 1)]
fn matmul(bencher: Bencher, case: &str) {
    let file = format!(
        "{}/tests/corpus/bytecode/matmul/{case}.tilebc",
        env!("CARGO_MANIFEST_DIR")
    );
    let module = bytecode::read(&std::fs::read(file).expect("a file")).expect("a module");
    let tile: u32 = case[4..]
        .split('x')
        .next()
        .and_then(|n| n.parse().ok())
        .expect("a tile");
    // 1.0 and 0.5 in turn.
    let ones: Vec<u8> = [0x00, 0x3c, 0x00, 0x38].repeat(N * N / 2);
    let mut memory = Memory::default();
    let program = Program::new(&module, None, &mut memory).expect("a program");
    let int = |value: usize| Argument::Scalar {
        elem: Elem::Int(32),
        bits: value as u64,
    };
    let mut arguments = Vec::new();
    for name in ["a", "b", "c"] {
        arguments.push(Argument::Pointer(memory.add(name, &ones).expect("room")));
        arguments.extend([int(N), int(N), int(N), int(1)]);
    }
    let blocks = N as u32 / tile;
    let launch = Launch {
        grid: [blocks * blocks, 1, 1],
        arguments,
    };
    bencher.bench_local(|| {
        let hooks = Hooks {
            output: &mut std::io::sink(),
            progress: &|_| (),
            steps: u64::MAX,
        };
        program.run(&launch, &memory, hooks).expect("a run")
    });
}
