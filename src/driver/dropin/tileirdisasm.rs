//! The disassembler: bytecode to text on standard output.

use super::{Failure, is_bytecode, module, options::Line, print, read};
use crate::asm;

/// Exit codes: 1 command line, 2 input file, 3 the bytecode.
pub fn run(input: &str, line: &Line) -> Result<(), Failure> {
    let data = read(input).map_err(|e| Failure::new(2, format!("error: {e}\n")))?;
    if !is_bytecode(&data) {
        return Err(Failure::new(
            3,
            "input does not correspond to Tile IR bytecode",
        ));
    }
    let module =
        module(&data, line).map_err(|e| e.and("failed to read provided Tile IR bytecode"))?;
    print(&asm::print_disassembly(
        &module,
        line.flag("print-debug-info"),
    ));
    Ok(())
}
