//! Where PTX promises no particular bits: instructions whose result hardware may choose within bounds, and those that
//! look at the machine or at the moment. A kernel without them must give the same bits everywhere.

use ptxsim::program::Program;
use std::collections::BTreeSet;

const SUMS: &str = "sums in an order and precision of its own (PTX ISA 9.7.14, 9.7.15)";
const FUSED: &str =
    "may be fused with a multiplication (PTX ISA 9.7.3, mul, add and sub without a rounding)";
const ARRIVAL: &str = "rounds sums in the order of arrival (PTX ISA 9.7.13)";

/// An instruction's first word, a modifier that must occur, and why the result is open. Families with several are
/// several rows; an empty modifier is always there.
const OPEN: &[(&str, &[&str], &str)] = &[
    (
        "",
        &["approx"],
        "approximate (PTX ISA 9.7.3: a largest error, no bits)",
    ),
    ("div", &["full"], "within 2 ulp (PTX ISA 9.7.3.8)"),
    ("tanh", &[], "approximate (PTX ISA 9.7.3.22, 9.7.4.10)"),
    ("ex2", &[], "approximate (PTX ISA 9.7.4.11)"),
    ("mma", FLOATS, SUMS),
    ("wmma", FLOATS, SUMS),
    ("wgmma", FLOATS, SUMS),
    ("red", FLOATS, ARRIVAL),
    ("multimem", FLOATS, ARRIVAL),
    ("cp", FLOATS, ARRIVAL),
    (
        "atom",
        &[],
        "returns what earlier arrivals left (PTX ISA 9.7.13.5)",
    ),
    (
        "activemask",
        &[],
        "depends on how lanes diverged (PTX ISA 9.7.13.11)",
    ),
    (
        "elect",
        &[],
        "elects a lane of the machine's choice (PTX ISA 9.7.13.15)",
    ),
    (
        "clusterlaunchcontrol",
        &[],
        "depends on which blocks have started",
    ),
];

/// Types whose sums depend on their order, as they are written in opcodes.
const FLOATS: &[&str] = &["f16", "f16x2", "bf16", "bf16x2", "f32", "f64"];

/// Special registers that depend on the machine.
const MACHINE: &[&str] = &[
    "%clock",
    "%globaltimer",
    "%smid",
    "%nsmid",
    "%warpid",
    "%nwarpid",
    "%gridid",
    "%total_smem_size",
    "%aggr_smem_size",
    "%reserved_smem",
];

/// An instruction that leaves its result open.
#[derive(Debug, PartialEq, Eq)]
pub struct Open {
    /// line of the PTX text
    pub line: usize,
    /// its opcode
    pub opcode: String,
    /// why
    pub reason: &'static str,
}

/// The lines of an entry, and of what it can call, with their numbers.
fn code_lines<'p>(
    ptx: &'p str,
    program: &Program,
) -> impl Iterator<Item = (usize, &'p str)> + use<'p> {
    let lines: BTreeSet<usize> = program.code.iter().map(|i| i.line as usize).collect();
    let text = ptx.lines().enumerate().map(|(i, line)| (i + 1, line));
    text.filter(move |(number, _)| lines.contains(number))
}

/// Instructions of an entry, and of what it can call, that leave their results open.
pub fn open_results(ptx: &str, program: &Program) -> Vec<Open> {
    let mut open: Vec<Open> = code_lines(ptx, program)
        .flat_map(|(number, line)| open_on(number, line))
        .collect();
    // A multiplication without a rounding may become part of a sum without one; neither alone is open.
    let fused = |first: &[&str]| {
        let mut opcodes = code_lines(ptx, program).flat_map(|(_, line)| opcodes(line));
        opcodes.any(|(opcode, _)| unrounded(opcode, first))
    };
    if !(fused(&["mul"]) && fused(&["add", "sub"])) {
        open.retain(|o| o.reason != FUSED);
    }
    open
}

/// Whether an entry uses memory that several GPUs share, which a buffer of one is not.
pub fn needs_multicast(ptx: &str, program: &Program) -> bool {
    let mut opcodes = code_lines(ptx, program).flat_map(|(_, line)| opcodes(line));
    opcodes.any(|(opcode, _)| opcode.starts_with("multimem."))
}

/// Whether an opcode is one of `first` on floats, with no rounding named.
fn unrounded(opcode: &str, first: &[&str]) -> bool {
    let parts: Vec<&str> = opcode.split('.').collect();
    let rounded = ["rn", "rz", "rm", "rp"].iter().any(|r| parts.contains(r));
    parts.first().is_some_and(|p| first.contains(p))
        && FLOATS.iter().any(|t| parts.contains(t))
        && !rounded
}

/// The opcodes of a line, each with its statement.
fn opcodes(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let code = line.split("//").next().unwrap_or("");
    code.split(';').filter_map(|statement| {
        let mut words = statement
            .split(|c: char| c.is_whitespace() || c == '{')
            .filter(|w| !w.is_empty() && !w.starts_with('@') && !w.ends_with(':'));
        Some((words.next()?, statement))
    })
}

fn open_on(line: usize, text: &str) -> Vec<Open> {
    let statements = opcodes(text).filter_map(|(opcode, statement)| {
        let parts: Vec<&str> = opcode.split('.').collect();
        let fits = |(first, any, _): &&(&str, &[&str], &str)| {
            (first.is_empty() || parts.first() == Some(first))
                && (any.is_empty() || any.iter().any(|w| parts.contains(w)))
        };
        let machine = MACHINE.iter().any(|r| statement.contains(r));
        let reason = OPEN.iter().find(fits).map(|row| row.2);
        let reason = reason.or(unrounded(opcode, &["mul", "add", "sub"]).then_some(FUSED));
        let reason = reason.or(machine.then_some("depends on the machine (PTX ISA 10)"))?;
        Some(Open {
            line,
            opcode: opcode.to_owned(),
            reason,
        })
    });
    statements.collect()
}

#[cfg(test)]
mod tests {
    use super::open_on;

    #[test]
    fn open_and_exact_instructions() {
        let open = |text: &str| open_on(1, text).len();
        for text in [
            "@%p1 ex2.approx.ftz.f32 %f1, %f2; // sqrt.approx",
            "L: mov.u32 %r1, %smid;",
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1};",
            "{ atom.global.inc.u32 %r1, [%rd1], %r2; }",
            "red.global.add.noftz.bf16 [%rd1], %rs1;",
            "red.global.v4.f32.add [%rd1], {%f1, %f2, %f3, %f4};",
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%rd1], [%r1], 16;",
            "add.f32 %f1, %f2, %f3;",
        ] {
            assert_eq!(open(text), 1, "{text}");
        }
        for text in [
            "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r1};",
            "fma.rn.f16 %h1, %h1, %h1, %h1;",
            "red.global.add.u32 [%rd1], %r1;",
            "cp.async.bulk.commit_group;",
            "sqrt.rn.f32 %f1, %f2; // sqrt.approx",
            "add.rn.f32 %f1, %f2, %f3;",
        ] {
            assert_eq!(open(text), 0, "{text}");
        }
    }
}
