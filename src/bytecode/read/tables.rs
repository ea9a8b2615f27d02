//! Tables of byte strings: a count, start offsets, the data.

use crate::bytecode::Result;
use crate::bytecode::cursor::Cursor;
use crate::ir::{Module, Name};

/// A table of byte ranges, decoded on demand.
#[derive(Default)]
pub struct Blobs<'a> {
    items: Vec<Cursor<'a>>,
}

impl<'a> Blobs<'a> {
    /// Reads a table whose offsets are `width` (4 or 8) bytes each.
    pub fn read(mut payload: Cursor<'a>, width: usize, what: &str) -> Result<Self> {
        let n = payload.count(width, what)?;
        Self::read_counted(&mut payload, n, width, what)
    }

    /// The same with the count already read.
    pub fn read_counted(
        payload: &mut Cursor<'a>,
        n: usize,
        width: usize,
        what: &str,
    ) -> Result<Self> {
        if n == 0 {
            return Ok(Self::default());
        }
        payload.align(width)?;
        let mut starts = payload.split(n.saturating_mul(width))?;
        let start = |c: &mut Cursor| {
            if width == 8 {
                c.u64()
            } else {
                c.u32().map(u64::from)
            }
        };
        let total = payload.remaining() as u64;
        let mut from = start(&mut starts)?;
        let mut items = Vec::with_capacity(n);
        for i in 0..n {
            let to = if i + 1 < n {
                start(&mut starts)?
            } else {
                total
            };
            if to < from {
                return Err(starts.error(format!(
                    "invalid start indices of {what}: end ({to}) is less than start ({from}) for item {i}"
                )));
            }
            match payload.slice(from as usize, usize::try_from(to).unwrap_or(usize::MAX)) {
                Some(item) => items.push(item),
                None => {
                    return Err(starts.error(format!(
                        "item {i} of {what} extends beyond available data: start={from}, end={to}, total data size={total}"
                    )));
                }
            }
            from = to;
        }
        Ok(Self { items })
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// The bytes of item `i`, which the caller has checked to exist.
    pub fn get(&self, i: usize) -> Result<Cursor<'a>> {
        self.items
            .get(i)
            .cloned()
            .ok_or_else(|| crate::ir::Diagnostic::error(format!("index {i} out of bounds")))
    }
}

/// The string table, interned.
pub struct Strings {
    names: Vec<Name>,
}

impl Strings {
    pub fn read(payload: Cursor, module: &mut Module) -> Result<Self> {
        let blobs = Blobs::read(payload, 4, "strings")?;
        let mut names = Vec::with_capacity(blobs.len());
        for mut item in blobs.items {
            let error = item.error(format!("string {} is not valid UTF-8", names.len()));
            let text = std::str::from_utf8(item.rest()).map_err(|_| error)?;
            names.push(module.intern(text));
        }
        Ok(Self { names })
    }

    pub fn names(&self) -> &[Name] {
        &self.names
    }

    /// Reads an index and resolves it.
    pub fn read_ref(&self, cursor: &mut Cursor) -> Result<Name> {
        let index = cursor.varint()?;
        self.get(index, cursor)
    }

    /// String `index`, which `cursor` has just read.
    pub fn get(&self, index: u64, cursor: &Cursor) -> Result<Name> {
        usize::try_from(index)
            .ok()
            .and_then(|i| self.names.get(i).copied())
            .ok_or_else(|| cursor.error(format!("string index {index} out of bounds")))
    }
}
