//! Facts of a pure operation's result from the facts of its operands.

use smallvec::SmallVec;

use super::arith::{Arith, Division, arith_of};
use super::attr::pointee_bytes;
use super::leaf::Leaf;
use super::{Facts, Uniformity, axes, gcd, int_range, pow2_part, sign_extend, truncate};
use crate::dialect::{OpKind, cuda_tile, nvvm};
use crate::ir::{AssumePredicate, Dense, Op, Type, TypeId, Types};

/// Largest extents of a grid (CUDA programming guide, compute capabilities table).
const GRID_MAX: [i64; 3] = [i32::MAX as i64, 65535, 65535];

/// Facts of a block index (`count` false) or of a grid extent along `dim`.
pub fn grid_bounds(types: &Types, ty: TypeId, dim: usize, count: bool) -> Facts {
    let mut facts = Facts::top(types, ty);
    let max = GRID_MAX.get(dim).copied().unwrap_or(i32::MAX as i64);
    facts.lo = count as i64;
    facts.hi = max - !count as i64;
    facts
}

/// Facts of the result of a pure operation. `operands` are facts and types, in order.
pub fn transfer(
    types: &Types,
    kind: OpKind,
    leaf: &dyn Fn(usize) -> Leaf,
    operands: &[(&Facts, TypeId)],
    result: TypeId,
) -> Facts {
    let mut facts = Facts::top(types, result);
    facts.uniform = operands
        .iter()
        .map(|o| o.0.uniform)
        .max()
        .unwrap_or(Uniformity::Block);
    if let Some(arith) = arith_of(kind, leaf) {
        let bits = types.bits(result).unwrap_or(64);
        integer(types, arith, operands, result, bits, &mut facts);
        facts.normalise(bits);
    } else {
        source(types, kind, leaf, result, &mut facts);
    }
    axes::transfer(types, kind, leaf, operands, result, &mut facts);
    axes::end_before_wrapping(types, result, &mut facts.axes);
    facts
}

/// Facts of operations that bring values in.
fn source(
    types: &Types,
    kind: OpKind,
    leaf: &dyn Fn(usize) -> Leaf,
    result: TypeId,
    facts: &mut Facts,
) {
    if let Some(nvvm::Op::Sreg) = nvvm::Op::of(kind)
        && let Leaf::Enum(register) = leaf(0)
    {
        (facts.lo, facts.hi, facts.uniform) = special_register(register);
        return;
    }
    if let Some(nvvm::Op::SmemBase) = nvvm::Op::of(kind)
        && let Leaf::Int(offset) = leaf(0)
    {
        // `global_smem` is at least 16-byte aligned; dynamic layouts keep swizzled tiles at 1024.
        facts.divisor = gcd(1024, offset.unsigned_abs());
        return;
    }
    if let Some(cuda_tile::Op::GetTensorShape | cuda_tile::Op::GetIndexSpaceShape) =
        cuda_tile::Op::of(kind)
    {
        facts.lo = 0;
        facts.hi = int_range(types.bits(result).unwrap_or(64)).1;
    }
}

/// Bounds and uniformity of case `register` of `enums::SPECIAL_REGISTER`.
fn special_register(register: u8) -> (i64, i64, Uniformity) {
    match register {
        0 | 1 => (0, 1023, Uniformity::Thread),
        2 => (0, 63, Uniformity::Thread),
        3..=5 => (0, GRID_MAX[register as usize - 3] - 1, Uniformity::Block),
        6..=8 => (1, GRID_MAX[register as usize - 6], Uniformity::Block),
        9 => (0, 31, Uniformity::Thread),
        10 => (0, 31, Uniformity::Warp),
        11 => (0, 15, Uniformity::Block),
        12..=14 => (0, GRID_MAX[register as usize - 12] - 1, Uniformity::Block),
        15..=17 => (1, GRID_MAX[register as usize - 15], Uniformity::Block),
        _ => (0, i64::from(u32::MAX), Uniformity::Thread),
    }
}

