//! Streams.

use crate::abi::LaunchAttribute;
use crate::call::{put, put_if, refuse};
use crate::event::EVENTS;
use crate::graph::{GRAPHS, Graph};
use crate::memory::check;
use crate::status::{Result, Status};
use crate::stream::{self, get};
use crate::work::{Callback, Wait, Work};
use std::ffi::c_void;
use std::sync::Arc;

/// `CU_STREAM_CAPTURE_STATUS_NONE`, `…_ACTIVE`
const NONE: i32 = 0;
const ACTIVE: i32 = 1;

fn await_value(stream: u64, address: u64, bytes: u32, value: u64, flags: u32) -> Result {
    check(
        "cuStreamWaitValue",
        "a wait for a value",
        address,
        bytes.into(),
    )?;
    get(stream)?.submit(Work::AwaitValue(Wait {
        address,
        bytes,
        value,
        flags,
    }))
}

fn write_value(stream: u64, address: u64, bytes: u32, value: u64) -> Result {
    check(
        "cuStreamWriteValue",
        "a write of a value",
        address,
        bytes.into(),
    )?;
    get(stream)?.submit(Work::Write(address, bytes, value))
}

fn begin(stream: u64, graph: Arc<Graph>, behind: Vec<u64>) -> Result {
    if matches!(stream, 0 | stream::LEGACY) {
        return refuse(
            Status::STREAM_CAPTURE_UNSUPPORTED,
            "the default stream cannot be captured",
        );
    }
    get(stream)?.begin_capture(graph, behind)
}

unsafe fn capture_info(stream: u64, status: *mut i32, id: *mut u64, graph: *mut u64) -> Result {
    let capture = get(stream)?.capture();
    // SAFETY: the caller's promise.
    unsafe {
        put(status, if capture.is_some() { ACTIVE } else { NONE })?;
        if let Some((capture, _)) = capture {
            put_if(id, capture.id);
            put_if(graph, capture.graph.handle);
        }
    }
    Ok(())
}

