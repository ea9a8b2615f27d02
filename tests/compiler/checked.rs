//! Which element types the numerical corpus has for each operand and result of each operation: all that
//! the verifier allows. Every entry of the files read here is run against numpy and ml_dtypes
//! (`tests/runs/numerics.rs` sees to that).

use crate::ssa;
use std::collections::{BTreeMap, BTreeSet};

use tilec::bytecode;
use tilec::dialect::cuda_tile::Op;
use tilec::ir::{Module, OpId, Type, TypeId};
use tilec::verify;

const NARROW_INTEGERS: &[&str] = &["i1", "i4", "i8", "i16"];
const SMALL_FLOATS: &[&str] = &[
    "tf32",
    "f8E4M3FN",
    "f8E5M2",
    "f8E8M0FNU",
    "f4E2M1FN",
    "fnv8E5M3FNU",
];
const POINTER: &[&str] = &["Pointer type"];
const HALF_BYTES: &[&str] = &["i4", "f4E2M1FN"];
const FLOATS: &[&str] = &["f16", "bf16", "f32", "f64"];
const BYTES: &[&str] = &["i8", "f8E4M3FN", "f8E5M2", "f8E8M0FNU", "fnv8E5M3FNU"];

/// Operation, values, types, reason.
type Impossible = (
    &'static str,
    &'static [&'static str],
    &'static [&'static [&'static str]],
    &'static str,
);

/// What the corpus cannot have: operations, values (none named: all), types (likewise), and why.
#[rustfmt::skip]
const IMPOSSIBLE: &[Impossible] = &[
    ("assume", &[], &[FLOATS, SMALL_FLOATS], "every predicate is refused there"),
    ("atomic_cas_tko", &["cmp", "val", "result"], &[NARROW_INTEGERS, &["f16", "bf16"], SMALL_FLOATS, POINTER],
        "numbers of 32 and 64 bits alone"),
    ("atomic_red_view_tko", &["view", "value"], &[NARROW_INTEGERS, SMALL_FLOATS, POINTER], "no mode works on these"),
    ("atomic_rmw_tko", &["arg", "result"], &[NARROW_INTEGERS, SMALL_FLOATS, POINTER], "no mode works on these"),
    ("exti", &["from"], &[&["i64"]], "nothing is wider"),
    ("exti", &["to"], &[&["i1"]], "nothing is narrower"),
    ("trunci", &["from"], &[&["i1"]], "nothing is narrower"),
    ("trunci", &["to"], &[&["i64"]], "nothing is wider"),
    ("itof", &["to"], &[&["f8E8M0FNU"]], "refused"),
    ("load_ptr_tko", &["result", "paddingValue"], &[HALF_BYTES, POINTER],
        "pointers point to no such elements, but to f4, of which one is no tile"),
    ("store_ptr_tko", &["value"], &[HALF_BYTES, POINTER],
        "pointers point to no such elements, but to f4, of which one is no tile"),
    ("load_view_tko", &["tile"], &[&["i4"], POINTER], "memory holds no such elements"),
    ("store_view_tko", &["tile"], &[&["i4"], POINTER], "memory holds no such elements"),
    ("make_tensor_view", &["dynamicShape", "dynamicStrides"], &[&["i1"]],
        "whether the one of i1 is positive is nowhere said"),
    ("multimem_load_reduce_view_tko", &["view", "reduced_values"], &[NARROW_INTEGERS, SMALL_FLOATS, POINTER],
        "no instruction works on these"),
    ("multimem_reduce_view_tko", &["view", "tile"], &[NARROW_INTEGERS, SMALL_FLOATS, POINTER],
        "no instruction works on these"),
    ("multimem_store_view_tko", &["view", "tile"], &[NARROW_INTEGERS, SMALL_FLOATS, POINTER],
        "no instruction works on these"),
    ("pack", &["source"], &[BYTES], "as wide as the result, which is refused"),
    ("unpack", &["result"], &[BYTES], "as wide as the source, which is refused"),
    ("preview$call", &[], &[], "in no released version"),
    ("print_tko", &["args"], &[POINTER], "what is printed is another each time"),
    ("reduce", &[], &[POINTER, &["f4E2M1FN"]], "a pointer is no identity, one f4 is no tile"),
    ("scan", &[], &[POINTER, &["f4E2M1FN"]], "a pointer is no identity, one f4 is no tile"),
    ("return", &[], &[], "entries return nothing"),
    ("select", &[], &[&["f4E2M1FN"]], "refused"),
];

fn is_impossible(op: &str, value: &str, element: &str) -> bool {
    IMPOSSIBLE.iter().any(|&(name, values, types, _)| {
        let all = types.is_empty() || types.iter().any(|list| list.contains(&element));
        op == name && (values.is_empty() || values.contains(&value)) && all
    })
}

/// The name of the element type of a value: of a tile's elements, of what a view reaches.
fn element(module: &Module, ty: TypeId) -> Option<String> {
    match module.types.get(ty) {
        Type::Tile { elem, .. } => match module.types.get(*elem) {
            Type::Ptr { .. } => Some("Pointer type".into()),
            other => Some(tilec::asm::simple_type_name(other)),
        },
        Type::TensorView { elem, .. } => {
            Some(tilec::asm::simple_type_name(module.types.get(*elem)))
        }
        Type::PartitionView { view, .. }
        | Type::StridedView { view, .. }
        | Type::GatherScatterView { view, .. } => element(module, *view),
        _ => None,
    }
}

fn note(module: &Module, id: OpId, seen: &mut BTreeSet<(String, String)>) {
    let op = module.op(id);
    let def = op.def();
    let mut add = |name: &str, ty| {
        if let Some(element) = element(module, ty) {
            seen.insert((format!("{} {name}", def.name), element));
        }
    };
    for (i, operand) in def.operands.iter().enumerate() {
        let group = op.group(i).iter();
        group.for_each(|&v| add(operand.name, module.ty(v)));
    }
    for (i, &result) in op.results.iter().enumerate() {
        let row = def.results.get(i).or(def.results.last());
        add(row.map_or("?", |r| r.name), module.ty(result));
    }
}

#[test]
fn every_element_type_is_checked() {
    let mut seen = BTreeSet::new();
    let corpus = ssa::bytecode_files().into_iter();
    for path in corpus.filter(|p| p.to_string_lossy().contains("corpus/bytecode")) {
        let module = bytecode::read(&std::fs::read(&path).unwrap()).unwrap();
        module.walk(module.body, &mut |id| note(&module, id, &mut seen));
    }
    let mut missing: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut there = Vec::new();
    for &op in Op::ALL {
        for (value, types) in verify::element_types(op) {
            let name = tilec::dialect::OpKind::from(op).def().name;
            let both = format!("{name} {value}");
            for element in types {
                let found = seen.contains(&(both.clone(), element.clone()));
                match (found, is_impossible(name, value, &element)) {
                    (false, false) => missing.entry(both.clone()).or_default().push(element),
                    (true, true) => there.push(format!("{both}: {element}")),
                    _ => {}
                }
            }
        }
    }
    let missing: Vec<_> = missing
        .iter()
        .map(|(name, types)| format!("{name}: {}", types.join(" ")))
        .collect();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    assert!(there.is_empty(), "not impossible: {there:?}");
}
