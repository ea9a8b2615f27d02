//! The reference page of a dialect, from its table.

use std::fmt::Write as _;

use super::{
    Arity, AttrDef, AttrKind, Default, Dialect, Is, OpDef, ResultDef, ResultType, Traits, Version,
    modes,
};

impl Dialect {
    /// What it is for, in a sentence.
    pub const fn summary(self) -> &'static str {
        match self {
            Dialect::CudaTile => {
                "The public input language: what the bytecode of a Tile IR compiler front end contains."
            }
            Dialect::TileAa => {
                "Architecture-independent: views are replaced by bases, extents, strides and indices. Everything else keeps its `cuda_tile` operation."
            }
            Dialect::TileAs => {
                "Architecture-specific: tiles have layouts, shared memory is explicit, matrix operations have chosen their instruction, and asynchronous copies are a protocol of pipeline operations."
            }
            Dialect::Nvvm => {
                "One thread's program on scalars and register arrays, one step before machine instructions."
            }
        }
    }

    /// The reference page: every operation with its operands, attributes, results and traits.
    pub fn markdown(self) -> String {
        let mut page = format!("# {}\n\n{}\n", self.name(), self.summary());
        page.push_str("\n<!-- Written by `tilec dialects --markdown`; do not edit. -->\n");
        let _ = writeln!(page, "\n{} operations.", self.table().len());
        for def in self.table() {
            let doc = def.doc.replace('<', "\\<");
            let _ = write!(page, "\n## {}.{}\n\n{doc}\n", self.name(), def.name);
            details(&mut page, def);
        }
        page
    }
}

fn details(page: &mut String, def: &OpDef) {
    let opcode = def
        .opcode
        .map(|code| format!("opcode {code}{}", since(def.since)));
    let lines: [(&str, Vec<String>); 8] = [
        ("text", text(def)),
        ("operands", operands(def)),
        ("attributes", def.attrs.iter().map(attribute).collect()),
        ("rounding modes", rounding(def)),
        ("results", results(def)),
        ("regions", regions(def)),
        ("traits", traits(def.traits)),
        ("bytecode", opcode.into_iter().collect()),
    ];
    let mut separator = "\n";
    for (what, items) in lines.iter().filter(|(_, items)| !items.is_empty()) {
        let _ = writeln!(page, "{separator}- {what}: {}", items.join("; "));
        separator = "";
    }
}

fn rounding(def: &OpDef) -> Vec<String> {
    let Some(modes) = def.rounding else {
        return Vec::new();
    };
    let names = |modes: &[u8]| {
        let names: Vec<_> = modes.iter().map(|&m| modes::name(m)).collect();
        names.join(", ")
    };
    let mut items = vec![names(modes.any)];
    if !modes.f32.is_empty() {
        items.push(format!("of f32 also {}", names(modes.f32)));
    }
    items
}

/// Nothing for what the first version has.
fn since(version: Version) -> String {
    match version {
        Version::V13_1 => String::new(),
        later => format!(", since {later}"),
    }
}

fn arity(arity: Arity) -> &'static str {
    match arity {
        Arity::One => "",
        Arity::Optional => " (optional)",
        Arity::Variadic => " (any number)",
    }
}

/// The assembly form, whose language [`crate::asm`] describes.
fn text(def: &OpDef) -> Vec<String> {
    let form = Some(def.text).filter(|text| !text.is_empty());
    form.map(|text| format!("`{text}`")).into_iter().collect()
}

fn operands(def: &OpDef) -> Vec<String> {
    let types = def.operand_types.iter().copied().map(Some);
    let types = types.chain(std::iter::repeat(None));
    def.operands
        .iter()
        .zip(types)
        .map(|(o, is)| {
            let what = types_of(is);
            format!("`{}`{}{what}{}", o.name, arity(o.arity), since(o.since))
        })
        .collect()
}

