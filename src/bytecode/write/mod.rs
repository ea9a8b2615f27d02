//! The writer of the public container: a [`Module`] to bytes.
//!
//! Sections follow the order of the `cuda-tile` package: functions, globals, constants, debug,
//! types, strings. Tables hold what is used, in the order of first use, after the entries that
//! [`Tables`] prescribes; with the tables of the file that a module was read from, a file of
//! that producer is written again byte for byte.

mod attrs;
mod buffer;
mod debug;
mod function;
mod notes;
mod tables;
mod types;

use buffer::Buffer;

use super::container::SectionId;
use super::public::MAGIC;
use super::read::Tables;
use super::{Context, Format, Result};
use crate::dialect::Version;
use crate::dialect::cuda_tile::Op as CudaTile;
use crate::ir::{DebugAttr, Diagnostic, LocId, Module, Name, Op, OpId};

/// Writes a module for a version of 13.1 … 13.5.
///
/// # Errors
/// What the version lacks, by name, or what the format cannot hold.
pub fn write(module: &Module, version: Version) -> Result<Vec<u8>> {
    write_with(module, version, &Tables::default())
}

/// Writes a module with tables that begin as prescribed.
///
/// # Errors
/// As [`write()`].
pub fn write_with(module: &Module, version: Version, tables: &Tables) -> Result<Vec<u8>> {
    if !(Version::V13_1..=Version::V13_5).contains(&version) {
        return Err(Diagnostic::error(format!(
            "cannot write version {version}: versions 13.1 to 13.5 exist"
        )));
    }
    Writer::new(module, version, Format::Public, tables)?.write()
}

/// Writes a module in the container of the notes ([`super::notes`]).
///
/// # Errors
/// What version 13.1 or that container lacks, by name.
pub fn write_notes(module: &Module, tables: &Tables) -> Result<Vec<u8>> {
    Writer::new(module, super::notes::VERSION, Format::Notes, tables)?.write()
}

impl Writer<'_> {
    fn write(self) -> Result<Vec<u8>> {
        let mut writer = self;
        let module = writer.module;
        let mut functions = writer.buffer();
        let mut globals = writer.buffer();
        let (mut function_count, mut global_count) = (0, 0);
        for &id in &module.block(module.body).ops {
            match CudaTile::of(module.op(id).kind) {
                Some(CudaTile::Entry) => {
                    match writer.format {
                        Format::Public => writer.entry(id, &mut functions)?,
                        Format::Notes => writer.notes_entry(id, &mut functions)?,
                    }
                    function_count += 1;
                }
                Some(CudaTile::Global) => {
                    match writer.format {
                        Format::Public => writer.global(module.op(id), &mut globals)?,
                        Format::Notes => writer.notes_global(module.op(id), &mut globals)?,
                    }
                    global_count += 1;
                }
                _ => {
                    let kind = module.op(id).kind.to_string();
                    return Err(
                        Diagnostic::error("cannot be written at the top of a module").on(kind),
                    );
                }
            }
        }
        let functions = counted(functions, function_count);
        let globals = (global_count > 0).then(|| counted(globals, global_count));
        match writer.format {
            Format::Public => writer.finish(functions, globals),
            Format::Notes => writer.notes_finish(functions, globals),
        }
    }
}

/// Numbers for all debug attributes but the unknown ones.
fn debug_numbers(module: &Module) -> Vec<Option<u32>> {
    let mut next = 0..;
    let number = |attr: &DebugAttr| match attr {
        // Only text has locations without a scope.
        DebugAttr::Unknown
        | DebugAttr::Loc {
            scope: LocId::UNKNOWN,
            ..
        } => None,
        _ => next.next(),
    };
    module
        .locs
        .iter()
        .map(|(_, attr)| attr)
        .map(number)
        .collect()
}

fn counted(body: Buffer, count: u64) -> Buffer {
    let mut out = Buffer::new(body.format());
    out.varint(count);
    out.bytes(&body.data);
    out
}

