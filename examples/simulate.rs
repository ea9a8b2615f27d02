//! Compile a kernel and run its PTX in the simulator, with every check of the simulator on.
//!
//!     cargo run --example simulate

use std::error::Error;

use ptxsim::{Arg, Buffer, Launch};
use tilec::asm;
use tilec::compile::{Options, to_ptx};

/// Block `b` doubles elements 128·b to 128·b + 127.
const TWICE: &str = "
entry @twice(%x: tile<ptr<f32>>) {
  %block, %by, %bz = get_tile_block_id : tile<i32>
  %size = constant <i32: 128> : tile<i32>
  %first = muli %block, %size : tile<i32>
  %start = offset %x, %first : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
  %one = reshape %start : tile<ptr<f32>> -> tile<1xptr<f32>>
  %all = broadcast %one : tile<1xptr<f32>> -> tile<128xptr<f32>>
  %numbers = iota : tile<128xi32>
  %at = offset %all, %numbers : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
  %value, %loaded = load_ptr_tko weak %at : tile<128xptr<f32>> -> tile<128xf32>, token
  %sum = addf %value, %value rounding<nearest_even> : tile<128xf32>
  %stored = store_ptr_tko weak %at, %sum token=%loaded : tile<128xptr<f32>>, tile<128xf32> -> token
  return
}";

pub fn main() -> Result<(), Box<dyn Error>> {
    const BLOCKS: u32 = 4;
    let kernel = to_ptx(asm::parse(TWICE)?, &Options::new("sm_80".parse()?))?;
    let entry = kernel.manifest.entries.first().ok_or("no entry")?;

    let ptx = ptxsim::Module::new(kernel.ptx)?;
    let program = ptx.entry(Some(&entry.name))?;
    let mut launch = Launch::new(&program);
    launch.grid = [BLOCKS, 1, 1];
    // The manifest has what the caller of a kernel cannot know otherwise.
    launch.block = entry.block;
    launch.cluster = entry.cluster;
    launch.dynamic_shared = entry.shared_bytes;

    let input: Vec<f32> = (0..BLOCKS * 128).map(|i| i as f32).collect();
    launch.buffers.push(Buffer {
        name: "x".into(),
        bytes: input.iter().flat_map(|x| x.to_le_bytes()).collect(),
    });
    launch.args.push(Arg::buffer(0));
    // Races, reads of uninitialised memory and hangs are errors that name the PTX line.
    let report = launch.run()?;

    let (elements, _) = launch.buffers[0].bytes.as_chunks::<4>();
    let output = elements.iter().map(|bytes| f32::from_le_bytes(*bytes));
    assert!(output.eq(input.iter().map(|x| 2.0 * x)));
    println!("right, on {BLOCKS} blocks of {} threads", entry.block[0]);
    print!("{}", report.output);
    Ok(())
}
