"""A module in text, on its way down to PTX; then run with scalars and a bare pointer."""

import numpy as np
import tilec

MODULE = """
entry @scale(%x: tile<ptr<f32>>, %factor: tile<f32>) {
  %lanes = iota : tile<128xi32>
  %one = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
  %all = broadcast %one : tile<1xptr<f32>> -> tile<128xptr<f32>>
  %at = offset %all, %lanes : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
  %value, %token = load_ptr_tko weak %at : tile<128xptr<f32>> -> tile<128xf32>, token
  %f1 = reshape %factor : tile<f32> -> tile<1xf32>
  %f = broadcast %f1 : tile<1xf32> -> tile<128xf32>
  %product = mulf %value, %f : tile<128xf32>
  %done = store_ptr_tko weak %at, %product token = %token : tile<128xptr<f32>>, tile<128xf32> -> token
  return
}
"""

kernel = tilec.compile(MODULE, "sm_80")
for stage in ("cuda_tile", "nv_tileaa", "nv_tileas", "nvvm"):
    print(f"{stage}: {len(kernel.stage(stage).splitlines())} lines")
print(f"PTX: {len(kernel.ptx.splitlines())} lines, entries {kernel.entries}")
x = np.arange(128, dtype=np.float32)
tilec.run(kernel, 1, (x, 3.0))
np.testing.assert_array_equal(x, 3 * np.arange(128, dtype=np.float32))
