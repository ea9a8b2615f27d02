//! How a module is compiled, as the commands that compile take it.

use std::path::PathBuf;

use crate::compile::{OptLevel, Options, target};
use crate::ir::Diagnostic;

#[derive(clap::Args)]
pub struct CompileArgs {
    /// Architecture to compile for.
    #[arg(long, default_value = "sm_90a")]
    gpu_name: String,
    /// Use no tensor maps: the kernel's parameters are the entry's own.
    #[arg(long)]
    no_tma: bool,
    /// 0: operations as written; 1: also simplified; 2: also loops whose loads run ahead (cp.async); 3: also
    /// warps with roles of their own (TMA).
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(0..=3))]
    opt_level: u8,
    /// Directory that replaces the compiled-in rules.
    #[arg(long)]
    rules_dir: Option<PathBuf>,
    /// Directory that replaces the compiled-in `isel/`: instructions, selection tables, peepholes.
    #[arg(long)]
    isel_dir: Option<PathBuf>,
    /// A rule, or a pass over selected instructions, that is left out; `tilec rules` lists them. May be repeated.
    #[arg(long, value_name = "NAME")]
    without: Vec<String>,
}

impl CompileArgs {
    /// # Errors
    /// An unknown target; a name that no rule and no pass has.
    pub fn options(&self) -> Result<Options, Diagnostic> {
        let options = Options {
            tma: !self.no_tma,
            opt_level: OptLevel::from_number(self.opt_level).unwrap_or_default(),
            rules_dir: self.rules_dir.clone(),
            isel_dir: self.isel_dir.clone(),
            without: self.without.clone(),
            ..Options::new(target(&self.gpu_name)?)
        };
        options.check_names()?;
        Ok(options)
    }
}
