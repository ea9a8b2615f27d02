//! Groups of rules: a stage each.

/// A group of rule files that run together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Group {
    /// Simplification of `cuda_tile`.
    Tile,
    /// Atom selection.
    TileAaToTileAs,
    /// Elementwise `cuda_tile` on register arrays to `nvvm`.
    TileAsToNvvm,
    /// What precedes instruction selection: fused forms, and other ways where the target lacks one.
    Isel,
}

impl Group {
    pub const ALL: [Group; 4] = [
        Group::Tile,
        Group::TileAaToTileAs,
        Group::TileAsToNvvm,
        Group::Isel,
    ];

    /// Its folders in `rules/`, or from the repository's root on.
    pub const fn folders(self) -> &'static [&'static str] {
        match self {
            Group::Tile => &["tile"],
            Group::TileAaToTileAs => &["tileaa_to_tileas"],
            Group::TileAsToNvvm => &["tileas_to_nvvm"],
            Group::Isel => &["isel/peephole", "isel/expand"],
        }
    }
}
