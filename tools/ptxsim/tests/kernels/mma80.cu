// cp.async pipelines, ldmatrix and mma.sync, as a library for Ampere would write them.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

static __device__ __forceinline__ uint32_t smem(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

static __device__ __forceinline__ void cp16(uint32_t dst, const void *src, bool in) {
    int n = in ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(dst), "l"(src), "r"(n));
}

// C (f32) = A (f16, row major) x B (f16, row major); tile 64x64x32, 4 warps, 3 stages.
extern "C" __global__ void __launch_bounds__(128) gemm_f16(const half *A, const half *B, float *C, int M, int N, int K) {
    __shared__ __align__(128) half sa[3][64 * 32];
    __shared__ __align__(128) half sb[3][32 * 64];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    int bm = blockIdx.y * 64, bn = blockIdx.x * 64, tiles = (K + 31) / 32;
    auto load = [&](int stage, int tile) {
        for (int i = t; i < 64 * 4; i += 128) {
            int r = i / 4, c = i % 4, k = tile * 32 + c * 8;
            bool in = bm + r < M && k < K;
            cp16(smem(&sa[stage][r * 32 + ((c ^ (r >> 1 & 3)) * 8)]), in ? A + (size_t)(bm + r) * K + k : A, in);
        }
        for (int i = t; i < 32 * 8; i += 128) {
            int r = i / 8, c = i % 8, k = tile * 32 + r, n = bn + c * 8;
            bool in = k < K && n < N;
            cp16(smem(&sb[stage][r * 64 + ((c ^ (r & 7)) * 8)]), in ? B + (size_t)k * N + n : B, in);
        }
    };
    for (int s = 0; s < 2; s++) {
        if (s < tiles) load(s, s);
        asm volatile("cp.async.commit_group;");
    }
    float acc[2][4][4] = {};
    int wm = (warp & 1) * 32, wn = (warp >> 1) * 32;
    for (int tile = 0; tile < tiles; tile++) {
        asm volatile("cp.async.wait_group 1;");
        __syncthreads();
        if (tile + 2 < tiles) load((tile + 2) % 3, tile + 2);
        asm volatile("cp.async.commit_group;");
        int s = tile % 3;
        for (int kk = 0; kk < 2; kk++) {
            uint32_t a[2][4], b[4][2];
            for (int i = 0; i < 2; i++) {
                int r = wm + i * 16 + (lane & 15), c = kk * 2 + (lane >> 4);
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                             : "=r"(a[i][0]), "=r"(a[i][1]), "=r"(a[i][2]), "=r"(a[i][3])
                             : "r"(smem(&sa[s][r * 32 + ((c ^ (r >> 1 & 3)) * 8)])));
            }
            for (int j = 0; j < 4; j++) {
                int r = kk * 16 + (lane & 15), c = (wn + j * 8) / 8;
                asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                             : "=r"(b[j][0]), "=r"(b[j][1])
                             : "r"(smem(&sb[s][r * 64 + ((c ^ (r & 7)) * 8)])));
            }
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 4; j++)
                    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                                 : "+f"(acc[i][j][0]), "+f"(acc[i][j][1]), "+f"(acc[i][j][2]), "+f"(acc[i][j][3])
                                 : "r"(a[i][0]), "r"(a[i][1]), "r"(a[i][2]), "r"(a[i][3]), "r"(b[j][0]), "r"(b[j][1]));
        }
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++)
            for (int e = 0; e < 4; e++) {
                int r = bm + wm + i * 16 + lane / 4 + (e >> 1) * 8, c = bn + wn + j * 8 + lane % 4 * 2 + (e & 1);
                if (r < M && c < N) C[(size_t)r * N + c] = acc[i][j][e];
            }
}

// The same loop with the wait left out: the simulator must notice.
extern "C" __global__ void cp_async_no_wait(const int4 *in, int4 *out) {
    __shared__ int4 buffer[32];
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(smem(&buffer[threadIdx.x])), "l"(in + threadIdx.x));
    asm volatile("cp.async.commit_group;");
    __syncwarp();
    out[threadIdx.x] = buffer[threadIdx.x];
}

extern "C" __global__ void cp_async_waited(const int4 *in, int4 *out) {
    __shared__ int4 buffer[32];
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(smem(&buffer[threadIdx.x])), "l"(in + threadIdx.x));
    asm volatile("cp.async.wait_all;");
    __syncwarp();
    out[threadIdx.x] = buffer[threadIdx.x];
}

// One warp-level product of each family; operands come from row-major arrays.
template <typename T, int K> __device__ uint32_t pack_a(const T *A, int lane, int reg) {
    const int per = 4 / sizeof(T);
    int row = lane / 4 + 8 * (reg & 1), k = lane % 4 * per + 4 * per * (reg >> 1);
    return *(const uint32_t *)(A + row * K + k);
}
template <typename T, int K> __device__ uint32_t pack_b(const T *Bt, int lane, int reg) {
    const int per = 4 / sizeof(T);
    return *(const uint32_t *)(Bt + (lane / 4) * K + lane % 4 * per + 4 * per * reg);
}

#define FAMILY(NAME, T, K, INST)                                                                                          \
    extern "C" __global__ void NAME(const T *A, const T *Bt, float *C) {                                                 \
        int l = threadIdx.x;                                                                                             \
        float c[4] = {1.f, 2.f, 3.f, 4.f};                                                                               \
        asm volatile(INST " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                                       \
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                                    \
                     : "r"(pack_a<T, K>(A, l, 0)), "r"(pack_a<T, K>(A, l, 1)), "r"(pack_a<T, K>(A, l, 2)),               \
                       "r"(pack_a<T, K>(A, l, 3)), "r"(pack_b<T, K>(Bt, l, 0)), "r"(pack_b<T, K>(Bt, l, 1)));            \
        for (int e = 0; e < 4; e++) C[(l / 4 + (e >> 1) * 8) * 8 + l % 4 * 2 + (e & 1)] = c[e] - (e + 1);                \
    }
FAMILY(mma_bf16, __nv_bfloat16, 16, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")
FAMILY(mma_tf32, float, 8, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32")

extern "C" __global__ void mma_s8(const int8_t *A, const int8_t *Bt, int *C) {
    int l = threadIdx.x, c[4] = {};
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(pack_a<int8_t, 32>(A, l, 0)), "r"(pack_a<int8_t, 32>(A, l, 1)), "r"(pack_a<int8_t, 32>(A, l, 2)),
                   "r"(pack_a<int8_t, 32>(A, l, 3)), "r"(pack_b<int8_t, 32>(Bt, l, 0)), "r"(pack_b<int8_t, 32>(Bt, l, 1)));
    for (int e = 0; e < 4; e++) C[(l / 4 + (e >> 1) * 8) * 8 + l % 4 * 2 + (e & 1)] = c[e];
}

extern "C" __global__ void mma_f64(const double *A, const double *Bt, double *C) {
    int l = threadIdx.x;
    double c0 = 0, c1 = 0;
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+d"(c0), "+d"(c1)
                 : "d"(A[l / 4 * 4 + l % 4]), "d"(Bt[l / 4 * 4 + l % 4]));
    C[l / 4 * 8 + l % 4 * 2] = c0;
    C[l / 4 * 8 + l % 4 * 2 + 1] = c1;
}
