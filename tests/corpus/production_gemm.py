"""Matrix products as production libraries write them: persistent, grouped, split along K, batched, scaled."""

import cuda.tile as ct
import ml_dtypes
import numpy as np

from corpus import Case, array
from numerics import EXACT, Buffer, Run, Scalar, Tolerance, array_args, padded

F32 = ct.compilation.ScalarConstraint(ct.float32)
ZERO = ct.PaddingMode.ZERO
HALF = Tolerance(absolute=2e-2, relative=2e-3)
SINGLE = Tolerance(absolute=2e-3, relative=1e-4)
ROUGH = Tolerance(absolute=1e-1, relative=1e-2)  # bf16


@ct.function
def grouped(step, tiles_m, tiles_n, group: ct.Constant[int]):
    """The tile of a step: down `group` rows of tiles, then one column on, so that blocks share what L2 holds."""
    width = group * tiles_n
    first = (step // width) * group
    height = min(tiles_m - first, group)
    return first + (step % width) % height, (step % width) // height


@ct.kernel
def persistent(
    a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int], by_columns: ct.Constant[bool]
):
    """Each block takes every gridDim-th tile of C; `by_columns`: B is (N, K)."""
    tiles_m, tiles_n = ct.cdiv(a.shape[0], tm), ct.cdiv(c.shape[1], tn)
    for step in range(ct.bid(0), tiles_m * tiles_n, ct.num_blocks(0)):
        m, n = grouped(step, tiles_m, tiles_n, 2)
        acc = ct.zeros((tm, tn), dtype=ct.float32)
        for k in range(ct.cdiv(a.shape[1], tk)):
            x = ct.load(a, (m, k), (tm, tk), padding_mode=ZERO)
            if by_columns:
                y = ct.transpose(ct.load(b, (n, k), (tn, tk), padding_mode=ZERO))
            else:
                y = ct.load(b, (k, n), (tk, tn), padding_mode=ZERO)
            acc = ct.mma(x, y, acc)
        ct.store(c, (m, n), ct.astype(acc, c.dtype))


@ct.kernel(num_ctas=ct.ByTarget(sm_100=2, default=1), occupancy=2)
def hinted(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """A grouped matmul with the hints that tuned kernels carry."""
    m, n = grouped(ct.bid(0), ct.cdiv(a.shape[0], tm), ct.cdiv(b.shape[1], tn), 8)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], tk)):
        x = ct.load(a, (m, k), (tm, tk), padding_mode=ZERO, latency=4)
        y = ct.load(b, (k, n), (tk, tn), padding_mode=ZERO, latency=4)
        acc = ct.mma(x, y, acc)
    ct.store(c, (m, n), ct.astype(acc, c.dtype), latency=2)


@ct.kernel
def in_tf32(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """f32 operands, multiplied as tf32."""
    m, n = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], tk)):
        x = ct.astype(ct.load(a, (m, k), (tm, tk), padding_mode=ZERO), ct.tfloat32)
        y = ct.astype(ct.load(b, (k, n), (tk, tn), padding_mode=ZERO), ct.tfloat32)
        acc = ct.mma(x, y, acc)
    ct.store(c, (m, n), acc)


@ct.kernel
def bits_bf16(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """bf16 in arrays of integers, as programs without PyTorch have it; A by gather, outside of it ones; B is (N, K)."""
    m, n = ct.bid(0), ct.bid(1)
    row = m * tm + ct.arange(tm, dtype=ct.int32)[:, None]
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], tk)):
        column = k * tk + ct.arange(tk, dtype=ct.int32)[None, :]
        x = ct.bitcast(ct.gather(a, (row, column), padding_value=0x3F80), ct.bfloat16)
        y = ct.bitcast(ct.load(b, (n, k), (tn, tk), padding_mode=ZERO), ct.bfloat16)
        acc = ct.mma(x, ct.transpose(y), acc)
    ct.store(c, (m, n), ct.bitcast(ct.astype(acc, ct.bfloat16), ct.uint16))


@ct.kernel
def bits_e4m3(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """8-bit floats in three-dimensional arrays of bytes; B is (N, K)."""
    m, n = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[2], tk)):
        x = ct.load(a, (0, m, k), (1, tm, tk), padding_mode=ZERO).reshape((tm, tk))
        y = ct.load(b, (0, n, k), (1, tn, tk), padding_mode=ZERO).reshape((tn, tk))
        acc = ct.mma(ct.bitcast(x, ct.float8_e4m3fn), ct.transpose(ct.bitcast(y, ct.float8_e4m3fn)), acc)
    ct.store(c, (m, n), ct.astype(acc, c.dtype))


@ct.kernel
def alpha_beta(
    a, b, c, out, alpha: ct.float32, beta: ct.float32, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]
):
    """alpha A Bt + beta C."""
    m, n = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], tk)):
        x = ct.load(a, (m, k), (tm, tk), padding_mode=ZERO)
        y = ct.load(b, (n, k), (tn, tk), padding_mode=ZERO)
        acc = ct.mma(x, ct.transpose(y), acc)
    before = ct.astype(ct.load(c, (m, n), (tm, tn), padding_mode=ZERO), ct.float32)
    ct.store(out, (m, n), ct.astype(alpha * acc + beta * before, out.dtype))


