//! gpu-check against a driver without a GPU: `driver.c`, compiled with NVIDIA's `cuda.h`, runs kernels in ptxsim.
//! What is tested is the way of a launch through the driver's functions, and what is said when something goes wrong.

#[path = "../../../tests/common/toolkit.rs"]
mod toolkit;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

// Makes cargo build the library before this test.
use fake_gpu as _;

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The fake driver, compiled once.
fn driver() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let folder = std::env::current_exe().unwrap();
        let folder = folder.parent().unwrap();
        // Where the tool is installed, its package's headers are not far.
        let tools = toolkit::ptxas();
        let include = tools.ancestors().map(|a| a.join("include"));
        let include = include.into_iter().find(|i| i.join("cuda.h").exists());
        let library = folder.join("libfake_cuda.so");
        let host = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
        let compiler = cc::Build::new()
            .host(&host)
            .target(&host)
            .opt_level(1)
            .warnings(true)
            .extra_warnings(true)
            .warnings_into_errors(true)
            .pic(true)
            .get_compiler();
        let status = compiler
            .to_command()
            .args(["-std=gnu11", "-shared", "-isystem"])
            .arg(include.expect("cuda.h beside the toolkit"))
            .arg(here().join("tests/driver.c"))
            .arg("-o")
            .arg(&library)
            .arg("-L")
            .arg(folder)
            .arg("-lfake_gpu")
            // Before LD_LIBRARY_PATH, in which cargo has the folder of `cargo build`, whose library may be older.
            .arg(format!(
                "-Wl,--disable-new-dtags,-rpath,{}",
                folder.display()
            ))
            .status();
        assert!(status.unwrap().success());
        library
    })
}

