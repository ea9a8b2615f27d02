//! What the corpus cannot show: limits, and what blocks do to each other.

use super::{Hooks, Launch, Memory, Program};
use crate::dialect::cuda_tile::Op as Name;
use crate::ir::{AssumePredicate, Attr, BlockId, Dense, Module, TypeId, ValueId};

/// A module of one entry `kernel` without parameters, and the entry's block.
fn kernel() -> (Module, BlockId) {
    let mut module = Module::new("test");
    let region = module.new_region();
    let block = module.new_block(region, &[]);
    let name = module.intern("kernel");
    let ty = module.types.intern(crate::ir::Type::Function {
        params: vec![],
        results: vec![],
    });
    let attrs = [Some(Attr::Str(name)), Some(Attr::Type(ty))];
    let body = module.body;
    module
        .at_end(body)
        .op(Name::Entry, &[], attrs, &[], &[region]);
    (module, block)
}

fn scalar(module: &mut Module, bits: u32) -> TypeId {
    let elem = module.types.int(bits);
    module.types.tile(elem, &[])
}

/// The x coordinate of the block.
fn block_id(module: &mut Module, block: BlockId) -> ValueId {
    let ty = scalar(module, 32);
    let op = module
        .at_end(block)
        .op(Name::GetTileBlockId, &[], [], &[ty; 3], &[]);
    module.op(op).results[0]
}

fn end(module: &mut Module, block: BlockId, name: Name) {
    module.at_end(block).op(name, &[&[]], [], &[], &[]);
}

/// Runs a grid of `blocks`; what was printed and how it ended.
fn run(module: &Module, blocks: u32, steps: u64) -> (String, Result<Option<String>, String>) {
    let mut memory = Memory::default();
    let mut output = Vec::new();
    let program = match Program::new(module, None, &mut memory) {
        Ok(program) => program,
        Err(error) => return (String::new(), Err(error.to_string())),
    };
    let launch = Launch {
        grid: [blocks, 1, 1],
        arguments: vec![],
    };
    let hooks = Hooks {
        output: &mut output,
        progress: &|_| (),
        steps,
    };
    let result = program.run(&launch, &memory, hooks);
    let text = String::from_utf8(output).expect("formats are text");
    let assertion = result.map(|a| a.map(|d| d.to_string()));
    (text, assertion.map_err(|d| d.to_string()))
}

#[test]
fn an_endless_loop_meets_the_limit() {
    let (mut module, block) = kernel();
    let region = module.new_region();
    let body = module.new_block(region, &[]);
    end(&mut module, body, Name::Continue);
    module
        .at_end(block)
        .op(Name::Loop, &[&[]], [], &[], &[region]);
    end(&mut module, block, Name::Return);
    let error = run(&module, 1, 1000).1.expect_err("it never ends");
    assert!(error.contains("more than 1000 operations ran"), "{error}");
    assert!(
        error.contains("kernel `kernel`, block (0, 0, 0)"),
        "{error}"
    );
}

/// Blocks 6 and later break the assumption; whichever thread is first, block 6 is reported.
#[test]
fn the_first_failing_block_is_reported() {
    let (mut module, block) = kernel();
    let id = block_id(&mut module, block);
    let ty = module.ty(id);
    let predicate = AssumePredicate::Bounded {
        lower: None,
        upper: Some(5),
    };
    module
        .at_end(block)
        .value(Name::Assume, &[id], [Some(Attr::Assume(predicate))], ty);
    end(&mut module, block, Name::Return);
    for _ in 0..20 {
        let error = run(&module, 64, 1000).1.expect_err("a false assumption");
        assert!(error.contains("block (6, 0, 0)"), "{error}");
        assert!(
            error.contains("element [] is 6, against bounded<?, 5>"),
            "{error}"
        );
    }
    assert_eq!(run(&module, 6, 1000).1, Ok(None));
}

#[test]
fn prints_come_in_the_order_of_blocks() {
    let (mut module, block) = kernel();
    let id = block_id(&mut module, block);
    let format = module.intern("%d\n");
    let token = module.types.intern(crate::ir::Type::Token);
    module.at_end(block).op(
        Name::Print,
        &[&[id], &[]],
        [Some(Attr::Str(format))],
        &[token],
        &[],
    );
    end(&mut module, block, Name::Return);
    let expected: String = (0..100).map(|i| format!("{i}\n")).collect();
    assert_eq!(run(&module, 100, 1000), (expected, Ok(None)));
}

#[test]
fn a_failed_assertion_stops_nothing() {
    let (mut module, block) = kernel();
    let message = module.intern("never");
    let ty = scalar(&mut module, 1);
    let value = Attr::Dense {
        data: Dense::Bytes(vec![0]),
        ty,
    };
    let no = module
        .at_end(block)
        .value(Name::Constant, &[], [Some(value)], ty);
    module
        .at_end(block)
        .op(Name::Assert, &[&[no]], [Some(Attr::Str(message))], &[], &[]);
    end(&mut module, block, Name::Return);
    let (printed, result) = run(&module, 3, 1000);
    let assertion = result.expect("it ends").expect("it fails");
    let lines: Vec<String> = (0..3)
        .map(|x| format!("(unknown):0: tile block: [{x}, 0, 0], position: []: never\n"))
        .collect();
    assert_eq!(printed, lines.concat());
    assert!(
        assertion.contains("block (0, 0, 0): assertion failed at []: never"),
        "{assertion}"
    );
}

/// A constant condition and `depth` regions that it leads into.
fn nested(depth: usize) -> Module {
    let (mut module, entry) = kernel();
    let ty = scalar(&mut module, 1);
    let value = Attr::Dense {
        data: Dense::Bytes(vec![1]),
        ty,
    };
    let yes = module
        .at_end(entry)
        .value(Name::Constant, &[], [Some(value)], ty);
    let mut block = entry;
    for _ in 0..depth {
        let region = module.new_region();
        let inner = module.new_block(region, &[]);
        let none = module.new_region();
        module
            .at_end(block)
            .op(Name::If, &[&[yes]], [], &[], &[region, none]);
        end(
            &mut module,
            block,
            if block == entry {
                Name::Return
            } else {
                Name::Yield
            },
        );
        block = inner;
    }
    end(&mut module, block, Name::Yield);
    module
}

#[test]
fn nesting_is_limited() {
    let deepest = super::code::MAX_DEPTH;
    assert_eq!(run(&nested(deepest - 1), 2, 1000).1, Ok(None));
    let error = run(&nested(deepest), 2, 1000).1.expect_err("too deep");
    assert!(error.contains("nested more than 100 deep"), "{error}");
}
