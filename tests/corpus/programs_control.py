"""Control flow, reductions with functions of our own, casts, printing and
integer arithmetic as the front end writes them."""

import cuda.tile as ct
import numpy as np

from corpus import Program, array
from numerics import Buffer, Run, Tolerance, matrix_args, vector_args
from ops_mma import floats


@ct.kernel
def collatz(x, y, n: ct.Constant[int]):
    """One number a block; a while loop with a branch, a break and a return."""
    i = ct.bid(0)
    if i >= x.shape[0]:
        return
    value = ct.gather(x, i)
    steps = 0
    while value != 1:
        if steps >= n:
            steps = -1
            break
        if value % 2 == 0:
            value = value // 2
        else:
            value = 3 * value + 1
        steps += 1
    ct.scatter(y, i, steps)


@ct.kernel
def sieve(y, n: ct.Constant[int]):
    """Nested loops with continue and break: the primes below n are ones."""
    for i in range(2, n):
        prime = 1
        for j in range(2, i):
            if i % j != 0:
                continue
            prime = 0
            break
        ct.scatter(y, i, prime)


@ct.kernel
def integers(x, y, z, n: ct.Constant[int]):
    """Python's integer operators, one row each; y is never zero."""
    a, b = ct.load(x, (0,), (n,)), ct.load(y, (0,), (n,))
    results = (
        a + b, a - b, a * b, a // b, a % b, a & b, a | b, a ^ b, ~a, -a, abs(a),
        a << (b & 7), a >> (b & 7), max(a, b), min(a, b), ct.cdiv(a, b),
        ct.where(a == b, a, b), ct.where(a != b, a, b), ct.where(a < b, a, b), ct.where(a >= b, a, b),
    )  # fmt: skip
    for row in ct.static_iter(range(20)):
        ct.store(z, (row, 0), results[row][None, :])


