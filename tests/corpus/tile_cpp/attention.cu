// Attention in CUDA Tile C++: forward, decode over spans of keys, and the join of the spans.

#include <cuda_fp16.h>
#include <cuda_tile.h>

namespace ct = cuda::tiles;

// Causal, one tile of queries of a head; heads in groups share keys. Arrays are (head, row, D).
template <typename T, int D, int TM, int TN, int GROUP, bool CAUSAL>
__tile_global__ void forward(
    const T* __restrict__ q_, const T* __restrict__ k_, const T* __restrict__ v_, T* __restrict__ out_,
    int heads, int queries, int keys, float scale
) {
    using Score = ct::tile<float, ct::shape<TM, TN>>;
    auto q = ct::assume_aligned<16>(q_);
    auto k = ct::assume_aligned<16>(k_);
    auto v = ct::assume_aligned<16>(v_);
    auto out = ct::assume_aligned<16>(out_);
    constexpr auto zero = ct::view_padding::zero;
    int block = ct::bid().x, head = ct::bid().y;
    auto q_view = ct::partition_view{ct::tensor_span{q, ct::extents{heads, queries, D}}, ct::shape<1, TM, D>{}};
    auto k_view = ct::partition_view{ct::tensor_span{k, ct::extents{heads / GROUP, keys, D}}, ct::shape<1, TN, D>{}};
    auto v_view = ct::partition_view{ct::tensor_span{v, ct::extents{heads / GROUP, keys, D}}, ct::shape<1, TN, D>{}};
    auto query = ct::reshape(q_view.template load_masked<zero>(head, block, 0), ct::shape<TM, D>{});
    auto row = ct::reshape(ct::iota<ct::tile<int, ct::shape<TM>>>() + block * TM, ct::shape<TM, 1>{});
    auto peak = ct::full<ct::tile<float, ct::shape<TM, 1>>>(-1.0e30f);
    auto total = ct::zeros<ct::tile<float, ct::shape<TM, 1>>>();
    auto acc = ct::zeros<ct::tile<float, ct::shape<TM, D>>>();
    float factor = scale * 1.44269504f;
    int end = CAUSAL ? ct::min((block + 1) * TM, keys) : keys;
    for (auto j : ct::irange(0, (end + TN - 1) / TN)) {
        auto key = ct::reshape(k_view.template load_masked<zero>(head / GROUP, j, 0), ct::shape<TN, D>{});
        auto score = ct::mma(query, ct::transpose(key), ct::zeros<Score>()) * factor;
        auto col = ct::reshape(ct::iota<ct::tile<int, ct::shape<TN>>>() + j * TN, ct::shape<1, TN>{});
        if (CAUSAL || (j + 1) * TN > keys) {
            auto seen = (col < keys) & (CAUSAL ? col <= row : col < col + 1 + row);
            score = ct::select(seen, score, ct::full<Score>(-1.0e30f));
        }
        auto new_peak = ct::max(peak, ct::reduce_max(score, ct::integral_constant<1>{}));
        auto weights = ct::exp2(score - new_peak);
        auto shrink = ct::exp2(peak - new_peak);
        total = total * shrink + ct::sum(weights, ct::integral_constant<1>{});
        auto value = ct::reshape(v_view.template load_masked<zero>(head / GROUP, j, 0), ct::shape<TN, D>{});
        acc = ct::mma(ct::element_cast<T>(weights), value, acc * shrink);
        peak = new_peak;
    }
    auto o_view = ct::partition_view{ct::tensor_span{out, ct::extents{heads, queries, D}}, ct::shape<1, TM, D>{}};
    auto right = ct::element_cast<T>(acc / total);
    o_view.store_masked(ct::reshape(right, ct::shape<1, TM, D>{}), head, block, 0);
}

template __tile_global__ void forward<__half, 64, 64, 32, 2, true>(
    const __half*, const __half*, const __half*, __half*, int, int, int, float);

