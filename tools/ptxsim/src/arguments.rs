//! Kernel arguments as the command line writes them, the `.npy` files behind them, and the tensor maps that a manifest
//! adds.

use crate::argument::{Arg, Buffer};
use crate::manifest::{EntryManifest, TensorMapManifest};
use crate::num::format::{BF16, F16, Format, Overflow, Round};
use crate::tensormap::{
    Atomicity, Element, Fill, Interleave, MAX_RANK, MapBase, Swizzle, TensorMap,
};
use std::path::{Path, PathBuf};

/// Arguments of a launch with the buffers that they name.
#[derive(Debug, Default)]
pub struct Arguments {
    /// one per entry parameter
    pub args: Vec<Arg>,
    /// device buffers
    pub buffers: Vec<Buffer>,
    /// files to write back, by buffer, with what precedes their data
    files: Vec<(usize, PathBuf, Vec<u8>)>,
}

/// Raw-bit suffixes of file arguments with the bytes of one element.
const RAW: &[(&str, u64)] = &[
    ("bf16", 2),
    ("tf32", 4),
    ("f8e4m3fn", 1),
    ("f8e5m2", 1),
    ("f8e8m0fnu", 1),
    ("f4e2m1fn", 1),
];

impl Arguments {
    /// Adds one argument: `in:FILE.npy`, `inout:FILE.npy` with an optional raw type, `zeros:BYTES`, or `TYPE:VALUE`.
    pub fn add(&mut self, text: &str) -> Result<(), String> {
        let Some((kind, value)) = text.split_once(':') else {
            return Err(format!(
                "argument `{text}` is neither a file nor TYPE:VALUE"
            ));
        };
        match kind {
            "in" => self.add_file(value, false),
            "inout" => self.add_file(value, true),
            "zeros" => self.add_zeros(value),
            _ => {
                self.args.push(Arg::Scalar(scalar(kind, value)?));
                Ok(())
            }
        }
    }

    /// A buffer that no file holds.
    fn add_zeros(&mut self, text: &str) -> Result<(), String> {
        let bytes: u32 = text
            .parse()
            .map_err(|_| format!("`{text}` is no number of bytes below 2^32"))?;
        let index = self.buffers.len();
        self.buffers.push(Buffer {
            name: format!("buffer {index}"),
            bytes: vec![0; bytes as usize],
        });
        self.args.push(Arg::buffer(index));
        Ok(())
    }

    fn add_file(&mut self, text: &str, write_back: bool) -> Result<(), String> {
        let suffix = text
            .rsplit_once(':')
            .and_then(|(path, s)| RAW.iter().find(|(n, _)| *n == s).map(|r| (path, r)));
        let path = Path::new(suffix.map_or(text, |(path, _)| path));
        let fail = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
        let bytes = std::fs::read(path).map_err(|e| fail(&e))?;
        let mut rest = bytes.as_slice();
        let header = npyz::NpyHeader::from_reader(&mut rest).map_err(|e| fail(&e))?;
        let size = match header.dtype() {
            npyz::DType::Plain(ty) => ty.size_field(),
            _ => return Err(fail(&"structured arrays are not supported")),
        };
        if header.order() != npyz::Order::C && header.shape().len() > 1 {
            return Err(fail(&"arrays must be in C order"));
        }
        if let Some((_, (name, width))) = suffix.filter(|(_, (_, width))| *width != size) {
            return Err(fail(&format!(
                "`{name}` needs integers of {width} bytes, the file has {size}"
            )));
        }
        let (head, data) = bytes.split_at(bytes.len() - rest.len());
        let index = self.buffers.len();
        let name = path
            .file_stem()
            .map_or(text.into(), |s| s.to_string_lossy().into_owned());
        self.buffers.push(Buffer {
            name,
            bytes: data.to_vec(),
        });
        self.args.push(Arg::buffer(index));
        if write_back {
            self.files.push((index, path.to_owned(), head.to_vec()));
        }
        Ok(())
    }

    /// Adds the hidden tensor maps of a manifest, at their places.
    pub fn add_tensor_maps(&mut self, entry: &EntryManifest) -> Result<(), String> {
        let mut maps: Vec<_> = entry.tensor_maps.iter().collect();
        maps.sort_by_key(|m| m.param);
        let own = self.args.clone();
        for manifest in maps {
            if manifest.param != self.args.len() {
                return Err(format!(
                    "tensor map is parameter {}, expected {}",
                    manifest.param,
                    self.args.len()
                ));
            }
            self.args.push(Arg::TensorMap(tensor_map(manifest, &own)?));
        }
        Ok(())
    }

    /// Writes `inout:` files back with the buffers' new contents.
    pub fn write_back(&self, buffers: &[Buffer]) -> Result<(), String> {
        for (index, path, head) in &self.files {
            let Some(buffer) = buffers.get(*index) else {
                continue;
            };
            let temporary = path.with_extension("npy.tmp");
            let write = std::fs::write(&temporary, [head.as_slice(), &buffer.bytes].concat());
            write
                .and_then(|()| std::fs::rename(&temporary, path))
                .map_err(|e| format!("{}: {e}", path.display()))?;
        }
        Ok(())
    }
}

