//! The command line of the front end: `dis`, `as`, `convert` and `verify`, with files and pipes.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a command did.
struct Done {
    ok: bool,
    stdout: Vec<u8>,
    stderr: String,
}

fn tilec(args: &[&str], input: &[u8]) -> Done {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tilec"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("tilec runs");
    // It may refuse its arguments before it reads.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    let output = child.wait_with_output().expect("tilec ends");
    Done {
        ok: output.status.success(),
        stdout: output.stdout,
        stderr: String::from_utf8(output.stderr).expect("messages are UTF-8"),
    }
}

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/corpus/bytecode")
        .join(name)
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(corpus(name)).expect("a file of the corpus")
}

#[test]
fn dis_and_as_are_inverse_through_pipes() {
    let original = bytes("vadd/f32.tilebc");
    for form in [&["dis", "-"][..], &["dis", "--generic", "-"]] {
        let text = tilec(form, &original);
        assert!(text.ok && text.stderr.is_empty(), "{}", text.stderr);
        let version = ["as", "--bytecode-version", "13.3", "-", "-o", "-"];
        let assembled = tilec(&version, &text.stdout);
        assert!(assembled.ok, "{}", assembled.stderr);
        let again = tilec(form, &assembled.stdout);
        assert_eq!(text.stdout, again.stdout);
    }
}

#[test]
fn dis_prints_debug_info_on_request_only() {
    let path = corpus("programs_gemm");
    let file = std::fs::read_dir(path)
        .expect("a folder")
        .next()
        .expect("a file")
        .expect("an entry");
    let data = std::fs::read(file.path()).expect("a file");
    let plain = tilec(&["dis", "-"], &data);
    let located = tilec(&["dis", "-g", "-"], &data);
    let has = |done: &Done| String::from_utf8_lossy(&done.stdout).contains("#cuda_tile.di_loc");
    assert!(plain.ok && located.ok && has(&located) && !has(&plain));
}

#[test]
fn convert_changes_version_and_container() {
    let original = bytes("matmul/f16_128x128x64_v13_1.tilebc");
    let same = tilec(&["convert", "-", "-o", "-"], &original);
    assert_eq!(same.stdout, original, "{}", same.stderr);
    let there = tilec(
        &["convert", "--container", "notes", "-", "-o", "-"],
        &original,
    );
    assert!(
        there.stdout.starts_with(b"\x06\x03\x80Tile\0"),
        "{}",
        there.stderr
    );
    let back = tilec(
        &["convert", "--container", "public", "-", "-o", "-"],
        &there.stdout,
    );
    assert_eq!(back.stdout, original, "{}", back.stderr);
    let newer = tilec(
        &["convert", "--bytecode-version", "13.5", "-", "-o", "-"],
        &original,
    );
    assert_eq!(newer.stdout[8..10], [13, 5], "{}", newer.stderr);
}

#[test]
fn convert_names_what_an_older_version_lacks() {
    let text = b"entry @e(%x: tile<f32>) { %a = atan2 %x, %x : tile<f32> return }";
    let new = tilec(&["as", "-", "-o", "-"], text);
    assert!(new.ok, "{}", new.stderr);
    for args in [
        &["convert", "--bytecode-version", "13.1", "-", "-o", "-"][..],
        &["convert", "--container", "notes", "-", "-o", "-"],
    ] {
        let old = tilec(args, &new.stdout);
        assert!(!old.ok && old.stdout.is_empty());
        assert!(
            old.stderr
                .contains("'cuda_tile.atan2' requires bytecode version 13.2"),
            "{}",
            old.stderr
        );
    }
}

#[test]
fn verify_takes_bytecode_and_text() {
    for data in [bytes("vadd/f32.tilebc"), b"entry @e() { return }".to_vec()] {
        let done = tilec(&["verify", "-"], &data);
        assert!(
            done.ok && done.stdout.is_empty() && done.stderr.is_empty(),
            "{}",
            done.stderr
        );
    }
}

#[test]
fn errors_in_text_have_line_column_and_caret() {
    let done = tilec(
        &["verify", "-"],
        b"entry @e() {\n  %a = constant <i32: 1> : tile<3i32>\n  return\n}\n",
    );
    assert!(!done.ok);
    assert!(done.stderr.starts_with("<stdin>:2:"), "{}", done.stderr);
    assert!(
        done.stderr.contains('^') && done.stderr.contains("expected"),
        "{}",
        done.stderr
    );
}

/// Hints that have no effect are no errors; who wrote them is told where they stand.
#[test]
fn warnings_say_where() {
    let text = b"entry @e() optimization_hints=<sm_90 = {occupancy = 99}> {\n  return\n}\n";
    let message = "warning: 'cuda_tile.entry' op integer value in the range [1, 32] is expected for sm_90.occupancy";
    let done = tilec(&["verify", "-"], text);
    let place = format!("<stdin>:1:1: {message}");
    assert!(
        done.ok && done.stderr.starts_with(&place),
        "{}",
        done.stderr
    );
    let binary = tilec(&["as", "-", "-o", "-"], text).stdout;
    let done = tilec(&["verify", "--diagnostics=json", "-"], &binary);
    let object: serde_json::Value = serde_json::from_str(done.stderr.trim()).expect("an object");
    assert_eq!(object["severity"], "warning");
    assert!(done.ok && object["place"]["offset"].is_u64(), "{object}");
}

