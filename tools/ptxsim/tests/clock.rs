//! The clock against figures that are known from elsewhere: latencies and rates of the programming guide, peaks and
//! bandwidths of data sheets, the occupancy of CUDA's tables. Differences of two kernels leave out what a launch costs.

#[allow(dead_code, reason = "the benchmarks have more")]
#[path = "../benches/kernels/mod.rs"]
mod kernels;

use ptxsim::clock::Subject;
use ptxsim::clock::occupancy::{Limit, occupancy};
use ptxsim::clock::{self, Estimate, Given, Gpu, Sampling};
use ptxsim::tensormap::{Element, MapBase, Swizzle, TensorMap};
use ptxsim::{Arg, Launch, Module};
use std::fmt::Write;
use std::process::Command;

/// A kernel with a pointer parameter; `%out` is its thread's place there.
fn kernel(target: &str, declarations: &str, body: &str) -> String {
    format!(
        ".version 8.8\n.target {target}\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n\
         .reg .b64 %out, %a<4>; .reg .b32 %t, %r<64>; .reg .f32 %f<64>;\n{declarations}\n\
         ld.param.u64 %out, [p];\nmov.u32 %t, %tid.x;\nmul.wide.u32 %a0, %t, 4;\nadd.s64 %out, %out, %a0;\n\
         {body}\nret;\n}}\n"
    )
}

fn time(text: &str, gpu: &str, grid: u32, threads: u32, bytes: usize) -> Estimate {
    let program = Module::new(text).and_then(|m| m.entry(None)).unwrap();
    let mut launch = Launch::new(&program);
    launch.add_buffer("p", vec![0; bytes]);
    launch.args = vec![Arg::buffer(0)];
    (launch.grid, launch.block) = ([grid, 1, 1], [threads, 1, 1]);
    launch.sampling = Some(Sampling::spread([grid, 1, 1], grid > 1));
    let report = launch.run().unwrap();
    let gpu = Gpu::named(gpu).unwrap();
    clock::of_launch(&launch, &report, &gpu, Given::default()).unwrap()
}

/// Cycles that `more` of `line` take beyond `less`, in a block of some threads; `%d` in a line counts through `chains`.
fn difference(gpu: &str, threads: u32, line: &str, chains: usize, setup: &str) -> f64 {
    let run = |count: usize| {
        let mut body = String::from(setup);
        for i in 0..count {
            let _ = writeln!(body, "{}", line.replace("%d", &(i % chains).to_string()));
        }
        let sum: String = (1..chains)
            .map(|i| format!("add.f32 %f0, %f0, %f{i};\n"))
            .collect();
        let text = kernel(
            "sm_80",
            "",
            &format!("{body}{sum}st.global.f32 [%out], %f0;"),
        );
        time(&text, gpu, 1, threads, 4096).cycles
    };
    run(768) - run(256)
}

fn zeros(count: usize) -> String {
    (0..count)
        .map(|i| format!("mov.f32 %f{i}, 0f00000000;\n"))
        .collect()
}

fn close(found: f64, want: f64, tolerance: f64) {
    assert!(
        (found / want - 1.0).abs() <= tolerance,
        "{found}, and {want} is right"
    );
}

/// Dependent fused multiply-adds issue every four cycles (arXiv 2503.20481).
#[test]
fn latency_of_dependent_arithmetic() {
    let line = "fma.rn.f32 %f0, %f0, %f0, %f0;";
    close(
        difference("A100", 32, line, 1, &zeros(1)),
        512.0 * 4.0,
        0.01,
    );
}

/// The guide's table: 64 single-precision results a clock for 8.0 and 128 for 9.0, 16 of special functions.
#[test]
fn rates_of_arithmetic() {
    let (fma, ex2) = (
        "fma.rn.f32 %f%d, %f%d, %f%d, %f%d;",
        "ex2.approx.ftz.f32 %f%d, %f%d;",
    );
    let warps = 16.0;
    for (gpu, line, rate) in [
        ("A100", fma, 64.0),
        ("H100-SXM", fma, 128.0),
        ("A100", ex2, 16.0),
        ("H100-SXM", ex2, 16.0),
    ] {
        close(
            difference(gpu, 512, line, 8, &zeros(8)),
            512.0 * warps * 32.0 / rate,
            0.05,
        );
    }
}

