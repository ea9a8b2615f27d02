//! The functions that are not simply the real driver's.

use super::images::{self, Prepared};
use super::kernels::{self, Kernel};
use super::launch::{allow, parameters};
use super::real::{self, Symbol};
use crate::abi::{KernelNode, LaunchConfig};
use crate::call::{get, put, refuse, text};
use crate::image::measure;
use crate::status::{Result, Status};
use crate::table::{self, Found};
use std::ffi::{CStr, c_char, c_void};

/// Declares hooks under the names of the symbols whose place they take, with a table of them.
macro_rules! hooks {
    ($($name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => {
        mod functions {
            use super::*;
            $(
                #[allow(non_snake_case, clippy::too_many_arguments)]
                pub unsafe extern "C" fn $name($($arg: $ty),*) -> Status {
                    // SAFETY: the body relies on what `cuda.h` asks of the caller, and on nothing else.
                    crate::call::answer(stringify!($name), || unsafe { $body })
                }
            )*
        }

        static HOOKS: &[(&str, table::Address)] = &[
            $((stringify!($name), table::Address(functions::$name as *const ())),)*
        ];
    };
}

/// What is called in place of a function of the driver's.
pub fn find(name: &CStr) -> Option<*const c_void> {
    let found = HOOKS.iter().find(|h| h.0.as_bytes() == name.to_bytes());
    found.map(|h| h.1.0.cast())
}

/// Functions whose default stream is the thread's own.
const PER_THREAD: u64 = 2;

/// What `cuGetProcAddress` finds: the exported function where it is hooked, for it comes here again, else the driver's.
fn hooked(name: &str, version: i32, flags: u64, found: *const c_void) -> *const c_void {
    let Found::Row(row) = table::find(name, version) else {
        return found;
    };
    let hook = |symbol: &str| HOOKS.iter().find(|h| h.0 == symbol);
    let per_thread = match flags & PER_THREAD {
        0 => None,
        _ => hook(&format!("{}_ptsz", row.symbol)),
    };
    match per_thread.or_else(|| hook(row.symbol)) {
        Some(hook) if !found.is_null() => hook.1.0.cast(),
        _ => found,
    }
}

/// Loads an image by one of the driver's functions, and remembers what it is.
unsafe fn load(
    to: *mut u64,
    image: *const c_void,
    with: impl Fn(*mut u64, *const c_void) -> Result,
) -> Result {
    if image.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: the caller passes a whole image.
    match unsafe { measure(image.cast()) } {
        // SAFETY: as above.
        Some(bytes) => unsafe { load_bytes(to, bytes, Some(image), with) },
        None => with(to, image),
    }
}

unsafe fn load_bytes(
    to: *mut u64,
    bytes: &[u8],
    original: Option<*const c_void>,
    with: impl Fn(*mut u64, *const c_void) -> Result,
) -> Result {
    let prepared = images::prepare(bytes)?;
    let image = match (&prepared.image, original) {
        (std::borrow::Cow::Borrowed(_), Some(original)) => original,
        (image, _) => image.as_ptr().cast(),
    };
    with(to, image).or_else(|status| again(status, &prepared, |i| with(to, i)))?;
    // SAFETY: the driver has written the handle.
    kernels::add_home(unsafe { get(to)? }, prepared.manifest);
    Ok(())
}

/// A driver that is too old for the PTX may take machine code of the same.
fn again(
    status: Status,
    prepared: &Prepared<'_>,
    with: impl Fn(*const c_void) -> Result,
) -> Result {
    const UNSUPPORTED_PTX: Status = Status(222);
    if ![Status::INVALID_PTX, UNSUPPORTED_PTX, Status::INVALID_IMAGE].contains(&status) {
        return Err(status);
    }
    match images::assemble(prepared) {
        Some(cubin) => with(cubin.as_ptr().cast()),
        None => Err(status),
    }
}

unsafe fn load_file(
    to: *mut u64,
    path: *const c_char,
    with: impl Fn(*mut u64, *const c_void) -> Result,
) -> Result {
    // SAFETY: the caller's promise.
    let path = unsafe { text(path)? };
    let mut bytes = std::fs::read(&path).or_else(|e| {
        refuse(
            Status::FILE_NOT_FOUND,
            format_args!("cannot read '{path}': {e}"),
        )
    })?;
    // Text ends where the driver sees its end.
    bytes.push(0);
    // SAFETY: the caller's promise.
    unsafe { load_bytes(to, &bytes, None, with) }
}

/// Remembers the kernels that a list of handles stands for.
unsafe fn add_all(
    handles: *const u64,
    room: u32,
    home: u64,
    of_library: bool,
    name: unsafe fn(*mut *const c_char, u64) -> Result,
) -> Result {
    if kernels::home(home).is_none() {
        return Ok(());
    }
    // SAFETY: the driver has written the handles; a name is a string of the driver's.
    unsafe {
        for handle in crate::call::list(handles, room as usize)? {
            let mut found = std::ptr::null();
            if handle != 0 && name(&mut found, handle).is_ok() {
                kernels::add(handle, home, &text(found)?, of_library);
            }
        }
    }
    Ok(())
}

/// A launch by one of the driver's functions.
type Launch = unsafe extern "C" fn(
    u64,
    u32,
    u32,
    u32,
    u32,
    u32,
    u32,
    u32,
    u64,
    *const *const c_void,
    *const *const c_void,
) -> Status;

unsafe fn launch(
    symbol: &Symbol,
    function: u64,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    stream: u64,
    (params, extra): (*const *const c_void, *const *const c_void),
) -> Result {
    let found = symbol.get().ok_or(Status::NOT_FOUND)?;
    // SAFETY: the caller's promises; the symbol has this type.
    unsafe {
        let call = std::mem::transmute::<*const c_void, Launch>(found);
        let ([gx, gy, gz], [bx, by, bz]) = (grid, block);
        let Some(kernel) = kernels::get(function) else {
            return real::check(call(
                function, gx, gy, gz, bx, by, bz, shared, stream, params, extra,
            ));
        };
        let own = prepare(function, &kernel, params, extra)?;
        let entry = &kernel.entry;
        let [bx, by, bz] = entry.block;
        let none = std::ptr::null();
        let shared = entry.shared_bytes;
        real::check(call(
            function,
            gx,
            gy,
            gz,
            bx,
            by,
            bz,
            shared,
            stream,
            own.as_ptr(),
            none,
        ))
    }
}

unsafe fn prepare(
    function: u64,
    kernel: &Kernel,
    params: *const *const c_void,
    extra: *const *const c_void,
) -> Result<super::launch::Parameters> {
    allow(function, kernel)?;
    // SAFETY: the caller's promise.
    unsafe { parameters(&kernel.entry, params, extra) }
}

type LaunchEx = unsafe extern "C" fn(
    *const LaunchConfig,
    u64,
    *const *const c_void,
    *const *const c_void,
) -> Status;

unsafe fn launch_ex(
    symbol: &Symbol,
    config: *const LaunchConfig,
    function: u64,
    params: *const *const c_void,
    extra: *const *const c_void,
) -> Result {
    let found = symbol.get().ok_or(Status::NOT_FOUND)?;
    // SAFETY: the caller's promises; the symbol has this type.
    unsafe {
        let call = std::mem::transmute::<*const c_void, LaunchEx>(found);
        let Some(kernel) = kernels::get(function) else {
            return real::check(call(config, function, params, extra));
        };
        let own = prepare(function, &kernel, params, extra)?;
        let mut config = get(config)?;
        config.block = kernel.entry.block;
        config.shared = kernel.entry.shared_bytes;
        real::check(call(&config, function, own.as_ptr(), std::ptr::null()))
    }
}

/// Calls `with` with the parameters that a node of a tilec kernel needs; those of other nodes as they are.
unsafe fn node(
    params: *const KernelNode,
    second_version: bool,
    with: impl Fn(*const KernelNode) -> Status,
) -> Result {
    // SAFETY: the caller's promise. Only the second version has a kernel in its last words.
    unsafe {
        let first = params.cast::<[u8; FIRST_VERSION]>();
        let mut node: KernelNode = std::mem::zeroed();
        std::ptr::copy_nonoverlapping(
            get(first)?.as_ptr(),
            std::ptr::from_mut(&mut node).cast::<u8>(),
            FIRST_VERSION,
        );
        if second_version {
            node = get(params)?;
        }
        let function = if node.function != 0 {
            node.function
        } else {
            node.kernel
        };
        let Some(kernel) = kernels::get(function) else {
            return real::check(with(params));
        };
        let own = prepare(function, &kernel, node.params, node.extra)?;
        node.block = kernel.entry.block;
        node.shared = kernel.entry.shared_bytes;
        (node.params, node.extra) = (own.as_ptr(), std::ptr::null());
        real::check(with(&node))
    }
}

/// Bytes of `CUDA_KERNEL_NODE_PARAMS_v1`.
const FIRST_VERSION: usize = 56;

type AddNode = unsafe extern "C" fn(*mut u64, u64, *const u64, u64, *const KernelNode) -> Status;
type SetNode = unsafe extern "C" fn(u64, *const KernelNode) -> Status;
type SetExecutable = unsafe extern "C" fn(u64, u64, *const KernelNode) -> Status;

/// The driver's function of a symbol.
macro_rules! real {
    ($name:literal as $ty:ty) => {{
        static SYMBOL: Symbol = Symbol::new($name);
        let found = SYMBOL.get().ok_or(Status::NOT_FOUND)?;
        std::mem::transmute::<*const c_void, $ty>(found)
    }};
}

hooks! {
    cuGetProcAddress(name: *const c_char, to: *mut *const c_void, version: i32, flags: u64) {
        real::cuGetProcAddress(name, to, version, flags)?;
        put(to, hooked(&text(name)?, version, flags, get(to)?))
    }

    cuGetProcAddress_v2(name: *const c_char, to: *mut *const c_void, version: i32, flags: u64, status: *mut i32) {
        real::cuGetProcAddress_v2(name, to, version, flags, status)?;
        put(to, hooked(&text(name)?, version, flags, get(to)?))
    }

    cuModuleLoad(to: *mut u64, path: *const c_char) {
        load_file(to, path, |to, image| real::cuModuleLoadData(to, image))
    }

    cuModuleLoadData(to: *mut u64, image: *const c_void) {
        load(to, image, |to, image| real::cuModuleLoadData(to, image))
    }

    cuModuleLoadDataEx(to: *mut u64, image: *const c_void, count: u32, options: u64, values: u64) {
        load(to, image, |to, image| real::cuModuleLoadDataEx(to, image, count, options, values))
    }

    cuModuleLoadFatBinary(to: *mut u64, image: *const c_void) {
        load(to, image, |to, given| match given == image {
            true => real::cuModuleLoadFatBinary(to, image),
            false => real::cuModuleLoadData(to, given),
        })
    }

    cuLibraryLoadData(to: *mut u64, image: *const c_void, options: u64, values: u64, count: u32,
        library_options: u64, library_values: u64, library_count: u32) {
        load(to, image, |to, image| {
            real::cuLibraryLoadData(to, image, options, values, count, library_options, library_values, library_count)
        })
    }

    cuLibraryLoadFromFile(to: *mut u64, path: *const c_char, options: u64, values: u64, count: u32,
        library_options: u64, library_values: u64, library_count: u32) {
        load_file(to, path, |to, image| {
            real::cuLibraryLoadData(to, image, options, values, count, library_options, library_values, library_count)
        })
    }

    cuModuleUnload(module: u64) {
        real::cuModuleUnload(module)?;
        kernels::remove_home(module);
        Ok(())
    }

    cuLibraryUnload(library: u64) {
        real::cuLibraryUnload(library)?;
        kernels::remove_home(library);
        Ok(())
    }

    cuLibraryGetModule(to: *mut u64, library: u64) {
        real::cuLibraryGetModule(to, library)?;
        if let Some(manifest) = kernels::home(library) {
            kernels::add_home(get(to)?, Some(manifest));
        }
        Ok(())
    }

    cuModuleGetFunction(to: *mut u64, module: u64, name: *const c_char) {
        real::cuModuleGetFunction(to, module, name)?;
        kernels::add(get(to)?, module, &text(name)?, false);
        Ok(())
    }

    cuModuleEnumerateFunctions(to: *mut u64, room: u32, module: u64) {
        real::cuModuleEnumerateFunctions(to, room, module)?;
        add_all(to, room, module, false, real::cuFuncGetName)
    }

    cuLibraryGetKernel(to: *mut u64, library: u64, name: *const c_char) {
        real::cuLibraryGetKernel(to, library, name)?;
        kernels::add(get(to)?, library, &text(name)?, true);
        Ok(())
    }

    cuLibraryEnumerateKernels(to: *mut u64, room: u32, library: u64) {
        real::cuLibraryEnumerateKernels(to, room, library)?;
        add_all(to, room, library, true, real::cuKernelGetName)
    }

    cuKernelGetFunction(to: *mut u64, kernel: u64) {
        real::cuKernelGetFunction(to, kernel)?;
        kernels::same(get(to)?, kernel);
        Ok(())
    }

    cuLaunchKernel(function: u64, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: u32, stream: u64,
        params: *const *const c_void, extra: *const *const c_void) {
        static SYMBOL: Symbol = Symbol::new(c"cuLaunchKernel");
        launch(&SYMBOL, function, [gx, gy, gz], [bx, by, bz], shared, stream, (params, extra))
    }

    cuLaunchKernel_ptsz(function: u64, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: u32, stream: u64,
        params: *const *const c_void, extra: *const *const c_void) {
        static SYMBOL: Symbol = Symbol::new(c"cuLaunchKernel_ptsz");
        launch(&SYMBOL, function, [gx, gy, gz], [bx, by, bz], shared, stream, (params, extra))
    }

    cuLaunchCooperativeKernel(function: u64, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: u32,
        stream: u64, params: *const *const c_void) {
        // One argument less is passed on; the function does not see the last.
        static SYMBOL: Symbol = Symbol::new(c"cuLaunchCooperativeKernel");
        launch(&SYMBOL, function, [gx, gy, gz], [bx, by, bz], shared, stream, (params, std::ptr::null()))
    }

    cuLaunchKernelEx(config: *const LaunchConfig, function: u64, params: *const *const c_void,
        extra: *const *const c_void) {
        static SYMBOL: Symbol = Symbol::new(c"cuLaunchKernelEx");
        launch_ex(&SYMBOL, config, function, params, extra)
    }

    cuLaunchKernelEx_ptsz(config: *const LaunchConfig, function: u64, params: *const *const c_void,
        extra: *const *const c_void) {
        static SYMBOL: Symbol = Symbol::new(c"cuLaunchKernelEx_ptsz");
        launch_ex(&SYMBOL, config, function, params, extra)
    }

    cuGraphAddKernelNode(to: *mut u64, graph: u64, follows: *const u64, count: u64, params: *const KernelNode) {
        let call = real!(c"cuGraphAddKernelNode" as AddNode);
        node(params, false, |params| call(to, graph, follows, count, params))
    }

    cuGraphAddKernelNode_v2(to: *mut u64, graph: u64, follows: *const u64, count: u64, params: *const KernelNode) {
        let call = real!(c"cuGraphAddKernelNode_v2" as AddNode);
        node(params, true, |params| call(to, graph, follows, count, params))
    }

    cuGraphKernelNodeSetParams(handle: u64, params: *const KernelNode) {
        let call = real!(c"cuGraphKernelNodeSetParams" as SetNode);
        node(params, false, |params| call(handle, params))
    }

    cuGraphKernelNodeSetParams_v2(handle: u64, params: *const KernelNode) {
        let call = real!(c"cuGraphKernelNodeSetParams_v2" as SetNode);
        node(params, true, |params| call(handle, params))
    }

    cuGraphExecKernelNodeSetParams(executable: u64, handle: u64, params: *const KernelNode) {
        let call = real!(c"cuGraphExecKernelNodeSetParams" as SetExecutable);
        node(params, false, |params| call(executable, handle, params))
    }

    cuGraphExecKernelNodeSetParams_v2(executable: u64, handle: u64, params: *const KernelNode) {
        let call = real!(c"cuGraphExecKernelNodeSetParams_v2" as SetExecutable);
        node(params, true, |params| call(executable, handle, params))
    }
}
