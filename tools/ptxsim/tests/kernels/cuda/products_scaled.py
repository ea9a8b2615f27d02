"""sm_120a: small formats mixed in one instruction, and blocks of k with scales."""

import ml_dtypes
import numpy as np
from foreign import Buffer, Launch, i32, into, kernel, within

# ml_dtypes' name, bits, place of the lowest bit in a byte of its own
FORMATS = {
    "e4m3": ("float8_e4m3fn", 8, 0),
    "e5m2": ("float8_e5m2", 8, 0),
    "e3m2": ("float6_e3m2fn", 6, 0),
    "e2m3": ("float6_e2m3fn", 6, 0),
    "e2m1": ("float4_e2m1fn", 4, 2),
}


def random(rng, name, shape):
    """Codes of a format and their values; codes that are not finite are left out."""
    dtype, bits, _ = FORMATS[name]
    values = np.arange(1 << bits, dtype=np.uint8).view(getattr(ml_dtypes, dtype)).astype(np.float64)
    # Large values of e5m2 would drown the others.
    usable = np.flatnonzero(np.isfinite(values) & (np.abs(values) <= 32))
    codes = usable[rng.integers(0, len(usable), shape)].astype(np.uint8)
    return codes, values[codes]


def stored(name, codes, packed):
    """A byte for every element, or two of four bits to a byte, the first in the lower half."""
    return codes[:, ::2] | codes[:, 1::2] << 4 if packed else codes << FORMATS[name][2]


def mixed(first, second):
    @kernel("sm_120a", f"gemm of {first} by {second}: kind::f8f6f4", "relative 1e-5, absolute 1e-3", name=f"mixed_{first}_{second}")
    def gemm(rng):
        (a, x), (b, y) = random(rng, first, (64, 192)), random(rng, second, (64, 192))
        out = into("C", (x @ y.T).astype(np.float32), tolerance=within(1e-3, 1e-5))
        return Launch([Buffer("A", stored(first, a, False)), Buffer("B", stored(second, b, False)), out, i32(192)], block=(128,))


for _pair in (("e4m3", "e2m1"), ("e3m2", "e2m3"), ("e2m1", "e5m2")):
    mixed(*_pair)


def scales(rng, shape, kind):
    """Codes and values: powers of two, or positive e4m3."""
    if kind == "ue8m0":
        exponents = rng.integers(-3, 4, shape)
        return (exponents + 127).astype(np.uint8), 2.0**exponents
    codes = rng.integers(0x20, 0x50, shape, dtype=np.uint8)
    return codes, codes.view(ml_dtypes.float8_e4m3fn).astype(np.float64)


def scaled(name, first, second, kind, parts):
    """`parts` scales for every 32 bytes of k."""
    packed = parts > 1

    @kernel(
        "sm_120a",
        f"gemm of {first} by {second}, a {kind} scale per {(64 if packed else 32) // parts} of k: block_scale",
        "relative 1e-5, absolute 1e-3",
        name=name,
    )
    def gemm(rng):
        bytes, m, n = 256, 128, 64
        k, blocks = bytes * (2 if packed else 1), bytes // 32 * parts
        (a, x), (b, y) = random(rng, first, (m, k)), random(rng, second, (n, k))
        (sa, u), (sb, v) = scales(rng, (m, blocks), kind), scales(rng, (n, blocks), kind)
        want = (x * np.repeat(u, k // blocks, 1)) @ (y * np.repeat(v, k // blocks, 1)).T
        out = into("C", want.astype(np.float32), tolerance=within(1e-3, 1e-5))
        operands = [Buffer("A", stored(first, a, packed)), Buffer("B", stored(second, b, packed))]
        return Launch([*operands, Buffer("scales A", sa), Buffer("scales B", sb), out, i32(bytes), i32(blocks)], grid=(1, 2), block=(128,))


scaled("mx_e4m3", "e4m3", "e4m3", "ue8m0", 1)
scaled("mx_e5m2_e2m1", "e5m2", "e2m1", "ue8m0", 1)
scaled("mx_e2m3_e3m2", "e2m3", "e3m2", "ue8m0", 1)
scaled("mx_e2m1", "e2m1", "e2m1", "ue8m0", 2)
scaled("nv_e2m1", "e2m1", "e2m1", "ue4m3", 4)
