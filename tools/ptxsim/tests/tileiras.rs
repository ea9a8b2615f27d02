//! PTX that tileiras emits for the corpus's bytecode, run on the arguments and compared with the right outputs that numpy
//! computed (`tests/corpus/reference.py`).

mod common;

use common::{toolkit, values};
use ptxsim::arguments::Arguments;
use ptxsim::manifest::EntryManifest;
use ptxsim::{Launch, Module};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// The PTX in a cubin's section `.nv_debug_ptx_txt`, its lines separated by NUL.
fn embedded_ptx(cubin: &[u8]) -> String {
    let word = |at: usize, n: usize| {
        cubin[at..at + n]
            .iter()
            .rev()
            .fold(0usize, |w, &b| w << 8 | usize::from(b))
    };
    // ELF64 header: section headers at 0x28, their size, number and string table at 0x3a.
    let (table, size, count, names) = (word(0x28, 8), word(0x3a, 2), word(0x3c, 2), word(0x3e, 2));
    let header = |i: usize| table + i * size;
    let strings = word(header(names) + 0x18, 8);
    for i in 0..count {
        let name = &cubin[strings + word(header(i), 4)..];
        if name.starts_with(b".nv_debug_ptx_txt\0") {
            let (start, len) = (word(header(i) + 0x18, 8), word(header(i) + 0x20, 8));
            return String::from_utf8_lossy(&cubin[start..start + len]).replace('\0', "\n");
        }
    }
    panic!("the cubin has no .nv_debug_ptx_txt");
}

/// What tileiras makes of `tests/corpus/bytecode/CASE.tilebc`.
fn tileiras(case: &str, arch: &str) -> String {
    let bytecode = repository().join(format!("tests/corpus/bytecode/{case}.tilebc"));
    let folder = repository().join("target/ptxsim-kernels");
    std::fs::create_dir_all(&folder).unwrap();
    let cubin = folder.join(format!(
        "{}-{arch}-{}.cubin",
        case.replace('/', "-"),
        std::process::id()
    ));
    let output = Command::new(toolkit::tileiras())
        .args(["--lineinfo", "--gpu-name", arch, "-o"])
        .args([&cubin, &bytecode])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "tileiras {case}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = embedded_ptx(&std::fs::read(&cubin).unwrap());
    std::fs::remove_file(cubin).unwrap();
    text
}

/// Runs of a case: folders with arguments and right outputs, written by the corpus.
fn runs(case: &str) -> Vec<PathBuf> {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let call = CALLS.fetch_add(1, Ordering::Relaxed);
    let out = repository().join(format!("target/ptxsim-runs/{}-{call}", std::process::id()));
    let output = Command::new(toolkit::python())
        .arg(repository().join("tests/corpus/reference.py"))
        .args([out.as_os_str(), format!("{case}/").as_ref()])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let mut folders: Vec<_> = std::fs::read_dir(out.join(case))
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    folders.sort();
    folders
}

/// Elements of a `.npy` file as doubles.
fn elements(path: &Path) -> Vec<f64> {
    let bytes = std::fs::read(path).unwrap();
    let mut rest = bytes.as_slice();
    let header = npyz::NpyHeader::from_reader(&mut rest).unwrap();
    match header.dtype().descr().trim_matches('\'') {
        "<f4" => values::<f32>(rest).into_iter().map(f64::from).collect(),
        "<f8" => values::<f64>(rest),
        "<f2" => values::<u16>(rest)
            .into_iter()
            .map(|b| half::f16::from_bits(b).to_f64())
            .collect(),
        "<i4" => values::<i32>(rest).into_iter().map(f64::from).collect(),
        "<i8" => values::<i64>(rest).into_iter().map(|v| v as f64).collect(),
        "|i1" => values::<i8>(rest).into_iter().map(f64::from).collect(),
        other => panic!("{other}"),
    }
}

