//! What tensor copies and reductions move.

use super::tile::Tile;
use crate::exec::env::Env;
use crate::exec::fault::Trap;
use crate::exec::memory::word;
use crate::program::inst::AtomOp;
use crate::program::types::Ty;
use crate::tensormap::Element;

impl Tile {
    /// Copies the box from global memory into shared memory of `cta` at `offset`.
    pub fn load(&self, env: &mut Env<'_>, targets: &[(usize, u64)]) -> Result<(), Trap> {
        let (fill, pattern) = (self.fill(), self.map.pattern());
        let piece = pattern.piece();
        let mut row = fill.clone();
        let mut hint = 0;
        for run in self.runs() {
            row.copy_from_slice(&fill);
            if !run.inside.is_empty() {
                let bytes = run.inside.start as usize..run.inside.end as usize;
                let address = run.address.wrapping_add(run.inside.start);
                env.shared
                    .global
                    .read_bytes(address, &mut row[bytes], &mut hint)?;
            }
            if let Element::TF32 | Element::TF32Ftz = self.map.element {
                round_to_tf32(&mut row, self.map.element == Element::TF32Ftz);
            }
            for &(cta, offset) in targets {
                let block = &mut env.ctas[cta];
                for (i, chunk) in row.chunks(piece).enumerate() {
                    let at = pattern.apply(offset + run.offset + (piece * i) as u64) as usize;
                    block.put(at, chunk);
                }
            }
        }
        Ok(())
    }

    /// The box's bytes in shared memory, unswizzled.
    pub fn stage(&self, env: &Env<'_>, cta: usize, offset: u64) -> Vec<u8> {
        let mut data = vec![0; self.bytes() as usize];
        for (i, chunk) in data.chunks_mut(16).enumerate() {
            let at = self.map.pattern().apply(offset + 16 * i as u64) as usize;
            chunk.copy_from_slice(&env.ctas[cta].shared[at..at + chunk.len()]);
        }
        data
    }

    /// Writes staged bytes to global memory; elements outside the tensor are dropped.
    pub fn store(&self, env: &Env<'_>, data: &[u8], reduce: Option<AtomOp>) -> Result<(), Trap> {
        let mut hint = 0;
        for run in self.runs().filter(|r| !r.inside.is_empty()) {
            let address = run.address.wrapping_add(run.inside.start);
            let start = (run.offset + run.inside.start) as usize;
            let bytes = &data[start..start + (run.inside.end - run.inside.start) as usize];
            match reduce {
                None => env.shared.global.write_bytes(address, bytes, &mut hint)?,
                Some(op) => reduce_bytes(
                    env,
                    address,
                    bytes,
                    op,
                    element_type(self.map.element),
                    &mut hint,
                )?,
            }
        }
        Ok(())
    }
}

/// Rounds numbers of `f32` to the nearest `tf32`, ties to even; infinities and NaN stay, and subnormal numbers, too, unless
/// they are to be `flushed` to zero.
fn round_to_tf32(row: &mut [u8], flushed: bool) {
    const DROPPED: u32 = 13;
    const EXPONENT: u32 = 0x7f80_0000;
    for number in row.as_chunks_mut().0 {
        let bits = u32::from_le_bytes(*number);
        let rounded = match bits & EXPONENT {
            EXPONENT => bits,
            0 if flushed => bits & 1 << 31,
            _ => {
                let tie = bits >> DROPPED & 1;
                (bits + (1 << (DROPPED - 1)) - 1 + tie) >> DROPPED << DROPPED
            }
        };
        *number = rounded.to_le_bytes();
    }
}

/// The arithmetic type of a tensor element.
fn element_type(element: Element) -> Ty {
    match element {
        Element::U8 => Ty::U8,
        Element::U16 => Ty::U16,
        Element::U32 => Ty::U32,
        Element::S32 => Ty::S32,
        Element::U64 => Ty::U64,
        Element::S64 => Ty::S64,
        Element::F16 => Ty::F16,
        Element::BF16 => Ty::BF16,
        Element::F64 => Ty::F64,
        _ => Ty::F32,
    }
}

/// Atomically combines bytes into global memory, element by element.
pub fn reduce_bytes(
    env: &Env<'_>,
    address: u64,
    bytes: &[u8],
    op: AtomOp,
    ty: Ty,
    hint: &mut usize,
) -> Result<(), Trap> {
    let size = ty.bytes() as usize;
    let (region, offset) = env
        .shared
        .global
        .locate(address, bytes.len() as u64, hint)?;
    for (i, element) in bytes.chunks_exact(size).enumerate() {
        let value = word(element);
        region.update(offset + (i * size) as u64, size as u32, |old| {
            crate::exec::atomic::combine(op, ty, old, value, 0)
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::round_to_tf32;

    fn rounded(bits: u32, flushed: bool) -> u32 {
        let mut row = bits.to_le_bytes();
        round_to_tf32(&mut row, flushed);
        u32::from_le_bytes(row)
    }

    #[test]
    fn tf32_is_the_nearest_and_even_of_two() {
        // One and half a unit of the last of ten bits: even below; three halves: even above; a bit more than half.
        assert_eq!(rounded(0x3f80_1000, false), 0x3f80_0000);
        assert_eq!(rounded(0x3f80_3000, false), 0x3f80_4000);
        assert_eq!(rounded(0xbf80_1001, false), 0xbf80_2000);
        // The largest f32 has no neighbour but infinity; infinity and NaN stay.
        assert_eq!(rounded(0x7f7f_ffff, false), 0x7f80_0000);
        assert_eq!(rounded(0xff80_0000, false), 0xff80_0000);
        assert_eq!(rounded(0x7fc0_1234, false), 0x7fc0_1234);
        assert_eq!(rounded(0x8000_3000, false), 0x8000_4000);
        assert_eq!(rounded(0x8000_3000, true), 0x8000_0000);
    }
}