struct Writer<'m> {
    module: &'m Module,
    version: Version,
    format: Format,
    strings: tables::Table<Name>,
    types: types::TypeWriter,
    constants: tables::Table<Vec<u8>>,
    /// Per function: its own location, then those of its operations.
    locations: Vec<Vec<u32>>,
    /// In the notes' container, per function: the debug attributes of its slots.
    slots: Vec<tables::Table<u32>>,
    /// In the notes' container: the number of each debug attribute that is written.
    debug_numbers: Vec<Option<u32>>,
}

impl<'m> Writer<'m> {
    fn new(module: &'m Module, version: Version, format: Format, tables: &Tables) -> Result<Self> {
        let constants = match format {
            Format::Public => tables.constants.as_slice(),
            // Its constant section holds attributes.
            Format::Notes => &[],
        };
        let mut writer = Self {
            module,
            version,
            format,
            strings: tables::Table::starting_with(&tables.strings),
            types: types::TypeWriter::default(),
            constants: tables::Table::starting_with(constants),
            locations: Vec::new(),
            slots: Vec::new(),
            debug_numbers: debug_numbers(module),
        };
        for &ty in &tables.types {
            writer.type_id(ty)?;
        }
        // The encoder of the cuda-tile package defines these two before all others.
        if format == Format::Public {
            for bits in [1, 32] {
                writer.types.simple(&crate::ir::Type::Int(bits));
            }
        }
        Ok(writer)
    }

    fn buffer(&self) -> Buffer {
        Buffer::new(self.format)
    }

    /// Refuses what `version` lacks.
    fn since(&self, since: Version, what: impl FnOnce() -> String) -> Result<()> {
        if since <= self.version {
            return Ok(());
        }
        Err(Diagnostic::error(format!(
            "{} requires bytecode version {since}, but version {} is written",
            what(),
            self.version
        )))
    }

    fn finish(mut self, functions: Buffer, globals: Option<Buffer>) -> Result<Vec<u8>> {
        let mut out = self.buffer();
        out.bytes(&MAGIC);
        out.bytes(&[self.version.0, self.version.1, 0, 0]);
        let debug = self.debug_section();
        let producer = self.module.producer.map(|name| {
            let mut buffer = Buffer::new(Format::Public);
            buffer.varint(self.strings.id(&name));
            buffer
        });
        if producer.is_some() {
            self.since(Version::V13_3, || "a producer".into())?;
        }
        out.section(SectionId::Func, &functions);
        if let Some(globals) = globals {
            out.section(SectionId::Global, &globals);
        }
        out.section(SectionId::Constant, &self.constant_section());
        out.section(SectionId::Debug, &debug);
        out.section(SectionId::Type, &self.types.section(self.format));
        if let Some(producer) = producer {
            out.section(SectionId::Producer, &producer);
        }
        out.section(SectionId::String, &self.string_section());
        out.byte(SectionId::End as u8);
        Ok(out.data)
    }

    fn constant_section(&self) -> Buffer {
        let items = self.constants.items().iter().map(|data| {
            let mut item = self.buffer();
            item.varint(data.len() as u64);
            item.bytes(data);
            item.data
        });
        buffer::table(&items.collect::<Vec<_>>(), 8, self.format)
    }

    fn string_section(&self) -> Buffer {
        let text = |name: &Name| self.module.str(*name).as_bytes().to_vec();
        let items: Vec<_> = self.strings.items().iter().map(text).collect();
        buffer::table(&items, 4, self.format)
    }

    /// An error about an operation.
    fn on(&self, op: &Op, error: Diagnostic) -> Diagnostic {
        let at = self.module.source_place(op.loc);
        let named = error.on(op.kind.to_string());
        if at == crate::ir::Place::Nowhere {
            named
        } else {
            named.at(at)
        }
    }

    fn op(&self, id: OpId) -> &'m Op {
        self.module.op(id)
    }
}
