// sm_120a: formats of 8, 6 and 4 bits in one instruction, and products whose operands carry a scale per block of k.
#include "pipelined.cuh"

#if __CUDA_ARCH_FEAT_SM120_ALL
MMA4(E4m3E2m1, "m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32")
MMA4(E3m2E2m3, "m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m3.f32")
MMA4(E2m1E5m2, "m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e5m2.f32")
PIPELINED(mixed_e4m3_e2m1, E4m3E2m1)
PIPELINED(mixed_e3m2_e2m3, E3m2E2m3)
PIPELINED(mixed_e2m1_e5m2, E2m1E5m2)

// PARTS scales for 32 bytes of k, a byte each; a word holds those of 4 / PARTS steps, so the byte chosen moves. Lanes that
// the instruction does not read hold nonsense: A_THREAD is which pair of the four lanes, B_THREAD which lane.
#define SCALED(NAME, TYPES, PARTS, A_THREAD, B_THREAD)                                                                                                                  \
    struct NAME {                                                                                                                                                      \
        static constexpr int WORDS = 4;                                                                                                                                \
        const uint8_t *a_scale, *b_scale;                                                                                                                              \
        int stride;                                                                                                                                                    \
        template <int BYTE> static __device__ __forceinline__ void mma(uint32_t *d, const uint32_t *a, const uint32_t *b, uint32_t x, uint32_t y) {                    \
            asm volatile("mma.sync.aligned." TYPES " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3}, %10, {%12, %13}, %11, {%12, %14};"                           \
                         : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                                                                              \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(x), "r"(y), "n"(BYTE), "n"(A_THREAD), "n"(B_THREAD));                 \
        }                                                                                                                                                              \
        __device__ __forceinline__ void multiply(uint32_t *d, const uint32_t *a, const uint32_t *b, int row, int col, int step) const {                                \
            int lane = threadIdx.x % 32, g = lane / 4, q = lane % 4, word = step * PARTS / 4 * 4;                                                                      \
            uint32_t x = q / 2 == A_THREAD ? *(const uint32_t *)(a_scale + (size_t)(row + g + q % 2 * 8) * stride + word) : 0xffffffff;                                \
            uint32_t y = q == B_THREAD ? *(const uint32_t *)(b_scale + (size_t)(col + g) * stride + word) : 0xffffffff;                                                \
            switch (step * PARTS % 4) {                                                                                                                                \
                case 0: mma<0>(d, a, b, x, y); break;                                                                                                                  \
                case 1: mma<PARTS == 1 ? 1 : 0>(d, a, b, x, y); break;                                                                                                 \
                case 2: mma<PARTS <= 2 ? 2 : 0>(d, a, b, x, y); break;                                                                                                 \
                case 3: mma<PARTS == 1 ? 3 : 0>(d, a, b, x, y); break;                                                                                                 \
            }                                                                                                                                                          \
        }                                                                                                                                                              \
    };
#define SCALED_KERNEL(NAME, FAMILY)                                                                                                                                            \
    extern "C" __global__ void __launch_bounds__(128) NAME(const char *a, const char *b, const uint8_t *a_scale, const uint8_t *b_scale, uint32_t *c, int bytes, int stride) { \
        pipelined<FAMILY>(a, b, c, bytes, FAMILY{a_scale, b_scale, stride});                                                                                                   \
    }
SCALED(MxE4m3, "m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0", 1, 0, 0)
SCALED(MxE5m2E2m1, "m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e5m2.e2m1.f32.ue8m0", 1, 1, 2)
SCALED(MxE2m3E3m2, "m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e2m3.e3m2.f32.ue8m0", 1, 0, 3)
SCALED(MxE2m1, "m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", 2, 1, 1)
SCALED(NvE2m1, "m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3", 4, 0, 0)
SCALED_KERNEL(mx_e4m3, MxE4m3)
SCALED_KERNEL(mx_e5m2_e2m1, MxE5m2E2m1)
SCALED_KERNEL(mx_e2m3_e3m2, MxE2m3E3m2)
SCALED_KERNEL(mx_e2m1, MxE2m1)
SCALED_KERNEL(nv_e2m1, NvE2m1)
#endif
