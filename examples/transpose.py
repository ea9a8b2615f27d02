"""Strided views: the kernel is given the transpose of an array, and the transpose of a part of another."""

import cuda.tile as ct
import numpy as np
import tilec


@ct.kernel
def copy(x, y, tile: ct.Constant[int]):
    at = (ct.bid(0), ct.bid(1))
    ct.store(y, index=at, tile=ct.load(x, index=at, shape=(tile, tile)))


x = np.arange(64 * 96, dtype=np.int32).reshape(64, 96)
y = np.zeros((100, 70), np.int32)
tilec.run(copy, (3, 2), (x.T, y[2:98, 3:67], 32))
np.testing.assert_array_equal(y[2:98, 3:67], x.T)
assert y.sum() == x.sum()
print("transpose: right, nothing else was written")
