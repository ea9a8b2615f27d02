//! Boxes of tensors: which global bytes a tensor copy touches, and where they lie in shared memory
//! (PTX ISA 5.5 "Tensors", CUDA driver API "Tensor Map Object Management").

use crate::exec::cluster::Env;
use crate::exec::fault::Trap;
use crate::num::format::{BF16, F16, F32, F64};
use crate::program::inst::AtomOp;
use crate::program::types::Ty;
use crate::tensormap::{Element, Fill, Interleave, MAX_RANK, TensorMap};

/// A box of a tensor.
#[derive(Debug, Clone)]
pub struct Tile {
    /// the tensor
    pub map: TensorMap,
    /// where the box starts, innermost first
    pub coords: [i64; MAX_RANK],
    /// four rows of a two-dimensional tensor instead of a box
    pub rows: Option<[i64; 4]>,
    /// pixels of an im2col map instead of a box: what is added to their coordinates, innermost first
    pub pixels: Option<[u16; 3]>,
}

/// A run of elements along the innermost dimension.
struct Run {
    /// global address of element 0 of the run, which may lie outside
    address: u64,
    /// elements of the run that lie inside the tensor
    inside: std::ops::Range<u64>,
    /// offset in the box, unswizzled
    offset: u64,
}

impl Tile {
    /// Refuses what is not simulated, with its name.
    pub fn check(&self) -> Result<(), Trap> {
        self.map
            .check()
            .map_err(|e| Trap::new(format!("tensor map: {e}")))?;
        if self.map.interleave != Interleave::None {
            return Err(Trap::new(
                "tensor maps with an interleaved layout are not simulated",
            ));
        }
        match (self.map.im2col, self.pixels) {
            (Some(_), None) => Err(Trap::new(
                "an im2col tensor map (cuTensorMapEncodeIm2col) needs an .im2col copy",
            )),
            (None, Some(_)) => Err(Trap::new(
                "an .im2col copy needs an im2col tensor map (cuTensorMapEncodeIm2col)",
            )),
            _ => Ok(()),
        }
    }

    /// Elements per dimension of the box as it lies in shared memory.
    fn extents(&self) -> [u64; MAX_RANK] {
        let mut extents = [1; MAX_RANK];
        if let Some(c) = self.map.im2col {
            return [c.channels.into(), c.pixels.into(), 1, 1, 1];
        }
        for (i, extent) in extents.iter_mut().enumerate().take(self.map.rank) {
            // The innermost dimension ignores its element stride when nothing is interleaved.
            let step = if i == 0 {
                1
            } else {
                u64::from(self.map.element_strides[i])
            };
            *extent = u64::from(self.map.box_dims[i]).div_ceil(step);
        }
        if self.rows.is_some() {
            extents[1] = 4;
        }
        extents
    }

    /// Bytes that the box takes in shared memory, out-of-bounds elements included.
    pub fn bytes(&self) -> u64 {
        self.extents().iter().product::<u64>() * u64::from(self.map.element.bytes())
    }

    /// Coordinates of run `i` of a box, or of four rows.
    fn box_coordinates(&self, i: u64, extents: &[u64; MAX_RANK]) -> [i64; MAX_RANK] {
        let mut rest = i;
        let mut at = self.coords;
        for (d, &extent) in extents.iter().enumerate().take(self.map.rank).skip(1) {
            let step = (rest % extent) as i64;
            rest /= extent;
            at[d] = match self.rows {
                Some(rows) if d == 1 => rows[step as usize & 3],
                _ => self.coords[d] + step * i64::from(self.map.element_strides[d]),
            };
        }
        at
    }

    /// Coordinates of the pixels of an im2col copy (PTX ISA 5.5.4): from the start they walk the bounding box, the
    /// innermost dimension first, and go on at its lower corner in the next image; the offsets are added last.
    fn pixel_coordinates(&self, offsets: [u16; 3]) -> Vec<[i64; MAX_RANK]> {
        let Some(walk) = self.map.im2col else {
            return Vec::new();
        };
        let (rank, mut at) = (self.map.rank, self.coords);
        let spatial = 1..rank - 1;
        let mut pixels = Vec::new();
        for _ in 0..walk.pixels {
            let mut pixel = at;
            for d in spatial.clone() {
                pixel[d] += i64::from(offsets[d - 1]);
            }
            pixels.push(pixel);
            let mut carry = true;
            for d in spatial.clone() {
                let last = self.map.dims[d] as i64 - 1 + i64::from(walk.upper[d - 1]);
                if carry {
                    at[d] += i64::from(self.map.element_strides[d]);
                    carry = at[d] > last;
                    if carry {
                        at[d] = i64::from(walk.lower[d - 1]);
                    }
                }
            }
            at[rank - 1] += i64::from(carry);
        }
        pixels
    }

