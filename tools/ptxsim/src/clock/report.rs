//! The estimate as text.

use super::grid::Estimate;
use super::machine::Reason;
use super::waits::Role;
use std::fmt::Write;

/// Lines of a kernel that are shown.
const LINES: usize = 10;

/// A table for people; `source` is the PTX text whose lines are quoted.
pub fn text(estimate: &Estimate, source: &str) -> String {
    let mut out = String::new();
    let e = estimate;
    let _ = writeln!(
        out,
        "{}: {:.0} cycles at {:.0} MHz, {:.1} µs with the launch (an estimate)",
        e.gpu, e.cycles, e.mhz, e.microseconds
    );
    let registers = match e.occupancy.registers {
        Some(n) => format!("{n} registers a thread"),
        None => "registers not known and not counted".into(),
    };
    let _ = writeln!(
        out,
        "{} clusters in {:.2} waves; {} blocks and {} warps on a multiprocessor, limited by {}; {registers}",
        e.clusters,
        e.waves,
        e.occupancy.blocks,
        e.occupancy.warps,
        limit(e)
    );
    let _ = writeln!(
        out,
        "tensor cores {:.1} %, issue {:.1} %, shared memory {:.1} %, L2 {:.1} %, device memory {:.1} %",
        e.tensor, e.issue, e.shared, e.l2, e.dram
    );
    if e.tflops > 0.05 {
        let _ = writeln!(out, "{:.1} · 10^12 operations a second", e.tflops);
    }
    for role in &e.roles {
        let _ = writeln!(out, "{}", role_line(role));
    }
    let lines: Vec<&str> = source.lines().collect();
    for wait in e.lines.iter().take(LINES) {
        let text = lines
            .get((wait.line as usize).wrapping_sub(1))
            .map_or("", |l| l.trim());
        let _ = writeln!(
            out,
            "{:>5.1} % {:<10} line {:>5}: {}",
            wait.percent,
            name(wait.reason),
            wait.line,
            shorten(text)
        );
    }
    out
}

fn limit(e: &Estimate) -> &'static str {
    use super::occupancy::Limit as L;
    match e.occupancy.limit {
        L::Blocks => "the number of blocks",
        L::Warps => "the number of warps",
        L::SharedMemory => "shared memory",
        L::Registers => "registers",
        L::TensorMemory => "tensor memory",
        L::Grid => "the grid",
    }
}

fn role_line(role: &Role) -> String {
    let spans: Vec<String> = role
        .warps
        .iter()
        .map(|[a, b]| {
            if a == b {
                a.to_string()
            } else {
                format!("{a}-{b}")
            }
        })
        .collect();
    let mut waits: Vec<_> = role.waits.iter().filter(|(_, p)| **p >= 0.5).collect();
    waits.sort_by(|a, b| b.1.total_cmp(a.1));
    let waits: Vec<String> = waits
        .iter()
        .map(|(r, p)| format!("{} {p:.0} %", name(**r)))
        .collect();
    let head = format!("warps {}: issuing {:.0} %", spans.join(", "), role.issued);
    if waits.is_empty() {
        return head;
    }
    format!("{head}; waiting for {}", waits.join(", "))
}

fn name(reason: Reason) -> &'static str {
    match reason {
        Reason::Arithmetic => "arithmetic",
        Reason::Special => "special functions",
        Reason::Shared => "shared memory",
        Reason::Global => "global memory",
        Reason::Tensor => "tensor cores",
        Reason::Copies => "copies",
        Reason::Barrier => "barrier",
        Reason::Mbarrier => "mbarrier",
        Reason::Pipeline => "pipeline",
        Reason::Scheduler => "scheduler",
    }
}

fn shorten(text: &str) -> String {
    const WIDTH: usize = 76;
    match text.char_indices().nth(WIDTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
