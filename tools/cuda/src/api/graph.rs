//! Graphs as a whole: made, instantiated, launched.

use crate::abi::InstantiateParams;
use crate::call::{get, put, put_if};
use crate::graph::{EXECUTABLES, GRAPHS, Graph, of_node};
use crate::status::{Result, Status};
use crate::stream;
use crate::work::Work;

use super::module::handles;

/// Fills a caller's list: how many there are, and as many as there is room for.
unsafe fn fill(all: &[u64], to: *mut u64, count: *mut u64) -> Result {
    // SAFETY: the caller's promise: `count` says how much room `to` has.
    unsafe {
        if !to.is_null() {
            let room = get(count)?;
            for (i, handle) in all.iter().take(room as usize).enumerate() {
                put(to.add(i), *handle)?;
            }
            return put(count, (all.len() as u64).min(room));
        }
        put(count, all.len() as u64)
    }
}

unsafe fn edges(graph: u64, from: *const u64, to: *const u64, count: u64, add: bool) -> Result {
    let graph = GRAPHS.get(graph)?;
    // SAFETY: the caller's promise.
    let (from, to) = unsafe { (handles(from, count)?, handles(to, count)?) };
    from.into_iter()
        .zip(to)
        .try_for_each(|(from, to)| graph.edge(from, to, add))
}

export! {
    cuGraphCreate(to: *mut u64, _flags: u32) {
        put(to, Graph::create().handle)
    }

    cuGraphDestroy(handle: u64) {
        GRAPHS.remove(handle).map(drop)
    }

    cuGraphClone(to: *mut u64, handle: u64) {
        put(to, GRAPHS.get(handle)?.duplicate().handle)
    }

    cuGraphInstantiate(to: *mut u64, handle: u64, _node: u64, _log: u64, _room: u64) {
        put(to, GRAPHS.get(handle)?.instantiate()?.handle)
    }

    cuGraphInstantiate_v2(to: *mut u64, handle: u64, _node: u64, _log: u64, _room: u64) {
        put(to, GRAPHS.get(handle)?.instantiate()?.handle)
    }

    cuGraphInstantiateWithFlags(to: *mut u64, handle: u64, _flags: u64) {
        put(to, GRAPHS.get(handle)?.instantiate()?.handle)
    }

    cuGraphInstantiateWithParams(to: *mut u64, handle: u64, params: *mut InstantiateParams) {
        let mut values = get(params)?;
        put(to, GRAPHS.get(handle)?.instantiate()?.handle)?;
        (values.failed_node, values.result) = (0, 0);
        put(params, values)
    }

    cuGraphExecDestroy(handle: u64) {
        EXECUTABLES.remove(handle).map(drop)
    }

    cuGraphExecUpdate_v2(handle: u64, graph: u64, result: *mut [u64; 3]) {
        let updated = EXECUTABLES.get(handle)?.update(&*GRAPHS.get(graph)?);
        // The first word is the reason: success, or that the topology differs.
        put_if(result, [if updated.is_ok() { 0 } else { 2 }, 0, 0]);
        updated
    }

    cuGraphUpload(handle: u64, stream: u64) {
        EXECUTABLES.get(handle)?;
        stream::get(stream).map(drop)
    }

    cuGraphLaunch(handle: u64, stream: u64) {
        let graph = EXECUTABLES.get(handle)?;
        stream::get(stream)?.submit(Work::Graph(graph))
    }

    cuGraphGetNodes(handle: u64, to: *mut u64, count: *mut u64) {
        let graph = GRAPHS.get(handle)?;
        let nodes: Vec<u64> = graph.nodes().iter().map(|n| n.handle).collect();
        fill(&nodes, to, count)
    }

    cuGraphGetRootNodes(handle: u64, to: *mut u64, count: *mut u64) {
        let graph = GRAPHS.get(handle)?;
        let nodes = graph.nodes();
        let roots: Vec<u64> = nodes.iter().filter(|n| n.follows.is_empty()).map(|n| n.handle).collect();
        fill(&roots, to, count)
    }

    cuGraphNodeGetType(node: u64, to: *mut i32) {
        let graph = of_node(node)?;
        let nodes = graph.nodes();
        let found = nodes.iter().find(|n| n.handle == node);
        put(to, found.ok_or(Status::INVALID_HANDLE)?.kind as i32)
    }

    cuGraphNodeGetDependencies(node: u64, to: *mut u64, count: *mut u64) {
        let graph = of_node(node)?;
        let nodes = graph.nodes();
        let found = nodes.iter().find(|n| n.handle == node);
        fill(&found.ok_or(Status::INVALID_HANDLE)?.follows, to, count)
    }

    cuGraphDestroyNode(node: u64) {
        let graph = of_node(node)?;
        let mut nodes = graph.nodes();
        nodes.retain(|n| n.handle != node);
        nodes.iter_mut().for_each(|n| n.follows.retain(|h| *h != node));
        Ok(())
    }

    cuGraphAddDependencies(graph: u64, from: *const u64, to: *const u64, count: u64) {
        edges(graph, from, to, count, true)
    }

    cuGraphAddDependencies_v2(graph: u64, from: *const u64, to: *const u64, _data: u64, count: u64) {
        edges(graph, from, to, count, true)
    }

    cuGraphRemoveDependencies(graph: u64, from: *const u64, to: *const u64, count: u64) {
        edges(graph, from, to, count, false)
    }

    cuGraphRemoveDependencies_v2(graph: u64, from: *const u64, to: *const u64, _data: u64, count: u64) {
        edges(graph, from, to, count, false)
    }
}
