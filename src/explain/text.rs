//! An explanation for people.

use std::fmt::Write as _;

use super::{Explanation, Kernel, Passes, Rules};
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
    let plural = if kernel.warps == 1 { "" } else { "s" };
    let _ = writeln!(
        text,
        "\nkernel {}: {} warp{plural}",
        kernel.name, kernel.warps
    );
    let decisions = kernel.decisions.iter().map(|decision| {
        let line = decision.line();
        let (what, between, how) = (line.what, line.between, &line.how);
        format!("{what}{between}{how}{}", place(line.at))
    });
    once(text, decisions);
    let missed = kernel.missed.iter();
    once(
        text,
        missed.map(|m| format!("no {}{}: {}", m.what, place(&m.at), m.why)),
    );
}

/// Writes lines; those that repeat once, with how often.
fn once(text: &mut String, lines: impl Iterator<Item = String>) {
    let lines: Vec<String> = lines.collect();
    for same in lines.chunk_by(|a, b| a == b) {
        let times = match same.len() {
            1 => String::new(),
            times => format!(" ({times} times)"),
        };
        let _ = writeln!(text, "  {}{times}", same[0]);
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
