//! Every row of `isel/ptx.insn` through `ptxas`, at the lowest target and PTX version that it claims.
//!
//! Each alternative of a mnemonic occurs once, the others at their first; each operand that may be a
//! number is one once, and a register once where the instruction allows that.

use crate::toolkit;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::Command;

use tilec::machine::class::Class;
use tilec::machine::table::{self, Immediate, Piece, Role, Row, Slot, Table, Width};

/// A line of the table, as far as this test reads it by itself.
struct Line<'a> {
    text: &'a str,
    id: Option<&'a str>,
    pattern: &'a str,
    target: String,
    version: (u8, u8),
}

fn lines() -> Vec<Line<'static>> {
    let rows = table::BUILTIN.lines().map(str::trim);
    rows.filter(|l| !l.is_empty() && !l.starts_with('#'))
        .map(|text| {
            let mut words = text.split_whitespace().peekable();
            let id = words.next_if(|w| w.starts_with('@')).map(|w| &w[1..]);
            let pattern = words.next().expect("a mnemonic");
            let mut line = Line {
                text,
                id,
                pattern,
                target: "sm_75".into(),
                version: (6, 3),
            };
            for word in words.skip_while(|w| *w != ";") {
                if let Some(sm) = word
                    .strip_prefix("sm")
                    .filter(|s| s.starts_with(|c: char| c.is_ascii_digit()))
                {
                    line.target = format!("sm_{sm}");
                } else if let Some(feature) = word.strip_prefix("feature=") {
                    line.target = first_with(feature).into();
                } else if let Some((major, minor)) =
                    word.strip_prefix("ptx").and_then(|v| v.split_once('.'))
                {
                    line.version = (
                        major.parse().expect("a number"),
                        minor.parse().expect("a number"),
                    );
                }
            }
            // The PTX version that knows the target (PTX ISA, release notes).
            let least = match line.target.as_str() {
                "sm_75" => (6, 3),
                "sm_80" => (7, 0),
                "sm_89" | "sm_90" => (7, 8),
                "sm_90a" => (8, 0),
                "sm_100" | "sm_100a" => (8, 6),
                "sm_120a" => (8, 7),
                other => panic!("no PTX version for {other}"),
            };
            line.version = line.version.max(least);
            line
        })
        .collect()
}

/// The first target with a feature (PTX ISA, "Target ISA Notes" of its instructions).
fn first_with(feature: &str) -> &'static str {
    match feature {
        "redux" => "sm_80",
        "multimem" | "vector-atomics" => "sm_90",
        "wgmma" | "setmaxnreg" | "tensor-maps" => "sm_90a",
        "tcgen05" | "byte-matrices" | "float-redux" => "sm_100a",
        "packed-f32" => "sm_100",
        "block-scale" => "sm_120a",
        other => panic!("no target for {other}"),
    }
}

/// The mnemonics that show every alternative of a pattern once.
fn mnemonics(pattern: &str) -> Vec<String> {
    let mut groups: Vec<Vec<&str>> = Vec::new();
    let mut rest = pattern;
    while let Some(at) = rest.find(['(', '#']) {
        groups.push(vec![&rest[..at]]);
        if rest.as_bytes()[at] == b'#' {
            groups.push(numbers(pattern, &rest[..at]));
            rest = &rest[at + 1..];
        } else {
            let (alternatives, after) = rest[at + 1..].split_once(')').expect("a closing bracket");
            groups.push(alternatives.split('|').collect());
            rest = after;
        }
    }
    groups.push(vec![rest]);
    let first: Vec<&str> = groups.iter().map(|g| g[0]).collect();
    let mut all = vec![first.concat()];
    for (i, group) in groups.iter().enumerate() {
        for other in &group[1..] {
            let mut parts = first.clone();
            parts[i] = other;
            all.push(parts.concat());
        }
    }
    // The depth of a wgmma follows from its types.
    let depth = |m: String| match m.contains("tf32") {
        true => m.replace("k0", "k8"),
        false => m.replace("k0", "k32"),
    };
    all.into_iter().map(depth).collect()
}

