//! What tilec compiles, run in the PTX simulator, against what numpy and ml_dtypes computed: every
//! run of the corpus, for the targets with the most different strategies.

use crate::runs;
use runs::Known;

/// What is not compiled right yet, or cannot be, and how it fails. A run that comes right must
/// leave this list: the tests see to it.
const KNOWN: &[Known] = &[
    Known {
        run: "ops_other/assume/assume_false_",
        engine: "",
        // Compiled code relies on assumptions; only the interpreter checks them.
        because: "did not fail with",
    },
    // A gather along elements that share bytes.
    Known {
        run: "ops_types/views/gather_f4E2M1FN",
        engine: "",
        because: "elements of four bits in memory: a tile may start in the middle of a byte",
    },
    Known {
        run: "ops_types/views/scatter_f4E2M1FN",
        engine: "",
        because: "elements of four bits in memory: a tile may start in the middle of a byte",
    },
    Known {
        run: "ops_other/multimem/",
        engine: "sm_80",
        because: "multicast addresses need sm_90 or later",
    },
    Known {
        run: "ops_other/assert/assert_fails",
        engine: "",
        // A failed assertion stops the grid: there are no results.
        because: "y.npy",
    },
];

macro_rules! simulated {
    ($($file:ident: $($target:ident)*;)*) => { $(
        #[test]
        fn $file() {
            let engines: &[&[&str]] = &[
                $(&["--engine", "sim", "--gpu-name", stringify!($target)]),*
            ];
            runs::check_all(&[concat!(stringify!($file), "/")], engines, KNOWN);
        }
    )* };
}

simulated! {
    vadd: sm_80 sm_90a;
    softmax: sm_80 sm_90a;
    matmul: sm_75 sm_80 sm_90a sm_100a sm_120a;
    ops_atomic: sm_80 sm_90a;
    ops_control: sm_80 sm_90a;
    ops_convert: sm_75 sm_80 sm_90a;
    ops_float: sm_75 sm_80 sm_90a;
    ops_debug: sm_80;
    ops_integer: sm_75 sm_90a;
    ops_math: sm_75 sm_90a;
    ops_mma: sm_75 sm_80 sm_90a sm_100a sm_120a;
    ops_other: sm_80 sm_90a;
    ops_pointer: sm_80 sm_90a;
    ops_reduce: sm_80 sm_90a;
    ops_shape: sm_80 sm_90a;
    ops_types: sm_80 sm_90a;
    ops_view: sm_80 sm_90a;
    programs_attention: sm_75 sm_80 sm_90a sm_100a sm_120a;
    programs_control: sm_80 sm_90a;
    programs_gemm: sm_75 sm_80 sm_90a sm_100a sm_120a;
    programs_layers: sm_80 sm_90a sm_100a sm_120a;
    programs_gather: sm_75 sm_80 sm_90a;
    programs_memory: sm_80 sm_90a;
    programs_models: sm_80 sm_90a sm_100a sm_120a;
    programs_norm: sm_80 sm_90a;
    programs_numeric: sm_75 sm_90a;
    production_gemm: sm_75 sm_80 sm_90a sm_100a sm_120a;
    production_attention: sm_75 sm_80 sm_90a sm_100a sm_120a;
    production_rows: sm_75 sm_80 sm_90a sm_100a sm_120a;
    production_widened: sm_75 sm_80 sm_89 sm_90a sm_100a sm_120a;
    production_cluster: sm_75 sm_80 sm_90a sm_100a sm_120a;
    production_cuda: sm_75 sm_80 sm_90a sm_100a sm_120a;
}

/// Compute capability 8.9 adds products of 8-bit floats with few bits, too.
#[test]
fn sums_of_eight_bits() {
    let engine = ["--engine", "sim", "--gpu-name", "sm_89"];
    let kernels = ["programs_gemm/eight_bits_sums"];
    runs::check_all(&kernels, &[&engine], KNOWN);
}

/// No pass over selected instructions is needed for right results.
#[test]
fn passes_can_be_left_out() {
    let kernels = ["matmul/f16_128x128x64/", "programs_attention/f16/"];
    let passes: Vec<&str> = tilec::isel::passes::all().map(|p| p.name).collect();
    let mut engines = Vec::new();
    for pass in passes {
        for target in ["sm_80", "sm_90a", "sm_100a"] {
            engines.push(["--engine", "sim", "--gpu-name", target, "--without", pass]);
        }
    }
    let engines: Vec<&[&str]> = engines.iter().map(|e| &e[..]).collect();
    runs::check_all(&kernels, &engines, KNOWN);
}
