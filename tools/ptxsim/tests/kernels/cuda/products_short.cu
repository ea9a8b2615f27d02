// The less common shapes: short k, sums in halves, Volta's quads of threads, doubles of sm_90, and wmma.
#include "pipelined.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#if __CUDA_ARCH__ >= 800
MMA2(F16K8, "m16n8k8.row.col.f32.f16.f16.f32")
MMA2(Bf16K8, "m16n8k8.row.col.f32.bf16.bf16.f32")
MMA2(Tf32K4, "m16n8k4.row.col.f32.tf32.tf32.f32")
MMA2(S8K16, "m16n8k16.row.col.s32.s8.s8.s32")
MMA2(S8U8K16, "m16n8k16.row.col.s32.s8.u8.s32")
MMA2(U4S4K32, "m16n8k32.row.col.s32.u4.s4.s32")
MMA2(AndBitsK128, "m16n8k128.row.col.s32.b1.b1.s32.and.popc")
MMA_HALF(F16Half, "m16n8k16.row.col.f16.f16.f16.f16")
PIPELINED(short_f16, F16K8)
PIPELINED(short_bf16, Bf16K8)
PIPELINED(short_tf32, Tf32K4)
PIPELINED(short_s8, S8K16)
PIPELINED(short_s8_u8, S8U8K16)
PIPELINED(short_u4_s4, U4S4K32)
PIPELINED(short_and_bits, AndBitsK128)
PIPELINED(gemm_f16_half, F16Half)
#if __CUDA_ARCH__ >= 890
MMA2(E4m3E5m2K16, "m16n8k16.row.col.f32.e4m3.e5m2.f32")
MMA_HALF(E5m2E4m3Half, "m16n8k32.row.col.f16.e5m2.e4m3.f16")
PIPELINED(short_e4m3_e5m2, E4m3E5m2K16)
PIPELINED(gemm_e5m2_e4m3_half, E5m2E4m3Half)
#endif
#endif

// Volta: every eight threads (four lanes and the four sixteen above) hold a product of 8 × 8 × 4. A warp's four of them
// tile 16 × 16; four warps tile 32 × 32. Tiles of k = 16 go through registers into two shared buffers.
template <bool HALF> static __device__ __forceinline__ void volta(const __half *a, const __half *b, void *c, int k) {
    __shared__ __align__(16) __half as[2][32][24], bs[2][32][24];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, n = gridDim.x * 32, quad = lane % 16 / 4, upper = lane / 16 * 4;
    int row = warp / 2 * 16 + quad / 2 * 8, col = warp % 2 * 16 + quad % 2 * 8;
    // 128 threads move 32 rows of A and 32 of B, 16 bytes each.
    const __half *from = (t < 64 ? a + (size_t)(blockIdx.y * 32 + t / 2) * k : b + (size_t)(blockIdx.x * 32 + t % 64 / 2) * k) + t % 2 * 8;
    auto put = [&](int s, uint4 v) { *(uint4 *)(t < 64 ? &as[s][t / 2][t % 2 * 8] : &bs[s][t % 64 / 2][t % 2 * 8]) = v; };
    uint32_t h[4] = {};
    float f[8] = {};
    put(0, *(const uint4 *)from);
    __syncthreads();
    for (int i = 0; i < k / 16; i++) {
        uint4 next = make_uint4(0, 0, 0, 0);
        if (i + 1 < k / 16) next = *(const uint4 *)(from + (i + 1) * 16);
        for (int j = 0; j < 16; j += 4) {
            const uint32_t *x = (const uint32_t *)&as[i % 2][row + lane % 4 + upper][j], *y = (const uint32_t *)&bs[i % 2][col + lane % 4 + upper][j];
            if (HALF)
                asm volatile("mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%0,%1,%2,%3}, {%4,%5}, {%6,%7}, {%0,%1,%2,%3};"
                             : "+r"(h[0]), "+r"(h[1]), "+r"(h[2]), "+r"(h[3]) : "r"(x[0]), "r"(x[1]), "r"(y[0]), "r"(y[1]));
            else
                asm volatile("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9}, {%10,%11}, {%0,%1,%2,%3,%4,%5,%6,%7};"
                             : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3]), "+f"(f[4]), "+f"(f[5]), "+f"(f[6]), "+f"(f[7])
                             : "r"(x[0]), "r"(x[1]), "r"(y[0]), "r"(y[1]));
        }
        if (i + 1 < k / 16) put((i + 1) % 2, next);
        __syncthreads();
    }
    int r0 = blockIdx.y * 32 + row + upper, c0 = blockIdx.x * 32 + col;
    if (HALF)
        for (int i = 0; i < 4; i++) *(uint32_t *)((__half *)c + (size_t)(r0 + lane % 4) * n + c0 + 2 * i) = h[i];
    else
        for (int i = 0; i < 8; i++) ((float *)c)[(size_t)(r0 + (lane & 1) + (i & 2)) * n + c0 + (i & 4) + (lane & 2) + (i & 1)] = f[i];
}
extern "C" __global__ void __launch_bounds__(128) volta_f32(const __half *a, const __half *b, float *c, int k) { volta<false>(a, b, c, k); }
extern "C" __global__ void __launch_bounds__(128) volta_f16(const __half *a, const __half *b, __half *c, int k) { volta<true>(a, b, c, k); }

