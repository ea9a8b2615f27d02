//! Arrays in `.npy` files, compared element by element.

use std::path::Path;

use tilec::scalar::FloatFormat;

/// An element agrees when both are NaN, or it is within `ulp` units in the last place, or
/// |got − want| ≤ absolute + relative·|want|. All zero: equal patterns.
#[derive(Clone, Copy)]
pub struct Tolerance {
    pub ulp: u64,
    pub absolute: f64,
    pub relative: f64,
}

/// An array as bit patterns.
pub struct Array {
    shape: Vec<u64>,
    /// Integers have none.
    format: Option<FloatFormat>,
    bits: Vec<u64>,
}

impl Array {
    /// Reads a file; `element` names the format of the bits that integers in it stand for.
    pub fn read(path: &Path, element: Option<&str>) -> Result<Self, String> {
        let error = |e: std::io::Error| format!("{}: {e}", path.display());
        let bytes = std::fs::read(path).map_err(error)?;
        let mut rest = bytes.as_slice();
        let header = npyz::NpyHeader::from_reader(&mut rest).map_err(error)?;
        let npyz::DType::Plain(dtype) = header.dtype() else {
            return Err(format!("{}: elements are records", path.display()));
        };
        let size = dtype.num_bytes().ok_or("elements have no size")?;
        let format = match (element, dtype.type_char(), size) {
            (Some("bf16"), ..) => Some(FloatFormat::BF16),
            (Some("tf32"), ..) => Some(FloatFormat::TF32),
            (Some("f8e4m3fn"), ..) => Some(FloatFormat::F8E4M3FN),
            (Some("f8e5m2"), ..) => Some(FloatFormat::F8E5M2),
            (Some("f8e8m0fnu"), ..) => Some(FloatFormat::F8E8M0FNU),
            (Some("fnv8e5m3fnu"), ..) => Some(FloatFormat::F8E5M3FNU),
            (Some("f4e2m1fn"), ..) => Some(FloatFormat::F4E2M1FN),
            (None, npyz::TypeChar::Float, 2) => Some(FloatFormat::F16),
            (None, npyz::TypeChar::Float, 4) => Some(FloatFormat::F32),
            (None, npyz::TypeChar::Float, 8) => Some(FloatFormat::F64),
            (Some(other), ..) => return Err(format!("unknown element type {other}")),
            _ => None,
        };
        let join = |chunk: &[u8]| chunk.iter().rev().fold(0, |v, &b| v << 8 | u64::from(b));
        Ok(Self {
            shape: header.shape().to_vec(),
            format,
            bits: rest.chunks_exact(size).map(join).collect(),
        })
    }

    /// The first differences from the right array.
    pub fn compare(&self, want: &Array, tolerance: Tolerance) -> Result<(), String> {
        if self.shape != want.shape || self.bits.len() != want.bits.len() {
            return Err(format!("shape {:?}, not {:?}", self.shape, want.shape));
        }
        let pairs = self.bits.iter().zip(&want.bits).enumerate();
        let wrong: Vec<String> = pairs
            .filter(|&(_, (&got, &want))| !self.agrees(got, want, tolerance))
            .map(|(i, (&got, &want))| format!("[{i}] {}, not {}", self.show(got), self.show(want)))
            .collect();
        if wrong.is_empty() {
            return Ok(());
        }
        let more = if wrong.len() > 3 { "; …" } else { "" };
        Err(format!(
            "{} of {} elements are wrong: {}{more}",
            wrong.len(),
            self.bits.len(),
            wrong[..wrong.len().min(3)].join("; ")
        ))
    }

    fn agrees(&self, got: u64, want: u64, tolerance: Tolerance) -> bool {
        let Some(format) = self.format else {
            return got == want;
        };
        if got == want || (format.is_nan(got) && format.is_nan(want)) {
            return true;
        }
        if format.is_nan(got) || format.is_nan(want) {
            return false;
        }
        let distance = format
            .total_order_key(got)
            .abs_diff(format.total_order_key(want));
        let (x, y) = (format.decode(got), format.decode(want));
        let close = (x - y).abs() <= tolerance.absolute + tolerance.relative * y.abs();
        let loose = tolerance.absolute > 0.0 || tolerance.relative > 0.0;
        // The keys of the two zeros differ by one though their values do not.
        (tolerance.ulp > 0 && distance <= tolerance.ulp + u64::from((x < 0.0) != (y < 0.0)))
            || (loose && close)
    }

    fn show(&self, bits: u64) -> String {
        match self.format {
            Some(format) => format!("{:?} ({bits:#x})", format.decode(bits)),
            None => format!("{bits:#x}"),
        }
    }
}