/// The bytes of `TYPE:VALUE`.
fn scalar(kind: &str, text: &str) -> Result<Vec<u8>, String> {
    let bad = || format!("`{text}` is no value of type {kind}");
    let integer = |bits: u32| -> Result<Vec<u8>, String> {
        let (negative, digits) = text.strip_prefix('-').map_or((false, text), |d| (true, d));
        let magnitude = match digits.strip_prefix("0x") {
            Some(hex) => i128::from_str_radix(hex, 16),
            None => digits.parse(),
        };
        let value = magnitude.map_err(|_| bad())? * if negative { -1 } else { 1 };
        if value < -(1i128 << (bits - 1)) || value >= 1i128 << bits {
            return Err(bad());
        }
        Ok(value.to_le_bytes()[..bits as usize / 8].to_vec())
    };
    let narrow = |format: Format| -> Result<Vec<u8>, String> {
        let value: f64 = text.parse().map_err(|_| bad())?;
        Ok(
            (format.encode(value, Round::Nearest, Overflow::Ieee) as u16)
                .to_le_bytes()
                .to_vec(),
        )
    };
    match kind {
        "i8" => integer(8),
        "i16" => integer(16),
        "i32" => integer(32),
        "i64" => integer(64),
        "f16" => narrow(F16),
        "bf16" => narrow(BF16),
        "f32" => Ok(text
            .parse::<f32>()
            .map_err(|_| bad())?
            .to_le_bytes()
            .to_vec()),
        "f64" => Ok(text
            .parse::<f64>()
            .map_err(|_| bad())?
            .to_le_bytes()
            .to_vec()),
        _ => Err(format!(
            "`{kind}` is no kind of argument (in, inout, i8 … i64, f16, f32, f64)"
        )),
    }
}

/// A manifest's recipe with the entry's own arguments put in.
pub fn tensor_map(manifest: &TensorMapManifest, own: &[Arg]) -> Result<TensorMap, String> {
    let value = |i: usize| match own.get(i) {
        Some(Arg::Scalar(bytes)) if bytes.len() <= 8 && !bytes.is_empty() => {
            let word = bytes.iter().rev().fold(0u64, |w, &b| w << 8 | u64::from(b));
            Some(crate::num::int::sign_extend(word, 8 * bytes.len() as u32))
        }
        _ => None,
    };
    let extra = manifest
        .base_offset
        .as_ref()
        .map_or(Ok(0), |e| e.evaluate(&value))?;
    let base = match own.get(manifest.base) {
        Some(Arg::Buffer { index, offset }) => MapBase::Buffer {
            index: *index,
            offset: offset.wrapping_add_signed(extra),
        },
        // An address as a driver passes it.
        Some(Arg::Scalar(bytes)) if bytes.len() == 8 => {
            let address = bytes.iter().rev().fold(0u64, |a, &b| a << 8 | u64::from(b));
            MapBase::Address(address.wrapping_add_signed(extra))
        }
        _ => {
            return Err(format!(
                "tensor map base is parameter {}, which is no buffer",
                manifest.base
            ));
        }
    };
    let number = |e: &crate::manifest::Expr| e.evaluate(&value).map(|v| v as u64);
    // Hardware knows no empty dimension: of a tensor that has one, a launcher makes a map with extent 1.
    let extent = |e| number(e).map(|extent| extent.max(1));
    let dims: Vec<u64> = manifest.dims.iter().map(extent).collect::<Result<_, _>>()?;
    let strides: Vec<u64> = manifest
        .strides_bytes
        .iter()
        .map(number)
        .collect::<Result<_, _>>()?;
    if dims.len() > MAX_RANK
        || strides.len() + 1 < dims.len()
        || manifest.box_dims.len() != dims.len()
    {
        return Err("tensor map has ill-matched dimensions, strides and box".into());
    }
    let unknown = |what: &str, name: &str| format!("tensor map {what} `{name}` is unknown");
    let element =
        Element::parse(&manifest.element).ok_or_else(|| unknown("element", &manifest.element))?;
    let mut map = TensorMap::tiled(base, element, &dims, &strides, &manifest.box_dims);
    for (to, &from) in map
        .element_strides
        .iter_mut()
        .zip(&manifest.element_strides)
    {
        *to = from;
    }
    (map.swizzle, map.atomicity) = match manifest.swizzle.as_str() {
        "128B_atom_32B" => (Swizzle::B128, Atomicity::B32),
        plain => (
            Swizzle::parse(plain).ok_or_else(|| unknown("swizzle", plain))?,
            Atomicity::B16,
        ),
    };
    map.interleave = match manifest.interleave.as_str() {
        "none" => Interleave::None,
        "16B" => Interleave::B16,
        "32B" => Interleave::B32,
        other => return Err(unknown("interleave", other)),
    };
    map.fill = match manifest.oob_fill.as_str() {
        "zero" => Fill::Zero,
        "nan" => Fill::Nan,
        other => return Err(unknown("fill", other)),
    };
    Ok(map)
}

#[cfg(test)]
mod tests {
    use super::scalar;

    #[test]
    fn scalars_read_or_fail() {
        assert_eq!(scalar("i32", "-2").unwrap(), (-2i32).to_le_bytes());
        assert_eq!(scalar("i8", "255").unwrap(), [255]);
        assert_eq!(scalar("f16", "1.5").unwrap(), 0x3e00u16.to_le_bytes());
        for (kind, text) in [
            ("i8", "256"),
            ("i8", "-129"),
            ("i32", "x"),
            ("f32", ""),
            ("u9", "1"),
        ] {
            assert!(scalar(kind, text).is_err(), "{kind}:{text}");
        }
    }
}