def right_integers(a, b):
    wide = [v.astype(object) for v in (a, b)]
    x, y = wide
    shift = y & 7
    rows = [
        x + y, x - y, x * y, x // y, x % y, x & y, x | y, x ^ y, ~x, -x, abs(x),
        x << shift, x >> shift, np.maximum(x, y), np.minimum(x, y), -(-x // y),
        np.where(x == y, x, y), np.where(x != y, x, y), np.where(x < y, x, y), np.where(x >= y, x, y),
    ]  # fmt: skip
    bits = 8 * a.dtype.itemsize
    wrapped = np.stack(rows) % 2**bits
    return wrapped.astype(np.uint64).astype(f"u{a.dtype.itemsize}").view(a.dtype)


@ct.kernel
def statistics(x, y, at, rows: ct.Constant[int], cols: ct.Constant[int]):
    """Sums, products, extremes and where they are, of rows."""
    t = ct.load(x, (0, 0), (rows, cols))
    results = (ct.sum(t, axis=1), ct.prod(t, axis=1), ct.max(t, axis=1), ct.min(t, axis=1))
    for row in ct.static_iter(range(4)):
        ct.store(y, (row, 0), results[row][None, :])
    ct.store(at, (0, 0), ct.argmax(t, axis=1)[None, :])
    ct.store(at, (1, 0), ct.argmin(t, axis=1)[None, :])


@ct.kernel
def prefixes(x, y, rows: ct.Constant[int], cols: ct.Constant[int]):
    """Running sums both ways, running products, and a scan of our own."""
    t = ct.load(x, (0, 0), (rows, cols))
    ct.store(y, (0, 0), ct.cumsum(t, axis=1))
    ct.store(y, (1, 0), ct.cumsum(t, axis=1, reverse=True))
    ct.store(y, (2, 0), ct.cumprod(t, axis=0))
    ct.store(y, (3, 0), ct.scan(t, 1, lambda a, b: max(a, b), -1000))


@ct.kernel
def welford(x, y, n: ct.Constant[int]):
    """A reduction of three values at once: count, mean and squared distance."""
    t = ct.load(x, (0,), (n,))

    def merge(n1, m1, s1, n2, m2, s2):
        count = n1 + n2
        safe = max(count, 1.0)
        delta = m2 - m1
        return count, m1 + delta * n2 / safe, s1 + s2 + delta * delta * n1 * n2 / safe

    count, mean, square = ct.reduce(
        (ct.ones((n,), dtype=ct.float32), t, ct.zeros((n,), dtype=ct.float32)), 0, merge, (0.0, 0.0, 0.0)
    )
    ct.scatter(y, 0, count)
    ct.scatter(y, 1, mean)
    ct.scatter(y, 2, square / count)


@ct.kernel
def casts(x, y16, yb, y8, yi, n: ct.Constant[int]):
    """f32 to everything else; back through i32."""
    t = ct.load(x, (0,), (n,))
    ct.store(y16, (0,), ct.astype(t, ct.float16))
    ct.store(yb, (0,), ct.astype(t, ct.bfloat16))
    ct.store(y8, (0,), ct.astype(t, ct.float8_e4m3fn))
    whole = ct.astype(t, ct.int32)
    ct.store(yi, (0,), whole + ct.astype(ct.astype(whole, ct.int8), ct.int32) + ct.astype(t > 0, ct.int32))


@ct.kernel
def talk(x, n: ct.Constant[int]):
    """Printing, of text, scalars and tiles, and an assertion that holds."""
    t = ct.load(x, (0,), (n,))
    ct.assert_(t >= 0, "negative")
    ct.printf("block %d of %d\n", ct.bid(0), ct.num_blocks(0))
    print(f"tile {t}")
    ct.print("sum:", ct.sum(t), "mean:", ct.sum(t) / 4.0)


def v(dtype):
    return array(dtype, 1)


def m(dtype):
    return array(dtype, 2)


i8, i16, i32, i64, f32 = ct.int8, ct.int16, ct.int32, ct.int64, ct.float32

SIGNED = {"i8": i8, "i16": i16, "i32": i32, "i64": i64}

@ct.kernel
def one_turn(x, y, n: ct.Constant[int], turns: ct.Constant[int]):
    """Loops whose length is known: the counter of a single turn is the constant of the bounds."""
    for i in range(turns):
        total = ct.zeros((n,), dtype=ct.int32)
        for j in range(turns):
            total = total + ct.load(x, (i + j,), (n,))
        ct.store(y, (i,), total + i)


CASES = [
    Program("one_turn_i32", one_turn, [v(i32), v(i32), 64, 1], "13.1"),
    Program("collatz_i32", collatz, [v(i32), v(i32), 200], "13.1"),
    Program("sieve_i32", sieve, [v(i32), 30], "13.1"),
    *(Program(f"integers_{name}", integers, [v(t), v(t), m(t), 64], "13.1") for name, t in SIGNED.items()),
    Program("statistics_f32", statistics, [m(f32), m(f32), m(i32), 8, 16], "13.1"),
    Program("statistics_i32", statistics, [m(i32), m(i32), m(i32), 8, 16], "13.1"),
    # The package writes an f64 identity of -inf in 65 bits (see Body.attribute
    # in emit.py). tileirdisasm reads it as +inf, tilec as it is meant.
    Program("statistics_f64", statistics, [m(ct.float64), m(ct.float64), m(i32), 8, 16], "13.1"),
    Program("prefixes_i32", prefixes, [m(i32), m(i32), 8, 16], "13.1"),
    Program("prefixes_f32", prefixes, [m(f32), m(f32), 8, 16], "13.1"),
    Program("welford_f32", welford, [v(f32), v(f32), 128], "13.1"),
    Program("casts_f32", casts, [v(f32), v(ct.float16), v(ct.bfloat16), v(ct.float8_e4m3fn), v(i32), 64], "13.1"),
    Program("talk_i32", talk, [v(i32), 4], "13.1"),
]


def one_turn_run():
    x = np.random.default_rng(7).integers(-99, 99, 64).astype(np.int32)
    args = vector_args(Buffer("x", x)) + vector_args(Buffer("y", np.zeros_like(x), x))
    return Run("one_turn_i32", "64", (1,), args)


def steps_of(value, limit):
    steps = 0
    while value != 1:
        if steps >= limit:
            return -1
        value = value // 2 if value % 2 == 0 else 3 * value + 1
        steps += 1
    return steps


def collatz_run():
    x = np.array([1, 2, 7, 27, 97, 871, 6171], np.int32)
    y = np.array([steps_of(int(n), 200) for n in x], np.int32)
    # More blocks than numbers.
    return Run("collatz_i32", "7", (9,), [*vector_args(Buffer("x", x)), *vector_args(Buffer("y", np.zeros_like(y), y))])


def sieve_run():
    y = np.array([int(i > 1 and all(i % j for j in range(2, i))) for i in range(30)], np.int32)
    return Run("sieve_i32", "30", (1,), vector_args(Buffer("y", np.zeros_like(y), y)))


def integers_run(name, dtype):
    rng = np.random.default_rng(1)
    limits = np.iinfo(dtype)
    a = rng.integers(limits.min, limits.max, 64, dtype, endpoint=True)
    b = rng.integers(-20, 20, 64).astype(dtype)
    b[b == 0] = 3
    a[:8], b[:8] = [7, -7, 7, -7, 0, 1, -1, 5], [2, 2, -2, -2, 5, 1, 3, 5]
    b[a == limits.min] = 3  # the least number by minus one has no answer
    z = right_integers(a, b)
    args = [*vector_args(Buffer("x", a)), *vector_args(Buffer("y", b))]
    args += matrix_args(Buffer("z", np.zeros_like(z), z), z.shape)
    return Run(f"integers_{name}", "64", (1,), args)


def statistics_run(name, dtype):
    rng = np.random.default_rng(2)
    x = rng.choice([-2, -1, 1, 2], (8, 16)).astype(dtype)
    # Distinct extremes, so that there is one place to find each.
    for row in range(8):
        x[row, rng.permutation(16)[:2]] = [3, -3]
    y = np.stack([x.sum(axis=1), x.prod(axis=1), x.max(axis=1), x.min(axis=1)]).astype(dtype)
    at = np.stack([x.argmax(axis=1), x.argmin(axis=1)]).astype(np.int32)
    args = [
        *matrix_args(Buffer("x", x), x.shape),
        *matrix_args(Buffer("y", np.zeros_like(y), y), y.shape),
        *matrix_args(Buffer("at", np.zeros_like(at), at), at.shape),
    ]
    return Run(f"statistics_{name}", "8x16", (1,), args)


def prefixes_run(name, dtype):
    x = np.random.default_rng(3).choice([-2, -1, 1, 2], (8, 16)).astype(dtype)
    parts = [
        np.cumsum(x, axis=1),
        np.flip(np.cumsum(np.flip(x, 1), axis=1), 1),
        np.cumprod(x, axis=0),
        np.maximum.accumulate(x, axis=1),
    ]
    y = np.concatenate(parts).astype(dtype)
    args = [*matrix_args(Buffer("x", x), x.shape), *matrix_args(Buffer("y", np.zeros_like(y), y), y.shape)]
    return Run(f"prefixes_{name}", "8x16", (1,), args)


def welford_run():
    x = np.random.default_rng(4).standard_normal(128).astype(np.float32) + 3
    wide = x.astype(np.float64)
    y = np.array([128, wide.mean(), wide.var()], np.float32)
    result = Buffer("y", np.zeros(3, np.float32), y, Tolerance(relative=1e-5))
    return Run("welford_f32", "128", (1,), [*vector_args(Buffer("x", x)), *vector_args(result)])


def casts_run():
    # Inside f8's range, so that nothing overflows.
    x = np.random.default_rng(5).uniform(-120, 120, 64).astype(np.float32)
    args = vector_args(Buffer("x", x))
    for name, type_ in (("y16", "f16"), ("yb", "bf16"), ("y8", "f8E4M3FN")):
        y, _ = floats(type_, x)
        args += vector_args(Buffer(name, np.zeros_like(y), y, type=type_))
    whole = x.astype(np.int32)
    yi = whole + whole.astype(np.int8).astype(np.int32) + (x > 0)
    args += vector_args(Buffer("yi", np.zeros(64, np.int32), yi.astype(np.int32)))
    return Run("casts_f32", "64", (1,), args)


def talk_run():
    x = np.array([1, 2, 3, 4], np.int32)
    text = "block 0 of 1\ntile [1, 2, 3, 4]\nsum: 10 mean: 2.500000\n"
    return Run("talk_i32", "4", (1,), vector_args(Buffer("x", x)), stdout=text)


def runs():
    yield one_turn_run()
    yield collatz_run()
    yield sieve_run()
    for name, dtype in (("i8", np.int8), ("i16", np.int16), ("i32", np.int32), ("i64", np.int64)):
        yield integers_run(name, dtype)
    for name, dtype in (("f32", np.float32), ("f64", np.float64), ("i32", np.int32)):
        yield statistics_run(name, dtype)
    for name, dtype in (("f32", np.float32), ("i32", np.int32)):
        yield prefixes_run(name, dtype)
    yield welford_run()
    yield casts_run()
    yield talk_run()
