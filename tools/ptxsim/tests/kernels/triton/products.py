"""Matrix products and attention."""

import numpy as np
import triton
import triton.language as tl
from foreign import Buffer, bf16_bits, bf16_values, f32, i32, into, kernel, small_bits, small_values, tf32, within
from triton_build import launch

AMPERE, HOPPER = "sm_80", "sm_90a sm_100a"
BOTH = f"{AMPERE} {HOPPER}"


@triton.jit
def gemm(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr, INT: tl.constexpr, TRANSPOSED: tl.constexpr):
    pid, rows, cols = tl.program_id(0), tl.cdiv(m, M), tl.cdiv(n, N)
    first = pid // (GROUP * cols) * GROUP
    size = min(rows - first, GROUP)
    row, col = first + pid % (GROUP * cols) % size, pid % (GROUP * cols) // size
    i, j, p = row * M + tl.arange(0, M), col * N + tl.arange(0, N), tl.arange(0, K)
    at = a + i[:, None] * k + p[None, :]
    bt = b + p[:, None] * n + j[None, :] if not TRANSPOSED else b + p[:, None] + j[None, :] * k
    total = tl.zeros((M, N), tl.int32 if INT else tl.float32)
    for step in range(0, tl.cdiv(k, K)):
        inside = p < k - step * K
        x = tl.load(at, mask=(i < m)[:, None] & inside[None, :], other=0 if INT else 0.0)
        y = tl.load(bt, mask=inside[:, None] & (j < n)[None, :], other=0 if INT else 0.0)
        total = tl.dot(x, y, total, out_dtype=tl.int32 if INT else tl.float32)
        at += K
        bt += K if TRANSPOSED else K * n
    tl.store(c + i[:, None] * n + j[None, :], total.to(c.dtype.element_ty), mask=(i < m)[:, None] & (j < n)[None, :])


def reals(rng, shape):
    return rng.uniform(-1, 1, shape).astype(np.float32)


def of_small(name):
    return lambda r, s: small_bits(reals(r, s), f"float8_{name}"), lambda b: small_values(b, f"float8_{name}"), f"f8{name}"


# For sums of 8-bit floats see cuda/hopper_products.py. Inputs from (generator, shape), values, type of the bits; C and its tolerance; whether B is stored N × K
FAMILIES = {
    "f16": (BOTH, lambda r, s: reals(r, s).astype(np.float16), np.float64, None, np.float32, 1e-4, False),
    "bf16": (BOTH, lambda r, s: bf16_bits(reals(r, s)), bf16_values, "bf16", np.float32, 1e-4, False),
    "tf32": (BOTH, reals, tf32, None, np.float32, 1e-4, False),
    "s8": (BOTH, lambda r, s: r.integers(-128, 128, s, dtype=np.int8), np.int64, None, np.int32, 0, True),
    "e4m3": (HOPPER, *of_small("e4m3fn"), np.float32, 3e-2, True),
    "e5m2": (BOTH, *of_small("e5m2"), np.float32, 3e-2, True),
}


def register(family):
    targets, make, value, type, result, tolerance, transposed = FAMILIES[family]

    @kernel(
        targets,
        f"pipelined gemm of {family}: cp.async; mma.sync on sm_80, wgmma on sm_90a",
        f"absolute {tolerance:g}" if tolerance else "exact",
        name=f"gemm_{family}",
    )
    def product(rng, target):
        m, n, k = 200, 144, 320
        a, b = make(rng, (m, k)), make(rng, (n, k) if transposed else (k, n))
        vb = value(b).astype(np.float64)
        want = (value(a).astype(np.float64) @ (vb.T if transposed else vb)).astype(result)
        out = into("C", want, tolerance=within(tolerance))
        args = [Buffer("A", a, type=type), Buffer("B", b, type=type), out, i32(m), i32(n), i32(k)]
        sizes = {"M": 64, "N": 64, "K": 32 if family == "tf32" else 64, "GROUP": 2}
        constants = {"INT": result == np.int32, "TRANSPOSED": transposed}
        return launch(gemm, target, (4 * 3,), args, stages=3, **sizes, **constants)


