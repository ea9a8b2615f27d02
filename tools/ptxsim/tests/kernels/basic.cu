// Ordinary CUDA C++: arithmetic, shared memory, warp operations, atomics, calls.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

extern "C" __global__ void saxpy(float a, const float *x, const float *y, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a * x[i] + y[i];
}

extern "C" __global__ void block_sum(const float *x, float *total, int n) {
    __shared__ float part[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? x[i] : 0.f;
    __syncthreads();
    for (int step = 64; step > 0; step >>= 1) {
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(total, part[0]);
}

extern "C" __global__ void histogram(const uint8_t *x, unsigned *bins, int n) {
    __shared__ unsigned local[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) local[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[x[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        if (local[b]) atomicAdd(&bins[b], local[b]);
}

extern "C" __global__ void transpose(const float *in, float *out, int rows, int cols) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32;
    for (int j = threadIdx.y; j < 32; j += 8)
        if (x < cols && y + j < rows) tile[j][threadIdx.x] = in[(y + j) * cols + x];
    __syncthreads();
    int ox = blockIdx.y * 32 + threadIdx.x, oy = blockIdx.x * 32;
    for (int j = threadIdx.y; j < 32; j += 8)
        if (ox < rows && oy + j < cols) out[(oy + j) * rows + ox] = tile[threadIdx.x][j];
}

extern "C" __global__ void warp_scan(const int *in, int *out) {
    int v = in[blockIdx.x * 32 + threadIdx.x];
    for (int d = 1; d < 32; d <<= 1) {
        int up = __shfl_up_sync(~0u, v, d);
        if (threadIdx.x >= d) v += up;
    }
    out[blockIdx.x * 32 + threadIdx.x] = v;
}

// Divergence: Collatz lengths, with a loop per thread.
extern "C" __global__ void collatz(int *steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long x = i + 1;
    int count = 0;
    while (x != 1) {
        x = (x & 1) ? 3 * x + 1 : x / 2;
        count++;
    }
    steps[i] = count;
}

__device__ __noinline__ int ackermann(int m, int n) {
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

extern "C" __global__ void recursion(int *out) { out[threadIdx.x] = ackermann(threadIdx.x & 1, threadIdx.x & 7); }

extern "C" __global__ void softmax(const float *in, float *out, int cols) {
    const float *row = in + blockIdx.x * cols;
    float best = -INFINITY, sum = 0.f;
    for (int c = threadIdx.x; c < cols; c += 32) best = fmaxf(best, row[c]);
    for (int d = 16; d; d >>= 1) best = fmaxf(best, __shfl_xor_sync(~0u, best, d));
    for (int c = threadIdx.x; c < cols; c += 32) sum += expf(row[c] - best);
    for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
    for (int c = threadIdx.x; c < cols; c += 32) out[blockIdx.x * cols + c] = expf(row[c] - best) / sum;
}

extern "C" __global__ void halves(const __half2 *a, const __half2 *b, __half2 *out, __nv_bfloat162 *bf, int n) {
    int i = threadIdx.x;
    if (i < n) {
        out[i] = __hfma2(a[i], b[i], __float2half2_rn(0.5f));
        float2 f = __half22float2(a[i]);
        bf[i] = __floats2bfloat162_rn(f.x * 3.f, f.y / 7.f);
    }
}

extern "C" __global__ void doubles(const double *x, double *out, int n) {
    int i = threadIdx.x;
    if (i < n) out[i] = sin(x[i]) * sqrt(fabs(x[i])) + pow(fabs(x[i]), 0.3) / (1.0 + x[i] * x[i]) + log(fabs(x[i]) + 1.0);
}

extern "C" __global__ void integers(const int64_t *a, const int64_t *b, int64_t *out) {
    int i = threadIdx.x;
    int64_t x = a[i], y = b[i];
    int64_t q = x / y, r = x % y;
    unsigned __int128 wide = (unsigned __int128)(uint64_t)x * (uint64_t)y;
    out[i] = q ^ r ^ (int64_t)(wide >> 64) ^ __popcll(x) ^ __clzll(y) ^ (int)__brev((unsigned)x) ^ __byte_perm(x, y, 0x3715) ^
             __funnelshift_l(x, y, 7) ^ __mul24((int)x, (int)y) ^ __dp4a((int)x, (int)y, 5) ^ min((int)x, (int)y) ^ __ffsll(x);
}

extern "C" __global__ void votes(const int *x, unsigned *out) {
    int v = x[threadIdx.x];
    unsigned ballot = __ballot_sync(~0u, v & 1);
    unsigned same = __match_any_sync(~0u, v);
    unsigned sum = __reduce_add_sync(~0u, (unsigned)v);
    int all = __syncthreads_and(v >= 0), count = __syncthreads_count(v > 3);
    out[threadIdx.x] = ballot ^ same * 3 ^ sum * 5 ^ all * 7 ^ count * 11;
}

extern __shared__ int dynamic[];
extern "C" __global__ void reverse_dynamic(int *x) {
    dynamic[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = dynamic[blockDim.x - 1 - threadIdx.x];
}

__device__ int counter;
__constant__ int table[4] = {10, 20, 30, 40};
extern "C" __global__ void spin_lock(int *out) {
    // Every thread of every warp takes a lock in turn: needs independent progress of diverged lanes.
    bool done = false;
    while (!done) {
        if (atomicCAS(&out[0], 0, 1) == 0) {
            __threadfence(); // acquires what the last holder released
            out[1] += table[threadIdx.x & 3];
            __threadfence();
            atomicExch(&out[0], 0);
            done = true;
        }
    }
    atomicAdd(&counter, 1);
}

extern "C" __global__ void say(int x) { printf("block %d thread %d: %5.2f %s\n", blockIdx.x, threadIdx.x, x * 0.5f, "ok"); }

extern "C" __global__ void out_of_bounds(float *x, int n) { x[n + threadIdx.x] = 1.f; }
