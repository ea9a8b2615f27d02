//! Tensor memory and tcgen05: for each mistake a kernel with it that is caught, and a good twin that passes.

use ptxsim::{Arg, Launch, Module};

/// A bad kernel, its good twin, and words of the finding.
struct Twins {
    name: &'static str,
    /// threads, blocks (of one cluster), columns that are allocated at the start
    shape: (u32, u32, u32),
    bad: &'static [&'static str],
    good: &'static [&'static str],
    message: &'static [&'static str],
    /// a lane is to blame
    lane: bool,
}

/// 128 threads and 64 columns.
const ONE: (u32, u32, u32) = (128, 1, 64);
/// One warp that allocates by itself.
const WARP: (u32, u32, u32) = (32, 1, 0);
/// A pair of blocks that allocates by itself.
const PAIR: (u32, u32, u32) = (128, 2, 0);

/// Shared memory full of zeros and visible to the async proxy, an mbarrier for one arrival (%r13), columns at %r10 (of the
/// warp's quarter at %r12); %p1 is thread 0, %p2 warp 0, %p3 false. %rd4 and %rd5 describe A (128 × 16 halves) and B
/// (16 × 16), %r11 their product of f16 into f32.
fn kernel((threads, _, columns): (u32, u32, u32), body: &str) -> String {
    let allocate = if columns == 0 {
        String::new()
    } else {
        format!(
            "@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], {columns};\nbar.sync 0;\n\
             ld.shared.u32 %r10, [slot];\nshr.u32 %r12, %r1, 5;\nand.b32 %r12, %r12, 3;\nshl.b32 %r12, %r12, 21;\n\
             add.u32 %r12, %r12, %r10;\n"
        )
    };
    format!(
        ".version 8.8\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 buffer)\n.reqntid {threads}\n{{\n\
         .reg .pred %p<8>;\n.reg .b16 %h<4>;\n.reg .b32 %r<64>;\n.reg .b64 %rd<20>;\n\
         .shared .align 1024 .b8 tile[5120];\n.shared .align 8 .b64 bar;\n.shared .align 4 .b32 slot;\n\
         .shared .align 4 .b32 other;\n\
         ld.param.u64 %rd1, [buffer];\nmov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 0;\nsetp.lt.u32 %p2, %r1, 32;\n\
         setp.ne.u32 %p3, %r1, %r1;\nmov.u32 %r13, bar;\nmov.u32 %r14, tile;\nmov.u32 %r40, %cluster_ctarank;\n\
         mov.u32 %r2, %r1;\nFILL:\nshl.b32 %r3, %r2, 2;\nadd.u32 %r3, %r3, %r14;\nst.shared.u32 [%r3], 0;\n\
         add.u32 %r2, %r2, {threads};\nsetp.lt.u32 %p7, %r2, 1280;\n@%p7 bra FILL;\n{{fence}}\
         @%p1 mbarrier.init.shared.b64 [bar], 1;\n@%p1 fence.mbarrier_init.release.cluster;\nbar.sync 0;\n\
         shr.u32 %r4, %r14, 4;\ncvt.u64.u32 %rd4, %r4;\nor.b64 %rd4, %rd4, 0x{:x};\n\
         add.u32 %r4, %r4, 256;\ncvt.u64.u32 %rd5, %r4;\nor.b64 %rd5, %rd5, 0x{:x};\nmov.u32 %r11, 0x{:x};\n\
         {allocate}{body}\nret;\n}}\n",
        descriptor(128),
        descriptor(16),
        1u32 << 4 | 2 << 17 | 8 << 24,
    )
}

/// K-major without swizzle: core matrices of 8 rows one after the other, the second 16 bytes of k behind all rows.
fn descriptor(rows: u64) -> u64 {
    ((16 * rows) >> 4) << 16 | (128 >> 4) << 32 | 1 << 46
}

const FENCE_PROXY: &str = "fence.proxy.async.shared::cta;\n";
const MMA: &str = "@%p1 tcgen05.mma.cta_group::1.kind::f16 [%r10], %rd4, %rd5, %r11, %p3;\n";
const COMMIT: &str =
    "@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r13];\n";
