//! The benchmarks' kernels as PTX text.

use std::fmt::Write;

/// A loop of 1000 rounds over a body of one kind, between a load and a store.
pub fn straight(kind: &str) -> String {
    let body = match kind {
        "integer" => INTEGER,
        "float" => FLOAT,
        "half" => HALF,
        _ => MEMORY,
    };
    format!(
        ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 x)\n{{\n\
         .reg .pred %p<4>;\n.reg .b32 %r<40>;\n.reg .b64 %d<20>;\n.reg .f32 %f<40>;\n.shared .align 16 .b8 tile[4096];\n\
         ld.param.u64 %d1, [x];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmad.lo.u32 %r3, %r2, 256, %r1;\n\
         mul.wide.u32 %d2, %r3, 4;\nadd.u64 %d1, %d1, %d2;\nld.global.u32 %r4, [%d1];\nadd.u32 %r4, %r4, %r3;\n\
         mov.u32 %r5, %r1;\nmov.u32 %r6, %r3;\nmov.u32 %r7, 77;\ncvt.rn.f32.u32 %f1, %r1;\nmov.f32 %f2, 0f3f800001;\n\
         mov.f32 %f3, 0f3e99999a;\nmov.f32 %f4, %f1;\nmov.u32 %r8, tile;\nshl.b32 %r9, %r1, 2;\nadd.u32 %r8, %r8, %r9;\n\
         st.shared.u32 [%r8], %r1;\nmov.u32 %r10, 0;\nmov.u32 %r12, 0x3c003c00;\n\
         L:\n{body}add.u32 %r10, %r10, 1;\nsetp.lt.u32 %p1, %r10, 1000;\n@%p1 bra L;\n\
         cvt.rzi.u32.f32 %r11, %f4;\nxor.b32 %r4, %r4, %r11;\nxor.b32 %r4, %r4, %r6;\nst.global.u32 [%d1], %r4;\nret;\n}}\n"
    )
}

const INTEGER: &str = "mad.lo.s32 %r4, %r4, %r5, %r6;\nxor.b32 %r5, %r5, %r4;\nshl.b32 %r12, %r4, 3;\nadd.s32 %r6, %r6, %r12;\n\
    and.b32 %r13, %r6, %r4;\nshr.u32 %r14, %r13, 7;\nlop3.b32 %r15, %r14, %r12, %r5, 0x96;\nshf.l.wrap.b32 %r16, %r15, %r4, %r7;\n\
    sub.s32 %r4, %r4, %r16;\nmin.s32 %r17, %r4, %r6;\nsetp.gt.s32 %p2, %r17, %r5;\nselp.b32 %r18, %r17, %r5, %p2;\n\
    add.s32 %r6, %r6, %r18;\nbfe.u32 %r19, %r6, 4, 8;\nadd.s32 %r5, %r5, %r19;\nprmt.b32 %r6, %r6, %r5, 0x6420;\n";

const FLOAT: &str = "fma.rn.f32 %f4, %f4, %f3, %f2;\nmul.f32 %f5, %f4, %f2;\nadd.f32 %f6, %f5, %f3;\nfma.rn.f32 %f7, %f6, %f5, %f4;\n\
    sub.f32 %f8, %f7, %f4;\nmax.f32 %f9, %f8, %f3;\nmin.f32 %f10, %f9, %f2;\nsetp.gt.f32 %p2, %f10, %f3;\nselp.f32 %f11, %f10, %f5, %p2;\n\
    fma.rn.f32 %f4, %f11, %f3, %f3;\nneg.f32 %f12, %f4;\nabs.f32 %f13, %f12;\nmul.ftz.f32 %f14, %f13, %f13;\nadd.f32 %f4, %f14, %f3;\n\
    fma.rn.f32 %f15, %f14, %f4, %f3;\nmul.f32 %f4, %f4, %f3;\n";

const HALF: &str = "fma.rn.f16x2 %r12, %r12, %r12, %r12;\nadd.f16x2 %r13, %r12, %r12;\nmul.bf16x2 %r14, %r13, %r12;\ncvt.rn.f16x2.f32 %r12, %f3, %f4;\n\
    fma.rn.bf16x2 %r15, %r14, %r13, %r12;\nmax.f16x2 %r16, %r15, %r12;\nsub.f16x2 %r17, %r16, %r13;\nmul.f16x2 %r12, %r17, %r16;\n";

const MEMORY: &str = "ld.shared.u32 %r12, [%r8];\nadd.u32 %r12, %r12, 1;\nst.shared.u32 [%r8], %r12;\nld.global.u32 %r13, [%d1];\n\
    add.u32 %r13, %r13, %r12;\nst.global.u32 [%d1], %r13;\n";

fn list(count: usize, name: impl Fn(usize) -> String) -> String {
    (0..count).map(name).collect::<Vec<_>>().join(", ")
}

