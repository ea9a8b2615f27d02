"""What Triton does on sm_90a only: tensor copies that reduce, warp specialisation, blocks with scales."""

import ml_dtypes
import numpy as np
import triton
import triton.language as tl
from foreign import Buffer, i32, into, kernel, within
from triton_build import launch

HOPPER = "sm_90a sm_100a"


def reals(rng, shape):
    return rng.uniform(-1, 1, shape).astype(np.float32)


@triton.jit
def row_sums(x, total, rows, cols, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_tensor_descriptor(x, shape=[rows, cols], strides=[cols, 1], block_shape=[M, N])
    to = tl.make_tensor_descriptor(total, shape=[M, cols], strides=[cols, 1], block_shape=[M, N])
    to.atomic_add([0, tl.program_id(1) * N], source.load([tl.program_id(0) * M, tl.program_id(1) * N]))


@kernel(HOPPER, "sums over blocks: cp.reduce.async.bulk.tensor by a descriptor's atomic_add", "absolute 1e-5", name="row_sums")
def _(rng, target):
    x = reals(rng, (64, 96))
    want = x.reshape(4, 16, 96).sum(0)
    out = into("total", want, np.zeros_like(want), within(1e-5))
    return launch(row_sums, target, (4, 3), [Buffer("x", x), out, i32(64), i32(96)], M=16, N=32)


@triton.jit
def specialised(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, BLOCKS: tl.constexpr):
    da = tl.make_tensor_descriptor(a, shape=[m, k], strides=[k, 1], block_shape=[M, K])
    db = tl.make_tensor_descriptor(b, shape=[n, k], strides=[k, 1], block_shape=[N, K])
    dc = tl.make_tensor_descriptor(c, shape=[m, n], strides=[n, 1], block_shape=[M, N])
    cols = tl.cdiv(n, N)
    for tile in tl.range(tl.program_id(0), tl.cdiv(m, M) * cols, BLOCKS, warp_specialize=True):
        row, col = tile // cols * M, tile % cols * N
        total = tl.zeros((M, N), tl.float32)
        for p in range(0, k, K):
            total = tl.dot(da.load([row, p]), db.load([col, p]).T, total)
        dc.store([row, col], total.to(tl.float16))


@kernel(HOPPER, "persistent gemm, the loop over tiles warp-specialised", "absolute 0.02", name="specialised")
def _(rng, target):
    m, n, k = 256, 128, 192
    a, b = reals(rng, (m, k)).astype(np.float16), reals(rng, (n, k)).astype(np.float16)
    want = (a.astype(np.float64) @ b.astype(np.float64).T).astype(np.float16)
    args = [Buffer("A", a), Buffer("B", b), into("C", want, tolerance=within(2e-2)), i32(m), i32(n), i32(k)]
    return launch(specialised, target, (2,), args, stages=3, M=128, N=64, K=64, BLOCKS=2)


@triton.jit
def scaled(a, a_scale, b, b_scale, c, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i, j, p, s = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K), tl.arange(0, K // 32)
    total = tl.zeros((M, N), tl.float32)
    for at in range(0, k, K):
        x = tl.load(a + i[:, None] * k + at + p[None, :])
        y = tl.load(b + (at + p)[:, None] + j[None, :] * k)
        u = tl.load(a_scale + i[:, None] * (k // 32) + at // 32 + s[None, :])
        v = tl.load(b_scale + j[:, None] * (k // 32) + at // 32 + s[None, :])
        total = tl.dot_scaled(x, u, "e5m2", y, v, "e5m2", total)
    tl.store(c + i[:, None] * N + j[None, :], total)


@kernel("sm_80 sm_90a sm_100a sm_120a", "gemm of e5m2 with scales by powers of two; block_scale on sm_120a", "absolute 1e-3, relative 1e-4", name="scaled")
def _(rng, target):
    k = 256
    # Coarse values and small exponents, so that scaling in bf16 is exact.
    a, b = (reals(rng, (64, k)).astype(ml_dtypes.float8_e5m2) for _ in range(2))
    u, v = (rng.integers(125, 130, (64, k // 32), dtype=np.uint8) for _ in range(2))
    value = lambda x, e: x.astype(np.float64) * np.repeat(2.0 ** (e.astype(np.int64) - 127), 32, 1)  # noqa: E731
    out = into("C", (value(a, u) @ value(b, v).T).astype(np.float32), tolerance=within(1e-3, 1e-4))
    operands = [Buffer("A", a.view(np.uint8), type="f8e5m2"), Buffer("A scales", u), Buffer("B", b.view(np.uint8), type="f8e5m2"), Buffer("B scales", v)]
    return launch(scaled, target, (1,), [*operands, out, i32(k)], M=64, N=64, K=128)
