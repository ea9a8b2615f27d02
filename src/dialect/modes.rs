//! The rounding modes that operations on floats admit.

use super::def::{AttrDef, AttrKind, Modes, OpDef};
use super::enums::{ROUNDING, rounding as r};

/// IEEE 754's.
const DIRECTED: &[u8] = &[r::NEAREST_EVEN, r::ZERO, r::NEGATIVE_INF, r::POSITIVE_INF];

/// Sums and products.
pub const IEEE: Modes = Modes {
    any: DIRECTED,
    f32: &[],
};
/// Square roots.
pub const IEEE_OR_APPROX: Modes = Modes {
    any: DIRECTED,
    f32: &[r::APPROX],
};
/// Quotients.
pub const IEEE_OR_FAST: Modes = Modes {
    any: DIRECTED,
    f32: &[r::APPROX, r::FULL],
};
/// Elementary functions.
pub const FULL_OR_APPROX: Modes = Modes {
    any: &[r::FULL],
    f32: &[r::APPROX],
};

/// The modes that an operation's row admits, and the position of the attribute that says which.
pub fn of(def: &OpDef) -> Option<(&'static Modes, usize)> {
    let rounds = |a: &AttrDef| matches!(a.kind, AttrKind::Enum(kind) if *kind == ROUNDING);
    def.rounding.zip(def.attrs.iter().position(rounds))
}

/// A rounding mode's name.
pub fn name(mode: u8) -> &'static str {
    ROUNDING.case(mode).unwrap_or_default()
}
