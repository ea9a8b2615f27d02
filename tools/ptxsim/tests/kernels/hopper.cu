// TMA, mbarriers and wgmma for sm_90a, written by hand as libraries do.
#include <cuda_fp16.h>
#include <stdint.h>

struct alignas(64) Map { char bytes[128]; };

static __device__ __forceinline__ uint32_t smem(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
static __device__ __forceinline__ void mbar_init(uint32_t bar, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count));
}
static __device__ __forceinline__ void mbar_wait(uint32_t bar, int parity) {
    asm volatile("{\n.reg .pred p;\nLAB_WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra DONE;\nbra LAB_WAIT;\nDONE:\n}" ::"r"(bar), "r"(parity)
                 : "memory");
}
static __device__ __forceinline__ void mbar_expect(uint32_t bar, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}
static __device__ __forceinline__ void mbar_arrive(uint32_t bar) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
}
static __device__ __forceinline__ void tma_load(uint32_t dst, const Map *map, int x, int y, uint32_t bar) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(dst),
                 "l"(map), "r"(x), "r"(y), "r"(bar)
                 : "memory");
}
static __device__ __forceinline__ void tma_store(const Map *map, uint32_t src, int x, int y) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(x), "r"(y), "r"(src)
                 : "memory");
}
static __device__ __forceinline__ uint64_t desc(uint32_t address, int lead, int stride, int mode) {
    return (uint64_t)((address & 0x3ffff) >> 4) | (uint64_t)(lead >> 4) << 16 | (uint64_t)(stride >> 4) << 32 | (uint64_t)mode << 62;
}

#define ACC4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define ACC32 ACC4(0), ACC4(4), ACC4(8), ACC4(12), ACC4(16), ACC4(20), ACC4(24), ACC4(28)
template <int TB> static __device__ __forceinline__ void wgmma64(float *d, uint64_t a, uint64_t b, int scale) {
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
        "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, "
        "%32, %33, p, 1, 1, 0, %35;\n}"
        : ACC32
        : "l"(a), "l"(b), "r"(scale), "n"(TB));
}

// C (f32) = A (M x K) x B: B is K x N row major (MN-major operand, transposed in wgmma).
// Producer warp + one consumer warpgroup, 3 stages, 128-byte swizzle, TMA store of the result.
extern "C" __global__ void __launch_bounds__(256) gemm(const __grid_constant__ Map ma, const __grid_constant__ Map mb,
                                                      const __grid_constant__ Map mc, int K) {
    extern __shared__ __align__(1024) char pool[];
    uint32_t base = smem(pool), stage_bytes = 64 * 64 * 2 * 2, full = base + 3 * stage_bytes + 64 * 64 * 4, empty = full + 24;
    int t = threadIdx.x, tiles = (K + 63) / 64;
    if (t == 0) {
        for (int s = 0; s < 3; s++) {
            mbar_init(full + 8 * s, 1);
            mbar_init(empty + 8 * s, 128);
        }
        asm volatile("fence.mbarrier_init.release.cluster;");
    }
    __syncthreads();
    if (t >= 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (t == 128) {
            for (int i = 0; i < tiles; i++) {
                int s = i % 3;
                mbar_wait(empty + 8 * s, (i / 3 & 1) ^ 1);
                mbar_expect(full + 8 * s, stage_bytes);
                tma_load(base + s * stage_bytes, &ma, i * 64, blockIdx.y * 64, full + 8 * s);
                tma_load(base + s * stage_bytes + 8192, &mb, blockIdx.x * 64, i * 64, full + 8 * s);
            }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
        float d[32];
        for (int i = 0; i < tiles; i++) {
            int s = i % 3;
            mbar_wait(full + 8 * s, i / 3 & 1);
            asm volatile("wgmma.fence.sync.aligned;");
            for (int k = 0; k < 4; k++)
                wgmma64<1>(d, desc(base + s * stage_bytes + k * 32, 16, 1024, 1), desc(base + s * stage_bytes + 8192 + k * 2048, 1024, 1024, 1), i + k > 0);
            asm volatile("wgmma.commit_group.sync.aligned;");
            asm volatile("wgmma.wait_group.sync.aligned 0;");
            mbar_arrive(empty + 8 * s);
        }
        float *c = (float *)(pool + 3 * stage_bytes);
        int warp = t / 32, lane = t % 32;
        for (int i = 0; i < 32; i++) c[(warp * 16 + lane / 4 + (i >> 1 & 1) * 8) * 64 + i / 4 * 8 + lane % 4 * 2 + (i & 1)] = d[i];
        asm volatile("fence.proxy.async.shared::cta;");
        asm volatile("bar.sync 1, 128;");
        if (t == 0) {
            tma_store(&mc, base + 3 * stage_bytes, blockIdx.x * 64, blockIdx.y * 64);
            asm volatile("cp.async.bulk.commit_group;");
            asm volatile("cp.async.bulk.wait_group.read 0;");
        }
    }
}

// Cluster reduction: every block sends its value to block 0.
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_sum(const int *in, int *out) {
    __shared__ int slots[4];
    uint32_t rank, remote;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) {
        asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(remote) : "r"(smem(&slots[rank])));
        asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(remote), "r"(in[blockIdx.x]));
    }
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;");
    if (rank == 0 && threadIdx.x == 0) out[blockIdx.x / 4] = slots[0] + slots[1] + slots[2] + slots[3];
}

// Small protocol kernels: one flaw each, chosen by MODE; 0 is right.
template <int MODE> static __device__ void protocol(const Map *in, const Map *out, int *plain) {
    __shared__ __align__(1024) int tile[32 * 32];
    __shared__ uint64_t bar;
    uint32_t b = smem(&bar), at = smem(tile);
    int t = threadIdx.x;
    if (t == 0) {
        if (MODE != 1) mbar_init(b, MODE == 2 ? 2 : 1);
        asm volatile("fence.mbarrier_init.release.cluster;");
    }
    __syncthreads();
    if (t == 0) {
        mbar_expect(b, MODE == 3 ? 8192 : 4096);
        tma_load(at, in, 0, 0, b);
    }
    if (MODE != 4) mbar_wait(b, MODE == 5 ? 1 : 0);
    for (int i = t; i < 1024; i += 64) tile[i] = tile[i] * 3 + 1;
    if (MODE != 6) asm volatile("fence.proxy.async.shared::cta;");
    if (MODE != 7) __syncthreads();
    if (t == 0) {
        tma_store(out, at, 0, 0);
        asm volatile("cp.async.bulk.commit_group;");
        if (MODE != 8) asm volatile("cp.async.bulk.wait_group.read 0;");
    }
    __syncthreads();
    for (int i = t; i < 1024; i += 64) tile[i] = 0;
    if (MODE == 9) {
        if (t < 40)
            asm volatile("bar.sync 2, 64;");
        else
            asm volatile("bar.sync 3, 64;");
    }
    if (MODE == 10 && t == 0) mbar_arrive(b), mbar_arrive(b), plain[0] = 1;
    if (MODE == 11 && t == 0) {
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], 2;" ::"r"(b));
    }
}
#define PROTOCOL(N) extern "C" __global__ void protocol_##N(const __grid_constant__ Map in, const __grid_constant__ Map out, int *plain) { protocol<N>(&in, &out, plain); }
PROTOCOL(0) PROTOCOL(1) PROTOCOL(2) PROTOCOL(3) PROTOCOL(4) PROTOCOL(5) PROTOCOL(6) PROTOCOL(7) PROTOCOL(8) PROTOCOL(9) PROTOCOL(10) PROTOCOL(11)
