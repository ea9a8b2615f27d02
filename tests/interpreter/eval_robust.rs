//! The interpreter on damaged modules: an error or an answer, never a panic.
//!
//! Real files with a few bytes changed, from fixed seeds. Most no longer read or verify; what still
//! reads is decoded and run all the same, verified or not, on small buffers.

use std::path::{Path, PathBuf};

use tilec::bytecode;
use tilec::dialect::cuda_tile::Op as Name;
use tilec::eval::{Argument, Elem, Hooks, Launch, Memory, Program};
use tilec::ir::{Attr, Module};
use tilec::rules::Random;

/// Mutations of each file.
const MUTATIONS: u64 = 40;
/// Largest file to mutate; entries of large ones are much alike.
const LARGEST: usize = 20_000;

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|e| e == "tilebc") {
            found.push(path);
        }
    }
    found.sort();
}

fn entries(module: &Module) -> Vec<String> {
    let ops = module.block(module.body).ops.iter();
    ops.filter_map(|&op| {
        let op = module.op(op);
        match (Name::of(op.kind), op.attr_named("sym_name")) {
            (Some(Name::Entry), Some(Attr::Str(name))) => Some(module.str(*name).to_owned()),
            _ => None,
        }
    })
    .collect()
}

fn run(module: &Module, entry: &str, random: &mut Random) {
    let mut memory = Memory::default();
    let Ok(program) = Program::new(module, Some(entry), &mut memory) else {
        return;
    };
    let argument = |elem: &Elem| match elem {
        Elem::Ptr { .. } => Argument::Pointer(memory.add("buffer", &[0x3c; 4096]).expect("room")),
        &elem => Argument::Scalar {
            elem,
            bits: [0, 1, 7, 16, u64::MAX, random.bits()][random.below(6)],
        },
    };
    let launch = Launch {
        grid: [2, 1, 1],
        arguments: program.parameters().iter().map(argument).collect(),
    };
    let hooks = Hooks {
        output: &mut std::io::sink(),
        progress: &|_| (),
        steps: 300,
    };
    // Any outcome will do.
    let _ = program.run(&launch, &memory, hooks);
}

#[test]
fn damaged_modules_do_not_panic() {
    let mut found = Vec::new();
    files(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/bytecode"),
        &mut found,
    );
    let mut random = Random::seeded(1);
    let mut ran = 0;
    for path in found {
        let original = std::fs::read(&path).expect("a file");
        if original.len() > LARGEST {
            continue;
        }
        for _ in 0..MUTATIONS {
            let mut bytes = original.clone();
            for _ in 0..=random.below(3) {
                let at = random.below(bytes.len());
                bytes[at] = match random.below(3) {
                    0 => bytes[at] ^ (1 << random.below(8)),
                    1 => bytes[at].wrapping_add(1),
                    _ => random.bits() as u8,
                };
            }
            let Ok(module) = bytecode::read(&bytes) else {
                continue;
            };
            let entries = entries(&module);
            if !entries.is_empty() {
                run(&module, &entries[random.below(entries.len())], &mut random);
                ran += 1;
            }
        }
    }
    assert!(ran > 100, "only {ran} damaged modules could still be read");
}
