//! What issue 4 says that the simulator catches, sentence by sentence: each with a minimal bad kernel that it catches and
//! a good twin that it passes. A finding names kernel, block, warp, PTX line, the lane where one is to blame, and what
//! to do.

mod hunt;
mod tensor;

use ptxsim::exec::env::Checks;
use ptxsim::program::Program;
use ptxsim::tensormap::{Element, MapBase, TensorMap};
use ptxsim::{Arg, Launch, Module};

/// How a twin is launched.
#[derive(Clone, Copy)]
struct Shape {
    threads: u32,
    grid: u32,
    cluster: u32,
    attributes: &'static str,
}

const fn threads(threads: u32) -> Shape {
    Shape {
        threads,
        grid: 1,
        cluster: 1,
        attributes: "",
    }
}

const fn blocks(grid: u32, cluster: u32) -> Shape {
    Shape {
        threads: 32,
        grid,
        cluster,
        attributes: "",
    }
}

/// A bad kernel, its good twin, and words of the finding: what is wrong and what to do.
struct Twins {
    name: &'static str,
    shape: Shape,
    bad: &'static [&'static str],
    good: &'static [&'static str],
    message: &'static [&'static str],
    /// a lane is to blame
    lane: bool,
}

/// An entry `k` with a buffer of 4096 bytes in %rd1, a tensor map over its first 4 KiB as 32 × 32 words in %rd15, its
/// thread number in %r1, four times that in %r2, its block in %r40, and 8 KiB of shared memory `tile` (address in %r3).
fn kernel(shape: Shape, body: &str) -> String {
    format!(
        ".version 8.6\n.target sm_90a\n.address_size 64\n\
         .visible .entry k(.param .u64 buffer, .param .align 64 .b8 map[128])\n.reqntid {}\n{}\n{{\n\
         .reg .pred %p<8>;\n.reg .b16 %h<8>;\n.reg .b32 %r<64>;\n.reg .b64 %rd<20>;\n.reg .f32 %f<64>;\n\
         .shared .align 1024 .b8 tile[8192];\n.shared .align 8 .b64 bar;\n\
         ld.param.u64 %rd1, [buffer];\nmov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 2;\ncvt.u64.u32 %rd2, %r2;\n\
         add.s64 %rd3, %rd1, %rd2;\nmov.b64 %rd15, map;\ncvta.param.u64 %rd15, %rd15;\nmov.u32 %r40, %ctaid.x;\n\
         mov.u32 %r3, tile;\nsetp.ne.u32 %p1, %r1, 0;\nsetp.ge.u32 %p3, %r1, 32;\n\
         {body}\nret;\n}}\n",
        shape.threads, shape.attributes
    )
}

/// A launch of an entry of [`kernel`]: all bytes of its buffer are `fill`; its tensor map has 32 rows of `columns` words,
/// 128 bytes apart.
fn with_map(program: &Program, fill: u8, columns: u64) -> Launch<'_> {
    let mut launch = Launch::new(program);
    let index = launch.add_buffer("buffer", vec![fill; 4096]);
    let base = MapBase::Buffer { index, offset: 0 };
    let map = TensorMap::tiled(base, Element::U32, &[columns, 32], &[128], &[32, 8]);
    launch.args = vec![Arg::buffer(index), Arg::TensorMap(map)];
    launch
}

fn launch(shape: Shape, body: &str) -> Result<(), String> {
    let program = Module::new(kernel(shape, body))
        .and_then(|m| m.entry(None))
        .map_err(|e| e.to_string())?;
    for seed in 1..6 {
        let mut launch = with_map(&program, 1, 32);
        launch.grid = [shape.grid, 1, 1];
        launch.cluster = [shape.cluster, 1, 1];
        (launch.seed, launch.max_steps) = (seed, 3_000_000);
        launch.run().map_err(|e| e.to_string())?;
    }
    Ok(())
}