@ct.kernel
def in_halves(a, b, c, out, beta: ct.float32, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """A Bt + beta C, of which the left and the right half are read and written one after the other."""
    m, n = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], tk)):
        x = ct.load(a, (m, k), (tm, tk), padding_mode=ZERO)
        y = ct.load(b, (n, k), (tn, tk), padding_mode=ZERO)
        acc = ct.mma(x, ct.transpose(y), acc)
    for half in ct.static_iter(range(2)):
        part = ct.extract(acc, (0, half), (tm, tn // 2))
        before = ct.astype(ct.load(c, (m, 2 * n + half), (tm, tn // 2), padding_mode=ZERO), ct.float32)
        ct.store(out, (m, 2 * n + half), ct.astype(part + beta * before, out.dtype))


@ct.kernel
def batched(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """Persistent over (batch, m, n); three-dimensional views."""
    tiles_m, tiles_n = ct.cdiv(a.shape[1], tm), ct.cdiv(b.shape[2], tn)
    for step in range(ct.bid(0), a.shape[0] * tiles_m * tiles_n, ct.num_blocks(0)):
        batch, place = step // (tiles_m * tiles_n), step % (tiles_m * tiles_n)
        m, n = place // tiles_n, place % tiles_n
        acc = ct.zeros((tm, tn), dtype=ct.float32)
        for k in range(ct.cdiv(a.shape[2], tk)):
            x = ct.load(a, (batch, m, k), (1, tm, tk), padding_mode=ZERO).reshape((tm, tk))
            y = ct.load(b, (batch, k, n), (1, tk, tn), padding_mode=ZERO).reshape((tk, tn))
            acc = ct.mma(x, y, acc)
        ct.store(c, (batch, m, n), ct.astype(acc, c.dtype).reshape((1, tm, tn)))


@ct.kernel
def masked_batched(a, b, c, valid, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """Only the first `valid[batch]` rows of each batch matter: tiles past them do nothing."""
    batch, m, n = ct.bid(0), ct.bid(1), ct.bid(2)
    count = ct.gather(valid, batch)
    if m * tm < count:
        acc = ct.zeros((tm, tn), dtype=ct.float32)
        for k in range(ct.cdiv(a.shape[2], tk)):
            x = ct.load(a, (batch, m, k), (1, tm, tk), padding_mode=ZERO).reshape((tm, tk))
            y = ct.load(b, (batch, k, n), (1, tk, tn), padding_mode=ZERO).reshape((tk, tn))
            acc = ct.mma(x, y, acc)
        ct.store(c, (batch, m, n), ct.astype(acc, c.dtype).reshape((1, tm, tn)))


@ct.kernel
def ragged(a, b, c, start, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """Rows start[g] … start[g + 1] of A times the g-th B: by gather, for no tile need begin where a group does."""
    group, m, n = ct.bid(0), ct.bid(1), ct.bid(2)
    first, end = ct.gather(start, group), ct.gather(start, group + 1)
    if first + m * tm < end:
        row = first + m * tm + ct.arange(tm, dtype=ct.int32)[:, None]
        acc = ct.zeros((tm, tn), dtype=ct.float32)
        for k in range(ct.cdiv(a.shape[1], tk)):
            column = k * tk + ct.arange(tk, dtype=ct.int32)[None, :]
            x = ct.gather(a, (row, column), mask=row < end, padding_value=0.0)
            y = ct.load(b, (group, k, n), (1, tk, tn), padding_mode=ZERO).reshape((tk, tn))
            acc = ct.mma(x, y, acc)
        column = n * tn + ct.arange(tn, dtype=ct.int32)[None, :]
        ct.scatter(c, (row, column), ct.astype(acc, c.dtype), mask=row < end)


@ct.kernel
def split_atomic(a, b, c, parts: ct.Constant[int], tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """Block axis 2 divides K; the parts meet in C atomically."""
    m, n = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.bid(2), ct.cdiv(a.shape[1], tk), parts):
        x = ct.load(a, (m, k), (tm, tk), padding_mode=ZERO)
        y = ct.load(b, (k, n), (tk, tn), padding_mode=ZERO)
        acc = ct.mma(x, y, acc)
    row = m * tm + ct.arange(tm, dtype=ct.int32)[:, None]
    ct.atomic_add(c, (row, n * tn + ct.arange(tn, dtype=ct.int32)[None, :]), acc)


@ct.kernel
def split_partial(a, b, c, parts: ct.Constant[int], tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """As split_atomic, but each part has a C of its own: c is (parts, M, N)."""
    m, n, part = ct.bid(0), ct.bid(1), ct.bid(2)
    steps = ct.cdiv(a.shape[1], tk * parts)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(part * steps, (part + 1) * steps):
        x = ct.load(a, (m, k), (tm, tk), padding_mode=ZERO)
        y = ct.load(b, (k, n), (tk, tn), padding_mode=ZERO)
        acc = ct.mma(x, y, acc)
    ct.store(c, (part, m, n), acc.reshape((1, tm, tn)))


@ct.kernel
def add_parts(parts, c, count: ct.Constant[int], tm: ct.Constant[int], tn: ct.Constant[int]):
    """What split_partial leaves to do."""
    m, n = ct.bid(0), ct.bid(1)
    all_parts = ct.load(parts, (0, m, n), (count, tm, tn), padding_mode=ZERO)
    ct.store(c, (m, n), ct.astype(ct.sum(all_parts, axis=0), c.dtype))


@ct.kernel
def scaled_fp8(a, b, c, scale_a, scale_b, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """A factor for each row of A and each column of B; B is (N, K)."""
    m, n = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], tk)):
        x = ct.load(a, (m, k), (tm, tk), padding_mode=ZERO)
        y = ct.load(b, (n, k), (tn, tk), padding_mode=ZERO)
        acc = ct.mma(x, ct.transpose(y), acc)
    rows = ct.load(scale_a, (m,), (tm,), padding_mode=ZERO)[:, None]
    columns = ct.load(scale_b, (n,), (tn,), padding_mode=ZERO)[None, :]
    ct.store(c, (m, n), ct.astype(acc * rows * columns, c.dtype))


@ct.kernel
def block_scaled_fp8(a, b, c, scale_a, scale_b, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """A factor for each row and tk columns of A, and for each tk × tn block of B: each step is scaled by itself."""
    m, n = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    row = m * tm + ct.arange(tm, dtype=ct.int32)
    for k in range(ct.cdiv(a.shape[1], tk)):
        x = ct.load(a, (m, k), (tm, tk), padding_mode=ZERO)
        y = ct.load(b, (n, k), (tn, tk), padding_mode=ZERO)
        part = ct.mma(x, ct.transpose(y), ct.zeros((tm, tn), dtype=ct.float32))
        factor = ct.gather(scale_a, (row, k), padding_value=0.0) * ct.gather(scale_b, (n, k))
        acc += part * factor[:, None]
    ct.store(c, (m, n), ct.astype(acc, c.dtype))


@ct.kernel
def integer(a, b, c, scale_a, scale_b, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """i8 operands, summed as i32, dequantised; B is (N, K)."""
    m, n = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.int32)
    for k in range(ct.cdiv(a.shape[1], tk)):
        x = ct.load(a, (m, k), (tm, tk), padding_mode=ZERO)
        y = ct.load(b, (n, k), (tn, tk), padding_mode=ZERO)
        acc = ct.mma(x, ct.transpose(y), acc)
    rows = ct.load(scale_a, (m,), (tm,), padding_mode=ZERO)[:, None]
    columns = ct.load(scale_b, (n,), (tn,), padding_mode=ZERO)[None, :]
    ct.store(c, (m, n), ct.astype(ct.astype(acc, ct.float32) * rows * columns, c.dtype))


@ct.kernel
def gated(x, gate, up, out, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """silu(x gate) · (x up): two products share their left operand."""
    m, n = ct.bid(0), ct.bid(1)
    g = ct.zeros((tm, tn), dtype=ct.float32)
    u = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.cdiv(x.shape[1], tk)):
        left = ct.load(x, (m, k), (tm, tk), padding_mode=ZERO)
        g = ct.mma(left, ct.load(gate, (k, n), (tk, tn), padding_mode=ZERO), g)
        u = ct.mma(left, ct.load(up, (k, n), (tk, tn), padding_mode=ZERO), u)
    ct.store(out, (m, n), ct.astype(g / (1.0 + ct.exp(-g)) * u, out.dtype))


@ct.kernel
def row_maxima(a, b, out, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """The largest of each row of A Bt, of which no tile is stored: what is left of a vocabulary's logits."""
    m = ct.bid(0)
    best = ct.full((tm, 1), -1e30, dtype=ct.float32)
    for n in range(ct.cdiv(b.shape[0], tn)):
        acc = ct.zeros((tm, tn), dtype=ct.float32)
        for k in range(ct.cdiv(a.shape[1], tk)):
            x = ct.load(a, (m, k), (tm, tk), padding_mode=ZERO)
            y = ct.load(b, (n, k), (tn, tk), padding_mode=ZERO)
            acc = ct.mma(x, ct.transpose(y), acc)
        best = ct.maximum(best, ct.max(acc, axis=1, keepdims=True))
    ct.store(out, (m, 0), best)


@ct.kernel
def row_maxima_deep(a, b, out, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """The same in one matmul for each tile: its operands are larger than shared memory."""
    m = ct.bid(0)
    best = ct.full((tm, 1), -1e30, dtype=ct.float32)
    x = ct.load(a, (m, 0), (tm, tk), padding_mode=ZERO)
    for n in range(ct.cdiv(b.shape[0], tn)):
        y = ct.load(b, (n, 0), (tn, tk), padding_mode=ZERO)
        acc = ct.mma(x, ct.transpose(y), ct.zeros((tm, tn), dtype=ct.float32))
        best = ct.maximum(best, ct.max(acc, axis=1, keepdims=True))
    ct.store(out, (m, 0), best)


@ct.kernel
def exponential_rows(a, b, out, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """exp(A Bt) B, rows whole: two products read each tile of B, one of them transposed."""
    m = ct.bid(0)
    x = ct.load(a, (m, 0), (tm, tk), padding_mode=ZERO)
    acc = ct.zeros((tm, tk), dtype=ct.float32)
    for n in range(ct.cdiv(b.shape[0], tn)):
        y = ct.load(b, (n, 0), (tn, tk), padding_mode=ZERO)
        p = ct.exp(ct.mma(x, ct.transpose(y), ct.zeros((tm, tn), dtype=ct.float32)))
        acc = ct.mma(p.astype(a.dtype), y, acc)
    ct.store(out, (m, 0), acc)


@ct.kernel
def experts(
    a,
    b,
    c,
    token,
    expert,
    weight,
    used,
    top: ct.Constant[int],
    tm: ct.Constant[int],
    tn: ct.Constant[int],
    tk: ct.Constant[int],
):
    """Mixture of experts: rows of A picked by sorted (token, choice) numbers, one expert for each tile of rows.

    `token` is padded to whole tiles with the number of pairs; `used` says how much of it counts.
    """
    m, n = ct.bid(0), ct.bid(1)
    if m * tm < ct.gather(used, 0):
        pair = ct.gather(token, m * tm + ct.arange(tm, dtype=ct.int32))
        which = ct.gather(expert, m)
        there = (pair < c.shape[0])[:, None]
        acc = ct.zeros((tm, tn), dtype=ct.float32)
        for k in range(ct.cdiv(a.shape[1], tk)):
            column = k * tk + ct.arange(tk, dtype=ct.int32)[None, :]
            x = ct.gather(a, (pair[:, None] // top, column), mask=there, padding_value=0.0)
            y = ct.load(b, (which, n, k), (1, tn, tk), padding_mode=ZERO).reshape((tn, tk))
            acc = ct.mma(x, ct.transpose(y), acc)
        acc *= ct.gather(weight, pair, padding_value=0.0)[:, None]
        column = n * tn + ct.arange(tn, dtype=ct.int32)[None, :]
        ct.scatter(c, (pair[:, None], column), ct.astype(acc, c.dtype), mask=there)


@ct.kernel
def grouped_rows(
    a,
    b,
    c,
    start,
    groups: ct.Constant[int],
    step: ct.Constant[int],
    tm: ct.Constant[int],
    tn: ct.Constant[int],
    tk: ct.Constant[int],
):
    """Rows `start[g]` to `start[g + 1]` of A times B[g], tiles of all groups in turn; both operands through pointers."""
    tile = ct.bid(0)
    before = 0
    across = ct.cdiv(c.shape[1], tn)
    for g in range(groups):
        first, end = ct.gather(start, g), ct.gather(start, g + 1)
        count = ct.cdiv(end - first, tm) * across
        while tile < before + count:
            at = tile - before
            row = first + at // across * tm + ct.arange(tm, dtype=ct.int32)
            column = at % across * tn + ct.arange(tn, dtype=ct.int32)
            there = (row < end)[:, None]
            acc = ct.zeros((tm, tn), dtype=ct.float32)
            for k in range(ct.cdiv(a.shape[1], tk)):
                depth = k * tk + ct.arange(tk, dtype=ct.int32)
                x = ct.gather(a, (row[:, None], depth[None, :]), mask=there, padding_value=0.0)
                y = ct.gather(b, (g, depth[:, None], column[None, :]), padding_value=0.0)
                acc = ct.mma(x, y, acc)
            ct.scatter(c, (row[:, None], column[None, :]), ct.astype(acc, c.dtype), mask=there)
            tile = tile + step
        before = before + count


@ct.kernel
def convolution(
    x, w, y, width: ct.Constant[int], tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]
):
    """A convolution along time as a product: rows of x shifted by the tap, (taps, channels, outputs) weights."""
    m, n = ct.bid(0), ct.bid(1)
    time = m * tm + ct.arange(tm, dtype=ct.int32)[:, None]
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for tap in range(width):
        for k in range(ct.cdiv(x.shape[1], tk)):
            channel = k * tk + ct.arange(tk, dtype=ct.int32)[None, :]
            row = time + (tap - width + 1)
            left = ct.gather(x, (row, channel), mask=row >= 0, padding_value=0.0)
            right = ct.load(w, (tap, k, n), (1, tk, tn), padding_mode=ZERO).reshape((tk, tn))
            acc = ct.mma(left, right, acc)
    ct.store(y, (m, n), ct.astype(acc, y.dtype))


@ct.kernel
def chained_tf32(a, b, c, out, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """(A B) C, multiplied as tf32: a 16-bit left operand, then a product as the left operand."""
    m, n = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], tk)):
        x = ct.astype(ct.load(a, (m, k), (tm, tk), padding_mode=ZERO), ct.tfloat32)
        y = ct.astype(ct.load(b, (k, 0), (tk, tn), padding_mode=ZERO), ct.tfloat32)
        acc = ct.mma(x, y, acc)
    z = ct.astype(ct.load(c, (0, n), (tn, tn), padding_mode=ZERO), ct.tfloat32)
    ct.store(out, (m, n), ct.mma(ct.astype(acc, ct.tfloat32), z, ct.zeros((tm, tn), dtype=ct.float32)))


@ct.kernel
def residual(a, b, bias, x, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """A persistent matmul whose result is added to a row and a matrix."""
    tiles_m, tiles_n = ct.cdiv(a.shape[0], tm), ct.cdiv(c.shape[1], tn)
    for step in range(ct.bid(0), tiles_m * tiles_n, ct.num_blocks(0)):
        m, n = grouped(step, tiles_m, tiles_n, 2)
        acc = ct.zeros((tm, tn), dtype=ct.float32)
        for k in range(ct.cdiv(a.shape[1], tk)):
            left = ct.load(a, (m, k), (tm, tk), padding_mode=ZERO)
            right = ct.load(b, (k, n), (tk, tn), padding_mode=ZERO)
            acc = ct.mma(left, right, acc)
        acc = ct.maximum(acc + ct.load(bias, (n,), (tn,), padding_mode=ZERO)[None, :], 0.0)
        acc = acc + ct.astype(ct.load(x, (m, n), (tm, tn), padding_mode=ZERO), ct.float32)
        ct.store(c, (m, n), ct.astype(acc, c.dtype))


@ct.kernel
def requantized(a, b, scale_a, scale_b, bias, c, q, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """i8 operands; the scaled result is stored twice, in f16 and as bytes. B is (N, K)."""
    m, n = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.int32)
    for k in range(ct.cdiv(a.shape[1], tk)):
        left = ct.load(a, (m, k), (tm, tk), padding_mode=ZERO)
        right = ct.load(b, (n, k), (tn, tk), padding_mode=ZERO)
        acc = ct.mma(left, ct.transpose(right), acc)
    rows = ct.load(scale_a, (m,), (tm,), padding_mode=ZERO)[:, None]
    columns = ct.load(scale_b, (n,), (tn,), padding_mode=ZERO)[None, :]
    x = ct.astype(acc, ct.float32) * rows * columns
    x = x + ct.astype(ct.load(bias, (n,), (tn,), padding_mode=ZERO), ct.float32)[None, :]
    ct.store(c, (m, n), ct.astype(x, c.dtype))
    whole = ct.floor(x * 0.125 + 0.5)
    ct.store(q, (m, n), ct.astype(ct.minimum(ct.maximum(whole, -128.0), 127.0), ct.int8))


@ct.kernel
def split_last(
    a, b, parts, counter, c, count: ct.Constant[int], tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]
):
    """Each block stores its part of K; the last one of a tile adds them up."""
    m, n, part = ct.bid(0), ct.bid(1), ct.bid(2)
    steps = ct.cdiv(a.shape[1], tk)
    own = ct.cdiv(steps, count)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(part * own, min((part + 1) * own, steps)):
        x = ct.load(a, (m, k), (tm, tk), padding_mode=ZERO)
        y = ct.load(b, (k, n), (tk, tn), padding_mode=ZERO)
        acc = ct.mma(x, y, acc)
    ct.store(parts, (part, m, n), acc.reshape((1, tm, tn)))
    before = ct.atomic_add(counter, (m, n), 1, memory_order=ct.MemoryOrder.ACQ_REL)
    if before == count - 1:
        total = ct.zeros((tm, tn), dtype=ct.float32)
        for i in range(count):
            total = total + ct.load(parts, (i, m, n), (1, tm, tn)).reshape((tm, tn))
        ct.store(c, (m, n), ct.astype(total, c.dtype))


@ct.kernel
def packed(
    a, w, scales, zeros, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int], group: ct.Constant[int]
):
    """Weights of four bits, eight along K in a word; each `group` of them has a scale and a zero, of which eight along N
    are in a word."""
    m, n = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    shift = ct.arange(8, dtype=ct.int32) * 4
    for k in range(ct.cdiv(a.shape[1], tk)):
        x = ct.load(a, (m, k), (tm, tk), padding_mode=ZERO)
        words = ct.load(w, (k, n), (tk // 8, tn), padding_mode=ZERO)
        weights = ((words[:, None, :] >> shift[None, :, None]) & 15).reshape((tk, tn))
        scale = ct.load(scales, (k * tk // group, n), (1, tn), padding_mode=ZERO)
        zero = ct.load(zeros, (k * tk // group, n), (1, tn // 8), padding_mode=ZERO)
        zero = ((zero[:, :, None] >> shift[None, None, :]) & 15).reshape((1, tn))
        acc = ct.mma(x, (weights - zero).astype(a.dtype) * scale, acc)
    ct.store(c, (m, n), acc.astype(c.dtype))


@ct.kernel
def packed_rows(a, w, scales, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """Weights of four bits as (N, K / 2) bytes, with a scale for each step along K, around 8."""
    m, n = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], tk)):
        x = ct.load(a, (m, k), (tm, tk), padding_mode=ZERO)
        pairs = ct.load(w, (n, k), (tn, tk // 2), padding_mode=ZERO)
        low, high = (pairs & 15).astype(ct.int8) - 8, (pairs >> 4).astype(ct.int8) - 8
        weights = ct.cat((low[:, :, None], high[:, :, None]), 2).reshape((tn, tk)).astype(a.dtype)
        scale = ct.load(scales, (n, k), (tn, 1), padding_mode=ZERO)
        acc = ct.mma(x, ct.transpose(weights * scale), acc)
    ct.store(c, (m, n), acc.astype(c.dtype))


@ct.kernel
def powers(x, out, size: ct.Constant[int]):
    """(x^2 + x)^2 in tf32: both operands of a matmul are one tile, which may be what is added to, too."""
    t = ct.load(x, (0, 0), (size, size), padding_mode=ZERO)
    for _ in range(2):
        left = t.astype(ct.tfloat32)
        t = ct.mma(left, left, t)
    ct.store(out, (0, 0), t)


@ct.kernel
def stream(
    a, b, c, own: ct.Constant[int], tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]
):
    """Each block does `own` steps of all tiles' in a row, of several tiles, and adds up what it has of each (stream-K)."""
    steps = ct.cdiv(a.shape[1], tk)
    tiles_m, tiles_n = ct.cdiv(a.shape[0], tm), ct.cdiv(c.shape[1], tn)
    now = ct.bid(0) * own
    end = min(now + own, tiles_m * tiles_n * steps)
    while now < end:
        tile = now // steps
        first = now % steps
        last = min(steps, first + end - now)
        m, n = tile // tiles_n, tile % tiles_n
        acc = ct.zeros((tm, tn), dtype=ct.float32)
        for k in range(first, last):
            x = ct.load(a, (m, k), (tm, tk), padding_mode=ZERO)
            y = ct.load(b, (k, n), (tk, tn), padding_mode=ZERO)
            acc = ct.mma(x, y, acc)
        row = m * tm + ct.arange(tm, dtype=ct.int32)[:, None]
        column = n * tn + ct.arange(tn, dtype=ct.int32)[None, :]
        ct.atomic_add(c, (row, column), acc)
        now = now + last - first


@ct.kernel
def taken(a, b, next_tile, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """Blocks take the next tile when they are done with one."""
    tiles_m, tiles_n = ct.cdiv(a.shape[0], tm), ct.cdiv(c.shape[1], tn)
    tile = ct.atomic_add(next_tile, 0, 1)
    while tile < tiles_m * tiles_n:
        m, n = tile // tiles_n, tile % tiles_n
        acc = ct.zeros((tm, tn), dtype=ct.float32)
        for k in range(ct.cdiv(a.shape[1], tk)):
            x = ct.load(a, (m, k), (tm, tk), padding_mode=ZERO)
            y = ct.load(b, (k, n), (tk, tn), padding_mode=ZERO)
            acc = ct.mma(x, y, acc)
        ct.store(c, (m, n), ct.astype(acc, c.dtype))
        tile = ct.atomic_add(next_tile, 0, 1)


@ct.kernel
def two_layers(x, first, second, hidden, out, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """max(x A, 0) B: a block stores its rows of what is between the matmuls, and multiplies them from there."""
    m = ct.bid(0)
    for n in range(ct.cdiv(hidden.shape[1], tn)):
        acc = ct.zeros((tm, tn), dtype=ct.float32)
        for k in range(ct.cdiv(x.shape[1], tk)):
            left = ct.load(x, (m, k), (tm, tk), padding_mode=ZERO)
            acc = ct.mma(left, ct.load(first, (k, n), (tk, tn), padding_mode=ZERO), acc)
        ct.store(hidden, (m, n), ct.astype(ct.maximum(acc, 0.0), hidden.dtype))
    for n in range(ct.cdiv(out.shape[1], tn)):
        acc = ct.zeros((tm, tn), dtype=ct.float32)
        for k in range(ct.cdiv(hidden.shape[1], tk)):
            left = ct.load(hidden, (m, k), (tm, tk), padding_mode=ZERO)
            acc = ct.mma(left, ct.load(second, (k, n), (tk, tn), padding_mode=ZERO), acc)
        ct.store(out, (m, n), ct.astype(acc, out.dtype))


H2, H3, B2, S1, S2, S3 = (
    array(t, n)
    for t, n in (
        (ct.float16, 2), (ct.float16, 3), (ct.bfloat16, 2), (ct.float32, 1), (ct.float32, 2), (ct.float32, 3),
    )
)  # fmt: skip
U2, U3 = array(ct.uint16, 2), array(ct.uint8, 3)
E2, I2, N1, N2 = array(ct.float8_e4m3fn, 2), array(ct.int8, 2), array(ct.int32, 1), array(ct.int32, 2)


def case(name, kernel, *parameters) -> Case:
    return Case(name, kernel, list(parameters), "13.3")


CASES = [
    case("persistent_f16", persistent, H2, H2, H2, 64, 64, 32, False),
    case("persistent_bf16_nk", persistent, B2, B2, B2, 64, 128, 64, True),
    case("persistent_f16_deep", persistent, H2, H2, H2, 64, 128, 128, False),
    case("persistent_f16_256x256", persistent, H2, H2, array(ct.float16, 2, whole=True), 256, 256, 32, False),
    case("hinted_f16", hinted, H2, H2, H2, 64, 64, 64),
    case("skinny_f16", hinted, H2, H2, H2, 16, 64, 64),
    case("skinny_f16_two", hinted, H2, H2, H2, 2, 64, 64),
    case("skinny_f16_columns", hinted, H2, H2, H2, 64, 4, 64),
    case("tf32", in_tf32, S2, S2, S2, 64, 64, 32),
    case("tf32_large", in_tf32, S2, S2, S2, 128, 128, 128),
    case("bits_bf16", bits_bf16, U2, U2, U2, 64, 64, 64),
    case("bits_e4m3", bits_e4m3, U3, U3, H2, 64, 64, 64),
    case("chained_tf32", chained_tf32, B2, S2, S2, S2, 64, 64, 32),
    case("alpha_beta_f16", alpha_beta, H2, H2, H2, H2, F32, F32, 64, 64, 32),
    case("in_halves_f16", in_halves, H2, H2, H2, S2, F32, 256, 128, 64),
    case("in_halves_bf16", in_halves, B2, B2, B2, S2, F32, 256, 128, 64),
    case("batched_f16", batched, H3, H3, H3, 64, 64, 32),
    case("masked_batched_f16", masked_batched, H3, H3, H3, N1, 64, 64, 32),
    case("ragged_f16", ragged, H2, H3, H2, N1, 64, 64, 32),
    case("split_atomic_f16", split_atomic, H2, H2, S2, 2, 64, 64, 32),
    case("split_atomic_f16_deep", split_atomic, H2, H2, S2, 2, 128, 128, 128),
    case("split_partial_f16", split_partial, H2, H2, S3, 2, 64, 64, 32),
    case("add_parts_f16", add_parts, S3, H2, 2, 32, 64),
    case("scaled_e4m3", scaled_fp8, E2, E2, H2, S1, S1, 64, 64, 64),
    case("block_scaled_e4m3", block_scaled_fp8, E2, E2, H2, S2, S2, 64, 64, 64),
    case("integer_i8", integer, I2, I2, H2, S1, S1, 64, 64, 64),
    case("gated_f16", gated, H2, H2, H2, H2, 64, 64, 32),
    case("row_maxima_f16", row_maxima, H2, H2, S2, 64, 128, 64),
    case("row_maxima_deep_f16", row_maxima_deep, H2, H2, S2, 64, 128, 1024),
    case("row_maxima_wide_f16", row_maxima_deep, H2, H2, S2, 128, 64, 512),
    case("exponential_rows_f16", exponential_rows, H2, H2, S2, 64, 128, 512),
    case("experts_f16", experts, H2, H3, H2, N1, N1, S1, N1, 2, 64, 64, 32),
    case("experts_f16_128x128", experts, H2, H3, H2, N1, N1, S1, N1, 2, 128, 128, 64),
    case("experts_f16_128x256", experts, H2, H3, H2, N1, N1, S1, N1, 2, 128, 256, 64),
    # Rows and columns have the same numbers.
    case("experts_f16_256x256", experts, H2, H3, H2, N1, N1, S1, N1, 2, 256, 256, 64),
    case("grouped_rows_f16", grouped_rows, H2, H3, H2, N1, 3, 2, 128, 128, 64),
    case("convolution_f16", convolution, H2, H3, H2, 3, 64, 64, 32),
    case("residual_f16_128x256", residual, H2, H2, S1, H2, H2, 128, 256, 64),
    case("residual_f16_256x256", residual, H2, H2, S1, H2, H2, 256, 256, 64),
    case("requantized_i8_128x256", requantized, I2, I2, S1, S1, array(ct.float16, 1), H2, I2, 128, 256, 64),
    case(
        "requantized_i8_256x256", requantized, I2, I2, S1, S1, array(ct.float16, 1),
        array(ct.float16, 2, whole=True), array(ct.int8, 2, whole=True), 256, 256, 64,
    ),  # fmt: skip
    case("packed_f16_16x64", packed, H2, N2, H2, N2, H2, 16, 64, 64, 64),
    case("packed_f16_128x128", packed, H2, N2, H2, N2, H2, 128, 128, 64, 128),
    case("packed_rows_bf16_64x128", packed_rows, B2, array(ct.uint8, 2), B2, B2, 64, 128, 64),
    case("powers_tf32", powers, S2, S2, 64),
    case("split_last_f16_256x256", split_last, H2, H2, S3, array(ct.int32, 2), H2, 2, 256, 256, 64),
    case("stream_f16", stream, H2, H2, S2, 5, 64, 64, 32),
    case("taken_f16", taken, H2, H2, N1, H2, 64, 64, 32),
    case("two_layers_f16", two_layers, H2, H2, H2, H2, H2, 64, 64, 32),
]


def drawn(rng, *shape):
    return rng.standard_normal(shape).astype(np.float16)


def wide(x):
    return np.asarray(x, np.float64)


def matrix(name, x, fill=np.nan, type_=None):
    """The arguments of an input matrix; outside of it there are numbers that would be noticed."""
    buffer = padded(x, fill, 16)
    raw = buffer.view(np.uint16 if buffer.itemsize == 2 else np.uint8) if type_ else buffer
    return array_args(Buffer(name, raw, type=type_), x.shape, (buffer.shape[1], 1))


def result(name, right, tolerance, dtype=np.float16, type_=None, before=None):
    """The arguments of an output matrix; what lies outside of it must stay."""
    right = right.astype(dtype)
    want = padded(right, dtype(77), 16)
    start = padded(np.zeros_like(right) if before is None else before.astype(dtype), dtype(77), 16)
    if type_:
        want, start = want.view(np.uint16), start.view(np.uint16)
    return array_args(Buffer(name, start, want, tolerance, type_), right.shape, (start.shape[1], 1))


def cube(name, x):
    """An input with a batch axis, packed; the last axis must be a multiple of 16 bytes."""
    return array_args(Buffer(name, x), x.shape, (x.shape[1] * x.shape[2], x.shape[2], 1))


def cube_out(name, right, tolerance, dtype=np.float16, before=None):
    right = right.astype(dtype)
    before = np.zeros_like(right) if before is None else before
    return array_args(Buffer(name, before, right, tolerance), right.shape, (right[0].size, right.shape[2], 1))


def vector(name, x):
    return array_args(Buffer(name, x), x.shape, (1,))


def tiles(extent, tile):
    return -(-extent // tile)


def plain(name, m, n, k, grid, by_columns=False, label=None):
    rng = np.random.default_rng((m, n, k))
    a, b = drawn(rng, m, k), drawn(rng, *((n, k) if by_columns else (k, n)))
    right = wide(a) @ (wide(b).T if by_columns else wide(b))
    args = [*matrix("a", a), *matrix("b", b), *result("c", right, HALF)]
    return Run(name, label or f"{m}x{n}x{k}", grid, args)


def in_bf16(m, n, k):
    rng = np.random.default_rng((m, n, k))
    a, b = (drawn(rng, *shape).astype(ml_dtypes.bfloat16) for shape in ((m, k), (n, k)))
    args = [*matrix("a", a, type_="bf16"), *matrix("b", b, type_="bf16")]
    args += result("c", wide(a) @ wide(b).T, ROUGH, ml_dtypes.bfloat16, "bf16")
    return Run("persistent_bf16_nk", f"{m}x{n}x{k}", (2,), args)


def as_bits(m, n, k):
    rng = np.random.default_rng((m, n, k))
    a, b = (drawn(rng, *shape).astype(ml_dtypes.bfloat16) for shape in ((m, k), (n, k)))
    args = [*matrix("a", a.view(np.uint16), 0), *matrix("b", b.view(np.uint16), 0)]
    right = wide(a) @ wide(b).T
    args += result("c", right, ROUGH, ml_dtypes.bfloat16, "bf16")
    yield Run("bits_bf16", f"{m}x{n}x{k}", (tiles(m, 64), tiles(n, 64)), args)
    a, b = (drawn(rng, *shape).astype(ml_dtypes.float8_e4m3fn) for shape in ((1, m, k), (1, n, k)))
    args = [*cube("a", a.view(np.uint8)), *cube("b", b.view(np.uint8))]
    args += result("c", wide(a[0]) @ wide(b[0]).T, HALF)
    yield Run("bits_e4m3", f"{m}x{n}x{k}", (tiles(m, 64), tiles(n, 64)), args)


def maxima(name, m, n, k, rows=64):
    rng = np.random.default_rng((m, n, k))
    a, b = drawn(rng, m, k), drawn(rng, n, k)
    right = (wide(a) @ wide(b).T).max(axis=1, keepdims=True)
    args = [*matrix("a", a), *matrix("b", b), *result("out", right, SINGLE, np.float32)]
    return Run(name, f"{m}x{n}x{k}", (tiles(m, rows),), args)


def exponential_run():
    rng = np.random.default_rng(11)
    a, b = drawn(rng, 100, 500) / 8, drawn(rng, 200, 500) / 8
    right = np.exp(wide(a) @ wide(b).T) @ wide(b)
    args = [*matrix("a", a), *matrix("b", b), *result("out", right, HALF, np.float32)]
    return Run("exponential_rows_f16", "100x200x500", (2,), args)


def with_batches(name, grid, masked=False):
    rng = np.random.default_rng(5)
    a, b = drawn(rng, 3, 100, 72), drawn(rng, 3, 72, 80)
    right = wide(a) @ wide(b)
    args = [*cube("a", a), *cube("b", b)]
    if not masked:
        return Run(name, "3x100x80x72", grid, [*args, *cube_out("c", right, HALF)])
    valid = np.array([100, 64, 0], np.int32)
    before = np.full(right.shape, 7, np.float16)
    # Whole tiles are written, and tiles with no valid row stay.
    for batch, count in enumerate(valid):
        right[batch, tiles(count, 64) * 64 :] = 7
    return Run(name, "100_64_0", grid, [*args, *cube_out("c", right, HALF, before=before), *vector("valid", valid)])


def ragged_run():
    rng = np.random.default_rng(6)
    start = np.array([0, 37, 37, 120], np.int32)
    a, b = drawn(rng, 120, 72), drawn(rng, 3, 72, 80)
    right = np.concatenate([wide(a[s:e]) @ wide(b[g]) for g, (s, e) in enumerate(zip(start, start[1:]))])
    args = [*matrix("a", a), *cube("b", b), *result("c", right, HALF), *vector("start", start)]
    return Run("ragged_f16", "0_37_37_120", (3, 2, 2), args)


def split_runs():
    rng = np.random.default_rng(7)
    a, b = drawn(rng, 100, 150), drawn(rng, 150, 72)
    args = [*matrix("a", a), *matrix("b", b)]
    before = rng.standard_normal((100, 72)).astype(np.float32)
    right = wide(before) + wide(a) @ wide(b)
    out = result("c", right, SINGLE, np.float32, before=before)
    yield Run("split_atomic_f16", "100x72x150", (2, 2, 2), [*args, *out])
    middle = tiles(150, 64) * 32
    parts = np.stack([wide(a[:, s]) @ wide(b[s]) for s in (slice(middle), slice(middle, None))])
    yield Run("split_partial_f16", "100x72x150", (2, 2, 2), [*args, *cube_out("c", parts, SINGLE, np.float32)])
    parts = parts.astype(np.float32)
    out = result("c", parts.sum(axis=0, dtype=np.float64), HALF)
    yield Run("add_parts_f16", "2x100x72", (4, 2), [*cube("parts", parts), *out])
    a, b, before = drawn(rng, 140, 600), drawn(rng, 600, 72), rng.standard_normal((140, 72)).astype(np.float32)
    out = result("c", wide(before) + wide(a) @ wide(b), SINGLE, np.float32, before=before)
    yield Run("split_atomic_f16_deep", "140x72x600", (2, 1, 2), [*matrix("a", a), *matrix("b", b), *out])
    a, b = drawn(rng, 140, 150), drawn(rng, 150, 200)
    parts = np.zeros((2, 256, 256))
    parts[:, :140, :200] = np.stack([wide(a[:, s]) @ wide(b[s]) for s in (slice(128), slice(128, None))])
    counter = result("counter", np.full((1, 1), 2), EXACT, np.int32)
    args = [*matrix("a", a), *matrix("b", b), *cube_out("parts", parts, SINGLE, np.float32), *counter]
    args += result("c", parts[:, :140, :200].sum(axis=0), HALF)
    yield Run("split_last_f16_256x256", "140x200x150", (1, 1, 2), args)


def ordered_runs():
    """Loops that multiply behind writes that their loads wait for."""
    rng = np.random.default_rng(8)
    a, b = drawn(rng, 100, 150), drawn(rng, 150, 72)
    args = [*matrix("a", a), *matrix("b", b)]
    before = rng.standard_normal((100, 72)).astype(np.float32)
    out = result("c", wide(before) + wide(a) @ wide(b), SINGLE, np.float32, before=before)
    # Tiles of five steps along K, one for each block; tiles of seven, whose steps blocks share.
    yield Run("stream_f16", "100x72x150", (4,), [*args, *out])
    a, b = drawn(rng, 100, 200), drawn(rng, 200, 72)
    out = result("c", wide(a) @ wide(b), SINGLE, np.float32)
    yield Run("stream_f16", "100x72x200", (6,), [*matrix("a", a), *matrix("b", b), *out])
    counter = Buffer("next_tile", np.zeros(1, np.int32), np.array([6], np.int32))
    args = [*matrix("a", a), *matrix("b", b), *array_args(counter, (1,), (1,)), *result("c", wide(a) @ wide(b), HALF)]
    yield Run("taken_f16", "100x72x200", (2,), args)
    x, first, second = drawn(rng, 100, 90), drawn(rng, 90, 136), drawn(rng, 136, 72)
    hidden = np.maximum(wide(x) @ wide(first), 0).astype(np.float16)
    args = [*matrix("x", x), *matrix("first", first), *matrix("second", second), *result("hidden", hidden, HALF)]
    out = result("out", wide(hidden) @ wide(second), Tolerance(absolute=0.3, relative=3e-3))
    yield Run("two_layers_f16", "100x136x72", (2,), [*args, *out])


def requantized_runs():
    """Scales are powers of two, so that nothing is rounded before the end."""
    rng = np.random.default_rng(15)
    a, b = (rng.integers(-8, 9, shape).astype(np.int8) for shape in ((300, 100), (304, 100)))
    rows, columns = (np.exp2(rng.integers(-3, 1, n)).astype(np.float32) for n in (300, 304))
    bias = rng.integers(-4, 5, 304).astype(np.float16)
    right = wide(a) @ wide(b).T * wide(rows)[:, None] * wide(columns) + wide(bias)
    args = [*matrix("a", a, 77), *matrix("b", b, 77), *vector("scale_a", rows), *vector("scale_b", columns)]
    args += [*vector("bias", bias), *result("c", right, HALF)]
    args += result("q", np.clip(np.floor(right / 8 + 0.5), -128, 127), EXACT, np.int8)
    yield Run("requantized_i8_128x256", "300x304x100", (3, 2), args)
    yield Run("requantized_i8_256x256", "300x304x100", (2, 2), args)


def packed_runs():
    """Four bits are exact in f16; products with their scales are rounded."""
    rng = np.random.default_rng(26)
    m, n, k, group = 100, 136, 256, 64
    a, scales = drawn(rng, m, k), rng.uniform(0.5, 1.5, (k // group, n)).astype(np.float16)
    for name, tm, tn, group in (("packed_f16_16x64", 16, 64, 64), ("packed_f16_128x128", 128, 128, 128)):
        groups = k // group
        w, zeros = rng.integers(0, 16, (k, n)), rng.integers(0, 16, (groups, n))
        shifts = 4 * np.arange(8)
        words = (w.reshape(k // 8, 8, n) << shifts[:, None]).sum(1).astype(np.uint32).view(np.int32)
        zero_words = (zeros.reshape(groups, n // 8, 8) << shifts).sum(2).astype(np.uint32).view(np.int32)
        away = (w - np.repeat(zeros, group, 0)).astype(np.float16)
        right = wide(a) @ wide(away * np.repeat(scales[:groups], group, 0))
        args = [*matrix("a", a), *matrix("w", words, 7), *matrix("scales", scales[:groups])]
        args += [*matrix("zeros", zero_words, 7), *result("c", right, Tolerance(absolute=0.2, relative=2e-3))]
        yield Run(name, f"{m}x{n}x{k}", (tiles(m, tm), tiles(n, tn)), args)
    k = 192
    a, scales = (x.astype(ml_dtypes.bfloat16) for x in (drawn(rng, m, k), rng.uniform(0.5, 1.5, (n, k // 64))))
    w = rng.integers(0, 16, (n, k))
    pairs = (w[:, ::2] | w[:, 1::2] << 4).astype(np.uint8)
    right = wide(a) @ wide((w - 8).astype(ml_dtypes.bfloat16) * np.repeat(scales, 64, 1)).T
    args = [*matrix("a", a, type_="bf16"), *matrix("w", pairs, 7), *matrix("scales", scales, type_="bf16")]
    args += result("c", right, Tolerance(absolute=1, relative=1e-2), ml_dtypes.bfloat16, "bf16")
    yield Run("packed_rows_bf16_64x128", f"{m}x{n}x{k}", (tiles(m, 64), tiles(n, 128)), args)
    x = rng.integers(-2, 3, (64, 64)).astype(np.float64)
    square = x @ x + x
    # The second product is of numbers of up to 11 bits only where the first one's are.
    assert np.abs(square).max() < 2**11
    args = [*matrix("x", x.astype(np.float32)), *result("out", square @ square + square, EXACT, np.float32)]
    yield Run("powers_tf32", "64x64", (1,), args)


def scaled_runs():
    rng = np.random.default_rng(8)
    m, n, k = 100, 80, 136
    fp8 = ml_dtypes.float8_e4m3fn
    a, b = (rng.standard_normal(shape).astype(fp8) for shape in ((m, k), (n, k)))
    args = [*matrix("a", a, fp8(99), "f8E4M3FN"), *matrix("b", b, fp8(99), "f8E4M3FN")]
    rows, columns = (rng.uniform(0.5, 2, size).astype(np.float32) for size in (m, n))
    right = wide(a) @ wide(b).T * rows[:, None] * columns
    scales = [*vector("scale_a", rows), *vector("scale_b", columns)]
    yield Run("scaled_e4m3", f"{m}x{n}x{k}", (2, 2), [*args, *result("c", right, HALF), *scales])
    steps = tiles(k, 64)
    by_row, by_block = rng.uniform(0.5, 2, (m, steps)), rng.uniform(0.5, 2, (tiles(n, 64), steps))
    by_row, by_block = by_row.astype(np.float32), by_block.astype(np.float32)
    whole_a = wide(a) * np.repeat(by_row, 64, axis=1)[:, :k]
    whole_b = wide(b) * np.repeat(np.repeat(by_block, 64, axis=0), 64, axis=1)[:n, :k]
    scales = [*matrix("scale_a", by_row), *matrix("scale_b", by_block)]
    out = result("c", whole_a @ whole_b.T, HALF)
    yield Run("block_scaled_e4m3", f"{m}x{n}x{k}", (2, 2), [*args, *out, *scales])
    a, b = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((m, k), (n, k)))
    right = wide(a) @ wide(b).T * (rows[:, None] / 4096) * columns
    scales = [*vector("scale_a", rows / np.float32(4096)), *vector("scale_b", columns)]
    args = [*matrix("a", a, 99), *matrix("b", b, 99)]
    yield Run("integer_i8", f"{m}x{n}x{k}", (2, 2), [*args, *result("c", right, HALF), *scales])


def experts_run(name, tm, tn, n=80):
    """21 tokens with 2 of 4 experts each, tiles of `tm` pairs padded for each expert; one tile past the used ones."""
    rng = np.random.default_rng(9)
    tokens, top, k = 50, 2, 72
    a, b = drawn(rng, tokens, k), drawn(rng, 4, n, k)
    chosen = np.stack([rng.permutation([0, 1, 3])[:top] for _ in range(tokens)]).reshape(-1)
    pairs = len(chosen)
    order, expert = [], []
    for e in range(4):
        mine = np.flatnonzero(chosen == e)
        count = tiles(len(mine), tm)
        order.append(np.concatenate([mine, np.full(count * tm - len(mine), pairs)]))
        expert += [e] * count
    used = len(expert) * tm
    token = np.concatenate([*order, np.full(tm, pairs)]).astype(np.int32)
    weight = rng.uniform(0.1, 1, pairs).astype(np.float32)
    right = np.einsum("pk,pnk->pn", wide(a)[np.arange(pairs) // top], wide(b)[chosen]) * weight[:, None]
    args = [*matrix("a", a), *cube("b", b), *result("c", right, HALF), *vector("token", token)]
    args += vector("expert", np.array([*expert, 0], np.int32))
    args += [*vector("weight", weight), *vector("used", np.array([used], np.int32))]
    return Run(name, f"{tokens}x{n}x{k}", (len(expert) + 1, tiles(n, tn)), args)


def grouped_rows_run():
    rng = np.random.default_rng(11)
    start = np.array([0, 37, 37, 180], np.int32)
    a, b = drawn(rng, 180, 200), drawn(rng, 3, 200, 136)
    right = np.concatenate([wide(a[s:e]) @ wide(b[g]) for g, (s, e) in enumerate(zip(start, start[1:]))])
    args = [*matrix("a", a), *cube("b", b), *result("c", right, HALF), *vector("start", start)]
    return Run("grouped_rows_f16", "0_37_37_180", (2,), args)


def runs():
    yield plain("persistent_f16", 150, 100, 90, (3,))
    yield plain("persistent_f16_deep", 150, 140, 300, (3,))
    yield plain("persistent_f16_256x256", 260, 200, 40, (1,))
    yield in_bf16(100, 200, 136)
    yield from as_bits(100, 80, 144)
    yield maxima("row_maxima_f16", 100, 256, 200)
    yield maxima("row_maxima_deep_f16", 100, 256, 1000)
    yield maxima("row_maxima_wide_f16", 200, 128, 500, rows=128)
    yield exponential_run()
    yield plain("hinted_f16", 150, 100, 200, (6,))
    yield plain("skinny_f16", 5, 150, 300, (3,))
    yield plain("skinny_f16_two", 2, 150, 300, (3,))
    yield plain("skinny_f16_columns", 150, 3, 300, (3,))
    rng = np.random.default_rng(1)
    # Powers of two and small integers are tf32's own: nothing is rounded.
    a, b = (rng.integers(-16, 17, shape).astype(np.float32) for shape in ((100, 90), (90, 80)))
    args = [*matrix("a", a), *matrix("b", b), *result("c", a @ b, EXACT, np.float32)]
    yield Run("tf32", "100x80x90", (2, 2), args)
    yield Run("tf32_large", "100x80x90", (1, 1), args)
    a, b = (rng.integers(-16, 17, shape).astype(np.float32) for shape in ((130, 200), (200, 80)))
    args = [*matrix("a", a), *matrix("b", b), *result("c", a @ b, EXACT, np.float32)]
    yield Run("tf32_large", "130x80x200", (2, 1), args)
    a, b, c = (rng.integers(-3, 4, shape).astype(np.float32) for shape in ((100, 90), (90, 64), (64, 80)))
    args = [*matrix("a", a.astype(ml_dtypes.bfloat16), type_="bf16"), *matrix("b", b), *matrix("c", c)]
    yield Run("chained_tf32", "100x80x90", (2, 2), [*args, *result("out", a @ b @ c, EXACT, np.float32)])
    a, b, c = drawn(rng, 100, 90), drawn(rng, 80, 90), drawn(rng, 100, 80)
    right = 0.5 * wide(a) @ wide(b).T - 1.5 * wide(c)
    args = [*matrix("a", a), *matrix("b", b), *matrix("c", c), *result("out", right, HALF)]
    yield Run("alpha_beta_f16", "100x80x90", (2, 2), [*args, Scalar("f32", 0.5), Scalar("f32", -1.5)])
    for name, dtype, type_ in (("in_halves_f16", np.float16, None), ("in_halves_bf16", ml_dtypes.bfloat16, "bf16")):
        a, b, c = (rng.integers(-3, 4, shape).astype(dtype) for shape in ((200, 90), (100, 90), (200, 100)))
        args = [*matrix("a", a, type_=type_), *matrix("b", b, type_=type_), *matrix("c", c, type_=type_)]
        right = wide(a) @ wide(b).T - 2 * wide(c)
        args += result("out", right, EXACT, np.float32)
        yield Run(name, "200x100x90", (1, 1), [*args, Scalar("f32", -2.0)])
    yield with_batches("batched_f16", (4,))
    yield with_batches("masked_batched_f16", (3, 2, 2), masked=True)
    yield ragged_run()
    yield from split_runs()
    yield from ordered_runs()
    yield from requantized_runs()
    yield from packed_runs()
    yield from scaled_runs()
    x, gate, up = drawn(rng, 100, 72), drawn(rng, 72, 80) / 4, drawn(rng, 72, 80) / 4
    g = wide(x) @ wide(gate)
    args = [*matrix("x", x), *matrix("gate", gate), *matrix("up", up)]
    right = g / (1 + np.exp(-g)) * (wide(x) @ wide(up))
    yield Run("gated_f16", "100x80x72", (2, 2), [*args, *result("out", right, HALF)])
    yield experts_run("experts_f16", 64, 64)
    yield experts_run("experts_f16_128x128", 128, 128)
    yield experts_run("experts_f16_128x256", 128, 256, n=200)
    yield experts_run("experts_f16_256x256", 256, 256, n=200)
    yield grouped_rows_run()
    x, w = drawn(rng, 100, 72), drawn(rng, 3, 72, 80)
    late = np.concatenate([np.zeros((2, 72)), wide(x)])
    right = sum(late[tap : tap + 100] @ wide(w[tap]) for tap in range(3))
    yield Run("convolution_f16", "100x80x72x3", (2, 2), [*matrix("x", x), *cube("w", w), *result("y", right, HALF)])
    a, b, bias, x = drawn(rng, 300, 72), drawn(rng, 72, 260), drawn(rng, 260).astype(np.float32), drawn(rng, 300, 260)
    right = np.maximum(wide(a) @ wide(b) + bias, 0) + wide(x)
    args = [*matrix("a", a), *matrix("b", b), *vector("bias", bias), *matrix("x", x), *result("c", right, HALF)]
    for name in ("residual_f16_128x256", "residual_f16_256x256"):
        yield Run(name, "300x260x72", (2,), args)
