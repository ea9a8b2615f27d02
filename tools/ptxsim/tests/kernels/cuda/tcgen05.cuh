// Tensor memory: one product on operands that the launch has laid out, and the words of D afterwards.
#pragma once
#include "ptx.cuh"

template <int GROUP> static __device__ __forceinline__ uint32_t tensor_alloc(uint32_t slot, int columns) {
    if (threadIdx.x < 32) {
        if (GROUP == 2) {
            asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(slot), "r"(columns) : "memory");
            asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;" ::: "memory");
        } else {
            asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(slot), "r"(columns) : "memory");
            asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::: "memory");
        }
    }
    __syncthreads();
    uint32_t address;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(address) : "r"(slot) : "memory");
    return address;
}
template <int GROUP> static __device__ __forceinline__ void tensor_dealloc(uint32_t address, int columns) {
    if (GROUP == 2) cluster_sync();
    __syncthreads();
    if (threadIdx.x < 32) {
        if (GROUP == 2)
            asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, %1;" ::"r"(address), "r"(columns) : "memory");
        else
            asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(address), "r"(columns) : "memory");
    }
}
static __device__ __forceinline__ void tensor_before() { asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory"); }
static __device__ __forceinline__ void tensor_after() { asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); }
static __device__ __forceinline__ void tensor_store(uint32_t at, uint32_t v) { asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(at), "r"(v) : "memory"); }
static __device__ __forceinline__ void tensor_stored() { asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory"); }
static __device__ __forceinline__ uint32_t tensor_load(uint32_t at) {
    uint32_t v;
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];\ntcgen05.wait::ld.sync.aligned;" : "=r"(v) : "r"(at) : "memory");
    return v;
}

// The operands of one launch.
struct Job {
    uint64_t a, b;              // shared-memory descriptors, without their start addresses
    uint64_t a_step, b_step;    // added for each further step of k
    uint64_t mask;              // zero columns of .ws
    uint32_t instruction;       // instruction descriptor
    uint32_t steps;             // products
    uint32_t shared;            // bytes of shared memory to fill
    uint32_t b_at;              // where B begins
    uint32_t d_columns;         // columns of D
    uint32_t words;             // columns of tensor memory to fill behind D's 256
    uint32_t d_lane;            // lane of D's, A's and the metadata's address
    uint32_t tensor_a, a_words; // column of A, columns of a step
    uint32_t scale_a, scale_b;  // columns of the scale factors, of which each step has ...
    uint32_t scale_a_words, scale_b_words;
    uint32_t metadata, metadata_words; // column of the metadata, of which each step has ...
    uint32_t accumulate;        // the first product adds to D
    uint32_t disabled[8];       // disable-output-lane
};

// Form: the instruction with p for enable-input-d, over the operands
// %0 [d], %1 a-desc, %2 b-desc, %3 idesc, %5 [a], %6 [scale-A], %7 [scale-B], %8 [meta], %9 mask, %10... disabled lanes
#define FORM(NAME, PAIR, TEXT)                                                                                                                           \
    struct NAME##_form {                                                                                                                                 \
        static constexpr int GROUP = PAIR;                                                                                                               \
        static __device__ __forceinline__ void issue(uint32_t d, uint64_t a, uint64_t b, uint32_t i, int add, uint32_t ta, uint32_t sa, uint32_t sb,     \
                                                     uint32_t m, const Job &j) {                                                                         \
            asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\n" TEXT "\n}" ::"r"(d), "l"(a), "l"(b), "r"(i), "r"(add), "r"(ta), "r"(sa), "r"(sb),    \
                         "r"(m), "l"(j.mask), "r"(j.disabled[0]), "r"(j.disabled[1]), "r"(j.disabled[2]), "r"(j.disabled[3]), "r"(j.disabled[4]),          \
                         "r"(j.disabled[5]), "r"(j.disabled[6]), "r"(j.disabled[7])                                                                      \
                         : "memory");                                                                                                                    \
        }                                                                                                                                                \
    };                                                                                                                                                   \
    extern "C" __global__ void __launch_bounds__(128) NAME(const uint4 *shared, const uint32_t *tensor, uint32_t *d, const __grid_constant__ Job job) {  \
        product<NAME##_form>(shared, tensor, d, job);                                                                                                    \
    }

// Every block fills its shared memory and its tensor memory (D's columns first, then what lies behind them), one thread of
// the first block multiplies, every block writes the words of D. Blocks of a pair are a cluster.
template <class Form> static __device__ __forceinline__ void product(const uint4 *shared, const uint32_t *tensor, uint32_t *d, const Job &job) {
    extern __shared__ __align__(1024) uint4 pool[];
    __shared__ uint32_t slot;
    __shared__ uint64_t bar;
    int t = threadIdx.x, block = blockIdx.x, columns = job.d_columns + job.words;
    for (int i = t; i < job.shared / 16; i += 128) pool[i] = shared[block * (job.shared / 16) + i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    if (t == 0) {
        mbar_init(smem(&bar), 1);
        mbar_init_done();
    }
    uint32_t base = tensor_alloc<Form::GROUP>(smem(&slot), 512), lanes = base + (t / 32 << 21);
    for (int c = 0; c < columns; c++) {
        int to = c < job.d_columns ? c : 256 + c - job.d_columns;
        tensor_store(lanes + to, tensor[(block * 128 + t) * columns + c]);
    }
    tensor_stored();
    tensor_before();
    __syncthreads();
    if (Form::GROUP == 2) cluster_sync();
    if (t == 0 && block == 0) {
        tensor_after();
        uint32_t place = job.d_lane << 16, at = smem(pool) >> 4;
        for (int s = 0; s < job.steps; s++) {
            uint32_t rest = base + 256;
            Form::issue(base + place, job.a + at + s * job.a_step, job.b + at + (job.b_at >> 4) + s * job.b_step, job.instruction, s || job.accumulate,
                        rest + place + job.tensor_a + s * job.a_words, rest + job.scale_a + s * job.scale_a_words,
                        rest + job.scale_b + s * job.scale_b_words, rest + place + job.metadata + s * job.metadata_words, job);
        }
        if (Form::GROUP == 2)
            asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::"r"(smem(&bar)), "h"((short)3) : "memory");
        else
            asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(smem(&bar)) : "memory");
    }
    __syncwarp();
    mbar_wait_cluster(smem(&bar), 0);
    tensor_after();
    for (int c = 0; c < job.d_columns; c++) d[(block * 128 + t) * job.d_columns + c] = tensor_load(lanes + c);
    tensor_before();
    tensor_dealloc<Form::GROUP>(base, 512);
}
