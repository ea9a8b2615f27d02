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
from emit import Entry, EntryHints, Module, PointerKind, Ptr, Tile, Token
from kernel import Kernel, given, i32, pointer, scalar, wanted
from ops_control import compare
from ops_view import matrix_view, partition
from values import storage

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


def multimem():
    """Reductions over the copies of memory on several devices: read and
    written only, a single device cannot run them."""
    sizes = (scalar("i32"),) * 3
    shared = {"memory_ordering_semantics": Order.RELAXED, "memory_scope": Scope.SYS}

    def view_of(b, base, rows, cols, pitch):
        return partition(b, matrix_view(b, base, rows, cols, pitch), (8, 16))

    kinds = {"i32": list(Kind), "i64": [Kind.ADD], "f32": [Kind.ADD], "f16": [Kind.ADD, Kind.MIN, Kind.MAX]}
    kinds["bf16"] = kinds["f16"]
    for t, reductions in kinds.items():
        for kind in reductions:

            def fill(b, x, y, rows, cols, pitch, t=t, kind=kind):
                view = view_of(b, x, rows, cols, pitch)
                index = [b.i32(0), b.i32(0)]
                tile, token = b.op(
                    "MultimemLoadReduceViewTko",
                    [Tile(t, (8, 16)), Token()],
                    view=view,
                    index=index,
                    reduction=kind,
                    token=b.token(),
                    **shared,
                )
                # Floats: only a load reduces to the least or greatest.
                if kind is Kind.ADD or t[0] == "i":
                    token = b.op(
                        "MultimemReduceViewTko",
                        Token(),
                        view=view,
                        tile=tile,
                        index=index,
                        reduction=kind,
                        token=token,
                        **shared,
                    )
                b.op("MultimemStoreViewTko", Token(), view=view, tile=tile, index=index, token=token, **shared)
                b.store(y, tile)

            everywhere = Tile(Ptr(t, PointerKind.MULTICAST))
            yield Entry(f"multimem_{kind.name.lower()}_{t}", (everywhere, pointer(t), *sizes), fill, "13.5")


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
}

CASES = [kernel.module(name, kernels) for name, kernels in GROUPS.items()]
CASES.append(Module("multimem", list(multimem())))


def runs():
    return kernel.runs(GROUPS)
