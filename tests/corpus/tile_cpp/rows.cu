// What production kernels do to rows, in CUDA Tile C++: norms, softmax, rotations, gates, sums over parts, dropout.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_tile.h>

namespace ct = cuda::tiles;

template <int N> using Ints = ct::tile<int, ct::shape<N>>;
template <int N> using Floats = ct::tile<float, ct::shape<N>>;

// A row read twice through masked pointers.
template <typename T, int BLOCK>
__tile_global__ void rms_norm(
    const T* __restrict__ x, const T* __restrict__ w, T* __restrict__ y, float* __restrict__ inverse,
    int stride, int width, float eps
) {
    using Tile = ct::tile<T, ct::shape<BLOCK>>;
    int row = ct::bid().x;
    auto from = ct::assume_aligned<16>(x + row * stride);
    auto to = ct::assume_aligned<16>(y + row * stride);
    auto weights = ct::assume_aligned<16>(w);
    auto squares = ct::zeros<Floats<BLOCK>>();
    int steps = (width + BLOCK - 1) / BLOCK;
    for (auto j : ct::irange(0, steps)) {
        auto col = ct::iota<Ints<BLOCK>>() + j * BLOCK;
        Tile raw;
        [[ using cutile : hint(1000, latency=1) ]]
        raw = ct::load_masked(from + col, col < width, ct::zeros<Tile>());
        auto t = ct::element_cast<float>(raw);
        squares = squares + t * t;
    }
    float factor = ct::rsqrt(static_cast<float>(ct::sum<0>(squares)) / width + eps);
    inverse[row] = factor;
    for (auto j : ct::irange(0, steps)) {
        auto col = ct::iota<Ints<BLOCK>>() + j * BLOCK;
        auto inside = col < width;
        auto t = ct::element_cast<float>(ct::load_masked(from + col, inside, ct::zeros<Tile>()));
        auto s = ct::element_cast<float>(ct::load_masked(weights + col, inside, ct::zeros<Tile>()));
        ct::store_masked(to + col, ct::element_cast<T>(t * factor * s), inside);
    }
}

template __tile_global__ void rms_norm<__half, 256>(
    const __half*, const __half*, __half*, float*, int, int, float);

// Several rows a tile, persistent.
template <typename T, int ROWS, int BLOCK>
__tile_global__ void layer_norm(
    const T* __restrict__ x_, const T* __restrict__ w_, const T* __restrict__ b_, T* __restrict__ y_,
    int rows, int width, float eps
) {
    auto x = ct::assume_aligned<16>(x_);
    auto w = ct::assume_aligned<16>(w_);
    auto b = ct::assume_aligned<16>(b_);
    auto y = ct::assume_aligned<16>(y_);
    constexpr auto zero = ct::view_padding::zero;
    auto from = ct::partition_view{ct::tensor_span{x, ct::extents{rows, width}}, ct::shape<ROWS, BLOCK>{}};
    auto to = ct::partition_view{ct::tensor_span{y, ct::extents{rows, width}}, ct::shape<ROWS, BLOCK>{}};
    auto scales = ct::partition_view{ct::tensor_span{w, ct::extents{width}}, ct::shape<BLOCK>{}};
    auto shifts = ct::partition_view{ct::tensor_span{b, ct::extents{width}}, ct::shape<BLOCK>{}};
    auto scale = ct::element_cast<float>(ct::reshape(scales.template load_masked<zero>(0), ct::shape<1, BLOCK>{}));
    auto shift = ct::element_cast<float>(ct::reshape(shifts.template load_masked<zero>(0), ct::shape<1, BLOCK>{}));
    auto inside = ct::reshape(ct::iota<Ints<BLOCK>>() < width, ct::shape<1, BLOCK>{});
    using Tile = ct::tile<float, ct::shape<ROWS, BLOCK>>;
    int first = ct::bid().x, stride = ct::num_blocks().x;
    for (auto step : ct::irange(first, (rows + ROWS - 1) / ROWS, stride)) {
        auto t = ct::element_cast<float>(from.template load_masked<zero>(step, 0));
        auto middle = ct::sum(t, ct::integral_constant<1>{}) / static_cast<float>(width);
        auto away = ct::select(inside, t - middle, ct::zeros<Tile>());
        auto spread = ct::sum(away * away, ct::integral_constant<1>{}) / static_cast<float>(width);
        auto right = away * ct::rsqrt(spread + eps) * scale + shift;
        to.store_masked(ct::element_cast<T>(right), step, 0);
    }
}

template __tile_global__ void layer_norm<__half, 4, 256>(
    const __half*, const __half*, const __half*, __half*, int, int, float);

// A pass for peak and sum, a pass that writes; scalars are carried around the loop.
template <typename T, int BLOCK>
__tile_global__ void softmax(const T* __restrict__ x, T* __restrict__ y, int stride, int width) {
    using Tile = ct::tile<T, ct::shape<BLOCK>>;
    int row = ct::bid().x;
    auto from = ct::assume_aligned<16>(x + row * stride);
    auto to = ct::assume_aligned<16>(y + row * stride);
    auto low = ct::full<Floats<BLOCK>>(-1.0e30f);
    float peak = -1.0e30f, total = 0.0f;
    int steps = (width + BLOCK - 1) / BLOCK;
    for (auto j : ct::irange(0, steps)) {
        auto col = ct::iota<Ints<BLOCK>>() + j * BLOCK;
        auto inside = col < width;
        auto t = ct::element_cast<float>(ct::load_masked(from + col, inside, ct::zeros<Tile>()));
        t = ct::select(inside, t, low);
        float new_peak = ct::max(peak, static_cast<float>(ct::reduce_max(t, ct::integral_constant<0>{})));
        total = total * ct::exp(peak - new_peak) + static_cast<float>(ct::sum<0>(ct::exp(t - new_peak)));
        peak = new_peak;
    }
    for (auto j : ct::irange(0, steps)) {
        auto col = ct::iota<Ints<BLOCK>>() + j * BLOCK;
        auto inside = col < width;
        auto t = ct::element_cast<float>(ct::load_masked(from + col, inside, ct::zeros<Tile>()));
        ct::store_masked(to + col, ct::element_cast<T>(ct::exp(t - peak) / total), inside);
    }
}

