"""Matmuls in f32 of elements that are widened to f32 first, as kernels written for accuracy have them.

Results are compared as those of f32: rounding an operand to sixteen bits would show.
"""

import math

import cuda.tile as ct
import ml_dtypes
import numpy as np

from corpus import Case, array
from numerics import Run, Scalar, Tolerance
from production_attention import F32, LOG2_E, ZERO, attention, drawn, given, rows_of, wanted

FINE = Tolerance(absolute=2e-5, relative=2e-5)


def wide(x):
    return ct.astype(x, ct.float32)


@ct.kernel
def forward(
    q,
    k,
    v,
    out,
    scale: ct.float32,
    rows: ct.Constant[int],
    cols: ct.Constant[int],
    depth: ct.Constant[int],
):
    """Attention whose matmuls are of f32."""
    block, head = ct.bid(0), ct.bid(1)
    factor = scale * LOG2_E
    length = k.shape[2]
    peak = ct.full((rows, 1), -math.inf, dtype=ct.float32)
    total = ct.zeros((rows, 1), dtype=ct.float32)
    acc = ct.zeros((rows, depth), dtype=ct.float32)
    query = rows_of(q, 0, head, block, rows, depth).astype(ct.float32)
    for j in range(ct.cdiv(length, cols)):
        key = rows_of(k, 0, head, j, cols, depth).astype(ct.float32)
        score = ct.mma(query, ct.transpose(key), ct.zeros((rows, cols), dtype=ct.float32)) * factor
        column = j * cols + ct.arange(cols, dtype=ct.int32)[None, :]
        score = ct.where(column < length, score, -math.inf)
        new_peak = ct.maximum(peak, ct.max(score, axis=1, keepdims=True))
        weights = ct.exp2(score - new_peak)
        shrink = ct.exp2(peak - new_peak)
        total = total * shrink + ct.sum(weights, axis=1, keepdims=True)
        value = rows_of(v, 0, head, j, cols, depth).astype(ct.float32)
        acc = ct.mma(weights, value, acc * shrink)
        peak = new_peak
    ct.store(out, (0, head, block, 0), (acc / total).reshape((1, 1, rows, depth)))


@ct.kernel
def across(q, kv, out, scale: ct.float32, rows: ct.Constant[int], cols: ct.Constant[int], depth: ct.Constant[int]):
    """Decoding with the heads of queries as columns: the weights are right operands, keys are values."""
    batch = ct.bid(0)
    factor = scale * LOG2_E
    length = kv.shape[1]
    peak = ct.full((1, rows), -math.inf, dtype=ct.float32)
    total = ct.zeros((1, rows), dtype=ct.float32)
    acc = ct.zeros((depth, rows), dtype=ct.float32)
    query = ct.load(q, (batch, 0, 0), (1, rows, depth), padding_mode=ZERO).reshape((rows, depth))
    query = ct.transpose(query.astype(ct.float32))
    for j in range(ct.cdiv(length, cols)):
        key = ct.load(kv, (batch, j, 0), (1, cols, depth), padding_mode=ZERO).reshape((cols, depth)).astype(ct.float32)
        score = ct.mma(key, query, ct.zeros((cols, rows), dtype=ct.float32)) * factor
        place = j * cols + ct.arange(cols, dtype=ct.int32)[:, None]
        score = ct.where(place < length, score, -math.inf)
        new_peak = ct.maximum(peak, ct.max(score, axis=0, keepdims=True))
        weights = ct.exp2(score - new_peak)
        shrink = ct.exp2(peak - new_peak)
        total = total * shrink + ct.sum(weights, axis=0, keepdims=True)
        acc = ct.mma(ct.transpose(key), weights, acc * shrink)
        peak = new_peak
    ct.store(out, (batch, 0, 0), ct.transpose(acc / total).reshape((1, rows, depth)))


