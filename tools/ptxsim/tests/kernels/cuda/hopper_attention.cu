// Attention for sm_90a: a producer warpgroup fetches by TMA, two consumer warpgroups of 64 queries each multiply by wgmma.
#include "wgmma.cuh"
#include <cuda_fp16.h>

// B lies along n: the values, whose rows are keys.
FAMILY32(F16AlongN, "m64n64k16.f32.f16.f16", ", 1, 1, 0, 1", ", 1, 1, 1")

static __device__ __forceinline__ uint32_t halves(float low, float high) {
    __half2 pair = __floats2half2_rn(low, high);
    return *(uint32_t *)&pair;
}

// Heads of 64. Keys and values in blocks of 64, two buffers each. The product of the next queries and keys is in flight
// while this block's weights are multiplied by the values; weights stay in registers.
extern "C" __global__ void __launch_bounds__(384)
    hopper_attention(const __grid_constant__ Map mq, const __grid_constant__ Map mk, const __grid_constant__ Map mv, float *out, int length, float scale, int causal) {
    extern __shared__ __align__(1024) char pool[];
    __shared__ uint64_t full_q, full_k[2], full_v[2], empty_k[2], empty_v[2];
    int t = threadIdx.x, group = t / 128, first = blockIdx.y * length, blocks = causal ? (blockIdx.x + 1) * 2 : length / 64;
    uint32_t at_q = smem(pool), at_k = at_q + 16384, at_v = at_k + 16384;
    if (t == 0) {
        mbar_init(smem(&full_q), 1);
        for (int s = 0; s < 2; s++) mbar_init(smem(&full_k[s]), 1), mbar_init(smem(&full_v[s]), 1), mbar_init(smem(&empty_k[s]), 256), mbar_init(smem(&empty_v[s]), 256);
        mbar_init_done();
    }
    __syncthreads();
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (t == 0) {
            mbar_expect(smem(&full_q), 16384);
            for (int h = 0; h < 2; h++) tma_load_2d(at_q + h * 8192, &mq, 0, first + blockIdx.x * 128 + h * 64, smem(&full_q));
            for (int i = 0; i < blocks; i++) {
                int s = i % 2, parity = (i / 2 - 1) & 1;
                if (i >= 2) mbar_wait(smem(&empty_k[s]), parity);
                mbar_expect(smem(&full_k[s]), 8192);
                tma_load_2d(at_k + s * 8192, &mk, 0, first + i * 64, smem(&full_k[s]));
                if (i >= 2) mbar_wait(smem(&empty_v[s]), parity);
                mbar_expect(smem(&full_v[s]), 8192);
                tma_load_2d(at_v + s * 8192, &mv, 0, first + i * 64, smem(&full_v[s]));
            }
        }
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    int lane = t % 32, row = blockIdx.x * 128 + (group - 1) * 64 + t % 128 / 32 * 16 + lane / 4;
    uint32_t s[32], o[32], p[16];
    float top[2] = {-1e30f, -1e30f}, sum[2] = {0, 0};
    for (int i = 0; i < 32; i++) o[i] = 0;
    auto scores = [&](int i) {
        mbar_wait(smem(&full_k[i % 2]), i / 2 & 1);
        wgmma_fence();
        for (int k = 0; k < 4; k++)
            F16::ss(s, wgmma_descriptor(at_q + (group - 1) * 8192 + k * 32, 16, 1024, 1), wgmma_descriptor(at_k + i % 2 * 8192 + k * 32, 16, 1024, 1), k);
        wgmma_commit();
    };
    mbar_wait(smem(&full_q), 0);
    scores(0);
    wgmma_wait<0>();
    mbar_arrive(smem(&empty_k[0]));
    for (int i = 0; i < blocks; i++) {
        float factor[2];
        for (int h = 0; h < 2; h++) {
            float best = top[h];
            for (int j = 0; j < 32; j++)
                if ((j >> 1 & 1) == h) {
                    bool visible = !causal || i * 64 + j / 4 * 8 + lane % 4 * 2 + (j & 1) <= row + h * 8;
                    float x = visible ? __uint_as_float(s[j]) * scale : -1e30f;
                    s[j] = __float_as_uint(x), best = fmaxf(best, x);
                }
            best = fmaxf(best, __shfl_xor_sync(~0u, best, 1)), best = fmaxf(best, __shfl_xor_sync(~0u, best, 2));
            factor[h] = exp2f(top[h] - best), top[h] = best, sum[h] *= factor[h];
            for (int j = 0; j < 32; j++)
                if ((j >> 1 & 1) == h) {
                    float x = exp2f(__uint_as_float(s[j]) - best);
                    s[j] = __float_as_uint(x), sum[h] += x;
                }
        }
        for (int j = 0; j < 16; j++) p[j] = halves(__uint_as_float(s[2 * j]), __uint_as_float(s[2 * j + 1]));
        for (int j = 0; j < 32; j++) o[j] = __float_as_uint(__uint_as_float(o[j]) * factor[j >> 1 & 1]);
        mbar_wait(smem(&full_v[i % 2]), i / 2 & 1);
        wgmma_fence();
        for (int k = 0; k < 4; k++) F16AlongN::rs(o, p + 4 * k, wgmma_descriptor(at_v + i % 2 * 8192 + k * 2048, 8192, 1024, 1), 1);
        wgmma_commit();
        bool more = i + 1 < blocks;
        if (more) {
            scores(i + 1);
            wgmma_wait<1>();
        } else
            wgmma_wait<0>();
        mbar_arrive(smem(&empty_v[i % 2]));
        wgmma_wait<0>();
        if (more) mbar_arrive(smem(&empty_k[(i + 1) % 2]));
    }
    for (int h = 0; h < 2; h++) sum[h] += __shfl_xor_sync(~0u, sum[h], 1), sum[h] += __shfl_xor_sync(~0u, sum[h], 2);
    for (int j = 0; j < 32; j++)
        out[(size_t)(first + row + (j >> 1 & 1) * 8) * 64 + j / 4 * 8 + lane % 4 * 2 + (j & 1)] = __uint_as_float(o[j]) / sum[j >> 1 & 1];
}
