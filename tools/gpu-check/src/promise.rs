//! Where PTX promises no particular bits: instructions whose result hardware may choose within bounds, and those that
//! look at the machine. A kernel without them must give the same bits everywhere.

/// Opcode words that must all occur, and why the result is open.
const OPEN: &[(&[&str], &str)] = &[
    (
        &["approx"],
        "approximate (PTX ISA 9.7.3: a largest error, no bits)",
    ),
    (&["div", "full"], "within 2 ulp (PTX ISA 9.7.3.8)"),
    (&["tanh"], "approximate (PTX ISA 9.7.3.22)"),
    (
        &["mma", "f32"],
        "sums in an order and precision of its own (PTX ISA 9.7.14)",
    ),
    (
        &["mma", "f16"],
        "sums in an order and precision of its own (PTX ISA 9.7.14)",
    ),
    (
        &["wmma", "f32"],
        "sums in an order and precision of its own (PTX ISA 9.7.14)",
    ),
    (
        &["wmma", "f16"],
        "sums in an order and precision of its own (PTX ISA 9.7.14)",
    ),
    (
        &["wgmma", "f32"],
        "sums in an order and precision of its own (PTX ISA 9.7.15)",
    ),
    (
        &["wgmma", "f16"],
        "sums in an order and precision of its own (PTX ISA 9.7.15)",
    ),
    (&["atom", "add", "f32"], "adds in the order of arrival"),
    (&["atom", "add", "f16x2"], "adds in the order of arrival"),
    (&["red", "add", "f32"], "adds in the order of arrival"),
    (&["red", "add", "f64"], "adds in the order of arrival"),
    (&["red", "add", "f16x2"], "adds in the order of arrival"),
    (&["red", "add", "bf16x2"], "adds in the order of arrival"),
];

/// Special registers that depend on the machine.
const MACHINE: &[&str] = &[
    "%clock",
    "%globaltimer",
    "%smid",
    "%nsmid",
    "%warpid",
    "%nwarpid",
    "%gridid",
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

/// Instructions of a module that leave their results open.
pub fn open_results(ptx: &str) -> Vec<Open> {
    let mut found = Vec::new();
    for (i, line) in ptx.lines().enumerate() {
        let code = line.split("//").next().unwrap_or("");
        for statement in code.split(';') {
            let mut words = statement
                .split_whitespace()
                .filter(|w| !w.starts_with('@') && !w.ends_with(':'));
            let Some(opcode) = words.next() else { continue };
            let parts: Vec<&str> = opcode.split('.').collect();
            let fits = |(wanted, _): &&(&[&str], &str)| {
                wanted.iter().all(|w| parts.contains(w))
                    && (wanted.len() == 1 || parts[0] == wanted[0])
            };
            let machine = MACHINE.iter().any(|r| statement.contains(r));
            let reason = OPEN.iter().find(fits).map(|(_, reason)| *reason);
            if let Some(reason) =
                reason.or(machine.then_some("depends on the machine (PTX ISA 10)"))
            {
                found.push(Open {
                    line: i + 1,
                    opcode: opcode.to_owned(),
                    reason,
                });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::open_results;

    #[test]
    fn open_and_exact_instructions() {
        let ptx = "add.f32 %f1, %f2, %f3;\n@%p1 ex2.approx.ftz.f32 %f1, %f2; // sqrt.approx\nL: mov.u32 %r1, %smid;\n\
            mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1};\nmma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r1};\n\
            fma.rn.f16 %h1, %h1, %h1, %h1;\nmma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d1};\n";
        let lines: Vec<usize> = open_results(ptx).iter().map(|o| o.line).collect();
        assert_eq!(lines, [2, 3, 4]);
    }
}
