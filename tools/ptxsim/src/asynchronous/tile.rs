//! Boxes of tensors: which global bytes a tensor copy touches, and where they lie in shared memory
//! (PTX ISA 5.5 "Tensors", CUDA driver API "Tensor Map Object Management").

use crate::exec::fault::Trap;
use crate::num::format::{BF16, F16, F32, F64};
use crate::tensormap::{Atomicity, Element, Fill, Im2colMode, Interleave, MAX_RANK, TensorMap};
use std::ops::Range;

/// What a copy moves around its coordinates.
#[derive(Debug, Clone)]
pub enum Shape {
    /// the box of the map
    Box,
    /// four rows of a two-dimensional tensor
    Rows([i64; 4]),
    /// pixels of an im2col map, with what is added to the coordinates of each, innermost first
    Pixels([u16; 3]),
    /// pixels along `W` of an im2col map (PTX ISA 5.5.5)
    Wide {
        /// `im2col::w::128`
        all_128: bool,
        /// pixels after the column
        halo: u16,
        /// added to `W` and its bounds
        offset: u16,
    },
}

/// A part of a tensor.
#[derive(Debug, Clone)]
pub struct Tile {
    /// the tensor
    pub map: TensorMap,
    /// where it starts, innermost first
    pub coords: [i64; MAX_RANK],
    /// what of it
    pub shape: Shape,
}

/// Bytes of which a copy moves whole ones along the innermost dimension.
const GRANULE: i64 = 16;

/// A run of elements along the innermost dimension.
pub(super) struct Run {
    /// global address of element 0 of the run, which may lie outside
    pub(super) address: u64,
    /// bytes of the run that lie inside the tensor
    pub(super) inside: Range<u64>,
    /// offset in the box, unswizzled
    pub(super) offset: u64,
}

impl Tile {
    /// Refuses what is not legal or not simulated, with its name.
    pub fn check(&self, store: bool) -> Result<(), Trap> {
        self.map
            .check()
            .map_err(|e| Trap::new(format!("tensor map: {e}")))?;
        let mode = self.map.im2col.map(|walk| walk.mode);
        let wanted = match self.shape {
            Shape::Box | Shape::Rows(_) => None,
            Shape::Pixels(_) => Some(Im2colMode::Spatial),
            Shape::Wide { all_128: false, .. } => Some(Im2colMode::W),
            Shape::Wide { all_128: true, .. } => Some(Im2colMode::W128),
        };
        if mode != wanted {
            return Err(Trap::new(format!(
                "{} does not go with {}",
                match wanted {
                    None => "a copy of a box",
                    Some(Im2colMode::Spatial) => "an .im2col copy",
                    Some(Im2colMode::W) => "an .im2col::w copy",
                    Some(Im2colMode::W128) => "an .im2col::w::128 copy",
                },
                match mode {
                    None => "a tiled tensor map (cuTensorMapEncodeTiled)",
                    Some(Im2colMode::Spatial) => "an im2col tensor map (cuTensorMapEncodeIm2col)",
                    Some(Im2colMode::W) => "a map of mode W (cuTensorMapEncodeIm2colWide)",
                    Some(Im2colMode::W128) => "a map of mode W128 (cuTensorMapEncodeIm2colWide)",
                }
            )));
        }
        if store && self.map.atomicity == Atomicity::B32Flip8 {
            return Err(Trap::new(
                "a swizzle with an 8-byte flip is for loads from global memory only",
            ));
        }
        self.check_wide()?;
        self.check_start(store)?;
        self.check_interleaved()
    }

    /// A GPU stops with an illegal instruction where the innermost coordinate is no whole granule, and where a store or a
    /// reduction starts before the tensor (seen on an H100).
    fn check_start(&self, store: bool) -> Result<(), Trap> {
        if store && self.coords.iter().any(|&c| c < 0) {
            return Err(Trap::new(format!(
                "a tensor store that starts before the tensor, at {:?} (innermost first)",
                &self.coords[..self.map.rank]
            )));
        }
        let bytes = self.coords[0].wrapping_mul(i64::from(self.map.step_bytes()));
        if self.map.interleave == Interleave::None && bytes.rem_euclid(GRANULE) != 0 {
            return Err(Trap::new(format!(
                "a tensor copy that starts at element {} of the innermost dimension, which is no multiple of 16 bytes",
                self.coords[0]
            )));
        }
        Ok(())
    }