/// The threads in a block of `func`, where it says so: a `nvvm.func` does.
pub fn block_size(op: &Op) -> Option<i64> {
    nvvm::view::Func::of(op).map(|func| func.reqntid())
}

/// What a one-dimensional block of so many `threads` adds to the facts of a special register.
pub fn within_block(
    kind: OpKind,
    leaf: &dyn Fn(usize) -> Leaf,
    threads: Option<i64>,
    facts: &mut Facts,
) {
    let (Some(nvvm::Op::Sreg), Leaf::Enum(0), Some(threads)) =
        (nvvm::Op::of(kind), leaf(0), threads)
    else {
        return;
    };
    facts.hi = facts.hi.min(threads - 1).max(0);
}

/// The elements of dense constant data, of so many bits each, without what pads them.
pub fn elements(bytes: &[u8], bits: u32) -> impl Iterator<Item = u64> + Clone {
    let size = bits.div_ceil(8).max(1) as usize;
    bytes.chunks_exact(size).map(move |chunk| {
        let mut raw = [0u8; 8];
        raw.iter_mut().zip(chunk).for_each(|(r, b)| *r = *b);
        truncate(u64::from_le_bytes(raw), bits)
    })
}

/// Facts of dense constant data of type `ty`.
pub fn constant(types: &Types, data: &Dense, ty: TypeId) -> Facts {
    let mut facts = Facts::top(types, ty);
    let Dense::Bytes(bytes) = data else {
        return facts;
    };
    let bits = types.bits(ty).unwrap_or(8);
    let mut all = elements(bytes, bits);
    if bytes.len() == bits.div_ceil(8) as usize {
        let only = all.next().unwrap_or_default();
        equal(types, only, bits, ty, &mut facts);
    } else if bits >= 8 && matches!(types.get(types.elem(ty)), Type::Int(_)) {
        let values = || all.clone().map(|raw| sign_extend(raw, bits));
        facts.lo = values().min().unwrap_or(facts.lo);
        facts.hi = values().max().unwrap_or(facts.hi);
        facts.divisor = values().fold(0, |d, v| gcd(d, v.unsigned_abs()));
    }
    facts
}

/// Every element has these bits, of so many.
fn equal(types: &Types, raw: u64, bits: u32, ty: TypeId, facts: &mut Facts) {
    facts.constant = Some(raw);
    if matches!(types.get(types.elem(ty)), Type::Int(_)) {
        let value = sign_extend(raw, bits);
        (facts.lo, facts.hi, facts.divisor) = (value, value, value.unsigned_abs());
    }
    axes::splat(types, ty, facts);
}

/// Facts of a value whose every element has these bits.
pub fn splat(types: &Types, raw: u64, ty: TypeId) -> Facts {
    let mut facts = Facts::top(types, ty);
    if let Some(bits) = types.bits(ty) {
        equal(types, truncate(raw, bits), bits, ty, &mut facts);
    }
    facts
}

/// Adds what an `assume` promises.
pub fn assume(types: &Types, predicate: &AssumePredicate, ty: TypeId, facts: &mut Facts) {
    match predicate {
        // False ones are known: see `Facts::meet`.
        AssumePredicate::DivBy { .. } if facts.is_number() => (),
        AssumePredicate::DivBy {
            divisor,
            every: None | Some(1),
            ..
        } => {
            let mut more = Facts::top(types, ty);
            more.divisor = (*divisor).max(1);
            facts.meet(&more);
            axes::divisible(*divisor, &mut facts.axes);
        }
        AssumePredicate::DivBy {
            divisor,
            every: Some(every),
            along,
        } => {
            let group = u64::try_from(*every)
                .ok()
                .zip(along.and_then(|d| usize::try_from(d).ok()));
            if let Some(group) = group {
                axes::divisible_every(types, ty, *divisor, group, &mut facts.axes);
            }
        }
        AssumePredicate::SameElements(counts) => {
            axes::same_elements(types, ty, counts, &mut facts.axes)
        }
        AssumePredicate::Bounded { lower, upper } => {
            let mut more = Facts::top(types, ty);
            more.lo = lower.unwrap_or(i64::MIN).max(more.lo);
            more.hi = upper.unwrap_or(i64::MAX).min(more.hi);
            facts.meet(&more);
            facts.normalise(types.bits(ty).unwrap_or(64));
        }
    }
}

