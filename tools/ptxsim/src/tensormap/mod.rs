//! Tensor maps: what `cuTensorMapEncodeTiled` describes, as the hidden 128-byte parameter.
//!
//! The bytes are this simulator's own; the real ones are opaque. `tensormap.replace` edits them through this module.

mod check;
mod element;
mod swizzle;

pub use element::Element;
pub use swizzle::{Atomicity, Pattern, Swizzle};

use serde::{Deserialize, Serialize};

/// Interleave layouts: channels in slices of 16 or 32 bytes, `NC/8HWC8` and `NC/16HWC16` for two-byte channels
/// (PTX ISA 5.5.6).
///
/// The ISA and the driver API leave open how a map describes them; this is the one reading taken here. A step along
/// dimension 0 is a slice: the slices of neighbouring `W` lie side by side, and extents, coordinates and box extents
/// of dimension 0 count them. The dimensions are `W`, `H` and `D` as far as there are any, then the channel slices,
/// then `N`, each of them from dimension 1 on with its own stride. Three to five dimensions then hold one to three
/// spatial ones, as section 5.5.6 has it; nothing but a slice is implicit, so that every stride is given; and the
/// driver's rule that only an interleaved map has an element stride in dimension 0 has a meaning. A box holds one
/// slice of channels, an im2col pixel too, however many channels per pixel the map names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Interleave {
    None,
    B16,
    B32,
}

/// What elements outside the tensor read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Fill {
    Zero,
    Nan,
}

/// Where the tensor starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MapBase {
    /// a buffer of the launch plus an offset in bytes
    Buffer {
        /// index
        index: usize,
        /// bytes
        offset: u64,
    },
    /// a device address
    Address(u64),
}

/// Dimensions of a tensor at most.
pub const MAX_RANK: usize = 5;

/// A tensor map. Dimensions are listed innermost first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorMap {
    /// first element
    pub base: MapBase,
    /// element type
    pub element: Element,
    /// number of dimensions, 1 to 5
    pub rank: usize,
    /// extents in elements
    pub dims: [u64; MAX_RANK],
    /// strides in bytes of dimensions 1 to rank-1, in places 1 to rank-1; place 0 is unused
    pub strides: [u64; MAX_RANK],
    /// box extents in elements
    pub box_dims: [u32; MAX_RANK],
    /// steps between elements
    pub element_strides: [u32; MAX_RANK],
    /// interleave layout
    pub interleave: Interleave,
    /// shared memory swizzle
    pub swizzle: Swizzle,
    /// what the swizzle keeps together
    pub atomicity: Atomicity,
    /// outside elements
    pub fill: Fill,
    /// im2col maps: pixel box corners, channels per pixel, pixels per column
    pub im2col: Option<Im2col>,
}

/// Which dimensions an im2col walk covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Im2colMode {
    /// all spatial ones (`cuTensorMapEncodeIm2col`)
    #[default]
    Spatial,
    /// `W` (`cuTensorMapEncodeIm2colWide`)
    W,
    /// `W`, always 128 pixels
    W128,
}

/// The extra fields of an im2col tensor map (CUDA driver API, `cuTensorMapEncodeIm2col`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Im2col {
    /// lower corner of the pixel box, spatial dimensions innermost first
    pub lower: [i16; 3],
    /// upper corner
    pub upper: [i16; 3],
    /// channels per pixel
    pub channels: u32,
    /// pixels per column
    pub pixels: u32,
    /// dimensions walked
    pub mode: Im2colMode,
}

/// Why hardware would refuse a tensor map.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TensorMapError(pub String);

const MAGIC: u8 = 0xa7;

impl TensorMap {
    /// A map of a dense row-major tensor: no swizzle, zero fill.
    pub fn tiled(
        base: MapBase,
        element: Element,
        dims: &[u64],
        strides: &[u64],
        box_dims: &[u32],
    ) -> TensorMap {
        let mut map = TensorMap {
            base,
            element,
            rank: dims.len().min(MAX_RANK),
            dims: [1; MAX_RANK],
            strides: [0; MAX_RANK],
            box_dims: [1; MAX_RANK],
            element_strides: [1; MAX_RANK],
            interleave: Interleave::None,
            swizzle: Swizzle::None,
            atomicity: Atomicity::B16,
            fill: Fill::Zero,
            im2col: None,
        };
        for (i, &extent) in dims.iter().enumerate().take(map.rank) {
            map.dims[i] = extent;
            map.box_dims[i] = box_dims.get(i).copied().unwrap_or(0);
            if i > 0 {
                map.strides[i] = strides.get(i - 1).copied().unwrap_or(0);
            }
        }
        map
    }

    /// The same map with a device address as its base.
    pub fn resolve(&self, addresses: &[u64]) -> Result<TensorMap, TensorMapError> {
        let mut map = self.clone();
        if let MapBase::Buffer { index, offset } = self.base {
            match addresses.get(index) {
                Some(base) => map.base = MapBase::Address(base + offset),
                None => return Err(TensorMapError(format!("buffer {index} does not exist"))),
            }
        }
        Ok(map)
    }

    /// The device address of the first element.
    pub fn address(&self) -> u64 {
        match self.base {
            MapBase::Address(address) => address,
            MapBase::Buffer { offset, .. } => offset,
        }
    }

    /// Bytes of a step along the innermost dimension.
    pub fn step_bytes(&self) -> u32 {
        match self.interleave {
            Interleave::None => self.element.bytes(),
            Interleave::B16 => 16,
            Interleave::B32 => 32,
        }
    }

