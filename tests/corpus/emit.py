"""Modules built operation by operation with the cuda-tile package's encoder.

The front end never writes some operations and many attributes; its encoder
writes them all. This file only keeps types beside values and fills attributes
that have a usual value: every byte of the result is the package's.
"""

import enum
import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from cuda.tile._bytecode import attribute, encodings
from cuda.tile._bytecode.basic import encode_signed_varint
from cuda.tile._bytecode.code_builder import Value
from cuda.tile._bytecode.debug_info import MISSING_DEBUG_ATTR_ID
from cuda.tile._bytecode.encodings import (
    IntegerOverflow,
    Signedness,
)
from cuda.tile._bytecode.encodings import (
    MemoryOrderingSemantics as Order,
)
from cuda.tile._bytecode.encodings import (
    RoundingMode as Round,
)
from cuda.tile._bytecode.type import PaddingValue, PtrAttr, SimpleType, encode_typeid
from cuda.tile._bytecode.version import BytecodeVersion
from cuda.tile._bytecode.writer import write_bytecode

VERSIONS = {v.as_string(): v for v in BytecodeVersion}

SIMPLE = {
    "i1": SimpleType.I1,
    "i4": SimpleType.I4,
    "i8": SimpleType.I8,
    "i16": SimpleType.I16,
    "i32": SimpleType.I32,
    "i64": SimpleType.I64,
    "f16": SimpleType.F16,
    "bf16": SimpleType.BF16,
    "f32": SimpleType.F32,
    "tf32": SimpleType.TF32,
    "f64": SimpleType.F64,
    "f8E4M3FN": SimpleType.F8E4M3FN,
    "f8E5M2": SimpleType.F8E5M2,
    "f8E8M0FNU": SimpleType.F8E8M0FNU,
    "fnv8E5M3FNU": SimpleType.FNV8E5M3FNU,
    "f4E2M1FN": SimpleType.F4E2M1FN,
    "token": SimpleType.Token,
}

HEADER = 12  # bytes of magic and version


class PointerKind(enum.Enum):
    """What a pointer may reach. The package's own enumeration stops at NONE;
    the assembler knows the others from 13.5 on."""

    NONE = b"\x00"
    UNICAST = b"\x01"
    MULTICAST = b"\x02"


DYNAMIC = -(2**63)  # an extent or stride that is an operand


@dataclass(frozen=True)
class Ptr:
    pointee: str
    kind: "PtrAttr | PointerKind" = PtrAttr.Missing

    def encode(self, table):
        return table.pointer(table.simple(SIMPLE[self.pointee]), self.kind)


@dataclass(frozen=True)
class Tile:
    element: "str | Ptr"
    shape: tuple[int, ...] = ()

    def encode(self, table):
        element = self.element
        inner = element.encode(table) if isinstance(element, Ptr) else table.simple(SIMPLE[element])
        return table.tile(inner, self.shape)


@dataclass(frozen=True)
class Token:
    def encode(self, table):
        return table.Token


@dataclass(frozen=True)
class TensorView:
    element: str
    shape: tuple[int, ...]  # DYNAMIC where an operand says it
    strides: tuple[int, ...]
    kind: "PtrAttr | PointerKind" = PtrAttr.Missing

    def encode(self, table):
        return table.tensor_view(table.simple(SIMPLE[self.element]), self.shape, self.strides, self.kind)


@dataclass(frozen=True)
class PartitionView:
    tile: tuple[int, ...]
    view: TensorView
    dim_map: tuple[int, ...]
    padding: PaddingValue = PaddingValue.Missing

    def encode(self, table):
        return table.partition_view(self.tile, self.view.encode(table), self.dim_map, self.padding)


@dataclass(frozen=True)
class StridedView:
    tile: tuple[int, ...]
    traversal: tuple[int, ...]
    view: TensorView
    dim_map: tuple[int, ...]
    padding: PaddingValue = PaddingValue.Missing

    def encode(self, table):
        inner = self.view.encode(table)
        return table.strided_view(self.tile, self.traversal, inner, self.dim_map, self.padding)


@dataclass(frozen=True)
class GatherScatterView:
    tile: tuple[int, ...]
    view: TensorView
    sparse_dim: int
    padding: PaddingValue = PaddingValue.Missing

    def encode(self, table):
        return table.gather_scatter_view(self.tile, self.view.encode(table), self.sparse_dim, self.padding)


@dataclass(frozen=True)
class V:
    """An SSA value with its type."""

    value: Value
    type: object

    @property
    def shape(self):
        return self.type.shape

    @property
    def element(self):
        return self.type.element