/// Bounds (wide enough never to wrap) and divisor of a result before it is cut to its width.
struct Wide {
    lo: i128,
    hi: i128,
    divisor: u64,
    /// The operation promises not to leave the signed range.
    nsw: bool,
}

impl Wide {
    fn new(lo: i128, hi: i128, divisor: u64) -> Self {
        Wide {
            lo,
            hi,
            divisor,
            nsw: false,
        }
    }

    fn nsw(mut self, nsw: bool) -> Self {
        self.nsw = nsw;
        self
    }
}

fn integer(
    types: &Types,
    arith: Arith,
    operands: &[(&Facts, TypeId)],
    result: TypeId,
    bits: u32,
    facts: &mut Facts,
) {
    let facts_of: SmallVec<[&Facts; 4]> = operands.iter().map(|o| o.0).collect();
    match (arith, facts_of.as_slice()) {
        (Arith::Same, [a, ..]) => {
            let uniform = facts.uniform;
            *facts = Facts {
                axes: SmallVec::new(),
                uniform,
                ..(*a).clone()
            };
        }
        (Arith::Select, [c, a, b]) => {
            let from = match c.constant {
                Some(0) => (*b).clone(),
                Some(_) => (*a).clone(),
                None => a.join(b),
            };
            *facts = Facts {
                axes: SmallVec::new(),
                uniform: facts.uniform,
                ..from
            };
        }
        (Arith::Offset { bytes }, [a, b]) => {
            let scale = if bytes {
                1
            } else {
                pointee_bytes(types, result)
            };
            facts.divisor = gcd(
                a.divisor,
                b.divisor.saturating_mul(scale).max((b.divisor != 0) as u64),
            );
            facts.divisor = pow2_part(facts.divisor);
        }
        (Arith::Cmp { predicate, signed }, [a, b]) => {
            facts.constant = decide(predicate, signed, a, b).map(u64::from);
            if let Some(c) = facts.constant {
                (facts.lo, facts.hi) = (-(c as i64), -(c as i64));
            }
        }
        (Arith::Iota, []) => {
            let n = types
                .as_tile(result)
                .and_then(|t| t.1.first().copied())
                .unwrap_or(1);
            (facts.lo, facts.hi) = (0, n.saturating_sub(1) as i64);
        }
        (_, list) => {
            let source = operands
                .first()
                .and_then(|o| types.bits(o.1))
                .unwrap_or(bits);
            if let Some(wide) = compute(arith, list, bits, source) {
                narrow(wide, bits, facts);
            }
        }
    }
}

/// Cuts a result to its width: what wraps keeps only the power of two of its divisor.
fn narrow(wide: Wide, bits: u32, facts: &mut Facts) {
    let (min, max) = int_range(bits);
    let fits = wide.lo >= min as i128 && wide.hi <= max as i128;
    if fits || wide.nsw {
        facts.lo = wide.lo.clamp(min as i128, max as i128) as i64;
        facts.hi = wide.hi.clamp(min as i128, max as i128) as i64;
        facts.divisor = wide.divisor;
    } else {
        let p = pow2_part(wide.divisor);
        facts.divisor = if bits < 64 && p >= 1 << bits { 0 } else { p };
        if facts.divisor == 0 {
            (facts.lo, facts.hi) = (0, 0);
        }
    }
}

