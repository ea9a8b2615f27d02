//! Parse and verify a module: what is wrong with it, and where.
//!
//!     cargo run --example verify

use std::error::Error;

use tilec::{asm, bytecode, input, verify};

const RIGHT: &str = "
entry @twice(%x: tile<ptr<f32>>) {
  %value, %loaded = load_ptr_tko weak %x : tile<ptr<f32>> -> tile<f32>, token
  %sum = addf %value, %value rounding<nearest_even> : tile<f32>
  %stored = store_ptr_tko weak %x, %sum token=%loaded : tile<ptr<f32>>, tile<f32> -> token
  return
}";

/// Integer addition of floats.
const WRONG: &str = "
entry @twice(%x: tile<ptr<f32>>) {
  %value, %loaded = load_ptr_tko weak %x : tile<ptr<f32>> -> tile<f32>, token
  %sum = addi %value, %value : tile<f32>
  return
}";

pub fn main() -> Result<(), Box<dyn Error>> {
    let module = asm::parse(RIGHT)?;
    verify::verify(&module)?;
    // Text and bytecode are two forms of one module.
    let bytes = bytecode::write(&module, "13.3".parse()?)?;
    let again = input::bytecode(&bytes)?;
    assert_eq!(asm::print_pretty(&again), asm::print_pretty(&module));
    println!("{} bytes of bytecode are valid", bytes.len());

    let diagnostics = match asm::parse(WRONG).map_err(Into::into) {
        Ok(module) => verify::verify(&module).err(),
        Err(error) => Some(error),
    };
    let Some(diagnostics) = diagnostics else {
        return Err("an addi on f32 was accepted".into());
    };
    for diagnostic in &diagnostics.0 {
        println!("{diagnostic}");
    }
    Ok(())
}
