//! Elementwise operations do the same whatever the shape of their tiles. The corpus holds them against
//! numpy on rows of 256 elements; here the same entries run on tiles of other shapes, and every bit
//! that they write is the same.

use crate::ssa;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use tilec::eval::{Argument, Hooks, Launch, Memory, Program};
use tilec::ir::Module;
use tilec::rules::Random;
use tilec::{asm, bytecode, verify};

const FILES: [&str; 4] = ["ops_integer", "ops_float", "ops_math", "ops_convert"];
const ELEMENTS: usize = 256;
const SHAPES: [&str; 4] = ["4x8x8", "16x16", "1x256", "2x2x2x32"];

/// The newest version of each case of a file.
fn newest(file: &str) -> Vec<Module> {
    let folder = format!("/{file}/");
    let paths = ssa::bytecode_files().into_iter();
    let cases: BTreeMap<String, _> = paths
        .filter(|p| p.to_string_lossy().contains(&folder))
        .filter_map(|p| Some((p.to_str()?.rsplit_once('-')?.0.to_owned(), p)))
        .collect();
    let read = |path| bytecode::read(&std::fs::read(path).unwrap()).unwrap();
    cases.into_values().map(read).collect()
}

/// The text of an entry on tiles of another shape: addresses are still those of a row, in order.
fn reshaped(entry: &str, shape: &str) -> String {
    let ones = vec!["1"; shape.split('x').count()].join("x");
    let mut out = String::new();
    for line in entry.lines() {
        let all = line
            .replace("tile<1x", &format!("tile<{ones}x"))
            .replace("tile<256x", &format!("tile<{shape}x"));
        match line.trim().split_once(" = iota : ") {
            Some((name, _)) => out.push_str(&format!(
                "{name}_row = iota : tile<256xi32>\n\
                 {name} = reshape {name}_row : tile<256xi32> -> tile<{shape}xi32>\n"
            )),
            None => out.push_str(&all),
        }
        out.push('\n');
    }
    out
}

/// What an entry leaves in its buffers, given `data` in each.
fn run(text: &str, data: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, String> {
    let module = asm::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify::verify(&module).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut memory = Memory::default();
    let program = Program::new(&module, None, &mut memory).map_err(|e| e.message)?;
    let addresses: Vec<u64> = data
        .iter()
        .map(|bytes| memory.add("buffer", bytes).unwrap())
        .collect();
    let launch = Launch {
        grid: [1, 1, 1],
        arguments: addresses.iter().map(|&a| Argument::Pointer(a)).collect(),
    };
    let hooks = Hooks {
        output: &mut std::io::sink(),
        progress: &|_| (),
        steps: 100_000,
    };
    program
        .run(&launch, &memory, hooks)
        .map_err(|e| e.message)?;
    let bytes = |a: &u64| memory.bytes(*a).unwrap();
    Ok(addresses.iter().map(bytes).collect())
}

#[test]
fn shapes_make_no_difference() {
    let mut entries = Vec::new();
    for module in FILES.iter().flat_map(|file| newest(file)) {
        let text = asm::print_pretty(&module);
        let several = text.split_inclusive("\n}\n").map(str::to_owned);
        // Elements of less than a byte are packed along a row.
        entries.extend(several.filter(|e| e.contains("entry @") && !e.contains("pack ")));
    }
    assert!(entries.len() > 500, "{} entries", entries.len());
    let ran = AtomicUsize::new(0);
    entries.par_iter().enumerate().for_each(|(i, entry)| {
        let mut random = Random::named(entry);
        let signature = entry.lines().next().unwrap();
        let data: Vec<Vec<u8>> = (0..signature.matches("tile<ptr<").count())
            .map(|_| (0..8 * ELEMENTS).map(|_| random.below(256) as u8).collect())
            .collect();
        let row = run(entry, &data);
        ran.fetch_add(usize::from(row.is_ok()), Ordering::Relaxed);
        for shape in [SHAPES[i % 4], SHAPES[(i + 1) % 4]] {
            let same = run(&reshaped(entry, shape), &data) == row;
            assert!(same, "{shape}: {signature}");
        }
    });
    // Random operands may be what an operation does not define, such as a zero to divide by.
    let ran = ran.into_inner();
    assert!(ran * 10 > entries.len() * 9, "{ran} of {}", entries.len());
}
