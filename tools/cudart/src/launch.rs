//! Launches, and what can be asked of kernels.

use crate::call::{Error, Result, get, put};
use crate::context::{enter, initialise};
use crate::driver;
use crate::registry::kernel;
use std::cell::RefCell;
use std::ffi::{c_char, c_void};

/// `dim3`
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct Dim3 {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

/// `cudaLaunchConfig_t`
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct Config {
    pub grid: Dim3,
    pub block: Dim3,
    pub shared: u64,
    pub stream: u64,
    pub attributes: *const c_void,
    pub attribute_count: u32,
}

/// `CUlaunchConfig`
#[repr(C)]
struct DriverConfig {
    grid: Dim3,
    block: Dim3,
    shared: u32,
    stream: u64,
    attributes: *const c_void,
    attribute_count: u32,
}

/// `cudaLaunchAttribute`, with an integer as its value
#[repr(C)]
struct Attribute {
    id: i32,
    padding: i32,
    value: [u32; 16],
}

/// `cudaLaunchAttributeCooperative`
const COOPERATIVE: i32 = 2;
/// The stream that stands for the thread's own default stream.
pub const PER_THREAD: u64 = 2;

/// The stream that a function for threads with default streams of their own means.
pub fn per_thread(stream: u64) -> u64 {
    if stream == 0 { PER_THREAD } else { stream }
}

impl Config {
    fn driver(&self) -> Result<DriverConfig> {
        Ok(DriverConfig {
            grid: self.grid,
            block: self.block,
            shared: u32::try_from(self.shared).map_err(|_| Error::INVALID_VALUE)?,
            stream: self.stream,
            attributes: self.attributes,
            attribute_count: self.attribute_count,
        })
    }
}

/// # Safety
/// As `cudaLaunchKernelExC`, with a kernel of the driver's.
unsafe fn launch(config: &Config, kernel: u64, args: *const *const c_void) -> Result {
    enter()?;
    let sides = [config.grid, config.block];
    if sides.iter().any(|d| d.x == 0 || d.y == 0 || d.z == 0) {
        return Err(Error::INVALID_CONFIGURATION);
    }
    let config = config.driver()?;
    // SAFETY: the caller's promises; the structure is `cuda.h`'s.
    unsafe {
        driver::cuLaunchKernelEx(
            std::ptr::from_ref(&config).cast(),
            kernel,
            args,
            std::ptr::null(),
        )
    }
}

fn plain(grid: Dim3, block: Dim3, shared: u64, stream: u64) -> Config {
    Config {
        grid,
        block,
        shared,
        stream,
        attributes: std::ptr::null(),
        attribute_count: 0,
    }
}

/// # Safety
/// As `cudaLaunchCooperativeKernel`.
unsafe fn cooperative(config: Config, function: u64, args: *const *const c_void) -> Result {
    let mut value = [0; 16];
    value[0] = 1;
    let attribute = Attribute {
        id: COOPERATIVE,
        padding: 0,
        value,
    };
    let config = Config {
        attributes: std::ptr::from_ref(&attribute).cast(),
        attribute_count: 1,
        ..config
    };
    // SAFETY: the caller's promises.
    unsafe { launch(&config, kernel(function)?, args) }
}

/// What `<<<…>>>` says, until the kernel's stub takes it.
struct Pushed {
    grid: Dim3,
    block: Dim3,
    shared: u64,
    stream: u64,
}

thread_local! {
    static PUSHED: RefCell<Vec<Pushed>> = const { RefCell::new(Vec::new()) };
}

/// The kernel as a function of the current context.
fn function(of: u64) -> Result<u64> {
    enter()?;
    let mut function = 0;
    // SAFETY: a place to write to.
    unsafe { driver::cuKernelGetFunction(&mut function, kernel(of)?)? };
    Ok(function)
}

/// `cudaFuncAttributes`
#[repr(C)]
#[derive(Debug, Default)]
#[allow(missing_docs)]
pub struct Attributes {
    pub shared: u64,
    pub constant: u64,
    pub local: u64,
    pub max_threads: i32,
    pub registers: i32,
    pub ptx_version: i32,
    pub binary_version: i32,
    pub cache_mode: i32,
    pub max_dynamic_shared: i32,
    pub carveout: i32,
    pub cluster_must_be_set: i32,
    pub cluster: [i32; 3],
    pub scheduling_policy: i32,
    pub non_portable_cluster: i32,
    pub rest: [i32; 16],
}

/// `CUfunction_attribute`s in the order of [`Attributes`]: the three sizes, and the rest.
const SIZES: [i32; 3] = [1, 2, 3];
const NUMBERS: [i32; 8] = [0, 4, 5, 6, 7, 8, 9, 10];

fn attributes(of: u64) -> Result<Attributes> {
    let function = function(of)?;
    let read = |number| -> Result<i32> {
        let mut value = 0;
        // SAFETY: a place to write to.
        unsafe { driver::cuFuncGetAttribute(&mut value, number, function)? };
        Ok(value)
    };
    let sizes = SIZES.map(|n| read(n).map(|v| v as u64));
    let numbers = NUMBERS.map(read);
    let optional = |number| read(number).unwrap_or(0);
    Ok(Attributes {
        shared: sizes[0]?,
        constant: sizes[1]?,
        local: sizes[2]?,
        max_threads: numbers[0]?,
        registers: numbers[1]?,
        ptx_version: numbers[2]?,
        binary_version: numbers[3]?,
        cache_mode: numbers[4]?,
        max_dynamic_shared: numbers[5]?,
        carveout: numbers[6]?,
        cluster_must_be_set: optional(10),
        cluster: [optional(11), optional(12), optional(13)],
        scheduling_policy: optional(15),
        non_portable_cluster: optional(14),
        rest: [0; 16],
    })
}

export! {
    __cudaPushCallConfiguration(grid: Dim3, block: Dim3, shared: u64, stream: u64) {
        PUSHED.with_borrow_mut(|p| p.push(Pushed { grid, block, shared, stream }));
        Ok(())
    }

    __cudaPopCallConfiguration(grid: *mut Dim3, block: *mut Dim3, shared: *mut u64, stream: *mut u64) {
        let pushed = PUSHED.with_borrow_mut(Vec::pop).ok_or(Error::MISSING_CONFIGURATION)?;
        put(grid, pushed.grid)?;
        put(block, pushed.block)?;
        put(shared, pushed.shared)?;
        put(stream, pushed.stream)
    }

    __cudaLaunchKernel(handle: u64, grid: Dim3, block: Dim3, args: *const *const c_void, shared: u64, stream: u64) {
        // Without a kernel, the error is that of the look-up.
        match (handle, crate::call::last(false)) {
            (0, 0) => Err(Error::INVALID_FUNCTION),
            (0, error) => Err(Error(error)),
            _ => launch(&plain(grid, block, shared, stream), handle, args),
        }
    }

    __cudaLaunchKernel_ptsz(handle: u64, grid: Dim3, block: Dim3, args: *const *const c_void, shared: u64, stream: u64) {
        match __cudaLaunchKernel(handle, grid, block, args, shared, per_thread(stream)) {
            0 => Ok(()),
            error => Err(Error(error)),
        }
    }

    cudaLaunchKernel(function: u64, grid: Dim3, block: Dim3, args: *const *const c_void, shared: u64, stream: u64) {
        launch(&plain(grid, block, shared, stream), kernel(function)?, args)
    }

    cudaLaunchKernel_ptsz(function: u64, grid: Dim3, block: Dim3, args: *const *const c_void, shared: u64, stream: u64) {
        launch(&plain(grid, block, shared, per_thread(stream)), kernel(function)?, args)
    }

    cudaLaunchKernelExC(config: *const Config, function: u64, args: *const *const c_void) {
        launch(&get(config)?, kernel(function)?, args)
    }

    cudaLaunchKernelExC_ptsz(config: *const Config, function: u64, args: *const *const c_void) {
        let mut config = get(config)?;
        config.stream = per_thread(config.stream);
        launch(&config, kernel(function)?, args)
    }

    cudaLaunchCooperativeKernel(function: u64, grid: Dim3, block: Dim3, args: *const *const c_void, shared: u64,
        stream: u64) {
        cooperative(plain(grid, block, shared, stream), function, args)
    }

    cudaLaunchCooperativeKernel_ptsz(function: u64, grid: Dim3, block: Dim3, args: *const *const c_void, shared: u64,
        stream: u64) {
        cooperative(plain(grid, block, shared, per_thread(stream)), function, args)
    }

    cudaGetFuncBySymbol(to: *mut u64, symbol: u64) {
        put(to, function(symbol)?)
    }

    cudaFuncGetAttributes(to: *mut Attributes, of: u64) {
        put(to, attributes(of)?)
    }

    cudaFuncSetAttribute(of: u64, attribute: i32, value: i32) {
        driver::cuFuncSetAttribute(function(of)?, attribute, value)
    }

    cudaKernelSetAttributeForDevice(of: u64, attribute: i32, value: i32, device: i32) {
        initialise()?;
        driver::cuKernelSetAttribute(attribute, value, kernel(of)?, device)
    }

    cudaFuncSetCacheConfig(of: u64, config: i32) {
        driver::cuFuncSetCacheConfig(function(of)?, config)
    }

    /// There are no banks to configure since sm_75.
    cudaFuncSetSharedMemConfig(of: u64, _config: i32) {
        kernel(of).map(drop)
    }

    cudaFuncGetName(to: *mut *const c_char, of: u64) {
        initialise()?;
        driver::cuKernelGetName(to, kernel(of)?)
    }

    cudaFuncGetParamInfo(of: u64, index: u64, offset: *mut u64, size: *mut u64) {
        initialise()?;
        driver::cuKernelGetParamInfo(kernel(of)?, index, offset, size)
    }

    cudaFuncGetParamCount(of: u64, to: *mut u64) {
        initialise()?;
        let kernel = kernel(of)?;
        let mut count = 0;
        let (mut offset, mut size) = (0, 0);
        while driver::cuKernelGetParamInfo(kernel, count, &mut offset, &mut size).is_ok() {
            count += 1;
        }
        put(to, count)
    }

    cudaOccupancyMaxActiveBlocksPerMultiprocessor(to: *mut i32, of: u64, threads: i32, shared: u64) {
        driver::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(to, function(of)?, threads, shared, 0)
    }

    cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(to: *mut i32, of: u64, threads: i32, shared: u64, flags: u32) {
        driver::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(to, function(of)?, threads, shared, flags)
    }

    cudaOccupancyAvailableDynamicSMemPerBlock(to: *mut u64, of: u64, blocks: i32, threads: i32) {
        driver::cuOccupancyAvailableDynamicSMemPerBlock(to, function(of)?, blocks, threads)
    }

    cudaOccupancyMaxPotentialClusterSize(to: *mut i32, of: u64, config: *const Config) {
        let config = get(config)?.driver()?;
        driver::cuOccupancyMaxPotentialClusterSize(to, function(of)?, std::ptr::from_ref(&config).cast())
    }

    cudaOccupancyMaxActiveClusters(to: *mut i32, of: u64, config: *const Config) {
        let config = get(config)?.driver()?;
        driver::cuOccupancyMaxActiveClusters(to, function(of)?, std::ptr::from_ref(&config).cast())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a C compiler lays out the structures of `driver_types.h` and `cuda.h` 13.5.
    #[test]
    fn sizes() {
        assert_eq!(size_of::<Config>(), 56);
        assert_eq!(size_of::<DriverConfig>(), 56);
        assert_eq!(size_of::<Attribute>(), 72);
        assert_eq!(size_of::<Attributes>(), 144);
    }
}
