//! Attributes in the generic form.

use super::float;
use super::quote::{is_bare, quoted, symbol};
use super::types::{join, type_text};
use crate::dialect::{AttrKind, Dialect, enums};
use crate::ir::{AssumePredicate, Attr, Dense, Float, Module, Name, Type, TypeId};

/// `attr`, an attribute of an operation of `dialect` declared as `kind`, or one inside another.
pub fn generic(module: &Module, dialect: Dialect, kind: Option<AttrKind>, attr: &Attr) -> String {
    let ty = |t: TypeId| type_text(module, t);
    let nested = |a: &Attr| generic(module, dialect, None, a);
    match attr {
        Attr::Unit => "unit".into(),
        Attr::Bool(b) => b.to_string(),
        // MLIR leaves out the types that it assumes by default, i64 and f64.
        Attr::Int { value, ty: t } => match module.types.get(*t) {
            Type::Int(1) => (*value != 0).to_string(),
            Type::Int(64) => value.to_string(),
            _ => format!("{value} : {}", ty(*t)),
        },
        Attr::Float { bits, ty: t } => {
            let text = float_text(module, *t, *bits);
            match module.types.get(*t) {
                Type::Float(Float::F64) if !text.starts_with("0x") => text,
                _ => format!("{text} : {}", ty(*t)),
            }
        }
        Attr::Enum(case) => match kind {
            Some(AttrKind::Enum(def)) if dialect == Dialect::CudaTile && enums::is_integer(def) => {
                format!("{} : i32", case.0)
            }
            Some(AttrKind::Enum(def)) => {
                let case = def.case(case.0);
                format!(
                    "#{}.{}<{}>",
                    dialect.name(),
                    def.name,
                    case.unwrap_or("invalid")
                )
            }
            // A case outside its own attribute has lost its enumeration.
            _ => format!("#{}.case<{}>", dialect.name(), case.0),
        },
        Attr::Type(t) => ty(*t).to_string(),
        Attr::Str(s) => quoted(module.str(*s)),
        Attr::Symbol(s) => symbol(module.str(*s)),
        Attr::Array(items) => format!("[{}]", join(items.iter().map(nested), ", ")),
        Attr::I32s(v) => array("i32", v),
        Attr::I64s(v) => array("i64", v),
        Attr::Bools(v) => array("i1", v),
        Attr::Dense { data, ty: t } => {
            format!("dense<{}> : {}", elements(module, data, *t), ty(*t))
        }
        Attr::Assume(p) => format!("#cuda_tile.{}", predicate(p)),
        Attr::Dict(entries) => dictionary(module, entries, &nested),
        Attr::Hints(entries) => {
            let dict = dictionary(module, entries, &nested);
            format!(
                "#cuda_tile.optimization_hints<{}>",
                &dict[1..dict.len() - 1]
            )
        }
    }
}

fn array<T: std::fmt::Display>(elem: &str, items: &[T]) -> String {
    match items {
        [] => format!("array<{elem}>"),
        _ => format!("array<{elem}: {}>", join(items, ", ")),
    }
}

fn dictionary(
    module: &Module,
    entries: &[(Name, Attr)],
    value: &impl Fn(&Attr) -> String,
) -> String {
    // Entries have no order; MLIR writes them by name.
    let mut entries: Vec<_> = entries.iter().map(|(n, a)| (module.str(*n), a)).collect();
    entries.sort_by_key(|(name, _)| *name);
    let entry = |(name, attr): (&str, &Attr)| match attr {
        Attr::Unit => key(name),
        _ => format!("{} = {}", key(name), value(attr)),
    };
    format!("{{{}}}", join(entries.into_iter().map(entry), ", "))
}

/// `<sm_90 = {latency = 4}>`: entries by name, integers without their type.
pub fn hints(module: &Module, entries: &[(Name, Attr)]) -> String {
    format!("<{}>", sorted(module, entries))
}

fn sorted(module: &Module, entries: &[(Name, Attr)]) -> String {
    let mut entries: Vec<_> = entries.iter().map(|(n, a)| (module.str(*n), a)).collect();
    entries.sort_by_key(|(name, _)| *name);
    let entry = |(name, attr): (&str, &Attr)| {
        let value = match attr {
            Attr::Dict(inner) => format!("{{{}}}", sorted(module, inner)),
            // What the parser takes integers for, here, that have no type.
            Attr::Int { value, ty } if *module.types.get(*ty) == Type::Int(32) => value.to_string(),
            Attr::Int { value, ty } => format!("{value} : {}", type_text(module, *ty)),
            other => generic(module, Dialect::CudaTile, None, other),
        };
        format!("{} = {value}", key(name))
    };
    join(entries.into_iter().map(entry), ", ")
}

