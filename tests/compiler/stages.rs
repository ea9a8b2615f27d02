//! Every stage of one small kernel, as printed. Reviewed snapshots: `cargo insta review` after a change.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use tilec::compile::{Compiler, Options, Stage};
use tilec::input;

use crate::ssa;

fn emit(kernel: &str, target: &str, stage: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(env!("CARGO_BIN_EXE_tilec"))
        .arg("compile")
        .arg(
            root.join("tests/corpus/bytecode")
                .join(kernel)
                .with_extension("tilebc"),
        )
        .args(["--gpu-name", target, "--emit", stage])
        .output()
        .expect("tilec runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("text")
}

macro_rules! stages {
    ($($test:ident: $kernel:literal $target:literal $stage:literal;)*) => { $(
        #[test]
        fn $test() {
            insta::assert_snapshot!(emit($kernel, $target, $stage));
        }
    )* };
}

stages! {
    vadd_cuda_tile: "vadd/f32" "sm_80" "cuda_tile";
    vadd_nv_tileaa: "vadd/f32" "sm_80" "nv_tileaa";
    vadd_nv_tileas: "vadd/f32" "sm_80" "nv_tileas";
    vadd_nvvm: "vadd/f32" "sm_80" "nvvm";
    vadd_nvvm_ir: "vadd/f32" "sm_80" "nvvm-ir";
    matmul_nvvm_ir_sm_90a: "matmul/f16_64x64x32" "sm_90a" "nvvm-ir";
    softmax_nvvm_ir_sm_100a: "softmax/f32_4x256" "sm_100a" "nvvm-ir";
    vadd_machine: "vadd/f32" "sm_80" "machine";
    vadd_ptx: "vadd/f32" "sm_80" "ptx";
    vadd_manifest: "vadd/f32" "sm_80" "manifest";
    matmul_nv_tileas_sm_80: "matmul/f16_64x64x32" "sm_80" "nv_tileas";
    matmul_nv_tileas_sm_90a: "matmul/f16_64x64x32" "sm_90a" "nv_tileas";
    matmul_manifest_sm_90a: "matmul/f16_64x64x32" "sm_90a" "manifest";
}

/// How often each instruction stands in a PTX. Their order may follow the numbers of types, which reading gives anew.
fn instructions(ptx: &str) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for word in ptx
        .lines()
        .filter_map(|line| line.split_whitespace().next())
    {
        *counts.entry(word).or_default() += 1;
    }
    counts
}

/// What a stage prints reads back, is valid, and compiles on to the same instructions.
#[test]
fn every_stage_compiles_on_from_its_text() {
    for target in ["sm_90a", "sm_100a"] {
        let options = Options::new(target.parse().expect("a known target"));
        let compiler = Compiler::new(options).expect("the built-in rules");
        for path in ssa::bytecode_files() {
            let name = path.display().to_string();
            if !name.contains("/production_") {
                continue;
            }
            let bytes = std::fs::read(&path).expect("a file");
            let read = || input::bytecode(&bytes).expect("a valid module");
            let Ok(straight) = compiler.compile(read()) else {
                continue;
            };
            for stage in [Stage::NvTileaa, Stage::NvTileas, Stage::Nvvm] {
                let text = compiler
                    .lower_to(read(), stage)
                    .expect("it compiles")
                    .text();
                // Their texts name a line of the source, which a module's text does not keep.
                if text.contains("print") || text.contains("assert") {
                    continue;
                }
                let module =
                    input::text(&text, &name).unwrap_or_else(|e| panic!("{stage:?}: {e:?}"));
                let again = compiler
                    .compile(module)
                    .unwrap_or_else(|e| panic!("{name}: {e:?}"));
                assert_eq!(
                    instructions(&again.ptx),
                    instructions(&straight.ptx),
                    "{name} on {target} from {stage:?}"
                );
            }
        }
    }
}

#[test]
fn a_later_stage_has_no_earlier_one() {
    let options = Options::new("sm_90a".parse().expect("a known target"));
    let compiler = Compiler::new(options).expect("the built-in rules");
    let vadd = include_bytes!("../corpus/bytecode/vadd/f32.tilebc");
    let read = || input::bytecode(vadd).expect("a valid module");
    let nvvm = compiler.lower_to(read(), Stage::Nvvm).expect("it compiles");
    let error = compiler
        .lower_to(nvvm.module, Stage::NvTileas)
        .err()
        .expect("an error");
    assert!(
        error.to_string().contains("at a later stage already"),
        "{error}"
    );
}
