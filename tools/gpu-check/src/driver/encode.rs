//! Tensor maps in the words of the driver.

use super::abi::{OpaqueMap, map};
use super::{Address, Driver, DriverError, Result};
use ptxsim::TensorMap;
use ptxsim::tensormap::{Im2col, Im2colMode, MapBase};
use std::ffi::{c_int, c_uint};

impl Driver {
    /// The opaque bytes of a tensor map over device memory.
    pub fn encode(&self, map: &TensorMap, addresses: &[Address]) -> Result<[u8; 128]> {
        let mut out = OpaqueMap([0; 128]);
        match map.im2col {
            None => self.tiled(map, addresses, &mut out)?,
            Some(walk) if walk.mode != Im2colMode::Spatial => {
                let message = "im2col::w maps, of sm_100 and later, are not encoded yet";
                return Err(DriverError::Launch(message.into()));
            }
            Some(walk) => self.im2col(map, walk, addresses, &mut out)?,
        }
        Ok(out.0)
    }

    fn tiled(&self, map: &TensorMap, addresses: &[Address], out: &mut OpaqueMap) -> Result<()> {
        let words = Words::of(map, addresses)?;
        // SAFETY: the output is 128 bytes at a multiple of 64; the lists have at least `rank` elements (strides one
        // fewer), as the function expects.
        let code = unsafe {
            (self.calls.encode_tiled)(
                out,
                words.element,
                map.rank as c_uint,
                words.base,
                map.dims.as_ptr(),
                map.strides[1..].as_ptr(),
                map.box_dims.as_ptr(),
                map.element_strides.as_ptr(),
                words.interleave,
                words.swizzle,
                NO_PROMOTION,
                words.fill,
            )
        };
        self.check("cuTensorMapEncodeTiled", code)
    }

    fn im2col(
        &self,
        map: &TensorMap,
        walk: Im2col,
        addresses: &[Address],
        out: &mut OpaqueMap,
    ) -> Result<()> {
        let words = Words::of(map, addresses)?;
        let (lower, upper) = (walk.lower.map(c_int::from), walk.upper.map(c_int::from));
        // SAFETY: as above; a corner has `rank` - 2 numbers.
        let code = unsafe {
            (self.calls.encode_im2col)(
                out,
                words.element,
                map.rank as c_uint,
                words.base,
                map.dims.as_ptr(),
                map.strides[1..].as_ptr(),
                lower.as_ptr(),
                upper.as_ptr(),
                walk.channels,
                walk.pixels,
                map.element_strides.as_ptr(),
                words.interleave,
                words.swizzle,
                NO_PROMOTION,
                words.fill,
            )
        };
        self.check("cuTensorMapEncodeIm2col", code)
    }
}

/// `CU_TENSOR_MAP_L2_PROMOTION_NONE`: what it changes is time alone.
const NO_PROMOTION: c_uint = 0;

/// What both kinds of maps have.
struct Words {
    base: Address,
    element: u32,
    interleave: u32,
    swizzle: u32,
    fill: u32,
}

impl Words {
    fn of(map: &TensorMap, addresses: &[Address]) -> Result<Words> {
        let lacking = |what: &str| DriverError::Launch(format!("the driver knows no {what}"));
        let base = match map.base {
            MapBase::Address(address) => address,
            MapBase::Buffer { index, offset } => {
                let base = addresses.get(index);
                let missing = || DriverError::Launch(format!("buffer {index} does not exist"));
                base.ok_or_else(missing)? + offset
            }
        };
        let element = map::code(map::ELEMENTS, &map.element);
        let interleave = map::code(map::INTERLEAVES, &map.interleave);
        let swizzle = map::code(map::SWIZZLES, &(map.swizzle, map.atomicity));
        let fill = map::code(map::FILLS, &map.fill);
        Ok(Words {
            base,
            element: element.ok_or_else(|| lacking("such element"))?,
            interleave: interleave.ok_or_else(|| lacking("such interleave"))?,
            swizzle: swizzle.ok_or_else(|| lacking("such swizzle"))?,
            fill: fill.ok_or_else(|| lacking("such fill"))?,
        })
    }
}
