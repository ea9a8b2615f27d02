//! What libNVVM selects for the nvvm stage, run in the PTX simulator, against what numpy and ml_dtypes computed.

use crate::{runs, toolkit};
use runs::Known;

/// What fails, and how.
const KNOWN: &[Known] = &[];

/// The runs whose names start with `prefix`, for each target.
fn check(prefix: &str, targets: &[&str]) {
    let program = toolkit::repository_root().join("tools/libnvvm");
    let program = program.to_str().expect("a name in UTF-8");
    let engines: Vec<Vec<&str>> = targets
        .iter()
        .map(|t| vec!["--engine", "sim", "--gpu-name", t, "--selector", program])
        .collect();
    let engines: Vec<&[&str]> = engines.iter().map(Vec::as_slice).collect();
    runs::check_all("selectors", &[prefix], &engines, KNOWN);
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
