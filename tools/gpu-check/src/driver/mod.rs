//! The few calls of the CUDA driver API that a launch needs. The library is loaded when the program runs, so that it
//! builds and explains itself where there is no driver.

pub mod abi;
mod encode;

pub use abi::Address;

use abi::{LaunchAttribute, LaunchConfig, OpaqueMap};
use libloading::Library;
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_uint, c_void};

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
    /// a launch that cannot be put into words of the driver
    #[error("{0}")]
    Launch(String),
}

type Result<T> = std::result::Result<T, DriverError>;

/// Blocks of a cluster that every device allows.
const PORTABLE_CLUSTER: u32 = 8;

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
    version b"cuDriverGetVersion": fn(*mut c_int);
    device b"cuDeviceGet": fn(*mut c_int, c_int);
    device_name b"cuDeviceGetName": fn(*mut c_char, c_int, c_int);
    device_attribute b"cuDeviceGetAttribute": fn(*mut c_int, c_int, c_int);
    retain b"cuDevicePrimaryCtxRetain": fn(*mut *mut c_void, c_int);
    set_current b"cuCtxSetCurrent": fn(*mut c_void);
    synchronize b"cuCtxSynchronize": fn();
    load_module b"cuModuleLoadData": fn(*mut *mut c_void, *const c_void);
    unload_module b"cuModuleUnload": fn(*mut c_void);
    function b"cuModuleGetFunction": fn(*mut *mut c_void, *mut c_void, *const c_char);
    set_attribute b"cuFuncSetAttribute": fn(*mut c_void, c_int, c_int);
    alloc b"cuMemAlloc_v2": fn(*mut Address, usize);
    free b"cuMemFree_v2": fn(Address);
    to_device b"cuMemcpyHtoD_v2": fn(Address, *const c_void, usize);
    to_host b"cuMemcpyDtoH_v2": fn(*mut c_void, Address, usize);
    launch b"cuLaunchKernelEx": fn(*const LaunchConfig, *mut c_void, *mut *mut c_void, *mut *mut c_void);
    encode_tiled b"cuTensorMapEncodeTiled": fn(*mut OpaqueMap, c_uint, c_uint, Address, *const u64, *const u64,
        *const u32, *const u32, c_uint, c_uint, c_uint, c_uint);
    encode_im2col b"cuTensorMapEncodeIm2col": fn(*mut OpaqueMap, c_uint, c_uint, Address, *const u64, *const u64,
        *const c_int, *const c_int, c_uint, c_uint, *const u32, c_uint, c_uint, c_uint, c_uint);
}

/// A device with its primary context.
pub struct Driver {
    calls: Calls,
    device: c_int,
    _library: Library,
}

/// A loaded module, unloaded when dropped, and one of its kernels.
pub struct Kernel<'d> {
    driver: &'d Driver,
    module: *mut c_void,
    function: *mut c_void,
}

impl Drop for Kernel<'_> {
    fn drop(&mut self) {
        // SAFETY: the module came from this driver and nothing runs in it any more. Failure changes nothing.
        unsafe { (self.driver.calls.unload_module)(self.module) };
    }
}

/// Device memory, freed when dropped.
pub struct Memory<'d> {
    driver: &'d Driver,
    /// where
    pub address: Address,
    len: usize,
}

impl Memory<'_> {
    /// Its contents.
    pub fn read(&self) -> Result<Vec<u8>> {
        let mut bytes = vec![0; self.len];
        let to_host = self.driver.calls.to_host;
        // SAFETY: the copy writes `len` bytes of `bytes`.
        let code = unsafe { to_host(bytes.as_mut_ptr().cast(), self.address, self.len) };
        self.driver.check("cuMemcpyDtoH", code)?;
        Ok(bytes)
    }
}

impl Drop for Memory<'_> {
    fn drop(&mut self) {
        // SAFETY: the address came from cuMemAlloc. Failure (after a fault) changes nothing.
        unsafe { (self.driver.calls.free)(self.address) };
    }
}

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
    /// all blocks at once
    pub cooperative: bool,
}

/// A kernel parameter, aligned as strictly as any is.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Parameter([u8; 4096]);

impl Parameter {
    /// A parameter of these bytes.
    pub fn new(bytes: &[u8]) -> Result<Parameter> {
        let mut parameter = Parameter([0; 4096]);
        let slot = parameter.0.get_mut(..bytes.len());
        slot.ok_or_else(|| DriverError::Launch("a parameter is larger than 4 KiB".into()))?
            .copy_from_slice(bytes);
        Ok(parameter)
    }
}

