//! Which container a file is in.

use super::container::Container;
use super::cursor::Cursor;
use super::{Format, Result, notes, public};

/// First bytes of upstream MLIR bytecode.
const MLIR_MAGIC: [u8; 4] = *b"ML\xEFR";

/// Whether the data begins as any of the containers, or as upstream MLIR bytecode, does.
pub fn is_bytecode(data: &[u8]) -> bool {
    let starts: [&[u8]; 3] = [&public::MAGIC, &notes::FRAMING, &MLIR_MAGIC];
    starts.iter().any(|start| data.starts_with(start))
}

/// Takes a file apart.
pub fn parse(data: &[u8]) -> Result<Container<'_>> {
    if notes::is_upstream(data) || data.starts_with(&MLIR_MAGIC) {
        return Err(Cursor::new(data, Format::Public).error(
            "input is upstream MLIR bytecode, not Tile IR bytecode: export the module as Tile IR bytecode",
        ));
    }
    match data.starts_with(&notes::FRAMING) {
        true => notes::envelope(data),
        false => public::envelope(data),
    }
}
