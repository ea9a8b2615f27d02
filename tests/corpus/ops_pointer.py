"""Memory through pointers: masks, padding, orderings, hints, tokens, casts,
globals and local allocations."""

import numpy as np
from cuda.tile._bytecode.attribute import LoadStoreHints, make_load_store_hints
from cuda.tile._bytecode.encodings import (
    ComparisonPredicate,
    Signedness,
    SymbolVisibility,
)
from cuda.tile._bytecode.encodings import (
    MemoryOrderingSemantics as Order,
)
from cuda.tile._bytecode.encodings import (
    MemoryScope as Scope,
)

import kernel
from emit import Tile, Token
from kernel import Kernel, data, given, i32, pointer, scalar, wanted
from ops_convert import since
from ops_shape import TYPES, constant_bytes
from values import special_bits, storage, to_array

N = 64


def below(b, limit, shape=(N,)):
    """A mask: element i is below the limit."""
    return b.op(
        "CmpI",
        Tile("i1", shape),
        lhs=b.iota(shape[0]),
        rhs=b.splat(limit, shape),
        comparison_predicate=ComparisonPredicate.LESS_THAN,
    )


PREDICATES = {
    ComparisonPredicate.LESS_THAN: np.less,
    ComparisonPredicate.LESS_THAN_OR_EQUAL: np.less_equal,
    ComparisonPredicate.GREATER_THAN: np.greater,
    ComparisonPredicate.GREATER_THAN_OR_EQUAL: np.greater_equal,
}
"""Bounds inside and outside of a tile's 512 places, at the ends of the signed and the unsigned numbers."""
BOUNDS = np.array([-(2**31), -513, -1, 0, 1, 200, 511, 512, 2**31 - 1], "i4")


def places(b, bounds, y):
    """Every place of a tile beside each bound, in either signedness, narrow and widened."""
    n = 512
    index = b.iota(n)
    at = 0
    for i in range(len(BOUNDS)):
        bound = b.load(bounds, (1,), start=i)
        for sign in (Signedness.Signed, Signedness.Unsigned):
            wide = [b.op("ExtI", Tile("i64", x.type.shape), from_=x, signedness=sign) for x in (index, bound)]
            for x, m in ((index, bound), wide):
                for predicate in PREDICATES:
                    inside = b.op(
                        "CmpI",
                        Tile("i1", (n,)),
                        lhs=x,
                        rhs=b.splat(m, (n,)),
                        comparison_predicate=predicate,
                        signedness=sign,
                    )
                    flag = b.op("ExtI", Tile("i8", (n,)), from_=inside, signedness=Signedness.Unsigned)
                    b.store(y, flag, start=at)
                    at += n


def places_arguments(rng):
    index = np.arange(512, dtype="i4")
    answer = []
    for bound in BOUNDS:
        for kind in ("i4", "u4"):
            flags = [f(index.astype(kind), bound.astype(kind)) for f in PREDICATES.values()]
            answer += 2 * flags
    return [given("bounds", "i32", BOUNDS), wanted("y", "i8", np.concatenate(answer).astype("i1"))]


BLOCKS = np.array([-(2**22), -1, 0, 2**22 - 1], "i4")
"""Blocks of 512 places: the first and the last of the signed numbers, and those around 0."""
BLOCK_BOUNDS = np.array([-(2**31), -300, 0, 200, 2**31 - 300, 2**31 - 1], "i4")


def places_of_blocks(b, blocks, bounds, y):
    """Every place of a block beside each bound, in either signedness."""
    n = 512
    at = 0
    for i in range(len(BLOCKS)):
        first = b.like("MulI", b.load(blocks, (1,), start=i), b.i32(n, (1,)))
        index = b.like("AddI", b.iota(n), b.splat(first, (n,)))
        for j in range(len(BLOCK_BOUNDS)):
            bound = b.splat(b.load(bounds, (1,), start=j), (n,))
            for sign in (Signedness.Signed, Signedness.Unsigned):
                for predicate in PREDICATES:
                    inside = b.op(
                        "CmpI", Tile("i1", (n,)), lhs=index, rhs=bound, comparison_predicate=predicate, signedness=sign
                    )
                    flag = b.op("ExtI", Tile("i8", (n,)), from_=inside, signedness=Signedness.Unsigned)
                    b.store(y, flag, start=at)
                    at += n


