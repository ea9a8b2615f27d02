"""Attention as libraries of production kernels write it: forward, decode, paged, latent, backward, linear."""

import math

import cuda.tile as ct
import ml_dtypes
import numpy as np

from corpus import Case, array
from numerics import Buffer, Run, Scalar, Tolerance, array_args

F32 = ct.compilation.ScalarConstraint(ct.float32)
I32 = ct.compilation.ScalarConstraint(ct.int32)
ZERO = ct.PaddingMode.ZERO
LOG2_E = 1.4426950408889634
LOW = -1.0e30
# The weights are rounded before the second product.
HALF = Tolerance(absolute=3e-3, relative=3e-3)
ROUGH = Tolerance(absolute=2e-2, relative=2e-2)
SINGLE = Tolerance(absolute=1e-3, relative=1e-3)


@ct.function
def rows_of(x, batch, head, block, rows: ct.Constant[int], depth: ct.Constant[int]):
    """A tile of rows of a (batch, head, row, depth) array."""
    return ct.load(x, (batch, head, block, 0), (1, 1, rows, depth), padding_mode=ZERO).reshape((rows, depth))


@ct.kernel(occupancy=2)
def forward(
    q,
    k,
    v,
    out,
    scale: ct.float32,
    group: ct.Constant[int],
    rows: ct.Constant[int],
    cols: ct.Constant[int],
    depth: ct.Constant[int],
    causal: ct.Constant[bool],
    even: ct.Constant[bool],
):
    """One block for a tile of queries of one head; `group` heads of queries share one of keys.

    Only steps that can meet the diagonal or the end are masked: one loop, a condition in it.
    """
    block, head = ct.bid(0), ct.bid(1) % q.shape[1]
    batch = ct.bid(1) // q.shape[1]
    shared = head // group
    factor = scale * LOG2_E
    length = k.shape[2]
    row = block * rows + ct.arange(rows, dtype=ct.int32)[:, None]
    peak = ct.full((rows, 1), -math.inf, dtype=ct.float32)
    total = ct.zeros((rows, 1), dtype=ct.float32)
    acc = ct.zeros((rows, depth), dtype=ct.float32)
    query = rows_of(q, batch, head, block, rows, depth)
    if causal:
        steps = ct.cdiv(min((block + 1) * rows, length), cols)
        first_masked = min(block * rows, length) // cols
    else:
        steps = ct.cdiv(length, cols)
        first_masked = length // cols
    for j in range(steps):
        key = ct.load(
            k, (batch, shared, 0, j), (1, 1, depth, cols), order=(0, 1, 3, 2), padding_mode=ZERO, latency=2
        ).reshape((depth, cols))
        score = ct.mma(query, key, ct.zeros((rows, cols), dtype=ct.float32))
        if (causal or not even) and j >= first_masked:
            column = j * cols + ct.arange(cols, dtype=ct.int32)[None, :]
            seen = ct.full((rows, cols), True, dtype=ct.bool_)
            if not even:
                seen = seen & (column < length)
            if causal:
                seen = seen & (row >= column)
            score = ct.where(seen, score, -math.inf)
        new_peak = ct.maximum(peak, ct.max(score, axis=1, keepdims=True) * factor)
        weights = ct.exp2(score * factor - new_peak, flush_to_zero=True)
        shrink = ct.exp2(peak - new_peak, flush_to_zero=True)
        total = total * shrink + ct.sum(weights, axis=1, keepdims=True)
        value = ct.load(
            v, (batch, shared, j, 0), (1, 1, cols, depth), padding_mode=ZERO, latency=4
        ).reshape((cols, depth))
        acc = ct.mma(weights.astype(v.dtype), value, acc * shrink)
        peak = new_peak
    acc = ct.truediv(acc, total, flush_to_zero=True, rounding_mode=ct.RoundingMode.APPROX)
    ct.store(out, (batch, head, block, 0), acc.reshape((1, 1, rows, depth)).astype(out.dtype))


@ct.kernel
def two_loops(
    q,
    k,
    v,
    out,
    lse,
    scale: ct.float32,
    rows: ct.Constant[int],
    cols: ct.Constant[int],
    depth: ct.Constant[int],
):
    """Causal: a loop for the tiles below the diagonal, one for those that meet it; the log of the sums goes out too."""
    block, head = ct.bid(0), ct.bid(1)
    factor = scale * LOG2_E
    length = k.shape[2]
    row = block * rows + ct.arange(rows, dtype=ct.int32)[:, None]
    peak = ct.full((rows,), LOW, dtype=ct.float32)
    total = ct.zeros((rows,), dtype=ct.float32)
    acc = ct.zeros((rows, depth), dtype=ct.float32)
    query = rows_of(q, 0, head, block, rows, depth)
    below = (block * rows) // cols
    for j in range(below):
        key = rows_of(k, 0, head, j, cols, depth)
        score = ct.mma(query, ct.transpose(key), ct.zeros((rows, cols), dtype=ct.float32)) * factor
        new_peak = ct.maximum(peak, ct.max(score, axis=1))
        weights = ct.exp2(score - new_peak[:, None])
        shrink = ct.exp2(peak - new_peak)
        total = total * shrink + ct.sum(weights, axis=1)
        acc = ct.mma(weights.astype(v.dtype), rows_of(v, 0, head, j, cols, depth), acc * shrink[:, None])
        peak = new_peak
    for j in range(below, ct.cdiv(min((block + 1) * rows, length), cols)):
        key = rows_of(k, 0, head, j, cols, depth)
        score = ct.mma(query, ct.transpose(key), ct.zeros((rows, cols), dtype=ct.float32)) * factor
        column = j * cols + ct.arange(cols, dtype=ct.int32)[None, :]
        score = ct.where((column <= row) & (column < length), score, LOW)
        new_peak = ct.maximum(peak, ct.max(score, axis=1))
        weights = ct.exp2(score - new_peak[:, None])
        shrink = ct.exp2(peak - new_peak)
        total = total * shrink + ct.sum(weights, axis=1)
        acc = ct.mma(weights.astype(v.dtype), rows_of(v, 0, head, j, cols, depth), acc * shrink[:, None])
        peak = new_peak
    ct.store(out, (0, head, block, 0), (acc / total[:, None]).astype(out.dtype).reshape((1, 1, rows, depth)))
    ct.store(lse, (head, block), (peak + ct.log2(total)).reshape((1, rows)))


