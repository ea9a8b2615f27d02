"""Rows read and written through tiles of pointers, as production kernels do: what lies next to each
other is found by arithmetic on indices, and bounds are masks."""

import math

import cuda.tile as ct
import numpy as np

from corpus import Program, array
from numerics import EXACT, Buffer, Run, Tolerance, matrix_args, padded, vector_args


@ct.kernel
def copy_checked(x, y, n: ct.Constant[int]):
    """One row to a block; columns that are not there are left alone."""
    row = ct.bid(0)
    at = ct.arange(n, dtype=ct.int32)
    ct.scatter(y, (row, at), ct.gather(x, (row, at)))


@ct.kernel
def copy_unchecked(x, y, n: ct.Constant[int]):
    row = ct.bid(0)
    at = ct.arange(n, dtype=ct.int32)
    t = ct.gather(x, (row, at), check_bounds=False)
    ct.scatter(y, (row, at), t, check_bounds=False)


@ct.kernel
def copy_vector(x, y, n: ct.Constant[int]):
    """Offsets count from the base itself."""
    at = ct.arange(n, dtype=ct.int32)
    ct.scatter(y, at, ct.gather(x, at, check_bounds=False), check_bounds=False)


@ct.kernel
def scattered_product(a, b, rows, y, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """A matrix product whose rows go where a list says."""
    m, n = ct.bid(0), ct.bid(1)
    total = ct.full((tm, tn), 0.0, dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        total = ct.mma(
            ct.load(a, (m, k), (tm, tk), padding_mode=ct.PaddingMode.ZERO),
            ct.load(b, (k, n), (tk, tn), padding_mode=ct.PaddingMode.ZERO),
            total,
        )
    row = ct.gather(rows, m * tm + ct.arange(tm, dtype=ct.int32), padding_value=-1)
    col = n * tn + ct.arange(tn, dtype=ct.int32)
    ct.scatter(y, (row[:, None], col[None, :]), ct.astype(total, y.dtype))


@ct.kernel
def shifted(x, y, n: ct.Constant[int], by: ct.Constant[int]):
    """The row `by` elements on: a run starts where no vector does."""
    row = ct.bid(0)
    at = ct.arange(n, dtype=ct.int32)
    t = ct.gather(x, (row, at + by), padding_value=-1)
    ct.scatter(y, (row, at), t)


@ct.kernel
def rms_norm(x, w, y, n: ct.Constant[int], eps: ct.Constant[float], tile: ct.Constant[int]):
    row = ct.bid(0)
    squares = ct.full((tile,), 0.0, dtype=ct.float32)
    offsets = ct.arange(tile, dtype=ct.int32)
    turns = ct.cdiv(n, tile)
    checked = turns * tile != n
    for j in range(0, turns):
        xj = ct.astype(ct.gather(x, (row, j * tile + offsets), check_bounds=checked), ct.float32)
        squares += xj * xj
    scale = ct.rsqrt(ct.sum(squares, axis=0, keepdims=False) / n + eps)
    for j in range(0, turns):
        at = j * tile + offsets
        wj = ct.astype(ct.gather(w, at, check_bounds=checked), ct.float32)
        xj = ct.astype(ct.gather(x, (row, at), check_bounds=checked), ct.float32)
        ct.scatter(y, (row, at), ct.astype(xj * scale * wj, y.dtype), check_bounds=checked)


@ct.kernel
def gated(gate, up, y, tile: ct.Constant[int]):
    """silu(gate) * up, a part of a row to a block."""
    row, part = ct.bid(0), ct.bid(1)
    at = part * tile + ct.arange(tile, dtype=ct.int32)
    a = ct.astype(ct.gather(gate, (row, at), padding_value=0.0), ct.float32)
    b = ct.astype(ct.gather(up, (row, at), padding_value=0.0), ct.float32)
    ct.scatter(y, (row, at), ct.astype(a / (1.0 + ct.exp(-a)) * b, y.dtype))


@ct.kernel
def softmax(x, y, tile: ct.Constant[int]):
    row = ct.bid(0)
    at = ct.arange(tile, dtype=ct.int32)
    t = ct.gather(x, (row, at), padding_value=-math.inf)
    e = ct.exp(t - ct.max(t, axis=0, keepdims=True))
    ct.scatter(y, (row, at), e / ct.sum(e, axis=0, keepdims=True))


@ct.kernel
def layer_norm(x, w, b, y, rows: ct.Constant[int], tile: ct.Constant[int]):
    """Several rows to a block: pointers of two dimensions."""
    row = ct.bid(0) * rows + ct.arange(rows, dtype=ct.int32)
    at = ct.arange(tile, dtype=ct.int32)
    where = (row[:, None], at[None, :])
    n = x.shape[1]
    t = ct.gather(x, where, padding_value=0)
    mean = ct.sum(t, axis=1, keepdims=True) / n
    centred = ct.where(at[None, :] < n, t - mean, 0.0)
    scale = ct.rsqrt(ct.sum(centred * centred, axis=1, keepdims=True) / n + 1e-5)
    gain, bias = ct.gather(w, at, padding_value=0), ct.gather(b, at, padding_value=0)
    ct.scatter(y, where, centred * scale * gain[None, :] + bias[None, :])


@ct.kernel
def columns(x, y, rows: ct.Constant[int], tile: ct.Constant[int]):
    """The same tile of pointers transposed: what is contiguous is the first dimension."""
    row = ct.bid(0) * rows + ct.arange(rows, dtype=ct.int32)
    at = ct.arange(tile, dtype=ct.int32)
    t = ct.gather(x, (row[None, :], at[:, None]), padding_value=0)
    ct.scatter(y, (row[None, :], at[:, None]), t + t)


@ct.kernel
def halves(x, y, tile: ct.Constant[int]):
    """A rotary embedding's indices: the second half of a row is read beside the first, and one
    number serves a pair of neighbours."""
    row = ct.bid(0)
    at = ct.arange(tile, dtype=ct.int32)
    half = tile // 2
    t = ct.gather(x, (row, (at + half) % tile))
    ct.scatter(y, (row, at), t + ct.gather(x, (row, at // 2)))


@ct.kernel
def edges(x, y, tile: ct.Constant[int], first: ct.Constant[int], last: ct.Constant[int]):
    """Masks of the kernel's own: a lower and an upper end that cut vectors, and what they leave."""
    row = ct.bid(0)
    at = ct.arange(tile, dtype=ct.int32)
    t = ct.gather(x, (row, at), mask=(at >= first) & (at < last), padding_value=7)
    ct.scatter(y, (row, at), t, mask=(at >= first) & (at < last))


def m(dtype, aligned=True):
    return array(dtype, 2, aligned=aligned)


def v(dtype):
    return array(dtype, 1)


f16, f32, i8, i32, i64 = ct.float16, ct.float32, ct.int8, ct.int32, ct.int64

CASES = [
    Program("copy_checked_f16", copy_checked, [m(f16), m(f16), 1024], "13.1"),
    Program("copy_unchecked_f16", copy_unchecked, [m(f16), m(f16), 1024], "13.1"),
    Program("copy_unaligned_f16", copy_unchecked, [m(f16, False), m(f16, False), 1024], "13.1"),
    Program("copy_vector_f16", copy_vector, [v(f16), v(f16), 1024], "13.1"),
    Program("scattered_product_f16", scattered_product, [m(f16), m(f16), v(i32), m(f16), 64, 128, 32], "13.1"),
    Program("copy_checked_i8", copy_checked, [m(i8), m(i8), 2048], "13.1"),
    Program("copy_checked_i64", copy_checked, [m(i64), m(i64), 512], "13.1"),
    Program("shifted_f32", shifted, [m(f32), m(f32), 256, 2], "13.1"),
    Program("shifted_odd_f32", shifted, [m(f32), m(f32), 256, 3], "13.1"),
    Program("rms_norm_f16", rms_norm, [m(f16), v(f16), m(f16), 2048, 1e-5, 1024], "13.1"),
    Program("rms_norm_checked_f16", rms_norm, [m(f16), v(f16), m(f16), 1500, 1e-5, 1024], "13.1"),
    Program("rms_norm_odd_f16", rms_norm, [m(f16), v(f16), m(f16), 1501, 1e-5, 1024], "13.1"),
    Program("gated_f16", gated, [m(f16), m(f16), m(f16), 1024], "13.1"),
    Program("gated_f32", gated, [m(f32), m(f32), m(f32), 512], "13.1"),
    Program("softmax_f32", softmax, [m(f32), m(f32), 1024], "13.1"),
    Program("layer_norm_f32", layer_norm, [m(f32), v(f32), v(f32), m(f32), 4, 512], "13.1"),
    Program("columns_f16", columns, [m(f16), m(f16), 8, 256], "13.1"),
    Program("halves_f32", halves, [m(f32), m(f32), 256], "13.1"),
    Program("edges_f16", edges, [m(f16), m(f16), 512, 5, 403], "13.1"),
    Program("edges_aligned_f16", edges, [m(f16), m(f16), 512, 8, 400], "13.1"),
]


def given(name, x):
    return matrix_args(Buffer(name, padded(x, 99, 16 // x.itemsize)), x.shape)


def wanted(y, tolerance=EXACT):
    align = 16 // y.itemsize
    buffer = Buffer("y", padded(np.zeros_like(y), -7, align), padded(y, -7, align), tolerance)
    return matrix_args(buffer, y.shape)


def uniform(seed, shape, dtype):
    rng = np.random.default_rng(seed)
    if np.issubdtype(dtype, np.integer):
        return rng.integers(-99, 100, shape).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


def copy_run(case, dtype, shape):
    x = uniform(shape, shape, dtype)
    return Run(case, "x".join(map(str, shape)), (shape[0],), [*given("x", x), *wanted(x.copy())])


def unaligned_run():
    """Every row starts in the middle of 16 bytes."""
    x = uniform(3, (3, 1025), np.float16)
    y = np.full_like(x, -7)
    y[:, :1024] = x[:, :1024]
    args = [*matrix_args(Buffer("x", x), x.shape), *matrix_args(Buffer("y", np.full_like(x, -7), y), x.shape)]
    return Run("copy_unaligned_f16", "3x1025", (3,), args)


def vector_run():
    x = uniform(4, 1024, np.float16)
    y = Buffer("y", np.zeros_like(x), x.copy())
    return Run("copy_vector_f16", "1024", (1,), [*vector_args(Buffer("x", x)), *vector_args(y)])


def scattered_product_run(cols):
    """Whole numbers, whose products and sums are exact."""
    rng = np.random.default_rng(cols)
    a = rng.integers(-3, 4, (100, 72)).astype(np.float16)
    b = rng.integers(-3, 4, (72, cols)).astype(np.float16)
    rows = rng.permutation(110)[:100].astype(np.int32)
    y = np.zeros((90, cols), np.float16)
    there = rows < 90
    y[rows[there]] = (a.astype(np.float32) @ b.astype(np.float32))[there]
    args = [*given("a", a), *given("b", b), *vector_args(Buffer("rows", rows)), *wanted(y)]
    return Run("scattered_product_f16", f"100x{cols}x72", (2, -(-cols // 128)), args)


def shifted_run(case, by, cols):
    x = uniform(by, (3, cols), np.float32)
    y = np.full_like(x, -1)
    y[:, : cols - by] = x[:, by:]
    y = y[:, :256]
    return Run(case, f"3x{cols}", (3,), [*given("x", x), *wanted(np.ascontiguousarray(y))])


def rms_norm_run(case, n):
    x, w = uniform(n, (3, n), np.float16), uniform(n + 1, n, np.float16)
    wide = x.astype(np.float64)
    y = wide / np.sqrt((wide**2).mean(1, keepdims=True) + 1e-5) * w.astype(np.float64)
    args = [*given("x", x), *vector_args(Buffer("w", w)), *wanted(y.astype(np.float16), Tolerance(ulp=1, absolute=1e-4))]
    return Run(case, f"3x{n}", (3,), args)


def gated_run(case, dtype, cols, tile, tolerance):
    a, b = uniform(cols, (3, cols), dtype), uniform(cols + 1, (3, cols), dtype)
    wide = a.astype(np.float64)
    y = (wide / (1 + np.exp(-wide)) * b.astype(np.float64)).astype(dtype)
    args = [*given("gate", a), *given("up", b), *wanted(y, tolerance)]
    return Run(case, f"3x{cols}", (3, -(-cols // tile)), args)


def softmax_run(cols):
    x = uniform(cols, (3, cols), np.float32)
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    y = (e / e.sum(1, keepdims=True)).astype(np.float32)
    return Run("softmax_f32", f"3x{cols}", (3,), [*given("x", x), *wanted(y, Tolerance(absolute=1e-6, relative=1e-5))])


def layer_norm_run(cols):
    x, w, b = uniform(cols, (10, cols), np.float32), uniform(1, cols, np.float32), uniform(2, cols, np.float32)
    wide = x.astype(np.float64)
    y = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5) * w + b
    args = [*given("x", x), *vector_args(Buffer("w", w)), *vector_args(Buffer("b", b))]
    args += wanted(y.astype(np.float32), Tolerance(absolute=1e-5, relative=1e-5))
    return Run("layer_norm_f32", f"10x{cols}", (3,), args)


def columns_run(cols):
    x = uniform(cols, (19, cols), np.float16)
    return Run("columns_f16", f"19x{cols}", (3,), [*given("x", x), *wanted(x + x)])


def halves_run():
    x = uniform(5, (3, 256), np.float32)
    at = np.arange(256)
    return Run("halves_f32", "3x256", (3,), [*given("x", x), *wanted(x[:, (at + 128) % 256] + x[:, at // 2])])


def edges_run(case, first, last, cols):
    x = uniform(first, (3, cols), np.float16)
    y = np.zeros_like(x)
    y[:, first:last] = x[:, first:last]
    return Run(case, f"3x{cols}", (3,), [*given("x", x), *wanted(y)])


def runs():
    for cols in (1024, 1000, 999, 5):
        yield copy_run("copy_checked_f16", np.float16, (3, cols))
    yield copy_run("copy_unchecked_f16", np.float16, (3, 1024))
    yield unaligned_run()
    yield vector_run()
    for cols in (256, 203):
        yield scattered_product_run(cols)
    yield copy_run("copy_checked_i8", np.int8, (3, 2048))
    yield copy_run("copy_checked_i8", np.int8, (3, 1237))
    yield copy_run("copy_checked_i64", np.int64, (3, 512))
    yield copy_run("copy_checked_i64", np.int64, (3, 301))
    yield shifted_run("shifted_f32", 2, 256)
    yield shifted_run("shifted_f32", 2, 203)
    yield shifted_run("shifted_odd_f32", 3, 256)
    yield rms_norm_run("rms_norm_f16", 2048)
    yield rms_norm_run("rms_norm_checked_f16", 1500)
    yield rms_norm_run("rms_norm_odd_f16", 1501)
    for cols in (2048, 1600, 1003):
        yield gated_run("gated_f16", np.float16, cols, 1024, Tolerance(ulp=2, absolute=1e-4))
    yield gated_run("gated_f32", np.float32, 700, 512, Tolerance(absolute=1e-5, relative=1e-5))
    for cols in (1024, 1001):
        yield softmax_run(cols)
    for cols in (512, 400, 333):
        yield layer_norm_run(cols)
    for cols in (256, 201):
        yield columns_run(cols)
    yield halves_run()
    for cols in (512, 450, 300):
        yield edges_run("edges_f16", 5, 403, cols)
        yield edges_run("edges_aligned_f16", 8, 400, cols)
