//! `tilec run`: what it refuses, and how it says so.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A vector add over arrays of `length` elements, told that there are `claimed`.
fn vector_add(name: &str, length: usize, claimed: u32, more: &[&str]) -> (bool, String) {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("run")
        .join(name);
    std::fs::create_dir_all(&directory).expect("a folder");
    let file = |name: &str| -> PathBuf { directory.join(name) };
    for array in ["a.npy", "b.npy", "c.npy"] {
        std::fs::write(file(array), npy(&vec![1.0; length])).expect("a file");
    }
    let module =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/bytecode/vadd/f32.tilebc");
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilec"));
    command
        .current_dir(&directory)
        .args(["run", "--grid", "2"])
        .arg(module);
    for array in ["in:a.npy", "in:b.npy", "inout:c.npy"] {
        let extent = format!("i32:{claimed}");
        command.args(["--arg", array, "--arg", &extent, "--arg", "i32:1"]);
    }
    let output = command.args(more).output().expect("tilec runs");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.success(), stderr)
}

/// A file of f32, version 1.0 of the format.
pub fn npy(values: &[f32]) -> Vec<u8> {
    let mut header = format!(
        "{{'descr': '<f4', 'fortran_order': False, 'shape': ({},), }}",
        values.len()
    );
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(values.iter().flat_map(|v| v.to_le_bytes()));
    file
}

fn refused(name: &str, claimed: u32, more: &[&str]) -> String {
    let (success, stderr) = vector_add(name, 1500, claimed, more);
    assert!(!success, "{name} succeeded");
    stderr
}

#[test]
fn results_are_written_back() {
    let (success, stderr) = vector_add("right", 1500, 1500, &[]);
    assert!(success, "{stderr}");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("run/right/c.npy");
    assert_eq!(std::fs::read(path).expect("a file"), npy(&[2.0; 1500]));
}

#[test]
fn an_access_outside_its_buffer_names_kernel_block_and_address() {
    let error = refused("outside", 2000, &[]);
    assert!(error.contains("'cuda_tile.load_view_tko' op"), "{error}");
    assert!(
        error.contains("in kernel `vadd`, block (1, 0, 0): reads"),
        "{error}"
    );
    assert!(error.contains("bytes at 0x"), "{error}");
    assert!(
        error.contains("outside argument 0: byte 4096 of 6000"),
        "{error}"
    );
}

#[test]
fn arguments_must_fit_the_entry() {
    let error = refused("many", 1500, &["--arg", "i32:1"]);
    assert!(
        error.contains("kernel `vadd` takes 9 arguments, not 10"),
        "{error}"
    );
    let error = refused("entry", 1500, &["--entry", "other"]);
    assert!(error.contains("no entry `other`"), "{error}");
    assert!(error.contains("its entries: vadd"), "{error}");
}

#[test]
fn arguments_must_be_readable() {
    let error = refused("missing", 1500, &["--arg", "in:no.npy"]);
    assert!(
        error.contains("argument 9: cannot read 'no.npy'"),
        "{error}"
    );
    let error = refused("raw", 1500, &["--arg", "in:a.npy:bf16"]);
    assert!(
        error.contains("must hold unsigned integers of 2 bytes"),
        "{error}"
    );
    let error = refused("kind", 1500, &["--arg", "u8:1"]);
    assert!(error.contains("`u8` is no kind of argument"), "{error}");
}

/// The estimate names whose figures it takes, and is there beside the results.
#[test]
fn the_simulator_estimates_times() {
    let (success, stderr) = vector_add(
        "time",
        1500,
        1500,
        &["--engine", "sim", "--time", "--gpu", "a100"],
    );
    assert!(success, "{stderr}");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("run/time/c.npy");
    assert_eq!(std::fs::read(path).expect("a file"), npy(&[2.0; 1500]));
    let error = refused(
        "no-such-gpu",
        1500,
        &["--engine", "sim", "--time", "--gpu", "x"],
    );
    assert!(error.contains("no GPU `x`; there are A100"), "{error}");
    let error = refused("eval-time", 1500, &["--time"]);
    assert!(error.contains("add --engine sim"), "{error}");
}
