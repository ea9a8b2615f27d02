// Prefix sums within a block and across blocks, and reductions of rows.
#include <math_constants.h>
#include <stdint.h>

static __device__ int warp_inclusive(int v) {
    int lane = threadIdx.x % 32;
    for (int d = 1; d < 32; d *= 2) {
        int up = __shfl_up_sync(~0u, v, d);
        if (lane >= d) v += up;
    }
    return v;
}

// Inclusive over 256 threads; `total` for everyone.
static __device__ int block_inclusive(int v, int *slots, int *total) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    v = warp_inclusive(v);
    __syncthreads();
    if (lane == 31) slots[warp] = v;
    __syncthreads();
    if (warp == 0) {
        int s = warp_inclusive(lane < 8 ? slots[lane] : 0);
        if (lane < 8) slots[lane] = s;
    }
    __syncthreads();
    *total = slots[7];
    return v + (warp ? slots[warp - 1] : 0);
}

extern "C" __global__ void block_scan(const int *in, int *out) {
    __shared__ int slots[8];
    int i = blockIdx.x * 256 + threadIdx.x, total;
    out[i] = block_inclusive(in[i], slots, &total);
}

// One pass over the data: a block publishes its sum, then its prefix; the next looks back until it meets a prefix.
extern "C" __global__ void decoupled_look_back(const int *in, int *out, unsigned *ticket, unsigned long long *state) {
    __shared__ int slots[8], carry, serial;
    if (threadIdx.x == 0) serial = atomicAdd(ticket, 1u);
    __syncthreads();
    int block = serial, i = block * 256 + threadIdx.x, total, v = block_inclusive(in[i], slots, &total);
    auto publish = [&](unsigned flag, int value) {
        asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(state + block), "l"((unsigned long long)flag << 32 | (unsigned)value) : "memory");
    };
    if (threadIdx.x == 0) {
        int sum = 0;
        if (block) {
            publish(1, total);
            for (int b = block - 1;; b--) {
                unsigned long long s;
                do asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(s) : "l"(state + b) : "memory");
                while (s >> 32 == 0);
                sum += (int)s;
                if (s >> 32 == 2) break;
            }
        }
        publish(2, sum + total);
        carry = sum;
    }
    __syncthreads();
    out[i] = v + carry;
}

// Work-efficient scan in shared memory: up-sweep, down-sweep; exclusive.
extern "C" __global__ void two_sweeps(const int *in, int *out) {
    __shared__ int s[512];
    int t = threadIdx.x, base = blockIdx.x * 512;
    s[t] = in[base + t], s[t + 256] = in[base + t + 256];
    int stride = 1;
    for (int d = 256; d > 0; d /= 2, stride *= 2) {
        __syncthreads();
        if (t < d) s[stride * (2 * t + 2) - 1] += s[stride * (2 * t + 1) - 1];
    }
    __syncthreads();
    if (t == 0) s[511] = 0;
    for (int d = 1; d < 512; d *= 2) {
        stride /= 2;
        __syncthreads();
        if (t < d) {
            int a = stride * (2 * t + 1) - 1, b = stride * (2 * t + 2) - 1, x = s[a];
            s[a] = s[b], s[b] += x;
        }
    }
    __syncthreads();
    out[base + t] = s[t], out[base + t + 256] = s[t + 256];
}

// Sums of runs of equal flags: a scan whose operator carries a flag.
extern "C" __global__ void segmented_scan(const float *in, const int *head, float *out) {
    __shared__ float v[256];
    __shared__ int f[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    v[t] = in[i], f[t] = head[i];
    for (int d = 1; d < 256; d *= 2) {
        __syncthreads();
        float x = t >= d ? v[t - d] : 0;
        int g = t >= d ? f[t - d] : 0, mine = f[t];
        float y = v[t];
        __syncthreads();
        if (!mine) v[t] = x + y;
        f[t] = mine | g;
    }
    __syncthreads();
    out[i] = v[t];
}

static __device__ float block_sum(float v, float *slots) {
    for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
    __syncthreads();
    if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x % 32 < blockDim.x / 32 ? slots[threadIdx.x % 32] : 0.f;
    for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
    return v;
}

// Rows of float4; mean and variance in two passes over registers.
extern "C" __global__ void layer_norm(const float4 *in, const float4 *gain, const float4 *bias, float4 *out, float epsilon) {
    __shared__ float slots[8];
    int at = blockIdx.x * blockDim.x + threadIdx.x, n = blockDim.x * 4;
    float4 x = in[at], g = gain[threadIdx.x], b = bias[threadIdx.x];
    float mean = block_sum(x.x + x.y + x.z + x.w, slots) / n;
    x.x -= mean, x.y -= mean, x.z -= mean, x.w -= mean;
    float scale = rsqrtf(block_sum(x.x * x.x + x.y * x.y + x.z * x.z + x.w * x.w, slots) / n + epsilon);
    out[at] = make_float4(x.x * scale * g.x + b.x, x.y * scale * g.y + b.y, x.z * scale * g.z + b.z, x.w * scale * g.w + b.w);
}

// One pass: maximum and sum together, merged over lanes and warps.
extern "C" __global__ void online_softmax(const float *in, float *out, int cols) {
    __shared__ float2 slots[8];
    const float *row = in + (size_t)blockIdx.x * cols;
    float m = -CUDART_INF_F, s = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        float x = row[c], n = fmaxf(m, x);
        s = s * __expf(m - n) + __expf(x - n);
        m = n;
    }
    auto merge = [&](float m2, float s2) {
        float n = fmaxf(m, m2);
        s = (m == -CUDART_INF_F ? 0 : s * __expf(m - n)) + (m2 == -CUDART_INF_F ? 0 : s2 * __expf(m2 - n));
        m = n;
    };
    for (int d = 16; d; d /= 2) {
        float m2 = __shfl_xor_sync(~0u, m, d), s2 = __shfl_xor_sync(~0u, s, d);
        merge(m2, s2);
    }
    if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = make_float2(m, s);
    __syncthreads();
    m = slots[0].x, s = slots[0].y;
    for (int w = 1; w < blockDim.x / 32; w++) merge(slots[w].x, slots[w].y);
    for (int c = threadIdx.x; c < cols; c += blockDim.x) out[(size_t)blockIdx.x * cols + c] = __fdividef(__expf(row[c] - m), s);
}

// First index of the greatest value of each row, by a 64-bit key and atomicMax in shared memory.
extern "C" __global__ void arg_max(const float *in, int *out, int cols) {
    __shared__ unsigned long long best;
    if (threadIdx.x == 0) best = 0;
    __syncthreads();
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        unsigned b = __float_as_uint(in[blockIdx.x * cols + c]);
        b = b >> 31 ? ~b : b | 1u << 31;
        atomicMax(&best, (unsigned long long)b << 32 | (unsigned)~c);
    }
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = ~(int)best;
}
