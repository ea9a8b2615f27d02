//! What a kernel asks of its launch and its driver: a stack that grows, `malloc`, a cooperative grid, the work of
//! clusters that have not started, multicast memory.

use ptxsim::{Arg, Launch, Module, Report};

/// Runs `body` in an entry with the address of `out` in %rd1, the thread in %r1, the block in %r2 and the thread's
/// number in the grid in %r3; `functions` stand before it.
struct Kernel {
    target: &'static str,
    functions: &'static str,
    body: String,
    threads: u32,
    blocks: u32,
    cluster: u32,
}

impl Kernel {
    fn run(&self, words: usize, seed: u64) -> Result<(Vec<u32>, Report), String> {
        let text = format!(
            ".version 8.8\n.target {}\n.address_size 64\n{}\n.visible .entry k(.param .u64 out)\n.reqntid {}\n\
             .reqnctapercluster {}\n{{\n\
             .reg .pred %p<8>;\n.reg .b32 %r<32>;\n.reg .b64 %rd<32>;\n.reg .b128 %q<2>;\n.reg .f32 %f<8>;\n\
             .shared .align 16 .b8 answer[16];\n.shared .align 8 .b64 bar;\n.shared .b32 word;\n\
             ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n\
             mad.lo.u32 %r3, %r2, {}, %r1;\n{}\nret;\n}}\n",
            self.target, self.functions, self.threads, self.cluster, self.threads, self.body
        );
        let program = Module::new(text)
            .and_then(|m| m.entry(None))
            .map_err(|e| e.to_string())?;
        let mut launch = Launch::new(&program);
        let out = launch.add_buffer("out", vec![0; 4 * words]);
        launch.args = vec![Arg::buffer(out)];
        launch.grid = [self.blocks, 1, 1];
        (launch.seed, launch.max_steps) = (seed, 3_000_000);
        let report = launch.run().map_err(|e| e.to_string())?;
        let words = launch.buffers[out].bytes.chunks_exact(4);
        let words = words.map(|w| u32::from_le_bytes(w.try_into().unwrap()));
        Ok((words.collect(), report))
    }
}

fn one_block(functions: &'static str, body: &str) -> Kernel {
    Kernel {
        target: "sm_90a",
        functions,
        body: body.to_owned(),
        threads: 32,
        blocks: 1,
        cluster: 1,
    }
}

const STORE: &str =
    "mul.wide.u32 %rd20, %r3, 4;\nadd.u64 %rd20, %rd1, %rd20;\nst.global.u32 [%rd20], %r20;\n";

/// Each lane allocates as many words as its number plus one, fills them, calls a function that allocates too, and adds
/// its own up.
#[test]
fn stacks_grow_by_the_lane_and_survive_calls() {
    let functions = ".func (.reg .b32 r) fill(.reg .b32 n)\n{\n.reg .b64 %a, %s;\n.reg .b32 %i, %t;\n.reg .pred %p;\n\
        mul.wide.u32 %s, n, 4;\nalloca.u64 %a, %s, 16;\nmov.u32 %i, 0;\nmov.u32 r, 0;\n\
        L: st.local.u32 [%a], 1000;\nld.local.u32 %t, [%a];\nadd.u32 r, r, %t;\nadd.u64 %a, %a, 4;\n\
        add.u32 %i, %i, 1;\nsetp.lt.u32 %p, %i, n;\n@%p bra L;\nret;\n}\n";
    let body = format!(
        "add.u32 %r4, %r1, 1;\nmul.wide.u32 %rd2, %r4, 4;\nstacksave.u64 %rd5;\nalloca.u64 %rd3, %rd2, 16;\n\
         mov.u32 %r5, 0;\nmov.u64 %rd4, %rd3;\n\
         A: st.local.u32 [%rd4], %r5;\nadd.u64 %rd4, %rd4, 4;\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, %r4;\n@%p1 bra A;\n\
         call (%r6), fill, (%r4);\ncall (%r7), fill, (%r4);\nmov.u32 %r20, %r6;\nmov.u32 %r5, 0;\n\
         B: ld.local.u32 %r8, [%rd3];\nadd.u32 %r20, %r20, %r8;\nadd.u64 %rd3, %rd3, 4;\nadd.u32 %r5, %r5, 1;\n\
         setp.lt.u32 %p1, %r5, %r4;\n@%p1 bra B;\nstackrestore.u64 %rd5;\nstacksave.u64 %rd6;\nsetp.ne.u64 %p2, %rd5, %rd6;\n\
         @%p2 trap;\n{STORE}"
    );
    let (words, _) = one_block(functions, &body).run(32, 1).unwrap();
    for (lane, word) in words.into_iter().enumerate() {
        let n = lane as u32 + 1;
        assert_eq!(word, 1000 * n + n * (n - 1) / 2, "lane {lane}");
    }
    let greedy = one_block("", "mov.u64 %rd2, 600000;\nalloca.u64 %rd3, %rd2, 16;\n");
    assert!(
        greedy
            .run(32, 1)
            .unwrap_err()
            .contains("alloca of 600000 bytes")
    );
    let astray = one_block(
        "",
        "stacksave.u64 %rd2;\nadd.u64 %rd2, %rd2, 8;\nstackrestore.u64 %rd2;\n",
    );
    assert!(
        astray
            .run(32, 1)
            .unwrap_err()
            .contains("stacksave has not given")
    );
}