// One query for each of G heads that share keys, a span of keys a block: keys are the rows of the products.
template <typename T, int D, int G, int TN, int SPAN>
__tile_global__ void decode(
    const T* __restrict__ q_, const T* __restrict__ k_, const T* __restrict__ v_, float* __restrict__ part_,
    float* __restrict__ lse_, int group, int keys, float scale
) {
    using Score = ct::tile<float, ct::shape<TN, G>>;
    auto q = ct::assume_aligned<16>(q_);
    auto k = ct::assume_aligned<16>(k_);
    auto v = ct::assume_aligned<16>(v_);
    auto part = ct::assume_aligned<16>(part_);
    auto lse = ct::assume_aligned<16>(lse_);
    constexpr auto zero = ct::view_padding::zero;
    int head = ct::bid().x, split = ct::bid().y, heads = ct::num_blocks().x, splits = ct::num_blocks().y;
    auto q_view = ct::partition_view{ct::tensor_span{q, ct::extents{heads, group, D}}, ct::shape<1, G, D>{}};
    auto k_view = ct::partition_view{ct::tensor_span{k, ct::extents{heads, keys, D}}, ct::shape<1, TN, D>{}};
    auto v_view = ct::partition_view{ct::tensor_span{v, ct::extents{heads, keys, D}}, ct::shape<1, TN, D>{}};
    auto query = ct::transpose(ct::reshape(q_view.template load_masked<zero>(head, 0, 0), ct::shape<G, D>{}));
    auto peak = ct::full<ct::tile<float, ct::shape<1, G>>>(-1.0e30f);
    auto total = ct::zeros<Score>();
    auto acc = ct::zeros<ct::tile<float, ct::shape<D, G>>>();
    float factor = scale * 1.44269504f;
    int end = ct::min((split + 1) * SPAN, keys);
    for (auto j : ct::irange(split * (SPAN / TN), (end + TN - 1) / TN)) {
        auto key = ct::reshape(k_view.template load_masked<zero>(head, j, 0), ct::shape<TN, D>{});
        auto score = ct::mma(key, query, ct::zeros<Score>()) * factor;
        auto row = ct::reshape(ct::iota<ct::tile<int, ct::shape<TN>>>() + j * TN, ct::shape<TN, 1>{});
        score = ct::select(row < end, score, ct::full<Score>(-1.0e30f));
        auto new_peak = ct::max(peak, ct::reduce_max(score, ct::integral_constant<0>{}));
        auto weights = ct::exp2(score - new_peak);
        auto shrink = ct::exp2(peak - new_peak);
        total = total * shrink + weights;
        auto value = ct::reshape(v_view.template load_masked<zero>(head, j, 0), ct::shape<TN, D>{});
        acc = ct::mma(ct::transpose(value), ct::element_cast<T>(weights), acc * shrink);
        peak = new_peak;
    }
    auto sums = ct::sum(total, ct::integral_constant<0>{});
    auto place = ct::iota<ct::tile<int, ct::shape<G>>>();
    auto sum_row = ct::reshape(peak + ct::log2(sums), ct::shape<G>{});
    ct::store_masked(lse + ((head * group + place) * splits + split), sum_row, place < group);
    auto across = ct::reshape(ct::iota<ct::tile<int, ct::shape<D>>>(), ct::shape<1, D>{});
    auto down = ct::reshape(place, ct::shape<G, 1>{});
    auto to = part + ((head * group + down) * splits + split) * D + across;
    auto held = (down < group) & (across < D);
    ct::store_masked(to, ct::transpose(acc / sums), held);
}

template __tile_global__ void decode<__half, 64, 16, 32, 64>(
    const __half*, const __half*, const __half*, float*, float*, int, int, float);