#if __CUDA_ARCH__ >= 900
// Doubles of sm_90: 16 × 8 per warp, k of 4, 8 and 16 in turn.
extern "C" __global__ void wide_f64(const double *a, const double *b, double *c, int k) {
    int lane = threadIdx.x, g = lane / 4, q = lane % 4, n = gridDim.x * 8;
    const double *x = a + (size_t)(blockIdx.y * 16 + g) * k + q, *y = b + (size_t)(blockIdx.x * 8 + g) * k + q;
    auto low = [&](int at) { return x[at]; };
    auto high = [&](int at) { return x[at + 8 * k]; };
    double d[4] = {};
#define SUMS "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
    for (int i = 0; i < k; i += 28) {
        asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};" : SUMS : "d"(low(i)), "d"(high(i)), "d"(y[i]));
        int j = i + 4, m = i + 12;
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : SUMS : "d"(low(j)), "d"(high(j)), "d"(low(j + 4)), "d"(high(j + 4)), "d"(y[j]), "d"(y[j + 4]));
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
                     : SUMS
                     : "d"(low(m)), "d"(high(m)), "d"(low(m + 4)), "d"(high(m + 4)), "d"(low(m + 8)), "d"(high(m + 8)), "d"(low(m + 12)), "d"(high(m + 12)), "d"(y[m]),
                       "d"(y[m + 4]), "d"(y[m + 8]), "d"(y[m + 12]));
    }
    for (int i = 0; i < 4; i++) c[(size_t)(blockIdx.y * 16 + g + i / 2 * 8) * n + blockIdx.x * 8 + q * 2 + i % 2] = d[i];
}
#endif

// wmma by the C++ interface: a tile per warp, A and B staged in shared memory, four warps over the rows.
namespace w = nvcuda::wmma;
template <class T, class S, class Sum, int M, int N, int K, class LA, class LB> static __device__ __forceinline__ void tiles(const S *a, const S *b, Sum *c, int m, int n, int k) {
    constexpr int PAD = 16 / sizeof(S);
    __shared__ __align__(32) S as[4 * M * (K + PAD) + 4 * K * PAD], bs[(K + PAD) * (N + PAD)];
    constexpr bool AROW = std::is_same<LA, w::row_major>::value, BROW = std::is_same<LB, w::row_major>::value;
    // Leading dimensions: a row of A holds K elements, a column of A the rows of four warps.
    constexpr int LDA = AROW ? K + PAD : 4 * M + PAD, LDB = BROW ? N + PAD : K + PAD;
    int warp = threadIdx.x / 32, r0 = blockIdx.y * 4 * M, c0 = blockIdx.x * N;
    w::fragment<w::accumulator, M, N, K, Sum> sum;
    w::fill_fragment(sum, Sum(0));
    for (int p = 0; p < k; p += K) {
        __syncthreads();
        for (int i = threadIdx.x; i < 4 * M * K; i += 128) {
            int r = AROW ? i / K : i % (4 * M), q = AROW ? i % K : i / (4 * M);
            as[AROW ? r * LDA + q : q * LDA + r] = a[AROW ? (size_t)(r0 + r) * k + p + q : (size_t)(p + q) * m + r0 + r];
        }
        for (int i = threadIdx.x; i < K * N; i += 128) {
            int q = BROW ? i / N : i % K, r = BROW ? i % N : i / K;
            bs[BROW ? q * LDB + r : r * LDB + q] = b[BROW ? (size_t)(p + q) * n + c0 + r : (size_t)(c0 + r) * k + p + q];
        }
        __syncthreads();
        w::fragment<w::matrix_a, M, N, K, T, LA> x;
        w::fragment<w::matrix_b, M, N, K, T, LB> y;
        w::load_matrix_sync(x, as + warp * M * (AROW ? LDA : 1), LDA);
        w::load_matrix_sync(y, bs, LDB);
        w::mma_sync(sum, x, y, sum);
    }
    w::store_matrix_sync(c + (size_t)(r0 + warp * M) * n + c0, sum, n, w::mem_row_major);
}
#define TILES(NAME, T, S, SUM, M, N, K, LA, LB) \
    extern "C" __global__ void __launch_bounds__(128) NAME(const S *a, const S *b, SUM *c, int m, int n, int k) { tiles<T, S, SUM, M, N, K, w::LA, w::LB>(a, b, c, m, n, k); }
TILES(wmma_f16, half, half, float, 16, 16, 16, row_major, col_major)
TILES(wmma_f16_half, half, half, half, 32, 8, 16, col_major, row_major)
TILES(wmma_s8, signed char, signed char, int, 16, 16, 16, row_major, col_major)
TILES(wmma_u8, unsigned char, unsigned char, int, 32, 8, 16, col_major, row_major)
#if __CUDA_ARCH__ >= 800
TILES(wmma_bf16, __nv_bfloat16, __nv_bfloat16, float, 8, 32, 16, row_major, row_major)
TILES(wmma_tf32, w::precision::tf32, float, float, 16, 16, 8, row_major, col_major)
TILES(wmma_f64, double, double, double, 8, 8, 4, row_major, col_major)
#endif
