"""Kernels of single instructions: a table of PTX forms with what each must give becomes CUDA C++ with inline PTX."""

from dataclasses import dataclass

import foreign
import numpy as np

LANES = 64


@dataclass(frozen=True)
class Row:
    """A form: PTX that leaves register d, from a, b and c; widths or kinds of d, a, b, c; what d must be.

    Besides there are predicates p, q and s (c is not 0), and t and u of d's width.
    """

    ptx: str
    kinds: str
    result: object


# Kinds of operands: bits, and random patterns. Floating point is normal and of moderate size.
KINDS = {
    "8": (8, None),
    "16": (16, None),
    "32": (32, None),
    "64": (64, None),
    "f16": (16, ((5, 10), 1)),
    "bf16": (16, ((8, 7), 1)),
    "f16x2": (32, ((5, 10), 2)),
    "bf16x2": (32, ((8, 7), 2)),
    "e4m3x2": (16, ((4, 3), 2)),
    "f32": (32, ((8, 23), 1)),
    "f32x2": (64, ((8, 23), 2)),
    "f64": (64, ((11, 52), 1)),
    "positive": (32, ((8, 23), 1)),
    # A count: few bits.
    "n": (32, "count"),
}


def patterns(kind: str, rng: np.random.Generator) -> list[int]:
    bits, how = KINDS[kind]
    if how == "count":
        return [int(x) for x in rng.integers(0, 72, LANES)]
    if how is None:
        # Edges, small numbers of both signs, and anything.
        edges = [0, 1, (1 << bits) - 1, 1 << (bits - 1), (1 << (bits - 1)) - 1]
        small = [int(x) % (1 << bits) for x in rng.integers(-40, 40, 16)]
        more = [int.from_bytes(rng.bytes(8), "little") % (1 << bits) for _ in range(LANES)]
        return [int(x) for x in rng.permutation(np.array([*edges, *small, *more][:LANES], dtype=np.uint64))]
    (exponent, fraction), parts = how
    width = 1 + exponent + fraction
    bias = (1 << (exponent - 1)) - 1
    words = [0] * LANES
    for part in range(parts):
        sign, size = rng.integers(0, 2, LANES), rng.integers(bias - 4, bias + 4, LANES)
        low = [int.from_bytes(rng.bytes(8), "little") % (1 << fraction) for _ in range(LANES)]
        for i in range(LANES):
            word = int(sign[i] and kind != "positive") << (width - 1) | int(size[i]) << fraction | low[i]
            words[i] |= word << (width * part)
    return words


def body(row: Row, number: int) -> str:
    """The statement that runs a row."""
    bits = [KINDS[k][0] for k in row.kinds.split()]
    take = {8: "cvt.u8.u64", 16: "cvt.u16.u64", 32: "cvt.u32.u64", 64: "mov.b64"}
    give = {8: "cvt.u64.u8", 16: "cvt.u64.u16", 32: "cvt.u64.u32", 64: "mov.b64"}
    words = [".reg .pred p, q, s;", f".reg .b{bits[0]} d, t, u;"]
    for i, (name, width) in enumerate(zip("abc", bits[1:], strict=False)):
        words += [f".reg .b{width} {name};", f"{take[width]} {name}, %{i + 1};"]
    if len(bits) == 4:
        words.append(f"setp.ne.u{bits[3]} s, c, 0;")
    text = " ".join([*words, row.ptx, f"{give[bits[0]]} %0, d;"])
    arguments = ", ".join(f'"l"(in[({number} * 3 + {i}) * LANES + t])' for i in range(3))
    return f'    asm volatile("{{ {text} }}" : "=l"(d) : {arguments});\n    out[{number} * LANES + t] = d;\n'


def source(groups: dict[str, list[Row]]) -> str:
    text = f"// Written by forms_build.py.\n#define LANES {LANES}\n"
    for name, rows in groups.items():
        text += f'extern "C" __global__ void {name}(const unsigned long long *in, unsigned long long *out) {{\n'
        text += "    int t = threadIdx.x;\n    unsigned long long d;\n"
        text += "".join(body(row, i) for i, row in enumerate(rows)) + "}\n"
    return text


def compile(groups: dict[str, list[Row]], target: str) -> str:
    """PTX of the groups, a kernel each."""
    text = source(groups)
    path = foreign.cached(text, ".cu", lambda path: path.write_text(text))
    return str(foreign.nvcc(path, target))


def launch(groups: dict[str, list[Row]], name: str, target: str, rng: np.random.Generator) -> foreign.Launch:
    """Every row of a group on its own random operands."""
    rows = groups[name]
    given = np.zeros((len(rows), 3, LANES), np.uint64)
    want = np.zeros((len(rows), LANES), np.uint64)
    for i, row in enumerate(rows):
        kinds = row.kinds.split()
        operands = [patterns(kind, rng) for kind in kinds[1:]]
        for j, words in enumerate(operands):
            given[i, j] = words
        mask = (1 << KINDS[kinds[0]][0]) - 1
        want[i] = [int(row.result(*values)) & mask for values in zip(*operands, strict=True)]
    args = [foreign.Buffer("operands", given), foreign.into("results", want)]
    return foreign.Launch(args, block=(LANES,), ptx=compile(groups, target))
