// Products whose A keeps two of four neighbours (one of two for tf32): mma.sp of every family, and wgmma.sp.
#include "ptx.cuh"

// One instruction over 32 bytes of stored A and 64 bytes of B. SELECTOR: which pair of lanes holds the metadata.
#define SPARSE(NAME, TYPES, PAIRED)                                                                                                                                      \
    struct NAME {                                                                                                                                                      \
        static constexpr bool TWO_STEPS = PAIRED;                                                                                                                      \
        template <int SELECTOR> static __device__ __forceinline__ void mma(uint32_t *d, const uint32_t *a, const uint32_t *b, uint32_t meta) {                         \
            asm volatile("mma.sp::ordered_metadata.sync.aligned." TYPES " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, %13;"                      \
                         : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                                                                              \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(meta), "n"(SELECTOR));                          \
        }                                                                                                                                                              \
    };

// C = A B^T: A (M × bytes / 2 stored), B (N × bytes). 64 × 32 per block, a warp 16 × 32; cp.async into two buffers.
// Metadata: a word per lane for each 16 rows and each step of k, or each two steps where two lanes of four suffice.
template <class Family> static __device__ __forceinline__ void sparse(const char *a, const char *b, const uint32_t *meta, uint32_t *c, int bytes) {
    __shared__ __align__(16) char as[2][64][48], bs[2][32][80];
    int t = threadIdx.x, warp = t / 32, lane = t % 32, g = lane / 4, q = lane % 4, steps = bytes / 64, n = gridDim.x * 32;
    auto fetch = [&](int i) {
        if (i < steps) {
            const char *x = a + (size_t)(blockIdx.y * 64 + t / 2) * (bytes / 2) + i * 32 + t % 2 * 16, *y = b + (size_t)(blockIdx.x * 32 + t / 4) * bytes + i * 64 + t % 4 * 16;
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem(&as[i % 2][t / 2][t % 2 * 16])), "l"(x) : "memory");
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem(&bs[i % 2][t / 4][t % 4 * 16])), "l"(y) : "memory");
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    uint32_t d[4][4] = {};
    const int words = Family::TWO_STEPS ? steps / 2 : steps;
    const uint32_t *mine = meta + (size_t)(blockIdx.y * 4 + warp) * words * 32 + lane;
    fetch(0);
    for (int i = 0; i < steps; i++) {
        fetch(i + 1);
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        uint32_t fa[4], word = mine[(Family::TWO_STEPS ? i / 2 : i) * 32];
        for (int j = 0; j < 4; j++) fa[j] = *(uint32_t *)&as[i % 2][warp * 16 + g + j % 2 * 8][q * 4 + j / 2 * 16];
        for (int col = 0; col < 4; col++) {
            uint32_t fb[4];
            for (int j = 0; j < 4; j++) fb[j] = *(uint32_t *)&bs[i % 2][col * 8 + g][q * 4 + j * 16];
            if (Family::TWO_STEPS && i % 2)
                Family::template mma<Family::TWO_STEPS ? 1 : 0>(d[col], fa, fb, word);
            else
                Family::template mma<0>(d[col], fa, fb, word);
        }
        __syncthreads();
    }
    for (int col = 0; col < 4; col++)
        for (int i = 0; i < 4; i++) c[(size_t)(blockIdx.y * 64 + warp * 16 + g + i / 2 * 8) * n + blockIdx.x * 32 + col * 8 + q * 2 + i % 2] = d[col][i];
}
#define KERNEL(NAME, FAMILY) \
    extern "C" __global__ void __launch_bounds__(128) NAME(const char *a, const char *b, const uint32_t *meta, uint32_t *c, int bytes) { sparse<FAMILY>(a, b, meta, c, bytes); }

SPARSE(F16, "m16n8k32.row.col.f32.f16.f16.f32", true)
SPARSE(Bf16, "m16n8k32.row.col.f32.bf16.bf16.f32", true)
SPARSE(Tf32, "m16n8k16.row.col.f32.tf32.tf32.f32", true)
SPARSE(S8, "m16n8k64.row.col.s32.s8.s8.s32", false)
SPARSE(U8S8, "m16n8k64.row.col.s32.u8.s8.s32", false)
SPARSE(S4, "m16n8k128.row.col.s32.s4.s4.s32", false)
KERNEL(sparse_gemm_f16, F16)
KERNEL(sparse_gemm_bf16, Bf16)
KERNEL(sparse_gemm_tf32, Tf32)
KERNEL(sparse_gemm_s8, S8)
KERNEL(sparse_gemm_u8_s8, U8S8)
KERNEL(sparse_gemm_s4, S4)
#if __CUDA_ARCH__ >= 890
SPARSE(E4m3, "m16n8k64.row.col.f32.e4m3.e4m3.f32", false)
KERNEL(sparse_gemm_e4m3, E4m3)
#endif

