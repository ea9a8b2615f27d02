"""C = A @ B: f16 inputs, f32 accumulator, f16 or f32 output, any M, N, K.

Grid: one dimension, one block per tile of C. Consecutive blocks walk down
GROUP tile rows before moving one tile column right, so that blocks running at
the same time share rows of A and columns of B in the cache.
"""

import cuda.tile as ct
import numpy as np

from corpus import Case, array
from numerics import EXACT, Buffer, Run, Tolerance, matrix_args, padded

GROUP = 8


@ct.function
def grouped_tile(block, tiles_m, tiles_n, group):
    """Tile coordinates of `block` in the grouped order."""
    blocks_in_group = group * tiles_n
    first_m = (block // blocks_in_group) * group
    # The last group may have fewer rows.
    rows = min(tiles_m - first_m, group)
    within = block % blocks_in_group
    return first_m + within % rows, within // rows


@ct.kernel
def matmul(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    tiles_m = ct.cdiv(c.shape[0], tm)
    tiles_n = ct.cdiv(c.shape[1], tn)
    m, n = grouped_tile(ct.bid(0), tiles_m, tiles_n, GROUP)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], tk)):
        x = ct.load(a, index=(m, k), shape=(tm, tk), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, index=(k, n), shape=(tk, tn), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(x, y, acc)
    ct.store(c, index=(m, n), tile=ct.astype(acc, c.dtype))


def case(name, out, tile, aligned=True, whole=False, version="13.3"):
    operand = array(ct.float16, 2, aligned=aligned)
    result = array(out, 2, aligned=aligned, whole=whole)
    return Case(name, matmul, [operand, operand, result, *tile], version)


CASES = [
    case("f16_64x64x32", ct.float16, (64, 64, 32)),
    case("f32_64x64x32", ct.float32, (64, 64, 32)),
    case("f16_128x128x64", ct.float16, (128, 128, 64), whole=True),
    case("f32_128x128x64", ct.float32, (128, 128, 64), whole=True),
    case("f16_128x256x64", ct.float16, (128, 256, 64), whole=True),
    case("f32_128x256x64", ct.float32, (128, 256, 64), whole=True),
    case("f16_64x64x32_unaligned", ct.float16, (64, 64, 32), aligned=False),
    case("f16_128x128x64_v13_1", ct.float16, (128, 128, 64), version="13.1"),
    case("f16_128x256x64_v13_1", ct.float16, (128, 256, 64), version="13.1"),
]


def run(case_name, out, tile, mnk, integers, aligned=True):
    """`integers`: small whole numbers, whose sums are exact in any order, so
    that the comparison is exact too. Otherwise normally distributed numbers."""
    m, n, k = mnk
    rng = np.random.default_rng(mnk)
    draw = (lambda shape: rng.integers(-4, 5, shape)) if integers else rng.standard_normal
    a, b = draw((m, k)).astype(np.float16), draw((k, n)).astype(np.float16)
    c = (a.astype(np.float64) @ b.astype(np.float64)).astype(out)
    # f32 sums of k products of this size, then one rounding to the output.
    error = 2.0**-23 * k * 4
    half_ulp = 2.0**-11 if out == np.float16 else 2.0**-24
    tolerance = EXACT if integers else Tolerance(absolute=error, relative=2 * half_ulp)
    align = 8 if aligned else 1
    out_align = 16 // c.itemsize if aligned else 1
    args = [
        *matrix_args(Buffer("a", padded(a, 50, align)), (m, k)),
        *matrix_args(Buffer("b", padded(b, 50, align)), (k, n)),
        *matrix_args(Buffer("c", padded(np.zeros_like(c), -7, out_align), padded(c, -7, out_align), tolerance), (m, n)),
    ]
    grid = (-(-m // tile[0]) * -(-n // tile[1]),)
    kind = "integers" if integers else "normal"
    return Run(case_name, f"{m}x{n}x{k}_{kind}", grid, args)


# The 64 × 64 × 32 shapes include more than GROUP tile rows, a last group of
# one row, a single element and an empty inner dimension.
SHAPES = {
    (64, 64, 32): [(64, 64, 32), (100, 72, 50), (577, 130, 40), (1, 1, 1), (65, 100, 0)],
    (128, 128, 64): [(128, 128, 64), (200, 136, 100), (256, 304, 448)],
    (128, 256, 64): [(128, 256, 64), (150, 304, 330)],
}


def runs():
    for tile, shapes in SHAPES.items():
        name = "x".join(map(str, tile))
        for out in (np.float16, np.float32):
            case_name = f"f{8 * np.dtype(out).itemsize}_{name}"
            for mnk in shapes:
                yield run(case_name, out, tile, mnk, integers=True)
            yield run(case_name, out, tile, shapes[1], integers=False)
    yield run("f16_64x64x32_unaligned", np.float16, (64, 64, 32), (99, 71, 51), True, aligned=False)
    yield run("f16_128x128x64_v13_1", np.float16, (128, 128, 64), (130, 130, 65), True)
    yield run("f16_128x256x64_v13_1", np.float16, (128, 256, 64), (150, 300, 330), True)
