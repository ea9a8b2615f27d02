//! `tilec explain`: what the compiler decided about each kernel, and by which rules.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::{Outcome, compile, input, output};
use crate::compile::{Compilation, Options, Stage, lower_to};
use crate::dialect::nv_tileas::Op as S;
use crate::ir::{Attr, Diagnostics, LocId, Module, OpId, Place};

#[derive(clap::Args)]
pub struct Args {
    /// Bytecode or text file, `-` for standard input.
    input: PathBuf,
    /// Where the explanation goes, `-` for standard output.
    #[arg(short, long, default_value = "-")]
    output: PathBuf,
    /// Architecture to compile for.
    #[arg(long, default_value = "sm_90a")]
    gpu_name: String,
    /// Explain the compilation without tensor maps.
    #[arg(long)]
    no_tma: bool,
}

pub fn run(args: &Args) -> Outcome {
    let options = Options {
        tma: !args.no_tma,
        explain: true,
        ..Options::new(compile::target(&args.gpu_name)?)
    };
    // Lowering consumes a module, and two stages are explained.
    let data = input::bytes(&args.input)?;
    let read = || input::verified_from(&args.input, &data);
    let text = explain(read()?, read()?, &options)?;
    output::write(&args.output, text.as_bytes())
}

fn explain(first: Module, second: Module, options: &Options) -> Result<String, Diagnostics> {
    let scheduled = lower_to(first, options, Stage::NvTileas)?;
    let mut text = format!("target {}\n", options.target);
    schedule(&mut text, &scheduled.module);
    let lowered = lower_to(second, options, Stage::Nvvm)?;
    launches(&mut text, &lowered);
    rules(&mut text, &lowered);
    Ok(text)
}

/// Warps, pipelines, shared buffers and layouts, as the nv_tileas stage has them.
fn schedule(text: &mut String, m: &Module) {
    let int = |op: OpId, name: &str| match m.op(op).attr_named(name) {
        Some(Attr::Int { value, .. }) => *value,
        _ => 0,
    };
    for op in m.ops_under(m.body) {
        let data = m.op(op);
        let _ = match S::of(data.kind) {
            Some(S::Func) => {
                let name = match data.attr_named("sym_name") {
                    Some(Attr::Str(name)) => m.str(*name),
                    _ => "",
                };
                writeln!(text, "\nkernel {name}: {} warps", int(op, "num_warps"))
            }
            Some(S::AllocTensor) => {
                let ty = crate::asm::type_text(m, m.ty(data.results[0]));
                writeln!(text, "  shared buffer {ty}")
            }
            Some(S::PipelineCreate) => {
                writeln!(
                    text,
                    "  pipeline of {} stages, {} bytes each",
                    int(op, "stages"),
                    int(op, "bytes")
                )
            }
            Some(S::WarpSpecialize) => writeln!(
                text,
                "  warp roles: {} consumer warps of {} registers, a producer warpgroup of {}",
                int(op, "consumer_warps"),
                int(op, "consumer_registers"),
                int(op, "producer_registers"),
            ),
            Some(S::ConvertLayout) => {
                let [from, to] =
                    [data.operands[0], data.results[0]].map(|v| crate::asm::type_text(m, m.ty(v)));
                writeln!(text, "  conversion {from} to {to}{}", at(m, data.loc))
            }
            _ => Ok(()),
        };
    }
    text.push_str("\nlayouts\n");
    for (id, layout) in m.layouts.iter() {
        let _ = writeln!(text, "  {id}: {layout}");
    }
}

fn launches(text: &mut String, c: &Compilation) {
    for entry in &c.entries {
        let _ = writeln!(
            text,
            "\nlaunch of {}: {} threads, {} bytes of shared memory",
            entry.name,
            entry.block[0],
            c.shared_bytes(&entry.name)
        );
        for map in &entry.tensor_maps {
            let _ = writeln!(
                text,
                "  tensor map in parameter {}: {} of parameter {}, box {:?}, swizzle {:?}",
                map.param, map.element, map.base, map.box_dims, map.swizzle
            );
        }
    }
}

/// Which rules fired, and the choices between equal forms.
fn rules(text: &mut String, c: &Compilation) {
    for (group, functions) in &c.reports {
        for (name, report) in functions {
            let _ = writeln!(
                text,
                "\nrules {} on {name}: {} iterations, {} nodes in {} classes",
                group.folders().join(", "),
                report.iterations,
                report.nodes,
                report.classes
            );
            for fired in &report.fired {
                let places: Vec<String> = fired
                    .locations
                    .iter()
                    .map(|&l| at(&c.module, LocId(l)))
                    .filter(|p| !p.is_empty())
                    .collect();
                let _ = writeln!(
                    text,
                    "  {} ({}:{}) fired {}, chosen {}{}",
                    fired.rule,
                    fired.file,
                    fired.line,
                    fired.times,
                    fired.chosen,
                    places.concat()
                );
            }
            for choice in &report.choices {
                let others: Vec<String> = choice
                    .others
                    .iter()
                    .map(|(form, cost)| format!("{form} at {cost}"))
                    .collect();
                let _ = writeln!(
                    text,
                    "  chose {} at {}, not {}",
                    choice.chosen,
                    choice.cost,
                    others.join(", ")
                );
            }
        }
    }
}

/// " at file:line:column" where the place is known.
fn at(m: &Module, loc: LocId) -> String {
    match m.source_of(loc) {
        Place::Line { file, line, column } => format!(" at {file}:{line}:{column}"),
        _ => String::new(),
    }
}
