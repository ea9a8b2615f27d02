//! A second producer: the `cutile-ir` crate writes the corpus's modules with an encoder of its
//! own, and tilec reads what it wrote as the modules that they were: operations, types, constants,
//! debug info, at each version that both know.

use crate::aliases;
use crate::ssa;
#[path = "second_producer/build.rs"]
mod build;

use std::collections::BTreeSet;
use std::sync::Mutex;

use cutile_ir::bytecode::{BytecodeVersion, write_bytecode_version};
use rayon::prelude::*;
use tilec::asm::Form;
use tilec::dialect::Version;
use tilec::{asm, bytecode, verify};

const VERSIONS: [(Version, BytecodeVersion); 4] = [
    (Version::V13_2, BytecodeVersion::V13_2),
    (Version::V13_3, BytecodeVersion::V13_3),
    (Version::V13_4, BytecodeVersion::V13_4),
    (Version::V13_5, BytecodeVersion::V13_5),
];

/// The crate writes attributes of tf32 as f32 has them, in 32 bits; `tileirdisasm` reads 19.
const TF32_REFUSED: &str = "does not fit in 19 bits";

const HINTS_REFUSED: &str =
    "optimization hint target sm_90 requires bytecode version 13.3 or newer";

#[test]
fn what_it_writes_reads_back_the_same() {
    let seen = Mutex::new(BTreeSet::new());
    ssa::bytecode_files().par_iter().for_each(|path| {
        let contents = bytecode::read_full(&std::fs::read(path).unwrap()).unwrap();
        let module = &contents.module;
        let text = asm::print_generic(module);
        let places = aliases::locations(&asm::print_with_debug_info(module, Form::Pretty));
        if module.block(module.body).ops.is_empty() {
            // It leaves the string section out then, which every reader insists on.
            return;
        }
        let theirs = build::module(module);
        for (ours, version) in VERSIONS.into_iter().filter(|v| v.0 >= contents.version) {
            let name = format!("{} as {ours}", path.display());
            let bytes = match write_bytecode_version(&theirs, version) {
                Ok(bytes) => bytes,
                // The crate knows hints for this target since 13.3 only; packages write them in
                // every version.
                Err(e) if ours < Version::V13_3 && e.to_string().contains(HINTS_REFUSED) => {
                    continue;
                }
                Err(e) => panic!("{name}: {e}"),
            };
            let read = match bytecode::read_full(&bytes) {
                Ok(read) => read,
                Err(e) if text.contains(" : tf32") && e.to_string().contains(TF32_REFUSED) => {
                    continue;
                }
                Err(e) => panic!("{name}: {e}"),
            };
            assert_eq!(read.version, ours, "{name}");
            let again = asm::print_generic(&read.module);
            let differ = text.lines().zip(again.lines()).find(|(a, b)| a != b);
            assert!(
                differ.is_none() && text.len() == again.len(),
                "{name}: {differ:#?}"
            );
            verify::verify(&read.module).unwrap_or_else(|e| panic!("{name}: {e}"));
            let located = asm::print_with_debug_info(&read.module, Form::Pretty);
            assert_eq!(places, aliases::locations(&located), "{name}");
        }
        let mut seen = seen.lock().unwrap();
        module.walk(module.body, &mut |op| {
            seen.insert(module.op(op).def().name);
        });
    });
    // All but the two that no package emits: modules are implied, calls are a preview.
    let missing: Vec<_> = tilec::dialect::cuda_tile::TABLE
        .iter()
        .map(|row| row.name)
        .filter(|name| !seen.lock().unwrap().contains(name))
        .collect();
    assert_eq!(missing, ["module", "preview$call"]);
}
