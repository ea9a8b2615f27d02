// Loads, stores, atomics, barriers and copies in forms that no other kernel here has.
#include <alloca.h>

#include "ptx.cuh"

__constant__ signed char table[8] = {5, -6, 7, -8, 9, -10, 11, -12};

// Loads and stores with every kind of hint; policies of caches; addresses that are asked where they point.
extern "C" __global__ void hinted(const float4 *x, uint32_t *words, ulonglong2 *wide, float4 *y, unsigned char *scrap) {
    __shared__ short shorts[32];
    __shared__ unsigned char bytes[32];
    int t = threadIdx.x;
    float4 v;
    asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(x + t));
    uint64_t keep, near, turned;
    asm volatile("createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %0, 0.5;" : "=l"(keep));
    asm volatile("createpolicy.range.global.L2::evict_last.b64 %0, [%1], 64, 128;" : "=l"(near) : "l"(words));
    asm volatile("createpolicy.cvt.L2.b64 %0, %1;" : "=l"(turned) : "l"(0x12f0000000000000ull));
    asm volatile("prefetch.global.L2 [%0];" ::"l"(words + t));
    asm volatile("prefetch.global.L2::evict_last [%0];" ::"l"(words + t));
    asm volatile("prefetchu.L1 [%0];" ::"l"(words + t));
    if (t == 0) {
        asm volatile("applypriority.global.L2::evict_normal [%0], 128;" ::"l"(words) : "memory");
        asm volatile("discard.global.L2 [%0], 128;" ::"l"(scrap) : "memory");
    }
    uint32_t a, b, c;
    asm volatile("ld.global.cs.L2::cache_hint.b32 %0, [%1], %2;" : "=r"(a) : "l"(words + t), "l"(keep));
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(b) : "l"(words + 32 + t) : "memory");
    asm volatile("ld.mmio.relaxed.sys.global.u32 %0, [%1];" : "=r"(c) : "l"(words + 64 + t) : "memory");
    asm volatile("st.global.L2::cache_hint.b32 [%0], %1, %2;" ::"l"(words + t), "r"(a + b + c), "l"(t % 2 ? near : turned) : "memory");
    asm volatile("st.relaxed.cta.shared.b8 [%0], %1;" ::"r"(smem(bytes + t)), "r"(a) : "memory");
    short s = -t;
    shorts[t] = s;
    int back;
    asm volatile("ld.volatile.shared.s16 %0, [%1];" : "=r"(back) : "r"(smem(shorts + t)) : "memory");
    asm volatile("{\n.reg .b128 q;\nld.global.b128 q, [%0];\nst.global.b128 [%0+512], q;\n}" ::"l"(wide + t) : "memory");
    uint64_t low, high;
    asm volatile("{\n.reg .b128 q;\nmov.b128 q, {%2, %3};\nmov.b128 {%1, %0}, q;\n}" : "=l"(low), "=l"(high) : "l"(keep ^ keep | t), "l"((uint64_t)7));
    double d0, d1;
    asm volatile("ldu.global.v2.f64 {%0, %1}, [%2];" : "=d"(d0), "=d"(d1) : "l"(wide));
    uint32_t kinds;
    asm volatile("{\n.reg .pred p, q;\nisspacep.global p, %1;\nisspacep.shared::cluster q, %2;\nselp.u32 %0, 1, 0, p;\n@q add.u32 %0, %0, 2;\n}"
                 : "=r"(kinds) : "l"(words), "l"(shorts));
    int eighth;
    asm volatile("{\n.reg .u64 at;\ncvta.to.const.u64 at, %1;\n.reg .b16 h;\nld.const.s8 h, [at];\ncvt.s32.s16 %0, h;\n}" : "=r"(eighth) : "l"(table + t % 8));
    asm volatile("st.global.wt.v2.b64 [%0], {%1, %2};" ::"l"(wide + 64 + t), "l"(low * 3 + high), "l"((uint64_t)1 << kinds) : "memory");
    v.x += back, v.y += eighth, v.z += bytes[t] == (a & 255), v.w += __double2ll_rn(d0 - d1) == 0;
    y[t] = v;
}

