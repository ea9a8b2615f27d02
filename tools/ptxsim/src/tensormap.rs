//! Tensor maps: what `cuTensorMapEncodeTiled` describes, as the hidden 128-byte parameter.
//!
//! The bytes are this simulator's own; the real ones are opaque. `tensormap.replace` edits them through this module.

use serde::{Deserialize, Serialize};

/// Element types (CUDA driver API, `CUtensorMapDataType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Element {
    U8,
    U16,
    U32,
    S32,
    U64,
    S64,
    F16,
    F32,
    F64,
    BF16,
    F32Ftz,
    TF32,
    TF32Ftz,
}

/// Names in manifests, with the numbers that `tensormap.replace` uses (PTX ISA 9.7.9.28).
const ELEMENTS: &[(&str, Element)] = &[
    ("u8", Element::U8),
    ("u16", Element::U16),
    ("u32", Element::U32),
    ("s32", Element::S32),
    ("u64", Element::U64),
    ("s64", Element::S64),
    ("f16", Element::F16),
    ("f32", Element::F32),
    ("f32_ftz", Element::F32Ftz),
    ("f64", Element::F64),
    ("bf16", Element::BF16),
    ("tf32", Element::TF32),
    ("tf32_ftz", Element::TF32Ftz),
];

impl Element {
    /// By name; `i8`, `i32`, `f8e4m3fn` and the like are the unsigned integer of their width.
    pub fn parse(name: &str) -> Option<Element> {
        let name = name.to_ascii_lowercase();
        let alias = match name.as_str() {
            "i8" | "s8" | "i1" | "f8e4m3fn" | "f8e5m2" | "f8e8m0fnu" => "u8",
            "i16" | "s16" => "u16",
            "i32" => "s32",
            "i64" => "s64",
            other => other,
        };
        ELEMENTS.iter().find(|(n, _)| *n == alias).map(|&(_, e)| e)
    }

    /// By the number of `tensormap.replace.elemtype`.
    pub fn from_code(code: u64) -> Option<Element> {
        ELEMENTS.get(usize::try_from(code).ok()?).map(|&(_, e)| e)
    }

    fn code(self) -> u8 {
        ELEMENTS.iter().position(|&(_, e)| e == self).unwrap_or(0) as u8
    }

    /// Size in bytes.
    pub fn bytes(self) -> u32 {
        match self {
            Element::U8 => 1,
            Element::U16 | Element::F16 | Element::BF16 => 2,
            Element::U64 | Element::S64 | Element::F64 => 8,
            _ => 4,
        }
    }

    /// True for floating-point types, which can fill with NaN.
    pub fn is_float(self) -> bool {
        matches!(
            self,
            Element::F16
                | Element::F32
                | Element::F64
                | Element::BF16
                | Element::F32Ftz
                | Element::TF32
                | Element::TF32Ftz
        )
    }
}

/// Swizzle modes of shared memory, in bytes of the span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Swizzle {
    None,
    B32,
    B64,
    B128,
}

impl Swizzle {
    /// By manifest name.
    pub fn parse(name: &str) -> Option<Swizzle> {
        Some(match name {
            "none" => Swizzle::None,
            "32B" => Swizzle::B32,
            "64B" => Swizzle::B64,
            "128B" => Swizzle::B128,
            _ => return None,
        })
    }

    fn from_code(code: u8) -> Option<Swizzle> {
        [Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128]
            .get(code as usize)
            .copied()
    }

    /// The span in bytes that the innermost box dimension may not exceed.
    pub fn span(self) -> Option<u32> {
        match self {
            Swizzle::None => None,
            Swizzle::B32 => Some(32),
            Swizzle::B64 => Some(64),
            Swizzle::B128 => Some(128),
        }
    }

    /// Where the byte that would lie at shared address `address` really lies: 16-byte chunk numbers are XORed with
    /// bits of the 128-byte row number (PTX ISA 5.5.6).
    #[inline]
    pub fn apply(self, address: u64) -> u64 {
        match self {
            Swizzle::None => address,
            Swizzle::B32 => address ^ (address >> 7 & 1) << 4,
            Swizzle::B64 => address ^ (address >> 7 & 3) << 4,
            Swizzle::B128 => address ^ (address >> 7 & 7) << 4,
        }
    }
}

