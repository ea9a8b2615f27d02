//! Every detector with a minimal bad kernel that it catches and a good twin that it passes.

use ptxsim::{Arg, Launch, Module};

/// Wraps a body into an entry `k` with one buffer of 4096 bytes in %rd1 and its thread number in %r1.
fn kernel(threads: u32, declarations: &str, body: &str) -> String {
    format!(
        ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 buffer)\n.reqntid {threads}\n{{\n\
         .reg .pred %p<8>;\n.reg .b16 %h<8>;\n.reg .b32 %r<64>;\n.reg .b64 %rd<16>;\n.reg .f32 %f<64>;\n{declarations}\n\
         ld.param.u64 %rd1, [buffer];\nmov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 2;\ncvt.u64.u32 %rd2, %r2;\nadd.s64 %rd3, %rd1, %rd2;\n\
         {body}\nret;\n}}\n"
    )
}

fn run(threads: u32, declarations: &str, body: &str) -> Result<(), String> {
    let text = kernel(threads, declarations, body);
    let program = Module::new(text)
        .and_then(|m| m.entry(None))
        .map_err(|e| e.to_string())?;
    for seed in 1..5 {
        let mut launch = Launch::new(&program);
        let buffer = launch.add_buffer("buffer", vec![1; 4096]);
        (launch.args, launch.seed, launch.max_steps) = (vec![Arg::buffer(buffer)], seed, 3_000_000);
        launch.run().map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// `bad` must fail with `message`, `good` must pass.
fn twins(threads: u32, declarations: &str, bad: &str, good: &str, message: &str) {
    let Err(fault) = run(threads, declarations, bad) else {
        panic!("the bad twin passed: {bad}")
    };
    assert!(fault.contains(message), "{fault}");
    run(threads, declarations, good).unwrap();
}

const SHARED: &str = ".shared .align 1024 .b8 tile[8192];\n.shared .align 8 .b64 bar;";

#[test]
fn out_of_bounds_and_misaligned() {
    twins(
        32,
        "",
        "st.global.u32 [%rd1+4096], %r1;",
        "st.global.u32 [%rd1+4092], %r1;",
        "0 bytes past the end of `buffer`",
    );
    twins(
        32,
        "",
        "ld.global.u32 %r3, [%rd1+2];",
        "ld.global.u32 %r3, [%rd1+4];",
        "multiple of 4",
    );
    twins(
        32,
        "",
        "ld.global.v4.u32 {%r3,%r4,%r5,%r6}, [%rd1+8];",
        "ld.global.v4.u32 {%r3,%r4,%r5,%r6}, [%rd1+16];",
        "multiple of 16",
    );
    twins(
        32,
        SHARED,
        "st.shared.u32 [tile+8200], %r1;",
        "st.shared.u32 [tile+8188], %r1;",
        "out of bounds",
    );
}

#[test]
fn uninitialised_registers_and_shared_memory() {
    twins(
        32,
        "",
        "add.s32 %r3, %r4, 1;",
        "mov.u32 %r4, 0;\nadd.s32 %r3, %r4, 1;",
        "register that nothing has written",
    );
    // Only some lanes define it.
    let branch = "setp.lt.u32 %p1, %r1, 7;\n@%p1 mov.u32 %r4, 5;\n";
    twins(
        32,
        "",
        &format!("{branch}add.s32 %r3, %r4, 1;"),
        &format!("{branch}@%p1 add.s32 %r3, %r4, 1;"),
        "lane 7",
    );
    twins(
        32,
        SHARED,
        "ld.shared.u32 %r3, [tile];",
        "st.shared.u32 [tile], 1;\nld.shared.u32 %r3, [tile];",
        "nothing has written",
    );
}

#[test]
fn races_in_shared_memory() {
    let write = "mov.u32 %r3, tile;\nadd.s32 %r4, %r3, %r2;\nst.shared.u32 [%r4], %r1;\n";
    let read = "sub.s32 %r5, 252, %r2;\nadd.s32 %r5, %r5, %r3;\nld.shared.u32 %r6, [%r5];\n";
    twins(
        64,
        SHARED,
        &format!("{write}{read}"),
        &format!("{write}bar.sync 0;\n{read}"),
        "shared memory",
    );
    // Read, then overwritten by the other warp without a barrier.
    let bad = format!("{write}bar.sync 0;\n{read}st.shared.u32 [%r4], %r2;");
    let good = format!("{write}bar.sync 0;\n{read}bar.sync 0;\nst.shared.u32 [%r4], %r2;");
    twins(64, SHARED, &bad, &good, "data race");
}

#[test]
fn divergence_at_aligned_and_sync_instructions() {
    let half = "setp.lt.u32 %p1, %r1, 16;\n";
    twins(
        32,
        "",
        &format!("{half}@%p1 bra A;\nbar.sync 1, 32;\nbra B;\nA:\nbar.sync 2, 32;\nB:"),
        &format!(
            "{half}@%p1 bra A;\nmov.u32 %r3, 1;\nbra B;\nA:\nmov.u32 %r3, 2;\nB:\nbar.sync 1, 32;"
        ),
        "divergently",
    );
    twins(
        32,
        "",
        &format!("{half}@%p1 bar.sync 0;"),
        "bar.sync 0;",
        "skips an .aligned instruction",
    );
    twins(
        32,
        "",
        &format!("{half}@!%p1 bra A;\nshfl.sync.idx.b32 %r3, %r1, 20, 31, -1;\nA:\nret;"),
        &format!("{half}@!%p1 bra A;\nshfl.sync.idx.b32 %r3, %r1, 2, 31, 65535;\nA:\nret;"),
        "which does not execute the shuffle",
    );
    twins(
        32,
        "",
        "shfl.sync.idx.b32 %r3, %r1, 2, 31, 65535;",
        "shfl.sync.idx.b32 %r3, %r1, 2, 31, -1;",
        "leaves it out",
    );
}

#[test]
fn barriers_that_cannot_complete() {
    let warp0 = "setp.lt.u32 %p1, %r1, 32;\n";
    twins(
        64,
        "",
        &format!("{warp0}@%p1 bar.sync 1, 64;\n@!%p1 bar.sync 2, 64;"),
        &format!("{warp0}@%p1 bar.sync 1, 64;\n@!%p1 bar.sync 1, 64;"),
        "32 of 64 threads have arrived",
    );
    twins(
        64,
        "",
        &format!("{warp0}@%p1 bar.sync 1, 64;\n@!%p1 bar.sync 1, 96;"),
        &format!("{warp0}@%p1 bar.arrive 1, 64;\n@!%p1 bar.sync 1, 64;"),
        "but others arrived with",
    );
}

#[test]
fn mbarrier_misuse() {
    let init = "setp.ne.u32 %p1, %r1, 0;\n@!%p1 mbarrier.init.shared.b64 [bar], 32;\nbar.sync 0;\n";
    let arrive = "mbarrier.arrive.shared.b64 %rd4, [bar];\n";
    let wait = "L: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n@!%p2 bra L;\n";
    twins(
        32,
        SHARED,
        &format!("{arrive}{wait}"),
        &format!("{init}{arrive}{wait}"),
        "no initialised mbarrier",
    );
    twins(
        32,
        SHARED,
        &format!("{init}{wait}"),
        &format!("{init}{arrive}{wait}"),
        "32 of 32 arrivals",
    );
    let early = "@!%p1 mbarrier.arrive.shared.b64 _, [bar], 33;\n";
    twins(
        32,
        SHARED,
        &format!("{init}{early}{arrive}"),
        &format!("{init}{arrive}"),
        "arrivals at an mbarrier phase",
    );
    // Polling without suspending hangs too, and is found too.
    let poll = "M: mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0;\n@!%p2 bra M;\n";
    twins(
        32,
        SHARED,
        &format!("{init}{poll}"),
        &format!("{init}{arrive}{poll}"),
        "",
    );
}

/// One warpgroup: zeroed tile, one m64n8k16 product; the pieces are put together by the tests.
const WGMMA_SETUP: &str = "mov.u32 %r3, tile;\nmov.u32 %r4, 0;\nadd.s32 %r6, %r3, %r2;\nmov.u32 %r5, 0;\n\
    Z: st.shared.u32 [%r6], 0;\nadd.s32 %r6, %r6, 512;\nadd.s32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 16;\n@%p1 bra Z;\n";
const WGMMA_VISIBLE: &str = "fence.proxy.async;\n";
const WGMMA_BARRIER: &str = "bar.sync 0;\nshr.u32 %r7, %r3, 4;\ncvt.u64.u32 %rd4, %r7;\nor.b64 %rd5, %rd4, 0x4000000000080000;\n\
    mov.f32 %f1, 0f00000000;\nmov.f32 %f2, %f1;\nmov.f32 %f3, %f1;\nmov.f32 %f4, %f1;\n";
const WGMMA_FENCE: &str = "wgmma.fence.sync.aligned;\n";
const WGMMA: &str = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, %rd5, %rd5, 1, 1, 1, 0, 0;\nwgmma.commit_group.sync.aligned;\n";
const WGMMA_WAIT: &str = "wgmma.wait_group.sync.aligned 0;\n";
const WGMMA_USE: &str = "add.f32 %f5, %f1, %f2;\nst.global.f32 [%rd3], %f5;\n";

#[test]
fn wgmma_protocol() {
    let good = [
        WGMMA_SETUP,
        WGMMA_VISIBLE,
        WGMMA_BARRIER,
        WGMMA_FENCE,
        WGMMA,
        WGMMA_WAIT,
        WGMMA_USE,
    ]
    .concat();
    let bad = |parts: &[&str], message: &str| twins(128, SHARED, &parts.concat(), &good, message);
    bad(
        &[
            WGMMA_SETUP,
            WGMMA_VISIBLE,
            WGMMA_BARRIER,
            WGMMA_FENCE,
            WGMMA,
            WGMMA_USE,
        ],
        "wgmma in flight",
    );
    bad(
        &[
            WGMMA_SETUP,
            WGMMA_VISIBLE,
            WGMMA_BARRIER,
            WGMMA,
            WGMMA_WAIT,
            WGMMA_USE,
        ],
        "wgmma.fence",
    );
    bad(
        &[
            WGMMA_SETUP,
            WGMMA_BARRIER,
            WGMMA_FENCE,
            WGMMA,
            WGMMA_WAIT,
            WGMMA_USE,
        ],
        "without a fence.proxy.async",
    );
    // The operands change while the product may still read them.
    let overwrite = "st.shared.u32 [tile], 5;\n";
    bad(
        &[
            WGMMA_SETUP,
            WGMMA_VISIBLE,
            WGMMA_BARRIER,
            WGMMA_FENCE,
            WGMMA,
            overwrite,
            WGMMA_WAIT,
            WGMMA_USE,
        ],
        "still reads",
    );
    bad(
        &[
            WGMMA_SETUP,
            WGMMA_VISIBLE,
            WGMMA_BARRIER,
            WGMMA_FENCE,
            WGMMA,
            "mul.f32 %f1, %f6, %f6;\n",
            WGMMA_WAIT,
        ],
        "nothing has written",
    );
}

#[test]
fn cp_async_buffers() {
    let start = "mov.u32 %r3, tile;\nshl.b32 %r4, %r1, 4;\nadd.s32 %r5, %r3, %r4;\ncvt.u64.u32 %rd4, %r4;\nadd.s64 %rd5, %rd1, %rd4;\n";
    let copy = "cp.async.cg.shared.global [%r5], [%rd5], 16;\ncp.async.commit_group;\n";
    let wait = "cp.async.wait_group 0;\nbar.sync 0;\n";
    let read = "xor.b32 %r6, %r4, 512;\nadd.s32 %r6, %r6, %r3;\nld.shared.u32 %r7, [%r6];\n";
    twins(
        64,
        SHARED,
        &[start, copy, read].concat(),
        &[start, copy, wait, read].concat(),
        "shared memory",
    );
    // The next copy may not start before the other warp has read.
    twins(
        64,
        SHARED,
        &[start, copy, wait, read, copy, wait].concat(),
        &[start, copy, wait, read, "bar.sync 0;\n", copy, wait].concat(),
        "shared memory at",
    );
}

#[test]
fn registers_of_warpgroups() {
    let text = |inc: u32| {
        kernel(256, "", &format!(
            "setp.lt.u32 %p1, %r1, 128;\n@%p1 bra P;\nsetmaxnreg.inc.sync.aligned.u32 {inc};\nbra E;\nP:\nsetmaxnreg.dec.sync.aligned.u32 40;\nbar.sync 1, 128;\nE:\nbar.sync 0;"
        )).replace(".reqntid 256", ".reqntid 256\n.maxnreg 128")
    };
    let launch = |inc: u32| -> Result<(), String> {
        let program = Module::new(text(inc))
            .and_then(|m| m.entry(None))
            .map_err(|e| e.to_string())?;
        let mut launch = Launch::new(&program);
        let buffer = launch.add_buffer("buffer", vec![0; 64]);
        launch.args = vec![Arg::buffer(buffer)];
        launch.run().map(|_| ()).map_err(|e| e.to_string())
    };
    launch(216).unwrap();
    let fault = launch(232).unwrap_err();
    assert!(
        fault.contains("setmaxnreg.inc") && fault.contains("releases"),
        "{fault}"
    );
}

#[test]
fn loops_without_end() {
    let fault = run(32, "", "L:\nadd.s32 %r1, %r1, 1;\nbra L;").unwrap_err();
    assert!(fault.contains("a loop without end"), "{fault}");
}

#[test]
fn what_is_unknown_has_a_line_and_a_name() {
    for (body, word) in [
        (
            "tcgen05.alloc.cta_group::1.sync.aligned.b32 [%r1], 32;",
            "tcgen05.alloc",
        ),
        ("add.frob.s32 %r1, %r1, 1;", ".frob"),
        ("add.s32 %r1, %r99, 1;", "%r99"),
        ("bra NOWHERE;", "NOWHERE"),
        ("ld.global.f32 %h1, [%rd1];", "too few"),
    ] {
        let error = run(32, "", body).unwrap_err();
        assert!(error.contains("line 18") && error.contains(word), "{error}");
    }
}

#[test]
fn broken_text_is_an_error() {
    for text in [
        "",
        "/*",
        ".version",
        ".entry k",
        ".visible .entry k() { add",
        ".visible .entry k() {{{{",
        "\u{1F600}",
        ".entry k() { mov.u32 %r1, 0x; }",
    ] {
        let result = Module::new(text).and_then(|m| m.entry(None));
        assert!(result.is_err(), "{text:?}");
    }
}

#[test]
fn damaged_text_never_panics() {
    let good = kernel(
        128,
        SHARED,
        &[
            WGMMA_SETUP,
            WGMMA_VISIBLE,
            WGMMA_BARRIER,
            WGMMA_FENCE,
            WGMMA,
            WGMMA_WAIT,
            WGMMA_USE,
        ]
        .concat(),
    );
    let mut state = 11u64;
    let mut below = |n: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    for _ in 0..2000 {
        let mut bytes = good.clone().into_bytes();
        for _ in 0..1 + below(3) {
            let at = below(bytes.len());
            match below(3) {
                0 => {
                    bytes.remove(at);
                }
                1 => bytes[at] = b"%{}[]();,.0x9@!|"[below(16)],
                _ => {
                    let end = (at + below(40)).min(bytes.len());
                    let piece = bytes[at..end].to_vec();
                    bytes.splice(at..at, piece);
                }
            }
        }
        // Decoding says yes or no; what it accepts need not run.
        let _ = Module::new(String::from_utf8(bytes).unwrap()).and_then(|m| m.entry(None));
    }
}

#[test]
fn counters_count() {
    let program = Module::new(kernel(64, "", "st.global.u32 [%rd3], %r1;"))
        .and_then(|m| m.entry(None))
        .unwrap();
    let mut launch = Launch::new(&program);
    let buffer = launch.add_buffer("buffer", vec![0; 256]);
    (launch.args, launch.count) = (vec![Arg::buffer(buffer)], true);
    let stats = launch.run().unwrap().stats;
    assert_eq!(stats.thread_instructions, 32 * stats.warp_instructions);
    assert_eq!(
        (
            stats.global_store_bytes,
            stats.global_sectors,
            stats.global_sectors_ideal
        ),
        (256, 8, 8)
    );
}
