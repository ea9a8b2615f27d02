//! `tools/bench/bound`: its parts against published figures (`tools/bench/test_bound.py`), and on a kernel whose loop is
//! known.

use crate::toolkit;
use std::path::PathBuf;
use std::process::{Command, Output};

fn bench() -> PathBuf {
    toolkit::repository_root().join("tools/bench")
}

fn run(command: &mut Command) -> Output {
    let output = command.output().expect("python runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    output
}

#[test]
fn bounds_follow_published_figures() {
    run(Command::new(toolkit::python())
        .args(["-B", "-m", "unittest", "test_bound"])
        .current_dir(bench()));
}

/// A block's tile of 128×256×64 goes to two groups of four warps: a warp's share of an iteration is 16 rows of each of
/// the four products of 64×256×16, and these take all of the tensor cores' time.
#[test]
fn a_matmul_is_bound_by_the_tensor_cores() {
    let module =
        toolkit::repository_root().join("tests/corpus/bytecode/matmul/f16_128x256x64.tilebc");
    let output = run(Command::new(toolkit::python())
        .arg("-B")
        .arg(bench().join("bound.py"))
        .args([
            "--json",
            "--gpu-name",
            "sm_90a",
            "--tilec",
            env!("CARGO_BIN_EXE_tilec"),
        ])
        .arg(module));
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let ours = &found["tilec:f16_128x256x64"];
    assert_eq!(ours["multiply_adds"], 16 * 256 * 64);
    assert_eq!(ours["bound_by"], "tensor");
    assert_eq!(ours["tensor_share"], 1.0);
    assert_eq!(ours["ring_bytes"], 4 * (128 + 256) * 64 * 2);
    assert!(found["tileiras:f16_128x256x64"]["instructions"].is_u64());
}