/// Interleave layouts.
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
    /// outside elements
    pub fill: Fill,
    /// im2col maps: pixel box corners, channels per pixel, pixels per column
    pub im2col: Option<Im2col>,
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

    /// Refuses what `cuTensorMapEncodeTiled` refuses.
    pub fn check(&self) -> Result<(), TensorMapError> {
        let fail = |message: String| Err(TensorMapError(message));
        let wide = self.interleave == Interleave::B32;
        let align = if wide { 32 } else { 16 };
        if !self.address().is_multiple_of(align) {
            return fail(format!(
                "base address {:#x} is no multiple of {align}",
                self.address()
            ));
        }
        if !(1..=MAX_RANK).contains(&self.rank) {
            return fail(format!("rank {} is not 1 to 5", self.rank));
        }
        if self.interleave != Interleave::None && self.rank < 3 {
            return fail("an interleaved tensor has at least 3 dimensions".into());
        }
        for i in 0..self.rank {
            if !(1..=1 << 32).contains(&self.dims[i]) {
                return fail(format!(
                    "extent {} of dimension {i} is not 1 to 2^32",
                    self.dims[i]
                ));
            }
            if self.im2col.is_none() && !(1..=256).contains(&self.box_dims[i]) {
                return fail(format!(
                    "box extent {} of dimension {i} is not 1 to 256",
                    self.box_dims[i]
                ));
            }
            if !(1..=8).contains(&self.element_strides[i]) {
                return fail(format!(
                    "element stride {} of dimension {i} is not 1 to 8",
                    self.element_strides[i]
                ));
            }
            if i > 0 && (!self.strides[i].is_multiple_of(align) || self.strides[i] >= 1 << 40) {
                return fail(format!(
                    "stride {} of dimension {i} is no multiple of {align} below 2^40",
                    self.strides[i]
                ));
            }
        }
        self.check_inner()
    }

    /// What `cuTensorMapEncodeIm2col` refuses besides.
    fn check_im2col(&self, walk: Im2col) -> Result<(), TensorMapError> {
        let fail = |message: String| Err(TensorMapError(message));
        // Corners have 16, 8 or 5 bits by the number of spatial dimensions.
        let bits = match self.rank {
            3 => 16,
            4 => 8,
            5 => 5,
            rank => {
                return fail(format!(
                    "an im2col tensor has 3 to 5 dimensions, not {rank}"
                ));
            }
        };
        let limit = 1i32 << (bits - 1);
        let corners = walk.lower.iter().chain(&walk.upper);
        if let Some(corner) = corners
            .map(|&c| i32::from(c))
            .find(|c| !(-limit..limit).contains(c))
        {
            return fail(format!(
                "pixel box corner {corner} does not fit {bits} bits"
            ));
        }
        if walk.channels > 256 || walk.pixels > 1024 || walk.channels == 0 || walk.pixels == 0 {
            return fail(format!(
                "{} channels per pixel (1 to 256) and {} pixels per column (1 to 1024)",
                walk.channels, walk.pixels
            ));
        }
        Ok(())
    }

    fn check_inner(&self) -> Result<(), TensorMapError> {
        if let Some(walk) = self.im2col {
            self.check_im2col(walk)?;
        }
        let inner = self.inner_bytes();
        if self.interleave == Interleave::None && !inner.is_multiple_of(16) {
            return Err(TensorMapError(format!(
                "innermost box dimension has {inner} bytes, no multiple of 16"
            )));
        }
        if let (Interleave::None, Some(span)) = (self.interleave, self.swizzle.span())
            && inner > span
        {
            return Err(TensorMapError(format!(
                "innermost box dimension has {inner} bytes, more than the swizzle's {span}"
            )));
        }
        if self.interleave == Interleave::B32 && self.swizzle != Swizzle::B32 {
            return Err(TensorMapError("interleave 32B needs swizzle 32B".into()));
        }
        if self.fill == Fill::Nan && !self.element.is_float() {
            return Err(TensorMapError(
                "NaN fill needs a floating-point element type".into(),
            ));
        }
        Ok(())
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
        put(&[u8::from(self.im2col.is_some()), 0]);
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
        let im2col = (bytes[6] == 1).then(|| Im2col {
            lower: std::array::from_fn(|_| take(2) as i16),
            upper: std::array::from_fn(|_| take(2) as i16),
            channels: take(2) as u32,
            pixels: take(2) as u32,
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
            swizzle: Swizzle::from_code(bytes[4]).ok_or_else(|| fail("swizzle"))?,
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
        });
        assert_eq!(TensorMap::from_bytes(&map.to_bytes()), Ok(map));
        assert!(TensorMap::from_bytes(&[0; 128]).is_err());
    }

    #[test]
    fn maps_that_hardware_refuses() {
        let good = TensorMap::tiled(
            MapBase::Address(0x1000),
            Element::F16,
            &[64, 64],
            &[128],
            &[64, 64],
        );
        assert_eq!(good.check(), Ok(()));
        type Spoil = fn(&mut TensorMap);
        let broken: [(&str, Spoil); 7] = [
            ("base", |m| m.base = MapBase::Address(8)),
            ("stride", |m| m.strides[1] = 100),
            ("box", |m| m.box_dims[1] = 257),
            ("inner", |m| m.box_dims[0] = 4),
            ("swizzle span", |m| m.swizzle = Swizzle::B64),
            ("rank", |m| m.rank = 0),
            ("fill", |m| (m.element, m.fill) = (Element::U16, Fill::Nan)),
        ];
        for (what, spoil) in broken {
            let mut map = good.clone();
            spoil(&mut map);
            assert!(map.check().is_err(), "{what}");
        }
    }
}
