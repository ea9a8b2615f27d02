//! How an operation's fields are laid out in a version, derived once from its table row.
//!
//! A record is: opcode, result types, flags, attributes, operands, regions. Result types are
//! preceded by their count when any operand group or result is variadic. The flags word has one
//! bit per unit attribute, optional attribute and (in segmented operations) optional operand, in
//! the order of the versions that brought them, attributes before operands; it is absent while
//! it would have no bit. Operands of segmented operations are encoded group by group; otherwise
//! one count covers all, and only if some group is not single.

use std::sync::OnceLock;

use smallvec::SmallVec;

use crate::dialect::{Arity, AttrKind, OpDef, OpKind, Traits, Version, cuda_tile};

/// See the module's text.
#[derive(Clone, Debug)]
pub struct Encoding {
    pub counted_results: bool,
    pub counted_operands: bool,
    pub flag_count: u32,
    /// Flag bit per attribute.
    pub attr_flag: SmallVec<[Option<u32>; 4]>,
    /// Flag bit per operand group.
    pub operand_flag: SmallVec<[Option<u32>; 4]>,
}

/// The encoding of a cuda_tile operation in a version of 13.1 … 13.5.
pub fn of(kind: OpKind, version: Version) -> &'static Encoding {
    // A module is of one version: the others' are not made for it.
    static BY_MINOR: [OnceLock<Vec<Encoding>>; 5] = [const { OnceLock::new() }; 5];
    let minor = version.1.clamp(1, 5);
    let all = BY_MINOR[usize::from(minor) - 1].get_or_init(|| {
        let row = |def| Encoding::new(def, Version(13, minor));
        cuda_tile::TABLE.iter().map(row).collect()
    });
    &all[usize::from(kind.index)]
}

/// Operations that live in sections of their own.
pub fn is_top_level(kind: OpKind) -> bool {
    use cuda_tile::Op;
    matches!(Op::of(kind), Some(Op::Module | Op::Entry | Op::Global))
}

impl Encoding {
    fn new(def: &OpDef, version: Version) -> Self {
        let segmented = def.traits.has(Traits::SEGMENTED);
        let variadic = |a: Arity| a == Arity::Variadic;
        let mut flags: Vec<(Version, bool, usize)> = Vec::new();
        for (i, attr) in def.attrs.iter().enumerate() {
            if attr.optional || matches!(attr.kind, AttrKind::Unit) {
                flags.push((attr.since, false, i));
            }
        }
        for (i, operand) in def.operands.iter().enumerate() {
            if segmented && operand.arity == Arity::Optional {
                flags.push((operand.since, true, i));
            }
        }
        flags.retain(|f| f.0 <= version);
        flags.sort_by_key(|f| f.0);
        let mut attr_flag = SmallVec::from_elem(None, def.attrs.len());
        let mut operand_flag = SmallVec::from_elem(None, def.operands.len());
        for (bit, &(_, is_operand, i)) in flags.iter().enumerate() {
            let list = if is_operand {
                &mut operand_flag
            } else {
                &mut attr_flag
            };
            list[i] = Some(bit as u32);
        }
        Self {
            counted_results: def.operands.iter().any(|o| variadic(o.arity))
                || def.results.iter().any(|r| variadic(r.arity)),
            counted_operands: !segmented && def.operands.iter().any(|o| o.arity != Arity::One),
            flag_count: flags.len() as u32,
            attr_flag,
            operand_flag,
        }
    }
}