    /// The tile as a store writes it, or a reduction reads and writes it: of the last granule of a row all that is in the
    /// box, inside the tensor or not (seen on an H100).
    pub fn of_whole_granules(mut self) -> Tile {
        let granule = GRANULE.unsigned_abs() / u64::from(self.map.step_bytes()).max(1);
        if self.map.interleave == Interleave::None {
            self.map.dims[0] = self.map.dims[0].next_multiple_of(granule.max(1));
        }
        self
    }

    fn check_wide(&self) -> Result<(), Trap> {
        let Shape::Wide {
            all_128,
            halo,
            offset,
        } = self.shape
        else {
            return Ok(());
        };
        let most = if all_128 { 32 } else { 512 };
        if halo >= most || offset >= 32 {
            return Err(Trap::new(format!(
                "wHalo {halo} is not below {most}, or wOffset {offset} is not below 32"
            )));
        }
        if all_128 && halo > 0 {
            return Err(Trap::new(
                "im2col::w::128 with a halo is not simulated: the ISA only draws where its pixels lie",
            ));
        }
        Ok(())
    }

    fn check_interleaved(&self) -> Result<(), Trap> {
        if self.map.interleave == Interleave::None {
            return Ok(());
        }
        match self.shape {
            Shape::Rows(_) => Err(Trap::new(
                "four rows of an interleaved tensor are not simulated",
            )),
            Shape::Box if self.map.box_dims[self.map.rank - 2] != 1 => Err(Trap::new(
                "a box over several channel slices of an interleaved tensor is not simulated: the documents leave \
                 open what it is; copy one slice at a time",
            )),
            _ => Ok(()),
        }
    }

    /// Steps per dimension of the box as it lies in shared memory.
    fn extents(&self) -> [u64; MAX_RANK] {
        let interleaved = self.map.interleave != Interleave::None;
        if let Some(walk) = self.map.im2col {
            let inner = if interleaved { 1 } else { walk.channels.into() };
            let pixels = match self.shape {
                Shape::Wide { all_128: true, .. } => 128,
                Shape::Wide { halo, .. } => u64::from(walk.pixels) + u64::from(halo),
                _ => walk.pixels.into(),
            };
            return [inner, pixels, 1, 1, 1];
        }
        let mut extents = [1; MAX_RANK];
        for (i, extent) in extents.iter_mut().enumerate().take(self.map.rank) {
            // The innermost dimension ignores its element stride when nothing is interleaved.
            let step = match i {
                0 if !interleaved => 1,
                _ => self.map.element_strides[i],
            };
            *extent = self.map.box_dims[i].div_ceil(step.max(1)).into();
        }
        if let Shape::Rows(_) = self.shape {
            extents[1] = 4;
        }
        extents
    }

    /// Bytes that the box takes in shared memory, out-of-bounds elements included.
    pub fn bytes(&self) -> u64 {
        self.extents().iter().product::<u64>() * u64::from(self.map.step_bytes())
    }

    /// Coordinates of step `i` of a box, or of four rows, in dimension `from` and above.
    fn box_coordinates(&self, i: u64, extents: &[u64; MAX_RANK], from: usize) -> [i64; MAX_RANK] {
        let mut rest = i;
        let mut at = self.coords;
        for (d, &extent) in extents.iter().enumerate().take(self.map.rank).skip(from) {
            let step = (rest % extent) as i64;
            rest /= extent;
            at[d] = match self.shape {
                Shape::Rows(rows) if d == 1 => rows[step as usize & 3],
                _ => self.coords[d] + step * i64::from(self.map.element_strides[d]),
            };
        }
        at
    }

