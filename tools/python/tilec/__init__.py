"""Compile CUDA Tile IR and cuTile kernels to PTX, and run them without a GPU.

    import tilec
    tilec.run(kernel, grid, args)          # in place, on numpy arrays and torch CPU tensors
    print(tilec.compile(kernel, args=args, gpu="sm_90a").ptx)
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._errors import CompileError, Error, Fault
    from ._explain import Explanation
    from ._kernel import Kernel, compile
    from ._run import Result, Stats, run
    from ._tilec import __version__

#: Where each name is. They are imported when they are used: `tilec.emulate` needs no native part.
_PLACES = {
    "CompileError": "_errors",
    "Error": "_errors",
    "Explanation": "_explain",
    "Fault": "_errors",
    "Kernel": "_kernel",
    "Result": "_run",
    "Stats": "_run",
    "__version__": "_tilec",
    "compile": "_kernel",
    "run": "_run",
}

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


def __getattr__(name: str) -> Any:
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module 'tilec' has no attribute '{name}'")
    from importlib import import_module

    value = getattr(import_module(f".{place}", __name__), name)
    globals()[name] = value
    return value
