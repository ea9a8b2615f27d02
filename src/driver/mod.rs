//! The command line: one file per subcommand.

mod assemble;
mod compile;
mod convert;
mod dis;
mod explain;
mod input;
mod output;
mod ptxas;
mod report;
mod rules;
mod run;
mod verify;

pub use compile::target;
pub use input::verified_from;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::ir::Diagnostics;

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
    /// Print bytecode as text.
    Dis(dis::Args),
    /// List or check the rewrite rules.
    Rules(rules::Args),
    /// Launch a kernel on buffers from files.
    Run(run::Args),
    /// Check a module against every rule of its dialect.
    Verify(verify::Args),
}

/// What a subcommand returns: everything that was wrong.
type Outcome = Result<(), Diagnostics>;

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match &cli.command {
        Command::As(args) => assemble::run(args),
        Command::Convert(args) => convert::run(args),
        Command::Compile(args) => compile::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Dis(args) => dis::run(args),
        Command::Rules(args) => rules::run(args),
        Command::Run(args) => run::run(args),
        Command::Verify(args) => verify::run(args, cli.diagnostics),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(diagnostics) => {
            report::print(&diagnostics, cli.diagnostics);
            ExitCode::FAILURE
        }
    }
}
