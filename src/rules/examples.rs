//! Examples in rule files: BEFORE ⇒ AFTER through the engine, with the one rule.

use bumpalo::Bump;
use egg::Id;
use smallvec::SmallVec;

use super::lower::Lower;
use crate::dialect::Dialect;
use crate::egraph;
use crate::egraph::analysis::Graph;
use crate::egraph::matcher::{Bind, Binds};
use crate::egraph::node::{Head, Node};
use crate::egraph::replace::Build;
use crate::egraph::rule::{ElemTest, Examples, Rule, RuleSet, Text};
use crate::egraph::saturate::{Limits, saturate};
use crate::facts::Facts;
use crate::ir::{Type, TypeId, Types};
use crate::sexpr::{self, Form, Sexpr};
use crate::target::Target;

impl RuleSet {
    /// A set of one of these rules.
    pub fn only(&self, rule: &Rule) -> RuleSet {
        let mut set = RuleSet::new(Examples::Kept);
        set.push(rule.clone());
        set
    }
}

/// Runs every example of a rule.
pub fn run(set: &RuleSet, rule: &Rule) -> Result<usize, String> {
    let only = set.only(rule);
    for example in rule.examples.iter() {
        let arena = Bump::new();
        let form = |text| one_form(text, &rule.file, &arena);
        let (before, after) = (form(&example.before)?, form(&example.after)?);
        let one = |target| holds(&only, rule, &before, &after, target);
        // Target guards: some target must do.
        let mut last = Err("no target".to_string());
        for target in Target::all() {
            last = one(target);
            if last.is_ok() {
                break;
            }
        }
        let pos = example.pos;
        last.map_err(|e| format!("{}:{}:{}: {e}", rule.file, pos.line, pos.column))?;
    }
    Ok(rule.examples.len())
}

/// The form that a text is.
fn one_form<'a>(text: &'a str, file: &str, arena: &'a Bump) -> Result<Sexpr<'a>, String> {
    let forms = sexpr::read(text, arena).map_err(|e| format!("{file}: {}", e.message))?;
    match forms.as_slice() {
        [form] => Ok(*form),
        _ => Err(format!("{file}: an example is not one form: {text}")),
    }
}

fn holds(
    only: &RuleSet,
    rule: &Rule,
    before: &Sexpr,
    after: &Sexpr,
    target: Target,
) -> Result<(), String> {
    let constants = match rule.dialects.1 {
        Dialect::CudaTile => Dialect::CudaTile,
        _ => Dialect::Nvvm,
    };
    let mut graph = egraph::graph(Types::default(), constants);
    let tiles = rule.dialects == (Dialect::CudaTile, Dialect::CudaTile);
    let mut variables = Variables::default();
    variables.collect(&mut graph, before, tiles)?;
    variables.collect(&mut graph, after, tiles)?;
    let from = variables.build(&mut graph, rule, before, rule.dialects.0)?;
    let run = saturate(&mut graph, only, target, Limits::default()).map_err(|e| e.to_string())?;
    let to = variables.build(&mut graph, rule, after, rule.dialects.1)?;
    graph.rebuild();
    if graph.find(from) == graph.find(to) {
        return Ok(());
    }
    Err(match run.added.is_empty() {
        true => "the rule does not apply to its example".to_string(),
        false => "the rule does not yield what its example says".to_string(),
    })
}

/// The variables of an example, in order of appearance.
#[derive(Default)]
struct Variables {
    names: Vec<Text>,
    classes: Vec<Id>,
    shape: Option<TypeId>,
}

impl Variables {
    fn collect(&mut self, graph: &mut Graph, form: &Sexpr, tiles: bool) -> Result<(), String> {
        match &form.form {
            Form::List(items) => items.iter().try_for_each(|i| self.collect(graph, i, tiles)),
            Form::Symbol(s) if s.starts_with('?') => {
                let (name, ty) = s[1..].split_once(':').unwrap_or((&s[1..], ""));
                if self.names.iter().any(|n| n == name) {
                    return Ok(());
                }
                let ty = parse_type(&mut graph.analysis.types, ty, tiles);
                let ty = ty.ok_or_else(|| {
                    format!("the example's {s} needs a type, as in ?x:i32 or ?x:4x8xf16")
                })?;
                let number = graph.analysis.values.len() as u32;
                let facts = Facts::top(&graph.analysis.types, ty);
                graph.analysis.values.push((ty, facts));
                self.names.push(name.to_string().into());
                self.classes
                    .push(graph.add(Node::leaf(Head::Value(number))));
                self.shape.get_or_insert(ty);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn build(
        &self,
        graph: &mut Graph,
        rule: &Rule,
        form: &Sexpr,
        side: Dialect,
    ) -> Result<Id, String> {
        let mut lower = Lower::new(&rule.file, (side, side)).with_slots(&self.names);
        let template = lower.template(form).map_err(|e| e.to_string())?;
        let (_, locals) = lower.finish();
        let slots: SmallVec<[Bind; 8]> = self.classes.iter().map(|&id| Bind::Class(id)).collect();
        let binds = Binds {
            slots,
            effect: Some(0),
        };
        let mut build = Build::new(graph, &binds, &locals, self.shape);
        build.root(&template).map_err(|e| e.to_string())
    }
}

/// `i32`, `4x8xf16`: a scalar, a tile, or a register array.
fn parse_type(types: &mut Types, text: &str, tiles: bool) -> Option<TypeId> {
    let mut shape: Vec<u64> = Vec::new();
    let mut rest = text;
    while let Some((extent, tail)) = rest.split_once('x')
        && let Ok(extent) = extent.parse()
    {
        shape.push(extent);
        rest = tail;
    }
    let elem = match ElemTest::by_name(rest)? {
        ElemTest::Ptr => {
            let pointee = types.int(32);
            types.intern(Type::Ptr { pointee, attr: 0 })
        }
        test => test.scalar(types)?,
    };
    Some(match shape.as_slice() {
        _ if tiles => types.tile(elem, &shape),
        [] => elem,
        [n] => types.regs(elem, u32::try_from(*n).ok()?),
        _ => types.tile(elem, &shape),
    })
}
