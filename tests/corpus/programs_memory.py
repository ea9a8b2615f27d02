"""Data movement and atomics through the front end's own vocabulary: gather,
scatter, views that overlap, slices, lists of indices, histograms."""

import cuda.tile as ct
import numpy as np

from corpus import Program, array
from numerics import Buffer, Run, Scalar, matrix_args, padded, vector_args

ZERO = ct.PaddingMode.ZERO


@ct.kernel
def transpose(x, y, tm: ct.Constant[int], tn: ct.Constant[int]):
    m, n = ct.bid(0), ct.bid(1)
    ct.store(y, (n, m), ct.transpose(ct.load(x, (m, n), (tm, tn), padding_mode=ZERO)))


@ct.kernel
def lookup(table, index, y, n: ct.Constant[int], depth: ct.Constant[int]):
    """Rows of a table, picked by index; rows that are not there are zero."""
    at = ct.bid(0) * n + ct.arange(n, dtype=ct.int32)
    rows = ct.gather(index, at, padding_value=-1)
    cols = ct.arange(depth, dtype=ct.int32)
    ct.scatter(y, (at[:, None], cols[None, :]), ct.gather(table, (rows[:, None], cols[None, :])))


@ct.kernel
def masked_gather(x, y, n: ct.Constant[int]):
    """Even elements doubled, odd ones from padding; unchecked on the way out."""
    at = ct.arange(n, dtype=ct.int32)
    even = at % 2 == 0
    t = ct.gather(x, at, mask=even, padding_value=5)
    ct.scatter(y, at, t + t, mask=at < y.shape[0] - 1, check_bounds=False)


@ct.kernel
def histogram(x, counts, n: ct.Constant[int]):
    at = ct.bid(0) * n + ct.arange(n, dtype=ct.int32)
    value = ct.gather(x, at, padding_value=-1)
    # What has no bin is out of bounds, and counts nowhere.
    ct.atomic_add(counts, value, 1)


@ct.kernel
def atomics(x, y, n: ct.Constant[int]):
    """Every read-modify-write, one row of y each."""
    at = ct.arange(n, dtype=ct.int32)
    t = ct.gather(x, at)
    ct.atomic_max(y, (0, at), t)
    ct.atomic_min(y, (1, at), t)
    ct.atomic_and(y, (2, at), t)
    ct.atomic_or(y, (3, at), t)
    ct.atomic_xor(y, (4, at), t)
    ct.atomic_xchg(y, (5, at), t, memory_order=ct.MemoryOrder.RELAXED)
    old = ct.atomic_cas(y, (6, at), at, t, memory_scope=ct.MemoryScope.SYS)
    ct.scatter(y, (7, at), old)


@ct.kernel
def moving_sum(x, y, n: ct.Constant[int]):
    """A sum over a sliding window of eight: tiles that overlap."""
    view = x.tiled_view((8,), padding_mode=ZERO, traversal_steps=(1,))
    for i in range(ct.bid(0) * n, min((ct.bid(0) + 1) * n, x.shape[0])):
        ct.scatter(y, i, ct.sum(view.load((i,))))


@ct.kernel
def picked_rows(x, index, y, rows: ct.Constant[int], cols: ct.Constant[int]):
    """Rows through a gather/scatter view, and back out the same way."""
    at = ct.load(index, (ct.bid(0),), (rows,))
    tile = ct.load_advanced_indexing(x, (at, ct.Slice(0, cols)), padding_mode=ZERO)
    ct.store_advanced_indexing(y, (at, ct.Slice(0, cols)), tile + tile)


@ct.kernel
def sliced(x, y, start: ct.int32, stop: ct.int32, n: ct.Constant[int]):
    """A window of the array as an array of its own."""
    part = x.slice(0, start, stop)
    ct.store(y, (0,), ct.load(part, (0,), (n,), padding_mode=ct.PaddingMode.NEG_INF))


