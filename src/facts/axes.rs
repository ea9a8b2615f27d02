//! How elements run along each dimension of a tile: the facts behind vector widths and masks.

use super::attr::pointee_bytes;
use super::axis::{Axes, Axis, at, monotone, scaled};
use super::leaf::Leaf;
use super::regroup::reshaped;
use super::{Arith, Division, Facts, arith_of, gcd, pow2_part};
use crate::dialect::{OpKind, cuda_tile};
use crate::ir::{Type, TypeId, Types};
use smallvec::SmallVec;

fn shape(types: &Types, ty: TypeId) -> &[u64] {
    types.as_tile(ty).map_or(&[], |(_, shape)| shape)
}

/// All elements are equal.
pub(super) fn splat(types: &Types, ty: TypeId, facts: &mut Facts) {
    let divisibility = pow2_part(facts.divisor);
    facts.axes = shape(types, ty)
        .iter()
        .map(|&extent| Axis {
            contiguity: 1,
            divisibility,
            constancy: pow2_part(extent),
        })
        .collect();
}

pub(super) fn divisible(divisor: u64, axes: &mut Axes) {
    for axis in axes {
        axis.divisibility = axis.divisibility.max(pow2_part(divisor.max(1)));
    }
}

/// Longest run, in elements, that an assumption is taken at its word for: the widest access of bytes. Triton's
/// `max_contiguous` promises the same of the last tile of a dimension, whose rest is wrapped around or zero; an access
/// there stays within the row that its own first element names, where a longer run would leave it.
const LONGEST_ASSUMED: u64 = 16;

/// Elements come in groups of `every` along `along`: the first of each is a multiple of `divisor`, each other is one
/// more (one pointee for pointers) than the last.
pub(super) fn divisible_every(
    types: &Types,
    ty: TypeId,
    divisor: u64,
    (every, along): (u64, usize),
    axes: &mut Axes,
) {
    fill(types, ty, axes);
    let extent = shape(types, ty).get(along).copied();
    let (Some(axis), Some(extent)) = (axes.get_mut(along), extent) else {
        return;
    };
    let unit = pointee_bytes(types, ty);
    let promised = Axis {
        contiguity: every.max(1),
        divisibility: pow2_part(divisor.max(1)),
        constancy: 1,
    };
    // Aligned groups lie within the promised ones where their length divides that of these.
    let length = pow2_part(promised.contiguity);
    let group = Axis {
        contiguity: length,
        divisibility: at(&promised, length, unit),
        constancy: 1,
    };
    let run = length.min(pow2_part(extent)).min(LONGEST_ASSUMED);
    axis.contiguity = axis.contiguity.max(run);
    axis.divisibility = axis.divisibility.max(at(&group, axis.contiguity, unit));
}

pub(super) fn same_elements(types: &Types, ty: TypeId, counts: &[i64], axes: &mut Axes) {
    fill(types, ty, axes);
    for (axis, &count) in axes.iter_mut().zip(counts) {
        axis.constancy = axis.constancy.max(pow2_part(count.max(1) as u64));
    }
}

fn fill(types: &Types, ty: TypeId, axes: &mut Axes) {
    if axes.is_empty() {
        axes.resize(shape(types, ty).len(), Axis::NOTHING);
    }
}

/// Cuts the runs of a narrow integer type to half of its numbers: an aligned run then wraps neither as
/// signed nor as unsigned numbers.
pub(super) fn end_before_wrapping(types: &Types, ty: TypeId, axes: &mut Axes) {
    let Type::Int(bits) = types.get(types.elem(ty)) else {
        return;
    };
    let half = 1 << bits.saturating_sub(1).min(63);
    for axis in axes.iter_mut().filter(|a| a.contiguity > half) {
        *axis = cut(axis, half, 1);
    }
}

