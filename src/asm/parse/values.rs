//! Uses of values, and names of results.

use super::cursor::Result;
use super::state::Parser;
use crate::ir::ValueId;

impl<'t> Parser<'t> {
    /// Gives results their names.
    pub fn define_results(
        &mut self,
        at: usize,
        names: &[(&'t str, Option<usize>)],
        results: &[ValueId],
    ) -> Result<()> {
        if names.is_empty() {
            return Ok(());
        }
        let total: usize = names.iter().map(|n| n.1.unwrap_or(1)).sum();
        if total != results.len() {
            let message = match results.len() {
                0 => "cannot name an operation with no results".into(),
                n => format!("operation defines {n} results but was provided {total} to bind"),
            };
            return Err(self.c.error_at(at, message));
        }
        let mut rest = results;
        for &(name, count) in names {
            let (own, other) = rest.split_at(count.unwrap_or(1));
            self.scope.define(name, own);
            rest = other;
        }
        Ok(())
    }

    /// The name of a value that can be seen, for errors.
    pub fn name_of(&self, value: ValueId) -> String {
        let uses = |(name, values): (&str, &[ValueId])| {
            let at = values.iter().position(|v| *v == value)?;
            Some(match values.len() {
                1 => format!("%{name}"),
                _ => format!("%{name}#{at}"),
            })
        };
        // One value may have several names: the first of them, whatever order the table has.
        let names = self.scope.names().filter_map(uses);
        names.min().unwrap_or_else(|| "%?".into())
    }

    /// A use of a value.
    pub fn value(&mut self) -> Result<ValueId> {
        let at = self.c.offset();
        let name = self.c.value_name()?;
        let number = self.c.result_number()?;
        let Some(values) = self.scope.get(name) else {
            return Err(self
                .c
                .error_at(at, format!("use of undeclared SSA value name '%{name}'")));
        };
        match (values, number) {
            // Of several results, a name alone is the first.
            ([first, ..], None) => Ok(*first),
            (all, Some(n)) if n < all.len() => Ok(all[n]),
            (all, _) => {
                let message = format!("'%{name}' names {} results", all.len());
                Err(self.c.error_at(at, message))
            }
        }
    }

    /// Values with commas between, maybe none.
    pub fn value_list(&mut self) -> Result<Vec<ValueId>> {
        let mut values = Vec::new();
        if self.c.peek("%") {
            values.push(self.value()?);
            while self.c.eat(",") {
                values.push(self.value()?);
            }
        }
        Ok(values)
    }
}
