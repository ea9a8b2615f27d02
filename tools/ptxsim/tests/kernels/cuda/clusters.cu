// Clusters: distributed shared memory, remote barriers, asynchronous stores and reductions between blocks.
#include "ptx.cuh"

static __device__ __forceinline__ float load_remote(uint32_t address) {
    float v;
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(address) : "memory");
    return v;
}

// Mean of a row that a whole cluster holds: every block reads every other's partial sum.
extern "C" __global__ void __cluster_dims__(8, 1, 1) center_rows(const float *in, float *out) {
    __shared__ float part[4], sum;
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    float x = in[i], s = x;
    for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d);
    if (t % 32 == 0) part[t / 32] = s;
    __syncthreads();
    if (t == 0) sum = part[0] + part[1] + part[2] + part[3];
    cluster_sync();
    float total = 0;
    for (int r = 0; r < 8; r++) total += load_remote(mapa(smem(&sum), r));
    out[i] = x - total / 1024;
    cluster_sync();
}

// A histogram whose bins are spread over the blocks of a cluster; increments go to the owner's shared memory.
extern "C" __global__ void __cluster_dims__(4, 1, 1) spread_histogram(const uint16_t *in, unsigned *out, int n) {
    __shared__ unsigned bins[64];
    int t = threadIdx.x;
    if (t < 64) bins[t] = 0;
    cluster_sync();
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) {
        unsigned bin = in[i] & 255;
        asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], 1;" ::"r"(mapa(smem(&bins[bin % 64]), bin / 64)) : "memory");
    }
    cluster_sync();
    if (t < 64) atomicAdd(&out[cluster_rank() * 64 + t], bins[t]);
}

// Every block sends its vector to its right neighbour with st.async, which counts bytes on the neighbour's barrier.
extern "C" __global__ void __cluster_dims__(4, 1, 1) ring(const int *in, int *out, int rounds) {
    __shared__ __align__(16) int box[2][64];
    __shared__ uint64_t full[2], empty[2];
    int t = threadIdx.x;
    uint32_t rank = cluster_rank(), right = (rank + 1) % 4, left = (rank + 3) % 4;
    if (t == 0) {
        for (int s = 0; s < 2; s++) mbar_init(smem(&full[s]), 1), mbar_init(smem(&empty[s]), 64);
        mbar_init_done();
    }
    cluster_sync();
    int v = in[blockIdx.x * 64 + t], sum = v;
    for (int i = 0; i < rounds; i++) {
        int s = i % 2;
        if (t == 0) mbar_expect(smem(&full[s]), 256);
        if (i >= 2) mbar_wait_cluster(smem(&empty[s]), (i / 2 - 1) & 1);
        asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.s32 [%0], %1, [%2];" ::"r"(mapa(smem(&box[s][t]), right)), "r"(v), "r"(mapa(smem(&full[s]), right)) : "memory");
        mbar_wait_cluster(smem(&full[s]), i / 2 & 1);
        v = box[s][t];
        mbar_arrive_remote(smem(&empty[s]), left);
        sum = sum * 3 + v;
    }
    out[blockIdx.x * 64 + t] = sum;
    cluster_sync();
}

// Block 0 gathers the others' shared arrays with copies between shared memories.
extern "C" __global__ void __cluster_dims__(4, 1, 1) gather_blocks(const int *in, int *out) {
    __shared__ __align__(128) int mine[128], all[4][128];
    __shared__ uint64_t bar;
    int t = threadIdx.x;
    uint32_t rank = cluster_rank();
    if (t == 0) mbar_init(smem(&bar), 1), mbar_init_done();
    mine[t] = in[blockIdx.x * 128 + t] * 5;
    fence_async();
    cluster_sync();
    if (rank == 0 && t == 0) mbar_expect(smem(&bar), 4 * 512);
    if (t == 0)
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(mapa(smem(all[rank]), 0)), "r"(smem(mine)), "r"(512), "r"(mapa(smem(&bar), 0))
                     : "memory");
    if (rank == 0) {
        mbar_wait_cluster(smem(&bar), 0);
        for (int r = 0; r < 4; r++) out[blockIdx.x / 4 * 512 + r * 128 + t] = all[r][t];
    }
    cluster_sync();
}

// red.async: additions into block 0's memory, counted as bytes on its barrier.
extern "C" __global__ void __cluster_dims__(4, 1, 1) asynchronous_sum(const unsigned *in, unsigned *out) {
    __shared__ unsigned sums[32];
    __shared__ uint64_t bar;
    int t = threadIdx.x;
    uint32_t rank = cluster_rank();
    sums[t] = 100;
    if (t == 0) mbar_init(smem(&bar), 1), mbar_init_done();
    if (t == 0 && rank == 0) mbar_expect(smem(&bar), 4 * 128);
    cluster_sync();
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" ::"r"(mapa(smem(&sums[t]), 0)), "r"(in[blockIdx.x * 32 + t]), "r"(mapa(smem(&bar), 0))
                 : "memory");
    if (rank == 0) {
        mbar_wait_cluster(smem(&bar), 0);
        out[blockIdx.x / 4 * 32 + t] = sums[t];
        __syncthreads();
        if (t == 0) asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(smem(&bar)) : "memory");
    }
    cluster_sync();
}

// Special registers of a two-dimensional cluster.
extern "C" __global__ void __cluster_dims__(2, 3, 1) cluster_registers(int *out) {
    int x, y, nx, ny, rank, size, cx, cy, ncx;
    asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(x));
    asm("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(y));
    asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(nx));
    asm("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(ny));
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(cx));
    asm("mov.u32 %0, %%clusterid.y;" : "=r"(cy));
    asm("mov.u32 %0, %%nclusterid.x;" : "=r"(ncx));
    int v[9] = {x, y, nx, ny, rank, size, cx, cy, ncx};
    for (int i = 0; i < 9; i++) out[(blockIdx.y * gridDim.x + blockIdx.x) * 9 + i] = v[i];
}
