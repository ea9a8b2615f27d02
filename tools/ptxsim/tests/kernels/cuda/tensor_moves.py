"""tcgen05.ld and tcgen05.st of every shape and count, packed and not; the PTX is written here."""

import foreign
import numpy as np
from foreign import Buffer, Launch, into, kernel

TARGET = "sm_100a"
WORD = np.uint32(0x51A5E)

# shape: registers, columns and counts of one repetition
SHAPES = {
    "32x32b": (1, 1, 128),
    "16x64b": (1, 2, 128),
    "16x128b": (2, 4, 64),
    "16x256b": (4, 8, 32),
    "16x32bx2": (1, 1, 128),
}


def place(shape, thread, register):
    """Lane and column of a thread's register, as CuTe's Copy_Traits of the instruction have them."""
    match shape:
        case "32x32b":
            return thread, register
        case "16x64b":
            # ((2,2,8),(32,n)) : ((8 lanes, 1 column, 1 lane), (1 bit, 2 columns))
            return thread // 4 + 8 * (thread % 2), thread // 2 % 2 + 2 * register
        case "16x128b":
            # ((4,8),(32,2,n)) : ((1 column, 1 lane), (1 bit, 8 lanes, 4 columns))
            return thread // 4 + 8 * (register % 2), thread % 4 + 4 * (register // 2)
        case "16x256b":
            # ((4,8),(64,2,n)) : ((2 columns, 1 lane), (1 bit, 8 lanes, 8 columns))
            return thread // 4 + 8 * (register // 2 % 2), 2 * (thread % 4) + register % 2 + 8 * (register // 4)
        case "16x32bx2":
            return thread % 16, register


def forms(shape):
    """Counts with packing or without, and the lane within the quarter where they begin."""
    counts = [1 << i for i in range(8) if 1 << i <= SHAPES[shape][2]]
    every = [(n, packed) for packed in (False, True) for n in counts]
    return [(n, packed, 0 if shape == "32x32b" else 16 * (i % 2)) for i, (n, packed) in enumerate(every)]


def columns(shape, count, packed):
    wide = SHAPES[shape][1] * count * (2 if packed else 1)
    return 2 * wide if shape == "16x32bx2" else wide


def cells(shape, count, packed, first):
    """Lanes and first columns by thread of the block and register."""
    registers = SHAPES[shape][0] * count
    lanes, cols = np.zeros((128, registers), int), np.zeros((128, registers), int)
    for t in range(128):
        for r in range(registers):
            lane, column = place(shape, t % 32, r)
            column *= 2 if packed else 1
            if shape == "16x32bx2" and t % 32 >= 16:
                column += columns(shape, count, packed) // 2
            lanes[t, r], cols[t, r] = t // 32 * 32 + first + lane, column
    return lanes, cols


HEAD = '#include <stdint.h>\nextern "C" __global__ void __launch_bounds__(128) {name}(const uint32_t *in, uint32_t *out) {{\n'
BEGIN = """    __shared__ uint32_t slot;
    uint32_t at = (uint32_t)__cvta_generic_to_shared(&slot), t = threadIdx.x, base;
    if (t < 32) asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 512;" ::"r"(at) : "memory");
    __syncthreads();
    base = *(volatile uint32_t *)&slot + (t / 32 << 21);
"""
END = """    __syncthreads();
    if (t < 32) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 512;" ::"r"(base) : "memory");
}
"""


def vector(count):
    return "{" + ", ".join(f"r{i}" for i in range(count)) + "}"


def operands(shape, split):
    return f", {split}" if shape == "16x32bx2" else ""


