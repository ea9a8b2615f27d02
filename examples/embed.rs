//! Compile Tile IR bytecode inside another program: PTX and how to launch it.
//!
//!     cargo run --example embed

use std::error::Error;

use tilec::compile::{Options, to_ptx};
use tilec::input;

/// An f16 matmul in cuTile Python, as the `cuda-tile` package encodes it.
const MATMUL: &[u8] = include_bytes!("../tests/corpus/bytecode/matmul/f16_128x128x64.tilebc");

pub fn main() -> Result<(), Box<dyn Error>> {
    for name in ["sm_80", "sm_90a"] {
        let options = Options::new(name.parse()?);
        // What the bytes say is checked before anything is made of them.
        let module = input::bytecode(MATMUL)?;
        let kernel = to_ptx(module, &options)?;
        for entry in &kernel.manifest.entries {
            println!(
                "{name}: {} takes {} parameters, {} of them tensor maps; {} threads a block, {} bytes of dynamic shared memory",
                entry.name,
                entry.params.len() + entry.tensor_maps.len(),
                entry.tensor_maps.len(),
                entry.block.iter().product::<u32>(),
                entry.shared_bytes,
            );
        }
        println!("{name}: {} lines of PTX", kernel.ptx.lines().count());
    }
    Ok(())
}
