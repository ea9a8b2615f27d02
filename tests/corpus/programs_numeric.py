"""Numerical algorithms on tiles: transforms, factorisations, solvers, sorting,
random numbers, segmented sums, sums that blocks take turns at."""

import math

import cuda.tile as ct
import ml_dtypes
import numpy as np

from corpus import Program
from numerics import Run, Scalar, Tolerance
from programs_models import a, close, given, made

ZERO = ct.PaddingMode.ZERO


@ct.function
def part(x, i, half, stride):
    return ct.extract(x, (i, 0, 0), (1, half, stride)).reshape((half, stride))


@ct.kernel
def fourier(re, im, re_out, im_out, n: ct.Constant[int], steps: ct.Constant[int]):
    """A row each block; halves meet in butterflies, and end up in order (Stockham)."""
    row = ct.bid(0)
    x, y = ct.load(re, (row, 0), (1, n)).reshape((n,)), ct.load(im, (row, 0), (1, n)).reshape((n,))
    for step in ct.static_iter(range(steps)):
        stride = 2**step
        half = n // stride // 2
        x, y = x.reshape((2, half, stride)), y.reshape((2, half, stride))
        ax, ay = part(x, 0, half, stride), part(y, 0, half, stride)
        bx, by = part(x, 1, half, stride), part(y, 1, half, stride)
        angle = ct.arange(half, dtype=ct.int32)[:, None].astype(ct.float32) * (-math.pi / half)
        c, s = ct.cos(angle), ct.sin(angle)
        dx, dy = ax - bx, ay - by
        x = ct.cat(((ax + bx)[:, None, :], (dx * c - dy * s)[:, None, :]), 1).reshape((n,))
        y = ct.cat(((ay + by)[:, None, :], (dx * s + dy * c)[:, None, :]), 1).reshape((n,))
    ct.store(re_out, (row, 0), x.reshape((1, n)))
    ct.store(im_out, (row, 0), y.reshape((1, n)))


@ct.kernel
def inverse(x, y, n: ct.Constant[int]):
    """Gauss and Jordan, without a search for pivots."""
    block = ct.bid(0)
    left = ct.load(x, (block, 0, 0), (1, n, n)).reshape((n, n))
    row, col = ct.arange(n, dtype=ct.int32)[:, None], ct.arange(n, dtype=ct.int32)[None, :]
    right = ct.where(row == col, 1.0, 0.0).astype(left.dtype)
    for k in range(n):
        pivot = ct.sum(ct.where((row == k) & (col == k), left, 0.0))
        left_row = ct.sum(ct.where(row == k, left, 0.0), axis=0, keepdims=True) / pivot
        right_row = ct.sum(ct.where(row == k, right, 0.0), axis=0, keepdims=True) / pivot
        factor = ct.sum(ct.where(col == k, left, 0.0), axis=1, keepdims=True)
        left = ct.where(row == k, left_row, left - factor * left_row)
        right = ct.where(row == k, right_row, right - factor * right_row)
    ct.store(y, (block, 0, 0), right.reshape((1, n, n)))


@ct.kernel
def cholesky(x, y, n: ct.Constant[int]):
    rest = ct.load(x, (0, 0), (n, n))
    row, col = ct.arange(n, dtype=ct.int32)[:, None], ct.arange(n, dtype=ct.int32)[None, :]
    factor = ct.zeros((n, n), dtype=ct.float32)
    for k in range(n):
        column = ct.sum(ct.where(col == k, rest, 0.0), axis=1, keepdims=True)
        column = ct.where(row >= k, column / ct.sqrt(ct.sum(ct.where(row == k, column, 0.0))), 0.0)
        factor = ct.where(col == k, column, factor)
        rest = rest - column * ct.transpose(column)
    ct.store(y, (0, 0), factor)


