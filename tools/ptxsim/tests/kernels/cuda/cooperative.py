"""Cooperative launches: blocks that wait for each other with cooperative groups' grid barrier."""

import numpy as np
from foreign import Buffer, Launch, i32, into, kernel

TARGETS = "sm_75 sm_80 sm_90 sm_120"


@kernel(TARGETS, "cooperative_groups grid.sync in a loop; %envreg workspace")
def heat(rng):
    n, steps = 700, 5
    x = rng.standard_normal(n).astype(np.float32)
    states = [x]
    for _ in range(steps):
        a = states[-1]
        left, right = np.r_[a[:1], a[:-1]], np.r_[a[1:], a[-1:]]
        states.append(a + np.float32(0.25) * ((left + right) - np.float32(2) * a))
    # Two arrays take turns; the first step writes the second.
    return Launch(
        [into("from", states[4], x), into("to", states[5]), i32(n), i32(steps)], grid=(3,), block=(96,), cooperative=True
    )


@kernel(TARGETS, "grid barrier split into arrive and wait; cg::reduce")
def centre(rng):
    n = 1111
    x = rng.integers(-1000, 1000, n, dtype=np.int32)
    sums = np.zeros(4, np.int32)
    threads = np.arange(n) % (4 * 64) // 64
    np.add.at(sums, threads, x)
    total = int(x.sum())
    mean = int(total / n)
    args = [Buffer("x", x), into("sums", sums, np.zeros(4, np.int32)), into("out", (x - mean).astype(np.int32)), i32(n)]
    return Launch(args, grid=(2, 2), block=(64,), cooperative=True)
