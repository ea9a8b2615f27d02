//! What must hold of any input. The fuzz targets call these, and `tests/frontend/fuzzed.rs` calls them on
//! what the fuzzers found.

use tilec::dialect::Version;
use tilec::dialect::cuda_tile::Op as Name;
use tilec::eval::{Argument, Elem, Hooks, Launch, Memory, Program};
use tilec::ir::{Attr, Module, Type};
use tilec::{asm, bytecode, compile, verify};

/// Any bytes: read, verify, print; of a valid module also: the text parses to the same module, and
/// the module is written and read back the same.
pub fn bytecode(data: &[u8]) {
    let Ok(contents) = bytecode::read_full(data) else {
        return;
    };
    let module = &contents.module;
    let text = asm::print_pretty(module);
    let generic = asm::print_generic(module);
    if verify::verify(module).is_err() {
        return;
    }
    for text in [&text, &generic] {
        let parsed =
            asm::parse(text).unwrap_or_else(|e| panic!("printed text parses: {e}\n{text}"));
        assert_eq!(generic, asm::print_generic(&parsed), "text says the same");
    }
    // A reader takes a producer from any version; a writer refuses it to those that have none.
    if module.producer.is_some() && contents.version < Version::V13_3 {
        return;
    }
    let again = bytecode::write_with(module, contents.version, &contents.tables)
        .unwrap_or_else(|e| panic!("a valid module is written: {e}\n{text}"));
    let again = bytecode::read(&again).unwrap_or_else(|e| panic!("what was written reads: {e}"));
    assert_eq!(
        generic,
        asm::print_generic(&again),
        "bytecode says the same"
    );
}

/// Any text: parse, verify, print; of a valid module also: what is printed parses to the same.
pub fn text(text: &str) {
    let Ok(module) = asm::parse(text) else {
        return;
    };
    let valid = verify::verify(&module).is_ok();
    let pretty = asm::print_pretty(&module);
    let generic = asm::print_generic(&module);
    if !valid {
        return;
    }
    for text in [&pretty, &generic] {
        let parsed =
            asm::parse(text).unwrap_or_else(|e| panic!("printed text parses: {e}\n{text}"));
        assert_eq!(generic, asm::print_generic(&parsed), "text says the same");
    }
}

/// Any module, valid or not: an answer or an error from the interpreter. Small buffers, few steps.
pub fn eval(data: &[u8]) {
    let Ok(module) = bytecode::read(data) else {
        return;
    };
    if module.types.iter().any(large) {
        return;
    }
    let seed = data.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    for (i, entry) in entries(&module).iter().take(4).enumerate() {
        run(&module, entry, seed.rotate_left(7 * i as u32));
    }
}

/// Memory that a run may allocate by itself.
const ROOM: u64 = 16 << 20;

fn run(module: &Module, entry: &str, seed: u64) {
    let mut memory = Memory::with_room(ROOM);
    let Ok(program) = Program::new(module, Some(entry), &mut memory) else {
        return;
    };
    let mut number = 0;
    let argument = |elem: &Elem| {
        number += 1;
        match elem {
            Elem::Ptr { .. } => {
                let byte = [0, 0x3c, 0xff, 0x01][(seed >> 32) as usize % 4];
                Argument::Pointer(memory.add("buffer", &[byte; 4096]).expect("room"))
            }
            &elem => Argument::Scalar {
                elem,
                bits: [0, 1, 2, 4, 7, 16, 64, u64::MAX][(seed >> (3 * (number % 16))) as usize % 8],
            },
        }
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

/// Any valid module: PTX or an error, for a target that the bytes choose. Whether it was valid.
pub fn compile(data: &[u8]) -> bool {
    let Ok(module) = bytecode::read(data) else {
        return false;
    };
    if verify::verify(&module).is_err() || module.types.iter().any(large) {
        return false;
    }
    let targets = ["sm_80", "sm_90a", "sm_100a"];
    let sum: usize = data.iter().map(|&b| usize::from(b)).sum();
    if let Ok(target) = targets[sum % targets.len()].parse() {
        let _ = compile::to_ptx(module, &compile::Options::new(target));
    }
    true
}

/// A tile that only makes everything slow.
fn large(ty: &Type) -> bool {
    let Type::Tile { shape, .. } = ty else {
        return false;
    };
    let count = shape.iter().try_fold(1_u64, |n, &d| n.checked_mul(d));
    count.is_some_and(|n| n > 1 << 14)
}

/// The names of a module's entries.
pub fn entries(module: &Module) -> Vec<String> {
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
