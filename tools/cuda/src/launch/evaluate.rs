//! Tile IR kernels in the reference interpreter.

use super::{Launch, print};
use crate::memory;
use crate::settings::say;
use crate::status::{Result, Status};
use std::sync::Arc;
use tilec::eval::{Argument, Elem, Hooks, Memory, Program};

/// Runs a launch of Tile IR bytecode.
pub fn run(launch: &Launch, tile: &[u8]) -> Result {
    let name = launch.kernel.name.to_string_lossy();
    let failed = |status: Status, why: &dyn std::fmt::Display| {
        say(format_args!("kernel `{name}`: {why}"));
        status
    };
    let module = tilec::input::bytecode(tile);
    let module = module.map_err(|e| failed(Status::INVALID_IMAGE, &e))?;
    let mut memory = Memory::default();
    let lent = memory::snapshot();
    memory.lend(Arc::clone(&lent.regions));
    let program = Program::new(&module, Some(&name), &mut memory);
    let program = program.map_err(|e| failed(Status::INVALID_IMAGE, &e))?;
    let arguments = launch.arguments.iter().zip(program.parameters());
    let arguments = arguments
        .map(|(bytes, &elem)| argument(bytes, elem))
        .collect();
    let mut output = Vec::new();
    let hooks = Hooks {
        output: &mut output,
        progress: &|_| {},
        steps: u64::MAX,
    };
    let grid = launch.grid;
    let result = program.run(&tilec::eval::Launch { grid, arguments }, &memory, hooks);
    print(&String::from_utf8_lossy(&output));
    match result {
        Ok(None) => Ok(()),
        Ok(Some(assertion)) => Err(failed(Status::ASSERT, &assertion)),
        Err(e) => {
            let text = e.to_string();
            let outside = text.contains("out of bounds") || text.contains("in no buffer");
            let status = match outside {
                true => Status::ILLEGAL_ADDRESS,
                false => Status::LAUNCH_FAILED,
            };
            Err(failed(status, &text))
        }
    }
}

/// The bytes of a parameter as the interpreter takes them.
fn argument(bytes: &[u8], elem: Elem) -> Argument {
    let bits = bytes
        .iter()
        .take(8)
        .rev()
        .fold(0, |w, &b| w << 8 | u64::from(b));
    match elem {
        Elem::Ptr { .. } => Argument::Pointer(bits),
        elem => Argument::Scalar { elem, bits },
    }
}
