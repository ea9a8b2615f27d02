"""mma.sync of every family."""

import numpy as np
from foreign import (
    Buffer, Launch, bf16_bits, bf16_values, f32, i32, into, kernel, small_bits, small_values, tf32, within,
)  # fmt: skip

AMPERE, ADA = "sm_80 sm_90a sm_120a", "sm_89 sm_120a"


def reals(rng, shape):
    return rng.uniform(-1, 1, shape).astype(np.float32)


def signed(bits):
    """Four-bit integers, two to a byte, low half first."""
    halves = np.stack([bits & 15, bits >> 4], -1).reshape(bits.shape[0], -1).astype(np.int64)
    return (halves ^ 8) - 8


def single(bits):
    return np.unpackbits(bits, axis=1, bitorder="little").astype(np.int64)


def product(a, b):
    return a.astype(np.float64) @ b.astype(np.float64).T


def bytes_of(rng, shape):
    return rng.integers(0, 256, shape, dtype=np.uint8)


def small(name):
    return (
        lambda rng, shape: small_bits(reals(rng, shape), name),
        lambda bits: small_values(bits, name),
    )


# Bytes of k, A and B as stored from (rows, bytes), values, C, absolute tolerance
half = lambda r, s: reals(r, (s[0], s[1] // 2)).astype(np.float16)  # noqa: E731
FAMILIES = {
    "f16": (AMPERE, half, np.float64, product, np.float32, 1e-4),
    "bf16": (AMPERE, lambda r, s: bf16_bits(reals(r, (s[0], s[1] // 2))), bf16_values, product, np.float32, 1e-4),
    "tf32": (AMPERE, lambda r, s: reals(r, (s[0], s[1] // 4)), tf32, product, np.float32, 1e-4),
    "s8": (AMPERE, lambda r, s: bytes_of(r, s).view(np.int8), np.int64, product, np.int32, 0),
    "s4": ("sm_80", bytes_of, signed, product, np.int32, 0),
    "and_bits": ("sm_80 sm_90a", bytes_of, single, product, np.int32, 0),
    "xor_bits": ("sm_80", bytes_of, single, lambda a, b: product(a, 1 - b) + product(1 - a, b), np.int32, 0),
    # sm_89 adds products of 8-bit floats with some 13 bits below the largest of a step (MMA-Sim, arXiv 2511.10909).
    "e4m3": (ADA, *small("float8_e4m3fn"), product, np.float32, 3e-2),
    "e5m2": (ADA, *small("float8_e5m2"), product, np.float32, 3e-2),
}


def register(family):
    targets, make, value, multiply, result, tolerance = FAMILIES[family]

    @kernel(
        targets,
        f"gemm of {family.replace('_', ' ')}: mma.sync, ldmatrix, cp.async in 3 stages, swizzled",
        f"absolute {tolerance:g}" if tolerance else "exact",
        name=f"gemm_{family}",
    )
    def gemm(rng):
        m, n, k = 128, 64, 448
        a, b = make(rng, (m, k)), make(rng, (n, k))
        want = multiply(value(a), value(b)).astype(result)
        out = into("C", want, tolerance=within(tolerance))
        return Launch([Buffer("A", a), Buffer("B", b), out, i32(k)], grid=(n // 64, m // 64), block=(128,))


for _family in FAMILIES:
    register(_family)


@kernel(AMPERE, "gemm of u8 and s8, clamped sums")
def gemm_u8_s8_clamped(rng):
    # Far from the limits of s32, so clamping must change nothing.
    a, b = bytes_of(rng, (64, 192)), bytes_of(rng, (64, 192)).view(np.int8)
    return Launch([Buffer("A", a), Buffer("B", b), into("C", product(a, b).astype(np.int32)), i32(192)], block=(128,))


@kernel(AMPERE, "gemm of f64: m8n8k4", "absolute 1e-12")
def gemm_f64(rng):
    a, b = rng.standard_normal((32, 40)), rng.standard_normal((48, 40))
    out = into("C", a @ b.T, tolerance=within(1e-12))
    return Launch([Buffer("A", a), Buffer("B", b), out, i32(40)], grid=(3, 2))


@kernel("sm_80 sm_90a", "mma.sp with ordered metadata, m16n8k32 f16", "absolute 1e-5")
def sparse_f16(rng):
    a, values = np.zeros((16, 32)), np.zeros((16, 16), np.float16)
    places = np.zeros((16, 8), np.uint32)
    for row, block in np.ndindex(16, 8):
        first, second = sorted(rng.choice(4, 2, replace=False))
        pair = rng.uniform(-1, 1, 2).astype(np.float16)
        a[row, block * 4 + first], a[row, block * 4 + second] = pair
        values[row, block * 2 : block * 2 + 2] = pair
        places[row, block] = first | second << 2
    # A word holds four blocks of a row... 8 blocks of 4 bits: k 0-15 from lane 4g, row g low half, row g + 8 high half.
    word = lambda row, half: sum(int(places[row, half * 4 + i]) << 4 * i for i in range(4))  # noqa: E731
    meta = np.full(32, 0xDEAD, np.uint32)
    for g in range(8):
        for half in range(2):
            meta[4 * g + half] = word(g, half) | word(g + 8, half) << 16
    b = rng.uniform(-1, 1, (8, 32)).astype(np.float16)
    out = into("C", (a @ b.astype(np.float64).T).astype(np.float32), tolerance=within(1e-5))
    return Launch([Buffer("values", values), Buffer("positions", meta), Buffer("B", b), out])


@kernel("sm_75 sm_80 sm_90a", "mma m16n8k8 with f16 sums", "absolute 0.02")
def turing_f16(rng):
    a, b = reals(rng, (16, 32)).astype(np.float16), reals(rng, (8, 32)).astype(np.float16)
    out = into("C", product(a, b).astype(np.float16), tolerance=within(2e-2))
    return Launch([Buffer("A", a), Buffer("B", b), out])


@kernel("sm_75 sm_80 sm_90a", "mma m8n8k16 of s8")
def turing_s8(rng):
    a, b = bytes_of(rng, (8, 16)).view(np.int8), bytes_of(rng, (8, 16)).view(np.int8)
    want = product(a, b).astype(np.int32) + np.array([1, 2] * 4, np.int32)
    return Launch([Buffer("A", a), Buffer("B", b), into("C", want)])


@kernel(AMPERE, "attention forward, causal and full: mma.sync, online softmax in registers", "absolute 2e-3")
def attention(rng):
    for causal in (0, 1):
        q, k, v = (rng.standard_normal((128, 64)).astype(np.float16) for _ in range(3))
        s = q.astype(np.float64) @ k.astype(np.float64).T / 8
        if causal:
            s[np.triu_indices(128, 1)] = -np.inf
        e = np.exp(s - s.max(1, keepdims=True))
        want = (e / e.sum(1, keepdims=True) @ v.astype(np.float64)).astype(np.float32)
        out = into("out", want, tolerance=within(2e-3))
        args = [Buffer("q", q), Buffer("k", k), Buffer("v", v), out, i32(128), f32(0.125), i32(causal)]
        yield Launch(args, grid=(2,), block=(128,), label="causal" if causal else "full")
