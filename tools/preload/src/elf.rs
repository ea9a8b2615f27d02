//! Names and addresses of functions in the file of a program.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// A function by its symbol.
pub struct Function {
    /// Its symbol.
    pub name: Vec<u8>,
    /// Its address in the file's own numbering.
    pub address: u64,
    /// Its bytes.
    pub size: u64,
}

/// A table of symbols and the names in it.
pub struct Symbols {
    /// The address in the file's own numbering where the program starts.
    pub entry: u64,
    symbols: Vec<u8>,
    names: Vec<u8>,
}

/// More than a table of symbols has; a file that says more is no program.
const LARGEST: u64 = 1 << 31;
/// Sizes of a section's header and of a symbol, in bytes.
const SECTION: usize = 64;
const SYMBOL: usize = 24;
/// `SHT_SYMTAB`, `STT_FUNC`
const TABLE: u32 = 2;
const FUNCTION: u8 = 2;

impl Symbols {
    /// The symbols of a 64-bit little-endian ELF file. None if it is something else, was stripped, or has no symbol of this
    /// name.
    ///
    /// # Errors
    /// The file cannot be read, or ends too early.
    pub fn with(file: &File, name: &[u8]) -> io::Result<Option<Self>> {
        let head = part(file, 0, 64)?;
        if head.get(..6) != Some(b"\x7fELF\x02\x01") {
            return Ok(None);
        }
        let field = |at| number(&head, at, 8);
        let (entry, sections) = (field(0x18), field(0x28));
        let count = number(&head, 0x3c, 2);
        let sections = part(file, sections, count * SECTION as u64)?;
        let header = |i: usize| sections.chunks_exact(SECTION).nth(i);
        let is_table = |s: &&[u8]| number(s, 4, 4) == u64::from(TABLE);
        let Some(table) = sections.chunks_exact(SECTION).find(is_table) else {
            return Ok(None);
        };
        let Some(names) = header(number(table, 0x28, 4) as usize) else {
            return Ok(None);
        };
        let content = |s: &[u8]| part(file, number(s, 0x18, 8), number(s, 0x20, 8));
        let names = content(names)?;
        if !names.split(|&b| b == 0).any(|n| n == name) {
            return Ok(None);
        }
        Ok(Some(Self {
            entry,
            names,
            symbols: content(table)?,
        }))
    }

    /// Whether some symbol may have this name.
    pub fn has(&self, name: &[u8]) -> bool {
        self.names.split(|&b| b == 0).any(|n| n == name)
    }

    /// The functions that the file defines.
    pub fn functions(&self) -> impl Iterator<Item = Function> {
        let symbols = self.symbols.chunks_exact(SYMBOL);
        symbols.filter_map(|symbol| {
            let defined = number(symbol, 6, 2) != 0 && symbol.get(4)? & 15 == FUNCTION;
            let name = self.names.get(number(symbol, 0, 4) as usize..)?;
            defined.then(|| Function {
                name: name.split(|&b| b == 0).next().unwrap_or_default().to_vec(),
                address: number(symbol, 8, 8),
                size: number(symbol, 16, 8),
            })
        })
    }
}

/// A little-endian number; 0 where there is none.
fn number(bytes: &[u8], at: usize, size: usize) -> u64 {
    let bytes = bytes.get(at..at + size).unwrap_or_default();
    bytes.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b))
}

fn part(file: &File, at: u64, size: u64) -> io::Result<Vec<u8>> {
    if size > LARGEST.min(file.metadata()?.len()) {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; size as usize];
    file.read_exact_at(&mut bytes, at)?;
    Ok(bytes)
}
