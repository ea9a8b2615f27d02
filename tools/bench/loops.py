"""The loop that does the matrix work, found in the control flow of SASS, and what an iteration costs for its work."""

import re
from dataclasses import dataclass
from functools import cache

from sass import Code, Instruction

WGMMA = {"HGMMA", "QGMMA", "IGMMA", "BGMMA"}
WARP_MMA = {"HMMA", "IMMA", "DMMA", "QMMA", "OMMA", "BMMA"}
TENSOR_MEMORY_MMA = {"UTCHMMA", "UTCQMMA", "UTCIMMA", "UTCOMMA"}
MATRIX = WGMMA | WARP_MMA | TENSOR_MEMORY_MMA
# M·N·K of the shapes of a warp, as SASS writes them.
WARP_SHAPES = {
    "884": 8 * 8 * 4, "1684": 16 * 8 * 4, "1688": 16 * 8 * 8, "8816": 8 * 8 * 16, "16816": 16 * 8 * 16,
    "16832": 16 * 8 * 32, "16864": 16 * 8 * 64,
}  # fmt: skip
# Bits of an operand's row of K that one tcgen05.mma takes, by opcode, and those of an element (PTX ISA, tcgen05.mma).
TENSOR_MEMORY_K = {"UTCHMMA": (256, 16), "UTCQMMA": (256, 8), "UTCIMMA": (256, 8), "UTCOMMA": (256, 4)}
STEP = 16 * 16 * 16  # the unit of matrix work: multiply-adds
_TARGET = re.compile(r"`\((\.L_\w+)\)")
_ENDS = {"BRA", "EXIT", "RET", "BSYNC", "BRX", "JMP", "KILL"}


@dataclass(frozen=True)
class HotLoop:
    instructions: int
    work: int  # multiply-adds of one warp's share; 0 where the opcodes do not say

    @property
    def per_step(self) -> float | None:
        """Instructions that a warp issues for 16×16×16 of its multiply-adds."""
        return self.instructions * STEP / self.work if self.work else None


def work(instruction: Instruction) -> int:
    """Multiply-adds of a warp: a fourth of what the four warps of a WGMMA do, a block's share of a tcgen05.mma."""
    if instruction.base in WGMMA and (shape := re.search(r"\.(\d+)x(\d+)x(\d+)", instruction.opcode)):
        return int(shape[1]) * int(shape[2]) * int(shape[3]) // 4
    if instruction.base in WARP_MMA:
        return next((WARP_SHAPES[p] for p in instruction.opcode.split(".") if p in WARP_SHAPES), 0)
    if instruction.base in TENSOR_MEMORY_MMA and (shape := TensorMemoryMma.of(instruction)):
        return shape.m * shape.n * shape.k // shape.blocks
    return 0


