//! Events.

use crate::call::put;
use crate::context::live;
use crate::event::{EVENTS, Event};
use crate::status::{Result, Status};
use crate::stream;
use crate::work::Moment;

unsafe fn elapsed(to: *mut f32, start: u64, end: u64) -> Result {
    let (start, end) = (EVENTS.get(start)?, EVENTS.get(end)?);
    if !(start.done() && end.done()) {
        return Err(Status::NOT_READY);
    }
    // SAFETY: the caller's promise.
    unsafe { put(to, start.until(&end)?) }
}

export! {
    cuEventCreate(to: *mut u64, flags: u32) {
        live()?;
        put(to, Event::create(flags).handle)
    }

    cuEventDestroy(handle: u64) {
        EVENTS.remove(handle).map(drop)
    }

    cuEventDestroy_v2(handle: u64) {
        EVENTS.remove(handle).map(drop)
    }

    cuEventRecord(handle: u64, stream: u64) {
        stream::get(stream)?.record(&EVENTS.get(handle)?)
    }

    cuEventRecordWithFlags(handle: u64, stream: u64, _flags: u32) {
        stream::get(stream)?.record(&EVENTS.get(handle)?)
    }

    cuEventQuery(handle: u64) {
        let event = EVENTS.get(handle)?;
        // Whatever can be done is done first.
        stream::get(0)?.idle();
        match event.done() {
            true => Ok(()),
            false => Err(Status::NOT_READY),
        }
    }

    cuEventSynchronize(handle: u64) {
        let event = EVENTS.get(handle)?;
        stream::wait_until(&|| event.done());
        Ok(())
    }

    cuEventElapsedTime(to: *mut f32, start: u64, end: u64) {
        elapsed(to, start, end)
    }

    cuEventElapsedTime_v2(to: *mut f32, start: u64, end: u64) {
        elapsed(to, start, end)
    }
}