fn check(table: &[Twins]) {
    for twins in table {
        let bad = twins.bad.concat();
        let Err(fault) = launch(twins.shape, &bad) else {
            panic!("{}: the bad twin passed", twins.name)
        };
        for word in twins.message {
            assert!(
                fault.contains(word),
                "{}: no `{word}` in: {fault}",
                twins.name
            );
        }
        for word in ["kernel `k`, block (", ", warp ", ", PTX line "] {
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
        let good = twins.good.concat();
        launch(twins.shape, &good).unwrap_or_else(|e| panic!("{}: the good twin: {e}", twins.name));
    }
}

// Pieces of kernels.
const INIT: &str = "@!%p1 mbarrier.init.shared.b64 [bar], 1;\n";
const INIT_32: &str = "@!%p1 mbarrier.init.shared.b64 [bar], 32;\n";
const INIT_FENCE: &str = "fence.mbarrier_init.release.cluster;\n";
const BLOCK: &str = "bar.sync 0;\n";
const CLUSTER: &str = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
const EXPECT: &str = "@!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 1024;\n";
const TMA_LOAD: &str = "mov.u32 %r10, 0;\n@!%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd15, {%r10, %r10}], [bar];\n";
const FIRST_EXPECTS: &str = "setp.ne.or.u32 %p4, %r40, 0, %p1;\n@!%p4 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 2048;\n\
    mov.u32 %r10, 0;\nmov.u32 %r20, bar;\nmapa.shared::cluster.u32 %r21, %r20, 0;\n";
const LOAD_TO_FIRST: &str = "@!%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd15, {%r10, %r10}], [%r21];\n";
const LOAD_TO_FIRST_OF_PAIR: &str = "@!%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.cta_group::2 [tile], [%rd15, {%r10, %r10}], [%r21];\n";
const BULK_LOAD: &str = "@!%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], 1024, [bar];\n";
const WAIT_0: &str = "W0: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n@!%p2 bra W0;\n";
const WAIT_1: &str = "W1: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 1;\n@!%p2 bra W1;\n";
const ARRIVE: &str = "mbarrier.arrive.shared.b64 %rd4, [bar];\n";
const READ: &str = "ld.shared.u32 %r11, [tile+128];\n";
const WRITE: &str = "add.s32 %r12, %r3, %r2;\nst.shared.u32 [%r12], %r1;\n";
const PROXY: &str = "fence.proxy.async;\n";
const BULK_STORE: &str = "@!%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 128;\n@!%p1 cp.async.bulk.commit_group;\n";
const BULK_WAIT_READ: &str = "@!%p1 cp.async.bulk.wait_group.read 0;\n";
const BULK_WAIT: &str = "@!%p1 cp.async.bulk.wait_group 0;\n";
const CP_ASYNC: &str = "shl.b32 %r4, %r1, 4;\nadd.s32 %r5, %r3, %r4;\ncvt.u64.u32 %rd4, %r4;\nadd.s64 %rd5, %rd1, %rd4;\ncp.async.cg.shared.global [%r5], [%rd5], 16;\ncp.async.commit_group;\n";
const CP_WAIT: &str = "cp.async.wait_group 0;\n";
const CP_READ: &str = "xor.b32 %r6, %r4, 512;\nadd.s32 %r6, %r6, %r3;\nld.shared.u32 %r7, [%r6];\n";

// One warpgroup: zeroed tile, one m64n8k16 product.
const MMA_SETUP: &str = "mov.u32 %r4, 0;\nadd.s32 %r6, %r3, %r2;\nmov.u32 %r5, 0;\n\
    Z: st.shared.u32 [%r6], 0;\nadd.s32 %r6, %r6, 512;\nadd.s32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 16;\n@%p1 bra Z;\n";
const MMA_READY: &str = "bar.sync 0;\nshr.u32 %r7, %r3, 4;\ncvt.u64.u32 %rd4, %r7;\nor.b64 %rd5, %rd4, 0x4000000000080000;\n\
    mov.f32 %f1, 0f00000000;\nmov.f32 %f2, %f1;\nmov.f32 %f3, %f1;\nmov.f32 %f4, %f1;\nmov.b32 %r20, 0;\nmov.b32 %r21, 0;\nmov.b32 %r22, 0;\nmov.b32 %r23, 0;\n";
const MMA_FENCE: &str = "wgmma.fence.sync.aligned;\n";
const MMA: &str = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, %rd5, %rd5, 1, 1, 1, 0, 0;\nwgmma.commit_group.sync.aligned;\n";
const MMA_REGISTERS: &str = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, {%r20,%r21,%r22,%r23}, %rd5, 1, 1, 1, 0;\nwgmma.commit_group.sync.aligned;\n";
const MMA_WAIT: &str = "wgmma.wait_group.sync.aligned 0;\n";
const MMA_USE: &str = "add.f32 %f5, %f1, %f2;\nst.global.f32 [%rd3], %f5;\n";
const MMA_GOOD: &[&str] = &[
    MMA_SETUP, PROXY, MMA_READY, MMA_FENCE, MMA, MMA_WAIT, MMA_USE,
];

#[test]
fn reads_of_data_whose_copy_has_not_been_waited_for() {
    let good = &[INIT, INIT_FENCE, BLOCK, EXPECT, TMA_LOAD, WAIT_0, READ];
    check(&[
        Twins {
            name: "tensor copy",
            shape: threads(32),
            bad: &[INIT, INIT_FENCE, BLOCK, EXPECT, TMA_LOAD, READ],
            good,
            message: &[
                "bulk copy issued at line",
                "wait for its group or mbarrier phase first",
            ],
            lane: true,
        },
        Twins {
            name: "bulk copy",
            shape: threads(32),
            bad: &[INIT, INIT_FENCE, BLOCK, EXPECT, BULK_LOAD, READ],
            good: &[INIT, INIT_FENCE, BLOCK, EXPECT, BULK_LOAD, WAIT_0, READ],
            message: &[
                "bulk copy issued at line",
                "wait for its group or mbarrier phase first",
            ],
            lane: true,
        },
        Twins {
            name: "cp.async, own data",
            shape: threads(32),
            bad: &[CP_ASYNC, "ld.shared.u32 %r7, [%r5];\n"],
            good: &[CP_ASYNC, CP_WAIT, "ld.shared.u32 %r7, [%r5];\n"],
            message: &["cp.async issued at line", "wait for its group"],
            lane: true,
        },
        Twins {
            name: "cp.async, the other warp's data",
            shape: threads(64),
            bad: &[CP_ASYNC, CP_WAIT, CP_READ],
            good: &[CP_ASYNC, CP_WAIT, BLOCK, CP_READ],
            message: &["shared memory at"],
            lane: true,
        },
        Twins {
            name: "results of a bulk store",
            shape: threads(64),
            bad: &[
                WRITE,
                PROXY,
                BLOCK,
                BULK_STORE,
                BULK_WAIT_READ,
                "@%p3 ld.global.u32 %r9, [%rd1];\n",
            ],
            good: &[
                WRITE,
                PROXY,
                BLOCK,
                BULK_STORE,
                BULK_WAIT,
                BLOCK,
                "@%p3 ld.global.u32 %r9, [%rd1];\n",
            ],
            message: &["global memory", "(`buffer`)", "data race", "barrier"],
            lane: true,
        },
    ]);
}

#[test]
fn overwriting_a_buffer_that_an_asynchronous_reader_still_reads() {
    check(&[
        Twins {
            name: "wgmma operands",
            shape: threads(128),
            bad: &[
                MMA_SETUP,
                PROXY,
                MMA_READY,
                MMA_FENCE,
                MMA,
                "st.shared.u32 [tile], 5;\n",
                MMA_WAIT,
                MMA_USE,
            ],
            good: &[
                MMA_SETUP,
                PROXY,
                MMA_READY,
                MMA_FENCE,
                MMA,
                MMA_WAIT,
                MMA_USE,
                BLOCK,
                "st.shared.u32 [tile], 5;\n",
            ],
            message: &["still reads", "wait for it to finish first"],
            lane: true,
        },
        Twins {
            name: "source of a bulk store",
            shape: threads(32),
            bad: &[WRITE, PROXY, BLOCK, BULK_STORE, BLOCK, WRITE],
            good: &[
                WRITE,
                PROXY,
                BLOCK,
                BULK_STORE,
                BULK_WAIT_READ,
                BLOCK,
                WRITE,
            ],
            message: &["bulk store issued at line", "still reads", "wait for it"],
            lane: true,
        },
        Twins {
            name: "destination of a copy",
            shape: threads(32),
            bad: &[INIT, INIT_FENCE, BLOCK, EXPECT, TMA_LOAD, WRITE, WAIT_0],
            good: &[INIT, INIT_FENCE, BLOCK, EXPECT, TMA_LOAD, WAIT_0, WRITE],
            message: &["bulk copy issued at line", "still writes", "wait for it"],
            lane: true,
        },
        Twins {
            name: "the next copy before the other warp has read",
            shape: threads(64),
            bad: &[CP_ASYNC, CP_WAIT, BLOCK, CP_READ, CP_ASYNC, CP_WAIT],
            good: &[CP_ASYNC, CP_WAIT, BLOCK, CP_READ, BLOCK, CP_ASYNC, CP_WAIT],
            message: &["shared memory at"],
            lane: true,
        },
        Twins {
            name: "global source of a copy",
            shape: threads(32),
            bad: &[
                INIT,
                INIT_FENCE,
                BLOCK,
                EXPECT,
                BULK_LOAD,
                "@!%p1 st.global.u32 [%rd1], 7;\n",
                WAIT_0,
            ],
            good: &[
                INIT,
                INIT_FENCE,
                BLOCK,
                EXPECT,
                BULK_LOAD,
                WAIT_0,
                "@!%p1 st.global.u32 [%rd1], 7;\n",
            ],
            message: &[
                "writes global memory",
                "bulk copy issued at line",
                "data race",
            ],
            lane: true,
        },
    ]);
}

#[test]
fn generic_writes_read_through_the_async_proxy_without_a_fence() {
    check(&[
        Twins {
            name: "wgmma",
            shape: threads(128),
            bad: &[MMA_SETUP, MMA_READY, MMA_FENCE, MMA, MMA_WAIT, MMA_USE],
            good: MMA_GOOD,
            message: &["without a fence.proxy.async"],
            lane: false,
        },
        Twins {
            name: "bulk store",
            shape: threads(32),
            bad: &[WRITE, BLOCK, BULK_STORE, BULK_WAIT],
            good: &[WRITE, PROXY, BLOCK, BULK_STORE, BULK_WAIT],
            message: &["without a fence.proxy.async"],
            lane: true,
        },
        Twins {
            name: "the fence of another warp before the write",
            shape: threads(64),
            bad: &[
                WRITE,
                BLOCK,
                PROXY,
                "@%p3 st.shared.u32 [tile], 9;\n",
                BLOCK,
                BULK_STORE,
                BULK_WAIT,
            ],
            good: &[
                WRITE,
                BLOCK,
                "@%p3 st.shared.u32 [tile], 9;\n",
                PROXY,
                BLOCK,
                BULK_STORE,
                BULK_WAIT,
            ],
            message: &["without a fence.proxy.async"],
            lane: true,
        },
    ]);
}

#[test]
fn wgmma_registers_in_flight_and_missing_fences() {
    check(&[
        Twins {
            name: "reading an accumulator",
            shape: threads(128),
            bad: &[MMA_SETUP, PROXY, MMA_READY, MMA_FENCE, MMA, MMA_USE],
            good: MMA_GOOD,
            message: &["wgmma in flight", "wgmma.wait_group first"],
            lane: false,
        },
        Twins {
            name: "writing an accumulator",
            shape: threads(128),
            bad: &[
                MMA_SETUP,
                PROXY,
                MMA_READY,
                MMA_FENCE,
                MMA,
                "cvt.rn.f32.u32 %f1, %r1;\n",
                MMA_WAIT,
            ],
            good: &[
                MMA_SETUP,
                PROXY,
                MMA_READY,
                MMA_FENCE,
                MMA,
                MMA_WAIT,
                "cvt.rn.f32.u32 %f1, %r1;\n",
            ],
            message: &["wgmma in flight", "wgmma.wait_group first"],
            lane: false,
        },
        Twins {
            name: "writing a register of A",
            shape: threads(128),
            bad: &[
                MMA_SETUP,
                PROXY,
                MMA_READY,
                MMA_FENCE,
                MMA_REGISTERS,
                "add.s32 %r21, %r1, 1;\n",
                MMA_WAIT,
            ],
            good: &[
                MMA_SETUP,
                PROXY,
                MMA_READY,
                MMA_FENCE,
                MMA_REGISTERS,
                MMA_WAIT,
                "add.s32 %r21, %r1, 1;\n",
            ],
            message: &["wgmma in flight", "wgmma.wait_group first"],
            lane: false,
        },
        Twins {
            name: "no wgmma.fence",
            shape: threads(128),
            bad: &[MMA_SETUP, PROXY, MMA_READY, MMA, MMA_WAIT, MMA_USE],
            good: MMA_GOOD,
            message: &["put a wgmma.fence before"],
            lane: false,
        },
        Twins {
            name: "no wgmma.fence after a register of A",
            shape: threads(128),
            bad: &[
                MMA_SETUP,
                PROXY,
                MMA_READY,
                MMA_FENCE,
                "mov.b32 %r22, 0;\n",
                MMA_REGISTERS,
                MMA_WAIT,
            ],
            good: &[
                MMA_SETUP,
                PROXY,
                MMA_READY,
                "mov.b32 %r22, 0;\n",
                MMA_FENCE,
                MMA_REGISTERS,
                MMA_WAIT,
            ],
            message: &["put a wgmma.fence before"],
            lane: false,
        },
    ]);
}

#[test]
fn mbarrier_misuse() {
    check(&[
        Twins {
            name: "wrong parity for ever",
            shape: threads(32),
            bad: &[INIT_32, BLOCK, ARRIVE, WAIT_0, ARRIVE, WAIT_1, WAIT_AGAIN],
            good: &[INIT_32, BLOCK, ARRIVE, WAIT_0, ARRIVE, WAIT_1],
            message: &[
                "deadlock",
                "waits for phase parity 0 of mbarrier",
                "32 of 32 arrivals",
            ],
            lane: false,
        },
        Twins {
            name: "polling without suspending",
            shape: threads(32),
            bad: &[
                INIT_32,
                BLOCK,
                "M: mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0;\n@!%p2 bra M;\n",
            ],
            good: &[
                INIT_32,
                BLOCK,
                ARRIVE,
                "M: mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0;\n@!%p2 bra M;\n",
            ],
            message: &["deadlock"],
            lane: false,
        },
        Twins {
            name: "use before init",
            shape: threads(32),
            bad: &[ARRIVE, WAIT_0],
            good: &[INIT_32, BLOCK, ARRIVE, WAIT_0],
            message: &["no initialised mbarrier", "mbarrier.init must come first"],
            lane: true,
        },
        Twins {
            name: "init that the other warp need not see",
            shape: threads(64),
            bad: &[
                "@!%p1 mbarrier.init.shared.b64 [bar], 64;\n",
                // Long enough that the init has happened; nothing orders it.
                "mov.u32 %r20, 0;\nY: add.u32 %r20, %r20, 1;\nsetp.lt.u32 %p4, %r20, 5000;\n@%p4 bra Y;\n",
                ARRIVE,
                WAIT_0,
            ],
            good: &[
                "@!%p1 mbarrier.init.shared.b64 [bar], 64;\n",
                BLOCK,
                ARRIVE,
                WAIT_0,
            ],
            message: &["mbarrier"],
            lane: true,
        },
        Twins {
            name: "init that the other block need not see",
            shape: blocks(2, 2),
            bad: &[
                INIT_32,
                "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;\n",
                REMOTE_ARRIVE,
                WAIT_0,
                CLUSTER,
            ],
            good: &[
                INIT_32,
                INIT_FENCE,
                "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;\n",
                REMOTE_ARRIVE,
                WAIT_0,
                CLUSTER,
            ],
            message: &["mbarrier", "fence.mbarrier_init"],
            lane: true,
        },
        Twins {
            name: "expect_tx that never completes",
            shape: threads(32),
            bad: &[
                INIT,
                INIT_FENCE,
                BLOCK,
                "@!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 2048;\n",
                TMA_LOAD,
                WAIT_0,
            ],
            good: &[INIT, INIT_FENCE, BLOCK, EXPECT, TMA_LOAD, WAIT_0],
            message: &["deadlock", "1024 bytes are missing"],
            lane: false,
        },
    ]);
    check(&[Twins {
        name: "arrivals beyond the count",
        shape: threads(32),
        bad: &[
            INIT_32,
            BLOCK,
            "@!%p1 mbarrier.arrive.shared.b64 _, [bar], 33;\n",
            ARRIVE,
        ],
        good: &[INIT_32, BLOCK, ARRIVE],
        message: &[
            "arrivals at an mbarrier phase",
            "initialised with too small a count",
        ],
        lane: true,
    }]);
}

const WAIT_AGAIN: &str = "W2: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n@!%p2 bra W2;\n";
const REMOTE_ARRIVE: &str = "mov.u32 %r20, %cluster_ctarank;\nxor.b32 %r20, %r20, 1;\nmapa.shared::cluster.u32 %r21, bar, %r20;\nmbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r21];\n";

#[test]
fn deadlocks_say_who_waits_for_what() {
    check(&[
        Twins {
            name: "named barriers",
            shape: threads(64),
            bad: &["@!%p3 bar.sync 1, 64;\n@%p3 bar.sync 2, 64;\n"],
            good: &["@!%p3 bar.sync 1, 64;\n@%p3 bar.sync 1, 64;\n"],
            message: &[
                "deadlock",
                "waits at barrier 1: 32 of 64 threads have arrived",
                "waits at barrier 2: 32 of 64",
            ],
            lane: false,
        },
        Twins {
            name: "counts that disagree",
            shape: threads(64),
            bad: &["@!%p3 bar.sync 1, 64;\n@%p3 bar.sync 1, 96;\n"],
            good: &["@!%p3 bar.arrive 1, 64;\n@%p3 bar.sync 1, 64;\n"],
            message: &["but others arrived with"],
            lane: false,
        },
        Twins {
            name: "cluster barrier",
            shape: blocks(2, 2),
            bad: &[
                "setp.eq.u32 %p4, %r40, 0;\n@%p4 bra SKIP;\n",
                CLUSTER,
                "SKIP:\n@!%p4 bra OUT;\nL: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n@!%p2 bra L;\nOUT:\n",
            ],
            good: &[CLUSTER],
            message: &["mbarrier"],
            lane: true,
        },
        Twins {
            name: "a loop without end",
            shape: threads(32),
            bad: &["L:\nadd.s32 %r1, %r1, 1;\nbra L;\n"],
            good: &["L:\nadd.s32 %r1, %r1, 1;\nsetp.lt.u32 %p2, %r1, 99;\n@%p2 bra L;\n"],
            message: &["a loop without end"],
            lane: false,
        },
    ]);
}

#[test]
fn divergent_aligned_and_sync_instructions() {
    const HALF: &str = "setp.lt.u32 %p2, %r1, 16;\n";
    check(&[
        Twins {
            name: "barriers on both sides of a branch",
            shape: threads(32),
            bad: &[
                HALF,
                "@%p2 bra A;\nbar.sync 1, 32;\nbra B;\nA:\nbar.sync 2, 32;\nB:\n",
            ],
            good: &[
                HALF,
                "@%p2 bra A;\nmov.u32 %r4, 1;\nbra B;\nA:\nmov.u32 %r4, 2;\nB:\nbar.sync 1, 32;\n",
            ],
            message: &["executed divergently"],
            lane: false,
        },
        Twins {
            name: "guarded barrier",
            shape: threads(32),
            bad: &[HALF, "@%p2 bar.sync 0;\n"],
            good: &[HALF, BLOCK],
            message: &[
                "skips an .aligned instruction",
                "guard it by a warp-uniform condition",
            ],
            lane: true,
        },
        Twins {
            name: "guarded mma.sync",
            shape: threads(32),
            bad: &[
                HALF,
                "mov.b32 %r20, 0;\nmov.f32 %f1, 0f00000000;\n@%p2 mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f2,%f3,%f4,%f5}, {%r20,%r20}, {%r20}, {%f1,%f1,%f1,%f1};\n",
            ],
            good: &[
                "mov.b32 %r20, 0;\nmov.f32 %f1, 0f00000000;\nmma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f2,%f3,%f4,%f5}, {%r20,%r20}, {%r20}, {%f1,%f1,%f1,%f1};\n",
            ],
            message: &["skips an .aligned instruction"],
            lane: true,
        },
        Twins {
            name: "a shuffle from a lane that is elsewhere",
            shape: threads(32),
            bad: &[
                HALF,
                "@!%p2 bra A;\nshfl.sync.idx.b32 %r4, %r1, 20, 31, 65535;\nA:\n",
            ],
            good: &[
                HALF,
                "@!%p2 bra A;\nshfl.sync.idx.b32 %r4, %r1, 2, 31, 65535;\nA:\n",
            ],
            message: &["which does not execute the shuffle"],
            lane: true,
        },
        Twins {
            name: "a membermask without oneself",
            shape: threads(32),
            bad: &["shfl.sync.idx.b32 %r4, %r1, 2, 31, 65535;\n"],
            good: &["shfl.sync.idx.b32 %r4, %r1, 2, 31, -1;\n"],
            message: &["leaves it out"],
            lane: true,
        },
    ]);
}

#[test]
fn out_of_bounds_and_misaligned_accesses_by_buffer_name() {
    let copy = |bad: &'static [&'static str],
                good: &'static [&'static str],
                message: &'static [&'static str],
                name: &'static str| Twins {
        name,
        shape: threads(32),
        bad,
        good,
        message,
        lane: true,
    };
    check(&[
        copy(
            &["st.global.u32 [%rd1+4096], %r1;\n"],
            &["@!%p1 st.global.u32 [%rd1+4092], %r1;\n"],
            &["0 bytes past the end of `buffer`"],
            "store past the end",
        ),
        copy(
            &["ld.global.u32 %r4, [%rd1+-8];\n"],
            &["ld.global.u32 %r4, [%rd1+8];\n"],
            &["bytes before `buffer`"],
            "load before the start",
        ),
        copy(
            &["mov.u64 %rd4, -4;\nld.global.u32 %r4, [%rd4];\n"],
            &["ld.global.u32 %r4, [%rd1];\n"],
            &["out of bounds"],
            "load of the last bytes that have an address",
        ),
        copy(
            &["ld.global.u32 %r4, [%rd1+2];\n"],
            &["ld.global.u32 %r4, [%rd1+4];\n"],
            &["misaligned", "needs a multiple of 4"],
            "misaligned load",
        ),
        copy(
            &["ld.global.v4.u32 {%r4,%r5,%r6,%r7}, [%rd1+8];\n"],
            &["ld.global.v4.u32 {%r4,%r5,%r6,%r7}, [%rd1+16];\n"],
            &["misaligned", "multiple of 16"],
            "misaligned vector",
        ),
        copy(
            &["red.global.add.u32 [%rd1+4096], 1;\n"],
            &["red.global.add.u32 [%rd1+4092], 1;\n"],
            &["past the end of `buffer`"],
            "atomic past the end",
        ),
        copy(
            &["@!%p1 st.shared.u32 [tile+8200], %r1;\n"],
            &["@!%p1 st.shared.u32 [tile+8188], %r1;\n"],
            &["out of bounds", "`bar`"],
            "shared store",
        ),
        copy(
            &[
                INIT,
                INIT_FENCE,
                BLOCK,
                EXPECT,
                "@!%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1+3584], 1024, [bar];\n",
            ],
            &[INIT, INIT_FENCE, BLOCK, EXPECT, BULK_LOAD, WAIT_0],
            &["`buffer`"],
            "bulk copy over the end",
        ),
        copy(
            &[
                INIT,
                INIT_FENCE,
                BLOCK,
                EXPECT,
                "@!%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1+8], 1024, [bar];\n",
            ],
            &[INIT, INIT_FENCE, BLOCK, EXPECT, BULK_LOAD, WAIT_0],
            &["all must be multiples of 16"],
            "misaligned bulk copy",
        ),
    ]);
}

