// Blocks and warps that wait for each other: grids, queues, named barriers, mbarriers, calls through pointers.
#include "ptx.cuh"

// All blocks meet several times; a counter in global memory is the barrier. Jacobi steps on a ring of cells.
static __device__ void grid_sync(unsigned *counter, unsigned round) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(counter, 1u);
        while (*(volatile unsigned *)counter < round * gridDim.x) {
        }
        __threadfence();
    }
    __syncthreads();
}
extern "C" __global__ void grid_barrier(int *a, int *b, unsigned *counter, int rounds) {
    int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 1; r <= rounds; r++) {
        int left = __ldcg(&a[(i + n - 1) % n]), right = __ldcg(&a[(i + 1) % n]);
        __stcg(&b[i], left * 2 + right + r);
        grid_sync(counter, r);
        int *swap = a;
        a = b, b = swap;
    }
}

// Blocks take rows from a queue until it is empty; rows cost differently.
extern "C" __global__ void work_queue(const int *length, int *out, int rows, int *next, int *busy) {
    __shared__ int row;
    for (;;) {
        if (threadIdx.x == 0) row = atomicAdd(next, 1);
        __syncthreads();
        int r = row;
        __syncthreads();
        if (r >= rows) break;
        int sum = 0;
        for (int i = threadIdx.x; i < length[r]; i += blockDim.x) sum += i * i;
        for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
        if (threadIdx.x == 0) out[r] = sum, atomicAdd(busy, 1);
    }
}

// The last block to finish adds up what all have written.
extern "C" __global__ void last_block(const float *in, float *parts, unsigned *done, float *total) {
    __shared__ bool last;
    int i = blockIdx.x * 32 + threadIdx.x;
    float v = in[i];
    for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = v;
        __threadfence();
        last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
        __threadfence(); // acquires what the other blocks released
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float sum = 0;
        for (int b = 0; b < gridDim.x; b++) sum += __ldcg(&parts[b]);
        *total = sum;
    }
}

// Two teams of warps pass a buffer back and forth with named barriers: arrive on one, wait on the other.
extern "C" __global__ void named_barriers(const int *in, int *out, int rounds) {
    __shared__ int box[2][64];
    int t = threadIdx.x % 64;
    if (threadIdx.x < 64) {
        for (int r = 0; r < rounds; r++) {
            int s = r & 1;
            if (r >= 2) asm volatile("barrier.sync %0, 128;" ::"r"(3 + s) : "memory");
            box[s][t] = in[r * 64 + t];
            asm volatile("barrier.arrive %0, 128;" ::"r"(1 + s) : "memory");
        }
    } else {
        int sum = 0;
        for (int r = 0; r < rounds; r++) {
            int s = r & 1;
            asm volatile("barrier.sync %0, 128;" ::"r"(1 + s) : "memory");
            sum = sum * 5 + box[s][63 - t];
            if (r + 2 < rounds) asm volatile("barrier.arrive %0, 128;" ::"r"(3 + s) : "memory");
        }
        out[t] = sum;
    }
    // Reductions over a barrier.
    int odd = __syncthreads_count(in[threadIdx.x % 64] & 1), all = __syncthreads_and(in[t] > -10000), any = __syncthreads_or(in[t] == 123456);
    if (threadIdx.x == 0) out[64] = odd * 4 + (all != 0) * 2 + (any != 0);
}

// The wavefront of an edit distance: row i may go on where row i - 1 has been.
extern "C" __global__ void edit_distance(const char *a, const char *b, int *out, int n) {
    __shared__ int table[65][65];
    int t = threadIdx.x;
    table[0][t] = t, table[t][0] = t;
    if (t == 0) table[0][n] = n, table[n][0] = n;
    __syncthreads();
    for (int wave = 0; wave < 2 * n - 1; wave++) {
        int i = t + 1, j = wave - t + 1;
        if (j >= 1 && j <= n && i <= n) {
            int cost = a[blockIdx.x * n + i - 1] != b[blockIdx.x * n + j - 1];
            table[i][j] = min(min(table[i - 1][j], table[i][j - 1]) + 1, table[i - 1][j - 1] + cost);
        }
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = table[n][n];
}

// A hash table with open addressing: slots claimed by compare and swap, every key counted.
extern "C" __global__ void hash_table(const unsigned *keys, unsigned long long *table, unsigned slots, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned key = keys[i], at = key * 2654435761u % slots;
    for (;; at = (at + 1) % slots) {
        unsigned *slot = (unsigned *)&table[at], old = atomicCAS(slot, 0u, key);
        if (old == 0 || old == key) {
            atomicAdd(slot + 1, 1u);
            return;
        }
    }
}

typedef int (*Step)(int, int);
static __device__ __noinline__ int add(int a, int b) { return a + b; }
static __device__ __noinline__ int multiply(int a, int b) { return a * b; }
static __device__ __noinline__ int fibonacci(int a, int b) { return a < 2 ? a + b * 0 : fibonacci(a - 1, b) + fibonacci(a - 2, b); }
__device__ Step steps[3] = {add, multiply, fibonacci};

// Calls through a table of pointers, a different one per lane; recursion.
extern "C" __global__ void function_pointers(const int *which, int *out) {
    int t = threadIdx.x;
    out[t] = steps[which[t]](t % 11, 3) * 2;
}

#if __CUDA_ARCH__ >= 800
// mbarrier forms of sm_80: counts, tokens, test_wait, arrive_drop, pending counts, completion of cp.async.
extern "C" __global__ void mbarrier_tokens(const int *in, int *out) {
    __shared__ __align__(8) uint64_t bar, copied;
    __shared__ __align__(16) int tile[64];
    int t = threadIdx.x;
    if (t == 0) mbar_init(smem(&bar), 64), mbar_init(smem(&copied), 64);
    __syncthreads();
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(smem(&tile[t])), "l"(in + t) : "memory");
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(smem(&copied)) : "memory");
    uint32_t done = 0;
    while (!done) asm volatile("{\n.reg .pred p;\nmbarrier.test_wait.parity.shared.b64 p, [%1], 0;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(done) : "r"(smem(&copied)) : "memory");
    int v = tile[63 - t], pending;
    uint64_t token;
    // Half of the threads take part once, then drop out of the second phase.
    if (t < 32)
        asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(token) : "r"(smem(&bar)) : "memory");
    else
        asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(smem(&bar)) : "memory");
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(token));
    done = 0;
    while (!done) asm volatile("{\n.reg .pred p;\nmbarrier.test_wait.shared.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(done) : "r"(smem(&bar)), "l"(token) : "memory");
    // A token of the phase before the last one would never be seen to complete.
    __syncthreads();
    if (t >= 32) {
        asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(smem(&bar)) : "memory");
        done = 0;
        while (!done) asm volatile("{\n.reg .pred p;\nmbarrier.test_wait.shared.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(done) : "r"(smem(&bar)), "l"(token) : "memory");
    }
    out[t] = v * 3 + (pending >= 1 && pending <= 64);
}
#endif
