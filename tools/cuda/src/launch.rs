//! Kernels run: arguments to parameters, hidden tensor maps from the manifest, the simulator, and what it says.

mod evaluate;

use crate::call::refuse;
use crate::context::Context;
use crate::image::line;
use crate::memory;
use crate::module::{Kernel, Module};
use crate::settings::{Engine, say, settings};
use crate::status::{Result, Status};
use ptxsim::exec::env::Checks;
use ptxsim::program::Program;
use ptxsim::{Arg, LaunchError};
use std::io::Write;
use std::sync::{Arc, Mutex};

/// A kernel with all that it is launched with.
#[derive(Clone)]
pub struct Launch {
    /// what to run
    pub kernel: Arc<Kernel>,
    /// blocks
    pub grid: [u32; 3],
    /// threads of a block; a Tile IR kernel knows its own
    pub block: [u32; 3],
    /// blocks of a cluster, if the launch says
    pub cluster: Option<[u32; 3]>,
    /// bytes of dynamic shared memory; a Tile IR kernel knows its own
    pub shared: u32,
    /// all blocks are there at once
    pub cooperative: bool,
    /// bytes of each parameter that the caller passes
    pub arguments: Vec<Vec<u8>>,
}

/// Runs a launch to its end.
pub fn run(launch: &Launch, context: &Context) -> Result {
    context.healthy()?;
    let kernel = &launch.kernel;
    let module = kernel.module.upgrade().ok_or(Status::INVALID_HANDLE)?;
    match (settings().engine, &module.image.tile) {
        (Engine::None, _) => return Ok(()),
        (Engine::Eval, Some(tile)) => {
            let evaluated = pool()?.install(|| evaluate::run(launch, tile));
            return evaluated.inspect_err(|status| context.fail(*status));
        }
        _ => {}
    }
    let program = kernel.program()?;
    let memory = memory::snapshot();
    let mut sim = ptxsim::Launch::new(&program);
    sim.lent = Arc::clone(&memory.regions);
    sim.grid = launch.grid;
    sim.max_steps = settings().max_steps;
    sim.checks = match settings().checks {
        true => Checks::ALL,
        false => Checks::NONE,
    };
    sim.cooperative |= launch.cooperative;
    if let Some(entry) = &kernel.manifest {
        (sim.block, sim.cluster) = (entry.block, entry.cluster);
        sim.dynamic_shared = entry.shared_bytes;
    } else {
        sim.block = launch.block;
        sim.cluster = launch.cluster.unwrap_or(sim.cluster);
        sim.dynamic_shared = launch.shared;
    }
    sim.args = arguments(launch, &program)?;
    let one = sim.clusters() == 1;
    let outcome = match one {
        // A single cluster needs no other thread.
        true => sim.run(),
        false => pool()?.install(|| sim.run()),
    };
    let printed = match &outcome {
        Ok(report) => report.output.as_str(),
        Err(_) => sim.printed.as_str(),
    };
    print(printed);
    match outcome {
        Ok(_) => Ok(()),
        Err(error) => {
            let status = explain(&error, &module);
            if matches!(error, LaunchError::Fault(_)) {
                context.fail(status);
            }
            Err(status)
        }
    }
}

/// The simulator's arguments: the caller's, then the tensor maps that the manifest asks for.
fn arguments(launch: &Launch, program: &Program) -> Result<Vec<Arg>> {
    let own: Vec<Arg> = launch.arguments.iter().cloned().map(Arg::Scalar).collect();
    let Some(entry) = &launch.kernel.manifest else {
        return Ok(own);
    };
    let mut all = own.clone();
    for map in &entry.tensor_maps {
        let built = ptxsim::arguments::tensor_map(map, &own);
        let built = built.or_else(|why| {
            let name = &program.entry;
            refuse(
                Status::INVALID_VALUE,
                format_args!("kernel `{name}`: parameter {}: {why}", map.param),
            )
        })?;
        all.push(Arg::TensorMap(built));
    }
    Ok(all)
}

/// What a kernel printed appears on standard output, as a GPU's driver does it.
fn print(text: &str) {
    if text.is_empty() {
        return;
    }
    let mut out = std::io::stdout().lock();
    // Nobody may be reading.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Says what went wrong, and which of the driver's errors it is.
fn explain(error: &LaunchError, module: &Module) -> Status {
    let (status, at) = match error {
        LaunchError::Fault(fault) => {
            let says = |words: &str| fault.message.contains(words);
            let status = if says("out of bounds") || says("is not global") {
                Status::ILLEGAL_ADDRESS
            } else if says("misaligned") {
                Status::MISALIGNED_ADDRESS
            } else if says("assertion failed") {
                Status::ASSERT
            } else if says("still running after") {
                Status::LAUNCH_TIMEOUT
            } else {
                Status::LAUNCH_FAILED
            };
            (status, line(&module.image.text, fault.line))
        }
        LaunchError::Bad(why) if why.contains("cooperative") => {
            (Status::COOPERATIVE_LAUNCH_TOO_LARGE, String::new())
        }
        _ => (Status::INVALID_VALUE, String::new()),
    };
    say(format_args!("{error}{at}"));
    status
}

/// The threads that run blocks. A process that was forked has none of its parent's, and makes its own.
fn pool() -> Result<Arc<rayon::ThreadPool>> {
    static POOL: Mutex<Option<(u32, Arc<rayon::ThreadPool>)>> = Mutex::new(None);
    let mut pool = POOL.lock().unwrap_or_else(|p| p.into_inner());
    let process = std::process::id();
    if let Some((owner, threads)) = &*pool
        && *owner == process
    {
        return Ok(Arc::clone(threads));
    }
    let threads = rayon::ThreadPoolBuilder::new()
        .thread_name(|i| format!("tilec-emulate-{i}"))
        .build();
    let threads = Arc::new(threads.or(Err(Status::LAUNCH_OUT_OF_RESOURCES))?);
    // The parent's pool has no threads here that could end: dropping it would wait for them.
    let old = pool.replace((process, Arc::clone(&threads)));
    std::mem::forget(old);
    Ok(threads)
}
