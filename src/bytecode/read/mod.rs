//! The reader of the public container: bytes to a [`Module`].

pub(in crate::bytecode) mod attrs;
mod debug;
pub(in crate::bytecode) mod dense;
pub(in crate::bytecode) mod function;
mod notes;
mod ops;
mod tables;
pub(in crate::bytecode) mod types;

use super::container::{Container, SectionId};
use super::cursor::Cursor;
use super::envelope;
use super::{Context, Format, Result};
use crate::dialect::Version;
use crate::ir::{Diagnostic, Module, Name, OpId, TypeId};

/// The tables of a file in their order, so that a writer can keep it.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    pub strings: Vec<Name>,
    pub types: Vec<TypeId>,
    /// Constant data, without length prefixes.
    pub constants: Vec<Vec<u8>>,
}

/// Everything a file says.
#[derive(Debug)]
pub struct Contents {
    pub module: Module,
    pub format: Format,
    pub version: Version,
    pub tables: Tables,
}

/// Reads a module from either container.
///
/// # Errors
/// The first thing wrong with the bytes, with its offset.
pub fn read(data: &[u8]) -> Result<Module> {
    read_full(data).map(|c| c.module)
}

/// Reads a module with the file's version and table order.
///
/// # Errors
/// As [`read`].
pub fn read_full(data: &[u8]) -> Result<Contents> {
    let container = envelope::parse(data)?;
    let mut reader = Reader::new(&container, data.len())?;
    reader.module_body(&container)?;
    let tables = reader.tables(container.format)?;
    Ok(Contents {
        module: reader.module,
        format: container.format,
        version: container.version,
        tables,
    })
}

/// What `find` says of the module in these bytes, with the offsets of the operations that it concerns.
/// Keeps offsets, which modules of which there is nothing to say need not pay for.
///
/// # Errors
/// As [`read`].
pub fn diagnose(
    data: &[u8],
    find: impl Fn(&Module) -> Vec<(OpId, Diagnostic)>,
) -> Result<Vec<(Diagnostic, Option<usize>)>> {
    let container = envelope::parse(data)?;
    let mut reader = Reader::new(&container, data.len())?;
    reader.offsets = Some(Vec::new());
    reader.module_body(&container)?;
    let offsets: rustc_hash::FxHashMap<OpId, usize> = reader
        .offsets
        .take()
        .unwrap_or_default()
        .into_iter()
        .collect();
    let found = find(&reader.module);
    let offset = |(op, diagnostic)| (diagnostic, offsets.get(&op).copied());
    Ok(found.into_iter().map(offset).collect())
}

/// The state of reading one file.
struct Reader<'a> {
    version: Version,
    module: Module,
    strings: tables::Strings,
    types: types::TypeTable<'a>,
    constants: tables::Blobs<'a>,
    debug: debug::Debug<'a>,
    /// Locations, in the notes' container.
    slots: notes::debug::Slots<'a>,
    /// Bytes of constant data that may still be copied.
    budget: usize,
    /// Where operations began, if that is asked for.
    offsets: Option<Vec<(OpId, usize)>>,
}

/// Many operations may refer to one constant, and each copies it: together they may take so many
/// times the size of the file, and [`BUDGET`] in any case.
const EXPANSION: usize = 64;
/// Bytes of constant data that every file may have.
const BUDGET: usize = 64 << 20;

impl<'a> Reader<'a> {
    fn new(container: &Container<'a>, size: usize) -> Result<Self> {
        let mut module = Module::new("kernels");
        let strings = match container.section(SectionId::String) {
            Some(payload) => tables::Strings::read(payload, &mut module)
                .context(|| "failed to parse string section".into())?,
            None => return Err(Diagnostic::error("string section is mandatory")),
        };
        if let Some(mut payload) = container.section(SectionId::Producer) {
            let name = strings
                .read_ref(&mut payload)
                .context(|| "failed to parse producer section".into())?;
            module.producer = Some(name);
        }
        let decode: types::Decode = match container.format {
            Format::Public => |types, c, module| types.public(c, module),
            Format::Notes => notes::types::decode,
        };
        let types = container.section(SectionId::Type);
        let types = types::TypeTable::read(types, container.version, decode)
            .context(|| "failed to parse type section".into())?;
        let constants = match container.section(SectionId::Constant) {
            Some(payload) => tables::Blobs::read(payload, 8, "constants")
                .context(|| "failed to parse constant section".into())?,
            None => tables::Blobs::default(),
        };
        let mut reader = Self {
            version: container.version,
            module,
            strings,
            types,
            constants,
            debug: debug::Debug::default(),
            slots: notes::debug::Slots::default(),
            budget: size.saturating_mul(EXPANSION).max(BUDGET),
            offsets: None,
        };
        if let Some(payload) = container.section(SectionId::Debug) {
            let read = match container.format {
                Format::Public => reader.debug_section(payload),
                Format::Notes => reader.notes_debug_section(payload),
            };
            read.context(|| "failed to parse debug section".into())?;
        }
        Ok(reader)
    }

    fn module_body(&mut self, container: &Container<'a>) -> Result<()> {
        match container.format {
            Format::Public => {
                self.globals(container)?;
                self.functions(container)
            }
            Format::Notes => {
                self.notes_globals(container)?;
                self.notes_functions(container)
            }
        }
    }

    /// Counts constant data that is about to be copied.
    fn spend(&mut self, c: &Cursor, bytes: usize) -> Result<()> {
        match self.budget.checked_sub(bytes) {
            Some(left) => {
                self.budget = left;
                Ok(())
            }
            None => {
                Err(c.error("the uses of constants copy too much data for a file of this size"))
            }
        }
    }

    /// Keeps where the operation's record began.
    fn remember(&mut self, op: OpId, offset: usize) {
        if let Some(offsets) = &mut self.offsets {
            offsets.push((op, offset));
        }
    }

    /// The tables as a writer needs them; types that nothing used are decoded now.
    fn tables(&mut self, format: Format) -> Result<Tables> {
        let types = (0..self.types.len())
            .map(|i| self.types.get(i as u64, &mut self.module))
            .collect::<Result<_>>()?;
        let constants = match format {
            Format::Public => (0..self.constants.len())
                .map(|i| dense::payload(self.constants.get(i)?).map(<[u8]>::to_vec))
                .collect::<Result<_>>()?,
            // Attributes, not data: the public container's constants come in the order of use.
            Format::Notes => Vec::new(),
        };
        Ok(Tables {
            strings: self.strings.names().to_vec(),
            types,
            constants,
        })
    }
}