#if __CUDA_ARCH_FEAT_SM90_ALL
#define ACC4(i) "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3])
#define D16 "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}"
#define WSPARSE(NAME, TYPES, PAIRED, TAIL)                                                                                                             \
    struct NAME {                                                                                                                                      \
        static constexpr bool TWO_STEPS = PAIRED;                                                                                                      \
        template <int SELECTOR> static __device__ __forceinline__ void mma(uint32_t *d, uint64_t a, uint64_t b, uint32_t meta, int scale) {            \
            asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %19, 0;\nwgmma.mma_async.sp.sync.aligned." TYPES " " D16 ", %16, %17, %18, %20, p" TAIL ";\n}" \
                         : ACC4(0), ACC4(4), ACC4(8), ACC4(12) : "l"(a), "l"(b), "r"(meta), "r"(scale), "n"(SELECTOR));                                \
        }                                                                                                                                              \
    };
WSPARSE(WF16, "m64n32k32.f32.f16.f16", true, ", 1, 1, 0, 0")
WSPARSE(WTf32, "m64n32k16.f32.tf32.tf32", true, ", 1, 1")
WSPARSE(WS8, "m64n32k64.s32.s8.s8", false, "")
WSPARSE(WE4m3, "m64n32k64.f32.e4m3.e4m3", false, ", 1, 1")

// 64 × 32 per block. A's stored rows are 64 bytes per stage (64-byte swizzle), B's 128 (128-byte swizzle): two instructions
// a stage, three stages by TMA. Registers of metadata are loaded before the fence and stay until the products are done.
template <class Family> static __device__ __forceinline__ void wsparse(const Map *ma, const Map *mb, const uint32_t *meta, uint32_t *c, int bytes, int element) {
    constexpr int STAGES = 3, STAGE = 64 * 64 + 32 * 128;
    __shared__ __align__(1024) char pool[STAGES * STAGE];
    __shared__ uint64_t full[STAGES];
    int t = threadIdx.x, warp = t / 32, lane = t % 32, steps = bytes / 128, n = gridDim.x * 32;
    if (t == 0) {
        for (int s = 0; s < STAGES; s++) mbar_init(smem(&full[s]), 1);
        mbar_init_done();
    }
    __syncthreads();
    auto fetch = [&](int i) {
        uint32_t bar = smem(&full[i % STAGES]), to = smem(pool) + i % STAGES * STAGE;
        mbar_expect(bar, STAGE);
        tma_load_2d(to, ma, i * 64 / element, blockIdx.y * 64, bar);
        tma_load_2d(to + 4096, mb, i * 128 / element, blockIdx.x * 32, bar);
    };
    if (t == 0)
        for (int i = 0; i < STAGES && i < steps; i++) fetch(i);
    uint32_t d[16];
    const int words = Family::TWO_STEPS ? steps : 2 * steps;
    const uint32_t *mine = meta + (size_t)(blockIdx.y * 4 + warp) * words * 32 + lane;
    for (int i = 0; i < steps; i++) {
        uint32_t first = mine[(Family::TWO_STEPS ? i : 2 * i) * 32], second = Family::TWO_STEPS ? first : mine[(2 * i + 1) * 32];
        mbar_wait(smem(&full[i % STAGES]), i / STAGES & 1);
        uint32_t at = smem(pool) + i % STAGES * STAGE;
        // 64-byte swizzle: mode 2, eight rows are 512 bytes; 128-byte: mode 1, 1024.
        uint64_t da = wgmma_descriptor(at, 16, 512, 2), db = wgmma_descriptor(at + 4096, 16, 1024, 1);
        wgmma_fence();
        Family::template mma<0>(d, da, db, first, i);
        Family::template mma<Family::TWO_STEPS ? 1 : 0>(d, da + 2, db + 4, second, 1);
        wgmma_commit();
        wgmma_wait<0>();
        __syncthreads();
        if (t == 0 && i + STAGES < steps) fetch(i + STAGES);
    }
    for (int i = 0; i < 16; i++) c[(size_t)(blockIdx.y * 64 + warp * 16 + lane / 4 + (i >> 1 & 1) * 8) * n + blockIdx.x * 32 + i / 4 * 8 + lane % 4 * 2 + (i & 1)] = d[i];
}
#define WKERNEL(NAME, FAMILY)                                                                                                                                         \
    extern "C" __global__ void __launch_bounds__(128) NAME(const __grid_constant__ Map a, const __grid_constant__ Map b, const uint32_t *meta, uint32_t *c, int bytes, int element) { \
        wsparse<FAMILY>(&a, &b, meta, c, bytes, element);                                                                                                             \
    }
WKERNEL(wgmma_sparse_f16, WF16)
WKERNEL(wgmma_sparse_tf32, WTf32)
WKERNEL(wgmma_sparse_s8, WS8)
WKERNEL(wgmma_sparse_e4m3, WE4m3)
#endif
