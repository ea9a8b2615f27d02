"""Operands of `tcgen05.mma` laid out as the PTX ISA says: canonical layouts of shared memory (9.7.16.3.3, as CuTe writes
them), lanes and columns of tensor memory (9.7.16.10.5-8), descriptors (9.7.16.4)."""

import struct
from dataclasses import dataclass, field

import foreign
import ml_dtypes
import numpy as np

# name: numpy type, bits, code in the instruction descriptor
FORMATS = {
    "f16": (np.float16, 16, 0),
    "bf16": (ml_dtypes.bfloat16, 16, 1),
    "tf32": (np.float32, 32, 2),
    "e4m3": (ml_dtypes.float8_e4m3fn, 8, 0),
    "e5m2": (ml_dtypes.float8_e5m2, 8, 1),
    "e2m3": (ml_dtypes.float6_e2m3fn, 6, 3),
    "e3m2": (ml_dtypes.float6_e3m2fn, 6, 4),
    "e2m1": (ml_dtypes.float4_e2m1fn, 4, 5),
    "u8": (np.uint8, 8, 0),
    "s8": (np.int8, 8, 1),
}
# elements of k of a dense product
DEPTH = {"f16": 16, "tf32": 8, "f8f6f4": 32, "i8": 32, "mxf8f6f4": 32, "mxf4": 64, "mxf4nvf4": 64}
# swizzle span in bytes: code in the shared-memory descriptor
SWIZZLES = {0: 0, 32: 6, 64: 4, 128: 2}
MARK = 12344.0


def random(rng, name, shape):
    """Codes and values of a format, of moderate size."""
    dtype, bits, _ = FORMATS[name]
    if name in ("u8", "s8"):
        codes = rng.integers(0, 256, shape, dtype=np.uint8)
        return codes, codes.view(dtype).astype(np.float64)
    if bits > 8:
        values = rng.uniform(-1, 1, shape).astype(dtype)
        if name == "tf32":
            values = foreign.tf32(values.astype(np.float32))
        return values.view({16: np.uint16, 32: np.uint32}[bits]), values.astype(np.float64)
    every = np.arange(1 << bits, dtype=np.uint8).view(dtype).astype(np.float64)
    usable = np.flatnonzero(np.isfinite(every) & (np.abs(every) <= 8))
    codes = usable[rng.integers(0, len(usable), shape)].astype(np.uint8)
    return codes, every[codes]


def row_bytes(codes, bits, packed):
    """Bytes of rows along k in shared memory: 16 narrow elements to 16 bytes, or two to a byte."""
    if bits == 4 and packed:
        return (codes[:, ::2] | codes[:, 1::2] << 4).astype(np.uint8)
    if bits in (4, 6):
        groups = codes.reshape(codes.shape[0], -1, 16).astype(object)
        words = sum(groups[:, :, i] << (bits * i) for i in range(16))
        raw = b"".join(int(w).to_bytes(16, "little") for w in words.reshape(-1))
        return np.frombuffer(raw, np.uint8).reshape(codes.shape[0], -1)
    return np.ascontiguousarray(codes).view(np.uint8).reshape(codes.shape[0], -1)


def tensor_words(codes, bits, packed):
    """Words of rows along k in tensor memory: narrow elements in a byte each, four bits in its middle."""
    if bits == 4 and not packed:
        codes = codes << 2
    if bits == 4 and packed:
        return row_bytes(codes, bits, True).view(np.uint32)
    return np.ascontiguousarray(codes).view(np.uint8).reshape(codes.shape[0], -1).view(np.uint32)


@dataclass
class Image:
    """A matrix in shared memory: its bytes, descriptor (version included), and what a step along k adds to it."""

    data: bytearray
    descriptor: int
    step: int


def put(image, address, chunk, shift, keep):
    """Writes a chunk where a swizzle takes it: address bits from `shift` change by those from 7."""
    address ^= (address >> 7 & keep) << shift
    image[address : address + len(chunk)] = chunk


