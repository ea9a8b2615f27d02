"""Matrix products whose tile blocks are executed by clusters of blocks (`num_ctas`)."""

import cuda.tile as ct
import ml_dtypes
import numpy as np

from corpus import Case, array
from numerics import EXACT, Buffer, Run, Scalar, array_args
from production_gemm import HALF, cube, cube_out, drawn, matrix, result, vector, wide

ZERO = ct.PaddingMode.ZERO


@ct.kernel(num_ctas=2)
def plain(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """A tile of C for each tile block."""
    m, n = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], tk)):
        x = ct.load(a, (m, k), (tm, tk), padding_mode=ZERO)
        y = ct.load(b, (k, n), (tk, tn), padding_mode=ZERO)
        acc = ct.mma(x, y, acc)
    ct.store(c, (m, n), ct.astype(acc, c.dtype))


@ct.kernel(num_ctas=4)
def by_four(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """The same by four blocks."""
    m, n = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], tk)):
        x = ct.load(a, (m, k), (tm, tk), padding_mode=ZERO)
        y = ct.load(b, (n, k), (tn, tk), padding_mode=ZERO)
        acc = ct.mma(x, ct.transpose(y), acc)
    ct.store(c, (m, n), ct.astype(acc, c.dtype))


@ct.kernel(num_ctas=2, occupancy=1)
def persistent(
    a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int], by_columns: ct.Constant[bool]
):
    """Each cluster takes every gridDim-th tile of C; `by_columns`: B is (N, K)."""
    tiles_n = ct.cdiv(c.shape[1], tn)
    for step in range(ct.bid(0), ct.cdiv(a.shape[0], tm) * tiles_n, ct.num_blocks(0)):
        m, n = step // tiles_n, step % tiles_n
        acc = ct.zeros((tm, tn), dtype=ct.float32)
        for k in range(ct.cdiv(a.shape[1], tk)):
            x = ct.load(a, (m, k), (tm, tk), padding_mode=ZERO)
            if by_columns:
                y = ct.transpose(ct.load(b, (n, k), (tn, tk), padding_mode=ZERO))
            else:
                y = ct.load(b, (k, n), (tk, tn), padding_mode=ZERO)
            acc = ct.mma(x, y, acc)
        ct.store(c, (m, n), ct.astype(acc, c.dtype))


@ct.kernel(num_ctas=2)
def epilogue(a, b, bias, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """C + relu(A B + bias) up to the diagonal, in the place of C."""
    m, n = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], tk)):
        x = ct.load(a, (m, k), (tm, tk), padding_mode=ZERO)
        y = ct.load(b, (k, n), (tk, tn), padding_mode=ZERO)
        acc = ct.mma(x, y, acc)
    acc = ct.maximum(acc + ct.load(bias, (n,), (tn,), padding_mode=ZERO)[None, :], 0.0)
    row = m * tm + ct.arange(tm, dtype=ct.int32)[:, None]
    column = n * tn + ct.arange(tn, dtype=ct.int32)[None, :]
    before = ct.astype(ct.load(c, (m, n), (tm, tn), padding_mode=ZERO), ct.float32)
    after = before + ct.where(row >= column, acc, 0.0)
    ct.store(c, (m, n), ct.astype(after, c.dtype))


@ct.kernel(num_ctas=2)
def integer(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """int8 into int32."""
    m, n = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.int32)
    for k in range(ct.cdiv(a.shape[1], tk)):
        x = ct.load(a, (m, k), (tm, tk), padding_mode=ZERO)
        y = ct.load(b, (n, k), (tn, tk), padding_mode=ZERO)
        acc = ct.mma(x, ct.transpose(y), acc)
    ct.store(c, (m, n), acc)


@ct.kernel(num_ctas=2)
def batched(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """A matrix product for each batch."""
    batch, m, n = ct.bid(0), ct.bid(1), ct.bid(2)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[2], tk)):
        x = ct.reshape(ct.load(a, (batch, m, k), (1, tm, tk), padding_mode=ZERO), (tm, tk))
        y = ct.reshape(ct.load(b, (batch, k, n), (1, tk, tn), padding_mode=ZERO), (tk, tn))
        acc = ct.mma(x, y, acc)
    ct.store(c, (batch, m, n), ct.reshape(ct.astype(acc, c.dtype), (1, tm, tn)))


