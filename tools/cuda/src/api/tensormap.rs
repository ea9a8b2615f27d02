//! Tensor maps: the simulator's own 128 bytes.

use crate::call::{get, list, put, refuse};
use crate::status::{Result, Status};
use ptxsim::TensorMap;
use ptxsim::tensormap::{
    Atomicity, Element, Fill, Im2col, Im2colMode, Interleave, MapBase, Swizzle,
};

/// What tiled and im2col maps share, in the driver's numbers.
struct Common {
    element: u32,
    rank: u32,
    address: u64,
    dims: *const u64,
    strides: *const u64,
    steps: *const u32,
    interleave: u32,
    swizzle: u32,
    fill: u32,
}

/// `CUtensorMapDataType`, in its order. Elements of 4 and 6 bits are not emulated.
pub(crate) const ELEMENTS: &[Element] = &[
    Element::U8,
    Element::U16,
    Element::U32,
    Element::S32,
    Element::U64,
    Element::S64,
    Element::F16,
    Element::F32,
    Element::F64,
    Element::BF16,
    Element::F32Ftz,
    Element::TF32,
    Element::TF32Ftz,
];

/// # Safety
/// Lists have as many numbers as the rank says, strides one less.
unsafe fn map(common: &Common, boxes: &[u32], im2col: Option<Im2col>) -> Result<TensorMap> {
    let rank = common.rank as usize;
    if !(1..=5).contains(&rank) {
        return refuse(
            Status::INVALID_VALUE,
            format_args!("a tensor map of rank {rank}"),
        );
    }
    // SAFETY: the caller's promise.
    let (dims, strides, steps) = unsafe {
        let strides = list(common.strides, rank - 1)?;
        (list(common.dims, rank)?, strides, list(common.steps, rank)?)
    };
    let Some(&element) = ELEMENTS.get(common.element as usize) else {
        return refuse(
            Status::INVALID_VALUE,
            format_args!("a tensor map of data type {}", common.element),
        );
    };
    let base = MapBase::Address(common.address);
    let mut map = TensorMap::tiled(base, element, &dims, &strides, boxes);
    map.element_strides[..rank].copy_from_slice(&steps);
    map.interleave = match common.interleave {
        0 => Interleave::None,
        1 => Interleave::B16,
        2 => Interleave::B32,
        _ => return Err(Status::INVALID_VALUE),
    };
    (map.swizzle, map.atomicity) = match common.swizzle {
        0 => (Swizzle::None, Atomicity::B16),
        1 => (Swizzle::B32, Atomicity::B16),
        2 => (Swizzle::B64, Atomicity::B16),
        3 => (Swizzle::B128, Atomicity::B16),
        4 => (Swizzle::B128, Atomicity::B32),
        5 => (Swizzle::B128, Atomicity::B32Flip8),
        6 => (Swizzle::B128, Atomicity::B64),
        _ => return Err(Status::INVALID_VALUE),
    };
    map.fill = match common.fill {
        0 => Fill::Zero,
        1 => Fill::Nan,
        _ => return Err(Status::INVALID_VALUE),
    };
    map.im2col = im2col;
    match map.check() {
        Ok(()) => Ok(map),
        Err(e) => refuse(
            Status::INVALID_VALUE,
            format_args!("a tensor map cannot be encoded: {e}"),
        ),
    }
}

export! {
    cuTensorMapEncodeTiled(to: *mut [u8; 128], element: u32, rank: u32, address: u64, dims: *const u64,
        strides: *const u64, boxes: *const u32, steps: *const u32, interleave: u32, swizzle: u32, _l2: u32, fill: u32) {
        let common = Common { element, rank, address, dims, strides, steps, interleave, swizzle, fill };
        let boxes = list(boxes, rank.min(5) as usize)?;
        put(to, map(&common, &boxes, None)?.to_bytes())
    }

    cuTensorMapEncodeIm2col(to: *mut [u8; 128], element: u32, rank: u32, address: u64, dims: *const u64,
        strides: *const u64, lower: *const i32, upper: *const i32, channels: u32, pixels: u32, steps: *const u32,
        interleave: u32, swizzle: u32, _l2: u32, fill: u32) {
        let common = Common { element, rank, address, dims, strides, steps, interleave, swizzle, fill };
        let corners = rank.saturating_sub(2).min(3) as usize;
        let three = |c: Vec<i32>| std::array::from_fn(|i| c.get(i).copied().unwrap_or(0) as i16);
        let im2col = Im2col {
            lower: three(list(lower, corners)?),
            upper: three(list(upper, corners)?),
            channels,
            pixels,
            mode: Im2colMode::Spatial,
        };
        put(to, map(&common, &[], Some(im2col))?.to_bytes())
    }

    cuTensorMapReplaceAddress(to: *mut [u8; 128], address: u64) {
        let mut map = TensorMap::from_bytes(&get(to)?).map_err(|_| Status::INVALID_VALUE)?;
        map.base = MapBase::Address(address);
        map.check().map_err(|_| Status::INVALID_VALUE)?;
        put(to, map.to_bytes())
    }
}
