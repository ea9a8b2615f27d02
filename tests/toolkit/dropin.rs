//! tilec where an assembler of Tile IR is expected: what it writes is enough to launch a kernel.

use crate::toolkit;
use std::path::{Path, PathBuf};
use std::process::Command;

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/corpus/bytecode")
        .join(name)
}

/// What `tilec compile` writes to standard output.
fn compile(args: &[&str]) -> Vec<u8> {
    let done = Command::new(env!("CARGO_BIN_EXE_tilec"))
        .args(["compile", "--gpu-name", "sm_90a"])
        .arg(corpus("matmul/f16_128x128x64.tilebc"))
        .args(args)
        .output()
        .expect("tilec runs");
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && stderr.is_empty(), "{stderr}");
    done.stdout
}

#[test]
fn the_manifest_travels_in_ptx_and_cubin() {
    let manifest = compile(&["--emit", "manifest"]);
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).expect("JSON");
    assert_eq!(manifest["entries"][0]["tensor_maps"][0]["element"], "f16");

    let ptx = String::from_utf8(compile(&["--embed-manifest"])).expect("text");
    let (_, constant) = ptx
        .split_once(".global .align 1 .b8 __tilec_manifest[")
        .expect("the constant");
    let (count, rest) = constant.split_once("] = {").expect("its length");
    let (bytes, _) = rest.split_once('}').expect("its end");
    let bytes: Vec<u8> = bytes
        .split(", ")
        .map(|b| b.parse().expect("a byte"))
        .collect();
    assert_eq!(count.parse(), Ok(bytes.len()));
    let read: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
    assert_eq!(read, manifest);

    let ptxas = toolkit::ptxas();
    let ptxas = ptxas.to_str().expect("a path in UTF-8");
    let cubin = compile(&["--embed-manifest", "--emit", "cubin", "--ptxas", ptxas]);
    let holds = |part: &[u8]| cubin.windows(part.len()).any(|w| w == part);
    assert!(holds(&bytes) && holds(b"\0__tilec_manifest\0"));

    let plain = String::from_utf8(compile(&[])).expect("text");
    assert!(!plain.contains("__tilec_manifest"));
}

/// A folder of a test's own with tilec under the names of CUDA's tools; it goes when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("tilec-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        let done = Command::new(env!("CARGO_BIN_EXE_tilec"))
            .arg("install-links")
            .arg(path.join("bin"))
            .output()
            .expect("tilec runs");
        assert!(done.status.success(), "{done:?}");
        Folder(path)
    }

    fn bin(&self, tool: &str) -> PathBuf {
        self.0.join("bin").join(tool)
    }

    fn file(&self, name: &str, data: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, data).expect("a file");
        path
    }

    /// Exit code, standard output and error of `program ARGS` in this folder. The toolkit's `ptxas` is
    /// in PATH; what the program calls itself is left out.
    fn run(&self, program: &Path, args: &[&str]) -> (Option<i32>, String, String) {
        let ptxas = toolkit::ptxas();
        let done = Command::new(program)
            .args(args)
            .current_dir(&self.0)
            .env("PATH", ptxas.parent().expect("a folder"))
            .output()
            .unwrap_or_else(|e| panic!("{}: {e}", program.display()));
        let text = |bytes: &[u8]| {
            String::from_utf8_lossy(bytes).replace(&*program.to_string_lossy(), "PROGRAM")
        };
        (done.status.code(), text(&done.stdout), text(&done.stderr))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Nothing depends on it being gone.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Help and version are in words of our own; they have the same options and values.
fn outline(text: &str) -> Vec<String> {
    let option = |line: &str| {
        let name = line.trim_start();
        let shown = line.starts_with("  ") && name.starts_with(['-', '=']);
        shown.then(|| name.split(" - ").next().unwrap_or(name).trim().to_owned())
    };
    // Targets that only tilec has.
    let more =
        |name: &String| name == "=sm_75" || (name.starts_with("=sm_") && name.ends_with('a'));
    text.lines()
        .filter_map(option)
        .filter(|name| !more(name))
        .collect()
}

/// `tests/dropin/TOOL.txt` has command lines, one a line, that mean the same to tilec and to the
/// toolkit's tool: exit code, standard output and error are equal. FILE stands for a module that is
/// well-formed, and so on.
fn agrees(tool: &str, theirs: &Path) {
    let folder = Folder::new(&format!("agrees-{tool}"));
    let good = std::fs::read(corpus("vadd/f32.tilebc")).expect("a file of the corpus");
    let mut newer = good.clone();
    newer[9] = 7;
    folder.file("good.bc", &good);
    folder.file("newer.bc", &newer);
    folder.file("cut.bc", &good[..300]);
    folder.file("head.bc", &good[..12]);
    folder.file("text.bc", b"entry @f() {}\n");
    folder.file("empty.bc", b"");
    let invalid = "entry @f() {\n%h = constant <f16: 1.0> : tile<8xf16>\n\
        %r = addf %h, %h flush_to_zero : tile<8xf16>\nreturn\n}\n";
    let invalid = tilec::asm::parse(invalid).expect("text");
    let version = "13.3".parse().expect("a version");
    let invalid = tilec::bytecode::write(&invalid, version).expect("bytecode");
    folder.file("invalid.bc", &invalid);

    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/dropin/{tool}.txt"));
    let list = std::fs::read_to_string(list).expect("the list");
    let mut cases = 0;
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        let args: Vec<&str> = line.split_whitespace().collect();
        let theirs = folder.run(theirs, &args);
        let ours = folder.run(&folder.bin(tool), &args);
        assert_eq!(
            ours.0, theirs.0,
            "exit code of `{line}`: {}{}",
            ours.2, theirs.2
        );
        assert_eq!(ours.2, theirs.2, "standard error of `{line}`");
        match theirs.1.starts_with("OVERVIEW") {
            true => assert_eq!(outline(&ours.1), outline(&theirs.1), "help of `{line}`"),
            false => assert_eq!(ours.1, theirs.1, "standard output of `{line}`"),
        }
        cases += 1;
    }
    assert!(cases > 10, "{cases} cases");
}

