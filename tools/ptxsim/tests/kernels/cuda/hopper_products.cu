// wgmma of every family: A from shared memory and from registers, both majors, multicast in clusters, ping-pong consumers.
#include "wgmma.cuh"

FAMILY32(Bf16, "m64n64k16.f32.bf16.bf16", ", 1, 1, 0, 0", ", 1, 1, 0")
FAMILY32(F16Negated, "m64n64k16.f32.f16.f16", ", -1, 1, 0, 0", ", 1, -1, 0")
FAMILY32(Tf32, "m64n64k8.f32.tf32.tf32", ", 1, 1", ", 1, 1")
FAMILY32(E4m3, "m64n64k32.f32.e4m3.e4m3", ", 1, 1", ", 1, 1")
FAMILY32(E5m2E4m3, "m64n64k32.f32.e5m2.e4m3", ", 1, 1", ", 1, 1")
FAMILY32(S8, "m64n64k32.s32.s8.s8", "", "")
FAMILY32(U8S8, "m64n64k32.s32.u8.s8", "", "")
struct F16Narrow {
    static constexpr int REGISTERS = 16;
    static __device__ __forceinline__ void ss(uint32_t *d, uint64_t a, uint64_t b, int scale) {
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %18, 0;\nwgmma.mma_async.sync.aligned.m64n64k16.f16.f16.f16 " D16 ", %16, %17, p, 1, 1, 0, 0;\n}"
                     : ACC16 : "l"(a), "l"(b), "r"(scale));
    }
    static __device__ __forceinline__ void rs(uint32_t *d, const uint32_t *a, uint64_t b, int scale) {
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %21, 0;\nwgmma.mma_async.sync.aligned.m64n64k16.f16.f16.f16 " D16 ", {%16,%17,%18,%19}, %20, p, 1, 1, 0;\n}"
                     : ACC16 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale));
    }
};

// C = A B^T with A (M × bytes) and B (N × bytes) contiguous along k, 64 × 64 per block, 128 threads, 4 stages, one group
// of products always in flight. FROM_REGISTERS reads A's fragments from global memory.
template <class Family, bool FROM_REGISTERS> static __device__ __forceinline__ void product(const Map *ma, const Map *mb, const uint32_t *a, uint32_t *c, int bytes, int element) {
    constexpr int STAGES = 4, R = Family::REGISTERS;
    extern __shared__ __align__(1024) char pool[];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    int t = threadIdx.x, warp = t / 32, lane = t % 32, steps = bytes / 128, n = gridDim.x * 64;
    uint32_t base = smem(pool), full0 = smem(full), empty0 = smem(empty);
    if (t == 0) {
        for (int s = 0; s < STAGES; s++) mbar_init(full0 + 8 * s, 1), mbar_init(empty0 + 8 * s, 128);
        mbar_init_done();
    }
    __syncthreads();
    auto fetch = [&](int i) {
        int s = i % STAGES;
        mbar_expect(full0 + 8 * s, FROM_REGISTERS ? 8192 : 16384);
        if (!FROM_REGISTERS) tma_load_2d(base + s * 16384, ma, i * 128 / element, blockIdx.y * 64, full0 + 8 * s);
        tma_load_2d(base + s * 16384 + 8192, mb, i * 128 / element, blockIdx.x * 64, full0 + 8 * s);
    };
    if (t == 0)
        for (int i = 0; i < STAGES - 1 && i < steps; i++) fetch(i);
    uint32_t d[R], f[2][16];
    for (int i = 0; i < R; i++) d[i] = 0;
    for (int i = 0; i < steps; i++) {
        int s = i % STAGES;
        // Fragments of the step after next are in use until the wait below.
        uint32_t *fragment = f[i % 2];
        if (FROM_REGISTERS) {
            const uint32_t *row = a + ((size_t)blockIdx.y * 64 + warp * 16 + lane / 4) * (bytes / 4) + i * 32 + lane % 4;
            for (int k = 0; k < 4; k++)
                fragment[4 * k] = row[k * 8], fragment[4 * k + 1] = row[k * 8 + 8 * (bytes / 4)], fragment[4 * k + 2] = row[k * 8 + 4],
                             fragment[4 * k + 3] = row[k * 8 + 4 + 8 * (bytes / 4)];
        }
        mbar_wait(full0 + 8 * s, i / STAGES & 1);
        wgmma_fence();
        uint64_t b = wgmma_descriptor(base + s * 16384 + 8192, 16, 1024, 1);
        for (int k = 0; k < 4; k++) {
            if (FROM_REGISTERS)
                Family::rs(d, fragment + 4 * k, b + 2 * k, i + k > 0);
            else
                Family::ss(d, wgmma_descriptor(base + s * 16384 + k * 32, 16, 1024, 1), b + 2 * k, i + k > 0);
        }
        wgmma_commit();
        // Registers of a group in flight may not be touched, so A in registers waits for it.
        if (FROM_REGISTERS)
            wgmma_wait<0>();
        else
            wgmma_wait<1>();
        if (i) mbar_arrive(empty0 + 8 * ((i - 1) % STAGES));
        int next = i + STAGES - 1;
        if (t == 0 && next < steps) {
            if (i) mbar_wait(empty0 + 8 * (next % STAGES), (next / STAGES - 1) & 1);
            fetch(next);
        }
    }
    wgmma_wait<0>();
    for (int i = 0; i < R; i++) {
        int j = R == 32 ? i : i * 2, row = blockIdx.y * 64 + warp * 16 + lane / 4 + (j >> 1 & 1) * 8, col = blockIdx.x * 64 + j / 4 * 8 + lane % 4 * 2 + (j & 1);
        c[R == 32 ? row * n + col : (row * n + col) / 2] = d[i];
    }
}
#define PRODUCT(NAME, FAMILY)                                                                                                                                        \
    extern "C" __global__ void __launch_bounds__(128) NAME##_ss(const __grid_constant__ Map a, const __grid_constant__ Map b, const uint32_t *raw, uint32_t *c, int bytes, \
                                                               int element) {                                                                                      \
        product<FAMILY, false>(&a, &b, raw, c, bytes, element);                                                                                                    \
    }                                                                                                                                                              \
    extern "C" __global__ void __launch_bounds__(128) NAME##_rs(const __grid_constant__ Map a, const __grid_constant__ Map b, const uint32_t *raw, uint32_t *c, int bytes, \
                                                               int element) {                                                                                      \
        product<FAMILY, true>(&a, &b, raw, c, bytes, element);                                                                                                     \
    }
