//! The assembler: bytecode to a cubin, by tilec and `ptxas`.

use std::path::Path;

use super::container::{self, Content};
use super::remarks::Remarks;
use super::{
    EMULATE, Failure, emulates, is_bytecode, module, options::Line, passes_bytecode, read,
};
use crate::compile::{OptLevel, Options, Stage, lower_to, to_ptx};
use crate::driver::output;
use crate::ptx::Debug;
use crate::ptxas;
use crate::target::{Feature, Suffix, Target};

/// Where the cubin goes if nothing else is said.
const OUTPUT: &str = "elf.o";

const NOT_BYTECODE: &str = "input does not correspond to Tile IR bytecode";

/// Exit codes: 1 command line and input file, 2 options that do not go together and the output, 3
/// the bytecode, 5 compilation.
pub fn run(program: &str, input: &str, line: &Line) -> Result<(), Failure> {
    let data = read(input).map_err(|e| Failure::new(1, e))?;
    let target = check(&data, line)?;
    let module = module(&data, line).map_err(|e| e.and(NOT_BYTECODE))?;
    unsupported(line)?;
    let remarks = Remarks::wanted(line)?;
    let options = Options {
        opt_level: opt_level(line)?,
        embed_manifest: true,
        debug: match (line.flag("device-debug"), line.flag("lineinfo")) {
            (true, _) => Debug::Full,
            (false, true) => Debug::Lines,
            (false, false) => Debug::None,
        },
        ..Options::new(target)
    };
    let failed =
        |e: crate::ir::Diagnostics| Failure::of(5, &e.0).and("failed to compile Tile IR program");
    let image = |content, bytes: &[u8]| {
        let image = container::image(content, bytes, target);
        image.map_err(|e| Failure::new(2, format!("the image for the emulated driver: {e}")))
    };
    // The emulated driver can interpret what was written, or keep it.
    if passes_bytecode() {
        return write(line, &image(Content::Bytecode, &data)?);
    }
    if let Some(remarks) = remarks {
        // Lowering consumes a module.
        let again = self::module(&data, line)?;
        remarks.write(&lower_to(again, &options, Stage::NvTileas).map_err(failed)?)?;
    }
    let ptx = to_ptx(module, &options).map_err(failed)?.ptx;
    let data = match emulates() {
        true => image(Content::Ptx, ptx.as_bytes())?,
        false => {
            let assembler = ptxas::find_for(Path::new(program)).map_err(|e| {
                Failure::of(5, &e.0).and(format!(
                    "without it, only an emulated driver can load the result: set {EMULATE}=1"
                ))
            })?;
            ptxas::assemble(&assembler, &ptx, target, &flags(line, &options)).map_err(failed)?
        }
    };
    write(line, &data)
}

/// Options of `ptxas`.
///
/// `--sanitize=memcheck` is its work, as it is under NVIDIA's assembler: it puts a check before every access, which
/// traps where compute-sanitizer knows of no memory. The emulated driver checks every access anyway.
fn flags(line: &Line, options: &Options) -> Vec<&'static str> {
    let mut flags = match options.debug {
        Debug::Full => vec!["-g"],
        Debug::Lines => vec!["-lineinfo"],
        Debug::None => Vec::new(),
    };
    if line.text("sanitize").is_some() {
        flags.extend(["-sanitize", "memcheck"]);
        if options.target.has(Feature::Tcgen05) {
            flags.push("-g-tmem-access-check");
        }
    }
    flags
}

fn write(line: &Line, data: &[u8]) -> Result<(), Failure> {
    let path = line.text("output-file").unwrap_or(OUTPUT);
    output::write(Path::new(path), data).map_err(|e| Failure::of(2, &e.0))
}

/// What is checked before the bytecode is read, in the tool's order; the target.
fn check(data: &[u8], line: &Line) -> Result<Target, Failure> {
    if !is_bytecode(data) {
        return Err(Failure::new(3, NOT_BYTECODE));
    }
    let (major, minor) = match data.get(8..10) {
        Some(&[major, minor]) => (major, minor),
        _ => return Err(Failure::new(3, NOT_BYTECODE)),
    };
    if major != 13 || !(1..=5).contains(&minor) {
        let message = format!("unsupported Tile IR bytecode version: {major}.{minor}");
        return Err(Failure::new(3, message));
    }
    let gpu = line.text("gpu-name").unwrap_or("sm_0");
    let target = target(gpu).ok_or_else(|| {
        Failure::new(
            2,
            format!(
                "GPU architecture {gpu} is not supported by this version of tileiras. You may need a newer \
                 toolchain that supports this architecture (bytecode in file is version {major}.{minor})."
            ),
        )
    })?;
    let opt_level = opt_level(line)?;
    if line.flag("device-debug") && opt_level != OptLevel::Plain {
        return Err(Failure::new(
            2,
            "optimized debugging is currently not supported, change the optimization level to 0 or \
             disable full debug info",
        ));
    }
    if line.text("apply-controls").is_some() {
        return Err(Failure::new(
            2,
            "--apply-controls is not supported by tilec",
        ));
    }
    Ok(target)
}

fn opt_level(line: &Line) -> Result<OptLevel, Failure> {
    let level = line.integer("opt-level").unwrap_or(3);
    let valid = u8::try_from(level).ok().and_then(OptLevel::from_number);
    valid.ok_or_else(|| Failure::new(2, format!("invalid optimization level: {level}")))
}

/// What tilec cannot do, by its option.
fn unsupported(line: &Line) -> Result<(), Failure> {
    if line.text("l").is_some() {
        let simt = line
            .all("preview")
            .iter()
            .any(|p| p.split(',').any(|f| f == "simt"));
        return Err(Failure::new(
            5,
            match simt {
                true => "tile libraries (-l) are not supported by tilec",
                false => "libraries require the 'simt' preview feature",
            },
        ));
    }
    Ok(())
}

/// A GPU by its name, with what only it has: a cubin is for one GPU anyway.
fn target(name: &str) -> Option<Target> {
    let plain: Target = name.parse().ok()?;
    let own = Target {
        suffix: Suffix::Arch,
        ..plain
    };
    Target::all().find(|t| *t == own).or(Some(plain))
}
