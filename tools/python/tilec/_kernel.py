"""Compiling."""

from __future__ import annotations

import json
import os
from typing import Any

from . import _cutile, _tilec
from ._arrays import Memory
from ._errors import CompileError, raising
from ._explain import Explanation, table

#: The bytecode version that cuTile Python is asked for.
VERSION = "13.3"


class Kernel:
    """A compiled module: its PTX, what a launcher must know, and how it came to be."""

    def __init__(self, source: bytes, name: str, gpu: str, tma: bool, opt_level: int) -> None:
        self.source = source
        self.name = name
        self.gpu = gpu
        self._how = (source, name, gpu, tma, opt_level)
        #: Which parameters of a cuTile kernel are constants; None for a module that was given as such.
        self._constants: list[bool] | None = None
        with raising(CompileError):
            self.ptx, self._manifest = _tilec.compile_module(*self._how)
        self.manifest: dict[str, Any] = json.loads(self._manifest)

    @property
    def entries(self) -> list[str]:
        return [entry["name"] for entry in self.manifest["entries"]]

    def stage(self, name: str) -> str:
        """The text of a stage: cuda_tile, nv_tileaa, nv_tileas or nvvm."""
        with raising(CompileError):
            return _tilec.stage(*self._how, name)

    @property
    def text(self) -> str:
        """The module as it was written."""
        return self.stage("cuda_tile")

    def cubin(self, ptxas: str | os.PathLike[str] | None = None) -> bytes:
        """Machine code, by NVIDIA's ptxas (`pip install nvidia-cuda-nvcc` has one)."""
        with raising(CompileError):
            return _tilec.cubin(self.ptx, self.gpu, None if ptxas is None else os.fspath(ptxas))

    def explain(self) -> Explanation:
        """What the compiler decided: schedule, layouts, shared memory, rules and costs."""
        with raising(CompileError):
            return Explanation(*_tilec.explain(*self._how))

    def __repr__(self) -> str:
        return f"<tilec.Kernel {', '.join(self.entries)} for {self.gpu}>"

    def _repr_html_(self) -> str:
        rows = [
            [e["name"], e["block"][0], e["shared_bytes"], len(e["params"]), len(e["tensor_maps"])]
            for e in self.manifest["entries"]
        ]
        heads = ["entry", "threads", "dynamic shared memory", "parameters", "tensor maps"]
        return table(f"kernels for {self.gpu}", heads, rows)


def compile(
    source: Any,
    gpu: str = "sm_90a",
    *,
    args: Any = None,
    signature: Any = None,
    tma: bool = True,
    opt_level: int = 3,
    bytecode_version: str = VERSION,
) -> Kernel:
    """Compiles bytecode, text, a file's path or a cuTile kernel.

    A cuTile kernel is compiled for `signature` (a cuda.tile.compilation.KernelSignature) or for the one that `args`, the
    arguments of a launch, have.
    """
    if _cutile.is_kernel(source):
        known = _cutile.parameters(source)
        name = source._annotated_function.pyfunc.__name__
        if signature is None:
            if args is None:
                raise TypeError("a cuTile kernel is compiled for arguments: give args or signature")
            args = tuple(args)
            signature = _cutile.signature(source, args, Memory(_cutile.arrays_of(args, [n for n, _ in known])))
        data = _cutile.bytecode(source, signature, gpu, bytecode_version)
        kernel = Kernel(data, name, gpu, tma, opt_level)
        kernel._constants = [constant for _, constant in known]
        return kernel
    if isinstance(source, (bytes, bytearray, memoryview)):
        return Kernel(bytes(source), "<bytes>", gpu, tma, opt_level)
    if isinstance(source, str) and "\n" in source:
        return Kernel(source.encode(), "<text>", gpu, tma, opt_level)
    if isinstance(source, (str, os.PathLike)):
        with open(source, "rb") as file:
            return Kernel(file.read(), os.fspath(source), gpu, tma, opt_level)
    raise TypeError(f"cannot compile a {type(source).__name__}")
