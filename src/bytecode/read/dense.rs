//! Constant data: MLIR's raw buffers to one fixed-width element after another.

use crate::bytecode::Result;
use crate::bytecode::cursor::Cursor;
use crate::ir::{Dense, Float, Module, Type, TypeId};

/// The bytes of a constant, without the length before them.
pub fn payload<'a>(mut blob: Cursor<'a>) -> Result<&'a [u8]> {
    let len = blob.count(1, "data bytes")?;
    let bytes = blob.bytes(len)?;
    match blob.remaining() {
        0 => Ok(bytes),
        n => Err(blob.error(format!("{n} bytes after the constant's data"))),
    }
}

/// How MLIR's raw buffer stores elements of a type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::bytecode) enum Storage {
    /// Packed, least significant bit first; a splat is a byte 0 or 0xFF.
    Bits,
    /// So many bytes.
    Bytes(usize),
    /// A byte whose high bits say nothing.
    Nibble,
    /// tf32: the upper 19 bits of the f32 pattern, right-aligned in three bytes.
    Tf32,
}

impl Storage {
    pub fn of(elem: &Type) -> Option<Self> {
        match elem {
            Type::Int(1) => Some(Storage::Bits),
            Type::Int(4) | Type::Float(Float::F4E2M1FN) => Some(Storage::Nibble),
            Type::Int(n) => Some(Storage::Bytes(n.div_ceil(8) as usize)),
            Type::Float(Float::TF32) => Some(Storage::Tf32),
            Type::Float(f) => Some(Storage::Bytes(f.bits().div_ceil(8) as usize)),
            _ => None,
        }
    }
}

impl Storage {
    /// The raw buffer of elements of whole bytes; the reverse of reading one.
    pub fn encode(self, elements: &[u8]) -> Vec<u8> {
        match self {
            Storage::Bytes(_) | Storage::Nibble => elements.to_vec(),
            Storage::Tf32 => {
                let narrow = |b: &[u8]| {
                    let bits = u32::from_le_bytes([b[0], b[1], b[2], b[3]]) >> 13;
                    let [a, b, c, _] = bits.to_le_bytes();
                    [a, b, c]
                };
                elements.chunks_exact(4).flat_map(narrow).collect()
            }
            Storage::Bits => match elements {
                [0] => vec![0x00],
                [_] => vec![0xFF],
                _ => {
                    let pack = |chunk: &[u8]| {
                        (0..8u8)
                            .zip(chunk)
                            .fold(0, |byte, (i, e)| byte | u8::from(*e != 0) << i)
                    };
                    elements.chunks(8).map(pack).collect()
                }
            },
        }
    }
}

/// The data of a constant of type `ty`.
pub fn decode(blob: Cursor, ty: TypeId, module: &Module) -> Result<Dense> {
    let at = blob.clone();
    let raw = payload(blob)?;
    let elem = module.types.get(module.types.elem(ty));
    let storage = module.types.as_tile(ty).and_then(|_| Storage::of(elem));
    let (Some(storage), Some((_, shape))) = (storage, module.types.as_tile(ty)) else {
        return Err(at.error("expect Cuda Tile integer or float type for constant data"));
    };
    let count = shape.iter().try_fold(1u64, |n, &d| n.checked_mul(d));
    let bytes = count.and_then(|n| decode_raw(raw, storage, n));
    bytes
        .map(Dense::Bytes)
        .ok_or_else(|| at.error("failed to validate buffer size and format"))
}

/// One element (a splat) or `count` elements; `None` when the size fits neither.
fn decode_raw(raw: &[u8], storage: Storage, count: u64) -> Option<Vec<u8>> {
    let len = raw.len() as u64;
    match storage {
        Storage::Bits => match raw {
            [0x00] => Some(vec![0]),
            [0xFF] => Some(vec![1]),
            _ if len == count.div_ceil(8) => Some(
                (0..count as usize)
                    .map(|i| raw[i / 8] >> (i % 8) & 1)
                    .collect(),
            ),
            _ => None,
        },
        Storage::Bytes(width) => {
            let full = count.checked_mul(width as u64)?;
            (raw.len() == width || len == full).then(|| raw.to_vec())
        }
        Storage::Nibble => {
            let low = || raw.iter().map(|byte| byte & 0xf).collect();
            (len == 1 || len == count).then(low)
        }
        Storage::Tf32 => {
            let full = count.checked_mul(3)?;
            let widen = |b: &[u8]| (u32::from_le_bytes([b[0], b[1], b[2], 0]) << 13).to_le_bytes();
            (len == 3 || len == full).then(|| raw.chunks_exact(3).flat_map(widen).collect())
        }
    }
}
