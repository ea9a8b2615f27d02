//! `gpu-check`: runs PTX kernels on the machine's GPU and in `ptxsim`, and compares all buffers bit for bit where PTX
//! promises the bits. One kernel takes the arguments of `ptxsim`; a suite is a folder that `pack` writes.

mod compare;
mod device;
mod driver;
mod promise;
mod single;
mod suite;

use clap::Parser;
use driver::DriverError;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// Compares PTX kernels' results on a GPU with the simulator's.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// PTX text
    #[arg(required_unless_present_any = ["suite", "worker"])]
    kernel: Option<PathBuf>,
    /// Entry to run; needed if there are several
    #[arg(long)]
    entry: Option<String>,
    /// Blocks
    #[arg(
        long,
        value_name = "X[,Y[,Z]]",
        value_delimiter = ',',
        default_value = "1"
    )]
    grid: Vec<u32>,
    /// Threads per block; the entry's .reqntid or the manifest's by default
    #[arg(long, value_name = "X[,Y[,Z]]", value_delimiter = ',')]
    block: Vec<u32>,
    /// Blocks per cluster
    #[arg(long, value_name = "X[,Y[,Z]]", value_delimiter = ',')]
    cluster: Vec<u32>,
    /// Dynamic shared memory in bytes
    #[arg(long)]
    shared: Option<u32>,
    /// Launch all blocks at once; kernels that look for the grid's workspace, as `grid.sync` does, get that anyway
    #[arg(long)]
    cooperative: bool,
    /// Launch manifest (JSON) with hidden tensor maps
    #[arg(long)]
    manifest: Option<PathBuf>,
    /// One per entry parameter, as ptxsim takes them; files are read, not written
    #[arg(long = "arg", allow_hyphen_values = true)]
    args: Vec<String>,
    /// Interleavings that the simulator runs
    #[arg(long, default_value_t = 1)]
    seeds: u64,
    /// Run all cases of a folder that `pack` wrote
    #[arg(long, value_name = "DIR", conflicts_with_all = ["kernel", "entry", "manifest", "args"])]
    suite: Option<PathBuf>,
    /// Only cases of the suite whose name has this
    #[arg(long, value_name = "TEXT", default_value = "", requires = "suite")]
    filter: String,
    /// Cases of the suite in flight at once, each in a process of its own
    #[arg(long, requires = "suite")]
    jobs: Option<usize>,
    /// Seconds after which a case of the suite is given up as hung
    #[arg(long, default_value_t = 60, requires = "suite")]
    timeout: u64,
    /// Seconds after which no further case of the suite is begun
    #[arg(long, default_value_t = 540, requires = "suite")]
    budget: u64,
    /// Write the table of the suite as JSON too
    #[arg(long, value_name = "FILE", requires = "suite")]
    report: Option<PathBuf>,
    /// Library with the functions of libcuda.so.1
    #[arg(long, value_name = "FILE")]
    driver: Option<OsString>,
    /// Run cases of a suite whose numbers come on standard input (what --suite starts)
    #[arg(long, value_name = "DIR", hide = true)]
    worker: Option<PathBuf>,
}

/// Exit code where there is no GPU to compare with: nothing is wrong, nothing was checked.
const NO_DRIVER: u8 = 2;

type Error = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let options = Options::parse();
    let result = match (&options.worker, &options.suite, &options.kernel) {
        (Some(folder), ..) => suite::worker::run(folder, options.driver.as_deref()).map(|()| true),
        (_, Some(folder), _) => suite::run(&options, folder),
        (_, _, Some(kernel)) => single::run(&options, kernel),
        // clap asks for one of them.
        (None, None, None) => Ok(false),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("gpu-check: {error}");
            match error.downcast_ref::<DriverError>() {
                Some(DriverError::Missing(_)) => ExitCode::from(NO_DRIVER),
                _ => ExitCode::FAILURE,
            }
        }
    }
}
