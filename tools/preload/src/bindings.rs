//! cuda-python's `cuda.bindings.runtime` calls tilec's runtime.
//!
//! Its module `cuda.bindings._internal.runtime` has NVIDIA's static runtime in it and is stripped, so that nothing says
//! where the functions are. But the module is Cython's, and what other modules call of it they find in a table: for each
//! function `cudaX` of the runtime, an entry `_cudaX` with a pointer to one with the same arguments. The entries are made
//! while the module is initialised, by `PyDict_SetItemString`. Once the module is loaded, the slot through which it calls
//! that function gets one that puts tilec's `cudaX` into the entry. Functions that tilec does not have stay NVIDIA's,
//! which say that there is no driver for them.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use crate::loader::{LinkMap, PAGE, WRITE, mprotect, shared_runtime};
use crate::nvrtc::preloaded::{DEFAULT, dlsym};

/// The end of the folder's path, and how the file's name begins.
const FOLDER: &[u8] = b"/cuda/bindings/_internal/";
const MODULE: &[u8] = b"runtime.";

/// Whether this is the file of the module.
pub(crate) fn is_module(path: &[u8]) -> bool {
    let name = path.rsplit(|&b| b == b'/').next().unwrap_or_default();
    let folder = path.strip_suffix(name).unwrap_or_default();
    folder.ends_with(FOLDER) && name.starts_with(MODULE)
}

/// `PyDict_SetItemString` and `PyCapsule_SetPointer`; objects of Python's are only passed on.
type SetItem = unsafe extern "C" fn(*mut c_void, *const c_char, *mut c_void) -> c_int;
type SetPointer = unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int;

/// What the slot held, Python's function that changes a capsule, and tilec's runtime.
static SET_ITEM: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
static SET_POINTER: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
static RUNTIME: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());

/// `PyDict_SetItemString`, for an entry of the module's table with tilec's function instead.
unsafe extern "C" fn set_item(
    dictionary: *mut c_void,
    key: *const c_char,
    capsule: *mut c_void,
) -> c_int {
    // SAFETY: Python's function is called with a string, and the slots were filled before this one was in use. An entry
    // with such a name is a capsule.
    unsafe {
        if CStr::from_ptr(key).to_bytes().starts_with(b"_cuda") {
            let ours = dlsym(RUNTIME.load(Relaxed), key.add(1));
            if !ours.is_null() {
                let set =
                    core::mem::transmute::<*mut c_void, SetPointer>(SET_POINTER.load(Relaxed));
                set(capsule, ours);
            }
        }
        core::mem::transmute::<*mut c_void, SetItem>(SET_ITEM.load(Relaxed))(
            dictionary, key, capsule,
        )
    }
}

/// Has the module put tilec's functions into its table. Leaves it as it is where something is not found.
///
/// # Safety
/// What the loader knows of the module, which is not initialised yet.
pub(crate) unsafe fn exchange(module: &LinkMap) -> Option<()> {
    // SAFETY: a string.
    let set = unsafe { dlsym(DEFAULT, c"PyCapsule_SetPointer".as_ptr()) };
    let runtime = shared_runtime()?;
    // SAFETY: the caller's promise.
    let slot = unsafe { slot(module, c"PyDict_SetItemString")? };
    if set.is_null() {
        return None;
    }
    let page = (slot as usize / PAGE * PAGE) as *mut c_void;
    // SAFETY: the slot is in the module's data, of which nobody else knows yet.
    unsafe {
        if mprotect(page, PAGE, WRITE) != 0 {
            return None;
        }
        SET_ITEM.store(*slot, Relaxed);
        SET_POINTER.store(set, Relaxed);
        RUNTIME.store(runtime, Relaxed);
        let ours: SetItem = set_item;
        slot.write(ours as *mut c_void);
    }
    Some(())
}

/// `DT_STRTAB`, `DT_SYMTAB`, and the two tables of relocations with their sizes: `DT_JMPREL`, `DT_PLTRELSZ`, `DT_RELA`,
/// `DT_RELASZ`
const NAMES: u64 = 5;
const SYMBOLS: u64 = 6;
const TABLES: [(u64, u64); 2] = [(23, 2), (7, 8)];
/// `R_X86_64_GLOB_DAT`, `R_X86_64_JUMP_SLOT`
const SLOTS: [u64; 2] = [6, 7];

/// Where a library keeps the address of a function that it calls.
///
/// # Safety
/// What the loader knows of a library.
unsafe fn slot(library: &LinkMap, function: &CStr) -> Option<*mut *mut c_void> {
    // The loader has added the distance to the tables' addresses, or not.
    let absolute = |value: u64| {
        if value < library.shift {
            value + library.shift
        } else {
            value
        }
    };
    let field = |tag: u64| {
        let mut at = library.dynamic;
        // SAFETY: pairs that end with one that is 0.
        unsafe {
            while (*at)[0] != 0 {
                if (*at)[0] == tag {
                    return Some((*at)[1]);
                }
                at = at.add(1);
            }
        }
        None
    };
    let (names, symbols) = (absolute(field(NAMES)?), absolute(field(SYMBOLS)?));
    for (table, size) in TABLES {
        let (Some(table), Some(size)) = (field(table), field(size)) else {
            continue;
        };
        let entries = absolute(table) as *const [u64; 3];
        for i in 0..size as usize / size_of::<[u64; 3]>() {
            // SAFETY: the table has so many entries; a symbol has 24 bytes, of which the first four say where its name is.
            let (offset, name) = unsafe {
                let [offset, info, _] = *entries.add(i);
                if !SLOTS.contains(&(info & 0xffff_ffff)) {
                    continue;
                }
                let symbol = (symbols + (info >> 32) * 24) as *const u32;
                let name = names + u64::from(symbol.read_unaligned());
                (offset, CStr::from_ptr(name as *const c_char))
            };
            if name == function {
                return Some((library.shift + offset) as *mut *mut c_void);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::is_module;

    #[test]
    fn the_module_is_known_by_its_path() {
        let folder = "/usr/lib/python3/site-packages/cuda/bindings/_internal/";
        let is = |name: &str| is_module(format!("{folder}{name}").as_bytes());
        assert!(is("runtime.cpython-311-x86_64-linux-gnu.so"));
        assert!(!is("runtime_ptds.cpython-311-x86_64-linux-gnu.so"));
        assert!(!is("driver.cpython-311-x86_64-linux-gnu.so"));
        assert!(!is_module(b"/elsewhere/runtime.so"));
    }
}
