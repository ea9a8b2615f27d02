"""Structured sparsity: mma.sp and wgmma.sp of every family."""

import numpy as np
from foreign import Buffer, Launch, bf16_bits, bf16_values, i32, into, kernel, matrix_map, small_bits, small_values, tf32, within

PAIRS = np.array([(p, q) for q in range(4) for p in range(q)])


def reals(rng, shape):
    return rng.uniform(-1, 1, shape).astype(np.float32)


def signed(bits):
    """Four-bit integers, two to a byte, low half first."""
    halves = np.stack([bits & 15, bits >> 4], -1).reshape(bits.shape[0], -1).astype(np.int64)
    return (halves ^ 8) - 8


def bytes_of(rng, shape):
    return rng.integers(0, 256, shape, dtype=np.uint8)


# Bytes of a unit that is kept or dropped, its map element, A and B as stored, values of each, type of C, absolute tolerance.
# Units of s4 are pairs. For sums of 8-bit floats see hopper_products.py.
FAMILIES = {
    "f16": (2, "f16", *2 * (lambda r, s: reals(r, s).astype(np.float16),), *2 * (np.float64,), np.float32, 1e-4),
    "bf16": (2, "bf16", *2 * (lambda r, s: bf16_bits(reals(r, s)),), *2 * (bf16_values,), np.float32, 1e-4),
    "tf32": (4, "f32", reals, reals, tf32, tf32, np.float32, 1e-4),
    "s8": (1, "u8", *2 * (lambda r, s: bytes_of(r, s).view(np.int8),), *2 * (np.int64,), np.int32, 0),
    "u8_s8": (1, "u8", bytes_of, lambda r, s: bytes_of(r, s).view(np.int8), *2 * (np.int64,), np.int32, 0),
    "s4": (1, "u8", bytes_of, bytes_of, signed, signed, np.int32, 0),
    "e4m3": (1, "u8", *2 * (lambda r, s: small_bits(reals(r, s), "float8_e4m3fn"),), *2 * (lambda b: small_values(b, "float8_e4m3fn"),), np.float32, 3e-2),
}


def spread(rng, stored, unit):
    """The dense matrix of a stored half with random places, and its metadata: a nibble per group along k."""
    rows, kept = stored.shape
    dense = np.zeros((rows, 2 * kept), stored.dtype)
    if unit == 4:
        # One of two; the nibble names the two halves of the one that is kept.
        place = rng.integers(0, 2, (rows, kept))
        np.put_along_axis(dense, 2 * np.arange(kept) + place, stored, 1)
        return dense, np.where(place, 0b1110, 0b0100)
    place = PAIRS[rng.integers(0, 6, (rows, kept // 2))]
    at = (4 * np.arange(kept // 2)[:, None] + place).reshape(rows, kept)
    np.put_along_axis(dense, at, stored, 1)
    return dense, place[..., 0] | place[..., 1] << 2


def metadata(nibbles, unit):
    """Words by (16 rows, step, lane). Units of 2 and 4 bytes: 8 nibbles a row and step; two steps share a word, in lanes 0, 1
    and 2, 3 of each four; the lower half is row g's, the upper row g + 8's. Units of a byte: 16 nibbles a row and step;
    lanes 0 and 2 hold row g's, 1 and 3 those of row g + 8."""
    rows, groups = nibbles.shape
    words = np.zeros((rows // 16, groups // 16, 32), np.uint32)
    for block, step, lane in np.ndindex(words.shape):
        g, q = divmod(lane, 4)
        row, at = block * 16 + g, step * 16
        if unit == 1:
            parts = nibbles[row + q % 2 * 8, at + q // 2 * 8 :][:8]
        else:
            parts = np.concatenate([nibbles[row, at + q * 4 :][:4], nibbles[row + 8, at + q * 4 :][:4]])
        words[block, step, lane] = sum(int(p) << 4 * i for i, p in enumerate(parts))
    return words


def inputs(rng, family, m, n, bytes):
    unit, element, make_a, make_b, value_a, value_b, result, tolerance = FAMILIES[family]
    a, b = make_a(rng, (m, bytes // unit // 2)), make_b(rng, (n, bytes // unit))
    dense, nibbles = spread(rng, a, unit)
    want = (value_a(dense).astype(np.float64) @ value_b(b).astype(np.float64).T).astype(result)
    return a, b, Buffer("metadata", metadata(nibbles, unit)), into("C", want, tolerance=within(tolerance))


def tolerance_of(family):
    tolerance = FAMILIES[family][-1]
    return f"absolute {tolerance:g}" if tolerance else "exact"


def register(family):
    targets = {"s4": "sm_80", "e4m3": "sm_89 sm_120a"}.get(family, "sm_80 sm_90a sm_120a")
    what = family.replace("_", " by ")

    @kernel(targets, f"sparse gemm of {what}: mma.sp with ordered metadata, cp.async", tolerance_of(family), name=f"sparse_gemm_{family}")
    def gemm(rng):
        a, b, words, out = inputs(rng, family, 128, 64, 256)
        return Launch([Buffer("A", a), Buffer("B", b), words, out, i32(256)], grid=(2, 2), block=(128,))


def register_wgmma(family):
    @kernel("sm_90a", f"sparse gemm of {family}: wgmma.sp, TMA in 3 stages", tolerance_of(family), name=f"wgmma_sparse_{family}")
    def gemm(rng):
        unit, element = FAMILIES[family][:2]
        a, b, words, out = inputs(rng, family, 128, 64, 640)
        maps = [matrix_map("A", element, a, [64 // unit, 64], "64B"), matrix_map("B", element, b, [128 // unit, 32], "128B")]
        return Launch([*maps, words, out, i32(640), i32(unit)], grid=(2, 2), block=(128,), buffers=[Buffer("A", a), Buffer("B", b)])


for _family in FAMILIES:
    register(_family)
for _family in ("f16", "tf32", "s8", "e4m3"):
    register_wgmma(_family)
