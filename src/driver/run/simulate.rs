//! The `sim` engine: compiles the module and runs the PTX in the simulator, by the launch manifest.

use std::path::PathBuf;

use ptxsim::clock::{self, Given, Gpu, Sampling};
use ptxsim::record::svg;
use ptxsim::tensormap::{Atomicity, Element, Fill, MapBase, Swizzle};
use ptxsim::{Arg as SimArg, Launch, Module as Ptx, Report, TensorMap};

use super::super::selector;
use super::arguments::Arg;
use crate::compile::{Kernel, Options, nvvm_ir, to_ptx};
use crate::dialect::cuda_tile::Op as C;
use crate::eval::Elem;
use crate::ir::{Diagnostic, Diagnostics, Module};
use crate::launch::{self, Entry, Expr};

/// What to launch, and how.
pub struct Simulation<'a> {
    pub entry: Option<&'a str>,
    pub grid: [u32; 3],
    /// How it is compiled.
    pub options: Options,
    /// What selects instructions instead of tilec, from LLVM's language.
    pub selector: Option<PathBuf>,
    /// Interleaving of warps and completion of asynchronous work.
    pub seed: u64,
    /// Draw what the first cluster does when.
    pub draws: bool,
    /// Estimate how long it takes: on this GPU, or on one of the target.
    pub times: Option<Option<&'a str>>,
}

/// What a kernel did.
pub struct Ran {
    /// What it printed.
    pub printed: String,
    /// The picture, as SVG.
    pub picture: Option<String>,
    /// The estimate, as text.
    pub time: Option<String>,
}

/// Lines that a kernel printed, shown where it fails.
const PRINTED: usize = 20;

/// Compiles and runs; the buffers among `arguments` then hold what memory holds.
pub fn run(s: &Simulation, mut module: Module, arguments: &mut [Arg]) -> Result<Ran, Diagnostics> {
    if let Some(name) = s.entry {
        keep_entry(&mut module, name);
    }
    let kernel = match &s.selector {
        Some(program) => {
            let ir = nvvm_ir(module, &s.options)?;
            Kernel {
                ptx: selector::ptx(program, &ir.text, s.options.target)?,
                manifest: ir.manifest,
            }
        }
        None => to_ptx(module, &s.options)?,
    };
    let entry = choose(&kernel.manifest.entries, s.entry)?;
    let error = |e: &dyn std::fmt::Display| Diagnostic::error(e.to_string());
    let ptx = Ptx::new(kernel.ptx.clone()).map_err(|e| error(&e))?;
    let program = ptx.entry(Some(&entry.name)).map_err(|e| error(&e))?;
    let mut launch = Launch::new(&program);
    launch.grid = s.grid;
    launch.block = entry.block;
    launch.cluster = entry.cluster;
    launch.dynamic_shared = entry.shared_bytes;
    launch.seed = s.seed;
    // A picture is in cycles where the target has a GPU whose figures are known.
    let clocked = s.draws && Gpu::of_target(program.target.0).is_ok();
    launch.timeline = (s.draws && !clocked).then_some(0);
    launch.sampling =
        (s.times.is_some() || clocked).then(|| Sampling::spread(launch.shape(), false).with(0));
    launch.args = bind(entry, arguments, &mut launch.buffers)?;
    let report = match launch.run() {
        Ok(report) => report,
        Err(e) => {
            let lines = launch.printed.lines().take(PRINTED);
            return Err(lines
                .fold(error(&e), |e, line| e.note(format!("it printed: {line}")))
                .into());
        }
    };
    let time = s
        .times
        .map(|gpu| estimate(&launch, &report, gpu, &kernel.ptx))
        .transpose()?;
    let picture = match s.draws {
        true => Some(draw(&launch, &report, &entry.name, &kernel.ptx)?),
        false => None,
    };
    let buffers = std::mem::take(&mut launch.buffers).into_iter();
    let written = arguments.iter_mut().filter_map(|a| match a {
        Arg::Buffer(buffer) => Some(buffer),
        Arg::Scalar { .. } => None,
    });
    for (buffer, after) in written.zip(buffers) {
        buffer.set_data(&after.bytes);
    }
    Ok(Ran {
        picture,
        printed: report.output,
        time,
    })
}

