//! Any bytes: read, verify, print, write, read again.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use tilec_fuzz::{checks, memory};

#[global_allocator]
static ALLOCATOR: memory::Counting = memory::Counting;

fuzz_target!(|data: &[u8]| memory::bounded(data.len(), || checks::bytecode(data)));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    // The bytes themselves half of the time: this is about what is no module.
    if seed % 16 < 8 {
        libfuzzer_sys::fuzzer_mutate(data, size, max_size)
    } else {
        tilec_fuzz::mutator(data, size, max_size, seed)
    }
});
