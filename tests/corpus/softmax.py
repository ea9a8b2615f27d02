"""Row softmax: up to `cols` columns, whose number need not be a power of two.

Grid: one block per `rows` rows. Columns past the end are padded with -inf, so
they add nothing to the sum; rows past the end are never stored.
"""

import cuda.tile as ct
import numpy as np

from corpus import Case, array
from numerics import Buffer, Run, Tolerance, matrix_args, padded


@ct.kernel
def softmax(x, y, rows: ct.Constant[int], cols: ct.Constant[int]):
    block = ct.bid(0)
    tile = ct.load(x, index=(block, 0), shape=(rows, cols), padding_mode=ct.PaddingMode.NEG_INF)
    tile = ct.astype(tile, ct.float32)
    peak = ct.max(tile, axis=1, keepdims=True)
    powers = ct.exp(tile - peak)
    total = ct.sum(powers, axis=1, keepdims=True)
    ct.store(y, index=(block, 0), tile=ct.astype(powers / total, y.dtype))


def case(name, dtype, rows, cols, aligned=True, version="13.3"):
    matrix = array(dtype, 2, aligned=aligned)
    return Case(name, softmax, [matrix, matrix, rows, cols], version)


CASES = [
    case("f32_1x2048", ct.float32, 1, 2048),
    case("f32_4x256", ct.float32, 4, 256),
    case("f16_1x2048", ct.float16, 1, 2048),
    case("f32_1x1024_unaligned", ct.float32, 1, 1024, aligned=False),
    case("f32_1x2048_v13_1", ct.float32, 1, 2048, version="13.1"),
]


def run(case_name, dtype, shape, tile_rows, aligned=True):
    rng = np.random.default_rng(shape)
    x = (4 * rng.standard_normal(shape)).astype(dtype)
    wide = x.astype(np.float64)
    powers = np.exp(wide - wide.max(axis=1, keepdims=True))
    y = (powers / powers.sum(axis=1, keepdims=True)).astype(dtype)
    align = 16 // x.itemsize if aligned else 1
    # exp's own error grows with its argument (about 20 here), the sum adds a little.
    tolerance = Tolerance(relative=1e-5) if dtype == np.float32 else Tolerance(ulp=1)
    source = Buffer("x", padded(x, 99, align))
    result = Buffer("y", padded(np.zeros_like(x), -7, align), padded(y, -7, align), tolerance)
    label = "x".join(map(str, shape))
    grid = (-(-shape[0] // tile_rows),)
    return Run(case_name, label, grid, [*matrix_args(source, shape), *matrix_args(result, shape)])


def runs():
    for shape in ((3, 1000), (1, 2047), (2, 2048), (2, 1)):
        yield run("f32_1x2048", np.float32, shape, 1)
    for shape in ((6, 200), (9, 256)):
        yield run("f32_4x256", np.float32, shape, 4)
    yield run("f16_1x2048", np.float16, (2, 1500), 1)
    yield run("f32_1x1024_unaligned", np.float32, (3, 801), 1, aligned=False)
    yield run("f32_1x2048_v13_1", np.float32, (2, 1999), 1)