/// The first cluster as a picture.
fn draw(launch: &Launch, report: &Report, name: &str, source: &str) -> Result<String, Diagnostic> {
    if let Some(timeline) = &report.timeline {
        return Ok(svg::draw(timeline, name, source));
    }
    let gpu = Gpu::of_target(launch.program.target.0);
    let gpu = gpu.map_err(|e| Diagnostic::error(e.to_string()))?;
    let given = clock::Given::default();
    let timeline = clock::timeline_of_launch(launch, report, &gpu, given, 0);
    let timeline = timeline.map_err(Diagnostic::error)?;
    Ok(svg::draw(&timeline, name, source))
}

/// How long the launch takes. Registers are those of `.maxnreg`: nothing here knows what ptxas makes of it.
fn estimate(
    launch: &Launch,
    report: &Report,
    gpu: Option<&str>,
    source: &str,
) -> Result<String, Diagnostic> {
    let gpu = match gpu {
        Some(name) => Gpu::named(name),
        None => Gpu::of_target(launch.program.target.0),
    };
    let gpu = gpu.map_err(|e| Diagnostic::error(e.to_string()))?;
    let estimate = clock::of_launch(launch, report, &gpu, Given::default());
    let estimate = estimate.map_err(Diagnostic::error)?;
    Ok(clock::report::text(&estimate, source))
}

/// Drops the entries that are not launched: they need no compiling.
fn keep_entry(module: &mut Module, name: &str) {
    for op in module.block(module.body).ops.clone() {
        let is_entry = C::of(module.op(op).kind) == Some(C::Entry);
        let is_other = is_entry && module.symbol(op) != Some(name);
        if is_other {
            module.erase(op);
        }
    }
}

fn choose<'e>(entries: &'e [Entry], name: Option<&str>) -> Result<&'e Entry, Diagnostic> {
    match (entries, name) {
        (_, Some(name)) => entries
            .iter()
            .find(|e| e.name == name)
            .ok_or_else(|| Diagnostic::error(format!("the module has no entry `{name}`"))),
        ([entry], None) => Ok(entry),
        _ => Err(Diagnostic::error(
            "the module has several entries: choose one with --entry",
        )),
    }
}

/// The PTX arguments: the entry's own in order, then a tensor map per recipe.
fn bind(
    entry: &Entry,
    arguments: &[Arg],
    buffers: &mut Vec<ptxsim::Buffer>,
) -> Result<Vec<SimArg>, Diagnostic> {
    if arguments.len() != entry.params.len() {
        return Err(Diagnostic::error(format!(
            "entry `{}` has {} parameters, but {} arguments were given",
            entry.name,
            entry.params.len(),
            arguments.len()
        )));
    }
    let mut args = Vec::new();
    for (i, (argument, param)) in arguments.iter().zip(&entry.params).enumerate() {
        let mismatch = |is: &str| {
            Diagnostic::error(format!(
                "argument {i} is {is}, but the parameter is {:?} {}",
                param.kind, param.ty
            ))
        };
        args.push(match (argument, param.kind) {
            (Arg::Buffer(buffer), launch::ParamKind::Ptr) => {
                buffers.push(ptxsim::Buffer {
                    name: format!("argument {i}"),
                    bytes: buffer.data().to_vec(),
                });
                SimArg::buffer(buffers.len() - 1)
            }
            (Arg::Scalar { elem, bits }, launch::ParamKind::Scalar) => {
                let bytes = scalar_bytes(*elem);
                SimArg::Scalar(bits.to_le_bytes()[..bytes].to_vec())
            }
            (Arg::Buffer(_), _) => return Err(mismatch("a buffer")),
            (Arg::Scalar { .. }, _) => return Err(mismatch("a scalar")),
        });
    }
    let scalar = |i: u32| match arguments.get(i as usize) {
        Some(Arg::Scalar {
            elem: Elem::Int(width),
            bits,
        }) => Some(crate::facts::sign_extend(*bits, *width)),
        _ => None,
    };
    for map in &entry.tensor_maps {
        let Some(SimArg::Buffer { index, .. }) = args.get(map.base as usize) else {
            return Err(Diagnostic::error("a tensor map's base is not a buffer"));
        };
        let map = tensor_map(map, *index, &scalar)?;
        args.push(SimArg::TensorMap(map));
    }
    Ok(args)
}