/// Fills in `facts.axes` of a pure operation's result.
pub(super) fn transfer(
    types: &Types,
    kind: OpKind,
    leaf: &dyn Fn(usize) -> Leaf,
    operands: &[(&Facts, TypeId)],
    result: TypeId,
    facts: &mut Facts,
) {
    let extents = shape(types, result);
    if extents.is_empty() {
        return;
    }
    if facts.constant.is_some() {
        return splat(types, result, facts);
    }
    let arith = arith_of(kind, leaf);
    let divisibility = pow2_part(facts.divisor);
    if let Some(Arith::Iota) = arith {
        facts.axes = extents
            .iter()
            .map(|&n| Axis {
                contiguity: pow2_part(n),
                divisibility: 1 << 63,
                constancy: 1,
            })
            .collect();
        return;
    }
    if let Some(Arith::Same) = arith {
        facts.axes = match cuda_tile::Op::of(kind) {
            // Which dimension went where is an attribute's matter; `permuted` knows it.
            Some(cuda_tile::Op::Permute) => Axes::new(),
            Some(cuda_tile::Op::Extract) => part(types, operands, result),
            Some(cuda_tile::Op::Reshape) => regrouped(types, operands, result).unwrap_or_default(),
            _ => moved(types, operands, result).unwrap_or_default(),
        };
        return recount(types, operands, result, facts);
    }
    let known: SmallVec<[Axes; 4]> = operands
        .iter()
        .map(|&(f, ty)| axes_of(types, f, ty))
        .collect();
    if known.is_empty() || known.iter().any(|a| a.len() != extents.len()) {
        return;
    }
    facts.axes = (0..extents.len())
        .map(|d| {
            let list: SmallVec<[Axis; 4]> = known.iter().map(|a| a[d]).collect();
            let mut axis = elementwise(types, arith, &list, operands, result);
            if axis.contiguity == 1 {
                axis.divisibility = axis.divisibility.max(divisibility);
            }
            axis
        })
        .collect();
}

/// The axes of an operand; what its other facts imply when none are recorded.
fn axes_of(types: &Types, facts: &Facts, ty: TypeId) -> Axes {
    let mut axes = facts.axes.clone();
    fill(types, ty, &mut axes);
    for axis in &mut axes {
        if axis.contiguity == 1 {
            axis.divisibility = axis.divisibility.max(pow2_part(facts.divisor));
        }
    }
    axes
}

/// The axes of a permutation's result: dimension `d` was `order[d]`.
pub(super) fn permuted(axes: &Axes, order: &[i32]) -> Axes {
    let at = |&d: &i32| usize::try_from(d).ok().and_then(|d| axes.get(d)).copied();
    order
        .iter()
        .map(at)
        .collect::<Option<Axes>>()
        .unwrap_or_default()
}

/// A part of a tile, which starts at a multiple of its extents.
fn part(types: &Types, operands: &[(&Facts, TypeId)], result: TypeId) -> Axes {
    let Some(&(facts, from)) = operands.first() else {
        return Axes::new();
    };
    let unit = pointee_bytes(types, from);
    let cut = |(a, &extent): (&Axis, &u64)| {
        let run = gcd(a.contiguity, extent);
        Axis {
            contiguity: run,
            divisibility: at(a, run, unit),
            constancy: gcd(a.constancy, extent),
        }
    };
    let (axes, extents) = (axes_of(types, facts, from), shape(types, result));
    axes.iter().zip(extents).map(cut).collect()
}

/// Runs end where what one more means changes: bytes for what was elements, a pointer's number.
fn recount(types: &Types, operands: &[(&Facts, TypeId)], result: TypeId, facts: &mut Facts) {
    let unit = |ty| pointee_bytes(types, ty);
    if operands.first().is_some_and(|o| unit(o.1) != unit(result)) {
        let divisibility = pow2_part(facts.divisor);
        for axis in facts.axes.iter_mut().filter(|a| a.contiguity > 1) {
            (axis.contiguity, axis.divisibility) = (1, divisibility);
        }
    }
}

/// Broadcasts of extents of 1, and what leaves all elements where they are.
fn moved(types: &Types, operands: &[(&Facts, TypeId)], result: TypeId) -> Option<Axes> {
    let &(facts, from_ty) = operands.first()?;
    let (from, to) = (shape(types, from_ty), shape(types, result));
    let axes = axes_of(types, facts, from_ty);
    let unit = |divisibility, extent: u64| Axis {
        contiguity: 1,
        divisibility,
        constancy: pow2_part(extent),
    };
    if from.len() != to.len() {
        return None;
    }
    let carried = from.iter().zip(to).zip(&axes).map(|((&f, &t), a)| {
        if f == t {
            Some(*a)
        } else if f == 1 {
            Some(unit(a.divisibility, t))
        } else {
            None
        }
    });
    carried.collect()
}