@ct.kernel
def packed_weights(
    x, w, scales, out, rows: ct.Constant[int], cols: ct.Constant[int], step: ct.Constant[int], turned: ct.Constant[bool]
):
    """Activations in f32 and weights of 8 bits with a scale for each column; `turned`: the transpose of that."""
    block, part = ct.bid(0), ct.bid(1)
    acc = ct.zeros((cols, rows) if turned else (rows, cols), dtype=ct.float32)
    for j in range(ct.cdiv(x.shape[1], step)):
        left = ct.load(x, (block, j), (rows, step), padding_mode=ZERO)
        right = ct.load(w, (part, j), (cols, step), padding_mode=ZERO).astype(ct.float32)
        if turned:
            acc = ct.mma(right, ct.transpose(left), acc)
        else:
            acc = ct.mma(left, ct.transpose(right), acc)
    scale = ct.load(scales, (part,), (cols,))
    if turned:
        ct.store(out, (part, block), acc * scale[:, None])
    else:
        ct.store(out, (block, part), acc * scale[None, :])


H3, B4 = array(ct.float16, 3), array(ct.bfloat16, 4)
B2, E2 = array(ct.bfloat16, 2), array(ct.float8_e4m3fn, 2)
S1, S2, S3, S4 = (array(ct.float32, n) for n in range(1, 5))


def case(name, kernel, *parameters) -> Case:
    return Case(name, kernel, list(parameters), "13.3")


CASES = [
    case("forward_bf16", forward, B4, B4, B4, S4, F32, 64, 64, 64),
    case("forward_bf16_128x128", forward, B4, B4, B4, S4, F32, 128, 128, 128),
    case("across_f16", across, H3, H3, S3, F32, 16, 64, 256),
    case("packed_weights_e4m3", packed_weights, S2, E2, S1, S2, 64, 64, 64, False),
    case("packed_weights_e4m3_turned", packed_weights, S2, E2, S1, S2, 32, 64, 32, True),
    case("packed_weights_bf16", packed_weights, S2, B2, S1, S2, 32, 32, 32, False),
]


def forward_run(name, n, depth, tile):
    rng = np.random.default_rng(31)
    q, k, v = (drawn(rng, 1, 2, n, depth, dtype=ml_dtypes.bfloat16) for _ in range(3))
    right, _, _ = attention(q, k, v, 0.125)
    args = [*given("q", q), *given("k", k), *given("v", v), *wanted("out", right, np.float32, FINE)]
    return Run(name, f"2x{n}", (-(-n // tile), 2), [*args, Scalar("f32", 0.125)])


def across_run():
    rng = np.random.default_rng(32)
    q, kv = drawn(rng, 2, 12, 256), drawn(rng, 2, 150, 256)
    right, _, _ = attention(q, kv, kv, 0.0625)
    args = [*given("q", q), *given("kv", kv), *wanted("out", right, np.float32, FINE), Scalar("f32", 0.0625)]
    return Run("across_f16", "2x12x150", (2,), args)


def packed_run(name, rows, cols, dtype, turned=False):
    """One row is infinite, one holds what is no number, one the largest and the least elements."""
    rng = np.random.default_rng(33)
    m, n, k = 72, 64, 112
    x = rng.standard_normal((m, k)).astype(np.float32)
    w = rng.uniform(0.5, 2, (n, k)).astype(dtype)
    x[3, 5], x[4, 6], x[5] = np.inf, np.nan, 0
    x[5, 7], x[6, 8] = np.finfo(np.float32).max / 2, 1e-30
    scales = rng.uniform(0.5, 1.5, n).astype(np.float32)
    with np.errstate(invalid="ignore"):
        right = (x.astype(np.float64) @ w.astype(np.float64).T) * scales
    right = np.where(np.abs(right) > np.finfo(np.float32).max, np.sign(right) * np.inf, right)
    fine = Tolerance(absolute=1e-4, relative=2e-5)
    args = [*given("x", x), *given("w", w), *given("scales", scales)]
    args += wanted("out", right.T if turned else right, np.float32, fine)
    return Run(name, f"{m}x{n}x{k}", (-(-m // rows), -(-n // cols)), args)


def runs():
    yield forward_run("forward_bf16", 150, 64, 64)
    yield forward_run("forward_bf16_128x128", 200, 128, 128)
    yield across_run()
    yield packed_run("packed_weights_e4m3", 64, 64, ml_dtypes.float8_e4m3fn)
    yield packed_run("packed_weights_e4m3_turned", 32, 64, ml_dtypes.float8_e4m3fn, turned=True)
    yield packed_run("packed_weights_bf16", 32, 32, ml_dtypes.bfloat16)