fn compute(arith: Arith, operands: &[&Facts], bits: u32, source: u32) -> Option<Wide> {
    match *operands {
        [a] => unary(arith, a, source),
        [a, b] => binary(arith, a, b, bits),
        _ => None,
    }
}

fn unary(arith: Arith, a: &Facts, source: u32) -> Option<Wide> {
    let (lo, hi) = (a.lo as i128, a.hi as i128);
    Some(match arith {
        Arith::Neg => Wide::new(-hi, -lo, a.divisor),
        Arith::Abs => {
            let least = if lo > 0 { lo } else { (-hi).max(0) };
            Wide::new(least, hi.abs().max(lo.abs()), a.divisor)
        }
        Arith::Ext { signed: true } => Wide::new(lo, hi, a.divisor),
        Arith::Ext { signed: false } if lo >= 0 => Wide::new(lo, hi, a.divisor),
        Arith::Ext { signed: false } if source < 64 => {
            Wide::new(0, (1i128 << source) - 1, pow2_part(a.divisor))
        }
        Arith::Trunc => Wide::new(lo, hi, a.divisor),
        Arith::Count => Wide::new(0, source as i128, 1),
        _ => return None,
    })
}

fn binary(arith: Arith, a: &Facts, b: &Facts, bits: u32) -> Option<Wide> {
    let (alo, ahi) = (a.lo as i128, a.hi as i128);
    let (blo, bhi) = (b.lo as i128, b.hi as i128);
    let common = gcd(a.divisor, b.divisor);
    let nonneg = a.nonneg() && b.nonneg();
    Some(match arith {
        Arith::Add { nsw } => Wide::new(alo + blo, ahi + bhi, common).nsw(nsw),
        Arith::Sub { nsw } => Wide::new(alo - bhi, ahi - blo, common).nsw(nsw),
        Arith::Mul { nsw } => {
            let ends = [alo * blo, alo * bhi, ahi * blo, ahi * bhi];
            let divisor = a.divisor.checked_mul(b.divisor);
            let lo = ends.into_iter().min()?;
            let hi = ends.into_iter().max()?;
            Wide::new(lo, hi, divisor.unwrap_or(a.divisor.max(b.divisor))).nsw(nsw)
        }
        Arith::Min { signed } if signed || nonneg => Wide::new(alo.min(blo), ahi.min(bhi), common),
        Arith::Max { signed } if signed || nonneg => Wide::new(alo.max(blo), ahi.max(bhi), common),
        Arith::Div { signed, rounding } if signed || nonneg => divide(a, b, rounding)?,
        Arith::Rem { signed } if signed || nonneg => remainder(a, b)?,
        Arith::And => and(a, b)?,
        Arith::Or | Arith::Xor if nonneg => {
            let top = (ahi.max(bhi) as u128 + 1).next_power_of_two() as i128 - 1;
            Wide::new(0, top, pow2_part(common))
        }
        Arith::Or | Arith::Xor => return Some(Wide::new(i128::MIN, i128::MAX, pow2_part(common))),
        Arith::Shl { nsw } => {
            let least = 1i128.checked_shl(b.lo.clamp(0, 63) as u32)?;
            let divisor = (a.divisor as u128)
                .checked_mul(least as u128)
                .and_then(|d| u64::try_from(d).ok());
            let divisor = divisor.unwrap_or(1 << 63);
            if blo < 0 || bhi >= bits as i128 {
                // Too large an amount gives 0, which every number divides.
                return Some(Wide::new(i128::MIN, i128::MAX, pow2_part(a.divisor)));
            }
            let most = 1i128 << bhi;
            let ends = [alo * least, alo * most, ahi * least, ahi * most];
            Wide::new(ends.into_iter().min()?, ends.into_iter().max()?, divisor).nsw(nsw)
        }
        Arith::Shr { signed } if signed || a.nonneg() => {
            if blo < 0 {
                return Some(Wide::new(alo.min(0), ahi.max(0), 1));
            }
            let (least, most) = (blo.min(64) as u32, bhi.min(64) as u32);
            let ends = [alo >> least, alo >> most, ahi >> least, ahi >> most];
            let divisor = match b.constant {
                Some(s) if s < 63 && a.divisor.is_multiple_of(1 << s) => a.divisor >> s,
                _ => 1,
            };
            Wide::new(ends.into_iter().min()?, ends.into_iter().max()?, divisor)
        }
        Arith::Shr { signed: false } if blo >= 1 && bits < 64 => {
            Wide::new(0, (1i128 << bits.saturating_sub(blo.min(64) as u32)) - 1, 1)
        }
        // No sign is left of an unsigned number: of half of it or less, or of what is below a number that has none.
        Arith::Div { rounding, .. } if blo >= 2 && rounding != Division::Up => {
            Wide::new(0, ((1i128 << bits) - 1) / blo, 1)
        }
        Arith::Rem { .. } if blo >= 1 => Wide::new(0, bhi - 1, 1),
        // Neither is larger than the number, whatever the (nonzero) divisor.
        Arith::Div { .. } | Arith::Rem { .. } if a.nonneg() => Wide::new(0, ahi, 1),
        Arith::MulHi if nonneg => Wide::new((alo * blo) >> bits, (ahi * bhi) >> bits, 1),
        _ => return None,
    })
}

