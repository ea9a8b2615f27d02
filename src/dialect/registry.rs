//! From an operation's identity to its row: the tables of all dialects together.

use super::{Dialect, OpDef, OpKind};

impl OpKind {
    /// The row.
    pub fn def(self) -> &'static OpDef {
        &self.dialect.table()[self.index as usize]
    }

    /// The operation called `dialect.name`.
    pub fn by_name(full: &str) -> Option<OpKind> {
        let (dialect, name) = full.split_once('.')?;
        Dialect::by_name(dialect)?.operation(name)
    }
}

impl std::fmt::Display for OpKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.dialect.name(), self.def().name)
    }
}

impl std::fmt::Debug for OpKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

impl Dialect {
    pub const ALL: [Dialect; 4] = [
        Dialect::CudaTile,
        Dialect::TileAa,
        Dialect::TileAs,
        Dialect::Nvvm,
    ];

    /// The prefix of its operations' names.
    pub const fn name(self) -> &'static str {
        match self {
            Dialect::CudaTile => "cuda_tile",
            Dialect::TileAa => "nv_tileaa",
            Dialect::TileAs => "nv_tileas",
            Dialect::Nvvm => "nvvm",
        }
    }

    /// The dialect of that name.
    pub fn by_name(name: &str) -> Option<Dialect> {
        Dialect::ALL.into_iter().find(|d| d.name() == name)
    }

    /// Its operation of that name.
    pub fn operation(self, name: &str) -> Option<OpKind> {
        let index = self.table().iter().position(|o| o.name == name)?;
        Some(OpKind {
            dialect: self,
            index: index as u8,
        })
    }

    pub fn table(self) -> &'static [OpDef] {
        match self {
            Dialect::CudaTile => super::cuda_tile::TABLE,
            Dialect::TileAa => super::nv_tileaa::TABLE,
            Dialect::TileAs => super::nv_tileas::TABLE,
            Dialect::Nvvm => super::nvvm::TABLE,
        }
    }
}
