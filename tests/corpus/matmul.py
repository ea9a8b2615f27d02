"""C = A @ B: f16 inputs, f32 accumulator, f16 or f32 output, any M, N, K.

Grid: one dimension, one block per tile of C. Consecutive blocks walk down
GROUP tile rows before moving one tile column right, so that blocks running at
the same time share rows of A and columns of B in the cache.
"""

import cuda.tile as ct

from corpus import Case, array

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


def case(name, out, tile, aligned=True, version="13.3"):
    operand = array(ct.float16, 2, aligned=aligned)
    result = array(out, 2, aligned=aligned)
    return Case(name, matmul, [operand, operand, result, *tile], version)


CASES = [
    case("f16_64x64x32", ct.float16, (64, 64, 32)),
    case("f32_64x64x32", ct.float32, (64, 64, 32)),
    case("f16_128x128x64", ct.float16, (128, 128, 64)),
    case("f32_128x128x64", ct.float32, (128, 128, 64)),
    case("f16_128x256x64", ct.float16, (128, 256, 64)),
    case("f32_128x256x64", ct.float32, (128, 256, 64)),
    case("f16_64x64x32_unaligned", ct.float16, (64, 64, 32), aligned=False),
    case("f16_128x128x64_v13_1", ct.float16, (128, 128, 64), version="13.1"),
]
