"""Clusters and distributed shared memory."""

import numpy as np
from foreign import Buffer, Launch, i32, into, kernel, within

TARGETS = "sm_90a sm_120a"


@kernel(TARGETS, "cluster reduction: mapa, ld.shared::cluster, barrier.cluster", "absolute 1e-5")
def center_rows(rng):
    x = rng.standard_normal((2, 1024)).astype(np.float32) + 3
    want = (x - x.mean(1, keepdims=True, dtype=np.float64)).astype(np.float32)
    return Launch([Buffer("x", x), into("out", want, tolerance=within(1e-5))], grid=(16,), block=(128,))


@kernel(TARGETS, "histogram over distributed shared memory: red.shared::cluster")
def spread_histogram(rng):
    x = rng.integers(0, 2**16, 3000, dtype=np.uint16)
    want = np.bincount(x & 255, minlength=256).astype(np.uint32)
    return Launch([Buffer("x", x), into("out", want, np.zeros(256, np.uint32)), i32(3000)], grid=(8,), block=(128,))


@kernel(TARGETS, "ring of blocks: st.async with complete_tx, remote mbarrier arrivals, two buffers")
def ring(rng):
    x = rng.integers(-100, 100, (2, 4, 64), dtype=np.int32)
    v, total = x.copy(), x.copy()
    for _ in range(7):
        v = np.roll(v, 1, 1)
        total = total * 3 + v
    return Launch([Buffer("x", x), into("out", total), i32(7)], grid=(8,), block=(64,))


@kernel(TARGETS, "cp.async.bulk between the shared memories of a cluster")
def gather_blocks(rng):
    x = rng.integers(-100, 100, (2, 512), dtype=np.int32)
    return Launch([Buffer("x", x), into("out", x * 5)], grid=(8,), block=(128,))


@kernel(TARGETS, "red.async with complete_tx, mbarrier.inval")
def asynchronous_sum(rng):
    x = rng.integers(0, 2**32, (2, 4, 32), dtype=np.uint32)
    want = x.sum(1, dtype=np.uint32) + np.uint32(100)
    return Launch([Buffer("x", x), into("out", want)], grid=(8,))


@kernel(TARGETS, "special registers of clusters")
def cluster_registers(rng):
    want = [
        [bx % 2, by % 3, 2, 3, by % 3 * 2 + bx % 2, 6, bx // 2, by // 3, 2] for by in range(6) for bx in range(4)
    ]
    return Launch([into("out", np.array(want, np.int32))], grid=(4, 6), block=(1,))
