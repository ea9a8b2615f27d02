"""What sm_100 and later have: gathered rows, clusters that are cancelled, wide accesses, masked copies."""

import numpy as np
from foreign import Buffer, Launch, Scratch, into, kernel, matrix_map

NEW = "sm_120a"


@kernel(NEW, "cp.async.bulk.tensor gather4, rows and columns out of bounds")
def gathered_rows(rng):
    x = rng.integers(0, 2**32, (20, 36), dtype=np.uint32)
    rows = rng.permutation(20)[:12].astype(np.int32)
    rows[5] = 33
    padded = np.zeros((40, 64), np.uint32)
    padded[:20, :36] = x
    want = np.stack([padded[rows[4 * i : 4 * i + 4], 8 * i : 8 * i + 32] for i in range(3)])
    args = [Buffer("rows", rows), into("out", want), matrix_map("x", "u32", x, [32, 1])]
    return Launch(args, buffers=[Buffer("x", x)])


@kernel(NEW, "clusterlaunchcontrol.try_cancel and query_cancel: blocks that take the work of others")
def stolen_work(rng):
    x = rng.integers(-1000, 1000, (40, 32), dtype=np.int32)
    taken = into("taken", np.array([40], np.int32), np.zeros(1, np.int32))
    return Launch([Buffer("x", x), into("y", 3 * x + 1), taken], grid=(40,))


@kernel(NEW, "ld and st of 256 bits, st.bulk, cp.async.bulk with cp_mask")
def wide_accesses(rng):
    x = rng.integers(0, 2**32, (32, 8), dtype=np.uint32)
    tile = (np.arange(256, dtype=np.uint32) * np.uint32(0x01010101)).view(np.uint8)
    tile[256:384] = 0
    before = rng.integers(0, 256, 1024, dtype=np.uint8)
    # A bit per byte of every 16.
    chosen = np.array([0x5A0F >> i & 1 for i in range(16)] * 64, bool)
    args = [Buffer("x", x), into("y", np.ascontiguousarray(x[:, ::-1])), into("z", np.where(chosen, tile, before), before)]
    return Launch(args)


@kernel("sm_100a", "cp.async.bulk.tensor scatter4, rows and columns out of bounds")
def scattered_rows(rng):
    x = rng.integers(0, 2**32, (12, 32), dtype=np.uint32)
    before = rng.integers(0, 2**32, (20, 28), dtype=np.uint32)
    rows = rng.permutation(20)[:12].astype(np.int32)
    rows[7] = 20
    after = np.zeros((40, 64), np.uint32)
    after[:20, :28] = before
    after[rows, 4:36] = x
    map = matrix_map("grid", "u32", before, [32, 1])
    grid = into("grid", np.ascontiguousarray(after[:20, :28]), before)
    return Launch([Buffer("x", x), Buffer("rows", rows), map], buffers=[grid])


@kernel("sm_100a", "redux.sync of f32")
def largest(rng):
    x = rng.standard_normal(32).astype(np.float32)
    want = np.where(np.arange(32) % 2, np.abs(x).max(), x.min()).astype(np.float32)
    return Launch([Buffer("x", x), into("y", want)])
