//! `nvvm`: one thread's register-array SSA and intrinsics.

use super::{Traits, def::dialect_table, op};

dialect_table! { Nvvm {
    Return = op("return").traits(Traits::TERMINATOR).doc("Ends the function.");
}}