const WAIT: &str = "WAIT:\nmbarrier.try_wait.parity.shared.b64 %p6, [bar], 0;\n@!%p6 bra WAIT;\n";
const BEFORE: &str = "tcgen05.fence::before_thread_sync;\n";
const AFTER: &str = "tcgen05.fence::after_thread_sync;\n";
const BAR: &str = "bar.sync 0;\n";
const LD: &str = "tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r20, %r21, %r22, %r23}, [%r12];\n";
const WAIT_LD: &str = "tcgen05.wait::ld.sync.aligned;\n";
const ST: &str = "tcgen05.st.sync.aligned.32x32b.x16.b32 [%r12], {%r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1};\n";
const WAIT_ST: &str = "tcgen05.wait::st.sync.aligned;\n";
const ADD: &str = "@%p1 tcgen05.mma.cta_group::1.kind::f16 [%r10], %rd4, %rd5, %r11, 1;\n";
const FREE: &str = "bar.sync 0;\n@%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 64;\n";
const ALLOC_512: &str = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 512;\nld.shared.u32 %r10, [slot];\n";
const FREE_512: &str = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 512;\n";
const PAIR_ALLOC: &str = "@%p2 tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [slot], 64;\nbar.sync 0;\nld.shared.u32 %r10, [slot];\n";
const PAIR_FREE: &str = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n\
     @%p2 tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r10, 64;\n";
/// Ones for the first four words of columns 32 to 39, in the warp's quarter.
const SCALES: &str = "add.u32 %r30, %r12, 32;\nmov.u32 %r31, 0x7f7f7f7f;\n";
const ST_SCALES: &str = "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r30], {%r31, %r31, %r31, %r31, %r31, %r31, %r31, %r31};\n";
const MX: &str = "mov.u32 %r11, 0x8840000;\nadd.u32 %r32, %r10, 32;\nadd.u32 %r33, %r10, 36;\n\
     @%p1 tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [%r10], %rd4, %rd5, %r11, [%r32], [%r33], %p3;\n";
/// Copies what are scales of all rows, and multiplies with them, those of both operands being the same.
const COPY: &str =
    "add.u32 %r32, %r10, 32;\n@%p1 tcgen05.cp.cta_group::1.32x128b.warpx4 [%r32], %rd4;\n";
const MX_COPIED: &str = "mov.u32 %r11, 0x8840000;\n\
     @%p1 tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [%r10], %rd4, %rd5, %r11, [%r32], [%r32], %p3;\n";

/// Multiplies by what columns 32 to 39 hold.
const FROM_TENSOR: &str = "add.u32 %r32, %r10, 32;\n\
     @%p1 tcgen05.mma.cta_group::1.kind::f16 [%r10], [%r32], %rd5, %r11, %p3;\n";
/// Writes a product there.
const OVER: &str = "@%p1 tcgen05.mma.cta_group::1.kind::f16 [%r32], %rd4, %rd5, %r11, %p3;\n";

