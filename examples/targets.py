"""One kernel for many GPUs: each is compiled for, and simulated."""

import cuda.tile as ct
import numpy as np
import tilec


@ct.kernel
def total(x, y, rows: ct.Constant[int], columns: ct.Constant[int]):
    ct.store(y, index=(0,), tile=ct.sum(ct.load(x, index=(0, 0), shape=(rows, columns)), axis=1))


x = np.random.default_rng(0).integers(-100, 100, (16, 128)).astype(np.int32)
for gpu in ("sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a"):
    y = np.zeros(16, np.int32)
    result = tilec.run(total, 1, (x, y, 16, 128), gpu=gpu)
    np.testing.assert_array_equal(y, x.sum(axis=1))
    print(f"{gpu}: right, {result.stats.warp_instructions} warp instructions")
