"""Production kernels in CUDA Tile C++ (tile_cpp/*.cu): pointers and scalars are their parameters, nothing else."""

import ml_dtypes
import numpy as np

from numerics import EXACT, Buffer, Run, Scalar, Tolerance
from tile_cpp import CudaCase

HALF = Tolerance(absolute=2e-2, relative=2e-3)
FINE = Tolerance(absolute=1e-3, relative=2e-3)
SINGLE = Tolerance(absolute=2e-3, relative=1e-4)

PRODUCTS, ATTENTION, ROWS = (CudaCase(name) for name in ("products", "attention", "rows"))
CASES = [PRODUCTS, ATTENTION, ROWS]


def drawn(rng, *shape):
    return rng.standard_normal(shape).astype(np.float16)


def wide(x):
    return np.asarray(x, np.float64)


def out(name, right, dtype, tolerance=HALF, before=None):
    """An output with room behind it that must stay."""
    right = right.astype(dtype).reshape(-1)
    start = np.zeros_like(right) if before is None else before.reshape(-1)
    rest = np.full(64, 77, dtype)
    return bits(name, np.concatenate([start, rest]), np.concatenate([right, rest]), tolerance)


def bits(name, x, right=None, tolerance=EXACT):
    if x.dtype == ml_dtypes.float8_e4m3fn:
        right = None if right is None else right.view(np.uint8)
        return Buffer(name, x.view(np.uint8), right, tolerance, "f8E4M3FN")
    return Buffer(name, x, right, tolerance)


def run(case, kernel, label, grid, args):
    """Numbers are i32, or f32 where they are floats."""
    kinds = {int: "i32", float: "f32"}
    args = [x if isinstance(x, Buffer) else Scalar(kinds[type(x)], x) for x in args]
    return Run(case.name, f"{kernel}_{label}", grid, args, case.entry_of(kernel))