#[test]
fn uninitialised_shared_memory_and_registers() {
    const SOME: &str = "setp.lt.u32 %p2, %r1, 7;\n@%p2 mov.u32 %r4, 5;\n";
    check(&[
        Twins {
            name: "register",
            shape: threads(32),
            bad: &["add.s32 %r5, %r4, 1;\n"],
            good: &["mov.u32 %r4, 0;\nadd.s32 %r5, %r4, 1;\n"],
            message: &["register that nothing has written", "initialise it"],
            lane: true,
        },
        Twins {
            name: "register that only some lanes define",
            shape: threads(32),
            bad: &[SOME, "add.s32 %r5, %r4, 1;\n"],
            good: &[SOME, "@%p2 add.s32 %r5, %r4, 1;\n"],
            message: &["lane 7", "register that nothing has written"],
            lane: true,
        },
        Twins {
            name: "predicate",
            shape: threads(32),
            bad: &["@%p5 mov.u32 %r4, 1;\n"],
            good: &["setp.eq.u32 %p5, %r1, 3;\n@%p5 mov.u32 %r4, 1;\n"],
            message: &["that nothing has written", "initialise it"],
            lane: true,
        },
        Twins {
            name: "shared memory",
            shape: threads(32),
            bad: &["ld.shared.u32 %r4, [tile];\n"],
            good: &[
                "@!%p1 st.shared.u32 [tile], 1;\nbar.warp.sync -1;\nld.shared.u32 %r4, [tile];\n",
            ],
            message: &["shared memory", "nothing has written", "write it"],
            lane: true,
        },
        Twins {
            name: "shared memory by a bulk store",
            shape: threads(32),
            bad: &[PROXY, BLOCK, BULK_STORE, BULK_WAIT],
            good: &[WRITE, PROXY, BLOCK, BULK_STORE, BULK_WAIT],
            message: &["nothing has written"],
            lane: true,
        },
        Twins {
            name: "accumulators",
            shape: threads(128),
            bad: &[
                MMA_SETUP,
                PROXY,
                BLOCK,
                "shr.u32 %r7, %r3, 4;\ncvt.u64.u32 %rd4, %r7;\nor.b64 %rd5, %rd4, 0x4000000000080000;\n",
                MMA_FENCE,
                MMA,
                MMA_WAIT,
            ],
            good: MMA_GOOD,
            message: &[
                "accumulates into registers that nothing has written",
                "pass scale-d = 0",
            ],
            lane: false,
        },
    ]);
}

