"""Atomic operations: every mode at every type, every ordering and scope.

Many blocks update the same elements; sums are of whole numbers, so the order
does not matter. Old values are compared where the order is known.
"""

import numpy as np
from cuda.tile._bytecode.attribute import DivBy
from cuda.tile._bytecode.encodings import AtomicRMWMode as Mode
from cuda.tile._bytecode.encodings import MemoryOrderingSemantics as Order
from cuda.tile._bytecode.encodings import MemoryScope as Scope

import kernel
from emit import Tile, Token
from formats import FLOATS
from kernel import Kernel, data, given, i32, pointer, scalar, wanted
from ops_pointer import below
from ops_reduce import typed
from ops_view import matrix_view, partition
from values import storage

N = 64
BLOCKS = 8
ORDERED = {"memory_ordering_semantics": Order.RELAXED, "memory_scope": Scope.DEVICE}


def as_unsigned(function):
    """On the same bits, read as unsigned numbers."""

    def wrapped(x, y):
        raw = x.dtype.str.replace("i", "u")
        return function(x.view(raw), y.view(raw)).view(x.dtype)

    return wrapped


INTEGER = {
    Mode.AND: np.bitwise_and,
    Mode.OR: np.bitwise_or,
    Mode.XOR: np.bitwise_xor,
    Mode.ADD: np.add,
    Mode.MAX: np.maximum,
    Mode.MIN: np.minimum,
    Mode.UMAX: as_unsigned(np.maximum),
    Mode.UMIN: as_unsigned(np.minimum),
}


def rmw(b, pointers, value, mode, **attributes):
    results = [value.type, Token()]
    return b.op("AtomicRMWTko", results, pointers=pointers, arg=value, mode=mode, **{**ORDERED, **attributes})


def integers():
    for t in ("i32", "i64"):
        for mode, function in INTEGER.items():
            yield once(f"{mode.name.lower()}_{t}", t, mode, function)
        yield once(f"xchg_{t}", t, Mode.XCHG, lambda x, y: y)
    for t in ("f32", "f64"):
        yield once(f"xchg_{t}", t, Mode.XCHG, lambda x, y: y)


def once(name, t, mode, function):
    """One block: the old values and the new ones."""

    def fill(b, x, y, old):
        before, _ = rmw(b, b.addresses(y, (N,)), b.load(x, (N,)), mode)
        b.store(old, before)

    def arguments(rng):
        x, y = data(t, (N,), rng), data(t, (N,), rng)[::-1].copy()
        with np.errstate(all="ignore"):
            after = function(y, x)
        return [given("x", t, x), wanted("y", t, after, before=y), wanted("old", t, y)]

    return Kernel(name, (pointer(t),) * 3, fill, arguments)


def sums():
    """All blocks add to the same elements."""
    for t in ("f16", "bf16", "f32", "f64", "i32", "i64"):
        mode = Mode.ADDF if t in FLOATS else Mode.ADD

        def fill(b, x, y, mode=mode):
            rmw(b, b.addresses(y, (N,)), b.load(x, (N,)), mode)

        def arguments(rng, t=t):
            x, y = rng.integers(-9, 10, (2, N))
            return [
                given("x", t, typed(t, x)),
                wanted("y", t, typed(t, y + BLOCKS * x), before=typed(t, y)),
            ]

        yield Kernel(f"sum_{t}", (pointer(t),) * 2, fill, arguments, grid=(BLOCKS,))


def sums_by_vectors():
    """All blocks add to neighbouring elements, of which a bound cuts off whole vectors, or parts of them, or none."""
    count, shape = 1000, (1024,)
    for t in ("f16", "bf16", "f32"):
        for name, factor in (("whole", 8), ("parts", 1), ("all", None)):

            def fill(b, x, y, n, factor=factor):
                y = b.op("Assume", y.type, value=y, predicate=DivBy(16))
                mask = {}
                if factor:
                    mask = {"mask": below(b, b.op("Assume", n.type, value=n, predicate=DivBy(factor)), shape)}
                ordered = {"memory_ordering_semantics": Order.ACQ_REL, "token": b.token()}
                rmw(b, b.addresses(y, shape), b.load(x, shape), Mode.ADDF, **ordered, **mask)

            def arguments(rng, t=t, factor=factor):
                bound = {8: count, 1: count - 3, None: shape[0]}[factor]
                x, y = rng.integers(-9, 10, (2, *shape))
                after = y + BLOCKS * np.where(np.arange(shape[0]) < bound, x, 0)
                return [
                    given("x", t, typed(t, x)),
                    wanted("y", t, typed(t, after), before=typed(t, y)),
                    i32(bound),
                ]

            parameters = (*(pointer(t),) * 2, scalar("i32"))
            yield Kernel(f"{name}_{t}", parameters, fill, arguments, grid=(BLOCKS,))


def orderings():
    for scope in Scope:
        for order in (Order.RELAXED, Order.ACQUIRE, Order.RELEASE, Order.ACQ_REL):

            def fill(b, y, scope=scope, order=order):
                attributes = {"memory_ordering_semantics": order, "memory_scope": scope, "token": b.token()}
                where = b.addresses(y, (N,))
                _, token = rmw(b, where, b.iota(N), Mode.ADD, **attributes)
                attributes["token"] = token
                swap = {"pointers": where, "cmp": b.iota(N), "val": b.like("AddI", b.iota(N), b.iota(N))}
                b.op("AtomicCASTko", [Tile("i32", (N,)), Token()], **swap, **attributes)

            name = f"{order.name.lower()}_{scope.name.lower()}"
            answer = 2 * np.arange(N, dtype=np.int32)
            yield Kernel(name, (pointer("i32"),), fill, lambda rng, a=answer: [wanted("y", "i32", a)])


