"""Arrays of numpy and torch as device memory, without either being copied by hand."""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Array:
    """Where an array lies and how: strides are in elements."""

    owner: Any
    name: str
    address: int
    dtype: str
    itemsize: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    writable: bool

    @property
    def span(self) -> tuple[int, int]:
        """First byte and the one behind the last."""
        if 0 in self.shape:
            return self.address, self.address
        ends = [(n - 1) * s * self.itemsize for n, s in zip(self.shape, self.strides)]
        low = sum(min(0, end) for end in ends)
        high = sum(max(0, end) for end in ends)
        return self.address + low, self.address + high + self.itemsize


def is_array(value: Any) -> bool:
    return hasattr(value, "data_ptr") or (hasattr(value, "__array_interface__") and getattr(value, "ndim", 0) > 0)


def describe(value: Any, name: str) -> Array:
    """An array of numpy (with the types of ml_dtypes) or a tensor of torch in host memory."""
    shape = tuple(int(n) for n in value.shape)
    if hasattr(value, "data_ptr"):
        if value.device.type != "cpu":
            raise TypeError(f"{name} is on {value.device}: tilec runs kernels on tensors of the CPU")
        dtype = str(value.dtype).removeprefix("torch.").replace("float8_e4m3fnuz", "float8_e4m3fnuz")
        strides = tuple(int(s) for s in value.stride())
        return Array(value, name, value.data_ptr(), dtype, value.element_size(), shape, strides, True)
    if value.dtype.hasobject or value.dtype.byteorder == ">":
        raise TypeError(f"{name} has elements of type {value.dtype}, which no GPU has")
    size = value.dtype.itemsize
    if any(s % size for s in value.strides):
        raise ValueError(f"{name} has strides that are no multiple of its elements' size")
    strides = tuple(s // size for s in value.strides)
    return Array(value, name, value.ctypes.data, value.dtype.name, size, shape, strides, value.flags.writeable)


class Memory:
    """The buffers that a launch is given: arrays that overlap share one."""

    def __init__(self, arrays: list[Array]) -> None:
        spans = sorted((*a.span, a.name) for a in arrays)
        self.parts: list[list[Any]] = []
        for low, high, name in spans:
            if self.parts and low < self.parts[-1][1]:
                self.parts[-1][1] = max(high, self.parts[-1][1])
                self.parts[-1][2] += f", {name}"
            else:
                self.parts.append([low, high, name])
        self.before = [ctypes.string_at(low, high - low) for low, high, _ in self.parts]
        self.arrays = arrays

    def buffers(self) -> list[tuple[str, bytes]]:
        return [(name, data) for (_, _, name), data in zip(self.parts, self.before)]

    def place(self, array: Array) -> tuple[int, int]:
        """Number of the buffer that holds an array, and where in it the first element is."""
        for i, (low, high, _) in enumerate(self.parts):
            if low <= array.address < high or low == high == array.address:
                return i, array.address - low
        raise AssertionError("an array without a buffer")

    def alignment(self, array: Array) -> int:
        """What the address of the first element is a multiple of on the device, at most 16."""
        return math.gcd(16, self.place(array)[1])

    def shared(self, array: Array) -> bool:
        """Whether another array has bytes of this one."""
        index = self.place(array)[0]
        return sum(self.place(other)[0] == index for other in self.arrays) > 1

    def take(self, after: list[bytes]) -> None:
        """Writes back what changed."""
        for (low, _, name), old, new in zip(self.parts, self.before, after):
            if old == new:
                continue
            index = next(i for i, part in enumerate(self.parts) if part[0] == low)
            held = [a for a in self.arrays if self.place(a)[0] == index]
            if not any(a.writable for a in held):
                raise ValueError(f"the kernel wrote {name}, which is read-only")
            ctypes.memmove(low, new, len(new))
