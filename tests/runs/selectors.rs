//! What libNVVM selects for the nvvm stage, run in the PTX simulator, against what numpy and ml_dtypes computed.

use std::path::Path;
use std::process::Command;

use crate::{resident, runs, toolkit};
use runs::Known;

/// Lines of the source reach what another selector makes of a module, in both dialects.
#[test]
fn lines_reach_the_ptx() {
    let root = toolkit::repository_root();
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for target in ["sm_80", "sm_100a"] {
        let [text, ptx, cubin] =
            ["ll", "ptx", "cubin"].map(|e| scratch.join(format!("lines_{target}.{e}")));
        let mut compile = Command::new(env!("CARGO_BIN_EXE_tilec"));
        compile
            .arg("compile")
            .arg(root.join("tests/corpus/bytecode/softmax/f32_4x256.tilebc"))
            .args([
                "--emit",
                "nvvm-ir",
                "--lineinfo",
                "--gpu-name",
                target,
                "-o",
            ])
            .arg(&text);
        let mut select = Command::new(root.join("tools/libnvvm"));
        select
            .arg(&text)
            .arg("-o")
            .arg(&ptx)
            .args(["--gpu-name", target]);
        let mut assemble = Command::new(toolkit::ptxas());
        assemble
            .args(["-arch", target])
            .arg(&ptx)
            .arg("-o")
            .arg(&cubin);
        for mut command in [compile, select, assemble] {
            let output = command.output().expect("it runs");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{command:?}: {said}");
        }
        let ptx = std::fs::read_to_string(&ptx).expect("PTX");
        assert!(
            ptx.contains("tests/corpus/softmax.py"),
            "{target} has no file"
        );
        // The load, and the exponentials.
        for line in ["\t.loc\t1 16", "\t.loc\t1 19"] {
            assert!(ptx.contains(line), "{target} has no {line:?}");
        }
    }
}

/// What fails, and how.
const KNOWN: &[Known] = &[];

/// The runs whose names start with `prefix`, for each target.
fn check(prefix: &str, targets: &[&str]) {
    let program = resident::selector().to_str().expect("a name in UTF-8");
    let engines: Vec<Vec<&str>> = targets
        .iter()
        .map(|t| vec!["--engine", "sim", "--gpu-name", t, "--selector", program])
        .collect();
    let engines: Vec<&[&str]> = engines.iter().map(Vec::as_slice).collect();
    runs::check_all(&[prefix], &engines, KNOWN);
}

macro_rules! selected {
    ($($test:ident: $prefix:literal $($target:literal)*;)*) => { $(
        #[test]
        fn $test() {
            check($prefix, &[$($target),*]);
        }
    )* };
}

// Two targets for each dialect and each way to feed a matmul.
selected! {
    vadd: "vadd/" "sm_75" "sm_100a";
    softmax: "softmax/" "sm_80" "sm_90a";
    matmul: "matmul/" "sm_80" "sm_90a" "sm_100a";
    converts: "ops_convert/" "sm_80" "sm_100a";
    floats: "ops_float/" "sm_90a" "sm_100a";
    integers: "ops_integer/" "sm_80" "sm_100a";
    atomics: "ops_atomic/" "sm_90a";
    control: "ops_control/" "sm_80" "sm_100a";
    reductions: "ops_reduce/" "sm_80";
    prints: "ops_debug/" "sm_80" "sm_100a";
    attention: "programs_attention/" "sm_90a";
}
