//! Nodes of graphs whose parameters the runtime writes otherwise than the driver.

use crate::call::{Result, get};
use crate::context::{current, enter};
use crate::copy::{Copy3, Params3, line};
use crate::driver;
use crate::launch::Dim3;
use crate::registry::kernel;
use crate::symbol::part;
use std::ffi::c_void;

/// `cudaKernelNodeParams`
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct KernelNode {
    pub function: u64,
    pub grid: Dim3,
    pub block: Dim3,
    pub shared: u32,
    pub params: *const *const c_void,
    pub extra: *const *const c_void,
}

/// `CUDA_KERNEL_NODE_PARAMS_v2`
#[repr(C)]
struct DriverNode {
    function: u64,
    grid: Dim3,
    block: Dim3,
    shared: u32,
    params: *const *const c_void,
    extra: *const *const c_void,
    kernel: u64,
    context: u64,
}

impl KernelNode {
    fn driver(&self) -> Result<DriverNode> {
        Ok(DriverNode {
            function: 0,
            grid: self.grid,
            block: self.block,
            shared: self.shared,
            params: self.params,
            extra: self.extra,
            kernel: kernel(self.function)?,
            context: 0,
        })
    }
}

/// # Safety
/// As `cudaGraphAddMemcpyNode`.
unsafe fn copy(to: *mut u64, graph: u64, follows: *const u64, count: u64, copy: &Copy3) -> Result {
    enter()?;
    let copy = std::ptr::from_ref(copy).cast();
    // SAFETY: the caller's promises; the structure is `cuda.h`'s.
    unsafe { driver::cuGraphAddMemcpyNode(to, graph, follows, count, copy, current()?) }
}

export! {
    cudaGraphAddKernelNode(to: *mut u64, graph: u64, follows: *const u64, count: u64, params: *const KernelNode) {
        enter()?;
        let params = get(params)?.driver()?;
        driver::cuGraphAddKernelNode(to, graph, follows, count, std::ptr::from_ref(&params).cast())
    }

    cudaGraphExecKernelNodeSetParams(executable: u64, node: u64, params: *const KernelNode) {
        enter()?;
        let params = get(params)?.driver()?;
        driver::cuGraphExecKernelNodeSetParams(executable, node, std::ptr::from_ref(&params).cast())
    }

    cudaGraphAddMemcpyNode(to: *mut u64, graph: u64, follows: *const u64, count: u64, params: *const Params3) {
        copy(to, graph, follows, count, &get(params)?.driver()?)
    }

    cudaGraphAddMemcpyNode1D(to: *mut u64, graph: u64, follows: *const u64, count: u64, target: u64, from: u64,
        bytes: u64, kind: i32) {
        copy(to, graph, follows, count, &line(target, from, bytes, kind)?)
    }

    cudaGraphAddMemcpyNodeToSymbol(to: *mut u64, graph: u64, follows: *const u64, count: u64, symbol: u64, from: u64,
        bytes: u64, offset: u64, kind: i32) {
        copy(to, graph, follows, count, &line(part(symbol, bytes, offset)?, from, bytes, kind)?)
    }

    cudaGraphAddMemcpyNodeFromSymbol(to: *mut u64, graph: u64, follows: *const u64, count: u64, target: u64,
        symbol: u64, bytes: u64, offset: u64, kind: i32) {
        copy(to, graph, follows, count, &line(target, part(symbol, bytes, offset)?, bytes, kind)?)
    }

    /// The parameters are laid out as the driver's.
    cudaGraphAddMemsetNode(to: *mut u64, graph: u64, follows: *const u64, count: u64, params: *const c_void) {
        enter()?;
        driver::cuGraphAddMemsetNode(to, graph, follows, count, params, current()?)
    }
}
