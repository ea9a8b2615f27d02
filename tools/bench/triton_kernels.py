"""Triton's code for a few kernels, without a GPU: what tilec's is compared with."""

import os
import re
import sys
from pathlib import Path

from compilers import ROOT, Failure

SOURCES = ROOT / "tools/ptxsim/tests/kernels"
I32, F16 = "i32", "*fp16"
# Kernel: module and function, arguments, constants, warps, stages.
KERNELS = {
    "matmul": ("products", "tma_gemm", dict(a=F16, b=F16, c=F16, m=I32, n=I32, k=I32),
               dict(M=128, N=256, K=64, BLOCKS=132), 8, 3),
    "matmul_pointers": ("products", "gemm", dict(a=F16, b=F16, c=F16, m=I32, n=I32, k=I32),
                        dict(M=128, N=128, K=64, GROUP=8, INT=False, TRANSPOSED=False), 4, 3),
    "attention": ("products", "attention", dict(q=F16, k=F16, v=F16, out=F16, length=I32, scale="fp32"),
                  dict(D=128, M=128, N=128, CAUSAL=False), 8, 2),
    "copy": (None, "copy", dict(x="*fp32", y="*fp32", n=I32), dict(B=2048), 4, 1),
}  # fmt: skip


def copy(x, y, n, B: "tl.constexpr"):
    at = tl.program_id(0) * B + tl.arange(0, B)  # noqa: F821
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)  # noqa: F821


def ptx(name: str, target: str, scratch: Path) -> str:
    return compiled(name, target, scratch).asm["ptx"]


def compiled(name: str, target: str, scratch: Path, changed: dict | None = None):
    """What Triton makes of a kernel; `changed` are constants that differ from the table's."""
    if name not in KERNELS:
        raise Failure(f"no Triton kernel `{name}`; there are {', '.join(KERNELS)}")
    os.environ.setdefault("TRITON_CACHE_DIR", str(scratch / "triton"))
    sys.path[:0] = [str(SOURCES), str(SOURCES / "triton")]
    import importlib

    import triton
    import triton.language
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    module, function, types, constants, warps, stages = KERNELS[name]
    constants = {**constants, **(changed or {})}
    if module:
        kernel = getattr(importlib.import_module(module), function)
    else:
        globals()["tl"] = triton.language
        kernel = triton.jit(globals()[function])
    missing = set(kernel.arg_names) - set(types) - set(constants)
    if missing:
        raise Failure(f"Triton's `{function}` has parameters that are not given here: {sorted(missing)}")
    signature = {a: "constexpr" if a in constants else types[a] for a in kernel.arg_names}
    aligned = {
        (i,): [["tt.divisibility", 16]]
        for i, a in enumerate(kernel.arg_names)
        if signature[a] == I32 or signature[a].startswith("*")
    }
    source = ASTSource(kernel, signature=signature, constexprs=constants, attrs=aligned)
    capability = int(re.search(r"\d+", target)[0])
    options = {"num_warps": warps, "num_stages": stages}
    return triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options)
