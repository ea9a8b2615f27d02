"""Attention for sm_90a."""

import numpy as np
from foreign import Buffer, Launch, f32, i32, into, kernel, matrix_map, within


@kernel("sm_90a", "warp-specialised attention, causal and full: TMA, wgmma with the weights in registers, setmaxnreg", "absolute 2e-3")
def hopper_attention(rng):
    heads, length = 2, 256
    for causal in (0, 1):
        q, k, v = (rng.standard_normal((heads, length, 64)).astype(np.float16) for _ in range(3))
        s = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1) / 8
        if causal:
            s += np.triu(np.full((length, length), -np.inf), 1)
        e = np.exp(s - s.max(2, keepdims=True))
        want = (e / e.sum(2, keepdims=True) @ v.astype(np.float64)).astype(np.float32)
        buffers = [Buffer(n, x.reshape(-1, 64)) for n, x in (("q", q), ("k", k), ("v", v))]
        maps = [matrix_map(b.name, "f16", b.data, [64, 64], "128B") for b in buffers]
        args = [*maps, into("out", want, tolerance=within(2e-3)), i32(length), f32(0.125 * np.log2(np.e)), i32(causal)]
        yield Launch(args, grid=(length // 128, heads), block=(384,), shared=49152, buffers=buffers, label="causal" if causal else "full")