/// `{x.y = 1 : i64}`: attributes that no operation declares, so that every number has its type.
pub fn discardable(module: &Module, entries: &[(Name, Attr)]) -> String {
    dictionary(module, entries, &|attr| match attr {
        Attr::Dict(inner) => discardable(module, inner),
        Attr::Int { value, ty } if *module.types.get(*ty) == Type::Int(64) => {
            format!("{value} : i64")
        }
        Attr::Float { bits, ty } if *module.types.get(*ty) == Type::Float(Float::F64) => {
            format!("{} : f64", float_text(module, *ty, *bits))
        }
        _ => generic(module, Dialect::CudaTile, None, attr),
    })
}

/// A dictionary key, quoted where needed.
pub fn key(name: &str) -> String {
    if is_bare(name) {
        name.into()
    } else {
        quoted(name)
    }
}

/// What an assume predicate says, without the dialect's prefix.
pub fn predicate(p: &AssumePredicate) -> String {
    match p {
        AssumePredicate::DivBy {
            divisor,
            every: None,
            along: None,
        } => format!("div_by<{divisor}>"),
        AssumePredicate::DivBy {
            divisor,
            every,
            along,
        } => {
            let part =
                |word: &str, v: &Option<i64>| v.map_or(String::new(), |v| format!(" {word} {v}"));
            format!(
                "div_by<{divisor},{}{}>",
                part("every", every),
                part("along", along)
            )
        }
        AssumePredicate::SameElements(v) => format!("same_elements<[{}]>", join(v, ", ")),
        AssumePredicate::Bounded { lower, upper } => {
            let end = |v: &Option<i64>| v.map_or("?".to_owned(), |v| v.to_string());
            format!("bounded<{}, {}>", end(lower), end(upper))
        }
    }
}

/// A float of type `ty` as a literal.
pub fn float_text(module: &Module, ty: TypeId, bits: u64) -> String {
    match module.types.get(ty) {
        Type::Float(f) => float::literal(*f, bits),
        _ => format!("0x{bits:X}"),
    }
}

/// The elements of constant data: one for a splat, nested lists otherwise.
pub fn elements(module: &Module, data: &Dense, ty: TypeId) -> String {
    match data {
        Dense::Strings(names) => {
            format!(
                "[{}]",
                join(names.iter().map(|n| quoted(module.str(*n))), ", ")
            )
        }
        Dense::Bytes(bytes) => numbers(module, bytes, ty),
    }
}

fn numbers(module: &Module, bytes: &[u8], ty: TypeId) -> String {
    let elem = module.types.elem(ty);
    let width = module.types.bits(elem).unwrap_or(8).div_ceil(8) as usize;
    let text = |chunk: &[u8]| {
        let mut raw = [0; 8];
        raw[..chunk.len()].copy_from_slice(chunk);
        element(module, elem, u64::from_le_bytes(raw))
    };
    if bytes.len() == width {
        return text(bytes);
    }
    let constant = module.types.as_constant(ty);
    let shape = constant.as_ref().map_or(&[][..], |(_, shape)| shape);
    let items: Vec<String> = bytes.chunks_exact(width).map(text).collect();
    let mut out = String::new();
    nested_list(&items, shape, &mut out);
    out
}

/// One element; i1 prints as true or false, other integers signed.
pub fn element(module: &Module, elem: TypeId, raw: u64) -> String {
    match module.types.get(elem) {
        Type::Int(1) => (raw != 0).to_string(),
        Type::Int(n) => {
            let shift = 64 - (*n).clamp(1, 64);
            ((raw << shift) as i64 >> shift).to_string()
        }
        _ => float_text(module, elem, raw),
    }
}

fn nested_list(items: &[String], shape: &[u64], out: &mut String) {
    let Some((&first, rest)) = shape.split_first() else {
        out.push_str(items.first().map_or("", String::as_str));
        return;
    };
    let step = items.len() / (first as usize).max(1);
    out.push('[');
    for (i, part) in items.chunks(step.max(1)).enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        nested_list(part, rest, out);
    }
    out.push(']');
}
