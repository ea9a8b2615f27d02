"""Transcendental functions.

The right answers come from the C library in double precision, rounded once to
the type. Tolerances are what the operation may be off by: one unit in the last
place where the type is narrower than double, two for double itself (the
reference is not exact there), and the documented bound of approximate forms.
"""

import math

import numpy as np

import elementwise
from elementwise import Op
from emit import Round, Tile
from formats import FLOATS, flush
from numerics import Tolerance

TYPES = ["f16", "bf16", "f32", "f64"]
ONE_ULP = Tolerance(ulp=1)


def tolerance(t):
    return Tolerance(ulp=2) if t == "f64" else ONE_ULP


def by_library(function):
    """Numbers in, a double out. numpy has C's special cases where `math` raises."""

    def right(*x):
        with np.errstate(all="ignore"):
            return float(function(*(np.float64(float(v)) for v in x)))

    return right


def c_pow(x, y):
    """C's pow. numpy takes a square root for an exponent of one half, whose special cases differ."""
    if y != 0.5 or (x < 0 and not math.isinf(x)):
        return np.power(x, y)
    return math.pow(x, y)


def functions(encoder, name, function, arity=1, types=TYPES, since="13.1", valid=None, **attributes):
    return [
        Op(
            f"{name}_{t}",
            (t,) * arity,
            (t,),
            lambda b, *x: b.like(encoder, *x, **attributes),
            by_library(function),
            tolerance=tolerance(t),
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
        tolerance=ONE_ULP,
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

            def right(x, y):
                with np.errstate(all="ignore"):
                    return float(np.power(np.float64(float(x)), np.float64(y)))

            yield Op(
                f"fpowi_{t}_{n}",
                (t, n),
                (t,),
                lambda b, x, y: b.op("FPowI", Tile(x.element, x.shape), source=x, exponent=y),
                right,
                tolerance=tolerance(t),
                since="13.4",
            )


def reciprocal_root(x):
    return np.float64(1) / np.sqrt(x)


GROUPS = {
    "exp": [
        *functions("Exp", "exp", np.exp),
        approximate("Exp", "exp", np.exp, Tolerance(relative=2.0**-16), "13.3", modest),
    ],
    "exp2": [*functions("Exp2", "exp2", np.exp2), flushed("Exp2", "exp2", np.exp2)],
    "log": functions("Log", "log", np.log),
    "log2": functions("Log2", "log2", np.log2),
    "sin": functions("Sin", "sin", np.sin),
    "cos": functions("Cos", "cos", np.cos),
    "tan": functions("Tan", "tan", np.tan),
    "sinh": functions("SinH", "sinh", np.sinh),
    "cosh": functions("CosH", "cosh", np.cosh),
    "tanh": [
        *functions("TanH", "tanh", np.tanh),
        # The hardware's bound is 2^-11 relative.
        approximate("TanH", "tanh", np.tanh, Tolerance(relative=2.0**-10), "13.2"),
    ],
    "rsqrt": [*functions("Rsqrt", "rsqrt", reciprocal_root), flushed("Rsqrt", "rsqrt", reciprocal_root)],
    "pow": functions("FPowF", "pow", c_pow, 2),
    "fpowi": list(powers_of_integers()),
    "atan2": functions("Atan2", "atan2", np.arctan2, 2, since="13.2"),
}

CASES = [elementwise.module(name, ops) for name, ops in GROUPS.items()]


def runs():
    return elementwise.runs(GROUPS)