const TABLE: &[Twins] = &[
    Twins {
        name: "read before the commit was waited for",
        shape: ONE,
        bad: &[
            MMA, COMMIT, BAR, AFTER, LD, WAIT_LD, BEFORE, WAIT, AFTER, FREE,
        ],
        good: &[MMA, COMMIT, WAIT, AFTER, LD, WAIT_LD, BEFORE, FREE],
        message: &[
            "tcgen05.ld reads",
            "tcgen05.mma",
            "wait for its phase first",
        ],
        lane: false,
    },
    Twins {
        name: "no fence after the wait",
        shape: ONE,
        bad: &[MMA, COMMIT, WAIT, LD, WAIT_LD, BEFORE, FREE],
        good: &[MMA, COMMIT, WAIT, AFTER, LD, WAIT_LD, BEFORE, FREE],
        message: &["tcgen05.ld reads", "tcgen05.fence::after_thread_sync"],
        lane: false,
    },
    Twins {
        name: "no fence before the barrier",
        shape: ONE,
        bad: &[ST, WAIT_ST, BAR, AFTER, ADD, COMMIT, WAIT, FREE],
        good: &[ST, WAIT_ST, BEFORE, BAR, AFTER, ADD, COMMIT, WAIT, FREE],
        message: &[
            "tcgen05.mma writes",
            "tcgen05.st",
            "tcgen05.fence::before_thread_sync",
        ],
        lane: true,
    },
    Twins {
        name: "loaded before the store was waited for",
        shape: ONE,
        bad: &[ST, LD, WAIT_LD, WAIT_ST, FREE],
        good: &[ST, WAIT_ST, LD, WAIT_LD, FREE],
        message: &["tcgen05.ld reads", "tcgen05.wait::st"],
        lane: false,
    },
    Twins {
        name: "overwritten before the load was waited for",
        shape: ONE,
        bad: &[
            ST, WAIT_ST, LD, BEFORE, BAR, AFTER, MMA, COMMIT, WAIT, WAIT_LD, FREE,
        ],
        good: &[
            ST, WAIT_ST, LD, WAIT_LD, BEFORE, BAR, AFTER, MMA, COMMIT, WAIT, FREE,
        ],
        message: &["tcgen05.mma writes", "tcgen05.ld", "tcgen05.wait::ld"],
        lane: true,
    },
    Twins {
        name: "outside the warp's quarter",
        shape: ONE,
        bad: &["mov.u32 %r12, %r10;\n", ST, WAIT_ST, FREE],
        good: &[ST, WAIT_ST, FREE],
        message: &["at lane 0", "of its warpgroup reaches lanes"],
        lane: false,
    },
    Twins {
        name: "use after dealloc",
        shape: ONE,
        bad: &[ST, WAIT_ST, FREE, BAR, LD, WAIT_LD],
        good: &[ST, WAIT_ST, LD, WAIT_LD, FREE],
        message: &["tcgen05.ld", "not allocated", "tcgen05.dealloc"],
        lane: false,
    },
    Twins {
        name: "leaked at exit",
        shape: ONE,
        bad: &[ST, WAIT_ST],
        good: &[ST, WAIT_ST, FREE],
        message: &["exits without a tcgen05.dealloc", "64 columns"],
        lane: false,
    },
    Twins {
        name: "an allocation that can never succeed",
        shape: WARP,
        bad: &[ALLOC_512, ALLOC_512, FREE_512],
        good: &[ALLOC_512, FREE_512, ALLOC_512, FREE_512],
        message: &["512 columns can never succeed"],
        lane: false,
    },
    Twins {
        name: "an allocation that nobody makes room for",
        shape: ONE,
        bad: &[
            "@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [other], 64;\n\
                @%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [other], 64;\n\
                @%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [other], 64;\n\
                @%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [other], 64;\n\
                @%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [other], 64;\n\
                @%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [other], 64;\n\
                @%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [other], 64;\n\
                @%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [other], 64;\n",
            FREE,
        ],
        good: &[FREE],
        message: &["deadlock", "waits in tcgen05.alloc for 64 columns"],
        lane: false,
    },
    Twins {
        name: "allocation after the permit is given up",
        shape: WARP,
        bad: &[
            "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n",
            ALLOC_512,
            FREE_512,
        ],
        good: &[
            ALLOC_512,
            "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n",
            FREE_512,
        ],
        message: &["tcgen05.alloc after", "relinquish_alloc_permit"],
        lane: false,
    },
    Twins {
        name: "a number of columns that is none",
        shape: WARP,
        bad: &["tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 96;\n"],
        good: &[ALLOC_512, FREE_512],
        message: &["96 columns", "power of two"],
        lane: false,
    },
    Twins {
        name: "a pair out of step",
        shape: PAIR,
        bad: &["setp.eq.u32 %p5, %r40, 0;\n@%p5 bra FEW;\n\
                @%p2 tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [slot], 128;\nbra DONE;\nFEW:\n\
                @%p2 tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [slot], 64;\nDONE:\n"],
        good: &[PAIR_ALLOC, PAIR_FREE],
        message: &[
            "out of step",
            "tcgen05.alloc of 64 columns",
            "tcgen05.alloc of 128 columns",
        ],
        lane: false,
    },
    Twins {
        name: "a pair of which one does not come",
        shape: PAIR,
        bad: &[
            "setp.eq.u32 %p5, %r40, 0;\n@!%p5 bra DONE;\n",
            PAIR_ALLOC,
            "DONE:\nbarrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n",
        ],
        good: &[PAIR_ALLOC, PAIR_FREE],
        message: &[
            "deadlock",
            "waits in tcgen05.alloc for 64 columns",
            "other block of the pair",
        ],
        lane: false,
    },
    Twins {
        name: "a pair of which one has gone",
        shape: PAIR,
        bad: &[
            PAIR_ALLOC,
            "setp.eq.u32 %p5, %r40, 0;\n@%p5 bra STAY;\nexit;\nSTAY:\n",
            "@%p2 tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r10, 64;\n",
        ],
        good: &[PAIR_ALLOC, PAIR_FREE],
        message: &["have exited"],
        lane: false,
    },
    Twins {
        name: "operands overwritten in flight",
        shape: ONE,
        bad: &[MMA, COMMIT, "@%p1 st.shared.u32 [tile], 1;\n", WAIT, FREE],
        good: &[MMA, COMMIT, WAIT, "@%p1 st.shared.u32 [tile], 1;\n", FREE],
        message: &["overwrites shared memory", "tcgen05.mma", "still reads"],
        lane: true,
    },
    // Matmuls of a thread run as they were issued: one may overwrite what an earlier one reads.
    Twins {
        name: "an operand in tensor memory overwritten in flight",
        shape: ONE,
        bad: &[
            SCALES,
            ST_SCALES,
            WAIT_ST,
            BEFORE,
            BAR,
            AFTER,
            FROM_TENSOR,
            ST_SCALES,
            WAIT_ST,
            COMMIT,
            WAIT,
            FREE,
        ],
        good: &[
            SCALES,
            ST_SCALES,
            WAIT_ST,
            BEFORE,
            BAR,
            AFTER,
            FROM_TENSOR,
            OVER,
            COMMIT,
            WAIT,
            FREE,
        ],
        message: &[
            "tcgen05.mma reads tensor memory",
            "which the tcgen05.st",
            "writes",
        ],
        lane: true,
    },
    Twins {
        name: "an instruction descriptor with a shape that is none",
        shape: ONE,
        bad: &["mov.u32 %r11, 0x6040010;\n", MMA, COMMIT, WAIT, FREE],
        good: &[MMA, COMMIT, WAIT, FREE],
        message: &["instruction descriptor 0x06040010", "M = 96"],
        lane: true,
    },
    Twins {
        name: "an instruction descriptor with a type that is none",
        shape: ONE,
        bad: &["mov.u32 %r11, 0x8040110;\n", MMA, COMMIT, WAIT, FREE],
        good: &[MMA, COMMIT, WAIT, FREE],
        message: &["instruction descriptor", "type 2 of A"],
        lane: true,
    },
    Twins {
        name: "an instruction descriptor with reserved bits",
        shape: ONE,
        bad: &["mov.u32 %r11, 0x8840010;\n", MMA, COMMIT, WAIT, FREE],
        good: &[MMA, COMMIT, WAIT, FREE],
        message: &["instruction descriptor", "bits 23-23 (reserved)"],
        lane: true,
    },
    Twins {
        name: "an instruction descriptor of a sparse product",
        shape: ONE,
        bad: &["mov.u32 %r11, 0x8040014;\n", MMA, COMMIT, WAIT, FREE],
        good: &[MMA, COMMIT, WAIT, FREE],
        message: &["instruction descriptor", "the instruction is not .sp"],
        lane: true,
    },
    Twins {
        name: "a matrix descriptor of wgmma",
        shape: ONE,
        bad: &[
            "xor.b64 %rd4, %rd4, 0x400000000000;\n",
            MMA,
            COMMIT,
            WAIT,
            FREE,
        ],
        good: &[MMA, COMMIT, WAIT, FREE],
        message: &["matrix descriptor", "0b001", "wgmma"],
        lane: true,
    },
    Twins {
        name: "scale factors in one quarter only",
        shape: ONE,
        bad: &[
            SCALES,
            "@!%p2 bra NEXT;\n",
            ST_SCALES,
            "NEXT:\n",
            WAIT_ST,
            BEFORE,
            BAR,
            AFTER,
            MX,
            COMMIT,
            WAIT,
            FREE,
        ],
        good: &[
            SCALES, ST_SCALES, WAIT_ST, BEFORE, BAR, AFTER, MX, COMMIT, WAIT, FREE,
        ],
        message: &[
            "scale factor of row",
            "nothing has been written",
            "all four quarters",
        ],
        lane: false,
    },
    Twins {
        name: "scale factors copied over others that nothing has read",
        shape: ONE,
        bad: &[COPY, COPY, MX_COPIED, COMMIT, WAIT, FREE],
        good: &[COPY, MX_COPIED, COPY, MX_COPIED, COMMIT, WAIT, FREE],
        message: &[
            "tcgen05.cp writes",
            "the tcgen05.cp of line",
            "nobody here has waited",
        ],
        lane: true,
    },
    Twins {
        name: "freed in flight",
        shape: ONE,
        bad: &[MMA, FREE],
        good: &[MMA, COMMIT, WAIT, FREE],
        message: &["frees tensor memory", "still uses"],
        lane: false,
    },
    Twins {
        name: "added to what nobody has written",
        shape: ONE,
        bad: &[ADD, COMMIT, WAIT, FREE],
        good: &[MMA, ADD, COMMIT, WAIT, FREE],
        message: &["adds to tensor memory", "enable-input-d"],
        lane: false,
    },
    Twins {
        name: "another shape on the same accumulator without a wait",
        shape: ONE,
        bad: &[MMA, "mov.u32 %r11, 0x8020010;\n", MMA, COMMIT, WAIT, FREE],
        good: &[MMA, MMA, COMMIT, WAIT, FREE],
        message: &[
            "tcgen05.mma writes",
            "tcgen05.mma of line",
            "nobody here has waited",
        ],
        lane: true,
    },
    Twins {
        name: "a collector buffer that was not filled",
        shape: ONE,
        bad: &[
            "@%p1 tcgen05.mma.cta_group::1.kind::f16.collector::a::use [%r10], %rd4, %rd5, %r11, %p3;\n",
            COMMIT,
            WAIT,
            FREE,
        ],
        good: &[
            "@%p1 tcgen05.mma.cta_group::1.kind::f16.collector::a::fill [%r10], %rd4, %rd5, %r11, %p3;\n\
                 @%p1 tcgen05.mma.cta_group::1.kind::f16.collector::a::use [%r10], %rd4, %rd5, %r11, %p3;\n",
            COMMIT,
            WAIT,
            FREE,
        ],
        message: &["collector buffer", "fill"],
        lane: true,
    },
    Twins {
        name: "both groups in one kernel",
        shape: ONE,
        bad: &[
            MMA,
            "@%p1 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [%r13];\n",
            WAIT,
            FREE,
        ],
        good: &[MMA, COMMIT, WAIT, FREE],
        message: &["mixes .cta_group::1 and .cta_group::2"],
        lane: true,
    },
    Twins {
        name: "exit with a commit in flight",
        shape: ONE,
        bad: &[
            "@%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 64;\n",
            COMMIT,
        ],
        good: &[
            "@%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 64;\n",
            COMMIT,
            WAIT,
        ],
        message: &["tcgen05.commit arrives", "has exited"],
        lane: false,
    },
];

