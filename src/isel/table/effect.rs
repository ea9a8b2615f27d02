//! Rows about operations that are one instruction without results: they have no types.

use serde::Serialize;

use super::Line;
use crate::dialect::{AttrKind, Dialect, OpDef};
use crate::machine::rows::{Items, Mistake, Rows, Text, wrong};

/// What an operation's attributes must be for a row to be about it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Condition {
    pub test: Test,
    /// Whether the test has to fail.
    pub not: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub enum Test {
    /// An enumeration has this case, or a flag of this name is set.
    Case(Text),
    Equals(Text, i64),
}

/// An operand of an instruction.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub enum Argument {
    /// All values of an operand, or an integer attribute.
    Value(Text),
    /// The address that an operand is.
    Address(Text),
}

/// A row.
#[derive(Clone, Debug, Serialize)]
pub struct Effect {
    pub line: Line,
    pub conditions: Items<Condition>,
    /// A mnemonic; it may have `{…}` in it.
    pub insn: Text,
    pub arguments: Items<Argument>,
}

/// The cases of an enumeration.
pub fn cases_of(kind: AttrKind) -> Option<&'static [&'static str]> {
    match kind {
        AttrKind::Enum(def) => Some(def.cases),
        _ => None,
    }
}

/// The names between braces.
pub fn placeholders(insn: &str) -> impl Iterator<Item = &str> {
    insn.split('{')
        .skip(1)
        .filter_map(|part| part.split('}').next())
}

fn operands(def: &'static OpDef) -> impl Iterator<Item = &'static str> {
    def.operands.iter().map(|operand| operand.name)
}

fn attributes(def: &'static OpDef) -> impl Iterator<Item = &'static str> {
    def.attrs.iter().map(|attr| attr.name)
}

fn enumerations(def: &'static OpDef) -> impl Iterator<Item = &'static str> {
    let attrs = def.attrs.iter();
    let attrs = attrs.filter(|attr| cases_of(attr.kind).is_some());
    attrs.map(|attr| attr.name)
}

/// Names of flags, and the cases of enumerations.
fn cases(def: &'static OpDef) -> impl Iterator<Item = &'static str> {
    let cases = def.attrs.iter().flat_map(|attr| match &attr.kind {
        AttrKind::Unit | AttrKind::Bool => std::slice::from_ref(&attr.name),
        kind => cases_of(*kind).unwrap_or_default(),
    });
    cases.copied()
}

/// Says that an operation has no part of this name, and which it has.
fn no<'n>(def: &OpDef, what: &str, name: &str, names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.collect();
    let expected = match names.is_empty() {
        true => "it has none".to_owned(),
        false => format!("expected {}", names.join(", ")),
    };
    format!("nvvm.{} has no {what} '{name}': {expected}", def.name)
}

impl Condition {
    fn parse<'t>(def: &'static OpDef, text: &'t str) -> Result<Condition, Mistake<'t>> {
        let (text, not) = match text.strip_prefix('!') {
            Some(text) => (text, true),
            None => (text, false),
        };
        let test = Test::parse(def, text)?;
        Ok(Condition { test, not })
    }
}

impl Test {
    fn parse<'t>(def: &'static OpDef, text: &'t str) -> Result<Test, Mistake<'t>> {
        if let Some((name, number)) = text.split_once('=') {
            let Ok(number) = number.parse() else {
                return wrong(
                    number,
                    format!("'{number}' is no number: expected NAME=NUMBER"),
                );
            };
            return match attributes(def).any(|a| a == name) {
                true => Ok(Test::Equals(name.to_owned().into(), number)),
                false => wrong(name, no(def, "attribute", name, attributes(def))),
            };
        }
        match cases(def).any(|case| case == text) {
            true => Ok(Test::Case(text.to_owned().into())),
            false => wrong(text, no(def, "flag or case", text, cases(def))),
        }
    }
}

impl Argument {
    fn parse<'t>(def: &'static OpDef, text: &'t str) -> Result<Argument, Mistake<'t>> {
        let operand = |name: &str| operands(def).any(|o| o == name);
        let attribute = |name: &str| attributes(def).any(|a| a == name);
        match text.strip_prefix('&') {
            Some(name) if operand(name) => Ok(Argument::Address(name.to_owned().into())),
            None if operand(text) || attribute(text) => Ok(Argument::Value(text.to_owned().into())),
            Some(name) => wrong(name, no(def, "operand", name, operands(def))),
            None => {
                let names = operands(def).chain(attributes(def));
                wrong(text, no(def, "operand or attribute", text, names))
            }
        }
    }
}

impl Effect {
    /// Adds the row `OPERATION[CASE,…] : INSTRUCTION OPERAND, …`.
    pub(super) fn add<'t>(
        rows: &mut Rows<Effect>,
        about: &'t str,
        instruction: &'t str,
        line: Line,
    ) -> Result<(), Mistake<'t>> {
        let name = about.split('[').next().unwrap_or(about);
        let cases = about.strip_prefix(name).unwrap_or_default();
        let cases = match (cases.strip_prefix('['), cases.strip_suffix(']')) {
            (Some(cases), Some(_)) => &cases[..cases.len() - 1],
            _ => "",
        };
        let Some(kind) = Dialect::Nvvm.operation(name) else {
            return wrong(name, Dialect::Nvvm.no_operation(name));
        };
        let def = kind.def();
        let cases = cases.split(',').map(str::trim).filter(|c| !c.is_empty());
        let (insn, arguments) = instruction
            .split_once(char::is_whitespace)
            .unwrap_or((instruction, ""));
        let arguments = arguments
            .split(',')
            .map(str::trim)
            .filter(|a| !a.is_empty());
        for name in placeholders(insn) {
            let known = match name.strip_suffix(".len") {
                Some(operand) => operands(def).any(|o| o == operand),
                None => enumerations(def).any(|a| a == name),
            };
            if !known {
                let names = operands(def).map(|name| format!("{name}.len"));
                let names = names.chain(enumerations(def).map(str::to_owned));
                let names: Vec<String> = names.collect();
                let names = names.iter().map(String::as_str);
                return wrong(name, no(def, "part to spell called", name, names));
            }
        }
        let conditions = cases.map(|c| Condition::parse(def, c));
        let arguments = arguments.map(|a| Argument::parse(def, a));
        let row = Effect {
            conditions: conditions.collect::<Result<_, _>>()?,
            insn: insn.to_owned().into(),
            arguments: arguments.collect::<Result<_, _>>()?,
            line,
        };
        rows.add([name], row);
        Ok(())
    }
}