for _family in FAMILIES:
    register(_family)


@kernel(HOPPER, "gemm with 128 × 128 tiles of 8 warps, result f16", "absolute 0.02", name="gemm_large_tiles")
def _(rng, target):
    m, n, k = 256, 128, 192
    a, b = reals(rng, (m, k)).astype(np.float16), reals(rng, (k, n)).astype(np.float16)
    want = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float16)
    args = [Buffer("A", a), Buffer("B", b), into("C", want, tolerance=within(2e-2)), i32(m), i32(n), i32(k)]
    sizes = {"M": 128, "N": 128, "K": 64, "GROUP": 4}
    return launch(gemm, target, (2,), args, warps=8, stages=4, **sizes, INT=False, TRANSPOSED=False)


@triton.jit
def split_k(a, b, c, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PARTS: tl.constexpr):
    part, i, j = tl.program_id(0), tl.arange(0, M), tl.arange(0, N)
    total = tl.zeros((M, N), tl.float32)
    for step in range(part, tl.cdiv(k, K), PARTS):
        p = step * K + tl.arange(0, K)
        total += tl.dot(tl.load(a + i[:, None] * k + p[None, :]), tl.load(b + p[:, None] * N + j[None, :]))
    tl.atomic_add(c + i[:, None] * N + j[None, :], total, sem="relaxed")


@kernel(BOTH, "split-k gemm: red.add.f32 from several blocks", "absolute 1e-4", name="split_k")
def _(rng, target):
    k = 384
    a, b = reals(rng, (32, k)).astype(np.float16), reals(rng, (k, 64)).astype(np.float16)
    want = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)
    out = into("C", want, np.zeros_like(want), within(1e-4))
    return launch(split_k, target, (4,), [Buffer("A", a), Buffer("B", b), out, i32(k)], M=32, N=64, K=32, PARTS=4)


@triton.jit
def tma_gemm(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, BLOCKS: tl.constexpr):
    da = tl.make_tensor_descriptor(a, shape=[m, k], strides=[k, 1], block_shape=[M, K])
    db = tl.make_tensor_descriptor(b, shape=[n, k], strides=[k, 1], block_shape=[N, K])
    dc = tl.make_tensor_descriptor(c, shape=[m, n], strides=[n, 1], block_shape=[M, N])
    cols = tl.cdiv(n, N)
    for tile in range(tl.program_id(0), tl.cdiv(m, M) * cols, BLOCKS):
        row, col = tile // cols * M, tile % cols * N
        total = tl.zeros((M, N), tl.float32)
        for p in range(0, k, K):
            total = tl.dot(da.load([row, p]), db.load([col, p]).T, total)
        dc.store([row, col], total.to(tl.float16))


@kernel(HOPPER, "persistent gemm with tensor maps made on the device: tensormap.replace, fence.proxy.tensormap, TMA", "absolute 0.02", name="tma_gemm")
def _(rng, target):
    m, n, k = 200, 136, 256
    a, b = reals(rng, (m, k)).astype(np.float16), reals(rng, (n, k)).astype(np.float16)
    want = (a.astype(np.float64) @ b.astype(np.float64).T).astype(np.float16)
    args = [Buffer("A", a), Buffer("B", b), into("C", want, tolerance=within(2e-2)), i32(m), i32(n), i32(k)]
    return launch(tma_gemm, target, (3,), args, stages=3, M=64, N=64, K=64, BLOCKS=3)