export! {
    cuStreamCreate(to: *mut u64, flags: u32) {
        put(to, stream::create(flags, 0)?.handle)
    }

    cuStreamCreateWithPriority(to: *mut u64, flags: u32, priority: i32) {
        put(to, stream::create(flags, priority.clamp(-5, 0))?.handle)
    }

    cuStreamDestroy(handle: u64) {
        stream::destroy(handle)
    }

    cuStreamDestroy_v2(handle: u64) {
        stream::destroy(handle)
    }

    cuStreamSynchronize(handle: u64) {
        get(handle)?.synchronise()
    }

    cuStreamQuery(handle: u64) {
        let stream = get(handle)?;
        stream.context.healthy()?;
        match stream.idle() {
            true => Ok(()),
            false => Err(Status::NOT_READY),
        }
    }

    cuStreamWaitEvent(handle: u64, event: u64, _flags: u32) {
        get(handle)?.wait(&EVENTS.get(event)?)
    }

    cuStreamAddCallback(handle: u64, function: Option<extern "C" fn(*mut c_void, i32, *mut c_void)>,
        data: *mut c_void, _flags: u32) {
        let function = function.ok_or(Status::INVALID_VALUE)?;
        let data = data.expose_provenance();
        get(handle)?.submit(Work::Callback(Callback { function, stream: handle, data }))
    }

    cuStreamGetCtx(handle: u64, to: *mut u64) {
        put(to, get(handle)?.context.handle)
    }

    cuStreamGetCtx_v2(handle: u64, to: *mut u64, green: *mut u64) {
        put_if(green, 0);
        put(to, get(handle)?.context.handle)
    }

    cuStreamGetDevice(handle: u64, to: *mut i32) {
        put(to, get(handle)?.context.device)
    }

    cuStreamGetFlags(handle: u64, to: *mut u32) {
        put(to, get(handle)?.flags)
    }

    cuStreamGetId(handle: u64, to: *mut u64) {
        put(to, get(handle)?.handle)
    }

    cuStreamGetPriority(handle: u64, to: *mut i32) {
        put(to, get(handle)?.priority)
    }

    cuStreamAttachMemAsync(handle: u64, _address: u64, _bytes: u64, _flags: u32) {
        get(handle).map(drop)
    }

    cuStreamCopyAttributes(to: u64, from: u64) {
        get(from)?;
        get(to).map(drop)
    }

    cuStreamGetAttribute(handle: u64, _number: i32, to: *mut [u32; 16]) {
        get(handle)?;
        put(to, [0; 16])
    }

    cuStreamSetAttribute(handle: u64, _number: i32, _value: *const LaunchAttribute) {
        get(handle).map(drop)
    }

    cuStreamWaitValue32(handle: u64, address: u64, value: u32, flags: u32) {
        await_value(handle, address, 4, value.into(), flags)
    }

    cuStreamWaitValue32_v2(handle: u64, address: u64, value: u32, flags: u32) {
        await_value(handle, address, 4, value.into(), flags)
    }

    cuStreamWaitValue64(handle: u64, address: u64, value: u64, flags: u32) {
        await_value(handle, address, 8, value, flags)
    }

    cuStreamWaitValue64_v2(handle: u64, address: u64, value: u64, flags: u32) {
        await_value(handle, address, 8, value, flags)
    }

    cuStreamWriteValue32(handle: u64, address: u64, value: u32, _flags: u32) {
        write_value(handle, address, 4, value.into())
    }

    cuStreamWriteValue32_v2(handle: u64, address: u64, value: u32, _flags: u32) {
        write_value(handle, address, 4, value.into())
    }

    cuStreamWriteValue64(handle: u64, address: u64, value: u64, _flags: u32) {
        write_value(handle, address, 8, value)
    }

    cuStreamWriteValue64_v2(handle: u64, address: u64, value: u64, _flags: u32) {
        write_value(handle, address, 8, value)
    }

    cuStreamBeginCapture(handle: u64) {
        begin(handle, Graph::create(), Vec::new())
    }

    cuStreamBeginCapture_v2(handle: u64, _mode: i32) {
        begin(handle, Graph::create(), Vec::new())
    }

    cuStreamBeginCaptureToGraph(handle: u64, graph: u64, nodes: *const u64, _edges: u64, count: u64, _mode: i32) {
        begin(handle, GRAPHS.get(graph)?, super::module::handles(nodes, count)?)
    }

    cuStreamEndCapture(handle: u64, to: *mut u64) {
        put(to, get(handle)?.end_capture()?.handle)
    }

    cuStreamIsCapturing(handle: u64, to: *mut i32) {
        let capturing = get(handle)?.capture().is_some();
        put(to, if capturing { ACTIVE } else { NONE })
    }

    cuStreamGetCaptureInfo(handle: u64, status: *mut i32, id: *mut u64) {
        capture_info(handle, status, id, std::ptr::null_mut())
    }

    cuStreamGetCaptureInfo_v2(handle: u64, status: *mut i32, id: *mut u64, graph: *mut u64, nodes: *mut u64,
        count: *mut u64) {
        if !nodes.is_null() || !count.is_null() {
            return refuse(Status::NOT_SUPPORTED, "cuStreamGetCaptureInfo does not tell dependencies");
        }
        capture_info(handle, status, id, graph)
    }

    cuStreamGetCaptureInfo_v3(handle: u64, status: *mut i32, id: *mut u64, graph: *mut u64, nodes: *mut u64,
        _edges: *mut u64, count: *mut u64) {
        if !nodes.is_null() || !count.is_null() {
            return refuse(Status::NOT_SUPPORTED, "cuStreamGetCaptureInfo does not tell dependencies");
        }
        capture_info(handle, status, id, graph)
    }

    cuStreamUpdateCaptureDependencies(handle: u64, nodes: *const u64, count: u64, flags: u32) {
        get(handle)?.follow(&super::module::handles(nodes, count)?, flags & 1 != 0)
    }

    cuStreamUpdateCaptureDependencies_v2(handle: u64, nodes: *const u64, _edges: u64, count: u64, flags: u32) {
        get(handle)?.follow(&super::module::handles(nodes, count)?, flags & 1 != 0)
    }

    cuThreadExchangeStreamCaptureMode(mode: *mut i32) {
        // Nothing is forbidden during a capture here, so that no mode makes a difference.
        put(mode, 0)
    }
}