/// Extents merged and split.
fn regrouped(types: &Types, operands: &[(&Facts, TypeId)], result: TypeId) -> Option<Axes> {
    let &(facts, from_ty) = operands.first()?;
    let (from, to) = (shape(types, from_ty), shape(types, result));
    let axes = axes_of(types, facts, from_ty);
    let unit = pointee_bytes(types, from_ty);
    reshaped(&axes, from, to, unit, pow2_part(facts.divisor))
}

/// One dimension of an elementwise operation.
fn elementwise(
    types: &Types,
    arith: Option<Arith>,
    axes: &[Axis],
    operands: &[(&Facts, TypeId)],
    result: TypeId,
) -> Axis {
    let constancy = axes.iter().fold(0, |g, a| gcd(g, a.constancy)).max(1);
    let still = Axis {
        constancy,
        ..Axis::NOTHING
    };
    let (Some(arith), [a, rest @ ..], [(af, a_ty), ..]) = (arith, axes, operands) else {
        return still;
    };
    // A run that starts at a multiple of its length never wraps and never crosses zero.
    let aligned = gcd(a.contiguity, a.divisibility);
    match (arith, rest) {
        (Arith::Ext { signed }, []) => unwrapped(types, (af, *a_ty), a, signed),
        (Arith::Trunc, []) => *a,
        (Arith::Add { .. }, [b]) => sum(a, b, 1, constancy),
        (Arith::Sub { .. }, [b]) => run_plus_still(a, b, (1, 1), constancy),
        (Arith::Offset { bytes: false }, [b]) => {
            // Steps are signed. Those of 32 bits would have to go over half of an address space to wrap.
            let narrow = |(_, ty): &&(&Facts, TypeId)| types.bits(*ty).is_some_and(|n| n < 32);
            let steps = match operands.get(1).filter(narrow) {
                Some(&numbers) => unwrapped(types, numbers, b, true),
                None => *b,
            };
            sum(a, &steps, pointee_bytes(types, result), constancy)
        }
        (Arith::Mul { .. }, [_]) if operands.get(1).is_some_and(|(f, _)| f.constant == Some(1)) => {
            *a
        }
        (Arith::Div { rounding, .. }, [b]) => {
            // Aligned runs no longer than the divisor's alignment have one quotient, where it is rounded down,
            // or, of a negative divisor, away from what is below zero.
            let constant = match rounding {
                Division::Down => positive(operands),
                Division::Zero => af.nonneg(),
                Division::Up => false,
            };
            let run = if constant {
                gcd(aligned, gcd(b.divisibility, b.constancy))
            } else {
                1
            };
            Axis {
                constancy: constancy.max(run),
                ..still
            }
        }
        // A remainder of a number that is not negative does not ask for its divisor's sign.
        (Arith::Rem { .. }, [b]) if af.nonneg() => {
            let run = gcd(aligned, gcd(b.divisibility, b.constancy));
            Axis {
                contiguity: run,
                divisibility: gcd(at(a, run, 1), at(b, run, 1)),
                constancy,
            }
        }
        // The low bits of an aligned run count it; the others stand still in it.
        (Arith::And, [b]) => masked(a, b, operands, constancy)
            .or_else(|| masked(b, a, &[operands[1], operands[0]], constancy))
            .unwrap_or(still),
        (Arith::Or | Arith::Xor, [b]) => {
            let left = beside(a, b, constancy);
            let right = beside(b, a, constancy);
            if left.contiguity >= right.contiguity {
                left
            } else {
                right
            }
        }
        (Arith::Shr { .. }, [_]) => {
            let by = operands.get(1).and_then(|(f, _)| f.constant);
            let run = by.and_then(|by| 1u64.checked_shl(u32::try_from(by).ok()?));
            Axis {
                constancy: constancy.max(run.map_or(1, |run| gcd(aligned, run))),
                ..still
            }
        }
        (Arith::Select, [x, y]) => {
            let both = |(x, y): (&Axis, &Axis)| gcd(gcd(x.contiguity, y.contiguity), a.constancy);
            let run = both((x, y));
            let unit = pointee_bytes(types, result);
            Axis {
                contiguity: run,
                divisibility: gcd(at(x, run, unit), at(y, run, unit)),
                constancy,
            }
        }
        (Arith::Cmp { predicate, .. }, [b]) => {
            // x < y and x >= y do not change within an aligned run of x beside an aligned y; and mirrored.
            let run = |x: &Axis, y: &Axis| {
                gcd(
                    gcd(x.contiguity, x.divisibility),
                    gcd(y.constancy, y.divisibility),
                )
            };
            let one = match predicate {
                2 | 5 => run(a, b),
                3 | 4 => run(b, a),
                _ => 1,
            };
            Axis {
                constancy: constancy.max(one),
                ..still
            }
        }
        _ => still,
    }
}

