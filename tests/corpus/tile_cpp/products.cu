// Matrix products in CUDA Tile C++: through views, persistent, through pointers, split along K, of gathered rows.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_tile.h>

namespace ct = cuda::tiles;

// The tile of a step: down `group` rows of tiles, then one column on.
struct Place {
    int m, n;
};

__tile__ inline Place grouped(int step, int tiles_m, int tiles_n, int group) {
    int width = group * tiles_n;
    int first = (step / width) * group;
    int height = ct::min(tiles_m - first, group);
    return {first + (step % width) % height, (step % width) / height};
}

// C = A B through views; extents are known when the kernel is made, as tuned kernels have them.
template <typename T, int M, int N, int K, int TM, int TN, int TK>
[[ using cutile : hint(1000, num_cta_in_cga=1), hint(1000, occupancy=1) ]]
__tile_global__ void product(const T* __restrict__ a_, const T* __restrict__ b_, T* __restrict__ c_) {
    auto a = ct::assume_aligned<16>(a_);
    auto b = ct::assume_aligned<16>(b_);
    auto c = ct::assume_aligned<16>(c_);
    constexpr int tiles_m = (M + TM - 1) / TM, tiles_n = (N + TN - 1) / TN;
    constexpr auto zero = ct::view_padding::zero;
    int step = ct::bid().x;
    Place at = grouped(step, tiles_m, tiles_n, 8);
    auto left = ct::partition_view{ct::tensor_span{a, ct::extents<uint32_t, M, K>{}}, ct::shape<TM, TK>{}};
    auto right = ct::partition_view{ct::tensor_span{b, ct::extents<uint32_t, K, N>{}}, ct::shape<TK, TN>{}};
    auto acc = ct::zeros<ct::tile<float, ct::shape<TM, TN>>>();
    for (auto k : ct::irange(0, (K + TK - 1) / TK)) {
        auto x = left.template load_masked<zero>(at.m, k);
        auto y = right.template load_masked<zero>(k, at.n);
        acc = ct::mma(x, y, acc);
    }
    auto out = ct::partition_view{ct::tensor_span{c, ct::extents<uint32_t, M, N>{}}, ct::shape<TM, TN>{}};
    out.store_masked(ct::element_cast<T>(acc), at.m, at.n);
}

template __tile_global__ void product<__half, 152, 104, 88, 64, 64, 32>(const __half*, const __half*, __half*);

// C = A Bt, persistent, extents given at launch; B is (N, K).
template <typename T, int TM, int TN, int TK>
__tile_global__ void persistent(
    const T* __restrict__ a_, const T* __restrict__ b_, T* __restrict__ c_, int M, int N, int K
) {
    auto a = ct::assume_aligned<16>(a_);
    auto b = ct::assume_aligned<16>(b_);
    auto c = ct::assume_aligned<16>(c_);
    constexpr auto zero = ct::view_padding::zero;
    int first = ct::bid().x, stride = ct::num_blocks().x;
    int tiles_m = (M + TM - 1) / TM, tiles_n = (N + TN - 1) / TN;
    auto left = ct::partition_view{ct::tensor_span{a, ct::extents{M, K}}, ct::shape<TM, TK>{}};
    auto right = ct::partition_view{ct::tensor_span{b, ct::extents{N, K}}, ct::shape<TN, TK>{}};
    auto out = ct::partition_view{ct::tensor_span{c, ct::extents{M, N}}, ct::shape<TM, TN>{}};
    for (auto step : ct::irange(first, tiles_m * tiles_n, stride)) {
        Place at = grouped(step, tiles_m, tiles_n, 2);
        auto acc = ct::zeros<ct::tile<float, ct::shape<TM, TN>>>();
        for (auto k : ct::irange(0, (K + TK - 1) / TK)) {
            auto x = left.template load_masked<zero>(at.m, k);
            auto y = ct::transpose(right.template load_masked<zero>(at.n, k));
            acc = ct::mma(x, y, acc);
        }
        out.store_masked(ct::element_cast<T>(acc), at.m, at.n);
    }
}

template __tile_global__ void persistent<__half, 64, 64, 32>(
    const __half*, const __half*, __half*, int, int, int);

// Batched, through pointers that step along K, every element masked.
template <typename T, int TM, int TN, int TK>
__tile_global__ void by_pointers(
    const T* __restrict__ a_, const T* __restrict__ b_, T* __restrict__ c_, int M, int N, int K
) {
    auto a = ct::assume_aligned<16>(a_);
    auto b = ct::assume_aligned<16>(b_);
    auto c = ct::assume_aligned<16>(c_);
    int m = ct::bid().x, n = ct::bid().y, batch = ct::bid().z;
    auto row = ct::reshape(ct::iota<ct::tile<int, ct::shape<TM>>>() + m * TM, ct::shape<TM, 1>{});
    auto col = ct::reshape(ct::iota<ct::tile<int, ct::shape<TN>>>() + n * TN, ct::shape<1, TN>{});
    auto along = ct::reshape(ct::iota<ct::tile<int, ct::shape<TK>>>(), ct::shape<1, TK>{});
    auto down = ct::reshape(ct::iota<ct::tile<int, ct::shape<TK>>>(), ct::shape<TK, 1>{});
    auto left = a + batch * M * K + row * K + along;
    auto right = b + batch * K * N + down * N + col;
    auto acc = ct::zeros<ct::tile<float, ct::shape<TM, TN>>>();
    auto none_a = ct::zeros<ct::tile<T, ct::shape<TM, TK>>>();
    auto none_b = ct::zeros<ct::tile<T, ct::shape<TK, TN>>>();
    for (auto k : ct::irange(0, (K + TK - 1) / TK)) {
        auto x = ct::load_masked(left, (row < M) & (along < K - k * TK), none_a);
        auto y = ct::load_masked(right, (down < K - k * TK) & (col < N), none_b);
        acc = ct::mma(x, y, acc);
        left = left + TK;
        right = right + TK * N;
    }
    ct::store_masked(c + batch * M * N + row * N + col, ct::element_cast<T>(acc), (row < M) & (col < N));
}