/// A suite of the kernels in `toy.ptx`.
fn toys(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::copy(here().join("tests/toy.ptx"), folder.join("toy.ptx")).unwrap();
    let numbers: Vec<u32> = (0..32).collect();
    let file = |name: &str, words: &dyn Fn(u32) -> u32| {
        let bytes: Vec<u8> = numbers
            .iter()
            .flat_map(|&i| words(i).to_le_bytes())
            .collect();
        std::fs::write(folder.join(name), bytes).unwrap();
    };
    file("numbers", &|i| i);
    file("blank", &|_| 0xffff_ffff);
    file("triples", &|i| 3 * i);
    file("backwards", &|i| 31 - i);
    file("ranks", &|i| i % 2);
    file("exponents", &|i| (i as f32).to_bits());
    file("powers", &|i| (i as f32).exp2().to_bits());
    // Not machine code of any GPU: the driver falls back on the text.
    std::fs::write(folder.join("code"), b"\x7fELF").unwrap();
    let case = |name: &str, rest: &str| {
        format!(
            r#"{{"name": "{name} (sm_90)", "entry": "{name}", "ptx": "toy.ptx", "cubin": "code", {rest}}}"#
        )
    };
    let one = r#""grid": [1, 1, 1], "block": [32, 1, 1], "shared": 0"#;
    let buffer = |name: &str, file: &str, more: &str| {
        format!(r#"{{"name": "{name}", "file": "{file}", "size": 4, {more}}}"#)
    };
    let map = |input: &str, output: &str, ty: &str, more: &str| {
        format!(
            r#""args": [{{"buffer": 0}}, {{"buffer": 1}}], "buffers": [{}, {}]"#,
            buffer("x", input, &format!(r#""type": "{ty}""#)),
            buffer(
                "y",
                "blank",
                &format!(r#""type": "{ty}", "expected": "{output}"{more}"#)
            )
        )
    };
    let exact = map("numbers", "triples", "u32", "");
    let close = map("exponents", "powers", "f32", r#", "relative": 1e-5"#);
    let far = map("numbers", "backwards", "u32", "");
    let ranks = buffer("y", "blank", r#""type": "u32", "expected": "ranks""#);
    let cases = [
        case("triple", &format!("{one}, {exact}")),
        case("power", &format!("{one}, {close}")),
        case(
            "far",
            &format!(
                "{}, {far}",
                one.replace(r#""shared": 0"#, r#""shared": 65536"#)
            ),
        ),
        case(
            "ranks",
            &format!(
                r#""grid": [32, 1, 1], "block": [1, 1, 1], "cluster": [2, 1, 1], "shared": 0,
                "args": [{{"buffer": 0}}], "buffers": [{ranks}]"#
            ),
        ),
        case(
            "talk",
            r#""grid": [3, 1, 1], "block": [1, 1, 1], "shared": 0, "args": [], "buffers": [],
            "stdout": "block 0\nblock 1\nblock 2\n""#,
        ),
    ];
    std::fs::write(folder.join("suite.json"), format!("[{}]", cases.join(","))).unwrap();
    folder
}

struct Said {
    code: Option<i32>,
    text: String,
}

fn said(output: Output) -> Said {
    Said {
        code: output.status.code(),
        text: String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr),
    }
}

impl Said {
    #[track_caller]
    fn has(&self, words: &str) -> &Said {
        assert!(self.text.contains(words), "no `{words}` in:\n{}", self.text);
        self
    }
}

/// Runs `--suite` with the fake driver in this environment.
fn check(folder: &Path, options: &[&str], environment: &[(&str, &str)]) -> Said {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpu-check"));
    command.arg("--suite").arg(folder).args(options);
    command.arg("--driver").arg(driver());
    said(command.envs(environment.iter().copied()).output().unwrap())
}

#[test]
fn launches_reach_the_kernel_as_they_are_described() {
    let folder = toys("launches");
    let log = folder.join("log");
    std::fs::remove_file(&log).ok();
    let report = folder.join("report.json");
    let options = ["--report", report.to_str().unwrap()];
    let result = check(&folder, &options, &[("FAKE_LOG", log.to_str().unwrap())]);
    result.has("5 cases on fake device 0 (sm_90), driver for CUDA 13.0");
    result.has("5 same in");
    assert_eq!(result.code, Some(0), "{}", result.text);
    let log = std::fs::read_to_string(log).unwrap();
    assert!(
        log.contains("blocks=1 cluster=1 shared=65536 cooperative=0"),
        "{log}"
    );
    assert!(log.contains("blocks=32 cluster=2 shared=0"), "{log}");
    let report = std::fs::read_to_string(report).unwrap();
    assert!(report.contains(r#""name": "talk (sm_90)""#), "{report}");
}

/// Tensor maps, tiled and im2col, and cooperative launches, as the suite of foreign kernels has them.
#[test]
fn foreign_kernels_go_through_the_driver() {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("foreign");
    for (file, filter, log_has) in [
        ("cuda/convolution", "stride 2", "im2col rank=4"),
        ("cuda/hopper_copies", "box_3d (sm_90a)", "tiled rank=3"),
        ("cuda/cooperative", "centre (sm_80)", "cooperative=1"),
    ] {
        let folder = out.join(file);
        let script = here().join("../ptxsim/tests/kernels/foreign.py");
        let mut python = Command::new(toolkit::python());
        python.arg(script).arg("prepare").arg(&folder).arg(file);
        assert!(python.status().unwrap().success());
        let log = folder.join("log");
        std::fs::remove_file(&log).ok();
        let result = check(
            &folder,
            &["--filter", filter],
            &[("FAKE_LOG", log.to_str().unwrap())],
        );
        result.has("1 same in");
        let log = std::fs::read_to_string(log).unwrap();
        assert!(log.contains(log_has), "{log}");
    }
}

#[test]
fn other_bits_are_legal_only_where_ptx_leaves_them_open() {
    let folder = toys("bits");
    let result = check(&folder, &["--filter", "power"], &[("FAKE_FLIP", "1")]);
    result.has("1 legal in").has("ex2.approx.f32 approximate");
    assert_eq!(result.code, Some(0));
    let result = check(&folder, &["--filter", "triple"], &[("FAKE_FLIP", "1")]);
    result
        .has("DIFFERENT")
        .has("y: 1 elements are wrong; [31] 0x5c, not 0x5d");
    assert_eq!(result.code, Some(1));
}

#[test]
fn a_case_that_fails_leaves_the_others_alone() {
    let folder = toys("failures");
    for (environment, words) in [
        (
            ("FAKE_FAIL", "cuLaunchKernelEx:700"),
            "an illegal memory access was encountered (CUresult 700)",
        ),
        (("FAKE_HANG", "1"), "no result after 3 s"),
        (("FAKE_DIE", "1"), "the worker died (exit status: 3)"),
    ] {
        let options = ["--jobs", "1", "--timeout", "3"];
        let result = check(&folder, &options, &[environment, ("FAKE_ENTRY", "power")]);
        result
            .has("FAILED power (sm_90): ")
            .has(words)
            .has("1 FAILED, 4 same in");
        assert_eq!(result.code, Some(1));
    }
}

#[test]
fn drivers_that_do_not_work_are_named() {
    let folder = toys("drivers");
    let result = check(&folder, &[], &[("FAKE_FAIL", "cuInit:100")]);
    result.has("gpu-check: cuInit failed: unknown error (CUresult 100)");
    assert_eq!(result.code, Some(1));
    let result = check(
        &folder,
        &["--filter", "triple"],
        &[("FAKE_FAIL", "cuModuleLoadData:222")],
    );
    result.has("the PTX is 8.8, too new for this driver");
    let result = check(&folder, &[], &[("FAKE_SM", "80")]);
    result.has("5 skipped in").has("needs sm_90");
    assert_eq!(result.code, Some(0));
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpu-check"));
    command
        .arg("--suite")
        .arg(&folder)
        .args(["--driver", "/nowhere/libcuda.so"]);
    let result = said(command.output().unwrap());
    result.has("no CUDA driver: /nowhere/libcuda.so");
    assert_eq!(result.code, Some(2));
}

/// One kernel with arguments as ptxsim takes them.
#[test]
fn a_single_kernel() {
    let run = |more: &[&str], environment: &[(&str, &str)]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpu-check"));
        command
            .arg(here().join("tests/toy.ptx"))
            .args(more)
            .arg("--driver")
            .arg(driver());
        said(command.envs(environment.iter().copied()).output().unwrap())
    };
    let result = run(&["--entry", "talk", "--grid", "2"], &[]);
    result
        .has("talk on fake device 0")
        .has("the same, bit for bit");
    assert_eq!(result.code, Some(0));
    let result = run(&["--entry", "ranks"], &[]);
    result.has("0 arguments for 1 parameters");
    assert_eq!(result.code, Some(1));
}
