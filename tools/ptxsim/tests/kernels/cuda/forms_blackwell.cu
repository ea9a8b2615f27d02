// What sm_100 and later have: gathered rows, clusters that are cancelled, wide accesses, masked copies.
#include "ptx.cuh"

#if __CUDA_ARCH__ != 1000
// Rows of a matrix, four at a time by their numbers.
extern "C" __global__ void gathered_rows(const int *rows, uint32_t *out, const __grid_constant__ Map map) {
    __shared__ __align__(128) uint32_t tile[4][32];
    __shared__ uint64_t bar;
    int t = threadIdx.x;
    if (t == 0) mbar_init(smem(&bar), 1), mbar_init_done();
    __syncthreads();
    for (int i = 0; i < 3; i++) {
        if (t == 0) {
            const int *r = rows + 4 * i;
            mbar_expect(smem(&bar), sizeof tile);
            asm volatile("cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5, %6}], [%7];"
                         ::"r"(smem(tile)), "l"(&map), "r"(8 * i), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(smem(&bar)) : "memory");
        }
        mbar_wait(smem(&bar), i & 1);
        for (int j = t; j < 128; j += 32) out[128 * i + j] = tile[j / 32][j % 32];
        __syncthreads();
    }
}

// Every cluster takes the work of clusters that have not started, until none is left.
extern "C" __global__ void stolen_work(const int *x, int *y, int *taken) {
    __shared__ __align__(16) uint32_t answer[4];
    __shared__ uint64_t bar;
    int t = threadIdx.x, block = blockIdx.x;
    if (t == 0) mbar_init(smem(&bar), 1), mbar_init_done();
    __syncthreads();
    for (int phase = 0;; phase ^= 1) {
        if (t == 0) {
            mbar_expect(smem(&bar), 16);
            asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];" ::"r"(smem(answer)), "r"(smem(&bar)) : "memory");
        }
        y[block * 32 + t] = 3 * x[block * 32 + t] + 1;
        if (t == 0) atomicAdd(taken, 1);
        mbar_wait(smem(&bar), phase);
        uint32_t cancelled, next;
        asm volatile("{\n.reg .b128 q;\n.reg .pred p;\nld.shared.b128 q, [%2];\n"
                     "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, q;\nselp.u32 %0, 1, 0, p;\nmov.u32 %1, 0;\n"
                     "@p clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %1, q;\n}" : "=r"(cancelled), "=r"(next) : "r"(smem(answer)) : "memory");
        // The next answer is written through the async proxy, where this one was read.
        fence_async();
        __syncthreads();
        if (!cancelled) break;
        block = next;
    }
}

// 256 bits at once; shared memory that is set to zero in bulk; copies that leave bytes out.
extern "C" __global__ void wide_accesses(const uint32_t *x, uint32_t *y, unsigned char *z) {
    __shared__ __align__(128) uint32_t tile[256];
    int t = threadIdx.x;
    uint32_t v[8];
    asm volatile("ld.global.v8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]), "=r"(v[4]), "=r"(v[5]), "=r"(v[6]), "=r"(v[7]) : "l"(x + 8 * t));
    uint64_t a = v[7] | (uint64_t)v[6] << 32, b = v[5] | (uint64_t)v[4] << 32, c = v[3] | (uint64_t)v[2] << 32, d = v[1] | (uint64_t)v[0] << 32;
    asm volatile("st.global.v4.b64 [%0], {%1, %2, %3, %4};" ::"l"(y + 8 * t), "l"(a), "l"(b), "l"(c), "l"(d) : "memory");
    for (int i = t; i < 256; i += 32) tile[i] = i * 0x01010101;
    __syncthreads();
    if (t == 0) {
        asm volatile("st.bulk.weak.shared::cta [%0], %1, 0;" ::"r"(smem(tile + 64)), "l"((uint64_t)128) : "memory");
        fence_async();
        uint16_t mask = 0x5a0f;
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%0], [%1], 1024, %2;" ::"l"(z), "r"(smem(tile)), "h"(mask) : "memory");
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    }
}
#else
// Rows of a matrix, four at a time, to other places.
extern "C" __global__ void scattered_rows(const uint32_t *x, const int *rows, const __grid_constant__ Map map) {
    __shared__ __align__(128) uint32_t tile[4][32];
    int t = threadIdx.x;
    for (int i = 0; i < 3; i++) {
        for (int j = t; j < 128; j += 32) tile[j / 32][j % 32] = x[128 * i + j];
        fence_async();
        __syncwarp();
        if (t == 0) {
            const int *r = rows + 4 * i;
            asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%0, {%1, %2, %3, %4, %5}], [%6];"
                         ::"l"(&map), "r"(4), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(smem(tile)) : "memory");
            asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
        }
        __syncwarp();
    }
}

// The largest magnitude of a warp, NaN if there is one.
extern "C" __global__ void largest(const float *x, float *y) {
    int t = threadIdx.x;
    float v, w;
    asm volatile("redux.sync.max.abs.NaN.f32 %0, %1, -1;" : "=f"(v) : "f"(x[t]));
    asm volatile("redux.sync.min.f32 %0, %1, -1;" : "=f"(w) : "f"(x[t]));
    y[t] = t % 2 ? v : w;
}
#endif