def k_major(rows, span, step_bytes):
    """((8,m),(T,2k)):((ST,SBO),(1,T)), without swizzle ((1T,SBO),(1,LBO))."""
    count, width = rows.shape
    image = bytearray(count * width)
    keep = {0: 0, 32: 1, 64: 3, 128: 7}[span]
    if span:
        assert width == span, "one atom along k"
        leading, stride, step = 16, 8 * span, step_bytes
    else:
        stride, leading = 128, 16 * count
        step = step_bytes // 16 * leading
    for r in range(count):
        for c in range(width // 16):
            at = r // 8 * stride + (r % 8 * span + c * 16 if span else r % 8 * 16 + c * leading)
            put(image, at, rows[r, 16 * c : 16 * c + 16].tobytes(), 4, keep)
    return Image(image, leading >> 4 << 16 | stride >> 4 << 32 | 1 << 46 | SWIZZLES[span] << 61, step >> 4)


def mn_major(codes, span, depth, wide=False):
    """((T,s,m),(8,k)):((1,T,LBO),(sT,SBO)), without swizzle ((1,T,SBO),(1T,LBO)); `wide` has atoms of 32 bytes, 4 of k."""
    count, k = codes.shape
    size = codes.dtype.itemsize
    per, group = 16 // size, 4 if wide else 8
    image = bytearray(codes.nbytes)
    keep = 3 if wide else {0: 0, 32: 1, 64: 3, 128: 7}[span]
    if span:
        columns = span // size
        stride = group * span
        leading = stride * (k // group)
        step = depth // group * stride
    else:
        columns, stride = per, 128 * (k // 8)
        leading, step = 128, depth // 8 * 128
    for c in range(count // per):
        for p in range(k):
            if span:
                at = c * per // columns * leading + c * per % columns * size + p // group * stride + p % group * span
            else:
                at = c * stride + p // 8 * leading + p % 8 * 16
            put(image, at, codes[c * per : c * per + per, p].tobytes(), 5 if wide else 4, keep)
    code = 1 if wide else SWIZZLES[span]
    return Image(image, leading >> 4 << 16 | stride >> 4 << 32 | 1 << 46 | code << 61, step >> 4)


SPARSE_PAIRS = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])


@dataclass
class Product:
    """A launch of a form of `tcgen05.cuh`; fields as in the instruction."""

    kind: str
    a: str
    b: str
    m: int
    n: int
    d: str = "f32"
    steps: int = 2
    pair: bool = False
    stationary: bool = False
    sparse: bool = False
    # A in tensor memory
    tensor_a: bool = False
    # bytes of the swizzles of A and B
    spans: tuple = (0, 0)
    transposed: tuple = (False, False)
    negate: tuple = (False, False)
    saturate: bool = False
    # lane of the addresses, 0 or 16
    lane: int = 0
    accumulate: bool = False
    scale_d: int = 0
    disabled: tuple = ()
    # scales per row of a step, their type, and the bytes at which they begin
    scales: int = 0
    powers: bool = True
    ids: tuple = (0, 0)
    # k of a dense step, where it is not the usual one
    depth: int = 0
    # zero-column mask of .ws: its bits, the columns that it makes zero, and the shift
    mask: int = 0
    zero: tuple = ()
    shift: int = 0
    shift_a: bool = False
    tolerance: float = 1e-3

    @property
    def packed(self):
        return self.kind in ("mxf4", "mxf4nvf4")

    @property
    def rows(self):
        """Of A and D in each block."""
        return self.m // 2 if self.pair else self.m

    @property
    def split(self):
        """Parts of D's columns one below the other."""
        if self.rows == 32:
            return 4
        return 2 if self.rows == 64 and (self.stationary or self.pair and not self.sparse) else 1

    def descriptor(self):
        code = (lambda name: 1) if self.packed else (lambda name: FORMATS[name][2])
        word = self.sparse << 2 | code(self.a) << 7 | code(self.b) << 10 | self.n >> 3 << 17
        word |= self.negate[0] << 13 | self.negate[1] << 14 | self.transposed[0] << 15 | self.transposed[1] << 16
        if self.scales:
            word |= self.ids[1] << 4 | self.powers << 23 | self.m >> 7 << 27 | self.ids[0] << 29
            return word | (1 << 31 if self.depth == 96 else 0)
        return word | self.saturate << 3 | {"f16": 0, "f32": 1, "s32": 2}[self.d] << 4 | self.m >> 4 << 24

    def lanes(self):
        """Lanes that hold rows of A and D, and which rows."""
        if self.rows == 64 and self.split == 1:
            rows = np.arange(64)
            return rows % 16 + rows // 16 * 32 + self.lane, rows
        return np.arange(128), np.arange(128) % self.rows

    def places(self):
        """Block, lane and column of each element of D (figures 205-218)."""
        i, j = np.meshgrid(np.arange(self.m), np.arange(self.n), indexing="ij")
        block, row, wide = i // self.rows, i % self.rows, self.n // self.split
        if self.rows == 64 and self.split == 1:
            return block, row % 16 + row // 16 * 32 + self.lane, j
        return block, row + self.rows * (j // wide), j % wide

    def scale_words(self, codes, rows, first, quarters):
        """Words of the scales of a step: `quarters` gives the rows that each quarter of the lanes has."""
        groups, words = -(-rows // 32), -(-(first + self.scales) // 4)
        tensor = np.full((128, groups * words, 4), 0x7E, np.uint8)
        for q, own in enumerate(quarters):
            for r, row in enumerate(own):
                for j in range(self.scales):
                    byte = first + j
                    tensor[32 * q + r % 32, byte // 4 * groups + r // 32, byte % 4] = codes[row, j]
        return tensor.view(np.uint32)[:, :, 0]

    def metadata_words(self, nibbles):
        """Words of the metadata of a step: `nibbles` by row of the block and group of four (tf32: two; pairs: eight)."""
        groups = nibbles.shape[1]
        tensor = np.zeros((128, 1 if self.kind in ("f16", "tf32") else 2), np.uint64)
        lanes, rows = self.lanes()
        for lane, row in zip(lanes, rows, strict=True):
            for g in range(groups):
                nibble = int(nibbles[row, g])
                if self.kind in ("f16", "tf32"):
                    tensor[lane // 16 * 16 + lane % 8 + 8 * (g // 4), 0] |= np.uint64(nibble << (16 * (lane // 8 % 2) + g % 4 * 4))
                else:
                    tensor[lane, g // 8] |= np.uint64(nibble << (g % 8 * 4))
        return tensor.astype(np.uint32)

    def thin(self, rng, k):
        """Codes and values of a sparse A: what is stored, dense values, metadata by row and group."""
        unit = 2 if self.packed else 1
        codes, values = random(rng, self.a, (self.m, k // 2))
        dense = np.zeros((self.m, k))
        group = 2 if self.kind == "tf32" else 4 * unit
        nibbles = np.zeros((self.m, k // group), np.uint8)
        for g in range(k // group):
            if self.kind == "tf32":
                at = rng.integers(0, 2, self.m)
                nibbles[:, g] = np.where(at == 1, 0b1110, 0b0100)
                dense[np.arange(self.m), 2 * g + at] = values[:, g]
                continue
            kept = SPARSE_PAIRS[rng.integers(0, 6, self.m)]
            nibbles[:, g] = kept[:, 0] | kept[:, 1] << 2
            for which in range(2):
                for u in range(unit):
                    dense[np.arange(self.m), (4 * g + kept[:, which]) * unit + u] = values[:, (2 * g + which) * unit + u]
        return codes, dense, nibbles

    def scale_codes(self, rng, rows):
        if self.powers:
            codes = rng.integers(124, 131, (rows, self.scales * self.steps), dtype=np.uint8)
            return codes, 2.0 ** (codes.astype(np.int64) - 127)
        codes = rng.integers(0x28, 0x48, (rows, self.scales * self.steps), dtype=np.uint8)
        return codes, codes.view(ml_dtypes.float8_e4m3fn).astype(np.float64)

    def matrix(self, codes, which, depth):
        """A block's part of A or B in shared memory."""
        bits = FORMATS[(self.a, self.b)[which]][1]
        if self.transposed[which]:
            return mn_major(codes, self.spans[which], depth, wide=bits == 32)
        rows = row_bytes(codes, bits, self.packed)
        return k_major(rows, self.spans[which], rows.shape[1] // self.steps)

    def launch(self, rng, entry, label=""):
        dense = self.depth or DEPTH[self.kind]
        depth, blocks = dense * (2 if self.sparse else 1), 2 if self.pair else 1
        k, spare = depth * self.steps, 32 if self.mask else 0
        if self.sparse:
            ca, va, nibbles = self.thin(rng, k)
        else:
            ca, va = random(rng, self.a, (self.m, k))
        cb, vb = random(rng, self.b, (self.n + spare, k))
        x, y = va, vb[self.shift : self.shift + self.n].copy()
        y[np.array(self.zero, bool)[: self.n] if self.zero else np.zeros(self.n, bool)] = 0
        if self.shift_a:
            x = x.reshape(blocks, self.rows, k)
            x = np.concatenate([x[:, 1:], x[:, -1:]], 1).reshape(self.m, k)
        if self.scales:
            (sa, u), (sb, v) = self.scale_codes(rng, self.m), self.scale_codes(rng, self.n)
            x, y = x * np.repeat(u, depth // self.scales, 1), y * np.repeat(v, depth // self.scales, 1)
        want = (-x if self.negate[0] else x) @ (-y if self.negate[1] else y).T
        # D before: a mark in the cells that stay as they are.
        wide = self.n // self.split
        before, after = np.full((blocks, 128, wide), MARK), None
        if self.accumulate:
            old = rng.integers(-4, 5, want.shape).astype(np.float64)
            before[self.places()] = old
            want = want + old * 2.0**-self.scale_d if self.steps == 1 else want + old
        if self.saturate:
            want = np.clip(want, -(2**31), 2**31 - 1)
        after = before.copy()
        after[self.places()] = want
        for lane in self.disabled:
            after[lane // 128, lane % 128] = before[lane // 128, lane % 128]
        images, words, places = [], [], {}
        for block in range(blocks):
            rows = slice(block * self.rows, (block + 1) * self.rows)
            per = self.n // blocks
            b = self.matrix(cb[block * per : (block + 1) * per + spare], 1, depth)
            a = None if self.tensor_a else self.matrix(ca[rows], 0, dense)
            image = bytes(a.data) if a else b""
            image += bytes(-len(image) % 1024)
            places |= {"b": b.descriptor, "b_step": b.step, "b_at": len(image)}
            places |= {"a": a.descriptor if a else 0, "a_step": a.step if a else 0}
            image += bytes(b.data)
            images.append(image + bytes(-len(image) % 16))
            parts = []

            def add(name, columns, parts=parts):
                places[name] = sum(p.shape[1] for p in parts)
                places[name + "_words"] = columns.shape[1] // self.steps
                parts.append(columns)

            lanes, held = self.lanes()
            if self.tensor_a:
                full = tensor_words(ca[rows], FORMATS[self.a][1], self.packed)
                columns = np.zeros((128, full.shape[1]), np.uint32)
                columns[lanes] = full[held]
                add("tensor_a", columns)
            if self.scales:
                wide_b = self.n // self.split
                for name, codes, count, first, quarters in (
                    ("scale_a", sa[rows], self.rows, self.ids[0], [range(self.rows)] * 4),
                    ("scale_b", sb, wide_b, self.ids[1], [range(q * self.split // 4 * wide_b, (q * self.split // 4 + 1) * wide_b) for q in range(4)]),
                ):
                    by_step = np.split(codes, self.steps, 1)
                    add(name, np.concatenate([self.scale_words(c, count, first, quarters) for c in by_step], 1))
            if self.sparse:
                by_step = np.split(nibbles[rows], self.steps, 1)
                add("metadata", np.concatenate([self.metadata_words(n) for n in by_step], 1))
            words.append(np.concatenate(parts, 1) if parts else np.zeros((128, 0), np.uint32))
        return self.write(entry, label, before, after, images, np.stack(words), places)

    def write(self, entry, label, before, after, images, words, places):
        raw = {
            "f32": lambda x: x.astype(np.float32),
            "f16": lambda x: np.stack([x.astype(np.float16), np.zeros_like(x, np.float16)], -1),
            "s32": lambda x: (x.astype(np.int64) & 0xFFFFFFFF).astype(np.uint32),
        }[self.d]
        blocks = len(images)
        bits = lambda x: np.ascontiguousarray(raw(x)).view(np.uint32).reshape(x.shape)  # noqa: E731
        tensor = np.concatenate([bits(before), words], 2)
        disabled = [sum(1 << (x % 32) for x in self.disabled if x // 32 == w) for w in range(8)]
        get = lambda name: places.get(name, 0)  # noqa: E731
        job = struct.pack(
            "<5Q16I8I",
            *(get(x) for x in ("a", "b", "a_step", "b_step")), self.mask,
            self.descriptor(), self.steps, len(images[0]), get("b_at"), before.shape[2], words.shape[2], self.lane,
            get("tensor_a"), get("tensor_a_words"), get("scale_a"), get("scale_b"), get("scale_a_words"), get("scale_b_words"),
            get("metadata"), get("metadata_words"), self.accumulate, *disabled,
        )  # fmt: skip
        tolerance = foreign.EXACT if self.d == "s32" else foreign.within(self.tolerance, 1e-5)
        return foreign.Launch(
            [
                foreign.Buffer("shared", np.frombuffer(b"".join(images), np.uint8)),
                foreign.Buffer("tensor", tensor),
                foreign.into("D", raw(after), tolerance=tolerance),
                foreign.Bytes(job + bytes(-len(job) % 8)),
            ],
            grid=(blocks,), block=(128,), cluster=(blocks,), shared=len(images[0]), entry=entry, label=label,
        )  # fmt: skip