/// What `#` stands for: dimensions of a tensor, or columns and depth of a wgmma.
fn numbers(pattern: &str, before: &str) -> Vec<&'static str> {
    match () {
        () if !pattern.starts_with("wgmma") => vec!["1", "2", "3", "4", "5"],
        () if before.ends_with('k') => vec!["0"],
        () if pattern.contains("s32") => vec!["8", "16", "256"],
        () => vec!["8", "72", "256"],
    }
}

/// Registers of an operand.
fn count(slot: &Slot, mnemonic: &str) -> usize {
    match slot.width {
        Width::Each(n) => n.into(),
        Width::All if mnemonic.starts_with("wgmma") => {
            let (_, shape) = mnemonic.split_once("m64n").expect("a shape");
            let n: usize = shape
                .split_once('k')
                .expect("a depth")
                .0
                .parse()
                .expect("a number");
            n / if shape.contains(".f16.f16.f16") || shape.split('.').nth(1) == Some("f16") {
                4
            } else {
                2
            }
        }
        Width::All => mnemonic
            .split('.')
            .find_map(|part| part.strip_suffix('d')?.parse().ok())
            .expect("a dimension"),
    }
}

/// Operands that are numbers in the instruction's syntax. The second one of `tensormap.replace` is a dimension, or a field's
/// value of which there are few.
fn always_number(mnemonic: &str, slot: &Slot, index: usize) -> bool {
    let only = [
        "cp.async.wait_group",
        "cp.async.bulk.wait_group",
        "setmaxnreg",
        "wgmma.",
    ];
    slot.immediate != Immediate::No
        && (only.iter().any(|p| mnemonic.starts_with(p))
            || mnemonic.starts_with("tensormap.replace") && index == 1
            || mnemonic.starts_with("lop3") && slot.immediate == Immediate::Hex)
}

fn number(mnemonic: &str, slot: &Slot, index: usize) -> String {
    match (slot.immediate, slot.class) {
        (Immediate::Float, Class::B64) => "0d3FF0000000000000".into(),
        (Immediate::Float, _) => "0f3F800000".into(),
        (Immediate::Hex, _) => "0x1".into(),
        _ if mnemonic.starts_with("setmaxnreg") => "24".into(),
        // A barrier's number, then its threads.
        _ if mnemonic.starts_with("bar.") => ["1", "32"][index.min(1)].into(),
        // A selector of scales: any instruction has the first.
        _ if mnemonic.starts_with("mma.sync") => "0".into(),
        _ => "1".into(),
    }
}

/// One instruction; `numeric` is the operand that is a number if it may.
fn instruction(line: &Line, row: &Row, mnemonic: &str, numeric: Option<usize>) -> String {
    let symbol = match line.id {
        Some("sreg") => Some("%tid.x"),
        Some("addressof") => Some("shared_bytes"),
        Some("globaladdr") => Some("global_bytes"),
        Some("param64") => Some("parameter"),
        _ if mnemonic.starts_with("ld.param") => Some("parameter"),
        _ => None,
    };
    let mut next = 1;
    let mut operand = |i: usize| {
        let slot = &row.slots[i];
        if let (Some(symbol), Role::Use | Role::Address) = (symbol, slot.role) {
            return symbol.to_owned();
        }
        if always_number(mnemonic, slot, i) || numeric == Some(i) {
            return number(mnemonic, slot, i);
        }
        let letter = match slot.class {
            Class::Pred => "p",
            Class::B16 => "h",
            Class::B32 => "r",
            Class::B64 => "d",
        };
        let registers: Vec<String> = (0..count(slot, mnemonic))
            .map(|_| {
                next += 1;
                format!("%{letter}{next}")
            })
            .collect();
        registers.join(", ")
    };
    let mut text = format!("{mnemonic} ");
    for piece in row.pieces.iter() {
        match piece {
            Piece::Text(t) => text.push_str(t),
            Piece::Slot(i) => text.push_str(&operand(*i)),
        }
    }
    text
}

