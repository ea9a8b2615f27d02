"""Matrix products beside the plain one: other types, batches, split-K, scales."""

import cuda.tile as ct
import numpy as np

from corpus import Program, array
from numerics import EXACT, Buffer, Run, array_args, matrix_args, padded
from ops_mma import floats
from ops_reduce import typed

ZERO = ct.PaddingMode.ZERO


@ct.kernel
def batched(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """C[i] = A[i] @ B[i]ᵀ, f32 as tf32; one grid axis each for batch, m, n."""
    i, m, n = ct.bid(0), ct.bid(1), ct.bid(2)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=2, shape=(1, tm, tk))):
        x = ct.reshape(ct.load(a, (i, m, k), (1, tm, tk), padding_mode=ZERO), (tm, tk))
        y = ct.reshape(ct.load(b, (i, n, k), (1, tn, tk), padding_mode=ZERO), (tn, tk))
        acc = ct.mma(x.astype(ct.tfloat32), ct.transpose(y).astype(ct.tfloat32), acc)
    ct.store(c, (i, m, n), acc.reshape((1, tm, tn)))


@ct.kernel
def batched_halves(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """C[i] = A[i] @ B[i]ᵀ in half precision: what is loaded is multiplied as it is."""
    i, m, n = ct.bid(0), ct.bid(1), ct.bid(2)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=2, shape=(1, tm, tk))):
        x = ct.reshape(ct.load(a, (i, m, k), (1, tm, tk), padding_mode=ZERO), (tm, tk))
        y = ct.reshape(ct.load(b, (i, n, k), (1, tn, tk), padding_mode=ZERO), (tn, tk))
        acc = ct.mma(x, ct.transpose(y), acc)
    ct.store(c, (i, m, n), acc.reshape((1, tm, tn)))


@ct.kernel
def integer(
    a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int], doubled: ct.Constant[bool]
):  # fmt: skip
    """i8 or u8 operands, i32 sums; where it is `doubled`, the left operand is computed: 2 A @ B."""
    m, n = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.int32)
    for k in range(ct.cdiv(a.shape[1], tk)):
        x = ct.load(a, (m, k), (tm, tk), padding_mode=ZERO)
        y = ct.load(b, (k, n), (tk, tn), padding_mode=ZERO)
        acc = ct.mma(x + x if doubled else x, y, acc)
    ct.store(c, (m, n), acc)


@ct.kernel
def split_k(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """The third grid axis divides K; blocks add their parts atomically."""
    m, n, part, parts = ct.bid(0), ct.bid(1), ct.bid(2), ct.num_blocks(2)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(part, ct.cdiv(a.shape[1], tk), parts):
        x = ct.load(a, (m, k), (tm, tk), padding_mode=ZERO)
        y = ct.load(b, (k, n), (tk, tn), padding_mode=ZERO)
        acc = ct.mma(x, y, acc)
    rows = m * tm + ct.arange(tm, dtype=ct.int32)[:, None]
    cols = n * tn + ct.arange(tn, dtype=ct.int32)[None, :]
    ct.atomic_add(c, (rows, cols), acc)


@ct.kernel
def counted(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """The tiles' number is a variable of its own, which a is walked by; the last come first."""
    m, n = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    tiles = ct.cdiv(a.shape[1], tk)
    at = tiles - 1
    for k in range(tiles):
        x = ct.load(a, (m, at), (tm, tk), padding_mode=ZERO)
        y = ct.load(b, (tiles - 1 - k, n), (tk, tn), padding_mode=ZERO)
        acc = ct.mma(x, y, acc)
        at -= 1
    ct.store(c, (m, n), acc)


@ct.kernel
def fused(a, b, bias, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """bf16, with an epilogue: relu(A @ B + bias)."""
    m, n = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], tk)):
        x = ct.load(a, (m, k), (tm, tk), padding_mode=ZERO)
        y = ct.load(b, (k, n), (tk, tn), padding_mode=ZERO)
        acc = ct.mma(x, y, acc)
    acc = acc + ct.load(bias, (n,), (tn,), padding_mode=ZERO)[None, :]
    ct.store(c, (m, n), ct.astype(ct.maximum(acc, 0.0), c.dtype))


