//! Any text: parse, verify, print, parse again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tilec_fuzz::{checks, memory};

#[global_allocator]
static ALLOCATOR: memory::Counting = memory::Counting;

fuzz_target!(|text: &str| memory::bounded(text.len(), || checks::text(text)));