    /// Coordinates of the pixels of an im2col copy (PTX ISA 5.5.4, 5.5.5): from the start they walk the bounding box,
    /// the innermost dimension first, and go on at its lower corner in the next image. The offsets of `.im2col` are
    /// added last; that of `.im2col::w` moves the box and the start. Its halo is the pixels that follow.
    fn pixel_coordinates(&self) -> Vec<[i64; MAX_RANK]> {
        let Some(walk) = self.map.im2col else {
            return Vec::new();
        };
        let (mut added, mut moved) = ([0; 3], 0);
        match self.shape {
            Shape::Pixels(offsets) => added = offsets.map(i64::from),
            Shape::Wide { offset, .. } => moved = i64::from(offset),
            _ => {}
        }
        let (rank, mut at) = (self.map.rank, self.coords);
        let walked: Vec<usize> = self.map.walked(walk.mode).collect();
        at[walked[0]] += moved;
        let mut pixels = Vec::new();
        for _ in 0..self.extents()[1] {
            let mut pixel = at;
            for (i, &d) in walked.iter().enumerate() {
                pixel[d] += added[i];
            }
            pixels.push(pixel);
            let mut carry = true;
            for (i, &d) in walked.iter().enumerate() {
                let last = self.map.dims[d] as i64 - 1 + i64::from(walk.upper[i]) + moved;
                if carry {
                    at[d] += i64::from(self.map.element_strides[d]);
                    carry = at[d] > last;
                    if carry {
                        at[d] = i64::from(walk.lower[i]) + moved;
                    }
                }
            }
            at[rank - 1] += i64::from(carry);
        }
        pixels
    }

    pub(super) fn runs(&self) -> impl Iterator<Item = Run> + '_ {
        let (map, extents) = (&self.map, self.extents());
        let size = u64::from(map.step_bytes());
        // Slices of an interleaved tensor need not be neighbours; each is a run of its own.
        let interleaved = map.interleave != Interleave::None;
        let (from, length) = if interleaved { (0, 1) } else { (1, extents[0]) };
        let count: u64 = extents[from..].iter().product();
        let pixels = map.im2col.map(|_| self.pixel_coordinates());
        (0..count).map(move |i| {
            let at = match &pixels {
                Some(pixels) => pixels[i as usize],
                None => self.box_coordinates(i, &extents, from),
            };
            let mut valid = true;
            let mut address = map.address().wrapping_add_signed(at[0] * size as i64);
            for (d, &at) in at.iter().enumerate().take(map.rank).skip(1) {
                valid &= at >= 0 && (at as u64) < map.dims[d];
                address = address.wrapping_add((at as u64).wrapping_mul(map.strides[d]));
            }
            let low = (-at[0]).max(0) as u64;
            let high = (map.dims[0] as i64 - at[0]).clamp(0, length as i64) as u64;
            let inside = if valid && low < high {
                low * size..high * size
            } else {
                0..0
            };
            Run {
                address,
                inside,
                offset: i * length * size,
            }
        })
    }

    /// Where the elements inside the tensor lie in global memory: addresses and bytes.
    pub fn global_ranges(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.runs().filter(|run| !run.inside.is_empty()).map(|run| {
            let address = run.address.wrapping_add(run.inside.start);
            (address, run.inside.end - run.inside.start)
        })
    }

    /// Where those elements lie in the box, unswizzled: first byte and the one behind the last.
    pub fn box_ranges(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.runs()
            .filter(|run| !run.inside.is_empty())
            .map(|run| (run.offset + run.inside.start, run.offset + run.inside.end))
    }

    /// What a run outside the tensor reads as.
    pub(super) fn fill(&self) -> Vec<u8> {
        let element = self.map.element;
        let bytes = match self.map.interleave {
            Interleave::None => self.extents()[0] as usize * element.bytes() as usize,
            _ => self.map.step_bytes() as usize,
        };
        let bits = match (self.map.fill, element) {
            (Fill::Zero, _) => 0,
            (Fill::Nan, Element::F16) => F16.nan,
            (Fill::Nan, Element::BF16) => BF16.nan,
            (Fill::Nan, Element::F64) => F64.nan,
            (Fill::Nan, _) => F32.nan,
        };
        let one = &bits.to_le_bytes()[..element.bytes() as usize];
        one.iter().copied().cycle().take(bytes).collect()
    }
}