/// Quotient by a positive divisor; anything else says nothing.
fn divide(a: &Facts, b: &Facts, rounding: Division) -> Option<Wide> {
    if b.lo <= 0 {
        // Truncation towards zero never grows the magnitude, whatever the (nonzero) divisor.
        let most = (a.lo as i128).abs().max((a.hi as i128).abs());
        return Some(Wide::new(
            if a.nonneg() && b.nonneg() { 0 } else { -most },
            most,
            1,
        ));
    }
    let quotient = |x: i128, y: i128| match rounding {
        Division::Zero => x / y,
        Division::Down => x.div_euclid(y),
        Division::Up => -((-x).div_euclid(y)),
    };
    let ends = [
        quotient(a.lo as i128, b.lo as i128),
        quotient(a.lo as i128, b.hi as i128),
        quotient(a.hi as i128, b.lo as i128),
        quotient(a.hi as i128, b.hi as i128),
    ];
    let divisor = match b.constant {
        Some(_) if a.divisor.is_multiple_of(b.lo as u64) => a.divisor / b.lo as u64,
        _ => 1,
    };
    Some(Wide::new(*ends.iter().min()?, *ends.iter().max()?, divisor))
}

/// Remainder with the dividend's sign.
fn remainder(a: &Facts, b: &Facts) -> Option<Wide> {
    let most = (b.lo as i128).abs().max((b.hi as i128).abs()) - 1;
    if most < 0 {
        return None;
    }
    let lo = if a.nonneg() {
        0
    } else {
        (a.lo as i128).max(-most)
    };
    let hi = if a.hi <= 0 {
        0
    } else {
        (a.hi as i128).min(most)
    };
    if a.nonneg() && a.hi < b.lo {
        return Some(Wide::new(a.lo as i128, a.hi as i128, a.divisor));
    }
    Some(Wide::new(lo, hi, gcd(a.divisor, b.divisor)))
}

fn and(a: &Facts, b: &Facts) -> Option<Wide> {
    let divisor = pow2_part(a.divisor).max(pow2_part(b.divisor));
    let hi = match (a.nonneg(), b.nonneg()) {
        (true, true) => a.hi.min(b.hi),
        (true, false) => a.hi,
        (false, true) => b.hi,
        (false, false) => return Some(Wide::new(i128::MIN, i128::MAX, divisor)),
    };
    Some(Wide::new(0, hi as i128, divisor))
}

