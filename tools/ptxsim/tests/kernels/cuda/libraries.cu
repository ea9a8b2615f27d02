// NVIDIA's header libraries: libcu++ barriers, pipelines and atomics, cooperative groups, CUB block primitives.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

// Two buffers filled by memcpy_async; a cuda::pipeline of two stages shared by the block.
extern "C" __global__ void block_pipeline(const int *in, int *out, int batches) {
    __shared__ int buffer[2][128];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    for (int ahead = 0, i = 0; i < batches; i++) {
        for (; ahead < batches && ahead < i + 2; ahead++) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, buffer[ahead % 2], in + ahead * 128, cuda::aligned_size_t<16>(512), pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        out[i * 128 + threadIdx.x] = buffer[i % 2][threadIdx.x ^ 5] + i;
        pipeline.consumer_release();
    }
}

// A pipeline of one thread: copies of its own, four deep.
extern "C" __global__ void thread_pipeline(const int4 *in, int4 *out, int n) {
    __shared__ int4 ring[4][64];
    auto pipeline = cuda::make_pipeline();
    int t = threadIdx.x;
    for (int i = 0; i < 3; i++) {
        pipeline.producer_acquire();
        cuda::memcpy_async(&ring[i][t], &in[i * 64 + t], cuda::aligned_size_t<16>(16), pipeline);
        pipeline.producer_commit();
    }
    for (int i = 0; i < n; i++) {
        pipeline.producer_acquire();
        if (i + 3 < n) cuda::memcpy_async(&ring[(i + 3) % 4][t], &in[(i + 3) * 64 + t], cuda::aligned_size_t<16>(16), pipeline);
        pipeline.producer_commit();
        cuda::pipeline_consumer_wait_prior<3>(pipeline);
        int4 v = ring[i % 4][t];
        out[i * 64 + t] = make_int4(v.w, v.z, v.y, v.x);
        pipeline.consumer_release();
    }
}

// Producer and consumer warps hand over buffers with four cuda::barriers.
extern "C" __global__ void producer_consumer(const int *in, int *out, int rounds) {
    __shared__ int buffer[2][96];
    __shared__ cuda::barrier<cuda::thread_scope_block> ready[2], filled[2];
    int t = threadIdx.x;
    if (t < 2) init(&ready[t], 128);
    if (t < 2) init(&filled[t], 128);
    __syncthreads();
    if (t < 32) {
        for (int i = 0; i < rounds; i++) {
            ready[i % 2].arrive_and_wait();
            for (int j = t; j < 96; j += 32) buffer[i % 2][j] = in[i * 96 + j] * 2;
            auto token = filled[i % 2].arrive();
            (void)token;
        }
    } else {
        auto first = ready[0].arrive(), second = ready[1].arrive();
        (void)first, (void)second;
        int sum = 0;
        for (int i = 0; i < rounds; i++) {
            filled[i % 2].arrive_and_wait();
            sum = sum * 7 + buffer[i % 2][t - 32];
            if (i + 2 < rounds) (void)ready[i % 2].arrive();
        }
        out[t - 32] = sum;
    }
}

// A barrier that counts the bytes of a bulk copy, as memcpy_async with a barrier does on sm_90.
extern "C" __global__ void barrier_copy(const double *in, double *out) {
    __shared__ alignas(16) double tile[256];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) init(&bar, block.size());
    block.sync();
    cuda::memcpy_async(block, tile, in, cuda::aligned_size_t<16>(sizeof tile), bar);
    bar.arrive_and_wait();
    for (int i = threadIdx.x; i < 256; i += 64) out[i] = tile[255 - i];
}

// Tiles of every width: reduce, exclusive scan, ballots of partitions, groups of the lanes that happen to be active.
extern "C" __global__ void groups(const int *in, int *out, float *scans) {
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto eight = cg::tiled_partition<8>(warp);
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];
    int sum = cg::reduce(warp, v, cg::plus<int>()), least = cg::reduce(eight, v, cg::less<int>());
    int before = cg::exclusive_scan(eight, v, cg::plus<int>());
    float running = cg::inclusive_scan(warp, (float)v, [](float a, float b) { return a > b ? a : b; });
    int peers = 0, odd_sum = 0;
    if (v & 1) {
        auto active = cg::coalesced_threads();
        peers = active.size() * 100 + active.thread_rank();
        odd_sum = cg::reduce(active, v, cg::plus<int>());
    }
    auto same = cg::labeled_partition(warp, v & 3);
    int label = cg::reduce(same, v, cg::greater<int>());
    int *row = out + i * 6;
    row[0] = sum, row[1] = least, row[2] = before, row[3] = peers, row[4] = odd_sum, row[5] = label;
    scans[i] = running;
    __shared__ int staged[128];
    cg::memcpy_async(block, staged, in + blockIdx.x * 128, sizeof(int) * 128);
    cg::wait(block);
    scans[gridDim.x * 128 + i] = staged[127 - threadIdx.x];
}

