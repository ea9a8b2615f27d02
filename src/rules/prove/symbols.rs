//! Constants and known ranges as unknowns of a query, so that one proof is for all of them.
//!
//! Constants of an instance are drawn. Where each of them is in the graph is known: a constant of the pattern where its
//! variable is bound, one of a replacement where its template was built. Two that were drawn alike are one class in
//! the graph; such an instance says nothing about others.

use std::collections::HashMap;
use std::fmt::Write;

use egg::Id;

use super::drawn::{Drawn, attribute};
use super::numbers::{Numbers, Variable};
use super::terms::{Script, literal};
use crate::egraph::literal::literal_bits;
use crate::egraph::matcher::Bind;
use crate::egraph::rule::{ConstValue, Guard, Literal, Pattern, Rule, Template};
use crate::facts::semantics::{Scalar, element_type};
use crate::rules::instance::Instance;

/// Terms of constants, by class.
pub type Terms = HashMap<Id, String>;

/// The constants of an instance as terms.
#[derive(Default)]
pub struct Symbols {
    pub pattern: Terms,
    /// Of each replacement.
    pub after: Vec<Terms>,
    /// The pattern's constants: the unknown's name, and the class.
    pub constants: Vec<(String, Id)>,
}

/// Why an instance does not stand for others.
pub enum Refused {
    /// Numbers that are different in other instances are the same in this one.
    Coincidence,
    /// Something of the rule has no term.
    Never,
}

/// The unknowns of an instance; declarations and what guards say of them go into `script`.
pub fn symbols(
    script: &mut Script,
    rule: &Rule,
    instance: &Instance,
    drawn: &Drawn,
) -> Result<Symbols, Refused> {
    if drawn.numbers {
        return Err(Refused::Never);
    }
    let mut symbols = Symbols::default();
    let mut variables: Vec<Option<Variable>> = vec![None; rule.vars.len()];
    for &slot in &drawn.constants {
        let (name, class, width) = constant(script, &mut symbols, rule, instance, slot)?;
        if drawn.nonneg.contains(&slot) {
            script.assert(&format!("(bvsge {name} {})", literal(width, 0)));
        }
        if let Some(variable) = variables.get_mut(usize::from(slot)) {
            *variable = Some(Variable {
                bounds: Some((name.clone(), name.clone())),
                term: name.clone(),
                width,
            });
        }
        symbols.constants.push((name, class));
    }
    for (i, input) in instance.inputs.iter().enumerate() {
        let slot = rule.vars.iter().position(|v| *v == input.name);
        if let (Some(slot), Scalar::Int(width)) = (slot, input.scalar) {
            variables[slot] = Some(Variable {
                term: format!("x{i}"),
                width,
                bounds: drawn.facts.then(|| bounds(script, i, width)),
            });
        }
    }
    let numbers = Numbers {
        instance,
        variables,
        constants: drawn.constants.clone(),
    };
    for guard in rule.guards.iter() {
        if let Guard::Nonneg(_) | Guard::Nonzero(_) = guard
            && !concerns_constant(guard, drawn)
        {
            continue; // Asserted of the input itself.
        }
        let assumed = numbers.guard(script, guard).ok_or(Refused::Never)?;
        script.assert(&assumed);
    }
    for (_, id, template) in &instance.after {
        let template = rule.templates.get(*template).ok_or(Refused::Never)?;
        let mut side = Side {
            rule,
            numbers: &numbers,
            terms: symbols.pattern.clone(),
            literals: HashMap::new(),
        };
        side.walk(script, template, *id)?;
        symbols.after.push(side.terms);
    }
    Ok(symbols)
}

fn concerns_constant(guard: &Guard, drawn: &Drawn) -> bool {
    match guard {
        Guard::Nonneg(slot) | Guard::Nonzero(slot) => drawn.constants.contains(slot),
        _ => false,
    }
}