// Weighs the results of `decode` by their sums.
template <typename T, int D, int S>
__tile_global__ void join(
    const float* __restrict__ part, const float* __restrict__ lse, T* __restrict__ out, int splits
) {
    int row = ct::bid().x;
    auto split = ct::iota<ct::tile<int, ct::shape<S>>>();
    auto there = split < splits;
    auto sums = ct::load_masked(lse + (row * splits + split), there, ct::full<ct::tile<float, ct::shape<S>>>(-1.0e30f));
    auto weights = ct::exp2(sums - ct::reduce_max(sums, ct::integral_constant<0>{}));
    auto across = ct::reshape(ct::iota<ct::tile<int, ct::shape<D>>>(), ct::shape<1, D>{});
    auto down = ct::reshape(split, ct::shape<S, 1>{});
    auto parts = ct::load_masked(
        part + (row * splits + down) * D + across, (down < splits) & (across < D), ct::zeros<ct::tile<float, ct::shape<S, D>>>());
    auto mixed = ct::sum(parts * ct::reshape(weights, ct::shape<S, 1>{}), ct::integral_constant<0>{});
    auto right = ct::element_cast<T>(mixed / static_cast<float>(ct::sum<0>(weights)));
    ct::store(out + row * D + across, right);
}

template __tile_global__ void join<__half, 64, 4>(const float*, const float*, __half*, int);

// Latent attention for G heads: the rows of `kv` are keys and values, each loaded where it is used, by pointers whose row
// stride is a parameter; everything is multiplied in f32. `turned` is what all heads share of the keys.
template <typename T, int D, int E, int G, int TN>
__tile_global__ void latent(
    const T* __restrict__ q, const T* __restrict__ q_turned, const T* __restrict__ kv, const T* __restrict__ turned,
    float* __restrict__ out, int stride, int group, int keys, float scale
) {
    using Score = ct::tile<float, ct::shape<TN, G>>;
    auto zero = ct::zeros<ct::tile<T, ct::shape<1>>>();
    auto wide = [](auto tile) { return ct::element_cast<float>(tile); };
    auto across = ct::reshape(ct::iota<ct::tile<int, ct::shape<D>>>(), ct::shape<1, D>{});
    auto narrow = ct::reshape(ct::iota<ct::tile<int, ct::shape<E>>>(), ct::shape<1, E>{});
    auto head = ct::reshape(ct::iota<ct::tile<int, ct::shape<G>>>(), ct::shape<G, 1>{});
    auto held = head < group;
    auto query = ct::transpose(wide(ct::load_masked(q + (head * D + across), held, zero)));
    auto rotated = ct::transpose(wide(ct::load_masked(q_turned + (head * E + narrow), held, zero)));
    auto peak = ct::full<ct::tile<float, ct::shape<1, G>>>(-1.0e30f);
    auto total = ct::zeros<Score>();
    auto acc = ct::zeros<ct::tile<float, ct::shape<D, G>>>();
    for (auto j : ct::irange(0, (keys + TN - 1) / TN)) {
        auto row = ct::reshape(ct::iota<ct::tile<int, ct::shape<TN>>>() + j * TN, ct::shape<TN, 1>{});
        auto from = kv + (row * stride + across);
        auto key = wide(ct::load_masked(from, row < keys, zero));
        auto other = wide(ct::load_masked(turned + (row * E + narrow), row < keys, zero));
        auto score = ct::mma(other, rotated, ct::mma(key, query, ct::zeros<Score>()));
        score = ct::select(row < keys, score * scale, ct::full<Score>(-1.0e30f));
        auto new_peak = ct::max(peak, ct::reduce_max(score, ct::integral_constant<0>{}));
        auto weights = ct::exp2(score - new_peak);
        auto shrink = ct::exp2(peak - new_peak);
        total = total * shrink + weights;
        auto value = ct::transpose(wide(ct::load_masked(from, row < keys, zero)));
        acc = ct::mma(value, weights, acc * shrink);
        peak = new_peak;
    }
    auto right = ct::transpose(acc / ct::sum(total, ct::integral_constant<0>{}));
    ct::store_masked(out + (head * D + across), right, held);
}

template __tile_global__ void latent<__half, 128, 32, 16, 64>(
    const __half*, const __half*, const __half*, const __half*, float*, int, int, int, float);
