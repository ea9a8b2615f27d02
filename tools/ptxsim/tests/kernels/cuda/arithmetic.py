"""Arithmetic beyond 32-bit words and single precision."""

import math

import numpy as np
from foreign import Buffer, Launch, bf16_bits, bf16_values, i32, into, kernel, within

TARGETS = "sm_75 sm_80 sm_90a"
N = 200
SHAPE = {"grid": (2,), "block": (128,)}


def words(rng):
    return rng.integers(0, 2**32, N, dtype=np.uint32)


def toward(values, wanted, dtype):
    """Values rounded to nearest, moved one step where they lie beyond the exact ones."""
    near = values.astype(dtype)
    wide = near.astype(np.float64)
    if wanted == "down":
        return np.where(wide > values, np.nextafter(near, dtype(-np.inf)), near)
    if wanted == "up":
        return np.where(wide < values, np.nextafter(near, dtype(np.inf)), near)
    return np.where(np.abs(wide) > np.abs(values), np.nextafter(near, dtype(0)), near)


@kernel(TARGETS, "f16x2: sums, products, fma with and without relu, saturation, comparisons, roundings")
def half_pairs(rng):
    x, y = (rng.standard_normal((2, N * 2)) * 3).astype(np.float16)
    wx, wy = x.astype(np.float64), y.astype(np.float64)
    fma = (wx * wy + wx).astype(np.float16)
    rows = [
        wx + wy, wx * wy, fma, np.maximum(x, y), np.minimum(np.abs(x), y), np.clip((wx + wy).astype(np.float16), 0, 1),
        -x.reshape(N, 2)[:, ::-1].ravel(), x >= y, np.ceil(x), np.trunc(y) - wx, np.maximum(fma, 0),
    ]  # fmt: skip
    want = np.array([np.asarray(r).astype(np.float16) for r in rows])

    return Launch([Buffer("x", x), Buffer("y", y), into("out", want), i32(N)], **SHAPE)


@kernel("sm_80 sm_90a", "bf16x2: sums, products, fma with relu, conversions in three directions")
def bfloat_pairs(rng):
    x, y = (bf16_bits(rng.standard_normal(N * 2) * 3) for _ in range(2))
    fx, fy = bf16_values(x).astype(np.float64), bf16_values(y).astype(np.float64)
    fma = bf16_bits_exact(fx * fy + fx)
    scaled = (bf16_values(x) * np.float32(3.1)).reshape(N, 2)
    bits = scaled.view(np.uint32)
    low = (bits >> 16).astype(np.uint16)
    up = low + ((bits & 0xFFFF != 0) & (scaled > 0))
    directed = np.stack([low[:, 0], up[:, 1]], 1).astype(np.uint16).ravel()
    product = bf16_values(x) * np.where(np.arange(N * 2) % 2 == 0, np.float32(3.1), bf16_values(x))
    rows = [
        bf16_bits_exact(fx + fy), bf16_bits_exact(fx * fy), fma, bf16_bits(np.maximum(fx, fy)),
        np.where(bf16_values(fma) > 0, fma, 0), bf16_bits(product), directed,
    ]  # fmt: skip
    wide = (fx.reshape(N, 2).sum(1)).astype(np.float32)
    out = into("out", np.array(rows, np.uint16), type="bf16")
    args = [Buffer("x", x), Buffer("y", y), out, into("wide", wide), i32(N)]
    return Launch(args, **SHAPE)


def bf16_bits_exact(values):
    """Doubles rounded once to bf16: through a single that keeps, in its last bit, that something was cut off."""
    near = toward(values, "zero", np.float32)
    bits = near.view(np.uint32) | (near.astype(np.float64) != values)
    return bf16_bits(bits.astype(np.uint32).view(np.float32))


def lanes(x, dtype):
    return x.view(dtype).reshape(len(x), -1).astype(np.int64)


@kernel(TARGETS, "dp4a, dp2a, prmt, and packed bytes and shorts")
def packed_bytes(rng):
    x, y = words(rng), words(rng)
    sx, sy, ux, uy = lanes(x, np.int8), lanes(y, np.int8), lanes(x, np.uint8), lanes(y, np.uint8)
    both = np.concatenate([ux, uy], 1)
    pack = lambda v: np.ascontiguousarray(v, np.int64).astype(np.uint8).view(np.uint32).ravel()  # noqa: E731
    rows = [
        (sx * sy).sum(1) + 7,
        (ux * uy).sum(1) + 7,
        (lanes(x, np.int16) * sy[:, :2]).sum(1) - 3,
        (lanes(x, np.uint16) * uy[:, 2:]).sum(1) + 5,
        pack(both[:, [0, 5, 7, 2]]),
        pack(ux + uy),
        pack(np.maximum(ux - uy, 0)),
        np.maximum(lanes(x, np.int16), lanes(y, np.int16)).astype(np.int16).view(np.uint32).ravel(),
        pack(np.minimum(ux + uy, 255)),
        np.abs(x.view(np.int32).astype(np.int64) - y.view(np.int32)) + 100,
        pack(np.where(ux > uy, 255, 0)),
        pack((ux + uy + 1) >> 1),
    ]
    want = np.array([np.asarray(r).astype(np.int64) & 0xFFFFFFFF for r in rows]).astype(np.uint32)
    return Launch([Buffer("x", x), Buffer("y", y), into("out", want), i32(N)], **SHAPE)


