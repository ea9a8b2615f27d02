//! The reader of the public container: bytes to a [`Module`].

pub(in crate::bytecode) mod attrs;
mod debug;
pub(in crate::bytecode) mod dense;
pub(in crate::bytecode) mod function;
mod ops;
mod tables;
pub(in crate::bytecode) mod types;

use super::container::{Container, SectionId};
use super::{Context, Result};
use crate::dialect::Version;
use crate::ir::{Diagnostic, Module, Name, TypeId};

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
    pub version: Version,
    pub tables: Tables,
}

/// Reads a module from the public container.
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
    let container = Container::parse(data)?;
    let mut reader = Reader::new(&container)?;
    reader.globals(&container)?;
    reader.functions(&container)?;
    let tables = reader.tables()?;
    Ok(Contents {
        module: reader.module,
        version: container.version,
        tables,
    })
}

/// The state of reading one file.
struct Reader<'a> {
    version: Version,
    module: Module,
    strings: tables::Strings,
    types: types::TypeTable<'a>,
    constants: tables::Blobs<'a>,
    debug: debug::Debug<'a>,
}

impl<'a> Reader<'a> {
    fn new(container: &Container<'a>) -> Result<Self> {
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
        let types = types::TypeTable::read(container.section(SectionId::Type), container.version)
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
        };
        if let Some(payload) = container.section(SectionId::Debug) {
            reader
                .debug_section(payload)
                .context(|| "failed to parse debug section".into())?;
        }
        Ok(reader)
    }

    /// The tables as a writer needs them; types that nothing used are decoded now.
    fn tables(&mut self) -> Result<Tables> {
        let types = (0..self.types.len())
            .map(|i| self.types.get(i as u64, &mut self.module))
            .collect::<Result<_>>()?;
        let constants = (0..self.constants.len())
            .map(|i| dense::payload(self.constants.get(i)?).map(<[u8]>::to_vec))
            .collect::<Result<_>>()?;
        Ok(Tables {
            strings: self.strings.names().to_vec(),
            types,
            constants,
        })
    }
}
