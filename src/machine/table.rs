//! The instruction table `isel/ptx.insn`: its format is described at the top of that file.

mod row;

use std::borrow::Cow;
use std::sync::{Arc, RwLock};

use rustc_hash::FxHashMap;

use super::rows::{self, Read, Rows};
use crate::ir::Diagnostic;

pub use row::{Algebra, Does, Fold, Immediate, Piece, Role, Row, Slot, Unit, Width};

/// The table that is compiled in.
pub const BUILTIN: &str = include_str!("../../isel/ptx.insn");

/// An instruction: a row and the mnemonic that was asked for.
#[derive(Clone, Debug)]
pub struct Insn {
    pub mnemonic: Arc<str>,
    pub row: usize,
}

/// The rows, found by mnemonic.
#[derive(Debug, Default)]
pub struct Table {
    /// Named by their identifiers (several have one where their mnemonics need different targets)
    /// or, without one, by the first components of what their patterns stand for.
    rows: Rows<Row>,
    /// What names that were asked for stand for: comparing one with the patterns costs much more than looking it up.
    found: RwLock<FxHashMap<Box<str>, Option<Insn>>>,
}

/// The parts of a row's line.
struct Parts<'t> {
    /// Empty if it has none.
    id: &'t str,
    pattern: &'t str,
    rest: &'t str,
}

impl<'t> Parts<'t> {
    fn of(line: &'t str) -> Result<Self, &'static str> {
        let (id, line) = match line.strip_prefix('@') {
            Some(line) => line.split_once(' ').ok_or("nothing after the id")?,
            None => ("", line),
        };
        let line = line.trim_start();
        // By bytes: a search for characters takes several times as long, and this is most of reading the table.
        let end = line.bytes().position(|b| matches!(b, b' ' | b';'));
        let end = end.unwrap_or(line.len());
        let (pattern, rest) = line.split_at(end);
        Ok(Parts { id, pattern, rest })
    }
}

impl Table {
    /// The table that is compiled in. A row is read when it is found; a test reads all of them.
    pub fn builtin() -> Result<Self, Diagnostic> {
        Self::load(Cow::Borrowed(BUILTIN), Read::Late)
    }

    /// Parses a table, every row of it.
    ///
    /// # Errors
    /// The first row that is malformed, with its line.
    pub fn parse(text: impl Into<Cow<'static, str>>) -> Result<Self, Diagnostic> {
        Self::load(text.into(), Read::Now)
    }

    fn load(text: Cow<'static, str>, read: Read) -> Result<Self, Diagnostic> {
        let mut table = Table::default();
        table.rows.reserve(512, 512);
        for (number, line) in rows::lines(&text) {
            table.add(line, read).map_err(|what| {
                Diagnostic::error(format!("instruction table, line {number}: {what}"))
            })?;
        }
        Ok(table)
    }

    fn add(&mut self, line: Cow<'static, str>, read: Read) -> Result<(), String> {
        let text = line.clone();
        let Parts { id, pattern, .. } = Parts::of(&text)?;
        match id {
            "" => self.rows.add(line, heads(pattern), read, parse_row),
            id => self.rows.add(line, [id], read, parse_row),
        }
    }

    /// The row of an instruction that this table found.
    pub fn row(&self, insn: &Insn) -> &Row {
        let row = self.rows.read(insn.row, parse_row);
        row.expect("it was read when it was found")
    }

