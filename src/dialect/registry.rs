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

    /// Says that it has no operation of that name, and which it has whose name is like it.
    pub fn no_operation(self, name: &str) -> String {
        let full = name
            .strip_prefix(self.name())
            .and_then(|n| n.strip_prefix('.'));
        let name = full.unwrap_or(name);
        let names = self.table().iter().map(|o| (changes(o.name, name), o.name));
        let near = names.filter(|near| near.0 <= 2 && near.0 < name.len());
        let meant = match near.min() {
            Some((_, near)) => format!(": expected `{near}`?"),
            None => String::new(),
        };
        format!(
            "there is no operation called `{name}` in {}{meant}",
            self.name()
        )
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

/// How many letters have to be put in, left out or replaced to make one word of another.
fn changes(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in other.bytes().enumerate() {
            let here = (diagonal + usize::from(a != b)).min(row[j].min(row[j + 1]) + 1);
            diagonal = std::mem::replace(&mut row[j + 1], here);
        }
    }
    row[other.len()]
}
