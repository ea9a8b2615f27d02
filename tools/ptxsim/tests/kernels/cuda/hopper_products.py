"""wgmma of every family."""

import numpy as np
from foreign import (
    Buffer, Launch, bf16_bits, bf16_values, i32, into, kernel, matrix_map, small_bits, small_values, tf32, within,
)  # fmt: skip

TARGET = "sm_90a"


def reals(rng, shape):
    return rng.uniform(-1, 1, shape).astype(np.float32)


def small(name):
    return lambda rng, shape: small_bits(reals(rng, shape), name)


# Tensor cores of sm_90 add products of 8-bit floats with some 13 bits below the largest of a step (arXiv 2412.19437, 3.3.2).
EIGHT_BIT_SUMS = 6e-2

# Family: element bytes, map element, inputs A and B as stored, their values, sign, type of C
FAMILIES = {
    "f16": (2, "f16", lambda r, s: reals(r, s).astype(np.float16), np.float64, 1, np.float32),
    "bf16": (2, "bf16", lambda r, s: bf16_bits(reals(r, s)), bf16_values, 1, np.float32),
    "f16_negated": (2, "f16", lambda r, s: reals(r, s).astype(np.float16), np.float64, -1, np.float32),
    "f16_narrow": (2, "f16", lambda r, s: reals(r, s).astype(np.float16), np.float64, 1, np.float16),
    "tf32": (4, "f32", reals, tf32, 1, np.float32),
    "e4m3": (1, "u8", small("float8_e4m3fn"), lambda b: small_values(b, "float8_e4m3fn"), 1, np.float32),
    "s8": (1, "u8", lambda r, s: r.integers(-128, 128, s, dtype=np.int8), np.int64, 1, np.int32),
}
MIXED = {
    "e5m2_e4m3": (FAMILIES["e4m3"], small("float8_e5m2"), lambda b: small_values(b, "float8_e5m2")),
    "u8_s8": (FAMILIES["s8"], lambda r, s: r.integers(0, 256, s, dtype=np.uint8), np.int64),
}


def register(family, form):
    size, element, make_b, value_b, sign, result = FAMILIES[family] if family in FAMILIES else MIXED[family][0]
    make_a, value_a = MIXED[family][1:] if family in MIXED else (make_b, value_b)
    where = "shared memory" if form == "ss" else "registers"
    tolerance = {np.float32: 1e-4, np.float16: 6e-2, np.int32: 0}[result]
    if size == 1 and result is np.float32:
        tolerance = EIGHT_BIT_SUMS

    @kernel(
        TARGET,
        f"wgmma {family.replace('_', ' ')}, A from {where}; TMA, 4 stages",
        f"absolute {tolerance:g}" if tolerance else "exact",
        name=f"wgmma_{family}_{form}",
    )
    def product(rng):
        m, n, k = 128, 64, 5 * 128 // size
        a, b = make_a(rng, (m, k)), make_b(rng, (n, k))
        want = sign * (value_a(a).astype(np.float64) @ value_b(b).astype(np.float64).T)
        raw = Buffer("A", a)
        maps = [matrix_map(x, element, y, [128 // size, 64], "128B") for x, y in (("A", a), ("B", b))]
        out = into("C", want.astype(result), tolerance=within(tolerance))
        return Launch(
            [*maps, raw, out, i32(k * size), i32(size)],
            grid=(n // 64, m // 64), block=(128,), shared=4 * 16384, buffers=[Buffer("B", b)],
        )  # fmt: skip


for _family in [*FAMILIES, *MIXED]:
    for _form in ("ss", "rs"):
        register(_family, _form)


def mn_major(span):
    @kernel(
        TARGET, f"wgmma with both operands transposed, {span}-byte swizzle", "absolute 1e-4", name=f"wgmma_mn_major_{span}"
    )
    def product(rng):
        a, b = reals(rng, (64, 64)).astype(np.float16), reals(rng, (64, 64)).astype(np.float16)
        want = (a.astype(np.float64).T @ b.astype(np.float64)).astype(np.float32)
        maps = [matrix_map(x, "f16", y, [span // 2, 64], f"{span}B") for x, y in (("A", a), ("B", b))]
        out = into("C", want, tolerance=within(1e-4))
        return Launch([*maps, out], block=(128,), buffers=[Buffer("A", a), Buffer("B", b)])


for _span in (128, 64, 32):
    mn_major(_span)


@kernel(
    TARGET,
    "persistent warp-specialised gemm: clusters, multicast, remote mbarrier arrivals, setmaxnreg, TMA stores",
    "absolute 1e-4",
)
def multicast_gemm(rng):
    m, n, k = 512, 128, 256
    a, b = reals(rng, (m, k)).astype(np.float16), reals(rng, (n, k)).astype(np.float16)
    want = (a.astype(np.float64) @ b.astype(np.float64).T).astype(np.float32)
    maps = [
        matrix_map("A", "f16", a, [64, 128], "128B"),
        matrix_map("B", "f16", b, [64, 32], "128B"),
        matrix_map("C", "f32", want, [64, 64]),
    ]
    buffers = [Buffer("A", a), Buffer("B", b), into("C", want, tolerance=within(1e-4))]
    shared = 3 * (16384 + 8192) + 2 * 16384
    return Launch([*maps, i32(m), i32(n), i32(k)], grid=(4,), block=(384,), shared=shared, buffers=buffers)
