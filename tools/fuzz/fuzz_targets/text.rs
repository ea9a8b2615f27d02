//! Any text: parse, verify, print.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tilec::{asm, verify};

fuzz_target!(|text: &str| {
    if let Ok(module) = asm::parse(text) {
        let _ = verify::verify(&module);
        let _ = asm::print_pretty(&module);
        let _ = asm::print_generic(&module);
    }
});