/// A flag in the second half of the buffer, data in the first.
const PRODUCE: &str = "setp.ne.u32 %p4, %r40, 0;\n@%p4 bra CONSUMER;\nst.global.u32 [%rd3], %r1;\nbar.warp.sync -1;\n@%p1 bra OUT;\n";
const CONSUME: &str = "bra OUT;\nCONSUMER:\n";
const USE: &str = "ld.global.u32 %r9, [%rd3];\nOUT:\n";
const SPIN: &str =
    "X: ld.relaxed.gpu.global.u32 %r8, [%rd1+2048];\nsetp.ne.u32 %p5, %r8, 2;\n@%p5 bra X;\n";
const SPIN_ACQUIRE: &str =
    "X: ld.acquire.gpu.global.u32 %r8, [%rd1+2048];\nsetp.ne.u32 %p5, %r8, 2;\n@%p5 bra X;\n";

#[test]
fn data_races_between_threads_and_between_blocks() {
    const OTHER: &str =
        "sub.s32 %r5, 252, %r2;\nadd.s32 %r5, %r5, %r3;\nld.shared.u32 %r6, [%r5];\n";
    const SHARED: &[&str] = &[WRITE, BLOCK, OTHER];
    check(&[
        Twins {
            name: "shared: read of what the other warp writes",
            shape: threads(64),
            bad: &[WRITE, OTHER],
            good: SHARED,
            message: &["shared memory"],
            lane: true,
        },
        Twins {
            name: "shared: write of what the other warp reads",
            shape: threads(64),
            bad: &[WRITE, BLOCK, OTHER, "st.shared.u32 [%r12], %r2;\n"],
            good: &[WRITE, BLOCK, OTHER, BLOCK, "st.shared.u32 [%r12], %r2;\n"],
            message: &["data race", "barrier"],
            lane: true,
        },
        Twins {
            name: "shared: different values to one place",
            shape: threads(64),
            bad: &["st.shared.u32 [tile], %r1;\n"],
            good: &["st.shared.u32 [tile], 3;\n"],
            message: &["data race"],
            lane: true,
        },
        Twins {
            name: "distributed shared memory",
            shape: blocks(2, 2),
            bad: &[
                WRITE,
                "xor.b32 %r20, %r40, 1;\nmapa.shared::cluster.u32 %r21, tile, %r20;\nld.shared::cluster.u32 %r22, [%r21];\n",
                CLUSTER,
            ],
            good: &[
                WRITE,
                CLUSTER,
                "xor.b32 %r20, %r40, 1;\nmapa.shared::cluster.u32 %r21, tile, %r20;\nld.shared::cluster.u32 %r22, [%r21];\n",
                CLUSTER,
            ],
            message: &["shared memory"],
            lane: true,
        },
        Twins {
            name: "global: warps of a block",
            shape: threads(64),
            bad: &["st.global.u32 [%rd3], %r1;\nld.global.u32 %r5, [%rd1+128];\n"],
            good: &["st.global.u32 [%rd3], %r1;\nbar.sync 0;\nld.global.u32 %r5, [%rd1+128];\n"],
            message: &[
                "global memory",
                "(`buffer`)",
                "data race",
                "put a barrier between them",
            ],
            lane: true,
        },
        Twins {
            name: "global: two blocks write one place",
            shape: blocks(2, 1),
            bad: &["st.global.u32 [%rd3], %r40;\n"],
            good: &[
                "mul.wide.u32 %rd4, %r40, 128;\nadd.u64 %rd4, %rd3, %rd4;\nst.global.u32 [%rd4], %r40;\n",
            ],
            message: &[
                "writes global memory",
                "(`buffer`)",
                "warp 0 of block",
                "line",
                "data race",
                "release",
            ],
            lane: true,
        },
        Twins {
            name: "global: the same value is no race",
            shape: blocks(2, 1),
            bad: &["add.u32 %r41, %r40, 7;\nst.global.u32 [%rd3], %r41;\n"],
            good: &["st.global.u32 [%rd3], %r1;\n"],
            message: &["data race"],
            lane: true,
        },
        Twins {
            name: "global: an ordinary write beside an atomic",
            shape: blocks(2, 1),
            bad: &[
                "setp.eq.u32 %p4, %r40, 0;\n@%p4 red.global.add.u32 [%rd1], 1;\n@!%p4 st.global.u32 [%rd1], 5;\n",
            ],
            good: &[
                "setp.eq.u32 %p4, %r40, 0;\n@%p4 red.global.add.u32 [%rd1], 1;\n@!%p4 atom.global.exch.b32 %r9, [%rd1], 5;\n",
            ],
            message: &["global memory", "make both accesses atomic"],
            lane: true,
        },
        Twins {
            name: "global: a flag without a release",
            shape: blocks(2, 1),
            bad: &[
                PRODUCE,
                "st.relaxed.gpu.global.u32 [%rd1+2048], 2;\n",
                CONSUME,
                SPIN_ACQUIRE,
                USE,
            ],
            good: &[
                PRODUCE,
                "st.release.gpu.global.u32 [%rd1+2048], 2;\n",
                CONSUME,
                SPIN_ACQUIRE,
                USE,
            ],
            message: &["reads global memory", "data race", "release"],
            lane: true,
        },
        Twins {
            name: "global: a flag without an acquire",
            shape: blocks(2, 1),
            bad: &[
                PRODUCE,
                "fence.acq_rel.gpu;\nst.relaxed.gpu.global.u32 [%rd1+2048], 2;\n",
                CONSUME,
                SPIN,
                USE,
            ],
            good: &[
                PRODUCE,
                "fence.acq_rel.gpu;\nst.relaxed.gpu.global.u32 [%rd1+2048], 2;\n",
                CONSUME,
                SPIN,
                "fence.acq_rel.gpu;\n",
                USE,
            ],
            message: &["reads global memory", "data race", "acquire"],
            lane: true,
        },
        Twins {
            name: "global: the last block sums up",
            shape: blocks(4, 1),
            bad: &[
                "mul.wide.u32 %rd4, %r40, 4;\nadd.u64 %rd4, %rd1, %rd4;\n@%p1 bra OUT;\nst.global.u32 [%rd4], %r40;\natom.global.add.u32 %r8, [%rd1+2048], 1;\n",
                LAST,
            ],
            good: &[
                "mul.wide.u32 %rd4, %r40, 4;\nadd.u64 %rd4, %rd1, %rd4;\n@%p1 bra OUT;\nst.global.u32 [%rd4], %r40;\nmembar.gl;\natom.global.add.u32 %r8, [%rd1+2048], 1;\nmembar.gl;\n",
                LAST,
            ],
            message: &["reads global memory", "data race"],
            lane: true,
        },
    ]);
}