def places_of_blocks_arguments(rng):
    answer = []
    for block in BLOCKS.astype("i8"):
        index = (block * 512 + np.arange(512)).astype("i4")
        for bound in BLOCK_BOUNDS:
            for kind in ("i4", "u4"):
                answer += [f(index.astype(kind), bound.astype(kind)) for f in PREDICATES.values()]
    return [
        given("blocks", "i32", BLOCKS),
        given("bounds", "i32", BLOCK_BOUNDS),
        wanted("y", "i8", np.concatenate(answer).astype("i1")),
    ]


def masked():
    """A masked load with padding, a masked store that leaves the rest alone."""
    for t in TYPES:

        def fill(b, x, pad, y, n):
            mask = below(b, n)
            padding = b.load(pad, (1,))
            tile, _ = b.op(
                "LoadPtrTko",
                [Tile(x.element.pointee, (N,)), Token()],
                source=b.addresses(x, (N,)),
                mask=mask,
                paddingValue=b.splat(padding, (N,)),
            )
            b.store(y, tile)
            b.store(y, tile, start=N, mask=mask)

        def arguments(rng, t=t):
            limit = 41
            # Nothing lies behind the mask: reading there is an error.
            x = data(t, (limit,), rng)
            pad, before = data(t, (6,), rng)[5:], data(t, (2 * N,), rng)
            answer = before.copy()
            answer[:N] = np.concatenate([x, np.repeat(pad, N - limit)])
            answer[N : N + limit] = x
            return [
                given("x", t, x),
                given("pad", t, pad),
                wanted("y", t, answer, before=before),
                i32(limit),
            ]

        yield Kernel(f"masked_{t}", (pointer(t), pointer(t), pointer(t), scalar("i32")), fill, arguments, since(t))


def copy(name, since_="13.1", load=None, store=None, t="f32"):
    """A copy whose load and store have more attributes."""

    def fill(b, x, y):
        tile, token = b.op("LoadPtrTko", [Tile(t, (N,)), Token()], source=b.addresses(x, (N,)), **(load or {}))
        b.op("StorePtrTko", Token(), destination=b.addresses(y, (N,)), value=tile, token=token, **(store or {}))

    def arguments(rng):
        x = data(t, (N,), rng)
        return [given("x", t, x), wanted("y", t, x)]

    return Kernel(name, (pointer(t), pointer(t)), fill, arguments, since_)


def orderings():
    for scope in Scope:
        for order in (Order.RELAXED, Order.ACQUIRE):
            name = f"load_{order.name.lower()}_{scope.name.lower()}"
            yield copy(name, load={"memory_ordering_semantics": order, "memory_scope": scope})
        for order in (Order.RELAXED, Order.RELEASE):
            name = f"store_{order.name.lower()}_{scope.name.lower()}"
            yield copy(name, store={"memory_ordering_semantics": order, "memory_scope": scope})


def hints():
    wanted_hints = make_load_store_hints({"sm_90": LoadStoreHints(latency=3), "default": LoadStoreHints(latency=1)})
    yield copy("hints", load={"optimization_hints": wanted_hints}, store={"optimization_hints": wanted_hints})


