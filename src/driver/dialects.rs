//! `tilec dialects`: what operations there are.

use std::path::{Path, PathBuf};

use super::{Outcome, output};
use crate::dialect::Dialect;
use crate::ir::Diagnostic;

/// Lists the operations of the dialects, or writes their reference pages.
#[derive(clap::Args)]
pub struct Args {
    /// Only this one: cuda_tile, nv_tileaa, nv_tileas or nvvm.
    dialect: Option<String>,
    /// Reference pages in Markdown, as docs/dialects/ has them.
    #[arg(long)]
    markdown: bool,
    /// Write a page for each dialect into this folder instead of to standard output.
    #[arg(short, long, requires = "markdown")]
    output: Option<PathBuf>,
}

pub fn run(args: &Args) -> Outcome {
    let dialects = match &args.dialect {
        None => Dialect::ALL.to_vec(),
        Some(name) => vec![Dialect::by_name(name).ok_or_else(|| {
            Diagnostic::error(format!("there is no dialect '{name}'"))
                .note("there are cuda_tile, nv_tileaa, nv_tileas and nvvm")
        })?],
    };
    for dialect in dialects {
        match (&args.output, args.markdown) {
            (Some(folder), _) => {
                let page = folder.join(dialect.name()).with_extension("md");
                output::write(&page, dialect.markdown().as_bytes())?;
            }
            (None, true) => output::write(Path::new("-"), dialect.markdown().as_bytes())?,
            (None, false) => list(dialect)?,
        }
    }
    Ok(())
}

fn list(dialect: Dialect) -> Outcome {
    for def in dialect.table() {
        output::line(format_args!("{}.{}  {}", dialect.name(), def.name, def.doc))?;
    }
    Ok(())
}
