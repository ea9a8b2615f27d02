//! Outputs against right outputs, element by element.

use super::BufferFile;
use crate::num::format::{BF16, E2M1, E4M3, E5M2, F16, F32, F64, Format};

/// The format behind an element type; others are plain bits and must be equal.
fn format(element: &str) -> Option<Format> {
    Some(match element {
        "f16" => F16,
        "bf16" => BF16,
        // In memory it is a whole f32.
        "tf32" => F32,
        "f32" => F32,
        "f64" => F64,
        "f8e4m3fn" => E4M3,
        "f8e5m2" => E5M2,
        "f4e2m1fn" => E2M1,
        _ => return None,
    })
}

/// The first elements that differ by more than the file allows.
pub fn compare(file: &BufferFile, got: &[u8], want: &[u8]) -> Result<(), String> {
    if got.len() != want.len() {
        return Err(format!(
            "{}: {} bytes, not {}",
            file.name,
            got.len(),
            want.len()
        ));
    }
    let format = format(&file.element);
    let size = file.size.clamp(1, 8);
    let mut wrong = (0, String::new());
    for (i, (g, w)) in got.chunks(size).zip(want.chunks(size)).enumerate() {
        let (g, w) = (word(g), word(w));
        if g == w || format.is_some_and(|f| close(file, f, g, w)) {
            continue;
        }
        wrong.0 += 1;
        if wrong.0 <= 3 {
            let show = |bits| {
                format.map_or(format!("{bits:#x}"), |f| {
                    format!("{:?} ({bits:#x})", f.decode(bits))
                })
            };
            wrong.1 += &format!("; [{i}] {}, not {}", show(g), show(w));
        }
    }
    match wrong {
        (0, _) => Ok(()),
        (n, list) => Err(format!("{}: {n} elements are wrong{list}", file.name)),
    }
}

/// Whether both are NaN: PTX does not say which NaN `abs`, `neg` and conversions give (PTX ISA 9.7.3, 9.7.9).
pub fn both_nan(file: &BufferFile, one: &[u8], other: &[u8]) -> bool {
    let nan = |f: Format, bytes: &[u8]| f.decode(word(bytes)).is_nan();
    format(&file.element).is_some_and(|f| nan(f, one) && nan(f, other))
}

fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |w, &b| w << 8 | u64::from(b))
}

fn close(file: &BufferFile, format: Format, got: u64, want: u64) -> bool {
    let (g, w) = (format.decode(got), format.decode(want));
    if g.is_nan() || w.is_nan() {
        return g.is_nan() && w.is_nan();
    }
    // Sign and magnitude as a number that counts representable values.
    let key = |bits: u64| {
        let sign = 1u64 << (8 * file.size - 1);
        if bits & sign != 0 {
            -((bits & !sign) as i128)
        } else {
            i128::from(bits)
        }
    };
    (file.ulp > 0 && key(got).abs_diff(key(want)) <= u128::from(file.ulp))
        || (g - w).abs() <= file.absolute + file.relative * w.abs()
            && file.absolute + file.relative > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(element: &str, ulp: u64, absolute: f64) -> BufferFile {
        BufferFile {
            name: "out".into(),
            file: "in".into(),
            size: 4,
            element: element.into(),
            expected: None,
            scratch: false,
            ulp,
            absolute,
            relative: 0.0,
        }
    }

    #[test]
    fn tolerances_and_bits() {
        let bytes = |x: f32| x.to_le_bytes();
        let next = f32::from_bits(1f32.to_bits() + 1);
        assert!(compare(&file("f32", 0, 0.0), &bytes(1.0), &bytes(1.0)).is_ok());
        assert!(compare(&file("f32", 0, 0.0), &bytes(1.0), &bytes(next)).is_err());
        assert!(compare(&file("f32", 1, 0.0), &bytes(1.0), &bytes(next)).is_ok());
        assert!(compare(&file("u32", 1, 0.0), &bytes(1.0), &bytes(next)).is_err());
        assert!(compare(&file("f32", 0, 0.1), &bytes(1.05), &bytes(1.0)).is_ok());
        assert!(compare(&file("f32", 0, 0.1), &bytes(f32::NAN), &bytes(1.0)).is_err());
        assert!(compare(&file("f32", 0, 0.0), &bytes(1.0), &[]).is_err());
    }
}
