//! What a launch tells about itself: counters, the trace and the timeline; and the command line that shows them.

#[allow(dead_code, reason = "the benchmarks have more")]
#[path = "../benches/kernels/mod.rs"]
mod kernels;

use ptxsim::clock::{self, Given, Gpu, Sampling};
use ptxsim::program::Program;
use ptxsim::program::class::Class;
use ptxsim::record::{Kind, Observer, Progress, Span, Step, svg};
use ptxsim::tensormap::{Element, MapBase, Swizzle, TensorMap};
use ptxsim::{Arg, Launch, Module, Report};
use std::process::Command;
use std::sync::Mutex;

/// The 512 × 512 × 512 product of the benchmarks, its first 64 × 256 results.
fn product(observer: Option<&dyn Observer>) -> Report {
    let program = Module::new(kernels::matmul())
        .and_then(|m| m.entry(None))
        .unwrap();
    let watched = |launch: &mut Launch<'_>| {
        (launch.count, launch.timeline) = (true, Some(1));
    };
    launch_product(&program, observer, watched).1
}

/// The same, launched as `set` says.
fn launched<'a>(program: &'a Program, set: impl FnOnce(&mut Launch<'a>)) -> (Launch<'a>, Report) {
    launch_product(program, None, set)
}

fn launch_product<'a>(
    program: &'a Program,
    observer: Option<&'a dyn Observer>,
    set: impl FnOnce(&mut Launch<'a>),
) -> (Launch<'a>, Report) {
    let mut launch = Launch::new(program);
    for name in ["a", "b", "c"] {
        launch.add_buffer(name, vec![0; 4 * 512 * 512]);
    }
    let map = |index: usize, rows: u32| {
        let base = MapBase::Buffer { index, offset: 0 };
        let mut map = TensorMap::tiled(base, Element::F16, &[512, 512], &[1024], &[64, rows]);
        map.swizzle = Swizzle::B128;
        Arg::TensorMap(map)
    };
    launch.args = vec![map(0, 64), map(1, 128), Arg::buffer(2)];
    launch.grid = [2, 1, 1];
    launch.observer = observer;
    set(&mut launch);
    let report = launch.run().unwrap();
    (launch, report)
}

#[test]
fn counters_of_a_product() {
    let stats = product(None).stats;
    assert_eq!(stats.matrix_multiply_adds, 64 * 256 * 512);
    // Eight steps of 64 × 64 and 128 × 64 halves per block.
    assert_eq!(stats.async_bytes, 2 * 8 * (64 + 128) * 64 * 2);
    assert_eq!(stats.global.store_bytes, 4 * 64 * 256);
    assert_eq!(stats.global.load_bytes, 0);
    // Every lane pair stores 8 bytes of each of 8 rows: a row's four lanes fill a sector.
    assert_eq!(stats.global_sectors, stats.global_sectors_ideal);
    assert_eq!(stats.uncoalesced_accesses, 0);
    // Two stages: the next copies are in flight during all steps but the last, unless they happen to be early.
    let overlap = stats.overlap().unwrap();
    assert!((0.3..=7.0 / 8.0).contains(&overlap), "{overlap}");
    let by_class: u64 = stats.thread_instructions_by_class.values().sum();
    assert_eq!(by_class, stats.thread_instructions);
    // Four wgmma, a fence, a commit and a wait in each of eight steps, by 128 threads of two blocks.
    assert_eq!(
        stats.thread_instructions_by_class[&Class::Matrix],
        7 * 8 * 128 * 2
    );
}

