"""Launches without a GPU, in place."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from . import _cutile, _tilec
from ._arrays import Array, Memory, describe, is_array
from ._errors import Fault, raising
from ._explain import table
from ._kernel import Kernel, compile


@dataclass(frozen=True)
class Stats:
    """Counters of a simulated launch; `data` has all of them by name, and so have attributes."""

    data: dict[str, Any] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["data"][name]
        except KeyError:
            raise AttributeError(f"there is no counter `{name}`") from None

    def _repr_html_(self) -> str:
        return table("statistics", ["counter", "value"], [[k.replace("_", " "), v] for k, v in self.data.items()])


@dataclass(frozen=True)
class Result:
    """What a launch leaves besides its arrays."""

    #: What the kernel printed.
    output: str
    stats: Stats
    kernel: Kernel

    def _repr_html_(self) -> str:
        return self.stats._repr_html_()


def run(
    kernel: Any,
    grid: int | Sequence[int],
    args: Sequence[Any],
    *,
    engine: Literal["sim", "eval"] = "sim",
    checks: bool = True,
    gpu: str = "sm_90a",
    entry: str | None = None,
    seed: int = 1,
) -> Result:
    """Launches a kernel on arrays of numpy (ml_dtypes included) and CPU tensors of torch, which it changes in place.

    `kernel` is what `compile` returns or takes. `engine` is the PTX simulator on what tilec compiles for `gpu`, or the
    reference interpreter on the module itself. With `checks`, the simulator finds races and reads of what nobody wrote.
    A kernel that does something wrong raises `Fault`; its arrays are as they were.
    """
    if engine not in ("sim", "eval"):
        raise ValueError(f"there is no engine `{engine}`: engines are sim and eval")
    args = tuple(args)
    shape = _grid(grid)
    compiled = kernel if isinstance(kernel, Kernel) else compile(kernel, gpu, args=args)
    constants = compiled._constants
    flat = list(args) if constants is None else _cutile.flatten(args, constants)
    with raising(Fault):
        types = _tilec.parameters(compiled.source, compiled.name, entry)
    if len(types) != len(flat):
        raise TypeError(f"the kernel has {len(types)} parameters, {len(flat)} arguments were given")
    found: dict[int, Array] = {i: describe(arg, f"argument {i}") for i, arg in enumerate(flat) if is_array(arg)}
    memory = Memory(list(found.values()))
    values: list[tuple[str, int, int]] = []
    for i, (arg, type_) in enumerate(zip(flat, types)):
        if i in found and type_ == "ptr":
            values.append(("pointer", *memory.place(found[i])))
        elif i in found or type_ == "ptr":
            raise TypeError(f"argument {i} is a {type(arg).__name__}, the parameter is {type_}")
        else:
            values.append(("scalar", *_scalar(arg, type_, i)))
    with raising(Fault):
        if engine == "eval":
            done = _tilec.evaluate(compiled.source, compiled.name, entry, shape, memory.buffers(), values)
        else:
            done = _tilec.simulate(
                compiled.ptx, compiled._manifest, entry, shape, memory.buffers(), values, checks, seed
            )
    after, output, stats = done
    memory.take(after)
    return Result(output, Stats(json.loads(stats)), compiled)


def _grid(grid: int | Sequence[int]) -> tuple[int, int, int]:
    sizes = (grid,) if isinstance(grid, int) else tuple(int(n) for n in grid)
    if not 1 <= len(sizes) <= 3 or any(n < 1 for n in sizes):
        raise ValueError(f"a grid has one to three extents of at least 1, not {grid!r}")
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


def _scalar(value: Any, type_: str, index: int) -> tuple[int, int]:
    """Bytes and bits of a scalar argument."""
    if type_.startswith("i"):
        bits = int(type_[1:])
        number = int(value)
        if number != value or not -(1 << (bits - 1)) <= number < 1 << bits:
            raise ValueError(f"argument {index}: {value!r} is not an {type_}")
        return (bits + 7) // 8, number & ((1 << bits) - 1)
    if type_ in ("f16", "f32", "f64"):
        code, size = {"f16": ("<e", 2), "f32": ("<f", 4), "f64": ("<d", 8)}[type_]
        return size, int.from_bytes(struct.pack(code, float(value)), "little")
    if getattr(getattr(value, "dtype", None), "itemsize", 0) in (1, 2):
        raw = value.tobytes()
        return len(raw), int.from_bytes(raw, "little")
    raise TypeError(f"argument {index}: give {type_} as a scalar of ml_dtypes")
