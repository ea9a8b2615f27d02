// A product of any family of mma.sync: families differ in how they multiply bytes.
#pragma once
#include "ptx.cuh"

static __device__ __forceinline__ void ldmatrix4(uint32_t *v, uint32_t address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(address) : "memory");
}

// A family without state: results in words of 32 bits, four to a thread.
#define PLAIN                                                                                                                                          \
    static constexpr int WORDS = 4;                                                                                                                    \
    __device__ __forceinline__ void multiply(uint32_t *d, const uint32_t *a, const uint32_t *b, int, int, int) const { mma(d, a, b); }

// One instruction over 32 bytes of k.
#define MMA4(NAME, TYPES)                                                                                                                              \
    struct NAME {                                                                                                                                      \
        static __device__ __forceinline__ void mma(uint32_t *d, const uint32_t *a, const uint32_t *b) {                                                \
            asm volatile("mma.sync.aligned." TYPES " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                                             \
                         : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));          \
        }                                                                                                                                              \
        PLAIN                                                                                                                                          \
    };

// Two instructions over 16 bytes of k each.
#define MMA2(NAME, TYPES)                                                                                                                              \
    struct NAME {                                                                                                                                      \
        static __device__ __forceinline__ void mma(uint32_t *d, const uint32_t *a, const uint32_t *b) {                                                \
            for (int i = 0; i < 2; i++)                                                                                                                \
                asm volatile("mma.sync.aligned." TYPES " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"                                                  \
                             : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(a[2 * i]), "r"(a[2 * i + 1]), "r"(b[i]));                           \
        }                                                                                                                                              \
        PLAIN                                                                                                                                          \
    };

// One instruction over 32 bytes of k whose sums are halves, two to a word.
#define MMA_HALF(NAME, TYPES)                                                                                                                          \
    struct NAME {                                                                                                                                      \
        static constexpr int WORDS = 2;                                                                                                                \
        __device__ __forceinline__ void multiply(uint32_t *d, const uint32_t *a, const uint32_t *b, int, int, int) const {                             \
            asm volatile("mma.sync.aligned." TYPES " {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"                                                         \
                         : "+r"(d[0]), "+r"(d[1]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                                  \
        }                                                                                                                                              \
    };

// C = A B^T, A (M × bytes), B (N × bytes), k a multiple of 64 bytes. 64 × 64 per block of four warps, cp.async in three
// stages, rows of 64 bytes swizzled by 16-byte chunks, fragments by ldmatrix: all families agree on bytes.
template <class Family> static __device__ __forceinline__ void pipelined(const char *a, const char *b, uint32_t *c, int bytes, Family family = {}) {
    constexpr int STAGES = 3;
    __shared__ __align__(128) char pool[STAGES][2][64 * 64];
    int t = threadIdx.x, warp = t / 32, lane = t % 32, steps = bytes / 64, n = gridDim.x * 64, wr = warp / 2 * 32, wc = warp % 2 * 32;
    auto place = [](int row, int chunk) { return row * 64 + (chunk ^ (row >> 1 & 3)) * 16; };
    auto fetch = [&](int i) {
        if (i < steps)
            for (int j = t; j < 512; j += 128) {
                int row = j / 4 % 64, chunk = j % 4, which = j / 256;
                const char *from = (which ? b + (size_t)(blockIdx.x * 64 + row) * bytes : a + (size_t)(blockIdx.y * 64 + row) * bytes) + i * 64 + chunk * 16;
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem(pool[i % STAGES][which]) + place(row, chunk)), "l"(from) : "memory");
            }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    uint32_t d[2][4][4] = {};
    for (int i = 0; i < STAGES - 1; i++) fetch(i);
    for (int i = 0; i < steps; i++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads();
        fetch(i + STAGES - 1);
        uint32_t at = smem(pool[i % STAGES][0]), bt = smem(pool[i % STAGES][1]);
        for (int k = 0; k < 2; k++) {
            uint32_t fa[2][4], fb[4][2];
            for (int r = 0; r < 2; r++) ldmatrix4(fa[r], at + place(wr + r * 16 + lane % 16, k * 2 + lane / 16));
            for (int q = 0; q < 2; q++) {
                uint32_t v[4];
                ldmatrix4(v, bt + place(wc + q * 16 + lane / 16 * 8 + lane % 8, k * 2 + lane / 8 % 2));
                fb[2 * q][0] = v[0], fb[2 * q][1] = v[1], fb[2 * q + 1][0] = v[2], fb[2 * q + 1][1] = v[3];
            }
            for (int r = 0; r < 2; r++)
                for (int q = 0; q < 4; q++) family.multiply(d[r][q], fa[r], fb[q], blockIdx.y * 64 + wr + r * 16, blockIdx.x * 64 + wc + q * 8, i * 2 + k);
        }
    }
    for (int r = 0; r < 2; r++)
        for (int q = 0; q < 4; q++)
            for (int i = 0; i < Family::WORDS; i++) {
                int row = blockIdx.y * 64 + wr + r * 16 + lane / 4 + i / (Family::WORDS / 2) * 8, col = blockIdx.x * 64 + wc + q * 8 + lane % 4 * 2;
                if (Family::WORDS == 4)
                    c[(size_t)row * n + col + i % 2] = d[r][q][i];
                else
                    c[((size_t)row * n + col) / 2] = d[r][q][i];
            }
}
#define PIPELINED(NAME, FAMILY) \
    extern "C" __global__ void __launch_bounds__(128) NAME(const char *a, const char *b, uint32_t *c, int bytes) { pipelined<FAMILY>(a, b, c, bytes); }
