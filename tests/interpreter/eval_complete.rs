//! Nothing of the dialect is missing from the interpreter: its table of operations is walked, not a
//! list of ours. What results are right is the matter of `numerics.rs`.

use crate::ssa;
use std::collections::BTreeSet;

use tilec::dialect::cuda_tile::{Op, TABLE};
use tilec::dialect::{Arity, AttrDef, AttrKind, OpKind, ResultType, Traits};
use tilec::eval::{Hooks, Launch, Memory, Program};
use tilec::ir::{Attr, BlockId, Dense, EnumAttr, Float, Module, OpId, Type, TypeId, ValueId};
use tilec::{bytecode, verify};

/// Operations that stand in no entry: what holds entries, and a call of what is elsewhere.
const OUTSIDE: [Op; 4] = [Op::Module, Op::Entry, Op::Global, Op::PreviewCall];

/// Of several versions of a corpus file the newest.
fn newest_files() -> Vec<std::path::PathBuf> {
    let mut files = ssa::bytecode_files();
    let case = |p: &std::path::PathBuf| {
        let name = p.to_string_lossy().into_owned();
        name.rsplit_once("-13.")
            .map_or(name.clone(), |(case, _)| case.to_owned())
    };
    files.dedup_by(|later, earlier| {
        let same = case(later) == case(earlier);
        if same {
            std::mem::swap(later, earlier);
        }
        same
    });
    files
}

fn entries(module: &Module) -> Vec<(String, OpId)> {
    let ops = module.block(module.body).ops.iter();
    ops.filter_map(|&id| match module.op(id).attr_named("sym_name") {
        Some(Attr::Str(name)) if Op::of(module.op(id).kind) == Some(Op::Entry) => {
            Some((module.str(*name).to_owned(), id))
        }
        _ => None,
    })
    .collect()
}

fn operations(module: &Module, entry: OpId) -> BTreeSet<Op> {
    let body = module.body_of(entry, 0).expect("a body");
    let ops = module.ops_under(body).into_iter();
    ops.filter_map(|op| Op::of(module.op(op).kind)).collect()
}

/// Every operation of the table is in an entry of the corpus, and the interpreter takes all entries.
#[test]
fn every_operation_is_evaluated() {
    let mut evaluated = BTreeSet::new();
    for file in newest_files() {
        let module = bytecode::read(&std::fs::read(&file).expect("a file")).expect("a module");
        for (name, entry) in entries(&module) {
            let ops = operations(&module, entry);
            let error = Program::new(&module, Some(&name), &mut Memory::default()).err();
            assert!(error.is_none(), "{}, {name}: {error:?}", file.display());
            evaluated.extend(ops);
        }
    }
    let known = |op: &&Op| evaluated.contains(op) || OUTSIDE.contains(op);
    let unknown: Vec<&Op> = Op::ALL.iter().filter(|op| !known(op)).collect();
    assert!(
        unknown.is_empty(),
        "nothing of the corpus shows that these are evaluated: {unknown:?}"
    );
    let (module, _) = with_operation(|m, block| {
        let name = m.intern("elsewhere");
        let attrs = [
            Some(Attr::Symbol(name)),
            Some(Attr::Array(vec![])),
            None,
            None,
        ];
        m.at_end(block).op(Op::PreviewCall, &[&[]], attrs, &[], &[])
    });
    let call = Program::new(&module, None, &mut Memory::default())
        .err()
        .expect("refused");
    assert!(
        call.to_string()
            .contains("calls a function that is not in the module"),
        "{call}"
    );
}

/// A module of one entry with what `make` puts into it.
fn with_operation<T>(make: impl FnOnce(&mut Module, BlockId) -> T) -> (Module, T) {
    let mut module = Module::new("kernels");
    let region = module.new_region();
    let block = module.new_block(region, &[]);
    let made = make(&mut module, block);
    module.at_end(block).op(Op::Return, &[&[]], [], &[], &[]);
    let name = module.intern("kernel");
    let ty = module.types.intern(Type::Function {
        params: vec![],
        results: vec![],
    });
    let attrs = [Some(Attr::Str(name)), Some(Attr::Type(ty))];
    let body = module.body;
    module
        .at_end(body)
        .op(Op::Entry, &[], attrs, &[], &[region]);
    (module, made)
}

