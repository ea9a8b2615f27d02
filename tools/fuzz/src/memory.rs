//! An allocator that counts, so that a check can say how much memory an input may cost.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Counts live bytes and their peak.
pub struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// One allocation beyond this is a finding by itself.
const LARGEST: usize = 2 << 30;

fn grew(bytes: usize) {
    if bytes > LARGEST {
        // Nothing here may allocate or unwind.
        std::process::abort();
    }
    let live = LIVE.fetch_add(bytes, Relaxed) + bytes;
    PEAK.fetch_max(live, Relaxed);
}

// SAFETY: every call is passed on to the system's allocator unchanged; the counters take no part.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grew(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grew(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        grew(size);
        LIVE.fetch_sub(layout.size(), Relaxed);
        unsafe { System.realloc(at, layout, size) }
    }
}

/// The most bytes that `f` held at one time, beyond what was held before.
pub fn peak(f: impl FnOnce()) -> usize {
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    f();
    PEAK.load(Relaxed).saturating_sub(before)
}

/// Runs `f`, which handles an input of `len` bytes.
///
/// # Panics
/// If it held more memory than a small multiple of the input.
pub fn bounded(len: usize, f: impl FnOnce()) {
    // Tables of names, thread-local caches and the like.
    const ANY: usize = 4 << 20;
    // An operation of four bytes becomes some 300 in the arenas and several lines of text, in
    // buffers that double.
    const PER_BYTE: usize = 2000;
    let peak = peak(f);
    assert!(
        peak <= ANY + PER_BYTE * len,
        "{len} bytes of input took {peak} bytes of memory"
    );
}