def masked(b, x, y, n):
    rmw(b, b.addresses(y, (N,)), b.load(x, (N,)), Mode.ADD, mask=below(b, n))


def masked_arguments(rng):
    x, y = data("i32", (N,), rng), data("i32", (37,), rng)
    return [given("x", "i32", x), wanted("y", "i32", y + x[:37], before=y), i32(37)]


def swaps():
    """Bits are compared: zeros of both signs differ, a NaN equals itself."""
    for t in ("i32", "i64", "f32", "f64"):

        def fill(b, x, expected, y, old, n, t=t):
            swap = {"pointers": b.addresses(y, (N,)), "cmp": b.load(expected, (N,)), "val": b.load(x, (N,))}
            before, _ = b.op("AtomicCASTko", [Tile(t, (N,)), Token()], **swap, **ORDERED, mask=below(b, n))
            b.store(old, before)

        def arguments(rng, t=t):
            limit = 50
            x, y = data(t, (N,), rng), data(t, (N,), rng)
            raw = y.dtype.str.replace("f", "u").replace("i", "u")
            expected = y.copy()
            wrong = rng.random(N) < 0.4
            # Another sign bit: no number but its own bits will do.
            top = np.array(1 << (8 * y.itemsize - 1), raw)
            expected.view(raw)[wrong] ^= top
            takes_part = np.arange(N) < limit
            after = np.where(takes_part & ~wrong, x, y)
            # A masked-out element gives back what it was compared with.
            old = np.where(takes_part, y, expected)
            return [
                given("x", t, x),
                given("expected", t, expected),
                wanted("y", t, after, before=y),
                wanted("old", t, old),
                i32(limit),
            ]

        yield Kernel(f"cas_{t}", (*(pointer(t),) * 4, scalar("i32")), fill, arguments)


def view_vectors():
    """Sums of a view's whole and ragged tiles, whose rows are aligned."""
    rows, pitch, tile = 60, 64, (32, 64)
    for t in ("f16", "bf16", "f32"):

        def fill(b, x, y, r, c, p):
            y, p = (b.op("Assume", v.type, value=v, predicate=DivBy(16)) for v in (y, p))
            view = partition(b, matrix_view(b, y, r, c, p), tile)
            value = b.load(x, tile)
            for row in range(2):
                where = {"view": view, "index": [b.i32(row), b.i32(0)]}
                b.op("AtomicRedViewTko", Token(), **where, value=value, mode=Mode.ADDF, token=b.token(), **ORDERED)

        for cols in (64, 61):

            def arguments(rng, t=t, cols=cols):
                x, y = rng.integers(-9, 10, tile), rng.integers(-9, 10, (rows, pitch))
                after = y.copy()
                after[:, :cols] += BLOCKS * np.concatenate([x, x])[:rows, :cols]
                return [
                    given("x", t, typed(t, x)),
                    wanted("y", t, typed(t, after), before=typed(t, y)),
                    *map(i32, (rows, cols, pitch)),
                ]

            parameters = (pointer(t), pointer(t), *(scalar("i32"),) * 3)
            yield Kernel(f"red_view_{cols}_columns_{t}", parameters, fill, arguments, "13.3", (BLOCKS,))


def view_reductions():
    """atomic_red_view_tko: all blocks reduce into one ragged tile of a matrix."""
    rows, cols, pitch, tile = 5, 13, 16, (8, 16)
    cases = [("i32", m, f) for m, f in INTEGER.items()] + [("i64", Mode.ADD, np.add)]
    cases += [(t, Mode.ADDF, None) for t in ("f16", "bf16", "f32", "f64")]
    for t, mode, function in cases:

        def fill(b, x, y, r, c, p, t=t, mode=mode):
            view = partition(b, matrix_view(b, y, r, c, p), tile)
            value = b.load(x, tile)
            zero = b.i32(0)
            b.op(
                "AtomicRedViewTko",
                Token(),
                view=view,
                index=[zero, zero],
                value=value,
                mode=mode,
                token=b.token(),
                **ORDERED,
            )

        def arguments(rng, t=t, mode=mode, function=function):
            adds = mode in (Mode.ADD, Mode.ADDF)
            x = rng.integers(-9, 10, tile)
            y = rng.integers(-9, 10, (rows, pitch))
            after = y.copy()
            part = (slice(None), slice(cols))
            if adds:
                after[part] += BLOCKS * x[:rows, :cols]
            else:
                old, new = (np.ascontiguousarray(v.astype(storage(t))) for v in (y[part], x[:rows, :cols]))
                answer = function(old, new)
                if mode is Mode.XOR:
                    answer = old  # an even number of blocks
                after[part] = answer
            return [
                given("x", t, typed(t, x)),
                wanted("y", t, typed(t, after), before=typed(t, y)),
                i32(rows),
                i32(cols),
                i32(pitch),
            ]

        parameters = (pointer(t), pointer(t), *(scalar("i32"),) * 3)
        yield Kernel(f"red_view_{mode.name.lower()}_{t}", parameters, fill, arguments, "13.3", (BLOCKS,))


GROUPS = {
    "rmw": [*integers(), *sums()],
    "vectors": list(sums_by_vectors()),
    "orderings": list(orderings()),
    "masked": [Kernel("add_masked_i32", (pointer("i32"), pointer("i32"), scalar("i32")), masked, masked_arguments)],
    "cas": list(swaps()),
    "red_view": list(view_reductions()),
    "red_view_vectors": list(view_vectors()),
}

CASES = [kernel.module(name, kernels) for name, kernels in GROUPS.items()]


def runs():
    return kernel.runs(GROUPS)
