//! `isa.txt` lists the forms of the ISA's instructions; each must decode or be refused by name, and ptxas must agree
//! that it exists. The table in the README is written from it.

mod common;

use ptxsim::Module;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

const TABLE: &str = include_str!("isa.txt");

struct Form {
    section: &'static str,
    target: &'static str,
    text: &'static str,
    refused: bool,
    line: usize,
}

fn forms() -> Vec<Form> {
    let (mut section, mut target) = ("", "");
    let mut forms = Vec::new();
    for (i, line) in TABLE.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with("//") {
            continue;
        }
        if let Some(name) = line.strip_prefix("# ") {
            section = name;
        } else if let Some(name) = line.strip_prefix("@ ") {
            target = name;
        } else {
            let refused = line.starts_with("! ");
            let text = line.trim_start_matches("! ");
            forms.push(Form {
                section,
                target,
                text,
                refused,
                line: i + 1,
            });
        }
    }
    forms
}

fn kernel(target: &str, body: &str) -> String {
    format!(
        ".version 8.8\n.target {target}\n.address_size 64\n.const .align 4 .b8 table[8];\n\
         .visible .entry k(.param .u64 p)\n.reqntid 128\n.explicitcluster\n{{\n\
         .reg .pred %p<8>;\n.reg .b8 %b;\n.reg .b16 %h<16>;\n.reg .b32 %r<16>;\n.reg .b64 %d<16>;\n.reg .b128 %q<8>;\n\
         .reg .f32 %f<16>;\n.reg .f64 %e<16>;\n.shared .align 1024 .b8 tile[4096];\n.shared .align 8 .b64 bar;\n\
         .local .align 16 .b8 stack[64];\nTARGETS: .branchtargets END, END;\n{body}\nEND:\nret;\n}}\n"
    )
}

/// The mnemonic with enough of its words to name it.
fn name(text: &str) -> &str {
    let text = text.rsplit_once("@%p1 ").map_or(text, |(_, t)| t);
    text.split([' ', ';']).next().unwrap_or(text)
}

#[test]
fn every_form_decodes_or_is_refused_by_name() {
    let mut wrong = String::new();
    for form in forms() {
        let result = Module::new(kernel(form.target, form.text)).and_then(|m| m.entry(None));
        let outcome = result.map(|_| ()).map_err(|e| e.to_string());
        let mnemonic = name(form.text).split('.').next().unwrap_or("");
        let ok = match &outcome {
            Ok(()) => !form.refused,
            Err(message) => form.refused && message.contains(mnemonic),
        };
        if !ok {
            let _ = writeln!(
                wrong,
                "isa.txt:{}: {}\n    {outcome:?}",
                form.line, form.text
            );
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn ptxas_knows_every_form() {
    let ptxas = common::toolkit::nvcc().with_file_name("ptxas");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut wrong = String::new();
    let forms = forms();
    let mut targets: Vec<&str> = forms.iter().map(|f| f.target).collect();
    targets.sort_unstable();
    targets.dedup();
    for target in targets {
        // One file per target, one form per line, every form behind a label of its own.
        let mut body = String::new();
        for form in forms.iter().filter(|f| f.target == target) {
            let _ = writeln!(body, "{}", form.text);
        }
        let text = kernel(target, &body);
        let path = folder.join(format!("isa-{target}.ptx"));
        std::fs::write(&path, &text).unwrap();
        let output = Command::new(&ptxas)
            .args([&format!("-arch={target}"), "-O0", "-o", "/dev/null"])
            .arg(&path)
            .output()
            .unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for message in String::from_utf8_lossy(&output.stderr).lines() {
            let number = message
                .split_once("line ")
                .and_then(|(_, rest)| rest.split(';').next()?.trim().parse::<usize>().ok());
            if message.contains("error") {
                let at = number.and_then(|n| lines.get(n - 1)).unwrap_or(&"");
                let _ = writeln!(wrong, "{target}: {at}\n    {message}");
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// The mnemonic without types and qualifiers of no consequence: enough words to tell what is run from what is not.
fn family(text: &str) -> String {
    const TOLD_APART: &[&str] = &[
        "cp",
        "mma",
        "wgmma",
        "cvt",
        "st",
        "red",
        "fence",
        "mbarrier",
        "tcgen05",
        "barrier",
        "wmma",
        "tensormap",
        "multimem",
        "clusterlaunchcontrol",
        "createpolicy",
        "add",
        "sub",
        "fma",
    ];
    const WORDS: &[&str] = &[
        "async",
        "bulk",
        "tensor",
        "prefetch",
        "reduce",
        "commit_group",
        "wait_group",
        "wait_all",
        "sp::ordered_metadata",
        "sp",
        "mma_async",
        "fence",
        "rs",
        "pack",
        "proxy",
        "init",
        "inval",
        "arrive",
        "arrive_drop",
        "expect_tx",
        "complete_tx",
        "test_wait",
        "try_wait",
        "pending_count",
        "mbarrier",
        "mbarrier_init",
        "cluster",
        "alloc",
        "dealloc",
        "ld",
        "mma",
        "commit",
        "wait::ld",
        "load",
        "store",
        "replace",
        "cp_fenceproxy",
        "ld_reduce",
        "st",
        "red",
        "try_cancel",
        "query_cancel",
        "im2col",
        "im2col_no_offs",
        "im2col::w",
        "im2col::w::128",
        "tile::gather4",
        "tile::scatter4",
        "block_scale",
        "fractional",
        "range",
        "cvt",
        "cc",
    ];
    let words: Vec<&str> = name(text).split('.').collect();
    let (first, rest) = words.split_first().unwrap();
    let mut family = (*first).to_owned();
    if TOLD_APART.contains(first) {
        rest.iter()
            .filter(|w| WORDS.contains(w))
            .for_each(|w| family += &format!(".{w}"));
    }
    family
}

#[test]
fn the_readme_lists_what_runs_and_what_is_refused() {
    let mut table = String::from("| PTX ISA | run | refused by name |\n|---|---|---|\n");
    let forms = forms();
    let mut sections: Vec<&str> = forms.iter().map(|f| f.section).collect();
    sections.dedup();
    let mut seen = Vec::new();
    for section in sections {
        if seen.contains(&section) {
            continue;
        }
        seen.push(section);
        let list = |refused: bool| {
            let mut names: Vec<String> = Vec::new();
            for form in forms
                .iter()
                .filter(|f| f.section == section && f.refused == refused)
            {
                let family = format!("`{}`", family(form.text));
                if !names.contains(&family) {
                    names.push(family);
                }
            }
            names.join(", ")
        };
        let _ = writeln!(table, "| {section} | {} | {} |", list(false), list(true));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    let (begin, end) = (
        "<!-- isa: written by tests/isa.rs -->\n",
        "<!-- isa: end -->",
    );
    let (before, rest) = readme.split_once(begin).unwrap();
    let (found, after) = rest.split_once(end).unwrap();
    if std::env::var_os("UPDATE_README").is_some() {
        std::fs::write(&path, format!("{before}{begin}{table}{end}{after}")).unwrap();
        return;
    }
    assert!(found == table, "run this test with UPDATE_README=1");
}
