//! The driver's functions, found by name in `libcuda.so.1`.

use crate::call::{Error, Result};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// The version of the API whose functions are asked for, and that the driver must have.
pub const VERSION: i32 = 13000;

/// Functions for which the default stream is the thread's own.
const PER_THREAD: u64 = 2;

type GetProcAddress =
    unsafe extern "C" fn(*const c_char, *mut *const c_void, c_int, u64, *mut c_int) -> c_int;

/// The address of a function.
#[derive(Clone, Copy)]
pub struct Address(pub *const c_void);

// SAFETY: functions are everywhere.
unsafe impl Send for Address {}
// SAFETY: as above.
unsafe impl Sync for Address {}

fn lookup() -> Option<GetProcAddress> {
    static FOUND: OnceLock<Option<GetProcAddress>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        const NOW: c_int = 2;
        // SAFETY: both names are strings; the function has the type that `cuda.h` gives it.
        unsafe {
            let library = dlopen(c"libcuda.so.1".as_ptr(), NOW);
            if library.is_null() {
                return None;
            }
            let found = dlsym(library, c"cuGetProcAddress_v2".as_ptr());
            match found.is_null() {
                true => None,
                false => Some(std::mem::transmute::<*mut c_void, GetProcAddress>(found)),
            }
        }
    })
}

/// A function of the driver's by its name without a version.
pub fn find(name: &CStr, version: i32, flags: u64) -> Result<Address> {
    let lookup = lookup().ok_or(Error::INSUFFICIENT_DRIVER)?;
    let (mut found, mut status) = (std::ptr::null(), 0);
    // SAFETY: a string, and two places to write to.
    let result = unsafe { lookup(name.as_ptr(), &mut found, version, flags, &mut status) };
    match (result, found.is_null()) {
        (0, false) => Ok(Address(found)),
        (0, true) => Err(Error::SYMBOL_NOT_FOUND),
        (error, _) => Err(Error(error)),
    }
}

/// A function that is looked up once.
pub struct Function {
    name: &'static CStr,
    flags: u64,
    found: OnceLock<Result<Address>>,
}

impl Function {
    /// The function that `name` means in version [`VERSION`].
    pub const fn new(name: &'static CStr, per_thread: bool) -> Function {
        Function {
            name,
            flags: if per_thread { PER_THREAD } else { 0 },
            found: OnceLock::new(),
        }
    }

    /// Its address.
    pub fn get(&self) -> Result<*const c_void> {
        let found = self
            .found
            .get_or_init(|| find(self.name, VERSION, self.flags));
        found.map(|f| f.0)
    }
}

/// Declares functions of the driver's: each takes what `cuda.h` says, and returns the error if there is one.
macro_rules! driver {
    ($($name:ident($($arg:ident: $ty:ty),* $(,)?);)*) => {
        $(
            /// The driver's function.
            ///
            /// # Safety
            /// As `cuda.h` has it.
            #[allow(clippy::too_many_arguments)]
            pub unsafe fn $name($($arg: $ty),*) -> Result {
                static FUNCTION: Function = Function::new(
                    // SAFETY: there is one NUL, at the end.
                    unsafe { CStr::from_bytes_with_nul_unchecked(concat!(stringify!($name), "\0").as_bytes()) },
                    false,
                );
                // SAFETY: the caller's promises; the types are those of `cuda.h`.
                crate::call::check(unsafe {
                    let f = std::mem::transmute::<*const c_void, unsafe extern "C" fn($($ty),*) -> c_int>(FUNCTION.get()?);
                    f($($arg),*)
                })
            }
        )*
    };
}

