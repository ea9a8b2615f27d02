//! What `cuTensorMapEncodeTiled`, `cuTensorMapEncodeIm2col` and `cuTensorMapEncodeIm2colWide` refuse (CUDA driver API,
//! "Tensor Map Object Management").

use super::{
    Atomicity, Fill, Im2col, Im2colMode, Interleave, MAX_RANK, Swizzle, TensorMap, TensorMapError,
};

fn fail(message: impl Into<String>) -> Result<(), TensorMapError> {
    Err(TensorMapError(message.into()))
}

impl TensorMap {
    /// Refuses what the driver refuses to encode.
    pub fn check(&self) -> Result<(), TensorMapError> {
        self.check_place()?;
        for i in 0..self.rank {
            self.check_dimension(i)?;
        }
        if let Some(walk) = self.im2col {
            self.check_im2col(walk)?;
        }
        self.check_swizzle()?;
        if self.fill == Fill::Nan && !self.element.is_float() {
            return fail("NaN fill needs a floating-point element type");
        }
        Ok(())
    }

    /// What addresses and strides must be multiples of.
    fn alignment(&self) -> u64 {
        match self.interleave {
            Interleave::B32 => 32,
            _ => 16,
        }
    }

    fn check_place(&self) -> Result<(), TensorMapError> {
        let align = self.alignment();
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
            return fail("an interleaved tensor has at least 3 dimensions");
        }
        Ok(())
    }

    fn check_dimension(&self, i: usize) -> Result<(), TensorMapError> {
        let (extent, stride, align) = (self.dims[i], self.strides[i], self.alignment());
        if !(1..=1 << 32).contains(&extent) {
            return fail(format!("extent {extent} of dimension {i} is not 1 to 2^32"));
        }
        if self.im2col.is_none() && !(1..=256).contains(&self.box_dims[i]) {
            return fail(format!(
                "box extent {} of dimension {i} is not 1 to 256",
                self.box_dims[i]
            ));
        }
        // The innermost element stride counts with an interleaved layout only.
        let ignored = i == 0 && self.interleave == Interleave::None;
        if !ignored && !(1..=8).contains(&self.element_strides[i]) {
            return fail(format!(
                "element stride {} of dimension {i} is not 1 to 8",
                self.element_strides[i]
            ));
        }
        if i > 0 && (!stride.is_multiple_of(align) || stride >= 1 << 40) {
            return fail(format!(
                "stride {stride} of dimension {i} is no multiple of {align} below 2^40"
            ));
        }
        Ok(())
    }

    fn check_im2col(&self, walk: Im2col) -> Result<(), TensorMapError> {
        // Corners have 16, 8 or 5 bits by the number of spatial dimensions.
        let bits = match self.rank {
            3..=5 if walk.mode != Im2colMode::Spatial => 16,
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
        for (i, d) in self.walked(walk.mode).enumerate() {
            let (lower, upper) = (i64::from(walk.lower[i]), i64::from(walk.upper[i]));
            if lower >= self.dims[d] as i64 + upper {
                return fail(format!(
                    "the pixel box is empty in dimension {d}: from {lower} to the extent {} {upper:+}",
                    self.dims[d]
                ));
            }
        }
        if !(1..=256).contains(&walk.channels) || !(1..=1024).contains(&walk.pixels) {
            return fail(format!(
                "{} channels per pixel (1 to 256) and {} pixels per column (1 to 1024)",
                walk.channels, walk.pixels
            ));
        }
        if walk.mode != Im2colMode::Spatial {
            if self.interleave != Interleave::None {
                return fail("im2col::w takes no interleaved tensor");
            }
            let flip = self.atomicity == Atomicity::B32Flip8;
            if self.swizzle == Swizzle::None || flip {
                return fail("im2col::w needs a swizzle, and one without an 8-byte flip");
            }
        }
        Ok(())
    }

    fn check_swizzle(&self) -> Result<(), TensorMapError> {
        if self.atomicity != Atomicity::B16 && self.swizzle != Swizzle::B128 {
            return fail("only a swizzle of 128 bytes keeps more than 16 bytes together");
        }
        match self.interleave {
            Interleave::None => {}
            Interleave::B16 => return Ok(()),
            Interleave::B32 if self.swizzle == Swizzle::B32 => return Ok(()),
            Interleave::B32 => return fail("interleave 32B needs swizzle 32B"),
        }
        let inner = self.inner_bytes();
        if !inner.is_multiple_of(16) {
            return fail(format!(
                "innermost box dimension has {inner} bytes, no multiple of 16"
            ));
        }
        match self.swizzle.span() {
            Some(span) if inner > span => fail(format!(
                "innermost box dimension has {inner} bytes, more than the swizzle's {span}"
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Element, MapBase};
    use super::*;

    type Spoil = fn(&mut TensorMap);

    fn refused(good: &TensorMap, broken: &[(&str, Spoil)]) {
        assert_eq!(good.check(), Ok(()));
        for (what, spoil) in broken {
            let mut map = good.clone();
            spoil(&mut map);
            assert!(map.check().is_err(), "{what}");
        }
    }

    #[test]
    fn tiled_maps_that_hardware_refuses() {
        let base = MapBase::Address(0x1000);
        let good = TensorMap::tiled(base, Element::F16, &[64, 64], &[128], &[64, 64]);
        refused(
            &good,
            &[
                ("base", |m| m.base = MapBase::Address(8)),
                ("stride", |m| m.strides[1] = 100),
                ("box", |m| m.box_dims[1] = 257),
                ("inner", |m| m.box_dims[0] = 4),
                ("swizzle span", |m| m.swizzle = Swizzle::B64),
                ("rank", |m| m.rank = 0),
                ("element stride", |m| m.element_strides[1] = 9),
                ("fill", |m| (m.element, m.fill) = (Element::U16, Fill::Nan)),
                ("atomicity", |m| m.atomicity = Atomicity::B32),
                ("interleaved rank", |m| m.interleave = Interleave::B16),
            ],
        );
    }

    /// The driver's rules for interleaved tensors, 32-byte slices.
    #[test]
    fn interleaved_maps_that_hardware_refuses() {
        let strides = [320, 3200, 6400];
        let base = MapBase::Address(0x1000);
        let mut good = TensorMap::tiled(
            base,
            Element::F16,
            &[10, 10, 2, 1],
            &strides,
            &[10, 10, 1, 1],
        );
        (good.interleave, good.swizzle) = (Interleave::B32, Swizzle::B32);
        refused(
            &good,
            &[
                ("base", |m| m.base = MapBase::Address(0x1010)),
                ("stride", |m| m.strides[1] = 336),
                ("swizzle", |m| m.swizzle = Swizzle::B64),
                ("no swizzle", |m| m.swizzle = Swizzle::None),
                ("innermost element stride", |m| m.element_strides[0] = 0),
                ("rank", |m| m.rank = 2),
            ],
        );
        good.interleave = Interleave::B16;
        for swizzle in [Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128] {
            good.swizzle = swizzle;
            assert_eq!(good.check(), Ok(()));
        }
    }

    #[test]
    fn im2col_maps_that_hardware_refuses() {
        let base = MapBase::Address(0x1000);
        let mut good = TensorMap::tiled(
            base,
            Element::F16,
            &[64, 9, 7, 8],
            &[128, 1152, 8064],
            &[1; 4],
        );
        good.swizzle = Swizzle::B128;
        good.im2col = Some(Im2col {
            lower: [-1, -1, 0],
            upper: [-1, -1, 0],
            channels: 64,
            pixels: 128,
            mode: Im2colMode::Spatial,
        });
        fn walk(map: &mut TensorMap) -> &mut Im2col {
            map.im2col.as_mut().unwrap()
        }
        refused(
            &good,
            &[
                ("corner", |m| walk(m).lower[0] = -129),
                ("empty", |m| walk(m).upper[1] = -8),
                ("channels", |m| walk(m).channels = 257),
                ("pixels", |m| walk(m).pixels = 1025),
                ("rank", |m| m.rank = 2),
            ],
        );
        walk(&mut good).mode = Im2colMode::W;
        refused(
            &good,
            &[
                ("no swizzle", |m| m.swizzle = Swizzle::None),
                ("flip", |m| m.atomicity = Atomicity::B32Flip8),
                ("interleaved", |m| m.interleave = Interleave::B16),
            ],
        );
        walk(&mut good).lower[0] = -129;
        assert_eq!(good.check(), Ok(()));
    }
}
