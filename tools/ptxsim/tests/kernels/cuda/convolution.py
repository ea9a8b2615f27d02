"""Convolutions by tensor maps that gather pixels."""

import numpy as np
from foreign import Buffer, Im2col, Launch, Map, i32, into, kernel, matrix_map, within


@kernel("sm_90a", "3 × 3 convolution: cp.async.bulk.tensor im2col with padding, strides 1 and 2; wgmma", "absolute 2e-3")
def convolution(rng):
    images, height, width, channels, filters = 2, 7, 9, 64, 64
    x = rng.uniform(-1, 1, (images, height, width, channels)).astype(np.float16)
    weights = rng.uniform(-1, 1, (3, 3, filters, channels)).astype(np.float16)
    padded = np.pad(x.astype(np.float64), ((0, 0), (1, 1), (1, 1), (0, 0)))
    for stride in (1, 2):
        rows, cols = (height - 1) // stride + 1, (width - 1) // stride + 1
        want = np.zeros((images, rows, cols, filters))
        for r, s in np.ndindex(3, 3):
            seen = padded[:, r : r + height : stride, s : s + width : stride]
            want += seen @ weights[r, s].astype(np.float64).T
        dims, strides = list(x.shape[::-1]), list(x.strides[-2::-1])
        # The box of pixels starts one before the image and ends where the filter's first place still has all others inside.
        gather = Im2col([-1, -1], [-1, -1], channels, 64)
        image = Map("x", "f16", dims, strides, [1] * 4, "128B", element_strides=[1, stride, stride, 1], im2col=gather)
        flat = Buffer("weights", weights.reshape(-1, channels))
        pixels = images * rows * cols
        out = into("out", want.astype(np.float32).reshape(pixels, filters), tolerance=within(2e-3))
        args = [image, matrix_map("weights", "f16", flat.data, [64, 64], "128B"), out, i32(cols), i32(rows), i32(stride), i32(pixels)]
        yield Launch(args, grid=((pixels + 63) // 64,), block=(128,), buffers=[Buffer("x", x), flat], label=f"stride {stride}")
