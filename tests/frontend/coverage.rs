//! What the committed bytecode files have: at every version each operation, each of its attributes and
//! operands present and absent, and each type; at some version each case of an enumeration. What is
//! missing is listed.

use crate::ssa;
use std::collections::{BTreeMap, BTreeSet};

use tilec::bytecode;
use tilec::dialect::{Arity, AttrKind, OpDef, Version, cuda_tile, enums};
use tilec::ir::{AssumePredicate, Attr, DYNAMIC, EnumAttr, Module, OpId, Padding, Type};

/// Operations that no file has: a module is the file, and the call is a preview outside every
/// released version.
const ABSENT: [&str; 2] = ["module", "preview$call"];

/// What the verifier refuses, though the enumerations have it.
const REFUSED: &[&str] = &[
    "addf rounding_mode=approx",
    "addf rounding_mode=full",
    "addf rounding_mode=nearest_away",
    "addf rounding_mode=nearest_int_to_zero",
    "atomic_cas_tko memory_ordering_semantics=weak",
    "atomic_red_view_tko memory_ordering_semantics=acq_rel",
    "atomic_red_view_tko memory_ordering_semantics=acquire",
    "atomic_red_view_tko memory_ordering_semantics=release",
    "atomic_red_view_tko memory_ordering_semantics=weak",
    "atomic_red_view_tko memory_scope=sys",
    "atomic_red_view_tko mode=xchg",
    "atomic_rmw_tko memory_ordering_semantics=weak",
    "divf rounding_mode=nearest_away",
    "divf rounding_mode=nearest_int_to_zero",
    "divi rounding=approx",
    "divi rounding=full",
    "divi rounding=nearest_away",
    "divi rounding=nearest_even",
    "divi rounding=nearest_int_to_zero",
    "exp rounding_mode=nearest_away",
    "exp rounding_mode=nearest_even",
    "exp rounding_mode=nearest_int_to_zero",
    "exp rounding_mode=negative_inf",
    "exp rounding_mode=positive_inf",
    "exp rounding_mode=zero",
    "fma rounding_mode=approx",
    "fma rounding_mode=full",
    "fma rounding_mode=nearest_away",
    "fma rounding_mode=nearest_int_to_zero",
    "ftof rounding_mode=approx",
    "ftof rounding_mode=full",
    "ftof rounding_mode=nearest_int_to_zero",
    "ftoi rounding_mode=approx",
    "ftoi rounding_mode=full",
    "ftoi rounding_mode=nearest_away",
    "ftoi rounding_mode=nearest_even",
    "ftoi rounding_mode=negative_inf",
    "ftoi rounding_mode=positive_inf",
    "ftoi rounding_mode=zero",
    "itof rounding_mode=approx",
    "itof rounding_mode=full",
    "itof rounding_mode=nearest_away",
    "itof rounding_mode=nearest_int_to_zero",
    "itof rounding_mode=negative_inf",
    "itof rounding_mode=positive_inf",
    "itof rounding_mode=zero",
    "load_ptr_tko memory_ordering_semantics=acq_rel",
    "load_ptr_tko memory_ordering_semantics=release",
    "load_view_tko memory_ordering_semantics=acq_rel",
    "load_view_tko memory_ordering_semantics=release",
    "mulf rounding_mode=approx",
    "mulf rounding_mode=full",
    "mulf rounding_mode=nearest_away",
    "mulf rounding_mode=nearest_int_to_zero",
    "multimem_load_reduce_view_tko memory_ordering_semantics=acq_rel",
    "multimem_load_reduce_view_tko memory_ordering_semantics=release",
    "multimem_reduce_view_tko memory_ordering_semantics=acq_rel",
    "multimem_reduce_view_tko memory_ordering_semantics=acquire",
    "multimem_reduce_view_tko memory_ordering_semantics=weak",
    "multimem_store_view_tko memory_ordering_semantics=acq_rel",
    "multimem_store_view_tko memory_ordering_semantics=acquire",
    "negi overflow=no_unsigned_wrap",
    "sqrt rounding_mode=full",
    "sqrt rounding_mode=nearest_away",
    "sqrt rounding_mode=nearest_int_to_zero",
    "store_ptr_tko memory_ordering_semantics=acq_rel",
    "store_ptr_tko memory_ordering_semantics=acquire",
    "store_view_tko memory_ordering_semantics=acq_rel",
    "store_view_tko memory_ordering_semantics=acquire",
    "subf rounding_mode=approx",
    "subf rounding_mode=full",
    "subf rounding_mode=nearest_away",
    "subf rounding_mode=nearest_int_to_zero",
    "tanh rounding_mode=nearest_away",
    "tanh rounding_mode=nearest_even",
    "tanh rounding_mode=nearest_int_to_zero",
    "tanh rounding_mode=negative_inf",
    "tanh rounding_mode=positive_inf",
    "tanh rounding_mode=zero",
];

