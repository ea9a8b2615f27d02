//! Programs on the CUDA runtime, built by nvcc as they are, run on tilec's runtime and the emulated driver.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

// Makes cargo build the libraries before this test.
use tilec_cuda as _;
use tilec_cudart as _;
use tilec_preload as _;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn tool(name: &str) -> PathBuf {
    tool_with(&[name])
}

fn tool_with(arguments: &[&str]) -> PathBuf {
    let output = Command::new(root().join("tools/toolkit"))
        .args(arguments)
        .output();
    let output = output.expect("the toolkit").stdout;
    PathBuf::from(String::from_utf8(output).expect("a path").trim())
}

/// A folder with the libraries under the names that programs look for.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let exe = std::env::current_exe().expect("a path");
        let built = exe.parent().expect("a folder");
        let folder = built.join("tilec-cudart-test");
        std::fs::create_dir_all(&folder).expect("a folder");
        for (name, file) in [
            ("libcuda.so.1", "libtilec_cuda.so"),
            ("libcudart.so.13", "libtilec_cudart.so"),
            ("libcudart.so", "libtilec_cudart.so"),
        ] {
            let link = folder.join(name);
            let _ = std::fs::remove_file(&link);
            std::os::unix::fs::symlink(built.join(file), &link).expect("a link");
        }
        folder
    })
}

/// A command in the environment that `tilec emulate` makes.
fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env("LD_LIBRARY_PATH", folder())
        .env("LIBRARY_PATH", folder())
        .env("NVCC_APPEND_FLAGS", "--cudart shared");
    command
}

/// Builds a program with nvcc.
fn build(source: &str, name: &str, options: &[&str]) -> PathBuf {
    let program = folder().join(name);
    let built = command(&tool("nvcc"))
        .arg("-arch=sm_90")
        .args(options)
        .arg("-o")
        .arg(&program)
        .arg(root().join("tools/cudart/tests").join(source))
        .output()
        .expect("nvcc runs");
    let said = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "{said}");
    program
}

fn simt() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| build("simt.cu", "simt", &["-std=c++17"]))
}

fn run(program: &Path, args: &[&str]) -> Output {
    let output = command(program).args(args).output();
    let output = output.expect("the program runs");
    assert!(
        output.status.success(),
        "{args:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

#[test]
fn launches_and_copies() {
    run(simt(), &["axpys"]);
}

#[test]
fn devices_and_errors() {
    run(simt(), &["devices"]);
}

#[test]
fn variables_of_the_device() {
    run(simt(), &["symbols"]);
}

#[test]
fn attributes_occupancy_cooperative_and_cluster_launches() {
    run(simt(), &["kernels"]);
}

#[test]
fn memory_of_every_kind() {
    run(simt(), &["memory"]);
}

#[test]
fn streams_events_and_graphs() {
    run(simt(), &["streams"]);
}

#[test]
fn threads_launch_at_once() {
    run(simt(), &["threads"]);
}

#[test]
fn prints_reach_standard_output() {
    let output = run(simt(), &["prints"]);
    assert_eq!(output.stdout, b"block 0 says 42\n");
}

#[test]
fn a_fault_is_an_error_from_then_on() {
    let output = run(simt(), &["fault"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("kernel `_Z7outsidePi`"), "{said}");
}

/// Tile IR bytecode in the executable, beside PTX; compressed, as nvcc does it unless it is told otherwise.
#[test]
fn tile_kernels_beside_others() {
    let program = build("tile.cu", "tile", &["-std=c++20", "--enable-tile"]);
    assert_eq!(run(&program, &[]).stdout, b"right\n");
    let output = command(&program).env("TILEC_EMULATE_GPU", "sm_75").output();
    assert_eq!(output.expect("the program runs").stdout, b"right\n");
}

/// A program that was linked with NVIDIA's shared runtime runs as it is: the names have the same versions.
#[test]
fn a_program_linked_with_nvidias_runtime() {
    let nvidias = folder().join("nvidias");
    std::fs::create_dir_all(&nvidias).expect("a folder");
    let link = nvidias.join("libcudart.so");
    let _ = std::fs::remove_file(&link);
    let library = tool("nvcc").with_file_name("../lib/libcudart.so.13");
    std::os::unix::fs::symlink(library, &link).expect("a link");
    let option = format!("-L{}", nvidias.display());
    let program = build("simt.cu", "simt-nvidia", &["-std=c++17", &option]);
    let output = run(&program, &["axpys"]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

/// Builds a program with nvcc as nvcc does it by itself: with the static runtime.
fn with_static_runtime(source: &str, name: &str, options: &[&str]) -> PathBuf {
    let program = folder().join(name);
    let built = Command::new(tool("nvcc"))
        .args(["-arch=sm_90", "-o"])
        .arg(&program)
        .args(options)
        .arg(root().join("tools/cudart/tests").join(source))
        .status();
    assert!(built.expect("nvcc runs").success());
    program
}

/// What `tilec emulate` preloads has the program call the other runtime.
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
#[test]
fn programs_with_the_static_runtime_run_as_they_are() {
    let preload = folder().join("../libtilec_preload.so");
    let run = |program: &Path, args: &[&str]| {
        let output = command(program)
            .args(args)
            .env("LD_PRELOAD", &preload)
            .output()
            .expect("the program runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {said}");
        output.stdout
    };
    for (name, linked) in [
        ("static", "-Xlinker=-pie"),
        ("static-fixed", "-Xlinker=-no-pie"),
    ] {
        let program = with_static_runtime("simt.cu", name, &["-std=c++17", linked]);
        for case in [
            "axpys", "devices", "symbols", "kernels", "memory", "streams", "threads",
        ] {
            run(&program, &[case]);
        }
        assert_eq!(run(&program, &["prints"]), b"block 0 says 42\n");
    }
    let tile = ["-std=c++20", "--enable-tile"];
    let program = with_static_runtime("tile.cu", "static-tile", &tile);
    assert_eq!(run(&program, &[]), b"right\n");
}

/// A library that a program opens has told the static runtime of its kernels by then, and tells the other one.
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
#[test]
fn opened_libraries_with_the_static_runtime_run_as_they_are() {
    let options = ["-shared", "-Xcompiler=-fPIC"];
    let library = with_static_runtime("library.cu", "libsum.so", &options);
    let program = "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).sum(1000))";
    let output = command(&tool("python"))
        .args(["-c", program])
        .arg(&library)
        .env("LD_PRELOAD", folder().join("../libtilec_preload.so"))
        .output()
        .expect("the program runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.stdout, b"499500\n", "{said}");
}

/// cuda-python's module with the static runtime is stripped; it calls the other runtime by the table of its functions.
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
#[test]
fn cuda_pythons_runtime_is_tilecs() {
    let output = command(&tool_with(&["--with-cuda-python", "python"]))
        .arg(root().join("tools/cudart/tests/bindings_runtime.py"))
        .env("LD_PRELOAD", folder().join("../libtilec_preload.so"))
        .output()
        .expect("the program runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.stdout, b"right\n", "{said}");
    assert_eq!(said, "");
}

/// NVIDIA's static runtime asks for what there is not, and a program that does not say where its functions are is told what
/// to do.
#[test]
fn a_stripped_static_runtime_is_refused_with_advice() {
    let program = with_static_runtime("simt.cu", "stripped", &["-std=c++17", "-Xlinker=-s"]);
    let output = command(&program)
        .arg("axpys")
        .output()
        .expect("the program runs");
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("--cudart shared"), "{said}");
}