/// Runs one folder's launch and compares.
fn check(ptx: &Module, folder: &Path, maps: Option<&EntryManifest>, seed: u64) {
    let text = std::fs::read_to_string(folder.join("manifest.json")).unwrap();
    let run: serde_json::Value = serde_json::from_str(&text).unwrap();
    let program = ptx.entry(run["entry"].as_str()).unwrap();
    let mut arguments = Arguments::default();
    for arg in run["args"].as_array().unwrap() {
        let (kind, value) = arg.as_str().unwrap().split_once(':').unwrap();
        let file = matches!(kind, "in" | "inout");
        let value = if file {
            folder.join(value).display().to_string()
        } else {
            value.into()
        };
        arguments
            .add(&format!("{}:{value}", if file { "in" } else { kind }))
            .unwrap();
    }
    if let Some(maps) = maps {
        arguments.add_tensor_maps(maps).unwrap();
    }
    let mut launch = Launch::new(&program);
    for (slot, extent) in launch.grid.iter_mut().zip(run["grid"].as_array().unwrap()) {
        *slot = extent.as_u64().unwrap() as u32;
    }
    (launch.args, launch.buffers, launch.seed) = (arguments.args, arguments.buffers, seed);
    // tileiras has no tcgen05.fence behind the wait for a tcgen05.commit.
    launch.checks.tensor_fences = false;
    launch
        .run()
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    for output in run["outputs"].as_array().unwrap() {
        let name = output["file"].as_str().unwrap().trim_end_matches(".npy");
        let expected = elements(&folder.join(output["expected"].as_str().unwrap()));
        let buffer = launch.buffers.iter().find(|b| b.name == name).unwrap();
        let temporary = folder.join("got.npy");
        let original = std::fs::read(folder.join(format!("{name}.npy"))).unwrap();
        let head = original.len() - buffer.bytes.len();
        std::fs::write(&temporary, [&original[..head], &buffer.bytes].concat()).unwrap();
        let limit = |key: &str| output[key].as_f64().unwrap();
        for (i, (got, want)) in elements(&temporary).iter().zip(&expected).enumerate() {
            let slack = limit("absolute")
                + limit("relative") * want.abs()
                + limit("ulp") * want.abs() * 1e-3;
            let close =
                got == want || (got.is_nan() && want.is_nan()) || (got - want).abs() <= slack;
            assert!(
                close,
                "{} {name}[{i}]: {got}, numpy has {want}",
                folder.display()
            );
        }
    }
}

#[test]
fn elementwise_reductions_and_shapes() {
    for case in ["vadd/f16", "softmax/f32_4x256"] {
        for arch in ["sm_80", "sm_90"] {
            let ptx = Module::new(tileiras(case, arch)).unwrap();
            for folder in runs(case) {
                check(&ptx, &folder, None, 1);
            }
        }
    }
}

#[test]
fn products_for_ampere() {
    let ptx = Module::new(tileiras("matmul/f16_64x64x32", "sm_80")).unwrap();
    for folder in runs("matmul/f16_64x64x32") {
        check(&ptx, &folder, None, 2);
    }
}

/// The tensor maps that tileiras hides behind the entry's own parameters, as its launcher would fill them in. There is none
/// of C: its rows are not known to be of whole 16 bytes.
fn matmul_maps(block: u32, a_box: [u32; 2], b_box: [u32; 2], swizzles: [&str; 2]) -> EntryManifest {
    let map = |param: u32,
               base: u32,
               (inner, outer, stride): (u32, u32, u32),
               extents: [u32; 2],
               swizzle: &str| {
        serde_json::json!({
            "param": param, "base": base, "element": "f16",
            "dims": [{"param": inner}, {"param": outer}],
            "strides_bytes": [{"mul": [{"param": stride}, 2]}],
            "box": extents, "swizzle": swizzle,
        })
    };
    let entry = serde_json::json!({
        "name": "matmul", "block": [block, 1, 1],
        "tensor_maps": [map(15, 0, (2, 1, 3), a_box, swizzles[0]), map(16, 5, (7, 6, 8), b_box, swizzles[1])],
    });
    serde_json::from_value(entry).unwrap()
}

#[test]
fn warp_specialised_products_for_hopper() {
    for (case, a_box, b_box, swizzles) in [
        ("matmul/f16_64x64x32", [32, 64], [64, 32], ["64B", "128B"]),
        (
            "matmul/f16_128x128x64_v13_1",
            [64, 128],
            [64, 64],
            ["128B", "128B"],
        ),
    ] {
        let ptx = Module::new(tileiras(case, "sm_90")).unwrap();
        let maps = matmul_maps(256, a_box, b_box, swizzles);
        // A tensor map cannot describe an empty dimension, on hardware neither.
        for (i, folder) in runs(case)
            .iter()
            .filter(|f| !f.ends_with("65x100x0_integers"))
            .enumerate()
        {
            check(&ptx, folder, Some(&maps), i as u64);
        }
    }
}

#[test]
fn warp_specialised_products_in_tensor_memory() {
    for arch in ["sm_100", "sm_103"] {
        for (case, a_box, b_box, swizzles) in [
            ("matmul/f16_64x64x32", [32, 64], [64, 32], ["64B", "128B"]),
            (
                "matmul/f16_128x128x64_v13_1",
                [64, 128],
                [64, 64],
                ["128B", "128B"],
            ),
            (
                "matmul/f16_128x256x64_v13_1",
                [64, 128],
                [64, 64],
                ["128B", "128B"],
            ),
        ] {
            let ptx = Module::new(tileiras(case, arch)).unwrap();
            let maps = matmul_maps(256, a_box, b_box, swizzles);
            for (i, folder) in runs(case)
                .iter()
                .filter(|f| !f.ends_with("65x100x0_integers"))
                .enumerate()
            {
                check(&ptx, folder, Some(&maps), i as u64);
            }
        }
    }
}