fn launch(shape: (u32, u32, u32), text: &str) -> Result<(), String> {
    let program = Module::new(text.to_owned())
        .and_then(|m| m.entry(None))
        .map_err(|e| e.to_string())?;
    for seed in 1..6 {
        let mut launch = Launch::new(&program);
        let buffer = launch.add_buffer("buffer", vec![1; 4096]);
        launch.args = vec![Arg::buffer(buffer)];
        launch.grid = [shape.1, 1, 1];
        launch.cluster = [shape.1, 1, 1];
        (launch.seed, launch.max_steps) = (seed, 3_000_000);
        launch.run().map_err(|e| e.to_string())?;
    }
    Ok(())
}

fn run(shape: (u32, u32, u32), body: &str, proxy: bool) -> Result<(), String> {
    let fence = if proxy { FENCE_PROXY } else { "" };
    launch(shape, &kernel(shape, body).replace("{fence}", fence))
}

#[test]
fn mistakes_with_tensor_memory_are_found_and_nothing_else() {
    for twins in TABLE {
        let Err(fault) = run(twins.shape, &twins.bad.concat(), true) else {
            panic!("{}: the bad twin passed", twins.name)
        };
        for word in twins
            .message
            .iter()
            .chain(&["kernel `k`, block (", ", PTX line "])
        {
            assert!(
                fault.contains(word),
                "{}: no `{word}` in: {fault}",
                twins.name
            );
        }
        assert_eq!(
            fault.contains(", lane "),
            twins.lane,
            "{}: lane in: {fault}",
            twins.name
        );
        run(twins.shape, &twins.good.concat(), true)
            .unwrap_or_else(|e| panic!("{}: the good twin: {e}", twins.name));
    }
}

#[test]
fn operands_need_a_proxy_fence() {
    let body = [MMA, COMMIT, WAIT, FREE].concat();
    let fault = run(ONE, &body, false).unwrap_err();
    assert!(fault.contains("fence.proxy.async"), "{fault}");
    run(ONE, &body, true).unwrap();
}

/// Nothing but the check for fences is left out.
#[test]
fn fences_need_not_be_asked_for() {
    let text = |parts: &[&str]| kernel(ONE, &parts.concat()).replace("{fence}", FENCE_PROXY);
    let without = |text: String| {
        let program = Module::new(text).and_then(|m| m.entry(None)).unwrap();
        let mut launch = Launch::new(&program);
        let buffer = launch.add_buffer("buffer", vec![1; 4096]);
        launch.args = vec![Arg::buffer(buffer)];
        launch.checks.tensor_fences = false;
        launch.run().map(|_| ()).map_err(|e| e.to_string())
    };
    without(text(&[MMA, COMMIT, WAIT, LD, WAIT_LD, FREE])).unwrap();
    let fault = without(text(&[MMA, COMMIT, BAR, LD, WAIT_LD, WAIT, FREE])).unwrap_err();
    assert!(fault.contains("wait for its phase first"), "{fault}");
}
