//! The facts of an explanation, from the modules of the stages.

use super::{Decision, Fired, Kernel, Missed, Passed, Passes, Rules};
use crate::asm::type_text;
use crate::compile::{Compilation, GroupReport};
use crate::dialect::nv_tileas::view::{Func, View};
use crate::ir::{LocId, Module, OpId, Place, ValueId};

/// Warps, pipelines, shared buffers and conversions of each kernel, and all layouts.
pub fn schedule(c: &Compilation) -> (Vec<Kernel>, Vec<(String, String)>) {
    let m = &c.module;
    let mut kernels = Vec::new();
    // Operations come in order, a kernel before what is in it.
    for op in m.ops_under(m.body) {
        if let Some(v) = Func::of(m.op(op)) {
            let name = m.symbol(op).unwrap_or_default().to_owned();
            let missed = c.notes.missed.iter().filter(|x| x.kernel == name);
            let missed = missed.map(|x| Missed {
                what: x.what,
                why: x.why.clone(),
                at: at(m, x.loc),
            });
            let changed = c.notes.changed.iter().filter(|x| x.kernel == name);
            let changed = changed.map(|x| Decision::Changed {
                what: x.what,
                how: x.how.clone(),
                at: at(m, x.loc),
            });
            let of_kernel = [
                v.cluster().map(|blocks| Decision::Cluster { blocks }),
                v.occupancy().map(|blocks| Decision::Sharing { blocks }),
            ];
            kernels.push(Kernel {
                missed: missed.collect(),
                warps: v.num_warps(),
                decisions: of_kernel.into_iter().flatten().chain(changed).collect(),
                name,
            });
        } else if let Some(kernel) = kernels.last_mut() {
            let decided = decision(m, op, kernel.warps);
            kernel.decisions.extend(decided);
        }
    }
    let layouts = m.layouts.iter();
    let layouts = layouts.map(|(id, layout)| (id.to_string(), layout.to_string()));
    (kernels, layouts.collect())
}

fn decision(m: &Module, op: OpId, kernel_warps: i64) -> Option<Decision> {
    let data = m.op(op);
    let ty = |v: ValueId| type_text(m, m.ty(v)).to_string();
    let at = || at(m, data.loc);
    Some(match View::of(data)? {
        View::AllocTensor(v) => Decision::SharedBuffer { ty: ty(v.result()) },
        View::TmaLoad(v) if v.multicast() => Decision::Multicast {
            ty: ty(v.destination()),
            at: at(),
        },
        View::TensorDot(v) if v.pair() => Decision::Pair { at: at() },
        View::Dot(v) if v.promoted() => Decision::Promotion {
            part: None,
            at: at(),
        },
        View::AsyncDot(v) if v.promoted() => Decision::Promotion {
            part: v.part(),
            at: at(),
        },
        View::PipelineCreate(v) => Decision::Pipeline {
            filled_by: v.kind(),
            stages: v.stages(),
            bytes: v.bytes(),
            copiers: v.copiers().unwrap_or(0),
            at: at(),
        },
        View::WarpSpecialize(v) => Decision::WarpRoles {
            consumer_warps: v.consumer_warps(),
            consumer_registers: v.consumer_registers(),
            producer_registers: v.producer_registers(),
            producer_warps: kernel_warps - v.consumer_warps(),
        },
        View::ConvertLayout(v) => Decision::Conversion {
            from: ty(v.source()),
            to: ty(v.result()),
            at: at(),
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
