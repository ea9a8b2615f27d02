//! The debug section: which debug attribute each operation has, and the attributes.
//!
//! Entry `i` of the file's table becomes [`LocId`] `i + 1`, the number by which the file itself
//! refers to it (0 is the unknown location). Entries are decoded without following references;
//! kinds and cycles are checked once all are known, so that no input makes the reader recurse.

use super::{Reader, tables::Blobs};
use crate::bytecode::cursor::Cursor;
use crate::bytecode::{Context, Result};
use crate::dialect::Version;
use crate::ir::{DebugAttr, Diagnostic, LocId};

/// Locations of operations, per function: the function's own, then one per operation, in order.
#[derive(Default)]
pub struct Debug<'a> {
    starts: Vec<u32>,
    indices: Option<Cursor<'a>>,
    entries: u64,
}

/// Hands out the locations of one function.
pub struct LocIter<'a> {
    /// `None`: the function has no debug info, every location is unknown.
    indices: Option<Cursor<'a>>,
    entries: u64,
}

impl<'a> Debug<'a> {
    /// The locations of the function whose entry says `index`.
    pub fn function(&self, index: u64, c: &Cursor) -> Result<LocIter<'a>> {
        let entries = self.entries;
        if index == 0 {
            return Ok(LocIter {
                indices: None,
                entries,
            });
        }
        let start = usize::try_from(index - 1)
            .ok()
            .and_then(|i| self.starts.get(i));
        let rest = start
            .zip(self.indices.as_ref())
            .and_then(|(&start, indices)| {
                let from = (start as usize).checked_mul(8)?;
                indices.slice(from, indices.remaining())
            });
        match rest {
            Some(rest) => Ok(LocIter {
                indices: Some(rest),
                entries,
            }),
            None => Err(c.error(format!("function location index {index} out of bounds"))),
        }
    }
}

impl LocIter<'_> {
    pub fn next(&mut self, c: &Cursor) -> Result<LocId> {
        let Some(indices) = &mut self.indices else {
            return Ok(LocId::UNKNOWN);
        };
        let failed = |e: Diagnostic| e.note("failed to read operation location.");
        let index = indices
            .u64()
            .map_err(|_| failed(c.error("fewer debug info indices than operations")))?;
        if index > self.entries {
            return Err(failed(
                indices.error(format!("debug info index {index} out of bounds")),
            ));
        }
        Ok(LocId(index as u32))
    }
}

impl<'a> Reader<'a> {
    pub fn debug_section(&mut self, mut c: Cursor<'a>) -> Result<()> {
        let functions = c.count(4, "operations with debug info")?;
        c.align(4)?;
        let mut starts = c.split(functions.saturating_mul(4))?;
        let starts = (0..functions)
            .map(|_| starts.u32())
            .collect::<Result<_>>()?;
        let indices = c.count(8, "debug info indices")?;
        c.align(8)?;
        let indices = c.split(indices.saturating_mul(8))?;
        let n = c.count(4, "debug info attributes")?;
        let blobs = Blobs::read_counted(&mut c, n, 4, "debug info attributes")?;
        let mut references = Vec::with_capacity(n);
        for i in 0..n {
            let mut item = blobs.get(i)?;
            let at = item.clone();
            let attr = self.debug_attr(&mut item)?;
            if u32::try_from(i + 1).is_err() {
                return Err(item.error("too many debug info attributes"));
            }
            self.module.locs.push(attr);
            references.push(at);
        }
        for (i, at) in references.iter().enumerate() {
            self.check_references(LocId(i as u32 + 1), at)?;
        }
        self.check_cycles(&references)?;
        self.debug = Debug {
            starts,
            indices: Some(indices),
            entries: n as u64,
        };
        Ok(())
    }

    fn debug_attr(&mut self, c: &mut Cursor) -> Result<DebugAttr> {
        let tag = c.varint().context(|| "failed to read kind tag".into())?;
        match tag {
            0 => Ok(DebugAttr::Unknown),
            1 => Ok(DebugAttr::CompileUnit {
                file: loc(c, "file attribute", "DICompileUnitAttr")?,
            }),
            2 => Ok(DebugAttr::File {
                name: self.debug_str(c, "file name attribute", "DIFileAttr")?,
                directory: self.debug_str(c, "directory attribute", "DIFileAttr")?,
            }),
            3 => Ok(DebugAttr::LexicalBlock {
                scope: loc(c, "scope attribute", "DILexicalBlockAttr")?,
                file: loc(c, "file attribute", "DILexicalBlockAttr")?,
                line: number(c, "line number", "DILexicalBlockAttr")?,
                column: number(c, "column number", "DILexicalBlockAttr")?,
            }),
            4 => Ok(DebugAttr::Loc {
                scope: loc(c, "scope attribute", "DILocAttr")?,
                file: self.debug_str(c, "file name attribute", "FileLineColLoc")?,
                line: number(c, "line number", "FileLineColLoc")?,
                column: number(c, "column number", "FileLineColLoc")?,
            }),
            5 => self.subprogram(c),
            6 => Ok(DebugAttr::CallSite {
                callee: loc(c, "callee attribute", "CallSiteLoc")?,
                caller: loc(c, "caller attribute", "CallSiteLoc")?,
            }),
            _ => Err(c.error(format!("unsupported DebugTag {tag}"))),
        }
    }

