//! Remarks of tilec as `tileiras`: the bytes of the toolkit's tool where both compile alike, and the loops, of which that tool says nothing.

use crate::toolkit;

use std::path::{Path, PathBuf};
use std::process::Command;

const MATMUL: &str = "matmul/f16_128x128x64.tilebc";
const SOFTMAX: &str = "softmax/f32_1x2048.tilebc";

/// A folder for a test with tilec as `tileiras`; it goes when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path =
            std::env::temp_dir().join(format!("tilec-remarks-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        let done = Command::new(env!("CARGO_BIN_EXE_tilec"))
            .arg("install-links")
            .arg(path.join("bin"))
            .output()
            .expect("tilec runs");
        assert!(done.status.success(), "{done:?}");
        Folder(path)
    }

    /// Exit code, standard output and error of an assembler, here.
    fn run(&self, program: &Path, module: &str, args: &[&str]) -> (Option<i32>, String, String) {
        let ptxas = toolkit::ptxas();
        let module = toolkit::repository_root()
            .join("tests/corpus/bytecode")
            .join(module);
        let done = Command::new(program)
            .arg(module)
            .args(args)
            .current_dir(&self.0)
            .env("PATH", ptxas.parent().expect("a folder"))
            .output()
            .unwrap_or_else(|e| panic!("{}: {e}", program.display()));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (done.status.code(), text(&done.stdout), text(&done.stderr))
    }

    fn ours(&self, module: &str, args: &[&str]) -> String {
        let (code, stdout, stderr) = self.run(&self.0.join("bin/tileiras"), module, args);
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{module} {args:?}");
        stdout
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn the_bytes_are_those_of_the_real_tool() {
    let folder = Folder::new("bytes");
    let theirs = toolkit::tileiras();
    let alike: &[(&str, &[&str])] = &[
        (MATMUL, &["--gpu-name=sm_80", "--remarks=tensorcore"]),
        (MATMUL, &["--gpu-name=sm_90", "--remarks=tensorcore"]),
        (
            MATMUL,
            &[
                "--gpu-name=sm_80",
                "--remarks=memory",
                "--remarks-passed=tensorcore",
                "--remarks-missed=tensorcore",
            ],
        ),
        (
            SOFTMAX,
            &["--gpu-name=sm_80", "--remarks=none", "--remarks-passed=all"],
        ),
        (
            SOFTMAX,
            &[
                "--gpu-name=sm_90",
                "--remarks-passed=memory",
                "--remarks-output-file=unused",
            ],
        ),
        (SOFTMAX, &["--gpu-name=sm_90", "--remarks=tensorcore"]),
        (
            SOFTMAX,
            &["--gpu-name=sm_90", "--remark-format=command-line"],
        ),
        (
            SOFTMAX,
            &[
                "--gpu-name=sm_90",
                "--remarks=all",
                "--remark-format=yaml",
                "--remarks-output-file=no/such/file",
            ],
        ),
    ];
    for (module, args) in alike {
        let ours = folder.run(&folder.0.join("bin/tileiras"), module, args);
        assert_eq!(ours, folder.run(&theirs, module, args), "{module} {args:?}");
    }
    let yaml: &[(&str, &[&str])] = &[
        (
            MATMUL,
            &[
                "--gpu-name=sm_80",
                "--remark-format=yaml",
                "--remarks=tensorcore",
            ],
        ),
        (
            SOFTMAX,
            &[
                "--gpu-name=sm_80",
                "--remark-format=yaml",
                "--remarks-passed=all",
            ],
        ),
        (
            SOFTMAX,
            &[
                "--gpu-name=sm_80",
                "--remark-format=yaml",
                "--remarks=tensorcore",
            ],
        ),
    ];
    for (module, args) in yaml {
        // Remarks' numbers are those of all that were made, wanted or not.
        let written = |program: &Path| {
            assert_eq!(folder.run(program, module, args).0, Some(0));
            let path = folder.0.join("tileir_remarks.yaml");
            let text = std::fs::read_to_string(&path).expect("remarks");
            std::fs::remove_file(path).expect("it was there");
            text.lines()
                .filter(|l| !l.contains("RemarkId:"))
                .collect::<Vec<_>>()
                .join("\n")
        };
        assert_eq!(
            written(&folder.0.join("bin/tileiras")),
            written(&theirs),
            "{module} {args:?}"
        );
    }
}

/// The lines of the remark with this name, from its name on.
fn remark<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let lines = text
        .lines()
        .map(str::trim)
        .skip_while(|l| *l != format!("= name: {name}"));
    lines.skip(1).take_while(|l| !l.is_empty()).collect()
}

#[test]
fn loops_say_how_they_are_pipelined_or_why_not() {
    let folder = Folder::new("loops");
    let all = |module: &str, gpu: &str| folder.ours(module, &["--remarks=all", "--gpu-name", gpu]);
    let tma = all(MATMUL, "sm_90a");
    let [mechanism, stages, bytes] = remark(&tma, "RemarkLoopPipelined")[..] else {
        panic!("{tma}");
    };
    assert_eq!(mechanism, "= note: Mechanism = TMA by a producer warp");
    // Two tiles of 128×64 halves a stage.
    assert_eq!(bytes, "= note: BytesPerStage = 32768");
    assert!(stages.starts_with("= note: Stages = "), "{stages}");
    let copied = all(MATMUL, "sm_80");
    let copied = remark(&copied, "RemarkLoopPipelined");
    assert_eq!(copied.first(), Some(&"= note: Mechanism = cp.async"));
    let loaded = all(MATMUL, "sm_75");
    assert_eq!(
        remark(&loaded, "RemarkLoopPipelined").first(),
        Some(&"= note: Mechanism = loads and stores")
    );
    // Turing has no instruction for f32 operands.
    let plain = all("production_gemm/tf32.tilebc", "sm_75");
    let [reason] = remark(&plain, "RemarkLoopNotPipelined")[..] else {
        panic!("{plain}");
    };
    let place =
        "loc(\"tests/corpus/production_gemm.py\":62:4): no matrix instruction of the target";
    let expected = format!("= reason: no pipeline through registers: {place}");
    assert!(reason.starts_with(&expected), "{reason}");
}
