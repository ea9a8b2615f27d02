//! Launches.

use crate::abi::{KernelNode, LaunchAttribute, LaunchConfig};
use crate::call::{get, list, refuse};
use crate::event::{EVENTS, Event};
use crate::launch::Launch;
use crate::module::{KERNELS, Kernel};
use crate::status::{Result, Status};
use crate::stream;
use crate::work::{HostCall, Work};
use std::ffi::c_void;
use std::sync::Arc;

/// The bytes of a kernel's parameters: from pointers to each, or from one buffer in `extra`.
unsafe fn arguments(
    kernel: &Kernel,
    params: *const *const c_void,
    extra: *const *const c_void,
) -> Result<Vec<Vec<u8>>> {
    const POINTER: usize = 1;
    const SIZE: usize = 2;
    let program = kernel.program()?;
    let own = program.params.iter().take(kernel.own_params(&program));
    if own.len() == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the caller passes one pointer per parameter, to as many bytes as it has, or a list of keys and values that
    // ends with 0.
    unsafe {
        if !params.is_null() {
            let each = own.enumerate().map(|(i, p)| {
                let from = get(params.add(i))?;
                match from.is_null() {
                    true => Err(Status::INVALID_VALUE),
                    false => list(from.cast::<u8>(), p.size as usize),
                }
            });
            return each.collect();
        }
        if extra.is_null() {
            return refuse(
                Status::INVALID_VALUE,
                format_args!("kernel `{}` is launched without parameters", program.entry),
            );
        }
        let (mut buffer, mut size, mut at) = (std::ptr::null(), 0usize, extra);
        loop {
            match get(at)?.addr() {
                0 => break,
                POINTER => buffer = get(at.add(1))?.cast::<u8>(),
                SIZE => size = get(get(at.add(1))?.cast::<usize>())?,
                _ => return Err(Status::INVALID_VALUE),
            }
            at = at.add(2);
        }
        let bytes = list(buffer, size)?;
        own.map(|p| {
            let range = p.offset as usize..(p.offset + p.size) as usize;
            Ok(bytes.get(range).ok_or(Status::INVALID_VALUE)?.to_vec())
        })
        .collect()
    }
}

struct Shape {
    grid: [u32; 3],
    block: [u32; 3],
    cluster: Option<[u32; 3]>,
    shared: u32,
    cooperative: bool,
}

unsafe fn launch(
    function: u64,
    shape: Shape,
    params: *const *const c_void,
    extra: *const *const c_void,
) -> Result<Launch> {
    let kernel = KERNELS.get(function)?;
    // SAFETY: the caller's promise.
    let arguments = unsafe { arguments(&kernel, params, extra)? };
    if shape.grid.contains(&0) || shape.block.contains(&0) {
        return Err(Status::INVALID_VALUE);
    }
    let limits = [i32::MAX as u32, 65535, 65535];
    if (0..3).any(|i| shape.grid[i] > limits[i]) {
        return Err(Status::INVALID_VALUE);
    }
    let shared = u64::from(shape.shared);
    if kernel.manifest.is_none() && shared > kernel.dynamic_limit()? {
        return refuse(
            Status::INVALID_VALUE,
            format_args!(
                "kernel `{}`: {shared} bytes of dynamic shared memory are more than it may have; set \
                 CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES",
                kernel.name.to_string_lossy()
            ),
        );
    }
    Ok(Launch {
        kernel,
        grid: shape.grid,
        block: shape.block,
        cluster: shape.cluster,
        shared: shape.shared,
        cooperative: shape.cooperative,
        arguments,
    })
}

/// The launch of a graph's node.
pub(super) unsafe fn node(node: &KernelNode, with_kernel: bool) -> Result<Launch> {
    let function = match node.function {
        0 if with_kernel => node.kernel,
        function => function,
    };
    let shape = Shape {
        grid: node.grid,
        block: node.block,
        cluster: None,
        shared: node.shared,
        cooperative: false,
    };
    // SAFETY: the caller's promise.
    unsafe { launch(function, shape, node.params, node.extra) }
}

fn submit(launch: Launch, stream: u64, events: &[Arc<Event>]) -> Result {
    let stream = stream::get(stream)?;
    stream.submit(Work::Launch(Box::new(launch)))?;
    events.iter().try_for_each(|e| stream.record(e))
}

export! {
    cuLaunchKernel(function: u64, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: u32, stream: u64,
        params: *const *const c_void, extra: *const *const c_void) {
        let (grid, block) = ([gx, gy, gz], [bx, by, bz]);
        let shape = Shape { grid, block, cluster: None, shared, cooperative: false };
        submit(launch(function, shape, params, extra)?, stream, &[])
    }

    cuLaunchCooperativeKernel(function: u64, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: u32,
        stream: u64, params: *const *const c_void) {
        let (grid, block) = ([gx, gy, gz], [bx, by, bz]);
        let shape = Shape { grid, block, cluster: None, shared, cooperative: true };
        submit(launch(function, shape, params, std::ptr::null())?, stream, &[])
    }

    cuLaunchKernelEx(config: *const LaunchConfig, function: u64, params: *const *const c_void,
        extra: *const *const c_void) {
        let config = get(config)?;
        let attributes = list(config.attributes, config.attribute_count as usize)?;
        let mut shape = Shape {
            grid: config.grid,
            block: config.block,
            cluster: None,
            shared: config.shared,
            cooperative: false,
        };
        let mut events = Vec::new();
        for attribute in &attributes {
            match attribute.id {
                LaunchAttribute::COOPERATIVE => shape.cooperative = attribute.value[0] != 0,
                LaunchAttribute::CLUSTER => {
                    let [x, y, z, ..] = attribute.value;
                    shape.cluster = Some([x, y, z]);
                }
                LaunchAttribute::PROGRAMMATIC_EVENT | LaunchAttribute::COMPLETION_EVENT => {
                    events.push(EVENTS.get(attribute.handle())?);
                }
                // Hints, and permissions to begin earlier than is done here.
                _ => {}
            }
        }
        submit(launch(function, shape, params, extra)?, config.stream, &events)
    }

    cuLaunchHostFunc(stream: u64, function: Option<extern "C" fn(*mut c_void)>, data: *mut c_void) {
        let function = function.ok_or(Status::INVALID_VALUE)?;
        let data = data.expose_provenance();
        stream::get(stream)?.submit(Work::Host(HostCall { function, data }))
    }

    cuLaunchHostFunc_v2(stream: u64, function: Option<extern "C" fn(*mut c_void)>, data: *mut c_void, _mode: u32) {
        let function = function.ok_or(Status::INVALID_VALUE)?;
        let data = data.expose_provenance();
        stream::get(stream)?.submit(Work::Host(HostCall { function, data }))
    }
}
