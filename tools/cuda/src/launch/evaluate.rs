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
    // Variables are those of the loaded module, which the host sees, too, and which launches leave to those behind them.
    let loaded = launch.kernel.module.upgrade();
    let variable = |name: &str| loaded.as_ref()?.variable(name).ok().map(|v| v.0);
    let globals = module.block(module.body).ops.iter();
    let globals = globals.filter_map(|&op| {
        let global = tilec::dialect::cuda_tile::view::Global::of(module.op(op))?;
        let name = module.str(global.sym_name()).to_owned();
        Some((variable(&name)?, name))
    });
    let globals: Vec<(u64, String)> = globals.collect();
    let mut memory = Memory::default();
    let lent = memory::snapshot();
    memory.lend(Arc::clone(&lent.regions));
    let placed = |name: &str| globals.iter().find(|g| g.1 == name).map(|g| g.0);
    let program = Program::with_globals(&module, Some(&name), &mut memory, &placed);
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