impl Driver {
    /// The first device of the machine's driver, or of another library with its functions.
    pub fn open(library: Option<&OsStr>) -> Result<Driver> {
        // SAFETY: libcuda's initialisers have no preconditions; whoever names another library vouches for it.
        let library = unsafe { Library::new(library.unwrap_or("libcuda.so.1".as_ref())) };
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

    /// The device's compute capability as in `sm_NN`.
    pub fn architecture(&self) -> Result<u32> {
        let (mut major, mut minor) = (0, 0);
        let get = self.calls.device_attribute;
        // SAFETY: out-pointers to locals.
        unsafe {
            let code = get(&mut major, abi::COMPUTE_CAPABILITY_MAJOR, self.device);
            self.check("cuDeviceGetAttribute", code)?;
            let code = get(&mut minor, abi::COMPUTE_CAPABILITY_MINOR, self.device);
            self.check("cuDeviceGetAttribute", code)?;
        }
        Ok((major * 10 + minor).unsigned_abs())
    }

    /// The device's name and compute capability, and the newest CUDA version that the driver knows.
    pub fn describe(&self) -> Result<String> {
        let (mut name, mut version) = ([0 as c_char; 128], 0);
        // SAFETY: the name's length goes along, and the driver ends it with NUL; an out-pointer to a local.
        let name = unsafe {
            let code = (self.calls.device_name)(name.as_mut_ptr(), 128, self.device);
            self.check("cuDeviceGetName", code)?;
            self.check("cuDriverGetVersion", (self.calls.version)(&mut version))?;
            CStr::from_ptr(name.as_ptr()).to_string_lossy().into_owned()
        };
        let (major, minor) = (version / 1000, version % 1000 / 10);
        let architecture = self.architecture()?;
        Ok(format!(
            "{name} (sm_{architecture}), driver for CUDA {major}.{minor}"
        ))
    }

    /// Loads a module and finds an entry: machine code if there is any that this device takes, else PTX by the driver's
    /// compiler.
    pub fn load(&self, ptx: &str, code: Option<&[u8]>, entry: &str) -> Result<Kernel<'_>> {
        let (text, name) = (CString::new(ptx)?, CString::new(entry)?);
        let compile = || {
            self.module(text.as_ptr().cast())
                .map_err(|e| explain(e, ptx))
        };
        let module = match code.map(|c| self.module(c.as_ptr().cast())) {
            Some(Ok(module)) => module,
            Some(Err(refused)) => compile().map_err(|e| {
                DriverError::Launch(format!("{e}; nor does the machine code load: {refused}"))
            })?,
            None => compile()?,
        };
        let mut kernel = Kernel {
            driver: self,
            module,
            function: std::ptr::null_mut(),
        };
        // SAFETY: a NUL-terminated string that lives through the call, and an out-pointer.
        let found = unsafe { (self.calls.function)(&mut kernel.function, module, name.as_ptr()) };
        self.check("cuModuleGetFunction", found)?;
        Ok(kernel)
    }

    /// Loads an image: an ELF file, which says its own length, or text that ends in NUL.
    fn module(&self, image: *const c_void) -> Result<*mut c_void> {
        let mut module = std::ptr::null_mut();
        // SAFETY: `load`, the only caller, passes such images, which live through the call.
        let code = unsafe { (self.calls.load_module)(&mut module, image) };
        self.check("cuModuleLoadData", code)?;
        Ok(module)
    }

    /// Device memory with these contents.
    pub fn upload(&self, bytes: &[u8]) -> Result<Memory<'_>> {
        let mut address = 0;
        // SAFETY: an out-pointer to a local.
        let code = unsafe { (self.calls.alloc)(&mut address, bytes.len().max(1)) };
        self.check("cuMemAlloc", code)?;
        let memory = Memory {
            driver: self,
            address,
            len: bytes.len(),
        };
        // SAFETY: the copy reads `bytes.len()` bytes of `bytes`.
        let code = unsafe { (self.calls.to_device)(address, bytes.as_ptr().cast(), bytes.len()) };
        self.check("cuMemcpyHtoD", code)?;
        Ok(memory)
    }

    /// Runs a kernel to its end.
    pub fn run(&self, kernel: &Kernel<'_>, shape: Shape, params: &mut [Parameter]) -> Result<()> {
        let mut pointers: Vec<*mut c_void> =
            params.iter_mut().map(|p| p.0.as_mut_ptr().cast()).collect();
        let blocks: u32 = shape.cluster.iter().product();
        let mut attributes = Vec::new();
        if blocks > 1 {
            attributes.push(LaunchAttribute::cluster(shape.cluster));
        }
        if shape.cooperative {
            attributes.push(LaunchAttribute::cooperative());
        }
        // What a kernel declares itself counts against the limit, too, which is not known here.
        if shape.shared > 0 {
            self.allow(kernel, abi::MAX_DYNAMIC_SHARED, shape.shared)?;
        }
        if blocks > PORTABLE_CLUSTER {
            self.allow(kernel, abi::NON_PORTABLE_CLUSTER, 1)?;
        }
        let config = LaunchConfig {
            grid: shape.grid,
            block: shape.block,
            shared: shape.shared,
            stream: std::ptr::null_mut(),
            attributes: attributes.as_mut_ptr(),
            count: attributes.len() as c_uint,
        };
        let none = std::ptr::null_mut();
        // SAFETY: the function came from this driver; there is a pointer per parameter to at least as many bytes as the
        // kernel reads; configuration and attributes live through the call.
        unsafe {
            let launch = self.calls.launch;
            let code = launch(&config, kernel.function, pointers.as_mut_ptr(), none);
            self.check("cuLaunchKernelEx", code)?;
            self.check("cuCtxSynchronize", (self.calls.synchronize)())
        }
    }

    fn allow(&self, kernel: &Kernel<'_>, attribute: c_int, value: u32) -> Result<()> {
        // SAFETY: the function came from this driver.
        let code =
            unsafe { (self.calls.set_attribute)(kernel.function, attribute, value as c_int) };
        self.check("cuFuncSetAttribute", code)
    }
}

/// Says what to do about text that is newer than the driver.
fn explain(error: DriverError, ptx: &str) -> DriverError {
    match error {
        DriverError::Call {
            call,
            code: code @ abi::UNSUPPORTED_PTX_VERSION,
            message,
        } => {
            let version = ptx.lines().find_map(|l| l.strip_prefix(".version "));
            let version = version.unwrap_or("of an unknown version").trim();
            let message = format!(
                "{message}: the PTX is {version}, too new for this driver; give it machine code of ptxas (a suite packed with --arch)"
            );
            DriverError::Call {
                call,
                code,
                message,
            }
        }
        other => other,
    }
}
