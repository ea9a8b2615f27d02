//! A rule on operands of certain types: drawn at random, or drawn before and repeated with other numbers.

use egg::Id;
use rustc_hash::{FxHashMap, FxHashSet};

use super::program::{Input, Program};
use super::random::Random;
use super::trial::Trial;
use super::wrong::Wrong;
use crate::dialect::{Dialect, modes};
use crate::egraph::analysis::Graph;
use crate::egraph::node::{Head, Leaf, Node};
use crate::egraph::replace::{Build, BuildError};
use crate::egraph::rule::Rule;
use crate::egraph::{self, guards, matcher};
use crate::facts::semantics::{Scalar, element_type};
use crate::ir::{Float, Types};
use crate::target::Target;

/// Types, constants, attributes and facts for which a rule applies, and both its sides for these.
pub(super) struct Instance {
    pub graph: Graph,
    pub root: Id,
    pub binds: matcher::Binds,
    pub target: Target,
    pub before: Program,
    /// The replacements that can be built: where each is in the graph, and which template of the rule it is.
    pub after: Vec<(Program, Id, usize)>,
    pub inputs: Vec<Input>,
}

/// Why there is no instance, other than that the draw was unlucky.
pub(super) enum Failure {
    Wrong(Wrong),
    NoSemantics(String),
}

impl Failure {
    pub fn wrong(self) -> Wrong {
        match self {
            Failure::Wrong(why) => why,
            Failure::NoSemantics(what) => format!("there is no semantics of {what}").into(),
        }
    }
}

impl Instance {
    /// A random instance, if this draw leads to one.
    pub fn draw(rule: &Rule, random: &mut Random) -> Result<Option<Instance>, Failure> {
        let mut graph = egraph::graph(Types::default(), Dialect::CudaTile);
        // Folding would replace what is to be evaluated.
        graph.analysis.constant = None;
        let mut trial = Trial::new(&mut graph, rule, random);
        let Some(root) = trial.pattern(&rule.pattern, None) else {
            return Ok(None);
        };
        let inputs = trial.inputs();
        let target = random.pick(&Target::all().collect::<Vec<_>>());
        Instance::complete(graph, root, inputs, rule, target)
    }

    /// The replacements for what was built at `root`.
    fn complete(
        mut graph: Graph,
        root: Id,
        inputs: Vec<Input>,
        rule: &Rule,
        target: Target,
    ) -> Result<Option<Instance>, Failure> {
        let Some(binds) = applies(&graph, rule, target, root) else {
            return Ok(None);
        };
        let Some(before) = Program::new(&graph, root) else {
            return Ok(None);
        };
        // What has no meaning needs no replacement.
        if refused_mode(&graph, root).is_some() {
            return Ok(None);
        }
        let ty = graph[root].data.ty;
        let mut sides = Vec::new();
        for (number, template) in rule.templates.iter().enumerate() {
            let mut build = Build::new(&mut graph, &binds, &rule.locals, ty);
            match build.root(template) {
                Ok(id) => sides.push((id, number)),
                Err(BuildError::Constant) => {}
                Err(error) => return Err(Failure::Wrong(error.to_string().into())),
            }
        }
        let mut after = Vec::new();
        for (id, number) in sides {
            if graph[id].data.ty != ty {
                let message = "the replacement has another type than the pattern";
                return Err(Failure::Wrong(message.to_owned().into()));
            }
            if let Some(why) = refused_mode(&graph, id) {
                return Err(Failure::Wrong(format!("in the replacement, {why}").into()));
            }
            let program = Program::new(&graph, id);
            let program = program.ok_or_else(|| Failure::NoSemantics("the replacement".into()))?;
            after.push((program, id, number));
        }
        let first: Vec<u64> = inputs.iter().map(|i| i.clamp(1)).collect();
        if after.is_empty() || !before.known(&first) {
            return Ok(None);
        }
        Ok(Some(Instance {
            graph,
            root,
            binds,
            target,
            before,
            after,
            inputs,
        }))
    }

