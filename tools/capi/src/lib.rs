//! tilec's C interface. `include/tilec.h` is its documentation; this is its other side.
//!
//! `unsafe` is here because C passes raw pointers: each use states what the header asks of the
//! caller.

mod run;

use std::ffi::{CStr, CString, c_char};
use std::panic::catch_unwind;
use std::ptr;

use tilec::compile::{Kernel, OptLevel, Options, target, to_ptx};
use tilec::input;
use tilec::ir::{Diagnostic, Diagnostics};

const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };

/// `tilec_options`.
#[repr(C)]
pub struct CompileOptions {
    pub target: *const c_char,
    pub lower_only: i32,
    pub no_tma: i32,
}

/// `tilec_result`: the texts, or what went wrong.
pub struct CompileResult(pub(crate) Result<Texts, CString>);

pub(crate) struct Texts {
    pub(crate) ptx: CString,
    pub(crate) manifest: CString,
}

/// # Safety
/// `module` points to `length` readable bytes (or is null, and `length` 0); `options` is null or
/// points to options whose target is null or a NUL-terminated text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilec_compile(
    module: *const u8,
    length: usize,
    options: *const CompileOptions,
) -> *mut CompileResult {
    let bytes = match module.is_null() {
        true => &[][..],
        // SAFETY: the caller's promise.
        false => unsafe { std::slice::from_raw_parts(module, length) },
    };
    // SAFETY: the caller's promise.
    let options = unsafe { read_options(options) };
    // A panic may not cross into C; it is a bug, and said to be one.
    let outcome = catch_unwind(|| compile(bytes, &options?))
        .unwrap_or_else(|_| Err(Diagnostic::error("internal error: the compiler panicked").into()));
    let result = outcome.and_then(texts).map_err(|e| text(&e.to_string()));
    Box::into_raw(Box::new(CompileResult(result)))
}

/// # Safety
/// As [`tilec_compile`]'s `options`.
unsafe fn read_options(options: *const CompileOptions) -> Result<Options, Diagnostics> {
    // SAFETY: null, or valid by the caller's promise.
    let given = unsafe { options.as_ref() };
    let name = match given.filter(|o| !o.target.is_null()) {
        None => "sm_90a".into(),
        // SAFETY: NUL-terminated by the caller's promise.
        Some(o) => unsafe { CStr::from_ptr(o.target) }.to_string_lossy(),
    };
    let mut options = Options::new(target(&name)?);
    if let Some(given) = given {
        options.tma = given.no_tma == 0;
        if given.lower_only > 0 {
            options.opt_level = OptLevel::Plain;
        }
    }
    Ok(options)
}

fn compile(bytes: &[u8], options: &Options) -> Result<Kernel, Diagnostics> {
    let module = input::any(bytes, "<memory>")?;
    to_ptx(module, options)
}

fn texts(kernel: Kernel) -> Result<Texts, Diagnostics> {
    let manifest = kernel.manifest.to_json();
    let manifest =
        manifest.map_err(|e| Diagnostic::error(format!("the manifest cannot be written: {e}")))?;
    Ok(Texts {
        ptx: text(&kernel.ptx),
        manifest: text(&manifest),
    })
}

/// A text for C, without the NULs that would end it early.
pub(crate) fn text(s: &str) -> CString {
    CString::new(s.replace('\0', "")).unwrap_or_default()
}

/// # Safety
/// `result` is null or came from [`tilec_compile`] and was not freed.
unsafe fn field(
    result: *const CompileResult,
    get: impl Fn(&CompileResult) -> Option<&CString>,
) -> *const c_char {
    // SAFETY: the caller's promise.
    let result = unsafe { result.as_ref() };
    result.and_then(get).map_or(ptr::null(), |s| s.as_ptr())
}

/// # Safety
/// As for [`tilec_free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilec_ptx(result: *const CompileResult) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe { field(result, |r| r.0.as_ref().ok().map(|t| &t.ptx)) }
}

/// # Safety
/// As for [`tilec_free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilec_manifest(result: *const CompileResult) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe { field(result, |r| r.0.as_ref().ok().map(|t| &t.manifest)) }
}

/// # Safety
/// As for [`tilec_free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilec_errors(result: *const CompileResult) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe { field(result, |r| r.0.as_ref().err()) }
}

/// # Safety
/// `result` is null or came from [`tilec_compile`] and was not freed; it is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilec_free(result: *mut CompileResult) {
    if !result.is_null() {
        // SAFETY: the caller's promise: a box of `tilec_compile`, freed once.
        drop(unsafe { Box::from_raw(result) });
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn tilec_version() -> *const c_char {
    VERSION.as_ptr()
}
