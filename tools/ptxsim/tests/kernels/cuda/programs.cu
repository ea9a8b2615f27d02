// Programs as users write them, whose blocks and warps hand work to each other; some with a mistake that is easily made.
#include <cuda_pipeline.h>
#include <stdint.h>

static __device__ __forceinline__ int load_acquire(const int *p) {
    int v;
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}

static __device__ __forceinline__ void store_release(int *p, int v) { asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }

constexpr int TILE = 16;

// A 16 × 16 tile of a product over part of k: a thread per element, operands through shared memory.
static __device__ float partial(const float *a, const float *b, int n, int k, int row, int col, int from, int to) {
    __shared__ float left[TILE][TILE + 1], right[TILE][TILE + 1];
    int x = threadIdx.x % TILE, y = threadIdx.x / TILE;
    float sum = 0;
    for (int i = from; i < to; i += TILE) {
        left[y][x] = a[(row + y) * k + i + x];
        right[y][x] = b[(i + y) * n + col + x];
        __syncthreads();
        for (int j = 0; j < TILE; j++) sum += left[y][j] * right[j][x];
        __syncthreads();
    }
    return sum;
}

// Stream-k: the steps of all tiles are dealt out evenly; whoever ends a tile waits for the parts of those before.
template <bool FENCED>
static __device__ void stream_k_body(const float *a, const float *b, float *c, float *parts, int *flags, int n, int k, int tiles) {
    int steps = k / TILE, total = tiles * steps, share = (total + gridDim.x - 1) / gridDim.x;
    int at = blockIdx.x * share, end = min(at + share, total), t = threadIdx.x;
    while (at < end) {
        int tile = at / steps, first = at % steps, last = min(first + end - at, steps);
        int row = tile / (n / TILE) * TILE, col = tile % (n / TILE) * TILE;
        float sum = partial(a, b, n, k, row, col, first * TILE, last * TILE);
        if (last < steps) {
            // The block after this one, which goes on with the tile, takes the sum.
            parts[blockIdx.x * 256 + t] = sum + (first ? parts[(blockIdx.x - 1) * 256 + t] : 0);
            if (FENCED) __threadfence();
            __syncthreads();
            if (t == 0) store_release(&flags[blockIdx.x], 1);
        } else {
            if (first) {
                if (t == 0)
                    while (!load_acquire(&flags[blockIdx.x - 1])) __nanosleep(20);
                if (FENCED) __syncthreads();
                sum += parts[(blockIdx.x - 1) * 256 + t];
            }
            c[(row + t / TILE) * n + col + t % TILE] = sum;
        }
        at += last - first;
    }
}
extern "C" __global__ void stream_k(const float *a, const float *b, float *c, float *parts, int *flags, int n, int k, int tiles) { stream_k_body<true>(a, b, c, parts, flags, n, k, tiles); }
extern "C" __global__ void stream_k_hasty(const float *a, const float *b, float *c, float *parts, int *flags, int n, int k, int tiles) { stream_k_body<false>(a, b, c, parts, flags, n, k, tiles); }

// Split-k whose blocks add in turn, by a semaphore per tile.
template <bool ORDERED>
static __device__ void turns_body(const float *a, const float *b, float *c, int *turn, int n, int k) {
    int col = blockIdx.x * TILE, row = blockIdx.y * TILE, z = blockIdx.z, part = k / gridDim.z, t = threadIdx.x;
    float sum = partial(a, b, n, k, row, col, z * part, (z + 1) * part);
    int *mine = turn + blockIdx.y * gridDim.x + blockIdx.x, state = -1;
    // Thread 0 alone looks; the others' state never equals z.
    while (__syncthreads_and(state != z))
        if (t == 0) state = ORDERED ? load_acquire(mine) : *(volatile int *)mine;
    float *to = &c[(row + t / TILE) * n + col + t % TILE];
    *to = z ? *to + sum : sum;
    __syncthreads();
    if (t == 0) {
        if (ORDERED)
            store_release(mine, z + 1);
        else
            *(volatile int *)mine = z + 1;
    }
}
extern "C" __global__ void turns(const float *a, const float *b, float *c, int *turn, int n, int k) { turns_body<true>(a, b, c, turn, n, k); }
extern "C" __global__ void turns_volatile(const float *a, const float *b, float *c, int *turn, int n, int k) { turns_body<false>(a, b, c, turn, n, k); }

// A 512-point transform per block: eight values in registers, exchanged twice through shared memory.
extern "C" __global__ void __launch_bounds__(256) fft(const float2 *x, float2 *y) {
    __shared__ float2 tile[512];
    int t = threadIdx.x;
    // Bit-reversed, then a butterfly per thread and stage.
    for (int i = t; i < 512; i += 256) tile[__brev(i) >> 23] = x[blockIdx.x * 512 + i];
    for (int half = 1; half < 512; half *= 2) {
        __syncthreads();
        int j = t % half, at = (t / half) * 2 * half + j;
        float s, c;
        sincospif(-(float)j / half, &s, &c);
        float2 u = tile[at], v = tile[at + half], w = {v.x * c - v.y * s, v.x * s + v.y * c};
        tile[at] = {u.x + w.x, u.y + w.y};
        tile[at + half] = {u.x - w.x, u.y - w.y};
    }
    __syncthreads();
    for (int i = t; i < 512; i += 256) y[blockIdx.x * 512 + i] = tile[i];
}

struct Moments {
    float mean, m2, count;
};

