//! The two forms of remarks.

use std::fmt::Write as _;

use super::{Category, Kind, Remark};
use crate::ir::Place;

/// For people: by function, then by category.
pub fn text(remarks: &[&Remark]) -> String {
    let mut out = String::new();
    let mut rest = remarks;
    while let Some(first) = rest.first() {
        let count = rest.iter().take_while(|r| r.function == first.function);
        let (of_function, others) = rest.split_at(count.count());
        rest = others;
        let separator = if out.is_empty() { "" } else { "\n" };
        let _ = writeln!(out, "{separator}in function: {}:", first.function);
        for category in [Category::Memory, Category::TensorCore] {
            let mut some = of_function.iter().filter(|r| r.category == category);
            if let Some(first) = some.next() {
                let _ = writeln!(out, "\n  category: {}", pass(category));
                one(&mut out, first);
                some.for_each(|remark| one(&mut out, remark));
            }
        }
    }
    out
}

fn one(out: &mut String, remark: &Remark) {
    let kind = match remark.kind {
        Kind::Passed => "passed",
        Kind::Missed => "missed",
        Kind::Failed => "failed",
    };
    let _ = writeln!(out, "    remark[{kind}]: {}", remark.text);
    let _ = match &remark.place {
        Place::Line { file, line, column } => {
            writeln!(out, "      --> \"{file}\":{line}:{column}")
        }
        _ => writeln!(out, "      --> loc(unknown)"),
    };
    let _ = writeln!(out, "       |\n       = name: {}", remark.name);
    for (name, value) in &remark.args {
        let _ = match *name {
            "Reason" => writeln!(out, "       = reason: {value}"),
            _ => writeln!(out, "       = note: {name} = {value}"),
        };
    }
    out.push('\n');
}

fn pass(category: Category) -> &'static str {
    match category {
        Category::Memory => "Memory",
        Category::TensorCore => "Tensor-core",
    }
}

/// For programs: a document per remark, as LLVM writes them (LLVM documentation, "Remarks", "YAML remarks").
pub fn yaml<'a>(remarks: impl Iterator<Item = &'a Remark>) -> String {
    let mut out = String::new();
    for (id, remark) in remarks.enumerate() {
        let kind = match remark.kind {
            Kind::Passed => "Passed",
            Kind::Missed => "Missed",
            Kind::Failed => "Failure",
        };
        let (file, line, column) = match &remark.place {
            Place::Line { file, line, column } => (file.as_str(), *line, *column),
            _ => ("<unknown file>", 0, 0),
        };
        let _ = write!(
            out,
            "--- !{kind}\nPass:            {}\nName:            {}\nDebugLoc:        {{ File: {}, \
             Line: {line}, Column: {column} }}\nFunction:        {}\nArgs:\n",
            pass(remark.category),
            remark.name,
            scalar(file),
            scalar(&remark.function)
        );
        let own = [
            ("RemarkId", (id + 1).to_string()),
            ("Remark", scalar(remark.text)),
        ];
        let args = remark.args.iter().map(|(name, v)| (*name, scalar(v)));
        for (name, value) in own.into_iter().chain(args) {
            let _ = writeln!(out, "  - {:<12} {value}", format!("{name}:"));
        }
        out.push_str("...\n");
    }
    out
}

/// A scalar, quoted where plain text would be read as something else (YAML 1.2.2, sections 5.3, 7.3.3, 10.3.2). Quotes
/// are put around more than need them, where LLVM's writer does.
fn scalar(text: &str) -> String {
    if text.chars().any(|c| c.is_control() || !c.is_ascii()) {
        let escaped: String = text.chars().map(escape).collect();
        return format!("\"{escaped}\"");
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-^., ".contains(c);
    let first = text.chars().next().unwrap_or(' ');
    let spaced = first == ' ' || text.ends_with(' ');
    let word = matches!(
        text.to_ascii_lowercase().as_str(),
        "null" | "true" | "false" | "~"
    );
    let number = text.parse::<f64>().is_ok();
    if spaced || word || number || "-,".contains(first) || !text.chars().all(plain) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    text.to_owned()
}

fn escape(c: char) -> String {
    match c {
        '"' | '\\' => format!("\\{c}"),
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        c if c.is_control() || !c.is_ascii() => format!("\\U{:08X}", u32::from(c)),
        c => c.to_string(),
    }
}
