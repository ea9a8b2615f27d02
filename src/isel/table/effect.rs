//! Rows about operations that are one instruction without results: they have no types.

use serde::Serialize;

use super::Line;
use crate::dialect::{AttrKind, Dialect, OpDef};
use crate::machine::rows::{Items, Rows, Text};

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

impl Condition {
    fn parse(def: &'static OpDef, text: &str) -> Result<Condition, String> {
        let (text, not) = match text.strip_prefix('!') {
            Some(text) => (text, true),
            None => (text, false),
        };
        let test = Test::parse(def, text)?;
        Ok(Condition { test, not })
    }
}

impl Test {
    fn parse(def: &'static OpDef, text: &str) -> Result<Test, String> {
        if let Some((name, number)) = text.split_once('=') {
            let number = number
                .parse()
                .map_err(|_| format!("'{number}' is no number"))?;
            return match def.attrs.iter().any(|a| a.name == name) {
                true => Ok(Test::Equals(name.to_owned().into(), number)),
                false => Err(format!("nvvm.{} has no attribute '{name}'", def.name)),
            };
        }
        let mut attrs = def.attrs.iter();
        let known = attrs.any(|a| match a.kind {
            AttrKind::Unit | AttrKind::Bool => a.name == text,
            kind => cases_of(kind).is_some_and(|cases| cases.contains(&text)),
        });
        match known {
            true => Ok(Test::Case(text.to_owned().into())),
            false => Err(format!("nvvm.{} has no case '{text}'", def.name)),
        }
    }
}

impl Argument {
    fn parse(def: &'static OpDef, text: &str) -> Result<Argument, String> {
        let operand = |name: &str| def.operands.iter().any(|o| o.name == name);
        let attribute = |name: &str| def.attrs.iter().any(|a| a.name == name);
        match text.strip_prefix('&') {
            Some(name) if operand(name) => Ok(Argument::Address(name.to_owned().into())),
            None if operand(text) || attribute(text) => Ok(Argument::Value(text.to_owned().into())),
            _ => Err(format!(
                "nvvm.{} has no operand or attribute '{text}'",
                def.name
            )),
        }
    }
}

impl Effect {
    /// Adds the row `OPERATION[CASE,…] : INSTRUCTION OPERAND, …`.
    pub(super) fn add(rows: &mut Rows<Effect>, line: Line) -> Result<(), String> {
        let text = line.text.clone();
        let (about, instruction) = text.split_once(" : ").ok_or("expected ' : '")?;
        let name = about.split('[').next().unwrap_or(about).trim();
        let cases = about.trim().strip_prefix(name).unwrap_or_default();
        let cases = match (cases.strip_prefix('['), cases.strip_suffix(']')) {
            (Some(cases), Some(_)) => &cases[..cases.len() - 1],
            _ => "",
        };
        let Some(kind) = Dialect::Nvvm.operation(name) else {
            return Err(format!("no operation 'nvvm.{name}'"));
        };
        let def = kind.def();
        let cases = cases.split(',').map(str::trim).filter(|c| !c.is_empty());
        let (insn, arguments) = instruction
            .trim()
            .split_once(char::is_whitespace)
            .unwrap_or((instruction.trim(), ""));
        let arguments = arguments
            .split(',')
            .map(str::trim)
            .filter(|a| !a.is_empty());
        for name in placeholders(insn) {
            let known = match name.strip_suffix(".len") {
                Some(operand) => def.operands.iter().any(|o| o.name == operand),
                None => def
                    .attrs
                    .iter()
                    .any(|a| a.name == name && cases_of(a.kind).is_some()),
            };
            if !known {
                return Err(format!("nvvm.{} has no '{name}' to spell", def.name));
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