def loads(shape):
    """Tensor memory full of words; every form leaves its registers, thread by thread."""
    text = HEAD.format(name=f"ld_{shape}") + BEGIN
    text += '    for (int c = 0; c < 512; c++) asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(base + c), "r"(in[t * 512 + c]) : "memory");\n'
    text += '    asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");\n'
    at = 0
    for count, packed, first in forms(shape):
        registers, pack = SHAPES[shape][0] * count, ".pack::16b" if packed else ""
        split = operands(shape, columns(shape, count, packed) // 2)
        body = f".reg .b32 r<{registers}>;\\ntcgen05.ld.sync.aligned.{shape}.x{count}{pack}.b32 {vector(registers)}, [%0]{split};\\ntcgen05.wait::ld.sync.aligned;\\n"
        body += "".join(f"st.global.b32 [%1+{4 * i}], r{i};\\n" for i in range(registers))
        text += f'    asm volatile("{{\\n{body}}}" ::"r"(base + {first << 16}), "l"(out + {at} + t * {registers}) : "memory");\n'
        at += 128 * registers
    return text + END


def stores(shape):
    """Every form stores its registers; then the columns that it may touch are read."""
    text = HEAD.format(name=f"st_{shape}") + BEGIN
    given = at = 0
    for count, packed, first in forms(shape):
        registers, wide = SHAPES[shape][0] * count, columns(shape, count, packed)
        pack, split = ".unpack::16b" if packed else "", operands(shape, wide // 2)
        text += f'    for (int c = 0; c < {wide}; c++) asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {{%1}};" ::"r"(base + c), "r"({WORD}) : "memory");\n'
        text += '    asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");\n'
        body = f".reg .b32 r<{registers}>;\\n" + "".join(f"ld.global.b32 r{i}, [%1+{4 * i}];\\n" for i in range(registers))
        body += f"tcgen05.st.sync.aligned.{shape}.x{count}{pack}.b32 [%0]{split}, {vector(registers)};\\ntcgen05.wait::st.sync.aligned;\\n"
        text += f'    asm volatile("{{\\n{body}}}" ::"r"(base + {first << 16}), "l"(in + {given} + t * {registers}) : "memory");\n'
        text += f'    for (int c = 0; c < {wide}; c++) {{ uint32_t v; asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%0}}, [%1];\\ntcgen05.wait::ld.sync.aligned;" : "=r"(v) : "r"(base + c) : "memory"); out[{at} + t * {wide} + c] = v; }}\n'
        given += 128 * registers
        at += 128 * wide
    return text + END


def compiled(text):
    path = foreign.cached(text, ".cu", lambda path: path.write_text(text))
    return str(foreign.nvcc(path, TARGET))


def register(shape):
    name = shape.replace("x2", "_2") if shape == "16x32bx2" else shape

    @kernel(TARGET, f"tcgen05.ld.{shape}, every count, with .pack::16b and without", name=f"ld_{name}")
    def _(rng):
        image = rng.integers(0, 1 << 32, (128, 512), dtype=np.uint32)
        want = []
        for count, packed, first in forms(shape):
            lanes, cols = cells(shape, count, packed, first)
            words = image[lanes, cols]
            want.append((words & 0xFFFF | image[lanes, cols + 1] << 16 if packed else words).reshape(-1))
        args = [Buffer("image", image), into("registers", np.concatenate(want))]
        return Launch(args, block=(128,), entry=f"ld_{shape}", ptx=compiled(loads(shape)))

    @kernel(TARGET, f"tcgen05.st.{shape}, every count, with .unpack::16b and without", name=f"st_{name}")
    def _(rng):
        given, want = [], []
        for count, packed, first in forms(shape):
            lanes, cols = cells(shape, count, packed, first)
            words = rng.integers(0, 1 << 32, lanes.shape, dtype=np.uint32)
            image = np.full((128, columns(shape, count, packed)), WORD)
            if packed:
                image[lanes, cols], image[lanes, cols + 1] = words & 0xFFFF, words >> 16
            else:
                image[lanes, cols] = words
            given.append(words.reshape(-1))
            want.append(image.reshape(-1))
        args = [Buffer("registers", np.concatenate(given)), into("image", np.concatenate(want))]
        return Launch(args, block=(128,), entry=f"st_{shape}", ptx=compiled(stores(shape)))


for _shape in SHAPES:
    register(_shape)


@kernel("sm_103a", "tcgen05.ld.red: minimum and maximum of floats and integers", name="ld_red")
def _(rng):
    rows = [("32x32b", n, op, ty, more) for n in (2, 16) for op in ("min", "max") for ty, more in (("f32", ""), ("f32", ".abs"), ("u32", ""), ("s32", ""))]
    text = HEAD.format(name="ld_red") + BEGIN
    text += '    for (int c = 0; c < 16; c++) asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(base + c), "r"(in[t * 16 + c]) : "memory");\n'
    text += '    asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");\n'
    image = rng.standard_normal((128, 16)).astype(np.float32).view(np.uint32)
    want = []
    for i, (shape, n, op, ty, more) in enumerate(rows):
        body = f".reg .b32 r<{n}>, q;\\ntcgen05.ld.red.sync.aligned.{shape}.x{n}.{op}{more}.{ty} {vector(n)}, q, [%0];\\ntcgen05.wait::ld.sync.aligned;\\nst.global.b32 [%1], q;\\n"
        text += f'    asm volatile("{{\\n{body}}}" ::"r"(base), "l"(out + {128 * i} + t) : "memory");\n'
        words = image[:, :n].view({"f32": np.float32, "u32": np.uint32, "s32": np.int32}[ty])
        words = np.abs(words) if more else words
        want.append(np.ascontiguousarray(getattr(words, op)(1)).view(np.uint32))
    args = [Buffer("image", image), into("results", np.concatenate(want))]
    path = foreign.cached(text + END, ".cu", lambda path: path.write_text(text + END))
    return Launch(args, block=(128,), entry="ld_red", ptx=str(foreign.nvcc(path, "sm_103a")))
