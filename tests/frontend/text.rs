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

/// As MLIR reads them: a name of several results alone is the first, and attributes behind a region that the dialect does not
/// declare are hints for other tools.
#[test]
fn first_results_need_no_number_and_regions_may_have_hints() {
    let text = |first: &str, hint: &str| {
        format!(
            "entry @e(%a: tile<i32>) {{
  %b:3 = get_tile_block_id : tile<i32>
  %r:2 = for %i in (%a to %b{first}, step %b#1) : tile<i32> iter_values(%x = %a, %y = %b#2) -> (tile<i32>, tile<i32>) {{
    continue %y, %x : tile<i32>, tile<i32>
  }}{hint}
  %z = addi %r{first}, %r#1 : tile<i32>
  return
}}
"
        )
    };
    let numbered = asm::parse(&text("#0", "")).expect("numbered results");
    for (first, hint) in [
        ("", ""),
        ("", " {cuda_tile.loop_split = 0}"),
        ("#0", " {a, b = 1 : i32}"),
    ] {
        let text = text(first, hint);
        let module = asm::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(
            asm::print_generic(&numbered),
            asm::print_generic(&module),
            "{text}"
        );
    }
}
