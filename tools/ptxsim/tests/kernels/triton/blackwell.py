"""What Triton does with tensor memory: products with scales in blocks, warp-specialised loops, attention."""

import ml_dtypes
import numpy as np
import triton
import triton.language as tl
from foreign import Buffer, f32, i32, into, kernel, within
from triton_build import launch

BLACKWELL = "sm_100a"


def reals(rng, shape):
    return rng.uniform(-1, 1, shape).astype(np.float32)


@triton.jit
def scaled(a, a_scale, b, b_scale, c, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, A: tl.constexpr, B: tl.constexpr, SIZE: tl.constexpr):
    PA: tl.constexpr = 2 if A == "e2m1" else 1
    PB: tl.constexpr = 2 if B == "e2m1" else 1
    i, j, s = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, N), tl.arange(0, K // SIZE)
    pa, pb = tl.arange(0, K // PA), tl.arange(0, K // PB)
    total = tl.zeros((M, N), tl.float32)
    for at in range(0, k, K):
        x = tl.load(a + i[:, None] * (k // PA) + at // PA + pa[None, :])
        y = tl.load(b + (at // PB + pb)[:, None] + j[None, :] * (k // PB))
        u = tl.load(a_scale + i[:, None] * (k // SIZE) + at // SIZE + s[None, :])
        v = tl.load(b_scale + j[:, None] * (k // SIZE) + at // SIZE + s[None, :])
        total = tl.dot_scaled(x, u, A, y, v, B, total)
    tl.store(c + i[:, None] * N + j[None, :], total)


FORMATS = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "e2m1": ml_dtypes.float4_e2m1fn}
POINTERS = {"e4m3": "f8e4m3fn", "e5m2": "f8e5m2", "e2m1": None}


def operand(rng, name, rows, k):
    """A buffer's bytes and the values."""
    if name != "e2m1":
        x = reals(rng, (rows, k)).astype(FORMATS[name])
        return x.view(np.uint8), x.astype(np.float64)
    codes = rng.integers(0, 16, (rows, k), dtype=np.uint8)
    return codes[:, ::2] | codes[:, 1::2] << 4, codes.view(FORMATS[name]).astype(np.float64)


def register(name, first, second, size, powers):
    @kernel(BLACKWELL, f"gemm of {first} by {second}, a scale ({'ue8m0' if powers else 'ue4m3'}) per {size} of k: tcgen05.mma.block_scale", "absolute 1e-2, relative 1e-4", name=name)
    def _(rng, target):
        m, n, k = 256, 128, 512
        (a, x), (b, y) = operand(rng, first, m, k), operand(rng, second, n, k)
        if powers:
            u, v = (rng.integers(125, 130, (r, k // size), dtype=np.uint8) for r in (m, n))
            su, sv = (2.0 ** (e.astype(np.int64) - 127) for e in (u, v))
        else:
            u, v = (rng.integers(0x28, 0x48, (r, k // size), dtype=np.uint8) for r in (m, n))
            su, sv = (e.view(ml_dtypes.float8_e4m3fn).astype(np.float64) for e in (u, v))
        want = (x * np.repeat(su, size, 1)) @ (y * np.repeat(sv, size, 1)).T
        kind = None if powers else "f8e4m3fn"
        args = [
            Buffer("A", a, type=POINTERS[first]), Buffer("A scales", u, type=kind), Buffer("B", b, type=POINTERS[second]),
            Buffer("B scales", v, type=kind), into("C", want.astype(np.float32), tolerance=within(1e-2, 1e-4)), i32(k),
        ]  # fmt: skip
        return launch(scaled, target, (2,), args, stages=2, M=128, N=128, K=256, A=first, B=second, SIZE=size)


register("scaled_e4m3", "e4m3", "e4m3", 32, True)
register("scaled_e5m2_e2m1", "e5m2", "e2m1", 32, True)
register("scaled_mxf4", "e2m1", "e2m1", 32, True)
register("scaled_nvf4", "e2m1", "e2m1", 16, False)


@triton.jit
def attention(q, k, v, out, rows, length, scale, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr, SPECIAL: tl.constexpr):
    dq = tl.make_tensor_descriptor(q, shape=[rows, D], strides=[D, 1], block_shape=[M, D])
    dk = tl.make_tensor_descriptor(k, shape=[rows, D], strides=[D, 1], block_shape=[N, D])
    dv = tl.make_tensor_descriptor(v, shape=[rows, D], strides=[D, 1], block_shape=[N, D])
    do = tl.make_tensor_descriptor(out, shape=[rows, D], strides=[D, 1], block_shape=[M, D])
    head, first = tl.program_id(1) * length, tl.program_id(0) * M
    query = dq.load([head + first, 0])
    total, top, result = tl.zeros([M], tl.float32), tl.full([M], -float("inf"), tl.float32), tl.zeros([M, D], tl.float32)
    for at in tl.range(0, length, N, warp_specialize=SPECIAL):
        s = tl.dot(query, dk.load([head + at, 0]).T) * (scale * 1.4426950408889634)
        best = tl.maximum(top, tl.max(s, 1))
        p, factor = tl.exp2(s - best[:, None]), tl.exp2(top - best)
        total = total * factor + tl.sum(p, 1)
        result = tl.dot(p.to(tl.float16), dv.load([head + at, 0]), result * factor[:, None])
        top = best
    do.store([head + first, 0], (result / total[:, None]).to(tl.float16))


def attend(special):
    @kernel(BLACKWELL, f"attention by TMA, P and the sums in tensor memory{', warp-specialised' if special else ''}", "absolute 4e-3", name="attention_specialised" if special else "attention_tma")
    def _(rng, target):
        q, k, v = (rng.standard_normal((2, 256, 64)).astype(np.float16) for _ in range(3))
        s = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1) / 8
        e = np.exp(s - s.max(2, keepdims=True))
        want = (e / e.sum(2, keepdims=True) @ v.astype(np.float64)).astype(np.float16)
        args = [Buffer("q", q), Buffer("k", k), Buffer("v", v), into("out", want, tolerance=within(4e-3)), i32(512), i32(256), f32(0.125)]
        return launch(attention, target, (2, 2), args, stages=3, D=64, M=128, N=64, SPECIAL=special)


attend(False)
attend(True)


@triton.jit
def persistent(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, BLOCKS: tl.constexpr, FLAT: tl.constexpr, SPECIAL: tl.constexpr):
    da = tl.make_tensor_descriptor(a, shape=[m, k], strides=[k, 1], block_shape=[M, K])
    db = tl.make_tensor_descriptor(b, shape=[n, k], strides=[k, 1], block_shape=[N, K])
    dc = tl.make_tensor_descriptor(c, shape=[m, n], strides=[n, 1], block_shape=[M, N])
    cols = tl.cdiv(n, N)
    for tile in tl.range(tl.program_id(0), tl.cdiv(m, M) * cols, BLOCKS, flatten=FLAT, warp_specialize=SPECIAL):
        row, col = tile // cols * M, tile % cols * N
        total = tl.zeros((M, N), tl.float32)
        for p in range(0, k, K):
            total = tl.dot(da.load([row, p]), db.load([col, p]).T, total)
        dc.store([row, col], total.to(tl.float16))


def products(name, covers, m, n, k, M, N, K, warps, special, make, kind, value):
    @kernel(BLACKWELL, f"persistent gemm: {covers}", "absolute 0.05", name=name)
    def _(rng, target):
        a, b = make(reals(rng, (m, k))), make(reals(rng, (n, k)))
        want = (value(a) @ value(b).T).astype(np.float16)
        args = [Buffer("A", a, type=kind), Buffer("B", b, type=kind), into("C", want, tolerance=within(5e-2)), i32(m), i32(n), i32(k)]
        return launch(persistent, target, (2,), args, warps=warps, stages=3, M=M, N=N, K=K, BLOCKS=2, FLAT=True, SPECIAL=special)


def half(x):
    return x.astype(np.float16)


def wide(x):
    return x.astype(np.float64)


def small(x):
    return x.astype(ml_dtypes.float8_e4m3fn).view(np.uint8)


def of_small(x):
    return x.view(ml_dtypes.float8_e4m3fn).astype(np.float64)


products("persistent_128x128", "128 × 128, flattened loops", 384, 256, 192, 128, 128, 64, 4, False, half, None, wide)
products("persistent_128x256", "128 × 256, 8 warps", 256, 512, 128, 128, 256, 64, 8, False, half, None, wide)
products("persistent_specialised", "warp-specialised, accumulators in two buffers", 384, 256, 192, 128, 128, 64, 4, True, half, None, wide)
products("persistent_e4m3", "fp8, warp-specialised", 256, 256, 256, 128, 128, 128, 4, True, small, "f8e4m3fn", of_small)
products("persistent_64x64", "64 × 64, half of the lanes", 192, 128, 128, 64, 64, 64, 4, False, half, None, wide)
