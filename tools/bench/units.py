"""Which unit of a multiprocessor an instruction of SASS keeps busy, and for how many of its cycles.

A cycle is one of the multiprocessor: four schedulers issue four instructions in it. Figures are those of the GPU table;
how opcodes map to units follows the names of the pipelines in Nsight Compute's documentation (ALU, FMA, XU, LSU, …).
"""

import re
from collections import Counter

from gpus import Gpu
from loops import MATRIX, TENSOR_MEMORY_MMA, WGMMA, TensorMemoryMma, work
from sass import Instruction

LANES = 32
SCHEDULERS = 4
UNITS = ("issue", "tensor", "fma", "alu", "special", "double", "uniform", "memory issue", "shared", "L2")

FMA = {"FFMA", "FADD", "FMUL", "FFMA32I", "FADD32I", "FMUL32I", "FSWZADD"}
FMA_TWICE = {"FFMA2", "FADD2", "FMUL2"}  # two results a lane
HALF = {"HADD2", "HMUL2", "HFMA2", "HSETP2", "HSET2", "HADD2_32I", "HFMA2_32I", "HMUL2_32I", "FHADD", "FHFMA"}
MULTIPLY = {"IMAD", "IMUL", "IDP", "IDP4A"}
SPECIAL = {"MUFU", "F2F", "F2I", "I2F", "FRND"}
COUNT = {"POPC", "FLO", "BREV"}
DOUBLE = {"DADD", "DMUL", "DFMA", "DSETP", "DMNMX"}
ALU = {
    "IADD", "IADD3", "IADD32I", "VIADD", "LOP3", "LOP32I", "LEA", "SHF", "SHL", "SHR", "PRMT", "SEL", "FSEL", "ISETP", "FSETP",
    "FSET", "FMNMX", "FMNMX3", "IMNMX", "VIMNMX", "VIMNMX3", "VIADDMNMX", "IABS", "MOV", "MOV32I", "CSEL", "PLOP3", "P2R", "R2P",
    "SGXT", "BMSK", "HMNMX2", "F2FP", "I2FP", "FCHK", "CS2R", "VHMNMX",
}  # fmt: skip
SHARED = {"LDS", "STS", "LDSM", "STSM", "ATOMS"}
GLOBAL = {"LDG", "STG", "LDGSTS", "ATOMG", "ATOM", "RED", "LD", "ST"}
LOCAL = {"LDL", "STL"}
SHUFFLE = {"SHFL"}
WARP = {"VOTE", "MATCH", "REDUX", "CREDUX", "VOTEU", "ELECT"}
# Operands of WGMMA that lie in shared memory.
_ELEMENT_BITS = {"HGMMA": 16, "QGMMA": 8, "IGMMA": 8, "BGMMA": 1}


def access_bytes(instruction: Instruction) -> int:
    """Bytes a lane moves: the width that its modifiers name."""
    words = instruction.opcode.split(".")
    for bits in (256, 128, 64):
        if str(bits) in words:
            return bits // 8
    if {"U8", "S8"} & set(words):
        return 1
    return 2 if {"U16", "S16"} & set(words) else 4


def matrices(instruction: Instruction) -> int:
    """8×8 matrices of 128 bytes that LDSM or STSM moves."""
    words = instruction.opcode.split(".")
    return next((n for n in (4, 2) if str(n) in words), 1)


def tensor_kind(instruction: Instruction) -> str:
    """Element type of a matrix instruction, and its accumulator's where that decides the rate."""
    words = instruction.opcode.split(".")
    base = instruction.base
    if mma := TensorMemoryMma.of(instruction):
        return mma.element
    if base in ("HMMA", "HGMMA"):
        kind = next((k for k in ("TF32", "BF16") if k in words), "F16").lower()
        return f"{kind}>f32" if "F32" in words else kind
    if base in ("QMMA", "QGMMA"):
        return "e4m3>f32" if "F32" in words else "e4m3"
    if base == "OMMA":
        return "e2m1"
    if base in ("BMMA", "BGMMA"):
        return "b1"
    if base == "DMMA":
        return "f64"
    return "s4" if {"S4", "U4"} & set(words) else "s8"


