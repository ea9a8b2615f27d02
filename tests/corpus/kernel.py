"""Entries with references of their own, for all that is not elementwise."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from emit import Entry, Module, Ptr, Tile
from numerics import EXACT, Buffer, Run, Scalar, Tolerance
from values import random_bits, special_bits, to_array


@dataclass(frozen=True)
class Kernel:
    """`fill(body, *parameters)` writes the entry; `arguments(rng)` gives what
    to launch it with and what must come out."""

    name: str
    parameters: tuple
    fill: Callable
    arguments: Callable
    since: str = "13.1"
    grid: tuple[int, ...] = (1,)
    hints: dict = field(default_factory=dict)
    stdout: str | None = None
    error: str | None = None

    def entry(self) -> Entry:
        return Entry(self.name, self.parameters, self.fill, self.since, self.hints)

    def run(self, case: str) -> Run:
        rng = np.random.default_rng(zlib.crc32(self.name.encode()))
        args = self.arguments(rng)
        assert len(args) == len(self.parameters), f"{self.name}: {len(args)} arguments"
        return Run(case, self.name, self.grid, args, self.name, self.stdout, self.error)


def module(name: str, kernels: list[Kernel], globals_=()) -> Module:
    return Module(name, [kernel.entry() for kernel in kernels], globals_)


def runs(groups: dict[str, list[Kernel]]):
    for case, kernels in groups.items():
        for kernel in kernels:
            yield kernel.run(case)


def pointer(type_: str) -> Tile:
    return Tile(Ptr(type_))


def scalar(type_: str) -> Tile:
    return Tile(type_)


def i32(value: int) -> Scalar:
    return Scalar("i32", value)


def data(type_: str, shape, rng) -> np.ndarray:
    """Special values, then random ones, as a buffer of this shape."""
    count = int(np.prod(shape))
    bits = (special_bits(type_) + random_bits(type_, count, rng))[:count]
    return to_array(type_, bits).reshape(shape)


def given(name: str, type_: str, array: np.ndarray) -> Buffer:
    return Buffer(name, np.ascontiguousarray(array), type=type_)


def wanted(name: str, type_: str, array: np.ndarray, tolerance: Tolerance = EXACT, before=None) -> Buffer:
    """An output; `before` (zeros, unless given) is what it holds at first."""
    array = np.ascontiguousarray(array)
    return Buffer(name, np.zeros_like(array) if before is None else before, array, tolerance, type_)
