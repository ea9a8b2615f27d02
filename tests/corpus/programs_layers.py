"""Layers of networks and their neighbours, each in the shape that people write
it: reductions longer than a tile, heads that share keys, persistent loops over
tiles, gathers that follow data, atomics that collide."""

import math

import cuda.tile as ct
import ml_dtypes
import numpy as np

from corpus import Program, array
from numerics import EXACT, Buffer, Run, Scalar, Tolerance, array_args, matrix_args, padded, vector_args

ZERO = ct.PaddingMode.ZERO
LOG2_E = 1.4426950408889634


@ct.kernel
def grouped_attention(q, k, v, out, scale: ct.float32, share: ct.Constant[int], rows: ct.Constant[int],
                      cols: ct.Constant[int], depth: ct.Constant[int]):  # fmt: skip
    """`share` heads of queries for each of keys; the queries are the last of the sequence. Tiles of
    keys that every query sees are not masked."""
    head, block = ct.bid(0), ct.bid(1)
    length, past = k.shape[1], k.shape[1] - q.shape[1]
    query = ct.reshape(ct.load(q, (head, block, 0), (1, rows, depth), padding_mode=ZERO), (rows, depth))
    row = past + block * rows + ct.arange(rows, dtype=ct.int32)[:, None]
    peak = ct.full((rows, 1), -1.0e30, dtype=ct.float32)
    total = ct.zeros((rows, 1), dtype=ct.float32)
    acc = ct.zeros((rows, depth), dtype=ct.float32)
    whole = (past + block * rows + 1) // cols
    end = ct.cdiv(min(past + (block + 1) * rows, length), cols)
    for j in range(whole):
        key = ct.load(k, (head // share, 0, j), (1, depth, cols), order=(0, 2, 1)).reshape((depth, cols))
        score = ct.mma(query, key, ct.zeros((rows, cols), dtype=ct.float32)) * (scale * LOG2_E)
        new_peak = ct.maximum(peak, ct.max(score, axis=1, keepdims=True))
        weights = ct.exp2(score - new_peak)
        shrink = ct.exp2(peak - new_peak)
        total = total * shrink + ct.sum(weights, axis=1, keepdims=True)
        value = ct.load(v, (head // share, j, 0), (1, cols, depth)).reshape((cols, depth))
        acc = ct.mma(weights.astype(q.dtype), value, acc * shrink)
        peak = new_peak
    for j in range(whole, end):
        key = ct.load(k, (head // share, 0, j), (1, depth, cols), order=(0, 2, 1), padding_mode=ZERO)
        score = ct.mma(query, key.reshape((depth, cols)), ct.zeros((rows, cols), dtype=ct.float32)) * (scale * LOG2_E)
        score = ct.where(j * cols + ct.arange(cols, dtype=ct.int32)[None, :] <= row, score, -1.0e30)
        new_peak = ct.maximum(peak, ct.max(score, axis=1, keepdims=True))
        weights = ct.exp2(score - new_peak)
        shrink = ct.exp2(peak - new_peak)
        total = total * shrink + ct.sum(weights, axis=1, keepdims=True)
        value = ct.load(v, (head // share, j, 0), (1, cols, depth), padding_mode=ZERO).reshape((cols, depth))
        acc = ct.mma(weights.astype(q.dtype), value, acc * shrink)
        peak = new_peak
    ct.store(out, (head, block, 0), ct.astype(acc / total, out.dtype).reshape((1, rows, depth)))


@ct.kernel
def decode(q, k, v, out, scale: ct.float32, cols: ct.Constant[int], depth: ct.Constant[int]):
    """One query a head, without a product instruction; the softmax in two passes over the keys."""
    head = ct.bid(0)
    length = k.shape[1]
    query = ct.load(q, (head, 0), (1, depth))
    peak = -1.0e30
    for j in range(ct.cdiv(length, cols)):
        key = ct.load(k, (head, j, 0), (1, cols, depth), padding_mode=ZERO).reshape((cols, depth))
        seen = j * cols + ct.arange(cols, dtype=ct.int32) < length
        peak = max(peak, ct.max(ct.where(seen, ct.sum(key * query, axis=1) * scale, -1.0e30)))
    total = 0.0
    acc = ct.zeros((depth,), dtype=ct.float32)
    for j in range(ct.cdiv(length, cols)):
        key = ct.load(k, (head, j, 0), (1, cols, depth), padding_mode=ZERO).reshape((cols, depth))
        seen = j * cols + ct.arange(cols, dtype=ct.int32) < length
        weights = ct.where(seen, ct.exp(ct.sum(key * query, axis=1) * scale - peak), 0.0)
        value = ct.load(v, (head, j, 0), (1, cols, depth), padding_mode=ZERO).reshape((cols, depth))
        total += ct.sum(weights)
        acc += ct.sum(weights[:, None] * value, axis=0)
    ct.store(out, (head, 0), (acc / total)[None, :])


@ct.kernel
def cross_entropy(x, label, loss, rows: ct.Constant[int], cols: ct.Constant[int]):
    """The logarithm of the sum of exponentials in one pass, less the logit that a label picks."""
    block = ct.bid(0)
    row = block * rows + ct.arange(rows, dtype=ct.int32)
    peak = ct.full((rows,), -1.0e30, dtype=ct.float32)
    total = ct.zeros((rows,), dtype=ct.float32)
    for j in range(ct.num_tiles(x, axis=1, shape=(rows, cols))):
        t = ct.load(x, (block, j), (rows, cols), padding_mode=ct.PaddingMode.NEG_INF).astype(ct.float32)
        new_peak = ct.maximum(peak, ct.max(t, axis=1))
        total = total * ct.exp(peak - new_peak) + ct.sum(ct.exp(t - new_peak[:, None]), axis=1)
        peak = new_peak
    picked = ct.gather(x, (row, ct.gather(label, row))).astype(ct.float32)
    ct.scatter(loss, row, peak + ct.log(total) - picked)


@ct.kernel
def group_norm(x, y, size: ct.Constant[int], cols: ct.Constant[int]):
    """A block for each (image, group): mean and variance over `size` channels of any length."""
    image, group = ct.bid(0), ct.bid(1)
    length = x.shape[2]
    count = size * length
    mean = 0.0
    for j in range(ct.cdiv(length, cols)):
        mean += ct.sum(ct.load(x, (image, group, j), (1, size, cols), padding_mode=ZERO))
    mean = mean / count
    square = 0.0
    for j in range(ct.cdiv(length, cols)):
        t = ct.load(x, (image, group, j), (1, size, cols), padding_mode=ZERO)
        away = ct.where(j * cols + ct.arange(cols, dtype=ct.int32)[None, None, :] < length, t - mean, 0.0)
        square += ct.sum(away * away)
    scale = ct.rsqrt(square / count + 1e-5)
    for j in range(ct.cdiv(length, cols)):
        t = ct.load(x, (image, group, j), (1, size, cols), padding_mode=ZERO)
        ct.store(y, (image, group, j), (t - mean) * scale)


@ct.kernel
def column_sums(x, y, rows: ct.Constant[int], cols: ct.Constant[int]):
    """Down the rows, a part each block; the parts meet atomically."""
    n, part, parts = ct.bid(0), ct.bid(1), ct.num_blocks(1)
    acc = ct.zeros((cols,), dtype=ct.float32)
    for m in range(part, ct.cdiv(x.shape[0], rows), parts):
        acc += ct.sum(ct.load(x, (m, n), (rows, cols), padding_mode=ZERO).astype(ct.float32), axis=0)
    ct.atomic_add(y, n * cols + ct.arange(cols, dtype=ct.int32), acc)


@ct.kernel
def embedding_gradient(dy, index, grad, n: ct.Constant[int], depth: ct.Constant[int]):
    """Rows added where an index says, several of them to one place."""
    block = ct.bid(0)
    rows = ct.load(index, (block,), (n,), padding_mode=ZERO)
    there = block * n + ct.arange(n, dtype=ct.int32) < index.shape[0]
    t = ct.load(dy, (block, 0), (n, depth), padding_mode=ZERO)
    t = ct.where(there[:, None], t, 0.0)
    ct.atomic_add(grad, (rows[:, None], ct.arange(depth, dtype=ct.int32)[None, :]), t)


@ct.kernel
def convolution(x, w, y, th: ct.Constant[int], tw: ct.Constant[int], taps: ct.Constant[int]):
    """Every channel of an image with its own small kernel; what lies outside is zero."""
    channel, i, j = ct.bid(0), ct.bid(1), ct.bid(2)
    row = i * th + ct.arange(th, dtype=ct.int32)[:, None] - taps // 2
    col = j * tw + ct.arange(tw, dtype=ct.int32)[None, :] - taps // 2
    acc = ct.zeros((th, tw), dtype=ct.float32)
    for a in range(taps):
        for b in range(taps):
            acc += ct.gather(x, (channel, row + a, col + b)) * ct.gather(w, (channel, a, b))
    ct.store(y, (channel, i, j), acc.reshape((1, th, tw)))


@ct.kernel
def linear_gelu(x, w, bias, y, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int],
                group: ct.Constant[int]):  # fmt: skip
    """gelu(x wᵀ + bias): blocks stay and take tile after tile, in groups of rows."""
    tiles_m, tiles_n = ct.cdiv(x.shape[0], tm), ct.cdiv(w.shape[0], tn)
    for tile in range(ct.bid(0), tiles_m * tiles_n, ct.num_blocks(0)):
        first = tile // (group * tiles_n) * group
        height = min(tiles_m - first, group)
        m, n = first + tile % (group * tiles_n) % height, tile % (group * tiles_n) // height
        acc = ct.zeros((tm, tn), dtype=ct.float32)
        for k in range(ct.cdiv(x.shape[1], tk)):
            a = ct.load(x, (m, k), (tm, tk), padding_mode=ZERO)
            b = ct.load(w, (k, n), (tk, tn), order=(1, 0), padding_mode=ZERO)
            acc = ct.mma(a, b, acc)
        acc = acc + ct.load(bias, (n,), (tn,), padding_mode=ZERO)[None, :]
        acc = 0.5 * acc * (1.0 + ct.tanh(0.7978845608 * (acc + 0.044715 * acc * acc * acc)))
        ct.store(y, (m, n), ct.astype(acc, y.dtype))


@ct.kernel
def rotary(x, y, rows: ct.Constant[int], half: ct.Constant[int]):
    """Both halves of a row turned by angles that grow with its number."""
    block = ct.bid(0)
    a = ct.load(x, (block, 0), (rows, half), padding_mode=ZERO)
    b = ct.load(x, (block, 1), (rows, half), padding_mode=ZERO)
    at = (block * rows + ct.arange(rows, dtype=ct.int32)[:, None]).astype(ct.float32)
    angle = at * ct.exp2(ct.arange(half, dtype=ct.int32)[None, :].astype(ct.float32) * (-8.0 / half))
    c, s = ct.cos(angle), ct.sin(angle)
    ct.store(y, (block, 0), ct.cat((a * c - b * s, a * s + b * c), 1))


@ct.kernel
def long_prefix(x, y, n: ct.Constant[int]):
    """A running sum longer than a tile: what came before is carried."""
    before = 0
    for i in range(ct.cdiv(x.shape[0], n)):
        t = ct.load(x, (i,), (n,), padding_mode=ZERO)
        ct.store(y, (i,), ct.cumsum(t, axis=0) + before)
        before = before + ct.sum(t)


@ct.kernel
def rank_sort(x, y, n: ct.Constant[int]):
    """Every number goes to the place that says how many are before it."""
    t = ct.load(x, (0,), (n,))
    at = ct.arange(n, dtype=ct.int32)
    earlier = (t[:, None] > t[None, :]) | ((t[:, None] == t[None, :]) & (at[:, None] > at[None, :]))
    ct.scatter(y, ct.sum(earlier.astype(ct.int32), axis=1), t)


@ct.kernel
def dropout(x, y, seed: ct.uint32, n: ct.Constant[int]):
    """Keeps about three quarters: a hash of the element's number decides."""
    block = ct.bid(0)
    h = (block * n + ct.arange(n, dtype=ct.int32)).astype(ct.uint32) ^ seed
    h = (h ^ (h >> 16)) * 0x7FEB352D
    h = (h ^ (h >> 15)) * 0x846CA68B
    h = h ^ (h >> 16)
    t = ct.load(x, (block,), (n,), padding_mode=ZERO)
    ct.store(y, (block,), ct.where(h < 0xC0000000, t / 0.75, 0.0))


@ct.kernel
def quantize(x, y, scales, rows: ct.Constant[int], cols: ct.Constant[int]):
    """Rows of i8, each with the scale that makes its largest element 127."""
    block = ct.bid(0)
    peak = ct.zeros((rows, 1), dtype=ct.float32)
    for j in range(ct.num_tiles(x, axis=1, shape=(rows, cols))):
        t = ct.load(x, (block, j), (rows, cols), padding_mode=ZERO).astype(ct.float32)
        peak = ct.maximum(peak, ct.max(ct.abs(t), axis=1, keepdims=True))
    scale = ct.maximum(peak, 1.0e-8) / 127.0
    for j in range(ct.num_tiles(x, axis=1, shape=(rows, cols))):
        t = ct.load(x, (block, j), (rows, cols), padding_mode=ZERO).astype(ct.float32)
        ct.store(y, (block, j), ct.floor(t / scale + 0.5).astype(ct.int8))
    ct.store(scales, (block,), scale.reshape((rows,)))


@ct.kernel
def sparse_rows(start, column, value, x, y, n: ct.Constant[int]):
    """A sparse matrix by a vector, a row each block; rows are as long as they are."""
    row = ct.bid(0)
    at, end = ct.gather(start, row), ct.gather(start, row + 1)
    acc = ct.zeros((n,), dtype=ct.float32)
    while at < end:
        places = at + ct.arange(n, dtype=ct.int32)
        inside = places < end
        picked = ct.gather(x, ct.gather(column, places, mask=inside, padding_value=-1))
        acc += picked * ct.gather(value, places, mask=inside, padding_value=0.0)
        at += n
    ct.scatter(y, row, ct.sum(acc))


def v(dtype):
    return array(dtype, 1)


def m(dtype):
    return array(dtype, 2)


def cube(dtype):
    return array(dtype, 3)


f16, bf16, f32, i8, i32, u32 = ct.float16, ct.bfloat16, ct.float32, ct.int8, ct.int32, ct.uint32
F32, U32 = (ct.compilation.ScalarConstraint(t) for t in (f32, u32))

CASES = [
    Program("grouped_attention_bf16", grouped_attention, [*[cube(bf16)] * 4, F32, 2, 32, 32, 64], "13.1"),
    Program("decode_f32", decode, [m(f32), cube(f32), cube(f32), m(f32), F32, 32, 64], "13.1"),
    Program("cross_entropy_f16", cross_entropy, [m(f16), v(i32), v(f32), 4, 128], "13.1"),
    Program("group_norm_f32", group_norm, [cube(f32), cube(f32), 4, 64], "13.1"),
    Program("column_sums_f16", column_sums, [m(f16), v(f32), 16, 64], "13.1"),
    Program("embedding_gradient_f32", embedding_gradient, [m(f32), v(i32), m(f32), 8, 32], "13.1"),
    Program("convolution_f32", convolution, [cube(f32), array(f32, 3, aligned=False), cube(f32), 8, 32, 3], "13.1"),
    Program("linear_gelu_f16", linear_gelu, [m(f16), m(f16), v(f32), m(f16), 64, 32, 32, 2], "13.1"),
    Program("rotary_f32", rotary, [m(f32), m(f32), 8, 32], "13.1"),
    Program("long_prefix_i32", long_prefix, [v(i32), v(i32), 128], "13.1"),
    Program("rank_sort_f32", rank_sort, [v(f32), v(f32), 64], "13.1"),
    Program("dropout_f32", dropout, [v(f32), v(f32), U32, 128], "13.1"),
    Program("quantize_f16", quantize, [m(f16), m(i8), v(f32), 4, 64], "13.1"),
    Program("sparse_rows_f32", sparse_rows, [v(i32), v(i32), v(f32), v(f32), v(f32), 32], "13.1"),
]


def cube_args(buffer, shape):
    return array_args(buffer, shape, (shape[1] * shape[2], shape[2], 1))


def result(y, tolerance=EXACT, name="y", before=None):
    return Buffer(name, np.zeros_like(y) if before is None else before, y, tolerance)


def bf16_buffer(name, x, expected=None, tolerance=EXACT):
    bits = None if expected is None else expected.view(np.uint16)
    return Buffer(name, x.view(np.uint16), bits, tolerance, "bf16")


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def grouped_attention_run(heads, share, queries, keys):
    depth, rng = 64, np.random.default_rng((heads, queries, keys))
    kinds = (heads, queries), (heads // share, keys), (heads // share, keys)
    q, k, v = (rng.standard_normal((*n, depth)).astype(ml_dtypes.bfloat16) for n in kinds)
    wide_q, wide_k, wide_v = q.astype(np.float64), *(np.repeat(t.astype(np.float64), share, axis=0) for t in (k, v))
    score = wide_q @ wide_k.transpose(0, 2, 1) / math.sqrt(depth)
    seen = np.arange(keys) <= keys - queries + np.arange(queries)[:, None]
    y = (softmax(np.where(seen, score, -np.inf)) @ wide_v).astype(ml_dtypes.bfloat16)
    args = [a for name, t in (("q", q), ("k", k), ("v", v)) for a in cube_args(bf16_buffer(name, t), t.shape)]
    out = bf16_buffer("out", np.zeros_like(y), y, Tolerance(absolute=1.6e-2, relative=1.6e-2))
    args += [*cube_args(out, y.shape), Scalar("f32", 1 / math.sqrt(depth))]
    return Run("grouped_attention_bf16", f"{heads}x{queries}x{keys}", (heads, -(-queries // 32)), args)


def decode_run(heads, keys):
    depth, rng = 64, np.random.default_rng((heads, keys))
    q = rng.standard_normal((heads, depth)).astype(np.float32)
    k, v = rng.standard_normal((2, heads, keys, depth)).astype(np.float32)
    wide = [t.astype(np.float64) for t in (q, k, v)]
    weights = softmax(np.einsum("hd,hkd->hk", wide[0], wide[1]) / 8)
    y = np.einsum("hk,hkd->hd", weights, wide[2]).astype(np.float32)
    args = [
        *matrix_args(Buffer("q", q), q.shape),
        *cube_args(Buffer("k", k), k.shape),
        *cube_args(Buffer("v", v), v.shape),
        *matrix_args(result(y, Tolerance(absolute=1e-5, relative=1e-5)), y.shape),
        Scalar("f32", 0.125),
    ]
    return Run("decode_f32", f"{heads}x{keys}", (heads,), args)


def cross_entropy_run(rows, classes):
    rng = np.random.default_rng((rows, classes))
    x = (4 * rng.standard_normal((rows, classes))).astype(np.float16)
    label = rng.integers(0, classes, rows).astype(np.int32)
    wide = x.astype(np.float64)
    y = (np.log(np.exp(wide).sum(axis=1)) - wide[np.arange(rows), label]).astype(np.float32)
    args = [
        *matrix_args(Buffer("x", padded(x, 99, 8)), x.shape),
        *vector_args(Buffer("label", label)),
        *vector_args(result(y, Tolerance(absolute=1e-5, relative=1e-5))),
    ]
    return Run("cross_entropy_f16", f"{rows}x{classes}", (-(-rows // 4),), args)


def group_norm_run(images, channels, length):
    rng = np.random.default_rng(length)
    x = (3 * rng.standard_normal((images, channels, length)) + 2).astype(np.float32)
    wide = x.astype(np.float64).reshape(images, channels // 4, 4 * length)
    away = wide - wide.mean(axis=2, keepdims=True)
    y = away / np.sqrt((away**2).mean(axis=2, keepdims=True) + 1e-5)
    y = y.reshape(x.shape).astype(np.float32)
    args = cube_args(Buffer("x", x), x.shape)
    args += cube_args(result(y, Tolerance(absolute=1e-5, relative=1e-5)), x.shape)
    return Run("group_norm_f32", f"{images}x{channels}x{length}", (images, channels // 4), args)


def column_sums_run(rows, cols):
    x = np.random.default_rng(rows).integers(-9, 10, (rows, cols)).astype(np.float16)
    y = x.astype(np.float32).sum(axis=0)
    args = [*matrix_args(Buffer("x", padded(x, 99, 8)), x.shape), *vector_args(result(y))]
    return Run("column_sums_f16", f"{rows}x{cols}", (-(-cols // 64), 3), args)


def embedding_gradient_run():
    rng = np.random.default_rng(1)
    dy = rng.integers(-9, 10, (30, 32)).astype(np.float32)
    index = rng.integers(0, 5, 30).astype(np.int32)
    before = rng.integers(-9, 10, (7, 32)).astype(np.float32)
    after = before.copy()
    np.add.at(after, index, dy)
    args = [
        *matrix_args(Buffer("dy", dy), dy.shape),
        *vector_args(Buffer("index", index)),
        *matrix_args(result(after, before=before), after.shape),
    ]
    return Run("embedding_gradient_f32", "30", (4,), args)


def convolution_run(channels, height, width):
    rng = np.random.default_rng(2)
    x = rng.integers(-4, 5, (channels, height, width)).astype(np.float32)
    w = rng.integers(-4, 5, (channels, 3, 3)).astype(np.float32)
    around = np.pad(x, ((0, 0), (1, 1), (1, 1)))
    y = sum(around[:, a : a + height, b : b + width] * w[:, a : a + 1, b : b + 1] for a in range(3) for b in range(3))
    args = [a for name, t in (("x", x), ("w", w)) for a in cube_args(Buffer(name, t), t.shape)]
    args += cube_args(result(y.astype(np.float32)), x.shape)
    grid = (channels, -(-height // 8), -(-width // 32))
    return Run("convolution_f32", f"{channels}x{height}x{width}", grid, args)


def linear_gelu_run(rows, inner, cols, blocks):
    rng = np.random.default_rng((rows, inner, cols))
    x, w = (rng.standard_normal(s).astype(np.float16) / 4 for s in ((rows, inner), (cols, inner)))
    bias = rng.standard_normal(cols).astype(np.float32)
    t = x.astype(np.float64) @ w.astype(np.float64).T + bias
    y = (0.5 * t * (1 + np.tanh(0.7978845608 * (t + 0.044715 * t**3)))).astype(np.float16)
    before = padded(np.zeros_like(y), -7, 8)
    out = Buffer("y", before, padded(y, -7, 8), Tolerance(ulp=1, absolute=1e-4, relative=1e-3))
    args = [
        *matrix_args(Buffer("x", padded(x, 99, 8)), x.shape),
        *matrix_args(Buffer("w", padded(w, 99, 8)), w.shape),
        *vector_args(Buffer("bias", bias)),
        *matrix_args(out, y.shape),
    ]
    return Run("linear_gelu_f16", f"{rows}x{inner}x{cols}_{blocks}", (blocks,), args)


def rotary_run(rows):
    x = np.random.default_rng(3).standard_normal((rows, 64)).astype(np.float32)
    angle = np.arange(rows)[:, None] * np.exp2(np.arange(32) * -0.25)
    a, b = x[:, :32].astype(np.float64), x[:, 32:].astype(np.float64)
    y = np.concatenate([a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle)], 1)
    args = matrix_args(Buffer("x", x), x.shape)
    args += matrix_args(result(y.astype(np.float32), Tolerance(absolute=1e-5, relative=1e-5)), x.shape)
    return Run("rotary_f32", str(rows), (-(-rows // 8),), args)


def vector_run(case, label, grid, x, y, *more):
    return Run(case, label, grid, [*vector_args(Buffer("x", x)), *vector_args(result(y)), *more])


def long_prefix_run(n):
    x = np.random.default_rng(4).integers(-99, 99, n).astype(np.int32)
    return vector_run("long_prefix_i32", str(n), (1,), x, np.cumsum(x).astype(np.int32))


def rank_sort_run():
    # Equal numbers among them.
    x = np.random.default_rng(5).integers(-20, 20, 64).astype(np.float32)
    return vector_run("rank_sort_f32", "64", (1,), x, np.sort(x))


def dropout_run(n, seed):
    x = np.random.default_rng(6).integers(-99, 99, n).astype(np.float32) * 3
    h = np.arange(n, dtype=np.uint32) ^ np.uint32(seed)
    h = (h ^ (h >> 16)) * np.uint32(0x7FEB352D)
    h = (h ^ (h >> 15)) * np.uint32(0x846CA68B)
    h = h ^ (h >> 16)
    y = np.where(h < 0xC0000000, x / np.float32(0.75), np.float32(0)).astype(np.float32)
    return vector_run("dropout_f32", str(n), (-(-n // 128),), x, y, Scalar("i32", seed))


def quantize_run(rows, cols):
    # Multiples of the scale, so that no quotient is near the middle of two integers.
    rng = np.random.default_rng(7)
    y = rng.integers(-126, 127, (rows, cols)).astype(np.int8)
    y[:, cols // 2] = 127
    scale = np.exp2(rng.integers(-3, 4, rows)).astype(np.float32)
    x = (y * scale[:, None]).astype(np.float16)
    args = [
        *matrix_args(Buffer("x", padded(x, 99, 8)), x.shape),
        *matrix_args(Buffer("y", padded(np.zeros_like(y), -7, 16), padded(y, -7, 16)), y.shape),
        *vector_args(result(scale, name="scales")),
    ]
    return Run("quantize_f16", f"{rows}x{cols}", (-(-rows // 4),), args)


def sparse_rows_run():
    rng = np.random.default_rng(8)
    lengths = [0, 1, 31, 32, 33, 100]
    start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    column = rng.integers(0, 50, start[-1]).astype(np.int32)
    value, x = rng.integers(-9, 10, start[-1]).astype(np.float32), rng.integers(-9, 10, 50).astype(np.float32)
    parts = [(value[a:b] * x[column[a:b]]).sum() for a, b in zip(start, start[1:])]
    inputs = (("start", start), ("column", column), ("value", value), ("x", x))
    args = [a for name, t in inputs for a in vector_args(Buffer(name, t))]
    args += vector_args(result(np.array(parts, np.float32)))
    return Run("sparse_rows_f32", "6", (6,), args)


def runs():
    yield grouped_attention_run(4, 2, 40, 100)
    yield grouped_attention_run(2, 2, 33, 33)
    yield decode_run(3, 70)
    yield cross_entropy_run(7, 300)
    yield group_norm_run(2, 8, 100)
    yield column_sums_run(100, 100)
    yield embedding_gradient_run()
    yield convolution_run(2, 13, 40)
    yield linear_gelu_run(150, 80, 72, 4)
    yield rotary_run(19)
    yield long_prefix_run(500)
    yield rank_sort_run()
    yield dropout_run(300, 12345)
    yield quantize_run(6, 100)
    yield sparse_rows_run()
