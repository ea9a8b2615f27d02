//! Programs that compile with NVRTC and launch, as they are, on the emulated driver.
#![cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

// Makes cargo build the two libraries before this test.
use tilec_cuda as _;
use tilec_preload as _;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The toolkit's `python`, or another of its programs.
fn tool(name: &str) -> PathBuf {
    let output = Command::new(root().join("tools/toolkit"))
        .args(["--with-cuda-python", name])
        .output();
    let output = output.expect("the toolkit");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    PathBuf::from(String::from_utf8(output.stdout).expect("a path").trim())
}

fn built() -> PathBuf {
    let exe = std::env::current_exe().expect("a path");
    exe.parent().expect("a folder").to_owned()
}

/// A folder with the driver under its name.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = built().join("tilec-preload-test");
        std::fs::create_dir_all(&folder).expect("a folder");
        let link = folder.join("libcuda.so.1");
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(built().join("libtilec_cuda.so"), &link).expect("a link");
        folder
    })
}

/// Runs a program in the environment that `tilec emulate` makes.
fn run(program: &Path, args: &[&str]) {
    let output = Command::new(program)
        .args(args)
        .current_dir(root().join("tools/preload/tests"))
        .env("LD_LIBRARY_PATH", folder())
        .env("LD_PRELOAD", built().join("libtilec_preload.so"))
        .output()
        .expect("the program runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{args:?}: {}\n{said}",
        output.status
    );
    assert_eq!(output.stdout, b"right\n", "{said}");
    assert_eq!(said, "");
}

#[test]
fn cuda_core() {
    for code in ["cubin", "ptx"] {
        run(&tool("python"), &["core_program.py", code]);
    }
}

#[test]
fn cuda_bindings() {
    run(&tool("python"), &["bindings_program.py"]);
}

/// The loader binds the program's calls to the functions that are preloaded.
#[test]
fn a_program_linked_with_nvrtc() {
    let toolkit = tool("nvcc").with_file_name("..");
    let host = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let compiler = cc::Build::new()
        .host(&host)
        .target(&host)
        .opt_level(1)
        .include(toolkit.join("include"))
        .get_compiler();
    let program = folder().join("program");
    let library = toolkit.join("lib");
    let status = compiler
        .to_command()
        .arg(root().join("tools/preload/tests/program.c"))
        .arg("-o")
        .arg(&program)
        .arg(library.join("libnvrtc.so.13"))
        .arg(folder().join("libcuda.so.1"))
        .arg(format!("-Wl,-rpath,{}", library.display()))
        .status();
    assert!(status.expect("a C compiler").success());
    run(&program, &[]);
}
