//! The command line: one file per subcommand.

mod assemble;
mod compile;
mod convert;
mod dialects;
mod dis;
mod dropin;
mod emulate;
mod explain;
mod input;
mod launch;
mod links;
mod options;
mod output;
mod report;
mod rules;
mod run;
mod selector;
mod verify;
mod view;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::ir::Diagnostics;
use dropin::Tool;

/// An open compiler from CUDA Tile IR to PTX.
#[derive(Parser)]
#[command(name = "tilec", version)]
struct Cli {
    /// How errors are written to standard error.
    #[arg(long, global = true, value_enum, default_value_t)]
    diagnostics: report::Format,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Turn text into bytecode.
    As(assemble::Args),
    /// Write a module for another bytecode version.
    Convert(convert::Args),
    /// Compile bytecode to PTX, or to any stage on the way.
    Compile(compile::Args),
    /// Say what was decided about each kernel: schedule, layouts, rules and costs.
    Explain(explain::Args),
    /// List the operations of the dialects.
    Dialects(dialects::Args),
    /// Print bytecode as text.
    Dis(dis::Args),
    /// Run a program with an emulated CUDA driver in front.
    Emulate(emulate::Args),
    /// Run a program on a GPU, with tilec in front of the driver.
    Launch(launch::Args),
    /// List or check the rewrite rules.
    Rules(rules::Args),
    /// Launch a kernel on buffers from files.
    Run(run::Args),
    /// Write a page that shows source, stages, PTX and machine code side by side, and what was decided.
    View(view::Args),
    /// Check a module against every rule of its dialect.
    Verify(verify::Args),
    /// Put `tileiras` and `tileirdisasm`, links to this program, into a folder.
    InstallLinks(links::Args),
    /// Assemble as CUDA's `tileiras` does, with its options.
    #[command(disable_help_flag = true)]
    Tileiras(Rest),
    /// Disassemble as CUDA's `tileirdisasm` does, with its options.
    #[command(disable_help_flag = true)]
    Tileirdisasm(Rest),
}

/// Arguments that another parser reads.
#[derive(clap::Args)]
struct Rest {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

/// What a subcommand returns: everything that was wrong.
type Outcome = Result<(), Diagnostics>;

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    if let Some(code) = stand_in() {
        return code;
    }
    let cli = Cli::parse();
    let outcome = match &cli.command {
        Command::As(args) => assemble::run(args),
        Command::Convert(args) => convert::run(args),
        Command::Compile(args) => compile::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Dialects(args) => dialects::run(args),
        Command::Dis(args) => dis::run(args),
        Command::Emulate(args) => emulate::run(args),
        Command::Launch(args) => launch::run(args),
        Command::Rules(args) => rules::run(args),
        Command::Run(args) => run::run(args),
        Command::Verify(args) => verify::run(args, cli.diagnostics),
        Command::View(args) => view::run(args),
        Command::InstallLinks(args) => links::run(args),
        Command::Tileiras(rest) => return Tool::Tileiras.run("tileiras", &rest.args),
        Command::Tileirdisasm(rest) => return Tool::Tileirdisasm.run("tileirdisasm", &rest.args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(diagnostics) => {
            report::print(&diagnostics, cli.diagnostics);
            ExitCode::FAILURE
        }
    }
}

/// Runs as one of CUDA's tools, if that is the name of this process or its first argument. Their
/// command lines are not read as ours are.
fn stand_in() -> Option<ExitCode> {
    let mut args = std::env::args_os();
    let program = args.next()?;
    let rest: Vec<String> = args.map(|a| a.to_string_lossy().into_owned()).collect();
    if let Some(tool) = Tool::of(&program) {
        return Some(tool.run(&program.to_string_lossy(), &rest));
    }
    let (first, rest) = rest.split_first()?;
    let tool = Tool::ALL.into_iter().find(|tool| tool.name() == first)?;
    Some(tool.run(tool.name(), rest))
}