#[test]
fn timeline_of_a_product() {
    let timeline = product(None).timeline.unwrap();
    assert_eq!(timeline.blocks, [[1, 0, 0]]);
    let of = |kind: Kind| timeline.spans.iter().filter(move |s| s.kind == kind);
    assert_eq!(of(Kind::Bulk).count(), 16);
    let bytes: u64 = of(Kind::Bulk).map(|s| s.amount).sum();
    assert_eq!(bytes, 8 * (64 + 128) * 64 * 2);
    // A group per warp and step.
    assert_eq!(of(Kind::Wgmma).count(), 4 * 8);
    // Warps take turns: their running fills time without overlapping.
    let ran: u64 = of(Kind::Run).map(|s| s.to - s.from).sum();
    assert_eq!(ran, timeline.end);
    assert!(of(Kind::Mbarrier).count() > 0 && of(Kind::Barrier).count() > 0);
    let source = kernels::matmul();
    let picture = svg::draw(&timeline, "a < b", &source);
    assert!(picture.contains("a &lt; b") && picture.contains("mbarrier.try_wait"));
    assert_eq!(picture.matches("<rect").count(), {
        let closed = picture.matches("</rect>").count();
        closed + picture.matches("\"/>").count() - picture.matches("<line").count()
    });
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("product.svg");
    std::fs::write(path, picture).unwrap();
}

#[derive(Default)]
struct Watcher {
    steps: Mutex<Vec<Step>>,
    last: Mutex<Option<Progress>>,
}

impl Observer for Watcher {
    fn traces(&self) -> bool {
        true
    }
    fn step(&self, step: &Step) {
        self.steps.lock().unwrap().push(*step);
    }
    fn progress(&self, progress: Progress) {
        *self.last.lock().unwrap() = Some(progress);
    }
}

#[test]
fn an_observer_sees_every_instruction_and_the_end() {
    let watcher = Watcher::default();
    let stats = product(Some(&watcher)).stats;
    let steps = watcher.steps.into_inner().unwrap();
    assert_eq!(steps.len() as u64, stats.warp_instructions);
    let last = watcher.last.into_inner().unwrap().unwrap();
    assert_eq!((last.blocks, last.total), (2, 2));
    // Lane 0 of warp 3 reads its thread number.
    let source = kernels::matmul();
    let line = source
        .lines()
        .position(|l| l == "mov.u32 %r1, %tid.x;")
        .unwrap() as u32
        + 1;
    let step = steps
        .iter()
        .find(|s| s.warp == 3 && s.line == line)
        .unwrap();
    assert_eq!(step.result, Some(96));
}

const DOUBLE: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry double(.param .u64 x)\n.reqntid 32\n{\n\
    .reg .b32 %r<4>;\n.reg .b64 %d<4>;\nld.param.u64 %d1, [x];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %d2, %r1, 4;\n\
    add.u64 %d1, %d1, %d2;\nld.global.u32 %r2, [%d1];\nshl.b32 %r2, %r2, 1;\nst.global.u32 [%d1], %r2;\nret;\n}\n";

