// A convolution of 3 × 3 as a product: TMA gathers the pixels of a tile for every place of the filter (im2col).
#include "wgmma.cuh"

static __device__ __forceinline__ void tma_im2col(uint32_t to, const Map *map, int c, int w, int h, int n, uint16_t dw, uint16_t dh, uint32_t bar) {
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};" ::"r"(to), "l"(map), "r"(c),
                 "r"(w), "r"(h), "r"(n), "r"(bar), "h"(dw), "h"(dh)
                 : "memory");
}

// 64 pixels of the result by 64 filters per block; 64 channels for each of the 9 places in turn, three stages.
extern "C" __global__ void __launch_bounds__(128) convolution(const __grid_constant__ Map image, const __grid_constant__ Map filters, float *out, int width, int height, int stride, int pixels) {
    constexpr int STAGES = 3;
    __shared__ __align__(1024) char pool[STAGES][2][8192];
    __shared__ uint64_t full[STAGES];
    int t = threadIdx.x, first = blockIdx.x * 64, w = first % width * stride - 1, h = first / width % height * stride - 1, n = first / (width * height);
    if (t == 0) {
        for (int s = 0; s < STAGES; s++) mbar_init(smem(&full[s]), 1);
        mbar_init_done();
    }
    __syncthreads();
    auto fetch = [&](int i) {
        uint32_t bar = smem(&full[i % STAGES]);
        mbar_expect(bar, 16384);
        tma_im2col(smem(pool[i % STAGES][0]), &image, 0, w, h, n, i % 3, i / 3, bar);
        tma_load_2d(smem(pool[i % STAGES][1]), &filters, 0, i * 64, bar);
    };
    if (t == 0)
        for (int i = 0; i < STAGES; i++) fetch(i);
    uint32_t d[32];
    for (int i = 0; i < 9; i++) {
        mbar_wait(smem(&full[i % STAGES]), i / STAGES & 1);
        uint64_t a = wgmma_descriptor(smem(pool[i % STAGES][0]), 16, 1024, 1), b = wgmma_descriptor(smem(pool[i % STAGES][1]), 16, 1024, 1);
        wgmma_fence();
        for (int k = 0; k < 4; k++) F16::ss(d, a + 2 * k, b + 2 * k, i + k);
        wgmma_commit();
        wgmma_wait<0>();
        __syncthreads();
        if (t == 0 && i + STAGES < 9) fetch(i + STAGES);
    }
    for (int j = 0; j < 32; j++) {
        int pixel = first + t / 32 * 16 + t % 32 / 4 + (j >> 1 & 1) * 8;
        if (pixel < pixels) out[(size_t)pixel * 64 + j / 4 * 8 + t % 4 * 2 + (j & 1)] = __uint_as_float(d[j]);
    }
}
