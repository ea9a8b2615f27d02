//! How accesses are spelled: width, scope, space, cache.

use super::super::build::{Fail, fail};
use crate::dialect::enums::{Cache, Ordering, Scope, Space};
use crate::ir::Float;
use crate::machine::class::Class;

/// One access of a load or store: the PTX type, and the registers it moves.
pub(in crate::isel) struct Access {
    /// `b32`, `v4.b32`, …
    pub ty: &'static str,
    pub(super) class: Class,
    /// Registers per access.
    pub words: usize,
}

impl Access {
    pub fn bytes(&self) -> usize {
        self.words * self.class.bits() as usize / 8
    }

    /// The access of `vec` elements of `bits`.
    pub(super) fn of(bits: u32, vec: usize) -> Result<Access, Fail> {
        let access = |ty, class, words| Ok(Access { ty, class, words });
        match (bits, bits as usize * vec / 8) {
            (64, 8) => access("b64", Class::B64, 1),
            (64, 16) => access("v2.b64", Class::B64, 2),
            (64, 32) => access("v4.b64", Class::B64, 4),
            (_, 1) => access("b8", Class::B16, 1),
            (_, 2) => access("b16", Class::B16, 1),
            (_, 4) => access("b32", Class::B32, 1),
            (_, 8) => access("v2.b32", Class::B32, 2),
            (_, 16) => access("v4.b32", Class::B32, 4),
            (_, 32) => access("v8.b32", Class::B32, 8),
            (_, bytes) => fail(format!("an access of {bytes} bytes")),
        }
    }
}

/// Vectors and types of accesses that compute with floats in memory: two halves are one type.
pub(in crate::isel) fn floats(float: Float, access: &Access) -> Result<String, Fail> {
    let vector = match access.words {
        1 => "",
        2 => ".v2",
        4 => ".v4",
        words => return fail(format!("an access of {words} registers")),
    };
    match float {
        Float::F16 | Float::BF16 if access.bytes() >= 4 => {
            Ok(format!("{vector}.{float}x2", float = float.name()))
        }
        Float::F32 | Float::F64 => Ok(format!("{vector}.{}", float.name())),
        _ => fail(format!(
            "an access of {} bytes of {} as floats",
            access.bytes(),
            float.name()
        )),
    }
}

/// The name of a scope.
pub(in crate::isel) fn scope(scope: Scope) -> &'static str {
    match scope {
        Scope::Block => "cta",
        Scope::Device => "gpu",
        Scope::Sys => "sys",
    }
}

/// What the state space of an access adds to its mnemonic.
pub(super) fn space(space: Space) -> &'static str {
    match space {
        Space::Global => ".global",
        Space::Shared => ".shared",
        Space::Generic => "",
    }
}

/// What the cache operator of an access adds to its mnemonic.
pub(super) fn cache(cache: Cache) -> &'static str {
    match cache {
        Cache::Default => "",
        Cache::Cg => ".cg",
        Cache::Cs => ".cs",
        Cache::Lu => ".lu",
        Cache::Nc => ".nc",
    }
}

/// How a load or store is ordered and cached.
pub(super) struct Manner {
    pub(super) space: Space,
    pub(super) cache: Cache,
    pub(super) order: Ordering,
    pub(super) scope: Scope,
}

impl Manner {
    /// The mnemonic up to its type; `strong` are the orderings that the instruction has.
    pub(super) fn name(&self, stem: &str, strong: &[Ordering]) -> Result<String, Fail> {
        let at = space(self.space);
        match (self.order, self.space) {
            (Ordering::Weak, Space::Shared) => Ok(format!("{stem}{at}")),
            (Ordering::Weak, _) => Ok(format!("{stem}{at}{}", cache(self.cache))),
            (_, Space::Shared) => Ok(format!("{stem}.volatile{at}")),
            (order, _) if strong.contains(&order) => {
                Ok(format!("{stem}.{}.{}{at}", order.text(), scope(self.scope)))
            }
            _ => fail(format!("'{stem}' has no such memory ordering")),
        }
    }
}
