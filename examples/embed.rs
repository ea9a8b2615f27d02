//! Compile Tile IR bytecode inside another program: PTX and how to launch it.
//!
//!     cargo run --example embed

use std::error::Error;

use tilec::compile::{Compiler, Kernel, Options};
use tilec::input;
use tilec::ir::Diagnostics;

/// Kernels in cuTile Python, as the `cuda-tile` package encodes them.
const MODULES: [&[u8]; 2] = [
    include_bytes!("../tests/corpus/bytecode/vadd/f32.tilebc"),
    include_bytes!("../tests/corpus/bytecode/matmul/f16_128x128x64.tilebc"),
];

pub fn main() -> Result<(), Box<dyn Error>> {
    for target in ["sm_80", "sm_90a"] {
        // A compiler reads its rules and tables once; any number of threads may use it.
        let compiler = Compiler::new(Options::new(target.parse()?))?;
        let kernels: Vec<Result<Kernel, Diagnostics>> = std::thread::scope(|scope| {
            // What the bytes say is verified before anything is made of them.
            let compile = |bytes| compiler.compile(input::bytecode(bytes)?);
            let threads = MODULES.map(|bytes| scope.spawn(move || compile(bytes)));
            let join = |t: std::thread::ScopedJoinHandle<'_, _>| t.join().expect("no panic");
            threads.into_iter().map(join).collect()
        });
        for kernel in kernels {
            report(target, &kernel?);
        }
    }
    Ok(())
}

/// What a launcher has to know.
fn report(target: &str, kernel: &Kernel) {
    for entry in &kernel.manifest.entries {
        println!(
            "{target}: {} takes {} parameters and {} tensor maps; {} threads a block, {} bytes of dynamic shared memory",
            entry.name,
            entry.params.len(),
            entry.tensor_maps.len(),
            entry.block.iter().product::<u32>(),
            entry.shared_bytes,
        );
    }
    println!("{target}: {} lines of PTX", kernel.ptx.lines().count());
}