/// Whether a comparison always or never holds, by the bounds.
fn decide(predicate: u8, signed: bool, a: &Facts, b: &Facts) -> Option<bool> {
    if let (Some(x), Some(y)) = (a.constant, b.constant)
        && predicate < 2
    {
        return Some((x == y) == (predicate == 0));
    }
    if !signed && predicate >= 2 && !(a.nonneg() && b.nonneg()) {
        return None;
    }
    let below = |x: &Facts, y: &Facts| x.hi < y.lo;
    let not_above = |x: &Facts, y: &Facts| x.hi <= y.lo;
    let less = |x, y| {
        if below(x, y) {
            Some(true)
        } else if not_above(y, x) {
            Some(false)
        } else {
            None
        }
    };
    match predicate {
        0 | 1 if below(a, b) || below(b, a) => Some(predicate == 1),
        2 => less(a, b),
        3 => less(b, a).map(|r| !r),
        4 => less(b, a),
        5 => less(a, b).map(|r| !r),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::int::{self, IntBinary};
    use nvvm::Op;

    /// Every operand pair of 4 bits inside the stated bounds lands inside the result's.
    #[test]
    fn facts_of_binary_operations_hold() {
        let mut types = Types::default();
        let ty = types.int(4);
        let ops = [
            (Op::Add, IntBinary::Add),
            (Op::Sub, IntBinary::Sub),
            (Op::Mul, IntBinary::Mul),
            (Op::And, IntBinary::And),
            (Op::Or, IntBinary::Or),
            (Op::Xor, IntBinary::Xor),
            (Op::MinS, IntBinary::Min(int::Signedness::Signed)),
            (Op::MaxU, IntBinary::Max(int::Signedness::Unsigned)),
            (Op::RemS, IntBinary::Rem(int::Signedness::Signed)),
            (Op::RemU, IntBinary::Rem(int::Signedness::Unsigned)),
            (
                Op::DivS,
                IntBinary::Div(int::Signedness::Signed, int::IntRounding::Zero),
            ),
            (
                Op::DivU,
                IntBinary::Div(int::Signedness::Unsigned, int::IntRounding::Zero),
            ),
            (Op::Shl, IntBinary::Shl),
            (Op::ShrS, IntBinary::Shr(int::Signedness::Signed)),
            (Op::ShrU, IntBinary::Shr(int::Signedness::Unsigned)),
            (Op::MulHi, IntBinary::MulHi(int::Signedness::Unsigned)),
        ];
        let mut some = Vec::new();
        for lo in -8..8i64 {
            for hi in lo..8 {
                for divisor in [1, 2, 3, 4] {
                    let mut facts = Facts::top(&types, ty);
                    (facts.lo, facts.hi, facts.divisor) = (lo, hi, divisor);
                    let members: Vec<i64> = (lo..=hi)
                        .filter(|v| v.unsigned_abs().is_multiple_of(divisor))
                        .collect();
                    facts.normalise(4);
                    if !members.is_empty() && (lo + hi + divisor as i64) % 3 == 0 {
                        some.push((facts, members));
                    }
                }
            }
        }
        for (kind, op) in ops {
            for (a, xs) in &some {
                for (b, ys) in &some {
                    let facts = transfer(
                        &types,
                        kind.into(),
                        &|_| Leaf::Absent,
                        &[(a, ty), (b, ty)],
                        ty,
                    );
                    for (&x, &y) in xs.iter().flat_map(|x| ys.iter().map(move |y| (x, y))) {
                        if y == 0 && matches!(op, IntBinary::Div(..) | IntBinary::Rem(_)) {
                            continue;
                        }
                        let raw = int::binary(op, 4, truncate(x as u64, 4), truncate(y as u64, 4));
                        let value = sign_extend(raw, 4);
                        let holds = (facts.lo..=facts.hi).contains(&value)
                            && gcd(facts.divisor, value.unsigned_abs()) == facts.divisor
                            && facts.constant.is_none_or(|c| c == raw);
                        assert!(
                            holds,
                            "{kind:?} {x} {y} = {value}: {facts:?} from {a:?} {b:?}"
                        );
                    }
                }
            }
        }
    }
}
