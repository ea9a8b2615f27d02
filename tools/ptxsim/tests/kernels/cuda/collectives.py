"""Warp-level collectives."""

import numpy as np
from foreign import Buffer, Launch, i32, into, kernel

TARGETS = "sm_80 sm_90a"


@kernel(TARGETS, "redux.sync of every operation, full and partial masks")
def redux(rng):
    for mask in (0xFFFFFFFF, 0x0F0F00F1):
        x = rng.integers(-(2**31), 2**31, (8, 32), dtype=np.int32)
        lanes = [i for i in range(32) if mask >> i & 1]
        y, want = x[:, lanes], np.zeros((8, 8), np.int32)
        u = y.view(np.uint32)
        want[:, 0] = y.sum(1, dtype=np.int32)
        want[:, 1], want[:, 2] = y.min(1), y.max(1)
        want[:, 3], want[:, 4] = np.bitwise_and.reduce(y, 1), np.bitwise_or.reduce(y, 1)
        want[:, 5] = np.bitwise_xor.reduce(y, 1)
        want[:, 6], want[:, 7] = u.min(1).view(np.int32), u.max(1).view(np.int32)
        yield Launch([Buffer("x", x), into("out", want), i32(mask - 2**32 if mask >> 31 else mask)], grid=(2,), block=(128,))


@kernel("sm_75 sm_80 sm_90a", "match.any, match.all of 32 and 64 bits, warp-aggregated atomics")
def match_groups(rng):
    keys = rng.integers(0, 10, 512, dtype=np.int32)
    keys[64:96] = 4
    uniform = np.array([-1 if len(set(w)) == 1 else 0 for w in keys.reshape(-1, 32)], np.int32)
    counts = np.bincount(keys, minlength=10).astype(np.int32)
    return Launch(
        [Buffer("keys", keys), into("counts", counts, np.zeros(10, np.int32)), into("uniform", uniform)],
        grid=(4,), block=(128,),
    )  # fmt: skip


@kernel("sm_75 sm_80 sm_90a", "vote.ballot, any, all, uni; activemask in divergent code")
def votes(rng):
    x = rng.integers(0, 100, (8, 32), dtype=np.int32)
    x[1], x[2], x[3] = 60, 7, 3
    low = ((x < 40).astype(np.uint64) << np.arange(32, dtype=np.uint64)).sum(1).astype(np.uint32)
    high = x > 50
    flags = (x == 7).any(1) | 2 | (high.all(1) | ~high.any(1)) << 2
    want = np.zeros((8, 4), np.uint32)
    want[:, 0], want[:, 1], want[:, 2] = low, flags, low != 0
    return Launch([Buffer("x", x), into("out", want, np.zeros((8, 4), np.uint32)), i32(40)], grid=(2,), block=(128,))


@kernel("sm_75 sm_80 sm_90a", "shfl idx, up, down, bfly with segments")
def shuffles(rng):
    x = rng.standard_normal((4, 32)).astype(np.float32)
    t = np.arange(32)
    up = np.where(t % 8 >= 3, t - 3, t)
    down = np.where(t % 16 + 5 < 16, t + 5, t)
    want = np.stack([x[:, (t * 7 + 3) & 31], x[:, up], x[:, down], x[:, t ^ 9], x[:, t // 4 * 4 + 2]], axis=2)
    return Launch([Buffer("x", x), into("out", want)], grid=(4,))


@kernel("sm_75 sm_80 sm_90a", "shuffles with partial masks on both sides of a branch")
def halves_of_a_warp(rng):
    x = rng.integers(-1000, 1000, 32, dtype=np.int32)
    want = np.full(32, x[0::2].max() - x[1::2].sum(), np.int32)
    return Launch([Buffer("x", x), into("out", want)])


@kernel("sm_75 sm_80 sm_90a", "stream compaction: ballot, popc, one atomic per warp")
def compact(rng):
    # All positive values are equal, so the order of warps does not show.
    n = 500
    x = np.where(rng.integers(0, 2, n) > 0, 5, -3).astype(np.int32)
    want, before = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    want[: (x > 0).sum()] = 5
    count = np.array([(x > 0).sum()], np.int32)
    return Launch(
        [Buffer("x", x), into("out", want, before), into("count", count, np.zeros(1, np.int32)), i32(n)],
        grid=(4,), block=(128,),
    )  # fmt: skip


@kernel("sm_75 sm_80 sm_90a", "bitonic sort in registers")
def warp_sort(rng):
    x = rng.integers(0, 2**32, (3, 64), dtype=np.uint32)
    return Launch([Buffer("x", x), into("out", np.sort(x, 1))], grid=(3,))