/// Declares the unknown that a variable's constant is.
fn constant(
    script: &mut Script,
    symbols: &mut Symbols,
    rule: &Rule,
    instance: &Instance,
    slot: u8,
) -> Result<(String, Id, u32), Refused> {
    let Some(Bind::Class(class)) = instance.binds.slots.get(usize::from(slot)) else {
        return Err(Refused::Never);
    };
    let class = instance.graph.find(*class);
    let data = &instance.graph[class].data;
    let types = &instance.graph.analysis.types;
    let ty = data.ty.ok_or(Refused::Never)?;
    let Some(Scalar::Int(width)) = element_type(types, ty) else {
        return Err(Refused::Never);
    };
    let same = |l: &Literal| literal_bits(types, l, ty) == data.facts.constant;
    if any_literal(&rule.pattern, &same) {
        return Err(Refused::Coincidence);
    }
    let name = format!("c{slot}");
    let _ = writeln!(script.text, "(declare-const {name} (_ BitVec {width}))");
    match symbols.pattern.insert(class, name.clone()) {
        Some(_) => Err(Refused::Coincidence),
        None => Ok((name, class, width)),
    }
}

fn any_literal(pattern: &Pattern, is: &dyn Fn(&Literal) -> bool) -> bool {
    match pattern {
        Pattern::Literal(literal) => is(literal),
        Pattern::Op(op) => op.children.iter().any(|c| any_literal(c, is)),
        Pattern::List(items) => items.iter().any(|i| any_literal(i, is)),
        _ => false,
    }
}

/// Declares the least and the greatest value that is known of input `i`.
fn bounds(script: &mut Script, i: usize, width: u32) -> (String, String) {
    let _ = writeln!(
        script.text,
        "(declare-const lo{i} (_ BitVec {width}))\n(declare-const hi{i} (_ BitVec {width}))"
    );
    script.assert(&format!("(and (bvsle lo{i} x{i}) (bvsle x{i} hi{i}))"));
    (format!("lo{i}"), format!("hi{i}"))
}

/// A replacement that is walked beside what was built of it.
struct Side<'a> {
    rule: &'a Rule,
    numbers: &'a Numbers<'a>,
    terms: Terms,
    /// Constants that are the same in all instances.
    literals: HashMap<Id, ()>,
}

impl Side<'_> {
    fn walk(&mut self, script: &mut Script, template: &Template, id: Id) -> Result<(), Refused> {
        let graph = &self.numbers.instance.graph;
        match template {
            Template::Var(_) | Template::Absent => Ok(()),
            Template::Local(i) => {
                let local = self.rule.locals.get(usize::from(*i));
                self.walk(script, local.ok_or(Refused::Never)?, id)
            }
            Template::Const { value, .. } => {
                let open = match value {
                    ConstValue::Computed(expr) => Some(expr).filter(|e| self.numbers.is_open(e)),
                    ConstValue::Literal(_) => None,
                };
                let Some(expr) = open else {
                    self.literals.insert(id, ());
                    return self.distinct(id);
                };
                let scalar = graph[id].data.ty;
                let scalar = scalar.and_then(|ty| element_type(&graph.analysis.types, ty));
                let Some(Scalar::Int(width)) = scalar else {
                    return Err(Refused::Never);
                };
                let term = self.numbers.constant(script, expr, width);
                let term = term.ok_or(Refused::Never)?;
                match self.terms.insert(id, term.clone()) {
                    Some(before) if before != term => Err(Refused::Coincidence),
                    _ => self.distinct(id),
                }
            }
            Template::List(items) => self.children(script, items, id),
            Template::Op(op) => {
                let open = |e: &_| self.numbers.is_open(e);
                if op.attrs.iter().any(|a| attribute(a, &open)) {
                    return Err(Refused::Never);
                }
                self.children(script, &op.children, id)
            }
        }
    }

    fn children(
        &mut self,
        script: &mut Script,
        templates: &[Template],
        id: Id,
    ) -> Result<(), Refused> {
        let children = self.numbers.instance.graph.id_to_node(id).children.clone();
        for (template, child) in templates.iter().zip(children) {
            self.walk(script, template, child)?;
        }
        Ok(())
    }

    /// Refuses a class that is both an unknown and a number that is written out.
    fn distinct(&self, id: Id) -> Result<(), Refused> {
        match self.terms.contains_key(&id) && self.literals.contains_key(&id) {
            true => Err(Refused::Coincidence),
            false => Ok(()),
        }
    }
}
