// mma.sync of every family: pipelined products for sm_80 and sm_89, and single ones of rare shapes.
#include "pipelined.cuh"
#include <cuda_fp16.h>

#if __CUDA_ARCH__ >= 800
MMA4(F16, "m16n8k16.row.col.f32.f16.f16.f32")
MMA4(Bf16, "m16n8k16.row.col.f32.bf16.bf16.f32")
MMA4(Tf32, "m16n8k8.row.col.f32.tf32.tf32.f32")
MMA4(S8, "m16n8k32.row.col.s32.s8.s8.s32")
MMA4(U8S8Clamped, "m16n8k32.row.col.satfinite.s32.u8.s8.s32")
MMA4(S4, "m16n8k64.row.col.s32.s4.s4.s32")
MMA4(XorBits, "m16n8k256.row.col.s32.b1.b1.s32.xor.popc")
MMA4(AndBits, "m16n8k256.row.col.s32.b1.b1.s32.and.popc")
#if __CUDA_ARCH__ >= 890
MMA4(E4m3, "m16n8k32.row.col.f32.e4m3.e4m3.f32")
MMA4(E5m2, "m16n8k32.row.col.f32.e5m2.e5m2.f32")
#endif

PIPELINED(gemm_f16, F16)
PIPELINED(gemm_bf16, Bf16)
PIPELINED(gemm_tf32, Tf32)
PIPELINED(gemm_s8, S8)
PIPELINED(gemm_u8_s8_clamped, U8S8Clamped)
PIPELINED(gemm_s4, S4)
PIPELINED(gemm_xor_bits, XorBits)
PIPELINED(gemm_and_bits, AndBits)
#if __CUDA_ARCH__ >= 890
PIPELINED(gemm_e4m3, E4m3)
PIPELINED(gemm_e5m2, E5m2)
#endif

// Doubles: m8n8k4, one warp per 16 × 16, loads straight from global memory, two-deep register pipeline.
extern "C" __global__ void gemm_f64(const double *a, const double *b, double *c, int k) {
    int lane = threadIdx.x, n = gridDim.x * 16;
    double d[2][2][2] = {}, fa[2][2], fb[2][2];
    auto load = [&](int s, int i) {
        for (int h = 0; h < 2; h++) {
            fa[s][h] = a[(size_t)(blockIdx.y * 16 + h * 8 + lane / 4) * k + i + lane % 4];
            fb[s][h] = b[(size_t)(blockIdx.x * 16 + h * 8 + lane / 4) * k + i + lane % 4];
        }
    };
    load(0, 0);
    for (int i = 0; i < k; i += 4) {
        int s = i / 4 % 2;
        if (i + 4 < k) load(1 - s, i + 4);
        for (int r = 0; r < 2; r++)
            for (int q = 0; q < 2; q++)
                asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+d"(d[r][q][0]), "+d"(d[r][q][1]) : "d"(fa[s][r]), "d"(fb[s][q]));
    }
    for (int r = 0; r < 2; r++)
        for (int q = 0; q < 2; q++)
            for (int i = 0; i < 2; i++) c[(size_t)(blockIdx.y * 16 + r * 8 + lane / 4) * n + blockIdx.x * 16 + q * 8 + lane % 4 * 2 + i] = d[r][q][i];
}

// A with two of every four elements zero: compressed values and 2-bit positions, m16n8k32. The metadata of rows g and
// g + 8 comes from lanes 4g and 4g + 1 (selector 0).
extern "C" __global__ void sparse_f16(const uint32_t *values, const uint32_t *positions, const uint32_t *b, float *c) {
    int lane = threadIdx.x, g = lane / 4, q = lane % 4;
    uint32_t fa[4] = {values[g * 8 + q], values[(g + 8) * 8 + q], values[g * 8 + q + 4], values[(g + 8) * 8 + q + 4]}, fb[4], meta = positions[lane];
    for (int i = 0; i < 4; i++) fb[i] = b[g * 16 + q + i * 4];
    float d[4] = {0, 0, 0, 0};
    asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, 0x0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]), "r"(fb[2]), "r"(fb[3]), "r"(meta));
    for (int i = 0; i < 4; i++) c[(g + i / 2 * 8) * 8 + q * 2 + i % 2] = d[i];
}
#endif