/// 128 multiply-adds a cycle, whether the warps of a multiprocessor are one block's or each a block of its own.
#[test]
fn warps_of_small_blocks_take_turns() {
    let cycles = |blocks: u32, threads: u32, count: usize| {
        let chain = (0..count).map(|i| format!("fma.rn.f32 %f{0}, %f{0}, %f{0}, %f{0};\n", i % 8));
        let body = format!("{}{}", zeros(8), chain.collect::<String>());
        let text = kernel("sm_90", "", &format!("{body}st.global.f32 [%out], %f0;"));
        time(&text, "H100-SXM", 132 * blocks, threads, 4096).cycles
    };
    for (blocks, threads) in [(16, 32), (8, 64), (4, 128)] {
        let more = cycles(blocks, threads, 768) - cycles(blocks, threads, 256);
        close(more, 16.0 * 512.0 * 32.0 / 128.0, 0.1);
    }
}

/// Two results of one instruction take as long as those of two: 128 a clock.
#[test]
fn rate_of_packed_arithmetic() {
    let run = |count: usize| {
        let mut body: String = (0..8).map(|i| format!("mov.b64 %d{i}, 0;\n")).collect();
        for i in 0..count {
            let i = i % 8;
            let _ = writeln!(body, "fma.rn.f32x2 %d{i}, %d{i}, %d{i}, %d{i};");
        }
        body.push_str("mov.b64 {%f0, %f1}, %d0;\nst.global.f32 [%out], %f0;");
        let text = kernel("sm_100", ".reg .b64 %d<8>;", &body);
        time(&text, "B200", 1, 512, 4096)
    };
    let (less, more) = (run(256), run(768));
    let cycles = more.cycles - less.cycles;
    close(cycles, 512.0 * 16.0 * 32.0 * 2.0 / 128.0, 0.05);
}

/// 128 bytes a clock; lanes 128 bytes apart hit one bank and take 32 passes.
#[test]
fn shared_memory_and_its_conflicts() {
    let cycles = |stride: u32, count: usize| {
        let mut body =
            format!("mul.lo.u32 %r0, %t, {stride};\nmov.u32 %r1, mem;\nadd.u32 %r0, %r0, %r1;\n");
        let _ = writeln!(body, "st.shared.f32 [%r0], 0f00000000;\nbar.sync 0;");
        (0..count).for_each(|i| {
            let _ = writeln!(body, "ld.volatile.shared.f32 %f{}, [%r0];", i % 32);
        });
        let text = kernel(
            "sm_80",
            ".shared .align 16 .b8 mem[16384];",
            &format!("{body}st.global.f32 [%out], %f0;"),
        );
        time(&text, "A100", 1, 128, 4096).cycles
    };
    // Four warps; their last loads wait for the queue alike.
    close(cycles(4, 320) - cycles(4, 64), 256.0 * 4.0, 0.05);
    close(cycles(128, 320) - cycles(128, 64), 256.0 * 4.0 * 32.0, 0.05);
}

/// A tensor core of A100 does 256 multiply-adds a clock (whitepaper): 8 cycles for m16n8k16.
#[test]
fn rate_of_mma() {
    let line = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f%d, %f1%d, %f2%d, %f3%d}, {%r0, %r1, %r2, %r3}, \
                {%r4, %r5}, {%f%d, %f1%d, %f2%d, %f3%d};";
    let setup = zeros(40)
        + &(0..6)
            .map(|i| format!("mov.b32 %r{i}, 0;\n"))
            .collect::<String>();
    close(
        difference("A100", 256, line, 8, &setup),
        512.0 * 2.0 * 8.0,
        0.02,
    );
}

/// A copy is bound by device memory: 2039 GB/s of A100, of which copies reach 90.5 % (arXiv 2402.13499, 40 GB).
#[test]
fn a_copy_takes_what_memory_takes() {
    let mut body = String::from(
        "mov.u32 %r0, %ctaid.x;\nmad.lo.u32 %r1, %r0, 1024, %t;\nmul.wide.u32 %a1, %r1, 16;\nld.param.u64 %a2, [p];\n\
         add.s64 %a2, %a2, %a1;\n",
    );
    for i in 0..4 {
        let _ = writeln!(
            body,
            "ld.global.v4.f32 {{%f0, %f1, %f2, %f3}}, [%a2+{}];\nst.global.v4.f32 [%a2+{}], {{%f0, %f1, %f2, %f3}};",
            4096 * i,
            (128 << 20) + 4096 * i
        );
    }
    let found = time(&kernel("sm_80", "", &body), "A100", 8192, 256, 256 << 20);
    let seconds = (found.microseconds - 2.0) / 1e6;
    close(f64::from(256 << 20) / seconds, 2039e9 * 0.905, 0.08);
    assert!(found.dram > 90.0, "{found:?}");
}