driver! {
    cuInit(flags: u32);
    cuDriverGetVersion(to: *mut c_int);
    cuDeviceGetCount(to: *mut c_int);
    cuDeviceGetName(to: *mut c_char, room: c_int, device: c_int);
    cuDeviceGetUuid(to: *mut c_void, device: c_int);
    cuDeviceTotalMem(to: *mut u64, device: c_int);
    cuDeviceGetAttribute(to: *mut c_int, attribute: c_int, device: c_int);
    cuDevicePrimaryCtxRetain(to: *mut u64, device: c_int);
    cuDevicePrimaryCtxReset(device: c_int);
    cuDevicePrimaryCtxSetFlags(device: c_int, flags: u32);
    cuDevicePrimaryCtxGetState(device: c_int, flags: *mut u32, active: *mut c_int);
    cuCtxGetCurrent(to: *mut u64);
    cuCtxSetCurrent(context: u64);
    cuCtxGetDevice(to: *mut c_int, context: u64);
    cuCtxSynchronize(context: u64);
    cuCtxEnablePeerAccess(context: u64, flags: u32);
    cuCtxDisablePeerAccess(context: u64);
    cuGetErrorString(error: c_int, to: *mut *const c_char);
    cuLibraryLoadData(to: *mut u64, image: *const c_void, options: u64, values: u64, count: u32, lo: u64, lv: u64, lc: u32);
    cuLibraryUnload(library: u64);
    cuLibraryGetKernel(to: *mut u64, library: u64, name: *const c_char);
    cuLibraryGetGlobal(to: *mut u64, bytes: *mut u64, library: u64, name: *const c_char);
    cuLibraryGetManaged(to: *mut u64, bytes: *mut u64, library: u64, name: *const c_char);
    cuKernelGetFunction(to: *mut u64, kernel: u64);
    cuKernelGetName(to: *mut *const c_char, kernel: u64);
    cuKernelSetAttribute(attribute: c_int, value: c_int, kernel: u64, device: c_int);
    cuKernelGetParamInfo(kernel: u64, index: u64, offset: *mut u64, size: *mut u64);
    cuFuncGetAttribute(to: *mut c_int, attribute: c_int, function: u64);
    cuFuncSetAttribute(function: u64, attribute: c_int, value: c_int);
    cuFuncSetCacheConfig(function: u64, config: c_int);
    cuLaunchKernelEx(config: *const c_void, function: u64, params: *const *const c_void, extra: *const *const c_void);
    cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(to: *mut c_int, function: u64, threads: c_int, shared: u64, flags: u32);
    cuOccupancyAvailableDynamicSMemPerBlock(to: *mut u64, function: u64, blocks: c_int, threads: c_int);
    cuOccupancyMaxPotentialClusterSize(to: *mut c_int, function: u64, config: *const c_void);
    cuOccupancyMaxActiveClusters(to: *mut c_int, function: u64, config: *const c_void);
    cuMemAlloc(to: *mut u64, bytes: u64);
    cuMemAllocPitch(to: *mut u64, pitch: *mut u64, width: u64, height: u64, element: u32);
    cuMemFree(address: u64);
    cuMemFreeHost(address: u64);
    cuMemcpy(to: u64, from: u64, bytes: u64);
    cuMemcpyAsync(to: u64, from: u64, bytes: u64, stream: u64);
    cuMemcpyHtoD(to: u64, from: u64, bytes: u64);
    cuMemcpyDtoH(to: u64, from: u64, bytes: u64);
    cuMemcpyDtoD(to: u64, from: u64, bytes: u64);
    cuMemcpyHtoDAsync(to: u64, from: u64, bytes: u64, stream: u64);
    cuMemcpyDtoHAsync(to: u64, from: u64, bytes: u64, stream: u64);
    cuMemcpyDtoDAsync(to: u64, from: u64, bytes: u64, stream: u64);
    cuMemcpy3D(copy: *const c_void);
    cuMemcpy3DAsync(copy: *const c_void, stream: u64);
    cuMemsetD8(to: u64, value: u8, count: u64);
    cuMemsetD8Async(to: u64, value: u8, count: u64, stream: u64);
    cuMemsetD2D8(to: u64, pitch: u64, value: u8, width: u64, height: u64);
    cuMemsetD2D8Async(to: u64, pitch: u64, value: u8, width: u64, height: u64, stream: u64);
    cuPointerGetAttribute(to: *mut c_void, attribute: c_int, address: u64);
    cuStreamSynchronize(stream: u64);
    cuStreamCreate(to: *mut u64, flags: u32);
    cuEventCreate(to: *mut u64, flags: u32);
    cuIpcOpenMemHandle(to: *mut u64, handle: IpcHandle, flags: u32);
    cuIpcOpenEventHandle(to: *mut u64, handle: IpcHandle);
    cuGraphAddKernelNode(to: *mut u64, graph: u64, follows: *const u64, count: u64, params: *const c_void);
    cuGraphExecKernelNodeSetParams(executable: u64, node: u64, params: *const c_void);
    cuGraphAddMemcpyNode(to: *mut u64, graph: u64, follows: *const u64, count: u64, params: *const c_void, context: u64);
    cuGraphAddMemsetNode(to: *mut u64, graph: u64, follows: *const u64, count: u64, params: *const c_void, context: u64);
}

/// `cudaIpcMemHandle_t`, `cudaIpcEventHandle_t`
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct IpcHandle {
    pub words: [u64; 8],
}