PRODUCT(wgmma_f16, F16)
PRODUCT(wgmma_bf16, Bf16)
PRODUCT(wgmma_f16_negated, F16Negated)
PRODUCT(wgmma_f16_narrow, F16Narrow)
PRODUCT(wgmma_tf32, Tf32)
PRODUCT(wgmma_e4m3, E4m3)
PRODUCT(wgmma_e5m2_e4m3, E5m2E4m3)
PRODUCT(wgmma_s8, S8)
PRODUCT(wgmma_u8_s8, U8S8)

// Both operands lie along m and n: A is K × M, B is K × N. Swizzle of 128, 64 or 32 bytes; one tile of k = 64.
template <int MODE> static __device__ __forceinline__ void other_major(const Map *ma, const Map *mb, float *c) {
    // Columns of one swizzled tile: 64, 32 or 16 halves.
    constexpr int SPAN = 128 >> (MODE - 1), COLUMNS = SPAN / 2, TILES = 64 / COLUMNS, TILE = 64 * SPAN;
    __shared__ __align__(1024) char a[8192], b[8192];
    __shared__ uint64_t bar;
    int t = threadIdx.x;
    if (t == 0) {
        mbar_init(smem(&bar), 1);
        mbar_init_done();
        mbar_expect(smem(&bar), 16384);
        for (int i = 0; i < TILES; i++) {
            tma_load_2d(smem(a) + i * TILE, ma, i * COLUMNS, 0, smem(&bar));
            tma_load_2d(smem(b) + i * TILE, mb, i * COLUMNS, 0, smem(&bar));
        }
    }
    __syncthreads();
    mbar_wait(smem(&bar), 0);
    uint32_t d[32];
    wgmma_fence();
    for (int k = 0; k < 4; k++) {
        // Leading offset: from one tile of columns to the next; stride: from 8 rows of k to the next.
        uint64_t da = wgmma_descriptor(smem(a) + k * 16 * SPAN, TILE, 8 * SPAN, MODE), db = wgmma_descriptor(smem(b) + k * 16 * SPAN, TILE, 8 * SPAN, MODE);
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\nwgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " D32 ", %32, %33, p, 1, 1, 1, 1;\n}"
                     : ACC32 : "l"(da), "l"(db), "r"(k));
    }
    wgmma_commit();
    wgmma_wait<0>();
    for (int i = 0; i < 32; i++) c[(t / 32 * 16 + t % 32 / 4 + (i >> 1 & 1) * 8) * 64 + i / 4 * 8 + t % 4 * 2 + (i & 1)] = __uint_as_float(d[i]);
}
extern "C" __global__ void __launch_bounds__(128) wgmma_mn_major_128(const __grid_constant__ Map a, const __grid_constant__ Map b, float *c) { other_major<1>(&a, &b, c); }
extern "C" __global__ void __launch_bounds__(128) wgmma_mn_major_64(const __grid_constant__ Map a, const __grid_constant__ Map b, float *c) { other_major<2>(&a, &b, c); }
extern "C" __global__ void __launch_bounds__(128) wgmma_mn_major_32(const __grid_constant__ Map a, const __grid_constant__ Map b, float *c) { other_major<3>(&a, &b, c); }