/// The runs of numbers where these do not wrap.
fn unwrapped(types: &Types, of: (&Facts, TypeId), axis: &Axis, signed: bool) -> Axis {
    let (facts, ty) = of;
    let run = monotone(facts, axis, signed, super::range(types, ty));
    cut(axis, run, 1)
}

/// `a & b` where `b` is one less than a power of two everywhere.
fn masked(a: &Axis, b: &Axis, operands: &[(&Facts, TypeId)], constancy: u64) -> Option<Axis> {
    let mask = operands.get(1)?.0.constant?;
    let period = mask.checked_add(1).filter(|p| p.is_power_of_two())?;
    let run = gcd(gcd(a.contiguity, a.divisibility), gcd(period, b.constancy));
    Some(Axis {
        contiguity: run,
        divisibility: at(a, run, 1),
        constancy,
    })
}

/// `a | b` or `a ^ b` where `b` has none of the bits that `a` counts in.
fn beside(a: &Axis, b: &Axis, constancy: u64) -> Axis {
    let aligned = gcd(a.contiguity, a.divisibility);
    let run = gcd(aligned, gcd(b.constancy, b.divisibility));
    Axis {
        contiguity: run,
        divisibility: gcd(at(a, run, 1), at(b, run, 1)),
        constancy,
    }
}

/// Whether the second operand is known to be positive.
fn positive(operands: &[(&Facts, TypeId)]) -> bool {
    operands.get(1).is_some_and(|(f, _)| f.lo > 0)
}

/// The same elements as shorter runs.
fn cut(axis: &Axis, run: u64, unit: u64) -> Axis {
    Axis {
        contiguity: run,
        divisibility: at(axis, run, unit),
        constancy: axis.constancy,
    }
}

/// `a + unit * b`: a run of either stays one where the other stands still.
fn sum(a: &Axis, b: &Axis, unit: u64, constancy: u64) -> Axis {
    let left = run_plus_still(a, b, (unit, unit), constancy);
    let run = gcd(b.contiguity, a.constancy);
    if run <= left.contiguity {
        return left;
    }
    Axis {
        contiguity: run,
        divisibility: gcd(scaled(at(b, run, 1), unit), at(a, run, unit)),
        constancy,
    }
}