fn scalar_bytes(elem: Elem) -> usize {
    match elem {
        Elem::Int(width) => width.div_ceil(8) as usize,
        Elem::Float(format) => format.bits().div_ceil(8) as usize,
        _ => 8,
    }
}

fn tensor_map(
    map: &launch::TensorMap,
    buffer: usize,
    scalar: &dyn Fn(u32) -> Option<i64>,
) -> Result<TensorMap, Diagnostic> {
    let number = |e: &Expr| {
        evaluate(e, scalar)
            .ok_or_else(|| Diagnostic::error("a tensor map's number is not an integer argument"))
    };
    let numbers = |list: &[Expr]| list.iter().map(number).collect::<Result<Vec<u64>, _>>();
    let element = Element::parse(&map.element.to_lowercase())
        .ok_or_else(|| Diagnostic::error(format!("no tensor map of `{}` elements", map.element)))?;
    let offset = map.base_offset.as_ref().map_or(Ok(0), number)?;
    let base = MapBase::Buffer {
        index: buffer,
        offset,
    };
    // No tensor map has an empty dimension; of an empty tensor no kernel of ours loads anything.
    let dims: Vec<u64> = numbers(&map.dims)?.into_iter().map(|d| d.max(1)).collect();
    let mut built = TensorMap::tiled(
        base,
        element,
        &dims,
        &numbers(&map.strides_bytes)?,
        &map.box_dims,
    );
    for (to, &from) in built.element_strides.iter_mut().zip(&map.element_strides) {
        *to = from;
    }
    (built.swizzle, built.atomicity) = match map.swizzle {
        launch::Swizzle::None => (Swizzle::None, Atomicity::B16),
        launch::Swizzle::B32 => (Swizzle::B32, Atomicity::B16),
        launch::Swizzle::B64 => (Swizzle::B64, Atomicity::B16),
        launch::Swizzle::B128 => (Swizzle::B128, Atomicity::B16),
        launch::Swizzle::B128Atom32 => (Swizzle::B128, Atomicity::B32),
    };
    built.fill = match map.oob_fill {
        launch::OobFill::Zero => Fill::Zero,
        launch::OobFill::Nan => Fill::Nan,
    };
    Ok(built)
}

/// The value of a launch-time expression; `None` if it is no number of elements.
fn evaluate(e: &Expr, scalar: &dyn Fn(u32) -> Option<i64>) -> Option<u64> {
    let two = |[a, b]: &[Box<Expr>; 2]| Some((evaluate(a, scalar)?, evaluate(b, scalar)?));
    match e {
        Expr::Number(n) => Some(*n),
        Expr::Param { param } => u64::try_from(scalar(*param)?).ok(),
        Expr::Mul { mul } => two(mul).and_then(|(a, b)| a.checked_mul(b)),
        Expr::Add { add } => two(add).and_then(|(a, b)| a.checked_add(b)),
        Expr::Sub { sub } => two(sub).and_then(|(a, b)| a.checked_sub(b)),
        Expr::CeilDiv { ceildiv } => two(ceildiv)
            .filter(|(_, b)| *b > 0)
            .map(|(a, b)| a.div_ceil(b)),
    }
}