/// One object per line, with where the error is, what it says and what it concerns.
#[test]
fn diagnostics_as_json() {
    let text = b"entry @e() {\n  %a = iota : tile<2x2xi32>\n  %b = iota : tile<i32>\n  return\n}\n";
    let done = tilec(&["verify", "--diagnostics=json", "-"], text);
    assert!(!done.ok);
    let objects: Vec<serde_json::Value> = done
        .stderr
        .lines()
        .map(|line| serde_json::from_str(line).expect("an object per line"))
        .collect();
    assert_eq!(objects.len(), 2, "{}", done.stderr);
    for object in &objects {
        assert_eq!(object["severity"], "error");
        assert_eq!(object["operation"], "cuda_tile.iota");
        assert_eq!(object["message"], "expects result type to be 1-d tile");
    }
    let mut damaged = bytes("vadd/f32.tilebc");
    damaged[8] = 14;
    let done = tilec(&["dis", "--diagnostics=json", "-"], &damaged);
    let object: serde_json::Value = serde_json::from_str(done.stderr.trim()).expect("an object");
    assert_eq!(object["place"]["offset"], 12, "{object}");
    let message = object["message"].as_str().expect("a string");
    assert!(
        message.starts_with("unsupported Tile version 14."),
        "{message}"
    );
}

#[test]
fn other_files_are_refused_by_name() {
    for (data, words) in [
        (
            &b"ML\xEFR\x01"[..],
            "input is upstream MLIR bytecode, not Tile IR bytecode",
        ),
        (
            b"\xFF\xFE\x00",
            "'<stdin>' is neither Tile IR bytecode nor UTF-8 text",
        ),
    ] {
        let done = tilec(&["dis", "-"], data);
        assert!(!done.ok && done.stderr.contains(words), "{}", done.stderr);
    }
    let done = tilec(&["verify", "/nonexistent/x.tilebc"], b"");
    assert!(
        !done.ok && done.stderr.contains("/nonexistent/x.tilebc"),
        "{}",
        done.stderr
    );
}

/// A file appears complete or not at all.
#[test]
fn nothing_is_written_after_an_error() {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli_refused.tilebc");
    let _ = std::fs::remove_file(&out);
    let name = out.to_str().expect("a path");
    let done = tilec(
        &["as", "-", "-o", name],
        b"entry @e() { %a = iota : tile<i32> return }",
    );
    assert!(!done.ok && !out.exists(), "{}", done.stderr);
    let done = tilec(
        &["as", "--no-verify", "-", "-o", name],
        b"entry @e() { %a = iota : tile<i32> return }",
    );
    assert!(done.ok && out.exists(), "{}", done.stderr);
    let done = tilec(&["verify", name], b"");
    assert!(
        !done.ok && done.stderr.contains("expects result type to be 1-d tile"),
        "{}",
        done.stderr
    );
}

/// A folder with a wrong file of each kind; what `tilec rules --check` says of them, by file.
#[test]
fn wrong_rules_and_tables_are_shown_where_they_are_wrong() {
    let folder = std::env::temp_dir().join(format!("tilec-rules-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("select")).expect("a folder");
    // Name, first line, second line, and the place and the start of what is wrong with the second.
    let rule = "(rule r (addi none ?x:i32 1) => ?x";
    let example = "(example (addi none ?x:i32 1) => ?x:i32))";
    let files = [
        (
            "a.rules",
            "(dialect cuda_tile)",
            rule.to_string(),
            "2:1: error: this `(` is never closed",
        ),
        (
            "b.rules",
            "(dialect cuda_tile)",
            format!("{rule} {example}"),
            "2:1: error: rule r: replacement 1 gives ",
        ),
        (
            "c.rules",
            "(dialect cuda_tile)",
            format!("{rule} {}", example.replace(" 1)", " 2)")),
            "2:1: error: rule r: ",
        ),
        (
            "ptx.insn",
            "add.s32 r = r, r ; alu 4",
            "sub.s32 r = r, r ; tpu 4".into(),
            "2:20: error: 'tpu' is no unit",
        ),
        (
            "select/i.sel",
            "add i32 : add.s32(a, b)",
            "sub i33 : sub.s32(a, b)".into(),
            "2:5: error: 'i33' is no type",
        ),
    ];
    for (name, first, second, _) in &files {
        std::fs::write(folder.join(name), format!("{first}\n{second}\n")).expect("written");
    }
    let done = tilec(&["rules", "--check", &folder.display().to_string()], b"");
    std::fs::remove_dir_all(&folder).expect("removed");
    assert!(!done.ok);
    for (name, _, second, why) in &files {
        let start = format!("{}:{why}", folder.join(name).display());
        let said = done.stderr.split_once(&start);
        let said = said
            .unwrap_or_else(|| panic!("{start} is not in {}", done.stderr))
            .1;
        let column: usize = why[2..]
            .split(':')
            .next()
            .expect("a column")
            .parse()
            .expect("a number");
        let shown = format!("\n  note: {second}\n        {:>column$}", '^');
        assert!(said.contains(&shown), "{said}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    for args in [
        &["rules"][..],
        &["dialects"],
        &["rules", "--check", "--only", "zero"],
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tilec"))
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("tilec runs");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("tilec ends");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && stderr.is_empty(),
            "{args:?}: {stderr}"
        );
    }
}
