//! Enumerations used as attributes; a case's index is its bytecode encoding.

use super::EnumDef;

macro_rules! enums {
    ($($(#[$doc:meta])* $id:ident $name:literal [$($case:literal),* $(,)?];)*) => {
        $($(#[$doc])* pub static $id: EnumDef = EnumDef { name: $name, cases: &[$($case),*] };)*
    };
}

enums! {
    /// How an integer operation may overflow.
    OVERFLOW "overflow" ["none", "no_signed_wrap", "no_unsigned_wrap", "no_wrap"];
    ROUNDING "rounding" [
        "nearest_even", "zero", "negative_inf", "positive_inf", "approx", "full", "nearest_int_to_zero",
        "nearest_away",
    ];
    SIGNEDNESS "signedness" ["unsigned", "signed"];
    CMP_PREDICATE "predicate" [
        "equal", "not_equal", "less_than", "less_than_or_equal", "greater_than", "greater_than_or_equal",
    ];
    CMP_ORDERING "ordering" ["unordered", "ordered"];
}
