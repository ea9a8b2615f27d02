//! What nvcc's code registers when a program starts: images, and the kernels and variables in them by the addresses of
//! their shadows in the host's code. An image is loaded when something of it is first asked for.

use crate::call::{Error, Result, get};
use crate::context;
use crate::driver;
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

/// An image of a program: a fatbin inside the executable.
pub struct Image {
    wrapper: usize,
    library: OnceLock<Result<u64>>,
    /// managed variables: where the host keeps their address, and their names
    managed: Mutex<Vec<(usize, CString)>>,
}

struct Kernel {
    image: Arc<Image>,
    name: CString,
    found: OnceLock<Result<u64>>,
}

struct Variable {
    image: Arc<Image>,
    name: CString,
    /// the host keeps the variable's address here, and nothing else
    managed: bool,
}

#[derive(Default)]
struct Registry {
    images: HashMap<u64, Arc<Image>>,
    kernels: HashMap<u64, Arc<Kernel>>,
    variables: HashMap<u64, Arc<Variable>>,
    /// handles of kernels that were handed out, which may stand for functions of the host
    handles: std::collections::HashSet<u64>,
}

fn registry() -> MutexGuard<'static, Registry> {
    static REGISTRY: OnceLock<Mutex<Registry>> = OnceLock::new();
    let registry = REGISTRY.get_or_init(Mutex::default);
    registry.lock().unwrap_or_else(|p| p.into_inner())
}

impl Image {
    /// The image as a library of the driver's.
    fn library(&self) -> Result<u64> {
        *self.library.get_or_init(|| {
            context::initialise()?;
            let mut library = 0;
            let image = std::ptr::with_exposed_provenance::<c_void>(self.wrapper);
            // SAFETY: what nvcc's code registers is a whole image; no options are given.
            unsafe { driver::cuLibraryLoadData(&mut library, image, 0, 0, 0, 0, 0, 0)? };
            Ok(library)
        })
    }

    /// Tells the host where its managed variables are.
    fn place_managed(&self) -> Result {
        let managed = self.managed.lock().unwrap_or_else(|p| p.into_inner());
        for (place, name) in managed.iter() {
            let (mut address, mut bytes) = (0, 0);
            let library = self.library()?;
            // SAFETY: places to write to, and a name; the host's pointer is registered for this.
            unsafe {
                driver::cuLibraryGetManaged(&mut address, &mut bytes, library, name.as_ptr())?;
                std::ptr::with_exposed_provenance_mut::<u64>(*place).write(address);
            }
        }
        Ok(())
    }
}

/// The kernel that a function of the host stands for; a kernel's own handle stands for itself.
pub fn kernel(function: u64) -> Result<u64> {
    let known = {
        let registry = registry();
        if registry.handles.contains(&function) {
            return Ok(function);
        }
        registry.kernels.get(&function).cloned()
    };
    let known = known.ok_or(Error::INVALID_FUNCTION)?;
    let found = *known.found.get_or_init(|| {
        let mut kernel = 0;
        let library = known.image.library()?;
        // SAFETY: a place to write to, and a name.
        unsafe { driver::cuLibraryGetKernel(&mut kernel, library, known.name.as_ptr())? };
        known.image.place_managed()?;
        Ok(kernel)
    });
    found.inspect(|k| hand_out(*k))
}

/// Remembers a handle that the program is given.
pub fn hand_out(kernel: u64) {
    registry().handles.insert(kernel);
}

/// Address and size of the variable that one of the host stands for.
pub fn variable(host: u64) -> Result<(u64, u64)> {
    let known = registry().variables.get(&host).cloned();
    let known = known.ok_or(Error::INVALID_SYMBOL)?;
    let library = known.image.library()?;
    let (mut address, mut bytes) = (0, 0);
    // SAFETY: places to write to, and a name.
    unsafe {
        match known.managed {
            true => {
                driver::cuLibraryGetManaged(&mut address, &mut bytes, library, known.name.as_ptr())?
            }
            false => {
                driver::cuLibraryGetGlobal(&mut address, &mut bytes, library, known.name.as_ptr())?
            }
        }
    }
    Ok((address, bytes))
}