@ct.kernel
def conjugate_gradients(matrix, right, x, n: ct.Constant[int]):
    """Until the residue is small, or for as many steps as there are unknowns."""
    m = ct.load(matrix, (0, 0), (n, n))
    residue = ct.load(right, (0,), (n,))
    found = ct.zeros((n,), dtype=ct.float64)
    direction, size, step = residue, ct.sum(residue * residue), 0
    while step < n and size > 1e-24:
        image = ct.sum(m * direction[None, :], axis=1)
        length = size / ct.sum(direction * image)
        found, residue = found + length * direction, residue - length * image
        new_size = ct.sum(residue * residue)
        direction = residue + (new_size / size) * direction
        size = new_size
        step += 1
    ct.store(x, (0,), found)


@ct.kernel
def mandelbrot(y, width: ct.int32, height: ct.int32, limit: ct.int32, th: ct.Constant[int], tw: ct.Constant[int]):
    """Turns until every point is out; a block ends when its own are."""
    i, j = ct.bid(0), ct.bid(1)
    row = (i * th + ct.arange(th, dtype=ct.int32))[:, None].astype(ct.float32)
    col = (j * tw + ct.arange(tw, dtype=ct.int32))[None, :].astype(ct.float32)
    nothing = ct.zeros((th, tw), dtype=ct.float32)
    cx, cy = col / width * 3.0 - 2.0 + nothing, row / height * 2.0 - 1.0 + nothing
    x, y0, turns, turn = nothing, nothing, ct.zeros((th, tw), dtype=ct.int32), 0
    while True:
        inside = x * x + y0 * y0 <= 4.0
        if turn >= limit or ct.sum(inside.astype(ct.int32)) == 0:
            break
        turns = turns + inside.astype(ct.int32)
        x, y0 = ct.where(inside, x * x - y0 * y0 + cx, x), ct.where(inside, 2.0 * x * y0 + cy, y0)
        turn += 1
    ct.store(y, (i, j), turns)


