"""What the compiler decided, for people, for programs and for notebooks."""

import cuda.tile as ct
import numpy as np
import tilec


@ct.kernel
def product(a, b, c):
    total = ct.full((64, 64), 0, dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], 64)):
        left = ct.load(a, index=(ct.bid(0), k), shape=(64, 64))
        total = ct.mma(left, ct.load(b, index=(k, ct.bid(1)), shape=(64, 64)), total)
    ct.store(c, index=(ct.bid(0), ct.bid(1)), tile=total)


a, b = np.zeros((64, 256), np.float16), np.zeros((256, 64), np.float16)
kernel = tilec.compile(product, "sm_90a", args=(a, b, np.zeros((64, 64), np.float32)))
explanation = kernel.explain()
print(str(explanation)[:600])
pipelines = [d for d in explanation.data["kernels"][0]["decisions"] if d["kind"] == "pipeline"]
assert pipelines and pipelines[0]["stages"] > 1, explanation.data["kernels"]
assert "<table>" in explanation._repr_html_() and "<table>" in kernel._repr_html_()
