//! Rows of tables, found by name.
//!
//! The build script reads the tables that are compiled in, with this source, and writes them down as constants of the
//! program: no compilation reads a row. Tables from files are read when they are loaded.

use serde::Serialize;

pub use crate::egraph::rule::{Items, Text};
use crate::ir::Diagnostic;

/// Rows that say a `T` each.
#[derive(Clone, Debug, Serialize)]
pub struct Rows<T: Clone + 'static> {
    pub rows: Items<T>,
    /// The numbers of the rows of each name, by name.
    pub names: Items<(Text, Items<u32>)>,
}

impl<T: Clone + 'static> Default for Rows<T> {
    fn default() -> Self {
        Rows {
            rows: Items::default(),
            names: Items::default(),
        }
    }
}

impl<T: Clone + 'static> Rows<T> {
    /// Adds a row that is found by `names`.
    pub fn add<'n>(&mut self, names: impl IntoIterator<Item = &'n str>, row: T) {
        let number = self.rows.len() as u32;
        self.rows.to_mut().push(row);
        for name in names {
            let all = self.names.to_mut();
            let at = all.binary_search_by(|known| (*known.0).cmp(name));
            let at = at.unwrap_or_else(|at| {
                all.insert(at, (name.to_owned().into(), Items::default()));
                at
            });
            let of = &mut all[at].1;
            if of.last() != Some(&number) {
                of.to_mut().push(number);
            }
        }
    }

    /// The rows of a name and their numbers, in the order of the table.
    pub fn named(&self, name: &str) -> impl Iterator<Item = (usize, &T)> {
        let at = self.names.binary_search_by(|known| (*known.0).cmp(name));
        let of = at.ok().map_or(&[][..], |at| &self.names[at].1);
        of.iter()
            .filter_map(|&row| Some((row as usize, self.rows.get(row as usize)?)))
    }
}

/// What is wrong in a row, and with which part of its text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistake<'t> {
    pub at: &'t str,
    pub message: String,
}

/// The mistake `message` about `at`.
pub fn wrong<T>(at: &str, message: impl Into<String>) -> Result<T, Mistake<'_>> {
    let message = message.into();
    Err(Mistake { at, message })
}

/// What `names` calls `word`; `what` says in the error what it should be.
pub fn named<'t, T: Copy>(
    names: &[(&str, T)],
    word: &'t str,
    what: &str,
) -> Result<T, Mistake<'t>> {
    if let Some(&(_, found)) = names.iter().find(|(name, _)| *name == word) {
        return Ok(found);
    }
    let expected: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
    let expected = expected.join(", ");
    wrong(word, format!("'{word}' is no {what}: expected {expected}"))
}

impl Mistake<'_> {
    /// The mistake where it is in `text`, the whole file.
    pub fn shown(self, text: &str, file: &str) -> Diagnostic {
        // `at` is a part of `text`, so that the distance of their starts is its place.
        let at = (self.at.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        Diagnostic::error_in(text, file, at.min(text.len()), self.message)
    }
}

/// Numbers, from one, and trimmed texts of the lines of a table that are neither empty nor comments.
pub fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().map(str::trim).enumerate();
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines.map(|(number, line)| (number + 1, line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_each_of_their_names_in_order() {
        let mut rows: Rows<&str> = Rows::default();
        rows.add(["b", "a", "b"], "first");
        rows.add(["b"], "second");
        let found = |name| rows.named(name).collect::<Vec<_>>();
        assert_eq!(found("a"), [(0, &"first")]);
        assert_eq!(found("b"), [(0, &"first"), (1, &"second")]);
        assert!(found("c").is_empty());
    }

    #[test]
    fn lines_are_numbered_and_trimmed_and_comments_are_none() {
        let found: Vec<_> = lines("# c\n\n  a b \r\n c").collect();
        assert_eq!(found, [(3, "a b"), (4, "c")]);
    }
}