#if __CUDA_ARCH__ >= 900
// Cooperative groups' clusters: neighbours' shared memory through generic pointers.
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_group(const int *in, int *out) {
    __shared__ int value[32];
    auto cluster = cg::this_cluster();
    int t = threadIdx.x;
    value[t] = in[blockIdx.x * 32 + t];
    cluster.sync();
    int sum = 0;
    for (unsigned r = 0; r < cluster.num_blocks(); r++) sum += cluster.map_shared_rank(value, (cluster.block_rank() + r) % 4)[(t + r) % 32] * (int)(r + 1);
    out[blockIdx.x * 32 + t] = sum;
    cluster.sync();
}
#endif

// CUB: load striped, radix sort of pairs, store; sums and maxima; inclusive scan with a running prefix; histogram.
extern "C" __global__ void block_sort(const unsigned *keys, const short *values, unsigned *keys_out, short *values_out) {
    using Load = cub::BlockLoad<unsigned, 128, 4, cub::BLOCK_LOAD_TRANSPOSE>;
    using Sort = cub::BlockRadixSort<unsigned, 128, 4, short>;
    using Store = cub::BlockStore<unsigned, 128, 4, cub::BLOCK_STORE_WARP_TRANSPOSE>;
    __shared__ union {
        Load::TempStorage load;
        Sort::TempStorage sort;
        Store::TempStorage store;
    } s;
    unsigned k[4];
    short v[4];
    Load(s.load).Load(keys + blockIdx.x * 512, k);
    for (int i = 0; i < 4; i++) v[i] = values[blockIdx.x * 512 + threadIdx.x * 4 + i];
    __syncthreads();
    Sort(s.sort).Sort(k, v);
    __syncthreads();
    Store(s.store).Store(keys_out + blockIdx.x * 512, k);
    for (int i = 0; i < 4; i++) values_out[blockIdx.x * 512 + threadIdx.x * 4 + i] = v[i];
}

extern "C" __global__ void block_primitives(const int *in, int *sums, int *scans, unsigned *bins) {
    using Reduce = cub::BlockReduce<int, 128>;
    using Scan = cub::BlockScan<int, 128, cub::BLOCK_SCAN_RAKING>;
    using Histogram = cub::BlockHistogram<unsigned char, 128, 2, 64>;
    __shared__ Reduce::TempStorage reduce;
    __shared__ Scan::TempStorage scan;
    __shared__ Histogram::TempStorage histogram;
    __shared__ unsigned local[64];
    int t = threadIdx.x, v[2] = {in[blockIdx.x * 256 + t * 2], in[blockIdx.x * 256 + t * 2 + 1]};
    int sum = Reduce(reduce).Sum(v);
    __syncthreads();
    int top = Reduce(reduce).Reduce(max(v[0], v[1]), [](int a, int b) { return max(a, b); });
    if (t == 0) sums[blockIdx.x * 2] = sum, sums[blockIdx.x * 2 + 1] = top;
    unsigned char c[2] = {(unsigned char)(v[0] & 63), (unsigned char)(v[1] & 63)};
    Histogram(histogram).Histogram(c, local);
    __syncthreads();
    if (t < 64) bins[blockIdx.x * 64 + t] = local[t];
    int total;
    Scan(scan).ExclusiveSum(v, v, total);
    scans[blockIdx.x * 256 + t * 2] = v[0], scans[blockIdx.x * 256 + t * 2 + 1] = v[1];
    if (t == 0) scans[gridDim.x * 256 + blockIdx.x] = total;
}

// libcu++ atomics of every order and a flag between blocks.
extern "C" __global__ void typed_atomics(const int *in, int *out, int *counters, int *flag, double *real) {
    cuda::atomic_ref<int, cuda::thread_scope_device> sum(counters[0]), most(counters[1]), published(*flag);
    cuda::atomic_ref<double, cuda::thread_scope_device> total(*real);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    sum.fetch_add(in[i], cuda::memory_order_relaxed), most.fetch_max(in[i]);
    total.fetch_add(0.25 * in[i], cuda::memory_order_relaxed);
    if (i == 0) {
        out[0] = 4711;
        published.store(1, cuda::memory_order_release);
    }
    if (i == (int)(gridDim.x * blockDim.x) - 1) {
        while (published.load(cuda::memory_order_acquire) == 0) {
        }
        out[1] = out[0] + 1;
    }
}