/// What no file can have: entries return nothing, so that there are no results to have attributes.
const IMPOSSIBLE: &[&str] = &["entry with res_attrs"];

const VERSIONS: [Version; 5] = [
    Version::V13_1,
    Version::V13_2,
    Version::V13_3,
    Version::V13_4,
    Version::V13_5,
];

/// What there is to be seen of an operation at a version.
fn wanted(row: &OpDef, version: Version, out: &mut BTreeSet<String>) {
    let name = row.name;
    out.insert(name.to_owned());
    for attr in row.attrs.iter().filter(|a| a.since <= version) {
        if attr.optional || matches!(attr.kind, AttrKind::Unit) {
            out.insert(format!("{name} with {}", attr.name));
            out.insert(format!("{name} without {}", attr.name));
        }
        match attr.kind {
            AttrKind::Enum(def) => out.extend(
                (0u8..)
                    .zip(def.cases)
                    .filter(|(case, _)| enums::since(def, *case) <= version)
                    .map(|(_, text)| format!("{name} {}={text}", attr.name)),
            ),
            AttrKind::Bool => {
                out.extend([true, false].map(|b| format!("{name} {}={b}", attr.name)));
            }
            _ => {}
        }
    }
    let optional = |o: &&tilec::dialect::OperandDef| o.arity == Arity::Optional;
    for operand in row
        .operands
        .iter()
        .filter(|o| o.since <= version)
        .filter(optional)
    {
        out.insert(format!("{name} with operand {}", operand.name));
        out.insert(format!("{name} without operand {}", operand.name));
    }
}

/// What is to be seen of an operation in a module.
fn seen_of(module: &Module, id: OpId, out: &mut BTreeSet<String>) {
    let op = module.op(id);
    let row = op.def();
    let name = row.name;
    out.insert(name.to_owned());
    for (def, attr) in row.attrs.iter().zip(&op.attrs) {
        let with = if attr.is_some() { "with" } else { "without" };
        out.insert(format!("{name} {with} {}", def.name));
        match (def.kind, attr) {
            (AttrKind::Enum(cases), Some(Attr::Enum(EnumAttr(case)))) => {
                let text = cases.cases[usize::from(*case)];
                out.insert(format!("{name} {}={text}", def.name));
            }
            (AttrKind::Bool, Some(Attr::Bool(b))) => {
                out.insert(format!("{name} {}={b}", def.name));
            }
            _ => {}
        }
        attr.iter().for_each(|attr| attribute(attr, out));
    }
    for (i, operand) in row.operands.iter().enumerate() {
        let with = if op.group(i).is_empty() {
            "without"
        } else {
            "with"
        };
        out.insert(format!("{name} {with} operand {}", operand.name));
    }
}

/// The tags of attributes, those inside included.
fn attribute(attr: &Attr, out: &mut BTreeSet<String>) {
    let mut tag = |name: &str| {
        out.insert(format!("attribute {name}"));
    };
    match attr {
        Attr::Int { .. } => tag("integer"),
        Attr::Float { .. } => tag("float"),
        Attr::Bool(_) => tag("bool"),
        Attr::Type(_) => tag("type"),
        Attr::Str(_) => tag("string"),
        Attr::Dense { .. } => tag("dense"),
        Attr::Assume(AssumePredicate::DivBy { every, along, .. }) => {
            tag(&format!(
                "div_by every={} along={}",
                every.is_some(),
                along.is_some()
            ));
        }
        Attr::Assume(AssumePredicate::SameElements(_)) => tag("same_elements"),
        Attr::Assume(AssumePredicate::Bounded { lower, upper }) => {
            tag(&format!(
                "bounded lower={} upper={}",
                lower.is_some(),
                upper.is_some()
            ));
        }
        Attr::Array(items) => {
            tag("array");
            items.iter().for_each(|item| attribute(item, out));
        }
        Attr::Dict(entries) => {
            tag("dictionary");
            entries.iter().for_each(|(_, value)| attribute(value, out));
        }
        Attr::Hints(entries) => {
            tag("hints");
            entries.iter().for_each(|(_, value)| attribute(value, out));
        }
        _ => {}
    }
}

/// Names of the attributes that exist at every version.
const ATTRIBUTES: &[&str] = &[
    "integer",
    "float",
    "bool",
    "type",
    "string",
    "array",
    "dense",
    "div_by every=false along=false",
    "div_by every=true along=true",
    "same_elements",
    "dictionary",
    "hints",
    "bounded lower=false upper=true",
    "bounded lower=true upper=false",
    "bounded lower=true upper=true",
];

