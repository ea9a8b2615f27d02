"""Integer arithmetic, bitwise operations and comparisons at every width."""

from cuda.tile._bytecode.encodings import ComparisonPredicate as Is
from cuda.tile._bytecode.encodings import IntegerOverflow

import elementwise
from elementwise import Op
from emit import Round, Signedness, Tile
from formats import FLOATS, INTS, SINCE

SIGNED, UNSIGNED = Signedness.Signed, Signedness.Unsigned
WIDE = ["i8", "i16", "i32", "i64"]
ALL = ["i1", *WIDE]


def unsigned(x, type_):
    return x & (1 << INTS[type_]) - 1


def fits_signed(x, type_):
    half = 1 << INTS[type_] - 1
    return -half <= x < half


def fits_unsigned(x, type_):
    return 0 <= x < 1 << INTS[type_]


def binary(encoder, name, right, types=WIDE, valid=None, since="13.1", suffix="", **attributes):
    """One entry for each type. `right` and `valid` also get the type."""
    return [
        Op(
            f"{name}{suffix}_{t}",
            (t, t),
            (t,),
            lambda b, x, y: b.like(encoder, x, y, **attributes),
            lambda x, y, t=t: right(x, y, t),
            valid=valid and (lambda x, y, t=t: valid(x, y, t)),
            since=since,
        )
        for t in types
    ]


def unary(encoder, name, right, types=WIDE, valid=None, since="13.1", suffix="", **attributes):
    return [
        Op(
            f"{name}{suffix}_{t}",
            (t,),
            (t,),
            lambda b, x: b.like(encoder, x, **attributes),
            lambda x, t=t: right(x, t),
            valid=valid and (lambda x, t=t: valid(x, t)),
            since=since,
        )
        for t in types
    ]


def with_overflow(encoder, name, exact, types=WIDE):
    """The plain operation, and each promise that it does not overflow, on
    operands that keep it."""

    def kept(as_signed, as_unsigned):
        def check(x, y, t):
            ok = True
            if as_signed:
                ok &= fits_signed(exact(x, y), t)
            if as_unsigned:
                ok &= fits_unsigned(exact(unsigned(x, t), unsigned(y, t)), t)
            return ok

        return check

    def right(x, y, t):
        return exact(x, y)

    return [
        *binary(encoder, name, right, types),
        *binary(encoder, name, right, types, kept(True, False), suffix="_nsw", overflow=IntegerOverflow.NSW),
        *binary(encoder, name, right, types, kept(False, True), suffix="_nuw", overflow=IntegerOverflow.NUW),
        *binary(encoder, name, right, types, kept(True, True), suffix="_nw", overflow=IntegerOverflow.NW),
    ]


def divide(x, y, mode):
    down = x // y
    exact = down * y == x
    if mode == "rm" or exact:
        return down
    if mode == "rp":
        return down + 1
    return down if (x < 0) == (y < 0) else down + 1


def defined_signed(x, y, t):
    return y != 0 and not (x == -(1 << INTS[t] - 1) and y == -1)


def defined_unsigned(x, y, t):
    return y != 0


def divisions():
    for mode, rounding in (("rz", Round.ZERO), ("rm", Round.NEGATIVE_INF), ("rp", Round.POSITIVE_INF)):
        yield from binary(
            "DivI",
            f"divi_{mode}",
            lambda x, y, t, mode=mode: divide(x, y, mode),
            valid=defined_signed,
            rounding=rounding,
        )
        # Rounding down is what unsigned division does anyway.
        if mode != "rm":
            yield from binary(
                "DivI",
                f"divi_{mode}_unsigned",
                lambda x, y, t, mode=mode: divide(unsigned(x, t), unsigned(y, t), mode),
                valid=defined_unsigned,
                rounding=rounding,
                signedness=UNSIGNED,
            )


def remainders():
    yield from binary("RemI", "remi", lambda x, y, t: x - y * divide(x, y, "rz"), valid=defined_signed)
    yield from binary(
        "RemI",
        "remi_unsigned",
        lambda x, y, t: unsigned(x, t) % unsigned(y, t),
        valid=defined_unsigned,
        signedness=UNSIGNED,
    )