    fn subprogram(&mut self, c: &mut Cursor) -> Result<DebugAttr> {
        const ATTR: &str = "DISubprogramAttr";
        let attr = DebugAttr::Subprogram {
            file: loc(c, "file attribute", ATTR)?,
            line: number(c, "line number", ATTR)?,
            name: self.debug_str(c, "name attribute", ATTR)?,
            linkage_name: self.debug_str(c, "linkage name attribute", ATTR)?,
            unit: loc(c, "compile unit attribute", ATTR)?,
            scope_line: number(c, "scope line number", ATTR)?,
            ty: None,
        };
        if self.version >= Version::V13_5 {
            let flags = c.varint().context(|| failed("flags", ATTR))?;
            if flags != 0 {
                return Err(c.error(format!("unknown flags {flags:#x} of DISubprogramAttr")));
            }
        }
        Ok(attr)
    }

    pub(super) fn debug_str(
        &self,
        c: &mut Cursor,
        what: &str,
        attr: &str,
    ) -> Result<crate::ir::Name> {
        self.strings.read_ref(c).map_err(|e| fail(e, what, attr))
    }

    /// Each reference must name an entry of the kind its place asks for.
    pub(super) fn check_references(&self, id: LocId, at: &Cursor) -> Result<()> {
        use DebugAttr::*;
        let get = |r: LocId| self.module.locs.get(r);
        let exists = |r: LocId| (r.0 as usize) < self.module.locs.len();
        let file = |r: &LocId| exists(*r) && matches!(get(*r), File { .. });
        let unit = |r: &LocId| exists(*r) && matches!(get(*r), CompileUnit { .. });
        let scope =
            |r: &LocId| exists(*r) && matches!(get(*r), LexicalBlock { .. } | Subprogram { .. });
        let location =
            |r: &LocId| exists(*r) && matches!(get(*r), Unknown | Loc { .. } | CallSite { .. });
        let wrong = match get(id) {
            CompileUnit { file: f } if !file(f) => ("file attribute", "DICompileUnitAttr"),
            LexicalBlock { scope: s, .. } if !scope(s) => ("scope attribute", "DILexicalBlockAttr"),
            LexicalBlock { file: f, .. } if !file(f) => ("file attribute", "DILexicalBlockAttr"),
            Loc { scope: s, .. } if !scope(s) => ("scope attribute", "DILocAttr"),
            Subprogram { file: f, .. } if !file(f) => ("file attribute", "DISubprogramAttr"),
            Subprogram { unit: u, .. } if !unit(u) => {
                ("compile unit attribute", "DISubprogramAttr")
            }
            CallSite { callee: l, .. } if !location(l) => ("callee attribute", "CallSiteLoc"),
            CallSite { caller: l, .. } if !location(l) => ("caller attribute", "CallSiteLoc"),
            _ => return Ok(()),
        };
        Err(at.error(failed(wrong.0, wrong.1)))
    }

    /// Scopes and call sites must not lead back to themselves.
    pub(super) fn check_cycles(&self, places: &[Cursor]) -> Result<()> {
        const NEW: u8 = 0;
        const OPEN: u8 = 1;
        const DONE: u8 = 2;
        let mut state = vec![NEW; self.module.locs.len()];
        let mut stack = Vec::new();
        for root in 1..state.len() {
            stack.push((root, 0));
            while let Some((id, child)) = stack.pop() {
                if child == 0 {
                    match state[id] {
                        DONE => continue,
                        _ => state[id] = OPEN,
                    }
                }
                let Some(next) = references(self.module.locs.get(LocId(id as u32))).nth(child)
                else {
                    state[id] = DONE;
                    continue;
                };
                stack.push((id, child + 1));
                match state[next.0 as usize] {
                    NEW => stack.push((next.0 as usize, 0)),
                    OPEN if next != LocId::UNKNOWN => {
                        let message =
                            format!("cyclic debug attribute reference at index {}", next.0 - 1);
                        return Err(places[next.0 as usize - 1].error(message));
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

/// The entries that an entry of kinds that can form cycles refers to.
fn references(attr: &DebugAttr) -> impl Iterator<Item = LocId> {
    let pair = match *attr {
        DebugAttr::LexicalBlock { scope, .. } | DebugAttr::Loc { scope, .. } => [Some(scope), None],
        DebugAttr::CallSite { callee, caller } => [Some(callee), Some(caller)],
        _ => [None, None],
    };
    pair.into_iter().flatten()
}

fn failed(what: &str, attr: &str) -> String {
    format!("failed to read {what} when parsing {attr}")
}

pub(super) fn fail(mut error: Diagnostic, what: &str, attr: &str) -> Diagnostic {
    let old = std::mem::replace(&mut error.message, failed(what, attr));
    error.notes.insert(0, old);
    error
}

fn loc(c: &mut Cursor, what: &str, attr: &str) -> Result<LocId> {
    number(c, what, attr).map(LocId)
}

pub(super) fn number(c: &mut Cursor, what: &str, attr: &str) -> Result<u32> {
    let value = c.varint().map_err(|e| fail(e, what, attr))?;
    u32::try_from(value).map_err(|_| fail(c.error(format!("{value} is too large")), what, attr))
}