#[test]
fn tileiras_takes_the_same_options() {
    agrees("tileiras", &toolkit::tileiras());
}

#[test]
fn tileirdisasm_takes_the_same_options() {
    agrees("tileirdisasm", &toolkit::tileirdisasm());
}

/// A link to nvcc in the folder, which runs tilec there.
fn link_nvcc(folder: &Folder) -> PathBuf {
    let links = || {
        Command::new(env!("CARGO_BIN_EXE_tilec"))
            .args(["install-links", "--nvcc"])
            .arg(toolkit::nvcc())
            .arg(folder.0.join("bin"))
            .output()
            .expect("tilec runs")
    };
    // Once more changes nothing.
    for done in [links(), links()] {
        assert!(done.status.success(), "{done:?}");
    }
    folder.bin("nvcc")
}

fn holds(data: &[u8], part: &[u8]) -> bool {
    data.windows(part.len()).any(|window| window == part)
}

/// Runs a command that succeeds; its standard output.
fn succeed(command: &mut Command) -> String {
    let done = command.output().expect("the program runs");
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{command:?}: {stderr}");
    String::from_utf8_lossy(&done.stdout).into_owned()
}

#[test]
fn nvcc_assembles_with_it() {
    let folder = Folder::new("nvcc");
    let nvcc = link_nvcc(&folder);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dropin/scale.cu");
    let compile = |what: &str, output: &str, emulate: &str| {
        let output = folder.0.join(output);
        succeed(
            Command::new(&nvcc)
                .args([
                    what,
                    "-arch=sm_90",
                    "-std=c++20",
                    "--tile-only",
                    "-Xtileiras=--lineinfo",
                    "-o",
                ])
                .arg(&output)
                .arg(&source)
                .env("TILEC_EMULATE", emulate)
                .current_dir(&folder.0),
        );
        std::fs::read(output).expect("what nvcc wrote")
    };
    let cubin = compile("-tilecubin", "scale.cubin", "0");
    assert!(cubin.starts_with(b"\x7fELF") && holds(&cubin, b"\0__tilec_manifest\0"));
    assert!(holds(&cubin, b"_Z5scalePKfPf"));
    let fatbin = compile("-tilefatbin", "scale.fatbin", "0");
    assert!(holds(&fatbin, b"_Z5scalePKfPf"));
    for (what, output) in [
        ("-tilecubin", "emulated.cubin"),
        ("-tilefatbin", "emulated.fatbin"),
    ] {
        let image = compile(what, output, "1");
        assert!(holds(&image, b".tilec.ptx\0") && holds(&image, b"__tilec_manifest["));
    }
}

