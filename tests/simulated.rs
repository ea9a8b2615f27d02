//! What tilec compiles, run in the PTX simulator, against what numpy and ml_dtypes computed.

#[path = "common/npy.rs"]
mod npy;
#[path = "common/runs.rs"]
mod runs;
#[path = "common/toolkit.rs"]
mod toolkit;

use runs::check_all;

macro_rules! simulated {
    ($($target:ident: $($file:ident)*;)*) => { $(
        mod $target {
            $(#[test]
            fn $file() {
                let engine = ["--engine", "sim", "--gpu-name", stringify!($target)];
                super::check_all(&[concat!(stringify!($file), "/")], &engine);
            })*
        }
    )* };
}

simulated! {
    sm_75: ops_convert ops_float ops_integer ops_math;
    sm_80: vadd softmax matmul ops_convert ops_float;
    sm_90a: vadd softmax matmul ops_convert ops_float ops_integer ops_math;
}
