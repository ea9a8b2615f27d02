//! C programs with the driver API, compiled against NVIDIA's `cuda.h`, run with the emulated driver.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

// Makes cargo build the library before this test.
use tilec_cuda as _;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folder of `cuda.h`.
fn header() -> PathBuf {
    let tool = Command::new(root().join("tools/toolkit"))
        .arg("nvcc")
        .output();
    let tool = tool.expect("the toolkit").stdout;
    let nvcc = PathBuf::from(String::from_utf8(tool).expect("a path").trim());
    nvcc.parent()
        .and_then(Path::parent)
        .expect("a folder above bin")
        .join("include")
}

/// The program, linked with the library under the driver's name.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let exe = std::env::current_exe().expect("a path");
        let built = exe.parent().expect("a folder");
        let folder = built.join("tilec-cuda-test");
        std::fs::create_dir_all(&folder).expect("a folder");
        let library = folder.join("libcuda.so.1");
        let _ = std::fs::remove_file(&library);
        std::os::unix::fs::symlink(built.join("libtilec_cuda.so"), &library).expect("a link");
        let host = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
        let compiler = cc::Build::new()
            .host(&host)
            .target(&host)
            .opt_level(1)
            .warnings(true)
            .extra_warnings(true)
            .warnings_into_errors(true)
            .include(header())
            .get_compiler();
        let program = folder.join("program");
        let status = compiler
            .to_command()
            .arg(root().join("tools/cuda/tests/program.c"))
            .arg("-o")
            .arg(&program)
            .arg(&library)
            .arg("-lpthread")
            .arg(format!("-Wl,-rpath,{}", folder.display()))
            .status();
        assert!(status.expect("a C compiler").success());
        program
    })
}

