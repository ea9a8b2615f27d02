//! Eight- and four-bit float formats against ml_dtypes, over every pattern and every f16 value.

use crate::toolkit;
use std::process::Command;

use tilec::scalar::{FloatFormat, Overflow, Rounding};

const FORMATS: [(FloatFormat, &str); 4] = [
    (FloatFormat::F8E4M3FN, "float8_e4m3fn"),
    (FloatFormat::F8E5M2, "float8_e5m2"),
    (FloatFormat::F8E8M0FNU, "float8_e8m0fnu"),
    (FloatFormat::F4E2M1FN, "float4_e2m1fn"),
];

/// Prints, for each format, the f64 bits of its 256 (or 16) codes, then the code of each f16 value.
const SCRIPT: &str = r#"
import sys, warnings
import numpy as np, ml_dtypes
warnings.simplefilter("ignore")
halves = np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float64)
for name in sys.argv[1:]:
    dtype = np.dtype(getattr(ml_dtypes, name))
    codes = np.arange(16 if "4_" in name else 256, dtype=np.uint8).view(dtype)
    print(*codes.astype(np.float64).view(np.uint64))
    print(*halves.astype(dtype).view(np.uint8))
"#;

fn numbers(line: &str) -> Vec<u64> {
    line.split_whitespace()
        .map(|word| word.parse().expect("a number"))
        .collect()
}

#[test]
fn small_formats_match_ml_dtypes() {
    let output = Command::new(toolkit::python())
        .arg("-c")
        .arg(SCRIPT)
        .args(FORMATS.map(|(_, name)| name))
        .output()
        .expect("python runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).expect("text");
    let mut lines = text.lines();
    for (format, name) in FORMATS {
        let decoded = numbers(lines.next().expect("codes"));
        for (code, &theirs) in decoded.iter().enumerate() {
            let (ours, theirs) = (format.decode(code as u64), f64::from_bits(theirs));
            assert!(
                ours.to_bits() == theirs.to_bits() || (ours.is_nan() && theirs.is_nan()),
                "{name} {code:#x}: {ours}, not {theirs}"
            );
        }
        let encoded = numbers(lines.next().expect("conversions"));
        for (half, &theirs) in encoded.iter().enumerate() {
            let value = FloatFormat::F16.decode(half as u64);
            // The hardware ignores the sign for e8m0 and takes the largest value for e2m1, where
            // ml_dtypes has NaN and -0.
            let by_hardware = (format == FloatFormat::F8E8M0FNU && value.is_sign_negative())
                || (format == FloatFormat::F4E2M1FN && value.is_nan());
            if by_hardware || (format == FloatFormat::F8E8M0FNU && value == 0.0) {
                continue;
            }
            let ours = format.encode(value, Rounding::NearestEven, Overflow::Ieee);
            let both_nan = format.is_nan(ours) && format.is_nan(theirs);
            assert!(
                ours == theirs || both_nan,
                "{name} of {value}: {ours:#x}, not {theirs:#x}"
            );
        }
    }
}
