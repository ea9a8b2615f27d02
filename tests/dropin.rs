//! tilec where an assembler of Tile IR is expected: what it writes is enough to launch a kernel.

#[path = "common/toolkit.rs"]
mod toolkit;

use std::path::{Path, PathBuf};
use std::process::Command;

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/corpus/bytecode")
        .join(name)
}

/// What `tilec compile` writes to standard output.
fn compile(args: &[&str]) -> Vec<u8> {
    let done = Command::new(env!("CARGO_BIN_EXE_tilec"))
        .args(["compile", "--gpu-name", "sm_90a"])
        .arg(corpus("matmul/f16_128x128x64.tilebc"))
        .args(args)
        .output()
        .expect("tilec runs");
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && stderr.is_empty(), "{stderr}");
    done.stdout
}

#[test]
fn the_manifest_travels_in_ptx_and_cubin() {
    let manifest = compile(&["--emit", "manifest"]);
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).expect("JSON");
    assert_eq!(manifest["entries"][0]["tensor_maps"][0]["element"], "f16");

    let ptx = String::from_utf8(compile(&["--embed-manifest"])).expect("text");
    let (_, constant) = ptx
        .split_once(".global .align 1 .b8 __tilec_manifest[")
        .expect("the constant");
    let (count, rest) = constant.split_once("] = {").expect("its length");
    let (bytes, _) = rest.split_once('}').expect("its end");
    let bytes: Vec<u8> = bytes
        .split(", ")
        .map(|b| b.parse().expect("a byte"))
        .collect();
    assert_eq!(count.parse(), Ok(bytes.len()));
    let read: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
    assert_eq!(read, manifest);

    let ptxas = toolkit::ptxas();
    let ptxas = ptxas.to_str().expect("a path in UTF-8");
    let cubin = compile(&["--embed-manifest", "--emit", "cubin", "--ptxas", ptxas]);
    let holds = |part: &[u8]| cubin.windows(part.len()).any(|w| w == part);
    assert!(holds(&bytes) && holds(b"\0__tilec_manifest\0"));

    let plain = String::from_utf8(compile(&[])).expect("text");
    assert!(!plain.contains("__tilec_manifest"));
}
