"""Assumptions, assertions, printing, hints on entries, grid dependency
control, and operations on memory of several devices."""

from dataclasses import dataclass

import numpy as np
from cuda.tile._bytecode import attribute
from cuda.tile._bytecode.attribute import Bounded, DivBy
from cuda.tile._bytecode.basic import encode_int_list
from cuda.tile._bytecode.encodings import (
    ComparisonPredicate as Is,
)
from cuda.tile._bytecode.encodings import (
    MemoryOrderingSemantics as Order,
)
from cuda.tile._bytecode.encodings import (
    MemoryScope as Scope,
)
from cuda.tile._bytecode.encodings import (
    MultimemReductionKind as Kind,
)

import kernel
from emit import EntryHints, PointerKind, Ptr, TensorView, Tile, Token
from formats import FLOATS, INTS
from kernel import Kernel, given, i32, pointer, scalar, wanted
from ops_control import compare
from ops_view import matrix_view, partition
from values import storage, to_array

N = 16


def assumptions():
    """Predicates that hold, on scalars, tiles and pointers."""
    cases = {
        "div_by": (DivBy(8), lambda i: 8 * i),
        "div_by_every": (DivBy(4, every=4, along=0), lambda i: 8 * (i // 4) + i % 4),
        "bounded_below": (Bounded(-3, None), lambda i: i - 3),
        "bounded_above": (Bounded(None, 12), lambda i: 12 - i),
        "bounded": (Bounded(0, 15), lambda i: i),
        "bounded_nothing": (Bounded(None, None), lambda i: 7 * i),
    }
    for t in ("i8", "i16", "i32", "i64"):
        for name, (predicate, element) in cases.items():

            def fill(b, x, y, predicate=predicate):
                b.store(y, b.op("Assume", Tile(x.element.pointee, (N,)), value=b.load(x, (N,)), predicate=predicate))

            def arguments(rng, t=t, element=element):
                x = np.array([element(i) for i in range(N)], storage(t))
                return [given("x", t, x), wanted("y", t, x)]

            yield Kernel(f"assume_{name}_{t}", (pointer(t),) * 2, fill, arguments)

    def aligned(b, x, n, y):
        """A pointer's alignment and a scalar's bounds."""
        base = b.op("Assume", x.type, value=x, predicate=DivBy(16))
        start = b.op("Assume", n.type, value=n, predicate=Bounded(0, 4))
        b.store(y, b.load(b.op("Offset", base.type, ptr=base, offset=start), (N,)))

    def aligned_arguments(rng):
        x = rng.standard_normal(N + 4).astype(np.float32)
        return [given("x", "f32", x), i32(4), wanted("y", "f32", x[4:])]

    yield Kernel("assume_pointer", (pointer("f32"), scalar("i32"), pointer("f32")), aligned, aligned_arguments)


@dataclass
class SameElements(attribute.SameElements):
    """Groups of equal elements. The package declares this predicate, but has
    no encoding for it: 64-bit sizes behind their number."""

    def encode_tagged(self, string_table, buffer):
        buffer.extend(attribute.AttributeTag.SameElements.value)
        encode_int_list(self.values, 8, buffer)


def same_elements():
    """A matrix of blocks of two by four equal numbers."""

    def fill(b, x, y):
        value = b.load(x, (4, 8))
        b.store(y, b.op("Assume", value.type, value=value, predicate=SameElements([2, 4])))

    def arguments(rng):
        x = np.repeat(np.repeat(np.array([[0, 10], [5, 93]], np.int32), 2, 0), 4, 1)
        return [given("x", "i32", x), wanted("y", "i32", x)]

    return Kernel("assume_same_elements", (pointer("i32"),) * 2, fill, arguments)


def false_assumptions():
    for name, predicate, value in (("div_by", DivBy(8), 12), ("bounded", Bounded(0, 10), -1)):

        def fill(b, n, y, predicate=predicate):
            b.store(y, b.op("Assume", n.type, value=n, predicate=predicate))

        yield Kernel(
            f"assume_false_{name}",
            (scalar("i32"), pointer("i32")),
            fill,
            lambda rng, value=value: [i32(value), wanted("y", "i32", np.zeros(1, np.int32))],
            error="assum",
        )


def assertions():
    def fill(b, x, y):
        tile = b.load(x, (N,))
        b.op("Assert", None, condition=compare(b, Is.GREATER_THAN, tile, b.i32(0, (N,))), message="not positive")
        b.store(y, tile)

    x = np.arange(1, N + 1, dtype=np.int32)
    bad = x.copy()
    bad[11] = 0
    yield Kernel("assert_holds", (pointer("i32"),) * 2, fill, lambda rng: [given("x", "i32", x), wanted("y", "i32", x)])
    yield Kernel(
        "assert_fails",
        (pointer("i32"),) * 2,
        fill,
        lambda rng: [given("x", "i32", bad), wanted("y", "i32", bad)],
        error="not positive",
    )


def printed(name, format_, types, values, text, shape=()):
    """Prints loaded tiles; from 13.2 on the print is ordered by tokens."""

    def fill(b, *pointers):
        tiles = [b.load(p, shape) for p in pointers]
        token = Token() if b.version >= 130200 else None
        print_(b, format_, tiles, token)

    def arguments(rng):
        return [
            given(f"x{i}", t, np.array(v, storage(t)).reshape(shape)) for i, (t, v) in enumerate(zip(types, values))
        ]

    return Kernel(f"print_{name}", tuple(pointer(t) for t in types), fill, arguments, stdout=text)


def print_(b, format_, tiles, token_type, token=None):
    """The encoder's parameter `str` and its optional result need a hand."""
    from cuda.tile._bytecode import encodings

    result = None if token_type is None else b._id(token_type)
    encodings.encode_PrintTkoOp(
        b._builder,
        result_token_type=result,
        args=[tile.value for tile in tiles],
        token=None if token is None else token.value,
        str=format_,
    )


def prints():
    yield printed("text", "hello, 100%%\n", [], [], "hello, 100%\n")
    yield printed("i32", "value %d\n", ["i32"], [-42], "value -42\n")
    yield printed("i64", "%lld and %llx\n", ["i64", "i64"], [-(2**40), 2**40], "-1099511627776 and 10000000000\n")
    yield printed("unsigned", "%u %x %X %o\n", ["i32"] * 4, [-1, 255, 255, 8], "4294967295 ff FF 10\n")
    yield printed("flags", "[%5d|%-5d|%05d|%+d]\n", ["i32"] * 4, [42] * 4, "[   42|42   |00042|+42]\n")
    yield printed("f32", "%f %.2f %e %g\n", ["f32"] * 4, [1.5, 2.25, 1.5, 0.5], "1.500000 2.25 1.500000e+00 0.5\n")
    yield printed("f64", "%.10f\n", ["f64"], [0.1], "0.1000000000\n")
    yield printed("f16", "%+08.3f\n", ["f16"], [-1.5], "-001.500\n")
    yield printed("tile", "tile %d\n", ["i32"], [[1, 2, 3, 4]], "tile [1, 2, 3, 4]\n", (4,))
    yield printed("matrix", "%.1f\n", ["f32"], [[[0, 1], [2, 3]]], "[[0.0, 1.0], [2.0, 3.0]]\n", (2, 2))


def dependencies():
    """Grid dependency control: nothing to wait for in a launch of its own."""

    def fill(b, x, y):
        waited = b.op("GdcWaitTko", Token(), token=b.token())
        tile, loaded = b.op("LoadPtrTko", [Tile("f32", (N,)), Token()], source=b.addresses(x, (N,)), token=waited)
        launched = b.op("GdcLaunchDependentsTko", Token(), token=loaded)
        b.store(y, tile, token=launched)
        b.op("GdcWaitTko", Token())
        b.op("GdcLaunchDependentsTko", Token())

    def arguments(rng):
        x = rng.standard_normal(N).astype(np.float32)
        return [given("x", "f32", x), wanted("y", "f32", x)]

    return Kernel("gdc", (pointer("f32"),) * 2, fill, arguments, "13.4")


def hinted():
    """Hints on the entry, for one target, for several, and for all."""
    choices = {
        "one": {"sm_90": EntryHints(num_cta_in_cga=2)},
        "several": {"sm_80": EntryHints(occupancy=2), "sm_100": EntryHints(num_cta_in_cga=4, occupancy=1)},
        "default": {"default": EntryHints(occupancy=4)},
        "warps": {"sm_100": EntryHints(num_worker_warps_per_cta=8)},
    }

    def fill(b, x, y):
        b.store(y, b.load(x, (N,)))

    def arguments(rng):
        x = rng.standard_normal(N).astype(np.float32)
        return [given("x", "f32", x), wanted("y", "f32", x)]

    for name, hints in choices.items():
        since = "13.3" if name == "warps" else "13.1"
        yield Kernel(f"hints_{name}", (pointer("f32"),) * 2, fill, arguments, since, hints=hints)


COMBINE = {
    Kind.ADD: np.add,
    Kind.MIN: np.minimum,
    Kind.MAX: np.maximum,
    Kind.AND: np.bitwise_and,
    Kind.OR: np.bitwise_or,
    Kind.XOR: np.bitwise_xor,
    Kind.UMIN: np.minimum,
    Kind.UMAX: np.maximum,
}


def multimem():
    """Memory of several devices; where there is one, what is combined over them is its value. `edge`: a tile that
    ends in the middle of a word of two halves, in rows that begin there, too. `whole`: tiles for wide accesses."""
    shared = {"memory_ordering_semantics": Order.RELAXED, "memory_scope": Scope.SYS}
    kinds = {"i32": list(Kind), "i64": list(Kind), "f32": [Kind.ADD], "f64": [Kind.ADD]}
    kinds["f16"] = kinds["bf16"] = [Kind.ADD, Kind.MIN, Kind.MAX]

    def kernel_of(t, kind, static, name, index="i32"):
        # Floats: only a load reduces to the least or greatest.
        reduces = kind is Kind.ADD or t[0] == "i"
        tile = (16, 64) if static else (8, 16)
        rows, cols, pitch = (16, 128, 128) if static else (7, 29, 33)

        def fill(b, x, y, v, *sizes):
            if static:
                aligned = b.op("Assume", x.type, value=x, predicate=DivBy(16))
                type_ = TensorView(t, (rows, cols), (pitch, 1), PointerKind.MULTICAST)
                tensor = b.op("MakeTensorView", type_, base=aligned, dynamicShape=[], dynamicStrides=[])
            else:
                tensor = matrix_view(b, x, *sizes)
            view = partition(b, tensor, tile)
            first = [b.constant(Tile(index), bytes(INTS[index] + 7 >> 3))] * 2
            # Other types than the usual one: a second tile has no number in i1.
            second = [b.i32(0), b.i32(1)] if index == "i32" else first
            loaded, token = b.op(
                "MultimemLoadReduceViewTko",
                [Tile(t, tile), Token()],
                view=view,
                index=first,
                reduction=kind,
                token=b.token(),
                **shared,
            )
            b.store(y, loaded)
            value = b.load(v, tile)
            if reduces:
                token = b.op(
                    "MultimemReduceViewTko",
                    Token(),
                    view=view,
                    tile=value,
                    index=first,
                    reduction=kind,
                    token=token,
                    **shared,
                )
            b.op("MultimemStoreViewTko", Token(), view=view, tile=value, index=second, token=token, **shared)

        def arguments(rng):
            def raw(numbers):
                """As the buffer's elements; all of these are numbers of every format."""
                if t[0] == "i":
                    return numbers.astype(storage(t))
                bits = [FLOATS[t].encode(float(n)) for n in numbers.flat]
                return to_array(t, bits).reshape(numbers.shape)

            x = rng.integers(-99, 99, (rows, pitch))
            v = rng.integers(-99, 99, tile)
            y = np.zeros(tile, x.dtype)
            y[:rows] = x[:, : tile[1]]
            after = x.copy()
            if reduces:
                part = after[:, : tile[1]], v[:rows]
                if kind in (Kind.UMIN, Kind.UMAX):
                    part = tuple(p.astype(np.uint64) for p in part)
                after[:, : tile[1]] = COMBINE[kind](*part).astype(np.int64)
            start = tile[1] if index == "i32" else 0
            after[:, start : start + tile[1]][:, : cols - start] = v[:rows, : cols - start]
            sizes = () if static else (i32(rows), i32(cols), i32(pitch))
            return [
                wanted("x", t, raw(after), before=raw(x)),
                wanted("y", t, raw(y)),
                given("v", t, raw(v)),
                *sizes,
            ]

        everywhere = Tile(Ptr(t, PointerKind.MULTICAST))
        sizes = () if static else (scalar("i32"),) * 3
        return Kernel(name, (everywhere, pointer(t), pointer(t), *sizes), fill, arguments, "13.5")

    for t, reductions in kinds.items():
        for kind in reductions:
            for static, where in ((False, "edge"), (True, "whole")):
                yield kernel_of(t, kind, static, f"multimem_{kind.name.lower()}_{t}_{where}")
    for index in ("i1", "i8", "i16", "i64"):
        yield kernel_of("f32", Kind.ADD, True, f"multimem_index_{index}", index)


def pointer_kinds():
    """Pointers that say what they reach are copied through like any other."""

    def fill(b, x, y):
        tile, _ = b.op("LoadPtrTko", [Tile("f32", (N,)), Token()], source=b.addresses(x, (N,)))
        b.store(y, tile)

    def arguments(rng):
        x = rng.standard_normal(N).astype(np.float32)
        return [given("x", "f32", x), wanted("y", "f32", x)]

    for kind, since in ((PointerKind.NONE, "13.4"), (PointerKind.UNICAST, "13.5")):
        parameters = (Tile(Ptr("f32", kind)), pointer("f32"))
        yield Kernel(f"pointer_{kind.name.lower()}", parameters, fill, arguments, since)


GROUPS = {
    "assume": [*assumptions(), same_elements(), *false_assumptions()],
    "assert": list(assertions()),
    "print": list(prints()),
    "gdc": [dependencies()],
    "hints": list(hinted()),
    "pointer_kinds": list(pointer_kinds()),
    "multimem": list(multimem()),
}

CASES = [kernel.module(name, kernels) for name, kernels in GROUPS.items()]


def runs():
    return kernel.runs(GROUPS)
