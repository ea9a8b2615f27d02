//! Damaged files: a diagnostic or a module, never a panic. Fixed seed, real files.
//! The interpreter on such files is in `eval_robust.rs`; coverage-guided search is in `tools/fuzz`.

use crate::checks;
use crate::mutate;
use crate::ssa;
use tilec::{asm, bytecode, verify};

/// xorshift64*, so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn next(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % bound.max(1)
    }

    fn damage(&mut self, data: &mut Vec<u8>) {
        for _ in 0..=self.next(3) {
            let at = self.next(data.len());
            match self.next(5) {
                0 => data[at] = self.next(256) as u8,
                1 => data[at] ^= 1 << self.next(8),
                2 => data.truncate(at.max(1)),
                3 => data.insert(at, self.next(256) as u8),
                _ => {
                    data.remove(at);
                    if data.is_empty() {
                        data.push(0);
                    }
                }
            }
        }
    }
}

#[test]
fn damaged_bytecode_never_panics() {
    let mut random = Random(0x7469_6C65_6375_6465);
    let files: Vec<_> = ssa::bytecode_files()
        .iter()
        .map(|p| std::fs::read(p).unwrap())
        .collect();
    let small: Vec<_> = files.iter().filter(|f| f.len() < 6000).collect();
    let mut read = 0;
    for _ in 0..6000 {
        let mut data = small[random.next(small.len())].clone();
        random.damage(&mut data);
        if let Ok(module) = bytecode::read(&data) {
            read += 1;
            // Whatever was read can be checked and printed.
            let _ = verify::verify(&module);
            let _ = asm::print_pretty(&module);
            let _ = asm::print_generic(&module);
        }
    }
    assert!(
        read > 100,
        "mutations must leave some files readable, {read} were"
    );
}

#[test]
fn damaged_text_never_panics() {
    let mut random = Random(0x6173_6D5F_7465_7874);
    for path in ssa::bytecode_files().iter().step_by(9) {
        let data = std::fs::read(path).unwrap();
        if data.len() > 4000 {
            continue;
        }
        let module = bytecode::read(&data).unwrap();
        for text in [asm::print_pretty(&module), asm::print_generic(&module)] {
            for _ in 0..20 {
                let mut damaged = text.clone().into_bytes();
                random.damage(&mut damaged);
                let Ok(damaged) = String::from_utf8(damaged) else {
                    continue;
                };
                if let Ok(module) = asm::parse(&damaged) {
                    let _ = verify::verify(&module);
                }
            }
        }
    }
}

/// Modules with other operands, attributes, operations and types, as the fuzzers change them: what is
/// still valid is printed, parsed, written and read back the same; whatever it is, it runs or is
/// refused.
#[test]
fn changed_modules_survive_every_way() {
    let mut random = Random(0x6368_616E_6765_6421);
    let files: Vec<_> = ssa::bytecode_files()
        .iter()
        .map(|p| std::fs::read(p).unwrap())
        .filter(|f| f.len() < 2500)
        .collect();
    let mut changed = 0;
    for _ in 0..1500 {
        let data = &files[random.next(files.len())];
        if let Some(data) = mutate::module(data, random.next(usize::MAX) as u64) {
            changed += 1;
            checks::bytecode(&data);
            checks::eval(&data);
        }
    }
    assert!(changed > 700, "only {changed} changed modules were written");
}

/// The same through the whole compiler: PTX or an error that names what cannot be compiled.
#[test]
fn changed_modules_compile_or_are_refused() {
    let mut random = Random(0x636F_6D70_696C_6521);
    let files: Vec<_> = ssa::bytecode_files()
        .iter()
        .map(|p| std::fs::read(p).unwrap())
        .filter(|f| f.len() < 1000)
        .collect();
    let mut valid = 0;
    for _ in 0..150 {
        let data = &files[random.next(files.len())];
        if let Some(data) = mutate::module(data, random.next(usize::MAX) as u64) {
            valid += usize::from(checks::compile(&data));
        }
    }
    assert!(valid > 30, "only {valid} changed modules were valid");
}
