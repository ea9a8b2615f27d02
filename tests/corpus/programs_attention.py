"""Attention with a running softmax: one pass over keys and values."""

import math

import cuda.tile as ct
import numpy as np

from corpus import Program, array
from numerics import Buffer, Run, Scalar, Tolerance, array_args

LOG2_E = 1.4426950408889634


@ct.kernel
def attention(
    q,
    k,
    v,
    out,
    scale: ct.float32,
    rows: ct.Constant[int],
    cols: ct.Constant[int],
    depth: ct.Constant[int],
    causal: ct.Constant[bool],
):
    """One block for each (head, tile of query rows)."""
    head, block = ct.bid(0), ct.bid(1)
    length = k.shape[1]
    query = ct.reshape(ct.load(q, (head, block, 0), (1, rows, depth), padding_mode=ct.PaddingMode.ZERO), (rows, depth))
    row = block * rows + ct.arange(rows, dtype=ct.int32)[:, None]
    peak = ct.full((rows, 1), -1.0e30, dtype=ct.float32)
    total = ct.zeros((rows, 1), dtype=ct.float32)
    acc = ct.zeros((rows, depth), dtype=ct.float32)
    end = length
    if causal:
        end = min((block + 1) * rows, length)
    for j in range(ct.cdiv(end, cols)):
        key = ct.reshape(ct.load(k, (head, j, 0), (1, cols, depth), padding_mode=ct.PaddingMode.ZERO), (cols, depth))
        score = ct.mma(query, ct.transpose(key), ct.zeros((rows, cols), dtype=ct.float32)) * (scale * LOG2_E)
        column = j * cols + ct.arange(cols, dtype=ct.int32)[None, :]
        seen = column < length
        if causal:
            seen = seen & (column <= row)
        score = ct.where(seen, score, -1.0e30)
        new_peak = ct.maximum(peak, ct.max(score, axis=1, keepdims=True))
        weights = ct.where(seen, ct.exp2(score - new_peak), 0.0)
        shrink = ct.exp2(peak - new_peak)
        total = total * shrink + ct.sum(weights, axis=1, keepdims=True)
        value = ct.reshape(ct.load(v, (head, j, 0), (1, cols, depth), padding_mode=ct.PaddingMode.ZERO), (cols, depth))
        acc = ct.mma(weights.astype(q.dtype), value, acc * shrink)
        peak = new_peak
    ct.store(out, (head, block, 0), ct.reshape(ct.astype(acc / total, out.dtype), (1, rows, depth)))


CUBE = array(ct.float16, 3)
F32 = ct.compilation.ScalarConstraint(ct.float32)

CASES = [
    Program("f16", attention, [CUBE, CUBE, CUBE, CUBE, F32, 32, 32, 64, False], "13.1"),
    Program("f16_causal", attention, [CUBE, CUBE, CUBE, CUBE, F32, 32, 32, 64, True], "13.1"),
    Program("f16_causal_large", attention, [CUBE, CUBE, CUBE, CUBE, F32, 128, 64, 64, True], "13.1"),
]


def run(case, heads, queries, keys, causal, rows=32):
    depth = 64
    rng = np.random.default_rng((heads, queries, keys))
    q, k, v = (rng.standard_normal((heads, n, depth)).astype(np.float16) for n in (queries, keys, keys))
    scale = 1 / math.sqrt(depth)
    score = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1) * scale
    if causal:
        score = np.where(np.arange(keys) <= np.arange(queries)[:, None], score, -np.inf)
    weights = np.exp(score - score.max(axis=2, keepdims=True))
    right = (weights / weights.sum(axis=2, keepdims=True)) @ v.astype(np.float64)
    args = []
    for name, x in (("q", q), ("k", k), ("v", v)):
        args += array_args(Buffer(name, x), x.shape, (x.shape[1] * depth, depth, 1))
    # The weights are rounded to f16 before the second product.
    result = Buffer("out", np.zeros_like(q), right.astype(np.float16), Tolerance(absolute=2e-3, relative=2e-3))
    args += array_args(result, q.shape, (queries * depth, depth, 1))
    args.append(Scalar("f32", scale))
    return Run(case, f"{heads}x{queries}x{keys}", (heads, -(-queries // rows)), args)


def runs():
    yield run("f16", 2, 40, 100, False)
    yield run("f16", 1, 32, 32, False)
    yield run("f16_causal", 2, 70, 70, True)
    yield run("f16_causal_large", 1, 300, 300, True, rows=128)
