"""Loads, stores, atomics, barriers and copies in forms that no other kernel here has."""

import numpy as np
from foreign import Buffer, Launch, Scratch, into, kernel, matrix_map

TARGETS = "sm_90a sm_120a"
BLANK = np.uint32(0xA5A5A5A5)


@kernel(TARGETS, "cache hints and policies, prefetch, discard, mmio, 128-bit moves, isspacep, ld.const, ldu")
def hinted(rng):
    x = rng.integers(-50, 50, (32, 4)).astype(np.float32)
    words = rng.integers(0, 2**32, (3, 32), dtype=np.uint32)
    after = words.copy()
    after[0] = words.sum(0, dtype=np.uint32)
    wide = rng.integers(0, 2**62, (96, 2), dtype=np.uint64)
    # ldu reads the first two as doubles; the same twice.
    wide[0] = np.float64(3).view(np.uint64)
    done = wide.copy()
    done[32:64] = wide[:32]
    t = np.arange(32)
    # {high, low} of {t, 7} changed places: low is 7 and high is t.
    done[64:96, 0] = 7 * 3 + t
    done[64:96, 1] = 1 << 3
    table = np.array([5, -6, 7, -8, 9, -10, 11, -12])
    y = x + np.stack([-t, table[t % 8], np.ones(32), np.ones(32)], 1).astype(np.float32)
    args = [Buffer("x", x), into("words", after, words), into("wide", done, wide), into("y", y.astype(np.float32))]
    return Launch([*args, Scratch(128)])


@kernel(TARGETS, "generic mapa, getctarank, atom.exch between blocks, st.async b32 and v4, red.async add.u64 and inc")
def neighbours(rng):
    x = rng.integers(0, 2**32, (2, 32), dtype=np.uint32)
    y = np.full((2, 64), BLANK, np.uint32)
    for me in range(2):
        other = 1 - me
        total = int(x[other].astype(np.uint64).sum()) << 8
        # inc wraps to 0 after 2: 0, 1, 2, 3 become 1, 2, 0, 0.
        bits = [np.float32(v).view(np.uint32) for v in (1.5, other)]
        # The exchanges cross: each block's slot held its own number, and holds what the other put there.
        more = [total & 0xFFFFFFFF, total >> 32, other, other, 20 + me, other + 10, 21, *bits, me]
        y[me, :32] = x[other] + np.uint32(1)
        y[me, 32:42] = more
    return Launch([Buffer("x", x), into("y", y)], grid=(2,))


@kernel(TARGETS, "atom add of f16x2 and v4.f32, cas of 16 and 128 bits, red of v8.bf16 and min")
def vector_atomics(rng):
    n, t = 96, np.arange(96)
    pairs = np.tile(np.float16([24, 48]), 4).view(np.uint32)
    quads = np.array([[48, t[i::2].sum(), -48, 24] for i in range(2)], np.float32)
    wide = np.array([n, t.sum()], np.uint64)
    least = np.array([10 - t[i::8].max() for i in range(8)], np.int32)
    eight = (np.full(8, n, np.float32).view(np.uint32) >> 16).astype(np.uint16)
    args = [
        into("pairs", pairs, np.zeros(4, np.uint32)),
        into("quads", quads, np.zeros((2, 4), np.float32)),
        into("wide", wide, np.zeros(2, np.uint64)),
        into("least", least, np.full(8, 1000, np.int32)),
        into("eight", eight, np.zeros(8, np.uint16)),
        into("turns", np.array([n], np.uint16)),
    ]
    return Launch(args, block=(n,))


@kernel(TARGETS, "mbarrier: arrive.expect_tx with its token, noComplete, arrive_drop.expect_tx, complete_tx of a neighbour")
def counted(rng):
    x = rng.integers(-1000, 1000, (2, 2, 32), dtype=np.int32)
    return Launch([Buffer("x", x), into("y", np.ascontiguousarray(x.sum(1, dtype=np.int32)[:, ::-1]))], grid=(2,))


@kernel(TARGETS, "brx.idx, exit, bar.arrive by register, match.all, pmevent")
def jumps(rng):
    which = rng.integers(0, 100, 96, dtype=np.uint32)
    d, t = (which % 3 + 1) * 100, np.arange(96)
    same = int((d[:32] == d[0]).all())
    y = np.full(96, BLANK, np.uint32)
    y[:32] = d[32:64] + t[32:64] + d[64:] + t[64:] + d[:32] + 2 * same
    y[32:] = np.where(t[32:] % 2, BLANK, d[32:])
    return Launch([Buffer("which", which), into("y", y)], block=(96,))


@kernel(TARGETS, "alloca, device malloc and free")
def unknown_sizes(rng):
    sizes = rng.integers(1, 40, 64, dtype=np.int32)
    want = []
    for t, n in enumerate(sizes):
        i = np.arange(n)
        want.append((i[::-1] * t ^ (i[::-1] + t)).sum())
    return Launch([Buffer("sizes", sizes), into("y", np.array(want, np.int32))], block=(64,))


@kernel(TARGETS, "multicast with a cache hint, bulk sums and intersections, prefetch.tensor, cp.async of part of a chunk")
def copies(rng):
    x = rng.integers(0, 2**32, 128, dtype=np.uint32)
    grid = rng.integers(0, 2**32, (7, 32), dtype=np.uint32)
    mine = [x[64:] + np.uint32(me) for me in range(2)]
    before = rng.integers(0, 2**32, 64, dtype=np.uint32)
    y = []
    for me in range(2):
        parts = np.concatenate([x[:32], np.where(np.arange(32) % 4 < 2, x[:32], 0).astype(np.uint32)])
        tile = np.zeros((8, 16), np.uint32)
        tile[:6] = grid[1:, 4 + 4 * me : 20 + 4 * me]
        y.append(np.concatenate([x[:64], mine[0] & mine[1], parts, tile.ravel()]))
    args = [Buffer("x", x), into("sums", before + mine[0] + mine[1], before), into("y", np.array(y, np.uint32))]
    image = Buffer("grid", grid)
    return Launch([*args, matrix_map("grid", "u32", grid, [16, 8])], grid=(2,), buffers=[image])