template __tile_global__ void by_pointers<__half, 64, 64, 32>(const __half*, const __half*, __half*, int, int, int);

// Each part of K adds to C atomically.
template <typename T, int TM, int TN, int TK, int PARTS>
__tile_global__ void split(
    const T* __restrict__ a_, const T* __restrict__ b_, float* __restrict__ c_, int M, int N, int K
) {
    auto a = ct::assume_aligned<16>(a_);
    auto b = ct::assume_aligned<16>(b_);
    auto c = ct::assume_aligned<16>(c_);
    constexpr auto zero = ct::view_padding::zero;
    int m = ct::bid().x, n = ct::bid().y, part = ct::bid().z;
    auto left = ct::partition_view{ct::tensor_span{a, ct::extents{M, K}}, ct::shape<TM, TK>{}};
    auto right = ct::partition_view{ct::tensor_span{b, ct::extents{K, N}}, ct::shape<TK, TN>{}};
    auto acc = ct::zeros<ct::tile<float, ct::shape<TM, TN>>>();
    for (auto k : ct::irange(part, (K + TK - 1) / TK, PARTS)) {
        acc = ct::mma(left.template load_masked<zero>(m, k), right.template load_masked<zero>(k, n), acc);
    }
    auto row = ct::reshape(ct::iota<ct::tile<int, ct::shape<TM>>>() + m * TM, ct::shape<TM, 1>{});
    auto col = ct::reshape(ct::iota<ct::tile<int, ct::shape<TN>>>() + n * TN, ct::shape<1, TN>{});
    auto there = (row < M) & (col < N);
    ct::atomic_add_masked(
        c + row * N + col, acc, there, ct::memory_order_relaxed_t{}, ct::thread_scope_device_t{});
}

template __tile_global__ void split<__half, 64, 64, 32, 2>(const __half*, const __half*, float*, int, int, int);

// Mixture of experts: rows of A by sorted (token, choice) numbers, one expert for each tile of rows.
template <typename T, int TM, int TN, int TK, int TOP>
__tile_global__ void experts(
    const T* __restrict__ a_,
    const T* __restrict__ b_,
    T* __restrict__ c_,
    const float* __restrict__ weight,
    const int* __restrict__ token,
    const int* __restrict__ expert,
    const int* __restrict__ used,
    int pairs,
    int N,
    int K
) {
    auto a = ct::assume_aligned<16>(a_);
    auto b = ct::assume_aligned<16>(b_);
    auto c = ct::assume_aligned<16>(c_);
    int m = ct::bid().x, n = ct::bid().y;
    int end = static_cast<int>(ct::load(used));
    if (m * TM < end) {
        auto pair = ct::load(token + (ct::iota<ct::tile<int, ct::shape<TM>>>() + m * TM));
        int which = static_cast<int>(ct::load(expert + m));
        auto there = ct::reshape(pair < pairs, ct::shape<TM, 1>{});
        auto along = ct::reshape(ct::iota<ct::tile<int, ct::shape<TK>>>(), ct::shape<1, TK>{});
        auto rows = a + ct::reshape(pair / TOP, ct::shape<TM, 1>{}) * K + along;
        auto right = ct::partition_view{
            ct::tensor_span{b, ct::extents{1 << 20, N, K}}, ct::shape<1, TN, TK>{}};
        auto acc = ct::zeros<ct::tile<float, ct::shape<TM, TN>>>();
        auto none = ct::zeros<ct::tile<T, ct::shape<TM, TK>>>();
        for (auto k : ct::irange(0, (K + TK - 1) / TK)) {
            auto x = ct::load_masked(rows + k * TK, there & (along < K - k * TK), none);
            auto y = right.template load_masked<ct::view_padding::zero>(which, n, k);
            acc = ct::mma(x, ct::transpose(ct::reshape(y, ct::shape<TN, TK>{})), acc);
        }
        auto share = ct::load_masked(weight + pair, pair < pairs, ct::zeros<ct::tile<float, ct::shape<TM>>>());
        acc = acc * ct::reshape(share, ct::shape<TM, 1>{});
        auto col = ct::reshape(ct::iota<ct::tile<int, ct::shape<TN>>>() + n * TN, ct::shape<1, TN>{});
        auto to = c + ct::reshape(pair, ct::shape<TM, 1>{}) * N + col;
        ct::store_masked(to, ct::element_cast<T>(acc), there & (col < N));
    }
}

template __tile_global__ void experts<__half, 64, 64, 32, 2>(
    const __half*, const __half*, __half*, const float*, const int*, const int*, const int*, int, int, int);
