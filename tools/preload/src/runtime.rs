//! Programs and libraries that have NVIDIA's static CUDA runtime in them call tilec's.
//!
//! The static runtime (`libcudart_static.a`, which nvcc links unless it is told otherwise) accepts no driver but NVIDIA's. Its
//! functions are those of the shared one, and a program that was not stripped says where they are. Before the program
//! starts, each of them gets a jump to tilec's function of the same name as its first instruction. Nothing else of the
//! program is changed. Programs of CUDA 13 only: other runtimes pass other structures under the same names.
//!
//! So it is with libraries that a program opens by their paths, such as Python's modules (CuPy's have the static runtime). Their
//! constructors have told the static runtime of their kernels by then, and tell tilec's again.

use core::ffi::{CStr, c_char, c_int, c_long, c_ulong, c_void};
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};
use std::ffi::{CString, OsStr};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::bindings;
use crate::elf::{Function, Symbols};
use crate::loader::{LinkMap, PAGE, RUNTIME, WRITE, mprotect, shared_runtime};
use crate::nvrtc::preloaded::{NEXT, dlsym};

unsafe extern "C" {
    fn dlvsym(library: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void;
    fn dlinfo(library: *mut c_void, what: c_int, to: *mut c_void) -> c_int;
    fn getauxval(which: c_ulong) -> c_ulong;
    fn mmap(
        at: *mut c_void,
        size: usize,
        protection: c_int,
        flags: c_int,
        file: c_int,
        offset: c_long,
    ) -> *mut c_void;
}

/// `AT_ENTRY`
const ENTRY: c_ulong = 9;
/// `RTLD_DI_LINKMAP`
const LINK_MAP: c_int = 2;
/// `PROT_READ | PROT_EXEC`
const EXECUTE: c_int = 5;
/// `MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE`
const HERE: c_int = 0x10_0022;

/// How the file of NVIDIA's shared runtime is called, which has the functions, too.
const SHARED: &str = "libcudart.so";
/// A function that every program on the runtime has, and one that runtimes before CUDA 13 have.
const ALWAYS: &[u8] = b"__cudaRegisterFatBinary";
const OLDER: &[u8] = b"cudaGetDeviceProperties_v2";
/// In the names of the constructors by which nvcc's code tells the runtime of its kernels.
const REGISTERS: &[u8] = b"__sti____cudaRegisterAll";

/// The first byte of a jump by a distance, its bytes, and those of one through an address behind it, padded.
const JUMP: u8 = 0xe9;
const NEAR: u64 = 5;
const FAR: usize = 16;

#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

/// The loader calls this before the program's own constructors.
extern "C" fn start() {
    let Some(symbols) = static_runtime(c"/proc/self/exe") else {
        return;
    };
    // SAFETY: it has no conditions.
    let shift = unsafe { getauxval(ENTRY) }.wrapping_sub(symbols.entry);
    // SAFETY: the symbols are the program's, nothing of which runs yet.
    let exchanged = unsafe { exchange(&symbols, shift) };
    // What cannot be changed is left as it is, and the driver says what to do.
    let _ = exchanged;
}

/// The symbols of a program or library that has the static runtime of CUDA 13 in it.
fn static_runtime(path: &CStr) -> Option<Symbols> {
    let path = Path::new(OsStr::from_bytes(path.to_bytes()));
    let name = path.file_name()?.as_bytes();
    if [SHARED, RUNTIME]
        .iter()
        .any(|n| name.starts_with(n.as_bytes()))
    {
        return None;
    }
    let file = File::open(path).ok()?;
    let symbols = Symbols::with(&file, ALWAYS).ok()??;
    (!symbols.has(OLDER)).then_some(symbols)
}

/// `dlopen` of the C library.
static REAL: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());

/// Whether `dlopen` is asked for a library with the static runtime, or for cuda-python's, by its path. Finds the C library's `dlopen` first, which
/// the caller jumps to.
unsafe extern "C" fn is_for_us(name: *const c_char) -> bool {
    if REAL.load(Relaxed).is_null() {
        // SAFETY: strings; these are the versions that `dlopen` has had.
        let found = [c"GLIBC_2.34", c"GLIBC_2.2.5"]
            .map(|version| unsafe { dlvsym(NEXT, c"dlopen".as_ptr(), version.as_ptr()) });
        if let Some(real) = found.into_iter().find(|f| !f.is_null()) {
            REAL.store(real, Relaxed);
        }
    }
    if name.is_null() {
        return false;
    }
    // SAFETY: `dlopen` is given a string.
    let name = unsafe { CStr::from_ptr(name) };
    let path = name.to_bytes();
    path.contains(&b'/') && (bindings::is_module(path) || static_runtime(name).is_some())
}