    /// Numbers and patterns of the rows, in the order of the table, whose identifier is `id` or,
    /// where that is empty, of which a mnemonic may begin with the component `head`.
    fn rows<'t>(
        &'t self,
        id: &'t str,
        head: &str,
    ) -> impl Iterator<Item = (usize, &'t str)> + use<'t> {
        let rows = self.rows.named(if id.is_empty() { head } else { id });
        let rows = rows.filter_map(move |(row, line)| {
            let parts = Parts::of(line).ok().filter(|parts| parts.id == id)?;
            Some((row, parts.pattern))
        });
        rows.filter(|&(row, _)| self.rows.read(row, parse_row).is_some())
    }

    /// The instruction called `name`: a mnemonic, or `@id` of a row without alternatives.
    pub fn find(&self, name: &str) -> Option<Insn> {
        if let Ok(found) = self.found.read()
            && let Some(known) = found.get(name)
        {
            return known.clone();
        }
        let insn = self.search(name);
        if let Ok(mut found) = self.found.write() {
            found.insert(name.into(), insn.clone());
        }
        insn
    }

    fn search(&self, name: &str) -> Option<Insn> {
        let (row, mnemonic) = match name.strip_prefix('@') {
            Some(id) => self.rows(id, "").next()?,
            None => {
                let head = name.split('.').next().unwrap_or(name);
                let mut rows = self.rows("", head);
                (rows.find(|(_, pattern)| matches(pattern, name))?.0, name)
            }
        };
        let mnemonic = mnemonic.into();
        Some(Insn { mnemonic, row })
    }

    /// The instruction `mnemonic` of the row `@id`.
    pub fn find_as(&self, id: &str, mnemonic: &str) -> Option<Insn> {
        let mut rows = self.rows(id, "");
        let (row, _) = rows.find(|(_, pattern)| matches(pattern, mnemonic))?;
        let mnemonic = mnemonic.into();
        Some(Insn { mnemonic, row })
    }
}

fn parse_row(line: &str) -> Result<Row, String> {
    row::parse(Parts::of(line)?.rest)
}

/// First components (up to the dot) of everything `pattern` can start with.
fn heads(pattern: &str) -> impl Iterator<Item = &str> {
    let alternatives = pattern.strip_prefix('(');
    let alternatives = alternatives.and_then(|rest| rest.split_once(')'));
    let (starts, count) = match alternatives {
        Some((alternatives, _)) => (alternatives, usize::MAX),
        None => (pattern, 1),
    };
    let head = |start| str::split(start, ['.', '(']).next().unwrap_or(start);
    starts.split('|').take(count).map(head)
}

/// Whether `name` is one of the mnemonics `pattern` stands for.
fn matches(pattern: &str, name: &str) -> bool {
    let Some(special) = pattern.find(['(', '#']) else {
        return pattern == name;
    };
    let Some(name) = name.strip_prefix(&pattern[..special]) else {
        return false;
    };
    let rest = &pattern[special + 1..];
    if pattern.as_bytes()[special] == b'#' {
        let digits = name.bytes().take_while(u8::is_ascii_digit).count();
        return digits > 0 && matches(rest, &name[digits..]);
    }
    let Some((alternatives, rest)) = rest.split_once(')') else {
        return false;
    };
    alternatives.split('|').any(|alternative| {
        name.strip_prefix(alternative)
            .is_some_and(|name| matches(rest, name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_parses() {
        let table = Table::parse(BUILTIN).unwrap();
        assert!(table.rows.len() > 100);
    }

    #[test]
    fn rows_that_are_read_late_are_the_same() {
        let (late, all) = (Table::builtin().unwrap(), Table::parse(BUILTIN).unwrap());
        assert_eq!(late.rows.len(), all.rows.len());
        for row in 0..all.rows.len() {
            let of = |table: &Table| format!("{:?}", table.rows.read(row, parse_row).unwrap());
            assert_eq!(of(&late), of(&all));
        }
    }

    #[test]
    fn rows_are_found_by_any_alternative() {
        let table = Table::parse(BUILTIN).unwrap();
        for name in [
            "add.s32",
            "add.rn.ftz.f32",
            "sub.rn.f32",
            "ld.global.nc.v4.b32",
            "atom.acq_rel.gpu.global.add.f32",
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes",
        ] {
            assert_eq!(&*table.find(name).expect(name).mnemonic, name);
        }
        for name in ["add.s33", "add", "add.rn.f32x", "", "("] {
            assert!(table.find(name).is_none(), "{name}");
        }
        let name = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16";
        assert!(table.find_as("wgmma.ss.16", name).is_some());
    }

    #[test]
    fn bad_rows_are_refused() {
        for bad in [
            "add.s32 r = r, r",
            "add r = r ; alu",
            "add r, r ; alu 4",
            "a r = r ; tpu 4",
        ] {
            assert!(Table::parse(bad).is_err(), "{bad}");
        }
    }
}
