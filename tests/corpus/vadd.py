"""Vector add over arrays whose length need not be a multiple of the tile.

Grid: one block per tile of TILE elements. The views mask the last tile.
"""

import cuda.tile as ct
import numpy as np

from corpus import Case, array
from numerics import Buffer, Run, vector_args

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


def run(case_name, dtype, length):
    rng = np.random.default_rng(length)
    # One element more than the arrays have: it must not change.
    a, b = (rng.standard_normal(length + 1).astype(dtype) for _ in range(2))
    c = np.full(length + 1, -77, dtype)
    expected = c.copy()
    expected[:length] = a[:length] + b[:length]
    args = [Buffer("a", a), Buffer("b", b), Buffer("c", c, expected)]
    grid = (-(-length // TILE),)
    return Run(case_name, str(length), grid, [x for arg in args for x in vector_args(arg, length)])


def runs():
    for length in (1, 1000, 1024, 3001):
        yield run("f32", np.float32, length)
    for length in (1023, 4099):
        yield run("f16", np.float16, length)
    yield run("f16_unaligned", np.float16, 2049)
    yield run("f32_v13_1", np.float32, 2500)
