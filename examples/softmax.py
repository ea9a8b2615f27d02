"""Row softmax in cuTile Python, run without a GPU."""

import cuda.tile as ct
import numpy as np
import tilec


@ct.kernel
def softmax(x, y, columns: ct.Constant[int]):
    row = ct.load(x, index=(ct.bid(0), 0), shape=(1, columns), padding_mode=ct.PaddingMode.NEG_INF)
    powers = ct.exp(row - ct.max(row, axis=1, keepdims=True))
    ct.store(y, index=(ct.bid(0), 0), tile=powers / ct.sum(powers, axis=1, keepdims=True))


x = np.random.default_rng(0).standard_normal((8, 200)).astype(np.float32)
y = np.zeros_like(x)
result = tilec.run(softmax, grid=len(x), args=(x, y, 256))

powers = np.exp(x - x.max(axis=1, keepdims=True))
np.testing.assert_allclose(y, powers / powers.sum(axis=1, keepdims=True), rtol=1e-5)
print(f"softmax of {x.shape}: right, {result.stats.warp_instructions} warp instructions")