/// Every form of a row: all mnemonics with registers, the first with each possible number.
fn forms(line: &Line) -> Vec<String> {
    let table = Table::parse(line.text, "ptx.insn").unwrap_or_else(|e| panic!("{e}"));
    let mut out = Vec::new();
    for (i, mnemonic) in mnemonics(line.pattern).iter().enumerate() {
        let found = match line.id {
            Some(id) => table.find_as(id, mnemonic),
            None => table.find(mnemonic),
        };
        let insn = found.unwrap_or_else(|| panic!("{}: no row for {mnemonic}", line.text));
        let row = table.row(&insn);
        out.push(instruction(line, row, mnemonic, None));
        let numeric = (0..row.slots.len()).filter(|&s| row.slots[s].immediate != Immediate::No);
        for slot in numeric.filter(|_| i == 0) {
            out.push(instruction(line, row, mnemonic, Some(slot)));
        }
    }
    out
}

/// What `ptxas` says against the instructions of one target and version, with the instruction.
fn rejected(target: &str, version: (u8, u8), rows: &[Vec<String>]) -> Vec<String> {
    let mut ptx = format!(
        ".version {}.{}\n.target {target}\n.address_size 64\n",
        version.0, version.1
    );
    ptx += ".shared .align 16 .b8 shared_bytes[16];\n.global .align 4 .b8 global_bytes[4];\n";
    ptx +=
        ".extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 arguments);\n";
    for (i, forms) in rows.iter().enumerate() {
        writeln!(ptx, ".entry row{i}(.param .b64 parameter)\n{{").expect("memory");
        ptx += ".reg .pred %p<200>;\n.reg .b16 %h<200>;\n.reg .b32 %r<200>;\n.reg .b64 %d<200>;\n";
        // What `src/ptx/text.rs` declares in kernels that print.
        ptx += ".local .align 8 .b8 local_depot[8];\n.param .b64 print_format;\n";
        ptx += ".param .b64 print_arguments;\n.param .b32 print_result;\n";
        for form in forms {
            writeln!(ptx, "{form};").expect("memory");
        }
        ptx += "ret;\n}\n";
    }
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("instructions");
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join(format!("{target}-{}.{}.ptx", version.0, version.1));
    std::fs::write(&file, &ptx).expect("a file");
    let output = Command::new(toolkit::ptxas())
        .args(["-arch", target, "-O1", "-o", "/dev/null"])
        .arg(&file)
        .output()
        .expect("ptxas runs");
    if output.status.success() {
        return Vec::new();
    }
    let text: Vec<&str> = ptx.lines().collect();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let of_line = |error: &str| {
        let (_, rest) = error.split_once(", line ")?;
        let (number, why) = rest.split_once(';')?;
        let line = text.get(number.parse::<usize>().ok()?.checked_sub(1)?)?;
        Some(format!(
            "{target} {version:?}: `{line}`{}",
            why.trim_start()
        ))
    };
    let found: Vec<String> = errors.lines().filter_map(of_line).collect();
    if found.is_empty() {
        vec![errors]
    } else {
        found
    }
}

/// The forms for one block and those for a pair, which a function must not mix.
fn by_granularity(forms: Vec<String>) -> Vec<Vec<String>> {
    let (pair, single): (Vec<_>, Vec<_>) =
        forms.into_iter().partition(|f| f.contains(".cta_group::2"));
    [single, pair]
        .into_iter()
        .filter(|f| !f.is_empty())
        .collect()
}

#[test]
fn every_row_assembles_at_its_lowest_target() {
    // By target and PTX version: the forms of each line.
    let mut groups: BTreeMap<_, Vec<Vec<String>>> = BTreeMap::new();
    for line in lines() {
        groups
            .entry((line.target.clone(), line.version))
            .or_default()
            .extend(by_granularity(forms(&line)));
    }
    assert!(groups.values().map(Vec::len).sum::<usize>() > 200);
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let checks: Vec<_> = groups
            .iter()
            .map(|((target, version), rows)| scope.spawn(move || rejected(target, *version, rows)))
            .collect();
        checks
            .into_iter()
            .flat_map(|c| c.join().expect("no panic"))
            .collect()
    });
    assert!(
        wrong.is_empty(),
        "{} instructions:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
