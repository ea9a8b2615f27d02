//! What stands behind the fake driver of gpu-check's tests: device memory, modules, launches in ptxsim.
//!
//! `tests/driver.c` has the driver's functions, with NVIDIA's own `cuda.h`; it takes its structures apart and calls
//! these. Results are those of `CUresult`.

mod device;

use device::{Device, Launch, Map};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Mutex;

static DEVICE: Mutex<Device> = Mutex::new(Device::new());

fn with<T>(f: impl FnOnce(&mut Device) -> T) -> T {
    f(&mut DEVICE.lock().unwrap_or_else(|p| p.into_inner()))
}

/// # Safety
/// A NUL-terminated string.
unsafe fn text<'a>(from: *const c_char) -> &'a str {
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(from) }.to_str().unwrap_or("")
}

/// # Safety
/// `count` elements, unless that is 0.
unsafe fn list<'a, T>(from: *const T, count: u32) -> &'a [T] {
    if count == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(from, count as usize) }
}

/// Takes memory; its address.
#[unsafe(no_mangle)]
pub extern "C" fn fake_alloc(size: usize) -> u64 {
    with(|d| d.alloc(size))
}

/// Gives memory back.
#[unsafe(no_mangle)]
pub extern "C" fn fake_free(address: u64) -> c_int {
    with(|d| d.free(address))
}

/// Copies to memory.
///
/// # Safety
/// `from` has `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fake_write(address: u64, from: *const c_void, size: usize) -> c_int {
    // SAFETY: the caller's promise.
    let bytes = unsafe { list(from.cast::<u8>(), size as u32) };
    with(|d| d.write(address, bytes))
}

/// Copies from memory.
///
/// # Safety
/// `to` has room for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fake_read(to: *mut c_void, address: u64, size: usize) -> c_int {
    with(|d| match d.read(address, size) {
        Ok(bytes) => {
            // SAFETY: the caller's promise.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to.cast(), size) };
            0
        }
        Err(code) => code,
    })
}

/// Loads PTX text; the module's number, or less than 0 and a `CUresult`.
///
/// # Safety
/// A NUL-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fake_load(image: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    let text = unsafe { text(image) };
    with(|d| d.load(text).unwrap_or_else(|code| -code))
}

/// Whether a module has an entry.
///
/// # Safety
/// A NUL-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fake_has(module: c_int, entry: *const c_char) -> bool {
    // SAFETY: the caller's promise.
    let entry = unsafe { text(entry) };
    with(|d| d.has(module, entry))
}

/// Runs a kernel. What it printed is written to `printed`, to be freed with [`fake_forget`].
///
/// # Safety
/// Sizes are three numbers each; parameters as `cuLaunchKernelEx` takes them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fake_launch(
    module: c_int,
    entry: *const c_char,
    sizes: *const u32,
    shared: u32,
    cooperative: bool,
    parameters: *const *const u8,
    printed: *mut *mut c_char,
) -> c_int {
    // SAFETY: the caller's promises; `bytes` is called with the sizes of the kernel's own parameters.
    unsafe {
        let sizes = list(sizes, 9);
        let three = |at: usize| [sizes[at], sizes[at + 1], sizes[at + 2]];
        let launch = Launch {
            module,
            entry: text(entry),
            grid: three(0),
            block: three(3),
            cluster: three(6),
            shared,
            cooperative,
            bytes: &|i, size| list(*parameters.add(i), size).to_vec(),
        };
        match with(|d| d.launch(&launch)) {
            Ok(output) => {
                let output = std::ffi::CString::new(output).unwrap_or_default();
                *printed = output.into_raw();
                0
            }
            Err(code) => code,
        }
    }
}

/// Frees what [`fake_launch`] printed.
///
/// # Safety
/// A pointer from there, once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fake_forget(printed: *mut c_char) {
    // SAFETY: the caller's promise.
    drop(unsafe { std::ffi::CString::from_raw(printed) });
}

/// Makes a tensor map of words (element, interleave, swizzle, fill), dimensions, and for im2col corners.
///
/// # Safety
/// `words` are four strings; lists have as many numbers as the driver's functions say; `to` has 128 bytes.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn fake_encode(
    to: *mut u8,
    words: *const *const c_char,
    rank: u32,
    address: u64,
    dims: *const u64,
    strides: *const u64,
    extents: *const u32,
    steps: *const u32,
    corners: *const c_int,
    channels: u32,
    pixels: u32,
) -> c_int {
    // SAFETY: the caller's promises.
    unsafe {
        if !(1..=5).contains(&rank) {
            return device::INVALID_VALUE;
        }
        let words: Vec<&str> = list(words, 4).iter().map(|&w| text(w)).collect();
        let corner = (!corners.is_null()).then(|| list(corners, 2 * rank.saturating_sub(2)));
        let extents = if extents.is_null() {
            &[]
        } else {
            list(extents, rank)
        };
        let map = Map {
            words: &words,
            address,
            dims: list(dims, rank),
            strides: list(strides, rank - 1),
            extents,
            steps: list(steps, rank),
            corner,
            channels,
            pixels,
        };
        match map.encode() {
            Ok(bytes) => {
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len());
                0
            }
            Err(code) => code,
        }
    }
}

/// Turns the lowest bit of the last word of the buffer that was taken last.
#[unsafe(no_mangle)]
pub extern "C" fn fake_flip() {
    with(Device::flip);
}
