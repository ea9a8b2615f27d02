//! Loads that load again what an earlier load of the same block loaded: one load serves both.
//!
//! ```text
//! k = load p                  k = load p
//! s = q · kᵀ            →     s = q · kᵀ
//! v = load p                  o += softmax(s) · k
//! o += softmax(s) · v
//! ```
//! Latent attention multiplies by the same rows twice, and programs write two loads because each wants its own order of
//! the elements. Neither comes behind a write in token order, and what no token orders may happen in any order: where the
//! earlier load stands, the later one may have read, too.

use rustc_hash::FxHashMap;

use super::look::place;
use super::missed::Log;
use super::pipeline::tokens::loads_freely;
use crate::dialect::OpKind;
use crate::dialect::cuda_tile::Op as C;
use crate::facts::access::{self, group};
use crate::ir::{Attr, BlockId, Module, OpId, Type, TypeId, ValueId};

/// What loads of the same numbers have in common: all but their tokens and hints.
#[derive(PartialEq, Eq, Hash)]
struct Asked {
    kind: OpKind,
    operands: Vec<Vec<ValueId>>,
    attrs: Vec<Option<Attr>>,
    tile: TypeId,
}

/// Leaves one load of each group of such loads in a block under `body`.
pub fn absorb(m: &mut Module, body: BlockId, log: &mut Log) {
    let mut first: FxHashMap<(BlockId, Asked), OpId> = FxHashMap::default();
    for op in m.ops_under(body) {
        let Some(asked) = Asked::of(m, op) else {
            continue;
        };
        match first.entry((m.op(op).block, asked)) {
            std::collections::hash_map::Entry::Occupied(entry) => {
                log.changed(
                    m.op(op).loc,
                    "one load for two",
                    "an earlier one loads the same",
                );
                serve(m, *entry.get(), op);
            }
            std::collections::hash_map::Entry::Vacant(entry) => {
                entry.insert(op);
            }
        }
    }
}

impl Asked {
    /// What a load asks for that comes behind no write; `None` for all else.
    fn of(m: &Module, op: OpId) -> Option<Self> {
        if !loads_freely(m, op) {
            return None;
        }
        let data = m.op(op);
        let named = data.def().operands.iter().map(|o| o.name);
        Some(Self {
            kind: data.kind,
            operands: named
                .filter(|&name| name != "token")
                .map(|name| group(data, name).to_vec())
                .collect(),
            attrs: (data.def().attrs.iter().zip(&data.attrs))
                .filter(|(attr, _)| attr.name != "hints")
                .map(|(_, value)| value.clone())
                .collect(),
            tile: m.ty(m.result(op)),
        })
    }
}

/// Lets the load `first` serve what `later` of the same block does.
fn serve(m: &mut Module, first: OpId, later: OpId) {
    let results = |op| m.op(op).results.to_vec();
    let (had, has) = (results(later), results(first));
    // What waits for the later load waits for what that one waited for, too.
    let before = access::token(m.op(later));
    let (block, at) = place(m, later);
    for (&old, &new) in had.iter().zip(&has) {
        let token = matches!(m.types.get(m.ty(old)), Type::Token);
        let new = match before {
            Some(before) if token && !m.users(old).is_empty() => {
                let ty = m.ty(old);
                let mut b = m.at(block, at);
                let joined = b.op(C::JoinTokens, &[&[new, before]], [], &[ty], &[]);
                m.result(joined)
            }
            _ => new,
        };
        m.replace_all_uses(old, new);
    }
    m.erase(later);
}