const LAST: &str = "setp.ne.u32 %p4, %r8, 16843012;\n@%p4 bra OUT;\nld.global.v4.u32 {%r20,%r21,%r22,%r23}, [%rd1];\nOUT:\n";

/// The lanes of a load are checked together where they follow each other; the message names the one.
#[test]
fn a_race_of_one_lane_names_it() {
    let body = "setp.eq.s32 %p2, %r1, 5;\n@%p2 st.global.u32 [%rd3], 1;\n\
                setp.ge.s32 %p3, %r1, 32;\n@%p3 ld.global.u32 %r5, [%rd3+-128];\n";
    let fault = launch(threads(64), body).unwrap_err();
    assert!(fault.contains(", lane 5, "), "{fault}");
}

/// Lanes that share a word of shared memory, each with a half of it, do not race where each reads again what it has read
/// before a barrier, and overwrites it.
#[test]
fn halves_of_a_word() {
    const BEFORE: &str = "shl.b32 %r4, %r1, 1;\nadd.u32 %r4, %r4, %r3;\nmov.b16 %h1, 1;\nmov.b16 %h3, 2;\n\
        st.shared.b16 [%r4], %h1;\nld.shared.b16 %h2, [%r4];\nbar.sync 0;\n";
    const WRITE_HALF: &str = "st.shared.b16 [%r4], %h3;\n";
    check(&[Twins {
        name: "halves of a word",
        shape: threads(32),
        bad: &[
            BEFORE,
            "and.b32 %r5, %r4, -4;\nld.shared.u32 %r6, [%r5];\n",
            WRITE_HALF,
        ],
        good: &[BEFORE, "ld.shared.b16 %h2, [%r4];\n", WRITE_HALF],
        message: &[
            "writes shared memory",
            "of the same warp reads",
            "bar.warp.sync",
        ],
        lane: true,
    }]);
}

