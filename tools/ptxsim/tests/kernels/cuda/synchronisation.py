"""Blocks and warps that wait for each other."""

import numpy as np
from foreign import Buffer, Launch, i32, into, kernel, within

TARGETS = "sm_75 sm_80 sm_90a"


@kernel(TARGETS, "grid-wide barrier by atomics and volatile loads")
def grid_barrier(rng):
    a = rng.integers(-9, 9, 256, dtype=np.int32)
    b, x, y = np.zeros(256, np.int32), a.copy(), np.zeros(256, np.int32)
    for r in range(1, 6):
        x, y = np.roll(x, 1) * 2 + np.roll(x, -1) + r, x
    # Five rounds end in b; a holds the fourth.
    return Launch(
        [into("a", y.astype(np.int32), a), into("b", x.astype(np.int32), b), into("counter", np.array([20], np.uint32), np.zeros(1, np.uint32)), i32(5)],
        grid=(4,), block=(64,),
    )  # fmt: skip


@kernel(TARGETS, "persistent blocks with a queue")
def work_queue(rng):
    n = rng.integers(1, 900, 30, dtype=np.int32)
    want = np.array([(np.arange(k, dtype=np.int64) ** 2).sum() for k in n]).astype(np.int32)
    zero = np.zeros(1, np.int32)
    counts = [into("next", np.array([34], np.int32), zero), into("busy", np.array([30], np.int32), zero)]
    return Launch([Buffer("length", n), into("out", want), i32(30), *counts], grid=(4,))


@kernel(TARGETS, "last block sums: __threadfence, atom.inc", "absolute 1e-4")
def last_block(rng):
    x = rng.standard_normal((12, 32)).astype(np.float32)
    sums = x.sum(1, dtype=np.float64)
    close = within(1e-4)
    args = [
        into("parts", sums.astype(np.float32), tolerance=close),
        into("done", np.zeros(1, np.uint32), np.zeros(1, np.uint32)),
        into("total", np.array([sums.sum()], np.float32), tolerance=close),
    ]
    return Launch([Buffer("x", x), *args], grid=(12,))


@kernel(TARGETS, "named barriers: arrive and sync with counts; barrier reductions")
def named_barriers(rng):
    x = rng.integers(-1000, 1000, (7, 64), dtype=np.int32)
    total = np.zeros(64, np.int32)
    for row in x:
        total = total * 5 + row[::-1]
    flags = np.array([2 * int((x[0] & 1).sum()) * 4 + 2], np.int32)
    return Launch([Buffer("x", x), into("out", np.concatenate([total, flags])), i32(7)], block=(128,))


@kernel(TARGETS, "edit distance: a wavefront with a barrier per step")
def edit_distance(rng):
    n = 64
    a, b = rng.integers(97, 101, (2, 2, n)).astype(np.int8)
    want = []
    for s, t in zip(a, b):
        row = list(range(n + 1))
        for i in range(n):
            new = [i + 1]
            for j in range(n):
                new.append(min(row[j + 1] + 1, new[j] + 1, row[j] + (s[i] != t[j])))
            row = new
        want.append(row[n])
    return Launch([Buffer("a", a), Buffer("b", b), into("out", np.array(want, np.int32)), i32(n)], grid=(2,), block=(64,))


@kernel(TARGETS, "hash table: atom.cas on slots")
def hash_table(rng):
    # Keys whose homes lie apart, so that the layout does not depend on who comes first.
    slots, keys, homes = 512, [], set()
    while len(keys) < 60:
        key = int(rng.integers(1, 2**31))
        home = key * 2654435761 % 2**32 % slots
        if home not in homes:
            homes.add(home)
            keys.append(key)
    picks = rng.integers(0, 60, 400)
    want = np.zeros((slots, 2), np.uint32)
    for k, count in enumerate(np.bincount(picks, minlength=60)):
        if count:
            want[keys[k] * 2654435761 % 2**32 % slots] = keys[k], count
    x = np.array(keys, np.uint32)[picks]
    table = into("table", want, np.zeros_like(want))
    return Launch([Buffer("x", x), table, i32(slots), i32(400)], grid=(4,), block=(128,))


@kernel(TARGETS, "calls through pointers that differ between lanes; recursion")
def function_pointers(rng):
    which = rng.integers(0, 3, 64, dtype=np.int32)
    fib = [0, 1]
    while len(fib) < 11:
        fib.append(fib[-1] + fib[-2])
    want = [[t % 11 + 3, t % 11 * 3, fib[t % 11]][w] * 2 for t, w in enumerate(which)]
    return Launch([Buffer("which", which), into("out", np.array(want, np.int32))], block=(64,))


@kernel("sm_80 sm_90a", "mbarrier with tokens, test_wait, arrive_drop, pending_count; cp.async.mbarrier.arrive")
def mbarrier_tokens(rng):
    x = rng.integers(-1000, 1000, 64, dtype=np.int32)
    return Launch([Buffer("x", x), into("out", x[::-1] * 3 + 1)], block=(64,))
