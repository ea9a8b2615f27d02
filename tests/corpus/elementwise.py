"""Modules of elementwise operations, with their references.

Each entry loads one tile per operand from consecutive memory, applies its
operation, and stores each result; element i of every buffer belongs together.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from emit import Entry, Module, Ptr, Tile
from formats import FLOATS
from numerics import EXACT, Buffer, Run, Tolerance
from values import decode, encode, to_array, tuples

COUNT = 256  # elements of a tile


def memory_type(type_: str) -> str:
    """What memory holds: types of four bits lie there in pairs, as bytes."""
    return "i8" if type_ in ("i4", "f4E2M1FN") else type_


def load(body, pointer, type_):
    if memory_type(type_) == type_:
        return body.load(pointer, (COUNT,))
    return body.op("Unpack", Tile(type_, (COUNT,)), source=body.load(pointer, (COUNT // 2,)))


def store(body, pointer, tile):
    if memory_type(tile.element) != tile.element:
        tile = body.op("Pack", Tile("i8", (COUNT // 2,)), source=tile)
    body.store(pointer, tile)


@dataclass(frozen=True)
class Op:
    """One entry: `emit(body, *tiles)` gives a tile (or a list of them),
    `right(*numbers)` the number (or a list) before its one rounding."""

    name: str
    operands: tuple[str, ...]
    results: tuple[str, ...]
    emit: Callable
    right: Callable
    mode: str = "rn"
    valid: Callable | None = None
    tolerance: Tolerance = EXACT
    since: str = "13.1"

    def entry(self) -> Entry:
        def fill(body, *pointers):
            sources, targets = pointers[: len(self.operands)], pointers[len(self.operands) :]
            tiles = (load(body, p, t) for p, t in zip(sources, self.operands, strict=True))
            made = self.emit(body, *tiles)
            made = made if isinstance(made, list) else [made]
            for target, tile in zip(targets, made, strict=True):
                store(body, target, tile)

        pointers = tuple(Tile(Ptr(memory_type(t))) for t in self.operands + self.results)
        return Entry(self.name, pointers, fill, self.since)

    def run(self, case: str) -> Run:
        rng = np.random.default_rng(zlib.crc32(self.name.encode()))
        inputs = tuples(list(self.operands), COUNT, rng, self.valid)
        answers = []
        for bits in inputs:
            right = self.right(*(decode(t, b) for t, b in zip(self.operands, bits)))
            right = right if isinstance(right, list) else [right]
            answers.append([encode(t, r, self.mode) for t, r in zip(self.results, right, strict=True)])
        args = [
            Buffer(f"x{i}", to_array(t, (bits[i] for bits in inputs)), type=memory_type(t))
            for i, t in enumerate(self.operands)
        ]
        for i, t in enumerate(self.results):
            after = to_array(t, (bits[i] for bits in answers))
            tolerance = self.tolerance if memory_type(t) in FLOATS else EXACT
            args.append(Buffer(f"y{i}", np.zeros_like(after), after, tolerance, memory_type(t)))
        return Run(case, self.name, (1,), args, entry=self.name)


def module(name: str, ops: list[Op]) -> Module:
    return Module(name, [op.entry() for op in ops])


def runs(groups: dict[str, list[Op]]):
    for case, ops in groups.items():
        for op in ops:
            yield op.run(case)