#[test]
fn setmaxnreg_imbalances() {
    const BIG: Shape = Shape {
        threads: 256,
        grid: 1,
        cluster: 1,
        attributes: ".maxnreg 128",
    };
    const SPLIT: &str = "setp.lt.u32 %p2, %r1, 128;\n@%p2 bra P;\n";
    const REST: &str =
        "bra E;\nP:\nsetmaxnreg.dec.sync.aligned.u32 40;\nbar.sync 1, 128;\nE:\nbar.sync 0;\n";
    check(&[
        Twins {
            name: "more than others release",
            shape: BIG,
            bad: &[SPLIT, "setmaxnreg.inc.sync.aligned.u32 232;\n", REST],
            good: &[SPLIT, "setmaxnreg.inc.sync.aligned.u32 216;\n", REST],
            message: &["deadlock", "setmaxnreg.inc", "no warpgroup releases"],
            lane: false,
        },
        Twins {
            name: "increase below what it has",
            shape: BIG,
            bad: &["setmaxnreg.inc.sync.aligned.u32 120;\n"],
            good: &["setmaxnreg.dec.sync.aligned.u32 120;\n"],
            message: &["setmaxnreg.inc to 120", "has 128 registers"],
            lane: false,
        },
        Twins {
            name: "decrease above what it has",
            shape: BIG,
            bad: &["setmaxnreg.dec.sync.aligned.u32 136;\n"],
            good: &["setmaxnreg.dec.sync.aligned.u32 128;\n"],
            message: &["setmaxnreg.dec to 136", "only 128 registers"],
            lane: false,
        },
        Twins {
            name: "three of four warps",
            shape: BIG,
            bad: &["setp.lt.u32 %p2, %r1, 96;\n@%p2 setmaxnreg.dec.sync.aligned.u32 40;\n"],
            good: &["setp.lt.u32 %p2, %r1, 128;\n@%p2 setmaxnreg.dec.sync.aligned.u32 40;\n"],
            message: &["setmaxnreg", "all four warps"],
            lane: false,
        },
        Twins {
            name: "warps of a group that disagree",
            shape: BIG,
            bad: &[
                "setp.lt.u32 %p2, %r1, 64;\n@%p2 setmaxnreg.dec.sync.aligned.u32 40;\n@!%p2 setmaxnreg.dec.sync.aligned.u32 48;\n",
            ],
            good: &["setmaxnreg.dec.sync.aligned.u32 40;\n"],
            message: &["setmaxnreg", "all four warps"],
            lane: false,
        },
    ]);
}

