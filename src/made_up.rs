//! What a new elementwise operation takes: its row and a rule.
//!
//! `cuda_tile.mulhi_signed` has a row in the table of test builds only, and no other line of the
//! compiler knows of it. Here it is read, written, verified, evaluated, checked and compiled.

use std::path::PathBuf;

use crate::compile::{Options, to_ptx};
use crate::dialect::Version;
use crate::rules::files::{self, Group};
use crate::rules::soundness::{self, Effort};
use crate::rules::{Examples, RuleSet};
use crate::{asm, bytecode, eval, input};

/// One thread's worth of program: the result of two scalars goes to memory.
const KERNEL: &str = "cuda_tile.module @m {
  entry @kernel(%p: tile<ptr<i32>>, %a: tile<i32>, %b: tile<i32>) {
    %c = mulhi_signed %a, %b : tile<i32>
    %t = store_ptr_tko weak %p, %c : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}
";

const RULE: &str = "(dialect cuda_tile => nvvm)
(rule lower-mulhi-signed \"The same operation.\"
  (mulhi_signed ?a:i32 ?b) => (mulhi.s ?a ?b)
  (example (mulhi_signed ?a:8xi32 ?b:8xi32) => (mulhi.s ?a:8xi32 ?b:8xi32)))
";

/// Operands, and the upper halves of their products by Rust's own 64-bit arithmetic.
fn cases() -> impl Iterator<Item = (i32, i32, i32)> {
    let values = [0, 1, -1, 7, -12345, i32::MAX, i32::MIN, 0x4000_0000];
    let pairs = values.into_iter().flat_map(move |a| values.map(|b| (a, b)));
    pairs.map(|(a, b)| (a, b, ((i64::from(a) * i64::from(b)) >> 32) as i32))
}

fn parsed() -> crate::ir::Module {
    input::text(KERNEL, "kernel.mlir").expect("the row gives a text form and constraints")
}

#[test]
fn text_and_bytecode_come_back() {
    let module = parsed();
    let bytes = bytecode::write(&module, Version::V13_5).expect("the row gives an opcode");
    let read = input::bytecode(&bytes).expect("read back");
    for module in [&module, &read] {
        let text = asm::print_pretty(module);
        assert!(text.contains("= mulhi_signed %1, %2 : tile<i32>"), "{text}");
    }
    let before = bytecode::write(&module, Version::V13_4).expect_err("it is of 13.5");
    assert!(before.to_string().contains("mulhi_signed"), "{before}");
}

#[test]
fn the_verifier_knows_its_types() {
    let floats = KERNEL.replace("tile<i32>, %b", "tile<f32>, %b");
    input::text(&floats, "kernel.mlir").expect_err("one operand is a float");
    let floats = KERNEL.replace("i32", "f32");
    let errors = input::text(&floats, "kernel.mlir").expect_err("operands are floats");
    assert!(
        errors.to_string().contains("operand #0 must be"),
        "{errors}"
    );
}

#[test]
fn the_evaluator_computes_it() {
    let module = parsed();
    for (a, b, expected) in cases() {
        let mut memory = eval::Memory::default();
        let program = eval::Program::new(&module, None, &mut memory).expect("decodes");
        let address = memory.add("p", &[0; 4]).expect("four bytes");
        let scalar = |bits: i32| eval::Argument::Scalar {
            elem: eval::Elem::Int(32),
            bits: bits as u32 as u64,
        };
        let launch = eval::Launch {
            grid: [1; 3],
            arguments: vec![eval::Argument::Pointer(address), scalar(a), scalar(b)],
        };
        let hooks = eval::Hooks {
            output: &mut Vec::new(),
            progress: &|_| (),
            steps: 1000,
        };
        program.run(&launch, &memory, hooks).expect("runs");
        let bytes = memory.bytes(address).expect("the buffer");
        assert_eq!(bytes, expected.to_le_bytes(), "{a} {b}");
    }
}

#[test]
fn its_rule_is_checked_like_any_other() {
    let rules = |text: &str| {
        let mut set = RuleSet::new(Examples::Kept);
        set.add(text, "made_up.rules").expect("a rule file");
        set
    };
    let set = rules(RULE);
    crate::rules::examples::run(&set, &set.rules[0]).expect("the example holds");
    soundness::check(&set.rules[0], Effort::default()).expect("sound");
    let wrong = rules(&RULE.replace("mulhi.s", "mulhi"));
    soundness::check(&wrong.rules[0], Effort::default()).expect_err("the unsigned half differs");
}

/// The shipped rules with one more file, in a folder of their own.
fn rules_dir() -> PathBuf {
    let dir = std::env::temp_dir().join(format!("tilec-made-up-{}", std::process::id()));
    for folder in [Group::Tile, Group::TileAaToTileAs, Group::TileAsToNvvm]
        .iter()
        .flat_map(|g| g.folders())
    {
        std::fs::create_dir_all(dir.join(folder)).expect("a folder");
        for (name, text) in files::builtin(folder) {
            std::fs::write(dir.join(name), text).expect("a file");
        }
    }
    std::fs::write(dir.join("tileas_to_nvvm/made_up.rules"), RULE).expect("a file");
    dir
}

#[test]
fn its_rule_compiles_it() {
    let dir = rules_dir();
    let options = Options {
        rules_dir: Some(dir.clone()),
        ..Options::new("sm_80".parse().expect("a target"))
    };
    let kernel = to_ptx(parsed(), &options).expect("compiles");
    std::fs::remove_dir_all(dir).expect("removed");
    assert!(kernel.ptx.contains("mul.hi.s32"), "{}", kernel.ptx);
    let ptx = ptxsim::Module::new(kernel.ptx).expect("PTX");
    let program = ptx.entry(Some("kernel")).expect("an entry");
    for (a, b, expected) in cases() {
        let mut launch = ptxsim::Launch::new(&program);
        launch.block = kernel.manifest.entries[0].block;
        launch.buffers.push(ptxsim::Buffer {
            name: "p".into(),
            bytes: vec![0; 4],
        });
        let scalar = |v: i32| ptxsim::Arg::scalar(v.to_le_bytes());
        launch.args = vec![ptxsim::Arg::buffer(0), scalar(a), scalar(b)];
        launch.run().expect("runs");
        assert_eq!(launch.buffers[0].bytes, expected.to_le_bytes(), "{a} {b}");
    }
}
