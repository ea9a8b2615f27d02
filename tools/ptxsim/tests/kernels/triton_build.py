"""Compiles Triton kernels without a GPU and turns what the compiler decided into a launch."""

import os
import re

os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")

import foreign  # noqa: E402

os.environ["TRITON_CACHE_DIR"] = str(foreign.CACHE / "triton")

import triton  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402

POINTERS = {"f": "fp", "i": "i", "u": "u"}
NAMED = {"bf16": "bf16", "f8e4m3fn": "fp8e4nv", "f8e5m2": "fp8e5"}


def pointer_type(buffer) -> str:
    kind = buffer.data.dtype
    return "*" + (NAMED.get(buffer.type) or f"{POINTERS[kind.kind]}{8 * kind.itemsize}")


def launch(function, target: str, grid, args: list, warps: int = 4, stages: int = 3, label: str = "", **constants):
    """A launch of a `triton.jit` function; `args` are its parameters in order but for the constants."""
    capability = int(re.fullmatch(r"sm_(\d+)a?", target)[1])
    names = [n for n in function.arg_names if n not in constants]
    assert len(names) == len(args), f"{function.arg_names} take {names}, {len(args)} arguments given"
    signature, attributes = {}, {}
    for i, name in enumerate(function.arg_names):
        if name in constants:
            signature[name] = "constexpr"
            continue
        arg = args[names.index(name)]
        buffer = isinstance(arg, foreign.Buffer)
        signature[name] = pointer_type(arg) if buffer else arg.type.replace("f", "fp")
        # Buffers of the simulator are aligned like those of an allocator; Triton specialises on multiples of 16.
        if buffer or (arg.type[0] == "i" and arg.value % 16 == 0):
            attributes[(i,)] = [["tt.divisibility", 16]]
    source = ASTSource(function, signature=signature, constexprs=constants, attrs=attributes)
    options = {"num_warps": warps, "num_stages": stages}
    compiled = triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options)
    text, made = compiled.asm["ptx"], compiled.metadata
    path = foreign.cached(f"triton {text}", ".ptx", lambda p: p.write_text(text))
    blocks = int(foreign.np.prod(grid)) * made.num_ctas
    assert made.profile_scratch_size == 0
    return foreign.Launch(
        # Two parameters of Triton's own: memory for all blocks, and memory of its profiler.
        [*args, foreign.Scratch(made.global_scratch_size * blocks), foreign.Scratch(0)],
        grid=(grid[0] * made.num_ctas, *grid[1:]),
        block=(32 * made.num_warps,),
        shared=made.shared,
        entry=made.name,
        ptx=str(path),
        label=label,
    )
