"""Operations at the element types that the other files leave out: numbers of one and of four bits,
formats without arithmetic, pointers; views, control flow and reductions at every type."""

import math

import numpy as np
from cuda.tile._bytecode.attribute import DivBy
from cuda.tile._bytecode.encodings import AtomicRMWMode as Mode
from cuda.tile._bytecode.encodings import ComparisonPredicate as Is
from cuda.tile._bytecode.encodings import MemoryOrderingSemantics as Order
from cuda.tile._bytecode.encodings import MemoryScope as Scope

import elementwise
import kernel
from elementwise import Op, memory_type
from emit import SIMPLE, GatherScatterView, PaddingValue, Round, Tile, Token
from formats import FLOATS
from kernel import Kernel, given, i32, pointer, scalar, wanted
from ops_control import branch, for_loop, give, go_on, leave, loop
from ops_convert import since
from ops_integer import (
    SIGNED,
    UNSIGNED,
    binary,
    defined_signed,
    defined_unsigned,
    divide,
    unary,
    unsigned,
)
from ops_other import print_
from ops_view import TensorView, block, load_view, matrix_view, partition, store_view, strided
from values import random_bits, special_bits, storage, to_array

SMALL = ["i4", "f4E2M1FN"]  # two to a byte
NARROW = ["tf32", "f8E4M3FN", "f8E5M2", "f8E8M0FNU", "fnv8E5M3FNU"]  # no arithmetic
ALL = ["i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", *NARROW, *SMALL]
VIEWED = [t for t in ALL if t != "i4"]  # what memory holds
PAIRED = "13.3"  # the first version with types of four bits

ROWS, COLS = 4, 8
N = ROWS * COLS


def version(t, at_least="13.1"):
    return max(at_least, PAIRED) if t in SMALL else since(t, at_least=at_least)


def codes(t, count, rng):
    """Bit patterns: special values, then random ones."""
    return np.array((special_bits(t) + random_bits(t, count, rng))[:count], object)


def stored(t, bits):
    """Patterns as a buffer holds them."""
    return to_array(t, bits.ravel().tolist())


