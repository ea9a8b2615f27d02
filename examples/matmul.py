"""A matmul in f16 on the tensor cores of an H100, simulated."""

import cuda.tile as ct
import numpy as np
import tilec


@ct.kernel
def matmul(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    row, column = ct.bid(0), ct.bid(1)
    total = ct.full((tm, tn), 0, dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], tk)):
        left = ct.load(a, index=(row, k), shape=(tm, tk), padding_mode=ct.PaddingMode.ZERO)
        right = ct.load(b, index=(k, column), shape=(tk, tn), padding_mode=ct.PaddingMode.ZERO)
        total = ct.mma(left, right, total)
    ct.store(c, index=(row, column), tile=ct.astype(total, c.dtype))


rng = np.random.default_rng(0)
a = rng.standard_normal((128, 192)).astype(np.float16)
b = rng.standard_normal((192, 128)).astype(np.float16)
c = np.zeros((128, 128), np.float16)
result = tilec.run(matmul, (1, 1), (a, b, c, 128, 128, 64), gpu="sm_90a")
np.testing.assert_allclose(c, a.astype(np.float32) @ b.astype(np.float32), rtol=2e-2, atol=2e-2)
kinds = [line.split()[0] for line in result.kernel.ptx.splitlines() if line.strip().startswith("wgmma.mma")]
print(f"matmul: right, by {kinds[0]}")