fn run(args: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(program());
    command.args(args).current_dir(root());
    command.envs(environment.iter().copied());
    let output = command.output().expect("the program runs");
    assert!(
        output.status.success(),
        "{args:?}: {}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// The program's environment with the library in front of another driver: a copy of it, which knows nothing of tilec, as
/// NVIDIA's does not. It takes neither Tile IR nor manifests, so a kernel of tilec's is right only if the library in
/// front compiles it, and passes block size, shared memory and tensor maps.
fn in_front(gpu: &'static str) -> Vec<(&'static str, &'static str)> {
    static REAL: OnceLock<String> = OnceLock::new();
    let real = REAL.get_or_init(|| {
        let library = program().with_file_name("libcuda.so.1");
        let folder = program().with_file_name("real");
        std::fs::create_dir_all(&folder).expect("a folder");
        let real = folder.join("libcuda.so.1");
        let fresh = folder.join("fresh");
        std::fs::copy(library, &fresh).expect("a copy");
        std::fs::rename(fresh, &real).expect("a name");
        real.to_str().expect("UTF-8").to_owned()
    });
    vec![
        ("TILEC_LAUNCH_DRIVER", real),
        ("TILEC_EMULATE_MANIFESTS", "0"),
        ("TILEC_EMULATE_GPU", gpu),
    ]
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn devices_memory_modules_launches() {
    run(&["basics"], &[]);
}

#[test]
fn memory_of_the_host_is_used_where_it_is() {
    run(&["host_memory"], &[]);
}

#[test]
fn streams_wait_for_values_and_events() {
    run(&["waits"], &[]);
}

#[test]
fn graphs_by_hand_and_by_capture() {
    run(&["graphs"], &[]);
}

#[test]
fn a_fault_names_kernel_block_warp_line_and_buffer() {
    let text = said(&run(&["fault"], &[]));
    for part in [
        "kernel `axpy`",
        "block (7, 0, 0)",
        "lane 7",
        "PTX line",
        "4 bytes",
        "device memory",
        "(3996 bytes at",
        "ld.global.f32",
    ] {
        assert!(text.contains(part), "no `{part}` in: {text}");
    }
}

#[test]
fn what_is_not_emulated_is_named_once() {
    let text = said(&run(&["unsupported"], &[]));
    assert_eq!(
        text.matches("cuArrayCreate_v2 is not emulated").count(),
        1,
        "{text}"
    );
}

#[test]
fn threads_launch_at_once_and_a_child_goes_on() {
    run(&["threads"], &[]);
}

#[test]
fn a_thread_calls_the_driver_while_it_ends() {
    run(&["thread_end"], &[]);
}

#[test]
fn a_pool_counts_its_own_memory() {
    run(&["pools"], &[]);
}

#[test]
fn many_launches_leave_memory_where_it_was() {
    run(&["many", "20000"], &[]);
}

/// Files and folders in a folder.
fn entries(folder: &Path) -> Vec<std::ffi::OsString> {
    let list = std::fs::read_dir(folder).expect("a folder");
    let mut names: Vec<_> = list.map(|e| e.expect("an entry").file_name()).collect();
    names.sort();
    names
}

/// No file, no shared memory, no process: all that the driver has is memory and threads of the program's.
#[test]
fn a_killed_process_leaves_nothing_behind() {
    use std::io::Read;
    let folder = program().with_file_name("killed");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut child = Command::new(program())
        .arg("spin")
        .current_dir(&folder)
        .envs(["TMPDIR", "HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"].map(|name| (name, &folder)))
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut said = [0; 8];
    let stdout = child.stdout.as_mut().expect("a pipe");
    stdout.read_exact(&mut said).expect("a word");
    let id = child.id();
    let named = |name: &std::ffi::OsString| name.to_string_lossy().contains(&id.to_string());
    let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
    assert_eq!(children.unwrap_or_default(), "");
    assert!(!entries(Path::new("/dev/shm")).iter().any(named));
    child.kill().expect("it still runs");
    child.wait().expect("it has ended");
    assert_eq!(entries(&folder), Vec::<std::ffi::OsString>::new());
}

#[test]
fn a_large_grid_of_empty_blocks() {
    run(&["grid", "100000"], &[]);
}

const VADD: &str = "tests/corpus/bytecode/vadd/f32.tilebc";

#[test]
fn tile_ir_is_compiled_for_the_emulated_target() {
    for target in ["sm_75", "sm_80", "sm_90a", "sm_120a"] {
        run(&["vadd", VADD], &[("TILEC_EMULATE_GPU", target)]);
    }
}

#[test]
fn ptx_with_its_manifest_is_enough() {
    let module = tilec::bytecode::read(&std::fs::read(root().join(VADD)).expect("a module"));
    let options = tilec::compile::Options {
        embed_manifest: true,
        ..tilec::compile::Options::new("sm_90a".parse().expect("a target"))
    };
    let kernel = tilec::compile::to_ptx(module.expect("a module"), &options).expect("PTX");
    let path = program().with_file_name("vadd.ptx");
    std::fs::write(&path, kernel.ptx).expect("a file");
    run(
        &["vadd", path.to_str().expect("UTF-8")],
        &[("TILEC_EMULATE_CHECKS", "1")],
    );
}

/// Hidden tensor maps, clusters of warps with roles, dynamic shared memory: all from the manifest.
#[test]
fn a_product_by_tensor_maps() {
    let module = "tests/corpus/bytecode/matmul/f32_128x128x64.tilebc";
    let args = [
        "matmul", module, "256", "128", "192", "128", "128", "matmul",
    ];
    run(&args, &[("TILEC_EMULATE_GPU", "sm_90a")]);
    run(&args, &[("TILEC_EMULATE_GPU", "sm_80")]);
}

#[test]
fn tile_ir_in_the_interpreter() {
    let eval = [("TILEC_EMULATE_ENGINE", "eval")];
    run(&["vadd", VADD], &eval);
    let module = "tests/corpus/bytecode/matmul/f32_128x128x64.tilebc";
    let args = [
        "matmul", module, "256", "128", "192", "128", "128", "matmul",
    ];
    run(&args, &eval);
}

#[test]
fn variables_of_a_module_are_there_from_launch_to_launch() {
    let text = "
        global @counter <i32: [40]> : tile<1xi32>
        entry @count(%out: tile<ptr<i32>>) {
          %one = constant <i32: 1> : tile<i32>
          %at = get_global @counter : tile<ptr<i32>>
          %old, %t0 = load_ptr_tko weak %at : tile<ptr<i32>> -> tile<i32>, token
          %new = addi %old, %one : tile<i32>
          %t1 = store_ptr_tko weak %at, %new token = %t0 : tile<ptr<i32>>, tile<i32> -> token
          %t2 = store_ptr_tko weak %out, %new : tile<ptr<i32>>, tile<i32> -> token
          return
        }";
    let module = tilec::asm::parse(text).expect("a module");
    let bytes = tilec::bytecode::write(&module, tilec::dialect::Version::V13_1);
    let path = program().with_file_name("count.tilebc");
    std::fs::write(&path, bytes.expect("bytecode")).expect("a file");
    let args = ["count", path.to_str().expect("UTF-8")];
    run(&args, &[("TILEC_EMULATE_GPU", "sm_80")]);
    run(&args, &[("TILEC_EMULATE_ENGINE", "eval")]);
}

#[test]
fn modules_are_kept_as_they_were_loaded() {
    let folder = program().with_file_name("kept");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir(&folder).expect("a folder");
    let keep = [("TILEC_EMULATE_KEEP", folder.to_str().expect("UTF-8"))];
    run(&["vadd", VADD], &keep);
    run(&["vadd", VADD], &keep);
    let files = std::fs::read_dir(&folder).expect("the folder is there");
    let files: Vec<_> = files.map(|f| f.expect("a file").path()).collect();
    let [file] = files.as_slice() else {
        panic!("{files:?}")
    };
    let loaded = std::fs::read(root().join(VADD)).expect("the module");
    assert_eq!(std::fs::read(file).expect("the kept file"), loaded);
}

#[test]
fn without_an_engine_launches_leave_memory_as_it_is() {
    let mut command = Command::new(program());
    command.args(["vadd", VADD]).current_dir(root());
    command.env("TILEC_EMULATE_ENGINE", "none");
    let output = command.output().expect("the program runs");
    // The launch succeeded: what the program misses are the sums.
    let text = said(&output);
    assert!(!output.status.success(), "{text}");
    assert!(text.contains("hz[i] == i + 1.0f"), "{text}");
}

#[test]
fn the_log_has_a_line_per_call() {
    let log = program().with_file_name("calls.log");
    let _ = std::fs::remove_file(&log);
    run(
        &["unsupported"],
        &[("TILEC_EMULATE_LOG", log.to_str().expect("UTF-8"))],
    );
    let text = std::fs::read_to_string(&log).expect("a log");
    assert!(text.contains("cuInit -> 0\n"), "{text}");
    assert!(text.contains("cuArrayCreate_v2 is not emulated"), "{text}");
}

#[test]
fn the_driver_behind_knows_nothing_of_tilec() {
    let mut command = Command::new(program());
    command.args(["vadd", VADD]).current_dir(root());
    command.env("TILEC_EMULATE_MANIFESTS", "0");
    let output = command.output().expect("the program runs");
    assert!(!output.status.success());
}

#[test]
fn in_front_of_a_driver_everything_else_is_the_drivers() {
    for case in [
        "basics",
        "host_memory",
        "waits",
        "graphs",
        "threads",
        "thread_end",
        "pools",
    ] {
        run(&[case], &in_front("sm_90a"));
    }
    // So are the functions that the library itself does not have. (Their addresses by name are the driver's, which is
    // where the program's own case ends.)
    let mut command = Command::new(program());
    command.arg("unsupported").envs(in_front("sm_90a"));
    let text = said(&command.output().expect("the program runs"));
    assert!(text.contains("cuArrayCreate_v2 is not emulated"), "{text}");
}

#[test]
fn in_front_of_a_driver_tile_ir_is_compiled_for_its_gpu() {
    for target in ["sm_75", "sm_90a"] {
        run(&["vadd", VADD], &in_front(target));
    }
}

#[test]
fn in_front_of_a_driver_tensor_maps_are_passed() {
    let module = "tests/corpus/bytecode/matmul/f32_128x128x64.tilebc";
    let args = [
        "matmul", module, "256", "128", "192", "128", "128", "matmul",
    ];
    run(&args, &in_front("sm_90a"));
}

/// PTX of tilec's is launched by its manifest; so is machine code, in which `ptxas` leaves the manifest.
#[test]
fn the_manifest_is_found_in_ptx_and_in_machine_code() {
    let module = tilec::bytecode::read(&std::fs::read(root().join(VADD)).expect("a module"));
    let target: tilec::target::Target = "sm_90a".parse().expect("a target");
    let options = tilec::compile::Options {
        embed_manifest: true,
        ..tilec::compile::Options::new(target)
    };
    let kernel = tilec::compile::to_ptx(module.expect("a module"), &options).expect("PTX");
    let path = program().with_file_name("vadd_front.ptx");
    std::fs::write(&path, &kernel.ptx).expect("a file");
    run(
        &["vadd", path.to_str().expect("UTF-8")],
        &in_front("sm_90a"),
    );

    let ptxas = Command::new(root().join("tools/toolkit"))
        .arg("ptxas")
        .output();
    let ptxas = String::from_utf8(ptxas.expect("the toolkit").stdout).expect("a path");
    let cubin = tilec::ptxas::assemble(Path::new(ptxas.trim()), &kernel.ptx, target, &[]);
    let found = tilec_cuda::image::manifest_of_cubin(&cubin.expect("machine code"));
    let value = |json: &str| -> serde_json::Value { serde_json::from_str(json).expect("JSON") };
    let wanted = kernel.manifest.to_json().expect("JSON");
    assert_eq!(value(&found.expect("a manifest")), value(&wanted));
}

#[test]
fn python_without_torch() {
    let python = Command::new(root().join("tools/toolkit"))
        .arg("python")
        .output();
    let python = String::from_utf8(python.expect("the toolkit").stdout).expect("a path");
    let output = Command::new(python.trim())
        .args(["-m", "tilec.emulate", "numpy_program.py"])
        .current_dir(root().join("tools/cuda/tests"))
        .env("PYTHONPATH", root().join("tools/python"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("TILEC_EMULATE", "1")
        .env("LD_LIBRARY_PATH", program().parent().expect("a folder"))
        .output()
        .expect("Python runs");
    assert_eq!(output.stdout, b"right\n", "{}", said(&output));
}

/// Words after `mark`, up to what no name has.
fn names_after<'t>(text: &'t str, mark: &str) -> impl Iterator<Item = &'t str> {
    let parts = text.split(mark).skip(1).map(|rest| rest.trim_start());
    parts.map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        end.map_or(rest, |end| &rest[..end])
    })
}

#[test]
fn every_function_of_the_header_has_a_symbol() {
    let text = std::fs::read_to_string(header().join("cuda.h")).expect("cuda.h");
    let rows = include_str!("../functions.tsv");
    let has = |name: &str| {
        let row = format!("{name}\t");
        rows.lines().any(|r| r.starts_with(&row))
    };
    let declared = names_after(&text, "CUDAAPI").map(str::to_owned);
    let per_thread = [("PTDS", "_ptds"), ("PTSZ", "_ptsz")].map(|(of, suffix)| {
        let mark = format!("__CUDA_API_{of}(");
        let found: Vec<_> = names_after(&text, &mark)
            .map(|n| format!("{n}{suffix}"))
            .collect();
        found
    });
    let all = declared.chain(per_thread.into_iter().flatten());
    let mut missing: Vec<_> = all.filter(|n| n.starts_with("cu") && !has(n)).collect();
    missing.sort();
    missing.dedup();
    assert_eq!(missing, Vec::<String>::new());
    assert!(has("cuLaunchKernelEx_ptsz") && has("cuLinkComplete"));
}
