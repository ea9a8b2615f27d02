"""Scans and reductions of rows."""

import numpy as np
from foreign import Buffer, Launch, f32, i32, into, kernel, within

TARGETS = "sm_75 sm_80 sm_90a sm_120a"


@kernel(TARGETS, "block-wide scan: shuffles and shared memory")
def block_scan(rng):
    x = rng.integers(-100, 100, (3, 256), dtype=np.int32)
    return Launch([Buffer("x", x), into("out", np.cumsum(x, 1, dtype=np.int32))], grid=(3,), block=(256,))


@kernel(TARGETS, "single-pass scan across blocks: ticket, ld.acquire, st.release, spinning on other blocks")
def decoupled_look_back(rng):
    x = rng.integers(-100, 100, 20 * 256, dtype=np.int32)
    want = np.cumsum(x, dtype=np.int32)
    sums = want[255::256]
    state = (np.uint64(2) << np.uint64(32)) | sums.view(np.uint32).astype(np.uint64)
    return Launch(
        [
            Buffer("x", x),
            into("out", want),
            into("ticket", np.array([20], np.uint32), np.zeros(1, np.uint32)),
            into("state", state, np.zeros(20, np.uint64)),
        ],
        grid=(20,),
        block=(256,),
    )


@kernel(TARGETS, "work-efficient exclusive scan")
def two_sweeps(rng):
    x = rng.integers(-100, 100, (2, 512), dtype=np.int32)
    return Launch([Buffer("x", x), into("out", np.cumsum(x, 1, dtype=np.int32) - x)], grid=(2,), block=(256,))


@kernel(TARGETS, "segmented scan", "absolute 1e-4")
def segmented_scan(rng):
    x = rng.standard_normal((2, 256)).astype(np.float32)
    head = (rng.random((2, 256)) < 0.1).astype(np.int32)
    want = np.zeros((2, 256))
    for r in range(2):
        for c in range(256):
            want[r, c] = x[r, c] + (0 if c == 0 or head[r, c] else want[r, c - 1])
    out = into("out", want.astype(np.float32), tolerance=within(1e-4))
    return Launch([Buffer("x", x), Buffer("head", head), out], grid=(2,), block=(256,))


@kernel(TARGETS, "layer norm on float4: vector loads, rsqrt", "absolute 1e-5")
def layer_norm(rng):
    x = rng.standard_normal((5, 512)).astype(np.float32) * 3 + 1
    gain, bias = rng.standard_normal((2, 512)).astype(np.float32)
    d = x.astype(np.float64)
    want = (d - d.mean(1, keepdims=True)) / np.sqrt(d.var(1, keepdims=True) + 1e-5) * gain + bias
    out = into("out", want.astype(np.float32), tolerance=within(1e-5))
    args = [Buffer("x", x), Buffer("gain", gain), Buffer("bias", bias), out, f32(1e-5)]
    return Launch(args, grid=(5,), block=(128,))


@kernel(TARGETS, "softmax in one pass: ex2.approx, infinities", "relative 1e-5")
def online_softmax(rng):
    for cols in (7, 300, 1024):
        x = rng.standard_normal((3, cols)).astype(np.float32) * 4
        e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
        want = (e / e.sum(1, keepdims=True)).astype(np.float32)
        out = into("out", want, tolerance=within(1e-9, 1e-5))
        yield Launch([Buffer("x", x), out, i32(cols)], grid=(3,), block=(128,))


@kernel(TARGETS, "arg-max by 64-bit atomics in shared memory")
def arg_max(rng):
    x = rng.standard_normal((6, 333)).astype(np.float32)
    x[2, [5, 200]] = 9
    return Launch([Buffer("x", x), into("out", x.argmax(1).astype(np.int32)), i32(333)], grid=(6,), block=(96,))