/// `a ± units.1 * b`, keeping the runs of `a`, whose elements are `units.0` apart.
fn run_plus_still(a: &Axis, b: &Axis, units: (u64, u64), constancy: u64) -> Axis {
    let run = gcd(a.contiguity, b.constancy);
    Axis {
        contiguity: run,
        divisibility: gcd(at(a, run, units.0), scaled(at(b, run, 1), units.1)),
        constancy,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::cuda_tile::Op;

    const WIDTH: u32 = 8;

    /// Whether a row of numbers of [`WIDTH`] bits is what an axis says.
    fn holds(axis: &Axis, row: &[i64]) -> bool {
        let same = |a: i64, b: i64| (a - b) & ((1 << WIDTH) - 1) == 0;
        let counts = row.chunks(axis.contiguity as usize).all(|group| {
            let aligned = (group[0] as u64).is_multiple_of(axis.divisibility.min(1 << WIDTH));
            let on = |(i, &v): (usize, &i64)| same(v, group[0] + i as i64);
            aligned && group.iter().enumerate().all(on)
        });
        let still = row.chunks(axis.constancy as usize);
        counts && still.into_iter().all(|g| g.iter().all(|&v| v == g[0]))
    }

    /// Rows of eight numbers with what is known about them.
    fn rows() -> Vec<(Axis, Vec<i64>)> {
        let mut rows = Vec::new();
        for (contiguity, constancy) in [(1, 1), (1, 4), (1, 8), (2, 1), (4, 1), (8, 1)] {
            for divisibility in [1i64, 4, 8] {
                for seed in [0i64, 5, 11, 29, 30] {
                    let group = i64::max(contiguity, constancy);
                    let value = |i: i64| {
                        let start = (seed + 3 * (i / group)) * divisibility;
                        start + if contiguity > 1 { i % group } else { 0 }
                    };
                    let wrapped = |i| (value(i) as i8).into();
                    let axis = Axis {
                        contiguity: contiguity as u64,
                        divisibility: divisibility as u64,
                        constancy: constancy as u64,
                    };
                    rows.push((axis, (0..8).map(wrapped).collect()));
                }
            }
        }
        rows
    }

    /// Numbers that are cut to fewer bits begin again; widened, compared and as offsets, they show it.
    #[test]
    fn runs_end_where_narrow_numbers_wrap() {
        const ELEMENTS: u64 = 512;
        let mut types = Types::default();
        let [bit, byte, word] = [1, 8, 32].map(|bits| {
            let elem = types.int(bits);
            types.tile(elem, &[ELEMENTS])
        });
        let (pointee, attr) = (types.elem(byte), 0);
        let elem = types.intern(Type::Ptr { pointee, attr });
        let pointers = types.tile(elem, &[ELEMENTS]);
        let of = |kind: Op, cases: &[u8], operands: &[(&Facts, TypeId)], result| {
            let leaf = |i: usize| cases.get(i).map_or(Leaf::Absent, |&case| Leaf::Enum(case));
            super::super::transfer(&types, kind.into(), &leaf, operands, result)
        };
        let check = |facts: &Facts, value: fn(i64) -> i64| {
            let axis = facts.axes[0];
            let row: Vec<i64> = (0..ELEMENTS as i64).map(value).collect();
            let mut runs = row.chunks(axis.contiguity as usize);
            let on = |g: &[i64]| g.iter().zip(g[0]..).all(|(&v, at)| v == at);
            assert!(runs.all(on), "{axis:?}");
            let mut equal = row.chunks(axis.constancy as usize);
            assert!(equal.all(|g| g.iter().all(|&v| v == g[0])), "{axis:?}");
        };

        let iota = of(Op::Iota, &[], &[], word);
        let bytes = of(Op::TruncI, &[], &[(&iota, word)], byte);
        let cut = [(&bytes, byte)];
        check(&of(Op::ExtI, &[0], &cut, word), |i| i64::from(i as u8));
        check(&of(Op::ExtI, &[1], &cut, word), |i| i64::from(i as i8));

        let mut base = Facts::top(&types, pointers);
        splat(&types, pointers, &mut base);
        let operands = [(&base, pointers), (&bytes, byte)];
        check(&of(Op::Offset, &[], &operands, pointers), |i| {
            i64::from(i as i8)
        });

        let zero = super::super::splat(&types, 0, byte);
        let operands = [(&bytes, byte), (&zero, byte)];
        // Less than, signed.
        check(&of(Op::CmpI, &[2, 1], &operands, bit), |i| {
            i64::from((i as i8) < 0)
        });
    }

    /// What an assumption says of a tile that nothing is known of, and of one whose runs are longer.
    #[test]
    fn assumed_groups_are_runs() {
        let mut types = Types::default();
        let elem = types.int(32);
        let shape = smallvec::smallvec![64];
        let ty = types.intern(Type::Tile { elem, shape });
        let assumed = |known: Axis, divisor, every| {
            let mut axes: Axes = [known].into_iter().collect();
            divisible_every(&types, ty, divisor, (every, 0), &mut axes);
            (axes[0].contiguity, axes[0].divisibility)
        };
        let known = |contiguity, divisibility| Axis {
            contiguity,
            divisibility,
            constancy: 1,
        };
        assert_eq!(assumed(Axis::NOTHING, 32, 8), (8, 32));
        // No longer than an access: 16, 32 and 48 follow the multiple of 64.
        assert_eq!(assumed(Axis::NOTHING, 64, 64), (LONGEST_ASSUMED, 16));
        // Of six that follow a multiple of eight, the third and the fifth are even.
        assert_eq!(assumed(Axis::NOTHING, 8, 6), (2, 2));
        assert_eq!(assumed(known(64, 1), 32, 8), (64, 32));
        assert_eq!(assumed(known(4, 4), 2, 2), (4, 4));
    }

    /// What is said about the results of operations on such rows is true of them.
    #[test]
    fn axes_of_elementwise_results_hold() {
        let mut types = Types::default();
        let elem = types.int(WIDTH);
        let shape = smallvec::smallvec![8];
        let ty = types.intern(Type::Tile { elem, shape });
        let facts = |axis: &Axis, row: &[i64]| {
            let mut facts = Facts::top(&types, ty);
            facts.lo = row.iter().copied().min().unwrap_or(0);
            facts.hi = row.iter().copied().max().unwrap_or(0);
            facts.divisor = row.iter().fold(0, |d, v| gcd(d, v.unsigned_abs()));
            let first = row[0];
            if row.iter().all(|&v| v == first) {
                facts.constant = Some(first as u64 & 0xff);
            }
            facts.axes = [*axis].into_iter().collect();
            facts
        };
        type Function = fn(i64, i64) -> Option<i64>;
        let wrap = |v: i64| -> i64 { (v as i8).into() };
        // Enumerated attributes: signedness (0 unsigned, 1 signed), rounding (1 to zero, 2 down, 3 up).
        let operations: [(Op, &[u8], Function); 12] = [
            (Op::AddI, &[], |a, b| Some(a + b)),
            (Op::SubI, &[], |a, b| Some(a - b)),
            (Op::AndI, &[], |a, b| Some(a & b)),
            (Op::OrI, &[], |a, b| Some(a | b)),
            (Op::XOrI, &[], |a, b| Some(a ^ b)),
            (Op::ShRI, &[1], |a, b| (0..8).contains(&b).then(|| a >> b)),
            (Op::DivI, &[1, 1], |a, b| a.checked_div(b)),
            (Op::DivI, &[1, 2], |a, b| {
                let towards_zero = a.checked_div(b)?;
                Some(towards_zero - i64::from(a % b != 0 && (a < 0) != (b < 0)))
            }),
            (Op::DivI, &[1, 3], |a, b| {
                let towards_zero = a.checked_div(b)?;
                Some(towards_zero + i64::from(a % b != 0 && (a < 0) == (b < 0)))
            }),
            (Op::DivI, &[0, 1], |a, b| (a & 0xff).checked_div(b & 0xff)),
            (Op::RemI, &[1], |a, b| a.checked_rem(b)),
            (Op::RemI, &[0], |a, b| (a & 0xff).checked_rem(b & 0xff)),
        ];
        for (kind, cases, function) in operations {
            let leaf = |i: usize| cases.get(i).map_or(Leaf::Absent, |&case| Leaf::Enum(case));
            for (a, xs) in rows().iter().filter(|(a, x)| holds(a, x)) {
                for (b, ys) in rows().iter().filter(|(b, y)| holds(b, y)) {
                    let results = xs.iter().zip(ys).map(|(&x, &y)| function(x, y));
                    let Some(results) = results.collect::<Option<Vec<i64>>>() else {
                        continue;
                    };
                    let row: Vec<i64> = results.into_iter().map(wrap).collect();
                    let (fa, fb) = (facts(a, xs), facts(b, ys));
                    let mut of = Facts::top(&types, ty);
                    transfer(
                        &types,
                        kind.into(),
                        &leaf,
                        &[(&fa, ty), (&fb, ty)],
                        ty,
                        &mut of,
                    );
                    let said = of.axes.first().is_none_or(|axis| holds(axis, &row));
                    assert!(said, "{kind:?} {xs:?} {ys:?}: {row:?} is not {:?}", of.axes);
                }
            }
        }
    }
}
