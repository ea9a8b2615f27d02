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
mod tables;
mod types;

use buffer::Buffer;

use super::container::{MAGIC, SectionId};
use super::read::Tables;
use super::{Context, Result};
use crate::dialect::Version;
use crate::dialect::cuda_tile::Op as CudaTile;
use crate::ir::{Diagnostic, Module, Name, Op, OpId};

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
/// As [`write`].
pub fn write_with(module: &Module, version: Version, tables: &Tables) -> Result<Vec<u8>> {
    if !(Version::V13_1..=Version::V13_5).contains(&version) {
        return Err(Diagnostic::error(format!(
            "cannot write version {version}: versions 13.1 to 13.5 exist"
        )));
    }
    let mut writer = Writer::new(module, version, tables)?;
    let mut functions = Buffer::default();
    let mut globals = Buffer::default();
    let (mut function_count, mut global_count) = (0, 0);
    for &id in &module.block(module.body).ops {
        match CudaTile::of(module.op(id).kind) {
            Some(CudaTile::Entry) => {
                writer.entry(id, &mut functions)?;
                function_count += 1;
            }
            Some(CudaTile::Global) => {
                writer.global(module.op(id), &mut globals)?;
                global_count += 1;
            }
            _ => {
                let kind = module.op(id).kind.to_string();
                return Err(Diagnostic::error("cannot be written at the top of a module").on(kind));
            }
        }
    }
    writer.finish(counted(functions, function_count), global_count, globals)
}

fn counted(body: Buffer, count: u64) -> Buffer {
    let mut out = Buffer::default();
    out.varint(count);
    out.bytes(&body.data);
    out
}

struct Writer<'m> {
    module: &'m Module,
    version: Version,
    strings: tables::Table<Name>,
    types: types::TypeWriter,
    constants: tables::Table<Vec<u8>>,
    /// Per function: its own location, then those of its operations.
    locations: Vec<Vec<u32>>,
}

impl<'m> Writer<'m> {
    fn new(module: &'m Module, version: Version, tables: &Tables) -> Result<Self> {
        let mut writer = Self {
            module,
            version,
            strings: tables::Table::starting_with(&tables.strings),
            types: types::TypeWriter::default(),
            constants: tables::Table::starting_with(&tables.constants),
            locations: Vec::new(),
        };
        for &ty in &tables.types {
            writer.type_id(ty)?;
        }
        // The encoder of the cuda-tile package defines these two before all others.
        for bits in [1, 32] {
            writer.types.simple(&crate::ir::Type::Int(bits));
        }
        Ok(writer)
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

    fn finish(mut self, functions: Buffer, global_count: u64, globals: Buffer) -> Result<Vec<u8>> {
        let mut out = Buffer::default();
        out.bytes(&MAGIC);
        out.bytes(&[self.version.0, self.version.1, 0, 0]);
        let debug = self.debug_section();
        let producer = self.module.producer.map(|name| {
            let mut buffer = Buffer::default();
            buffer.varint(self.strings.id(&name));
            buffer
        });
        if producer.is_some() {
            self.since(Version::V13_3, || "a producer".into())?;
        }
        out.section(SectionId::Func, &functions);
        if global_count > 0 {
            out.section(SectionId::Global, &counted(globals, global_count));
        }
        out.section(SectionId::Constant, &self.constant_section());
        out.section(SectionId::Debug, &debug);
        out.section(SectionId::Type, &self.types.section());
        if let Some(producer) = producer {
            out.section(SectionId::Producer, &producer);
        }
        out.section(SectionId::String, &self.string_section());
        out.byte(SectionId::End as u8);
        Ok(out.data)
    }

    fn constant_section(&self) -> Buffer {
        let items = self.constants.items().iter().map(|data| {
            let mut item = Buffer::default();
            item.varint(data.len() as u64);
            item.bytes(data);
            item.data
        });
        buffer::table(items.collect(), 8)
    }

    fn string_section(&self) -> Buffer {
        let text = |name: &Name| self.module.str(*name).as_bytes().to_vec();
        buffer::table(self.strings.items().iter().map(text).collect(), 4)
    }

    /// An error about an operation.
    fn on(&self, op: &Op, error: Diagnostic) -> Diagnostic {
        let at = crate::verify::place(self.module, op.loc);
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
