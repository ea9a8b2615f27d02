//! The facts of an explanation, from the modules of the stages.

use super::{Decision, Fired, Kernel, Missed, Passed, Passes, Rules};
use crate::asm::type_text;
use crate::compile::{Compilation, GroupReport};
use crate::dialect::nv_tileas::Op as S;
use crate::dialect::nv_tileas::view::{AsyncDot, PipelineCreate};
use crate::facts::access::operand;
use crate::ir::{Attr, LocId, Module, OpId, Place};

/// Warps, pipelines, shared buffers and conversions of each kernel, and all layouts.
pub fn schedule(c: &Compilation) -> (Vec<Kernel>, Vec<(String, String)>) {
    let m = &c.module;
    let int = |op: OpId, name: &str| match m.op(op).attr_named(name) {
        Some(Attr::Int { value, .. }) => *value,
        _ => 0,
    };
    let mut kernels = Vec::new();
    // Operations come in order, a kernel before what is in it.
    for op in m.ops_under(m.body) {
        if S::of(m.op(op).kind) == Some(S::Func) {
            let name = m.symbol(op).unwrap_or_default().to_owned();
            let some = |name| Some(int(op, name)).filter(|&n| n > 0);
            let missed = c.missed.iter().filter(|x| x.kernel == name);
            let missed = missed.map(|x| Missed {
                what: x.what,
                why: x.why.clone(),
                at: at(m, x.loc),
            });
            kernels.push(Kernel {
                missed: missed.collect(),
                name,
                warps: int(op, "num_warps"),
                decisions: [
                    some("cluster").map(|blocks| Decision::Cluster { blocks }),
                    some("occupancy").map(|blocks| Decision::Sharing { blocks }),
                ]
                .into_iter()
                .flatten()
                .collect(),
            });
        } else if let Some(kernel) = kernels.last_mut() {
            let decided = decision(m, op, kernel.warps, |name| int(op, name));
            kernel.decisions.extend(decided);
        }
    }
    let layouts = m.layouts.iter();
    let layouts = layouts.map(|(id, layout)| (id.to_string(), layout.to_string()));
    (kernels, layouts.collect())
}

fn decision(
    m: &Module,
    op: OpId,
    kernel_warps: i64,
    int: impl Fn(&str) -> i64,
) -> Option<Decision> {
    let data = m.op(op);
    let ty = |v: Option<&crate::ir::ValueId>| v.map(|&v| type_text(m, m.ty(v)).to_string());
    Some(match S::of(data.kind)? {
        S::AllocTensor => Decision::SharedBuffer {
            ty: ty(data.results.first())?,
        },
        S::TmaLoad if data.attr_named("multicast").is_some() => Decision::Multicast {
            ty: ty(operand(data, "destination").as_ref())?,
            at: at(m, data.loc),
        },
        S::TensorDot if data.attr_named("pair").is_some() => Decision::Pair {
            at: at(m, data.loc),
        },
        S::Dot if data.attr_named("promoted").is_some() => Decision::Promotion {
            part: None,
            at: at(m, data.loc),
        },
        S::AsyncDot if data.attr_named("promoted").is_some() => Decision::Promotion {
            part: AsyncDot::of(data)?.part(),
            at: at(m, data.loc),
        },
        S::PipelineCreate => Decision::Pipeline {
            filled_by: PipelineCreate::of(data)?.kind().text(),
            stages: int("stages"),
            bytes: int("bytes"),
            copiers: PipelineCreate::of(data)?.copiers().unwrap_or(0),
        },
        S::WarpSpecialize => Decision::WarpRoles {
            consumer_warps: int("consumer_warps"),
            consumer_registers: int("consumer_registers"),
            producer_registers: int("producer_registers"),
            producer_warps: kernel_warps - int("consumer_warps"),
        },
        S::ConvertLayout => Decision::Conversion {
            from: ty(data.operands.first())?,
            to: ty(data.results.first())?,
            at: at(m, data.loc),
        },
        _ => return None,
    })
}

/// What the passes did.
pub fn passes(passed: crate::isel::Passed) -> Vec<Passes> {
    let kernels = passed.into_iter();
    let done = |d: &crate::isel::passes::Done| Passed {
        pass: d.pass.name,
        counts: d.pass.counts,
        times: d.times,
    };
    kernels
        .map(|(kernel, passes)| Passes {
            kernel,
            done: passes.iter().map(done).collect(),
        })
        .collect()
}

/// Which rules fired, and the choices between equal forms.
pub fn rules(c: &Compilation) -> Vec<Rules> {
    let mut out = Vec::new();
    for GroupReport { group, functions } in &c.reports {
        for (kernel, report) in functions {
            let fired = report.fired.iter().map(|fired| Fired {
                rule: fired.rule.clone(),
                file: fired.file.clone(),
                line: fired.line,
                times: fired.times,
                chosen: fired.chosen,
                at: fired
                    .locations
                    .iter()
                    .map(|&l| at(&c.module, LocId(l)))
                    .filter(|place| !place.is_empty())
                    .collect(),
            });
            out.push(Rules {
                group: group.folders().join(", "),
                kernel: kernel.clone(),
                iterations: report.iterations,
                nodes: report.nodes,
                classes: report.classes,
                fired: fired.collect(),
                choices: report.choices.clone(),
            });
        }
    }
    out
}

/// "file:line:column", or nothing where the place is not known.
fn at(m: &Module, loc: LocId) -> String {
    match m.source_of(loc) {
        Place::Line { file, line, column } => format!("{file}:{line}:{column}"),
        _ => String::new(),
    }
}
