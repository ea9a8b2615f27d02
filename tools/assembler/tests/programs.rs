//! Programs that start an assembler, in each of the ways that there are.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

// Makes cargo build the library before this test.
use tilec_assembler as _;

/// The functions that start programs.
const WAYS: [&str; 6] = [
    "execve",
    "execv",
    "execvp",
    "execvpe",
    "posix_spawn",
    "posix_spawnp",
];

fn built() -> PathBuf {
    let exe = std::env::current_exe().expect("a path");
    exe.parent().expect("a folder").to_owned()
}

/// A folder with assemblers that say where they are, in `ours` and `theirs`, and the program that starts them.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = built().join("tilec-assembler-test");
        for (place, name) in [
            ("ours", "tileiras"),
            ("theirs", "tileiras"),
            ("theirs", "other"),
        ] {
            std::fs::create_dir_all(folder.join(place)).expect("a folder");
            let program = folder.join(place).join(name);
            std::fs::write(&program, format!("#!/bin/sh\necho {place} $0 $1\n")).expect("a file");
            let mode = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(&program, mode).expect("a program");
        }
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/starts.c");
        let made = Command::new("cc")
            .arg(source)
            .arg("-o")
            .arg(folder.join("starts"))
            .status();
        assert!(made.expect("a C compiler").success());
        folder
    })
}

/// What `program` says, started by `how` where the library is preloaded.
fn start(how: &str, program: &str) -> Output {
    let output = Command::new(folder().join("starts"))
        .args([how, program])
        .env("LD_PRELOAD", built().join("libtilec_assembler.so"))
        .env("TILEC_ASSEMBLER", folder().join("ours"))
        .output();
    output.expect("the program runs")
}

#[test]
fn each_way_to_start_an_assembler_starts_tilecs() {
    let theirs = folder().join("theirs/tileiras");
    for how in WAYS {
        for program in [theirs.to_str().expect("a string"), "/nowhere/tileiras"] {
            let output = start(how, program);
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(said.starts_with("ours "), "{how} {program}: {said}");
            assert!(said.ends_with(" argument\n"), "{how} {program}: {said}");
        }
    }
}

#[test]
fn other_programs_are_started_as_they_are() {
    let other = folder().join("theirs/other");
    for how in WAYS {
        let output = start(how, other.to_str().expect("a string"));
        assert!(output.stdout.starts_with(b"theirs "), "{how}: {output:?}");
    }
}

#[test]
fn an_environment_without_the_variable_starts_what_is_named() {
    let theirs = folder().join("theirs/tileiras");
    let output = start("without", theirs.to_str().expect("a string"));
    assert!(output.stdout.starts_with(b"theirs "), "{output:?}");
}

#[test]
fn an_assembler_that_is_nowhere_is_an_error() {
    let output = start("without", "/nowhere/tileiras");
    assert_eq!(output.status.code(), Some(127), "{output:?}");
}
