//! The few calls of the CUDA driver API that a launch needs. The library is loaded when the program runs, so that it
//! builds and explains itself where there is no driver.

use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};

/// Why nothing ran on a GPU.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// there is no driver
    #[error("no CUDA driver: {0}; install NVIDIA's driver (libcuda.so.1), or use ptxsim alone")]
    Missing(String),
    /// the driver refused
    #[error("{call} failed: {message} (CUresult {code})")]
    Call {
        /// function of the driver API
        call: &'static str,
        /// its result
        code: c_int,
        /// what the driver says about it
        message: String,
    },
    /// a kernel with text in which C strings end
    #[error("the PTX text or the entry's name has a NUL byte")]
    Nul(#[from] std::ffi::NulError),
}

type Result<T> = std::result::Result<T, DriverError>;

/// `CUdeviceptr`
pub type Address = u64;

/// `CUlaunchAttribute` with `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`.
#[repr(C, align(8))]
struct ClusterAttribute {
    id: c_uint,
    pad: [u8; 4],
    dims: [c_uint; 3],
    rest: [u8; 52],
}

/// `CUlaunchConfig`
#[repr(C)]
struct LaunchConfig {
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared: c_uint,
    stream: *mut c_void,
    attributes: *mut ClusterAttribute,
    count: c_uint,
}

const CLUSTER_DIMENSION: c_uint = 4;
const COMPUTE_CAPABILITY_MAJOR: c_int = 75;
const COMPUTE_CAPABILITY_MINOR: c_int = 76;
const MAX_DYNAMIC_SHARED: c_int = 8;
const NON_PORTABLE_CLUSTER: c_int = 14;
/// Blocks of a cluster that every device allows.
const PORTABLE_CLUSTER: u32 = 8;
/// Dynamic shared memory that needs no opting in.
const PLAIN_SHARED: u32 = 48 << 10;

macro_rules! calls {
    ($($field:ident $symbol:literal: fn($($arg:ty),*);)*) => {
        /// Functions of the driver, by the types that cuda.h gives them.
        struct Calls { $($field: unsafe extern "C" fn($($arg),*) -> c_int),* }

        impl Calls {
            fn load(library: &Library) -> std::result::Result<Calls, libloading::Error> {
                // SAFETY: the types are those of cuda.h for these symbols, and `Driver` keeps the library loaded for as
                // long as it has the pointers.
                unsafe { Ok(Calls { $($field: *library.get($symbol)?),* }) }
            }
        }
    };
}

calls! {
    init b"cuInit": fn(c_uint);
    error_string b"cuGetErrorString": fn(c_int, *mut *const c_char);
    device b"cuDeviceGet": fn(*mut c_int, c_int);
    device_name b"cuDeviceGetName": fn(*mut c_char, c_int, c_int);
    device_attribute b"cuDeviceGetAttribute": fn(*mut c_int, c_int, c_int);
    retain b"cuDevicePrimaryCtxRetain": fn(*mut *mut c_void, c_int);
    set_current b"cuCtxSetCurrent": fn(*mut c_void);
    synchronize b"cuCtxSynchronize": fn();
    load_module b"cuModuleLoadData": fn(*mut *mut c_void, *const c_void);
    function b"cuModuleGetFunction": fn(*mut *mut c_void, *mut c_void, *const c_char);
    set_attribute b"cuFuncSetAttribute": fn(*mut c_void, c_int, c_int);
    alloc b"cuMemAlloc_v2": fn(*mut Address, usize);
    free b"cuMemFree_v2": fn(Address);
    to_device b"cuMemcpyHtoD_v2": fn(Address, *const c_void, usize);
    to_host b"cuMemcpyDtoH_v2": fn(*mut c_void, Address, usize);
    launch b"cuLaunchKernelEx": fn(*const LaunchConfig, *mut c_void, *mut *mut c_void, *mut *mut c_void);
    encode_tiled b"cuTensorMapEncodeTiled":
        fn(*mut c_void, c_uint, c_uint, Address, *const u64, *const u64, *const u32, *const u32, c_uint, c_uint, c_uint, c_uint);
}