@ct.kernel
def with_sink(
    q,
    k,
    v,
    sink,
    out,
    scale: ct.float32,
    window: ct.int32,
    group: ct.Constant[int],
    rows: ct.Constant[int],
    cols: ct.Constant[int],
    depth: ct.Constant[int],
):
    """A sliding window of keys, and a learned weight for each head that belongs to no key."""
    block, head = ct.bid(0), ct.bid(1)
    length = k.shape[2]
    row = block * rows + ct.arange(rows, dtype=ct.int32)[:, None]
    extra = ct.gather(sink, head).astype(ct.float32)
    peak = ct.zeros((rows, 1), dtype=ct.float32) + extra
    total = ct.full((rows, 1), 1.0, dtype=ct.float32)
    acc = ct.zeros((rows, depth), dtype=ct.float32)
    query = rows_of(q, 0, head, block, rows, depth)
    first = max(block * rows - window + 1, 0) // cols
    for j in range(first, ct.cdiv(min((block + 1) * rows, length), cols)):
        key = rows_of(k, 0, head // group, j, cols, depth)
        score = ct.mma(query, ct.transpose(key), ct.zeros((rows, cols), dtype=ct.float32)) * scale
        column = j * cols + ct.arange(cols, dtype=ct.int32)[None, :]
        score = ct.where((column <= row) & (column > row - window), score, LOW)
        new_peak = ct.maximum(peak, ct.max(score, axis=1, keepdims=True))
        weights = ct.exp(score - new_peak)
        shrink = ct.exp(peak - new_peak)
        total = total * shrink + ct.sum(weights, axis=1, keepdims=True)
        acc = ct.mma(weights.astype(v.dtype), rows_of(v, 0, head // group, j, cols, depth), acc * shrink)
        peak = new_peak
    ct.store(out, (0, head, block, 0), (acc / total).astype(out.dtype).reshape((1, 1, rows, depth)))


@ct.kernel
def capped(
    q, k, v, out, scale: ct.float32, cap: ct.float32, rows: ct.Constant[int], cols: ct.Constant[int],
    depth: ct.Constant[int],
):  # fmt: skip
    """Scores go through cap · tanh(score / cap)."""
    block, head = ct.bid(0), ct.bid(1)
    length = k.shape[2]
    row = block * rows + ct.arange(rows, dtype=ct.int32)[:, None]
    peak = ct.full((rows, 1), LOW, dtype=ct.float32)
    total = ct.zeros((rows, 1), dtype=ct.float32)
    acc = ct.zeros((rows, depth), dtype=ct.float32)
    query = rows_of(q, 0, head, block, rows, depth)
    for j in range(ct.cdiv(min((block + 1) * rows, length), cols)):
        key = rows_of(k, 0, head, j, cols, depth)
        score = ct.mma(query, ct.transpose(key), ct.zeros((rows, cols), dtype=ct.float32))
        score = ct.tanh(score * (scale / cap)) * cap
        column = j * cols + ct.arange(cols, dtype=ct.int32)[None, :]
        score = ct.where((column <= row) & (column < length), score, LOW)
        new_peak = ct.maximum(peak, ct.max(score, axis=1, keepdims=True))
        weights = ct.exp(score - new_peak)
        shrink = ct.exp(peak - new_peak)
        total = total * shrink + ct.sum(weights, axis=1, keepdims=True)
        acc = ct.mma(weights.astype(v.dtype), rows_of(v, 0, head, j, cols, depth), acc * shrink)
        peak = new_peak
    ct.store(out, (0, head, block, 0), (acc / total).astype(out.dtype).reshape((1, 1, rows, depth)))


@ct.kernel
def decode(
    q,
    k,
    v,
    part,
    lse,
    scale: ct.float32,
    span: ct.Constant[int],
    rows: ct.Constant[int],
    cols: ct.Constant[int],
    depth: ct.Constant[int],
):
    """One query for each head; the heads that share keys are the rows of a product, and the keys are split in spans."""
    batch, head, split = ct.bid(0), ct.bid(1), ct.bid(2)
    length = k.shape[2]
    factor = scale * LOG2_E
    query = rows_of(q, batch, head, 0, rows, depth)
    peak = ct.full((rows, 1), LOW, dtype=ct.float32)
    total = ct.zeros((rows, 1), dtype=ct.float32)
    acc = ct.zeros((rows, depth), dtype=ct.float32)
    end = min((split + 1) * span, length)
    for j in range(split * (span // cols), ct.cdiv(end, cols)):
        key = rows_of(k, batch, head, j, cols, depth)
        score = ct.mma(query, ct.transpose(key), ct.zeros((rows, cols), dtype=ct.float32)) * factor
        column = j * cols + ct.arange(cols, dtype=ct.int32)[None, :]
        score = ct.where(column < end, score, LOW)
        new_peak = ct.maximum(peak, ct.max(score, axis=1, keepdims=True))
        weights = ct.exp2(score - new_peak)
        shrink = ct.exp2(peak - new_peak)
        total = total * shrink + ct.sum(weights, axis=1, keepdims=True)
        acc = ct.mma(weights.astype(v.dtype), rows_of(v, batch, head, j, cols, depth), acc * shrink)
        peak = new_peak
    place = ct.arange(rows, dtype=ct.int32)
    held = place < q.shape[2]
    ct.scatter(lse, (batch, head, place, split), (peak + ct.log2(total)).reshape((rows,)), mask=held)
    column = ct.arange(depth, dtype=ct.int32)[None, :]
    ct.scatter(part, (batch, head, place[:, None], split, column), (acc / total).astype(part.dtype), mask=held[:, None])


@ct.kernel
def decode_by_keys(
    q,
    k,
    v,
    part,
    lse,
    scale: ct.float32,
    span: ct.Constant[int],
    heads: ct.Constant[int],
    keys: ct.Constant[int],
    depth: ct.Constant[int],
):
    """`decode` with keys as rows: the few heads that share them are the columns of both products."""
    batch, head, split = ct.bid(0), ct.bid(1), ct.bid(2)
    factor = scale * LOG2_E
    query = ct.transpose(rows_of(q, batch, head, 0, heads, depth))
    peak = ct.full((1, heads), LOW, dtype=ct.float32)
    total = ct.zeros((1, heads), dtype=ct.float32)
    acc = ct.zeros((depth, heads), dtype=ct.float32)
    end = min((split + 1) * span, k.shape[2])
    for j in range(split * (span // keys), ct.cdiv(end, keys)):
        score = ct.mma(rows_of(k, batch, head, j, keys, depth), query, ct.zeros((keys, heads), dtype=ct.float32))
        row = j * keys + ct.arange(keys, dtype=ct.int32)[:, None]
        score = ct.where(row < end, score * factor, LOW)
        new_peak = ct.maximum(peak, ct.max(score, axis=0, keepdims=True))
        weights = ct.exp2(score - new_peak)
        shrink = ct.exp2(peak - new_peak)
        total = total * shrink + ct.sum(weights, axis=0, keepdims=True)
        value = ct.transpose(rows_of(v, batch, head, j, keys, depth))
        acc = ct.mma(value, weights.astype(v.dtype), acc * shrink)
        peak = new_peak
    place = ct.arange(heads, dtype=ct.int32)
    held = place < q.shape[2]
    ct.scatter(lse, (batch, head, place, split), (peak + ct.log2(total)).reshape((heads,)), mask=held)
    column = ct.arange(depth, dtype=ct.int32)[:, None]
    mixed = (acc / total).astype(part.dtype)
    ct.scatter(part, (batch, head, place[None, :], split, column), mixed, mask=held[None, :])


@ct.kernel
def join_splits(part, lse, out, splits: ct.Constant[int], depth: ct.Constant[int]):
    """Weighs the results of `decode` by their sums."""
    batch, head, row = ct.bid(0), ct.bid(1), ct.bid(2)
    sums = ct.load(lse, (batch, head, row, 0), (1, 1, 1, splits), padding_mode=ct.PaddingMode.NEG_INF).reshape(
        (splits, 1)
    )
    parts = ct.load(part, (batch, head, row, 0, 0), (1, 1, 1, splits, depth), padding_mode=ZERO)
    weights = ct.exp2(sums - ct.max(sums, axis=0, keepdims=True))
    mixed = ct.sum(parts.reshape((splits, depth)).astype(ct.float32) * weights, axis=0) / ct.sum(weights)
    ct.store(out, (batch, head, row, 0), mixed.astype(out.dtype).reshape((1, 1, 1, depth)))


@ct.kernel
def paged(
    q,
    k,
    v,
    table,
    lengths,
    out,
    scale: ct.float32,
    rows: ct.Constant[int],
    page: ct.Constant[int],
    depth: ct.Constant[int],
):
    """Decode with keys in pages: k and v are (page, head, row, depth), `table` says which pages a sequence has."""
    batch, head = ct.bid(0), ct.bid(1)
    length = ct.gather(lengths, batch)
    query = rows_of(q, batch, head, 0, rows, depth)
    peak = ct.full((rows, 1), LOW, dtype=ct.float32)
    total = ct.zeros((rows, 1), dtype=ct.float32)
    acc = ct.zeros((rows, depth), dtype=ct.float32)
    for j in range(ct.cdiv(length, page)):
        number = ct.gather(table, (batch, j))
        key = rows_of(k, number, head, 0, page, depth)
        score = ct.mma(query, ct.transpose(key), ct.zeros((rows, page), dtype=ct.float32)) * scale
        column = j * page + ct.arange(page, dtype=ct.int32)[None, :]
        score = ct.where(column < length, score, LOW)
        new_peak = ct.maximum(peak, ct.max(score, axis=1, keepdims=True))
        weights = ct.exp(score - new_peak)
        shrink = ct.exp(peak - new_peak)
        total = total * shrink + ct.sum(weights, axis=1, keepdims=True)
        acc = ct.mma(weights.astype(v.dtype), rows_of(v, number, head, 0, page, depth), acc * shrink)
        peak = new_peak
    ct.store(out, (batch, head, 0, 0), (acc / total).astype(out.dtype).reshape((1, 1, rows, depth)))


@ct.kernel
def latent(
    q,
    turned,
    kv,
    key_turned,
    out,
    scale: ct.float32,
    rows: ct.Constant[int],
    cols: ct.Constant[int],
    depth: ct.Constant[int],
    extra: ct.Constant[int],
):
    """Multi-head latent attention: keys are also values, and a rotated part of the keys is shared by all heads."""
    batch, block = ct.bid(0), ct.bid(1)
    length = kv.shape[1]
    factor = scale * LOG2_E
    query = ct.load(q, (batch, block, 0), (1, rows, depth), padding_mode=ZERO).reshape((rows, depth))
    rotated = ct.load(turned, (batch, block, 0), (1, rows, extra), padding_mode=ZERO).reshape((rows, extra))
    peak = ct.full((rows, 1), LOW, dtype=ct.float32)
    total = ct.zeros((rows, 1), dtype=ct.float32)
    acc = ct.zeros((rows, depth), dtype=ct.float32)
    for j in range(ct.cdiv(length, cols)):
        key = ct.load(kv, (batch, j, 0), (1, cols, depth), padding_mode=ZERO).reshape((cols, depth))
        other = ct.load(key_turned, (batch, j, 0), (1, cols, extra), padding_mode=ZERO).reshape((cols, extra))
        score = ct.mma(query, ct.transpose(key), ct.zeros((rows, cols), dtype=ct.float32))
        score = ct.mma(rotated, ct.transpose(other), score) * factor
        column = j * cols + ct.arange(cols, dtype=ct.int32)[None, :]
        score = ct.where(column < length, score, LOW)
        new_peak = ct.maximum(peak, ct.max(score, axis=1, keepdims=True))
        weights = ct.exp2(score - new_peak)
        shrink = ct.exp2(peak - new_peak)
        total = total * shrink + ct.sum(weights, axis=1, keepdims=True)
        acc = ct.mma(weights.astype(kv.dtype), key, acc * shrink)
        peak = new_peak
    ct.store(out, (batch, block, 0), (acc / total).astype(out.dtype).reshape((1, rows, depth)))


@ct.kernel
def sparse(
    q,
    k,
    v,
    chosen,
    out,
    scale: ct.float32,
    rows: ct.Constant[int],
    cols: ct.Constant[int],
    depth: ct.Constant[int],
    by_gather: ct.Constant[bool],
):
    """Each block sees the keys that its row of `chosen` names; a number below zero names none. k, v are (row, depth)."""
    block = ct.bid(0)
    count = chosen.shape[1]
    query = ct.load(q, (block, 0, 0), (1, rows, depth), padding_mode=ZERO).reshape((rows, depth))
    peak = ct.full((rows, 1), LOW, dtype=ct.float32)
    total = ct.zeros((rows, 1), dtype=ct.float32)
    acc = ct.zeros((rows, depth), dtype=ct.float32)
    at = ct.arange(depth, dtype=ct.int32)[None, :]
    for j in range(ct.cdiv(count, cols)):
        place = j * cols + ct.arange(cols, dtype=ct.int32)
        if by_gather:
            number = ct.gather(chosen, (block, place), padding_value=-1)
        else:
            number = ct.load(chosen, (block, j), (1, cols), padding_mode=ZERO).reshape((cols,))
            number = ct.where(place < count, number, -1)
        row = number[:, None]
        key = ct.gather(k, (row, at), mask=row >= 0, padding_value=0.0)
        value = ct.gather(v, (row, at), mask=row >= 0, padding_value=0.0)
        score = ct.mma(query, ct.transpose(key), ct.zeros((rows, cols), dtype=ct.float32)) * scale
        score = ct.where((number >= 0)[None, :], score, LOW)
        new_peak = ct.maximum(peak, ct.max(score, axis=1, keepdims=True))
        weights = ct.exp(score - new_peak)
        shrink = ct.exp(peak - new_peak)
        total = total * shrink + ct.sum(weights, axis=1, keepdims=True)
        acc = ct.mma(weights.astype(v.dtype), value, acc * shrink)
        peak = new_peak
    ct.store(out, (block, 0, 0), (acc / total).astype(out.dtype).reshape((1, rows, depth)))


@ct.kernel
def dot_rows(out, grad, delta, rows: ct.Constant[int], depth: ct.Constant[int]):
    """What both backward kernels need: for each row, out · grad."""
    head, block = ct.bid(0), ct.bid(1)
    a = rows_of(out, 0, head, block, rows, depth).astype(ct.float32)
    b = rows_of(grad, 0, head, block, rows, depth).astype(ct.float32)
    ct.store(delta, (head, block), ct.sum(a * b, axis=1).reshape((1, rows)))


@ct.kernel
def backward_keys(
    q, k, v, grad, lse, delta, dk, dv, scale: ct.float32,
    rows: ct.Constant[int], cols: ct.Constant[int], depth: ct.Constant[int],
):  # fmt: skip
    """Gradients of a tile of keys and values: down the queries, causal."""
    block, head = ct.bid(0), ct.bid(1)
    key = rows_of(k, 0, head, block, cols, depth)
    value = rows_of(v, 0, head, block, cols, depth)
    column = block * cols + ct.arange(cols, dtype=ct.int32)[:, None]
    key_grad = ct.zeros((cols, depth), dtype=ct.float32)
    value_grad = ct.zeros((cols, depth), dtype=ct.float32)
    for i in range((block * cols) // rows, ct.cdiv(q.shape[2], rows)):
        query = rows_of(q, 0, head, i, rows, depth)
        out_grad = rows_of(grad, 0, head, i, rows, depth)
        sums = ct.load(lse, (head, i), (1, rows), padding_mode=ZERO)
        dots = ct.load(delta, (head, i), (1, rows), padding_mode=ZERO)
        row = i * rows + ct.arange(rows, dtype=ct.int32)[None, :]
        score = ct.mma(key, ct.transpose(query), ct.zeros((cols, rows), dtype=ct.float32)) * (scale * LOG2_E)
        weights = ct.where((row >= column) & (row < q.shape[2]), ct.exp2(score - sums), 0.0)
        value_grad = ct.mma(weights.astype(v.dtype), out_grad, value_grad)
        weight_grad = ct.mma(value, ct.transpose(out_grad), ct.zeros((cols, rows), dtype=ct.float32))
        score_grad = weights * (weight_grad - dots)
        key_grad = ct.mma(score_grad.astype(q.dtype), query, key_grad)
    ct.store(dv, (0, head, block, 0), value_grad.astype(dv.dtype).reshape((1, 1, cols, depth)))
    ct.store(dk, (0, head, block, 0), (key_grad * scale).astype(dk.dtype).reshape((1, 1, cols, depth)))


@ct.kernel
def backward_queries(
    q, k, v, grad, lse, delta, dq, scale: ct.float32,
    rows: ct.Constant[int], cols: ct.Constant[int], depth: ct.Constant[int],
):  # fmt: skip
    """Gradients of a tile of queries: along the keys, causal."""
    block, head = ct.bid(0), ct.bid(1)
    query = rows_of(q, 0, head, block, rows, depth)
    out_grad = rows_of(grad, 0, head, block, rows, depth)
    sums = ct.load(lse, (head, block), (1, rows), padding_mode=ZERO).reshape((rows, 1))
    dots = ct.load(delta, (head, block), (1, rows), padding_mode=ZERO).reshape((rows, 1))
    row = block * rows + ct.arange(rows, dtype=ct.int32)[:, None]
    acc = ct.zeros((rows, depth), dtype=ct.float32)
    for j in range(ct.cdiv(min((block + 1) * rows, k.shape[2]), cols)):
        key = rows_of(k, 0, head, j, cols, depth)
        value = rows_of(v, 0, head, j, cols, depth)
        column = j * cols + ct.arange(cols, dtype=ct.int32)[None, :]
        score = ct.mma(query, ct.transpose(key), ct.zeros((rows, cols), dtype=ct.float32)) * (scale * LOG2_E)
        weights = ct.where(column <= row, ct.exp2(score - sums), 0.0)
        weight_grad = ct.mma(out_grad, ct.transpose(value), ct.zeros((rows, cols), dtype=ct.float32))
        acc = ct.mma((weights * (weight_grad - dots)).astype(k.dtype), key, acc)
    ct.store(dq, (0, head, block, 0), (acc * scale).astype(dq.dtype).reshape((1, 1, rows, depth)))


@ct.kernel
def delta_rule(
    q, k, v, gate, beta, state, out, steps: ct.int32, depth: ct.Constant[int], width: ct.Constant[int]
):
    """The gated delta rule, step after step: a (depth, width) state lives in registers and goes back at the end."""
    head, block = ct.bid(0), ct.bid(1)
    memory = ct.load(state, (head, 0, block), (1, depth, width)).reshape((depth, width))
    for t in range(steps):
        key = ct.load(k, (head, t, 0), (1, 1, depth)).reshape((depth, 1)).astype(ct.float32)
        query = ct.load(q, (head, t, 0), (1, 1, depth)).reshape((depth, 1)).astype(ct.float32)
        value = ct.load(v, (head, t, block), (1, 1, width)).reshape((1, width)).astype(ct.float32)
        memory *= ct.exp(ct.gather(gate, (head, t)))
        wrong = (value - ct.sum(memory * key, axis=0, keepdims=True)) * ct.gather(beta, (head, t))
        memory += key * wrong
        ct.store(out, (head, t, block), ct.sum(memory * query, axis=0).astype(out.dtype).reshape((1, 1, width)))
    ct.store(state, (head, 0, block), memory.reshape((1, depth, width)))


@ct.kernel
def linear_chunks(q, k, v, out, chunk: ct.Constant[int], depth: ct.Constant[int], width: ct.Constant[int]):
    """Causal linear attention by chunks: the state between chunks, a masked product within one."""
    head = ct.bid(0)
    state = ct.zeros((depth, width), dtype=ct.float32)
    inside = ct.arange(chunk, dtype=ct.int32)[:, None] >= ct.arange(chunk, dtype=ct.int32)[None, :]
    for c in range(ct.cdiv(q.shape[1], chunk)):
        query = ct.load(q, (head, c, 0), (1, chunk, depth), padding_mode=ZERO).reshape((chunk, depth))
        key = ct.load(k, (head, c, 0), (1, chunk, depth), padding_mode=ZERO).reshape((chunk, depth))
        value = ct.load(v, (head, c, 0), (1, chunk, width), padding_mode=ZERO).reshape((chunk, width))
        score = ct.mma(query, ct.transpose(key), ct.zeros((chunk, chunk), dtype=ct.float32))
        score = ct.where(inside, score, 0.0)
        y = ct.mma(query, state.astype(q.dtype), ct.zeros((chunk, width), dtype=ct.float32))
        y = ct.mma(score.astype(q.dtype), value, y)
        state = ct.mma(ct.transpose(key), value, state)
        ct.store(out, (head, c, 0), y.astype(out.dtype).reshape((1, chunk, width)))


@ct.function
def product(a, b):
    """In tf32."""
    a, b = a.astype(ct.tfloat32), b.astype(ct.tfloat32)
    return ct.mma(a, b, ct.zeros((a.shape[0], b.shape[1]), dtype=ct.float32))


@ct.kernel
def gated_chunks(
    q, k, decayed, v, gate, state, out, chunk: ct.Constant[int], depth: ct.Constant[int], width: ct.Constant[int]
):
    """The gated delta rule by chunks: of five matmuls a chunk, three read what others have computed as right operands."""
    head, block = ct.bid(0), ct.bid(1)
    memory = ct.load(state, (head, 0, block), (1, depth, width), padding_mode=ZERO).reshape((depth, width))
    inside = ct.arange(chunk, dtype=ct.int32)[:, None] >= ct.arange(chunk, dtype=ct.int32)[None, :]
    for c in range(ct.cdiv(q.shape[1], chunk)):
        past = ct.load(decayed, (head, c, 0), (1, chunk, depth), padding_mode=ZERO).reshape((chunk, depth))
        value = ct.load(v, (head, c, block), (1, chunk, width), padding_mode=ZERO).reshape((chunk, width))
        value = value.astype(ct.float32) - product(past, memory)
        query = ct.load(q, (head, c, 0), (1, chunk, depth), padding_mode=ZERO).reshape((chunk, depth))
        query = query.astype(ct.float32)
        total = ct.load(gate, (head, c), (1, chunk), padding_mode=ZERO).reshape((chunk,))
        before = product(query * ct.exp(total)[:, None], memory)
        key = ct.load(k, (head, c, 0), (1, chunk, depth), padding_mode=ZERO).reshape((chunk, depth))
        key = key.astype(ct.float32)
        score = product(query, ct.transpose(key))
        score = ct.where(inside, score * ct.exp(ct.where(inside, total[:, None] - total[None, :], 0.0)), 0.0)
        y = before + product(score, value)
        ct.store(out, (head, c, block), y.reshape((1, chunk, width)))
        last = ct.load(gate, (head, c * chunk + chunk - 1), (1, 1), padding_mode=ZERO).reshape((1,))
        key = key * ct.exp(last - total)[:, None]
        memory = memory * ct.exp(last)[:, None] + product(ct.transpose(key), value)
    ct.store(state, (head, 0, block), memory.reshape((1, depth, width)))


@ct.kernel
def read_by_two(x, a, b, y, z, rows: ct.Constant[int], depth: ct.Constant[int], width: ct.Constant[int]):
    """Two loops multiply the same computed rows by the columns of one matrix each."""
    part = ct.bid(0)
    t = ct.load(x, (part, 0), (rows, depth), padding_mode=ZERO)
    t = (t.astype(ct.float32) * 0.5).astype(x.dtype)
    for j in range(ct.cdiv(a.shape[1], width)):
        right = ct.load(a, (0, j), (depth, width), padding_mode=ZERO)
        ct.store(y, (part, j), ct.mma(t, right, ct.zeros((rows, width), dtype=ct.float32)).astype(y.dtype))
    for j in range(ct.cdiv(b.shape[1], width)):
        right = ct.load(b, (0, j), (depth, width), padding_mode=ZERO)
        ct.store(z, (part, j), ct.mma(t, right, ct.zeros((rows, width), dtype=ct.float32)).astype(z.dtype))


@ct.kernel
def backward_fused(
    q,
    k,
    v,
    do,
    lse,
    delta,
    dq,
    dk,
    dv,
    scale: ct.float32,
    rows: ct.Constant[int],
    cols: ct.Constant[int],
    depth: ct.Constant[int],
):
    """All gradients of causal attention in one kernel, a block for a tile of keys: those of queries are added atomically."""
    j, head = ct.bid(0), ct.bid(1)
    length = q.shape[1]
    key = ct.load(k, (head, j, 0), (1, cols, depth), padding_mode=ZERO).reshape((cols, depth))
    value = ct.load(v, (head, j, 0), (1, cols, depth), padding_mode=ZERO).reshape((cols, depth))
    dkey = ct.zeros((cols, depth), dtype=ct.float32)
    dvalue = ct.zeros((cols, depth), dtype=ct.float32)
    column = j * cols + ct.arange(cols, dtype=ct.int32)[None, :]
    for i in range(j * cols // rows, ct.cdiv(length, rows)):
        query = ct.load(q, (head, i, 0), (1, rows, depth), padding_mode=ZERO).reshape((rows, depth))
        grad = ct.load(do, (head, i, 0), (1, rows, depth), padding_mode=ZERO).reshape((rows, depth))
        top = ct.load(lse, (head, i), (1, rows), padding_mode=ZERO).reshape((rows, 1))
        dot = ct.load(delta, (head, i), (1, rows), padding_mode=ZERO).reshape((rows, 1))
        row = i * rows + ct.arange(rows, dtype=ct.int32)[:, None]
        score = ct.mma(query, ct.transpose(key), ct.zeros((rows, cols), dtype=ct.float32))
        weights = ct.exp2(score * (scale * LOG2_E) - top)
        weights = ct.where((row < length) & (column <= row), weights, 0.0)
        dvalue = ct.mma(ct.transpose(weights.astype(q.dtype)), grad, dvalue)
        dweights = ct.mma(grad, ct.transpose(value), ct.zeros((rows, cols), dtype=ct.float32))
        dscore = (weights * (dweights - dot) * scale).astype(q.dtype)
        dkey = ct.mma(ct.transpose(dscore), query, dkey)
        dquery = ct.mma(dscore, key, ct.zeros((rows, depth), dtype=ct.float32))
        places = (head, row, ct.arange(depth, dtype=ct.int32)[None, :])
        ct.atomic_add(dq, places, dquery, memory_order=ct.MemoryOrder.RELAXED)
    ct.store(dk, (head, j, 0), dkey.reshape((1, cols, depth)).astype(dk.dtype))
    ct.store(dv, (head, j, 0), dvalue.reshape((1, cols, depth)).astype(dv.dtype))


@ct.kernel
def scaled_keys(
    q,
    k,
    v,
    scales,
    bias,
    out,
    scale: ct.float32,
    rows: ct.Constant[int],
    cols: ct.Constant[int],
    depth: ct.Constant[int],
):
    """Keys and values in 8 bits with a scale for each row of both, and a bias that is added to the scores."""
    block, head = ct.bid(0), ct.bid(1)
    length = k.shape[1]
    peak = ct.full((rows, 1), LOW, dtype=ct.float32)
    total = ct.zeros((rows, 1), dtype=ct.float32)
    acc = ct.zeros((rows, depth), dtype=ct.float32)
    query = ct.load(q, (head, block, 0), (1, rows, depth), padding_mode=ZERO).reshape((rows, depth))
    for j in range(ct.cdiv(length, cols)):
        key = ct.load(k, (head, j, 0), (1, cols, depth), padding_mode=ZERO).reshape((cols, depth)).astype(q.dtype)
        score = ct.mma(query, ct.transpose(key), ct.zeros((rows, cols), dtype=ct.float32))
        of_key = ct.load(scales, (head, 0, j), (1, 1, cols), padding_mode=ZERO).reshape((1, cols))
        score = score * (scale * LOG2_E) * of_key
        score += ct.load(bias, (head, block, j), (1, rows, cols), padding_mode=ZERO).reshape((rows, cols)).astype(ct.float32)
        column = j * cols + ct.arange(cols, dtype=ct.int32)[None, :]
        score = ct.where(column < length, score, LOW)
        new_peak = ct.maximum(peak, ct.max(score, axis=1, keepdims=True))
        weights = ct.exp2(score - new_peak)
        shrink = ct.exp2(peak - new_peak)
        total = total * shrink + ct.sum(weights, axis=1, keepdims=True)
        of_value = ct.load(scales, (head, 1, j), (1, 1, cols), padding_mode=ZERO).reshape((1, cols))
        value = ct.load(v, (head, j, 0), (1, cols, depth), padding_mode=ZERO).reshape((cols, depth)).astype(q.dtype)
        acc = ct.mma((weights * of_value).astype(q.dtype), value, acc * shrink)
        peak = new_peak
    ct.store(out, (head, block, 0), (acc / total).reshape((1, rows, depth)).astype(out.dtype))


def arrays(dtype):
    return [array(dtype, n) for n in range(1, 6)]


H1, H2, H3, H4, H5 = arrays(ct.float16)
B3, B4 = array(ct.bfloat16, 3), array(ct.bfloat16, 4)
E4, K3 = array(ct.float8_e5m2, 4), array(ct.float8_e4m3fn, 3)
_, S2, S3, _, _ = arrays(ct.float32)
N1, N2 = array(ct.int32, 1), array(ct.int32, 2, aligned=False)
# Rows of a few numbers for each head: nothing is known of where they begin.
U2, U4 = array(ct.float32, 2, aligned=False), array(ct.float32, 4, aligned=False)


def case(name, kernel, *parameters) -> Case:
    return Case(name, kernel, list(parameters), "13.3")


CASES = [
    case("forward_f16_causal", forward, H4, H4, H4, H4, F32, 1, 64, 64, 64, True, False),
    case("forward_f16_even", forward, H4, H4, H4, array(ct.float16, 4, whole=True), F32, 1, 64, 32, 64, False, True),
    case("forward_f16_256_rows", forward, H4, H4, H4, H4, F32, 1, 256, 128, 64, True, False),
    case("forward_f16_deep", forward, H4, H4, H4, H4, F32, 1, 128, 128, 128, False, True),
    case("forward_bf16_grouped", forward, B4, B4, B4, B4, F32, 4, 64, 64, 64, True, False),
    case("forward_e5m2", forward, E4, E4, E4, H4, F32, 1, 64, 64, 64, False, False),
    case("two_loops_f16", two_loops, H4, H4, H4, H4, S2, F32, 64, 32, 64),
    case("with_sink_f16", with_sink, H4, H4, H4, H1, H4, F32, I32, 2, 64, 32, 64),
    case("capped_f16", capped, H4, H4, H4, H4, F32, F32, 64, 64, 64),
    case("decode_f16", decode, H4, H4, H4, H5, U4, F32, 64, 16, 32, 64),
    case("decode_f16_four", decode, H4, H4, H4, H5, U4, F32, 64, 4, 32, 64),
    case("decode_f16_one", decode, H4, H4, H4, H5, U4, F32, 64, 1, 64, 64),
    case("decode_f16_by_keys", decode_by_keys, H4, H4, H4, H5, U4, F32, 256, 8, 128, 128),
    case("join_splits_f16", join_splits, H5, U4, H4, 4, 64),
    case("paged_f16", paged, H4, H4, H4, N2, N1, H4, F32, 16, 32, 64),
    case("latent_f16", latent, H3, H3, H3, H3, H3, F32, 16, 32, 128, 32),
    case("sparse_f16", sparse, H3, array(ct.float16, 2), array(ct.float16, 2), N2, H3, F32, 16, 32, 64, False),
    case("sparse_f16_gather", sparse, H3, array(ct.float16, 2), array(ct.float16, 2), N2, H3, F32, 64, 32, 64, True),
    case("dot_rows_f16", dot_rows, H4, H4, S2, 32, 64),
    case("backward_keys_f16", backward_keys, H4, H4, H4, H4, S2, S2, H4, H4, F32, 32, 64, 64),
    case("backward_queries_f16", backward_queries, H4, H4, H4, H4, S2, S2, H4, F32, 64, 32, 64),
    case("backward_fused_bf16", backward_fused, B3, B3, B3, B3, S2, S2, S3, B3, B3, F32, 32, 64, 128),
    case("backward_fused_f16", backward_fused, H3, H3, H3, H3, S2, S2, S3, H3, H3, F32, 64, 64, 64),
    case("scaled_keys_e4m3", scaled_keys, B3, K3, K3, S3, B3, B3, F32, 64, 64, 128),
    case("delta_rule_f16", delta_rule, H3, H3, H3, U2, U2, S3, H3, I32, 64, 32),
    case("linear_chunks_f16", linear_chunks, H3, H3, H3, H3, 32, 64, 64),
    # The state as an operand has more fragments than a thread has registers beside the state.
    case("linear_chunks_large_f16", linear_chunks, H3, H3, H3, H3, 64, 128, 128),
    # The operands that are stored for its matmuls find room in shared memory in turn only.
    case("gated_chunks_bf16", gated_chunks, B3, B3, B3, B3, U2, S3, S3, 64, 256, 128),
    case("read_by_two_f16", read_by_two, H2, H2, H2, H2, H2, 128, 64, 64),
    # Warps over rows and columns would be another choice than warps over rows.
    case("latent_f16_rows", latent, H3, H3, H3, H3, H3, F32, 64, 64, 64, 32),
]


def given(name, x):
    """The arguments of an array, packed."""
    strides = [int(np.prod(x.shape[i + 1 :])) for i in range(x.ndim)]
    return array_args(Buffer(name, *raw(x)[:1], type=raw(x)[1]), x.shape, strides)


def raw(x):
    names = {
        "bfloat16": ("bf16", np.uint16),
        "float8_e5m2": ("f8E5M2", np.uint8),
        "float8_e4m3fn": ("f8E4M3FN", np.uint8),
    }
    if x.dtype.name not in names:
        return x, None
    name, bits = names[x.dtype.name]
    return x.view(bits), name


def wanted(name, right, dtype, tolerance, before=None):
    right = right.astype(dtype)
    before = np.zeros_like(right) if before is None else before
    strides = [int(np.prod(right.shape[i + 1 :])) for i in range(right.ndim)]
    buffer = Buffer(name, raw(before)[0], raw(right)[0], tolerance, raw(right)[1])
    return array_args(buffer, right.shape, strides)


def attention(q, k, v, scale, seen=None, cap=None, sink=None):
    """Right output, and the logarithm (base 2) of the sums; (…, rows, depth)."""
    q, k, v = (np.asarray(x, np.float64) for x in (q, k, v))
    score = q @ np.swapaxes(k, -1, -2) * scale
    if cap is not None:
        score = cap * np.tanh(score / cap)
    if seen is not None:
        score = np.where(seen, score, -np.inf)
    weights = np.exp(score)
    total = weights.sum(axis=-1, keepdims=True)
    if sink is not None:
        total = total + np.exp(sink)
    return (weights / total) @ v, np.log2(total[..., 0]), weights / total


def drawn(rng, *shape, dtype=np.float16):
    return rng.standard_normal(shape).astype(dtype)


def below(rows, cols=None):
    return np.arange(cols or rows) <= np.arange(rows)[:, None]


def forward_run(name, batch, heads, shared, rows, cols, causal, dtype, tolerance, tile=64, out=None, depth=64):
    rng = np.random.default_rng((heads, rows, cols))
    q = drawn(rng, batch, heads, rows, depth, dtype=dtype)
    k, v = (drawn(rng, batch, shared, cols, depth, dtype=dtype) for _ in range(2))
    group = heads // shared
    right, _, _ = attention(
        q, np.repeat(k, group, axis=1), np.repeat(v, group, axis=1), 0.125, below(rows, cols) if causal else None
    )
    args = [*given("q", q), *given("k", k), *given("v", v), *wanted("out", right, out or dtype, tolerance)]
    label = f"{batch}x{heads}x{rows}x{cols}"
    return Run(name, label, (-(-rows // tile), batch * heads), [*args, Scalar("f32", 0.125)])


def decode_run(name, batch, length, span, depth, group=5):
    rng = np.random.default_rng(3)
    heads, spans = 2, -(-length // span)
    q = drawn(rng, batch, heads, group, depth)
    k, v = (drawn(rng, batch, heads, length, depth) for _ in range(2))
    parts, sums = [], []
    for s in range(0, length, span):
        part, lse, _ = attention(q, k[:, :, s : s + span], v[:, :, s : s + span], 0.125)
        parts.append(part)
        sums.append(lse)
    parts, sums = np.stack(parts, axis=3), np.stack(sums, axis=3)
    args = [*given("q", q), *given("k", k), *given("v", v), *wanted("part", parts, np.float16, HALF)]
    args += [*wanted("lse", sums, np.float32, SINGLE), Scalar("f32", 0.125)]
    return Run(name, f"{batch}x2x{group}x{length}", (batch, heads, spans), args), rng, parts, sums


def decode_runs():
    yield decode_run("decode_f16_by_keys", 1, 300, 256, 128)[0]
    yield decode_run("decode_f16_four", 1, 150, 64, 64, 4)[0]
    yield decode_run("decode_f16_one", 1, 150, 64, 64, 1)[0]
    batch, heads, group, spans = 2, 2, 5, 3
    run, rng, parts, sums = decode_run("decode_f16", batch, 150, 64, 64)
    yield run
    parts, sums = parts.astype(np.float16), sums.astype(np.float32)
    weights = np.exp2(sums.astype(np.float64))
    right = (parts * weights[..., None]).sum(axis=3) / weights.sum(axis=3, keepdims=True)
    args = [*given("part", parts), *given("lse", sums), *wanted("out", right, np.float16, HALF)]
    yield Run("join_splits_f16", "2x2x5x3", (batch, heads, group), args)


def paged_run():
    rng = np.random.default_rng(4)
    heads, group, page = 2, 4, 32
    lengths = np.array([70, 20], np.int32)
    table = np.array([[3, 0, 2], [1, -1, -1]], np.int32)
    q = drawn(rng, 2, heads, group, 64)
    k, v = (drawn(rng, 5, heads, page, 64) for _ in range(2))
    right = np.zeros(q.shape)
    for b, length in enumerate(lengths):
        pages = table[b, : -(-length // page)]
        mine = [np.concatenate(list(x[pages]), axis=1)[:, :length] for x in (k, v)]
        right[b], _, _ = attention(q[b], *mine, 0.125)
    args = [*given("q", q), *given("k", k), *given("v", v), *given("table", table), *given("lengths", lengths)]
    return Run("paged_f16", "70_20", (2, heads), [*args, *wanted("out", right, np.float16, HALF), Scalar("f32", 0.125)])


def backward_runs():
    """The gradients of causal attention, by the chain rule in double precision."""
    rng = np.random.default_rng(5)
    heads, n = 2, 100
    q, k, v, grad = (drawn(rng, 1, heads, n, 64) for _ in range(4))
    right, lse, weights = attention(q, k, v, 0.125, below(n))
    out = right.astype(np.float16)
    dots = (out.astype(np.float64) * grad).sum(axis=-1)[0]
    yield Run(
        "dot_rows_f16",
        "2x100",
        (heads, 4),
        [*given("out", out), *given("grad", grad), *wanted("delta", dots, np.float32, SINGLE)],
    )
    lse, dots = lse[0].astype(np.float32), dots.astype(np.float32)
    weight_grad = np.asarray(grad, np.float64) @ np.swapaxes(v, -1, -2)
    score_grad = weights * (weight_grad - dots[None, :, :, None])
    dv = np.swapaxes(weights, -1, -2) @ grad.astype(np.float64)
    dk = np.swapaxes(score_grad, -1, -2) @ q.astype(np.float64) * 0.125
    dq = score_grad @ k.astype(np.float64) * 0.125
    args = [*given("q", q), *given("k", k), *given("v", v), *given("grad", grad)]
    args += [*given("lse", lse), *given("delta", dots)]
    scale = Scalar("f32", 0.125)
    loose = Tolerance(absolute=1e-2, relative=1e-2)
    outs = [*wanted("dk", dk, np.float16, loose), *wanted("dv", dv, np.float16, loose)]
    yield Run("backward_keys_f16", "2x100", (2, heads), [*args, *outs, scale])
    yield Run("backward_queries_f16", "2x100", (2, heads), [*args, *wanted("dq", dq, np.float16, loose), scale])


def fused_backward_run(name, n, depth, tiles, dtype, loose):
    """As [`backward_runs`], with the sums of rows of numbers that are not rounded."""
    rng = np.random.default_rng(27)
    scale = depth**-0.5
    q, k, v, grad = (drawn(rng, 1, 2, n, depth, dtype=dtype) for _ in range(4))
    right, lse, weights = attention(q, k, v, scale, below(n))
    q, k, v, grad = (np.asarray(x[0], np.float64) for x in (q, k, v, grad))
    weights, dots = weights[0], (right[0] * grad).sum(axis=-1)
    score_grad = weights * (grad @ np.swapaxes(v, -1, -2) - dots[:, :, None]) * scale
    ins = (("q", q), ("k", k), ("v", v), ("do", grad))
    args = [a for label, x in ins for a in given(label, x.astype(dtype))]
    args += [*given("lse", lse[0].astype(np.float32)), *given("delta", dots.astype(np.float32))]
    args += wanted("dq", score_grad @ k, np.float32, loose)
    args += wanted("dk", np.swapaxes(score_grad, -1, -2) @ q, dtype, loose)
    args += wanted("dv", np.swapaxes(weights, -1, -2) @ grad, dtype, loose)
    return Run(name, f"2x{n}", (-(-n // tiles), 2), [*args, Scalar("f32", scale)])


def scaled_keys_run():
    rng = np.random.default_rng(28)
    n, depth = 100, 128
    q = drawn(rng, 2, n, depth, dtype=ml_dtypes.bfloat16)
    k, v = (drawn(rng, 2, n, depth, dtype=ml_dtypes.float8_e4m3fn) for _ in range(2))
    scales = rng.uniform(0.5, 1.5, (2, 2, n)).astype(np.float32)
    bias = drawn(rng, 2, n, 104, dtype=ml_dtypes.bfloat16)
    wide = [np.asarray(x, np.float64) for x in (q, k, v)]
    score = wide[0] @ np.swapaxes(wide[1], 1, 2) * scales[:, 0, None, :] * depth**-0.5
    score = score * LOG2_E + np.asarray(bias, np.float64)[:, :, :n]
    weights = np.exp2(score - score.max(axis=-1, keepdims=True))
    right = (weights / weights.sum(axis=-1, keepdims=True)) @ (wide[2] * scales[:, 1, :, None])
    args = [*given("q", q), *given("k", k), *given("v", v), *given("scales", scales), *given("bias", bias)]
    args += wanted("out", right, ml_dtypes.bfloat16, ROUGH)
    return Run("scaled_keys_e4m3", f"2x{n}", (2, 2), [*args, Scalar("f32", depth**-0.5)])


def linear_runs():
    rng = np.random.default_rng(6)
    heads, n, depth, width = 2, 5, 64, 64
    q, k, v = (drawn(rng, heads, n, size) / np.float16(8) for size in (depth, depth, width))
    gate = -rng.uniform(0, 0.5, (heads, n)).astype(np.float32)
    beta = rng.uniform(0, 1, (heads, n)).astype(np.float32)
    before = rng.standard_normal((heads, depth, width)).astype(np.float32)
    state, right = before.astype(np.float64), np.zeros((heads, n, width))
    for t in range(n):
        state = state * np.exp(gate[:, t].astype(np.float64))[:, None, None]
        key = k[:, t].astype(np.float64)
        wrong = (v[:, t] - np.einsum("hd,hdw->hw", key, state)) * beta[:, t, None]
        state = state + key[:, :, None] * wrong[:, None, :]
        right[:, t] = np.einsum("hd,hdw->hw", q[:, t].astype(np.float64), state)
    args = [*given("q", q), *given("k", k), *given("v", v), *given("gate", gate), *given("beta", beta)]
    args += [*wanted("state", state, np.float32, SINGLE, before=before), *wanted("out", right, np.float16, HALF)]
    yield Run("delta_rule_f16", "2x5", (heads, 2), [*args, Scalar("i32", n)])
    loose = Tolerance(absolute=1e-2, relative=1e-2)
    for name, n, depth, part in ("linear_chunks_f16", 80, 64, 4), ("linear_chunks_large_f16", 150, 128, 8):
        q, k, v = (drawn(rng, heads, n, depth) / np.float16(part) for _ in range(3))
        score = np.asarray(q, np.float64) @ np.swapaxes(k, -1, -2) * below(n)
        args = [*given("q", q), *given("k", k), *given("v", v)]
        yield Run(name, f"2x{n}", (heads,), [*args, *wanted("out", score @ v, np.float16, loose)])
    yield gated_chunks_run()
    x, a, b = drawn(rng, 200, 64), drawn(rng, 64, 104), drawn(rng, 64, 72)
    args = [*given("x", x), *given("a", a), *given("b", b)]
    half = np.asarray(x, np.float64) / 2
    outs = [*wanted("y", half @ a, np.float16, loose), *wanted("z", half @ b, np.float16, loose)]
    yield Run("read_by_two_f16", "200", (2,), [*args, *outs])


def gated_chunks_run():
    """Two chunks, in double precision."""
    rng = np.random.default_rng(23)
    n, chunk, depth, width = 128, 64, 256, 136
    q, k, decayed = (drawn(rng, 1, n, depth, dtype=ml_dtypes.bfloat16) / ml_dtypes.bfloat16(16) for _ in range(3))
    v = drawn(rng, 1, n, width, dtype=ml_dtypes.bfloat16)
    steps = -rng.uniform(0, 0.05, (1, n // chunk, chunk))
    gate = np.cumsum(steps, axis=2).reshape(1, n).astype(np.float32)
    before = rng.standard_normal((1, depth, width)).astype(np.float32)
    state, right = before.astype(np.float64), np.zeros((1, n, width))
    for at in range(0, n, chunk):
        query, key, past, value, total = (x[:, at : at + chunk].astype(np.float64) for x in (q, k, decayed, v, gate))
        value = value - past @ state
        score = query @ np.swapaxes(key, -1, -2) * np.exp(total[:, :, None] - total[:, None, :]) * below(chunk)
        right[:, at : at + chunk] = query * np.exp(total)[:, :, None] @ state + score @ value
        key = key * np.exp(total[:, -1:] - total)[:, :, None]
        state = state * np.exp(total[:, -1])[:, None, None] + np.swapaxes(key, -1, -2) @ value
    args = [*given("q", q), *given("k", k), *given("decayed", decayed), *given("v", v), *given("gate", gate)]
    # tf32 has ten bits, and states are sums of products of them.
    args += [*wanted("state", state, np.float32, HALF, before=before), *wanted("out", right, np.float32, HALF)]
    return Run("gated_chunks_bf16", "1x128", (1, 2), args)


def latent_run(rng, name, rows, keys, depth):
    q, turned = drawn(rng, 2, rows, depth), drawn(rng, 2, rows, 32)
    kv, key_turned = drawn(rng, 2, keys, depth), drawn(rng, 2, keys, 32)
    both_q, both_k = np.concatenate([q, turned], axis=2), np.concatenate([kv, key_turned], axis=2)
    right, _, _ = attention(both_q, both_k, kv, 0.08)
    args = [*given("q", q), *given("turned", turned), *given("kv", kv), *given("key_turned", key_turned)]
    args += [*wanted("out", right, np.float16, HALF), Scalar("f32", 0.08)]
    return Run(name, f"2x{rows}x{keys}", (2, -(-rows // 64)), args)


def sparse_run(name, rows):
    rng = np.random.default_rng(22)
    q, k, v = drawn(rng, 2, rows, 64), drawn(rng, 90, 64), drawn(rng, 90, 64)
    chosen = np.stack([rng.permutation(90)[:70] for _ in range(2)]).astype(np.int32)
    chosen[:, 40:] = np.where(chosen[:, 40:] % 3 == 0, -1, chosen[:, 40:])
    right = np.zeros(q.shape)
    for b, row in enumerate(chosen):
        seen = row[row >= 0]
        right[b], _, _ = attention(q[b], k[seen], v[seen], 0.125)
    args = [*given("q", q), *given("k", k), *given("v", v), *given("chosen", chosen)]
    return Run(name, f"2x{rows}x70", (2,), [*args, *wanted("out", right, np.float16, HALF), Scalar("f32", 0.125)])


def runs():
    half, brain, small = np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2
    yield forward_run("forward_f16_causal", 2, 1, 1, 100, 100, True, half, HALF)
    yield forward_run("forward_f16_even", 1, 1, 1, 64, 96, False, half, HALF)
    yield forward_run("forward_f16_256_rows", 1, 1, 1, 200, 200, True, half, HALF, tile=256)
    yield forward_run("forward_f16_deep", 1, 1, 1, 200, 384, False, half, HALF, tile=128, depth=128)
    yield forward_run("forward_bf16_grouped", 1, 4, 1, 70, 70, True, brain, ROUGH)
    yield forward_run(
        "forward_e5m2", 1, 1, 1, 64, 100, False, small, Tolerance(absolute=6e-2, relative=1e-1), out=half
    )
    rng = np.random.default_rng(1)
    q, k, v = (drawn(rng, 1, 2, 100, 64) for _ in range(3))
    args, scale = [*given("q", q), *given("k", k), *given("v", v)], Scalar("f32", 0.125)
    right, lse, _ = attention(q, k, v, 0.125, below(100))
    outs = [*wanted("out", right, half, HALF), *wanted("lse", lse[0], np.float32, SINGLE)]
    yield Run("two_loops_f16", "2x100", (2, 2), [*args, *outs, scale])
    right, _, _ = attention(q, k, v, 0.125, below(100), cap=2.0)
    yield Run("capped_f16", "2x100", (2, 2), [*args, *wanted("out", right, half, HALF), scale, Scalar("f32", 2.0)])
    k, v = k[:, :1], v[:, :1]
    sink = np.array([0.5, -1.0], half)
    near = below(100) & (np.arange(100) > np.arange(100)[:, None] - 40)
    right, _, _ = attention(q, k, v, 0.125, near, sink=sink.astype(np.float64)[None, :, None, None])
    args = [*given("q", q), *given("k", k), *given("v", v), *given("sink", sink), *wanted("out", right, half, HALF)]
    yield Run("with_sink_f16", "2x100_40", (2, 2), [*args, scale, Scalar("i32", 40)])
    yield from decode_runs()
    yield paged_run()
    yield latent_run(rng, "latent_f16", 12, 70, 128)
    yield latent_run(np.random.default_rng(21), "latent_f16_rows", 70, 100, 64)
    yield sparse_run("sparse_f16", 12)
    yield sparse_run("sparse_f16_gather", 50)
    yield from backward_runs()
    yield fused_backward_run("backward_fused_bf16", 100, 128, 64, brain, Tolerance(absolute=6e-2, relative=3e-2))
    yield fused_backward_run("backward_fused_f16", 96, 64, 64, half, Tolerance(absolute=1e-2, relative=1e-2))
    yield scaled_keys_run()
    yield from linear_runs()
