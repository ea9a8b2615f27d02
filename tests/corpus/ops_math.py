"""Transcendental functions.

The right answers come from the C library in double precision, rounded once to
the type. Tolerances are what the operation may be off by: for f32 what CUDA says of
the function of that name, whose bits clients compare; one unit in the last place for
what is narrower, two for double (the reference is not exact there), and the documented
bound of approximate forms.
"""

import ctypes
import ctypes.util
import math

import elementwise
from elementwise import Op
from emit import Round, Tile
from formats import FLOATS, flush
from numerics import Tolerance

TYPES = ["f16", "bf16", "f32", "f64"]
ONE_ULP = Tolerance(ulp=1)


# CUDA C++ programming guide, "Mathematical Functions": maximal errors of the single-precision functions.
CUDA = {"exp": 2, "exp2": 2, "sin": 2, "cos": 2, "tan": 4, "sinh": 3, "cosh": 2, "tanh": 2, "pow": 4, "atan2": 3}


def tolerance(t, name=""):
    if t == "f32":
        return Tolerance(ulp=CUDA.get(name, 1))
    return Tolerance(ulp=2) if t == "f64" else ONE_ULP


LIBM = ctypes.CDLL(ctypes.util.find_library("m"))


def libm(name, arity=1):
    """A function of the C library, special cases and all."""
    function = LIBM[name]
    function.restype = ctypes.c_double
    function.argtypes = [ctypes.c_double] * arity
    return function


def by_library(function):
    """Numbers in, a double out."""

    def right(*x):
        return function(*(float(v) for v in x))

    return right


def functions(encoder, name, function, arity=1, types=TYPES, since="13.1", valid=None, **attributes):
    return [
        Op(
            f"{name}_{t}",
            (t,) * arity,
            (t,),
            lambda b, *x: b.like(encoder, *x, **attributes),
            by_library(function),
            tolerance=tolerance(t, name),
            since=since,
            valid=valid,
        )
        for t in types
    ]


def flushed(encoder, name, function, **attributes):
    f32 = FLOATS["f32"]
    right = by_library(function)

    def wrapped(x):
        return flush(f32.decode(f32.encode(right(flush(x, f32)))), f32)

    return Op(
        f"{name}_ftz_f32",
        ("f32",),
        ("f32",),
        lambda b, x: b.like(encoder, x, flush_to_zero=True, **attributes),
        wrapped,
        tolerance=tolerance("f32", name),
    )


def approximate(encoder, name, function, bound, since, valid=None):
    return Op(
        f"{name}_approx_f32",
        ("f32",),
        ("f32",),
        lambda b, x: b.like(encoder, x, rounding_mode=Round.APPROX),
        by_library(function),
        tolerance=bound,
        since=since,
        valid=valid,
    )


def modest(x):
    """Not where the scaling of an approximate exponential overflows or is subnormal."""
    return (isinstance(x, float) and not math.isinf(x)) or abs(float(x)) < 80


def powers_of_integers():
    for t in TYPES:
        for n in ("i8", "i16", "i32"):
            yield Op(
                f"fpowi_{t}_{n}",
                (t, n),
                (t,),
                lambda b, x, y: b.op("FPowI", Tile(x.element, x.shape), source=x, exponent=y),
                by_library(libm("pow", 2)),
                tolerance=tolerance(t),
                since="13.4",
            )


def reciprocal_root(x):
    if x < 0:
        return math.nan
    return 1 / math.sqrt(x) if x else math.copysign(math.inf, x)


GROUPS = {
    "exp": [
        *functions("Exp", "exp", libm("exp")),
        approximate("Exp", "exp", libm("exp"), Tolerance(relative=2.0**-16), "13.3", modest),
    ],
    "exp2": [*functions("Exp2", "exp2", libm("exp2")), flushed("Exp2", "exp2", libm("exp2"))],
    "log": functions("Log", "log", libm("log")),
    "log2": functions("Log2", "log2", libm("log2")),
    "sin": functions("Sin", "sin", libm("sin")),
    "cos": functions("Cos", "cos", libm("cos")),
    "tan": functions("Tan", "tan", libm("tan")),
    "sinh": functions("SinH", "sinh", libm("sinh")),
    "cosh": functions("CosH", "cosh", libm("cosh")),
    "tanh": [
        *functions("TanH", "tanh", libm("tanh")),
        # The hardware's bound is 2^-11 relative.
        approximate("TanH", "tanh", libm("tanh"), Tolerance(relative=2.0**-10), "13.2"),
    ],
    "rsqrt": [*functions("Rsqrt", "rsqrt", reciprocal_root), flushed("Rsqrt", "rsqrt", reciprocal_root)],
    "pow": functions("FPowF", "pow", libm("pow", 2), 2),
    "fpowi": list(powers_of_integers()),
    "atan2": functions("Atan2", "atan2", libm("atan2", 2), 2, since="13.2"),
}

CASES = [elementwise.module(name, ops) for name, ops in GROUPS.items()]


def runs():
    return elementwise.runs(GROUPS)