@ct.kernel(num_ctas=2)
def attention(q, k, v, o, scale: ct.float32, tm: ct.Constant[int], tn: ct.Constant[int], d: ct.Constant[int]):
    """Causal attention; each block has half of the queries, and brings half of the keys and values for both."""
    row = ct.bid(0) * tm + ct.arange(tm, dtype=ct.int32)[:, None]
    x = ct.load(q, (ct.bid(0), 0), (tm, d), padding_mode=ZERO)
    highest = ct.full((tm, 1), -1e30, ct.float32)
    total = ct.zeros((tm, 1), ct.float32)
    acc = ct.zeros((tm, d), ct.float32)
    for j in range(ct.cdiv(min((ct.bid(0) + 1) * tm, k.shape[0]), tn)):
        keys = ct.load(k, (j, 0), (tn, d), padding_mode=ZERO)
        scores = ct.mma(x, ct.transpose(keys), ct.zeros((tm, tn), ct.float32)) * scale
        column = j * tn + ct.arange(tn, dtype=ct.int32)[None, :]
        scores = ct.where((row >= column) & (column < k.shape[0]), scores, -1e30)
        above = ct.maximum(highest, ct.max(scores, 1, keepdims=True))
        weights = ct.exp(scores - above)
        shrink = ct.exp(highest - above)
        total = total * shrink + ct.sum(weights, 1, keepdims=True)
        values = ct.load(v, (j, 0), (tn, d), padding_mode=ZERO)
        acc = ct.mma(ct.astype(weights, v.dtype), values, acc * shrink)
        highest = above
    ct.store(o, (ct.bid(0), 0), ct.astype(acc / total, o.dtype))


@ct.kernel(num_ctas=2)
def counted(a, b, c, done, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """Counts the tiles that are done, which must happen once for each: no cluster can share it."""
    m, n = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], tk)):
        x = ct.load(a, (m, k), (tm, tk), padding_mode=ZERO)
        y = ct.load(b, (k, n), (tk, tn), padding_mode=ZERO)
        acc = ct.mma(x, y, acc)
    ct.store(c, (m, n), ct.astype(acc, c.dtype))
    ct.atomic_add(done, 0, 1)


H2, H3 = array(ct.float16, 2), array(ct.float16, 3)
# Results that tensor copies store.
WHOLE = array(ct.float16, 2, whole=True)
F32 = ct.compilation.ScalarConstraint(ct.float32)
S1, S2 = array(ct.float32, 1), array(ct.float32, 2)
E2, I2, N1, N2 = array(ct.float8_e4m3fn, 2), array(ct.int8, 2), array(ct.int32, 1), array(ct.int32, 2)


def case(name, kernel, *parameters) -> Case:
    return Case(name, kernel, list(parameters), "13.3")


CASES = [
    case("plain_f16_256x128", plain, H2, H2, WHOLE, 256, 128, 64),
    case("plain_f16_256x256", plain, H2, H2, H2, 256, 256, 64),
    case("plain_f16_64x128", plain, H2, H2, H2, 64, 128, 64),
    case("plain_f32_128x64", plain, S2, S2, S2, 128, 64, 32),
    case("plain_f32_256x64", plain, S2, S2, S2, 256, 64, 32),
    case("by_four_f16_256x128", by_four, H2, H2, H2, 256, 128, 64),
    case("persistent_f16", persistent, H2, H2, WHOLE, 256, 128, 32, False),
    case("persistent_f16_nk", persistent, H2, H2, WHOLE, 256, 128, 64, True),
    case("persistent_e4m3", persistent, E2, E2, H2, 256, 128, 64, True),
    case("persistent_e4m3_256x256", persistent, E2, E2, H2, 256, 256, 128, True),
    case("epilogue_f16", epilogue, H2, H2, S1, H2, 256, 64, 64),
    case("epilogue_f16_128x128", epilogue, H2, H2, S1, H2, 128, 128, 64),
    case("integer_i8", integer, I2, I2, N2, 128, 128, 64),
    case("integer_i8_256x128", integer, I2, I2, N2, 256, 128, 64),
    case("batched_f16_256x64", batched, H3, H3, H3, 256, 64, 64),
    case("batched_f16", batched, H3, H3, H3, 128, 64, 64),
    case("attention_f16", attention, H2, H2, H2, H2, F32, 128, 128, 64),
    case("attention_f16_256x64", attention, H2, H2, H2, H2, F32, 256, 64, 64),
    case("counted_f16", counted, H2, H2, H2, N1, 128, 64, 64),
]


def run(name, m, n, k, grid, by_columns=False):
    rng = np.random.default_rng((m, n, k))
    a, b = drawn(rng, m, k), drawn(rng, *((n, k) if by_columns else (k, n)))
    right = wide(a) @ (wide(b).T if by_columns else wide(b))
    args = [*matrix("a", a), *matrix("b", b), *result("c", right, HALF)]
    return Run(name, f"{m}x{n}x{k}", grid, args)


