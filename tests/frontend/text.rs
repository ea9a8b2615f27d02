//! Text reads back as the module that it was printed from.

use crate::ssa;
use tilec::asm;

#[test]
fn both_forms_read_back() {
    for path in ssa::bytecode_files() {
        let module = tilec::bytecode::read(&std::fs::read(&path).unwrap()).unwrap();
        let generic = asm::print_generic(&module);
        for text in [&asm::print_pretty(&module), &generic] {
            let again = asm::parse(text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let reprinted = asm::print_generic(&again);
            let differ = generic.lines().zip(reprinted.lines()).find(|(a, b)| a != b);
            assert!(differ.is_none(), "{}: {differ:#?}", path.display());
            assert_eq!(generic.len(), reprinted.len(), "{}", path.display());
        }
    }
}

/// MLIR's own tools print their module around that of Tile IR.
#[test]
fn the_module_of_mlir_may_stand_around() {
    let inner = "entry @e() {\n  return\n}\n";
    let plain = asm::print_generic(&asm::parse(inner).expect("operations alone"));
    for text in [
        format!("module {{\n{inner}}}\n"),
        format!("module {{\n  cuda_tile.module @kernels {{\n{inner}}}\n}}\n"),
        format!("\"builtin.module\"() ({{\n{plain}}}) : () -> ()\n"),
    ] {
        let module = asm::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(plain, asm::print_generic(&module), "{text}");
    }
}
