//! Any bytes: read, verify, print, write, read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tilec::{asm, bytecode, verify};

fuzz_target!(|data: &[u8]| {
    let Ok(contents) = bytecode::read_full(data) else {
        return;
    };
    let text = asm::print_pretty(&contents.module);
    if verify::verify(&contents.module).is_ok() {
        asm::parse(&text).expect("printed text of a valid module parses");
        let again = bytecode::write_with(&contents.module, contents.version, &contents.tables)
            .expect("a valid module is written");
        bytecode::read(&again).expect("what was written is read");
    }
});