template __tile_global__ void softmax<__half, 128>(const __half*, __half*, int, int);

// Rotary embedding in place: x is (row, head, 2 HALF), one row of angles for each row.
template <typename T, int HEADS, int HALF>
__tile_global__ void rotate(T* __restrict__ x_, const T* __restrict__ cos, const T* __restrict__ sin, int heads) {
    auto x = ct::assume_aligned<16>(x_);
    int row = ct::bid().x;
    auto head = ct::reshape(ct::iota<Ints<HEADS>>(), ct::shape<HEADS, 1>{});
    auto place = ct::reshape(ct::iota<Ints<HALF>>(), ct::shape<1, HALF>{});
    auto there = (head < heads) & (place < HALF);
    auto low_at = x + row * heads * 2 * HALF + head * (2 * HALF) + place;
    auto high_at = low_at + HALF;
    auto none = ct::zeros<ct::tile<T, ct::shape<HEADS, HALF>>>();
    auto c = ct::element_cast<float>(ct::load(cos + row * HALF + place));
    auto s = ct::element_cast<float>(ct::load(sin + row * HALF + place));
    auto low = ct::element_cast<float>(ct::load_masked(low_at, there, none));
    auto high = ct::element_cast<float>(ct::load_masked(high_at, there, none));
    ct::store_masked(low_at, ct::element_cast<T>(low * c - high * s), there);
    ct::store_masked(high_at, ct::element_cast<T>(high * c + low * s), there);
}

template __tile_global__ void rotate<__half, 8, 32>(__half*, const __half*, const __half*, int);

// silu of the first half of a row times the second half.
template <typename T, int BLOCK>
__tile_global__ void silu_and_multiply(const T* __restrict__ x, T* __restrict__ y, int width) {
    using Tile = ct::tile<T, ct::shape<BLOCK>>;
    int row = ct::bid().x, part = ct::bid().y;
    auto from = ct::assume_aligned<16>(x + row * 2 * width);
    auto to = ct::assume_aligned<16>(y + row * width);
    auto col = ct::iota<Ints<BLOCK>>() + part * BLOCK;
    auto inside = col < width;
    auto gate = ct::element_cast<float>(ct::load_masked(from + col, inside, ct::zeros<Tile>()));
    auto up = ct::element_cast<float>(ct::load_masked(from + (col + width), inside, ct::zeros<Tile>()));
    auto right = gate / (1.0f + ct::exp(-gate)) * up;
    ct::store_masked(to + col, ct::element_cast<T>(right), inside);
}

template __tile_global__ void silu_and_multiply<__half, 256>(const __half*, __half*, int);

// A hash of seed and position decides what stays.
template <typename T, int BLOCK>
__tile_global__ void dropout(const T* __restrict__ x_, T* __restrict__ y_, int count, unsigned seed, float keep) {
    using Tile = ct::tile<T, ct::shape<BLOCK>>;
    auto x = ct::assume_aligned<16>(x_);
    auto y = ct::assume_aligned<16>(y_);
    int block = ct::bid().x;
    auto place = ct::iota<Ints<BLOCK>>() + block * BLOCK;
    auto inside = place < count;
    auto h = ct::element_cast<unsigned>(place) + seed;
    h = (h ^ (h >> 16u)) * 0x7FEB352Du;
    h = (h ^ (h >> 15u)) * 0x846CA68Bu;
    h = h ^ (h >> 16u);
    auto share = ct::element_cast<float>(h >> 8u) * (1.0f / 16777216.0f);
    auto t = ct::element_cast<float>(ct::load_masked(x + place, inside, ct::zeros<Tile>()));
    auto kept = ct::select(share < keep, t / keep, ct::zeros<Floats<BLOCK>>());
    ct::store_masked(y + place, ct::element_cast<T>(kept), inside);
}

template __tile_global__ void dropout<__half, 256>(const __half*, __half*, int, unsigned, float);

// f8E4M3FN with one factor for each row of a group of columns.
template <typename T, int GROUP>
__tile_global__ void quantize(
    const T* __restrict__ x, __nv_fp8_e4m3* __restrict__ q, float* __restrict__ scale, int width
) {
    using Tile = ct::tile<T, ct::shape<GROUP>>;
    int row = ct::bid().x, group = ct::bid().y, groups = ct::num_blocks().y;
    auto col = ct::iota<Ints<GROUP>>() + group * GROUP;
    auto inside = col < width;
    auto t = ct::element_cast<float>(ct::load_masked(x + (row * width + col), inside, ct::zeros<Tile>()));
    float largest = static_cast<float>(ct::reduce_max(ct::abs(t), ct::integral_constant<0>{}));
    float factor = ct::max(largest, 1.0e-10f) / 448.0f;
    ct::store_masked(q + (row * width + col), ct::element_cast<__nv_fp8_e4m3>(t / factor), inside);
    scale[row * groups + group] = factor;
}

template __tile_global__ void quantize<__half, 128>(const __half*, __nv_fp8_e4m3*, float*, int);
