//! Programs which compile with NVRTC get PTX where they ask for machine code.
//!
//! NVRTC keeps the PTX of everything that it compiles, and `nvrtcGetPTX` and `nvrtcGetPTXSize` have the arguments of
//! `nvrtcGetCUBIN` and `nvrtcGetCUBINSize`. The emulated driver cannot run machine code, and every function that takes a
//! cubin takes PTX. So the two names are exchanged: for programs that are linked with NVRTC because the symbols here
//! come first, and for those that look the functions up because `dlsym` here comes first. Nothing else is changed.

/// The function that is meant to be called where another was asked for.
pub fn instead(name: &[u8]) -> Option<&'static core::ffi::CStr> {
    match name {
        b"nvrtcGetCUBIN" => Some(c"nvrtcGetPTX"),
        b"nvrtcGetCUBINSize" => Some(c"nvrtcGetPTXSize"),
        _ => None,
    }
}

#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
pub(crate) mod preloaded {
    use super::instead;
    use core::ffi::{CStr, c_char, c_int, c_void};
    use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};

    unsafe extern "C" {
        fn dlvsym(library: *mut c_void, name: *const c_char, version: *const c_char)
        -> *mut c_void;
    }

    /// `RTLD_NEXT`, `RTLD_DEFAULT`
    pub(crate) const NEXT: *mut c_void = core::ptr::without_provenance_mut(usize::MAX);
    pub(crate) const DEFAULT: *mut c_void = core::ptr::null_mut();

    /// `dlsym` of the C library.
    static REAL: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());

    /// The name to look up where `name` is asked for. Finds the C library's `dlsym` first, which the caller jumps to.
    unsafe extern "C" fn rename(name: *const c_char) -> *const c_char {
        if REAL.load(Relaxed).is_null() {
            // SAFETY: strings; these are the versions that `dlsym` has had.
            let found = [c"GLIBC_2.34", c"GLIBC_2.2.5"]
                .map(|version| unsafe { dlvsym(NEXT, c"dlsym".as_ptr(), version.as_ptr()) });
            if let Some(real) = found.into_iter().find(|f| !f.is_null()) {
                REAL.store(real, Relaxed);
            }
        }
        if name.is_null() {
            return name;
        }
        // SAFETY: `dlsym` is given a string.
        instead(unsafe { CStr::from_ptr(name) }.to_bytes()).map_or(name, CStr::as_ptr)
    }

    /// `dlsym`, with some names exchanged. It jumps, so that the C library sees the return address of its caller, which
    /// decides what `RTLD_NEXT` is.
    ///
    /// # Safety
    /// As the C library's.
    #[unsafe(naked)]
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void {
        core::arch::naked_asm!(
            "push rdi",
            "push rsi",
            "sub rsp, 8",
            "mov rdi, rsi",
            "call {rename}",
            "add rsp, 8",
            "pop rsi",
            "pop rdi",
            "mov rsi, rax",
            "jmp qword ptr [rip + {real}]",
            rename = sym rename,
            real = sym REAL,
        )
    }

    /// `NVRTC_ERROR_INTERNAL_ERROR`
    const INTERNAL_ERROR: c_int = 11;

    /// # Safety
    /// As the function that is called.
    unsafe fn call(name: &CStr, program: *mut c_void, to: *mut c_void) -> c_int {
        type Get = unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int;
        // SAFETY: a string; the function has this type, by NVRTC's documentation, and the caller promises the rest.
        unsafe {
            let found = dlsym(DEFAULT, name.as_ptr());
            match found.is_null() {
                true => INTERNAL_ERROR,
                false => core::mem::transmute::<*mut c_void, Get>(found)(program, to),
            }
        }
    }

    /// The PTX of a program.
    ///
    /// # Safety
    /// As `nvrtcGetPTX`.
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn nvrtcGetCUBIN(program: *mut c_void, to: *mut c_void) -> c_int {
        // SAFETY: the caller's promise.
        unsafe { call(c"nvrtcGetPTX", program, to) }
    }

    /// The size of the PTX of a program.
    ///
    /// # Safety
    /// As `nvrtcGetPTXSize`.
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn nvrtcGetCUBINSize(program: *mut c_void, to: *mut c_void) -> c_int {
        // SAFETY: the caller's promise.
        unsafe { call(c"nvrtcGetPTXSize", program, to) }
    }
}

#[cfg(test)]
mod tests {
    use super::instead;

    #[test]
    fn two_names_are_exchanged() {
        assert_eq!(instead(b"nvrtcGetCUBIN"), Some(c"nvrtcGetPTX"));
        assert_eq!(instead(b"nvrtcGetCUBINSize"), Some(c"nvrtcGetPTXSize"));
        assert_eq!(instead(b"nvrtcGetPTX"), None);
    }
}