#[test]
fn the_command_line_shows_counters_trace_and_timeline() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("command");
    std::fs::create_dir_all(&folder).unwrap();
    let kernel = folder.join("double.ptx");
    std::fs::write(&kernel, DOUBLE).unwrap();
    let run = |extra: &[&str]| {
        // A .npy file of 32 32-bit integers from 0.
        let mut npy = b"\x93NUMPY\x01\x00\x46\x00".to_vec();
        let header = "{'descr': '<i4', 'fortran_order': False, 'shape': (32,), }";
        npy.extend(format!("{header:<69}\n").bytes());
        npy.extend((0..32i32).flat_map(i32::to_le_bytes));
        let path = folder.join(format!("x{}.npy", extra.len()));
        std::fs::write(&path, npy).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_ptxsim"))
            .arg(&kernel)
            .arg("--arg")
            .arg(format!("inout:{}", path.display()))
            .args(extra)
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{stderr}");
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes[bytes.len() - 4..], 62i32.to_le_bytes());
        String::from_utf8(output.stdout).unwrap()
    };
    let json: serde_json::Value = serde_json::from_str(&run(&["--stats=json"])).unwrap();
    assert_eq!(json["thread_instructions"], 8 * 32);
    assert_eq!(json["global"]["load_bytes"], 128);
    assert_eq!(json["thread_instructions_by_class"]["global_memory"], 64);
    let text = run(&["--stats", "--fast"]);
    assert!(
        text.contains("GlobalMemory") && text.contains("sectors at best"),
        "{text}"
    );
    let trace = run(&["--trace", "--seed", "3"]);
    assert_eq!(trace.lines().count(), 8);
    assert!(trace.contains("(0,0,0) warp 0  ffffffff"), "{trace}");
    assert!(
        trace
            .lines()
            .any(|l| l.contains("mov.u32 %r1, %tid.x;") && l.ends_with("= 0x0")),
        "{trace}"
    );
    let picture = folder.join("t.svg");
    let unit = ["--timeline-unit", "instructions"];
    run(&[
        &["--seeds", "3", "--timeline", picture.to_str().unwrap()][..],
        &unit,
    ]
    .concat());
    let drawn = std::fs::read_to_string(&picture).unwrap();
    assert!(
        drawn.starts_with("<svg") && drawn.contains(">instructions of the cluster"),
        "{drawn}"
    );

    // In cycles: the store waits for the load, which comes from L2 or farther.
    let said = run(&["--time=json", "--timeline", picture.to_str().unwrap()]);
    let estimate: serde_json::Value = serde_json::from_str(&said).unwrap();
    let drawn = std::fs::read_to_string(&picture).unwrap();
    assert!(drawn.contains(">cycles of A100"), "{drawn}");
    let spans: Vec<(&str, f64, f64)> = drawn
        .split("<title>warp 0 ")
        .skip(1)
        .map(|title| {
            let (what, rest) = title.split_once(", ").unwrap();
            let (from, rest) = rest.split_once(" to ").unwrap();
            let to = rest.split([',', '\n', '<']).next().unwrap();
            (what, from.parse().unwrap(), to.parse().unwrap())
        })
        .collect();
    let l2 = Gpu::named("A100").unwrap().get("l2_latency");
    let waits = spans.iter().filter(|s| s.0 == "waits for global memory");
    let waited: f64 = waits.map(|s| s.2 - s.1).sum();
    assert!(waited > 0.9 * l2, "{spans:?}");
    // The end of the picture is that of the cluster in the estimate, but for what starting a block takes.
    let end = spans.iter().map(|s| s.2).fold(0.0, f64::max);
    let cycles = estimate["cluster_cycles"][0].as_f64().unwrap();
    let start = Gpu::named("A100").unwrap().get("block_start");
    assert!(
        end > 0.0 && (end + start - cycles).abs() <= 2.0,
        "{end} of {cycles}"
    );
}

/// A cluster's spans in cycles: no warp does two things at once, and copies and products overlap.
#[test]
fn a_product_in_cycles() {
    let program = Module::new(kernels::matmul())
        .and_then(|m| m.entry(None))
        .unwrap();
    let (launch, report) = launched(&program, |launch| {
        launch.sampling = Some(Sampling::spread(launch.shape(), false).with(1));
    });
    let gpu = Gpu::named("H100-SXM").unwrap();
    let timeline = clock::timeline_of_launch(&launch, &report, &gpu, Given::default(), 1).unwrap();
    assert_eq!(timeline.blocks, [[1, 0, 0]]);
    let of = |kind: Kind| timeline.spans.iter().filter(move |s| s.kind == kind);
    // Two tiles of eight steps, of 8192 and 16384 bytes.
    assert_eq!(of(Kind::Bulk).map(|s| s.amount).sum::<u64>(), 8 * 24576);
    assert!(of(Kind::Wgmma).count() > 0);
    let busy = |s: &&Span| !matches!(s.kind, Kind::Bulk | Kind::Wgmma);
    for warp in 0..timeline.warps_per_block {
        let mut own: Vec<&Span> = timeline.spans.iter().filter(busy).collect();
        own.retain(|s| s.track.warp == warp);
        own.sort_by_key(|s| s.from);
        assert!(
            own.windows(2).all(|w| w[0].to <= w[1].from),
            "warp {warp} does two things at once"
        );
        assert!(
            own.iter().all(|s| s.to <= timeline.end),
            "warp {warp} ends late"
        );
    }
    let overlap =
        of(Kind::Bulk).any(|copy| of(Kind::Wgmma).any(|w| w.from < copy.to && copy.from < w.to));
    assert!(overlap, "copies are in flight beside products");
}
