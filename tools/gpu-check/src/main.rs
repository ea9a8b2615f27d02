//! `gpu-check`: runs a PTX kernel on the machine's GPU and in `ptxsim`, and compares all buffers bit for bit where PTX
//! promises the bits. The arguments are those of `ptxsim`.

mod driver;
mod promise;

use clap::Parser;
use driver::{Driver, DriverError, Parameter, Shape, Tiled};
use ptxsim::arguments::Arguments;
use ptxsim::manifest::Manifest;
use ptxsim::tensormap::{Atomicity, Element, Fill, Interleave, MapBase, Swizzle};
use ptxsim::{Arg, Buffer, Launch, Module, TensorMap};
use std::path::PathBuf;
use std::process::ExitCode;

/// Compares a PTX kernel's results on a GPU with the simulator's.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// PTX text
    kernel: PathBuf,
    /// Entry to run; needed if there are several
    #[arg(long)]
    entry: Option<String>,
    /// Blocks: X[,Y[,Z]]
    #[arg(long, value_delimiter = ',', default_value = "1")]
    grid: Vec<u32>,
    /// Threads per block: X[,Y[,Z]]; the entry's .reqntid or the manifest's by default
    #[arg(long, value_delimiter = ',')]
    block: Vec<u32>,
    /// Blocks per cluster: X[,Y[,Z]]
    #[arg(long, value_delimiter = ',')]
    cluster: Vec<u32>,
    /// Dynamic shared memory in bytes
    #[arg(long)]
    shared: Option<u32>,
    /// Launch manifest (JSON) with hidden tensor maps
    #[arg(long)]
    manifest: Option<PathBuf>,
    /// One per entry parameter, as ptxsim takes them; files are read, not written
    #[arg(long = "arg", allow_hyphen_values = true)]
    args: Vec<String>,
    /// Interleavings that the simulator runs
    #[arg(long, default_value_t = 1)]
    seeds: u64,
}

/// Exit code where there is no GPU to compare with: nothing is wrong, nothing was checked.
const NO_DRIVER: u8 = 2;