/// Element types of tiles: numbers, and pointers to one of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Elem {
    Int(u32),
    Float(usize),
    Pointer,
}

impl Elem {
    fn all() -> Vec<Elem> {
        let ints = [1, 4, 8, 16, 32, 64].map(Elem::Int);
        let floats = (0..Float::NAMES.len()).map(Elem::Float);
        ints.into_iter()
            .chain(floats)
            .chain([Elem::Pointer])
            .collect()
    }

    fn ty(self, m: &mut Module) -> TypeId {
        match self {
            Elem::Int(width) => m.types.int(width),
            Elem::Float(i) => m.types.float(Float::NAMES[i].0),
            Elem::Pointer => {
                let pointee = m.types.float(Float::F32);
                m.types.intern(Type::Ptr { pointee, attr: 0 })
            }
        }
    }
}

/// 1.0, by the formats' definitions.
fn one(format: Float) -> u64 {
    match format {
        Float::F16 => 0x3c00,
        Float::BF16 => 0x3f80,
        Float::F32 | Float::TF32 => 0x3f80_0000,
        Float::F64 => 0x3ff0_0000_0000_0000,
        Float::F8E4M3FN => 7 << 3,
        Float::F8E5M2 => 15 << 2,
        Float::F8E8M0FNU => 127,
        Float::F8E5M3FNU => 15 << 3,
        Float::F4E2M1FN => 1 << 1,
    }
}

const EXTENT: u64 = 4;

fn tile(m: &mut Module, elem: Elem) -> TypeId {
    let elem = elem.ty(m);
    m.types.tile(elem, &[EXTENT])
}

/// A tile of ones, or of pointers to nothing.
fn ones(m: &mut Module, block: BlockId, elem: Elem) -> ValueId {
    let ty = tile(m, elem);
    let constant = |m: &mut Module, ty: TypeId, bits: u64, width: u32| {
        let bytes = bits.to_le_bytes()[..width.div_ceil(8) as usize].to_vec();
        let value = Some(Attr::Dense {
            data: Dense::Bytes(bytes),
            ty,
        });
        let op = m.at_end(block).op(Op::Constant, &[], [value], &[ty], &[]);
        m.op(op).results[0]
    };
    match elem {
        Elem::Int(width) => constant(m, ty, 1, width),
        Elem::Float(i) => {
            let format = Float::NAMES[i].0;
            constant(m, ty, one(format), format.bits())
        }
        Elem::Pointer => {
            let addresses = tile(m, Elem::Int(64));
            let addresses = constant(m, addresses, 64, 64);
            let op = m
                .at_end(block)
                .op(Op::IntToPtr, &[&[addresses]], [], &[ty], &[]);
            m.op(op).results[0]
        }
    }
}

/// What an attribute may be, for a tile of [`EXTENT`] elements.
fn choices(m: &mut Module, def: &AttrDef) -> Vec<Option<Attr>> {
    let mut choices = match def.kind {
        AttrKind::Enum(e) => (0..e.cases.len() as u8)
            .map(|c| Some(Attr::Enum(EnumAttr(c))))
            .collect(),
        AttrKind::Unit => vec![Some(Attr::Unit)],
        AttrKind::Int(width) => vec![Some(Attr::Int {
            value: 0,
            ty: m.types.int(width),
        })],
        AttrKind::I32s => vec![Some(Attr::I32s(vec![0]))],
        _ => vec![],
    };
    if def.optional || choices.is_empty() {
        choices.push(None);
    }
    choices
}

/// Every list of one choice per attribute.
fn attributes(m: &mut Module, kind: OpKind) -> Vec<Vec<Option<Attr>>> {
    let mut lists = vec![vec![]];
    for def in kind.def().attrs {
        let choices = choices(m, def);
        let longer = |list: &Vec<Option<Attr>>| {
            let list = list.clone();
            choices
                .clone()
                .into_iter()
                .map(move |c| [list.clone(), vec![c]].concat())
        };
        lists = lists.iter().flat_map(longer).collect();
    }
    lists
}

