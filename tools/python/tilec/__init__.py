"""Compile CUDA Tile IR and cuTile kernels to PTX, and run them without a GPU.

    import tilec
    tilec.run(kernel, grid, args)          # in place, on numpy arrays and torch CPU tensors
    print(tilec.compile(kernel, args=args, gpu="sm_90a").ptx)
"""

from ._errors import CompileError, Error, Fault
from ._explain import Explanation
from ._kernel import Kernel, compile
from ._run import Result, Stats, run
from ._tilec import __version__

__all__ = [
    "CompileError",
    "Error",
    "Explanation",
    "Fault",
    "Kernel",
    "Result",
    "Stats",
    "__version__",
    "compile",
    "run",
]