    /// The spatial dimensions, innermost first.
    pub fn spatial(&self) -> std::ops::Range<usize> {
        let last = self.rank.saturating_sub(1);
        match self.interleave {
            Interleave::None => 1..last,
            _ => 0..last.saturating_sub(1),
        }
    }

    /// The dimensions that an im2col walk covers.
    pub fn walked(&self, mode: Im2colMode) -> impl Iterator<Item = usize> + use<> {
        let all = match mode {
            Im2colMode::Spatial => 3,
            Im2colMode::W | Im2colMode::W128 => 1,
        };
        self.spatial().take(all)
    }

    /// Where bytes lie in shared memory.
    pub fn pattern(&self) -> Pattern {
        Pattern {
            mode: self.swizzle,
            atomicity: self.atomicity,
        }
    }

    /// Bytes of the innermost box dimension.
    pub fn inner_bytes(&self) -> u32 {
        let elements = self.im2col.map_or(self.box_dims[0], |c| c.channels);
        elements * self.element.bytes()
    }

    /// The simulator's 128 bytes.
    pub fn to_bytes(&self) -> [u8; 128] {
        let mut out = [0; 128];
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            out[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        put(&[
            MAGIC,
            self.element.code(),
            self.rank as u8,
            self.interleave as u8,
            self.swizzle as u8,
            self.fill as u8,
        ]);
        let walk = self.im2col.map_or(0, |c| 1 + c.mode as u8);
        put(&[walk, self.atomicity as u8]);
        put(&self.address().to_le_bytes());
        // Extents up to 2^32 as extent - 1.
        self.dims
            .iter()
            .for_each(|d| put(&(d.wrapping_sub(1) as u32).to_le_bytes()));
        self.strides[1..].iter().for_each(|s| put(&s.to_le_bytes()));
        self.box_dims
            .iter()
            .for_each(|b| put(&(*b as u16).to_le_bytes()));
        self.element_strides.iter().for_each(|s| put(&[*s as u8]));
        if let Some(c) = self.im2col {
            c.lower
                .iter()
                .chain(&c.upper)
                .for_each(|x| put(&x.to_le_bytes()));
            put(&(c.channels as u16).to_le_bytes());
            put(&(c.pixels as u16).to_le_bytes());
        }
        out
    }

    /// What 128 zero bytes are to `tensormap.replace`, which fills in a map field by field.
    pub fn blank() -> TensorMap {
        let mut map = TensorMap::tiled(MapBase::Address(0), Element::U8, &[1], &[], &[0]);
        (map.box_dims, map.element_strides) = ([0; MAX_RANK], [0; MAX_RANK]);
        map
    }

    /// Reads the simulator's 128 bytes.
    pub fn from_bytes(bytes: &[u8; 128]) -> Result<TensorMap, TensorMapError> {
        let fail = |what: &str| TensorMapError(format!("the 128 bytes are no tensor map ({what})"));
        if bytes[0] != MAGIC {
            return Err(fail("they were not made by an encode call"));
        }
        let mut at = 8;
        let mut take = |n: usize| {
            let mut word = [0; 8];
            word[..n].copy_from_slice(&bytes[at..at + n]);
            at += n;
            u64::from_le_bytes(word)
        };
        let base = MapBase::Address(take(8));
        let dims = std::array::from_fn(|_| take(4) + 1);
        let strides = std::array::from_fn(|i| if i == 0 { 0 } else { take(8) });
        let box_dims = std::array::from_fn(|_| take(2) as u32);
        let element_strides = std::array::from_fn(|_| take(1) as u32);
        let mode = match bytes[6] {
            0 => None,
            1 => Some(Im2colMode::Spatial),
            2 => Some(Im2colMode::W),
            3 => Some(Im2colMode::W128),
            _ => return Err(fail("mode")),
        };
        let im2col = mode.map(|mode| Im2col {
            lower: std::array::from_fn(|_| take(2) as i16),
            upper: std::array::from_fn(|_| take(2) as i16),
            channels: take(2) as u32,
            pixels: take(2) as u32,
            mode,
        });
        Ok(TensorMap {
            base,
            element: Element::from_code(bytes[1].into()).ok_or_else(|| fail("element type"))?,
            rank: usize::from(bytes[2]),
            dims,
            strides,
            box_dims,
            element_strides,
            interleave: match bytes[3] {
                0 => Interleave::None,
                1 => Interleave::B16,
                2 => Interleave::B32,
                _ => return Err(fail("interleave")),
            },
            swizzle: Swizzle::from_code(bytes[4].into()).ok_or_else(|| fail("swizzle"))?,
            atomicity: Atomicity::from_code(bytes[7].into()).ok_or_else(|| fail("swizzle"))?,
            fill: if bytes[5] == 0 { Fill::Zero } else { Fill::Nan },
            im2col,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_round_trip() {
        let mut map = TensorMap::tiled(
            MapBase::Address(0x71_0000_0000),
            Element::BF16,
            &[100, 1 << 32, 3],
            &[208, 4096],
            &[64, 8, 1],
        );
        map.swizzle = Swizzle::B128;
        map.fill = Fill::Nan;
        assert_eq!(TensorMap::from_bytes(&map.to_bytes()), Ok(map.clone()));
        map.im2col = Some(Im2col {
            lower: [-1, -2, 0],
            upper: [1, 2, 0],
            channels: 64,
            pixels: 128,
            mode: Im2colMode::W128,
        });
        map.atomicity = Atomicity::B64;
        assert_eq!(TensorMap::from_bytes(&map.to_bytes()), Ok(map));
        assert!(TensorMap::from_bytes(&[0; 128]).is_err());
    }
}
