//! Rows of tables, found by name, each read when it is asked for the first time.
//!
//! A kernel uses a tenth of the rows of each table, and reading a row costs much more than finding
//! out what it is about.

use std::borrow::Cow;
use std::hash::BuildHasher;
use std::sync::OnceLock;

use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

/// When rows are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Read {
    /// When they are added, so that what is wrong with them is known: tables from files.
    Now,
    /// When they are needed: tables that are compiled in, all of whose rows tests read.
    Late,
}

/// Rows that say a `T` each.
#[derive(Debug)]
pub struct Rows<T> {
    rows: Vec<Row<T>>,
    /// Rows by the hashes of their names.
    by_name: FxHashMap<u64, SmallVec<[u32; 4]>>,
}

#[derive(Debug)]
struct Row<T> {
    text: Cow<'static, str>,
    /// `None` inside if it is malformed. Boxed, so that rows that are not read take no room.
    value: OnceLock<Option<Box<T>>>,
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Rows {
            rows: Vec::new(),
            by_name: FxHashMap::default(),
        }
    }
}

impl<T> Rows<T> {
    /// Makes room for so many rows and names.
    pub fn reserve(&mut self, rows: usize, names: usize) {
        self.rows.reserve(rows);
        self.by_name.reserve(names);
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds a row that is found by `names`.
    ///
    /// # Errors
    /// If it is read now: what `parse` says is wrong with it.
    pub fn add<'n, E>(
        &mut self,
        text: Cow<'static, str>,
        names: impl IntoIterator<Item = &'n str>,
        read: Read,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<(), E> {
        let value = match read {
            Read::Now => OnceLock::from(Some(Box::new(parse(&text)?))),
            Read::Late => OnceLock::new(),
        };
        let number = self.rows.len();
        for name in names {
            let rows = self.by_name.entry(hash(name)).or_default();
            if rows.last() != Some(&(number as u32)) {
                rows.push(number as u32);
            }
        }
        self.rows.push(Row { text, value });
        Ok(())
    }

    /// Numbers and texts of rows that may have this name, in the order of the table: the text has
    /// to be asked, since two names can have one hash.
    pub fn named<'r>(&'r self, name: &str) -> impl Iterator<Item = (usize, &'r str)> + use<'r, T> {
        let rows = self.by_name.get(&hash(name)).into_iter().flatten();
        rows.filter_map(|&row| Some((row as usize, &*self.rows.get(row as usize)?.text)))
    }

    /// A row as it stands in its table.
    pub fn text(&self, row: usize) -> Option<&str> {
        Some(&*self.rows.get(row)?.text)
    }

    /// What a row says; `None` if there is no such row or it is malformed.
    pub fn read<E>(&self, row: usize, parse: impl FnOnce(&str) -> Result<T, E>) -> Option<&T> {
        let row = self.rows.get(row)?;
        let value = || parse(&row.text).ok().map(Box::new);
        row.value.get_or_init(value).as_deref()
    }
}

/// A part of a text; nothing is copied of one that is compiled in.
#[expect(
    clippy::ptr_arg,
    reason = "a slice of a text that is compiled in is one, too"
)]
pub fn part(text: &Cow<'static, str>, range: std::ops::Range<usize>) -> Cow<'static, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[range]),
        Cow::Owned(text) => Cow::Owned(text[range].to_owned()),
    }
}

/// Numbers, from one, and trimmed texts of the lines of a table that are neither empty nor comments.
#[expect(
    clippy::ptr_arg,
    reason = "a slice of a text that is compiled in is one, too"
)]
pub fn lines(text: &Cow<'static, str>) -> impl Iterator<Item = (usize, Cow<'static, str>)> {
    let mut start = 0;
    text.split('\n')
        .enumerate()
        .filter_map(move |(number, raw)| {
            let line = raw.trim();
            let from = start + (raw.len() - raw.trim_start().len());
            start += raw.len() + 1;
            let row = !line.is_empty() && !line.starts_with('#');
            row.then(|| (number + 1, part(text, from..from + line.len())))
        })
}

fn hash(name: &str) -> u64 {
    FxBuildHasher.hash_one(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_each_of_their_names_in_order() {
        let mut rows: Rows<String> = Rows::default();
        assert!(rows.is_empty());
        for (text, names) in [("first", &["a", "b", "a"][..]), ("second", &["b"])] {
            let names = names.iter().copied();
            rows.add(text.into(), names, Read::Late, str::parse)
                .unwrap();
        }
        let found = |name| rows.named(name).collect::<Vec<_>>();
        assert_eq!(found("a"), [(0, "first")]);
        assert_eq!(found("b"), [(0, "first"), (1, "second")]);
        assert!(found("c").is_empty());
    }

    #[test]
    fn a_row_is_read_once_and_what_is_malformed_is_none() {
        let mut rows: Rows<u32> = Rows::default();
        let mut add = |text: &'static str, read| rows.add(text.into(), [text], read, str::parse);
        add("7", Read::Late).unwrap();
        add("x", Read::Late).unwrap();
        assert!(add("y", Read::Now).is_err());
        assert_eq!(rows.read(0, str::parse), Some(&7));
        assert_eq!(rows.read(0, |_| Err("read again")), Some(&7));
        assert_eq!(rows.read(1, str::parse), None);
        assert_eq!((rows.len(), rows.read(2, str::parse)), (2, None));
    }

    #[test]
    fn lines_are_numbered_and_trimmed_and_comments_are_none() {
        for text in [
            Cow::Borrowed("# c\n\n  a b \r\n c"),
            Cow::Owned("# c\n\n  a b \r\n c".into()),
        ] {
            let found: Vec<_> = lines(&text).collect();
            assert_eq!(found, [(3, "a b".into()), (4, "c".into())]);
        }
    }
}