    fn runs(&self) -> impl Iterator<Item = Run> + '_ {
        let (map, extents) = (&self.map, self.extents());
        let size = u64::from(map.element.bytes());
        let count: u64 = extents[1..].iter().product();
        let pixels = self.pixels.map(|offsets| self.pixel_coordinates(offsets));
        (0..count).map(move |i| {
            let mut valid = true;
            let mut address = map
                .address()
                .wrapping_add_signed(self.coords[0] * size as i64);
            let coordinates = match &pixels {
                Some(pixels) => pixels[i as usize],
                None => self.box_coordinates(i, &extents),
            };
            for (d, &at) in coordinates.iter().enumerate().take(map.rank).skip(1) {
                valid &= at >= 0 && (at as u64) < map.dims[d];
                address = address.wrapping_add((at as u64).wrapping_mul(map.strides[d]));
            }
            let low = (-self.coords[0]).max(0) as u64;
            let high = (map.dims[0] as i64 - self.coords[0]).clamp(0, extents[0] as i64) as u64;
            let inside = if valid && low < high { low..high } else { 0..0 };
            Run {
                address,
                inside,
                offset: i * extents[0] * size,
            }
        })
    }

    /// Where the elements inside the tensor lie in global memory: addresses and bytes.
    pub fn global_ranges(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let size = u64::from(self.map.element.bytes());
        self.runs()
            .filter(|run| !run.inside.is_empty())
            .map(move |run| {
                let address = run.address.wrapping_add(run.inside.start * size);
                (address, (run.inside.end - run.inside.start) * size)
            })
    }

    fn fill(&self) -> Vec<u8> {
        let element = self.map.element;
        let bits = match (self.map.fill, element) {
            (Fill::Zero, _) => 0,
            (Fill::Nan, Element::F16) => F16.nan,
            (Fill::Nan, Element::BF16) => BF16.nan,
            (Fill::Nan, Element::F64) => F64.nan,
            (Fill::Nan, _) => F32.nan,
        };
        let one = bits.to_le_bytes();
        one[..element.bytes() as usize].repeat(self.extents()[0] as usize)
    }

    /// Copies the box from global memory into shared memory of `cta` at `offset`.
    pub fn load(&self, env: &mut Env<'_>, targets: &[(usize, u64)]) -> Result<(), Trap> {
        let size = u64::from(self.map.element.bytes());
        let fill = self.fill();
        let mut row = fill.clone();
        let mut hint = 0;
        for run in self.runs() {
            row.copy_from_slice(&fill);
            if !run.inside.is_empty() {
                let bytes = (run.inside.start * size) as usize..(run.inside.end * size) as usize;
                let address = run.address.wrapping_add(run.inside.start * size);
                env.shared
                    .global
                    .read_bytes(address, &mut row[bytes], &mut hint)?;
            }
            for &(cta, offset) in targets {
                let block = &mut env.ctas[cta];
                for (i, chunk) in row.chunks(16).enumerate() {
                    let at = self.map.swizzle.apply(offset + run.offset + 16 * i as u64) as usize;
                    block.shared[at..at + chunk.len()].copy_from_slice(chunk);
                    block.written[at..at + chunk.len()].fill(true);
                }
            }
        }
        Ok(())
    }

    /// The box's bytes in shared memory, unswizzled.
    pub fn stage(&self, env: &Env<'_>, cta: usize, offset: u64) -> Vec<u8> {
        let mut data = vec![0; self.bytes() as usize];
        for (i, chunk) in data.chunks_mut(16).enumerate() {
            let at = self.map.swizzle.apply(offset + 16 * i as u64) as usize;
            chunk.copy_from_slice(&env.ctas[cta].shared[at..at + chunk.len()]);
        }
        data
    }

    /// Writes staged bytes to global memory; elements outside the tensor are dropped.
    pub fn store(&self, env: &Env<'_>, data: &[u8], reduce: Option<AtomOp>) -> Result<(), Trap> {
        let size = u64::from(self.map.element.bytes());
        let mut hint = 0;
        for run in self.runs().filter(|r| !r.inside.is_empty()) {
            let address = run.address.wrapping_add(run.inside.start * size);
            let start = (run.offset + run.inside.start * size) as usize;
            let bytes = &data[start..start + ((run.inside.end - run.inside.start) * size) as usize];
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
        let mut word = [0; 8];
        word[..size].copy_from_slice(element);
        let value = u64::from_le_bytes(word);
        region.update(offset + (i * size) as u64, size as u32, |old| {
            crate::exec::atomic::combine(op, ty, old, value, 0)
        });
    }
    Ok(())
}
