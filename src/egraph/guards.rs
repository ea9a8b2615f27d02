//! Conditions and computed numbers of a match.

use egg::Id;

use super::rule::{Comparison, Expr, Function, Guard};
use crate::egraph::analysis::Graph;
use crate::egraph::matcher::{Bind, Binds, elem_is};
use crate::egraph::node::Leaf;
use crate::facts::{Facts, Uniformity, sign_extend};
use crate::ir::{Attr, Type, TypeId};
use crate::scalar::{FloatFormat, Overflow, Rounding};
use crate::target::Target;

/// Whether a guard can hold on a target: `None` where that depends on the match.
pub fn on(target: Target, guard: &Guard) -> Option<bool> {
    match guard {
        Guard::Sm(lo, hi) => Some((*lo..=*hi).contains(&target.sm)),
        Guard::Feature(feature) => Some(target.has(*feature)),
        Guard::Not(none) => decided(target, none, true).map(|holds| !holds),
        Guard::And(all) => decided(target, all, false),
        Guard::Or(any) => decided(target, any, true),
        _ => None,
    }
}

/// `decisive` if one of the guards is that on the target, its opposite if all are, else open.
fn decided(target: Target, guards: &[Guard], decisive: bool) -> Option<bool> {
    let mut result = Some(!decisive);
    for guard in guards {
        match on(target, guard) {
            Some(holds) if holds == decisive => return Some(decisive),
            Some(_) => {}
            None => result = None,
        }
    }
    result
}

/// A computed number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Number {
    Int(i128),
    Float(f64),
}

impl Number {
    fn int(self) -> Option<i128> {
        match self {
            Number::Int(i) => Some(i),
            Number::Float(_) => None,
        }
    }

    fn float(self) -> f64 {
        match self {
            Number::Int(i) => i as f64,
            Number::Float(f) => f,
        }
    }
}

fn bind(binds: &Binds, slot: u8) -> Bind {
    binds.slots.get(slot as usize).copied().unwrap_or_default()
}

fn class(graph: &Graph, binds: &Binds, slot: u8) -> Option<Id> {
    match bind(binds, slot) {
        Bind::Class(id) => Some(graph.find(id)),
        _ => None,
    }
}

fn facts<'g>(graph: &'g Graph, binds: &Binds, slot: u8) -> Option<&'g Facts> {
    class(graph, binds, slot).map(|id| &graph[id].data.facts)
}

/// The type of a variable's class, or the type it is bound to.
pub fn type_of(graph: &Graph, binds: &Binds, slot: u8) -> Option<TypeId> {
    match bind(binds, slot) {
        Bind::Class(id) => graph[graph.find(id)].data.ty,
        Bind::Leaf(Leaf::Type(ty)) => Some(ty),
        _ => None,
    }
}

/// The value of an expression; `None` where it has none.
pub fn eval(graph: &Graph, binds: &Binds, expr: &Expr) -> Option<Number> {
    match expr {
        Expr::Int(i) => Some(Number::Int(*i)),
        Expr::Float(f) => Some(Number::Float(*f)),
        Expr::Var(slot) => variable(graph, binds, *slot),
        Expr::Apply(function, args) => apply(graph, binds, *function, args),
    }
}

