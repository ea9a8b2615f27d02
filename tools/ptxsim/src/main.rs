//! `ptxsim`: runs a PTX kernel on the CPU.

mod watch;

use clap::Parser;
use ptxsim::arguments::Arguments;
use ptxsim::clock::{self, Given, Gpu, Sampling};
use ptxsim::exec::env::Checks;
use ptxsim::exec::stats::Stats;
use ptxsim::manifest::{EntryManifest, Manifest};
use ptxsim::record::{Observer, svg};
use ptxsim::{Launch, Module, Report};
use std::path::PathBuf;
use std::process::ExitCode;

/// Runs a PTX kernel on the CPU and reports what a GPU would only hang on.
#[derive(Parser)]
#[command(version, group = clap::ArgGroup::new("clocked").multiple(true))]
struct Options {
    /// PTX text
    kernel: PathBuf,
    /// Entry to run; needed if there are several
    #[arg(long)]
    entry: Option<String>,
    /// Blocks
    #[arg(long, value_name = "X[,Y[,Z]]", default_value = "1", value_parser = triple)]
    grid: [u32; 3],
    /// Threads per block; the entry's .reqntid or the manifest's by default
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = triple)]
    block: Option<[u32; 3]>,
    /// Blocks per cluster
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = triple)]
    cluster: Option<[u32; 3]>,
    /// Dynamic shared memory in bytes
    #[arg(long)]
    shared: Option<u32>,
    /// Launch manifest (JSON) with hidden tensor maps
    #[arg(long)]
    manifest: Option<PathBuf>,
    /// One per entry parameter: in:FILE.npy, inout:FILE.npy (with :bf16 and the like for raw bits), zeros:BYTES, i32:5, f32:0.5, …
    #[arg(long = "arg", allow_hyphen_values = true)]
    args: Vec<String>,
    /// First seed of the interleaving
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many interleavings to run; all must agree
    #[arg(long, default_value_t = 1)]
    seeds: u64,
    /// Do not ask for tcgen05.fence around the synchronisation of threads that share tensor memory
    #[arg(long)]
    no_tensor_fences: bool,
    /// Leave out the race and initialisation checks
    #[arg(long)]
    fast: bool,
    /// Print counters: instructions by class, bytes by memory, bank conflicts, overlap of copies and matrix work
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    stats: Option<StatsFormat>,
    /// Print every instruction that a warp executes, with the first register that it writes in the lowest lane
    #[arg(long)]
    trace: bool,
    /// Draw warps against time, with waits, copies and matrix work, into this file
    #[arg(long, value_name = "FILE.svg", group = "clocked")]
    timeline: Option<PathBuf>,
    /// Which cluster the timeline shows
    #[arg(long, default_value_t = 0, requires = "timeline")]
    timeline_cluster: u64,
    /// What the timeline counts time in: cycles of a GPU as --time estimates them, or the cluster's instructions as they
    /// were simulated
    #[arg(
        long,
        value_name = "UNIT",
        requires = "timeline",
        default_value = "cycles"
    )]
    timeline_unit: TimeUnit,
    /// Estimate how long the launch takes on a GPU: cycles, shares of the peaks, and what warps wait for
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "text", group = "clocked")]
    time: Option<StatsFormat>,
    /// Which GPU (H100-SXM, A100, RTX-4090, B200, …); by default one of the PTX's target
    #[arg(long, requires = "clocked")]
    gpu: Option<String>,
    /// Registers of a thread, as ptxas -v says; they decide how many blocks a multiprocessor holds
    #[arg(long, requires = "clocked")]
    registers: Option<u32>,
    /// Clock in MHz instead of what the GPU's figures say for the load
    #[arg(long, requires = "clocked")]
    mhz: Option<f64>,
    /// Run only the clusters that the clock needs, without computing matrix products: results are not written
    #[arg(long, requires = "time")]
    sampled: bool,
    /// Stop a cluster after this many warp instructions
    #[arg(long, default_value_t = 1 << 36)]
    max_steps: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum TimeUnit {
    /// of a GPU, estimated
    Cycles,
    /// of the cluster's warps
    Instructions,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum StatsFormat {
    /// a table; what is zero is left out
    Text,
    /// all counters
    Json,
}

fn triple(text: &str) -> Result<[u32; 3], String> {
    let mut out = [1; 3];
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > 3 {
        return Err("at most three numbers".into());
    }
    for (slot, part) in out.iter_mut().zip(parts) {
        *slot = part
            .trim()
            .parse()
            .map_err(|_| format!("`{part}` is no number"))?;
    }
    Ok(out)
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("ptxsim: error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn manifest(options: &Options, entry: &str) -> Result<Option<EntryManifest>, String> {
    let Some(path) = &options.manifest else {
        return Ok(None);
    };
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let manifest = Manifest::parse(&text).map_err(|e| format!("{}: {e}", path.display()))?;
    match manifest.entries.into_iter().find(|e| e.name == entry) {
        Some(entry) => Ok(Some(entry)),
        None => Err(format!("{}: no entry `{entry}`", path.display())),
    }
}

fn run(options: &Options) -> Result<(), String> {
    let text =
        std::fs::read(&options.kernel).map_err(|e| format!("{}: {e}", options.kernel.display()))?;
    let text = String::from_utf8_lossy(&text);
    let module = Module::new(&*text).map_err(|e| e.to_string())?;
    let program = module
        .entry(options.entry.as_deref())
        .map_err(|e| e.to_string())?;
    let manifest = manifest(options, &program.entry)?;
    let mut arguments = Arguments::default();
    for arg in &options.args {
        arguments.add(arg)?;
    }
    if let Some(manifest) = &manifest {
        arguments.add_tensor_maps(manifest)?;
    }
    let trace = options.trace.then(|| watch::Trace::new(&text));
    let bar = watch::Bar::new();
    let mut first: Option<Vec<Vec<u8>>> = None;
    for seed in options.seed..options.seed + options.seeds.max(1) {
        let mut launch = Launch::new(&program);
        if let Some(manifest) = &manifest {
            launch.block = manifest.block;
            launch.cluster = manifest.cluster;
            launch.dynamic_shared = manifest.shared_bytes;
        }
        launch.grid = options.grid;
        launch.block = options.block.unwrap_or(launch.block);
        launch.cluster = options.cluster.unwrap_or(launch.cluster);
        launch.dynamic_shared = options.shared.unwrap_or(launch.dynamic_shared);
        launch.args = arguments.args.clone();
        launch.buffers = arguments.buffers.clone();
        (launch.seed, launch.max_steps, launch.count) =
            (seed, options.max_steps, options.stats.is_some());
        launch.timeline = options
            .timeline
            .as_ref()
            .filter(|_| seed == options.seed && options.timeline_unit == TimeUnit::Instructions)
            .map(|_| options.timeline_cluster);
        launch.sampling = (seed == options.seed)
            .then(|| sampling(options, launch.shape()))
            .flatten();
        launch.observer = match (&trace, &bar) {
            (Some(trace), _) => Some(trace as &dyn Observer),
            (None, bar) => bar.as_ref().map(|b| b as &dyn Observer),
        };
        if options.fast || options.sampled {
            launch.checks = Checks::NONE;
        }
        launch.checks.tensor_fences &= !options.no_tensor_fences;
        let report = launch.run().map_err(|e| format!("seed {seed}: {e}"))?;
        let results: Vec<Vec<u8>> = launch.buffers.iter().map(|b| b.bytes.clone()).collect();
        if first.get_or_insert_with(|| results.clone()) != &results {
            return Err(format!(
                "seed {seed} gives other results than seed {}: the kernel races",
                options.seed
            ));
        }
        if seed == options.seed {
            print!("{}", report.output);
            print_stats(options, &report.stats)?;
            write_timeline(options, &launch, &text, &report)?;
            print_time(options, &launch, &report, &text)?;
            if !options.sampled {
                arguments.write_back(&launch.buffers)?;
            }
        }
    }
    Ok(())
}

fn print_stats(options: &Options, stats: &Stats) -> Result<(), String> {
    match options.stats {
        None => {}
        Some(StatsFormat::Text) => print!("{}", stats.table()),
        Some(StatsFormat::Json) => {
            let mut value = serde_json::to_value(stats).map_err(|e| e.to_string())?;
            value["overlap"] = stats.overlap().into();
            println!("{value}");
        }
    }
    Ok(())
}

fn print_time(
    options: &Options,
    launch: &Launch<'_>,
    report: &Report,
    source: &str,
) -> Result<(), String> {
    let Some(format) = options.time else {
        return Ok(());
    };
    let (gpu, given) = clocked(options, launch)?;
    let estimate = clock::of_launch(launch, report, &gpu, given)?;
    match format {
        StatsFormat::Text => print!("{}", clock::report::text(&estimate, source)),
        StatsFormat::Json => {
            println!(
                "{}",
                serde_json::to_string(&estimate).map_err(|e| e.to_string())?
            );
        }
    }
    Ok(())
}

/// The clusters that the clock wants to see, if it is asked for anything.
fn sampling(options: &Options, shape: [u32; 3]) -> Option<Sampling> {
    let drawn = options.timeline.is_some() && options.timeline_unit == TimeUnit::Cycles;
    if options.time.is_none() && !drawn {
        return None;
    }
    let spread = Sampling::spread(shape, options.sampled);
    let clusters: u64 = shape.into_iter().map(u64::from).product();
    Some(match drawn && options.timeline_cluster < clusters {
        true => spread.with(options.timeline_cluster),
        false => spread,
    })
}

/// The GPU, and what is given of the launch on it.
fn clocked(options: &Options, launch: &Launch<'_>) -> Result<(Gpu, Given), String> {
    let gpu = match &options.gpu {
        Some(name) => Gpu::named(name),
        None => Gpu::of_target(launch.program.target.0),
    };
    let given = Given {
        registers: options.registers,
        mhz: options.mhz,
    };
    Ok((gpu.map_err(|e| e.to_string())?, given))
}

fn write_timeline(
    options: &Options,
    launch: &Launch<'_>,
    source: &str,
    report: &Report,
) -> Result<(), String> {
    let Some(path) = &options.timeline else {
        return Ok(());
    };
    let clusters: u64 = launch.shape().into_iter().map(u64::from).product();
    if options.timeline_cluster >= clusters {
        return Err(format!(
            "the grid has no cluster {}",
            options.timeline_cluster
        ));
    }
    let clock;
    let timeline = match &report.timeline {
        Some(timeline) => timeline,
        None => {
            let (gpu, given) = clocked(options, launch)?;
            let cluster = options.timeline_cluster;
            clock = clock::timeline_of_launch(launch, report, &gpu, given, cluster)?;
            &clock
        }
    };
    let entry = &launch.program.entry;
    let title = format!(
        "{entry}, cluster {} of grid {:?}, seed {}",
        options.timeline_cluster, options.grid, options.seed
    );
    std::fs::write(path, svg::draw(timeline, &title, source))
        .map_err(|e| format!("{}: {e}", path.display()))
}