/// A type as this test tells types apart.
fn type_name(ty: &Type) -> String {
    let padding = |p: &Option<Padding>| match p {
        Some(p) => enums::PADDING.cases[*p as usize],
        None => "none",
    };
    let attr = |a: u8| match a {
        0 => "absent",
        n => enums::PTR_ATTR.cases[usize::from(n) - 1],
    };
    match ty {
        Type::Ptr { attr: a, .. } => format!("type pointer, attribute {}", attr(*a)),
        Type::Tile { .. } => "type tile".into(),
        Type::TensorView {
            shape,
            strides,
            attr: a,
            ..
        } => {
            let dynamic = shape.iter().chain(strides).any(|d| *d == DYNAMIC);
            format!(
                "type tensor_view, dynamic={dynamic}, attribute {}",
                attr(*a)
            )
        }
        Type::PartitionView { padding: p, .. } => {
            format!("type partition_view, padding {}", padding(p))
        }
        Type::StridedView { padding: p, .. } => {
            format!("type strided_view, padding {}", padding(p))
        }
        Type::GatherScatterView { padding: p, .. } => {
            format!("type gather_scatter_view, padding {}", padding(p))
        }
        Type::Function { .. } => "type function".into(),
        other => format!("type {}", tilec::asm::simple_type_name(other)),
    }
}

/// The types without parts, and the first version that has them.
const SIMPLE: &[(&str, u8)] = &[
    ("i1", 1),
    ("i8", 1),
    ("i16", 1),
    ("i32", 1),
    ("i64", 1),
    ("f16", 1),
    ("bf16", 1),
    ("f32", 1),
    ("tf32", 1),
    ("f64", 1),
    ("f8E4M3FN", 1),
    ("f8E5M2", 1),
    ("token", 1),
    ("f8E8M0FNU", 2),
    ("f4E2M1FN", 3),
    ("i4", 3),
    ("fnv8E5M3FNU", 4),
];

fn wanted_types(version: Version, out: &mut BTreeSet<String>) {
    let simple = SIMPLE.iter().filter(|t| t.1 <= version.1);
    out.extend(simple.map(|t| format!("type {}", t.0)));
    out.extend(["type tile".to_owned(), "type function".to_owned()]);
    let attributes: &[&str] = match version.1 {
        ..4 => &["absent"],
        4 => &["absent", "none", "unicast"],
        _ => &["absent", "none", "unicast", "multicast"],
    };
    for attr in attributes {
        out.insert(format!("type pointer, attribute {attr}"));
        out.extend(
            [true, false].map(|d| format!("type tensor_view, dynamic={d}, attribute {attr}")),
        );
    }
    let views: &[&str] = match version.1 {
        ..3 => &["partition_view"],
        _ => &["partition_view", "strided_view", "gather_scatter_view"],
    };
    for view in views {
        let paddings = enums::PADDING.cases.iter().chain(&["none"]);
        out.extend(paddings.map(|p| format!("type {view}, padding {p}")));
    }
}

#[test]
fn the_files_have_everything_at_every_version() {
    let mut seen: BTreeMap<Version, BTreeSet<String>> = BTreeMap::new();
    for path in ssa::bytecode_files() {
        let contents = bytecode::read_full(&std::fs::read(&path).unwrap()).unwrap();
        let module = &contents.module;
        let out = seen.entry(contents.version).or_default();
        module.walk(module.body, &mut |op| seen_of(module, op, out));
        for &ty in &contents.tables.types {
            out.insert(type_name(module.types.get(ty)));
        }
    }
    let anywhere: BTreeSet<&String> = seen.values().flatten().collect();
    let mut missing: BTreeSet<String> = BTreeSet::new();
    for version in VERSIONS {
        let mut all = BTreeSet::new();
        let rows = cuda_tile::TABLE.iter().filter(|row| row.since <= version);
        for row in rows.filter(|row| !ABSENT.contains(&row.name)) {
            wanted(row, version, &mut all);
        }
        wanted_types(version, &mut all);
        all.extend(ATTRIBUTES.iter().map(|name| format!("attribute {name}")));
        for thing in all.difference(&seen[&version]) {
            // Cases, pointer attributes and paddings are encoded alike at every version.
            let case = ["=", ", padding", ", attribute", "attribute "]
                .iter()
                .any(|p| thing.contains(p));
            if !(case && anywhere.contains(thing)) {
                missing.insert(thing.clone());
            }
        }
    }
    let listed: BTreeSet<String> = REFUSED
        .iter()
        .chain(IMPOSSIBLE)
        .map(|s| s.to_string())
        .collect();
    let new: Vec<_> = missing.difference(&listed).collect();
    let found: Vec<_> = listed.difference(&missing).collect();
    assert!(
        new.is_empty() && found.is_empty(),
        "missing: {new:#?}, no longer missing: {found:#?}"
    );
}
