//! What an entry asks for beyond its operations.

use crate::dialect::nv_tileas::view;
use crate::ir::{Attr, Module, OpId};
use crate::target::Target;

/// The optimization hints of an entry that planning and the function boundary follow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hints {
    /// Blocks that should share an SM.
    pub occupancy: Option<i64>,
    /// Warps that hold tiles.
    pub warps: Option<i64>,
    /// Blocks of the cluster that executes a tile block.
    pub blocks: Option<i64>,
}

impl Hints {
    /// The hints of the kernel `func` for `target`, else the default ones.
    pub fn of(m: &Module, func: OpId, target: &Target) -> Hints {
        let hints = view::Func::of(m.op(func)).and_then(|v| v.hints());
        let Some(Attr::Hints(by_arch)) = hints else {
            return Hints::default();
        };
        let arch = format!("sm_{}", target.sm);
        let find = |name: &str| {
            by_arch
                .iter()
                .find(|(n, _)| m.str(*n) == name)
                .map(|(_, d)| d)
        };
        let Some(Attr::Dict(entries)) = find(&arch).or_else(|| find("default")) else {
            return Hints::default();
        };
        let number = |name: &str| {
            entries
                .iter()
                .find(|(n, _)| m.str(*n) == name)
                .and_then(|(_, a)| match a {
                    Attr::Int { value, .. } => Some(*value),
                    _ => None,
                })
        };
        Hints {
            occupancy: number("occupancy").filter(|&o| o > 0),
            warps: number("num_worker_warps_per_cta"),
            blocks: number("num_cta_in_cga").filter(|&n| n > 1),
        }
    }
}
