"""Row softmax: up to `cols` columns, whose number need not be a power of two.

Grid: one block per `rows` rows. Columns past the end are padded with -inf, so
they add nothing to the sum; rows past the end are never stored.
"""

import cuda.tile as ct

from corpus import Case, array


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
