//! What the assembler makes of the matrix products: no warning, no spill, and the instructions that a
//! Hopper kernel is about.

use crate::toolkit;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Assembles a corpus kernel; returns the cubin and what ptxas said.
fn assemble(kernel: &str, target: &str) -> (PathBuf, String) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let stem = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("{}_{target}", kernel.replace(['/', '.'], "_")));
    let (ptx, cubin) = (stem.with_extension("ptx"), stem.with_extension("cubin"));
    let compiled = Command::new(env!("CARGO_BIN_EXE_tilec"))
        .arg("compile")
        .arg(root.join(format!("tests/corpus/bytecode/{kernel}.tilebc")))
        .args(["--gpu-name", target, "-o"])
        .arg(&ptx)
        .output()
        .expect("tilec runs");
    assert!(
        compiled.status.success(),
        "{}",
        String::from_utf8_lossy(&compiled.stderr)
    );
    let output = Command::new(toolkit::ptxas())
        .args(["-v", &format!("-arch={target}"), "-o"])
        .args([&cubin, &ptx])
        .output()
        .expect("ptxas runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{kernel} for {target}:\n{said}");
    (cubin, said)
}

/// The mnemonics of all SASS instructions, without modifiers.
fn mnemonics(cubin: &Path) -> Vec<String> {
    let output = Command::new(toolkit::nvdisasm())
        .arg("-c")
        .arg(cubin)
        .output()
        .expect("nvdisasm runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let instruction = |line: &str| {
        let code = line.split("*/").nth(1)?.split(';').next()?.trim();
        let code = code
            .strip_prefix('@')
            .map_or(code, |p| p.split_once(' ').map_or("", |x| x.1))
            .trim();
        Some(code.split([' ', '.']).next()?.to_owned())
    };
    text.lines()
        .filter(|l| l.trim_start().starts_with("/*"))
        .filter_map(instruction)
        .collect()
}

const MATMULS: [&str; 8] = [
    "matmul/f16_64x64x32",
    "matmul/f16_64x64x32_unaligned",
    "matmul/f16_128x128x64",
    "matmul/f16_128x128x64_v13_1",
    "matmul/f16_128x256x64",
    "matmul/f32_64x64x32",
    "matmul/f32_128x128x64",
    "matmul/f32_128x256x64",
];

#[test]
fn products_assemble_without_warning_or_spill() {
    for target in ["sm_80", "sm_90a"] {
        for kernel in MATMULS {
            let (_, said) = assemble(kernel, target);
            assert!(
                !said.to_lowercase().contains("warning"),
                "{kernel} for {target}:\n{said}"
            );
            assert!(
                said.contains("0 bytes spill stores, 0 bytes spill loads"),
                "{kernel} for {target}:\n{said}"
            );
        }
    }
}

#[test]
fn hopper_products_use_wgmma_and_tma_alone() {
    for kernel in MATMULS.iter().filter(|k| !k.ends_with("unaligned")) {
        let (cubin, _) = assemble(kernel, "sm_90a");
        let sass = mnemonics(&cubin);
        let count = |name: &str| sass.iter().filter(|m| m.as_str() == name).count();
        assert!(count("HGMMA") >= 2, "{kernel}: {} HGMMA", count("HGMMA"));
        assert!(
            count("UTMALDG") >= 2,
            "{kernel}: {} UTMALDG",
            count("UTMALDG")
        );
        // Tensor copies store rows that are known to be of whole 16 bytes (tests/corpus/matmul.py), threads others.
        let whole = kernel.contains("_128x") && !kernel.ends_with("v13_1");
        let (stores, none) = match whole {
            true => ("UTMASTG", "STG"),
            false => ("STG", "UTMASTG"),
        };
        assert!(count(stores) >= 1, "{kernel}: no {stores}");
        for absent in ["HMMA", "LDG", "LDGSTS", none, "LDL", "STL"] {
            assert_eq!(count(absent), 0, "{kernel}: {absent}");
        }
    }
}

#[test]
fn ampere_products_copy_asynchronously() {
    let (cubin, _) = assemble("matmul/f16_128x128x64", "sm_80");
    let sass = mnemonics(&cubin);
    for present in ["HMMA", "LDGSTS", "LDSM"] {
        assert!(sass.iter().any(|m| m == present), "no {present}");
    }
}

/// Where there are tensor copies, a producer brings keys and values; on sm_90a both products are warpgroups'.
#[test]
fn attention_has_a_producer() {
    for (target, matrix, other) in [("sm_90a", "HGMMA", "HMMA"), ("sm_120a", "HMMA", "HGMMA")] {
        let (cubin, said) = assemble("programs_attention/f16_causal_large-13.1", target);
        assert!(said.contains(" 0 bytes spill stores"), "{said}");
        let sass = mnemonics(&cubin);
        let count = |what: &str| sass.iter().filter(|m| *m == what).count();
        assert!(count(matrix) > 0 && count("UTMALDG") > 0, "{target}");
        for absent in [other, "LDGSTS", "LDG"] {
            assert_eq!(count(absent), 0, "{target}: {absent}");
        }
    }
}

/// Attention's loop: keys and values come in asynchronously, the softmax stays within a warp, and
/// each fragment is read next to its products.
#[test]
fn attention_streams_keys_and_values() {
    let kernel = "programs_attention/f16_causal_large-13.1";
    for target in ["sm_80", "sm_89"] {
        let (cubin, said) = assemble(kernel, target);
        assert!(said.contains(" 0 bytes spill stores"), "{said}");
        let ptx = std::fs::read_to_string(cubin.with_extension("ptx")).expect("was written");
        let lines: Vec<&str> = ptx.lines().map(str::trim).collect();
        let start = lines.iter().position(|l| l.starts_with("$L_loop"));
        let start = start.expect("a loop");
        let label = lines[start].trim_end_matches(':');
        let back = |l: &&str| l.contains("bra") && l.contains(label);
        let end = lines.iter().rposition(back).expect("a way back");
        let body = &lines[start..end];
        let count = |what: &str| body.iter().filter(|l| l.contains(what)).count();
        assert_eq!(count("ld.global"), 0, "{target}");
        assert!(count("cp.async.cg") > 0, "{target}");
        // One says that a stage is full.
        assert_eq!(count("bar.sync"), 1, "{target}");
        let held = |l: &str| l.starts_with("ldmatrix.") || l.starts_with("mma.");
        let matrix: Vec<&str> = body.iter().copied().filter(|l| held(l)).collect();
        let run = matrix.chunk_by(|a, b| a.as_bytes()[0] == b.as_bytes()[0]);
        let loads = run.filter(|r| r[0].starts_with('l')).map(<[&str]>::len);
        assert!(loads.max().unwrap_or(0) <= 8, "{target}: {matrix:#?}");
    }
}