#[test]
fn cutile_python_assembles_and_disassembles_with_it() {
    let folder = Folder::new("cutile");
    let output = folder.0.join("twice.cubin");
    let ptxas = toolkit::ptxas();
    let path = std::env::join_paths([
        folder.0.join("bin").as_path(),
        ptxas.parent().expect("a folder"),
    ]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dropin/cutile.py");
    let run = |emulate: &str| {
        succeed(
            Command::new(toolkit::python())
                .arg(&script)
                .arg(&output)
                .env("PATH", path.as_ref().expect("a PATH"))
                .env("TILEC_EMULATE", emulate)
                .current_dir(&folder.0),
        )
    };
    let said = run("0");
    let mut lines = said.lines();
    assert_eq!(lines.next().map(Path::new), Some(&*folder.bin("tileiras")));
    assert_eq!(lines.next(), Some("13.4"));
    assert!(said.contains("entry @twice"), "{said}");
    let cubin = std::fs::read(&output).expect("a cubin");
    assert!(cubin.starts_with(b"\x7fELF") && holds(&cubin, b"\0__tilec_manifest\0"));
    run("1");
    let image = std::fs::read(&output).expect("an image");
    assert!(image.starts_with(b"\x7fELF") && holds(&image, b".visible .entry twice"));
}

#[test]
fn cutile_rs_agrees_on_a_version_with_it() {
    let folder = Folder::new("cutile-rs");
    let tileiras = folder.bin("tileiras");
    let ours = cutile_ir::toolchain::list_bytecode_versions(&tileiras).expect("a list");
    let theirs =
        cutile_ir::toolchain::list_bytecode_versions(&toolkit::tileiras()).expect("a list");
    assert_eq!(ours, theirs);
    let version = |tool: &Path| {
        cutile_ir::toolchain::negotiate_bytecode_version(tool, None).expect("a version")
    };
    assert_eq!(version(&tileiras), version(&toolkit::tileiras()));
}

/// The command lines of cuTile.jl (`src/launch.jl`): a version, an empty module of each version that it can write, a kernel
/// with remarks, and the disassembler beside the assembler.
#[test]
fn cutile_jl_calls_it() {
    let folder = Folder::new("cutile-jl");
    let tools = [folder.bin("tileiras"), toolkit::tileiras()];
    for program in &tools {
        let (code, version, _) = folder.run(program, &["--version"]);
        assert!(
            code == Some(0) && version.contains(", V13.5.37"),
            "{version}"
        );
    }
    for version in ["13.1", "13.2", "13.3"] {
        let empty = succeed(
            Command::new(env!("CARGO_BIN_EXE_tilec"))
                .args(["as", "--bytecode-version", version, "-o", "empty.tile", "-"])
                .stdin(
                    std::fs::File::open(folder.file("empty.mlir", b"module @kernels {\n}\n"))
                        .expect("a file"),
                )
                .current_dir(&folder.0),
        );
        assert_eq!(empty, "");
        for program in &tools {
            let args = ["empty.tile", "-o", "empty.cubin", "--gpu-name", "sm_100"];
            let (code, _, stderr) = folder.run(program, &args);
            assert_eq!(code, Some(0), "{stderr}");
        }
    }
    folder.file(
        "k.tile",
        &std::fs::read(corpus("vadd/f32.tilebc")).expect("a file"),
    );
    let args = [
        "k.tile",
        "-o",
        "k.cubin",
        "--gpu-name",
        "sm_90",
        "-O3",
        "--lineinfo",
        "--remark-format=yaml",
        "--remarks=all",
        "--remarks-output-file=k.yaml",
    ];
    let [ours, theirs] = tools.map(|program| {
        let (code, _, stderr) = folder.run(&program, &args);
        assert_eq!(code, Some(0), "{stderr}");
        let remarks = std::fs::read_to_string(folder.0.join("k.yaml")).expect("remarks");
        let kinds = remarks.lines().filter(|line| line.starts_with("--- !"));
        kinds
            .map(str::to_owned)
            .collect::<std::collections::BTreeSet<_>>()
    });
    assert!(
        !ours.is_empty() && !theirs.is_empty(),
        "{ours:?} {theirs:?}"
    );
    let disassembler = folder.bin("tileirdisasm");
    let (code, text, stderr) = folder.run(&disassembler, &["--print-debug-info", "k.tile"]);
    assert!(code == Some(0) && text.contains("entry @vadd"), "{stderr}");
}

/// `ptxas` instruments accesses of global memory for compute-sanitizer, as it does for NVIDIA's assembler.
#[test]
fn memcheck_instruments_every_access() {
    const CHECK: &[u8] = b"__cuda_sanitizer_memcheck_global\0";
    let theirs = toolkit::tileiras();
    let folder = Folder::new("memcheck");
    let bytes = std::fs::read(corpus("vadd/f32.tilebc")).expect("a file");
    folder.file("good.bc", &bytes);
    let assembled = |program: &Path, args: &[&str]| {
        let all = [&["good.bc", "--gpu-name", "sm_90", "-o", "out.cubin"], args].concat();
        let (code, _, stderr) = folder.run(program, &all);
        assert_eq!(code, Some(0), "{stderr}");
        std::fs::read(folder.0.join("out.cubin")).expect("machine code")
    };
    for program in [folder.bin("tileiras"), theirs] {
        assert!(!holds(&assembled(&program, &[]), CHECK));
        assert!(holds(&assembled(&program, &["--sanitize=memcheck"]), CHECK));
    }
}

#[test]
fn says_what_it_cannot_do() {
    let folder = Folder::new("cannot");
    let file = folder.file(
        "good.bc",
        &std::fs::read(corpus("vadd/f32.tilebc")).expect("a file"),
    );
    let run = |args: &[&str]| {
        let done = Command::new(folder.bin("tileiras"))
            .arg(&file)
            .args(["--gpu-name", "sm_80"])
            .args(args)
            .env("PATH", "/nowhere")
            .current_dir(&folder.0)
            .output()
            .expect("tilec runs");
        assert_eq!(done.stdout, b"");
        assert!(!folder.0.join("elf.o").exists());
        (
            done.status.code(),
            String::from_utf8_lossy(&done.stderr).into_owned(),
        )
    };
    for (args, code, part) in [
        (
            &["--apply-controls=f"][..],
            2,
            "--apply-controls is not supported by tilec",
        ),
        (
            &["--preview=simt", "-l", "lib.a"],
            5,
            "(-l) are not supported by tilec",
        ),
        (&["-o", "/nowhere/x"], 2, "/nowhere/x"),
        (&["--gpu-name=sm_107"], 2, "sm_107 is not supported"),
    ] {
        let (status, stderr) = run(args);
        assert!(stderr.contains(part), "{args:?}: {stderr}");
        assert_eq!(status, Some(code), "{args:?}");
    }
    // A file that someone else put there is not replaced.
    let other = folder.0.join("other");
    std::fs::create_dir_all(&other).expect("a folder");
    std::fs::write(other.join("tileiras"), "theirs").expect("a file");
    let links = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tilec"));
        command
            .arg("install-links")
            .arg(&other)
            .args(more)
            .output()
            .expect("tilec runs")
    };
    assert!(!links(&[]).status.success());
    assert!(links(&["--force"]).status.success() && links(&[]).status.success());
    let done = links(&["--nvcc", "no/such/nvcc"]);
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert!(stderr.contains("cannot read 'no/such/nvcc'"), "{stderr}");
}

