"""Floating-point arithmetic with every rounding mode and modifier."""

import math
from fractions import Fraction

from cuda.tile._bytecode.encodings import ComparisonOrdering
from cuda.tile._bytecode.encodings import ComparisonPredicate as Is

import elementwise
import formats
from elementwise import Op
from emit import Round, Tile
from formats import FLOATS, flush
from numerics import EXACT, Tolerance

TYPES = ["f16", "bf16", "f32", "f64"]
# f16 and bf16 go through f32 in the directed modes, with two roundings.
DIRECTED = ["f32", "f64"]
MODES = {"rz": Round.ZERO, "rm": Round.NEGATIVE_INF, "rp": Round.POSITIVE_INF}


def rounded(encoder, name, arity, right, plain_types=TYPES):
    """Nearest even at every type, the directed modes, and flush to zero.

    `right(*numbers, mode)`: zeros depend on the mode."""
    for t in plain_types:
        yield operation(encoder, f"{name}_{t}", arity, t, lambda *x: right(*x, "rn"))
    for mode, rounding in MODES.items():
        for t in DIRECTED:
            yield operation(
                encoder,
                f"{name}_{mode}_{t}",
                arity,
                t,
                lambda *x, mode=mode: right(*x, mode),
                mode,
                rounding_mode=rounding,
            )
    for mode, rounding in {"rn": Round.NEAREST_EVEN, **MODES}.items():
        yield operation(
            encoder,
            f"{name}_ftz_{mode}_f32",
            arity,
            "f32",
            flushed(lambda *x, mode=mode: right(*x, mode), mode),
            mode,
            rounding_mode=rounding,
            flush_to_zero=True,
        )


def operation(encoder, name, arity, t, right, mode="rn", tolerance=EXACT, valid=None, since="13.1", **attributes):
    return Op(
        name,
        (t,) * arity,
        (t,),
        lambda b, *x: b.like(encoder, *x, **attributes),
        right,
        mode,
        valid,
        tolerance,
        since,
    )


def flushed(right, mode="rn"):
    """Operands and the result have their subnormals flushed. A result is
    subnormal when it is after rounding."""
    f32 = FLOATS["f32"]

    def wrapped(*x):
        answer = right(*(flush(v, f32) for v in x))
        return flush(f32.decode(f32.encode(answer, mode)), f32)

    return wrapped


def _nan(x):
    return isinstance(x, float) and math.isnan(x)


def extremum(pick_first, propagate):
    """maxf or minf: `pick_first(x, y)` for numbers that differ; zeros have an order."""

    def right(x, y):
        if _nan(x) or _nan(y):
            return math.nan if propagate or (_nan(x) and _nan(y)) else (y if _nan(x) else x)
        if x == 0 and y == 0:
            return x if pick_first(math.copysign(1, x), math.copysign(1, y)) else y
        return x if pick_first(x, y) else y

    return right


def extrema(encoder, name, pick_first):
    for propagate, suffix in ((False, ""), (True, "_nan")):
        right = extremum(pick_first, propagate)
        for t in TYPES:
            yield operation(encoder, f"{name}{suffix}_{t}", 2, t, right, propagate_nan=propagate)
        yield operation(
            encoder,
            f"{name}{suffix}_ftz_f32",
            2,
            "f32",
            flushed(right),
            propagate_nan=propagate,
            flush_to_zero=True,
        )


def absolute(x):
    return math.copysign(x, 1) if isinstance(x, float) else abs(x)


def integral(round_to):
    """floor and ceil; a zero keeps the operand's sign."""

    def right(x):
        if isinstance(x, float):
            return x
        whole = round_to(x)
        return Fraction(whole) if whole else (-0.0 if x < 0 else 0.0)

    return right


def quotient(x, y, mode):
    return formats.div(x, y)


