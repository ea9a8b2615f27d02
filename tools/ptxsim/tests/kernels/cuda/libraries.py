"""NVIDIA's header libraries."""

import numpy as np
from foreign import Buffer, Launch, i32, into, kernel

TARGETS = "sm_80 sm_90a"


@kernel(TARGETS, "cuda::pipeline of a block, memcpy_async")
def block_pipeline(rng):
    x = rng.integers(-1000, 1000, (9, 128), dtype=np.int32)
    want = x[:, np.arange(128) ^ 5] + np.arange(9, dtype=np.int32)[:, None]
    return Launch([Buffer("x", x), into("out", want), i32(9)], block=(128,))


@kernel(TARGETS, "cuda::pipeline of a thread: cp.async groups four deep")
def thread_pipeline(rng):
    x = rng.integers(-1000, 1000, (10, 64, 4), dtype=np.int32)
    return Launch([Buffer("x", x), into("out", x[:, :, ::-1].copy()), i32(10)], block=(64,))


@kernel(TARGETS, "warp-specialised producer and consumer with cuda::barrier")
def producer_consumer(rng):
    x = rng.integers(-1000, 1000, (8, 96), dtype=np.int32)
    total = np.zeros(96, np.int32)
    for row in x:
        total = total * 7 + row * 2
    return Launch([Buffer("x", x), into("out", total), i32(8)], block=(128,))


@kernel(TARGETS, "memcpy_async on a cuda::barrier: cp.async with mbarrier, bulk copy on sm_90a")
def barrier_copy(rng):
    x = rng.standard_normal(256)
    return Launch([Buffer("x", x), into("out", x[::-1].copy())], block=(64,))


@kernel(TARGETS, "cooperative groups: tiles, coalesced and labeled groups, reduce, scan, memcpy_async")
def groups(rng):
    x = rng.integers(0, 1000, (2, 4, 32), dtype=np.int32)
    want, running = np.zeros((2, 4, 32, 6), np.int32), np.maximum.accumulate(x, 2).astype(np.float32)
    eights = x.reshape(2, 4, 4, 8)
    want[..., 0] = x.sum(2, keepdims=True)
    want[..., 1] = np.repeat(eights.min(3), 8, axis=2)
    want[..., 2] = (np.cumsum(eights, 3) - eights).reshape(2, 4, 32)
    odd = (x & 1) == 1
    rank = np.cumsum(odd, 2) - odd
    want[..., 3] = np.where(odd, odd.sum(2, keepdims=True) * 100 + rank, 0)
    want[..., 4] = np.where(odd, (x * odd).sum(2, keepdims=True), 0)
    for label in range(4):
        same = (x & 3) == label
        want[..., 5] = np.where(same, np.where(same, x, -1).max(2, keepdims=True), want[..., 5])
    scans = np.concatenate([running.ravel(), x.reshape(2, 128)[:, ::-1].astype(np.float32).ravel()])
    return Launch([Buffer("x", x), into("out", want), into("scans", scans)], grid=(2,), block=(128,))


@kernel("sm_90a sm_120a", "cooperative groups' clusters: map_shared_rank, generic access to other blocks")
def cluster_group(rng):
    x = rng.integers(-1000, 1000, (2, 4, 32), dtype=np.int32)
    want = sum(np.roll(np.roll(x, -r, 1), -r, 2) * (r + 1) for r in range(4))
    return Launch([Buffer("x", x), into("out", want.astype(np.int32))], grid=(8,))


@kernel(TARGETS, "cub::BlockRadixSort of pairs, BlockLoad, BlockStore with transposition")
def block_sort(rng):
    keys = rng.integers(0, 2**32, (2, 512), dtype=np.uint32)
    keys[:, ::3] &= 15
    values = rng.integers(-(2**15), 2**15, (2, 512)).astype(np.int16)
    order = np.argsort(keys, 1, kind="stable")
    outs = [into(n, np.take_along_axis(a, order, 1)) for n, a in (("keys_out", keys), ("values_out", values))]
    return Launch([Buffer("keys", keys), Buffer("values", values), *outs], grid=(2,), block=(128,))


@kernel(TARGETS, "cub::BlockReduce, BlockScan, BlockHistogram")
def block_primitives(rng):
    x = rng.integers(-1000, 1000, (3, 256), dtype=np.int32)
    bins = np.stack([np.bincount(r & 63, minlength=64) for r in x]).astype(np.uint32)
    outs = [
        into("sums", np.stack([x.sum(1), x.max(1)], 1).astype(np.int32)),
        into("scans", np.concatenate([(np.cumsum(x, 1) - x).ravel(), x.sum(1)]).astype(np.int32)),
        into("bins", bins),
    ]
    return Launch([Buffer("x", x), *outs], grid=(3,), block=(128,))


@kernel(TARGETS, "cuda::atomic_ref: relaxed, seq_cst, release and acquire between blocks")
def typed_atomics(rng):
    x = rng.integers(0, 1000, 256, dtype=np.int32)
    outs = [
        into("out", np.array([4711, 4712], np.int32)),
        into("counters", np.array([x.sum(), x.max()], np.int32), np.zeros(2, np.int32)),
        into("flag", np.ones(1, np.int32), np.zeros(1, np.int32)),
        into("real", np.array([x.sum() * 0.25]), np.zeros(1)),
    ]
    return Launch([Buffer("x", x), *outs], grid=(4,), block=(64,))