def product_runs():
    rng = np.random.default_rng(1)

    def both(m, n, k):
        return drawn(rng, m, k), drawn(rng, k, n)

    a, b = both(152, 104, 88)
    args = [Buffer("a", a), Buffer("b", b), out("c", wide(a) @ wide(b), np.float16)]
    yield run(PRODUCTS, "product", "152x104x88", (6,), args)
    m, n, k = 100, 72, 136
    a, b = both(m, n, k)
    right = wide(a) @ wide(b)
    c = out("c", right, np.float16)
    args = [Buffer("a", a), Buffer("b", np.ascontiguousarray(b.T)), c, m, n, k]
    yield run(PRODUCTS, "persistent", "100x72x136", (3,), args)
    before = rng.standard_normal((m, n)).astype(np.float32)
    c = out("c", before + right, np.float32, SINGLE, before)
    yield run(PRODUCTS, "split", "100x72x136", (2, 2, 2), [Buffer("a", a), Buffer("b", b), c, m, n, k])
    a, b = drawn(rng, 2, 70, 40), drawn(rng, 2, 40, 72)
    args = [Buffer("a", a), Buffer("b", b), out("c", wide(a) @ wide(b), np.float16), 70, 72, 40]
    yield run(PRODUCTS, "by_pointers", "2x70x72x40", (2, 2, 2), args)
    tokens, top, n, k = 40, 2, 72, 88
    a, b = drawn(rng, tokens, k), drawn(rng, 3, n, k)
    chosen = np.stack([rng.permutation(3)[:top] for _ in range(tokens)]).reshape(-1)
    pairs, order, expert = len(chosen), [], []
    for e in range(3):
        mine = np.flatnonzero(chosen == e)
        order.append(np.pad(mine, (0, -len(mine) % 64), constant_values=pairs))
        expert += [e] * (len(order[-1]) // 64)
    weight = rng.uniform(0.1, 1, pairs).astype(np.float32)
    right = np.einsum("pk,pnk->pn", wide(a)[np.arange(pairs) // top], wide(b)[chosen]) * weight[:, None]
    args = [Buffer("a", a), Buffer("b", b), out("c", right, np.float16), Buffer("weight", weight)]
    args += [Buffer("token", np.concatenate([*order, np.full(64, pairs)]).astype(np.int32))]
    args += [Buffer("expert", np.array([*expert, 0], np.int32)), Buffer("used", np.array([64 * len(expert)], np.int32))]
    yield run(PRODUCTS, "experts", "40x72x88", (len(expert) + 1, 2), [*args, pairs, n, k])


def attended(q, k, v, scale, seen=True):
    score = np.where(seen, wide(q) @ np.swapaxes(wide(k), 1, 2) * scale, -np.inf)
    weights = np.exp(score)
    total = weights.sum(axis=2, keepdims=True)
    return weights / total @ wide(v), np.log2(total[..., 0])


def attention_runs():
    rng = np.random.default_rng(2)
    n = 100
    q, k, v = drawn(rng, 4, n, 64), drawn(rng, 2, n, 64), drawn(rng, 2, n, 64)
    below = np.arange(n) <= np.arange(n)[:, None]
    right, _ = attended(q, np.repeat(k, 2, axis=0), np.repeat(v, 2, axis=0), 0.125, below)
    args = [Buffer("q", q), Buffer("k", k), Buffer("v", v), out("out", right, np.float16, FINE), 4, n, n, 0.125]
    yield run(ATTENTION, "forward", "4x100", (2, 4), args)
    heads, group, keys = 2, 5, 150
    q, k, v = drawn(rng, heads, group, 64), drawn(rng, heads, keys, 64), drawn(rng, heads, keys, 64)
    spans = [attended(q, k[:, s : s + 64], v[:, s : s + 64], 0.125) for s in (0, 64, 128)]
    part, lse = np.stack([p for p, _ in spans], axis=2), np.stack([s for _, s in spans], axis=2)
    args = [Buffer("q", q), Buffer("k", k), Buffer("v", v)]
    args += [out("part", part, np.float32, FINE), out("lse", lse, np.float32, FINE), group, keys, 0.125]
    yield run(ATTENTION, "decode", "2x5x150", (heads, 3), args)
    part, lse = part.astype(np.float32), lse.astype(np.float32)
    weights = np.exp2(wide(lse))[..., None]
    right = (part * weights).sum(axis=2) / weights.sum(axis=2)
    args = [Buffer("part", part), Buffer("lse", lse), out("out", right, np.float16, FINE), 3]
    yield run(ATTENTION, "join", "10x3", (heads * group,), args)
    depth, extra, group, keys, stride = 128, 32, 12, 150, 131
    q, rotated, kv, turned = (drawn(rng, *shape) for shape in ((12, depth), (12, extra), (keys, stride), (keys, extra)))
    both_q = np.concatenate([q, rotated], axis=1)
    both_k = np.concatenate([kv[:, :depth], turned], axis=1)
    right, _ = attended(both_q[None], both_k[None], kv[None, :, :depth], 0.08)
    args = [Buffer("q", q), Buffer("q_turned", rotated), Buffer("kv", kv), Buffer("turned", turned)]
    args += [out("out", right, np.float32, FINE), stride, group, keys, 0.08 * 1.44269504]
    yield run(ATTENTION, "latent", "12x150", (1,), args)


def row_runs():
    rng = np.random.default_rng(3)
    x, w, b = drawn(rng, 3, 504), drawn(rng, 504), drawn(rng, 504)
    factor = 1 / np.sqrt((wide(x) ** 2).mean(axis=1, keepdims=True) + 1e-3)
    args = [Buffer("x", x), Buffer("w", w), out("y", wide(x) * factor * wide(w), np.float16, FINE)]
    args += [out("inverse", factor, np.float32, SINGLE), 504, 504, 1e-3]
    yield run(ROWS, "rms_norm", "3x504", (3,), args)
    e = np.exp(wide(x))
    args = [Buffer("x", x), out("y", e / e.sum(axis=1, keepdims=True), np.float16, FINE), 504, 504]
    yield run(ROWS, "softmax", "3x504", (3,), args)
    x, w, b = drawn(rng, 10, 200), w[:200], b[:200]
    normal = (wide(x) - wide(x).mean(axis=1, keepdims=True)) / np.sqrt(wide(x).var(axis=1, keepdims=True) + 1e-3)
    args = [Buffer("x", x), Buffer("w", w), Buffer("b", b), out("y", normal * wide(w) + wide(b), np.float16, FINE)]
    yield run(ROWS, "layer_norm", "10x200", (2,), [*args, 10, 200, 1e-3])
    x, angle = drawn(rng, 3, 5, 64), rng.uniform(0, 6, (3, 32))
    cos, sin = np.cos(angle).astype(np.float16), np.sin(angle).astype(np.float16)
    c, s = wide(cos)[:, None], wide(sin)[:, None]
    low, high = wide(x[..., :32]), wide(x[..., 32:])
    right = np.concatenate([low * c - high * s, high * c + low * s], axis=2)
    args = [out("x", right, np.float16, FINE, x), Buffer("cos", cos), Buffer("sin", sin), 5]
    yield run(ROWS, "rotate", "3x5x64", (3,), args)
    x = drawn(rng, 3, 800)
    gate, up = wide(x[:, :400]), wide(x[:, 400:])
    args = [Buffer("x", x), out("y", gate / (1 + np.exp(-gate)) * up, np.float16, FINE), 400]
    yield run(ROWS, "silu_and_multiply", "3x400", (3, 2), args)
    x, seed, keep = drawn(rng, 500), 1234567, 0.75
    h = (np.arange(500) + seed).astype(np.uint32)
    h = (h ^ (h >> np.uint32(16))) * np.uint32(0x7FEB352D)
    h = (h ^ (h >> np.uint32(15))) * np.uint32(0x846CA68B)
    kept = ((h ^ (h >> np.uint32(16))) >> np.uint32(8)) / 16777216.0 < keep
    args = [Buffer("x", x), out("y", np.where(kept, wide(x) / keep, 0.0), np.float16, FINE), 500, seed, keep]
    yield run(ROWS, "dropout", "500", (2,), args)
    fp8 = ml_dtypes.float8_e4m3fn
    # Powers of two make every quotient exact, so that no tie is rounded another way.
    x = (rng.integers(-16, 17, (5, 200)) / 16).astype(np.float16)
    x[:, ::50] = 1.75
    groups = np.pad(wide(x), ((0, 0), (0, 56))).reshape(5, 2, 128)
    factor = np.abs(groups).max(axis=2) / 448
    right = (groups / factor[:, :, None]).reshape(5, 256)[:, :200]
    args = [Buffer("x", x), out("q", right, fp8, EXACT), out("scale", factor, np.float32, Tolerance(ulp=1)), 200]
    yield run(ROWS, "quantize", "5x200", (5, 2), args)


def runs():
    yield from product_runs()
    yield from attention_runs()
    yield from row_runs()
