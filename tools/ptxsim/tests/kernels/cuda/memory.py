"""Memory: transposes, histograms, atomics, address spaces."""

import struct

import numpy as np
from foreign import Buffer, Bytes, Launch, i32, into, kernel, within

ALL = "sm_75 sm_80 sm_90a sm_120a"


@kernel(ALL, "transpose through swizzled shared memory")
def swizzled_transpose(rng):
    x = rng.integers(0, 2**31, (96, 96), dtype=np.int32)
    return Launch([Buffer("x", x), into("out", x.T.copy()), i32(96)], grid=(3, 3), block=(32, 4))


@kernel(ALL, "transpose by ldmatrix.trans")
def matrix_transpose(rng):
    x = rng.integers(0, 2**16, (3, 32, 32), dtype=np.uint16)
    return Launch([Buffer("x", x), into("out", x.transpose(0, 2, 1).copy())], grid=(3,))


@kernel(ALL, "histogram: atomics on shared memory per warp, then on global memory")
def warp_histograms(rng):
    x = rng.integers(0, 64, 3000, dtype=np.uint8)
    want = np.bincount(x, minlength=64).astype(np.uint32)
    return Launch([Buffer("x", x), into("bins", want, np.zeros(64, np.uint32)), i32(3000)], grid=(3,), block=(128,))


@kernel(ALL, "atom of every operation, 16 to 64 bits, f64, f16x2; compare-and-swap loops")
def atomics_of_every_kind(rng):
    n = 300
    x = rng.integers(-1000, 1000, n, dtype=np.int32)
    before = np.zeros(16, np.int32)
    before[4] = -1
    want = before.copy()
    want[0], want[1], want[2], want[3] = x.sum(), -x.sum(), min(0, x.min()), max(0, x.max())
    want[4], want[5], want[6] = np.bitwise_and.reduce(x), np.bitwise_or.reduce(x), np.bitwise_xor.reduce(x)
    want[7], want[8] = n % 7, -n % 10
    want[10:12] = np.array([x.sum()], np.int64).view(np.int32)
    want[12:14] = np.array([min(0, int(x.min()) << 20)], np.int64).view(np.int32)
    want[14:16] = np.array([int(x.view(np.uint32).max()) << 12], np.uint64).view(np.int32)
    small = 3 * np.bincount(x & 3, minlength=4).astype(np.uint16)
    return Launch(
        [
            Buffer("x", x),
            into("out", want, before),
            into("small", small, np.zeros(4, np.uint16)),
            into("sum", np.array([x.sum() * 0.5]), np.zeros(1)),
            into("pair", np.array([n, (x & 7).sum()], np.float32), np.zeros(2, np.float32)),
            into("halves", np.array([n, 2 * (x & 1).sum()], np.float16), np.zeros(2, np.float16)),
            i32(n),
        ],
        grid=(3,),
        block=(128,),
    )


@kernel(ALL, "array in local memory")
def local_arrays(rng):
    x = rng.integers(0, 16, (64, 20), dtype=np.uint8)
    want = []
    for row in x:
        counts = np.bincount(row, minlength=16)
        counts[3] += 100
        want.append(counts.argmax() * 1000 + counts.max())
    return Launch([Buffer("x", x), into("out", np.array(want, np.int32))], grid=(2,))


@kernel(ALL, "generic addresses, isspacep, constant table, module variables, a called function")
def generic_addresses(rng):
    table = [3, 1, 4, 1, 5, 9, 2, 6]
    before = rng.integers(0, 50, 256, dtype=np.int32)
    want = before.copy()
    for t in range(64):
        s, l = t, t % 4 + 1
        for i in range(4):
            by = table[(i * 3 + t) % 8]
            match (i + t) % 4:
                case 0:
                    want[t] += by
                case 1:
                    s += by
                case 2:
                    l += by
                case 3:
                    want[64 + t] += by
        want[128 + t] = s * 10000 + l * 1000 + 111 + 5
    want[192] = 1000 + 2007
    return Launch([into("out", want, before)], block=(64,))


@kernel(ALL, "struct parameter, dynamic shared memory, 8- and 16-bit accesses")
def dynamic_shared(rng):
    n = 101
    x = rng.integers(0, 256, (n, 3), dtype=np.uint8)
    shape = Bytes(struct.pack("<3if3Bx", 1, 17, 2, 3.0, 10, 20, 30))
    p = np.roll(x, -17, 0).astype(np.int64) ^ [10, 20, 30]
    want = (p @ [1, 2, 3])[::-1].astype(np.uint16)
    return Launch([shape, Buffer("x", x), into("out", want.copy()), i32(n)], block=(64,), shared=304 + 16 + 2 * n)


@kernel(ALL, "printf")
def prints(rng):
    x = np.array([1.5, -2.25, 1e3], np.float32)
    words = ["even", "odd", "even"]
    lines = [f"{t}: {x[t]:5.2f} {words[t]} 0x{t * 0x1234567:08x} {'abc'[t]}% {t << 40}\n" for t in range(3)]
    return Launch([Buffer("x", x)], stdout="".join(lines))


@kernel(ALL, "cache operators and vectors: ld.nc, .cs, .cg, .lu, L1::no_allocate, st.wt")
def cache_operators(rng):
    x = rng.integers(-(2**30), 2**30, (4, 32, 4), dtype=np.int32)
    a, b, c, d = x
    want = np.stack([a[:, 0] + b[:, 0], a[:, 1] + c[:, 1], a[:, 2] + d[:, 2], b[:, 3] + c[:, 3]], 1)
    s = rng.integers(0, 2**16, (32, 4), dtype=np.uint16)
    w = rng.standard_normal((32, 2))
    args = [Buffer("x", x), into("out", want), Buffer("s", s), into("s_out", s[:, ::-1].copy())]
    return Launch([*args, Buffer("w", w), into("w_out", w[:, ::-1].copy())])