fn product(gpu: &str, only: bool) -> Estimate {
    let program = Module::new(kernels::matmul())
        .and_then(|m| m.entry(None))
        .unwrap();
    let mut launch = Launch::new(&program);
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
    launch.grid = [4, 8, 1];
    launch.sampling = Some(Sampling::spread([32, 1, 1], only));
    let report = launch.run().unwrap();
    let gpu = Gpu::named(gpu).unwrap();
    clock::of_launch(&launch, &report, &gpu, Given::default()).unwrap()
}

/// A product with tensor copies and wgmma: 512³ multiply-adds at 2048 a clock and multiprocessor are the tensor cores'
/// share, whatever the rest costs; and a few recorded clusters without results tell the same as a whole run.
#[test]
fn a_product_by_wgmma() {
    let whole = product("H100-SXM", false);
    let tensor_cycles = 512f64.powi(3) / 2048.0 / 132.0;
    close(whole.tensor / 100.0 * whole.cycles, tensor_cycles, 0.01);
    close(
        whole.tflops,
        2.0 * 512f64.powi(3) / whole.microseconds / 1e6,
        1e-6,
    );
    assert_eq!((whole.clusters, whole.occupancy.limit), (32, Limit::Grid));
    assert!(
        whole
            .roles
            .iter()
            .flat_map(|r| &r.waits)
            .all(|(_, p)| (0.0..=100.0).contains(p))
    );
    close(product("H100-SXM", true).cycles, whole.cycles, 0.02);
    // A GPU with half the rate and no wgmma has no reason to be asked for it.
    assert!(whole.cycles > tensor_cycles);
}

/// Cycles of `groups` warpgroups that multiply eight times 64×128×16 and wait, so many times.
fn warpgroups(groups: u32, times: u32) -> f64 {
    let registers: Vec<String> = (0..64).map(|i| format!("%c{i}")).collect();
    let registers = registers.join(", ");
    let product = format!(
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {{{registers}}}, %d0, %d1, 1, 1, 1, 0, 0;\n"
    );
    let zeros: String = (0..64)
        .map(|i| format!("mov.f32 %c{i}, 0f00000000;\n"))
        .collect();
    let fill: String = (0..16)
        .map(|i| {
            format!(
                "st.shared.v4.f32 [%r1+{}], {{%c0, %c0, %c0, %c0}};\n",
                16 * i
            )
        })
        .collect();
    let body = format!(
        "{zeros}mov.u32 %r0, mem;\nshl.b32 %r1, %t, 8;\nand.b32 %r1, %r1, 0x7f00;\nadd.u32 %r1, %r1, %r0;\n{fill}\
         fence.proxy.async.shared::cta;\nand.b32 %r0, %r0, 0x3ffff;\nshr.u32 %r0, %r0, 4;\ncvt.u64.u32 %d0, %r0;\n\
         or.b64 %d0, %d0, 0x4000004000010000;\nadd.s64 %d1, %d0, 512;\nmov.u32 %r1, 0;\nbar.sync 0;\n\
         $again:\nwgmma.fence.sync.aligned;\n{}wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n\
         add.u32 %r1, %r1, 1;\nsetp.lt.u32 %q, %r1, {times};\n@%q bra $again;\nst.global.f32 [%out], %c0;",
        product.repeat(8)
    );
    let declarations =
        ".reg .f32 %c<64>; .reg .b64 %d<2>; .reg .pred %q; .shared .align 1024 .b8 mem[32768];";
    let text = kernel("sm_90a", declarations, &body);
    time(&text, "H100-SXM", 1, 128 * groups, 4096).cycles
}