#[test]
fn tensor_maps_that_hardware_would_refuse() {
    // In the launch: cuTensorMapEncodeTiled's rules are tested beside them; here, that a launch applies them.
    let program = Module::new(kernel(threads(32), ""))
        .and_then(|m| m.entry(None))
        .unwrap();
    let mut launch = Launch::new(&program);
    let buffer = launch.add_buffer("buffer", vec![1; 4096]);
    let base = MapBase::Buffer {
        index: buffer,
        offset: 0,
    };
    let mut bad = TensorMap::tiled(base, Element::U32, &[32, 32], &[120], &[32, 8]);
    launch.args = vec![Arg::buffer(buffer), Arg::TensorMap(bad.clone())];
    let error = launch.run().unwrap_err().to_string();
    assert!(
        error.contains("tensor map of parameter 1") && error.contains("no multiple of 16"),
        "{error}"
    );
    bad.strides[1] = 128;
    launch.args[1] = Arg::TensorMap(bad);
    launch.run().unwrap();
    // In the kernel: a copy with the wrong number of coordinates, one with an address in .param, which is no generic one,
    // and one to a misaligned place.
    check(&[
        Twins {
            name: "rank",
            shape: threads(32),
            bad: &[
                INIT,
                INIT_FENCE,
                BLOCK,
                EXPECT,
                "mov.u32 %r10, 0;\n@!%p1 cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd15, {%r10, %r10, %r10}], [bar];\n",
            ],
            good: &[INIT, INIT_FENCE, BLOCK, EXPECT, TMA_LOAD, WAIT_0],
            message: &["3 dimensions with a tensor map of 2"],
            lane: true,
        },
        Twins {
            name: "start of a box",
            shape: threads(32),
            bad: &[
                INIT,
                INIT_FENCE,
                BLOCK,
                EXPECT,
                "mov.u32 %r11, 1;\nmov.u32 %r12, 0;\n@!%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd15, {%r11, %r12}], [bar];\n",
            ],
            good: &[
                INIT,
                INIT_FENCE,
                BLOCK,
                EXPECT,
                "mov.u32 %r11, 4;\nmov.u32 %r12, 1;\n@!%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd15, {%r11, %r12}], [bar];\n",
                WAIT_0,
            ],
            message: &["no multiple of 16 bytes"],
            lane: true,
        },
        Twins {
            name: "store before the tensor",
            shape: threads(32),
            bad: &[
                INIT,
                INIT_FENCE,
                BLOCK,
                EXPECT,
                "mov.u32 %r11, 0;\nmov.u32 %r12, -1;\n@!%p1 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd15, {%r11, %r12}], [tile];\n",
            ],
            good: &[
                INIT,
                INIT_FENCE,
                BLOCK,
                EXPECT,
                "mov.u32 %r11, 0;\nmov.u32 %r12, -1;\n@!%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd15, {%r11, %r12}], [bar];\n",
                WAIT_0,
            ],
            message: &["before the tensor"],
            lane: true,
        },
        Twins {
            name: "parameter's own address",
            shape: threads(32),
            bad: &[
                INIT,
                INIT_FENCE,
                BLOCK,
                EXPECT,
                "mov.b64 %rd15, map;\n",
                TMA_LOAD,
                WAIT_0,
            ],
            good: &[
                INIT,
                INIT_FENCE,
                BLOCK,
                EXPECT,
                "mov.b64 %rd15, map;\ncvta.param.u64 %rd15, %rd15;\n",
                TMA_LOAD,
                WAIT_0,
            ],
            message: &["in .param", "cvta.param"],
            lane: true,
        },
        Twins {
            name: "an mbarrier of another block",
            shape: blocks(2, 2),
            bad: &[INIT, INIT_FENCE, CLUSTER, FIRST_EXPECTS, LOAD_TO_FIRST],
            good: &[
                INIT,
                INIT_FENCE,
                CLUSTER,
                FIRST_EXPECTS,
                LOAD_TO_FIRST_OF_PAIR,
                "setp.ne.u32 %p5, %r40, 0;\n@%p5 bra END;\n",
                WAIT_0,
                "END:\n",
                CLUSTER,
            ],
            message: &[
                "the mbarrier is in block 0",
                "destination in block 1",
                ".cta_group::2",
            ],
            lane: true,
        },
        Twins {
            name: "shared address",
            shape: threads(32),
            bad: &[
                INIT,
                INIT_FENCE,
                BLOCK,
                EXPECT,
                "mov.u32 %r10, 0;\n@!%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [tile+64], [%rd15, {%r10, %r10}], [bar];\n",
            ],
            good: &[INIT, INIT_FENCE, BLOCK, EXPECT, TMA_LOAD, WAIT_0],
            message: &["no multiple of 128"],
            lane: true,
        },
    ]);
}