/// C = A·Bᵀ in tiles of 64 × 128: one warpgroup per block, two stages of 64 k, both operands swizzled by 128 bytes.
pub fn matmul() -> String {
    let mut text = String::from(HEADER);
    for n in 0..64 {
        let _ = writeln!(text, "mov.f32 %f{n}, 0f00000000;");
    }
    text += LOOP;
    let accumulators = list(64, |n| format!("%f{n}"));
    for step in 0..4 {
        let _ = writeln!(
            text,
            "add.u64 %d6, %d4, {};\nadd.u64 %d7, %d5, {};\nwgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 \
             {{{accumulators}}}, %d6, %d7, 1, 1, 1, 0, 0;",
            2 * step,
            2 * step
        );
    }
    text += END_OF_LOOP;
    for j in 0..16 {
        let _ = writeln!(
            text,
            "st.global.v2.f32 [%d8+{}], {{%f{}, %f{}}};\nst.global.v2.f32 [%d9+{}], {{%f{}, %f{}}};",
            32 * j,
            4 * j,
            4 * j + 1,
            32 * j,
            4 * j + 2,
            4 * j + 3
        );
    }
    text + "ret;\n}\n"
}

const HEADER: &str = ".version 8.0\n.target sm_90a\n.address_size 64\n\
    .visible .entry matmul(.param .align 64 .b8 a[128], .param .align 64 .b8 b[128], .param .u64 c)\n.reqntid 128\n{\n\
    .reg .pred %p<8>;\n.reg .b32 %r<32>;\n.reg .b64 %d<16>;\n.reg .f32 %f<64>;\n\
    .shared .align 1024 .b8 as[16384];\n.shared .align 1024 .b8 bs[32768];\n.shared .align 8 .b64 full[2];\n\
    mov.b64 %d1, a;\ncvta.param.u64 %d1, %d1;\nmov.b64 %d2, b;\ncvta.param.u64 %d2, %d2;\nld.param.u64 %d3, [c];\n\
    mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.y;\nshl.b32 %r2, %r2, 6;\nmov.u32 %r3, %ctaid.x;\nshl.b32 %r3, %r3, 7;\n\
    mov.u32 %r4, as;\nmov.u32 %r5, bs;\nmov.u32 %r6, full;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra READY;\n\
    mbarrier.init.shared::cta.b64 [%r6], 1;\nmbarrier.init.shared::cta.b64 [%r6+8], 1;\nfence.mbarrier_init.release.cluster;\nREADY:\n\
    bar.sync 0;\nmov.u32 %r7, 0;\n";

/// Step %r7: thread 0 fetches step %r7 + 1 (step 0 in the first round) while the others compute.
const LOOP: &str = "mov.u32 %r8, 0;\n@%p1 bra FETCHED;\nbra FETCH;\nLOOP:\nadd.u32 %r8, %r7, 1;\nsetp.ge.u32 %p2, %r8, 8;\n\
    or.pred %p2, %p2, %p1;\n@%p2 bra FETCHED;\nFETCH:\n\
    and.b32 %r9, %r8, 1;\nshl.b32 %r10, %r9, 13;\nadd.u32 %r10, %r10, %r4;\nshl.b32 %r11, %r9, 14;\nadd.u32 %r11, %r11, %r5;\n\
    shl.b32 %r12, %r9, 3;\nadd.u32 %r12, %r12, %r6;\nshl.b32 %r13, %r8, 6;\n\
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r12], 24576;\n\
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%d1, {%r13, %r2}], [%r12];\n\
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r11], [%d2, {%r13, %r3}], [%r12];\n\
    FETCHED:\nsetp.eq.u32 %p3, %r8, %r7;\nsetp.eq.u32 %p4, %r7, 0;\nand.pred %p3, %p3, %p4;\n@%p3 bra LOOP;\n\
    and.b32 %r14, %r7, 1;\nshl.b32 %r15, %r14, 3;\nadd.u32 %r15, %r15, %r6;\nshr.u32 %r16, %r7, 1;\nand.b32 %r16, %r16, 1;\n\
    W: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r15], %r16;\n@!%p5 bra W;\n\
    shl.b32 %r17, %r14, 13;\nadd.u32 %r17, %r17, %r4;\nshr.u32 %r17, %r17, 4;\ncvt.u64.u32 %d4, %r17;\nor.b64 %d4, %d4, 0x4000004000010000;\n\
    shl.b32 %r18, %r14, 14;\nadd.u32 %r18, %r18, %r5;\nshr.u32 %r18, %r18, 4;\ncvt.u64.u32 %d5, %r18;\nor.b64 %d5, %d5, 0x4000004000010000;\n\
    wgmma.fence.sync.aligned;\n";

const END_OF_LOOP: &str = "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\nbar.sync 0;\n\
    add.u32 %r7, %r7, 1;\nsetp.lt.u32 %p6, %r7, 8;\n@%p6 bra LOOP;\n\
    shr.u32 %r19, %r1, 5;\nshl.b32 %r19, %r19, 4;\nshr.u32 %r20, %r1, 2;\nand.b32 %r20, %r20, 7;\nadd.u32 %r19, %r19, %r20;\nadd.u32 %r19, %r19, %r2;\n\
    and.b32 %r21, %r1, 3;\nshl.b32 %r21, %r21, 1;\nadd.u32 %r21, %r21, %r3;\nmad.lo.u32 %r22, %r19, 512, %r21;\n\
    mul.wide.u32 %d8, %r22, 4;\nadd.u64 %d8, %d8, %d3;\nadd.u64 %d9, %d8, 16384;\n";
