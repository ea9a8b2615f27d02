"""Attention with the softmax computed as keys arrive."""

import cuda.tile as ct
import numpy as np
import tilec


@ct.kernel
def attention(q, k, v, out, scale, rows: ct.Constant[int], keys: ct.Constant[int], width: ct.Constant[int]):
    i = ct.bid(0)
    query = ct.load(q, index=(i, 0), shape=(rows, width))
    peak = ct.full((rows, 1), -1e30, dtype=ct.float32)
    norm = ct.full((rows, 1), 0, dtype=ct.float32)
    total = ct.full((rows, width), 0, dtype=ct.float32)
    for j in range(ct.cdiv(k.shape[0], keys)):
        key = ct.load(k, index=(j, 0), shape=(keys, width))
        score = ct.mma(query, ct.transpose(key), ct.full((rows, keys), 0, dtype=ct.float32)) * scale
        higher = ct.maximum(peak, ct.max(score, axis=1, keepdims=True))
        weight = ct.exp(score - higher)
        keep = ct.exp(peak - higher)
        norm = norm * keep + ct.sum(weight, axis=1, keepdims=True)
        value = ct.load(v, index=(j, 0), shape=(keys, width))
        total = ct.mma(ct.astype(weight, v.dtype), value, total * keep)
        peak = higher
    ct.store(out, index=(i, 0), tile=ct.astype(total / norm, out.dtype))


rng = np.random.default_rng(0)
q, k, v = (rng.standard_normal((64, 64)).astype(np.float16) for _ in range(3))
out = np.zeros_like(q)
tilec.run(attention, 1, (q, k, v, out, 0.125, 64, 32, 64), gpu="sm_80")

wide = [x.astype(np.float64) for x in (q, k, v)]
scores = np.exp(0.125 * wide[0] @ wide[1].T)
np.testing.assert_allclose(out, scores / scores.sum(axis=1, keepdims=True) @ wide[2], rtol=2e-2, atol=5e-3)
print("attention: right")
