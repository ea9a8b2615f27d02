//! Operations that are one instruction without results: the rows of `isel/select/*.sel` that have no types.
//! `docs/selection.md` describes their format.

use std::borrow::Cow;

use super::build::{Fail, fail};
use crate::dialect::{AttrKind, Dialect, OpDef};
use crate::facts::access::group;
use crate::ir::{Attr, Op};
use crate::machine::rows::{Read, Rows};

/// What an operation's attributes must be for a row to be about it.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Condition {
    /// An enumeration has this case, or a flag of this name is set.
    Case(String),
    Equals(String, i64),
    Not(Box<Condition>),
}

/// An operand of an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Argument {
    /// All values of an operand, or an integer attribute.
    Value(String),
    /// The address that an operand is.
    Address(String),
}

/// A row.
#[derive(Clone, Debug)]
pub struct Effect {
    conditions: Vec<Condition>,
    /// A mnemonic; it may have `{…}` in it.
    insn: String,
    pub arguments: Vec<Argument>,
}

/// The rows, by the names of their operations.
#[derive(Debug, Default)]
pub struct Effects {
    rows: Rows<Effect>,
}

impl Effects {
    /// Adds the row `OPERATION : INSTRUCTION`.
    pub fn add(&mut self, line: Cow<'static, str>, read: Read) -> Result<(), String> {
        let text = line.clone();
        self.rows.add(line, [operation(&text)], read, Effect::parse)
    }

    /// The rows that are about an operation, in the order of the table.
    pub fn of(&self, op: &Op) -> impl Iterator<Item = &Effect> {
        let rows = self.rows.named(op.def().name);
        let rows = rows.filter(|(_, text)| operation(text) == op.def().name);
        let rows = rows.filter_map(|(row, _)| self.rows.read(row, Effect::parse));
        rows.filter(|row| row.conditions.iter().all(|c| c.holds(op)))
    }

    /// A row as it stands in its table.
    pub fn text(&self, row: usize) -> Option<&str> {
        self.rows.text(row)
    }

    /// The mnemonics of all rows, with what they may spell.
    #[cfg(test)]
    pub fn mnemonics(&self) -> impl Iterator<Item = &str> {
        let row = |row| self.rows.read(row, Effect::parse).expect("a row");
        (0..self.rows.len()).map(move |r| row(r).insn.as_str())
    }
}

/// The name of a row's operation.
fn operation(line: &str) -> &str {
    line.split(['[', ' ']).next().unwrap_or(line)
}

/// The cases of an enumeration.
fn cases_of(kind: AttrKind) -> Option<&'static [&'static str]> {
    match kind {
        AttrKind::Enum(def) => Some(def.cases),
        _ => None,
    }
}

/// The names between braces.
fn placeholders(insn: &str) -> impl Iterator<Item = &str> {
    insn.split('{')
        .skip(1)
        .filter_map(|part| part.split('}').next())
}

impl Condition {
    fn parse(def: &'static OpDef, text: &str) -> Result<Condition, String> {
        if let Some(text) = text.strip_prefix('!') {
            return Ok(Condition::Not(Box::new(Self::parse(def, text)?)));
        }
        if let Some((name, number)) = text.split_once('=') {
            let number = number
                .parse()
                .map_err(|_| format!("'{number}' is no number"))?;
            return match def.attrs.iter().any(|a| a.name == name) {
                true => Ok(Condition::Equals(name.to_owned(), number)),
                false => Err(format!("nvvm.{} has no attribute '{name}'", def.name)),
            };
        }
        let mut attrs = def.attrs.iter();
        let known = attrs.any(|a| match a.kind {
            AttrKind::Unit | AttrKind::Bool => a.name == text,
            kind => cases_of(kind).is_some_and(|cases| cases.contains(&text)),
        });
        match known {
            true => Ok(Condition::Case(text.to_owned())),
            false => Err(format!("nvvm.{} has no case '{text}'", def.name)),
        }
    }

