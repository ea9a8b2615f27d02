// Bulk copies: one to five dimensions, stores, reductions, between blocks, swizzles, prefetches.
#include "ptx.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <int RANK> static __device__ void load(uint32_t to, const Map *map, const int *at, uint32_t bar) {
#define LOAD(R, LIST, ...) \
    if (RANK == R) asm volatile("cp.async.bulk.tensor." #R "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {" LIST "}], [%2];" ::"r"(to), "l"(map), "r"(bar), __VA_ARGS__ : "memory")
    LOAD(1, "%3", "r"(at[0]));
    LOAD(2, "%3, %4", "r"(at[0]), "r"(at[1]));
    LOAD(3, "%3, %4, %5", "r"(at[0]), "r"(at[1]), "r"(at[2]));
    LOAD(4, "%3, %4, %5, %6", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]));
    LOAD(5, "%3, %4, %5, %6, %7", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4]));
}
template <int RANK> static __device__ void store(uint32_t from, const Map *map, const int *at) {
#define STORE(R, LIST, ...) \
    if (RANK == R) asm volatile("cp.async.bulk.tensor." #R "d.global.shared::cta.tile.bulk_group [%0, {" LIST "}], [%1];" ::"l"(map), "r"(from), __VA_ARGS__ : "memory")
    STORE(1, "%2", "r"(at[0]));
    STORE(2, "%2, %3", "r"(at[0]), "r"(at[1]));
    STORE(3, "%2, %3, %4", "r"(at[0]), "r"(at[1]), "r"(at[2]));
    STORE(4, "%2, %3, %4, %5", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]));
    STORE(5, "%2, %3, %4, %5, %6", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4]));
}

struct Place {
    int at[5], to[5];
};

// A box from one tensor, doubled, into another, both places given; parts outside read the fill and are not written.
template <int RANK> static __device__ void box(const Map *in, const Map *out, const Place *places, int words) {
    __shared__ __align__(128) int tile[1024];
    __shared__ uint64_t bar;
    int t = threadIdx.x;
    Place p = places[blockIdx.x];
    if (t == 0) mbar_init(smem(&bar), 1), mbar_init_done();
    __syncthreads();
    if (t == 0) {
        asm volatile("prefetch.tensormap [%0];" ::"l"(in));
        mbar_expect(smem(&bar), words * 4);
        load<RANK>(smem(tile), in, p.at, smem(&bar));
    }
    mbar_wait(smem(&bar), 0);
    for (int i = t; i < words; i += blockDim.x) tile[i] = tile[i] * 2 + 1;
    fence_async();
    __syncthreads();
    if (t == 0) {
        store<RANK>(smem(tile), out, p.to);
        bulk_commit();
        bulk_wait<0>();
    }
}
#define BOX(R) \
    extern "C" __global__ void box_##R##d(const __grid_constant__ Map in, const __grid_constant__ Map out, const Place *places, int words) { box<R>(&in, &out, places, words); }
BOX(1) BOX(2) BOX(3) BOX(4) BOX(5)

// Four overlapping boxes reduced into a matrix with every operation of tensor reductions.
extern "C" __global__ void tensor_reductions(const uint32_t *in, const __grid_constant__ Map add, const __grid_constant__ Map lo, const __grid_constant__ Map hi,
                                             const __grid_constant__ Map conj, const __grid_constant__ Map disj, const __grid_constant__ Map parity) {
    __shared__ __align__(128) uint32_t tile[16 * 16];
    int t = threadIdx.x, x = blockIdx.x * 8, y = blockIdx.y * 8;
    for (int i = t; i < 256; i += blockDim.x) tile[i] = in[(blockIdx.y * gridDim.x + blockIdx.x) * 256 + i];
    fence_async();
    __syncthreads();
    if (t == 0) {
#define REDUCE(MAP, OP) asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta." OP ".tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&MAP), "r"(x), "r"(y), "r"(smem(tile)) : "memory")
        REDUCE(add, "add");
        REDUCE(lo, "min");
        REDUCE(hi, "max");
        REDUCE(conj, "and");
        REDUCE(disj, "or");
        REDUCE(parity, "xor");
        bulk_commit();
        bulk_wait_read<0>();
    }
}

// Every block adds its vector into one: halves, bfloats, singles, doubles, 64-bit integers; minimum of halves.
extern "C" __global__ void bulk_reductions(const uint8_t *in, __half *h, __nv_bfloat16 *b, float *f, double *d, unsigned long long *u, __half *least) {
    __shared__ __align__(128) uint8_t part[5][512];
    for (int i = threadIdx.x; i < 64; i += 32) {
        int v = in[blockIdx.x * 64 + i];
        ((__half *)part[0])[i] = __int2half_rn(v), ((__nv_bfloat16 *)part[1])[i] = __int2bfloat16_rn(v & 15), ((float *)part[2])[i] = v * 0.25f, ((double *)part[3])[i] = v * 0.125;
        ((unsigned long long *)part[4])[i] = (unsigned long long)v << 33;
    }
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
#define ADD(TO, OP, BYTES, K) asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." OP " [%0], [%1], %2;" ::"l"(TO), "r"(smem(part[K])), "r"(BYTES) : "memory")
        ADD(h, "add.noftz.f16", 128, 0);
        ADD(b, "add.noftz.bf16", 128, 1);
        ADD(f, "add.f32", 256, 2);
        ADD(d, "add.f64", 512, 3);
        ADD(u, "add.u64", 512, 4);
        ADD(least, "min.f16", 128, 0);
        bulk_commit();
        bulk_wait<0>();
    }
}

