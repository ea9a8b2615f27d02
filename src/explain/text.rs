//! An explanation for people.

use std::fmt::Write as _;

use super::{Decision, Explanation, Kernel, Passes, Rules};
use crate::launch::Entry;

pub fn write(e: &Explanation) -> String {
    let mut text = format!("target {}\n", e.target);
    for kernel in &e.kernels {
        schedule(&mut text, kernel);
    }
    text.push_str("\nlayouts\n");
    for (name, layout) in &e.layouts {
        let _ = writeln!(text, "  {name}: {layout}");
    }
    for entry in &e.launches {
        launch(&mut text, entry);
    }
    for group in &e.rules {
        rules(&mut text, group);
    }
    for kernel in &e.passes {
        passes(&mut text, kernel);
    }
    text
}

fn schedule(text: &mut String, kernel: &Kernel) {
    let _ = writeln!(text, "\nkernel {}: {} warps", kernel.name, kernel.warps);
    for decision in &kernel.decisions {
        let _ = match decision {
            Decision::Cluster { blocks } => {
                writeln!(text, "  clusters: {blocks} blocks execute a tile block")
            }
            Decision::Sharing { blocks } => {
                writeln!(text, "  registers for {blocks} blocks on a multiprocessor")
            }
            Decision::Multicast { ty, at } => {
                writeln!(text, "  multicast, a part by each block: {ty}{}", place(at))
            }
            Decision::Pair { at } => {
                writeln!(
                    text,
                    "  a pair of blocks multiplies (cta_group::2){}",
                    place(at)
                )
            }
            Decision::Promotion { part, at } => {
                writeln!(text, "  {}{}", promotion(*part), place(at))
            }
            Decision::SharedBuffer { ty } => writeln!(text, "  shared buffer {ty}"),
            Decision::Pipeline {
                filled_by,
                stages,
                bytes,
                copiers,
            } => {
                let stages = stages_of(*stages, *bytes);
                let copiers = copied_by(*copiers);
                writeln!(text, "  {} of {stages}{copiers}", pipeline(filled_by))
            }
            // Without setmaxnreg all warps have the same number.
            Decision::WarpRoles {
                consumer_warps,
                consumer_registers: 0,
                producer_warps,
                ..
            } => writeln!(
                text,
                "  warp roles: {consumer_warps} consumer warps, {}",
                producer(*producer_warps)
            ),
            Decision::WarpRoles {
                consumer_warps,
                consumer_registers,
                producer_registers,
                producer_warps,
            } => writeln!(
                text,
                "  warp roles: {consumer_warps} consumer warps of {consumer_registers} registers, \
                 {} of {producer_registers} registers",
                producer(*producer_warps)
            ),
            Decision::Conversion { from, to, at } => {
                writeln!(text, "  conversion {from} to {to}{}", place(at))
            }
        };
    }
    for missed in &kernel.missed {
        let _ = writeln!(
            text,
            "  no {}{}: {}",
            missed.what,
            place(&missed.at),
            missed.why
        );
    }
}

/// What a pipeline is called by what fills it.
pub(crate) fn pipeline(filled_by: &str) -> &'static str {
    match filled_by {
        "tma" => "TMA pipeline",
        "mma" => "pipeline of matmuls",
        "registers" => "pipeline through registers",
        _ => "cp.async pipeline",
    }
}

/// What warps of a producer copy by themselves of a stage.
pub(crate) fn copied_by(copiers: i64) -> String {
    match copiers {
        0 => String::new(),
        warps => format!(", the rest by cp.async of {warps} producer warps"),
    }
}

/// A producer's warps: those of one thread, or those that copy.
fn producer(warps: i64) -> String {
    match warps {
        1 | 2 => "a producer warp".to_owned(),
        4 => "a producer warpgroup".to_owned(),
        warps => format!("{warps} producer warps"),
    }
}

/// Stages, and the bytes of one where transactions are counted.
pub(crate) fn stages_of(stages: i64, bytes: i64) -> String {
    let plural = if stages == 1 { "" } else { "s" };
    match bytes {
        0 => format!("{stages} stage{plural}"),
        bytes => format!("{stages} stage{plural} of {bytes} bytes"),
    }
}

/// How the products of a matmul are added whose instruction's sums are rougher than f32.
pub(crate) fn promotion(part: Option<i64>) -> String {
    let all = "each K tile's product starts from zero and is added in f32".to_owned();
    match part {
        None => all,
        Some(columns) => format!("{all}, {columns} columns at a time"),
    }
}

/// Threads, the map of shared memory, tensor maps.
fn launch(text: &mut String, entry: &Entry) {
    let total: u64 = entry
        .shared_map
        .iter()
        .map(|r| r.offset + r.bytes)
        .max()
        .unwrap_or(0);
    let _ = writeln!(
        text,
        "\nlaunch of {}: {} threads, {total} bytes of shared memory",
        entry.name, entry.block[0],
    );
    for region in &entry.shared_map {
        let end = region.offset + region.bytes;
        let _ = writeln!(text, "  {:>6}..{end:<6} {}", region.offset, region.what);
    }
    for map in &entry.tensor_maps {
        let _ = writeln!(
            text,
            "  tensor map in parameter {}: {} of parameter {}, box {:?}, swizzle {:?}",
            map.param, map.element, map.base, map.box_dims, map.swizzle
        );
    }
}

fn passes(text: &mut String, p: &Passes) {
    let _ = writeln!(text, "\npasses on {}", p.kernel);
    for done in &p.done {
        let _ = writeln!(text, "  {}: {} {}", done.pass, done.times, done.counts);
    }
}

fn rules(text: &mut String, r: &Rules) {
    let _ = writeln!(
        text,
        "\nrules {} on {}: {} iterations, {} nodes in {} classes",
        r.group, r.kernel, r.iterations, r.nodes, r.classes
    );
    for fired in &r.fired {
        let places: String = fired.at.iter().map(|p| place(p)).collect();
        let _ = writeln!(
            text,
            "  {} ({}:{}) fired {}, chosen {}{places}",
            fired.rule, fired.file, fired.line, fired.times, fired.chosen,
        );
    }
    for choice in &r.choices {
        let others = choice.others.iter();
        let others: Vec<String> = others
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

fn place(at: &str) -> String {
    match at.is_empty() {
        true => String::new(),
        false => format!(" at {at}"),
    }
}