fn variable(graph: &Graph, binds: &Binds, slot: u8) -> Option<Number> {
    let types = &graph.analysis.types;
    match bind(binds, slot) {
        Bind::Leaf(Leaf::Int(i)) => Some(Number::Int(i.into())),
        Bind::Leaf(Leaf::Bool(b)) => Some(Number::Int(b.into())),
        Bind::Class(id) => {
            let data = &graph[graph.find(id)].data;
            let (bits, ty) = (data.facts.constant?, data.ty?);
            match types.get(types.elem(ty)) {
                Type::Int(width) => Some(Number::Int(sign_extend(bits, *width).into())),
                Type::Float(f) => Some(Number::Float(f.decode(bits))),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The functions of a variable rather than of a number.
fn of_variable(graph: &Graph, binds: &Binds, function: Function, slot: u8) -> Option<i128> {
    let types = &graph.analysis.types;
    Some(match function {
        Function::Width => types.bits(type_of(graph, binds, slot)?)?.into(),
        Function::Elems => {
            let ty = type_of(graph, binds, slot)?;
            match types.as_tile(ty) {
                Some((_, shape)) => shape.iter().map(|&e| i128::from(e)).product(),
                None => types.reg_count(ty).into(),
            }
        }
        Function::Rows | Function::Columns => {
            let (_, shape) = types.as_tile(type_of(graph, binds, slot)?)?;
            match (shape, function) {
                ([.., rows, _], Function::Rows) => i128::from(*rows),
                ([.., columns], Function::Columns) => i128::from(*columns),
                _ => return None,
            }
        }
        Function::Unsigned | Function::Bits => facts(graph, binds, slot)?.constant?.into(),
        Function::Lo => facts(graph, binds, slot)?.lo.into(),
        Function::Hi => facts(graph, binds, slot)?.hi.into(),
        Function::Divisor => facts(graph, binds, slot)?.divisor.into(),
        _ => return None,
    })
}

fn apply(graph: &Graph, binds: &Binds, function: Function, args: &[Expr]) -> Option<Number> {
    if let [Expr::Var(slot)] = args
        && let Some(number) = of_variable(graph, binds, function, *slot)
    {
        return Some(Number::Int(number));
    }
    let numbers = args
        .iter()
        .map(|a| eval(graph, binds, a))
        .collect::<Option<Vec<_>>>()?;
    if function == Function::ToFloat {
        return Some(Number::Float(numbers.first()?.float()));
    }
    if numbers.iter().any(|n| matches!(n, Number::Float(_))) {
        let floats = numbers.iter().map(|n| n.float());
        return float(function, &floats.collect::<Vec<_>>()).map(Number::Float);
    }
    let ints = numbers
        .iter()
        .map(|n| n.int())
        .collect::<Option<Vec<_>>>()?;
    int(function, &ints).map(Number::Int)
}

fn float(function: Function, args: &[f64]) -> Option<f64> {
    let fold = |f: fn(f64, f64) -> f64| args.iter().copied().reduce(f);
    match (function, args) {
        (Function::Sub, [a]) => Some(-a),
        (Function::Add, _) => fold(|a, b| a + b),
        (Function::Sub, _) => fold(|a, b| a - b),
        (Function::Mul, _) => fold(|a, b| a * b),
        (Function::Div, _) => fold(|a, b| a / b),
        (Function::Min, _) => fold(f64::min),
        (Function::Max, _) => fold(f64::max),
        _ => None,
    }
}

fn int(function: Function, args: &[i128]) -> Option<i128> {
    let fold = |f: fn(i128, i128) -> Option<i128>| {
        let (first, rest) = args.split_first()?;
        rest.iter().try_fold(*first, |a, b| f(a, *b))
    };
    let shift = |b: i128| u32::try_from(b).ok().filter(|b| *b < 127);
    match (function, args) {
        (Function::Sub, [a]) => a.checked_neg(),
        (Function::Not, [a]) => Some(!a),
        (Function::Log2, [a]) => (*a > 0).then(|| i128::from(a.ilog2())),
        (Function::Pow2, [a]) => 1i128.checked_shl(shift(*a)?),
        (Function::Shl, [a, b]) => a.checked_mul(1i128.checked_shl(shift(*b)?)?),
        (Function::Shr, [a, b]) => a.checked_shr(shift(*b)?),
        (Function::Add, _) => fold(i128::checked_add),
        (Function::Sub, _) => fold(i128::checked_sub),
        (Function::Mul, _) => fold(i128::checked_mul),
        (Function::Div, _) => fold(i128::checked_div),
        (Function::Rem, _) => fold(i128::checked_rem),
        (Function::And, _) => fold(|a, b| Some(a & b)),
        (Function::Or, _) => fold(|a, b| Some(a | b)),
        (Function::Xor, _) => fold(|a, b| Some(a ^ b)),
        (Function::Min, _) => fold(|a, b| Some(a.min(b))),
        (Function::Max, _) => fold(|a, b| Some(a.max(b))),
        _ => None,
    }
}

/// The entries of an integer-list attribute.
pub fn list(graph: &Graph, binds: &Binds, slot: u8) -> Option<Vec<i128>> {
    let Bind::Leaf(leaf) = bind(binds, slot) else {
        return None;
    };
    match graph.analysis.attrs.structured(leaf)? {
        Attr::I64s(list) => Some(list.iter().map(|&i| i.into()).collect()),
        Attr::I32s(list) => Some(list.iter().map(|&i| i.into()).collect()),
        _ => None,
    }
}

/// Whether a guard holds for a match.
pub fn holds(graph: &Graph, target: Target, binds: &Binds, guard: &Guard) -> bool {
    check(graph, target, binds, guard).unwrap_or(false)
}

fn check(graph: &Graph, target: Target, binds: &Binds, guard: &Guard) -> Option<bool> {
    let types = &graph.analysis.types;
    let int = |e| eval(graph, binds, e).and_then(Number::int);
    let facts = |slot: &u8| facts(graph, binds, *slot);
    let ty = |slot: &u8| type_of(graph, binds, *slot);
    let loops = |slot: &u8| class(graph, binds, *slot).map(|id| graph[id].data.loops);
    Some(match guard {
        Guard::IsPow2(e) => {
            let n = int(e)?;
            n > 0 && n & (n - 1) == 0
        }
        Guard::Compare(how, a, b) => compare(*how, eval(graph, binds, a)?, eval(graph, binds, b)?),
        Guard::ExactReciprocal(v) => {
            let (bits, Type::Float(float)) = (facts(v)?.constant?, types.get(types.elem(ty(v)?)))
            else {
                return None;
            };
            exact_reciprocal(*float, bits)
        }
        Guard::FitsSigned(e, bits) => {
            let limit = 1i128 << (bits - 1);
            (-limit..limit).contains(&int(e)?)
        }
        Guard::FitsUnsigned(e, bits) => (0..1i128 << bits).contains(&int(e)?),
        Guard::DivisibleBy(v, e) => facts(v)?.divisible_by(u64::try_from(int(e)?).ok()?),
        Guard::InRange(v, lo, hi) => {
            let facts = facts(v)?;
            i128::from(facts.lo) >= int(lo)? && i128::from(facts.hi) <= int(hi)?
        }
        Guard::EachFits(v, lo, hi) => {
            let (lo, hi) = (int(lo)?, int(hi)?);
            list(graph, binds, *v)?
                .iter()
                .all(|x| (lo..=hi).contains(x))
        }
        Guard::Nonneg(v) => facts(v)?.nonneg(),
        Guard::Nonzero(v) => {
            let facts = facts(v)?;
            facts.lo > 0 || facts.hi < 0 || facts.constant.is_some_and(|c| c != 0)
        }
        Guard::Uniform(v) => facts(v)?.uniform == Uniformity::Block,
        Guard::Scalar(v) => {
            let ty = ty(v)?;
            types.elem(ty) == ty || types.as_tile(ty).is_some_and(|t| t.1.is_empty())
        }
        Guard::TypeIs(v, tests) => {
            let ty = ty(v)?;
            tests.iter().any(|t| elem_is(types, *t, ty))
        }
        Guard::SameType(a, b) => ty(a)? == ty(b)?,
        Guard::SameShape(a, b) => {
            let (a, b) = (ty(a)?, ty(b)?);
            types.reg_count(a) == types.reg_count(b)
                && types.as_tile(a).map(|t| t.1) == types.as_tile(b).map(|t| t.1)
        }
        Guard::Outside(a, b) => loops(a)? < loops(b)?,
        Guard::Wider(a, b) => types.bits(ty(a)?)? > types.bits(ty(b)?)?,
        Guard::Sm(lo, hi) => (*lo..=*hi).contains(&target.sm),
        Guard::Feature(feature) => target.has(*feature),
        Guard::Not(none) => {
            let holds = |g| check(graph, target, binds, g);
            !none
                .iter()
                .map(holds)
                .collect::<Option<Vec<_>>>()?
                .contains(&true)
        }
        Guard::And(all) => all.iter().all(|g| holds(graph, target, binds, g)),
        Guard::Or(any) => any.iter().any(|g| holds(graph, target, binds, g)),
    })
}

/// Whether `bits` are a power of two whose reciprocal is a normal number.
fn exact_reciprocal(format: FloatFormat, bits: u64) -> bool {
    let normal = |bits: u64| !format.is_subnormal(bits) && format.decode(bits).is_normal();
    let value = format.decode(bits);
    let inverse = format.encode(1.0 / value, Rounding::NearestEven, Overflow::Ieee);
    let power = value.to_bits().trailing_zeros() >= 52;
    normal(bits) && normal(inverse) && power
}

fn compare(how: Comparison, a: Number, b: Number) -> bool {
    let order = match (a, b) {
        (Number::Int(a), Number::Int(b)) => Some(a.cmp(&b)),
        _ => a.float().partial_cmp(&b.float()),
    };
    match how {
        Comparison::Equal => order.is_some_and(|o| o.is_eq()),
        Comparison::NotEqual => !order.is_some_and(|o| o.is_eq()),
        Comparison::Less => order.is_some_and(|o| o.is_lt()),
        Comparison::LessEqual => order.is_some_and(|o| o.is_le()),
    }
}