@ct.kernel
def shuffled(x, y):
    """Reshape, permute, cat, extract, insert, broadcast, arange and where."""
    t = ct.load(x, (0, 0), (8, 16))
    a = ct.extract(t, (0, 1), (4, 4))
    b = ct.extract(t, (1, 2), (4, 4))
    c = ct.cat((a, b), 1)
    d = ct.permute(ct.reshape(t, (2, 4, 16)), (2, 0, 1)).reshape((16, 8))
    e = ct.broadcast_to(ct.expand_dims(ct.arange(8, dtype=ct.int32), 0), (4, 8))
    ct.store(y, (0, 0), c + e)
    ct.store(y, (1, 0), ct.where(e > 3, c, -c))
    ct.store(y, (2, 0), ct.extract(d, (0, 0), (4, 8)))
    ct.store(y, (3, 0), ct.extract(d, (3, 0), (4, 8)))


@ct.kernel
def raw_bytes(x, y, n: ct.Constant[int]):
    """Bits of f16 as bytes and back, with the bytes of each swapped."""
    t = ct.pack_to_bytes(ct.load(x, (0,), (n,)))
    swapped = ct.permute(ct.reshape(t, (n, 2)), (1, 0))
    swapped = ct.cat((ct.extract(swapped, (1, 0), (1, n)), ct.extract(swapped, (0, 0), (1, n))), 0)
    ct.store(y, (0,), ct.unpack_from_bytes(ct.reshape(ct.transpose(swapped), (2 * n,)), ct.float16))


def v(dtype):
    return array(dtype, 1)


def m(dtype):
    return array(dtype, 2)


I32 = ct.compilation.ScalarConstraint(ct.int32)
f16, f32, i32 = ct.float16, ct.float32, ct.int32

CASES = [
    Program("transpose_f16", transpose, [m(f16), m(f16), 32, 64], "13.1"),
    Program("transpose_f32", transpose, [m(f32), m(f32), 32, 32], "13.1"),
    Program("lookup_f32", lookup, [m(f32), v(i32), m(f32), 16, 64], "13.1"),
    Program("masked_gather_i32", masked_gather, [v(i32), v(i32), 64], "13.1"),
    Program("histogram_i32", histogram, [v(i32), v(i32), 128], "13.1"),
    Program("atomics_i32", atomics, [v(i32), m(i32), 32], "13.1"),
    Program("moving_sum_f32", moving_sum, [v(f32), v(f32), 16], "13.3"),
    Program("picked_rows_f32", picked_rows, [m(f32), v(i32), m(f32), 8, 32], "13.3"),
    Program("sliced_f32", sliced, [v(f32), v(f32), I32, I32, 64], "13.1"),
    Program("shuffled_i32", shuffled, [m(i32), m(i32)], "13.1"),
    Program("raw_bytes_f16", raw_bytes, [v(f16), v(f16), 64], "13.3"),
]


def out_matrix(y, before=None, mark=-7):
    align = 16 // y.itemsize
    before = np.zeros_like(y) if before is None else before
    return matrix_args(Buffer("y", padded(before, mark, align), padded(y, mark, align)), y.shape)


