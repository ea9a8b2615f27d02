from collections.abc import Sequence

__version__: str

class NativeError(Exception): ...

_Buffers = Sequence[tuple[str, bytes]]
_Arguments = Sequence[tuple[str, int, int]]
_Outcome = tuple[list[bytes], str, str]

def compile_module(data: bytes, name: str, gpu: str, tma: bool, opt_level: int) -> tuple[str, str]: ...
def stage(data: bytes, name: str, gpu: str, tma: bool, opt_level: int, stage: str) -> str: ...
def explain(data: bytes, name: str, gpu: str, tma: bool, opt_level: int) -> tuple[str, str]: ...
def assemble(text: str, version: str) -> bytes: ...
def cubin(ptx: str, gpu: str, assembler: str | None) -> bytes: ...
def parameters(data: bytes, name: str, entry: str | None) -> list[str]: ...
def evaluate(
    data: bytes,
    name: str,
    entry: str | None,
    grid: tuple[int, int, int],
    buffers: _Buffers,
    arguments: _Arguments,
) -> _Outcome: ...
def simulate(
    ptx: str,
    manifest: str,
    entry: str | None,
    grid: tuple[int, int, int],
    buffers: _Buffers,
    arguments: _Arguments,
    checks: bool,
    seed: int,
) -> _Outcome: ...