// sm_75: m16n8k8 with half accumulators and m8n8k16 of bytes.
extern "C" __global__ void turing_f16(const uint32_t *a, const uint32_t *b, __half2 *c) {
    int g = threadIdx.x / 4, q = threadIdx.x % 4;
    uint32_t d0 = 0, d1 = 0;
    for (int k = 0; k < 4; k++) {
        uint32_t a0 = a[g * 16 + k * 4 + q], a1 = a[(g + 8) * 16 + k * 4 + q], b0 = b[g * 16 + k * 4 + q];
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3}, {%4}, {%0,%1};" : "+r"(d0), "+r"(d1) : "r"(a0), "r"(a1), "r"(b0));
    }
    ((uint32_t *)c)[g * 4 + q] = d0, ((uint32_t *)c)[(g + 8) * 4 + q] = d1;
}
extern "C" __global__ void turing_s8(const uint32_t *a, const uint32_t *b, int2 *c) {
    int g = threadIdx.x / 4, q = threadIdx.x % 4, d0 = 1, d1 = 2;
    asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+r"(d0), "+r"(d1) : "r"(a[g * 4 + q]), "r"(b[g * 4 + q]));
    c[g * 4 + q] = make_int2(d0, d1);
}

#if __CUDA_ARCH__ >= 800
// Attention, forward: one warp per 16 queries, blocks of 32 keys, head of 64, running maximum and sum, P kept in registers.
extern "C" __global__ void attention(const __half *q, const __half *k, const __half *v, float *out, int keys, float scale, int causal) {
    __shared__ __align__(16) __half ks[32][72], vs[32][72];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, p = lane % 4, row = (blockIdx.x * 4 + warp) * 16;
    uint32_t fq[4][4];
    for (int c = 0; c < 4; c++)
        for (int i = 0; i < 4; i++) fq[c][i] = *(const uint32_t *)&q[(row + g + i % 2 * 8) * 64 + c * 16 + i / 2 * 8 + p * 2];
    float o[8][4] = {}, m[2] = {-1e30f, -1e30f}, l[2] = {0, 0};
    int limit = causal ? min(keys, (int)(blockIdx.x + 1) * 64) : keys;
    for (int base = 0; base < limit; base += 32) {
        __syncthreads();
        for (int i = threadIdx.x; i < 512; i += 128) {
            int r = i % 256 / 8, c = i % 8 * 8;
            const __half *from = (i < 256 ? k : v) + (base + r) * 64 + c;
            asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(smem(i < 256 ? &ks[r][c] : &vs[r][c])), "l"(from) : "memory");
        }
        asm volatile("cp.async.wait_all;" ::: "memory");
        __syncthreads();
        float s[4][4];
        for (int j = 0; j < 4; j++) {
            uint32_t d[4] = {0, 0, 0, 0};
            for (int c = 0; c < 4; c++) {
                uint32_t b[2];
                asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(b[0]), "=r"(b[1]) : "r"(smem(&ks[j * 8 + lane % 8][c * 16 + lane / 8 % 2 * 8])) : "memory");
                F16::mma(d, fq[c], b);
            }
            for (int i = 0; i < 4; i++) {
                bool visible = !causal || base + j * 8 + p * 2 + i % 2 <= row + g + i / 2 * 8;
                s[j][i] = visible ? __uint_as_float(d[i]) * scale : -1e30f;
            }
        }
        float factor[2];
        for (int h = 0; h < 2; h++) {
            float best = m[h];
            for (int j = 0; j < 4; j++) best = fmaxf(best, fmaxf(s[j][2 * h], s[j][2 * h + 1]));
            best = fmaxf(best, __shfl_xor_sync(~0u, best, 1)), best = fmaxf(best, __shfl_xor_sync(~0u, best, 2));
            factor[h] = __expf(m[h] - best), m[h] = best;
            float sum = 0;
            for (int j = 0; j < 4; j++)
                for (int i = 2 * h; i < 2 * h + 2; i++) sum += s[j][i] = __expf(s[j][i] - best);
            sum += __shfl_xor_sync(~0u, sum, 1), sum += __shfl_xor_sync(~0u, sum, 2);
            l[h] = l[h] * factor[h] + sum;
        }
        for (int n = 0; n < 8; n++)
            for (int i = 0; i < 4; i++) o[n][i] *= factor[i / 2];
        for (int c = 0; c < 2; c++) {
            // The accumulator's layout is the A operand's.
            uint32_t a[4];
            for (int i = 0; i < 4; i++) {
                __half2 h = __floats2half2_rn(s[2 * c + i / 2][i % 2 * 2], s[2 * c + i / 2][i % 2 * 2 + 1]);
                a[i] = *(uint32_t *)&h;
            }
            for (int n = 0; n < 8; n++) {
                uint32_t b[2];
                asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(b[0]), "=r"(b[1]) : "r"(smem(&vs[c * 16 + lane % 16][n * 8])) : "memory");
                F16::mma((uint32_t *)o[n], a, b);
            }
        }
    }
    for (int n = 0; n < 8; n++)
        for (int i = 0; i < 4; i++) out[(row + g + i / 2 * 8) * 64 + n * 8 + p * 2 + i % 2] = o[n][i] / l[i / 2];
}
#endif