# Attributes that have a usual value; a call that wants another says so.
USUAL = {
    "overflow": IntegerOverflow.NONE,
    "rounding_mode": Round.NEAREST_EVEN,
    "flush_to_zero": False,
    "propagate_nan": False,
    "signedness": Signedness.Signed,
    "rounding": Round.ZERO,
    "memory_ordering_semantics": Order.WEAK,
    "memory_scope": None,
    "optimization_hints": None,
    "mask": None,
    "paddingValue": None,
    "token": None,
    "fast_acc": False,
    "saturating": False,
    "unsignedCmp": False,
}
# Operations whose usual rounding mode is another one.
USUAL_ROUNDING = {
    "Exp": Round.FULL,
    "TanH": Round.FULL,
    "FToI": Round.NEAREST_INT_TO_ZERO,
}


def _plain(x):
    """What the encoder takes: values and types without our wrapping."""
    if isinstance(x, V):
        return x.value
    if isinstance(x, tuple | list):
        return [_plain(y) for y in x]
    return x


def _encode_negative_f64(number, string_table, buffer):
    """A tagged f64 attribute whose sign bit is set; see Body.attribute."""
    buffer.extend(attribute.AttributeTag.Float.value)
    encode_typeid(number.type_id, buffer)
    encode_signed_varint(number.value_bits, buffer)


class Body:
    """Writes operations into one function, or into a region of one."""

    def __init__(self, writer, builder):
        self._writer = writer
        self._builder = builder
        self.version = writer.version

    def _id(self, type_):
        return type_.encode(self._writer.type_table)

    def op(self, name: str, results, /, **given):
        """Encodes operation `name` (as in encode_<name>Op).

        `results` is a type (one result), a list of types, or None. Returns a
        V, a tuple of V, or None.
        """
        encode = getattr(encodings, f"encode_{name}Op")
        several = isinstance(results, list | tuple)
        types = list(results) if several else [] if results is None else [results]
        ids = [self._id(t) for t in types]
        arguments = {}
        for parameter in list(inspect.signature(encode).parameters)[1:]:
            if parameter in given:
                arguments[parameter] = _plain(given.pop(parameter))
            elif parameter == "result_types":
                arguments[parameter] = ids
            elif parameter.endswith("_type"):
                arguments[parameter] = ids.pop(0)
            elif parameter == "rounding_mode" and name in USUAL_ROUNDING:
                arguments[parameter] = USUAL_ROUNDING[name]
            elif parameter == "inbounds":
                arguments[parameter] = [False] * len(arguments["index"])
            else:
                arguments[parameter] = USUAL[parameter]
        assert not given, f"{name} has no {', '.join(given)}"
        made = encode(self._builder, **arguments)
        if results is None:
            return None
        if not several:
            return V(made, results)
        return tuple(V(value, t) for value, t in zip(made, types, strict=True))

    def nested(self, name: str, results: Sequence, blocks, /, **given):
        """Encodes an operation with regions. `blocks` lists, for each region,
        its argument types and a function that fills it: fill(body, *arguments)."""
        encode = getattr(encodings, f"encode_{name}Op")
        for parameter in list(inspect.signature(encode).parameters)[1:]:
            if parameter == "result_types":
                given[parameter] = [self._id(t) for t in results]
            elif parameter not in given:
                given[parameter] = USUAL[parameter]
        nested = encode(self._builder, **{k: _plain(v) for k, v in given.items()})
        for types, fill in blocks:
            with nested.new_block([self._id(t) for t in types]) as arguments:
                fill(self, *(V(value, t) for value, t in zip(arguments, types, strict=True)))
        return tuple(V(value, t) for value, t in zip(nested.done(), results, strict=True))

    @property
    def debug_table(self):
        """The package's table of scopes and locations."""
        return self._writer.debug_attr_table

    def located(self, attribute_):
        """A context in which operations have this location."""
        return self._builder.debug_attr(attribute_)

    # Shorthands: what nearly every kernel needs.

    def like(self, name: str, x: V, *others: V, **attributes) -> V:
        """An elementwise operation whose result has the type of its operands."""
        encode = getattr(encodings, f"encode_{name}Op")
        operands = [p.name for p in inspect.signature(encode).parameters.values() if p.annotation is Value]
        return self.op(name, x.type, **dict(zip(operands, (x, *others), strict=True)), **attributes)

    def constant(self, type_: Tile, data: bytes) -> V:
        """`data`: the elements' bytes; one element means a splat."""
        return self.op("Constant", type_, value=data)

    def i32(self, value: int, shape=()) -> V:
        return self.constant(Tile("i32", tuple(shape)), (value & 0xFFFFFFFF).to_bytes(4, "little"))

    def token(self) -> V:
        return self.op("MakeToken", Token())

    def splat(self, x: V, shape) -> V:
        """A scalar or a tile of the same number of elements or one, spread."""
        ones = (1,) * len(shape)
        if x.shape != ones:
            x = self.op("Reshape", Tile(x.element, ones), source=x)
        return x if tuple(shape) == ones else self.op("Broadcast", Tile(x.element, tuple(shape)), source=x)

    def iota(self, n: int) -> V:
        return self.op("Iota", Tile("i32", (n,)))

    def addresses(self, pointer: V, shape, start: int = 0) -> V:
        """Pointers to elements start, start + 1, … in row-major order."""
        count = 1
        for extent in shape:
            count *= extent
        index = self.iota(count)
        if start:
            index = self.like("AddI", index, self.i32(start, (count,)))
        where = self.op("Offset", Tile(pointer.element, (count,)), ptr=self.splat(pointer, (count,)), offset=index)
        if (count,) == tuple(shape):
            return where
        return self.op("Reshape", Tile(pointer.element, tuple(shape)), source=where)

    def load(self, pointer: V, shape, start: int = 0, **attributes) -> V:
        """A tile from consecutive memory."""
        where = self.addresses(pointer, shape, start)
        result = Tile(pointer.element.pointee, tuple(shape))
        return self.op("LoadPtrTko", [result, Token()], source=where, **attributes)[0]

    def store(self, pointer: V, value: V, start: int = 0, **attributes) -> V:
        where = self.addresses(pointer, value.shape, start)
        return self.op("StorePtrTko", Token(), destination=where, value=value, **attributes)

    def attribute(self, type_: str, value):
        """A typed number as an attribute: identities of reduce and scan."""
        simple = SIMPLE[type_]
        if type_[0] == "i":
            return attribute.Integer(self._writer.type_table.simple(simple), int(type_[1:]), value)
        made = attribute.Float(value, simple, self._writer.type_table)
        if type_ == "f64" and made.value_bits >> 63:
            # The package zig-zags the bits as an unsigned number: 65 bits, of
            # which readers keep 64, so that -inf arrives as +inf. Read as a
            # signed number the same bits fit.
            made.value_bits -= 1 << 64
            made.encode_tagged = functools.partial(_encode_negative_f64, made)
        return made

    def ret(self):
        self.op("Return", None, operands=[])


