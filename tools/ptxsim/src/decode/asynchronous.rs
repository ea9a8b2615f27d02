//! Matrix instructions: placeholder until step 2 lands.
use super::Result;
use super::mods::Mods;
use super::names::Function;
use crate::parse::ast::Instruction;
use crate::program::inst::Op;

pub(super) fn decode<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    _mods: &mut Mods<'_>,
) -> Result<Op> {
    cx.unsupported(inst)
}
