//! `tilec run`: launches a kernel of a module on buffers read from files.

mod arguments;
mod progress;
pub(super) mod simulate;

use std::io::Write;
use std::path::PathBuf;

use self::arguments::Arg;
use self::progress::Progress;
use super::options::CompileArgs;
use super::{Outcome, input, output};
use crate::eval::{Argument, Hooks, Launch, Memory, Program};
use crate::ir::{Diagnostic, Module};

#[derive(clap::Args)]
pub struct Args {
    /// Bytecode or text file, `-` for standard input.
    module: PathBuf,
    /// The entry to launch; not needed when the module has one.
    #[arg(long)]
    entry: Option<String>,
    /// Tile blocks along each dimension: X, X,Y or X,Y,Z.
    #[arg(long, value_parser = parse_grid)]
    grid: [u32; 3],
    /// What runs the kernel: the reference interpreter, or the PTX simulator on what tilec compiles.
    #[arg(long, value_enum, default_value_t)]
    engine: Engine,
    #[command(flatten)]
    compile: CompileArgs,
    /// Program that selects the simulated instructions instead of tilec, from what `--emit nvvm-ir` writes: it
    /// is called as `PROGRAM IN.ll -o OUT.ptx --gpu-name TARGET`.
    #[arg(long)]
    selector: Option<PathBuf>,
    /// Estimate how long the launch takes on a GPU, and what its warps wait for (`--engine sim`).
    #[arg(long)]
    time: bool,
    /// Whose figures the estimate takes (H100-SXM, A100, RTX-4090, B200, …); by default a GPU of the target.
    #[arg(long, requires = "time")]
    gpu: Option<String>,
    /// How the simulator interleaves warps and completes asynchronous work.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// One per parameter of the entry, in order: `in:FILE.npy` or `inout:FILE.npy` (written back
    /// at the end), with `:bf16`, `:tf32`, `:f8e4m3fn`, `:f8e5m2` when the file holds raw bits;
    /// or a scalar: `i1:`, `i8:` … `i64:`, `f16:`, `f32:`, `f64:` and its value.
    #[arg(long = "arg", allow_hyphen_values = true)]
    args: Vec<String>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum Engine {
    #[default]
    Eval,
    Sim,
}

/// Largest grid extent (Tile IR, `get_tile_block_id`).
const MAX_GRID: u32 = (1 << 24) - 1;

pub(super) fn parse_grid(text: &str) -> Result<[u32; 3], String> {
    let mut grid = [1; 3];
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > 3 {
        return Err("a grid has at most three dimensions".into());
    }
    for (extent, part) in grid.iter_mut().zip(parts) {
        *extent = part
            .parse()
            .ok()
            .filter(|n| (1..=MAX_GRID).contains(n))
            .ok_or_else(|| format!("`{part}` is not between 1 and {MAX_GRID}"))?;
    }
    Ok(grid)
}

pub fn run(args: &Args) -> Outcome {
    if args.time && args.engine == Engine::Eval {
        return Err(
            Diagnostic::error("--time is an estimate of the simulator: add --engine sim").into(),
        );
    }
    let module = input::verified(&args.module)?;
    let mut arguments = parse_arguments(&args.args)?;
    let failed_assertion = match args.engine {
        Engine::Eval => evaluate(args, &module, &mut arguments)?,
        Engine::Sim => {
            let simulation = simulate::Simulation {
                entry: args.entry.as_deref(),
                grid: args.grid,
                options: args.compile.options()?,
                selector: args.selector.clone(),
                seed: args.seed,
                draws: false,
                times: args.time.then_some(args.gpu.as_deref()),
            };
            let ran = simulate::run(&simulation, module, &mut arguments)?;
            print!("{}{}", ran.printed, ran.time.unwrap_or_default());
            None
        }
    };
    for argument in &arguments {
        if let Arg::Buffer(buffer) = argument
            && buffer.write_back
        {
            output::write(&buffer.path, buffer.file())?;
        }
    }
    match failed_assertion {
        Some(assertion) => Err(assertion.into()),
        None => Ok(()),
    }
}

/// The arguments of a launch.
pub(super) fn parse_arguments(texts: &[String]) -> Result<Vec<Arg>, Diagnostic> {
    let parse = |(i, text): (usize, &String)| {
        Arg::parse(text).map_err(|e| Diagnostic::error(format!("argument {i}: {e}")))
    };
    texts.iter().enumerate().map(parse).collect()
}

/// Runs the interpreter and leaves in the buffers what memory holds afterwards. A failed assertion
/// is an outcome of the kernel, with results.
fn evaluate(
    args: &Args,
    module: &Module,
    arguments: &mut [Arg],
) -> Result<Option<Diagnostic>, Diagnostic> {
    let mut memory = Memory::default();
    let mut launch = Launch {
        grid: args.grid,
        arguments: Vec::new(),
    };
    for (i, argument) in arguments.iter().enumerate() {
        launch.arguments.push(match argument {
            &Arg::Scalar { elem, bits } => Argument::Scalar { elem, bits },
            Arg::Buffer(buffer) => {
                let address = memory.add(format!("argument {i}"), buffer.data());
                Argument::Pointer(address.map_err(Diagnostic::error)?)
            }
        });
    }
    let program = Program::new(module, args.entry.as_deref(), &mut memory)?;
    let progress = Progress::new(args.grid);
    let mut stdout = std::io::stdout();
    let result = program.run(
        &launch,
        &memory,
        Hooks {
            output: &mut stdout,
            progress: &|done| progress.set(done),
            steps: u64::MAX,
        },
    );
    progress.finish();
    // The reader of the output may be gone; that is no failure of the kernel.
    let _ = stdout.flush();
    let failed_assertion = result?;
    for (argument, value) in arguments.iter_mut().zip(&launch.arguments) {
        if let (Arg::Buffer(buffer), &Argument::Pointer(address)) = (argument, value)
            && let Some(data) = memory.bytes(address)
        {
            buffer.set_data(&data);
        }
    }
    Ok(failed_assertion)
}

#[cfg(test)]
mod tests {
    use super::parse_grid;

    #[test]
    fn grids() {
        assert_eq!(parse_grid("7"), Ok([7, 1, 1]));
        assert_eq!(parse_grid("2,3,4"), Ok([2, 3, 4]));
        for wrong in ["", "0", "1,", "1,2,3,4", "16777216", "-1", "x"] {
            assert!(parse_grid(wrong).is_err(), "{wrong}");
        }
    }
}