fn image(handle: u64) -> Option<Arc<Image>> {
    registry().images.get(&handle).cloned()
}

/// # Safety
/// `name` is a string.
unsafe fn name(name: *const c_char) -> CString {
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(name) }.to_owned()
}

/// Registers an image; the handle stands for it in the other functions.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterFatBinary(wrapper: u64) -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0x1000);
    let handle = NEXT.fetch_add(16, Relaxed);
    let image = Image {
        wrapper: wrapper as usize,
        library: OnceLock::new(),
        managed: Mutex::default(),
    };
    registry().images.insert(handle, Arc::new(image));
    handle
}

/// All of an image has been registered.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterFatBinaryEnd(_handle: u64) {}

/// Forgets an image, and what was registered with it.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaUnregisterFatBinary(handle: u64) {
    let mut registry = registry();
    let Some(image) = registry.images.remove(&handle) else {
        return;
    };
    registry
        .kernels
        .retain(|_, k| !Arc::ptr_eq(&k.image, &image));
    registry
        .variables
        .retain(|_, v| !Arc::ptr_eq(&v.image, &image));
    drop(registry);
    if let Some(Ok(library)) = image.library.get() {
        // SAFETY: nothing of the library is known any more. An error interests nobody at the program's end.
        let _ = unsafe { driver::cuLibraryUnload(*library) };
    }
}

/// Registers a kernel.
///
/// # Safety
/// `device_name` is a string.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn __cudaRegisterFunction(
    handle: u64,
    host: u64,
    _device: u64,
    device_name: *const c_char,
    _threads: i32,
    _tid: u64,
    _bid: u64,
    _block: u64,
    _grid: u64,
    _warp: u64,
) {
    if let Some(image) = image(handle) {
        let kernel = Kernel {
            image,
            // SAFETY: the caller's promise.
            name: unsafe { name(device_name) },
            found: OnceLock::new(),
        };
        registry().kernels.insert(host, Arc::new(kernel));
    }
}

/// # Safety
/// `device_name` is a string.
unsafe fn register(handle: u64, host: u64, device_name: *const c_char, managed: bool) {
    if let Some(image) = image(handle) {
        let variable = Variable {
            image,
            // SAFETY: the caller's promise.
            name: unsafe { name(device_name) },
            managed,
        };
        registry().variables.insert(host, Arc::new(variable));
    }
}

/// Registers a variable.
///
/// # Safety
/// `device_name` is a string.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn __cudaRegisterVar(
    handle: u64,
    host: u64,
    _address: u64,
    device_name: *const c_char,
    _external: i32,
    _size: u64,
    _constant: i32,
    _global: i32,
) {
    // SAFETY: the caller's promise.
    unsafe { register(handle, host, device_name, false) }
}

/// Registers a managed variable: the host has its address at `place`, as soon as that is known.
///
/// # Safety
/// `device_name` is a string; `place` can be written until the image is forgotten.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn __cudaRegisterManagedVar(
    handle: u64,
    place: u64,
    _address: u64,
    device_name: *const c_char,
    _external: i32,
    _size: u64,
    _constant: i32,
    _global: i32,
) {
    // SAFETY: the caller's promise.
    unsafe { register(handle, place, device_name, true) };
    if let Some(image) = image(handle) {
        let mut managed = image.managed.lock().unwrap_or_else(|p| p.into_inner());
        // SAFETY: as above.
        managed.push((place as usize, unsafe { name(device_name) }));
    }
}

/// Loads an image for its managed variables, whose addresses the host is about to use.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaInitModule(handle: u64) -> i8 {
    let placed = image(handle).map(|image| image.place_managed());
    crate::call::answer(|| placed.unwrap_or(Ok(())));
    1
}

export! {
    __cudaGetKernel(to: *mut u64, function: u64) {
        crate::call::put(to, kernel(function)?)
    }

    cudaGetKernel(to: *mut u64, function: u64) {
        crate::call::put(to, kernel(function)?)
    }

    cudaLibraryGetKernel(to: *mut u64, library: u64, name: *const c_char) {
        context::initialise()?;
        driver::cuLibraryGetKernel(to, library, name)?;
        hand_out(get(to)?);
        Ok(())
    }
}
