//! Kernels run in the simulator.

use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use ptxsim::manifest::{EntryManifest, Manifest, ParamManifest};
use ptxsim::{Arg, Launch, Module};

use crate::{CompileResult, text};

/// `tilec_argument`.
#[repr(C)]
pub struct Argument {
    pub memory: *mut u8,
    pub length: usize,
    pub value: u64,
}

/// `tilec_run_result`: what was printed, or what went wrong.
pub struct RunResult(Result<CString, CString>);

/// # Safety
/// `kernel` is null or a result of `tilec_compile` that was not freed; `entry` is null or a NUL-terminated text; `grid`
/// points to three numbers; `arguments` points to `count` arguments, whose memory is null or `length` bytes that nobody
/// else uses during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilec_run(
    kernel: *const CompileResult,
    entry: *const c_char,
    grid: *const u32,
    arguments: *const Argument,
    count: usize,
) -> *mut RunResult {
    // SAFETY: null, or valid by the caller's promise.
    let kernel = unsafe { kernel.as_ref() };
    let entry = match entry.is_null() {
        true => None,
        // SAFETY: NUL-terminated by the caller's promise.
        false => Some(unsafe { CStr::from_ptr(entry) }.to_string_lossy()),
    };
    // SAFETY: null, or three numbers by the caller's promise.
    let grid = unsafe { grid.cast::<[u32; 3]>().as_ref() };
    let arguments = match arguments.is_null() || count == 0 {
        true => &[][..],
        // SAFETY: the caller's promise.
        false => unsafe { std::slice::from_raw_parts(arguments, count) },
    };
    let run = || {
        let kernel = kernel.ok_or("no kernel")?.0.as_ref();
        let kernel = kernel.map_err(|_| "the kernel was not compiled")?;
        let grid = grid.ok_or("no grid")?;
        // SAFETY: the caller's promise about the arguments' memory.
        unsafe {
            simulate(
                &kernel.ptx,
                &kernel.manifest,
                entry.as_deref(),
                *grid,
                arguments,
            )
        }
    };
    // A panic may not cross into C; it is a bug, and said to be one.
    let outcome = catch_unwind(AssertUnwindSafe(run))
        .unwrap_or_else(|_| Err("internal error: the simulator panicked".to_owned()));
    let result = outcome.map(|o| text(&o)).map_err(|e| text(&e));
    Box::into_raw(Box::new(RunResult(result)))
}

/// Runs the entry; the arguments' memory is written when it has ended well.
///
/// # Safety
/// The arguments' memory is as [`tilec_run`] says.
unsafe fn simulate(
    ptx: &CStr,
    manifest: &CStr,
    entry: Option<&str>,
    grid: [u32; 3],
    arguments: &[Argument],
) -> Result<String, String> {
    let manifest = Manifest::parse(&manifest.to_string_lossy()).map_err(|e| e.to_string())?;
    let entry = manifest.entry(entry)?;
    let module = Module::new(ptx.to_string_lossy().into_owned()).map_err(|e| e.to_string())?;
    let program = module.entry(Some(&entry.name)).map_err(|e| e.to_string())?;
    let mut launch = Launch::of_entry(&program, entry, own(entry, arguments)?)?;
    launch.grid = grid;
    let lent = || arguments.iter().filter(|a| !a.memory.is_null());
    for (i, argument) in lent().enumerate() {
        // SAFETY: readable by the caller's promise.
        let bytes = unsafe { std::slice::from_raw_parts(argument.memory, argument.length) };
        launch.add_buffer(&format!("buffer {i}"), bytes.to_vec());
    }
    let report = launch.run().map_err(|e| e.to_string())?;
    for (argument, buffer) in lent().zip(&launch.buffers) {
        let length = argument.length.min(buffer.bytes.len());
        // SAFETY: `length` writable bytes by the caller's promise; a buffer of ours does not overlap them.
        unsafe { ptr::copy_nonoverlapping(buffer.bytes.as_ptr(), argument.memory, length) };
    }
    Ok(report.output)
}

/// The arguments as the simulator takes them: memory by the number of its buffer.
fn own(entry: &EntryManifest, arguments: &[Argument]) -> Result<Vec<Arg>, String> {
    let mut buffers = 0;
    let params = entry.params.iter().map(Some).chain(std::iter::repeat(None));
    let each = arguments.iter().zip(params).map(|(argument, param)| {
        if argument.memory.is_null() {
            return Ok(Arg::Scalar(value(argument.value, param)?));
        }
        buffers += 1;
        Ok(Arg::buffer(buffers - 1))
    });
    each.collect()
}

/// The bytes of a value of a parameter's type, such as `i32` or `bf16`.
fn value(bits: u64, param: Option<&ParamManifest>) -> Result<Vec<u8>, String> {
    let Some(param) = param else {
        return Ok(bits.to_le_bytes().to_vec());
    };
    let digits = param.ty.trim_start_matches(|c: char| !c.is_ascii_digit());
    let digits: String = digits.chars().take_while(char::is_ascii_digit).collect();
    let width: usize = match (param.ty.as_str(), digits.parse()) {
        ("ptr", _) => 64,
        (_, Ok(width)) => width,
        (ty, Err(_)) => return Err(format!("a value for a parameter of type `{ty}`")),
    };
    let bytes = bits.to_le_bytes();
    Ok(bytes.into_iter().take(width.div_ceil(8)).collect())
}

/// # Safety
/// `run` is null or came from [`tilec_run`] and was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilec_run_output(run: *const RunResult) -> *const c_char {
    // SAFETY: the caller's promise.
    let run = unsafe { run.as_ref() };
    run.and_then(|r| r.0.as_ref().ok())
        .map_or(ptr::null(), |s| s.as_ptr())
}

/// # Safety
/// As for [`tilec_run_output`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilec_run_errors(run: *const RunResult) -> *const c_char {
    // SAFETY: the caller's promise.
    let run = unsafe { run.as_ref() };
    run.and_then(|r| r.0.as_ref().err())
        .map_or(ptr::null(), |s| s.as_ptr())
}

/// # Safety
/// `run` is null or came from [`tilec_run`] and was not freed; it is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilec_free_run(run: *mut RunResult) {
    if !run.is_null() {
        // SAFETY: the caller's promise: a box of `tilec_run`, freed once.
        drop(unsafe { Box::from_raw(run) });
    }
}
