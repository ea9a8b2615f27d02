//! Names of operations in rules.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::dialect::{Dialect, OpKind};
use crate::egraph::head::Head;

/// The operation that a name means on a side.
pub(super) fn resolve(name: &str, side: Option<Dialect>) -> Option<Head> {
    static OPS: LazyLock<FxHashMap<(Dialect, &'static str), u8>> = LazyLock::new(|| {
        let rows = |d: Dialect| {
            let rows = d.table().iter().enumerate();
            rows.map(move |(i, row)| ((d, row.name), i as u8))
        };
        Dialect::ALL.into_iter().flat_map(rows).collect()
    });
    let op = |dialect: Dialect, name: &str| {
        let index = *OPS.get(&(dialect, name))?;
        Some(Head::Op(OpKind { dialect, index }))
    };
    if let Some((prefix, rest)) = name.split_once('.')
        && let Some(dialect) = Dialect::by_name(prefix)
    {
        return op(dialect, rest);
    }
    op(side?, name)
}
