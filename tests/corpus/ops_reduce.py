"""Reductions and scans: along every dimension, with one or two operands.

The order of a reduction is not defined, so sums and products are of small
whole numbers, whose results are exact in any order.
"""

import math

import numpy as np
from cuda.tile._bytecode.encodings import ComparisonOrdering, ComparisonPredicate, Signedness

import kernel
from emit import Tile
from formats import FLOATS, INTS
from kernel import Kernel, given, pointer, wanted
from values import storage, to_array

SHAPE = (4, 8, 16)
FLOAT_TYPES = ["f16", "bf16", "f32", "f64"]
WIDE = ["i8", "i16", "i32", "i64"]


def whole_numbers(t, low, high, rng):
    """Small whole numbers of the type, as a buffer, and as Python's own."""
    numbers = rng.integers(low, high + 1, SHAPE)
    return typed(t, numbers), numbers.astype(object)


def typed(t, numbers):
    """Whole numbers in the type's memory form."""
    if t in INTS:
        bits = [int(n) & (1 << INTS[t]) - 1 for n in numbers.ravel()]
    else:
        bits = [FLOATS[t].encode(float(n)) for n in numbers.ravel()]
    return to_array(t, bits).reshape(numbers.shape)


# name → (encoder, identity, range of operands, what it does)
INTEGER = {
    "add": ("AddI", lambda t: 0, (-9, 9), np.add),
    "mul": ("MulI", lambda t: 1, (-3, 3), np.multiply),
    "max": ("MaxI", lambda t: -(1 << INTS[t] - 1), (-99, 99), np.maximum),
    "min": ("MinI", lambda t: (1 << INTS[t] - 1) - 1, (-99, 99), np.minimum),
    "and": ("AndI", lambda t: -1, (-99, 99), np.bitwise_and),
    "or": ("OrI", lambda t: 0, (-99, 99), np.bitwise_or),
    "xor": ("XOrI", lambda t: 0, (-99, 99), np.bitwise_xor),
}
FLOATING = {
    "add": ("AddF", lambda t: 0.0, (-9, 9), np.add),
    "mul": ("MulF", lambda t: 1.0, (1, 2), np.multiply),
    "max": ("MaxF", lambda t: -math.inf, (-99, 99), np.maximum),
    "min": ("MinF", lambda t: math.inf, (-99, 99), np.minimum),
}


def combine(encoder):
    """A region that applies one binary operation."""

    def fill(b, x, y):
        b.op("Yield", None, operands=[b.like(encoder, x, y)])

    return fill


def one_operand(kind, name, t, dim, encoder, identity, span, function, reverse=False):
    rest = tuple(n for i, n in enumerate(SHAPE) if i != dim)
    shape = rest if kind == "reduce" else SHAPE

    body = encoder if callable(encoder) else combine(encoder)

    def fill(b, x, y):
        element = Tile(t)
        attributes = {"dim": dim, "identities": [b.attribute(t, identity(t))]}
        if kind == "scan":
            attributes["reverse"] = reverse
        (result,) = b.nested(
            kind.title(),
            [Tile(t, shape)],
            [([element, element], body)],
            operands=[b.load(x, SHAPE)],
            **attributes,
        )
        b.store(y, result)

    def arguments(rng):
        x, numbers = whole_numbers(t, *span, rng)
        if kind == "reduce":
            answer = function.reduce(numbers, axis=dim)
        elif reverse:
            answer = np.flip(function.accumulate(np.flip(numbers, dim), axis=dim), dim)
        else:
            answer = function.accumulate(numbers, axis=dim)
        return [given("x", t, x), wanted("y", t, typed(t, answer))]

    return Kernel(name, (pointer(t), pointer(t)), fill, arguments)


def families():
    for types, operations in ((WIDE, INTEGER), (FLOAT_TYPES, FLOATING)):
        for t in types:
            for name, operation in operations.items():
                yield t, name, operation


def reductions():
    for t, name, operation in families():
        yield one_operand("reduce", f"reduce_{name}_{t}", t, 1, *operation)
    for dim in (0, 2):
        yield one_operand("reduce", f"reduce{dim}_add_f32", "f32", dim, *FLOATING["add"])
    yield from (whole_reduction(t) for t in ("i1", "f32"))
    yield argmax()


def whole_reduction(t):
    """All the way down to a scalar."""
    encoder, identity, function = ("OrI", 0, np.any) if t == "i1" else ("MaxF", -math.inf, np.max)

    def fill(b, x, y):
        element = Tile(t)
        (result,) = b.nested(
            "Reduce",
            [element],
            [([element, element], combine(encoder))],
            operands=[b.load(x, (128,))],
            dim=0,
            identities=[b.attribute(t, identity)],
        )
        b.store(y, result)

    def arguments(rng):
        x = np.zeros(128, storage(t))
        x[77] = 1
        return [given("x", t, x), wanted("y", t, np.array(function(x), storage(t)))]

    return Kernel(f"reduce_all_{t}", (pointer(t), pointer(t)), fill, arguments)


