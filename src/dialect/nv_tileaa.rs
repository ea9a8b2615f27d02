//! `nv_tileaa`: architecture-agnostic: views are address algebra, facts are attached.

use super::{Traits, def::dialect_table, op};

dialect_table! { TileAa {
    Return = op("return").traits(Traits::TERMINATOR).doc("Ends the function.");
}}