static __device__ Moments join(Moments a, Moments b) {
    float n = a.count + b.count, d = b.mean - a.mean;
    if (n == 0) return a;
    return {a.mean + d * b.count / n, a.m2 + b.m2 + d * d * a.count * b.count / n, n};
}

static __device__ Moments shuffled(Moments m, int d) { return {__shfl_xor_sync(~0u, m.mean, d), __shfl_xor_sync(~0u, m.m2, d), __shfl_xor_sync(~0u, m.count, d)}; }

// Layer norm in one pass by Welford's recurrence.
extern "C" __global__ void welford(const float *x, const float *gain, float *y, int n) {
    __shared__ Moments warps[8];
    int t = threadIdx.x;
    const float *row = x + blockIdx.x * n;
    Moments m = {0, 0, 0};
    for (int i = t; i < n; i += blockDim.x) m = join(m, {row[i], 0, 1});
    for (int d = 16; d; d /= 2) m = join(m, shuffled(m, d));
    if (t % 32 == 0) warps[t / 32] = m;
    __syncthreads();
    if (t < 32) {
        m = t < blockDim.x / 32 ? warps[t] : Moments{0, 0, 0};
        for (int d = 4; d; d /= 2) m = join(m, shuffled(m, d));
        if (t == 0) warps[0] = m;
    }
    __syncthreads();
    float mean = warps[0].mean, scale = rsqrtf(warps[0].m2 / n + 1e-5f);
    for (int i = t; i < n; i += blockDim.x) y[blockIdx.x * n + i] = (row[i] - mean) * scale * gain[i];
}

// Sorts 1024 keys by digits of 4 bits; equal digits of a warp find each other with match.any.
extern "C" __global__ void digit_sort(const uint32_t *x, uint32_t *y) {
    __shared__ uint32_t keys[2][1024], counts[16][8], starts[16];
    int t = threadIdx.x, warp = t / 32, lane = t % 32;
    for (int i = t; i < 1024; i += 256) keys[0][i] = x[blockIdx.x * 1024 + i];
    int from = 0;
    for (int shift = 0; shift < 32; shift += 4, from ^= 1) {
        __syncthreads();
        if (t < 128) counts[t / 8][t % 8] = 0;
        __syncthreads();
        uint32_t key[4], rank[4];
        // A warp has 128 keys in a row, and sees them in order.
        for (int i = 0; i < 4; i++) {
            key[i] = keys[from][warp * 128 + i * 32 + lane];
            uint32_t digit = key[i] >> shift & 15, same = __match_any_sync(~0u, digit);
            int leader = __ffs(same) - 1;
            uint32_t before = 0;
            if (lane == leader) before = atomicAdd(&counts[digit][warp], __popc(same));
            rank[i] = __shfl_sync(~0u, before, leader) + __popc(same & ((1u << lane) - 1));
        }
        __syncthreads();
        // Exclusive sums over digits, then warps.
        if (warp == 0) {
            uint32_t total = 0;
            if (lane < 16)
                for (int w = 0; w < 8; w++) {
                    uint32_t c = counts[lane][w];
                    counts[lane][w] = total, total += c;
                }
            uint32_t sum = total;
            for (int d = 1; d < 16; d *= 2) {
                uint32_t v = __shfl_up_sync(~0u, sum, d);
                if (lane >= d) sum += v;
            }
            if (lane < 16) starts[lane] = sum - total;
        }
        __syncthreads();
        for (int i = 0; i < 4; i++) {
            uint32_t digit = key[i] >> shift & 15;
            keys[from ^ 1][starts[digit] + counts[digit][warp] + rank[i]] = key[i];
        }
    }
    __syncthreads();
    for (int i = t; i < 1024; i += 256) y[blockIdx.x * 1024 + i] = keys[from][i];
}

// A queue in global memory: half of the blocks put squares in, the others add up what they take out.
extern "C" __global__ void queue(int *slots, int *ready, int *put, int *taken, unsigned long long *sum, int each) {
    int t = threadIdx.x;
    bool producer = blockIdx.x % 2 == 0;
    for (int i = 0; i < each; i++) {
        if (producer) {
            int at = atomicAdd(put, 1);
            slots[at] = at * at;
            store_release(&ready[at], 1);
        } else {
            int at = atomicAdd(taken, 1);
            while (!load_acquire(&ready[at])) __nanosleep(50);
            atomicAdd(sum, (unsigned long long)slots[at]);
        }
    }
}

// Rows through a ring of three buffers with cp.async; the hasty one fills a buffer that others may still read.
template <bool GUARDED>
static __device__ void ring_body(const float4 *x, float *y, int rows) {
    __shared__ float4 ring[3][32];
    int t = threadIdx.x;
    auto fetch = [&](int r) {
        if (r < rows && t < 32) __pipeline_memcpy_async(&ring[r % 3][t], &x[r * 32 + t], 16);
        __pipeline_commit();
    };
    fetch(0), fetch(1);
    float sum = 0;
    for (int r = 0; r < rows; r++) {
        __pipeline_wait_prior(1);
        __syncthreads();
        if (GUARDED) fetch(r + 2);
        else fetch(r + 3);
        sum = sum * 0.5f + ((const float *)ring[r % 3])[(t * 37 + r) % 128];
    }
    y[t] = sum;
}
extern "C" __global__ void ring_buffers(const float4 *x, float *y, int rows) { ring_body<true>(x, y, rows); }
extern "C" __global__ void ring_buffers_hasty(const float4 *x, float *y, int rows) { ring_body<false>(x, y, rows); }
