"""The less common shapes of mma.sync, and wmma."""

import numpy as np
from foreign import Buffer, Launch, bf16_bits, bf16_values, i32, into, kernel, small_bits, small_values, tf32, within

AMPERE, ADA, VOLTA = "sm_80 sm_90a sm_120a", "sm_89 sm_120a", "sm_75 sm_80 sm_90a"


def reals(rng, shape):
    return rng.uniform(-1, 1, shape).astype(np.float32)


def half(rng, shape):
    return reals(rng, shape).astype(np.float16)


def bytes_of(rng, shape):
    return rng.integers(0, 256, shape, dtype=np.uint8)


def signed_bytes(rng, shape):
    return bytes_of(rng, shape).view(np.int8)


def nibbles(bits):
    """Four-bit integers, two to a byte, low half first."""
    return np.stack([bits & 15, bits >> 4], -1).reshape(bits.shape[0], -1).astype(np.int64)


def single(bits):
    return np.unpackbits(bits, axis=1, bitorder="little").astype(np.int64)


def small(name):
    return lambda rng, shape: small_bits(reals(rng, shape), name), lambda bits: small_values(bits, name)


def product(a, b):
    return np.asarray(a, np.float64) @ np.asarray(b, np.float64).T


BF16 = (lambda rng, shape: bf16_bits(reals(rng, shape)), bf16_values)
E4M3, E5M2 = small("float8_e4m3fn"), small("float8_e5m2")
F16, S8, U8 = (half, np.float64), (signed_bytes, np.int64), (bytes_of, np.int64)
S4, U4, BITS = (bytes_of, lambda b: (nibbles(b) ^ 8) - 8), (bytes_of, nibbles), (bytes_of, single)

# Entry: targets, instruction, A and B as (make, values), bytes of a stored element, type of C, absolute tolerance
PIPELINED = {
    "short_f16": (AMPERE, "m16n8k8 f16", F16, F16, 2, np.float32, 1e-4),
    "short_bf16": (AMPERE, "m16n8k8 bf16", BF16, BF16, 2, np.float32, 1e-4),
    "short_tf32": (AMPERE, "m16n8k4 tf32", (reals, tf32), (reals, tf32), 4, np.float32, 1e-4),
    "short_s8": (AMPERE, "m16n8k16 s8", S8, S8, 1, np.int32, 0),
    "short_s8_u8": (AMPERE, "m16n8k16 s8 by u8", S8, U8, 1, np.int32, 0),
    "short_u4_s4": ("sm_80", "m16n8k32 u4 by s4", U4, S4, 1, np.int32, 0),
    "short_and_bits": ("sm_80 sm_90a", "m16n8k128 b1 and.popc", BITS, BITS, 1, np.int32, 0),
    # sm_89 adds products of 8-bit floats with some 13 bits below the largest of a step (MMA-Sim, arXiv 2511.10909).
    "short_e4m3_e5m2": (ADA, "m16n8k16 e4m3 by e5m2", E4M3, E5M2, 1, np.float32, 3e-2),
    "gemm_f16_half": (AMPERE, "m16n8k16 f16 with sums in f16", F16, F16, 2, np.float16, 0.06),
    "gemm_e5m2_e4m3_half": (ADA, "m16n8k32 e5m2 by e4m3 with sums in f16", E5M2, E4M3, 1, np.float16, 0.12),
}


def pipelined(name):
    targets, what, (make_a, value_a), (make_b, value_b), size, result, tolerance = PIPELINED[name]

    @kernel(targets, f"gemm: {what}, cp.async in 3 stages", f"absolute {tolerance:g}" if tolerance else "exact", name=name)
    def gemm(rng):
        m, n, k = 64, 64, 320
        a, b = make_a(rng, (m, k // size)), make_b(rng, (n, k // size))
        out = into("C", product(value_a(a), value_b(b)).astype(result), tolerance=within(tolerance))
        return Launch([Buffer("A", a), Buffer("B", b), out, i32(k)], block=(128,))


for _name in PIPELINED:
    pipelined(_name)


def volta(name, result, tolerance):
    @kernel(VOLTA, f"gemm: m8n8k4 f16, sums in {name[6:]}, two shared buffers", f"absolute {tolerance:g}", name=name)
    def gemm(rng):
        a, b = half(rng, (64, 80)), half(rng, (32, 80))
        out = into("C", product(a, b).astype(result), tolerance=within(tolerance))
        return Launch([Buffer("A", a), Buffer("B", b), out, i32(80)], grid=(1, 2), block=(128,))


volta("volta_f32", np.float32, 1e-4)
volta("volta_f16", np.float16, 0.03)


@kernel("sm_90a", "gemm of f64: m16n8k4, m16n8k8, m16n8k16", "absolute 1e-12")
def wide_f64(rng):
    a, b = rng.standard_normal((32, 56)), rng.standard_normal((16, 56))
    out = into("C", a @ b.T, tolerance=within(1e-12))
    return Launch([Buffer("A", a), Buffer("B", b), out, i32(56)], grid=(2, 2))


# Entry: targets, m n k of the tile, A and B as (make, values), layouts, type of C, absolute tolerance
TILES = {
    "wmma_f16": (VOLTA, (16, 16, 16), F16, "row col", np.float32, 1e-4),
    "wmma_f16_half": (VOLTA, (32, 8, 16), F16, "col row", np.float16, 0.03),
    "wmma_s8": (VOLTA, (16, 16, 16), S8, "row col", np.int32, 0),
    "wmma_u8": (VOLTA, (32, 8, 16), U8, "col row", np.int32, 0),
    "wmma_bf16": ("sm_80 sm_90a", (8, 32, 16), BF16, "row row", np.float32, 1e-4),
    "wmma_tf32": ("sm_80 sm_90a", (16, 16, 8), (lambda rng, shape: tf32(reals(rng, shape)), tf32), "row col", np.float32, 1e-4),
    "wmma_f64": ("sm_80 sm_90a", (8, 8, 4), (lambda rng, shape: rng.standard_normal(shape), np.float64), "row col", np.float64, 1e-12),
}


def tiles(name):
    targets, (tile_m, tile_n, tile_k), (make, value), layouts, result, tolerance = TILES[name]
    a_layout, b_layout = layouts.split()

    @kernel(
        targets,
        f"wmma m{tile_m}n{tile_n}k{tile_k}, A by {a_layout}, B by {b_layout}",
        f"absolute {tolerance:g}" if tolerance else "exact",
        name=name,
    )
    def gemm(rng):
        m, n, k = 4 * tile_m, 2 * tile_n, 5 * tile_k
        a, b = make(rng, (m, k)), make(rng, (n, k))
        out = into("C", product(value(a), value(b)).astype(result), tolerance=within(tolerance))
        # Stored the other way round where the layout asks for it: A is M × K by rows, B is N × K by columns.
        stored = [Buffer("A", a.T.copy() if a_layout == "col" else a), Buffer("B", b.T.copy() if b_layout == "row" else b)]
        return Launch([*stored, out, i32(m), i32(n), i32(k)], grid=(2, 1), block=(128,))


for _name in TILES:
    tiles(_name)
