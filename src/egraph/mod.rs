//! Equality saturation over the pure part of a function.
//!
//! ```text
//! function ──build──► e-graph + skeleton ──saturate──► equal forms ──extract──► one form each
//!                                                                                    │
//! function ◄──write── schedule ◄──elaborate (placement, loop-invariant motion, CSE)──┘
//! ```
//!
//! Pure operations are nodes. Effects are nodes, too, kept apart by a number, and stay in their
//! place. Operations with regions, terminators and block arguments form the skeleton that refers
//! to classes. Which rules run, what may remain and what things cost are parameters: the same
//! engine simplifies `cuda_tile`, lowers to `nvvm` and selects instructions.

pub mod analysis;
mod branches;
pub mod build;
mod by_class;
pub mod cost;
mod crowd;
mod earlier;
pub mod elaborate;
pub mod extract;
pub mod guards;
pub mod head;
mod heads;
pub mod literal;
pub mod matcher;
mod missing;
pub mod node;
mod numbers;
pub mod replace;
mod report;
pub mod rule;
pub mod saturate;
mod schedule;
mod waits;
mod write;

pub use cost::{CostModel, Legal, TableCost};

pub use report::{ChoiceReport, Fired, Report};
pub use saturate::{Limits, Stop};
pub use schedule::{Inst, Schedule, ScheduledBlock, ScheduledValue, Step, Val};

use egg::EGraph;

use analysis::{Graph, Know};
use build::Skeleton;
use extract::Choice;
use node::AttrTable;

use crate::dialect::{Dialect, OpKind, cuda_tile, nvvm};
use crate::egraph::rule::RuleSet;
use crate::facts;
use crate::ir::{Diagnostic, Module, OpId};
use crate::target::Target;

/// What rules, guards and costs may ask about besides the function.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    pub target: Target,
    /// The dialect that constants found by folding are written in.
    pub constants: Dialect,
    /// Record the cost of each choice and its alternatives.
    pub explain: bool,
}

impl Context {
    /// A context for a stage whose result is in `constants`' dialect.
    pub fn new(target: Target, constants: Dialect) -> Self {
        Context {
            target,
            constants,
            explain: false,
        }
    }
}

/// Rewrites a function in place: saturates with `rules`, extracts by `model`, places.
pub fn rewrite(
    module: &mut Module,
    func: OpId,
    rules: &RuleSet,
    context: &Context,
    model: &dyn CostModel,
    limits: Limits,
) -> Result<Report, Diagnostic> {
    let (schedule, report) = select(module, func, rules, context, model, limits)?;
    write::write(module, &schedule)?;
    Ok(report)
}

/// Like [`rewrite`], but leaves the function alone and returns the schedule.
pub fn select(
    module: &mut Module,
    func: OpId,
    rules: &RuleSet,
    context: &Context,
    model: &dyn CostModel,
    limits: Limits,
) -> Result<(Schedule, Report), Diagnostic> {
    let facts = facts::for_egraph(module, func);
    let types = std::mem::take(&mut module.types);
    let mut graph = graph(types, context.constants);
    without_clock(|| {
        let skeleton = build::build(module, func, &mut graph, &facts);
        let result = solve(module, &mut graph, &skeleton, rules, context, model, limits);
        module.types = std::mem::take(&mut graph.analysis.types);
        result
    })
}

/// Runs `f` with a clock that stands still. egg times each rebuild, and the first reading of its
/// clock calibrates the processor's counter for some 10 ms: more than a whole compilation.
fn without_clock<T>(f: impl FnOnce() -> T) -> T {
    let (clock, _) = quanta::Clock::mock();
    quanta::with_clock(&clock, f)
}

/// What constants that folding finds are written as.
pub fn constant(dialect: Dialect) -> OpKind {
    match dialect {
        Dialect::Nvvm => nvvm::Op::Const.into(),
        _ => cuda_tile::Op::Constant.into(),
    }
}

/// An empty e-graph over a module's types.
pub fn graph(types: crate::ir::Types, constants: Dialect) -> Graph {
    EGraph::new(Know {
        types,
        attrs: AttrTable::default(),
        values: Vec::new(),
        threads: None,
        here: 0,
        constant: Some(constant(constants)),
        touched: Vec::new(),
    })
}

fn solve(
    module: &Module,
    graph: &mut Graph,
    skeleton: &Skeleton,
    rules: &RuleSet,
    context: &Context,
    model: &dyn CostModel,
    limits: Limits,
) -> Result<(Schedule, Report), Diagnostic> {
    let run = saturate::saturate(graph, rules, context.target, limits)?;
    let choice = Choice::new(graph, model, &run.costs(graph, rules));
    let mut schedule = elaborate::elaborate(graph, skeleton, &choice, model, module)?;
    let report = report::report(
        module,
        graph,
        skeleton,
        rules,
        &run,
        &choice,
        context.explain,
    );
    schedule.attrs = std::mem::take(&mut graph.analysis.attrs);
    Ok((schedule, report))
}