@dataclass(frozen=True)
class Entry:
    """One entry of a module: its parameters and what fills its body."""

    name: str
    parameters: tuple
    fill: Callable  # fill(body, *parameters); the return is added
    since: str = "13.1"
    hints: dict = field(default_factory=dict)
    # The function's own location, from the table of debug information.
    location: Callable = lambda table: MISSING_DEBUG_ATTR_ID


@dataclass(frozen=True, eq=False)
class Module:
    """One bytecode file for each version that has any of its entries."""

    name: str
    entries: list[Entry]
    # (name, element type, data, keyword arguments of the encoder, since)
    globals: tuple = ()

    def files(self) -> dict[str, bytes]:
        """NAME-VERSION.tilebc for every version that has one of the entries,
        less those that say only in their header that they are newer."""
        first = min((VERSIONS[entry.since] for entry in self.entries), default=BytecodeVersion.V_13_1)
        made = {}
        previous = b""
        for version, value in VERSIONS.items():
            if value < first:
                continue
            data = self.bytecode(version)
            if data[HEADER:] != previous[HEADER:]:
                made[f"{self.name}-{version}.tilebc"] = previous = data
        return made

    def bytecode(self, version: str) -> bytes:
        target = VERSIONS[version]
        entries = [e for e in self.entries if VERSIONS[e.since] <= target]
        buffer = bytearray()
        with write_bytecode(len(entries), buffer, target) as writer:
            table = writer.type_table
            for name, type_, data, options, since in self.globals:
                if VERSIONS[since] <= target:
                    writer.global_section.define_global(name, type_.encode(table), data, **options)
            for entry in entries:
                types = [t.encode(table) for t in entry.parameters]
                location = entry.location(writer.debug_attr_table)
                with writer.function(entry.name, types, [], True, entry.hints, location) as made:
                    body = Body(writer, made.code_builder)
                    values = (V(v, t) for v, t in zip(made.parameters, entry.parameters, strict=True))
                    entry.fill(body, *values)
                    body.ret()
        return bytes(buffer)


EntryHints = attribute.EntryHints