def approximate_divisions():
    """At most two units in the last place, for divisors of ordinary size."""
    low, high = Fraction(2) ** -126, Fraction(2) ** 126

    def ordinary(x, y):
        answer = formats.div(x, y) if isinstance(y, Fraction) and low <= abs(y) <= high else None
        if answer is None or isinstance(x, float):
            return answer is not None
        return not isinstance(x, Fraction) or (abs(x) >= low and low <= abs(answer) < Fraction(2) ** 127)

    for name, rounding in (("approx", Round.APPROX), ("full", Round.FULL)):
        for ftz in (False, True):
            yield operation(
                "DivF",
                f"divf_{name}{'_ftz' if ftz else ''}_f32",
                2,
                "f32",
                formats.div,
                tolerance=Tolerance(ulp=2),
                valid=ordinary,
                rounding_mode=rounding,
                flush_to_zero=ftz,
            )


PREDICATES = {
    Is.EQUAL: lambda x, y: x == y,
    Is.NOT_EQUAL: lambda x, y: x != y,
    Is.LESS_THAN: lambda x, y: x < y,
    Is.LESS_THAN_OR_EQUAL: lambda x, y: x <= y,
    Is.GREATER_THAN: lambda x, y: x > y,
    Is.GREATER_THAN_OR_EQUAL: lambda x, y: x >= y,
}


def comparisons():
    for t in TYPES:
        for name, ordering in (("ordered", ComparisonOrdering.ORDERED), ("unordered", ComparisonOrdering.UNORDERED)):

            def emit(b, x, y, ordering=ordering):
                result = Tile("i1", x.shape)
                return [
                    b.op("CmpF", result, lhs=x, rhs=y, comparison_predicate=p, comparison_ordering=ordering)
                    for p in PREDICATES
                ]

            def right(x, y, unordered=name == "unordered"):
                if _nan(x) or _nan(y):
                    return [unordered] * len(PREDICATES)
                return [check(x, y) for check in PREDICATES.values()]

            yield Op(f"cmpf_{name}_{t}", (t, t), ("i1",) * len(PREDICATES), emit, right)


def moderate_quotient(x, y):
    """Left out: quotients so large that only exact long division gets the remainder."""
    if isinstance(x, float) or isinstance(y, float):
        return True
    return abs(x / y) < 2**20


GROUPS = {
    "addf": list(rounded("AddF", "addf", 2, lambda x, y, mode: formats.add(x, y, mode))),
    "subf": list(rounded("SubF", "subf", 2, lambda x, y, mode: formats.add(x, formats.neg(y), mode))),
    "mulf": list(rounded("MulF", "mulf", 2, lambda x, y, mode: formats.mul(x, y))),
    "divf": [*rounded("DivF", "divf", 2, quotient), *approximate_divisions()],
    "fma": list(rounded("Fma", "fma", 3, lambda x, y, z, mode: formats.fma(x, y, z, mode))),
    "sqrt": [
        *rounded("Sqrt", "sqrt", 1, lambda x, mode: formats.sqrt(x)),
        operation(
            "Sqrt", "sqrt_approx_f32", 1, "f32", formats.sqrt, tolerance=Tolerance(ulp=2), rounding_mode=Round.APPROX
        ),
    ],
    "remf": [operation("RemF", f"remf_{t}", 2, t, formats.remainder, valid=moderate_quotient) for t in TYPES],
    "maxf": list(extrema("MaxF", "maxf", lambda x, y: x > y)),
    "minf": list(extrema("MinF", "minf", lambda x, y: x < y)),
    "absf": [operation("AbsF", f"absf_{t}", 1, t, absolute) for t in TYPES],
    "negf": [operation("NegF", f"negf_{t}", 1, t, formats.neg) for t in TYPES],
    "floor": [operation("Floor", f"floor_{t}", 1, t, integral(math.floor)) for t in TYPES],
    "ceil": [operation("Ceil", f"ceil_{t}", 1, t, integral(math.ceil)) for t in TYPES],
    "cmpf": list(comparisons()),
}

CASES = [elementwise.module(name, ops) for name, ops in GROUPS.items()]


def runs():
    return elementwise.runs(GROUPS)
