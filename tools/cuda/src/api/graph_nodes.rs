//! Nodes of graphs.

use super::module::handles;
use crate::abi::{AllocateNode, Copy3, FillNode, HostNode, KernelNode};
use crate::call::{get, put};
use crate::context::live;
use crate::event::EVENTS;
use crate::graph::{EXECUTABLES, GRAPHS, GraphMemory, NodeKind, of_node};
use crate::memory::{self, Kind};
use crate::status::{Result, Status};
use crate::work::{HostCall, Work};

unsafe fn add(to: *mut u64, graph: u64, behind: *const u64, count: u64, work: Work) -> Result {
    let kind = NodeKind::of(&work);
    // SAFETY: the caller's promise.
    unsafe {
        let node = GRAPHS
            .get(graph)?
            .add(kind, work, &handles(behind, count)?)?;
        put(to, node)
    }
}

/// `CUDA_KERNEL_NODE_PARAMS` of the first version, which ends earlier.
unsafe fn first_version(params: *const KernelNode) -> Result<KernelNode> {
    if params.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: the structure has everything up to `extra`.
    unsafe {
        Ok(KernelNode {
            function: (&raw const (*params).function).read_unaligned(),
            grid: (&raw const (*params).grid).read_unaligned(),
            block: (&raw const (*params).block).read_unaligned(),
            shared: (&raw const (*params).shared).read_unaligned(),
            params: (&raw const (*params).params).read_unaligned(),
            extra: (&raw const (*params).extra).read_unaligned(),
            kernel: 0,
            context: 0,
        })
    }
}

fn launch_work(launch: crate::launch::Launch) -> Work {
    Work::Launch(Box::new(launch))
}

fn set(node: u64, work: Work) -> Result {
    let graph = of_node(node)?;
    let mut nodes = graph.nodes();
    let found = nodes.iter_mut().find(|n| n.handle == node);
    found.ok_or(Status::INVALID_HANDLE)?.work = work;
    Ok(())
}

export! {
    cuGraphAddEmptyNode(to: *mut u64, graph: u64, behind: *const u64, count: u64) {
        add(to, graph, behind, count, Work::Empty)
    }

    cuGraphAddKernelNode(to: *mut u64, graph: u64, behind: *const u64, count: u64, params: *const KernelNode) {
        let launch = super::launch::node(&first_version(params)?, false)?;
        add(to, graph, behind, count, launch_work(launch))
    }

    cuGraphAddKernelNode_v2(to: *mut u64, graph: u64, behind: *const u64, count: u64, params: *const KernelNode) {
        let launch = super::launch::node(&get(params)?, true)?;
        add(to, graph, behind, count, launch_work(launch))
    }

    cuGraphKernelNodeSetParams(node: u64, params: *const KernelNode) {
        set(node, launch_work(super::launch::node(&first_version(params)?, false)?))
    }

    cuGraphKernelNodeSetParams_v2(node: u64, params: *const KernelNode) {
        set(node, launch_work(super::launch::node(&get(params)?, true)?))
    }

    cuGraphExecKernelNodeSetParams(graph: u64, node: u64, params: *const KernelNode) {
        let launch = super::launch::node(&first_version(params)?, false)?;
        EXECUTABLES.get(graph)?.replace(node, launch_work(launch))
    }

    cuGraphExecKernelNodeSetParams_v2(graph: u64, node: u64, params: *const KernelNode) {
        let launch = super::launch::node(&get(params)?, true)?;
        EXECUTABLES.get(graph)?.replace(node, launch_work(launch))
    }

    cuGraphAddMemcpyNode(to: *mut u64, graph: u64, behind: *const u64, count: u64, params: *const Copy3, _context: u64) {
        let work = super::copy::work3("cuGraphAddMemcpyNode", &get(params)?)?;
        add(to, graph, behind, count, work)
    }

    cuGraphAddMemsetNode(to: *mut u64, graph: u64, behind: *const u64, count: u64, params: *const FillNode, _context: u64) {
        let work = super::memory::fill_node(&get(params)?)?;
        add(to, graph, behind, count, work)
    }

    cuGraphAddHostNode(to: *mut u64, graph: u64, behind: *const u64, count: u64, params: *const HostNode) {
        let node = get(params)?;
        let function = node.function.ok_or(Status::INVALID_VALUE)?;
        let data = node.data.expose_provenance();
        add(to, graph, behind, count, Work::Host(HostCall { function, data }))
    }

    cuGraphAddEventRecordNode(to: *mut u64, graph: u64, behind: *const u64, count: u64, event: u64) {
        add(to, graph, behind, count, Work::Record(EVENTS.get(event)?))
    }

    cuGraphAddEventWaitNode(to: *mut u64, graph: u64, behind: *const u64, count: u64, event: u64) {
        add(to, graph, behind, count, Work::Await(EVENTS.get(event)?))
    }

    cuGraphAddChildGraphNode(to: *mut u64, graph: u64, behind: *const u64, count: u64, child: u64) {
        // Its own copy, as it is now.
        let child = GRAPHS.get(child)?.instantiate()?;
        EXECUTABLES.remove(child.handle)?;
        add(to, graph, behind, count, Work::Graph(child))
    }

    cuGraphAddMemAllocNode(to: *mut u64, graph: u64, behind: *const u64, count: u64, params: *mut AllocateNode) {
        let mut values = get(params)?;
        let block = memory::allocate(values.bytes, Kind::Device, live()?.handle)?;
        values.address = block.base;
        put(params, values)?;
        let graph = GRAPHS.get(graph)?;
        let behind = handles(behind, count)?;
        put(to, graph.add_with(NodeKind::Allocate, Work::Empty, &behind, Some(GraphMemory::new(block)))?)
    }

    cuGraphAddMemFreeNode(to: *mut u64, graph: u64, behind: *const u64, count: u64, address: u64) {
        memory::find(address).ok_or(Status::INVALID_VALUE)?;
        let behind = handles(behind, count)?;
        let graph = GRAPHS.get(graph)?;
        let work = graph.free(address);
        put(to, graph.add(NodeKind::Free, work, &behind)?)
    }
}
