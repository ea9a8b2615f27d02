//! Pieces of work that streams and graphs put in order.

use crate::context::Context;
use crate::launch::{self, Launch};
use crate::memory::{self, Kind};
use crate::status::{Result, Status};
use std::ffi::c_void;
use std::sync::Arc;

/// A function of the program's that a stream calls.
#[derive(Clone, Copy)]
pub struct HostCall {
    /// `CUhostFn`
    pub function: extern "C" fn(*mut c_void),
    /// its argument
    pub data: usize,
}

/// A function of the program's that a stream calls with its handle and a status.
#[derive(Clone, Copy)]
pub struct Callback {
    /// `CUstreamCallback`
    pub function: extern "C" fn(*mut c_void, i32, *mut c_void),
    /// the stream's handle
    pub stream: u64,
    /// its argument
    pub data: usize,
}

/// Rows of bytes: `height` rows of `width` bytes, in `depth` slices.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    /// bytes of a row
    pub width: u64,
    /// rows of a slice
    pub height: u64,
    /// slices
    pub depth: u64,
}

/// Where rows lie.
#[derive(Clone, Copy, Debug)]
pub struct Pitched {
    /// first byte
    pub base: u64,
    /// bytes from row to row
    pub pitch: u64,
    /// bytes from slice to slice
    pub slice: u64,
}

/// How a value in memory is compared with the one that a stream waits for.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    /// where it is
    pub address: u64,
    /// 4 or 8 bytes
    pub bytes: u32,
    /// what is waited for
    pub value: u64,
    /// `CUstreamWaitValue_flags`
    pub flags: u32,
}

/// A moment in the order of work.
pub trait Moment: Send + Sync {
    /// It has been asked for.
    fn ask(&self);
    /// It happens.
    fn happen(&self);
    /// Whether it has happened as often as it has been asked for.
    fn done(&self) -> bool;
}

/// Waits until something holds, doing what work there is.
pub type Waiting = fn(&dyn Fn() -> bool);

/// Pieces of work with an order of their own.
pub trait Program: Send + Sync {
    /// Does them.
    fn run(&self, context: &Context, wait: Waiting) -> Result;
}

/// A piece of work.
#[derive(Clone)]
pub enum Work {
    /// nothing
    Empty,
    /// a kernel
    Launch(Box<Launch>),
    /// bytes copied: to, from, how many
    Copy(u64, u64, u64),
    /// rows copied: to, from
    CopyRows(Pitched, Pitched, Rows),
    /// elements of 1, 2 or 4 bytes set: where, value, bytes of an element (the rows' width counts bytes)
    Fill(Pitched, u32, u32, Rows),
    /// an event happens
    Record(Arc<dyn Moment>),
    /// an event must have happened
    Await(Arc<dyn Moment>),
    /// a value must be in memory
    AwaitValue(Wait),
    /// a value of 4 or 8 bytes is written: where, bytes, value
    Write(u64, u32, u64),
    /// the program is called
    Host(HostCall),
    /// the program is called, with the stream
    Callback(Callback),
    /// device memory given back
    Free(u64),
    /// a graph
    Graph(Arc<dyn Program>),
}

impl Work {
    /// Whether nothing stands in its way.
    pub fn ready(&self) -> bool {
        match self {
            Work::Await(event) => event.done(),
            Work::AwaitValue(wait) => wait.holds(),
            _ => true,
        }
    }

    /// Does it. Addresses have been checked when it was asked for.
    pub fn run(&self, context: &Context, wait: Waiting) -> Result {
        match self {
            Work::Empty | Work::Await(_) | Work::AwaitValue(_) => {}
            Work::Launch(launch) => return launch::run(launch, context),
            // SAFETY: checked, as said above, or promised by the program as memory of the host.
            Work::Copy(to, from, bytes) => unsafe { memory::copy(*to, *from, *bytes) },
            Work::CopyRows(to, from, rows) => rows.each(|y, z| {
                // SAFETY: as above.
                unsafe { memory::copy(to.row(y, z), from.row(y, z), rows.width) }
            }),
            Work::Fill(to, value, size, rows) => rows.each(|y, z| {
                // SAFETY: as above.
                unsafe {
                    memory::fill(to.row(y, z), *value, *size, rows.width / u64::from(*size));
                }
            }),
            Work::Record(event) => event.happen(),
            Work::Write(address, bytes, value) => {
                let from = std::ptr::from_ref(value).expose_provenance() as u64;
                // SAFETY: as above; the machine is little-endian, as GPUs are.
                unsafe { memory::copy(*address, from, u64::from(*bytes)) };
            }
            Work::Host(call) => {
                (call.function)(std::ptr::with_exposed_provenance_mut(call.data));
            }
            Work::Callback(call) => (call.function)(
                std::ptr::with_exposed_provenance_mut(call.stream as usize),
                0,
                std::ptr::with_exposed_provenance_mut(call.data),
            ),
            Work::Free(address) => {
                return memory::release(
                    *address,
                    &[Kind::Device, Kind::Managed],
                    Status::INVALID_VALUE,
                );
            }
            Work::Graph(graph) => return graph.run(context, wait),
        }
        Ok(())
    }
}

impl Rows {
    /// One row.
    pub fn line(width: u64) -> Rows {
        Rows {
            width,
            height: 1,
            depth: 1,
        }
    }

    fn each(self, mut f: impl FnMut(u64, u64)) {
        for z in 0..self.depth {
            for y in 0..self.height {
                f(y, z);
            }
        }
    }
}

impl Pitched {
    /// Bytes without rows.
    pub fn line(base: u64) -> Pitched {
        Pitched {
            base,
            pitch: 0,
            slice: 0,
        }
    }

    fn row(self, y: u64, z: u64) -> u64 {
        self.base + y * self.pitch + z * self.slice
    }

    /// Bytes from the first to the last of some rows.
    pub fn extent(self, rows: Rows) -> u64 {
        if rows.width == 0 || rows.height == 0 || rows.depth == 0 {
            return 0;
        }
        (rows.depth - 1) * self.slice + (rows.height - 1) * self.pitch + rows.width
    }
}

impl Wait {
    fn holds(self) -> bool {
        let mut now = 0u64;
        let to = std::ptr::from_mut(&mut now).expose_provenance() as u64;
        // SAFETY: checked when it was asked for; `now` has 8 bytes.
        unsafe { memory::copy(to, self.address, u64::from(self.bytes)) };
        let (value, bits) = (self.value, 8 * self.bytes);
        match self.flags & 3 {
            // The difference is taken as signed, so that counters may wrap.
            0 => (now.wrapping_sub(value) << (64 - bits)) as i64 >= 0,
            1 => now == value,
            2 => now & value != 0,
            _ => (!(now | value)) << (64 - bits) != 0,
        }
    }
}