@triton.jit
def attention(q, k, v, out, length, scale, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr, CAUSAL: tl.constexpr):
    head, first = tl.program_id(1) * length * D, tl.program_id(0) * M
    i, d, j = first + tl.arange(0, M), tl.arange(0, D), tl.arange(0, N)
    query = tl.load(q + head + i[:, None] * D + d[None, :])
    total, top, result = tl.zeros([M], tl.float32), tl.full([M], -float("inf"), tl.float32), tl.zeros([M, D], tl.float32)
    last = min(first + M, length) if CAUSAL else length
    for at in range(0, last, N):
        key = tl.load(k + head + (at + j)[None, :] * D + d[:, None])
        s = tl.dot(query, key) * (scale * 1.4426950408889634)
        if CAUSAL:
            s = tl.where(i[:, None] >= (at + j)[None, :], s, -float("inf"))
        best = tl.maximum(top, tl.max(s, 1))
        p, factor = tl.exp2(s - best[:, None]), tl.exp2(top - best)
        total = total * factor + tl.sum(p, 1)
        value = tl.load(v + head + (at + j)[:, None] * D + d[None, :])
        result = tl.dot(p.to(tl.float16), value, result * factor[:, None])
        top = best
    tl.store(out + head + i[:, None] * D + d[None, :], (result / total[:, None]).to(tl.float16))


@kernel(BOTH, "flash attention forward, causal and full; A of the second product in registers", "absolute 4e-3", name="attention")
def _(rng, target):
    for causal in (True, False):
        q, k, v = (rng.standard_normal((2, 128, 64)).astype(np.float16) for _ in range(3))
        s = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1) / 8
        if causal:
            s += np.triu(np.full((128, 128), -np.inf), 1)
        e = np.exp(s - s.max(2, keepdims=True))
        want = (e / e.sum(2, keepdims=True) @ v.astype(np.float64)).astype(np.float16)
        args = [Buffer("q", q), Buffer("k", k), Buffer("v", v), into("out", want, tolerance=within(4e-3)), i32(128), f32(0.125)]
        sizes = {"D": 64, "M": 64, "N": 32, "CAUSAL": causal}
        yield launch(attention, target, (2, 2), args, stages=2, label="causal" if causal else "full", **sizes)


@triton.jit
def batched(a, b, c, B: tl.constexpr, M: tl.constexpr):
    z, i, j = tl.arange(0, B)[:, None, None], tl.arange(0, M)[None, :, None], tl.arange(0, M)[None, None, :]
    at = z * M * M + i * M + j
    tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at), input_precision="ieee"))


@kernel(BOTH, "batched product in single precision, no matrix unit", "absolute 1e-4", name="batched")
def _(rng, target):
    a, b = reals(rng, (2, 32, 32)), reals(rng, (2, 32, 32))
    want = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)
    return launch(batched, target, (1,), [Buffer("A", a), Buffer("B", b), into("C", want, tolerance=within(1e-4))], B=2, M=32)


@triton.jit
def cross_entropy(logits, labels, loss, gradient, cols, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    v = tl.load(logits + row * cols + c, mask=c < cols, other=-float("inf"))
    label = tl.load(labels + row)
    e = tl.exp(v - tl.max(v, 0))
    total = tl.sum(e, 0)
    tl.store(loss + row, tl.log(total) + tl.max(v, 0) - tl.load(logits + row * cols + label))
    tl.store(gradient + row * cols + c, e / total - tl.where(c == label, 1.0, 0.0), mask=c < cols)


@kernel(BOTH, "cross entropy and its gradient; loads by index", "absolute 1e-5", name="cross_entropy")
def _(rng, target):
    x, labels = rng.standard_normal((4, 500)).astype(np.float32) * 2, rng.integers(0, 500, 4)
    e = np.exp(x.astype(np.float64))
    p = e / e.sum(1, keepdims=True)
    loss = -np.log(p[np.arange(4), labels])
    p[np.arange(4), labels] -= 1
    outs = [into(n, w.astype(np.float32), tolerance=within(1e-5)) for n, w in (("loss", loss), ("gradient", p))]
    return launch(cross_entropy, target, (4,), [Buffer("x", x), Buffer("labels", labels), *outs, i32(500)], B=512)