@dataclass(frozen=True)
class TensorMemoryMma:
    """What a tcgen05.mma does: its instruction descriptor and opcode (PTX ISA, instruction descriptor)."""

    m: int
    n: int
    k: int
    element: str  # of A, as `gpus.json` names the rates
    bits: int  # of an element in shared memory
    blocks: int  # 2: a pair of blocks shares the instruction

    @staticmethod
    @cache
    def of(instruction: Instruction) -> "TensorMemoryMma | None":
        """None where the descriptor is no constant."""
        if instruction.base not in TENSOR_MEMORY_MMA or instruction.shape is None:
            return None
        row, bits = TENSOR_MEMORY_K[instruction.base]
        element = {"UTCQMMA": "e4m3", "UTCIMMA": "s8", "UTCOMMA": "e2m1"}.get(instruction.base)
        if element is None:
            element = {0: "f16", 1: "bf16", 2: "tf32"}.get(instruction.shape >> 7 & 7, "f16")
            bits = 32 if element == "tf32" else bits
        n, m = (instruction.shape >> 17 & 0x3F) * 8, (instruction.shape >> 24 & 0x1F) * 16
        return TensorMemoryMma(m, n, row // bits, element, bits, 2 if "2CTA" in instruction.opcode.split(".") else 1)


@dataclass
class Graph:
    """Basic blocks by number: [start, end) of the instructions, and who follows."""

    spans: list[tuple[int, int]]
    successors: list[list[int]]


def graph(code: Code) -> Graph:
    instructions = code.instructions
    starts = {0, *(i for i in code.labels.values() if i < len(instructions))}
    starts |= {i + 1 for i, x in enumerate(instructions[:-1]) if x.base in _ENDS}
    ordered = sorted(starts)
    spans = list(zip(ordered, [*ordered[1:], len(instructions)], strict=True))
    block_at = {start: number for number, start in enumerate(ordered)}
    # Where a convergence barrier lets threads go on: BSYNC names the register that BSSY set.
    rejoin: dict[str, list[tuple[int, int]]] = {}
    for i, x in enumerate(instructions):
        if x.base == "BSSY" and (label := _TARGET.search(x.operands)) and label[1] in code.labels:
            rejoin.setdefault(x.operands.split(",")[0].strip(), []).append((i, code.labels[label[1]]))

    successors = []
    for number, (start, end) in enumerate(spans):
        last = instructions[end - 1] if end > start else None
        falls, targets = number + 1 < len(spans), []
        if last is not None and last.base == "BRA" and last.guard != "@!PT":
            label = _TARGET.search(last.operands)
            targets = [code.labels[label[1]]] if label and label[1] in code.labels else []
            falls &= bool(last.guard or ".DIV" in last.opcode or re.match(r"!?U?P\w", last.operands))
        elif last is not None and last.base == "BSYNC":
            places = rejoin.get(last.operands.split(",")[-1].strip(), [])
            if places and end not in (to for _, to in places):
                targets = [next((to for at, to in reversed(places) if at < end), places[0][1])]
                falls &= bool(last.guard)
        elif last is not None and last.base in _ENDS:
            falls &= bool(last.guard)
        successors.append([block_at[t] for t in targets if t in block_at] + [number + 1] * falls)
    return Graph(spans, successors)


def dominators(successors: list[list[int]]) -> dict[int, int]:
    """Immediate dominators of the blocks that the first one reaches (Cooper, Harvey, Kennedy)."""
    order, seen, stack = [], {0}, [(0, iter(successors[0]))]
    while stack:
        block, rest = stack[-1]
        following = next((b for b in rest if b not in seen), None)
        if following is None:
            order.append(block)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(successors[following])))
    rank = {block: i for i, block in enumerate(reversed(order))}
    before: dict[int, list[int]] = {b: [] for b in rank}
    for block in rank:
        for following in successors[block]:
            before[following].append(block)
    idom, changed = {0: 0}, True
    while changed:
        changed = False
        for block in list(rank)[1:]:
            new = None
            for other in (b for b in before[block] if b in idom):
                while new is not None and other != new:
                    if rank[other] > rank[new]:
                        other = idom[other]
                    else:
                        new = idom[new]
                new = other
            if idom.get(block) != new:
                idom[block], changed = new, True
    return idom


def natural_loops(successors: list[list[int]]) -> dict[int, set[int]]:
    """Header and blocks of each loop; back edges to one header make one loop."""
    idom = dominators(successors)
    before: dict[int, list[int]] = {}
    for block in idom:
        for following in successors[block]:
            before.setdefault(following, []).append(block)

    def dominates(header: int, block: int) -> bool:
        while block != header and block != 0:
            block = idom[block]
        return block == header

    loops: dict[int, set[int]] = {}
    for block in idom:
        for header in successors[block]:
            if not dominates(header, block):
                continue
            body, stack = loops.setdefault(header, {header}), [block]
            while stack:
                inner = stack.pop()
                if inner not in body:
                    body.add(inner)
                    stack += before.get(inner, [])
    return loops


def bodies(code: Code) -> list[list[Instruction]]:
    """What an iteration of each innermost loop executes; with matrix instructions, innermost among those that have some.

    Loops inside of it that have none (waits that spin, element by element copies) are left out, and
    so is what lies behind its last instruction: slow paths that the compiler moved away.
    """
    if not code.instructions:
        return []
    flow = graph(code)
    loops = natural_loops(flow.successors)

    def instructions(block: int) -> list[Instruction]:
        return code.instructions[slice(*flow.spans[block])]

    matrix = {h: b for h, b in loops.items() if any(x.base in MATRIX for n in b for x in instructions(n))}
    found = []
    for header, body in loops.items():
        if any(inner < body for inner in (matrix if header in matrix else loops).values()):
            continue
        latch = max(b for b in body if header in flow.successors[b])
        nested = set().union(*(b for b in loops.values() if b < body))
        part = [x for b in sorted(body - nested) if header <= b <= latch for x in instructions(b) if x.base != "NOP"]
        found.append(part)
    return found


def hot_body(code: Code) -> list[Instruction] | None:
    """The loop that does most matrix work an iteration, the shortest of these; None without matrix instructions."""
    found = [body for body in bodies(code) if any(x.base in MATRIX for x in body)]
    return max(found, key=lambda body: (sum(map(work, body)), -len(body)), default=None)


def hot_loop(code: Code) -> HotLoop | None:
    """See `hot_body`."""
    body = hot_body(code)
    if body is None:
        return None
    # One thread issues for a whole block: its instructions say nothing about the block's.
    by_warps = not any(x.base in TENSOR_MEMORY_MMA for x in body)
    return HotLoop(len(body), sum(map(work, body)) if by_warps else 0)