/// On an H100, an iteration of eight m64n128k16 and a wait takes 566 cycles of one warpgroup, and 1031 of two that share
/// the tensor cores: one waits while the other multiplies (tools/bench/gpu/micro.py).
#[test]
fn warpgroups_share_tensor_cores() {
    let iteration = |groups| (warpgroups(groups, 24) - warpgroups(groups, 8)) / 16.0;
    close(iteration(1), 566.0, 0.02);
    close(iteration(2), 1031.0, 0.02);
}

/// On an H100, a barrier of 256 threads every 28 cycles (tools/bench/gpu/micro.py).
#[test]
fn barriers_one_after_another() {
    let cycles = |count: usize| {
        let body = "bar.sync 0;\n".repeat(count) + "st.global.u32 [%out], %t;";
        time(&kernel("sm_90", "", &body), "H100-SXM", 1, 256, 4096).cycles
    };
    close((cycles(80) - cycles(16)) / 64.0, 27.7, 0.1);
}

/// Blocks of a multiprocessor by CUDA's tables: 65,536 registers, 2,048 threads and 164 KiB of shared memory for 8.0.
#[test]
fn occupancy_of_blocks() {
    let text = kernel("sm_80", "", "st.global.u32 [%out], %t;");
    let program = Module::new(&*text).and_then(|m| m.entry(None)).unwrap();
    let gpu = Gpu::named("A100").unwrap();
    let found = |threads, shared, registers| {
        let subject = Subject {
            program: &program,
            traces: &[],
            neighbours: &[],
            shape: [1 << 20, 1, 1],
            threads,
            shared,
            registers: Some(registers),
            buffers: 0,
            mhz: None,
        };
        occupancy(&subject, &gpu).map(|o| (o.blocks, o.limit))
    };
    assert_eq!(found(256, 0, 64), Ok((4, Limit::Registers)));
    assert_eq!(found(1024, 0, 32), Ok((2, Limit::Warps)));
    assert_eq!(found(128, 48 << 10, 32), Ok((3, Limit::SharedMemory)));
    assert_eq!(found(32, 0, 32), Ok((32, Limit::Blocks)));
    assert!(
        found(1024, 200 << 10, 32)
            .unwrap_err()
            .contains("does not fit")
    );
}

/// Of 512 columns of tensor memory, one block that allocates more than half of them leaves none for another.
#[test]
fn occupancy_by_tensor_memory() {
    for (columns, blocks) in [(128, 4), (256, 2), (512, 1)] {
        let alloc = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32";
        let body =
            format!("mov.b32 %r1, {columns};\n{alloc} [slot], %r1;\nst.global.u32 [%out], %t;");
        let text = kernel("sm_100a", ".shared .b32 slot;", &body);
        let program = Module::new(&text).and_then(|m| m.entry(None)).unwrap();
        let subject = Subject {
            program: &program,
            traces: &[],
            neighbours: &[],
            shape: [1 << 20, 1, 1],
            threads: 128,
            shared: 0,
            registers: Some(64),
            buffers: 0,
            mhz: None,
        };
        let found = occupancy(&subject, &Gpu::named("B200").unwrap()).unwrap();
        assert_eq!((found.blocks, found.limit), (blocks, Limit::TensorMemory));
    }
}

#[test]
fn the_command_line() {
    let path = std::env::temp_dir().join(format!("ptxsim-clock-{}.ptx", std::process::id()));
    std::fs::write(&path, kernel("sm_90a", "", "st.global.u32 [%out], %t;")).unwrap();
    let run = |more: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_ptxsim"))
            .arg(&path)
            .args(["--grid", "1000", "--block", "64", "--arg", "zeros:4096"])
            .args(more)
            .output()
            .unwrap()
    };
    let json = run(&["--time=json", "--sampled", "--registers", "16"]);
    let found: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(
        (&found["gpu"], &found["clusters"]),
        (&"H100-SXM".into(), &1000.into())
    );
    assert!(found["cycles"].as_f64().unwrap() > 0.0);
    let text = run(&["--time", "--gpu", "rtx-4090"]).stdout;
    assert!(String::from_utf8_lossy(&text).starts_with("RTX-4090: "));
    let said = run(&["--time", "--gpu", "GTX-480"]).stderr;
    assert!(String::from_utf8_lossy(&said).contains("no GPU `GTX-480`; there are"));
    std::fs::remove_file(path).unwrap();
}