def wgmma_bytes(instruction: Instruction) -> float:
    """Bytes of shared memory that a WGMMA reads for one of its four warps."""
    m, n, k = (int(d) for d in re.search(r"\.(\d+)x(\d+)x(\d+)", instruction.opcode).groups())
    bits = 32 if "TF32" in instruction.opcode.split(".") else _ELEMENT_BITS[instruction.base]
    operands = [o.strip() for o in instruction.operands.split(",")]
    # The destination, A and B: A is either registers or a descriptor of both.
    registers = len(operands) > 2 and operands[1].startswith("R") and operands[2].startswith("gdesc")
    return (n * k + (0 if registers else m * k)) * bits / 8 / 4


def tensor_memory_mma(mma: TensorMemoryMma, opcode: str, operands: str, gpu: Gpu) -> Counter:
    """Cycles of a tcgen05.mma on one multiprocessor. A pair's blocks read half of A's rows and half of B's columns each."""
    rate = gpu.multiply_adds(mma.element)
    if rate is None:
        raise ValueError(f"{gpu.name} has no figure for {opcode} of {mma.element}")
    rows, columns = mma.m // mma.blocks, mma.n // mma.blocks
    read = columns + (0 if operands.startswith("tmem") else rows)
    return Counter({
        # The array has 128 rows: fewer leave the others idle.
        "tensor": rows * mma.n * mma.k / (rate * min(rows, 128) / 128),
        "shared": read * mma.k * mma.bits / 8 / gpu["shared_bytes_per_clock"],
    })  # fmt: skip


def cycles(instruction: Instruction, gpu: Gpu) -> Counter:
    """Cycles of each unit for one warp's instruction; for a tcgen05.mma, those of the block."""
    base, spent = instruction.base, Counter(issue=1 / SCHEDULERS)
    if base in TENSOR_MEMORY_MMA:
        if mma := TensorMemoryMma.of(instruction):
            spent += tensor_memory_mma(mma, instruction.opcode, instruction.operands, gpu)
    elif base in MATRIX:
        rate = gpu.multiply_adds(tensor_kind(instruction))
        if rate is None:
            raise ValueError(f"{gpu.name} has no figure for {instruction.opcode}")
        share = 1 if base in WGMMA else gpu["warp_mma_share"]
        spent["tensor"] = work(instruction) / (rate * share)
        if base in WGMMA:
            spent["shared"] = wgmma_bytes(instruction) / gpu["shared_bytes_per_clock"]
    elif base in FMA or base in FMA_TWICE:
        spent["fma"] = LANES * (2 if base in FMA_TWICE else 1) / gpu["f32"]
    elif base in HALF:
        spent["fma"] = LANES / gpu["f16x2"]
    elif base in MULTIPLY:
        spent["fma"] = LANES / gpu["int_mul"]
    elif base in SPECIAL:
        spent["special"] = LANES / (gpu["convert_wide"] if "64" in instruction.opcode else gpu["special"])
    elif base in COUNT:
        spent["special"] = LANES / gpu["popc"]
    elif base in DOUBLE:
        spent["double"] = LANES / gpu["f64"]
    elif base in ALU:
        spent["alu"] = LANES / gpu["int_add"]
    elif base in SHUFFLE:
        spent["memory issue"] = LANES / gpu["shuffle"]
    elif base in WARP:
        spent["alu"] = LANES / gpu["vote"]
    elif base in SHARED | GLOBAL | LOCAL:
        spent += memory(instruction, gpu)
    elif base.startswith("U") and not base.startswith("UT"):
        spent["uniform"] = 1 / SCHEDULERS * 2
    return spent


def memory(instruction: Instruction, gpu: Gpu) -> Counter:
    """Of a load or store without conflicts: addresses, and data through the memory that shared memory and L1 are."""
    base = instruction.base
    if base in ("LDSM", "STSM"):
        moved = 128 * matrices(instruction)
    else:
        moved = LANES * access_bytes(instruction)
    spent = Counter({"memory issue": LANES / gpu["lsu"], "shared": max(moved / gpu["shared_bytes_per_clock"], 1)})
    if base in GLOBAL:
        spent["L2"] = moved / gpu.l2_share
    return spent


def global_bytes(instruction: Instruction) -> int:
    """Bytes that a warp moves between global memory and the multiprocessor."""
    return LANES * access_bytes(instruction) if instruction.base in GLOBAL else 0
