//! Reading, verifying, printing, parsing and writing modules of 1,000 to 1,000,000 operations.

mod common;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use tilec::dialect::Version;
use tilec::ir::Module;
use tilec::{asm, bytecode, verify};

fn main() {
    divan::main();
}

const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];

fn module(ops: usize) -> Module {
    asm::parse(&common::text(ops)).unwrap_or_else(|e| panic!("{e}"))
}

fn bytes(ops: usize) -> Vec<u8> {
    bytecode::write(&module(ops), Version::V13_3).unwrap_or_else(|e| panic!("{e}"))
}

/// What the aim of 10 ms is about.
#[divan::bench(args = SIZES)]
fn read_and_verify(bencher: Bencher, ops: usize) {
    let data = bytes(ops);
    bencher.counter(ItemsCount::new(ops)).bench(|| {
        let module = bytecode::read(black_box(&data)).expect("a module");
        verify::verify(&module).expect("valid");
        module
    });
}

#[divan::bench(args = SIZES)]
fn read(bencher: Bencher, ops: usize) {
    let data = bytes(ops);
    bencher
        .counter(ItemsCount::new(ops))
        .bench(|| bytecode::read(black_box(&data)));
}

#[divan::bench(args = SIZES)]
fn verify(bencher: Bencher, ops: usize) {
    let module = module(ops);
    bencher
        .counter(ItemsCount::new(ops))
        .bench(|| verify::verify(black_box(&module)));
}

#[divan::bench(args = SIZES)]
fn print(bencher: Bencher, ops: usize) {
    let module = module(ops);
    bencher
        .counter(ItemsCount::new(ops))
        .bench(|| asm::print_pretty(black_box(&module)));
}

#[divan::bench(args = SIZES)]
fn print_generic(bencher: Bencher, ops: usize) {
    let module = module(ops);
    bencher
        .counter(ItemsCount::new(ops))
        .bench(|| asm::print_generic(black_box(&module)));
}

#[divan::bench(args = SIZES)]
fn parse(bencher: Bencher, ops: usize) {
    let text = asm::print_pretty(&module(ops));
    bencher
        .counter(ItemsCount::new(ops))
        .bench(|| asm::parse(black_box(&text)));
}

#[divan::bench(args = SIZES)]
fn write(bencher: Bencher, ops: usize) {
    let module = module(ops);
    bencher
        .counter(ItemsCount::new(ops))
        .bench(|| bytecode::write(black_box(&module), Version::V13_3));
}
