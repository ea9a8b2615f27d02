//! A C program, compiled against the header and linked with the shared library.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

// Makes cargo build the library before this test.
use tilec_c as _;

/// The folder of this test's executable, where cargo puts the shared library too.
fn build_folder() -> PathBuf {
    let exe = std::env::current_exe().expect("a path");
    exe.parent().expect("a folder").to_path_buf()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compiles and links the program, warnings being errors.
fn program(source: &str, standard: &str) -> PathBuf {
    let (here, folder) = (Path::new(env!("CARGO_MANIFEST_DIR")), build_folder());
    assert!(
        folder.join("libtilec_c.so").exists(),
        "no shared library in {}",
        folder.display()
    );
    let host = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let compiler = cc::Build::new()
        .host(&host)
        .target(&host)
        .opt_level(1)
        .warnings(true)
        .extra_warnings(true)
        .warnings_into_errors(true)
        .include(here.join("include"))
        .get_compiler();
    let program = folder.join(format!("tilec_c_{source}_{standard}"));
    let status = compiler
        .to_command()
        .arg(format!("-std={standard}"))
        .arg(here.join(format!("tests/{source}.c")))
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(&folder)
        .arg("-ltilec_c")
        .arg(format!("-Wl,-rpath,{}", folder.display()))
        .status();
    assert!(status.expect("a C compiler").success());
    program
}

fn run(program: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(args).current_dir(root());
    command.output().expect("the program runs")
}

const VADD: &str = "tests/corpus/bytecode/vadd/f32.tilebc";

#[test]
fn a_c_program_compiles_a_module() {
    let program = program("program", "c99");
    let output = run(&program, &[VADD, "sm_80"]);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success());
    let module = tilec::bytecode::read(&std::fs::read(root().join(VADD)).expect("a module"));
    let options = tilec::compile::Options::new("sm_80".parse().expect("a target"));
    let kernel = tilec::compile::to_ptx(module.expect("a module"), &options).expect("PTX");
    assert!(
        text.contains(&kernel.ptx),
        "another PTX than the library's:\n{text}"
    );
    assert!(text.contains("\"entries\""), "no manifest:\n{text}");
    // Without options, the default target.
    let output = run(&program, &[VADD]);
    assert!(String::from_utf8_lossy(&output.stdout).contains(".target sm_90a"));
}

#[test]
fn errors_reach_c() {
    let program = program("program", "c11");
    for (args, why) in [
        (&["tools/capi/tests/program.c"][..], "error"),
        (&[VADD, "sm_1"][..], "unknown target `sm_1`"),
    ] {
        let output = run(&program, args);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains(why), "{text}");
    }
}

#[test]
fn a_c_program_runs_a_kernel() {
    let program = program("sums", "c99");
    let output = run(&program, &[VADD]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let sums: Vec<f32> = text.lines().map(|l| l.parse().expect("a number")).collect();
    let expected: Vec<f32> = (0..1500).map(|i| 1.5 * i as f32).collect();
    assert_eq!(sums, expected);
}

#[test]
fn faults_reach_c_and_leave_memory_alone() {
    let output = run(&program("sums", "c11"), &[VADD, "short"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("out of bounds"), "{text}");
}