// Between the blocks of a cluster: generic addresses, ranks, exchanges, asynchronous stores and sums.
extern "C" __global__ void __cluster_dims__(2, 1, 1) neighbours(const uint32_t *x, uint32_t *y) {
    __shared__ __align__(16) uint32_t box[32], counters[4];
    __shared__ __align__(16) float quad[4];
    __shared__ __align__(8) uint64_t sum, slot, bar;
    int t = threadIdx.x;
    uint32_t me = cluster_rank(), other = 1 - me;
    if (t == 0) {
        mbar_init(smem(&bar), 1), mbar_init_done();
        sum = 0, slot = me + 10;
        for (int i = 0; i < 4; i++) counters[i] = i;
        // Two stores and 32 + 4 sums come from the neighbour.
        mbar_expect(smem(&bar), 32 * 4 + 16 + 32 * 8 + 4 * 4);
    }
    cluster_sync();
    uint32_t v = x[blockIdx.x * 32 + t], far = mapa(smem(&bar), other);
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(mapa(smem(box + t), other)), "r"(v), "r"(far) : "memory");
    asm volatile("red.async.relaxed.cluster.mbarrier::complete_tx::bytes.shared::cluster.add.u64 [%0], %1, [%2];" ::"r"(mapa(smem(&sum), other)), "l"((uint64_t)v << 8), "r"(far) : "memory");
    if (t < 4) asm volatile("red.async.relaxed.cluster.mbarrier::complete_tx::bytes.shared::cluster.inc.u32 [%0], %1, [%2];" ::"r"(mapa(smem(counters + t), other)), "r"(2), "r"(far) : "memory");
    if (t == 0)
        asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %1, %2, %2}, [%3];" ::"r"(mapa(smem(quad), other)), "f"(1.5f), "f"((float)me), "r"(far) : "memory");
    uint64_t generic, old = 0;
    uint32_t rank, rank2;
    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(generic) : "l"(&slot), "r"(other));
    asm volatile("getctarank.u64 %0, %1;" : "=r"(rank) : "l"(generic));
    asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(rank2) : "r"(mapa(smem(&slot), other)));
    if (t == 0)
        asm volatile("atom.acq_rel.cluster.shared::cluster.exch.b64 %0, [%1], %2;" : "=l"(old) : "r"(mapa(smem(&slot), other)), "l"((uint64_t)(20 + me)) : "memory");
    asm volatile("fence.sc.cluster;" ::: "memory");
    mbar_wait_cluster(smem(&bar), 0);
    asm volatile("barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait.acquire;" ::: "memory");
    uint64_t now;
    asm volatile("ld.relaxed.cluster.shared::cluster.b64 %0, [%1];" : "=l"(now) : "r"(mapa(smem(&slot), other)) : "memory");
    asm volatile("{\n.reg .u64 at;\ncvta.to.shared.u64 at, %1;\nst.shared.b32 [at], %0;\n}" ::"r"(box[t] + 1), "l"(box + t) : "memory");
    uint32_t *out = y + blockIdx.x * 64;
    out[t] = box[t];
    if (t == 0) {
        uint32_t more[10] = {(uint32_t)sum, (uint32_t)(sum >> 32), rank, rank2, (uint32_t)now, (uint32_t)old, counters[0] + 10 * counters[1] + 100 * counters[2] + 1000 * counters[3], __float_as_uint(quad[0]), __float_as_uint(quad[3]), me};
        for (int i = 0; i < 10; i++) out[32 + i] = more[i];
    }
    cluster_sync();
}