@kernel(TARGETS, "popc, clz, brev, bfe, bfi, bfind, lop3, shf, fns")
def bits(rng):
    x, y = words(rng), words(rng)
    x[:3], y[:3] = [0, 0xFFFFFFFF, 1 << 31], [0, 1, 0xFFFFFFFF]
    rows = []
    for i, (a, b) in enumerate(zip(x.tolist(), y.tolist())):
        w, c = a << 32 | b, i * 0x9E3779B9 & 0xFFFFFFFF
        field = a >> 5 & 0x7FF
        field -= (field >> 10) << 11
        mask = 0x1FFF << 7
        third = [k for k in range(32) if a >> k & 1][2:3]
        left, right = b & 31, min(a & 63, 32)
        shifted = w >> (b & 31)
        rows.append([
            a.bit_count() + 100 * (32 - b.bit_length()),
            int(f"{a:032b}"[::-1], 2),
            field,
            b & ~mask | a << 7 & mask,
            (a & 0xFFFFF).bit_length() - 1,
            a & b | a & c | b & c,
            (b << 32 | a) << left >> 32,
            (b << 32 | a) >> right,
            w.bit_count() + 100 * (64 - shifted.bit_length()),
            (w & -w).bit_length(),
            third[0] if third else 0xFFFFFFFF,
        ])  # fmt: skip
    want = (np.array(rows, object).T & 0xFFFFFFFF).astype(np.uint32)
    return Launch([Buffer("x", x), Buffer("y", y), into("out", want), i32(N)], **SHAPE)


@kernel(TARGETS, "64- and 128-bit integers: mul.hi, add.cc, division by variables")
def wide_integers(rng):
    x, y = (rng.integers(-(2**63), 2**63 - 1, N) >> rng.integers(0, 50, N) for _ in range(2))
    y[y == 0] = 5
    word = lambda v, n=32: (v & (1 << n) - 1) - ((v >> n - 1 & 1) << n)  # noqa: E731
    cut = lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)  # noqa: E731
    rows = []
    for a, b in zip(x.tolist(), y.tolist()):
        ua, ub = a % 2**64, b % 2**64
        p = ua * ub
        s = (p + (ub << 64 | ua)) % 2**128
        ia, ib = word(a), word(b)
        odd = ib | 1
        rows.append([
            cut(a, b), a - cut(a, b) * b, ua // ub, a * b >> 64, p, s >> 64, a >> (b & 63), cut(ia, odd), ia * ib >> 32,
            (a & 0xFFFFFFFF) * (b & 0xFFFFFFFF) + a, (ia + ib + 1) >> 1, word(a, 16) * word(b, 16),
        ])  # fmt: skip
    want = np.array([[v % 2**64 for v in row] for row in rows], np.uint64).T.copy()
    return Launch([Buffer("x", x), Buffer("y", y), into("out", want), i32(N)], **SHAPE)


@kernel(TARGETS, "directed rounding, conversions that clamp, fmod, doubles", "exact")
def roundings(rng):
    x, y = (rng.standard_normal((2, N)) * 10 ** rng.uniform(-3, 3, (2, N))).astype(np.float32)
    wx, wy = x.astype(np.float64), y.astype(np.float64)
    d = wx * 1.0000001
    flush = toward(wx + wy, "down", np.float32), toward(wx + wy, "up", np.float32)
    one = np.copysign(np.float32(1), x)
    outs = [
        *flush, toward(wx * wy, "zero", np.float32), x / y, np.sqrt(np.abs(x)), (wx * wy + wx).astype(np.float32),
        np.rint(x), np.fmod(x, y), toward(d, "zero", np.float32), np.minimum(x, y) + one,
    ]  # fmt: skip
    clamp = lambda v: np.clip(v, -(2.0**31), 2.0**31 - 1).astype(np.int64).astype(np.int32)  # noqa: E731
    big = (x * np.float32(1e8)).astype(np.float64)
    unsigned = np.clip(np.ceil(wx), 0, 2.0**32 - 1).astype(np.uint32).view(np.int32)
    ints = [clamp(np.rint(wx)), clamp(np.floor(wx)), clamp(np.trunc(big)), unsigned, clamp(np.rint(d))]
    flipped = (d.view(np.int64) ^ 1).view(np.float64)
    fma = np.array([float_fma(a, b) for a, b in zip(d.tolist(), wy.tolist())])
    doubles = [d + wy, d / wy, np.sqrt(np.abs(d)), fma, flipped]
    return Launch(
        [
            Buffer("x", x), Buffer("y", y), into("out", np.array(outs, np.float32)), into("ints", np.array(ints, np.int32)),
            into("doubles", np.array(doubles)), i32(N),
        ],
        **SHAPE,
    )  # fmt: skip


def float_fma(a, b):
    """a·b + a, rounded once."""
    from fractions import Fraction

    return float(Fraction(a) * Fraction(b) + Fraction(a))


@kernel(TARGETS, "the mathematical library, approximations", "relative 2e-5, absolute 2e-6")
def mathematics(rng):
    x = rng.uniform(0.1, 9, N).astype(np.float32)
    d = x.astype(np.float64)
    each = lambda f: np.array([f(v) for v in d])  # noqa: E731
    hundred = (x * np.float32(100)).astype(np.float64)
    minus = (x - np.float32(3)).astype(np.float64)
    rows = [
        np.sin(hundred), np.cos(d), np.tan(d), np.exp(d), np.log(d), d ** float(np.float32(1.7)), np.arctan2(d, 2),
        each(math.erf), each(math.gamma), np.cbrt(d), np.tanh(d), np.log1p(d), np.hypot(d, 3), np.arcsin(d / 10),
        np.sin(d), np.exp(d), np.log2(d), d**-0.5, 1 / d, np.array([math.erfc(-v / math.sqrt(2)) / 2 for v in minus]),
        each(math.lgamma),
    ]  # fmt: skip
    out = into("out", np.array(rows, np.float32), tolerance=within(2e-6, 2e-5))
    return Launch([Buffer("x", x), out, i32(N)], **SHAPE)
