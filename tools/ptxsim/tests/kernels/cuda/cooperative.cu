// Kernels whose blocks wait for each other: the grid barrier of cooperative groups, in a cooperative launch.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

// Steps of heat flow along a rod; every step needs the neighbours of the step before, across blocks.
extern "C" __global__ void heat(float *from, float *to, int n, int steps) {
    cg::grid_group grid = cg::this_grid();
    float *a = from, *b = to;
    for (int s = 0; s < steps; s++) {
        for (int i = grid.thread_rank(); i < n; i += grid.size()) {
            float left = a[i ? i - 1 : 0], right = a[i < n - 1 ? i + 1 : n - 1];
            b[i] = __fadd_rn(a[i], __fmul_rn(0.25f, __fsub_rn(__fadd_rn(left, right), __fmul_rn(2.0f, a[i]))));
        }
        grid.sync();
        float *t = a;
        a = b, b = t;
    }
}

// The mean in one pass over the grid, then every element minus it: no second kernel.
extern "C" __global__ void centre(const int *x, int *sums, int *out, int n) {
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    int mine = 0;
    for (int i = grid.thread_rank(); i < n; i += grid.size()) mine += x[i];
    mine = cg::reduce(warp, mine, cg::plus<int>());
    if (warp.thread_rank() == 0) atomicAdd(&sums[grid.block_rank()], mine);
    cg::grid_group::arrival_token token = grid.barrier_arrive();
    grid.barrier_wait(static_cast<cg::grid_group::arrival_token &&>(token));
    int total = 0;
    for (unsigned b = 0; b < grid.num_blocks(); b++) total += sums[b];
    for (int i = grid.thread_rank(); i < n; i += grid.size()) out[i] = x[i] - total / n;
}
