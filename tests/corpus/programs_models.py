"""Parts of language and image models as their kernels are written: attention that
keeps its normaliser, losses and norms with gradients, experts, quantised weights."""

import math

import cuda.tile as ct
import ml_dtypes
import numpy as np

from corpus import Program, array
from numerics import EXACT, Buffer, Run, Scalar, Tolerance, array_args

ZERO = ct.PaddingMode.ZERO
LOG2_E = 1.4426950408889634


@ct.kernel
def flash(q, k, v, out, lse, scale: ct.float32, share: ct.Constant[int], rows: ct.Constant[int],
          cols: ct.Constant[int], depth: ct.Constant[int], causal: ct.Constant[bool]):  # fmt: skip
    """(batch, head, row, depth); `share` heads for each of keys. Keeps the logarithms of the sums."""
    block, batch, head = ct.bid(0), ct.bid(1) // q.shape[1], ct.bid(1) % q.shape[1]
    length = k.shape[2]
    query = ct.load(q, (batch, head, block, 0), (1, 1, rows, depth), padding_mode=ZERO).reshape((rows, depth))
    row = block * rows + ct.arange(rows, dtype=ct.int32)
    peak = ct.full((rows, 1), -math.inf, dtype=ct.float32)
    total = ct.zeros((rows, 1), dtype=ct.float32)
    acc = ct.zeros((rows, depth), dtype=ct.float32)
    end = ct.cdiv(length, cols)
    if causal:
        end = min(end, ct.cdiv((block + 1) * rows, cols))
    for j in range(end):
        key = ct.load(
            k, (batch, head // share, 0, j), (1, 1, depth, cols), order=(0, 1, 3, 2), padding_mode=ZERO, latency=2
        )
        score = ct.mma(query, key.reshape((depth, cols)), ct.zeros((rows, cols), dtype=ct.float32))
        col = j * cols + ct.arange(cols, dtype=ct.int32)
        seen = (col < length)[None, :]
        if causal:
            seen = seen & (row[:, None] >= col[None, :])
        score = ct.where(seen, score, -math.inf)
        new_peak = ct.maximum(peak, ct.max(score, axis=-1, keepdims=True) * (scale * LOG2_E))
        weights = ct.exp2(score * (scale * LOG2_E) - new_peak, flush_to_zero=True)
        shrink = ct.exp2(peak - new_peak, flush_to_zero=True)
        total = total * shrink + ct.sum(weights, axis=-1, keepdims=True)
        value = ct.load(v, (batch, head // share, j, 0), (1, 1, cols, depth), padding_mode=ZERO, latency=4)
        acc = ct.mma(weights.astype(q.dtype), value.reshape((cols, depth)), acc * shrink)
        peak = new_peak
    result = ct.truediv(acc, total, flush_to_zero=True, rounding_mode=ct.RoundingMode.APPROX)
    ct.store(out, (batch, head, block, 0), result.reshape((1, 1, rows, depth)).astype(out.dtype))
    ct.store(lse, (ct.bid(1), block), (peak + ct.log2(total)).reshape((1, rows)))


@ct.kernel
def paged(q, keys, values, table, lengths, out, scale: ct.float32, heads: ct.Constant[int], page: ct.Constant[int],
          depth: ct.Constant[int]):  # fmt: skip
    """Few queries against keys and values in pages that a table names."""
    batch = ct.bid(0)
    length = ct.gather(lengths, batch)
    head, at = ct.arange(heads, dtype=ct.int32)[:, None], ct.arange(depth, dtype=ct.int32)[None, :]
    query = ct.gather(q, (batch, head, at))
    peak = ct.full((heads, 1), -math.inf, dtype=ct.float32)
    total = ct.zeros((heads, 1), dtype=ct.float32)
    acc = ct.zeros((heads, depth), dtype=ct.float32)
    for j in range(ct.cdiv(length, page)):
        number = ct.gather(table, (batch, j))
        key = ct.load(keys, (number, 0, 0), (1, page, depth)).reshape((page, depth))
        value = ct.load(values, (number, 0, 0), (1, page, depth)).reshape((page, depth))
        score = ct.mma(query, key.transpose(), ct.zeros((heads, page), dtype=ct.float32)) * scale
        score = ct.where((j * page + ct.arange(page, dtype=ct.int32))[None, :] < length, score, -math.inf)
        new_peak = ct.maximum(peak, ct.max(score, axis=1, keepdims=True))
        weights, shrink = ct.exp(score - new_peak), ct.exp(peak - new_peak)
        total = total * shrink + ct.sum(weights, axis=1, keepdims=True)
        acc = ct.mma(weights.astype(value.dtype), value, acc * shrink)
        peak = new_peak
    ct.scatter(out, (batch, head, at), (acc / total).astype(out.dtype))


@ct.kernel
def cross_entropy_gradient(x, label, loss, dx, n: ct.Constant[int]):
    """A row each block, of any length and alignment, in pieces through pointers."""
    row = ct.bid(0)
    at = ct.arange(n, dtype=ct.int32)
    peak = ct.full((1,), -math.inf, dtype=ct.float32)
    total = ct.zeros((1,), dtype=ct.float32)
    for j in range(ct.cdiv(x.shape[1], n)):
        t = ct.gather(x, (row, at + j * n), padding_value=-math.inf).astype(ct.float32)
        new_peak = ct.maximum(peak, ct.max(t, axis=0, keepdims=True))
        total = total * ct.exp(peak - new_peak) + ct.sum(ct.exp(t - new_peak), axis=0, keepdims=True)
        peak = new_peak
    right = ct.gather(label, row)
    ct.scatter(loss, row + ct.zeros((1,), ct.int32), peak + ct.log(total) - ct.gather(x, (row, right)).astype(ct.float32))
    for j in range(ct.cdiv(x.shape[1], n)):
        col = at + j * n
        t = ct.gather(x, (row, col), padding_value=-math.inf).astype(ct.float32)
        gradient = ct.exp(t - peak) / total - ct.where(col == right, 1.0, 0.0)
        ct.scatter(dx, (row, col), (gradient / x.shape[0]).astype(dx.dtype))


@ct.kernel
def layer_norm_gradient(x, weight, dy, mean, rstd, dx, dw, db, n: ct.Constant[int]):
    """A row each block; the parameters' gradients meet atomically."""
    row, length = ct.bid(0), x.shape[1]
    at = ct.arange(n, dtype=ct.int32)
    t = ct.load(x, (row, 0), (1, n), padding_mode=ZERO).reshape((n,)).astype(ct.float32)
    g = ct.load(dy, (row, 0), (1, n), padding_mode=ZERO).reshape((n,)).astype(ct.float32)
    w = ct.load(weight, (0,), (n,), padding_mode=ZERO)
    m, r = ct.load(mean, (row,), (1,)).item(), ct.load(rstd, (row,), (1,)).item()
    scaled = ct.where(at < length, (t - m) * r, 0.0)
    wg = w * g
    inner = scaled * (ct.sum(scaled * wg) / length) + ct.sum(wg) / length
    ct.store(dx, (row, 0), ((wg - inner) * r).astype(dx.dtype).reshape((1, n)))
    ct.atomic_add(dw, at, g * scaled)
    ct.atomic_add(db, at, g)


@ct.kernel
def rotate_pairs(x, cosines, sines, y, rows: ct.Constant[int], depth: ct.Constant[int]):
    """Neighbours turned together, by angles from a table."""
    block, head = ct.bid(0), ct.bid(1)
    half = depth // 2
    t = ct.load(x, (block, head, 0), (rows, 1, depth), padding_mode=ZERO).reshape((rows, half, 2)).astype(ct.float32)
    c = ct.load(cosines, (block, 0), (rows, half), padding_mode=ZERO)
    s = ct.load(sines, (block, 0), (rows, half), padding_mode=ZERO)
    a = ct.extract(t, (0, 0, 0), (rows, half, 1)).reshape((rows, half))
    b = ct.extract(t, (0, 0, 1), (rows, half, 1)).reshape((rows, half))
    turned = ct.cat(((a * c - b * s)[:, :, None], (a * s + b * c)[:, :, None]), 2)
    ct.store(y, (block, head, 0), turned.reshape((rows, 1, depth)).astype(y.dtype))


@ct.kernel
def experts(x, w, y, token, expert, weight, picks: ct.Constant[int], tm: ct.Constant[int], tn: ct.Constant[int],
            tk: ct.Constant[int]):  # fmt: skip
    """Rows gathered by expert, each block a tile of one expert's; padding is past the last row."""
    n, m = ct.bid(0), ct.bid(1)
    slot = ct.gather(token, m * tm + ct.arange(tm, dtype=ct.int32))
    number = ct.load(expert, m, shape=())
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.cdiv(x.shape[1], tk)):
        a = ct.gather(x, ((slot // picks)[:, None], (k * tk + ct.arange(tk, dtype=ct.int32))[None, :]))
        b = ct.load(w, (number, k, n), (1, tk, tn), order=(0, 2, 1), padding_mode=ZERO).reshape((tk, tn))
        acc = ct.mma(a, b, acc)
    acc = acc * ct.gather(weight, slot)[:, None]
    ct.scatter(y, (slot[:, None], (n * tn + ct.arange(tn, dtype=ct.int32))[None, :]), acc.astype(y.dtype))


@ct.kernel
def eight_bit_scales(a, b, a_scale, b_scale, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """i8 by i8ᵀ, a scale for each row and column of the result."""
    m, n = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.int32)
    for k in range(ct.num_tiles(a, 1, (tm, tk))):
        x = ct.load(a, (m, k), (tm, tk), padding_mode=ZERO)
        y = ct.load(b, (n, k), (tn, tk), padding_mode=ZERO)
        acc = ct.mma(x, ct.transpose(y), acc)
    rows = ct.load(a_scale, (m,), (tm,), padding_mode=ZERO)[:, None]
    cols = ct.load(b_scale, (n,), (tn,), padding_mode=ZERO)[None, :]
    ct.store(c, (m, n), (acc.astype(ct.float32) * (rows * cols)).astype(c.dtype))


@ct.kernel
def block_scales(a, b, a_scale, b_scale, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """f8 by f8ᵀ; each step's product is scaled before it is added."""
    m, n = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.num_tiles(a, 1, (tm, tk))):
        x = ct.load(a, (m, k), (tm, tk), padding_mode=ZERO)
        y = ct.load(b, (n, k), (tn, tk), padding_mode=ZERO)
        part = ct.mma(x, ct.transpose(y), ct.zeros((tm, tn), dtype=ct.float32))
        acc = acc + part * ct.load(a_scale, (m, k), (tm, 1), padding_mode=ZERO) * ct.load(b_scale, (n, k), (1, 1))
    ct.store(c, (m, n), acc.astype(c.dtype))


@ct.kernel
def four_bit_weights(a, w, scale, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """Two weights to a byte, along K; a scale for each column and step."""
    m, n = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], tk)):
        pairs = ct.load(w, (k, n), (tk // 2, tn), padding_mode=ZERO)
        low, high = (pairs & 15).astype(ct.int32) - 8, (pairs >> 4).astype(ct.int32) - 8
        weights = ct.cat((low[:, None, :], high[:, None, :]), 1).reshape((tk, tn)).astype(a.dtype)
        x = ct.load(a, (m, k), (tm, tk), padding_mode=ZERO)
        part = ct.mma(x, weights, ct.zeros((tm, tn), dtype=ct.float32))
        acc = acc + part * ct.load(scale, (k, n), (1, tn), padding_mode=ZERO)
    ct.store(c, (m, n), acc.astype(c.dtype))


@ct.kernel
def implicit_convolution(x, w, y, taps: ct.Constant[int], stride: ct.Constant[int], tm: ct.Constant[int],
                         tn: ct.Constant[int], tk: ct.Constant[int]):  # fmt: skip
    """(image, row, column, channel), as a product of gathered pixels; then relu."""
    image, m, n = ct.bid(0), ct.bid(1), ct.bid(2)
    pixel = m * tm + ct.arange(tm, dtype=ct.int32)
    row, col = pixel // y.shape[2], pixel % y.shape[2]
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for i in range(taps):
        for j in range(taps):
            from_row, from_col = row * stride - taps // 2 + i, col * stride - taps // 2 + j
            for k in range(ct.cdiv(x.shape[3], tk)):
                channel = k * tk + ct.arange(tk, dtype=ct.int32)
                a = ct.gather(x, (image, from_row[:, None], from_col[:, None], channel[None, :]))
                b = ct.load(w, (i * taps + j, k, n), (1, tk, tn), padding_mode=ZERO).reshape((tk, tn))
                acc = ct.mma(a, b, acc)
    to = (n * tn + ct.arange(tn, dtype=ct.int32))[None, :]
    ct.scatter(y, (image, row[:, None], col[:, None], to), ct.maximum(acc, 0.0).astype(y.dtype))


@ct.kernel
def state_space(x, step, a, b, c, y, depth: ct.Constant[int], states: ct.Constant[int]):
    """A recurrence that its inputs steer: a matrix of states carried from row to row."""
    d = ct.bid(0) * depth + ct.arange(depth, dtype=ct.int32)
    n = ct.arange(states, dtype=ct.int32)
    rate = ct.gather(a, (d[:, None], n[None, :]))
    state = ct.zeros((depth, states), dtype=ct.float32)
    for t in range(x.shape[0]):
        dt = ct.gather(step, (t, d))
        state = ct.exp(dt[:, None] * rate) * state + (dt * ct.gather(x, (t, d)))[:, None] * ct.gather(b, (t, n))[None, :]
        ct.scatter(y, (t, d), ct.sum(state * ct.gather(c, (t, n))[None, :], axis=1))


@ct.kernel
def best(x, values, places, rows: ct.Constant[int], cols: ct.Constant[int], count: ct.Constant[int]):
    """The largest of each row, one after the other."""
    block = ct.bid(0)
    t = ct.load(x, (block, 0), (rows, cols), padding_mode=ct.PaddingMode.NEG_INF)
    at = ct.arange(cols, dtype=ct.int32)[None, :]
    for i in range(count):
        place = ct.argmax(t, axis=1, keepdims=True)
        ct.store(values, (block, i), ct.max(t, axis=1, keepdims=True))
        ct.store(places, (block, i), place)
        t = ct.where(at == place, -math.inf, t)


@ct.kernel
def bags(table, index, start, y, n: ct.Constant[int], depth: ct.Constant[int]):
    """The means of rows that lists name, some of them empty."""
    bag = ct.bid(0)
    first, end = ct.gather(start, bag), ct.gather(start, bag + 1)
    col = ct.arange(depth, dtype=ct.int32)
    acc = ct.zeros((depth,), dtype=ct.float32)
    for p in range(first, end, n):
        there = p + ct.arange(n, dtype=ct.int32) < end
        rows = ct.gather(index, p + ct.arange(n, dtype=ct.int32), mask=there, padding_value=0)
        mask = ct.broadcast_to(there[:, None], (n, depth))
        t = ct.gather(table, (rows[:, None], col[None, :]), mask=mask, padding_value=0.0)
        acc = acc + ct.sum(t.astype(ct.float32), axis=0)
    ct.scatter(y, (bag, col), acc / max(end - first, 1))


f16, bf16, f32, i8, u8, i32, i64 = ct.float16, ct.bfloat16, ct.float32, ct.int8, ct.uint8, ct.int32, ct.int64
e4m3 = ct.float8_e4m3fn
F32 = ct.compilation.ScalarConstraint(f32)


def a(dtype, rank, aligned=False):
    return array(dtype, rank, aligned=aligned)


CASES = [
    Program("flash_bf16_causal", flash, [*[a(bf16, 4, True)] * 4, a(f32, 2), F32, 2, 64, 32, 64, True], "13.1"),
    Program("flash_f16_deep", flash, [*[a(f16, 4, True)] * 4, a(f32, 2), F32, 1, 64, 64, 128, False], "13.1"),
    Program("paged_f16", paged, [*[a(f16, 3, True)] * 3, a(i32, 2), a(i32, 1), a(f16, 3, True), F32, 8, 16, 64], "13.1"),
    Program("cross_entropy_gradient_f16", cross_entropy_gradient, [a(f16, 2), a(i32, 1), a(f32, 1), a(f16, 2), 128], "13.1"),
    Program(
        "layer_norm_gradient_bf16",
        layer_norm_gradient,
        [a(bf16, 2, True), a(f32, 1), a(bf16, 2, True), *[a(f32, 1)] * 2, a(bf16, 2, True), *[a(f32, 1)] * 2, 256],
        "13.1",
    ),
    Program("rotate_pairs_bf16", rotate_pairs, [a(bf16, 3, True), *[a(f32, 2, True)] * 2, a(bf16, 3, True), 8, 32], "13.1"),
    Program("experts_f16", experts, [a(f16, 2), a(f16, 3), a(f16, 2), a(i32, 1), a(i32, 1), a(f32, 1), 2, 16, 32, 32], "13.1"),
    Program("eight_bit_scales_i8", eight_bit_scales, [*[a(i8, 2)] * 2, *[a(f32, 1)] * 2, a(bf16, 2), 32, 32, 32], "13.1"),
    Program("block_scales_e4m3", block_scales, [*[a(e4m3, 2, True)] * 2, *[a(f32, 2)] * 2, a(bf16, 2, True), 64, 64, 64], "13.1"),
    Program("four_bit_weights_f16", four_bit_weights, [a(f16, 2, True), a(u8, 2, True), a(f32, 2, True), a(f16, 2, True), 16, 32, 64], "13.1"),
    Program("implicit_convolution_f16", implicit_convolution, [a(f16, 4), a(f16, 3, True), a(f16, 4), 3, 2, 32, 32, 32], "13.1"),
    Program("state_space_f32", state_space, [*[a(f32, 2)] * 6, 16, 8], "13.1"),
    Program("best_f32", best, [a(f32, 2), a(f32, 2), a(i32, 2), 4, 128, 4], "13.1"),
    Program("bags_f16", bags, [a(f16, 2), a(i64, 1), a(i32, 1), a(f32, 2), 8, 64], "13.1"),
]  # fmt: skip

BITS = {
    np.dtype(ml_dtypes.bfloat16): ("bf16", np.uint16),
    np.dtype(ml_dtypes.float8_e4m3fn): ("f8E4M3FN", np.uint8),
}


def given(name, x, after=None, tolerance=EXACT):
    """The parameters of a contiguous array; what it must become, where it is written."""
    type_, bits = BITS.get(x.dtype, (None, x.dtype))
    right = None if after is None else after.astype(x.dtype).view(bits)
    strides = [math.prod(x.shape[d + 1 :]) for d in range(x.ndim)]
    return array_args(Buffer(name, x.view(bits), right, tolerance, type_), x.shape, strides)


def made(name, like, right, tolerance=EXACT):
    return given(name, np.zeros(right.shape, like), right, tolerance)


def close(number):
    return Tolerance(absolute=number, relative=number)


def wide(*arrays):
    return [x.astype(np.float64) for x in arrays]


def softmax(score):
    weights = np.exp(score - score.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def flash_run(case, dtype, heads, share, queries, keys, depth, causal, tolerance):
    rng = np.random.default_rng(1)
    shapes = ((1, heads, queries, depth), *[(1, heads // share, keys, depth)] * 2)
    q, k, v = (rng.standard_normal(s).astype(dtype) for s in shapes)
    scale = 1 / math.sqrt(depth)
    wide_q, wide_k, wide_v = wide(q, np.repeat(k, share, 1), np.repeat(v, share, 1))
    score = wide_q @ wide_k.transpose(0, 1, 3, 2) * scale
    if causal:
        score = np.where(np.arange(keys) <= np.arange(queries)[:, None], score, -np.inf)
    peak = score.max(-1, keepdims=True)
    lse = (peak + np.log(np.exp(score - peak).sum(-1, keepdims=True))) * LOG2_E
    args = [*given("q", q), *given("k", k), *given("v", v), *made("out", dtype, softmax(score) @ wide_v, tolerance)]
    args += [*made("lse", np.float32, lse.reshape(heads, queries), close(1e-2)), Scalar("f32", scale)]
    return Run(case, f"{heads}x{queries}x{keys}", (-(-queries // 64), heads), args)


def paged_run():
    rng = np.random.default_rng(2)
    q = rng.standard_normal((2, 4, 64)).astype(np.float16)
    keys, values = rng.standard_normal((2, 7, 16, 64)).astype(np.float16)
    table = rng.permutation(7)[:6].reshape(2, 3).astype(np.int32)
    lengths = np.array([37, 20], np.int32)
    right = []
    for b, length in enumerate(lengths):
        query, key, value = wide(q[b], *(x[table[b]].reshape(-1, 64)[:length] for x in (keys, values)))
        right.append(softmax(query @ key.T / 8) @ value)
    args = [*given("q", q), *given("keys", keys), *given("values", values), *given("table", table)]
    args += [*given("lengths", lengths), *made("out", np.float16, np.stack(right), close(5e-3)), Scalar("f32", 0.125)]
    return Run("paged_f16", "2", (2,), args)


def cross_entropy_gradient_run():
    rng = np.random.default_rng(3)
    x = (3 * rng.standard_normal((5, 333))).astype(np.float16)
    label = rng.integers(0, 333, 5).astype(np.int32)
    (t,) = wide(x)
    weights = softmax(t)
    rows = np.arange(5)
    loss = -np.log(weights[rows, label])
    weights[rows, label] -= 1
    args = [*given("x", x), *given("label", label), *made("loss", np.float32, loss, close(1e-4))]
    args += made("dx", np.float16, weights / 5, close(1e-3))
    return Run("cross_entropy_gradient_f16", "5x333", (5,), args)


def layer_norm_gradient_run():
    rng = np.random.default_rng(4)
    rows, n = 6, 200
    x, dy = rng.standard_normal((2, rows, n)).astype(ml_dtypes.bfloat16)
    weight = rng.standard_normal(n).astype(np.float32)
    t, g = wide(x, dy)
    mean, rstd = t.mean(1).astype(np.float32), (1 / np.sqrt(t.var(1) + 1e-5)).astype(np.float32)
    scaled, wg = (t - mean[:, None]) * rstd[:, None], weight * g
    dx = (wg - scaled * (scaled * wg).mean(1, keepdims=True) - wg.mean(1, keepdims=True)) * rstd[:, None]
    args = [*given("x", x), *given("weight", weight), *given("dy", dy), *given("mean", mean), *given("rstd", rstd)]
    args += made("dx", ml_dtypes.bfloat16, dx, close(2e-2))
    args += [*made("dw", np.float32, (g * scaled).sum(0), close(1e-3)), *made("db", np.float32, g.sum(0), close(1e-3))]
    return Run("layer_norm_gradient_bf16", "6x200", (rows,), args)


def rotate_pairs_run():
    rng = np.random.default_rng(5)
    x = rng.standard_normal((11, 2, 32)).astype(ml_dtypes.bfloat16)
    angle = rng.standard_normal((11, 16))
    c, s = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
    (t,) = wide(x)
    right = np.empty_like(t)
    right[..., 0::2] = t[..., 0::2] * c[:, None] - t[..., 1::2] * s[:, None]
    right[..., 1::2] = t[..., 0::2] * s[:, None] + t[..., 1::2] * c[:, None]
    args = [*given("x", x), *given("c", c), *given("s", s), *made("y", ml_dtypes.bfloat16, right, close(1e-2))]
    return Run("rotate_pairs_bf16", "11x2x32", (2, 2), args)


def experts_run():
    rng = np.random.default_rng(6)
    tokens, k, n, many, picks, tile = 13, 70, 50, 3, 2, 16
    x = rng.standard_normal((tokens, k)).astype(np.float16)
    w = rng.standard_normal((many, n, k)).astype(np.float16)
    weight = rng.random(tokens * picks).astype(np.float32)
    chosen = rng.integers(0, many, tokens * picks)
    token, expert = [], []
    for number in range(many):
        slots = np.flatnonzero(chosen == number)
        token += [*slots, *[tokens * picks] * (-len(slots) % tile)]
        expert += [number] * -(-len(slots) // tile)
    wide_x, wide_w = wide(x, w)
    right = np.stack([wide_w[chosen[i]] @ wide_x[i // picks] * weight[i] for i in range(tokens * picks)])
    args = [*given("x", x), *given("w", w), *made("y", np.float16, right, close(2e-2))]
    args += [*given("token", np.array(token, np.int32)), *given("expert", np.array(expert, np.int32))]
    return Run("experts_f16", "13x70x50", (2, len(expert)), args + given("weight", weight))


def eight_bit_scales_run():
    rng = np.random.default_rng(7)
    m, n, k = 45, 37, 75
    x, y = (rng.integers(-128, 128, s).astype(np.int8) for s in ((m, k), (n, k)))
    rows, cols = ((0.01 * rng.random(s)).astype(np.float32) for s in (m, n))
    right = (x.astype(np.int64) @ y.astype(np.int64).T) * np.outer(*wide(rows, cols))
    args = [*given("a", x), *given("b", y), *given("a_scale", rows), *given("b_scale", cols)]
    return Run("eight_bit_scales_i8", "45x37x75", (2, 2), args + made("c", ml_dtypes.bfloat16, right, close(1e-2)))


def block_scales_run():
    rng = np.random.default_rng(8)
    x, y = (rng.standard_normal(s).astype(ml_dtypes.float8_e4m3fn) for s in ((70, 256), (128, 256)))
    rows, cols = (rng.random(s).astype(np.float32) for s in ((70, 4), (2, 4)))
    wide_x, wide_y, wide_rows, wide_cols = wide(x, y, rows, cols)
    right = (wide_x * np.repeat(wide_rows, 64, 1)) @ (wide_y * np.kron(wide_cols, np.ones((64, 64)))).T
    args = [*given("a", x), *given("b", y), *given("a_scale", rows), *given("b_scale", cols)]
    tolerance = Tolerance(absolute=0.1, relative=2e-2)
    return Run("block_scales_e4m3", "70x128x256", (2, 2), args + made("c", ml_dtypes.bfloat16, right, tolerance))


def four_bit_weights_run():
    rng = np.random.default_rng(9)
    x = rng.standard_normal((20, 128)).astype(np.float16)
    w = rng.integers(0, 16, (128, 48))
    scale = rng.random((2, 48)).astype(np.float32)
    right = x.astype(np.float64) @ ((w - 8) * np.repeat(scale, 64, 0))
    args = [*given("a", x), *given("w", (w[0::2] | w[1::2] << 4).astype(np.uint8)), *given("scale", scale)]
    tolerance = Tolerance(absolute=0.1, relative=2e-2)
    return Run("four_bit_weights_f16", "20x48x128", (2, 2), args + made("c", np.float16, right, tolerance))


def implicit_convolution_run():
    rng = np.random.default_rng(10)
    x = rng.standard_normal((1, 9, 7, 20)).astype(np.float16)
    w = rng.standard_normal((9, 20, 24)).astype(np.float16)
    wide_x, wide_w = wide(np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0))), w)
    # Every second pixel of 9 by 7.
    right = sum(wide_x[:, t // 3 : t // 3 + 9 : 2, t % 3 : t % 3 + 7 : 2] @ wide_w[t] for t in range(9))
    args = [*given("x", x), *given("w", w), *made("y", np.float16, np.maximum(right, 0), close(3e-2))]
    return Run("implicit_convolution_f16", "9x7x20", (1, 1, 1), args)


def state_space_run():
    rng = np.random.default_rng(11)
    length, depth, states = 9, 24, 8
    x, b, c = (rng.standard_normal((length, s)).astype(np.float32) for s in (depth, states, states))
    step, rate = rng.random((length, depth)).astype(np.float32), -rng.random((depth, states)).astype(np.float32)
    state, rows = np.zeros((depth, states)), []
    for t, dt in enumerate(step.astype(np.float64)):
        state = np.exp(dt[:, None] * rate) * state + (dt * x[t])[:, None] * b[t]
        rows.append((state * c[t]).sum(1))
    args = [arg for name, v in zip("xsabc", (x, step, rate, b, c), strict=True) for arg in given(name, v)]
    return Run("state_space_f32", "9x24x8", (2,), args + made("y", np.float32, np.stack(rows), close(1e-4)))


def best_run():
    x = np.random.default_rng(12).permutation(600).reshape(6, 100).astype(np.float32)
    places = np.argsort(-x, axis=1)[:, :4]
    args = [*given("x", x), *made("values", np.float32, np.take_along_axis(x, places, 1))]
    return Run("best_f32", "6x100", (2,), args + made("places", np.int32, places))


def bags_run():
    rng = np.random.default_rng(13)
    table = rng.integers(-9, 10, (30, 48)).astype(np.float16)
    start, index = np.array([0, 5, 5, 17, 30], np.int32), rng.integers(0, 30, 30)
    parts = [table[index[a:b]].astype(np.float64) for a, b in zip(start[:-1], start[1:], strict=True)]
    right = np.stack([part.sum(0) / max(len(part), 1) for part in parts])
    args = [*given("table", table), *given("index", index), *given("start", start)]
    return Run("bags_f16", "4", (4,), args + made("y", np.float32, right, close(1e-5)))


def runs():
    yield flash_run("flash_bf16_causal", ml_dtypes.bfloat16, 2, 2, 70, 70, 64, True, close(2e-2))
    yield flash_run("flash_f16_deep", np.float16, 1, 1, 33, 90, 128, False, close(3e-3))
    yield paged_run()
    yield cross_entropy_gradient_run()
    yield layer_norm_gradient_run()
    yield rotate_pairs_run()
    yield experts_run()
    yield eight_bit_scales_run()
    yield block_scales_run()
    yield four_bit_weights_run()
    yield implicit_convolution_run()
    yield state_space_run()
    yield best_run()
    yield bags_run()