// A ring of four shared buffers, filled by untyped bulk copies well ahead, each piece scaled and stored back by a bulk copy.
extern "C" __global__ void streaming(const float *in, float *out, int pieces) {
    __shared__ __align__(128) float ring[4][256], sink[2][256];
    __shared__ uint64_t full[4];
    int t = threadIdx.x;
    if (t == 0) {
        for (int s = 0; s < 4; s++) mbar_init(smem(&full[s]), 1);
        mbar_init_done();
    }
    __syncthreads();
    auto fetch = [&](int i) {
        mbar_expect(smem(&full[i % 4]), 1024);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(smem(ring[i % 4])), "l"(in + i * 256), "r"(1024), "r"(smem(&full[i % 4]))
                     : "memory");
    };
    if (t == 0)
        for (int i = 0; i < 3; i++) fetch(i);
    for (int i = 0; i < pieces; i++) {
        if (t == 0 && i + 3 < pieces) {
            asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(in + (i + 3) * 256), "r"(1024));
            fetch(i + 3);
        }
        mbar_wait(smem(&full[i % 4]), i / 4 & 1);
        // Two stores in flight: the one before the last must have read its buffer.
        if (t == 0) bulk_wait_read<1>();
        __syncthreads();
        sink[i % 2][t] = ring[i % 4][t] * 3 + t;
        fence_async();
        __syncthreads();
        if (t == 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + i * 256), "r"(smem(sink[i % 2])), "r"(1024) : "memory");
            bulk_commit();
        }
    }
    if (t == 0) bulk_wait<0>();
}

// What swizzled loads leave in shared memory, read back through the XOR that the manual gives.
template <int SPAN> static __device__ void swizzled(const Map *map, uint32_t *out) {
    __shared__ __align__(1024) uint8_t tile[32 * SPAN];
    __shared__ uint64_t bar;
    int t = threadIdx.x;
    if (t == 0) {
        mbar_init(smem(&bar), 1), mbar_init_done(), mbar_expect(smem(&bar), sizeof tile);
        tma_load_2d(smem(tile), map, 0, 0, smem(&bar));
    }
    __syncthreads();
    mbar_wait(smem(&bar), 0);
    for (int i = t; i < 32 * SPAN / 4; i += blockDim.x) {
        int byte = i * 4, rows = byte >> 7, chunk = SPAN == 32 ? rows & 1 : SPAN == 64 ? rows & 3 : rows & 7;
        out[i] = *(uint32_t *)(tile + (byte ^ chunk << 4));
    }
}
extern "C" __global__ void swizzled_32(const __grid_constant__ Map map, uint32_t *out) { swizzled<32>(&map, out); }
extern "C" __global__ void swizzled_64(const __grid_constant__ Map map, uint32_t *out) { swizzled<64>(&map, out); }
extern "C" __global__ void swizzled_128(const __grid_constant__ Map map, uint32_t *out) { swizzled<128>(&map, out); }

// 16-bit transpose of 32 × 32 through stmatrix.trans: fragments of the transposed matrix are stored, rows come out.
extern "C" __global__ void stmatrix_transpose(const uint32_t *in, uint4 *out) {
    __shared__ __align__(16) uint16_t tile[32 * 40];
    int t = threadIdx.x;
    for (int block = 0; block < 4; block++) {
        int r = block / 2 * 16, c = block % 2 * 16;
        uint32_t v[4];
        // Matrices in order: rows r.., r + 8..; columns c.., c + 8...
        for (int m = 0; m < 4; m++) v[m] = in[blockIdx.x * 512 + ((r + m % 2 * 8 + t / 4) * 32 + c + m / 2 * 8 + t % 4 * 2) / 2];
        // Row addresses of the transposed matrices.
        uint32_t address = smem(&tile[(c + t / 16 * 8 + t % 8) * 40 + r + t / 8 % 2 * 8]);
        asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]) : "memory");
    }
    __syncwarp();
    for (int i = t; i < 128; i += 32) out[blockIdx.x * 128 + i] = *(uint4 *)&tile[i / 4 * 40 + i % 4 * 8];
}

// The second of two dependent grids waits for the first; here each is launched alone.
extern "C" __global__ void dependent_launch(const int *in, int *out) {
    asm volatile("griddepcontrol.wait;" ::: "memory");
    int i = blockIdx.x * blockDim.x + threadIdx.x, leader;
    asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.s32 %0, 1, 0, p;\n}" : "=r"(leader));
    out[i] = in[i] + __popc(__ballot_sync(~0u, leader));
    asm volatile("griddepcontrol.launch_dependents;");
}
