"""Bulk and tensor copies."""

import numpy as np
from foreign import Buffer, Launch, i32, into, kernel, matrix_map

TARGET = "sm_90a"

# Extents, outermost first, and a box for each rank.
BOXES = {
    1: ([100], [32]),
    2: ([20, 36], [8, 12]),
    3: ([6, 10, 20], [3, 4, 8]),
    4: ([4, 5, 6, 12], [2, 3, 2, 8]),
    5: ([3, 4, 3, 4, 8], [2, 2, 2, 3, 4]),
}


def register(rank):
    @kernel(TARGET + " sm_120a", f"cp.async.bulk.tensor {rank}d load and store, parts out of bounds", name=f"box_{rank}d")
    def copies(rng):
        extents, box = BOXES[rank]
        x = rng.integers(-1000, 1000, extents, dtype=np.int32)
        before = np.full(extents, -7, np.int32)
        want = before.copy()
        # Inside, off the near corner, off the far corner; into distant places so that no two blocks write one element.
        # Along the innermost dimension boxes start at whole granules of 16 bytes.
        places = np.zeros((2, 2, 5), np.int32)
        off = [1] * (rank - 1) + [4]
        far = [e - b + o for e, b, o in zip(extents, box, off)]
        for i, start in enumerate([[-o for o in off], far]):
            to = [0] * rank if i == 0 else far
            # The near and the far target overlap in no element of the first dimension.
            places[i, 0, :rank], places[i, 1, :rank] = start[::-1], to[::-1]
            for index in np.ndindex(*box):
                source = tuple(s + o for s, o in zip(start, index))
                target = tuple(s + o for s, o in zip(to, index))
                inside = all(0 <= s < e for s, e in zip(source, extents))
                if all(0 <= s < e for s, e in zip(target, extents)):
                    want[target] = (x[source] if inside else 0) * 2 + 1
        maps = [matrix_map(n, "s32", a, box[::-1]) for n, a in (("x", x), ("out", want))]
        buffers = [Buffer("x", x), into("out", want, before)]
        words = int(np.prod(box))
        return Launch([*maps, Buffer("places", places), i32(words)], grid=(2,), block=(64,), buffers=buffers)


for _rank in BOXES:
    register(_rank)


@kernel(TARGET, "cp.reduce.async.bulk.tensor add, min, max, and, or, xor; overlapping boxes")
def tensor_reductions(rng):
    x = rng.integers(0, 2**32, (2, 2, 16, 16), dtype=np.uint32)
    before = rng.integers(0, 2**32, (24, 24), dtype=np.uint32)
    operations = [np.add, np.minimum, np.maximum, np.bitwise_and, np.bitwise_or, np.bitwise_xor]
    maps, buffers = [], []
    for op in operations:
        want = before.copy()
        for i, j in np.ndindex(2, 2):
            # The last boxes stand half outside.
            view = want[i * 8 : i * 8 + 16, j * 8 : j * 8 + 16]
            view[...] = op(view, x[i, j][: view.shape[0], : view.shape[1]])
        buffers.append(into(op.__name__, want, before))
        maps.append(matrix_map(op.__name__, "u32", want, [16, 16]))
    return Launch([Buffer("x", x), *maps], grid=(2, 2), block=(64,), buffers=buffers)


@kernel(TARGET, "cp.reduce.async.bulk add of f16, bf16, f32, f64, u64; min of f16")
def bulk_reductions(rng):
    x = rng.integers(0, 200, (4, 64), dtype=np.uint8)
    s = x.astype(np.int64).sum(0)
    bf = (x & 15).astype(np.int64).sum(0).astype(np.float32).view(np.uint32) >> 16
    outputs = {
        "h": s.astype(np.float16),
        "b": bf.astype(np.uint16),
        "f": (s * 0.25).astype(np.float32),
        "d": s * 0.125,
        "u": s.astype(np.uint64) << np.uint64(33),
    }
    args = [into(k, v, np.zeros_like(v)) for k, v in outputs.items()]
    least = into("least", x.min(0).astype(np.float16), np.full(64, np.inf, np.float16))
    return Launch([Buffer("x", x), *args, least], grid=(4,))


@kernel(TARGET + " sm_120a", "cp.async.bulk ring of four buffers, bulk stores two in flight, prefetch.L2")
def streaming(rng):
    pieces = 13
    x = rng.standard_normal((pieces, 256)).astype(np.float32)
    want = (x.astype(np.float64) * 3 + np.arange(256)).astype(np.float32)
    return Launch([Buffer("x", x), into("out", want), i32(pieces)], block=(256,))


def swizzled(span):
    @kernel(TARGET, f"layout that a tensor copy with {span}-byte swizzle leaves", name=f"swizzled_{span}")
    def layout(rng):
        x = rng.integers(0, 2**32, (32, span // 4), dtype=np.uint32)
        tensor = matrix_map("x", "u32", x, [span // 4, 32], f"{span}B")
        return Launch([tensor, into("out", x)], block=(64,), buffers=[Buffer("x", x)])


for _span in (32, 64, 128):
    swizzled(_span)


@kernel(TARGET + " sm_120a", "transpose by stmatrix.trans")
def stmatrix_transpose(rng):
    x = rng.integers(0, 2**16, (3, 32, 32), dtype=np.uint16)
    return Launch([Buffer("x", x), into("out", x.transpose(0, 2, 1).copy())], grid=(3,))


@kernel(TARGET, "griddepcontrol, elect.sync")
def dependent_launch(rng):
    x = rng.integers(0, 1000, 256, dtype=np.int32)
    return Launch([Buffer("x", x), into("out", x + 1)], grid=(2,), block=(128,))
