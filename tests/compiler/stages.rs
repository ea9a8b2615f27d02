//! Every stage of one small kernel, as printed. Reviewed snapshots: `cargo insta review` after a change.

use std::path::Path;
use std::process::Command;

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