// Atomics on pairs, quadruples, 16 and 128 bits.
extern "C" __global__ void vector_atomics(uint32_t *pairs, float4 *quads, ulonglong2 *wide, int *least, uint16_t *eight, uint16_t *turns) {
    __shared__ uint16_t turn;
    int t = threadIdx.x;
    // One and two in f16; the sums stay exact.
    uint32_t old;
    asm volatile("atom.global.add.noftz.f16x2 %0, [%1], %2;" : "=r"(old) : "l"(pairs + t % 4), "r"(0x40003c00) : "memory");
    float a, b, c, d;
    asm volatile("atom.relaxed.gpu.global.add.v4.f32 {%0, %1, %2, %3}, [%4], {%5, %6, %7, %8};"
                 : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "l"(quads + t % 2), "f"(1.0f), "f"((float)t), "f"(-1.0f), "f"(0.5f) : "memory");
    asm volatile("red.global.min.s32 [%0], %1;" ::"l"(least + t % 8), "r"(10 - t) : "memory");
    uint16_t one = 0x3f80;
    asm volatile("red.relaxed.gpu.global.add.noftz.v8.bf16 [%0], {%1, %1, %1, %1, %1, %1, %1, %1};" ::"l"(eight), "h"(one) : "memory");
    if (t == 0) turn = 0;
    __syncthreads();
    // Every thread takes its turn.
    uint16_t seen, mine = t, next = t + 1;
    do asm volatile("atom.shared.cas.b16 %0, [%1], %2, %3;" : "=h"(seen) : "r"(smem(&turn)), "h"(mine), "h"(next) : "memory");
    while (seen != mine);
    __syncthreads();
    if (t == 0) turns[0] = turn;
    // Counts in the lower half, the sum of threads in the upper, both at once.
    uint64_t low = 0, high = 0, was_low, was_high;
    for (;;) {
        asm volatile("{\n.reg .b128 q, r, o;\nmov.b128 q, {%2, %3};\nmov.b128 r, {%4, %5};\natom.global.cas.b128 o, [%6], q, r;\nmov.b128 {%0, %1}, o;\n}"
                     : "=l"(was_low), "=l"(was_high) : "l"(low), "l"(high), "l"(low + 1), "l"(high + t), "l"(wide) : "memory");
        if (was_low == low && was_high == high) break;
        low = was_low, high = was_high;
    }
}

// mbarriers: tokens of arrivals that expect bytes, arrivals that complete nothing, bytes that are counted by hand.
extern "C" __global__ void __cluster_dims__(2, 1, 1) counted(const int *x, int *y) {
    __shared__ __align__(16) int tile[64];
    __shared__ __align__(8) uint64_t bar, many;
    int t = threadIdx.x;
    uint32_t me = cluster_rank();
    if (t == 0) mbar_init(smem(&bar), 1), mbar_init(smem(&many), 36), mbar_init_done();
    cluster_sync();
    uint64_t token = 0;
    if (t == 0) {
        asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %0, [%1], 320;" : "=l"(token) : "r"(smem(&bar)) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::"r"(smem(tile)), "l"(x + blockIdx.x * 64), "r"(smem(&bar)) : "memory");
        // The neighbour counts the rest.
        asm volatile("mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%0], 64;" ::"r"(mapa(smem(&bar), 1 - me)) : "memory");
        uint32_t done = 0;
        while (!done)
            asm volatile("{\n.reg .pred p;\nmbarrier.test_wait.acquire.cta.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(done) : "r"(smem(&bar)), "l"(token) : "memory");
    }
    mbar_wait(smem(&bar), 0);
    // 36 arrivals: four without completing, the rest one by one; the last thread then drops out.
    if (t == 0) asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], 4;" : "=l"(token) : "r"(smem(&many)) : "memory");
    __syncthreads();
    if (t == 31)
        asm volatile("mbarrier.arrive_drop.expect_tx.shared.b64 %0, [%1], 0;" : "=l"(token) : "r"(smem(&many)) : "memory");
    else
        asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(smem(&many)) : "memory");
    mbar_wait(smem(&many), 0);
    int sum = tile[t] + tile[32 + t];
    // A barrier that half of the warps only arrive at.
    __shared__ int passed[32];
    passed[t] = sum;
    asm volatile("barrier.cta.sync.aligned 2;" ::: "memory");
    y[blockIdx.x * 32 + t] = passed[31 - t];
    cluster_sync();
}

