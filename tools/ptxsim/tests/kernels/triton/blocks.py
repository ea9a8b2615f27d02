"""Elementwise code, reductions, scans and data movement."""

import numpy as np
import triton
import triton.language as tl
from foreign import Buffer, bf16_bits, bf16_values, f32, i32, into, kernel, within
from triton_build import launch

TARGETS = "sm_80 sm_90a"


@triton.jit
def silu_and_gate(x, gate, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0).to(tl.float32)
    g = tl.load(gate + i, mask=i < n, other=0.0).to(tl.float32)
    tl.store(out + i, (v * tl.sigmoid(v) * g).to(tl.bfloat16), mask=i < n)


@kernel(TARGETS, "elementwise on bf16 with masks", "ulp 1", name="silu_and_gate")
def _(rng, target):
    n = 1000
    x, g = bf16_bits(rng.standard_normal(n)), bf16_bits(rng.standard_normal(n))
    v = bf16_values(x).astype(np.float64)
    want = bf16_bits(v / (1 + np.exp(-v)) * bf16_values(g))
    out = into("out", want, tolerance=within(ulp=1), type="bf16")
    args = [Buffer("x", x, type="bf16"), Buffer("g", g, type="bf16"), out, i32(n)]
    return launch(silu_and_gate, target, (4,), args, B=256)


@triton.jit
def functions(x, out, n: tl.constexpr):
    i = tl.arange(0, n)
    v = tl.load(x + i)
    tl.store(out + i, tl.exp(v))
    tl.store(out + n + i, tl.log(v))
    tl.store(out + 2 * n + i, tl.sin(v))
    tl.store(out + 3 * n + i, tl.cos(v))
    tl.store(out + 4 * n + i, tl.erf(v))
    tl.store(out + 5 * n + i, tl.sqrt_rn(v))
    tl.store(out + 6 * n + i, tl.rsqrt(v))
    tl.store(out + 7 * n + i, tl.exp2(v) + tl.floor(v) * tl.ceil(v))
    tl.store(out + 8 * n + i, tl.div_rn(1.0, v))


@kernel(TARGETS, "mathematical functions of libdevice", "relative 1e-5", name="functions")
def _(rng, target):
    import math

    x = rng.uniform(0.1, 9, 256).astype(np.float32)
    d = x.astype(np.float64)
    erf = np.array([math.erf(v) for v in d])
    rows = [np.exp(d), np.log(d), np.sin(d), np.cos(d), erf, np.sqrt(d), d**-0.5, 2**d + np.floor(d) * np.ceil(d), 1 / d]
    out = into("out", np.array(rows, np.float32), tolerance=within(1e-6, 1e-5))
    return launch(functions, target, (1,), [Buffer("x", x), out], n=256)


@triton.jit
def softmax(x, out, stride, cols, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * stride + c, mask=c < cols, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + row * cols + c, e / tl.sum(e, 0), mask=c < cols)


@kernel(TARGETS, "softmax of rows", "relative 1e-5", name="softmax")
def _(rng, target):
    x = rng.standard_normal((4, 800)).astype(np.float32) * 3
    e = np.exp(x[:, :777].astype(np.float64))
    out = into("out", (e / e.sum(1, keepdims=True)).astype(np.float32), tolerance=within(1e-9, 1e-5))
    return launch(softmax, target, (4,), [Buffer("x", x), out, i32(800), i32(777)], B=1024)