def runs():
    yield run("plain_f16_256x128", 300, 200, 520, (2, 2))
    yield run("plain_f16_256x128", 130, 72, 24, (1, 1))
    yield run("plain_f16_64x128", 100, 150, 456, (2, 2))
    yield run("by_four_f16_256x128", 300, 136, 392, (2, 2), by_columns=True)
    yield run("persistent_f16", 520, 200, 200, (2,))
    yield run("persistent_f16_nk", 300, 264, 328, (1,), by_columns=True)
    rng = np.random.default_rng(11)
    # Powers of two and small integers are tf32's own: nothing is rounded.
    a, b = (rng.integers(-16, 17, shape).astype(np.float32) for shape in ((150, 200), (200, 72)))
    args = [*matrix("a", a), *matrix("b", b), *result("c", wide(a) @ wide(b), EXACT, np.float32)]
    yield Run("plain_f32_128x64", "150x72x200", (2, 2), args)
    fp8 = ml_dtypes.float8_e4m3fn
    a, b = (rng.standard_normal(shape).astype(fp8) for shape in ((400, 336), (144, 336)))
    args = [*matrix("a", a, fp8(99), "f8E4M3FN"), *matrix("b", b, fp8(99), "f8E4M3FN")]
    yield Run("persistent_e4m3", "400x144x336", (3,), [*args, *result("c", wide(a) @ wide(b).T, HALF)])
    yield Run("persistent_e4m3_256x256", "400x144x336", (2,), [*args, *result("c", wide(a) @ wide(b).T, HALF)])
    a, b, c = drawn(rng, 200, 264), drawn(rng, 264, 144), drawn(rng, 200, 144)
    bias = rng.standard_normal(144).astype(np.float32)
    product = np.maximum(wide(a) @ wide(b) + bias, 0)
    right = wide(c) + np.where(np.arange(200)[:, None] >= np.arange(144), product, 0)
    args = [*matrix("a", a), *matrix("b", b), *vector("bias", bias), *result("c", right, HALF, before=c)]
    yield Run("epilogue_f16", "200x144x264", (1, 3), args)
    yield Run("epilogue_f16_128x128", "200x144x264", (2, 2), args)
    a, b = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((140, 208), (144, 208)))
    right = a.astype(np.int32) @ b.T.astype(np.int32)
    args = [*matrix("a", a, 99), *matrix("b", b, 99), *result("c", right, EXACT, np.int32)]
    yield Run("integer_i8", "140x144x208", (2, 2), args)
    a, b = drawn(rng, 2, 150, 136), drawn(rng, 2, 136, 72)
    out = cube_out("c", wide(a) @ wide(b), HALF)
    yield Run("batched_f16", "2x150x72x136", (2, 2, 2), [*cube("a", a), *cube("b", b), *out])
    q, k, v = (drawn(rng, 300, 64) for _ in range(3))
    scores = np.where(np.tri(300, dtype=bool), wide(q) @ wide(k).T / 8, -np.inf)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    right = weights @ wide(v) / weights.sum(axis=1, keepdims=True)
    args = [*matrix("q", q), *matrix("k", k), *matrix("v", v), *result("o", right, HALF), Scalar("f32", 0.125)]
    yield Run("attention_f16", "300x64", (3,), args)
    yield Run("attention_f16_256x64", "300x64", (2,), args)
    a, b = drawn(rng, 140, 72), drawn(rng, 72, 100)
    args = [*matrix("a", a), *matrix("b", b), *result("c", wide(a) @ wide(b), HALF)]
    count = Buffer("done", np.zeros(1, np.int32), np.full(1, 4, np.int32))
    yield Run("counted_f16", "140x100x72", (2, 2), [*args, *array_args(count, (1,), (1,))])
    rng = np.random.default_rng(12)
    yield run("plain_f16_256x256", 300, 280, 136, (2, 2))
    a, b = (rng.integers(-16, 17, shape).astype(np.float32) for shape in ((300, 136), (136, 72)))
    args = [*matrix("a", a), *matrix("b", b), *result("c", wide(a) @ wide(b), EXACT, np.float32)]
    yield Run("plain_f32_256x64", "300x72x136", (2, 2), args)
    a, b = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((272, 208), (144, 208)))
    right = a.astype(np.int32) @ b.T.astype(np.int32)
    args = [*matrix("a", a, 99), *matrix("b", b, 99), *result("c", right, EXACT, np.int32)]
    yield Run("integer_i8_256x128", "272x144x208", (2, 2), args)
    a, b = drawn(rng, 2, 264, 136), drawn(rng, 2, 136, 72)
    out = cube_out("c", wide(a) @ wide(b), HALF)
    yield Run("batched_f16_256x64", "2x264x72x136", (2, 2, 2), [*cube("a", a), *cube("b", b), *out])