/// A device with its primary context.
pub struct Driver {
    calls: Calls,
    device: c_int,
    _library: Library,
}

/// A loaded kernel.
#[derive(Clone, Copy)]
pub struct Function(*mut c_void);

/// Sizes of a launch.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// blocks
    pub grid: [u32; 3],
    /// threads per block
    pub block: [u32; 3],
    /// blocks per cluster
    pub cluster: [u32; 3],
    /// dynamic shared memory in bytes
    pub shared: u32,
}

/// What `cuTensorMapEncodeTiled` is told.
#[derive(Debug, Clone)]
pub struct Tiled {
    /// `CUtensorMapDataType`
    pub element: u32,
    /// device address
    pub base: Address,
    /// extents, innermost first
    pub dims: Vec<u64>,
    /// byte strides of all dimensions but the first
    pub strides: Vec<u64>,
    /// box extents
    pub boxes: Vec<u32>,
    /// element strides
    pub steps: Vec<u32>,
    /// `CUtensorMapInterleave`
    pub interleave: u32,
    /// `CUtensorMapSwizzle`
    pub swizzle: u32,
    /// `CUtensorMapFloatOOBfill`
    pub fill: u32,
}

/// A kernel parameter, aligned as strictly as any is.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Parameter(pub [u8; 4096]);

impl Driver {
    /// The first device of the machine's driver.
    pub fn open() -> Result<Driver> {
        // SAFETY: libcuda's initialisers have no preconditions.
        let library = unsafe { Library::new("libcuda.so.1") };
        let library = library.map_err(|e| DriverError::Missing(e.to_string()))?;
        let calls = Calls::load(&library).map_err(|e| DriverError::Missing(e.to_string()))?;
        let mut driver = Driver {
            calls,
            device: 0,
            _library: library,
        };
        let (mut device, mut context) = (0, std::ptr::null_mut());
        // SAFETY: out-pointers to locals that live through the calls.
        unsafe {
            driver.check("cuInit", (driver.calls.init)(0))?;
            driver.check("cuDeviceGet", (driver.calls.device)(&mut device, 0))?;
            driver.check(
                "cuDevicePrimaryCtxRetain",
                (driver.calls.retain)(&mut context, device),
            )?;
            driver.check("cuCtxSetCurrent", (driver.calls.set_current)(context))?;
        }
        driver.device = device;
        Ok(driver)
    }

    fn check(&self, call: &'static str, code: c_int) -> Result<()> {
        if code == 0 {
            return Ok(());
        }
        let mut text = std::ptr::null();
        // SAFETY: the driver sets `text` to a static string or to null.
        let message = unsafe {
            (self.calls.error_string)(code, &mut text);
            if text.is_null() {
                String::from("unknown error")
            } else {
                CStr::from_ptr(text).to_string_lossy().into_owned()
            }
        };
        Err(DriverError::Call {
            call,
            code,
            message,
        })
    }

    /// The device's name and compute capability.
    pub fn describe(&self) -> Result<String> {
        let mut name = [0 as c_char; 128];
        let (mut major, mut minor) = (0, 0);
        // SAFETY: the name's length goes along; out-pointers to locals.
        unsafe {
            self.check(
                "cuDeviceGetName",
                (self.calls.device_name)(name.as_mut_ptr(), 128, self.device),
            )?;
            let get = self.calls.device_attribute;
            self.check(
                "cuDeviceGetAttribute",
                get(&mut major, COMPUTE_CAPABILITY_MAJOR, self.device),
            )?;
            self.check(
                "cuDeviceGetAttribute",
                get(&mut minor, COMPUTE_CAPABILITY_MINOR, self.device),
            )?;
            Ok(format!(
                "{} (sm_{major}{minor})",
                CStr::from_ptr(name.as_ptr()).to_string_lossy()
            ))
        }
    }

