"""Vector addition on numpy arrays, by both engines."""

import cuda.tile as ct
import numpy as np
import tilec


@ct.kernel
def vadd(a, b, c, tile: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(c, index=(i,), tile=ct.load(a, index=(i,), shape=(tile,)) + ct.load(b, index=(i,), shape=(tile,)))


a = np.arange(1000, dtype=np.float32)
b = np.full_like(a, 0.5)
for engine in ("sim", "eval"):
    c = np.zeros_like(a)
    tilec.run(vadd, 4, (a, b, c, 256), engine=engine)
    np.testing.assert_array_equal(c, a + b)
print("vadd: right by both engines")