def gathers():
    """Pointers in any order; the offset may be of any width."""
    for t in ("i8", "i16", "i32", "i64"):

        def fill(b, x, index, y):
            offset = b.load(index, (N,))
            where = b.op("Offset", Tile(x.element, (N,)), ptr=b.splat(x, (N,)), offset=offset)
            tile, _ = b.op("LoadPtrTko", [Tile("f32", (N,)), Token()], source=where)
            b.op("StorePtrTko", Token(), destination=b.addresses(y, (N,)), value=tile)

        def arguments(rng, t=t):
            x = data("f32", (100,), rng)
            index = rng.integers(0, 100, N).astype(storage(t))
            return [given("x", "f32", x), given("index", t, index), wanted("y", "f32", x[index.astype(int)])]

        yield Kernel(f"offset_{t}", (pointer("f32"), pointer(t), pointer("f32")), fill, arguments)


def backwards(b, x, y):
    """Negative offsets."""
    last = b.op("Offset", x.type, ptr=x, offset=b.i32(N - 1))
    down = b.like("SubI", b.i32(0, (N,)), b.iota(N))
    where = b.op("Offset", Tile(x.element, (N,)), ptr=b.splat(last, (N,)), offset=down)
    tile, _ = b.op("LoadPtrTko", [Tile("f32", (N,)), Token()], source=where)
    b.store(y, tile)


def backwards_arguments(rng):
    x = data("f32", (N,), rng)
    return [given("x", "f32", x), wanted("y", "f32", x[::-1])]


def through_integers(b, x, y):
    """ptr_to_int, arithmetic on the address, int_to_ptr."""
    address = b.op("PtrToInt", Tile("i64"), source=x)
    moved = b.like("AddI", address, b.constant(Tile("i64"), (16).to_bytes(8, "little")))
    b.store(y, b.load(b.op("IntToPtr", x.type, source=moved), (N,)))


def through_integers_arguments(rng):
    x = data("f32", (N + 4,), rng)
    return [given("x", "f32", x), wanted("y", "f32", x[4:])]


def as_bytes(b, x, y):
    """ptr_to_ptr: f32 memory read as bytes."""
    b.store(y, b.load(b.op("PtrToPtr", pointer("i8"), source=x), (4 * N,)))


def as_bytes_arguments(rng):
    x = data("f32", (N,), rng)
    return [given("x", "f32", x), wanted("y", "i8", x.view(np.int8))]


def ordered_by_tokens(b, x, y):
    """Two stores to the same place, in the order that tokens give them; a
    joined token orders the load that reads it back."""
    first = b.store(y, b.load(x, (N,)), token=b.token())
    second = b.store(y, b.load(x, (N,), start=N), token=first)
    joined = b.op("JoinTokens", Token(), tokens=[first, second, b.token()])
    back, _ = b.op("LoadPtrTko", [Tile("f32", (N,)), Token()], source=b.addresses(y, (N,)), token=joined)
    b.store(y, back, start=N)


def ordered_by_tokens_arguments(rng):
    x = data("f32", (2 * N,), rng)
    return [given("x", "f32", x), wanted("y", "f32", np.concatenate([x[N:], x[N:]]))]


def fenced(b, x, y):
    """A fence between stores and loads that may alias."""
    stored = b.store(y, b.load(x, (N,)), token=b.token())
    fence = b.op("MemoryFenceAliasTko", Token(), token=stored)
    back, _ = b.op("LoadPtrTko", [Tile("f32", (N,)), Token()], source=b.addresses(y, (N,)), token=fence)
    b.store(y, back, start=N)


def fenced_arguments(rng):
    x = data("f32", (N,), rng)
    return [given("x", "f32", x), wanted("y", "f32", np.concatenate([x, x]))]


def allocated(global_):
    def fill(b, x, y):
        room = b.op("Alloca", pointer("f32"), num_elem=N, alignment=16, global_=global_)
        stored = b.store(room, b.load(x, (N,)), token=b.token())
        back, _ = b.op("LoadPtrTko", [Tile("f32", (N,)), Token()], source=b.addresses(room, (N,)), token=stored)
        b.store(y, back)

    def arguments(rng):
        x = data("f32", (N,), rng)
        return [given("x", "f32", x), wanted("y", "f32", x)]

    name = "alloca_global" if global_ else "alloca"
    return Kernel(name, (pointer("f32"), pointer("f32")), fill, arguments, "13.3")