/// Runs the operation on tiles of these elements, if it is valid; `None` where it is not.
fn run(
    op: Op,
    operands: &[Elem],
    result: Option<Elem>,
    attrs: &[Option<Attr>],
) -> Option<Result<(), String>> {
    let (module, _) = with_operation(|m, block| {
        let values: Vec<ValueId> = operands.iter().map(|&e| ones(m, block, e)).collect();
        let groups: Vec<&[ValueId]> = values.iter().map(std::slice::from_ref).collect();
        let ty = match (result, OpKind::from(op).def().results[0].ty) {
            (Some(elem), _) => tile(m, elem),
            (None, ResultType::Operand(i)) => m.ty(values[usize::from(i)]),
            (None, _) => tile(m, Elem::Int(1)),
        };
        // Types were interned in another module: in the same order, so they have the same names.
        let attrs: Vec<Option<Attr>> = attrs
            .iter()
            .map(|a| match a {
                Some(Attr::Int { value, .. }) => Some(Attr::Int {
                    value: *value,
                    ty: m.types.int(64),
                }),
                other => other.clone(),
            })
            .collect();
        m.at_end(block).op(op, &groups, attrs, &[ty], &[])
    });
    verify::verify(&module).ok()?;
    let mut memory = Memory::default();
    let outcome = Program::new(&module, None, &mut memory).and_then(|program| {
        let hooks = Hooks {
            output: &mut std::io::sink(),
            progress: &|_| (),
            steps: 100,
        };
        program.run(
            &Launch {
                grid: [1, 1, 1],
                arguments: vec![],
            },
            &memory,
            hooks,
        )
    });
    Some(outcome.map(|_| ()).map_err(|e| e.to_string()))
}

/// Every operation on whole tiles that only computes, with every attribute, at every combination of element
/// types that the verifier takes: the interpreter takes it too.
#[test]
fn every_valid_element_type_is_evaluated() {
    let all = Elem::all();
    let mut wrong = Vec::new();
    let mut valid = BTreeSet::new();
    let simple = |op: &&Op| {
        let def = &TABLE[**op as usize];
        let pure = def.traits.has(Traits::PURE) || def.traits.has(Traits::ELEMENTWISE);
        pure && def.regions.is_empty()
            && def.results.len() == 1
            && (1..=3).contains(&def.operands.len())
            && def.operands.iter().all(|o| o.arity == Arity::One)
    };
    for &op in Op::ALL.iter().filter(simple) {
        let def = OpKind::from(op).def();
        let lists = attributes(&mut Module::new("kernels"), op.into());
        let results: Vec<Option<Elem>> = match def.results[0].ty {
            ResultType::Explicit => all.iter().copied().map(Some).collect(),
            _ => vec![None],
        };
        let seconds = if def.operands.len() > 1 {
            &all[..]
        } else {
            &all[..1]
        };
        for (&a, &b) in all.iter().flat_map(|a| seconds.iter().map(move |b| (a, b))) {
            // A third operand is as the second.
            let operands = &[a, b, b][..def.operands.len()];
            for &result in &results {
                for attrs in &lists {
                    match run(op, operands, result, attrs) {
                        None => continue,
                        Some(Ok(())) => _ = valid.insert((op, operands.to_vec())),
                        Some(Err(error)) => {
                            wrong.push(format!("{op:?} {operands:?} {result:?} {attrs:?}: {error}"))
                        }
                    }
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} valid operations do not run:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    // What needs views, several shapes or a predicate: the corpus has them.
    let others = [
        Op::Assume,
        Op::Broadcast,
        Op::Cat,
        Op::GetIndexSpaceShape,
        Op::GetTensorShape,
        Op::MakeGatherScatterView,
        Op::MakePartitionView,
        Op::MakeStridedView,
        Op::MmaF,
        Op::MmaFScaled,
        Op::MmaI,
        Op::Pack,
        Op::Permute,
        Op::Unpack,
    ];
    let found = |op: &Op| valid.iter().any(|(o, _)| o == op) || others.contains(op);
    let none: Vec<&Op> = Op::ALL
        .iter()
        .filter(simple)
        .filter(|op| !found(op))
        .collect();
    assert!(none.is_empty(), "no valid form was found of {none:?}");
    assert!(valid.len() > 250, "only {} combinations", valid.len());
}