#[test]
fn a_tensor_store_writes_the_last_16_bytes_of_a_row_whole() {
    let body = "mov.u32 %r10, 0;\nadd.s32 %r20, %r3, %r2;\nst.shared.b32 [%r20], %r10;\n\
        fence.proxy.async.shared::cta;\nbar.sync 0;\n\
        @!%p1 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd15, {%r10, %r10}], [tile];\n\
        @!%p1 cp.async.bulk.commit_group;\n@!%p1 cp.async.bulk.wait_group 0;\n";
    let program = Module::new(kernel(threads(32), body))
        .and_then(|m| m.entry(None))
        .unwrap();
    let mut launch = with_map(&program, 1, 27);
    // Only the first row is written before it is stored.
    launch.checks = Checks::NONE;
    launch.run().unwrap();
    let bytes = &launch.buffers[0].bytes;
    // Element 27 is beyond the row, and in the last 16 bytes of which a part is not.
    assert!(bytes[..28 * 4].iter().all(|&b| b == 0));
    assert!(bytes[28 * 4..128].iter().all(|&b| b == 1));
}

#[test]
fn bank_conflicts_and_uncoalesced_accesses_are_counted() {
    let stats = |body: &str| {
        let program = Module::new(kernel(threads(32), body))
            .and_then(|m| m.entry(None))
            .unwrap();
        let mut launch = with_map(&program, 0, 32);
        launch.count = true;
        launch.run().unwrap().stats
    };
    let shared = |stride: u32| {
        stats(&format!(
            "mul.lo.u32 %r4, %r1, {stride};\nadd.u32 %r4, %r4, %r3;\nst.shared.u32 [%r4], %r1;\n"
        ))
    };
    // Words 1, 2, 32 and 33 apart: 32 banks of a word each.
    for (stride, extra) in [(4, 0), (8, 1), (128, 31), (132, 0)] {
        assert_eq!(shared(stride).bank_conflicts, extra, "stride {stride}");
    }
    let global = |stride: u32| {
        stats(&format!(
            "mul.wide.u32 %rd4, %r1, {stride};\nadd.u64 %rd4, %rd4, %rd1;\nst.global.u32 [%rd4], %r1;\n"
        ))
    };
    for (stride, sectors) in [(4, 4), (8, 8), (32, 32), (128, 32)] {
        let found = global(stride);
        assert_eq!(
            (found.global_sectors, found.global_sectors_ideal),
            (sectors, 4),
            "stride {stride}"
        );
        assert_eq!(found.global.store_bytes, 128);
    }
    let plain = stats("st.global.u32 [%rd3], %r1;\n");
    assert_eq!(plain.thread_instructions, 32 * plain.warp_instructions);
}

#[test]
fn what_is_unknown_has_a_line_and_a_name() {
    for (body, word) in [
        (
            "tcgen05.mma.cta_group::1.kind::f32 [%r1], %rd1, %rd2, %r2, %p1;",
            "tcgen05.mma",
        ),
        ("add.frob.s32 %r1, %r1, 1;", ".frob"),
        ("add.s32 %r1, %r99, 1;", "%r99"),
        ("bra NOWHERE;", "NOWHERE"),
        ("ld.global.f32 %h1, [%rd1];", "too few"),
        (
            "st.global.v8.b64 [%rd1], {%rd1,%rd1,%rd1,%rd1,%rd1,%rd1,%rd1,%rd1};",
            "64 bytes",
        ),
        (
            "ld.global.v8.b64 {%rd1,%rd2,%rd3,%rd4,%rd5,%rd6,%rd7,%rd8}, [%rd1];",
            "64 bytes",
        ),
    ] {
        let error = launch(threads(32), body).unwrap_err();
        assert!(error.contains("line 26") && error.contains(word), "{error}");
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
    let good = kernel(threads(128), &MMA_GOOD.concat());
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