TABLE = np.arange(N, dtype=np.float32) * 1.5 - 7

# One global of every type.
TYPED = {t: (special_bits(t) * 16)[:16] for t in TYPES}

GLOBALS = (
    *((f"of_{t}", Tile(t, (16,)), constant_bytes(t, bits), {}, since(t)) for t, bits in TYPED.items()),
    ("table", Tile("f32", (N,)), TABLE.tobytes(), {"alignment": 16}, "13.1"),
    ("counts", Tile("i32", (4,)), np.array([5, 6, 7, 8], np.int32).tobytes(), {}, "13.1"),
    (
        "fixed",
        Tile("i8", (8,)),
        bytes(range(8)),
        {"constant": True, "symbol_visibility": SymbolVisibility.Private},
        "13.3",
    ),
)


def global_read(b, y):
    b.store(y, b.load(b.op("GetGlobal", pointer("f32"), name="table"), (N,)))


def global_written(b, y):
    """Globals are mutable; what is stored is read back."""
    counts = b.op("GetGlobal", pointer("i32"), name="counts")
    old, loaded = b.op("LoadPtrTko", [Tile("i32", (4,)), Token()], source=b.addresses(counts, (4,)), token=b.token())
    stored = b.store(counts, b.like("AddI", old, old), token=loaded)
    new, _ = b.op("LoadPtrTko", [Tile("i32", (4,)), Token()], source=b.addresses(counts, (4,)), token=stored)
    b.store(y, old)
    b.store(y, new, start=4)


def global_constant(b, y):
    b.store(y, b.load(b.op("GetGlobal", pointer("i8"), name="fixed"), (8,)))


def global_types():
    for t, bits in TYPED.items():
        yield Kernel(
            f"global_of_{t}",
            (pointer(t),),
            lambda b, y, t=t: b.store(y, b.load(b.op("GetGlobal", pointer(t), name=f"of_{t}"), (16,))),
            lambda rng, t=t, bits=bits: [wanted("y", t, to_array(t, bits))],
            since(t),
        )


GROUPS = {
    "masked": list(masked()),
    "places": [
        Kernel("places", (pointer("i32"), pointer("i8")), places, places_arguments),
        Kernel(
            "places_of_blocks",
            (pointer("i32"), pointer("i32"), pointer("i8")),
            places_of_blocks,
            places_of_blocks_arguments,
        ),
    ],
    "orderings": [*orderings(), *hints()],
    "addresses": [
        *gathers(),
        Kernel("offset_negative", (pointer("f32"),) * 2, backwards, backwards_arguments),
        Kernel("ptr_to_int", (pointer("f32"),) * 2, through_integers, through_integers_arguments),
        Kernel("ptr_to_ptr", (pointer("f32"), pointer("i8")), as_bytes, as_bytes_arguments),
    ],
    "tokens": [
        Kernel("tokens", (pointer("f32"),) * 2, ordered_by_tokens, ordered_by_tokens_arguments),
        Kernel("memory_fence_alias", (pointer("f32"),) * 2, fenced, fenced_arguments, "13.4"),
    ],
    "alloca": [allocated(False), allocated(True)],
    "globals": [
        *global_types(),
        Kernel("global_read", (pointer("f32"),), global_read, lambda rng: [wanted("y", "f32", TABLE)]),
        Kernel(
            "global_written",
            (pointer("i32"),),
            global_written,
            lambda rng: [wanted("y", "i32", np.array([5, 6, 7, 8, 10, 12, 14, 16], np.int32))],
        ),
        Kernel(
            "global_constant",
            (pointer("i8"),),
            global_constant,
            lambda rng: [wanted("y", "i8", np.arange(8, dtype=np.int8))],
            "13.3",
        ),
    ],
}

CASES = [kernel.module(name, kernels, GLOBALS if name == "globals" else ()) for name, kernels in GROUPS.items()]


def runs():
    return kernel.runs(GROUPS)