@ct.kernel
def eight_bits(
    a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int], fast: ct.Constant[bool]
):  # fmt: skip
    """f8 operands, columns of B neighbours in memory; sums in single precision unless accumulation is `fast`."""
    m, n = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], tk)):
        x = ct.load(a, (m, k), (tm, tk), padding_mode=ZERO)
        y = ct.load(b, (k, n), (tk, tn), padding_mode=ZERO)
        acc = ct.mma(x, y, acc, use_fast_acc=fast)
    ct.store(c, (m, n), acc)


@ct.kernel
def eight_bits_sums(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """f8 operands, sums in single precision."""
    m, n = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], tk)):
        x = ct.load(a, (m, k), (tm, tk), padding_mode=ZERO)
        y = ct.load(b, (n, k), (tn, tk), padding_mode=ZERO)
        acc = ct.mma(x, ct.transpose(y), acc)
    ct.store(c, (m, n), acc)


@ct.kernel
def scaled(a, a_scale, b, b_scale, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """f8 operands with one power of two for every 32 elements along K."""
    m, n = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], tk)):
        x = ct.load(a, (m, k), (tm, tk), padding_mode=ZERO)
        y = ct.load(b, (k, n), (tk, tn), padding_mode=ZERO)
        xs = ct.load(a_scale, (m, k), (tm, tk // 32))
        ys = ct.load(b_scale, (k, n), (tk // 32, tn))
        acc = ct.mma_scaled(x, xs, y, ys, acc)
    ct.store(c, (m, n), acc)


@ct.kernel
def scaled_rows(
    a, a_scale, b, b_scale, c,
    tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int], block: ct.Constant[int], nibbles: ct.Constant[bool],
):  # fmt: skip
    """A @ Bᵀ of f8, or of f4 two to a byte, with a scale for each block along K, in rows as the operands are."""
    m, n = ct.bid(0), ct.bid(1)
    per = 2 if nibbles else 1
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], tk // per)):
        x = ct.load(a, (m, k), (tm, tk // per), padding_mode=ZERO)
        y = ct.load(b, (n, k), (tn, tk // per), padding_mode=ZERO)
        if nibbles:
            x = ct.unpack_from_bytes(x.reshape((-1,)), ct.float4_e2m1fn).reshape((tm, tk))
            y = ct.unpack_from_bytes(y.reshape((-1,)), ct.float4_e2m1fn).reshape((tn, tk))
        xs = ct.load(a_scale, (m, k), (tm, tk // block), padding_mode=ZERO)
        ys = ct.load(b_scale, (n, k), (tn, tk // block), padding_mode=ZERO)
        acc = ct.mma_scaled(x, xs, ct.transpose(y), ct.transpose(ys), acc)
    ct.store(c, (m, n), acc)


def unswizzled(scales):
    """What `swizzled` packed, as a matrix again."""
    m, k, _, _ = scales.shape
    scales = ct.permute(scales.reshape((m, k, 32, 4, 4)), (0, 3, 2, 1, 4))
    return scales.reshape((m * 128, k * 4))


@ct.kernel
def scaled_swizzled(
    a, a_scale, b, b_scale, c,
    tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int], block: ct.Constant[int], nibbles: ct.Constant[bool],
):  # fmt: skip
    """As `scaled_rows`, with scales in the order of tensor memory: 128 rows by 4 as 32 by 4 by 4."""
    m, n = ct.bid(0), ct.bid(1)
    per = 2 if nibbles else 1
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], tk // per)):
        x = ct.load(a, (m, k), (tm, tk // per), padding_mode=ZERO)
        y = ct.load(b, (n, k), (tn, tk // per), padding_mode=ZERO)
        if nibbles:
            x = ct.unpack_from_bytes(x.reshape((-1,)), ct.float4_e2m1fn).reshape((tm, tk))
            y = ct.unpack_from_bytes(y.reshape((-1,)), ct.float4_e2m1fn).reshape((tn, tk))
        groups = tk // block // 4
        xs = unswizzled(ct.load(a_scale, (m, k, 0, 0), (tm // 128, groups, 32, 16), padding_mode=ZERO))
        ys = unswizzled(ct.load(b_scale, (n, k, 0, 0), (tn // 128, groups, 32, 16), padding_mode=ZERO))
        acc = ct.mma_scaled(x, xs, ct.transpose(y), ct.transpose(ys), acc)
    ct.store(c, (m, n), acc)


@ct.kernel
def scaled_persistent(
    a, a_scale, b, b_scale, c,
    tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int], block: ct.Constant[int], nibbles: ct.Constant[bool],
):  # fmt: skip
    """As `scaled_swizzled`; each block computes several tiles."""
    per = 2 if nibbles else 1
    across = ct.cdiv(c.shape[1], tn)
    for tile in range(ct.bid(0), ct.cdiv(c.shape[0], tm) * across, ct.num_blocks(0)):
        m, n = tile // across, tile % across
        acc = ct.zeros((tm, tn), dtype=ct.float32)
        for k in range(ct.cdiv(a.shape[1], tk // per)):
            x = ct.load(a, (m, k), (tm, tk // per), padding_mode=ZERO)
            y = ct.load(b, (n, k), (tn, tk // per), padding_mode=ZERO)
            if nibbles:
                x = ct.unpack_from_bytes(x.reshape((-1,)), ct.float4_e2m1fn).reshape((tm, tk))
                y = ct.unpack_from_bytes(y.reshape((-1,)), ct.float4_e2m1fn).reshape((tn, tk))
            groups = tk // block // 4
            xs = unswizzled(ct.load(a_scale, (m, k, 0, 0), (tm // 128, groups, 32, 16), padding_mode=ZERO))
            ys = unswizzled(ct.load(b_scale, (n, k, 0, 0), (tn // 128, groups, 32, 16), padding_mode=ZERO))
            acc = ct.mma_scaled(x, xs, ct.transpose(y), ct.transpose(ys), acc)
        ct.store(c, (m, n), acc)


def matrices(*dtypes):
    return [array(t, 2) for t in dtypes]


f32, f16, bf16, i8, u8, i32 = ct.float32, ct.float16, ct.bfloat16, ct.int8, ct.uint8, ct.int32
e4m3, e5m2, e8m0 = ct.float8_e4m3fn, ct.float8_e5m2, ct.float8_e8m0fnu
CUBE = array(f32, 3)

CASES = [
    Program("batched_tf32", batched, [CUBE, CUBE, CUBE, 32, 32, 16], "13.1"),
    Program("batched_f16", batched_halves, [array(f16, 3), array(f16, 3), CUBE, 64, 64, 32], "13.1"),
    Program("integer_i8", integer, [*matrices(i8, i8, i32), 32, 32, 64, False], "13.1"),
    Program("integer_u8_i8", integer, [*matrices(u8, i8, i32), 32, 32, 64, False], "13.1"),
    Program("integer_i8_wide", integer, [*matrices(u8, i8, i32), 128, 128, 64, False], "13.1"),
    Program("integer_doubled", integer, [*matrices(i8, i8, i32), 64, 128, 64, True], "13.1"),
    Program("split_k_f16", split_k, [*matrices(f16, f16, f32), 32, 32, 32], "13.1"),
    Program("counted_f16", counted, [*matrices(f16, f16, f32), 64, 64, 32], "13.1"),
    Program("fused_bf16", fused, [*matrices(bf16, bf16), array(f32, 1), array(bf16, 2), 64, 64, 32], "13.1"),
    Program("eight_bits_e4m3", eight_bits, [*matrices(e4m3, e4m3, f32), 64, 64, 32, True], "13.3"),
    Program("eight_bits_e5m2", eight_bits, [*matrices(e5m2, e5m2, f32), 64, 64, 32, True], "13.3"),
    Program("eight_bits_sums_e4m3", eight_bits_sums, [*matrices(e4m3, e4m3, f32), 64, 64, 128], "13.1"),
    Program("eight_bits_sums_e5m2", eight_bits_sums, [*matrices(e5m2, e5m2, f32), 128, 256, 64], "13.1"),
    Program("eight_bits_columns", eight_bits, [*matrices(e4m3, e4m3, f32), 128, 256, 64, False], "13.1"),
    Program("scaled_e4m3", scaled, [*matrices(e4m3, e8m0, e4m3, e8m0, f32), 32, 32, 64], "13.3"),
    Program("mxf8_columns", scaled, [*matrices(e5m2, e8m0, e5m2, e8m0, f32), 128, 64, 128], "13.3"),
]

# Block-scaled formats: operand, scale (cuTile's and ours), elements for each scale.
SCALED = {
    "mxf8": (e4m3, "f8E4M3FN", e8m0, "f8E8M0FNU", 32),
    "mxf4": (u8, "f4E2M1FN", e8m0, "f8E8M0FNU", 32),
    "mxf4_16": (u8, "f4E2M1FN", e8m0, "f8E8M0FNU", 16),
    "nvf4": (u8, "f4E2M1FN", e4m3, "f8E4M3FN", 16),
}
# How scales lie, and tiles.
SCALED_CASES = [
    ("mxf8", "rows", (128, 128, 128)),
    ("mxf8", "swizzled", (128, 128, 128)),
    ("mxf4", "rows", (128, 64, 256)),
    ("mxf4_16", "rows", (64, 64, 64)),
    ("nvf4", "rows", (128, 128, 128)),
    ("nvf4", "swizzled", (128, 256, 256)),
    ("nvf4", "persistent", (128, 128, 256)),
]
SCALED_KERNELS = {"rows": scaled_rows, "swizzled": scaled_swizzled, "persistent": scaled_persistent}

for format_, order, tile in SCALED_CASES:
    operand, _, scale, _, block = SCALED[format_]
    lying = 2 if order == "rows" else 4
    parameters = [array(operand, 2), array(scale, lying)] * 2 + [array(f32, 2), *tile, block, operand is u8]
    CASES.append(Program(f"{format_}_{order}", SCALED_KERNELS[order], parameters, "13.3"))


def grid(m, n, tile):
    return -(-m // tile), -(-n // tile)


def output(c, align=4):
    return Buffer("c", padded(np.zeros_like(c), -7, align), padded(c, -7, align))


def batched_run(case, dtype, i, m, n, k, tile):
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-4, 5, s).astype(dtype) for s in ((i, m, k), (i, n, k)))
    c = a.astype(np.float32) @ b.astype(np.float32).transpose(0, 2, 1)
    args = []
    for name, x in (("a", a), ("b", b)):
        args += array_args(Buffer(name, x), x.shape, (x.shape[1] * x.shape[2], x.shape[2], 1))
    # Rows of C are a multiple of four apart, to keep them aligned.
    row = (n + 3) // 4 * 4
    before = np.full((i, m, row), -7, np.float32)
    after = before.copy()
    after[:, :, :n] = c
    args += array_args(Buffer("c", before, after), c.shape, (m * row, row, 1))
    return Run(case, f"{i}x{m}x{n}x{k}", (i, *grid(m, n, tile)), args)


def integer_run(case, left, mnk=(50, 40, 100), tile=(32, 32), times=1):
    m, n, k = mnk
    rng = np.random.default_rng(2)
    limits = np.iinfo(left)
    a = rng.integers(limits.min // times, limits.max // times + 1, (m, k)).astype(left)
    b = rng.integers(-128, 128, (k, n)).astype(np.int8)
    c = times * (a.astype(np.int32) @ b.astype(np.int32))
    args = [
        *matrix_args(Buffer("a", padded(a, 99, 16)), (m, k)),
        *matrix_args(Buffer("b", padded(b, 99, 16)), (k, n)),
        *matrix_args(output(c), (m, n)),
    ]
    return Run(case, f"{m}x{n}x{k}", (-(-m // tile[0]), -(-n // tile[1])), args)


def float_run(case, type_, m, n, k, tile, more_grid=(), bias=False, integers=True):
    """Operands of a type of ops_mma; sums of whole numbers are exact."""
    rng = np.random.default_rng((m, n, k))
    draw = (lambda s: rng.integers(-3, 4, s)) if integers else rng.standard_normal
    a, wide_a = floats(type_, draw((m, k)))
    b, wide_b = floats(type_, draw((k, n)))
    align = 16 // a.itemsize
    fill = a.ravel()[:1].copy()
    args = [
        *matrix_args(Buffer("a", padded(a, fill[0], align), type=type_), (m, k)),
        *matrix_args(Buffer("b", padded(b, fill[0], align), type=type_), (k, n)),
    ]
    right = wide_a @ wide_b
    if not bias:
        return Run(
            case,
            f"{m}x{n}x{k}",
            (*grid(m, n, tile), *more_grid),
            args + matrix_args(output(right.astype(np.float32)), (m, n)),
        )
    offsets = rng.integers(-9, 10, n).astype(np.float32)
    c, _ = floats(type_, np.maximum(right + offsets, 0))
    mark = typed(type_, np.array([-7]))[0]
    before = np.full_like(c, mark)
    result = Buffer("c", padded(before, mark, align), padded(c, mark, align), EXACT, type_)
    args += array_args(Buffer("bias", offsets), [n], [1])
    args += matrix_args(result, (m, n))
    return Run(case, f"{m}x{n}x{k}", grid(m, n, tile), args)


def positive_run(case, type_, m, n, k, tile):
    """Sums of `k` products from 1 to 49. Those of a K tile are below 2^13 and so exact even where an accumulator has 13
    bits of fraction; all of them are more than that, where it would lose a part of each product (arXiv 2412.19437, 3.3.2)."""
    rng = np.random.default_rng((m, n, k))
    a, wide_a = floats(type_, rng.integers(1, 8, (m, k)))
    b, wide_b = floats(type_, rng.integers(1, 8, (n, k)))
    c = (wide_a @ wide_b.T).astype(np.float32)
    args = [*matrix_args(Buffer("a", a, type=type_), (m, k)), *matrix_args(Buffer("b", b, type=type_), (n, k))]
    result = Buffer("c", np.zeros_like(c), c)
    return Run(case, f"{m}x{n}x{k}", (-(-m // tile[0]), -(-n // tile[1])), args + matrix_args(result, (m, n)))


def scaled_run():
    m, n, k = 40, 48, 128
    rng = np.random.default_rng(3)
    args, wide = [], []
    for name, shape, scales, axis in (("a", (m, k), (m, k // 32), 1), ("b", (k, n), (k // 32, n), 0)):
        x, wide_x = floats("f8E4M3FN", rng.integers(-4, 5, shape))
        s, wide_s = floats("f8E8M0FNU", 2.0 ** rng.integers(-2, 3, scales))
        args += matrix_args(Buffer(name, x, type="f8E4M3FN"), shape)
        args += matrix_args(Buffer(f"{name}_scale", padded(s, 127, 16), type="f8E8M0FNU"), scales)
        wide.append(wide_x * np.repeat(wide_s, 32, axis=axis))
    c = (wide[0] @ wide[1]).astype(np.float32)
    args += matrix_args(output(c), (m, n))
    return Run("scaled_e4m3", f"{m}x{n}x{k}", grid(m, n, 32), args)


def scaled_columns_run():
    m, n, k = 140, 80, 256
    rng = np.random.default_rng(4)
    args, wide = [], []
    for name, shape, scales, axis in (("a", (m, k), (m, k // 32), 1), ("b", (k, n), (k // 32, n), 0)):
        x, wide_x = floats("f8E5M2", rng.integers(-4, 5, shape))
        s, wide_s = floats("f8E8M0FNU", 2.0 ** rng.integers(-2, 3, scales))
        args += matrix_args(Buffer(name, padded(x, 60, 16), type="f8E5M2"), shape)
        args += matrix_args(Buffer(f"{name}_scale", padded(s, 127, 16), type="f8E8M0FNU"), scales)
        wide.append(wide_x * np.repeat(wide_s, 32, axis=axis))
    c = (wide[0] @ wide[1]).astype(np.float32)
    args += matrix_args(output(c), (m, n))
    return Run("mxf8_columns", f"{m}x{n}x{k}", (-(-m // 128), -(-n // 64)), args)


def swizzled(scales):
    """Rows and columns filled up to 128 by 4, then 128 by 4 as 32 by 4 (rows 32 apart) by 4."""
    m, k = scales.shape
    whole = np.zeros((-(-m // 128) * 128, -(-k // 4) * 4), scales.dtype)
    whole[:m, :k] = scales
    parts = whole.reshape(-1, 4, 32, whole.shape[1] // 4, 4).transpose(0, 3, 2, 1, 4)
    return np.ascontiguousarray(parts).reshape(parts.shape[0], parts.shape[1], 32, 16)


def scaled_rows_run(format_, order, tile, m, n, k):
    """Values of all of a format's: sums of them are exact in f32, whatever the order."""
    operand, type_, _, scale_type, block = SCALED[format_]
    rng = np.random.default_rng((m, n, k))
    args, wide = [], []
    for name, rows in (("a", m), ("b", n)):
        x, wide_x = floats(type_, rng.integers(-6, 7, (rows, k)) / (2 if operand is u8 else 1))
        # Of nvf4: products of two scales have a few bits more.
        values = rng.integers(1, 8, (rows, k // block)) / 4 if scale_type == "f8E4M3FN" else None
        values = 2.0 ** rng.integers(-2, 3, (rows, k // block)) if values is None else values
        s, wide_s = floats(scale_type, values)
        x = x.reshape(rows, -1)
        args += matrix_args(Buffer(name, padded(x, 0x55, 16), type=None if operand is u8 else type_), x.shape)
        if order != "rows":
            packed = swizzled(s)
            strides = [st // packed.itemsize for st in packed.strides]
            args += array_args(Buffer(f"{name}_scale", packed, type=scale_type), packed.shape, strides)
        else:
            args += matrix_args(Buffer(f"{name}_scale", padded(s, 0x55, 16), type=scale_type), s.shape)
        wide.append(wide_x * np.repeat(wide_s, block, axis=1))
    c = (wide[0] @ wide[1].T).astype(np.float32)
    args += matrix_args(output(c), (m, n))
    blocks = (2, 1) if order == "persistent" else (-(-m // tile[0]), -(-n // tile[1]))
    return Run(f"{format_}_{order}", f"{m}x{n}x{k}", blocks, args)


def runs():
    yield batched_run("batched_tf32", np.float32, 2, 40, 50, 36, 32)
    yield batched_run("batched_f16", np.float16, 2, 100, 70, 136, 64)
    yield integer_run("integer_i8", np.int8)
    yield integer_run("integer_u8_i8", np.uint8)
    yield integer_run("integer_i8_wide", np.uint8, (130, 120, 200), (128, 128))
    yield integer_run("integer_doubled", np.int8, (64, 120, 200), (64, 128), times=2)
    yield float_run("split_k_f16", "f16", 50, 40, 200, 32, more_grid=(3,))
    yield float_run("counted_f16", "f16", 70, 90, 200, 64)
    yield float_run("fused_bf16", "bf16", 70, 90, 40, 64, bias=True)
    yield float_run("eight_bits_e4m3", "f8E4M3FN", 64, 80, 70, 64)
    yield float_run("eight_bits_e5m2", "f8E5M2", 70, 64, 64, 64)
    yield float_run("eight_bits_columns", "f8E4M3FN", 120, 250, 200, 256)
    yield positive_run("eight_bits_sums_e4m3", "f8E4M3FN", 64, 64, 4096, (64, 64))
    yield positive_run("eight_bits_sums_e5m2", "f8E5M2", 128, 256, 768, (128, 256))
    yield scaled_run()
    yield scaled_columns_run()
    for format_, order, tile in SCALED_CASES:
        columns = 2 * tile[1] - 10 if order == "persistent" else tile[1] - 10
        yield scaled_rows_run(format_, order, tile, tile[0] + 20, columns, 3 * tile[2])
