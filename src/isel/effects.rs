//! Operations that are one instruction without results: what their rows say of an operation.

use super::build::{Fail, fail};
use super::table::Patterns;
use super::table::effect::{Condition, Effect, Test, cases_of, placeholders};
use crate::facts::access::group;
use crate::ir::{Attr, Op};

impl Patterns {
    /// The rows that are about an operation, in the order of the table.
    pub(super) fn effects_of(&self, op: &Op) -> impl Iterator<Item = &Effect> {
        let rows = self.effects.named(op.def().name).map(|(_, row)| row);
        rows.filter(|row| row.conditions.iter().all(|c| c.holds(op)))
    }
}

impl Condition {
    fn holds(&self, op: &Op) -> bool {
        self.test.holds(op) != self.not
    }
}

impl Test {
    fn holds(&self, op: &Op) -> bool {
        match self {
            Test::Equals(name, number) => {
                matches!(op.attr_named(name), Some(Attr::Int { value, .. }) if value == number)
            }
            Test::Case(case) => match op.attr_named(case) {
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

impl Effect {
    /// The mnemonic for an operation.
    pub(super) fn mnemonic(&self, op: &Op) -> Result<String, Fail> {
        let mut name = self.insn.clone().into_owned();
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
    use crate::isel::Tables;
    use crate::isel::table::effect::Test;

    #[test]
    fn every_instruction_of_the_shipped_rows_exists() {
        let tables = Tables::load(None).expect("the tables");
        let rows = &tables.patterns.effects.rows;
        assert!(rows.len() > 30, "{rows:?}");
        for row in rows.iter() {
            // A number of coordinates, and the field of a tensor map where the row is not for one.
            let field = match row.conditions.first().map(|c| &c.test) {
                Some(Test::Case(case)) => case,
                _ => "rank",
            };
            let name = row.insn.replace("{coords.len}", "2");
            let name = name.replace("{field}", field);
            assert!(tables.insns.find(&name).is_some(), "{name}");
        }
    }
}
