//! Programs that have NVIDIA's static CUDA runtime in them call tilec's.
//!
//! The static runtime (`libcudart_static.a`, which nvcc links unless it is told otherwise) accepts no driver but NVIDIA's. Its
//! functions are those of the shared one, and a program that was not stripped says where they are. Before the program
//! starts, each of them gets a jump to tilec's function of the same name as its first instruction. Nothing else of the
//! program is changed. Programs of CUDA 13 only: other runtimes pass other structures under the same names.

use core::ffi::{CStr, c_char, c_int, c_long, c_ulong, c_void};
use std::ffi::CString;
use std::fs::File;

use crate::elf::{Function, Symbols};
use crate::nvrtc::preloaded::dlsym;

unsafe extern "C" {
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn getauxval(which: c_ulong) -> c_ulong;
    fn mmap(
        at: *mut c_void,
        size: usize,
        protection: c_int,
        flags: c_int,
        file: c_int,
        offset: c_long,
    ) -> *mut c_void;
    fn mprotect(at: *mut c_void, size: usize, protection: c_int) -> c_int;
}

/// `AT_ENTRY`
const ENTRY: c_ulong = 9;
/// `RTLD_NOW`
const NOW: c_int = 2;
/// `PROT_READ | PROT_WRITE` and `PROT_READ | PROT_EXEC`
const WRITE: c_int = 3;
const EXECUTE: c_int = 5;
/// `MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE`
const HERE: c_int = 0x10_0022;

const RUNTIME: &CStr = c"libcudart.so.13";
/// A function that every program on the runtime has, and one that runtimes before CUDA 13 have.
const ALWAYS: &[u8] = b"__cudaRegisterFatBinary";
const OLDER: &[u8] = b"cudaGetDeviceProperties_v2";

const PAGE: u64 = 4096;
/// Bytes of a jump by a distance, and of one through an address behind it, padded.
const NEAR: u64 = 5;
const FAR: usize = 16;

#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

/// The loader calls this before the program's own constructors.
extern "C" fn start() {
    let exchanged = File::open("/proc/self/exe").and_then(|file| exchange(&file));
    // A program that cannot be read is left as it is.
    let _ = exchanged;
}

/// Has the static runtime of the program in `file`, which this process runs, call the shared one.
fn exchange(file: &File) -> std::io::Result<()> {
    let Some(symbols) = Symbols::of(file)? else {
        return Ok(());
    };
    if !symbols.has(ALWAYS) || symbols.has(OLDER) {
        return Ok(());
    }
    // SAFETY: a string; the loader lets constructors load libraries.
    let library = unsafe { dlopen(RUNTIME.as_ptr(), NOW) };
    if library.is_null() {
        return Ok(());
    }
    // SAFETY: it has no conditions.
    let shift = unsafe { getauxval(ENTRY) }.wrapping_sub(symbols.entry);
    let all: Vec<(u64, u64)> = symbols
        .functions()
        .filter(|f| f.size >= NEAR)
        .filter_map(|f| Some((f.address.wrapping_add(shift), shared(library, &f)?)))
        .collect();
    let (Some(first), Some(last)) = (
        all.iter().map(|j| j.0).min(),
        all.iter().map(|j| j.0 + NEAR).max(),
    ) else {
        return Ok(());
    };
    let Some(table) = table(first, last, all.iter().map(|jump| jump.1)) else {
        return Ok(());
    };
    let begin = first / PAGE * PAGE;
    let (at, size) = (begin as *mut c_void, (last - begin) as usize);
    // SAFETY: the pages hold the program's code, which nobody runs yet, as its symbols say; what is written stays inside the
    // functions that begin there.
    unsafe {
        if mprotect(at, size, WRITE) != 0 {
            return Err(std::io::Error::last_os_error());
        }
        for (i, &(function, _)) in all.iter().enumerate() {
            let distance = (table + (i * FAR) as u64).wrapping_sub(function + NEAR) as u32;
            let code = function as *mut u8;
            code.write(0xe9);
            code.add(1).cast::<u32>().write_unaligned(distance);
        }
        if mprotect(at, size, EXECUTE) != 0 {
            return Err(std::io::Error::last_os_error());
        }
    }
    Ok(())
}

/// The address of the shared runtime's function of the same name.
fn shared(library: *mut c_void, function: &Function) -> Option<u64> {
    let name = &function.name;
    if !name.starts_with(b"cuda") && !name.starts_with(b"__cuda") {
        return None;
    }
    let name = CString::new(name.as_slice()).ok()?;
    // SAFETY: a library that was loaded, and a string.
    let found = unsafe { dlsym(library, name.as_ptr()) };
    (!found.is_null()).then_some(found as u64)
}

/// A table of jumps to `targets` that code between `first` and `last` reaches by a distance of 32 bits; its address.
fn table(first: u64, last: u64, targets: impl ExactSizeIterator<Item = u64>) -> Option<u64> {
    const STEP: u64 = 1 << 16;
    const REACH: u64 = 1 << 30;
    let size = (targets.len() * FAR).next_multiple_of(PAGE as usize);
    let lowest = last.saturating_sub(REACH).max(STEP);
    let below = (first / STEP * STEP).saturating_sub(size as u64) / STEP * STEP;
    let mut place = below;
    let at = loop {
        if place < lowest {
            return None;
        }
        // SAFETY: new pages, where there is nothing yet.
        let at = unsafe { mmap(place as *mut c_void, size, WRITE, HERE, -1, 0) };
        if at as u64 == place {
            break at;
        }
        place -= STEP;
    };
    let code: Vec<u8> = targets
        .flat_map(|target| {
            // jmp [rip + 0], and the address
            let jump = [0xff, 0x25, 0, 0, 0, 0];
            let padding = [0xcc; FAR - 14];
            jump.into_iter().chain(target.to_le_bytes()).chain(padding)
        })
        .collect();
    // SAFETY: the pages are as large as the code, rounded up, and nobody else's.
    let done = unsafe {
        at.cast::<u8>()
            .copy_from_nonoverlapping(code.as_ptr(), code.len());
        mprotect(at, size, EXECUTE)
    };
    (done == 0).then_some(place)
}