/// `dlopen`. For a library that is not looked for it does not matter who opens it; otherwise the C library sees the return
/// address of its caller, which decides where it looks.
///
/// # Safety
/// As the C library's.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void {
    core::arch::naked_asm!(
        "push rdi",
        "push rsi",
        "sub rsp, 8",
        "call {is_for_us}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "test al, al",
        "jnz 2f",
        "jmp qword ptr [rip + {real}]",
        "2:",
        "jmp {open}",
        is_for_us = sym is_for_us,
        real = sym REAL,
        open = sym open,
    )
}

/// Opens a library and has its static runtime call the shared one.
///
/// # Safety
/// `name` is a path, and what `dlopen` asks for holds.
unsafe extern "C" fn open(name: *const c_char, flags: c_int) -> *mut c_void {
    // SAFETY: the C library's function has this type; the caller's promise.
    let library = unsafe {
        type Open = unsafe extern "C" fn(*const c_char, c_int) -> *mut c_void;
        core::mem::transmute::<*mut c_void, Open>(REAL.load(Relaxed))(name, flags)
    };
    if library.is_null() {
        return library;
    }
    let mut map: *const LinkMap = core::ptr::null();
    // SAFETY: the library is open, and this asks for a pointer to what the loader knows of it.
    let map = unsafe {
        let got = dlinfo(library, LINK_MAP, (&raw mut map).cast());
        (got == 0).then_some(map.as_ref()).flatten()
    };
    // SAFETY: a string, by the caller's promise.
    let path = unsafe { CStr::from_ptr(name) };
    let Some(map) = map else {
        return library;
    };
    if bindings::is_module(path.to_bytes()) {
        // SAFETY: Python initialises the module when it has it.
        let exchanged = unsafe { bindings::exchange(map) };
        // What cannot be changed is left as it is, and the driver says what to do.
        let _ = exchanged;
    }
    if let Some(symbols) = static_runtime(path) {
        // SAFETY: the symbols are the library's, whose caller does not have it yet. Its constructors take no arguments.
        unsafe {
            if exchange(&symbols, map.shift).is_ok_and(|exchanged| exchanged) {
                for f in symbols.functions().filter(|f| contains(&f.name, REGISTERS)) {
                    let address = f.address.wrapping_add(map.shift) as *const ();
                    core::mem::transmute::<*const (), extern "C" fn()>(address)();
                }
            }
        }
    }
    library
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|w| w == part)
}

/// Has a static runtime call the shared one; false where it does already or there is none to call.
///
/// # Safety
/// The symbols are those of what lies in memory, `shift` behind the file's addresses, and nobody runs the runtime.
unsafe fn exchange(symbols: &Symbols, shift: u64) -> std::io::Result<bool> {
    let Some(library) = shared_runtime() else {
        return Ok(false);
    };
    let all: Vec<(u64, u64)> = symbols
        .functions()
        .filter(|f| f.size >= NEAR)
        .filter_map(|f| Some((f.address.wrapping_add(shift), shared(library, &f)?)))
        .collect();
    let (Some(first), Some(last)) = (
        all.iter().map(|jump| jump.0).min(),
        all.iter().map(|jump| jump.0 + NEAR).max(),
    ) else {
        return Ok(false);
    };
    // SAFETY: a function's code can be read.
    if unsafe { *(first as *const u8) } == JUMP {
        return Ok(false);
    }
    let Some(table) = table(first, last, all.iter().map(|jump| jump.1)) else {
        return Ok(false);
    };
    let begin = first / PAGE as u64 * PAGE as u64;
    let (at, size) = (begin as *mut c_void, (last - begin) as usize);
    // SAFETY: the pages hold code that nobody runs, by the caller's promise; what is written stays inside the functions that
    // begin there.
    unsafe {
        if mprotect(at, size, WRITE) != 0 {
            return Err(std::io::Error::last_os_error());
        }
        for (i, &(function, _)) in all.iter().enumerate() {
            let distance = (table + (i * FAR) as u64).wrapping_sub(function + NEAR) as u32;
            let code = function as *mut u8;
            code.write(JUMP);
            code.add(1).cast::<u32>().write_unaligned(distance);
        }
        if mprotect(at, size, EXECUTE) != 0 {
            return Err(std::io::Error::last_os_error());
        }
    }
    Ok(true)
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
    let size = (targets.len() * FAR).next_multiple_of(PAGE);
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
