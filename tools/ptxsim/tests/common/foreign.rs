//! Launches that `kernels/foreign.py` writes, run in the simulator and compared.

use super::common::toolkit;
use ptxsim::num::format::{BF16, E4M3, E5M2, F16, F32, F64, Format};
use ptxsim::program::Program;
use ptxsim::tensormap::{Element, Fill, Im2col, Im2colMode, MapBase, Swizzle};
use ptxsim::{Arg, Launch, Module, TensorMap};
use serde::Deserialize;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Interleavings that every launch is run with.
const SEEDS: [u64; 2] = [1, 4];

/// Kernels with a race in global memory that their compiler put there, and why it does no harm.
const RACES: [(&str, &str); 1] = [(
    "for_tokens",
    "tileiras lets warps 1 to 3 load what warp 0 overwrites, and throws away what they loaded",
)];

#[derive(Deserialize)]
struct Prepared {
    /// kernel and target
    name: String,
    entry: String,
    ptx: PathBuf,
    folder: PathBuf,
    label: String,
    grid: [u32; 3],
    block: Option<[u32; 3]>,
    cluster: Option<[u32; 3]>,
    shared: u32,
    args: Vec<Parameter>,
    buffers: Vec<BufferFile>,
    stdout: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Parameter {
    Buffer(usize),
    Bytes(Vec<u8>),
    Map(Map),
}

#[derive(Deserialize)]
struct Map {
    buffer: usize,
    element: String,
    dims: Vec<u64>,
    strides: Vec<u64>,
    #[serde(rename = "box")]
    extents: Vec<u32>,
    swizzle: String,
    fill: String,
    element_strides: Vec<u32>,
    im2col: Option<Gather>,
}

#[derive(Deserialize)]
struct Gather {
    lower: Vec<i16>,
    upper: Vec<i16>,
    channels: u32,
    pixels: u32,
}

#[derive(Deserialize)]
struct BufferFile {
    name: String,
    file: String,
    /// bytes of an element
    size: usize,
    #[serde(rename = "type")]
    element: String,
    expected: Option<String>,
    /// may change in any way
    #[serde(default)]
    scratch: bool,
    #[serde(default)]
    ulp: u64,
    #[serde(default)]
    absolute: f64,
    #[serde(default)]
    relative: f64,
}

/// Names of the files of a producer, sorted.
pub fn files(producer: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/kernels")
        .join(producer);
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "py"))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Installs Triton beside the rest of the toolkit where it is missing.
fn install() {
    static DONE: std::sync::OnceLock<()> = std::sync::OnceLock::new();
    DONE.get_or_init(|| {
        let script = toolkit::repository_root().join("tools/toolkit");
        let output = Command::new(&script)
            .arg("--with-triton")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{} --with-triton failed:\n{}",
            script.display(),
            String::from_utf8_lossy(&output.stderr)
        );
    });
}

