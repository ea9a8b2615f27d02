//! What tilec emits for the three main kernels, and for clusters of blocks, run with many interleavings of warps and completion times of asynchronous
//! work, every check of the simulator on: right on each of them, and no report.

use crate::npy;
use crate::toolkit;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use npy::{Array, Tolerance};
use ptxsim::arguments::Arguments;
use ptxsim::manifest::{EntryManifest, Manifest};
use ptxsim::{Launch, Module};
use serde::Deserialize;

#[derive(Deserialize)]
struct Run {
    entry: String,
    grid: Vec<u32>,
    args: Vec<String>,
    outputs: Vec<RightOutput>,
}

#[derive(Deserialize)]
struct RightOutput {
    file: String,
    expected: String,
    ulp: u64,
    absolute: f64,
    relative: f64,
}

fn text(output: Output) -> String {
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn compiled(case: &str, target: &str, emit: &str) -> String {
    let bytecode = toolkit::repository_root().join(format!("tests/corpus/bytecode/{case}.tilebc"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilec"));
    command
        .arg("compile")
        .arg(bytecode)
        .args(["--gpu-name", target, "--emit", emit]);
    text(command.output().expect("tilec runs"))
}

/// Folders of the runs of a case, written by the corpus.
fn runs(case: &str, target: &str) -> Vec<PathBuf> {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("interleavings")
        .join(format!("{target}-{}", case.replace('/', "-")));
    let mut command = Command::new(toolkit::python());
    command
        .arg(toolkit::repository_root().join("tests/corpus/reference.py"))
        .arg(&out)
        .arg(format!("{case}/"));
    let names = text(command.output().expect("python runs"));
    names.lines().map(|name| out.join(name)).collect()
}

fn launch(ptx: &Module, manifest: &EntryManifest, folder: &Path, seeds: std::ops::Range<u64>) {
    let json = std::fs::read_to_string(folder.join("manifest.json")).expect("a manifest");
    let run: Run = serde_json::from_str(&json).expect("a run");
    let program = ptx
        .entry(Some(&run.entry))
        .unwrap_or_else(|e| panic!("{e}"));
    let mut arguments = Arguments::default();
    for arg in &run.args {
        let (kind, value) = arg.split_once(':').expect("KIND:VALUE");
        let value = match kind {
            "in" | "inout" => folder.join(value).display().to_string(),
            _ => value.to_owned(),
        };
        arguments
            .add(&format!("{kind}:{value}"))
            .unwrap_or_else(|e| panic!("{arg}: {e}"));
    }
    arguments
        .add_tensor_maps(manifest)
        .unwrap_or_else(|e| panic!("{e}"));
    for seed in seeds {
        let mut launch = Launch::new(&program);
        assert!(launch.checks.uninitialised && launch.checks.races);
        for (slot, extent) in launch.grid.iter_mut().zip(&run.grid) {
            *slot = *extent;
        }
        launch.block = manifest.block;
        launch.cluster = manifest.cluster;
        launch.dynamic_shared = manifest.shared_bytes;
        launch.seed = seed;
        launch.args = arguments.args.clone();
        launch.buffers = arguments.buffers.clone();
        let at = format!("{} seed {seed}", folder.display());
        launch.run().unwrap_or_else(|e| panic!("{at}: {e}"));
        arguments
            .write_back(&launch.buffers)
            .unwrap_or_else(|e| panic!("{at}: {e}"));
        for output in &run.outputs {
            let read = |file: &str| Array::read(&folder.join(file), None);
            let tolerance = Tolerance {
                ulp: output.ulp,
                absolute: output.absolute,
                relative: output.relative,
            };
            read(&output.expected)
                .and_then(|want| read(&output.file)?.compare(&want, tolerance))
                .unwrap_or_else(|e| panic!("{at}: {}: {e}", output.file));
        }
    }
}

/// Runs a case's launches, `seeds` interleavings each.
fn check(case: &str, target: &str, seeds: u64) {
    let ptx = Module::new(compiled(case, target, "ptx")).unwrap_or_else(|e| panic!("{e}"));
    let manifest =
        Manifest::parse(&compiled(case, target, "manifest")).unwrap_or_else(|e| panic!("{e}"));
    let [entry] = manifest.entries.as_slice() else {
        panic!("{case} has {} entries", manifest.entries.len());
    };
    let folders = runs(case, target);
    assert!(!folders.is_empty(), "no runs of {case}");
    for (i, folder) in folders.iter().enumerate() {
        // Other seeds for every launch.
        let first = 1 + i as u64 * seeds;
        launch(&ptx, entry, folder, first..first + seeds);
    }
}

macro_rules! interleaved {
    ($($target:ident: $($test:ident $case:literal $seeds:literal,)*;)*) => { $(
        mod $target {
            $(#[test]
            fn $test() {
                super::check($case, stringify!($target), $seeds);
            })*
        }
    )* };
}

interleaved! {
    sm_80:
        vadd "vadd/f16" 32,
        softmax "softmax/f32_4x256" 16,
        matmul "matmul/f16_64x64x32" 32,
        matmul_single "matmul/f32_64x64x32" 8,
    ;
    sm_90a:
        vadd "vadd/f16" 32,
        softmax "softmax/f32_4x256" 16,
        matmul "matmul/f16_64x64x32" 32,
        matmul_large "matmul/f16_128x128x64" 8,
        cluster_rows "production_cluster/plain_f16_256x128" 8,
        cluster_columns "production_cluster/plain_f16_64x128" 4,
        cluster_of_four "production_cluster/by_four_f16_256x128" 4,
        cluster_persistent "production_cluster/persistent_f16_nk" 4,
    ;
    sm_100a:
        cluster_rows "production_cluster/plain_f16_256x128" 8,
        cluster_of_four "production_cluster/by_four_f16_256x128" 4,
        cluster_persistent "production_cluster/persistent_f16" 4,
        cluster_e4m3 "production_cluster/persistent_e4m3" 4,
    ;
    sm_120a:
        vadd "vadd/f16" 8,
        softmax "softmax/f32_4x256" 4,
        matmul "matmul/f16_64x64x32" 8,
    ;
}