    /// The same with other constants, by class, and with inputs of which exactly the value is known; nothing where
    /// the rule does not apply to these.
    pub fn repeat(
        &self,
        rule: &Rule,
        constants: &FxHashMap<Id, u64>,
        values: &[u64],
    ) -> Result<Option<Instance>, Failure> {
        let mut graph = egraph::graph(self.graph.analysis.types.clone(), Dialect::CudaTile);
        graph.analysis.constant = None;
        graph.analysis.attrs = self.graph.analysis.attrs.clone();
        let mut inputs = self.inputs.clone();
        for (i, (ty, facts)) in self.graph.analysis.values.iter().enumerate() {
            let mut facts = facts.clone();
            if let (Some(input), Some(&value)) = (inputs.get_mut(i), values.get(i)) {
                if let Scalar::Int(width) = input.scalar {
                    let value = crate::facts::sign_extend(value, width);
                    (facts.lo, facts.hi) = (value, value);
                    facts.divisor = value.unsigned_abs();
                }
                input.facts = facts.clone();
            }
            graph.analysis.values.push((*ty, facts));
        }
        let mut copy = Copy {
            from: self,
            constants,
            made: FxHashMap::default(),
        };
        let root = copy.class(&mut graph, self.root);
        Instance::complete(graph, root, inputs, rule, self.target)
    }

    /// The element type of the result.
    pub fn result(&self) -> Option<Scalar> {
        let ty = self.graph[self.root].data.ty?;
        element_type(&self.graph.analysis.types, ty)
    }

    /// The width of an element of what a variable is bound to.
    pub fn width(&self, slot: u8) -> Option<u32> {
        let ty = guards::type_of(&self.graph, &self.binds, slot)?;
        Some(element_type(&self.graph.analysis.types, ty)?.bits())
    }

    /// Whether every operation has its attributes and types: a random draw need not.
    pub fn is_meaningful(&self) -> bool {
        let mut all = self.after.iter().map(|a| &a.0).chain([&self.before]);
        all.all(Program::is_meaningful)
    }
}

/// A copy of what an instance's pattern is made of.
struct Copy<'a> {
    from: &'a Instance,
    constants: &'a FxHashMap<Id, u64>,
    made: FxHashMap<Id, Id>,
}

impl Copy<'_> {
    fn class(&mut self, graph: &mut Graph, id: Id) -> Id {
        if let Some(&copy) = self.made.get(&id) {
            return copy;
        }
        let mut node: Node = self.from.graph.id_to_node(id).clone();
        for child in &mut node.children {
            *child = self.class(graph, *child);
        }
        if let (Some(&bits), Some(ty)) = (self.constants.get(&id), self.from.graph[id].data.ty)
            && let Head::Op(_) = node.head
        {
            let list = [Leaf::Bits(bits), Leaf::Type(ty)].into_iter().collect();
            node.attrs = graph.analysis.attrs.intern(list);
        }
        graph.analysis.here = self.from.graph[id].data.loops;
        let copy = graph.add(node);
        self.made.insert(id, copy);
        copy
    }
}

/// The bindings with which the rule applies to a node.
fn applies(graph: &Graph, rule: &Rule, target: Target, root: Id) -> Option<matcher::Binds> {
    let node: Node = graph.id_to_node(root).clone();
    let mut found = None;
    matcher::matches(graph, &rule.pattern, rule.vars.len(), &node, &mut |binds| {
        if found.is_none()
            && rule
                .guards
                .iter()
                .all(|g| guards::holds(graph, target, binds, g))
        {
            found = Some(binds.clone());
        }
    });
    found
}

/// The first operation of the expression at `root` that rounds as no operation of its kind and type does, for messages.
fn refused_mode(graph: &Graph, root: Id) -> Option<String> {
    let mut left = vec![root];
    let mut seen = FxHashSet::default();
    while let Some(id) = left.pop() {
        if !seen.insert(id) {
            continue;
        }
        let node = graph.id_to_node(id);
        left.extend(&node.children);
        let Head::Op(kind) = node.head else { continue };
        let def = kind.def();
        let Some((modes, at)) = modes::of(def) else {
            continue;
        };
        let mode = graph.analysis.attrs.get(node.attrs).get(at);
        let ty = graph[id].data.ty;
        let element = ty.and_then(|ty| element_type(&graph.analysis.types, ty));
        let is_f32 = element == Some(Scalar::Float(Float::F32));
        if let Some(&Leaf::Enum(mode)) = mode
            && !modes.admit(mode, is_f32)
        {
            let (mode, name) = (modes::name(mode), def.name);
            return Some(format!("{name} does not round to {mode} here"));
        }
    }
    None
}
