//! What a launch of a tilec kernel passes to the real driver.

use super::kernels::Kernel;
use super::real::{self, Map};
use crate::call::{get, list, refuse};
use crate::status::{Result, Status};
use ptxsim::manifest::{EntryManifest, ParamKind, TensorMapManifest};
use ptxsim::tensormap::{Atomicity, Element, Fill, Interleave, MapBase, Swizzle, TensorMap};
use ptxsim::{Arg, arguments};
use std::ffi::c_void;

/// A list of pointers to parameters, with what the last of them point to.
pub struct Parameters {
    pointers: Vec<*const c_void>,
    _maps: Vec<Map>,
}

impl Parameters {
    /// What `kernelParams` wants.
    pub fn as_ptr(&self) -> *const *const c_void {
        self.pointers.as_ptr()
    }
}

/// Bytes of a parameter of a Tile IR entry.
fn size(entry: &EntryManifest, index: usize) -> usize {
    match entry.params.get(index) {
        Some(param) if param.kind == ParamKind::Scalar => {
            let digits: String = param.ty.chars().filter(char::is_ascii_digit).collect();
            // The formats of 8 bits and less are named by their parts (`f8E4M3FN`).
            let bits = match param.ty.strip_prefix("f8").or(param.ty.strip_prefix("f4")) {
                Some(_) => 8,
                None => digits.parse().unwrap_or(64),
            };
            usize::div_ceil(bits, 8)
        }
        _ => 8,
    }
}

/// Pointers to the caller's own parameters: its list, or the places in its one buffer.
unsafe fn own(
    entry: &EntryManifest,
    params: *const *const c_void,
    extra: *const *const c_void,
) -> Result<Vec<*const c_void>> {
    const POINTER: usize = 1;
    let count = entry.params.len();
    // SAFETY: the caller passes one pointer per parameter, or a list of keys and values that ends with 0.
    unsafe {
        if !params.is_null() || count == 0 {
            return list(params, count);
        }
        let mut at = extra;
        while !at.is_null() && !get(at)?.is_null() {
            if get(at)?.addr() == POINTER {
                let buffer = get(at.add(1))?.cast::<u8>();
                let mut offset = 0usize;
                let places = (0..count).map(|i| {
                    let bytes = size(entry, i);
                    let place = offset.next_multiple_of(bytes.max(1));
                    offset = place + bytes;
                    buffer.add(place).cast()
                });
                return Ok(places.collect());
            }
            at = at.add(2);
        }
    }
    refuse(
        Status::INVALID_VALUE,
        format_args!("kernel `{}` is launched without parameters", entry.name),
    )
}

/// The parameters of a kernel: the caller's, then the tensor maps that its manifest asks for.
///
/// # Safety
/// As `cuLaunchKernel`.
pub unsafe fn parameters(
    entry: &EntryManifest,
    params: *const *const c_void,
    extra: *const *const c_void,
) -> Result<Parameters> {
    // SAFETY: the caller's promise.
    let mut pointers = unsafe { own(entry, params, extra)? };
    let mut values = Vec::new();
    for (i, &pointer) in pointers.iter().enumerate() {
        // SAFETY: a parameter has the bytes that its type says.
        let bytes = unsafe { list(pointer.cast::<u8>(), size(entry, i))? };
        values.push(Arg::Scalar(bytes));
    }
    let mut maps = Vec::new();
    for recipe in &entry.tensor_maps {
        let built = arguments::tensor_map(recipe, &values).or_else(|why| {
            let name = &entry.name;
            refuse(
                Status::INVALID_VALUE,
                format_args!("kernel `{name}`: parameter {}: {why}", recipe.param),
            )
        })?;
        maps.push(encode(&built, recipe)?);
    }
    pointers.extend(
        maps.iter()
            .map(|map| std::ptr::from_ref(map).cast::<c_void>()),
    );
    Ok(Parameters {
        pointers,
        _maps: maps,
    })
}

/// The place of a thing in a list that is in the order of the driver's numbers.
fn number<T: PartialEq>(all: &[T], one: &T, what: &str) -> Result<u32> {
    match all.iter().position(|a| a == one) {
        Some(number) => Ok(number as u32),
        None => refuse(
            Status::NOT_SUPPORTED,
            format_args!("tensor maps of the driver have no such {what}"),
        ),
    }
}

/// Has the driver encode a tensor map.
fn encode(map: &TensorMap, recipe: &TensorMapManifest) -> Result<Map> {
    let MapBase::Address(address) = map.base else {
        return Err(Status::INVALID_VALUE);
    };
    let interleaves = [Interleave::None, Interleave::B16, Interleave::B32];
    let swizzles = [
        (Swizzle::None, Atomicity::B16),
        (Swizzle::B32, Atomicity::B16),
        (Swizzle::B64, Atomicity::B16),
        (Swizzle::B128, Atomicity::B16),
        (Swizzle::B128, Atomicity::B32),
    ];
    let promotions = ["none", "64B", "128B", "256B"];
    let elements: &[Element] = crate::api::tensormap::ELEMENTS;
    let mut encoded = Map([0; 128]);
    // SAFETY: the lists have as many numbers as the rank says, strides one less; the place is aligned as it must be.
    unsafe {
        real::cuTensorMapEncodeTiled(
            &mut encoded,
            number(elements, &map.element, "elements")?,
            map.rank as u32,
            address,
            map.dims.as_ptr(),
            map.strides[1..].as_ptr(),
            map.box_dims.as_ptr(),
            map.element_strides.as_ptr(),
            number(&interleaves, &map.interleave, "interleave")?,
            number(&swizzles, &(map.swizzle, map.atomicity), "swizzle")?,
            number(&promotions, &recipe.l2_promotion.as_str(), "promotion")?,
            number(&[Fill::Zero, Fill::Nan], &map.fill, "fill")?,
        )?;
    }
    Ok(encoded)
}

/// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`, `…_NON_PORTABLE_CLUSTER_SIZE_ALLOWED`
const DYNAMIC_SHARED: i32 = 8;
const NON_PORTABLE_CLUSTER: i32 = 14;
const PORTABLE_CLUSTER: u32 = 8;

/// Allows a kernel what its manifest asks for.
pub fn allow(handle: u64, kernel: &Kernel) -> Result {
    let set = |attribute, value: u32| {
        let value = i32::try_from(value).map_err(|_| Status::INVALID_VALUE)?;
        // SAFETY: handles of the driver's, and a place to write to.
        unsafe {
            match kernel.of_library {
                false => real::cuFuncSetAttribute(handle, attribute, value),
                true => {
                    let mut device = 0;
                    real::cuCtxGetDevice(&mut device)?;
                    real::cuKernelSetAttribute(attribute, value, handle, device)
                }
            }
        }
    };
    // What a kernel declares itself counts against the 48 KiB that need no asking, too.
    if kernel.entry.shared_bytes > 0 {
        set(DYNAMIC_SHARED, kernel.entry.shared_bytes)?;
    }
    if kernel.entry.cluster.iter().product::<u32>() > PORTABLE_CLUSTER {
        set(NON_PORTABLE_CLUSTER, 1)?;
    }
    Ok(())
}
