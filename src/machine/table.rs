//! The instruction table `isel/ptx.insn`: its format is described at the top of that file.

mod builtin;
mod row;

use std::sync::{Arc, RwLock};

use rustc_hash::FxHashMap;

use super::rows::Rows;
use crate::ir::Diagnostic;
use crate::target::{PtxVersion, Suffix, Target};

pub use row::{Algebra, Does, Fold, Immediate, Piece, Role, Row, Slot, Unit, Width};

/// The text of the table that is compiled in.
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
    rows: Rows<Row>,
    /// What names that were asked for stand for: comparing one with the patterns costs much more than looking it up.
    found: RwLock<FxHashMap<Box<str>, Option<Insn>>>,
}

impl Row {
    /// Whether `target` has the instruction.
    pub fn available_on(&self, target: Target) -> bool {
        target.sm >= self.sm
            && (!self.own_features || target.suffix != Suffix::None)
            && self.feature.is_none_or(|f| target.has(f))
    }

    /// The lowest PTX ISA version that has the instruction.
    pub fn ptx_version(&self) -> PtxVersion {
        self.ptx
    }
}

impl Table {
    /// The table that is compiled in.
    pub fn builtin() -> Self {
        builtin::INSTRUCTIONS.clone().into()
    }

    /// Parses a table; `file` is its name in messages.
    ///
    /// # Errors
    /// The first row that is malformed, where it is.
    pub fn parse(text: &str, file: &str) -> Result<Self, Diagnostic> {
        Ok(row::read(text, file)?.into())
    }

    /// How many rows it has.
    #[expect(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.rows.rows.len()
    }

    /// The rows that have an identifier, with it (`@ID`).
    pub fn identifiers(&self) -> impl Iterator<Item = (&str, &Row)> {
        let names = self
            .rows
            .names
            .iter()
            .filter(|(name, _)| name.starts_with('@'));
        names.flat_map(|(name, _)| self.rows.named(name).map(move |(_, row)| (&**name, row)))
    }

    /// The row of an instruction that this table found.
    pub fn row(&self, insn: &Insn) -> &Row {
        &self.rows.rows[insn.row]
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
        let (row, mnemonic) = match name.starts_with('@') {
            true => {
                let (number, row) = self.rows.named(name).next()?;
                (number, &*row.pattern)
            }
            false => {
                let head = name.split('.').next().unwrap_or(name);
                let mut rows = self.rows.named(head);
                let (number, _) = rows.find(|(_, row)| matches(&row.pattern, name))?;
                (number, name)
            }
        };
        let mnemonic = mnemonic.into();
        Some(Insn { mnemonic, row })
    }

    /// The instruction `mnemonic` of the row `@id`.
    pub fn find_as(&self, id: &str, mnemonic: &str) -> Option<Insn> {
        let name = format!("@{id}");
        let mut rows = self.rows.named(&name);
        let (row, _) = rows.find(|(_, row)| matches(&row.pattern, mnemonic))?;
        let mnemonic = mnemonic.into();
        Some(Insn { mnemonic, row })
    }
}

impl From<Rows<Row>> for Table {
    fn from(rows: Rows<Row>) -> Self {
        Table {
            rows,
            ..Table::default()
        }
    }
}

/// Whether `name` is one of the mnemonics `pattern` stands for.
fn matches(pattern: &str, name: &str) -> bool {
    bytes_match(pattern.as_bytes(), name.as_bytes())
}

/// The same for texts of ASCII. Most patterns fail at a letter before their first alternatives.
fn bytes_match(mut pattern: &[u8], mut name: &[u8]) -> bool {
    loop {
        match (pattern, name) {
            ([b'(', rest @ ..], _) => {
                let Some(end) = rest.iter().position(|&b| b == b')') else {
                    return false;
                };
                let behind = &rest[end + 1..];
                let mut alternatives = rest[..end].split(|&b| b == b'|');
                return alternatives.any(|alternative| {
                    name.strip_prefix(alternative)
                        .is_some_and(|name| bytes_match(behind, name))
                });
            }
            ([b'#', rest @ ..], _) => {
                let digits = name.iter().take_while(|b| b.is_ascii_digit()).count();
                if digits == 0 {
                    return false;
                }
                (pattern, name) = (rest, &name[digits..]);
            }
            ([a, behind @ ..], [b, rest @ ..]) if a == b => (pattern, name) = (behind, rest),
            _ => return pattern.is_empty() && name.is_empty(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compiled_in_rows_are_those_of_the_file() {
        let read = row::read(BUILTIN, "ptx.insn").unwrap();
        assert!(read.rows.len() > 100);
        let of = |rows: &Rows<Row>| format!("{rows:?}");
        assert_eq!(of(&read), of(&builtin::INSTRUCTIONS));
    }

    #[test]
    fn rows_are_found_by_any_alternative() {
        let table = Table::parse(BUILTIN, "ptx.insn").unwrap();
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
        let units = "alu, fma, f64, xu, cvt, mem, sync, mma, ctrl";
        for (bad, column, why) in [
            ("add.s32 r = r, r", 1, "no ';' before the unit: expected "),
            ("@add.one", 1, "nothing behind the name: expected "),
            ("add r = r ; alu", 12, "no unit or no cost: expected "),
            ("add r, r ; alu 4", 5, "neither '=' behind results nor "),
            (
                "a r = r ; tpu 4",
                11,
                &format!("'tpu' is no unit: expected {units}"),
            ),
            ("a r = r ; alu four", 15, "'four' is no number"),
            ("a r = r ; alu 4 sn80", 17, "unknown fact 'sn80': expected "),
            ("a r = r ; alu 4 sm8x", 19, "'8x' is no number"),
            (
                "a r = r ; alu 4 ptx8",
                20,
                "'8' is no version: expected ptxM.N",
            ),
            ("a r = r ; alu 4 lanes=", 23, "'' is no number"),
            (
                "a r = r ; alu 4 does=it",
                22,
                "'it' is no answer to what it does: expected ",
            ),
            (
                "a r = r ; alu 4 fold=up",
                22,
                "'up' is no way to fold: expected not, ",
            ),
            (
                "a r = r ; alu 4 feature=x",
                25,
                "'x' is no feature: expected cp-async, ",
            ),
        ] {
            let text = format!("# instructions\n{bad}\n");
            let error = Table::parse(&text, "t.insn").expect_err(bad).to_string();
            assert!(
                error.starts_with(&format!("t.insn:2:{column}: error: {why}")),
                "{error}"
            );
            let caret = format!("  note: {bad}\n        {:>column$}", '^');
            assert!(error.ends_with(&caret), "{error}");
        }
    }
}