// Persistent, warp-specialised, clusters of two blocks: B's tile is the same for both, each loads half of it for both.
// A producer warp, two consumer warpgroups of 64 rows each, results through shared memory and TMA stores.
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(384)
    multicast_gemm(const __grid_constant__ Map ma, const __grid_constant__ Map mb, const __grid_constant__ Map mc, int m, int n, int k) {
    constexpr int STAGES = 3, STAGE = 16384 + 8192;
    extern __shared__ __align__(1024) char pool[];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    int t = threadIdx.x, group = t / 128, steps = k / 64, columns = n / 64, pairs = m / 256;
    uint32_t rank = cluster_rank(), base = smem(pool), full0 = smem(full), empty0 = smem(empty), stage_c = base + STAGES * STAGE;
    if (t == 0) {
        // Two consumer groups in each of the two blocks free a stage.
        for (int s = 0; s < STAGES; s++) mbar_init(full0 + 8 * s, 1), mbar_init(empty0 + 8 * s, 4);
        mbar_init_done();
    }
    cluster_sync();
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (t == 0) {
            int i = 0;
            for (int tile = blockIdx.x / 2; tile < pairs * columns; tile += gridDim.x / 2)
                for (int step = 0; step < steps; step++, i++) {
                    int s = i % STAGES;
                    if (i >= STAGES) mbar_wait_cluster(empty0 + 8 * s, (i / STAGES - 1) & 1);
                    mbar_expect(full0 + 8 * s, STAGE);
                    tma_load_2d(base + s * STAGE, &ma, step * 64, (tile / columns * 2 + rank) * 128, full0 + 8 * s);
                    tma_load_2d_multicast(base + s * STAGE + 16384 + rank * 4096, &mb, step * 64, tile % columns * 64 + rank * 32, full0 + 8 * s, 3);
                }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        int i = 0, wt = t % 128;
        for (int tile = blockIdx.x / 2; tile < pairs * columns; tile += gridDim.x / 2) {
            uint32_t d[32];
            for (int step = 0; step < steps; step++, i++) {
                int s = i % STAGES;
                mbar_wait(full0 + 8 * s, i / STAGES & 1);
                wgmma_fence();
                for (int j = 0; j < 4; j++)
                    F16::ss(d, wgmma_descriptor(base + s * STAGE + (group - 1) * 8192 + j * 32, 16, 1024, 1), wgmma_descriptor(base + s * STAGE + 16384 + j * 32, 16, 1024, 1), step + j);
                wgmma_commit();
                wgmma_wait<0>();
                // One thread speaks for its group once all have seen the products done.
                asm volatile("bar.sync %0, 128;" ::"r"(group) : "memory");
                if (wt < 2) mbar_arrive_remote(empty0 + 8 * s, wt);
            }
            // The previous store must have read the buffer before it is written again.
            if (wt == 0) bulk_wait_read<0>();
            asm volatile("bar.sync %0, 128;" ::"r"(group) : "memory");
            float *c = (float *)(pool + STAGES * STAGE) + (group - 1) * 4096;
            for (int j = 0; j < 32; j++) c[(wt / 32 * 16 + wt % 32 / 4 + (j >> 1 & 1) * 8) * 64 + j / 4 * 8 + wt % 4 * 2 + (j & 1)] = __uint_as_float(d[j]);
            fence_async();
            asm volatile("bar.sync %0, 128;" ::"r"(group) : "memory");
            if (wt == 0) {
                tma_store_2d(&mc, stage_c + (group - 1) * 16384, tile % columns * 64, (tile / columns * 2 + rank) * 128 + (group - 1) * 64);
                bulk_commit();
            }
        }
        if (wt == 0) bulk_wait<0>();
    }
    // A block may not leave while the other still arrives at its barriers.
    cluster_sync();
}
