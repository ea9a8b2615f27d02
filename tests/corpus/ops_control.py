"""Control flow: counted loops, endless loops with breaks, branches, returns."""

import numpy as np
from cuda.tile._bytecode.encodings import ComparisonPredicate as Is
from cuda.tile._bytecode.encodings import Signedness

import kernel
from emit import Tile, Token
from kernel import Kernel, Scalar, given, i32, pointer, scalar, wanted
from values import storage

I32 = Tile("i32")


def compare(b, predicate, x, y, signedness=Signedness.Signed):
    return b.op("CmpI", Tile("i1", x.shape), lhs=x, rhs=y, comparison_predicate=predicate, signedness=signedness)


def go_on(b, *values):
    b.op("Continue", None, operands=list(values))


def leave(b, *values):
    b.op("Break", None, operands=list(values))


def give(b, *values):
    b.op("Yield", None, operands=list(values))


def for_loop(b, bounds, carried, body, **attributes):
    """`body(b, index, *carried)` ends with go_on."""
    low, high, step = bounds
    types = [v.type for v in carried]
    return b.nested(
        "For",
        types,
        [([low.type, *types], body)],
        lowerBound=low,
        upperBound=high,
        step=step,
        initValues=list(carried),
        **attributes,
    )


def loop(b, carried, results, body):
    types = [v.type for v in carried]
    return b.nested("Loop", results, [(types, body)], initValues=list(carried))


def branch(b, condition, results, then, otherwise):
    return b.nested("If", results, [([], then), ([], otherwise)], condition=condition)