@triton.jit
def layer_norm(x, gain, bias, out, mean_out, scale_out, n, epsilon, B: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([B], tl.float32)
    for at in range(0, n, B):
        c = at + tl.arange(0, B)
        total += tl.load(x + row * n + c, mask=c < n, other=0.0).to(tl.float32)
    mean = tl.sum(total, 0) / n
    square = tl.zeros([B], tl.float32)
    for at in range(0, n, B):
        c = at + tl.arange(0, B)
        d = tl.where(c < n, tl.load(x + row * n + c, mask=c < n, other=0.0).to(tl.float32) - mean, 0.0)
        square += d * d
    scale = 1 / tl.sqrt(tl.sum(square, 0) / n + epsilon)
    tl.store(mean_out + row, mean)
    tl.store(scale_out + row, scale)
    for at in range(0, n, B):
        c = at + tl.arange(0, B)
        v = tl.load(x + row * n + c, mask=c < n, other=0.0).to(tl.float32)
        g, b = tl.load(gain + c, mask=c < n), tl.load(bias + c, mask=c < n)
        tl.store(out + row * n + c, ((v - mean) * scale * g + b).to(tl.float16), mask=c < n)


@kernel(TARGETS, "layer norm with loops over columns", "absolute 2e-3", name="layer_norm")
def _(rng, target):
    n = 600
    x = (rng.standard_normal((3, n)) * 2 + 1).astype(np.float16)
    gain, bias = rng.standard_normal((2, n)).astype(np.float32)
    d = x.astype(np.float64)
    mean, scale = d.mean(1, keepdims=True), 1 / np.sqrt(d.var(1, keepdims=True) + 1e-5)
    outs = [
        into("out", ((d - mean) * scale * gain + bias).astype(np.float16), tolerance=within(2e-3, 2e-3)),
        into("mean", mean[:, 0].astype(np.float32), tolerance=within(1e-5)),
        into("scale", scale[:, 0].astype(np.float32), tolerance=within(1e-5)),
    ]
    args = [Buffer("x", x), Buffer("gain", gain), Buffer("bias", bias), *outs, i32(n), f32(1e-5)]
    return launch(layer_norm, target, (3,), args, B=256, warps=8)


@triton.jit
def first_order(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def recurrence(a, b, out, sums, maxima, T: tl.constexpr, C: tl.constexpr):
    t, c = tl.arange(0, T)[:, None], tl.arange(0, C)[None, :]
    x, y = tl.load(a + t * C + c), tl.load(b + t * C + c)
    _, h = tl.associative_scan((x, y), 0, first_order)
    tl.store(out + t * C + c, h)
    tl.store(sums + t * C + c, tl.cumsum(y, 1, reverse=True))
    tl.store(maxima + t * C + c, tl.cumprod(x, 1))


@kernel(TARGETS, "associative scan with a function of one's own, cumsum backwards, cumprod", "absolute 1e-4", name="recurrence")
def _(rng, target):
    a, b = rng.uniform(0.5, 1, (64, 32)).astype(np.float32), rng.standard_normal((64, 32)).astype(np.float32)
    h, state = np.zeros((64, 32)), np.zeros(32)
    for t in range(64):
        state = h[t] = a[t] * state + b[t]
    tolerance = within(1e-4)
    outs = [
        into("h", h.astype(np.float32), tolerance=tolerance),
        into("sums", np.cumsum(b[:, ::-1].astype(np.float64), 1)[:, ::-1].astype(np.float32), tolerance=tolerance),
        into("maxima", np.cumprod(a.astype(np.float64), 1).astype(np.float32), tolerance=tolerance),
    ]
    return launch(recurrence, target, (1,), [Buffer("a", a), Buffer("b", b), *outs], T=64, C=32)


@triton.jit
def order(x, sorted_out, best_out, place_out, bins, N: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, N)
    v = tl.load(x + row * N + i)
    tl.store(sorted_out + row * N + i, tl.sort(v, descending=True))
    best, place = tl.max(v, 0, return_indices=True)
    tl.store(best_out + row, best)
    tl.store(place_out + row, place)
    tl.store(bins + row * 64 + tl.arange(0, 64), tl.histogram(v & 63, 64))


@kernel(TARGETS, "sort, arg-max, histogram", name="order")
def _(rng, target):
    x = rng.permuted(np.tile(np.arange(256, dtype=np.int32) * 7 - 300, (3, 1)), axis=1)
    bins = np.stack([np.bincount(r & 63, minlength=64) for r in x]).astype(np.int32)
    outs = [
        into("sorted", np.sort(x, 1)[:, ::-1].copy()),
        into("best", x.max(1)),
        into("place", x.argmax(1).astype(np.int32)),
        into("bins", bins),
    ]
    return launch(order, target, (3,), [Buffer("x", x), *outs], N=256)


@triton.jit
def shapes(x, out, joined, gathered, index, R: tl.constexpr, C: tl.constexpr):
    r, c = tl.arange(0, R), tl.arange(0, C)
    v = tl.load(x + r[:, None] * C + c[None, :])
    tl.store(out + c[:, None] * R + r[None, :], tl.trans(v))
    left, right = tl.split(tl.reshape(v, (R, C // 2, 2)))
    both = tl.reshape(tl.join(right, left), (R, C))
    tl.store(joined + r[:, None] * C + c[None, :], both)
    where = tl.load(index + r[:, None] * C + c[None, :])
    tl.store(gathered + r[:, None] * C + c[None, :], tl.gather(v, where, 1))


@kernel(TARGETS, "transpose, reshape, split, join, gather", name="shapes")
def _(rng, target):
    x = rng.integers(-(2**15), 2**15, (32, 64)).astype(np.int16)
    index = rng.integers(0, 64, (32, 64), dtype=np.int32)
    swapped = x.reshape(32, 32, 2)[:, :, ::-1].reshape(32, 64)
    outs = [into("out", x.T.copy()), into("joined", swapped.copy()), into("gathered", np.take_along_axis(x, index, 1))]
    return launch(shapes, target, (1,), [Buffer("x", x), *outs, Buffer("index", index)], R=32, C=64)


@triton.jit
def locked_sum(x, total, count, lock, maximum, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i)
    part = tl.sum(v, 0)
    tl.atomic_max(maximum, tl.max(v, 0))
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total, tl.load(total, volatile=True) + part)
    tl.store(count, tl.load(count, volatile=True) + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@kernel(TARGETS, "spin lock around global memory: atom.cas, atom.exch, volatile loads", name="locked_sum")
def _(rng, target):
    x = rng.integers(-1000, 1000, (8, 128), dtype=np.int32)
    zero = np.zeros(1, np.int32)
    one = lambda name, v: into(name, np.array([v], np.int32), zero)  # noqa: E731
    args = [Buffer("x", x), one("total", x.sum()), one("count", 8), one("lock", 0), one("maximum", x.max())]
    return launch(locked_sum, target, (8,), args, B=128)


@triton.jit
def dropout(x, out, seed, p, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    keep = tl.randint(seed, i) & 1023
    tl.store(out + i, tl.where(keep > p, tl.load(x + i), 0) + (tl.umulhi(i * 123457, 0x7FFFFFFF)))


@kernel(TARGETS, "Philox counters: mul.hi, xor; dropout", name="dropout")
def _(rng, target):
    x = rng.integers(0, 1000, 512, dtype=np.int32)
    i = np.arange(512, dtype=np.uint64)
    # Philox 4×32-10 with the counter (i, 0, 0, 0) and the key (seed, 0).
    c = [i.copy(), i * 0, i * 0, i * 0]
    k0, k1, low = 77, 0, np.uint64(0xFFFFFFFF)
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [b >> np.uint64(32) ^ c[1] ^ np.uint64(k0), b & low, a >> np.uint64(32) ^ c[3] ^ np.uint64(k1), a & low]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    high = ((i * np.uint64(123457) & low) * np.uint64(0x7FFFFFFF)) >> np.uint64(32)
    want = np.where((c[0] & np.uint64(1023)) > 300, x, 0).astype(np.int64) + high.astype(np.int64)
    args = [Buffer("x", x), into("out", want.astype(np.int32)), i32(77), i32(300)]
    return launch(dropout, target, (2,), args, B=256)


@triton.jit
def formats(x, e4, e5, b, h, back, B: tl.constexpr, FP8: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i)
    if FP8:
        small = v.to(tl.float8e4nv)
        tl.store(e4 + i, small.to(tl.uint8, bitcast=True))
        tl.store(back + i, small.to(tl.float32))
    tl.store(e5 + i, v.to(tl.float8e5).to(tl.uint8, bitcast=True))
    tl.store(b + i, v.to(tl.bfloat16))
    tl.store(h + i, v.to(tl.float16, fp_downcast_rounding="rtz"))


@kernel(TARGETS, "conversions to f8, bf16, and f16 towards zero", name="formats")
def _(rng, target):
    import ml_dtypes

    x = np.concatenate([rng.standard_normal(480) * 2.0 ** rng.integers(-12, 8, 480), [0, -0.0] * 16]).astype(np.float32)
    fp8 = target != "sm_80"
    e4 = x.astype(ml_dtypes.float8_e4m3fn)
    h = x.astype(np.float16)
    # One step back where rounding to nearest went away from zero.
    over = np.abs(h.astype(np.float64)) > np.abs(x)
    h = np.where(over, (h.view(np.uint16) - over.astype(np.uint16)).view(np.float16), h)
    zero, empty = np.zeros(512, np.float32), np.zeros(512, np.uint8)
    args = [
        Buffer("x", x),
        into("e4", e4.view(np.uint8) if fp8 else empty, empty),
        into("e5", x.astype(ml_dtypes.float8_e5m2).view(np.uint8)),
        into("b", bf16_bits(x), type="bf16"),
        into("h", h),
        into("back", e4.astype(np.float32) if fp8 else zero, zero),
    ]
    # Four elements per thread: Triton pads smaller packs with registers that nothing defines, which ptxsim reports.
    return launch(formats, target, (1,), args, B=512, FP8=fp8)


@triton.jit(noinline=True)
def common_divisor(a, b):
    while b != 0:
        a, b = b, a % b
    return a


@triton.jit
def called(out, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = i * common_divisor(tl.program_id(0) * 84 + 12, tl.num_programs(0) * 180)
    steps = tl.zeros_like(v)
    while tl.max(v, 0) > 1:
        steps += (v > 1).to(tl.int32)
        v = tl.where(v > 1, tl.where(v % 2 == 0, v // 2, 3 * v + 1), v)
    v = tl.inline_asm_elementwise("lop3.b32 $0, $1, 0xff00, 0x12, 0xca;", "=r,r", [steps], tl.int32, True, 1)
    tl.store(out + i, steps * 256 + v)


@kernel(TARGETS, "a function that is not inlined, inline assembly, while loops", name="called")
def _(rng, target):
    import math

    want = []
    for i in range(256):
        v, n = i * math.gcd(i // 128 * 84 + 12, 360), 0
        while v > 1:
            v, n = v // 2 if v % 2 == 0 else 3 * v + 1, n + 1
        # lop3 0xca: a ? b : c by bits
        want.append(n * 256 + (n & 0xFF00 | ~n & 0x12))
    return launch(called, target, (2,), [into("out", np.array(want, np.int32))], B=128)