def transpose_run(case, dtype, shape, tile):
    x = np.random.default_rng(shape).standard_normal(shape).astype(dtype)
    grid = tuple(-(-n // t) for n, t in zip(shape, tile))
    args = [*matrix_args(Buffer("x", padded(x, 99, 16 // x.itemsize)), shape), *out_matrix(x.T.copy())]
    return Run(case, "x".join(map(str, shape)), grid, args)


def lookup_run():
    rng = np.random.default_rng(1)
    table = rng.standard_normal((20, 50)).astype(np.float32)
    index = rng.integers(-2, 23, 40).astype(np.int32)
    there = (index >= 0) & (index < 20)
    y = np.where(there[:, None], table[np.where(there, index, 0)], 0).astype(np.float32)
    args = [
        *matrix_args(Buffer("table", padded(table, 99, 4)), table.shape),
        *vector_args(Buffer("index", index)),
        *out_matrix(y),
    ]
    return Run("lookup_f32", "40", (3,), args)


def masked_gather_run():
    x = np.arange(50, dtype=np.int32)
    y = np.where(np.arange(64) % 2 == 0, 2 * np.append(x, [5] * 14), 10)
    before = np.full(60, -7, np.int32)
    after = before.copy()
    after[:59] = y[:59]
    args = [*vector_args(Buffer("x", x)), *vector_args(Buffer("y", before, after))]
    return Run("masked_gather_i32", "50", (1,), args)


def histogram_run():
    x = np.random.default_rng(2).integers(-3, 13, 1000).astype(np.int32)
    before = np.arange(10, dtype=np.int32)
    after = before + np.array([(x == i).sum() for i in range(10)], np.int32)
    return Run("histogram_i32", "1000", (8,), [*vector_args(Buffer("x", x)), *vector_args(Buffer("y", before, after))])


def atomics_run():
    rng = np.random.default_rng(3)
    x = rng.integers(-99, 99, 32).astype(np.int32)
    y = rng.integers(-99, 99, (8, 32)).astype(np.int32)
    at = np.arange(32)
    y[6, ::3] = at[::3]
    after = np.stack(
        [np.maximum(y[0], x), np.minimum(y[1], x), y[2] & x, y[3] | x, y[4] ^ x, x, np.where(y[6] == at, x, y[6]), y[6]]
    )
    return Run("atomics_i32", "32", (1,), [*vector_args(Buffer("x", x)), *out_matrix(after, y)])


def moving_sum_run():
    x = np.random.default_rng(4).integers(-9, 10, 50).astype(np.float32)
    y = np.array([x[i : i + 8].sum() for i in range(50)], np.float32)
    args = [*vector_args(Buffer("x", x)), *vector_args(Buffer("y", np.zeros(50, np.float32), y))]
    return Run("moving_sum_f32", "50", (4,), args)


def picked_rows_run():
    rng = np.random.default_rng(5)
    x = rng.standard_normal((20, 30)).astype(np.float32)
    index = rng.permutation(24)[:16].astype(np.int32)
    before = rng.standard_normal((20, 30)).astype(np.float32)
    after = before.copy()
    there = index[index < 20]
    after[there] = 2 * x[there]
    args = [
        *matrix_args(Buffer("x", padded(x, 99, 4)), x.shape),
        *vector_args(Buffer("index", index)),
        *out_matrix(after, before),
    ]
    return Run("picked_rows_f32", "16", (2,), args)


def sliced_run(start, stop):
    x = np.random.default_rng(6).standard_normal(100).astype(np.float32)
    y = np.full(64, -np.inf, np.float32)
    y[: stop - start] = x[start:stop]
    args = [
        *vector_args(Buffer("x", x)),
        *vector_args(Buffer("y", np.zeros(64, np.float32), y)),
        Scalar("i32", start),
        Scalar("i32", stop),
    ]
    return Run("sliced_f32", f"{start}_{stop}", (1,), args)


def shuffled_run():
    x = np.random.default_rng(7).integers(-99, 99, (8, 16)).astype(np.int32)
    c = np.concatenate([x[0:4, 4:8], x[4:8, 8:12]], 1)
    d = x.reshape(2, 4, 16).transpose(2, 0, 1).reshape(16, 8)
    e = np.broadcast_to(np.arange(8, dtype=np.int32), (4, 8))
    y = np.concatenate([c + e, np.where(e > 3, c, -c), d[0:4], d[12:16]])
    return Run("shuffled_i32", "8x16", (1,), [*matrix_args(Buffer("x", x), x.shape), *out_matrix(y)])


def raw_bytes_run():
    x = np.random.default_rng(8).standard_normal(64).astype(np.float16)
    y = x.view(np.uint16).byteswap().view(np.float16)
    return Run(
        "raw_bytes_f16", "64", (1,), [*vector_args(Buffer("x", x)), *vector_args(Buffer("y", np.zeros_like(x), y))]
    )


def runs():
    yield transpose_run("transpose_f16", np.float16, (70, 100), (32, 64))
    yield transpose_run("transpose_f32", np.float32, (33, 31), (32, 32))
    yield lookup_run()
    yield masked_gather_run()
    yield histogram_run()
    yield atomics_run()
    yield moving_sum_run()
    yield picked_rows_run()
    yield sliced_run(10, 60)
    yield sliced_run(0, 64)
    yield shuffled_run()
    yield raw_bytes_run()
