"""Layer normalisation of bfloat16 rows (elements of ml_dtypes)."""

import cuda.tile as ct
import ml_dtypes
import numpy as np
import tilec


@ct.kernel
def layernorm(x, y, columns: ct.Constant[int]):
    row = ct.astype(ct.load(x, index=(ct.bid(0), 0), shape=(1, columns)), ct.float32)
    centred = row - ct.sum(row, axis=1, keepdims=True) / columns
    variance = ct.sum(centred * centred, axis=1, keepdims=True) / columns
    ct.store(y, index=(ct.bid(0), 0), tile=ct.astype(centred * ct.rsqrt(variance + 1e-5), y.dtype))


x = np.random.default_rng(0).standard_normal((4, 512)).astype(ml_dtypes.bfloat16)
y = np.zeros_like(x)
tilec.run(layernorm, len(x), (x, y, 512))
wide = x.astype(np.float64)
right = (wide - wide.mean(axis=1, keepdims=True)) / np.sqrt(wide.var(axis=1, keepdims=True) + 1e-5)
np.testing.assert_allclose(y.astype(np.float64), right, rtol=1e-2, atol=1e-2)
print("layernorm: right")
