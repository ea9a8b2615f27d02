//! All functions by name and version.
//!
//! `functions.tsv` has a row per symbol: the symbol, the name under which `cuGetProcAddress` is asked for it, the CUDA
//! version since when the name means this symbol (from the `PFN_…_vNNNN` of `cudaTypedefs.h`), and the file of `api/`
//! that has it, or `-` where it is not emulated.

use std::ffi::CStr;
use std::ffi::c_void;
use std::sync::atomic::AtomicPtr;

/// A function.
#[derive(Debug)]
pub struct Row {
    /// exported symbol
    pub symbol: &'static str,
    /// its name without a version
    pub name: &'static str,
    /// CUDA version since when the name means this symbol, as 1000 × major + 10 × minor
    pub since: i32,
    /// whether it does anything but say that it does not
    pub emulated: bool,
    /// where it is
    pub address: Address,
}

/// The address of a function.
#[derive(Debug, Clone, Copy)]
pub struct Address(pub *const ());

// SAFETY: functions are everywhere.
unsafe impl Sync for Address {}

include!(concat!(env!("OUT_DIR"), "/functions.rs"));

/// What a lookup by name and version finds.
pub enum Found {
    /// the function
    Row(&'static Row),
    /// the name exists, but only in later versions
    Later,
    /// there is no such name
    Nothing,
}

/// The function that `name` means to a program written for a CUDA version. A symbol with its version's suffix is found,
/// too.
pub fn find(name: &str, version: i32) -> Found {
    let named = || TABLE.iter().filter(|r| r.name == name);
    let fits = named().filter(|r| r.since <= version);
    if let Some(row) = fits.max_by_key(|r| r.since) {
        return Found::Row(row);
    }
    if named().next().is_some() {
        return Found::Later;
    }
    match TABLE.iter().find(|r| r.symbol == name) {
        Some(row) => Found::Row(row),
        None => Found::Nothing,
    }
}

/// A function that the library does not emulate: where it is called, and what it is called in front of a driver.
pub struct Stub {
    /// the symbol
    pub name: &'static CStr,
    /// what it jumps to
    pub slot: &'static AtomicPtr<c_void>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(name: &str, version: i32) -> Option<&'static str> {
        match find(name, version) {
            Found::Row(row) => Some(row.symbol),
            _ => None,
        }
    }

    /// Versions as `cuda.h` of 13.5 and the type names of `cudaTypedefs.h` have them.
    #[test]
    fn versions_choose() {
        assert_eq!(symbol("cuMemAlloc", 2000), Some("cuMemAlloc"));
        assert_eq!(symbol("cuMemAlloc", 13000), Some("cuMemAlloc_v2"));
        assert_eq!(symbol("cuCtxGetDevice", 12090), Some("cuCtxGetDevice"));
        assert_eq!(symbol("cuCtxGetDevice", 13000), Some("cuCtxGetDevice_v2"));
        assert_eq!(symbol("cuCtxCreate", 13000), Some("cuCtxCreate_v4"));
        assert_eq!(symbol("cuMemFree_v2", 13000), Some("cuMemFree_v2"));
        assert_eq!(symbol("cuLaunchKernelEx", 11000), None);
        assert_eq!(symbol("cuNonsense", 13000), None);
    }
}
