// Warp-level collectives: redux, match, vote, shuffles, and code that a divergent half of a warp runs.
#include <stdint.h>

#if __CUDA_ARCH__ >= 800
// One row of six results per warp: add, min, max over signed; and, or, xor over the bits.
extern "C" __global__ void redux(const int *in, int *out, unsigned mask) {
    int lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int v = in[warp * 32 + lane];
    if (mask >> lane & 1) {
        int add = __reduce_add_sync(mask, v), lo = __reduce_min_sync(mask, v), hi = __reduce_max_sync(mask, v);
        unsigned a = __reduce_and_sync(mask, (unsigned)v), o = __reduce_or_sync(mask, (unsigned)v), x = __reduce_xor_sync(mask, (unsigned)v);
        unsigned ulo = __reduce_min_sync(mask, (unsigned)v), uhi = __reduce_max_sync(mask, (unsigned)v);
        if (lane == __ffs(mask) - 1) {
            int *row = out + warp * 8;
            row[0] = add, row[1] = lo, row[2] = hi, row[3] = a, row[4] = o, row[5] = x, row[6] = ulo, row[7] = uhi;
        }
    }
}
#endif

// Counts per key with one atomic per distinct key of a warp.
extern "C" __global__ void match_groups(const int *keys, int *counts, int *uniform) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, key = keys[i], all;
    unsigned peers = __match_any_sync(~0u, key);
    if (lane == __ffs(peers) - 1) atomicAdd(&counts[key], __popc(peers));
    unsigned same = __match_all_sync(~0u, (long long)key << 33, &all);
    if (lane == 0) uniform[i / 32] = all ? (int)same : 0;
}

extern "C" __global__ void votes(const int *in, unsigned *out, int threshold) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, warp = i / 32, v = in[i];
    unsigned low = __ballot_sync(~0u, v < threshold);
    int any = __any_sync(~0u, v == 7), all = __all_sync(~0u, v > -100), uni;
    asm volatile("{\n.reg .pred p, q;\nsetp.gt.s32 p, %1, 50;\nvote.sync.uni.pred q, p, 0xffffffff;\nselp.s32 %0, 1, 0, q;\n}" : "=r"(uni) : "r"(v));
    unsigned inner = 0;
    if (v < threshold) inner = __activemask();
    if (threadIdx.x % 32 == 0) out[4 * warp] = low, out[4 * warp + 1] = any | all << 1 | uni << 2;
    if (v < threshold && threadIdx.x % 32 == __ffs(low) - 1) out[4 * warp + 2] = __popc(inner) <= __popc(low);
}

extern "C" __global__ void shuffles(const float *in, float *out) {
    int t = threadIdx.x, base = blockIdx.x * 32;
    float v = in[base + t];
    float a = __shfl_sync(~0u, v, (t * 7 + 3) & 31), b = __shfl_up_sync(~0u, v, 3, 8), c = __shfl_down_sync(~0u, v, 5, 16), d = __shfl_xor_sync(~0u, v, 9);
    float e = __shfl_sync(~0u, v, 2, 4);
    out[(base + t) * 5 + 0] = a, out[(base + t) * 5 + 1] = b, out[(base + t) * 5 + 2] = c, out[(base + t) * 5 + 3] = d, out[(base + t) * 5 + 4] = e;
}

// Odd and even lanes sum among themselves at different places of the program.
extern "C" __global__ void halves_of_a_warp(const int *in, int *out) {
    int t = threadIdx.x, v = in[t];
    if (t & 1) {
        for (int d = 16; d > 1; d /= 2) v += __shfl_xor_sync(0xaaaaaaaau, v, d);
        v = -v;
    } else {
        for (int d = 16; d > 1; d /= 2) v = max(v, __shfl_xor_sync(0x55555555u, v, d));
    }
    __syncwarp();
    out[t] = v + __shfl_xor_sync(~0u, v, 1);
}

// Keeps the positive elements, order within a warp preserved, one atomic per warp.
extern "C" __global__ void compact(const int *in, int *out, int *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = i < n ? in[i] : 0, start = 0, lane = threadIdx.x % 32;
    unsigned keep = __ballot_sync(~0u, v > 0);
    if (lane == 0 && keep) start = atomicAdd(count, __popc(keep));
    start = __shfl_sync(~0u, start, 0);
    if (v > 0) out[start + __popc(keep & ((1u << lane) - 1))] = v;
}

// Bitonic sort of 64 keys in the registers of one warp.
extern "C" __global__ void warp_sort(const unsigned *in, unsigned *out) {
    int lane = threadIdx.x;
    unsigned k[2] = {in[blockIdx.x * 64 + lane], in[blockIdx.x * 64 + 32 + lane]};
    for (int size = 2; size <= 64; size *= 2)
        for (int step = size / 2; step; step /= 2) {
            if (step == 32) {
                unsigned lo = min(k[0], k[1]), hi = max(k[0], k[1]);
                k[0] = lo, k[1] = hi;
            } else {
                for (int j = 0; j < 2; j++) {
                    int i = j * 32 + lane;
                    unsigned other = __shfl_xor_sync(~0u, k[j], step);
                    bool up = (i & size) == 0, lower = (i & step) == 0;
                    k[j] = up == lower ? min(k[j], other) : max(k[j], other);
                }
            }
        }
    out[blockIdx.x * 64 + lane] = k[0], out[blockIdx.x * 64 + 32 + lane] = k[1];
}