def shifts():
    def in_range(x, y, t):
        return 0 <= y < INTS[t]

    yield from binary("ShLI", "shli", lambda x, y, t: x << y, valid=in_range)
    yield from binary(
        "ShLI",
        "shli_nsw",
        lambda x, y, t: x << y,
        valid=lambda x, y, t: in_range(x, y, t) and fits_signed(x << y, t),
        overflow=IntegerOverflow.NSW,
    )
    yield from binary(
        "ShLI",
        "shli_nuw",
        lambda x, y, t: x << y,
        valid=lambda x, y, t: in_range(x, y, t) and fits_unsigned(unsigned(x, t) << y, t),
        overflow=IntegerOverflow.NUW,
    )
    yield from binary("ShRI", "shri", lambda x, y, t: x >> y, valid=in_range)
    yield from binary("ShRI", "shri_unsigned", lambda x, y, t: unsigned(x, t) >> y, valid=in_range, signedness=UNSIGNED)


PREDICATES = {
    Is.EQUAL: lambda x, y: x == y,
    Is.NOT_EQUAL: lambda x, y: x != y,
    Is.LESS_THAN: lambda x, y: x < y,
    Is.LESS_THAN_OR_EQUAL: lambda x, y: x <= y,
    Is.GREATER_THAN: lambda x, y: x > y,
    Is.GREATER_THAN_OR_EQUAL: lambda x, y: x >= y,
}


def comparisons():
    """All six predicates in one entry, one result each."""
    for t in ALL:
        for suffix, signedness in (("", SIGNED), ("_unsigned", UNSIGNED)):

            def emit(b, x, y, signedness=signedness):
                result = Tile("i1", x.shape)
                return [
                    b.op("CmpI", result, lhs=x, rhs=y, comparison_predicate=p, signedness=signedness)
                    for p in PREDICATES
                ]

            def right(x, y, t=t, signedness=signedness):
                if signedness is UNSIGNED:
                    x, y = unsigned(x, t), unsigned(y, t)
                return [check(x, y) for check in PREDICATES.values()]

            yield Op(f"cmpi{suffix}_{t}", (t, t), ("i1",) * len(PREDICATES), emit, right)


def selections():
    for t in [*ALL, *(t for t in FLOATS if t != "f4E2M1FN")]:
        yield Op(
            f"select_{t}",
            ("i1", t, t),
            (t,),
            lambda b, c, x, y: b.op("Select", x.type, cond=c, val_if_true=x, val_if_false=y),
            lambda c, x, y: x if c else y,
            since=SINCE.get(t, "13.1"),
        )


GROUPS = {
    "addi": with_overflow("AddI", "addi", lambda x, y: x + y) + binary("AddI", "addi", lambda x, y, t: x + y, ["i1"]),
    "subi": with_overflow("SubI", "subi", lambda x, y: x - y) + binary("SubI", "subi", lambda x, y, t: x - y, ["i1"]),
    "muli": with_overflow("MulI", "muli", lambda x, y: x * y) + binary("MulI", "muli", lambda x, y, t: x * y, ["i1"]),
    "mulhii": binary("MulhiI", "mulhii", lambda x, y, t: unsigned(x, t) * unsigned(y, t) >> INTS[t]),
    "negi": unary("NegI", "negi", lambda x, t: -x)
    + unary(
        "NegI",
        "negi_nsw",
        lambda x, t: -x,
        valid=lambda x, t: fits_signed(-x, t),
        since="13.2",
        overflow=IntegerOverflow.NSW,
    ),
    "absi": unary("AbsI", "absi", lambda x, t: abs(x)),  # of the least number: itself, read unsigned
    "divi": list(divisions()),
    "remi": list(remainders()),
    "maxi": binary("MaxI", "maxi", lambda x, y, t: max(x, y), ALL)
    + binary("MaxI", "maxi_unsigned", lambda x, y, t: max(unsigned(x, t), unsigned(y, t)), ALL, signedness=UNSIGNED),
    "mini": binary("MinI", "mini", lambda x, y, t: min(x, y), ALL)
    + binary("MinI", "mini_unsigned", lambda x, y, t: min(unsigned(x, t), unsigned(y, t)), ALL, signedness=UNSIGNED),
    "andi": binary("AndI", "andi", lambda x, y, t: x & y, ALL),
    "ori": binary("OrI", "ori", lambda x, y, t: x | y, ALL),
    "xori": binary("XOrI", "xori", lambda x, y, t: x ^ y, ALL),
    "shifts": list(shifts()),
    "cmpi": list(comparisons()),
    "select": list(selections()),
}

CASES = [elementwise.module(name, ops) for name, ops in GROUPS.items()]


def runs():
    return elementwise.runs(GROUPS)
