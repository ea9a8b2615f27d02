"""Vector add over arrays whose length need not be a multiple of the tile.

Grid: one block per tile of TILE elements. The views mask the last tile.
"""

import cuda.tile as ct

from corpus import Case, array

TILE = 1024


@ct.kernel
def vadd(a, b, c, tile: ct.Constant[int]):
    block = ct.bid(0)
    x = ct.load(a, index=(block,), shape=(tile,), padding_mode=ct.PaddingMode.ZERO)
    y = ct.load(b, index=(block,), shape=(tile,), padding_mode=ct.PaddingMode.ZERO)
    ct.store(c, index=(block,), tile=x + y)


def case(name, dtype, aligned=True, version="13.3"):
    vector = array(dtype, 1, aligned=aligned)
    return Case(name, vadd, [vector, vector, vector, TILE], version)


CASES = [
    case("f32", ct.float32),
    case("f16", ct.float16),
    case("f16_unaligned", ct.float16, aligned=False),
    case("f32_v13_1", ct.float32, version="13.1"),
]