const HEAP: &str = ".extern .func (.param .b64 result) malloc(.param .b64 bytes);\n.extern .func free(.param .b64 address);\n";
const MALLOC: &str = "{\n.param .b64 in;\n.param .b64 out;\nst.param.b64 [in], %rd2;\ncall.uni (out), malloc, (in);\nld.param.b64 %rd3, [out];\n}\n";
const FREE: &str = "{\n.param .b64 in;\nst.param.b64 [in], %rd3;\ncall.uni free, (in);\n}\n";

#[test]
fn device_malloc_and_free() {
    // Every thread has its own words; a megabyte at a time, more than once around.
    let body = format!(
        "mov.u64 %rd2, 32768;\nmov.u32 %r9, 0;\nmov.u32 %r20, 0;\n\
         L: {MALLOC}add.u32 %r10, %r1, %r9;\nst.u32 [%rd3], %r10;\nst.u32 [%rd3+32764], 5;\nld.u32 %r11, [%rd3];\n\
         add.u32 %r20, %r20, %r11;\n{FREE}add.u32 %r9, %r9, 1;\nsetp.lt.u32 %p1, %r9, 20;\n@%p1 bra L;\n{STORE}"
    );
    let (words, _) = one_block(HEAP, &body).run(32, 1).unwrap();
    for (lane, word) in words.into_iter().enumerate() {
        assert_eq!(word, 20 * lane as u32 + 190);
    }
    // More than there is: null.
    let body = format!(
        "mov.u64 %rd2, 9000000;\n{MALLOC}cvt.u32.u64 %r20, %rd3;\nadd.u32 %r20, %r20, 7;\n{STORE}{FREE}"
    );
    assert_eq!(one_block(HEAP, &body).run(32, 1).unwrap().0, [7; 32]);
    let twice = one_block(HEAP, &format!("mov.u64 %rd2, 64;\n{MALLOC}{FREE}{FREE}"));
    assert!(twice.run(32, 1).unwrap_err().contains("twice"));
    let wild = one_block(HEAP, &format!("mov.u64 %rd3, %rd1;\n{FREE}"));
    assert!(
        wild.run(32, 1)
            .unwrap_err()
            .contains("malloc has not given")
    );
}

/// What nvcc makes of cooperative groups' `grid.sync()`: a workspace by way of %envreg1 and %envreg2, one block's thread
/// that adds to a counter with release and looks at it with acquire.
const GRID_SYNC: &str = "mov.u32 %r4, %envreg2;\ncvt.u64.u32 %rd4, %r4;\nmov.u32 %r5, %envreg1;\ncvt.u64.u32 %rd5, %r5;\n\
    bfi.b64 %rd6, %rd5, %rd4, 32, 32;\nsetp.ne.s64 %p1, %rd6, 0;\n@!%p1 trap;\nmov.u32 %r6, %nctaid.x;\n\
    setp.ne.u32 %p2, %r1, 0;\nmov.u32 %r7, -2147483647;\nsub.s32 %r8, %r7, %r6;\nsetp.eq.u32 %p3, %r2, 0;\n\
    selp.b32 %r9, %r8, 1, %p3;\nbarrier.sync 0;\n@%p2 bra DONE;\natom.add.release.gpu.u32 %r10, [%rd6+4], %r9;\n\
    SPIN: ld.acquire.gpu.u32 %r11, [%rd6+4];\nxor.b32 %r12, %r11, %r10;\nsetp.gt.s32 %p4, %r12, -1;\n@%p4 bra SPIN;\n\
    DONE: barrier.sync 0;\n";