@ct.kernel
def bitonic_sort(x, y, n: ct.Constant[int], steps: ct.Constant[int]):
    row = ct.bid(0)
    t = ct.load(x, (row, 0), (1, n)).reshape((n,))
    at = ct.arange(n, dtype=ct.int32)
    for step in ct.static_iter(range(1, steps + 1)):
        for back in ct.static_iter(range(step)):
            far = 2 ** (step - 1 - back)
            pairs = t.reshape((n // (2 * far), 2, far))
            low = ct.extract(pairs, (0, 0, 0), (n // (2 * far), 1, far))
            high = ct.extract(pairs, (0, 1, 0), (n // (2 * far), 1, far))
            other = ct.cat((high, low), 1).reshape((n,))
            rising, first = ((at >> step) & 1) == 0, (at & far) == 0
            t = ct.where(rising == first, ct.minimum(t, other), ct.maximum(t, other))
    ct.store(y, (row, 0), t.reshape((1, n)))


@ct.kernel
def philox(y, seed: ct.uint32, n: ct.Constant[int]):
    """Ten rounds of Philox 4x32 of the element's number."""
    at = ct.bid(0) * n + ct.arange(n, dtype=ct.int32)
    nothing = ct.zeros((n,), ct.uint32)
    a0, a1, a2, a3 = at.astype(ct.uint32), nothing, nothing, nothing
    low, high = seed, ct.astype(0x1234567, ct.uint32)
    for _ in range(10):
        p, q = a0.astype(ct.uint64) * 0xD2511F53, a2.astype(ct.uint64) * 0xCD9E8D57
        a0, a1 = (q >> 32).astype(ct.uint32) ^ a1 ^ low, q.astype(ct.uint32)
        a2, a3 = (p >> 32).astype(ct.uint32) ^ a3 ^ high, p.astype(ct.uint32)
        low, high = low + 0x9E3779B9, high + 0xBB67AE85
    ct.scatter(y, at, a0)


@ct.kernel
def segmented_sum(x, begins, y, n: ct.Constant[int]):
    """A running sum that starts anew where a segment begins: a scan of pairs."""

    def join(begun, sum_, begin, value):
        return max(begun, begin), ct.where(begin > 0, value, sum_ + value)

    flags, t = ct.load(begins, (0,), (n,), padding_mode=ZERO), ct.load(x, (0,), (n,), padding_mode=ZERO)
    ct.store(y, (0,), ct.scan((flags, t), 0, join, (0, 0.0))[1])


@ct.kernel
def turns(x, w, y, locks, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """A product whose K is divided; a lock for each tile says who may add."""
    m, n, part, parts = ct.bid(0), ct.bid(1), ct.bid(2), ct.num_blocks(2)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(part, ct.cdiv(x.shape[1], tk), parts):
        left = ct.load(x, (m, k), (tm, tk), padding_mode=ZERO)
        right = ct.load(w, (k, n), (tk, tn), padding_mode=ZERO)
        acc = ct.mma(left, right, acc)
    lock = m * ct.num_blocks(1) + n
    while ct.atomic_cas(locks, lock, 0, 1, memory_order=ct.MemoryOrder.ACQUIRE) == 1:
        pass
    ct.store(y, (m, n), ct.load(y, (m, n), (tm, tn), padding_mode=ZERO) + acc)
    ct.atomic_xchg(locks, lock, 0, memory_order=ct.MemoryOrder.RELEASE)


@ct.kernel
def stencil(x, y, th: ct.Constant[int], tw: ct.Constant[int]):
    """Each point a step towards the mean of its four neighbours; beyond the edge is zero."""
    row = (ct.bid(0) * th + ct.arange(th, dtype=ct.int32))[:, None]
    col = (ct.bid(1) * tw + ct.arange(tw, dtype=ct.int32))[None, :]
    t = ct.gather(x, (row, col))
    around = ct.gather(x, (row - 1, col)) + ct.gather(x, (row + 1, col))
    around = around + ct.gather(x, (row, col - 1)) + ct.gather(x, (row, col + 1))
    ct.scatter(y, (row, col), t + 0.25 * (around - 4.0 * t))


@ct.kernel
def byte_histogram(x, counts, n: ct.Constant[int]):
    """By both halves of a byte, in 64 bits; blocks go round."""
    for i in range(ct.bid(0), ct.cdiv(x.shape[0], n), ct.num_blocks(0)):
        at = i * n + ct.arange(n, dtype=ct.int32)
        byte = ct.gather(x, at).astype(ct.int32)
        # What has no bin is out of bounds, and counts nowhere.
        low = ct.where(at < x.shape[0], byte & 15, 16)
        ct.atomic_add(counts, (byte >> 4, low), ct.ones((n,), ct.int64))


@ct.kernel
def column_softmax(x, y, rows: ct.Constant[int], cols: ct.Constant[int]):
    """Down the columns, written as rows."""
    block = ct.bid(0)
    t = ct.load(x, (0, block), (rows, cols), padding_mode=ct.PaddingMode.NEG_INF).astype(ct.float32)
    t = ct.exp(t - ct.max(t, axis=0, keepdims=True))
    ct.store(y, (block, 0), ct.transpose(t / ct.sum(t, axis=0, keepdims=True)).astype(y.dtype))


@ct.kernel
def channels_last(x, y, channels: ct.Constant[int], cols: ct.Constant[int]):
    image, row = ct.bid(0), ct.bid(1)
    for c in range(ct.cdiv(x.shape[1], channels)):
        t = ct.load(x, (image, c, row, 0), (1, channels, 1, cols), padding_mode=ZERO)
        ct.store(y, (image, row, 0, c), ct.permute(t, (0, 2, 3, 1)))


@ct.kernel
def eight_bit_cast(x, peak, y, n: ct.Constant[int]):
    """To f8, by the largest of the tile; the largest of all as the bits of a positive float."""
    t = ct.load(x, (ct.bid(0),), (n,), padding_mode=ZERO).astype(ct.float32)
    largest = ct.max(ct.abs(t))
    ct.atomic_max(peak, 0, ct.bitcast(largest, ct.int32))
    ct.store(y, (ct.bid(0),), (t / (largest / 448.0)).astype(ct.float8_e4m3fn))


f16, bf16, f32, f64 = ct.float16, ct.bfloat16, ct.float32, ct.float64
u8, u32, i32, i64 = ct.uint8, ct.uint32, ct.int32, ct.int64
I32, U32 = (ct.compilation.ScalarConstraint(t) for t in (i32, u32))

CASES = [
    Program("fourier_f32", fourier, [*[a(f32, 2, True)] * 4, 64, 6], "13.1"),
    Program("inverse_f64", inverse, [a(f64, 3, True), a(f64, 3, True), 8], "13.1"),
    Program("cholesky_f32", cholesky, [a(f32, 2, True), a(f32, 2, True), 16], "13.1"),
    Program("conjugate_gradients_f64", conjugate_gradients, [a(f64, 2), a(f64, 1), a(f64, 1), 16], "13.1"),
    Program("mandelbrot_f32", mandelbrot, [a(i32, 2), I32, I32, I32, 8, 16], "13.1"),
    Program("bitonic_sort_i32", bitonic_sort, [a(i32, 2), a(i32, 2), 64, 6], "13.1"),
    Program("philox_u32", philox, [a(u32, 1), U32, 64], "13.1"),
    Program("segmented_sum_f32", segmented_sum, [a(f32, 1), a(i32, 1), a(f32, 1), 256], "13.1"),
    Program("turns_f16", turns, [a(f16, 2), a(f16, 2), a(f32, 2), a(i32, 1), 32, 32, 32], "13.1"),
    Program("stencil_f64", stencil, [a(f64, 2), a(f64, 2), 8, 16], "13.1"),
    Program("byte_histogram_u8", byte_histogram, [a(u8, 1), a(i64, 2), 256], "13.1"),
    Program("column_softmax_f16", column_softmax, [a(f16, 2), a(f16, 2), 64, 32], "13.1"),
    Program("channels_last_f32", channels_last, [a(f32, 4), a(f32, 4), 8, 16], "13.1"),
    Program("eight_bit_cast_bf16", eight_bit_cast, [a(bf16, 1), a(i32, 1), a(ct.float8_e4m3fn, 1), 128], "13.1"),
]


def fourier_run():
    re, im = np.random.default_rng(1).standard_normal((2, 2, 64)).astype(np.float32)
    right = np.fft.fft(re.astype(np.float64) + 1j * im)
    args = [*given("re", re), *given("im", im)]
    args += [*made("re_out", np.float32, right.real, close(1e-4)), *made("im_out", np.float32, right.imag, close(1e-4))]
    return Run("fourier_f32", "2x64", (2,), args)


def inverse_run():
    x = np.random.default_rng(2).standard_normal((2, 8, 8)) + 8 * np.eye(8)
    return Run("inverse_f64", "2x8", (2,), given("x", x) + made("y", np.float64, np.linalg.inv(x), close(1e-12)))


def positive(n, seed):
    x = np.random.default_rng(seed).standard_normal((n, n))
    return x @ x.T + n * np.eye(n)


def cholesky_run():
    x = positive(16, 3).astype(np.float32)
    right = np.linalg.cholesky(x.astype(np.float64))
    return Run("cholesky_f32", "16", (1,), given("x", x) + made("y", np.float32, right, close(1e-4)))


def conjugate_gradients_run():
    matrix, right = positive(16, 4), np.random.default_rng(5).standard_normal(16)
    found = made("x", np.float64, np.linalg.solve(matrix, right), close(1e-9))
    return Run("conjugate_gradients_f64", "16", (1,), given("m", matrix) + given("b", right) + found)


def mandelbrot_run(width, height, limit):
    f = np.float32
    col, row = np.meshgrid(np.arange(width, dtype=f), np.arange(height, dtype=f))
    c = (col / f(width) * f(3) - f(2)).astype(np.complex128) + 1j * (row / f(height) * f(2) - f(1))
    z, turns_ = np.zeros_like(c), np.zeros(c.shape, np.int32)
    for _ in range(limit):
        inside = z.real**2 + z.imag**2 <= 4
        turns_ += inside
        z = np.where(inside, z * z + c, z)
    args = [*made("y", np.int32, turns_), *(Scalar("i32", n) for n in (width, height, limit))]
    return Run("mandelbrot_f32", f"{width}x{height}", (-(-height // 8), -(-width // 16)), args)


def bitonic_sort_run():
    x = np.random.default_rng(6).integers(-1000, 1000, (2, 64)).astype(np.int32)
    return Run("bitonic_sort_i32", "2x64", (2,), given("x", x) + made("y", np.int32, np.sort(x, 1)))


def philox_number(at, seed):
    c, key, mask = [at, 0, 0, 0], [seed, 0x1234567], 2**32 - 1
    for _ in range(10):
        p, q = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [q >> 32 ^ c[1] ^ key[0], q & mask, p >> 32 ^ c[3] ^ key[1], p & mask]
        key = [(key[0] + 0x9E3779B9) & mask, (key[1] + 0xBB67AE85) & mask]
    return c[0]


def philox_run():
    right = np.array([philox_number(i, 99) for i in range(100)], np.uint32)
    return Run("philox_u32", "100", (2,), [*made("y", np.uint32, right), Scalar("i32", 99)])


def segmented_sum_run():
    rng = np.random.default_rng(7)
    x, begins = rng.integers(-5, 6, 200).astype(np.float32), (rng.random(200) < 0.15).astype(np.int32)
    segment = np.cumsum(begins)
    right = np.concatenate([np.cumsum(x[segment == s]) for s in range(segment[-1] + 1)])
    return Run("segmented_sum_f32", "200", (1,), given("x", x) + given("begins", begins) + made("y", np.float32, right))


def turns_run():
    rng = np.random.default_rng(8)
    x, w = (rng.integers(-3, 4, s).astype(np.float16) for s in ((50, 130), (130, 40)))
    args = [*given("x", x), *given("w", w), *made("y", np.float32, x.astype(np.float32) @ w.astype(np.float32))]
    return Run("turns_f16", "50x40x130", (2, 2, 3), args + made("locks", np.int32, np.zeros(4)))


def stencil_run():
    x = np.random.default_rng(9).integers(-8, 9, (19, 37)).astype(np.float64)
    p = np.pad(x, 1)
    right = x + 0.25 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * x)
    return Run("stencil_f64", "19x37", (3, 3), given("x", x) + made("y", np.float64, right))


def byte_histogram_run():
    x = np.random.default_rng(10).integers(0, 256, 700).astype(np.uint8)
    right = np.bincount(x, minlength=256).reshape(16, 16)
    return Run("byte_histogram_u8", "700", (2,), given("x", x) + made("counts", np.int64, right))


def column_softmax_run():
    x = np.random.default_rng(11).standard_normal((50, 70)).astype(np.float16)
    weights = np.exp(x.astype(np.float64))
    right = (weights / weights.sum(0)).T
    return Run("column_softmax_f16", "50x70", (3,), given("x", x) + made("y", np.float16, right, close(1e-3)))


def channels_last_run():
    x = np.random.default_rng(12).standard_normal((2, 21, 3, 13)).astype(np.float32)
    right = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    return Run("channels_last_f32", "2x21x3x13", (2, 3), given("x", x) + made("y", np.float32, right))


def eight_bit_cast_run():
    x = np.random.default_rng(13).standard_normal(300).astype(ml_dtypes.bfloat16)
    t = x.astype(np.float32)
    parts = [t[i : i + 128] / (np.abs(t[i : i + 128]).max() / np.float32(448)) for i in range(0, 300, 128)]
    right = np.concatenate(parts).astype(ml_dtypes.float8_e4m3fn)
    peak = np.abs(t).max(keepdims=True).view(np.int32)
    args = [*given("x", x), *made("peak", np.int32, peak)]
    return Run("eight_bit_cast_bf16", "300", (3,), args + made("y", right.dtype, right, Tolerance(ulp=1)))


def runs():
    yield fourier_run()
    yield inverse_run()
    yield cholesky_run()
    yield conjugate_gradients_run()
    yield mandelbrot_run(20, 12, 16)
    yield bitonic_sort_run()
    yield philox_run()
    yield segmented_sum_run()
    yield turns_run()
    yield stencil_run()
    yield byte_histogram_run()
    yield column_softmax_run()
    yield channels_last_run()
    yield eight_bit_cast_run()