def counted():
    """The indices of a loop and their number, at every width: bounds on both
    sides of zero, a step that misses the end, and no iteration at all."""
    cases = [("up", -7, 20, 3), ("once", 5, 6, 100), ("none", 4, 4, 1), ("backwards", 9, -9, 1)]
    for t in ("i8", "i16", "i32", "i64"):
        for name, low, high, step in cases:

            def fill(b, lo, hi, st, y):
                zero = b.constant(lo.type, bytes(int(lo.element[1:]) // 8))

                def body(b, i, total, count):
                    mixed = b.like("AddI", b.like("MulI", total, st), i)
                    go_on(b, mixed, b.like("AddI", count, b.i32(1)))

                total, count = for_loop(b, (lo, hi, st), (zero, b.i32(0)), body)
                b.store(y, total)
                wide = count if count.element == total.element else resized(b, count, total.element)
                b.store(y, wide, start=1)

            def arguments(rng, t=t, low=low, high=high, step=step):
                total = 0
                for i in range(low, high, step):
                    total = total * step + i
                bits = 8 * storage(t).itemsize
                total = (total + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)
                answer = np.array([total, len(range(low, high, step))], storage(t))
                return [Scalar(t, low), Scalar(t, high), Scalar(t, step), wanted("y", t, answer)]

            yield Kernel(f"for_{name}_{t}", (scalar(t),) * 3 + (pointer(t),), fill, arguments)


def resized(b, x, to):
    """An i32 of another width."""
    if to == "i64":
        return b.op("ExtI", Tile(to), from_=x)
    return b.op("TruncI", Tile(to), from_=x)


def unsigned_for(b, lo, hi, st, y):
    """The upper bound is negative when read as signed."""

    def body(b, i, count):
        go_on(b, b.like("AddI", count, b.i32(1)))

    (count,) = for_loop(b, (lo, hi, st), (b.i32(0),), body, unsignedCmp=True)
    b.store(y, count)


def unsigned_for_arguments(rng):
    low, high, step = 2**31 - 5000, 2**31 + 5000, 100
    answer = np.array([len(range(low, high, step))], np.int32)
    return [i32(low), i32(high - 2**32), i32(step), wanted("y", "i32", answer)]


def tiles_carried(b, x, y, n):
    """Tiles carried through two nested loops, and a loop without any value."""

    def outer(b, i, acc, scale):
        def inner(b, j, acc):
            go_on(b, b.like("AddF", acc, scale))

        (acc,) = for_loop(b, (b.i32(0), i, b.i32(1)), (acc,), inner)
        go_on(b, acc, b.like("AddF", scale, scale))

    start = b.load(x, (32,))
    acc, _ = for_loop(b, (b.i32(0), n, b.i32(1)), (start, start), outer)

    def store(b, i):
        b.store(b.op("Offset", y.type, ptr=y, offset=b.like("MulI", i, b.i32(32))), acc)
        go_on(b)

    for_loop(b, (b.i32(0), b.i32(3), b.i32(1)), (), store)


def tiles_carried_arguments(rng):
    n = 5
    x = rng.integers(-9, 10, 32).astype(np.float32)
    acc, scale = x.copy(), x.copy()
    for i in range(n):
        acc = acc + i * scale
        scale = scale + scale
    return [given("x", "f32", x), wanted("y", "f32", np.tile(acc, 3)), i32(n)]


def tokens_carried(b, x, y, n):
    """A token through a loop, and out of both sides of a branch: each step
    adds to what the step before stored."""
    where = b.addresses(y, (32,))
    tile = Tile("f32", (32,))
    step = b.load(x, (32,))

    def body(b, i, token):
        def even(b):
            old, loaded = b.op("LoadPtrTko", [tile, Token()], source=where, token=token)
            total = b.like("AddF", old, step)
            give(b, b.op("StorePtrTko", Token(), destination=where, value=total, token=loaded))

        rest = b.like("AndI", i, b.i32(1))
        (stored,) = branch(b, compare(b, Is.EQUAL, rest, b.i32(0)), [Token()], even, lambda b: give(b, token))
        go_on(b, stored)

    (last,) = for_loop(b, (b.i32(0), n, b.i32(1)), (b.token(),), body)
    final, _ = b.op("LoadPtrTko", [tile, Token()], source=where, token=last)
    b.store(y, final, start=32)


def tokens_carried_arguments(rng):
    x = rng.integers(-9, 10, 32).astype(np.float32)
    return [given("x", "f32", x), wanted("y", "f32", np.tile(4 * x, 2)), i32(7)]


def collatz(b, n, y):
    """An endless loop that a branch leaves: the steps to one, and the peak."""

    def body(b, value, steps, peak):
        done = compare(b, Is.EQUAL, value, b.i32(1))
        branch(b, done, [], lambda b: leave(b, steps, peak), lambda b: give(b))
        odd = compare(b, Is.NOT_EQUAL, b.like("AndI", value, b.i32(1)), b.i32(0))

        def triple(b):
            give(b, b.like("AddI", b.like("MulI", value, b.i32(3)), b.i32(1)))

        def halve(b):
            give(b, b.like("ShRI", value, b.i32(1)))

        (following,) = branch(b, odd, [I32], triple, halve)
        go_on(b, following, b.like("AddI", steps, b.i32(1)), b.like("MaxI", peak, following))

    # Three values are carried; the loop's results are those of its break.
    steps, peak = loop_with_results(b, (n, b.i32(0), n), body)
    b.store(y, steps)
    b.store(y, peak, start=1)


def loop_with_results(b, carried, body):
    return loop(b, carried, [I32, I32], body)


def collatz_right(n):
    steps, peak = 0, n
    while n != 1:
        n = 3 * n + 1 if n & 1 else n // 2
        steps, peak = steps + 1, max(peak, n)
    return steps, peak


def skipping(b, n, y):
    """`continue` from inside a branch: the sum of what three does not divide."""

    def body(b, i, total):
        after = b.like("AddI", i, b.i32(1))
        finished = compare(b, Is.GREATER_THAN_OR_EQUAL, i, n)
        branch(b, finished, [], lambda b: leave(b, total), lambda b: give(b))
        rest = b.like("RemI", i, b.i32(3))
        divisible = compare(b, Is.EQUAL, rest, b.i32(0))
        branch(b, divisible, [], lambda b: go_on(b, after, total), lambda b: give(b))
        go_on(b, after, b.like("AddI", total, i))

    (total,) = b.nested("Loop", [I32], [([I32, I32], body)], initValues=[b.i32(0), b.i32(0)])
    b.store(y, total)


def choices(b, x, y):
    """Branches within branches; the values of a branch are tiles."""
    value = b.load(x, ())
    tile = Tile("i32", (8,))

    def positive(b):
        big = compare(b, Is.GREATER_THAN, value, b.i32(100))
        (inner,) = branch(
            b,
            big,
            [tile],
            lambda b: give(b, b.i32(3, (8,))),
            lambda b: give(b, b.like("AddI", b.iota(8), b.splat(value, (8,)))),
        )
        give(b, inner, b.i32(1))

    def negative(b):
        give(b, b.iota(8), b.i32(0))

    chosen, sign = branch(b, compare(b, Is.GREATER_THAN, value, b.i32(0)), [tile, I32], positive, negative)
    b.store(y, chosen)
    b.store(y, sign, start=8)


def choices_run(value):
    if value > 100:
        answer = [3] * 8
    else:
        answer = [i + value if value > 0 else i for i in range(8)]
    answer.append(int(value > 0))

    def arguments(rng):
        return [given("x", "i32", np.array([value], np.int32)), wanted("y", "i32", np.array(answer, np.int32))]

    return Kernel(f"if_{value}".replace("-", "minus_"), (pointer("i32"),) * 2, choices, arguments)


def early_return(b, limit, y):
    """Blocks from the limit on return before they store."""
    x, _, _ = b.op("GetTileBlockId", [I32, I32, I32])
    branch(b, compare(b, Is.GREATER_THAN_OR_EQUAL, x, limit), [], lambda b: b.ret(), lambda b: give(b))
    b.store(b.op("Offset", y.type, ptr=y, offset=x), b.like("AddI", x, b.i32(1)))


def early_return_arguments(rng):
    answer = np.array([1, 2, 3, 0, 0], np.int32)
    return [i32(3), wanted("y", "i32", answer)]


def store_only(b, condition, y):
    """A branch for its effect alone."""
    branch(b, compare(b, Is.NOT_EQUAL, condition, b.i32(0)), [], then_store(y), lambda b: give(b))


def then_store(y):
    def then(b):
        b.store(y, b.i32(42))
        give(b)

    return then


def blocks(b, y):
    """Every block stores its number and the grid's size in its own row."""
    position = b.op("GetTileBlockId", [I32, I32, I32])
    size = b.op("GetNumTileBlocks", [I32, I32, I32])
    number = position[2]
    for axis in (1, 0):
        number = b.like("AddI", b.like("MulI", number, size[axis]), position[axis])
    row = b.op("Offset", y.type, ptr=y, offset=b.like("MulI", number, b.i32(6)))
    for at, value in enumerate((*position, *size)):
        b.store(row, value, start=at)


def blocks_arguments(rng):
    nx, ny, nz = 3, 2, 4
    rows = [[x, y, z, nx, ny, nz] for z in range(nz) for y in range(ny) for x in range(nx)]
    return [wanted("y", "i32", np.array(rows, np.int32))]


def if_effect(condition):
    return Kernel(
        f"if_effect_{condition}",
        (scalar("i32"), pointer("i32")),
        store_only,
        lambda rng: [i32(condition), wanted("y", "i32", np.array([42 if condition else 0], np.int32))],
    )


def constants_for(b, n, y):
    """Two of the carried values are constants that the body hands on, one as the other's equal."""

    def body(b, i, total, step, tile):
        scaled = b.like("MulI", i, step)
        go_on(b, b.like("AddI", total, scaled), b.i32(3), tile)

    total, step, tile = for_loop(b, (b.i32(0), n, b.i32(1)), (b.i32(0), b.i32(3), b.i32(7, (16,))), body)
    b.store(y, total)
    b.store(y, step, start=1)
    b.store(y, tile, start=2)


def constants_for_run(n):
    answer = [3 * i for i in range(n)]
    answer = np.array([sum(answer), 3, *[7] * 16], np.int32)
    return Kernel(
        f"constants_for_{n}",
        (scalar("i32"), pointer("i32")),
        constants_for,
        lambda rng: [i32(n), wanted("y", "i32", answer)],
    )


def constants_loop(b, n, y):
    """A constant goes round and out of an endless loop that has an effect."""

    def body(b, i, step):
        finished = compare(b, Is.GREATER_THAN_OR_EQUAL, i, n)
        branch(b, finished, [], lambda b: leave(b, step, b.i32(9), i), lambda b: give(b))
        b.store(b.op("Offset", y.type, ptr=y, offset=i), step)
        go_on(b, b.like("AddI", i, step), step)

    step, nine, i = b.nested("Loop", [I32] * 3, [([I32, I32], body)], initValues=[b.i32(0), b.i32(2)])
    b.store(y, b.like("AddI", b.like("AddI", step, nine), i), start=1)


def constants_loop_arguments(rng):
    answer = np.array([2, 2 + 9 + 6, 2, 0, 2], np.int32)
    return [i32(5), wanted("y", "i32", answer)]


def constants_if(b, condition, y):
    """Both sides give the same constant, alone, beside what differs, and from inside a loop."""
    chosen = compare(b, Is.NOT_EQUAL, condition, b.i32(0))
    (alone,) = branch(b, chosen, [I32], lambda b: give(b, b.i32(5)), lambda b: give(b, b.i32(5)))
    same, other = branch(
        b, chosen, [I32, I32], lambda b: give(b, b.i32(6), b.i32(1)), lambda b: give(b, b.i32(6), condition)
    )

    def body(b, i, step):
        even = compare(b, Is.EQUAL, b.like("AndI", i, b.i32(1)), b.i32(0))

        def store(b):
            b.store(b.op("Offset", y.type, ptr=y, offset=i), step)
            give(b, step)

        (kept,) = branch(b, even, [I32], store, lambda b: give(b, step))
        go_on(b, kept)

    (step,) = for_loop(b, (b.i32(0), b.i32(4), b.i32(1)), (b.i32(8),), body)
    for at, value in enumerate((alone, same, other, step), 4):
        b.store(y, value, start=at)


def constants_if_run(condition):
    answer = np.array([8, 0, 8, 0, 5, 6, int(condition != 0), 8], np.int32)
    return Kernel(
        f"constants_if_{condition}",
        (scalar("i32"), pointer("i32")),
        constants_if,
        lambda rng: [i32(condition), wanted("y", "i32", answer)],
    )


GROUPS = {
    "for": [
        *counted(),
        Kernel("for_unsigned", (scalar("i32"),) * 3 + (pointer("i32"),), unsigned_for, unsigned_for_arguments, "13.2"),
        Kernel("for_tokens", (pointer("f32"), pointer("f32"), scalar("i32")), tokens_carried, tokens_carried_arguments),
        Kernel("for_tiles", (pointer("f32"), pointer("f32"), scalar("i32")), tiles_carried, tiles_carried_arguments),
    ],
    "loop": [
        *(
            Kernel(
                f"loop_collatz_{n}",
                (scalar("i32"), pointer("i32")),
                collatz,
                lambda rng, n=n: [i32(n), wanted("y", "i32", np.array(collatz_right(n), np.int32))],
            )
            for n in (1, 6, 27)
        ),
        Kernel(
            "loop_skipping",
            (scalar("i32"), pointer("i32")),
            skipping,
            lambda rng: [i32(20), wanted("y", "i32", np.array([sum(i for i in range(20) if i % 3)], np.int32))],
        ),
    ],
    "if": [
        *(choices_run(value) for value in (-5, 7, 1000)),
        if_effect(0),
        if_effect(1),
        Kernel("if_return", (scalar("i32"), pointer("i32")), early_return, early_return_arguments, grid=(5,)),
    ],
    "constants": [
        *(constants_for_run(n) for n in (0, 1, 5)),
        Kernel("constants_loop", (scalar("i32"), pointer("i32")), constants_loop, constants_loop_arguments),
        *(constants_if_run(condition) for condition in (0, 3)),
    ],
    "grid": [Kernel("grid", (pointer("i32"),), blocks, blocks_arguments, grid=(3, 2, 4))],
}

CASES = [kernel.module(name, kernels) for name, kernels in GROUPS.items()]


def runs():
    return kernel.runs(GROUPS)