#[test]
fn a_cooperative_grid_meets() {
    // Every thread writes its number and reads that of the next block's.
    let body = |sync: &str| {
        format!(
            "mul.wide.u32 %rd10, %r3, 4;\nadd.u64 %rd10, %rd1, %rd10;\nst.global.u32 [%rd10], %r3;\n{sync}\
             add.u32 %r13, %r3, 64;\nrem.u32 %r13, %r13, 512;\nmul.wide.u32 %rd11, %r13, 4;\nadd.u64 %rd11, %rd1, %rd11;\n\
             ld.global.u32 %r14, [%rd11];\nst.global.u32 [%rd10+2048], %r14;\n"
        )
    };
    let mut kernel = one_block("", &body(GRID_SYNC));
    (kernel.threads, kernel.blocks) = (64, 8);
    for seed in 1..5 {
        let (words, _) = kernel.run(1024, seed).unwrap();
        for i in 0..512 {
            assert_eq!(
                (words[i], words[512 + i]),
                (i as u32, (i as u32 + 64) % 512)
            );
        }
    }
    kernel.body = body("bar.sync 0;\n");
    assert!(kernel.run(1024, 1).unwrap_err().contains("data race"));
    (kernel.body, kernel.blocks) = (body(GRID_SYNC), 300);
    assert!(
        kernel
            .run(65536, 1)
            .unwrap_err()
            .contains("cooperative launch of 300")
    );
}

/// A cluster of two does its work, then that of every cluster that it can cancel; the response goes to both blocks.
#[test]
fn clusters_take_over_the_work_of_others() {
    let init = "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra READY;\nmbarrier.init.shared.b64 [bar], 1;\n\
        fence.mbarrier_init.release.cluster;\nREADY:\nbarrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n\
        mov.u32 %r4, %cluster_ctarank;\nmov.u32 %r5, %r2;\nmov.u32 %r6, 0;\n";
    // Block %r5 of the grid is this block's work; its count goes up, and `out[64+]` says how much was taken over.
    let work = "WORK: mul.wide.u32 %rd10, %r5, 4;\nadd.u64 %rd10, %rd1, %rd10;\n@%p1 bra TOLD;\n\
        red.relaxed.gpu.global.add.u32 [%rd10], 1;\nsetp.ne.u32 %p2, %r5, %r2;\n@%p2 red.relaxed.gpu.global.add.u32 [%rd1+256], 1;\n\
        mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;\nTOLD:\nbarrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
    let ask = "setp.ne.u32 %p3, %r4, 0;\n@%p1 bra WAIT;\n@%p3 bra WAIT;\n\
        clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [answer], [bar];\n\
        WAIT: mbarrier.try_wait.parity.shared.b64 %p4, [bar], %r6;\n@!%p4 bra WAIT;\nxor.b32 %r6, %r6, 1;\n";
    let look = "ld.shared.b128 %q0, [answer];\nclusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p5, %q0;\n@!%p5 bra END;\n\
        clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r7, %r8, %r9, _}, %q0;\n\
        clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r10, %q0;\nsetp.ne.u32 %p6, %r7, %r10;\n@%p6 trap;\n\
        add.u32 %r5, %r7, %r4;\nfence.proxy.async.shared::cta;\nbra WORK;\nEND:\n";
    let mut kernel = one_block("", &[init, work, ask, look].concat());
    (kernel.target, kernel.blocks, kernel.cluster) = ("sm_120a", 40, 2);
    let mut taken = 0;
    for seed in 1..8 {
        let (words, _) = kernel.run(65, seed).unwrap();
        assert_eq!(words[..40], [1; 40], "seed {seed}");
        taken += words[64];
    }
    assert!(taken > 0);
    // The block of a failed request, and a request after a failed one.
    kernel.body = [init, work, ask, &look.replace("@!%p5 bra END;", "")].concat();
    assert!(
        kernel
            .run(65, 1)
            .unwrap_err()
            .contains("ask is_canceled first")
    );
    kernel.body = [
        init,
        work,
        ask,
        &look.replace("@!%p5 bra END;", "@!%p5 bra WORK;"),
    ]
    .concat();
    assert!(
        kernel
            .run(65, 1)
            .unwrap_err()
            .contains("stop at the first failure")
    );
    // The response before it is there.
    kernel.body = [init, work, &ask.replace("@!%p4 bra WAIT;", ""), look].concat();
    assert!(kernel.run(65, 1).is_err());
}

