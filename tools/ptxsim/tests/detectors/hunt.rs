//! Patterns that real kernels have and no check may complain about, and beside them the slips that one makes in them.

use super::*;

/// A cluster of `blocks` blocks with `threads` threads each.
const fn cluster(blocks: u32, threads: u32) -> Shape {
    Shape {
        threads,
        grid: blocks,
        cluster: blocks,
        attributes: "",
    }
}

/// What lane 16 of warp 0 wrote.
const READ_OTHER: &str = "ld.shared.u32 %r11, [tile+64];\n";

/// What must run without a complaint.
fn legal(table: &[(&str, Shape, &[&str])]) {
    let mut wrong = String::new();
    for (name, shape, body) in table {
        if let Err(fault) = launch(*shape, &body.concat()) {
            wrong += &format!("{name}: {fault}\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// What must be reported, with words of the report.
fn illegal(table: &[(&str, Shape, &[&str], &[&str])]) {
    let mut wrong = String::new();
    for (name, shape, body, words) in table {
        match launch(*shape, &body.concat()) {
            Ok(()) => wrong += &format!("{name}: nothing was found\n"),
            Err(fault) => {
                for word in *words {
                    if !fault.contains(word) {
                        wrong += &format!("{name}: no `{word}` in: {fault}\n");
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

const ZERO_MORE: &str =
    "mov.f32 %f11, %f1;\nmov.f32 %f12, %f1;\nmov.f32 %f13, %f1;\nmov.f32 %f14, %f1;\n";
const MMA_OTHER: &str = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f11,%f12,%f13,%f14}, %rd5, %rd5, 1, 1, 1, 0, 0;\nwgmma.commit_group.sync.aligned;\n";
const MMA_NO_COMMIT: &str = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, %rd5, %rd5, 1, 1, 1, 0, 0;\n";
const MMA_WAIT_1: &str = "wgmma.wait_group.sync.aligned 1;\n";
const USE_OTHER: &str = "add.f32 %f15, %f11, %f12;\nst.global.f32 [%rd3], %f15;\n";

#[test]
fn matrix_groups() {
    legal(&[
        (
            "two warpgroups on one tile",
            threads(256),
            &[
                "and.b32 %r2, %r2, 511;\n",
                MMA_SETUP,
                PROXY,
                MMA_READY,
                MMA_FENCE,
                MMA,
                MMA_WAIT,
                MMA_USE,
            ],
        ),
        (
            "two groups in flight, the older one used",
            threads(128),
            &[
                MMA_SETUP, PROXY, MMA_READY, ZERO_MORE, MMA_FENCE, MMA, MMA_OTHER, MMA_WAIT_1,
                MMA_USE, MMA_WAIT, USE_OTHER,
            ],
        ),
        (
            "a chain of products into one accumulator",
            threads(128),
            &[
                MMA_SETUP,
                PROXY,
                MMA_READY,
                MMA_FENCE,
                MMA_NO_COMMIT,
                MMA_NO_COMMIT,
                MMA,
                MMA,
                MMA_WAIT,
                MMA_USE,
            ],
        ),
        (
            "new registers of A behind a wait and a fence",
            threads(128),
            &[
                MMA_SETUP,
                PROXY,
                MMA_READY,
                MMA_FENCE,
                MMA_REGISTERS,
                MMA_WAIT,
                "mov.b32 %r20, %r1;\n",
                MMA_FENCE,
                MMA_REGISTERS,
                MMA_WAIT,
                MMA_USE,
            ],
        ),
        (
            "empty groups",
            threads(128),
            &[
                "wgmma.commit_group.sync.aligned;\nwgmma.commit_group.sync.aligned;\n",
                MMA_WAIT,
            ],
        ),
    ]);
    illegal(&[
        (
            "two groups in flight, the younger one used",
            threads(128),
            &[
                MMA_SETUP, PROXY, MMA_READY, ZERO_MORE, MMA_FENCE, MMA, MMA_OTHER, MMA_WAIT_1,
                USE_OTHER, MMA_WAIT,
            ],
            &["wgmma"],
        ),
        (
            "three of four warps",
            threads(128),
            &[
                MMA_SETUP,
                PROXY,
                MMA_READY,
                "setp.ge.u32 %p4, %r1, 96;\n@%p4 bra END;\n",
                MMA_FENCE,
                MMA,
                MMA_WAIT,
                "END:\n",
            ],
            &["warp"],
        ),
        (
            "memory that nothing has written",
            threads(128),
            &[MMA_READY, MMA_FENCE, MMA, MMA_WAIT, MMA_USE],
            &["nothing has written"],
        ),
        (
            "an incomplete warpgroup",
            threads(96),
            &[MMA_READY, MMA_FENCE, MMA, MMA_WAIT, MMA_USE],
            &["four warps"],
        ),
        (
            "a group that was never committed",
            threads(128),
            &[
                MMA_SETUP,
                PROXY,
                MMA_READY,
                MMA_FENCE,
                MMA_NO_COMMIT,
                MMA_WAIT,
                MMA_USE,
            ],
            &["wgmma"],
        ),
    ]);
}

/// Two stages, six turns, a producer and a warp of consumers; parities flip.
const RING_START: &str = ".shared .align 8 .b64 full[2];\n.shared .align 8 .b64 empty[2];\n@%p1 bra MADE;\n\
    mbarrier.init.shared.b64 [full], 1;\nmbarrier.init.shared.b64 [full+8], 1;\nmbarrier.init.shared.b64 [empty], 32;\n\
    mbarrier.init.shared.b64 [empty+8], 32;\nfence.mbarrier_init.release.cluster;\nMADE: bar.sync 0;\nmov.u32 %r4, 0;\n\
    mov.u32 %r20, full;\nmov.u32 %r21, empty;\n@%p3 bra CONSUME;\n@%p1 bra END;\n";
const RING_PLACE: &str = "and.b32 %r5, %r4, 1;\nshl.b32 %r6, %r5, 3;\nadd.u32 %r7, %r20, %r6;\nadd.u32 %r9, %r21, %r6;\n\
    shl.b32 %r10, %r5, 10;\nadd.u32 %r10, %r10, %r3;\nshr.u32 %r11, %r4, 1;\nand.b32 %r11, %r11, 1;\nxor.b32 %r12, %r11, 1;\n";
const RING_WAIT_EMPTY: &str =
    "WE: mbarrier.try_wait.parity.shared.b64 %p2, [%r9], %r12;\n@!%p2 bra WE;\n";
const RING_FILL: &str = "mbarrier.arrive.expect_tx.shared.b64 _, [%r7], 1024;\n\
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%rd1], 1024, [%r7];\n";
const RING_NEXT: &str = "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p5, %r4, 6;\n";
const RING_WAIT_FULL: &str =
    "WF: mbarrier.try_wait.parity.shared.b64 %p2, [%r7], %r11;\n@!%p2 bra WF;\n";
const RING_READ: &str = "shl.b32 %r13, %r1, 2;\nand.b32 %r13, %r13, 127;\nadd.u32 %r13, %r13, %r10;\nld.shared.u32 %r14, [%r13];\n";
const RING_RELEASE: &str = "mbarrier.arrive.shared.b64 %rd4, [%r9];\n";

/// Two copies of 4 bytes a thread, and their arrival.
const APART_COPIES: &str = "mov.u32 %r30, tile;\nshl.b32 %r31, %r1, 2;\nadd.u32 %r30, %r30, %r31;\n\
    cp.async.ca.shared.global [%r30+512], [%rd1], 4;\ncp.async.ca.shared.global [%r30], [%rd1], 4;\n\
    cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n";

#[test]
fn mbarriers_over_many_phases() {
    legal(&[
        (
            "a ring of two stages",
            threads(64),
            &[
                RING_START,
                "PRODUCE:",
                RING_PLACE,
                RING_WAIT_EMPTY,
                RING_FILL,
                RING_NEXT,
                "@%p5 bra PRODUCE;\nbra END;\nCONSUME:",
                RING_PLACE,
                RING_WAIT_FULL,
                RING_READ,
                RING_RELEASE,
                RING_NEXT,
                "@%p5 bra CONSUME;\nEND:\n",
            ],
        ),
        (
            "made anew after mbarrier.inval",
            threads(32),
            &[
                INIT,
                INIT_FENCE,
                BLOCK,
                "@!%p1 mbarrier.arrive.shared.b64 %rd4, [bar];\n",
                WAIT_0,
                BLOCK,
                "@!%p1 mbarrier.inval.shared.b64 [bar];\n",
                INIT_32,
                INIT_FENCE,
                BLOCK,
                ARRIVE,
                "W2: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n@!%p2 bra W2;\n",
            ],
        ),
        (
            "the copy before its expect_tx",
            threads(32),
            &[INIT, INIT_FENCE, BLOCK, BULK_LOAD, EXPECT, WAIT_0, READ],
        ),
        (
            "expect_tx apart from the arrival",
            threads(32),
            &[
                INIT,
                INIT_FENCE,
                BLOCK,
                "@!%p1 mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 1024;\n",
                BULK_LOAD,
                "@!%p1 mbarrier.arrive.shared.b64 _, [bar];\n",
                WAIT_0,
                READ,
            ],
        ),
        (
            "one thread waits for all, and a barrier tells them",
            threads(64),
            &[
                INIT,
                INIT_FENCE,
                BLOCK,
                EXPECT,
                BULK_LOAD,
                "@%p1 bra TOLD;\n",
                WAIT_0,
                "TOLD:\n",
                BLOCK,
                READ,
            ],
        ),
        (
            "waiting for a state",
            threads(32),
            &[
                INIT_32,
                INIT_FENCE,
                BLOCK,
                WRITE,
                ARRIVE,
                "WS: mbarrier.try_wait.shared.b64 %p2, [bar], %rd4;\n@!%p2 bra WS;\n",
                READ_OTHER,
            ],
        ),
        (
            "the phase before the first counts as complete",
            threads(32),
            &[INIT, INIT_FENCE, BLOCK, WAIT_1],
        ),
        (
            "cp.async arrives for its thread",
            threads(64),
            &[
                "@!%p1 mbarrier.init.shared.b64 [bar], 64;\n",
                INIT_FENCE,
                BLOCK,
                CP_ASYNC,
                "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n",
                WAIT_0,
                CP_READ,
            ],
        ),
        (
            "a thread waits for copies whose arrival is under way",
            threads(64),
            &[
                "@!%p1 mbarrier.init.shared.b64 [bar], 32;\n",
                INIT_FENCE,
                BLOCK,
                "@%p3 bra OTHERS;\n",
                APART_COPIES,
                "cp.async.wait_all;\nbra END;\nOTHERS:\n",
                WAIT_0,
                "ld.shared.u32 %r31, [tile+512];\nld.shared.u32 %r31, [tile];\nEND:\n",
            ],
        ),
        (
            "two copies of a thread apart arrive last",
            threads(32),
            &[
                "@!%p1 mbarrier.init.shared.b64 [bar], 32;\n",
                INIT_FENCE,
                BLOCK,
                "@!%p1 bra APART;\n",
                APART_COPIES,
                "bra WAIT;\nAPART:\n",
                APART_COPIES,
                "WAIT:\n",
                WAIT_0,
                "ld.shared.u32 %r31, [%r30+512];\nld.shared.u32 %r31, [%r30];\n",
            ],
        ),
    ]);
    illegal(&[
        (
            "a consumer that does not wait",
            threads(64),
            &[
                RING_START,
                "PRODUCE:",
                RING_PLACE,
                RING_WAIT_EMPTY,
                RING_FILL,
                RING_NEXT,
                "@%p5 bra PRODUCE;\nbra END;\nCONSUME:",
                RING_PLACE,
                RING_READ,
                RING_RELEASE,
                RING_NEXT,
                "@%p5 bra CONSUME;\nEND:\n",
            ],
            &["shared memory"],
        ),
        (
            "a consumer that releases before it reads",
            threads(64),
            &[
                RING_START,
                "PRODUCE:",
                RING_PLACE,
                RING_WAIT_EMPTY,
                RING_FILL,
                RING_NEXT,
                "@%p5 bra PRODUCE;\nbra END;\nCONSUME:",
                RING_PLACE,
                RING_WAIT_FULL,
                RING_RELEASE,
                RING_READ,
                RING_NEXT,
                "@%p5 bra CONSUME;\nEND:\n",
            ],
            &["shared memory"],
        ),
        (
            "a producer that does not wait",
            threads(64),
            &[
                RING_START,
                "PRODUCE:",
                RING_PLACE,
                RING_FILL,
                RING_NEXT,
                "@%p5 bra PRODUCE;\nbra END;\nCONSUME:",
                RING_PLACE,
                RING_WAIT_FULL,
                RING_READ,
                RING_RELEASE,
                RING_NEXT,
                "@%p5 bra CONSUME;\nEND:\n",
            ],
            &[],
        ),
        (
            "a parity that does not flip",
            threads(64),
            &[
                RING_START,
                "PRODUCE:",
                RING_PLACE,
                RING_WAIT_EMPTY,
                RING_FILL,
                RING_NEXT,
                "@%p5 bra PRODUCE;\nbra END;\nCONSUME:",
                RING_PLACE,
                "mov.u32 %r11, 0;\n",
                RING_WAIT_FULL,
                RING_READ,
                RING_RELEASE,
                RING_NEXT,
                "@%p5 bra CONSUME;\nEND:\n",
            ],
            &[],
        ),
        (
            "used after mbarrier.inval",
            threads(32),
            &[
                INIT,
                INIT_FENCE,
                BLOCK,
                "@!%p1 mbarrier.inval.shared.b64 [bar];\n@!%p1 mbarrier.arrive.shared.b64 %rd4, [bar];\n",
            ],
            &["mbarrier"],
        ),
    ]);
}

const HANDSHAKE: [&str; 4] = [
    "mov.u32 %r4, 0;\n@%p3 bra CONSUME;\nPRODUCE: add.u32 %r5, %r3, %r2;\nst.shared.u32 [%r5], %r4;\nbar.arrive 1, 64;\n",
    "bar.sync 2, 64;\n",
    "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p5, %r4, 4;\n@%p5 bra PRODUCE;\nbra END;\nCONSUME: bar.sync 1, 64;\nld.shared.u32 %r6, [%r3];\n\
     bar.arrive 2, 64;\n",
    "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p5, %r4, 4;\n@%p5 bra CONSUME;\nEND:\n",
];

#[test]
fn bytes_of_a_word() {
    legal(&[(
        "each lane reads and writes its own byte",
        threads(32),
        &[
            "add.u32 %r4, %r3, %r1;\nmov.u16 %h1, 7;\nst.shared.u8 [%r4], %h1;\nld.shared.u8 %h2, [%r4];\n\
             add.u16 %h2, %h2, 1;\nst.shared.u8 [%r4], %h2;\n",
        ],
    )]);
}

#[test]
fn named_barriers() {
    legal(&[
        (
            "one warp arrives, the other waits, and back",
            threads(64),
            &HANDSHAKE,
        ),
        (
            "two halves of a block on their own",
            threads(128),
            &[
                "shr.u32 %r4, %r1, 6;\nadd.u32 %r5, %r4, 1;\nshl.b32 %r6, %r4, 10;\nadd.u32 %r6, %r6, %r3;\nadd.u32 %r7, %r6, %r2;\n\
                 st.shared.u32 [%r7], %r1;\nbar.sync %r5, 64;\nxor.b32 %r8, %r2, 128;\nadd.u32 %r8, %r8, %r6;\nld.shared.u32 %r9, [%r8];\n\
                 bar.sync %r5, 64;\nst.shared.u32 [%r8], %r9;\n",
            ],
        ),
        (
            "a barrier that others have left for good",
            threads(64),
            &[
                "@%p3 bra END;\n",
                WRITE,
                "bar.sync 1, 32;\n",
                READ_OTHER,
                "END:\n",
            ],
        ),
    ]);
    illegal(&[
        (
            "the producer does not wait for the consumer",
            threads(64),
            &[HANDSHAKE[0], HANDSHAKE[2], HANDSHAKE[3]],
            &[],
        ),
        (
            "a count that is no multiple of 32",
            threads(64),
            &["bar.sync 1, 48;\n"],
            &["48"],
        ),
        (
            "barrier 16",
            threads(64),
            &["mov.u32 %r4, 16;\nbar.sync %r4, 64;\n"],
            &["16"],
        ),
    ]);
}

/// A copy of 1024 bytes by block 0 to the blocks of a mask, who wait.
fn multicast(mask: u32, waiters: u32) -> String {
    format!(
        "{INIT}{INIT_FENCE}{CLUSTER}mov.u16 %h1, {mask};\nsetp.eq.u32 %p4, %r40, 0;\nshl.b32 %r5, 1, %r40;\nand.b32 %r5, %r5, {waiters};\n\
         setp.eq.u32 %p5, %r5, 0;\n@%p1 bra ISSUED;\n@!%p5 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 1024;\n\
         @%p4 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [tile], [%rd1], 1024, [bar], %h1;\n\
         ISSUED: @%p5 bra DONE;\n{WAIT_0}{READ}DONE:\n{CLUSTER}"
    )
}

#[test]
fn clusters() {
    let (some, wrong) = (multicast(0b1010, 0b1010), multicast(0b1010, 0b1110));
    let remote = "mapa.shared::cluster.u32 %r5, bar, 1;\nsetp.ne.u32 %p4, %r40, 0;\n";
    let arrive = "@%p4 bra WAIT;\nmbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r5];\nbra END;\nWAIT:\n";
    let peek = "mapa.shared::cluster.u32 %r5, tile, 1;\nsetp.ne.u32 %p4, %r40, 0;\n@%p4 bra END;\nmov.u32 %r6, 0;\n\
        SPIN: add.u32 %r6, %r6, 1;\nsetp.lt.u32 %p5, %r6, 2000;\n@%p5 bra SPIN;\nld.shared::cluster.u32 %r7, [%r5];\nEND:\n";
    legal(&[
        ("multicast to some blocks", cluster(4, 32), &[&some]),
        (
            "a block leaves after its remote arrival",
            cluster(2, 32),
            &[
                INIT_32,
                INIT_FENCE,
                CLUSTER,
                remote,
                arrive,
                "W0: mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p2, [bar], 0;\n@!%p2 bra W0;\nEND:\n",
            ],
        ),
        (
            "relaxed arrival at the cluster barrier behind a fence",
            cluster(2, 32),
            &[
                WRITE,
                "fence.acq_rel.cluster;\nbarrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.acquire.aligned;\n\
                 xor.b32 %r4, %r40, 1;\nmapa.shared::cluster.u32 %r5, tile, %r4;\nld.shared::cluster.u32 %r6, [%r5];\n",
                CLUSTER,
            ],
        ),
        (
            "a look into the other block's memory while it is there",
            cluster(2, 32),
            &[WRITE, CLUSTER, peek, CLUSTER],
        ),
    ]);
    illegal(&[
        (
            "a block that nobody sends to",
            cluster(4, 32),
            &[&wrong],
            &["mbarrier"],
        ),
        (
            "a look into the memory of a block that has left",
            cluster(2, 32),
            &[WRITE, CLUSTER, peek],
            &["has exited"],
        ),
    ]);
}

#[test]
fn proxies_and_copies() {
    let out_of_range = "shl.b32 %r4, %r1, 4;\nadd.s32 %r5, %r3, %r4;\nadd.s64 %rd5, %rd1, 8192;\nmov.u32 %r6, 0;\n\
        cp.async.cg.shared.global [%r5], [%rd5], 16, %r6;\ncp.async.commit_group;\ncp.async.wait_group 0;\nld.shared.u32 %r7, [%r5];\n";
    legal(&[
        (
            "the fence by the thread that issues, behind the barrier",
            threads(64),
            &[
                WRITE,
                BLOCK,
                "@!%p1 fence.proxy.async;\n",
                BULK_STORE,
                BULK_WAIT,
            ],
        ),
        (
            "copied in and out again, through one proxy",
            threads(32),
            &[
                INIT, INIT_FENCE, BLOCK, EXPECT, BULK_LOAD, WAIT_0, BULK_STORE, BULK_WAIT,
            ],
        ),
        (
            "cp.async of nothing from nowhere",
            threads(32),
            &[out_of_range],
        ),
        (
            "a load out of bounds that is switched off",
            threads(32),
            &["setp.gt.u32 %p4, %r1, 100;\n@%p4 ld.global.u32 %r4, [%rd1+100000];\n"],
        ),
        (
            "counting in shared memory",
            threads(64),
            &[
                "@!%p1 st.shared.u32 [tile], 0;\n",
                BLOCK,
                "atom.shared.add.u32 %r4, [tile], 1;\n",
                BLOCK,
                "ld.shared.u32 %r5, [tile];\n",
            ],
        ),
        (
            "lanes hand words on behind bar.warp.sync",
            threads(32),
            &[
                WRITE,
                "bar.warp.sync -1;\n",
                READ_OTHER,
                "bar.warp.sync -1;\n",
                WRITE,
            ],
        ),
        (
            "a lock between blocks",
            blocks(6, 1),
            &[
                "@%p1 bra END;\nTRY: atom.acquire.gpu.global.cas.b32 %r4, [%rd1+1024], 16843009, 1;\nsetp.ne.u32 %p4, %r4, 16843009;\n\
                 @%p4 bra TRY;\nld.global.u32 %r5, [%rd1];\nadd.u32 %r5, %r5, 1;\nst.global.u32 [%rd1], %r5;\n\
                 atom.release.gpu.global.exch.b32 %r6, [%rd1+1024], 16843009;\nEND:\n",
            ],
        ),
        (
            "sums by bulk reductions of several blocks",
            blocks(4, 1),
            &[
                WRITE,
                PROXY,
                BLOCK,
                "@!%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [tile], 128;\n\
                 @!%p1 cp.async.bulk.commit_group;\n",
                BULK_WAIT,
            ],
        ),
    ]);
    illegal(&[
        (
            "cp.async data that leaves through the async proxy",
            threads(32),
            &[CP_ASYNC, CP_WAIT, BLOCK, BULK_STORE, BULK_WAIT],
            &["fence.proxy.async"],
        ),
        (
            "only the reading half of a store is waited for",
            threads(64),
            &[
                WRITE,
                PROXY,
                BLOCK,
                BULK_STORE,
                BULK_WAIT_READ,
                BLOCK,
                "@%p3 ld.global.u32 %r9, [%rd1];\n",
                BULK_WAIT,
            ],
            &["data race"],
        ),
        (
            "a store that outlives its block",
            threads(32),
            &[WRITE, PROXY, BLOCK, BULK_STORE],
            &["exit"],
        ),
        (
            "a load that outlives its block",
            threads(32),
            &[INIT, INIT_FENCE, BLOCK, EXPECT, BULK_LOAD],
            &["exit"],
        ),
        (
            "a tensor store of what nothing has written",
            threads(32),
            &[
                "mov.u32 %r10, 0;\n@!%p1 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd15, {%r10, %r10}], [tile];\n\
                 @!%p1 cp.async.bulk.commit_group;\n",
                BULK_WAIT,
            ],
            &["nothing has written"],
        ),
        (
            "lanes hand words on without bar.warp.sync",
            threads(32),
            &[WRITE, READ_OTHER],
            &["lane", "bar.warp.sync"],
        ),
        (
            "lanes write different words to one place",
            threads(32),
            &["st.shared.u32 [tile], %r1;\n"],
            &["lane", "data race"],
        ),
        (
            "a lock without acquire",
            blocks(6, 1),
            &[
                "@%p1 bra END;\nTRY: atom.relaxed.gpu.global.cas.b32 %r4, [%rd1+1024], 16843009, 1;\nsetp.ne.u32 %p4, %r4, 16843009;\n\
                 @%p4 bra TRY;\nld.global.u32 %r5, [%rd1];\nadd.u32 %r5, %r5, 1;\nst.global.u32 [%rd1], %r5;\n\
                 atom.release.gpu.global.exch.b32 %r6, [%rd1+1024], 16843009;\nEND:\n",
            ],
            &["data race"],
        ),
        (
            "setmaxnreg of 100",
            threads(128),
            &["setmaxnreg.inc.sync.aligned.u32 100;\n"],
            &["setmaxnreg"],
        ),
    ]);
}

/// Kernels with a few characters damaged: text, decoding and running may refuse them, but neither panic nor go on for
/// ever.
#[test]
fn damaged_kernels_run_or_say_why_not() {
    let bodies = [
        MMA_GOOD.concat(),
        HANDSHAKE.concat(),
        multicast(0b11, 0b11),
        [
            INIT, INIT_FENCE, BLOCK, EXPECT, TMA_LOAD, WAIT_0, READ, WRITE, PROXY, BULK_STORE,
            BULK_WAIT,
        ]
        .concat(),
        [CP_ASYNC, CP_WAIT, BLOCK, CP_READ].concat(),
    ];
    let mut state = 77u64;
    let mut below = |n: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    let mut ran = 0;
    for i in 0..500 {
        let mut body = bodies[i % bodies.len()].clone().into_bytes();
        for _ in 0..1 + below(2) {
            let at = below(body.len());
            let digits: Vec<usize> = (0..body.len())
                .filter(|&i| body[i].is_ascii_digit())
                .collect();
            match below(8) {
                0 => {
                    body.remove(at);
                }
                1 => body[at] = b"%[]+-,.;{}@!rpfx"[below(16)],
                // Another register, size, offset, bit or barrier.
                2..=5 => body[digits[below(digits.len())]] = b"0123456789"[below(10)],
                _ => {
                    // A line from elsewhere in the kernel.
                    let lines: Vec<&[u8]> = body.split_inclusive(|&c| c == b'\n').collect();
                    let (from, to) = (below(lines.len()), below(lines.len()));
                    let mut moved = lines.clone();
                    moved[to] = lines[from];
                    body = moved.concat();
                }
            }
        }
        let shape = cluster(2, 128);
        let text = kernel(shape, &String::from_utf8(body).unwrap());
        let Ok(program) = Module::new(text).and_then(|m| m.entry(None)) else {
            continue;
        };
        ran += 1;
        let mut launch = with_map(&program, 1, 32);
        (launch.grid, launch.cluster) = ([2, 1, 1], [2, 1, 1]);
        (launch.seed, launch.max_steps) = (i as u64, 10_000);
        let _ = launch.run();
    }
    assert!(ran > 100, "only {ran} kernels were left to run");
}
