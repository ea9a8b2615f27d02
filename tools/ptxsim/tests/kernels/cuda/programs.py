"""Programs as users write them, whose blocks and warps hand work to each other; some with a mistake that is found."""

import numpy as np
from foreign import Buffer, Launch, Scratch, i32, into, kernel, within

TARGETS = "sm_80 sm_90a sm_120a"


def product(rng, m, n, k):
    a = rng.standard_normal((m, k)).astype(np.float32)
    b = rng.standard_normal((k, n)).astype(np.float32)
    c = (a.astype(np.float64) @ b).astype(np.float32)
    return [Buffer("a", a), Buffer("b", b), into("c", c, tolerance=within(1e-4))]


def streamed(rng, fault=None):
    m, n, k, blocks = 32, 48, 112, 4
    flags = Buffer("flags", np.zeros(blocks, np.int32), np.array([1, 1, 1, 0], np.int32))
    tiles = m * n // 256
    args = [*product(rng, m, n, k), Scratch(4 * 256 * blocks), flags, i32(n), i32(k), i32(tiles)]
    return Launch(args, grid=(blocks,), block=(256,), fault=fault)


@kernel(TARGETS, "stream-k product: parts of tiles handed from block to block by st.release and ld.acquire", "absolute 1e-4")
def stream_k(rng):
    return streamed(rng)


@kernel(TARGETS, "the same without the barrier that lets all threads see what one has waited for: reported")
def stream_k_hasty(rng):
    return streamed(rng, "a data race")


def in_turn(rng, fault=None):
    n, k, parts = 32, 96, 3
    turn = into("turn", np.full(4, parts, np.int32), np.zeros(4, np.int32))
    args = [*product(rng, 32, n, k), turn, i32(n), i32(k)]
    return Launch(args, grid=(2, 2, parts), block=(256,), fault=fault)


@kernel(TARGETS, "split-k product whose blocks add in turn: a semaphore with __syncthreads_and", "absolute 1e-4")
def turns(rng):
    return in_turn(rng)


@kernel(TARGETS, "the same with volatile accesses and no fences: reported")
def turns_volatile(rng):
    return in_turn(rng, "a data race")


@kernel(TARGETS, "Fourier transform of 512 points: butterflies in shared memory, sincospi", "absolute 1e-3")
def fft(rng):
    x = (rng.standard_normal((3, 512)) + 1j * rng.standard_normal((3, 512))).astype(np.complex64)
    want = np.fft.fft(x.astype(np.complex128)).astype(np.complex64)
    args = [Buffer("x", x.view(np.float32)), into("y", want.view(np.float32), tolerance=within(1e-3))]
    return Launch(args, grid=(3,), block=(256,))


@kernel(TARGETS, "layer norm by Welford's recurrence: structures through shuffles and shared memory", "absolute 1e-4")
def welford(rng):
    n = 700
    x = (rng.standard_normal((4, n)) * 3 + 50).astype(np.float32)
    gain = rng.standard_normal(n).astype(np.float32)
    wide = x.astype(np.float64)
    want = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5) * gain
    y = into("y", want.astype(np.float32), tolerance=within(1e-4))
    return Launch([Buffer("x", x), Buffer("gain", gain), y, i32(n)], grid=(4,), block=(160,))


@kernel(TARGETS, "radix sort of a block: match.any ranks, digits of four bits")
def digit_sort(rng):
    x = rng.integers(0, 2**32, (2, 1024), dtype=np.uint32)
    x[1, ::3] = x[1, 0]
    return Launch([Buffer("x", x), into("y", np.sort(x, 1))], grid=(2,), block=(256,))


@kernel(TARGETS, "queue between blocks: tickets by atomics, a release and an acquire per slot")
def queue(rng):
    each, pairs, threads = 3, 2, 32
    n = each * pairs * threads
    numbers = np.arange(n)
    return Launch(
        [
            into("slots", (numbers**2).astype(np.int32)),
            into("ready", np.ones(n, np.int32), np.zeros(n, np.int32)),
            into("put", np.array([n], np.int32), np.zeros(1, np.int32)),
            into("taken", np.array([n], np.int32), np.zeros(1, np.int32)),
            into("sum", np.array([(numbers**2).sum()], np.uint64), np.zeros(1, np.uint64)),
            i32(each),
        ],
        grid=(2 * pairs,),
        block=(threads,),
    )


def ring(rng, fault=None):
    rows = 9
    x = rng.standard_normal((rows, 128)).astype(np.float32)
    t, want = np.arange(96), np.zeros(96, np.float32)
    for r in range(rows):
        want = want * np.float32(0.5) + x[r, (t * 37 + r) % 128]
    y = into("y", want, tolerance=within(1e-6))
    return Launch([Buffer("x", x), y, i32(rows)], block=(96,), fault=fault)


@kernel(TARGETS, "ring of three buffers filled by cp.async of one warp, read by three", "absolute 1e-6")
def ring_buffers(rng):
    return ring(rng)


@kernel(TARGETS, "the same one buffer too far ahead: reported")
def ring_buffers_hasty(rng):
    return ring(rng, "still read")