def argmax():
    """Two operands: the greatest number of each row, and where it is first."""
    rows, cols = 8, 32

    def body(b, x, best, at, best_at):
        greater = b.op(
            "CmpF",
            Tile("i1"),
            lhs=x,
            rhs=best,
            comparison_predicate=ComparisonPredicate.GREATER_THAN,
            comparison_ordering=ComparisonOrdering.ORDERED,
        )
        equal = b.op(
            "CmpF",
            Tile("i1"),
            lhs=x,
            rhs=best,
            comparison_predicate=ComparisonPredicate.EQUAL,
            comparison_ordering=ComparisonOrdering.ORDERED,
        )
        earlier = b.op("CmpI", Tile("i1"), lhs=at, rhs=best_at, comparison_predicate=ComparisonPredicate.LESS_THAN)
        take = b.like("OrI", greater, b.like("AndI", equal, earlier))
        pick = lambda x, y: b.op("Select", x.type, cond=take, val_if_true=x, val_if_false=y)
        b.op("Yield", None, operands=[pick(x, best), pick(at, best_at)])

    def fill(b, x, y, at):
        row = b.op("Reshape", Tile("i32", (1, cols)), source=b.iota(cols))
        column = b.op("Broadcast", Tile("i32", (rows, cols)), source=row)
        f, i = Tile("f32"), Tile("i32")
        best, where = b.nested(
            "Reduce",
            [Tile("f32", (rows,)), Tile("i32", (rows,))],
            [([f, f, i, i], body)],
            operands=[b.load(x, (rows, cols)), column],
            dim=1,
            identities=[b.attribute("f32", -math.inf), b.attribute("i32", 2**31 - 1)],
        )
        b.store(y, best)
        b.store(at, where)

    def arguments(rng):
        x = rng.integers(-20, 20, (rows, cols)).astype(np.float32)
        return [
            given("x", "f32", x),
            wanted("y", "f32", x.max(axis=1)),
            wanted("at", "i32", x.argmax(axis=1).astype(np.int32)),
        ]

    return Kernel("argmax_f32", (pointer("f32"), pointer("f32"), pointer("i32")), fill, arguments)


def scans():
    for t, name, operation in families():
        if name != "mul" or t not in FLOAT_TYPES:
            yield one_operand("scan", f"scan_{name}_{t}", t, 1, *operation)
    for dim in (0, 2):
        yield one_operand("scan", f"scan{dim}_add_f32", "f32", dim, *FLOATING["add"])
    for t in ("i32", "f32"):
        operation = (INTEGER if t == "i32" else FLOATING)["add"]
        yield one_operand("scan", f"scan_reverse_add_{t}", t, 2, *operation, reverse=True)
    yield affine()


def affine():
    """Composition of x → a·x + b: associative, but the order matters. Each
    argument pair is (what came before, this element), as tileiras passes them."""
    n = 32

    def body(b, a_before, a, c_before, c):
        composed = b.like("AddI", b.like("MulI", a, c_before), c)
        b.op("Yield", None, operands=[b.like("MulI", a, a_before), composed])

    def fill(b, a, c, y):
        i = Tile("i32")
        _, result = b.nested(
            "Scan",
            [Tile("i32", (n,))] * 2,
            [([i, i, i, i], body)],
            operands=[b.load(a, (n,)), b.load(c, (n,))],
            dim=0,
            reverse=False,
            identities=[b.attribute("i32", 1), b.attribute("i32", 0)],
        )
        b.store(y, result)

    def arguments(rng):
        a, c = rng.integers(-5, 6, (2, n)).astype(np.int32)
        value, answer = 0, []
        for x, y in zip(a.tolist(), c.tolist()):
            value = (x * value + y + 2**31) % 2**32 - 2**31
            answer.append(value)
        return [given("a", "i32", a), given("c", "i32", c), wanted("y", "i32", np.array(answer, np.int32))]

    return Kernel("scan_affine_i32", (pointer("i32"),) * 3, fill, arguments)


def greater_of(b, x, y):
    """A branch: the greater one."""
    greater = b.op(
        "CmpI",
        Tile("i1"),
        lhs=x,
        rhs=y,
        comparison_predicate=ComparisonPredicate.GREATER_THAN,
        signedness=Signedness.Signed,
    )
    give = lambda value: lambda b: b.op("Yield", None, operands=[value])
    (best,) = b.nested("If", [x.type], [([], give(x)), ([], give(y))], condition=greater)
    b.op("Yield", None, operands=[best])


def farther_of(b, x, y):
    """Branches inside a branch, with two values: what is farther from zero, of two alike the positive."""
    compare = lambda b, p, x, y: b.op(
        "CmpI", Tile("i1"), lhs=x, rhs=y, comparison_predicate=p, signedness=Signedness.Signed
    )
    give = lambda *values: lambda b: b.op("Yield", None, operands=list(values))
    far, near = b.like("AbsI", x), b.like("AbsI", y)

    def other(b):
        alike = compare(b, ComparisonPredicate.EQUAL, far, near)

        def greater(b):
            b.op("Yield", None, operands=[b.like("MaxI", x, y, signedness=Signedness.Signed)])

        (chosen,) = b.nested("If", [x.type], [([], greater), ([], give(y))], condition=alike)
        b.op("Yield", None, operands=[chosen])

    farther = compare(b, ComparisonPredicate.GREATER_THAN, far, near)
    (chosen,) = b.nested("If", [x.type], [([], give(x)), ([], other)], condition=farther)
    b.op("Yield", None, operands=[chosen])


def farther(x, y):
    return max(x, y, key=lambda v: (abs(v), v))


# name → (body, identity, range of operands, what it does)
CONTROL = {
    "if_max": (greater_of, -(2**31), (-99, 99), np.maximum),
    "if_farther": (farther_of, 0, (-99, 99), np.frompyfunc(farther, 2, 1)),
}


def with_control_flow():
    """Bodies with regions of their own, whose way is different for every element."""
    for kind in ("reduce", "scan"):
        for name, (body, identity, span, function) in CONTROL.items():
            for dim in (0, 1, 2):
                operation = (body, lambda t, identity=identity: identity, span, function)
                yield one_operand(kind, f"{kind}{dim}_{name}", "i32", dim, *operation)


GROUPS = {"reduce": list(reductions()), "scan": list(scans()), "control": list(with_control_flow())}

CASES = [kernel.module(name, kernels) for name, kernels in GROUPS.items()]


def runs():
    return kernel.runs(GROUPS)
