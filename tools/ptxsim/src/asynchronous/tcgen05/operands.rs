//! Elements of A and B where they are stored: matrices in shared memory, rows in tensor memory, sparse rows.

use super::descriptor::Descriptor;
use super::instruction::Instruction;
use crate::exec::fault::Trap;
use crate::program::inst::MatTy;
use crate::program::tensor::MmaKind;

/// A matrix in shared memory.
#[derive(Debug, Clone, Copy)]
pub struct SharedMatrix {
    /// where
    pub descriptor: Descriptor,
    /// elements along m or n go first
    pub transposed: bool,
    /// bytes of a row along k
    pub bytes: usize,
    /// bytes of an element, where a matrix may be transposed
    pub size: usize,
    /// bytes of each 16 that are no padding
    pub used: u64,
}

/// Bytes of each 16 in shared memory that hold elements.
pub fn used_bytes(kind: MmaKind, ty: MatTy) -> u64 {
    match ty {
        _ if kind.is_packed() => 16,
        MatTy::E2M1 => 8,
        MatTy::E2M3 | MatTy::E3M2 => 12,
        _ => 16,
    }
}

impl SharedMatrix {
    /// Addresses of all 16-byte chunks of some rows.
    pub fn chunks(&self, rows: std::ops::Range<usize>) -> Vec<u64> {
        let d = &self.descriptor;
        if self.transposed {
            let per_chunk = 16 / self.size;
            return (0..self.bytes / self.size)
                .flat_map(|k| {
                    (rows.start / per_chunk..rows.end.div_ceil(per_chunk))
                        .map(move |c| d.mn_major_chunk(c, k))
                })
                .collect();
        }
        rows.flat_map(|row| (0..self.bytes / 16).map(move |c| d.k_major_chunk(row, c)))
            .collect()
    }

    /// The bytes of a row along k.
    pub fn row(&self, shared: &[u8], row: usize) -> Vec<u8> {
        let chunk_at = |at: u64| -> [u8; 16] {
            let mut chunk = [0; 16];
            if let Some(bytes) = shared.get(at as usize..at as usize + 16) {
                chunk.copy_from_slice(bytes);
            }
            chunk
        };
        let mut bytes = Vec::with_capacity(self.bytes);
        if self.transposed {
            let per_chunk = 16 / self.size;
            let at = row % per_chunk * self.size;
            for k in 0..self.bytes / self.size {
                let chunk = chunk_at(self.descriptor.mn_major_chunk(row / per_chunk, k));
                bytes.extend_from_slice(&chunk[at..at + self.size]);
            }
        } else {
            for c in 0..self.bytes / 16 {
                bytes.extend_from_slice(&chunk_at(self.descriptor.k_major_chunk(row, c)));
            }
        }
        bytes
    }
}

/// The codes of a row's elements. Elements of 4 and 6 bits lie in bytes of their own in tensor memory, and 16 to 16 bytes
/// with padding behind them in shared memory, but where the kind has nothing else (9.7.16.10.4).
pub fn codes(kind: MmaKind, ty: MatTy, bytes: &[u8], in_tensor_memory: bool) -> Vec<u64> {
    if kind.is_packed() {
        return bytes
            .iter()
            .flat_map(|b| [u64::from(b & 15), u64::from(b >> 4)])
            .collect();
    }
    let narrow = match ty {
        MatTy::E2M1 => Some(4),
        MatTy::E2M3 | MatTy::E3M2 => Some(6),
        _ => None,
    };
    match narrow {
        Some(bits) if !in_tensor_memory => bytes
            .chunks_exact(16)
            .flat_map(|chunk| unpacked(chunk, bits))
            // As in a byte of its own: four bits lie in the middle.
            .map(|code| if bits == 4 { code << 2 } else { code })
            .collect(),
        _ => {
            let size = ty.container_bits(false) as usize / 8;
            bytes
                .chunks_exact(size)
                .map(|e| e.iter().rev().fold(0, |w, &b| w << 8 | u64::from(b)))
                .collect()
        }
    }
}

/// 16 elements from the beginning of 16 bytes.
pub fn unpacked(chunk: &[u8], bits: usize) -> impl Iterator<Item = u64> {
    let word = chunk
        .iter()
        .rev()
        .fold(0u128, |w, &b| w << 8 | u128::from(b));
    (0..16).map(move |i| (word >> (i * bits)) as u64 & ((1 << bits) - 1))
}

/// Positions in the dense row of the stored elements of a sparse one, from the metadata of its lane: `bit` gives two bits
/// (four for tf32) of a group.
pub fn positions(
    instruction: &Instruction,
    nibble: impl Fn(usize) -> Result<u32, Trap>,
) -> Result<Vec<usize>, Trap> {
    let stored = instruction.stored_k();
    if instruction.kind == MmaKind::Tf32 {
        // One of two is kept.
        return (0..stored)
            .map(|i| match nibble(i)? {
                0b0100 => Ok(2 * i),
                0b1110 => Ok(2 * i + 1),
                other => Err(bad_metadata(other, i)),
            })
            .collect();
    }
    // Two of four are kept, of units that are pairs where elements have 4 bits.
    let unit = if instruction.kind.is_packed() { 2 } else { 1 };
    let mut positions = Vec::with_capacity(stored);
    for group in 0..stored / (2 * unit) {
        let word = nibble(group)?;
        let (first, second) = (word & 3, word >> 2);
        if first >= second && word != 0b0110 {
            return Err(bad_metadata(word, group));
        }
        for kept in [first, second] {
            let at = (4 * group + kept as usize) * unit;
            positions.extend(at..at + unit);
        }
    }
    Ok(positions)
}

fn bad_metadata(word: u32, group: usize) -> Trap {
    Trap::new(format!(
        "sparse tcgen05.mma: metadata {word:#06b} of group {group} says nothing that the ISA knows"
    ))
}