def fetch(b, p, t, shape, start=0):
    """A tile from consecutive memory. Four-bit elements are unpacked from bytes."""
    count = int(np.prod(shape))
    if t not in SMALL:
        return b.load(p, shape, start)
    flat = b.op("Unpack", Tile(t, (count,)), source=b.load(p, (count // 2,), start // 2))
    return flat if shape == (count,) else b.op("Reshape", Tile(t, shape), source=flat)


def put(b, p, tile, start=0):
    t = tile.element
    if t not in SMALL:
        return b.store(p, tile, start)
    count = int(np.prod(tile.shape))
    if tile.shape != (count,):
        tile = b.op("Reshape", Tile(t, (count,)), source=tile)
    return b.store(p, b.op("Pack", Tile("i8", (count // 2,)), source=tile), start // 2)


# Moves: name → (first version, what is done to a 4x8 tile, the same of an array).


def extracted(b, x):
    return b.op("Extract", Tile(x.element, (2, 4)), source=x, indices=[b.i32(1), b.i32(1)])


def inserted(b, x):
    part = extracted(b, x)
    return b.op("Insert", x.type, source=part, destination=x, indices=[b.i32(0), b.i32(1)])


def inserted_array(x):
    x = x.copy()
    x[0:2, 4:8] = x[2:4, 4:8]
    return x


def selected(b, x):
    """Every third element from the tile turned around."""
    flat = b.op("Reshape", Tile(x.element, (N,)), source=x)
    rows = b.op("Permute", Tile(x.element, (COLS, ROWS)), source=x, permutation=[1, 0])
    other = b.op("Reshape", Tile(x.element, (N,)), source=rows)
    third = b.like("RemI", b.iota(N), b.i32(3, (N,)))
    mask = b.op("CmpI", Tile("i1", (N,)), lhs=third, rhs=b.i32(0, (N,)), comparison_predicate=Is.EQUAL)
    return b.op("Select", flat.type, cond=mask, val_if_true=other, val_if_false=flat)


def selected_array(x):
    return np.where(np.arange(N) % 3 == 0, x.T.ravel(), x.ravel())


def spread(b, x):
    column = b.op("Extract", Tile(x.element, (ROWS, 2)), source=x, indices=[b.i32(0), b.i32(3)])
    column = b.op("Reshape", Tile(x.element, (ROWS, 2, 1)), source=column)
    return b.op("Broadcast", Tile(x.element, (ROWS, 2, 4)), source=column)


MOVES = {
    "cat": (
        "13.1",
        lambda b, x: b.op("Cat", Tile(x.element, (2 * ROWS, COLS)), lhs=x, rhs=x, dim=0),
        lambda x: np.concatenate([x, x]),
    ),
    "extract": ("13.1", extracted, lambda x: x[2:4, 4:8]),
    "insert": ("13.4", inserted, inserted_array),
    "permute": (
        "13.1",
        lambda b, x: b.op("Permute", Tile(x.element, (COLS, ROWS)), source=x, permutation=[1, 0]),
        lambda x: x.T,
    ),
    "select": ("13.1", selected, selected_array),
    "broadcast": ("13.1", spread, lambda x: np.repeat(x[:, 6:8].ravel(), 4)),
}


def moves():
    """Tiles of four-bit elements, and of pointers that are then loaded through."""
    for name, (first, emit, right) in MOVES.items():
        for t in SMALL:
            if (name, t) == ("select", "f4E2M1FN"):
                continue  # refused: the type is less than a byte

            def fill(b, x, y, t=t, emit=emit):
                put(b, y, emit(b, fetch(b, x, t, (ROWS, COLS))))

            def arguments(rng, t=t, right=right):
                bits = codes(t, N, rng).reshape(ROWS, COLS)
                return [given("x", "i8", stored(t, bits)), wanted("y", "i8", stored(t, right(bits)))]

            yield Kernel(f"{name}_{t}", (pointer("i8"),) * 2, fill, arguments, max(first, PAIRED))

        def through(b, x, y, emit=emit):
            where = emit(b, b.addresses(x, (ROWS, COLS)))
            tile, _ = b.op("LoadPtrTko", [Tile("f32", where.shape), Token()], source=where)
            b.store(y, tile)

        def pointed(rng, right=right):
            x = rng.standard_normal((ROWS, COLS)).astype(np.float32)
            return [given("x", "f32", x), wanted("y", "f32", right(x).ravel())]

        yield Kernel(f"{name}_pointers", (pointer("f32"),) * 2, through, pointed, first)


def carried(b, one, other):
    """Values of any type through a loop that swaps them, one that breaks, and a branch: `other`, `one`."""
    bounds = (b.i32(0), b.i32(3), b.i32(1))
    one, other = for_loop(b, bounds, (one, other), lambda b, i, x, y: go_on(b, y, x))

    def body(b, x, count):
        def out(b):
            leave(b, x)

        branch(b, equal(b, count, 2), [], out, lambda b: give(b))
        go_on(b, x, b.like("AddI", count, b.i32(1)))

    (one,) = loop(b, (one, b.i32(0)), [one.type], body)
    yes = equal(b, b.i32(1), 1)
    (first,) = branch(b, yes, [one.type], lambda b: give(b, one), lambda b: give(b, other))
    return first, other


def equal(b, x, number):
    return b.op("CmpI", Tile("i1", x.shape), lhs=x, rhs=b.i32(number), comparison_predicate=Is.EQUAL)


def control():
    for t in ALL:

        def fill(b, x, y, t=t):
            made = carried(b, fetch(b, x, t, (ROWS, COLS)), fetch(b, x, t, (ROWS, COLS), N))
            for at, tile in enumerate(made):
                put(b, y, tile, at * N)

        def arguments(rng, t=t):
            bits = codes(t, 2 * N, rng)
            m = memory_type(t)
            return [given("x", m, stored(t, bits)), wanted("y", m, stored(t, np.concatenate([bits[N:], bits[:N]])))]

        m = pointer(memory_type(t))
        yield Kernel(f"control_{t}", (m, m), fill, arguments, version(t))

    def through(b, x, y):
        made = carried(b, b.addresses(x, (N,)), b.addresses(x, (N,), N))
        for at, where in enumerate(made):
            b.store(y, b.op("LoadPtrTko", [Tile("f32", (N,)), Token()], source=where)[0], at * N)

    def pointed(rng):
        x = rng.standard_normal(2 * N).astype(np.float32)
        return [given("x", "f32", x), wanted("y", "f32", np.concatenate([x[N:], x[:N]]))]

    yield Kernel("control_pointers", (pointer("f32"),) * 2, through, pointed)


# A matrix of 14 rows of 22 elements that lie 24 apart, for views.
HEIGHT, WIDTH, PITCH = 14, 22, 24
SIZES = [i32(HEIGHT), i32(WIDTH), i32(PITCH)]
PARAMETERS = (scalar("i32"),) * 3
TILE = (4, 8)
STEPS = (3, 6)


def padded(t):
    return t != "f8E8M0FNU"  # which has no zero


def zero_of(t):
    return FLOATS[t].encode(0.0) if t in FLOATS else 0


def grid_of(t):
    """Past the edges where there is padding, as far as there are elements else."""
    return (5, 4) if padded(t) else (4, 3)


def number_of(b, grid):
    i, j, _ = block(b)
    return i, j, b.like("AddI", b.like("MulI", i, b.i32(grid[1])), j)


def put_block(b, y, tile, number):
    """The block's tile behind those of the blocks before it."""
    count = int(np.prod(tile.shape)) // (2 if tile.element in SMALL else 1)
    put(b, b.op("Offset", y.type, ptr=y, offset=b.like("MulI", number, b.i32(count))), tile)


def bytes_of(b, p):
    """A pointer to four-bit elements, as one to bytes."""
    return b.op("PtrToPtr", pointer("i8"), source=p) if p.element.pointee in SMALL else p


def strided_tiles(bits, t, grid):
    wide = np.full((HEIGHT + 8, WIDTH + 12), zero_of(t), object)
    wide[:HEIGHT, :WIDTH] = bits[:, :WIDTH]
    part = [wide[i * 3 :, j * 6 :][: TILE[0], : TILE[1]] for i in range(grid[0]) for j in range(grid[1])]
    return np.stack(part)


def viewed(t, bits):
    """Patterns as a buffer of the type itself holds them, of bytes where two share one."""
    array = stored(t, bits)
    return array.view(np.uint8) if t in SMALL else array


def views():
    for t in VIEWED:
        padding = PaddingValue.Zero if padded(t) else PaddingValue.Missing
        grid = grid_of(t)
        m = pointer(t)

        def load(b, x, rows, cols, pitch, y, shape, padding=padding, grid=grid):
            i, j, number = number_of(b, grid)
            tensor = matrix_view(b, x, rows, cols, pitch)
            view = strided(b, tensor, TILE, STEPS, padding=padding)
            put_block(b, bytes_of(b, y), load_view(b, view, [i, j]), number)
            at = 0
            for name, source in (("GetTensorShape", tensor), ("GetIndexSpaceShape", view)):
                for extent in b.op(name, [Tile("i32"), Tile("i32")], src=source):
                    b.store(shape, extent, start=at)
                    at += 1

        def loaded(rng, t=t, grid=grid):
            bits = codes(t, HEIGHT * PITCH, rng).reshape(HEIGHT, PITCH)
            # As many steps as it takes to pass the end.
            shape = [HEIGHT, WIDTH, -(-HEIGHT // STEPS[0]), -(-WIDTH // STEPS[1])]
            return [
                given("x", t, viewed(t, bits)),
                *SIZES,
                wanted("y", t, viewed(t, strided_tiles(bits, t, grid))),
                wanted("shape", "i32", np.array(shape, np.int32)),
            ]

        yield Kernel(f"strided_{t}", (m, *PARAMETERS, m, pointer("i32")), load, loaded, version(t, "13.3"), grid)

        def store(b, x, rows, cols, pitch, y):
            i, j, number = number_of(b, (3, 2))
            view = strided(b, matrix_view(b, y, rows, cols, pitch), TILE, (5, 10))
            count = int(np.prod(TILE)) // (2 if x.element.pointee in SMALL else 1)
            source = bytes_of(b, x)
            source = b.op("Offset", source.type, ptr=source, offset=b.like("MulI", number, b.i32(count)))
            store_view(b, view, [i, j], fetch(b, source, x.element.pointee, TILE))

        def placed(rng, t=t):
            bits, before = codes(t, 6 * N, rng), codes(t, HEIGHT * PITCH, rng)[::-1].reshape(HEIGHT, PITCH)
            after = before.copy()
            for i in range(3):
                for j in range(2):
                    whole = bits.reshape(3, 2, *TILE)[i, j]
                    place = after[:, :WIDTH][i * 5 :, j * 10 :][: TILE[0], : TILE[1]]
                    place[:] = whole[: place.shape[0], : place.shape[1]]
            y = wanted("y", t, viewed(t, after), before=viewed(t, before))
            return [given("x", t, viewed(t, bits)), *SIZES, y]

        yield Kernel(f"strided_store_{t}", (m, *PARAMETERS, m), store, placed, version(t, "13.3"), (3, 2))
        yield from sparse(t, padding)


def sparse(t, padding):
    """Rows picked one by one, four columns in; some of them lie outside where there is padding."""
    tile, start = (8, 16), 4
    m = pointer(t)

    def load(b, x, index, rows, cols, pitch, y):
        tensor = matrix_view(b, x, rows, cols, pitch)
        view = b.op("MakeGatherScatterView", GatherScatterView(tile, tensor.type, 0, padding), tensor_view=tensor)
        put(b, bytes_of(b, y), load_view(b, view, [b.load(index, (8,)), b.i32(start)]))

    def loaded(rng):
        bits = codes(t, HEIGHT * PITCH, rng).reshape(HEIGHT, PITCH)
        index = rng.permutation(HEIGHT + (3 if padded(t) else 0))[:8].astype(np.int32)
        wide = np.full((HEIGHT + 3, WIDTH), zero_of(t), object)
        wide[:HEIGHT] = bits[:, :WIDTH]
        answer = viewed(t, wide[index][:, start : start + 16])
        return [given("x", t, viewed(t, bits)), given("index", "i32", index), *SIZES, wanted("y", t, answer)]

    yield Kernel(f"gather_{t}", (m, pointer("i32"), *PARAMETERS, m), load, loaded, version(t, "13.3"))

    def store(b, x, index, y, rows, cols, pitch):
        tensor = matrix_view(b, y, rows, cols, pitch)
        view = b.op("MakeGatherScatterView", GatherScatterView(tile, tensor.type, 0), tensor_view=tensor)
        store_view(b, view, [b.load(index, (8,)), b.i32(start)], fetch(b, bytes_of(b, x), t, tile))

    def placed(rng):
        bits, before = codes(t, 128, rng).reshape(tile), codes(t, HEIGHT * PITCH, rng)[::-1].reshape(HEIGHT, PITCH)
        index = rng.permutation(HEIGHT + 3)[:8].astype(np.int32)
        after = before.copy()
        for row, at in enumerate(index):
            if at < HEIGHT:
                after[at, start : start + 16] = bits[row]
        y = wanted("y", t, viewed(t, after), before=viewed(t, before))
        return [given("x", t, viewed(t, bits)), given("index", "i32", index), y, *SIZES]

    yield Kernel(f"scatter_{t}", (m, pointer("i32"), m, *PARAMETERS), store, placed, version(t, "13.3"))


def indices():
    """Indices, strides and extents of other integers than i32. Nothing says whether the one of i1 is
    positive: it counts nothing here."""
    for t in ("i1", "i8", "i16", "i64"):
        width = max(int(t[1:]) // 8, 1)

        def fill(b, x, y, z, pitch, t=t, width=width):
            number = b.constant(Tile(t), (0 if t == "i1" else 1).to_bytes(width, "little"))
            strides = (16, 1) if t == "i1" else (-(2**63), 1)
            views = []
            for base in (x, y, z):
                type_ = TensorView(base.element.pointee, (16, 16), strides)
                dynamic = [] if t == "i1" else [pitch]
                tensor = b.op("MakeTensorView", type_, base=base, dynamicShape=[], dynamicStrides=dynamic)
                views.append(partition(b, tensor, (8, 8)))
            tile = load_view(b, views[0], [number, number])
            store_view(b, views[1], [number, number], tile)
            b.op(
                "AtomicRedViewTko",
                Token(),
                view=views[2],
                index=[number, number],
                value=tile,
                mode=Mode.ADD,
                memory_ordering_semantics=Order.RELAXED,
                memory_scope=Scope.DEVICE,
            )

        def arguments(rng, t=t):
            x, z = rng.integers(-99, 99, (2, 16, 16)).astype(np.int32)
            at = slice(0, 8) if t == "i1" else slice(8, 16)
            y, sum_ = np.zeros((16, 16), np.int32), z.copy()
            y[at, at] = x[at, at]
            sum_[at, at] += x[at, at]
            pitch = kernel.Scalar("i32" if t == "i1" else t, 16)
            return [given("x", "i32", x), wanted("y", "i32", y), wanted("z", "i32", sum_, before=z), pitch]

        last = scalar("i32" if t == "i1" else t)
        yield Kernel(f"index_{t}", (*(pointer("i32"),) * 3, last), fill, arguments, "13.3")


def shapes():
    """Extents as other integers than i32 and i64."""
    for t, extents, tile in (("i1", (1, 1), (1, 1)), ("i8", (100, 60), (8, 16)), ("i16", (100, 300), (8, 16))):

        def fill(b, x, y, t=t, extents=extents, tile=tile):
            type_ = TensorView("f32", extents, (extents[1], 1))
            tensor = b.op("MakeTensorView", type_, base=x, dynamicShape=[], dynamicStrides=[])
            at = 0
            for name, source in (("GetTensorShape", tensor), ("GetIndexSpaceShape", partition(b, tensor, tile))):
                for extent in b.op(name, [Tile(t), Tile(t)], src=source):
                    b.store(y, extent, start=at)
                    at += 1

        def arguments(rng, t=t, extents=extents, tile=tile):
            answer = [*extents, *(-(-n // k) for n, k in zip(extents, tile))]
            x = given("x", "f32", np.zeros(extents, np.float32))
            return [x, wanted("y", t, np.array(answer, storage(t)))]

        yield Kernel(f"shapes_{t}", (pointer("f32"), pointer(t)), fill, arguments)


def allocations():
    """Through an allocation, and addresses as numbers and back, at every type."""
    for t in (t for t in VIEWED if t != "f4E2M1FN"):

        def fill(b, x, y):
            t = x.element.pointee
            room = b.op("Alloca", x.type, num_elem=N, alignment=16, global_=False)
            where = b.addresses(room, (N,))
            token = b.op("StorePtrTko", Token(), destination=where, value=b.load(x, (N,)), token=b.token())
            number = b.op("PtrToInt", Tile("i64", (N,)), source=where)
            back = b.op("IntToPtr", where.type, source=number)
            tile, _ = b.op("LoadPtrTko", [Tile(t, (N,)), Token()], source=back, token=token)
            raw = b.op("PtrToPtr", Tile(pointer("i8").element, (N,)), source=back)
            again = b.op("PtrToPtr", where.type, source=raw)
            mask = b.op("CmpI", Tile("i1", (N,)), lhs=b.iota(N), rhs=b.i32(5, (N,)), comparison_predicate=Is.EQUAL)
            fifth, _ = b.op("LoadPtrTko", [Tile(t, (N,)), Token()], source=again, mask=mask, paddingValue=tile, token=token)
            b.store(y, fifth)

        def arguments(rng, t=t):
            x = stored(t, codes(t, N, rng))
            return [given("x", t, x), wanted("y", t, x)]

        yield Kernel(f"alloca_{t}", (pointer(t),) * 2, fill, arguments, version(t, "13.3"))


def largest(kind, t):
    """The greatest along a dimension, by way of a type that can be compared."""
    integer = t[0] == "i"
    via = "i8" if integer else "f32"
    up, down = ("ExtI", "TruncI") if integer else ("FToF", "FToF")
    rounding = {} if integer else {"rounding_mode": Round.ZERO if t == "f8E8M0FNU" else Round.NEAREST_EVEN}
    shape = (COLS,) if kind == "reduce" else (ROWS, COLS)

    def region(b, x, y):
        wide = [b.op(up, Tile(via), from_=v) for v in (x, y)]
        most = b.like("MaxI" if integer else "MaxF", *wide)
        give(b, b.op(down, Tile(t), from_=most, **rounding))

    def fill(b, x, y):
        least = -8 if t == "i4" else min(numbers(t), key=lambda n: n[0])[1]
        attributes = {"reverse": False} if kind == "scan" else {}
        made = b.nested(
            kind.title(),
            [Tile(t, shape)],
            [([Tile(t)] * 2, region)],
            operands=[fetch(b, x, t, (ROWS, COLS))],
            dim=0,
            identities=[identity(b, t, least)],
            **attributes,
        )
        put(b, y, made[0])

    def arguments(rng):
        order = dict((bits, value) for value, bits in numbers(t))
        bits = rng.choice(np.array(list(order), object), (ROWS, COLS))
        best = np.vectorize(lambda x, y: x if order[x] >= order[y] else y, otypes=[object])
        rows = [bits[0]]
        for row in bits[1:]:
            rows.append(best(rows[-1], row))
        answer = rows[-1] if kind == "reduce" else np.stack(rows)
        m = memory_type(t)
        return [given("x", m, stored(t, bits)), wanted("y", m, stored(t, answer))]

    # Rounding to the type of exponents alone is new in 13.5.
    first = "13.5" if t == "f8E8M0FNU" else "13.3"
    m = pointer(memory_type(t))
    return Kernel(f"{kind}_{t}", (m, m), fill, arguments, version(t, first))


def numbers(t):
    """Finite values with their patterns, zero but once."""
    if t == "i4":
        return [(n, n & 15) for n in range(-8, 8)]
    f = FLOATS[t]
    patterns = range(256) if f.bits == 8 else [f.encode(float(n) / 4) for n in range(-40, 40)]
    found = {}
    for bits in patterns:
        value = f.decode(bits)
        if value == value and abs(value) != float("inf"):
            found.setdefault(value, bits)
    return list(found.items())


def identity(b, t, bits):
    if t == "i4":
        return b.attribute(t, bits)
    made = b.attribute("f32", 0.0)
    made.type_id = b._writer.type_table.simple(SIMPLE[t])
    made.value_bits, made.bit_size = bits, FLOATS[t].bits
    return made


def reductions():
    for kind in ("reduce", "scan"):
        for t in (*NARROW, "i4"):
            yield largest(kind, t)

    def fill(b, x, y):
        def region(b, x, y):
            give(b, b.like("XOrI", x, y))

        attributes = {"dim": 0, "reverse": False, "identities": [b.attribute("i1", 0)]}
        made = b.nested("Scan", [Tile("i1", (N,))], [([Tile("i1")] * 2, region)], operands=[b.load(x, (N,))], **attributes)
        b.store(y, made[0])

    def arguments(rng):
        x = rng.random(N) < 0.5
        return [given("x", "i1", x), wanted("y", "i1", np.logical_xor.accumulate(x))]

    yield Kernel("scan_i1", (pointer("i1"),) * 2, fill, arguments)


def prints():
    """Every number that can be printed, as Python prints it."""
    for t in ("i1", "i4", "i8", "i16", "bf16", "tf32", "f8E4M3FN", "f8E5M2", "f8E8M0FNU", "fnv8E5M3FNU", "f4E2M1FN"):
        values = {"i1": [0, 1]}.get(t) or ([-3, 7] if t[0] == "i" else [0.5, 4.0])
        bits = np.array([v & (1 << int(t[1:])) - 1 if t[0] == "i" else FLOATS[t].encode(v) for v in values], object)
        conversion = "%d" if t[0] == "i" else "%.2f"
        text = "[" + ", ".join(conversion % v for v in values) + "]\n"

        def fill(b, x, t=t, conversion=conversion):
            token = Token() if b.version >= 130200 else None
            print_(b, f"{conversion}\n", [fetch(b, x, t, (2,))], token)

        def arguments(rng, t=t, bits=bits):
            return [given("x", memory_type(t), stored(t, bits))]

        yield Kernel(f"print_{t}", (pointer(memory_type(t)),), fill, arguments, version(t), stdout=text)


def assumptions():
    for t in ("i1", "i4"):
        divisor = 1 if t == "i1" else 2

        def fill(b, x, y, t=t, divisor=divisor):
            tile = fetch(b, x, t, (N,))
            put(b, y, b.op("Assume", tile.type, value=tile, predicate=DivBy(divisor)))

        def arguments(rng, t=t):
            bits = codes(t, N, rng)
            if t == "i4":
                bits = bits & 14
            m = memory_type(t)
            return [given("x", m, stored(t, bits)), wanted("y", m, stored(t, bits))]

        m = pointer(memory_type(t))
        yield Kernel(f"assume_{t}", (m, m), fill, arguments, version(t))


def small_integers():
    """i1 where it says something: counting to one, no step, pairs."""

    def count(b, y):
        zero, one = b.constant(Tile("i1"), b"\x00"), b.constant(Tile("i1"), b"\xff")

        def body(b, i, n):
            go_on(b, b.like("AddI", n, b.i32(1)))

        (n,) = for_loop(b, (zero, one, one), (b.i32(0),), body, unsignedCmp=True)
        b.store(y, n)

    yield Kernel("for_i1", (pointer("i32"),), count, lambda rng: [wanted("y", "i32", np.ones(1, np.int32))], "13.2")

    def pair(b, y):
        b.store(y, b.op("Iota", Tile("i1", (2,))))

    yield Kernel("iota_i1", (pointer("i1"),), pair, lambda rng: [wanted("y", "i1", np.array([False, True]))])

    def still(b, x, y):
        none = b.constant(Tile("i1", (N,)), b"\x00")
        where = b.op("Offset", Tile(x.element, (N,)), ptr=b.addresses(x, (N,)), offset=none)
        b.store(y, b.op("LoadPtrTko", [Tile("f32", (N,)), Token()], source=where)[0])

    def same(rng):
        x = rng.standard_normal(N).astype(np.float32)
        return [given("x", "f32", x), wanted("y", "f32", x)]

    yield Kernel("offset_i1", (pointer("f32"),) * 2, still, same)


ONE = ["i1"]
ELEMENTWISE = {
    "one_bit": [
        *unary("AbsI", "absi", lambda x, t: abs(x), ONE),
        *unary("NegI", "negi", lambda x, t: -x, ONE),
        *binary("DivI", "divi", lambda x, y, t: divide(x, y, "rz"), ONE, valid=defined_signed),
        *binary(
            "DivI",
            "divi_unsigned",
            lambda x, y, t: unsigned(x, t) // unsigned(y, t),
            ONE,
            valid=defined_unsigned,
            signedness=UNSIGNED,
        ),
        *binary("RemI", "remi", lambda x, y, t: x - y * divide(x, y, "rz"), ONE, valid=defined_signed),
        *binary("MulhiI", "mulhii", lambda x, y, t: unsigned(x, t) * unsigned(y, t) >> 1, ONE),
        *binary("ShLI", "shli", lambda x, y, t: x << y, ONE, valid=lambda x, y, t: y == 0),
        *binary("ShRI", "shri", lambda x, y, t: x >> y, ONE, valid=lambda x, y, t: y == 0),
    ],
    "conversions": [
        # tileiras: whether the number is not zero, where C's conversion to bool says so too.
        *(
            Op(
                f"ftoi{suffix}_{t}_i1",
                (t,),
                ("i1",),
                lambda b, x, s=signedness: b.op("FToI", Tile("i1", x.shape), from_=x, signedness=s),
                lambda x: int(x != 0),
                since=version(t),
            )
            for t in FLOATS
            for suffix, signedness in (("", SIGNED), ("_unsigned", UNSIGNED))
            if FLOATS[t].signed or signedness is UNSIGNED
        ),
        # Nothing says whether the one of i1 is positive; here are the numbers that are the same either way.
        *(
            Op(
                f"fpowi_{t}_i1",
                (t, "i1"),
                (t,),
                lambda b, x, y: b.op("FPowI", x.type, source=x, exponent=y),
                lambda x, y: 1.0,
                valid=lambda x, y: y == 0 and math.isfinite(x),
                since="13.4",
            )
            for t in ("f16", "bf16", "f32", "f64")
        ),
    ],
    "same_bits": [
        Op(f"bitcast_{t}", (t,), (t,), lambda b, x: b.op("Bitcast", x.type, source=x), lambda x: x, since=version(t))
        for t in ("i1", "tf32", "f4E2M1FN")
    ],
}

GROUPS = {
    "moves": list(moves()),
    "control": list(control()),
    "views": list(views()),
    "indices": [*indices(), *shapes()],
    "allocations": list(allocations()),
    "reductions": list(reductions()),
    "prints": list(prints()),
    "one_and_four_bits": [*assumptions(), *small_integers()],
}

CASES = [
    *(elementwise.module(name, ops) for name, ops in ELEMENTWISE.items()),
    *(kernel.module(name, kernels) for name, kernels in GROUPS.items()),
]


def runs():
    yield from elementwise.runs(ELEMENTWISE)
    yield from kernel.runs(GROUPS)
