// Products of a warpgroup, 64 × 64 with sums of 32 bits, from shared memory (ss) or A from registers (rs).
#pragma once
#include "ptx.cuh"

#define ACC4(i) "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3])
#define ACC16 ACC4(0), ACC4(4), ACC4(8), ACC4(12)
#define ACC32 ACC16, ACC4(16), ACC4(20), ACC4(24), ACC4(28)
#define D16 "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}"
#define D32 "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}"

// One step of 32 bytes along k: ss takes A from shared memory, rs from registers.
#define FAMILY32(NAME, TYPES, TAIL_SS, TAIL_RS)                                                                                                       \
    struct NAME {                                                                                                                                      \
        static constexpr int REGISTERS = 32;                                                                                                           \
        static __device__ __forceinline__ void ss(uint32_t *d, uint64_t a, uint64_t b, int scale) {                                                    \
            asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\nwgmma.mma_async.sync.aligned." TYPES " " D32 ", %32, %33, p" TAIL_SS ";\n}"         \
                         : ACC32 : "l"(a), "l"(b), "r"(scale));                                                                                        \
        }                                                                                                                                              \
        static __device__ __forceinline__ void rs(uint32_t *d, const uint32_t *a, uint64_t b, int scale) {                                             \
            asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\nwgmma.mma_async.sync.aligned." TYPES " " D32                                       \
                         ", {%32,%33,%34,%35}, %36, p" TAIL_RS ";\n}"                                                                                  \
                         : ACC32 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale));                                                    \
        }                                                                                                                                              \
    };
FAMILY32(F16, "m64n64k16.f32.f16.f16", ", 1, 1, 0, 0", ", 1, 1, 0")
