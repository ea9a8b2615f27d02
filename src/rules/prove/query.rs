//! The question to the solver: for which operands do the sides of an instance differ?

use std::fmt::Write;

use super::drawn::Drawn;
use super::floats::read;
use super::steps;
use super::symbols::{Refused, Symbols, symbols};
use super::terms::{Script, literal};
use crate::egraph::rule::Rule;
use crate::facts::semantics::Scalar;
use crate::rules::instance::Instance;
use crate::rules::program::Input;

/// Assertions for the solver, of which the values are asked if they can hold.
pub(super) struct Query {
    pub text: String,
    /// Roundings, quotients and products of floats: what makes a query long.
    pub hard: usize,
    pub symbols: Symbols,
}

impl Query {
    /// The unknowns whose values make a counterexample: the inputs, then the constants.
    pub(super) fn unknowns(&self, instance: &Instance) -> Vec<String> {
        let inputs = (0..instance.inputs.len()).map(|i| format!("x{i}"));
        let constants = self.symbols.constants.iter().map(|c| c.0.clone());
        inputs.chain(constants).collect()
    }
}

/// Values for which the sides differ, as assertions, for the constants and ranges that were drawn; nothing where
/// there is no term for a side.
pub(super) fn drawn(rule: &Rule, instance: &Instance, side: usize, drawn: &Drawn) -> Option<Query> {
    let mut script = Script::default();
    inputs(&mut script, rule, instance, drawn)?;
    if drawn.facts {
        for (i, input) in instance.inputs.iter().enumerate() {
            admitted(&mut script, i, input);
        }
    }
    differ(script, instance, side, Symbols::default())
}

/// The same for all constants and ranges.
pub(super) fn general(
    rule: &Rule,
    instance: &Instance,
    side: usize,
    drawn: &Drawn,
) -> Result<Query, Refused> {
    let mut script = Script::default();
    inputs(&mut script, rule, instance, drawn).ok_or(Refused::Never)?;
    let symbols = symbols(&mut script, rule, instance, drawn)?;
    differ(script, instance, side, symbols).ok_or(Refused::Never)
}

/// Declares the inputs and asserts what constraints and the rule's check say of them.
fn inputs(script: &mut Script, rule: &Rule, instance: &Instance, drawn: &Drawn) -> Option<()> {
    for (i, input) in instance.inputs.iter().enumerate() {
        let width = input.scalar.bits();
        let _ = writeln!(script.text, "(declare-const x{i} (_ BitVec {width}))");
        let named = |slot: &&u8| {
            rule.vars
                .get(usize::from(**slot))
                .is_some_and(|name| *name == input.name)
        };
        if drawn.nonneg.iter().any(|slot| named(&slot)) {
            script.assert(&format!("(bvsge x{i} {})", literal(width, 0)));
        }
        if drawn.nonzero.iter().any(|slot| named(&slot)) {
            script.assert(&format!("(distinct x{i} {})", literal(width, 0)));
        }
        ranged(script, i, input)?;
    }
    Some(())
}

fn differ(mut script: Script, instance: &Instance, side: usize, symbols: Symbols) -> Option<Query> {
    let none = Default::default();
    let inputs = &instance.inputs;
    let before = steps::program(&mut script, &instance.before, inputs, &symbols.pattern)?;
    let constants = symbols.after.get(side).unwrap_or(&none);
    let (after, ..) = instance.after.get(side)?;
    let after = steps::program(&mut script, after, inputs, constants)?;
    let (a, b) = (&before.term, &after.term);
    let same = same(instance.result()?, a, b);
    let _ = writeln!(
        script.text,
        "(assert {})\n(assert (not (and {} {same})))",
        before.defined, after.defined
    );
    Some(Query {
        text: script.text,
        hard: script.hard,
        symbols,
    })
}

/// That two values of a type are the same: whatever is no number is.
pub fn same(scalar: Scalar, a: &str, b: &str) -> String {
    match scalar {
        Scalar::Float(format) if a != b => match (read(format, a), read(format, b)) {
            (Some(x), Some(y)) => format!("(or (= {a} {b}) (and (fp.isNaN {x}) (fp.isNaN {y})))"),
            // A format without a theory: the same bits.
            _ => format!("(= {a} {b})"),
        },
        _ => format!("(= {a} {b})"),
    }
}

/// The facts of an integer input, as far as they say anything.
fn admitted(script: &mut Script, i: usize, input: &Input) {
    let Scalar::Int(width) = input.scalar else {
        return;
    };
    let bits = |value: i64| literal(width, crate::facts::truncate(value as u64, width));
    let (lo, hi) = (bits(input.facts.lo), bits(input.facts.hi));
    script.assert(&format!("(and (bvsle {lo} x{i}) (bvsle x{i} {hi}))"));
    let divisor = input.facts.divisor;
    if divisor > 1 && divisor < 1 << (width - 1).min(62) {
        let (by, zero) = (bits(divisor as i64), bits(0));
        script.assert(&format!("(= (bvsrem x{i} {by}) {zero})"));
    }
}

/// The range that the rule's check is limited to.
fn ranged(script: &mut Script, i: usize, input: &Input) -> Option<()> {
    let Some((lo, hi)) = input.range else {
        return Some(());
    };
    let bound = |x: f64| match input.scalar {
        Scalar::Float(format) => {
            let rounding = crate::scalar::Rounding::NearestEven;
            let bits = format.encode(x, rounding, crate::scalar::Overflow::Ieee);
            read(format, &literal(format.bits(), bits))
        }
        other => {
            let bits = crate::facts::truncate(x as i64 as u64, other.bits());
            Some(literal(other.bits(), bits))
        }
    };
    let (lo, hi) = (bound(lo)?, bound(hi)?);
    let (name, x) = match input.scalar {
        Scalar::Float(format) => ("fp.leq", read(format, &format!("x{i}"))?),
        _ => ("bvsle", format!("x{i}")),
    };
    script.assert(&format!("(and ({name} {lo} {x}) ({name} {x} {hi}))"));
    Some(())
}