fn main() -> ExitCode {
    match run(&Options::parse()) {
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

type Error = Box<dyn std::error::Error>;

fn triple(list: &[u32], otherwise: [u32; 3]) -> Result<[u32; 3], Error> {
    match list {
        [] => Ok(otherwise),
        _ if list.len() > 3 => Err("a size has at most three numbers".into()),
        _ => Ok(std::array::from_fn(|i| list.get(i).copied().unwrap_or(1))),
    }
}

fn run(options: &Options) -> Result<bool, Error> {
    let name = options.kernel.display();
    let ptx = std::fs::read_to_string(&options.kernel).map_err(|e| format!("{name}: {e}"))?;
    let program = Module::new(&*ptx)?.entry(options.entry.as_deref())?;
    let mut arguments = Arguments::default();
    for arg in &options.args {
        arguments.add(arg)?;
    }
    let mut launch = Launch::new(&program);
    if let Some(path) = &options.manifest {
        let manifest =
            Manifest::parse(&std::fs::read_to_string(path)?).map_err(|e| e.to_string())?;
        let entry = manifest
            .entries
            .into_iter()
            .find(|e| e.name == program.entry);
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
    launch.args.clone_from(&arguments.args);

    let driver = Driver::open()?;
    println!("{} on {}", program.entry, driver.describe()?);
    let real = on_device(&driver, &ptx, &launch, &arguments.buffers)?;
    let open = promise::open_results(&ptx);
    let mut same = true;
    for seed in 1..=options.seeds.max(1) {
        (launch.seed, launch.buffers) = (seed, arguments.buffers.clone());
        launch.run()?;
        for (simulated, bytes) in launch.buffers.iter().zip(&real) {
            same &= compare(simulated, bytes, seed);
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

/// Runs the launch on the GPU; returns the buffers afterwards.
fn on_device(
    driver: &Driver,
    ptx: &str,
    launch: &Launch<'_>,
    buffers: &[Buffer],
) -> Result<Vec<Vec<u8>>, Error> {
    let function = driver.load(ptx, &launch.program.entry)?;
    let addresses: Vec<u64> = buffers
        .iter()
        .map(|b| driver.upload(&b.bytes))
        .collect::<Result<_, _>>()?;
    let mut parameters = Vec::new();
    for arg in &launch.args {
        let bytes = match arg {
            Arg::Scalar(bytes) => bytes.clone(),
            Arg::Buffer { index, offset } => (address(&addresses, *index)? + offset)
                .to_le_bytes()
                .to_vec(),
            Arg::TensorMap(map) => driver.encode(&tiled(map, &addresses)?)?.to_vec(),
        };
        let mut parameter = Parameter([0; 4096]);
        let slot = parameter
            .0
            .get_mut(..bytes.len())
            .ok_or("a parameter is larger than 4 KiB")?;
        slot.copy_from_slice(&bytes);
        parameters.push(parameter);
    }
    if parameters.len() != launch.program.params.len() {
        return Err(format!(
            "{} arguments for {} parameters",
            parameters.len(),
            launch.program.params.len()
        )
        .into());
    }
    let shape = Shape {
        grid: launch.grid,
        block: launch.block,
        cluster: launch.cluster,
        shared: launch.dynamic_shared,
    };
    driver.run(function, shape, &mut parameters)?;
    let read = |(buffer, &address): (&Buffer, &u64)| driver.download(address, buffer.bytes.len());
    Ok(buffers
        .iter()
        .zip(&addresses)
        .map(read)
        .collect::<Result<_, _>>()?)
}

fn address(addresses: &[u64], index: usize) -> Result<u64, Error> {
    addresses
        .get(index)
        .copied()
        .ok_or_else(|| format!("buffer {index} does not exist").into())
}

/// `CUtensorMapDataType` by the simulator's elements.
const ELEMENTS: &[(Element, u32)] = &[
    (Element::U8, 0),
    (Element::U16, 1),
    (Element::U32, 2),
    (Element::S32, 3),
    (Element::U64, 4),
    (Element::S64, 5),
    (Element::F16, 6),
    (Element::F32, 7),
    (Element::F64, 8),
    (Element::BF16, 9),
    (Element::F32Ftz, 10),
    (Element::TF32, 11),
    (Element::TF32Ftz, 12),
];

fn tiled(map: &TensorMap, addresses: &[u64]) -> Result<Tiled, Error> {
    if map.im2col.is_some() {
        return Err("im2col tensor maps are not encoded yet".into());
    }
    let base = match map.base {
        MapBase::Buffer { index, offset } => address(addresses, index)? + offset,
        MapBase::Address(address) => address,
    };
    let element = ELEMENTS.iter().find(|(e, _)| *e == map.element);
    let rank = map.rank;
    Ok(Tiled {
        element: element
            .map(|(_, code)| *code)
            .ok_or("an element type that the driver lacks")?,
        base,
        dims: map.dims[..rank].to_vec(),
        strides: map.strides[1..rank].to_vec(),
        boxes: map.box_dims[..rank].to_vec(),
        steps: map.element_strides[..rank].to_vec(),
        interleave: match map.interleave {
            Interleave::None => 0,
            Interleave::B16 => 1,
            Interleave::B32 => 2,
        },
        swizzle: match map.swizzle {
            _ if map.atomicity != Atomicity::B16 => {
                return Err("swizzle atomicities are not encoded yet".into());
            }
            Swizzle::None => 0,
            Swizzle::B32 => 1,
            Swizzle::B64 => 2,
            Swizzle::B128 => 3,
        },
        fill: u32::from(map.fill == Fill::Nan),
    })
}

/// Says where a buffer differs; true if it does not.
fn compare(simulated: &Buffer, real: &[u8], seed: u64) -> bool {
    let different = simulated
        .bytes
        .iter()
        .zip(real)
        .enumerate()
        .filter(|(_, (a, b))| a != b);
    let places: Vec<usize> = different.map(|(i, _)| i).collect();
    let Some(&first) = places.first() else {
        return true;
    };
    let word = first / 4 * 4;
    let hex = |bytes: &[u8]| -> String {
        bytes
            .iter()
            .skip(word)
            .take(4)
            .rev()
            .map(|b| format!("{b:02x}"))
            .collect()
    };
    println!(
        "seed {seed}: `{}` differs in {} of {} bytes, first at {first}: simulated 0x{}, real 0x{}",
        simulated.name,
        places.len(),
        real.len(),
        hex(&simulated.bytes),
        hex(real)
    );
    false
}
