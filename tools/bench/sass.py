"""What a cubin's machine code says: resources, spills, and the main loop."""

import re
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

_LABEL = re.compile(r"^(\.L_\w+):")
# An instruction line: address, optional predicate, opcode, operands.
_INSTRUCTION = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(@!?U?P\w+\s+)?([A-Z][\w.]*)\s*([^;]*);")
_TARGET = re.compile(r"`\((\.L_\w+)\)")
_GROUP_WAIT = re.compile(r"gsb0,\s*(0x[0-9a-f]+)")
# `idesc[UR5]` of a tcgen05.mma; the uniform register that an instruction writes, behind predicates; a constant moved.
_DESCRIPTOR = re.compile(r"idesc\[(UR\d+)\]")
_UNIFORM = re.compile(r"(?:UP\w+,\s*)*UR(\d+)\b")
_IMMEDIATE = re.compile(r"UR\d+, (0x[0-9a-f]+)")
_USAGE = re.compile(r"(REG|STACK|SHARED):(\d+)")


@dataclass(frozen=True)
class Instruction:
    opcode: str  # with its modifiers, e.g. HGMMA.64x128x16.F32
    operands: str
    guard: str = ""  # the predicate it runs under, e.g. @!P0
    shape: int | None = None  # of a tcgen05.mma: the instruction descriptor, where it is a constant

    @property
    def base(self) -> str:
        return self.opcode.split(".", 1)[0]


@dataclass
class Code:
    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)  # label → index of what follows

    def counts(self) -> Counter:
        return Counter(i.base for i in self.instructions)


@dataclass(frozen=True)
class MainLoop:
    """The innermost loop that does the matrix work."""

    instructions: int
    mma: int  # HGMMA or HMMA instructions in it
    shapes: tuple[str, ...]
    groups_in_flight: int | None  # None where the loop never waits for a group


@dataclass(frozen=True)
class Report:
    registers: int
    stack: int  # bytes a thread
    shared: int  # bytes a block; from a cubin, the static part
    spills: int  # instructions that touch local memory
    counts: Counter
    loop: MainLoop | None

    @property
    def total(self) -> int:
        return sum(self.counts.values())


def parse(text: str) -> Code:
    """Reads the output of `nvdisasm -c` of a cubin with one kernel."""
    code, constants = Code(), Constants()
    for line in text.splitlines():
        if label := _LABEL.match(line):
            code.labels[label[1]] = len(code.instructions)
        elif found := _INSTRUCTION.match(line):
            guard, opcode, operands = found.groups(default="")
            register = _DESCRIPTOR.search(operands)
            shape = constants.known.get(register[1]) if register else None
            code.instructions.append(Instruction(opcode, operands.strip(), guard.strip(), shape))
            constants.after(opcode, operands, guard)
    return code


class Constants:
    """Uniform registers that the instruction before, in the order of the text, has set to a constant.

    Compilers set an instruction descriptor right before its use or ahead of the loop, never in one of two branches.
    """

    def __init__(self):
        self.known: dict[str, int] = {}

    def after(self, opcode: str, operands: str, guard: str) -> None:
        written = _UNIFORM.match(operands)
        if not written or not opcode.startswith(("U", "R2UR", "S2UR", "LDCU", "REDUX")) or opcode.startswith(("UT", "UBLK")):
            return
        first = int(written[1])
        # A modifier of 128 bits writes four registers.
        wide = max((int(bits) // 32 for bits in re.findall(r"\.(64|128|256)\b", opcode)), default=2 if "WIDE" in opcode else 1)
        for register in range(first, first + wide):
            self.known.pop(f"UR{register}", None)
        moved = _IMMEDIATE.fullmatch(operands.strip())
        if opcode == "UMOV" and moved:
            self.known[f"UR{first}"] = int(moved[1], 16)


def _loops(code: Code):
    """Spans (first, last) closed by a branch backwards."""
    for last, instruction in enumerate(code.instructions):
        if instruction.base == "BRA" and (target := _TARGET.search(instruction.operands)):
            first = code.labels.get(target[1], last + 1)
            if first < last:
                yield first, last


def main_loop(code: Code) -> MainLoop | None:
    """The shortest loop with matrix instructions in it.

    Shortest, because the slow path of a wait is laid out behind the kernel and
    branches back into the loop: its span holds the loop too, and much more.
    """

    def is_mma(instruction):
        return instruction.base in ("HGMMA", "HMMA", "IGMMA", "QGMMA", "IMMA")

    spans = [(f, l) for f, l in _loops(code) if any(map(is_mma, code.instructions[f : l + 1]))]
    if not spans:
        return None
    first, last = min(spans, key=lambda span: span[1] - span[0])
    body = code.instructions[first : last + 1]
    mma = [i for i in body if is_mma(i)]
    # Waiting until N groups are left means that N + 1 were in flight before.
    waits = [
        int(found[1], 16) + 1
        for i in body
        if i.opcode.startswith("WARPGROUP.DEPBAR") and (found := _GROUP_WAIT.search(i.operands))
    ]
    return MainLoop(
        instructions=len(body),
        mma=len(mma),
        shapes=tuple(sorted({i.opcode.split(".")[1] for i in mma})),
        groups_in_flight=max(waits, default=None),
    )


def report(cubin: Path, nvdisasm: Path, cuobjdump: Path) -> Report:
    def output(*command) -> str:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    code = parse(output(nvdisasm, "-c", cubin))
    usage = {k: int(v) for k, v in _USAGE.findall(output(cuobjdump, "-res-usage", cubin))}
    counts = code.counts()
    return Report(
        registers=usage["REG"],
        stack=usage["STACK"],
        shared=usage["SHARED"],
        spills=counts["LDL"] + counts["STL"],
        counts=counts,
        loop=main_loop(code),
    )
