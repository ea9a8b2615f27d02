//! Tile IR bytecode: the public container, versions 13.1 … 13.5, and the container that the notes
//! describe ([`notes`]), 13.1 only.
//!
//! A file is a header and sections (`envelope` finds its container and takes it apart); sections hold tables of strings, types,
//! constants and debug attributes, which functions refer to by index (`read`, `write`). How an operation
//! is encoded follows from its row in [`crate::dialect`].

mod container;
mod cursor;
mod encoding;
mod envelope;
pub mod notes;
mod prefix;
mod public;
mod read;
mod write;

pub use public::MAGIC;
pub use read::{Contents, Tables, diagnose, read, read_full};
pub use write::{write, write_notes, write_with};

use crate::ir::Diagnostic;

/// The containers that are read and written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Format {
    /// The public container: magic `7F 'TileIR' 00`.
    Public,
    /// The container of the notes: magic `06 03 80 'Tile' 00`.
    Notes,
}

impl Format {
    /// What fills the gap before aligned data.
    pub const fn padding(self) -> u8 {
        match self {
            Format::Public => 0xCB,
            Format::Notes => 0xCF,
        }
    }
}

/// Whether the data begins as a bytecode file does, of whatever container.
pub fn is_bytecode(data: &[u8]) -> bool {
    envelope::is_bytecode(data)
}

type Result<T> = std::result::Result<T, Diagnostic>;

/// Adds what was being done to an error of something inside.
trait Context<T> {
    fn context(self, what: impl FnOnce() -> String) -> Result<T>;
}

impl<T> Context<T> for Result<T> {
    fn context(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|d| d.note(what()))
    }
}
