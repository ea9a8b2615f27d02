// CUDA Tile C++ beside ordinary CUDA in one program: nvcc puts Tile IR bytecode into the executable.

#include <cmath>
#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cuda_tile.h>
#include <vector>

namespace ct = cuda::tiles;

#define OK(call) \
    do { \
        cudaError_t error = (call); \
        if (error != cudaSuccess) { \
            printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(error)); \
            return 1; \
        } \
    } while (0)

__tile_global__ void axpy(float a, const float* x, float* y, int n) {
    using Ints = ct::tile<int, ct::shape<256>>;
    using Floats = ct::tile<float, ct::shape<256>>;
    auto at = ct::iota<Ints>() + static_cast<int>(ct::bid().x) * 256;
    auto inside = at < n;
    auto sum = ct::load_masked(x + at, inside, ct::zeros<Floats>()) * a
             + ct::load_masked(y + at, inside, ct::zeros<Floats>());
    ct::store_masked(y + at, sum, inside);
}

__tile_global__ void multiply(const __half* a_, const __half* b_, float* c_, int m, int n, int k) {
    auto a = ct::assume_aligned<16>(a_);
    auto b = ct::assume_aligned<16>(b_);
    auto c = ct::assume_aligned<16>(c_);
    auto av = ct::partition_view{ct::tensor_span{a, ct::extents{m, k}}, ct::shape<64, 32>{}};
    auto bv = ct::partition_view{ct::tensor_span{b, ct::extents{k, n}}, ct::shape<32, 64>{}};
    auto cv = ct::partition_view{ct::tensor_span{c, ct::extents{m, n}}, ct::shape<64, 64>{}};
    auto sum = ct::zeros<ct::tile<float, ct::shape<64, 64>>>();
    int i = ct::bid().x, j = ct::bid().y;
    for (auto s : ct::irange(0, k / 32)) sum = ct::mma(av.load(i, s), bv.load(s, j), sum);
    cv.store(sum, i, j);
}

__global__ void twice(float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] *= 2;
}

int main() {
    const int n = 1000, m = 128, k = 96;
    float *x, *y, *c;
    __half *a, *b;
    OK(cudaMallocManaged(&x, n * 4));
    OK(cudaMallocManaged(&y, n * 4));
    for (int i = 0; i < n; i++) x[i] = i, y[i] = 1;
    axpy<<<(n + 255) / 256, 1>>>(3.0f, x, y, n);
    OK(cudaGetLastError());
    twice<<<(n + 255) / 256, 256>>>(y, n);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++)
        if (y[i] != 6.0f * i + 2) return printf("axpy: %d: %g\n", i, y[i]), 1;

    OK(cudaMallocManaged(&a, m * k * 2));
    OK(cudaMallocManaged(&b, k * m * 2));
    OK(cudaMallocManaged(&c, m * m * 4));
    for (int i = 0; i < m * k; i++) a[i] = __float2half((i * 7 % 13) - 6), b[i] = __float2half((i * 5 % 11) - 5);
    multiply<<<dim3(m / 64, m / 64), 1>>>(a, b, c, m, m, k);
    OK(cudaGetLastError());
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            float sum = 0;
            for (int s = 0; s < k; s++) sum += __half2float(a[i * k + s]) * __half2float(b[s * m + j]);
            if (c[i * m + j] != sum) return printf("multiply: %d %d: %g, not %g\n", i, j, c[i * m + j], sum), 1;
        }
    puts("right");
    return 0;
}
