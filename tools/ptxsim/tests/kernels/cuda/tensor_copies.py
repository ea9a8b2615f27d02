"""tcgen05.cp and tcgen05.shift."""

import numpy as np
from foreign import kernel
from tensor_build import Product, k_major, row_bytes

TARGET = "sm_100a"
OLD = 0x01020304


def launch(entry, images, before, after, place=0, tensor_a=0, pair=False):
    """One instruction on one step; D is what the tensor memory is before and after."""
    job = Product("i8", "u8", "u8", 128, 64, d="s32", steps=1, pair=pair, lane=place)
    places = {"a": images[0].descriptor, "tensor_a": tensor_a}
    words = np.zeros((*before.shape[:2], 0), np.uint32)
    return job.write(entry, "", before.astype(np.int64), after.astype(np.int64), [bytes(i.data) for i in images], words, places)


def source(rng, rows, width, span, blocks=1):
    data = rng.integers(0, 256, (blocks, rows, width), dtype=np.uint8)
    return data, [k_major(d, span, width) for d in data]


def fills(name, rows, width, lanes, span=0, pair=False):
    """A copy whose row r goes to the lanes `lanes(r)`."""

    @kernel(TARGET, f"tcgen05.cp: {name[3:].replace('_', ' ')}", name=name)
    def _(rng):
        blocks = 2 if pair else 1
        data, images = source(rng, max(rows, 8), width, span, blocks)
        before = np.full((blocks, 128, width // 4), OLD, np.uint32)
        after = before.copy()
        for r in range(rows):
            for lane in lanes(r):
                after[:, lane] = data[:, r].copy().view(np.uint32)
        return launch(name, images, before, after, pair=pair)


fills("cp_128x256b", 128, 32, lambda r: [r], span=32)
fills("cp_128x128b", 128, 16, lambda r: [r])
fills("cp_4x256b", 4, 32, lambda r: [32 * r])
fills("cp_64x128b_02_13", 64, 16, lambda r: [r, r + 64])
fills("cp_64x128b_01_23", 64, 16, lambda r: [r % 32 + 64 * (r // 32), r % 32 + 64 * (r // 32) + 32])
fills("cp_32x128b", 32, 16, lambda r: [r, r + 32, r + 64, r + 96])
fills("cp_pair", 32, 16, lambda r: [r, r + 32, r + 64, r + 96], pair=True)


def unpacks(name, bits, width):
    @kernel(TARGET, f"tcgen05.cp: elements of {bits} bits unpacked into bytes", name=name)
    def _(rng):
        codes = rng.integers(0, 1 << bits, (128, width), dtype=np.uint8)
        image = k_major(row_bytes(codes, bits, False), 0, width)
        # Four bits lie in the middle of their byte, as mma.sync takes them.
        held = codes << 2 if bits == 4 else codes
        before = np.full((1, 128, width // 4), OLD, np.uint32)
        return launch(name, [image], before, held.view(np.uint32)[None])


unpacks("cp_six", 6, 16)
unpacks("cp_four", 4, 32)


@kernel(TARGET, "tcgen05.shift, and tcgen05.cp.4x256b into a row of each quarter behind it", name="shift")
def _(rng):
    data, images = source(rng, 8, 32, 0)
    before = rng.integers(0, 1 << 31, (1, 128, 8), dtype=np.uint32)
    after = before.copy()
    after[0, :31] = before[0, 1:32]
    for r in range(4):
        after[0, 32 * r + 31] = data[0, r].copy().view(np.uint32)
    # The address of A is D's, 31 lanes down: D lies 256 columns before A.
    return launch("shift", images, before, after, tensor_a=(31 << 16) - 256)


@kernel(TARGET, "tcgen05.shift in both blocks of a pair", name="shift_pair")
def _(rng):
    _, images = source(rng, 8, 32, 0, 2)
    before = rng.integers(0, 1 << 31, (2, 128, 8), dtype=np.uint32)
    after = before.copy()
    after[:, 64:95] = before[:, 65:96]
    return launch("shift_pair", images, before, after, place=64, pair=True)