    fn holds(&self, op: &Op) -> bool {
        match self {
            Condition::Not(other) => !other.holds(op),
            Condition::Equals(name, number) => {
                matches!(op.attr_named(name), Some(Attr::Int { value, .. }) if value == number)
            }
            Condition::Case(case) => match op.attr_named(case) {
                Some(Attr::Unit | Attr::Bool(true)) => true,
                Some(Attr::Bool(false)) => false,
                _ => op
                    .def()
                    .attrs
                    .iter()
                    .any(|a| spelled(op, a.name) == Some(case)),
            },
        }
    }
}

/// The case of an enumeration, as the dialect writes it.
fn spelled<'a>(op: &Op, attribute: &str) -> Option<&'a str> {
    let attr = op.def().attrs.iter().find(|a| a.name == attribute)?;
    let case = usize::from(op.enum_named(attribute)?);
    cases_of(attr.kind)?.get(case).copied()
}

impl Argument {
    fn parse(def: &'static OpDef, text: &str) -> Result<Argument, String> {
        let operand = |name: &str| def.operands.iter().any(|o| o.name == name);
        let attribute = |name: &str| def.attrs.iter().any(|a| a.name == name);
        match text.strip_prefix('&') {
            Some(name) if operand(name) => Ok(Argument::Address(name.to_owned())),
            None if operand(text) || attribute(text) => Ok(Argument::Value(text.to_owned())),
            _ => Err(format!(
                "nvvm.{} has no operand or attribute '{text}'",
                def.name
            )),
        }
    }
}

impl Effect {
    /// Reads `OPERATION[CASE,…] : INSTRUCTION OPERAND, …`.
    fn parse(line: &str) -> Result<Effect, String> {
        let (about, instruction) = line.split_once(" : ").ok_or("expected ' : '")?;
        let name = operation(line);
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
        Ok(Effect {
            conditions: cases
                .map(|c| Condition::parse(def, c))
                .collect::<Result<_, _>>()?,
            insn: insn.to_owned(),
            arguments: arguments
                .map(|a| Argument::parse(def, a))
                .collect::<Result<_, _>>()?,
        })
    }

    /// The mnemonic for an operation.
    pub fn mnemonic(&self, op: &Op) -> Result<String, Fail> {
        let mut name = self.insn.clone();
        for what in placeholders(&self.insn) {
            let text = match what.strip_suffix(".len") {
                Some(operand) => group(op, operand).len().to_string(),
                None => match spelled(op, what) {
                    Some(case) => case.to_owned(),
                    None => return fail(format!("attribute '{what}' is missing")),
                },
            };
            name = name.replace(&format!("{{{what}}}"), &text);
        }
        Ok(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isel::Tables;

    #[test]
    fn every_instruction_of_the_shipped_rows_exists() {
        let tables = Tables::load(None).expect("the tables");
        let names: Vec<&str> = tables.patterns.effects.mnemonics().collect();
        assert!(names.len() > 30, "{names:?}");
        for name in names {
            // A number of coordinates.
            let name = name.replace("{coords.len}", "2");
            assert!(tables.insns.find(&name).is_some(), "{name}");
        }
    }

    #[test]
    fn wrong_rows_are_refused() {
        let rows = [
            ("trip", "trap", "no operation 'nvvm.trip'"),
            ("fence[moon]", "trap", "no case 'moon'"),
            ("bar[threads=few]", "bar.sync id", "'few' is no number"),
            ("bar[thread=0]", "bar.sync id", "no attribute 'thread'"),
            ("bar", "bar.sync it", "no operand or attribute 'it'"),
            (
                "mbarrier.init",
                "mbarrier.init.shared::cta.b64 &count",
                "no operand or attribute '&count'",
            ),
            ("fence", "fence.{knd}", "no 'knd' to spell"),
        ];
        for (operation, instruction, why) in rows {
            let row = format!("{operation} : {instruction}");
            let error = Effects::default().add(row.into(), Read::Now);
            let error = error.expect_err(operation);
            assert!(error.contains(why), "{operation} : {instruction}: {error}");
        }
    }
}