/// Places of machine code, as `nvdisasm -gi` tells them: `"FILE", line N`, perhaps with `inlined at …`.
fn places(folder: &Folder, cubin: &str) -> std::collections::BTreeSet<String> {
    let (_, text, stderr) = folder.run(&toolkit::nvdisasm(), &["-gi", cubin]);
    let places = text
        .lines()
        .filter_map(|line| line.split_once("//## File "));
    let places: std::collections::BTreeSet<String> = places.map(|(_, at)| at.to_owned()).collect();
    assert!(!places.is_empty(), "{stderr}{text}");
    places
}

#[test]
fn machine_code_knows_its_lines() {
    let folder = Folder::new("lines");
    for name in [
        "matmul/f16_128x128x64.tilebc",
        "programs_attention/f16-13.5.tilebc",
    ] {
        let file = corpus(name);
        let file = file.to_str().expect("a path in UTF-8");
        let theirs = folder.run(
            &toolkit::tileiras(),
            &[file, "-arch=sm_90", "--lineinfo", "-o", "theirs"],
        );
        assert_eq!(theirs.0, Some(0), "{}", theirs.2);
        let theirs = places(&folder, "theirs");
        let line = |place: &String| place.split(" inlined").next().map(str::to_owned);
        let known: std::collections::BTreeSet<_> = theirs.iter().filter_map(line).collect();
        for how in [&["--lineinfo"][..], &["-g", "-O0"]] {
            let args = [&[file, "-arch=sm_90", "-o", "ours"], how].concat();
            let ours = folder.run(&folder.bin("tileiras"), &args);
            assert_eq!(ours.0, Some(0), "{}", ours.2);
            let ours = places(&folder, "ours");
            let lines: std::collections::BTreeSet<_> = ours.iter().filter_map(line).collect();
            assert!(
                lines.is_subset(&known),
                "{name} {how:?}: {lines:?} and {known:?}"
            );
            // Without a debugger's needs, nearly all of theirs; with inlined calls where they have them.
            if how.len() == 1 {
                assert!(
                    4 * lines.len() >= 3 * known.len(),
                    "{name}: {lines:?} and {known:?}"
                );
                let inlined = |set: &std::collections::BTreeSet<String>| {
                    set.iter().any(|place| place.contains("inlined at"))
                };
                assert_eq!(inlined(&ours), inlined(&theirs), "{name}");
            }
        }
    }
}

#[test]
fn line_information_changes_no_instruction() {
    let plain = String::from_utf8(compile(&[])).expect("text");
    let with = String::from_utf8(compile(&["--lineinfo"])).expect("text");
    assert!(with.contains("function_name $L__info_string") && with.contains(".file 1 "));
    let (code, _) = with.split_once("\n.file").expect("a table of files");
    let code: String = code
        .split_inclusive('\n')
        .filter(|l| !l.starts_with("\t.loc"))
        .collect();
    assert_eq!(code, plain);
}
