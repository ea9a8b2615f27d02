//! One process with libNVVM for all compilations of this program: `tests/runs/resident.py`.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use crate::toolkit;

/// The process and a program in front of it.
struct Resident {
    program: PathBuf,
    /// It ends when its input does, with this program.
    _process: Child,
}

/// A program that does what `tools/libnvvm` does: it asks the process, and waits.
pub fn selector() -> &'static Path {
    static RESIDENT: OnceLock<Resident> = OnceLock::new();
    &RESIDENT.get_or_init(start).program
}

fn start() -> Resident {
    let root = toolkit::repository_root();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (program, requests) = (folder.join("selector"), folder.join("selector.requests"));
    // Of a run that ended.
    let _ = std::fs::remove_file(&requests);
    let made = Command::new("mkfifo").arg(&requests).status();
    assert!(made.expect("mkfifo runs").success());
    // Python looks for no packages: the tool needs none.
    let mut process = Command::new(toolkit::python())
        .args(["-I", "-S"])
        .arg(root.join("tests/runs/resident.py"))
        .arg(root.join("tools/libnvvm"))
        .arg(&requests)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python runs");
    let mut said = String::new();
    let output = process.stdout.take().expect("a pipe");
    let read = BufReader::new(output).read_line(&mut said);
    read.expect("it says that it is ready");
    assert_eq!(said, "ready\n");
    // A line is written at once, so that requests do not mix; who opens a pipe that nobody reads waits forever.
    let call = format!(
        "#!/bin/sh\n\
         kill -0 {process} || exit 1\n\
         mkfifo \"$3.answer\" || exit 1\n\
         printf '%s\\t%s\\t%s\\t%s\\n' \"$1\" \"$3\" \"$5\" \"$3.answer\" >'{requests}'\n\
         read -r answer <\"$3.answer\"\n\
         [ \"$answer\" = done ] && exit\n\
         echo \"libnvvm: ${{answer:-it died}}\" >&2\n\
         exit 1\n",
        process = process.id(),
        requests = requests.display(),
    );
    std::fs::write(&program, call).expect("a writable folder");
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&program, executable).expect("a file of this user");
    Resident {
        program,
        _process: process,
    }
}
