//! `tilec view`: a page that shows a module's way through the compiler.

use std::path::{Path, PathBuf};

use super::options::CompileArgs;
use super::run::simulate::{self, Simulation};
use super::run::{parse_arguments, parse_grid};
use super::{Outcome, input, output};
use crate::compile::Options;
use crate::ir::{Diagnostic, Diagnostics};
use crate::ptx::Debug;
use crate::ptxas;
use crate::view::{Disassembly, View};

#[derive(clap::Args)]
pub struct Args {
    /// Bytecode or text file, `-` for standard input.
    input: PathBuf,
    /// Where the page goes, `-` for standard output.
    #[arg(short, long, default_value = "-")]
    output: PathBuf,
    #[command(flatten)]
    compile: CompileArgs,
    /// Where the files are that the module's locations name, if not where they say.
    #[arg(long)]
    source_dir: Option<PathBuf>,
    /// The `ptxas` to assemble with, which has an `nvdisasm` beside it; found as for `compile --emit cubin`.
    #[arg(long)]
    ptxas: Option<PathBuf>,
    /// Also simulate a launch of so many tile blocks (X, X,Y or X,Y,Z) and draw it.
    #[arg(long, value_name = "GRID", value_parser = parse_grid)]
    run: Option<[u32; 3]>,
    /// The entry to launch; not needed when the module has one.
    #[arg(long, requires = "run")]
    entry: Option<String>,
    /// How the simulator interleaves warps and completes asynchronous work.
    #[arg(long, default_value_t = 1, requires = "run")]
    seed: u64,
    /// One per parameter of the entry, as for `tilec run`; nothing is written back.
    #[arg(long = "arg", allow_hyphen_values = true, requires = "run")]
    args: Vec<String>,
}

pub fn run(args: &Args) -> Outcome {
    let options = args.compile.options()?;
    let data = input::bytes(&args.input)?;
    let read = || input::verified_from(&args.input, &data);
    let name = args.input.file_name().unwrap_or_default();
    let mut view = View::new(&name.to_string_lossy(), read, &options)?;
    match machine_code(args, &options, &view.kernel.ptx) {
        Ok(text) => view.disassembly(&text),
        // A page without machine code is of use, too; one with a mistake in what was asked for is not.
        Err(why) if args.ptxas.is_some() => return Err(why),
        Err(why) => view.note(&format!("machine code: {}", first(&why))),
    }
    if let Some(grid) = args.run {
        let simulation = Simulation {
            entry: args.entry.as_deref(),
            grid,
            options: Options {
                debug: Debug::Lines,
                ..options.clone()
            },
            selector: None,
            seed: args.seed,
            draws: true,
            times: None,
        };
        let mut arguments = parse_arguments(&args.args)?;
        let ran = simulate::run(&simulation, read()?, &mut arguments)?;
        if let Some(picture) = ran.picture {
            view.timeline(picture);
        }
    }
    let page = view.page(&|file| source(args, file));
    output::write(&args.output, page.as_bytes())
}

fn machine_code(args: &Args, options: &Options, ptx: &str) -> Result<Disassembly, Diagnostics> {
    let assembler = ptxas::find(args.ptxas.as_deref())?;
    let program = ptxas::disassembler(&assembler)
        .ok_or_else(|| Diagnostic::error("there is no nvdisasm beside ptxas"))?;
    let cubin = ptxas::assemble(&assembler, ptx, options.target, &["-lineinfo"])?;
    let text = |flags: &[&str]| ptxas::disassemble(&program, &cubin, flags);
    Ok(Disassembly {
        source: text(&["-c", "-gi"])?,
        ptx: text(&["-c", "-gp"])?,
        live: text(&["-c", "-plr", "-lrm", "count"])?,
    })
}

fn first(diagnostics: &Diagnostics) -> String {
    let first = diagnostics.0.first();
    first.map(|d| d.message.clone()).unwrap_or_default()
}

/// The text of a file of the source: as its location names it, or by its name in the directory given.
fn source(args: &Args, file: &str) -> Option<String> {
    let named = Path::new(file);
    let path = match &args.source_dir {
        Some(folder) => folder.join(named.file_name()?),
        None => named.to_owned(),
    };
    std::fs::read_to_string(path).ok()
}
