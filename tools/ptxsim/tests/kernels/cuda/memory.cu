// Ways through memory: transposes, histograms, local arrays, generic addresses, constants, dynamic shared memory.
#include <cuda_fp16.h>
#include <stdint.h>
#include <stdio.h>

static __device__ uint32_t smem(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

// 32 × 32 tiles with an XOR swizzle instead of padding.
extern "C" __global__ void swizzled_transpose(const int *in, int *out, int n) {
    __shared__ int tile[32 * 32];
    int x = threadIdx.x, y = threadIdx.y;
    for (int j = y; j < 32; j += 4) tile[j * 32 + (x ^ j)] = in[(blockIdx.y * 32 + j) * n + blockIdx.x * 32 + x];
    __syncthreads();
    for (int j = y; j < 32; j += 4) out[(blockIdx.x * 32 + j) * n + blockIdx.y * 32 + x] = tile[x * 32 + (j ^ x)];
}

// 16-bit transpose of a 32 × 32 tile by ldmatrix.trans: fragments come out transposed.
extern "C" __global__ void matrix_transpose(const uint4 *in, uint32_t *out) {
    __shared__ __align__(16) uint16_t tile[32 * 32];
    int t = threadIdx.x;
    for (int i = t; i < 128; i += 32) ((uint4 *)tile)[i] = in[blockIdx.x * 128 + i];
    __syncwarp();
    for (int block = 0; block < 4; block++) {
        int r = block / 2 * 16, c = block % 2 * 16;
        uint32_t v[4], address = smem(&tile[(r + t % 16) * 32 + c + t / 16 * 8]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(address) : "memory");
        for (int m = 0; m < 4; m++) {
            int row = c + m / 2 * 8 + t / 4, col = r + m % 2 * 8 + t % 4 * 2;
            out[blockIdx.x * 512 + (row * 32 + col) / 2] = v[m];
        }
    }
}

// A private histogram per warp, merged at the end.
extern "C" __global__ void warp_histograms(const uint8_t *in, unsigned *bins, int n) {
    __shared__ unsigned local[4][64];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i / 64][i % 64] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[threadIdx.x / 32][in[i] & 63], 1u);
    __syncthreads();
    if (threadIdx.x < 64) {
        unsigned sum = 0;
        for (int w = 0; w < 4; w++) sum += local[w][threadIdx.x];
        atomicAdd(&bins[threadIdx.x], sum);
    }
}

// Counters of 16 bits, two to a word, by compare and swap; exchange and the other read-modify-writes too.
extern "C" __global__ void atomics_of_every_kind(const int *in, int *out, unsigned short *small, double *sum, float2 *pair, __half2 *halves, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = in[i];
    atomicAdd(&out[0], v), atomicSub(&out[1], v), atomicMin(&out[2], v), atomicMax(&out[3], v);
    atomicAnd(&out[4], v), atomicOr(&out[5], v), atomicXor(&out[6], v);
    atomicInc((unsigned *)&out[7], 6u), atomicDec((unsigned *)&out[8], 9u);
    atomicAdd((unsigned long long *)&out[10], (unsigned long long)(long long)v);
    atomicMin((long long *)&out[12], (long long)v << 20), atomicMax((unsigned long long *)&out[14], (unsigned long long)(unsigned)v << 12);
    unsigned short old = small[v & 3], seen;
    do {
        seen = old;
        old = atomicCAS(&small[v & 3], seen, (unsigned short)(seen + 3));
    } while (old != seen);
    atomicAdd(sum, v * 0.5);
    atomicAdd(&pair->x, 1.f), atomicAdd(&pair->y, (float)(v & 7));
    atomicAdd(halves, __halves2half2(__float2half(1.f), __float2half((v & 1) ? 2.f : 0.f)));
}

// An array in local memory, indexed by data.
extern "C" __global__ void local_arrays(const uint8_t *in, int *out) {
    int counts[16], t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < 16; i++) counts[i] = i == 3 ? 100 : 0;
    for (int i = 0; i < 20; i++) counts[in[t * 20 + i]]++;
    int best = 0;
    for (int i = 1; i < 16; i++)
        if (counts[i] > counts[best]) best = i;
    out[t] = best * 1000 + counts[best];
}

static __device__ __noinline__ void bump(int *p, int by) { *p += by; }
__constant__ int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__device__ int tally[2] = {1000, 2000};

// One function through generic pointers into global, shared, local memory and a module variable.
extern "C" __global__ void generic_addresses(int *out) {
    __shared__ int s[64];
    int l[4] = {1, 2, 3, 4}, t = threadIdx.x;
    s[t] = t;
    int *where[4] = {&out[t], &s[t], &l[t % 4], &out[64 + t]};
    for (int i = 0; i < 4; i++) bump(where[(i + t) % 4], table[(i * 3 + t) % 8]);
    bool shared = __isShared(where[1]), global = __isGlobal(where[0]), local = __isLocal(where[2]);
    out[128 + t] = s[t] * 10000 + l[t % 4] * 1000 + shared * 100 + global * 10 + local + (__isConstant(table) ? 5 : 0);
    if (t == 0) atomicAdd(&tally[1], 7);
    __syncthreads();
    if (t == 1) out[192] = tally[0] + atomicAdd(&tally[1], 0);
}

struct Pixel {
    uint8_t r, g, b;
};
struct Shape {
    int extents[3];
    float scale;
    Pixel tint;
};

// Structs by value, bytes and 16-bit accesses at odd places, and a part of dynamic shared memory per array.
extern "C" __global__ void dynamic_shared(Shape shape, const Pixel *in, uint16_t *out, int n) {
    extern __shared__ unsigned char pool[];
    Pixel *pixels = (Pixel *)pool;
    uint16_t *sums = (uint16_t *)(pool + ((n * 3 + 15) & ~15));
    for (int i = threadIdx.x; i < n; i += blockDim.x) pixels[i] = in[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        Pixel p = pixels[(i + shape.extents[1]) % n];
        sums[n - 1 - i] = (uint16_t)((p.r ^ shape.tint.r) + (p.g ^ shape.tint.g) * 2 + (p.b ^ shape.tint.b) * (int)shape.scale);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = sums[i];
}

extern "C" __global__ void prints(const float *in) {
    int t = threadIdx.x;
    if (t < 3) printf("%d: %5.2f %s 0x%08x %c%% %lld\n", t, in[t], t & 1 ? "odd" : "even", t * 0x1234567, 'a' + t, (long long)t << 40);
}

// Cache hints, vectors of every width, evict policies, and loads that go around a cache.
extern "C" __global__ void cache_operators(const int4 *in, int4 *out, const ushort4 *small, ushort4 *small_out, const double2 *wide, double2 *wide_out) {
    int i = threadIdx.x;
    int4 a = __ldg(in + i), b = __ldcs(in + 32 + i), c = __ldcg(in + 64 + i), d;
    asm volatile("ld.global.L1::no_allocate.L2::128B.v4.s32 {%0, %1, %2, %3}, [%4];" : "=r"(d.x), "=r"(d.y), "=r"(d.z), "=r"(d.w) : "l"(in + 96 + i));
    __stcs(out + i, make_int4(a.x + b.x, a.y + c.y, a.z + d.z, b.w + c.w));
    ushort4 s = small[i];
    __stwt(small_out + i, make_ushort4(s.w, s.z, s.y, s.x));
    double2 w = __ldlu(wide + i);
    __stcg(wide_out + i, make_double2(w.y, w.x));
}
