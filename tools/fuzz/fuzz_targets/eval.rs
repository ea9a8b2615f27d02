//! Any module: run it on small buffers.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use tilec_fuzz::{checks, memory};

#[global_allocator]
static ALLOCATOR: memory::Counting = memory::Counting;

fuzz_target!(|data: &[u8]| checks::eval(data));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    tilec_fuzz::mutator(data, size, max_size, seed)
});