/// Runs `kernels/foreign.py`.
pub fn describe(arguments: &[&OsStr]) {
    install();
    let output = Command::new(toolkit::python())
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels/foreign.py"))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Runs all kernels of a file; panics with everything that is wrong.
pub fn check(producer: &str, file: &str) {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("foreign")
        .join(format!("{producer}-{file}-{}", std::process::id()));
    describe(&[
        "prepare".as_ref(),
        out.as_os_str(),
        format!("{producer}/{file}").as_ref(),
    ]);
    let text = std::fs::read_to_string(out.join("launches.json")).unwrap();
    let prepared: Vec<Prepared> = serde_json::from_str(&text).unwrap();
    assert!(!prepared.is_empty(), "{producer}/{file} has no kernels");
    let only = std::env::var("KERNEL").unwrap_or_default();
    let mut wrong = Vec::new();
    for launch in prepared.iter().filter(|p| p.name.contains(&only)) {
        if let Err(e) = run(launch) {
            wrong.push(format!("{} {}: {e}", launch.name, launch.label));
        }
    }
    std::fs::remove_dir_all(&out).ok();
    assert!(
        wrong.is_empty(),
        "{} launches are wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn run(prepared: &Prepared) -> Result<(), String> {
    let text = std::fs::read_to_string(&prepared.ptx).map_err(|e| e.to_string())?;
    let at = |e: &dyn std::fmt::Display| format!("{}: {e}", prepared.ptx.display());
    let program = Module::new(text)
        .and_then(|module| module.entry(Some(&prepared.entry)))
        .map_err(|e| at(&e))?;
    SEEDS.iter().try_for_each(|&seed| {
        interleave(prepared, &program, seed).map_err(|e| format!("seed {seed}: {}", at(&e)))
    })
}

/// One launch with one interleaving.
fn interleave(prepared: &Prepared, program: &Program, seed: u64) -> Result<(), String> {
    let mut launch = Launch::new(program);
    for buffer in &prepared.buffers {
        let bytes = std::fs::read(prepared.folder.join(&buffer.file)).map_err(|e| e.to_string())?;
        launch.add_buffer(&buffer.name, bytes);
    }
    launch.args = prepared.args.iter().map(argument).collect();
    launch.grid = prepared.grid;
    launch.block = prepared.block.unwrap_or(launch.block);
    launch.cluster = prepared.cluster.unwrap_or(launch.cluster);
    (launch.dynamic_shared, launch.seed) = (prepared.shared, seed);
    launch.checks.global_races = RACES.iter().all(|(entry, _)| *entry != prepared.entry);
    let report = launch.run().map_err(|e| e.to_string())?;
    if let Some(expected) = &prepared.stdout {
        let sorted = |s: &str| {
            let mut lines: Vec<String> = s.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        // Blocks and warps print in any order.
        if sorted(expected) != sorted(&report.output) {
            return Err(format!("printed {:?}, not {expected:?}", report.output));
        }
    }
    for (file, buffer) in prepared.buffers.iter().zip(&launch.buffers) {
        if let Some(expected) = &file.expected {
            let want = std::fs::read(prepared.folder.join(expected)).map_err(|e| e.to_string())?;
            compare(file, &buffer.bytes, &want)?;
        } else if !file.scratch {
            let before =
                std::fs::read(prepared.folder.join(&file.file)).map_err(|e| e.to_string())?;
            if before != buffer.bytes {
                return Err(format!("input {} was changed", file.name));
            }
        }
    }
    Ok(())
}

fn argument(parameter: &Parameter) -> Arg {
    match parameter {
        Parameter::Buffer(index) => Arg::buffer(*index),
        Parameter::Bytes(bytes) => Arg::Scalar(bytes.clone()),
        Parameter::Map(map) => {
            let base = MapBase::Buffer {
                index: map.buffer,
                offset: 0,
            };
            let element = Element::parse(&map.element).expect("an element of tensor maps");
            let mut tiled = TensorMap::tiled(base, element, &map.dims, &map.strides, &map.extents);
            tiled.swizzle = Swizzle::parse(&map.swizzle).expect("a swizzle");
            tiled.fill = if map.fill == "nan" {
                Fill::Nan
            } else {
                Fill::Zero
            };
            for (to, &from) in tiled.element_strides.iter_mut().zip(&map.element_strides) {
                *to = from;
            }
            tiled.im2col = map.im2col.as_ref().map(|gather| {
                let corner =
                    |given: &[i16]| std::array::from_fn(|i| given.get(i).copied().unwrap_or(0));
                Im2col {
                    lower: corner(&gather.lower),
                    upper: corner(&gather.upper),
                    channels: gather.channels,
                    pixels: gather.pixels,
                    mode: Im2colMode::Spatial,
                }
            });
            Arg::TensorMap(tiled)
        }
    }
}

/// The format behind an element type; integers have none and must be equal.
fn format(element: &str) -> Option<Format> {
    Some(match element {
        "f16" => F16,
        "bf16" => BF16,
        "f32" => F32,
        "f64" => F64,
        "f8e4m3fn" => E4M3,
        "f8e5m2" => E5M2,
        _ => return None,
    })
}

/// The first element that differs by more than the file allows.
fn compare(file: &BufferFile, got: &[u8], want: &[u8]) -> Result<(), String> {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |w, &b| w << 8 | u64::from(b));
    let format = format(&file.element);
    let mut wrong = (0, String::new());
    for (i, (g, w)) in got
        .chunks(file.size)
        .zip(want.chunks(file.size))
        .enumerate()
    {
        let (g, w) = (word(g), word(w));
        if g == w || format.is_some_and(|f| close(file, f, g, w)) {
            continue;
        }
        wrong.0 += 1;
        if wrong.0 <= 3 {
            let show = |bits| {
                format.map_or(format!("{bits:#x}"), |f| {
                    format!("{:?} ({bits:#x})", f.decode(bits))
                })
            };
            wrong.1 += &format!("; [{i}] {}, not {}", show(g), show(w));
        }
    }
    match wrong {
        (0, _) => Ok(()),
        (n, list) => Err(format!("{}: {n} elements are wrong{list}", file.name)),
    }
}

fn close(file: &BufferFile, format: Format, got: u64, want: u64) -> bool {
    let (g, w) = (format.decode(got), format.decode(want));
    if g.is_nan() || w.is_nan() {
        return g.is_nan() && w.is_nan();
    }
    // Sign and magnitude as a number that counts representable values.
    let key = |bits: u64| {
        let sign = 1u64 << (8 * file.size - 1);
        if bits & sign != 0 {
            -((bits & !sign) as i128)
        } else {
            i128::from(bits)
        }
    };
    (file.ulp > 0 && key(got).abs_diff(key(want)) <= u128::from(file.ulp))
        || (g - w).abs() <= file.absolute + file.relative * w.abs()
            && file.absolute + file.relative > 0.0
}