// Warps that arrive at a barrier whose number is in a register, and one that waits there; a jump by table.
extern "C" __global__ void jumps(const uint32_t *which, uint32_t *y) {
    __shared__ uint32_t made[64];
    int t = threadIdx.x, warp = t / 32;
    uint32_t d = 0, number = 3;
    asm volatile("{\n.reg .u32 i;\nmov.u32 i, %1;\nL: .branchtargets L0, L1, L2;\nbrx.idx i, L;\nL0: mov.u32 %0, 100;\nbra END;\n"
                 "L1: mov.u32 %0, 200;\nbra END;\nL2: mov.u32 %0, 300;\nEND:\n}" : "=r"(d) : "r"(which[t] % 3));
    if (warp) {
        made[t - 32] = d + t;
        asm volatile("bar.arrive %0, 96;" ::"r"(number) : "memory");
        asm volatile("pmevent 1;");
        if (t % 2) asm volatile("exit;");
        y[t] = d;
        return;
    }
    asm volatile("bar.sync %0, 96;" ::"r"(number) : "memory");
    uint32_t same, p;
    asm volatile("{\n.reg .pred p;\nmatch.all.sync.b32 %0|p, %2, -1;\nselp.u32 %1, 1, 0, p;\n}" : "=r"(same), "=r"(p) : "r"(d));
    y[t] = made[t] + made[t + 32] + d + p + (same != 0);
}

// Arrays whose size is not known: on the stack, and from the heap of the device.
extern "C" __global__ void unknown_sizes(const int *sizes, int *y) {
    int t = threadIdx.x, n = sizes[t];
    int *stack = (int *)alloca(n * sizeof(int));
    int *heap = (int *)malloc(n * sizeof(int));
    for (int i = 0; i < n; i++) stack[i] = i * t, heap[n - 1 - i] = i + t;
    int sum = 0;
    for (int i = 0; i < n; i++) sum += stack[n - 1 - i] ^ heap[i];
    free(heap);
    y[t] = sum;
}

// Copies: to several blocks with a hint, sums and intersections in memory, prefetches, sizes that are not whole.
extern "C" __global__ void __cluster_dims__(2, 1, 1) copies(const uint32_t *x, uint32_t *sums, uint32_t *y, const __grid_constant__ Map map) {
    __shared__ __align__(128) uint32_t both[64], mine[64], masks[64], parts[64];
    __shared__ __align__(128) uint32_t tile[8][16];
    __shared__ uint64_t bar, seen;
    int t = threadIdx.x;
    uint32_t me = cluster_rank();
    if (t == 0) mbar_init(smem(&bar), 1), mbar_init(smem(&seen), 1), mbar_init_done();
    masks[t] = masks[t + 32] = ~0u;
    mine[t] = x[64 + t] + me, mine[t + 32] = x[96 + t] + me;
    parts[t] = parts[t + 32] = 77;
    fence_async();
    cluster_sync();
    if (t == 0) {
        // From each block: what it ands into this one's masks; from block 0 the shared tile.
        mbar_expect(smem(&bar), 256 + 2 * 256);
        uint64_t hint;
        uint16_t blocks = 3;
        asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(hint));
        if (me == 0)
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%0], [%1], 256, [%2], %3, %4;"
                         ::"r"(smem(both)), "l"(x), "r"(smem(&bar)), "h"(blocks), "l"(hint) : "memory");
        for (int r = 0; r < 2; r++)
            asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.and.b32 [%0], [%1], 256, [%2];"
                         ::"r"(mapa(smem(masks), r)), "r"(smem(mine)), "r"(mapa(smem(&bar), r)) : "memory");
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 256;" ::"l"(sums), "r"(smem(mine)) : "memory");
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
        asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(&map), "r"(0), "r"(0) : "memory");
        mbar_expect(smem(&seen), sizeof tile);
        tma_load_2d(smem(tile), &map, 4 + 4 * (int)me, 1, smem(&seen));
    }
    mbar_wait_cluster(smem(&bar), 0);
    mbar_wait(smem(&seen), 0);
    asm volatile("cp.async.ca.shared.global.L2::64B [%0], [%1], 4;" ::"r"(smem(parts + t)), "l"(x + t) : "memory");
    // Eight of sixteen bytes; the rest becomes zero.
    if (t < 8) asm volatile("cp.async.cg.shared::cta.global [%0], [%1], 16, %2;" ::"r"(smem(parts + 32 + 4 * t)), "l"(x + 4 * t), "r"(8) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    uint32_t *out = y + me * 320;
    out[t] = both[t], out[32 + t] = both[32 + t];
    out[64 + t] = masks[t], out[96 + t] = masks[32 + t];
    out[128 + t] = parts[t], out[160 + t] = parts[32 + t];
    for (int i = t; i < 128; i += 32) out[192 + i] = tile[i / 16][i % 16];
    cluster_sync();
}
