//! `nv_tileas`: architecture-specific: layouts, atoms, shared memory, pipelines, warp roles.

use super::{Traits, def::dialect_table, op};

dialect_table! { TileAs {
    Return = op("return").traits(Traits::TERMINATOR).doc("Ends the function.");
}}
