//! Kernel arguments on the command line, and the `.npy` files behind them.

use std::path::{Path, PathBuf};

use crate::eval::Elem;
use crate::scalar::{FloatFormat, Overflow, Rounding, int};

/// A parsed `--arg`.
#[derive(Debug)]
pub enum Arg {
    Buffer(Buffer),
    Scalar { elem: Elem, bits: u64 },
}

/// A device buffer filled from a file.
#[derive(Debug)]
pub struct Buffer {
    pub path: PathBuf,
    pub write_back: bool,
    /// The whole file; the elements start at `data_at`.
    bytes: Vec<u8>,
    data_at: usize,
}

/// What may follow a file's name, and the bytes of the unsigned integers that the file then holds.
const RAW: [(&str, u64); 7] = [
    ("bf16", 2),
    ("tf32", 4),
    ("f8e4m3fn", 1),
    ("f8e5m2", 1),
    ("f8e8m0fnu", 1),
    ("fnv8e5m3fnu", 1),
    ("f4e2m1fn", 1),
];

impl Arg {
    pub fn parse(text: &str) -> Result<Self, String> {
        let (kind, value) = text
            .split_once(':')
            .ok_or_else(|| format!("`{text}` is neither a buffer nor a scalar"))?;
        match kind {
            "in" => Buffer::parse(value, false).map(Arg::Buffer),
            "inout" => Buffer::parse(value, true).map(Arg::Buffer),
            "i1" => integer(1, value),
            "i8" => integer(8, value),
            "i16" => integer(16, value),
            "i32" => integer(32, value),
            "i64" => integer(64, value),
            "f16" => float(FloatFormat::F16, value),
            "f32" => float(FloatFormat::F32, value),
            "f64" => float(FloatFormat::F64, value),
            _ => Err(format!("`{kind}` is no kind of argument")),
        }
    }
}

/// An integer, signed or unsigned, decimal or `0x…`.
fn integer(width: u32, text: &str) -> Result<Arg, String> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let magnitude = match digits.strip_prefix("0x") {
        Some(hex) => i128::from_str_radix(hex, 16),
        None => digits.parse::<i128>(),
    };
    let value = magnitude.map_err(|_| format!("`{text}` is not an integer"))?;
    let value = if negative { -value } else { value };
    let fits = value >= -(1_i128 << (width - 1)) && value < 1_i128 << width;
    if !fits || digits.starts_with(['-', '+']) {
        return Err(format!("`{text}` is not an integer of {width} bits"));
    }
    Ok(Arg::Scalar {
        elem: Elem::Int(width),
        bits: value as u64 & int::mask(width),
    })
}

fn float(format: FloatFormat, text: &str) -> Result<Arg, String> {
    let wrong = |_| format!("`{text}` is not a number");
    let bits = match format {
        // Rounded once from the decimal.
        FloatFormat::F32 => u64::from(text.parse::<f32>().map_err(wrong)?.to_bits()),
        _ => format.encode(
            text.parse::<f64>().map_err(wrong)?,
            Rounding::NearestEven,
            Overflow::Ieee,
        ),
    };
    Ok(Arg::Scalar {
        elem: Elem::Float(format),
        bits,
    })
}

impl Buffer {
    fn parse(text: &str, write_back: bool) -> Result<Self, String> {
        let (path, raw) = match text.rsplit_once(':') {
            Some((path, suffix)) if RAW.iter().any(|(name, _)| *name == suffix) => {
                (path, RAW.iter().find(|(name, _)| *name == suffix))
            }
            _ => (text, None),
        };
        let bytes = std::fs::read(path).map_err(|e| format!("cannot read '{path}': {e}"))?;
        let (data_at, dtype) =
            header(&bytes).map_err(|e| format!("'{path}' is not a usable .npy file: {e}"))?;
        if let Some((name, size)) = raw
            && (dtype.type_char() != npyz::TypeChar::Uint || dtype.size_field() != *size)
        {
            return Err(format!(
                "'{path}' must hold unsigned integers of {size} bytes to be {name}, not {dtype}"
            ));
        }
        Ok(Self {
            path: Path::new(path).to_owned(),
            write_back,
            bytes,
            data_at,
        })
    }

    /// The elements.
    pub fn data(&self) -> &[u8] {
        self.bytes.get(self.data_at..).unwrap_or(&[])
    }

    /// Replaces the elements, as many as there are.
    pub fn set_data(&mut self, data: &[u8]) {
        if let Some(place) = self.bytes.get_mut(self.data_at..)
            && place.len() == data.len()
        {
            place.copy_from_slice(data);
        }
    }

    /// The file's bytes.
    pub fn file(&self) -> &[u8] {
        &self.bytes
    }
}

/// Where a file's elements start, and their type. Only plain little-endian arrays in C order can
/// be memory as they are.
fn header(bytes: &[u8]) -> Result<(usize, npyz::TypeStr), String> {
    let mut rest = bytes;
    let header = npyz::NpyHeader::from_reader(&mut rest).map_err(|e| e.to_string())?;
    let npyz::DType::Plain(dtype) = header.dtype() else {
        return Err("its elements are records".into());
    };
    if dtype.endianness() == npyz::Endianness::Big {
        return Err("its elements are big-endian".into());
    }
    if header.order() == npyz::Order::Fortran && header.shape().len() > 1 {
        return Err("it is in Fortran order".into());
    }
    let size = dtype.num_bytes().ok_or("its elements have no fixed size")?;
    let count = header
        .shape()
        .iter()
        .try_fold(size as u64, |n, &extent| n.checked_mul(extent));
    if dtype.uses_pickled_array() || count != Some(rest.len() as u64) {
        return Err("its size does not agree with its header".into());
    }
    Ok((bytes.len() - rest.len(), dtype))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scalar(text: &str) -> Result<u64, String> {
        match Arg::parse(text)? {
            Arg::Scalar { bits, .. } => Ok(bits),
            Arg::Buffer(_) => Err("a buffer".into()),
        }
    }

    #[test]
    fn scalars() {
        assert_eq!(scalar("i1:1"), Ok(1));
        assert_eq!(scalar("i8:-1"), Ok(0xff));
        assert_eq!(scalar("i8:255"), Ok(0xff));
        assert_eq!(scalar("i32:0x10"), Ok(16));
        assert_eq!(scalar("i64:-9223372036854775808"), Ok(1 << 63));
        assert_eq!(scalar("f16:1.5"), Ok(0x3e00));
        assert_eq!(scalar("f32:-inf"), Ok(0xff80_0000));
        assert_eq!(scalar("f64:2"), Ok(0x4000_0000_0000_0000));
        for wrong in [
            "i1:2", "i8:256", "i8:-129", "i32:", "i32:--1", "f32:x", "f8:1", "7", "i16:1.0",
        ] {
            assert!(scalar(wrong).is_err(), "{wrong}");
        }
    }
}
