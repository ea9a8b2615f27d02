//! One kernel, its arguments given on the command line.

use crate::driver::Driver;
use crate::{Error, Options, compare, device, promise};
use ptxsim::arguments::Arguments;
use ptxsim::manifest::Manifest;
use ptxsim::{Launch, Module};
use std::path::Path;

fn triple(list: &[u32], otherwise: [u32; 3]) -> Result<[u32; 3], Error> {
    match list {
        [] => Ok(otherwise),
        _ if list.len() > 3 => Err("a size has at most three numbers".into()),
        _ => Ok(std::array::from_fn(|i| list.get(i).copied().unwrap_or(1))),
    }
}

/// Runs the kernel on both; true if no difference is wrong.
pub fn run(options: &Options, kernel: &Path) -> Result<bool, Error> {
    let name = kernel.display();
    let ptx = std::fs::read_to_string(kernel).map_err(|e| format!("{name}: {e}"))?;
    let program = Module::new(&*ptx)?.entry(options.entry.as_deref())?;
    let mut arguments = Arguments::default();
    for arg in &options.args {
        arguments.add(arg)?;
    }
    let mut launch = Launch::new(&program);
    if let Some(path) = &options.manifest {
        let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let manifest = Manifest::parse(&text).map_err(|e| format!("{}: {e}", path.display()))?;
        let mut entries = manifest.entries.into_iter();
        let entry = entries.find(|e| e.name == program.entry);
        let entry =
            entry.ok_or_else(|| format!("{}: no entry `{}`", path.display(), program.entry))?;
        arguments.add_tensor_maps(&entry)?;
        (launch.block, launch.cluster) = (entry.block, entry.cluster);
        launch.dynamic_shared = entry.shared_bytes;
    }
    launch.grid = triple(&options.grid, launch.grid)?;
    launch.block = triple(&options.block, launch.block)?;
    launch.cluster = triple(&options.cluster, launch.cluster)?;
    launch.dynamic_shared = options.shared.unwrap_or(launch.dynamic_shared);
    launch.cooperative |= options.cooperative;
    launch.args.clone_from(&arguments.args);
    launch.buffers.clone_from(&arguments.buffers);

    let driver = Driver::open(options.driver.as_deref())?;
    println!("{} on {}", program.entry, driver.describe()?);
    let real = device::run(&driver, &ptx, None, &launch)?;
    let open = promise::open_results(&ptx, &program);
    let mut same = true;
    for seed in 1..=options.seeds.max(1) {
        (launch.seed, launch.buffers) = (seed, arguments.buffers.clone());
        launch.run()?;
        for (simulated, bytes) in launch.buffers.iter().zip(&real.buffers) {
            if let Some(text) = compare::difference(None, simulated, bytes) {
                println!("seed {seed}: {text}");
                same = false;
            }
        }
    }
    if !same && !open.is_empty() {
        println!("PTX leaves these results open, so that differences may be legal:");
        for o in &open {
            println!("  line {}: {} is {}", o.line, o.opcode, o.reason);
        }
    }
    if same {
        println!("all buffers are the same, bit for bit");
    }
    Ok(same || !open.is_empty())
}