    /// Compiles PTX with the driver's compiler and finds an entry.
    pub fn load(&self, ptx: &str, entry: &str) -> Result<Function> {
        let (text, name) = (CString::new(ptx)?, CString::new(entry)?);
        let (mut module, mut function) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: NUL-terminated strings that live through the calls.
        unsafe {
            self.check(
                "cuModuleLoadData",
                (self.calls.load_module)(&mut module, text.as_ptr().cast()),
            )?;
            self.check(
                "cuModuleGetFunction",
                (self.calls.function)(&mut function, module, name.as_ptr()),
            )?;
        }
        Ok(Function(function))
    }

    /// Device memory with these contents.
    pub fn upload(&self, bytes: &[u8]) -> Result<Address> {
        let mut address = 0;
        // SAFETY: the copy reads `bytes.len()` bytes of `bytes`.
        unsafe {
            self.check(
                "cuMemAlloc",
                (self.calls.alloc)(&mut address, bytes.len().max(1)),
            )?;
            self.check(
                "cuMemcpyHtoD",
                (self.calls.to_device)(address, bytes.as_ptr().cast(), bytes.len()),
            )?;
        }
        Ok(address)
    }

    /// Reads device memory back and frees it.
    pub fn download(&self, address: Address, len: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        // SAFETY: the copy writes `len` bytes of `bytes`.
        unsafe {
            self.check(
                "cuMemcpyDtoH",
                (self.calls.to_host)(bytes.as_mut_ptr().cast(), address, len),
            )?;
            self.check("cuMemFree", (self.calls.free)(address))?;
        }
        Ok(bytes)
    }

    /// The opaque bytes of a tensor map.
    pub fn encode(&self, map: &Tiled) -> Result<[u8; 128]> {
        let mut out = Parameter([0; 4096]);
        // SAFETY: the output is aligned to 64 bytes and long enough; the lists have `dims.len()` elements (strides one
        // fewer), as the function expects.
        let code = unsafe {
            (self.calls.encode_tiled)(
                out.0.as_mut_ptr().cast(),
                map.element,
                map.dims.len() as c_uint,
                map.base,
                map.dims.as_ptr(),
                map.strides.as_ptr(),
                map.boxes.as_ptr(),
                map.steps.as_ptr(),
                map.interleave,
                map.swizzle,
                0,
                map.fill,
            )
        };
        self.check("cuTensorMapEncodeTiled", code)?;
        let mut bytes = [0; 128];
        bytes.copy_from_slice(&out.0[..128]);
        Ok(bytes)
    }

    /// Runs a kernel to its end.
    pub fn run(
        &self,
        function: Function,
        shape: Shape,
        parameters: &mut [Parameter],
    ) -> Result<()> {
        let mut pointers: Vec<*mut c_void> = parameters
            .iter_mut()
            .map(|p| p.0.as_mut_ptr().cast())
            .collect();
        let mut cluster = ClusterAttribute {
            id: CLUSTER_DIMENSION,
            pad: [0; 4],
            dims: shape.cluster,
            rest: [0; 52],
        };
        let blocks: u32 = shape.cluster.iter().product();
        let config = LaunchConfig {
            grid: shape.grid,
            block: shape.block,
            shared: shape.shared,
            stream: std::ptr::null_mut(),
            attributes: &mut cluster,
            count: u32::from(blocks > 1),
        };
        // SAFETY: `function` came from this driver; there is a pointer per parameter to at least as many bytes as the
        // kernel reads; the configuration lives through the call.
        unsafe {
            let set = self.calls.set_attribute;
            if shape.shared > PLAIN_SHARED {
                self.check(
                    "cuFuncSetAttribute",
                    set(function.0, MAX_DYNAMIC_SHARED, shape.shared as c_int),
                )?;
            }
            if blocks > PORTABLE_CLUSTER {
                self.check(
                    "cuFuncSetAttribute",
                    set(function.0, NON_PORTABLE_CLUSTER, 1),
                )?;
            }
            let none = std::ptr::null_mut();
            self.check(
                "cuLaunchKernelEx",
                (self.calls.launch)(&config, function.0, pointers.as_mut_ptr(), none),
            )?;
            self.check("cuCtxSynchronize", (self.calls.synchronize)())
        }
    }
}