/// What a type constraint admits, in the notation of the text form.
fn types_of(is: Option<Is>) -> String {
    let name = match is {
        None | Some(Is::Any) => return String::new(),
        Some(Is::Tile { scalar, .. }) => {
            let elements = is.map(Is::elements).unwrap_or_default();
            let elements: Vec<String> = elements.iter().map(|e| element(e)).collect();
            let what = if scalar { "scalar tile" } else { "tile" };
            return format!(": {what} of {}", elements.join(", "));
        }
        Some(Is::AnyTile) => "tile",
        Some(Is::Token) => "token",
        Some(Is::TensorView) => "tensor view",
        Some(Is::TileView) => "view of tiles",
        Some(Is::PartitionView) => "partition view",
        Some(Is::StridedView) => "strided view",
        Some(Is::GatherScatterView) => "gather or scatter view",
    };
    format!(": {name}")
}

fn element(name: &str) -> String {
    match name {
        "Pointer type" => "ptr".into(),
        name => name.into(),
    }
}

fn attribute(attr: &AttrDef) -> String {
    let kind = match attr.kind {
        AttrKind::Enum(def) => {
            let cases: Vec<String> = def.cases.iter().map(|case| format!("`{case}`")).collect();
            cases.join(", ")
        }
        kind => kind.words().trim_end_matches(" attribute").to_owned(),
    };
    let optional = if attr.optional { " (optional)" } else { "" };
    let default = match (attr.default, attr.kind) {
        (Default::None, _) => String::new(),
        (Default::Case(case), AttrKind::Enum(def)) => {
            let name = def.case(case);
            format!(", default `{}`", name.unwrap_or_default())
        }
        (Default::Case(case), _) => format!(", default {case}"),
        (Default::Int(value), _) => format!(", default {value}"),
        (Default::AllFalse(_), _) => ", default all false".into(),
    };
    format!(
        "`{}`{optional}: {kind}{default}{}",
        attr.name,
        since(attr.since)
    )
}

fn results(def: &OpDef) -> Vec<String> {
    let types = def.result_types.iter().copied().map(Some);
    let types = types.chain(std::iter::repeat(None));
    let results = def.results.iter().zip(types);
    results.map(|(r, is)| result(def, r, is)).collect()
}

fn result(def: &OpDef, result: &ResultDef, is: Option<Is>) -> String {
    let operand = |i: u8| def.operands.get(usize::from(i)).map_or("", |o| o.name);
    let ty = match result.ty {
        ResultType::Explicit => types_of(is),
        ResultType::Operand(i) => format!(": the type of `{}`", operand(i)),
        ResultType::BoolLike(i) => format!(": i1 in the shape of `{}`", operand(i)),
        ResultType::Token => ": token".into(),
    };
    format!(
        "`{}`{}{ty}{}",
        result.name,
        arity(result.arity),
        since(result.since)
    )
}

fn regions(def: &OpDef) -> Vec<String> {
    let name = |region: &super::RegionDef| match region.optional {
        true => format!("`{}` (optional)", region.name),
        false => format!("`{}`", region.name),
    };
    def.regions.iter().map(name).collect()
}

fn traits(traits: Traits) -> Vec<String> {
    const NAMES: [(Traits, &str); 12] = [
        (Traits::PURE, "pure"),
        (Traits::ELEMENTWISE, "elementwise"),
        (Traits::COMMUTATIVE, "commutative"),
        (Traits::SAME_TYPE, "one type"),
        (Traits::CONSTANT, "constant"),
        (Traits::MEMORY, "memory"),
        (Traits::ATOMIC, "atomic"),
        (Traits::ASYNC, "asynchronous"),
        (Traits::STEP, "step of a pipeline"),
        (Traits::TERMINATOR, "terminator"),
        (Traits::ISOLATED, "isolated from above"),
        (Traits::SYMBOL, "symbol"),
    ];
    let present = NAMES.iter().filter(|(one, _)| traits.has(*one));
    present.map(|(_, name)| (*name).to_owned()).collect()
}