/// A multicast object of one device is its memory.
#[test]
fn multicast_memory_of_one_device() {
    let body = format!(
        "mul.wide.u32 %rd10, %r3, 16;\nadd.u64 %rd10, %rd1, %rd10;\nadd.u64 %rd10, %rd10, 128;\n\
         cvt.rn.f32.u32 %f1, %r1;\nmultimem.st.relaxed.gpu.global.v4.f32 [%rd10], {{%f1, %f1, %f1, %f1}};\n\
         multimem.red.relaxed.gpu.global.add.v4.f32 [%rd10], {{%f1, %f1, %f1, 0f3f800000}};\n\
         multimem.ld_reduce.relaxed.gpu.global.add.v4.f32 {{%f2, %f3, %f4, %f5}}, [%rd10];\n\
         add.f32 %f2, %f2, %f5;\ncvt.rni.u32.f32 %r20, %f2;\n{STORE}"
    );
    let (words, _) = one_block("", &body).run(32 + 128, 1).unwrap();
    for (lane, &word) in words[..32].iter().enumerate() {
        assert_eq!(word, 3 * lane as u32 + 1);
    }
}

/// PTX ISA 9.0, ".blocksareclusters": the grid of a launch is counted in clusters; `%ctaid` and `%nctaid` are still
/// blocks.
#[test]
fn grids_may_be_counted_in_clusters() {
    let kernel = |directives: &str| {
        let text = format!(
            ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out)\n{directives}\n{{\n\
             .reg .b32 %r<8>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [out];\nmov.u32 %r1, %ctaid.x;\n\
             mov.u32 %r2, %nctaid.x;\nmov.u32 %r3, %clusterid.x;\nmov.u32 %r4, %nclusterid.x;\n\
             mov.u32 %r5, %cluster_ctarank;\nmul.wide.u32 %rd2, %r1, 32;\nadd.u64 %rd2, %rd1, %rd2;\n\
             st.global.v4.b32 [%rd2], {{%r1, %r2, %r3, %r4}};\nst.global.b32 [%rd2+16], %r5;\nret;\n}}\n"
        );
        let program = Module::new(text).and_then(|m| m.entry(None)).unwrap();
        let mut launch = Launch::new(&program);
        let out = launch.add_buffer("out", vec![0; 32 * 6]);
        launch.args = vec![Arg::buffer(out)];
        launch.grid = [3, 1, 1];
        launch.run().map_err(|e| e.to_string())?;
        let words = launch.buffers[out].bytes.chunks_exact(4);
        Ok::<Vec<u32>, String>(
            words
                .map(|w| u32::from_le_bytes(w.try_into().unwrap()))
                .collect(),
        )
    };
    let words = kernel(".reqntid 1\n.reqnctapercluster 2\n.blocksareclusters").unwrap();
    for (block, word) in words.chunks_exact(8).enumerate() {
        let block = block as u32;
        assert_eq!(word[..5], [block, 6, block / 2, 3, block % 2]);
    }
    let alone = kernel(".reqntid 1\n.blocksareclusters").unwrap_err();
    assert!(alone.contains(".reqnctapercluster"), "{alone}");
    let odd = kernel(".reqntid 1\n.reqnctapercluster 2").unwrap_err();
    assert!(odd.contains("no multiple"), "{odd}");
}

#[test]
fn an_entrys_own_shared_variable_hides_the_modules() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n\
        .extern .shared .align 16 .b8 memory[];\n\
        .visible .entry k(.param .u64 out) {\n.reg .b32 %r<4>;\n.reg .b64 %rd<2>;\n\
        .shared .align 16 .b8 memory[64];\n\
        ld.param.u64 %rd1, [out];\nmov.u32 %r1, memory;\nadd.u32 %r1, %r1, 60;\nmov.u32 %r2, 7;\n\
        st.shared.u32 [%r1], %r2;\nld.shared.u32 %r3, [%r1];\nst.global.u32 [%rd1], %r3;\nret;\n}\n";
    let program = Module::new(text.to_owned())
        .and_then(|m| m.entry(None))
        .unwrap();
    let mut launch = Launch::new(&program);
    let out = launch.add_buffer("out", vec![0; 4]);
    launch.args = vec![Arg::buffer(out)];
    launch.run().unwrap();
    assert_eq!(launch.buffers[0].bytes, 7u32.to_le_bytes());
}
