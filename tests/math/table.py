"""Writes the tables of this folder: true values of the elementary functions, by mpmath at 400 bits.

    python tests/math/table.py        (needs mpmath 1.4)

A line is `FUNCTION INPUT… VALUE…`: inputs as hexadecimal patterns of the table's type (of `powi`, the
exponent as a decimal number), the true value as an f64 pattern; of the f64 table as the sum of two. Inputs go over the whole
range: special values, every power of two, the neighbours of multiples of pi/2, the edges of overflow and
of subnormals, where a function crosses zero or is flat, and random patterns.
"""

import math
import random
import struct
from pathlib import Path

import mpmath

mpmath.mp.prec = 400
HERE = Path(__file__).parent


class Format:
    def __init__(self, name, letters, bits, mantissa):
        self.name, self.letters, self.bits, self.mantissa = name, letters, bits, mantissa

    def pattern(self, value: float) -> int:
        try:
            return int.from_bytes(struct.pack("<" + self.letters[0], value), "little")
        except OverflowError:
            return self.pattern(math.copysign(math.inf, value))

    def value(self, pattern: int) -> float:
        return struct.unpack("<" + self.letters[0], pattern.to_bytes(self.bits // 8, "little"))[0]


F32 = Format("f32", "fI", 32, 23)
F64 = Format("f64", "dQ", 64, 52)

INF, NAN = mpmath.inf, mpmath.nan




def exp(x):
    return mpmath.mpf(0) if x < -2000 else INF if x > 2000 else mpmath.exp(x)


UNARY = {
    "exp": exp,
    "exp2": lambda x: mpmath.mpf(0) if x < -2000 else INF if x > 2000 else mpmath.power(2, x),
    "log": lambda x: -INF if x == 0 else NAN if x < 0 else mpmath.log(x),
    "log2": lambda x: -INF if x == 0 else NAN if x < 0 else mpmath.log(x, 2),
    "sin": lambda x: NAN if mpmath.isinf(x) else mpmath.sin(x),
    "cos": lambda x: NAN if mpmath.isinf(x) else mpmath.cos(x),
    "tan": lambda x: NAN if mpmath.isinf(x) else mpmath.tan(x),
    "sinh": lambda x: mpmath.sign(x) * INF if abs(x) > 2000 else mpmath.sinh(x),
    "cosh": lambda x: INF if abs(x) > 2000 else mpmath.cosh(x),
    "tanh": lambda x: mpmath.sign(x) if abs(x) > 200 else mpmath.tanh(x),
    "rsqrt": lambda x: INF if x == 0 else NAN if x < 0 else 0 if x == INF else 1 / mpmath.sqrt(x),
}
# Zero at zero, with the sign of it.
ODD = {"sin", "tan", "sinh", "tanh"}


def unary(name, function, x: float):
    """The value at x. mpmath has one zero: what IEEE 754 says of two is here."""
    if math.isnan(x) or (x == 0 and name in ODD):
        return x
    if x == 0 and name == "rsqrt":
        return math.copysign(math.inf, x)
    return function(mpmath.mpf(x))


def halves(value) -> tuple[int, int]:
    """Two f64 patterns whose sum is the value."""
    if isinstance(value, float) or mpmath.isnan(value) or mpmath.isinf(value):
        return F64.pattern(float(value)), 0
    high = float(value)
    if math.isinf(high):
        return F64.pattern(high), 0
    return F64.pattern(high), F64.pattern(float(value - mpmath.mpf(high)))


def near_right_angles(f: Format, random_: random.Random) -> list[float]:
    """For each exponent, of many multiples of pi/2 the one that a number of the format is nearest to."""
    found = []
    for exponent in range(0, 127 if f is F32 else 1023, 1 if f is F32 else 9):
        best = None
        for _ in range(150):
            k = int(mpmath.mpf(2) ** exponent * random_.uniform(1, 2) / (mpmath.pi / 2))
            x = f.value(f.pattern(float(k * mpmath.pi / 2)))
            distance = abs(mpmath.mpf(x) - mpmath.nint(mpmath.mpf(x) / (mpmath.pi / 2)) * mpmath.pi / 2)
            if x and (best is None or distance < best[0]):
                best = (distance, x)
        if best:
            found.append(best[1])
    return found


def special(f: Format) -> list[float]:
    top, least = 1 << f.bits - 1, 1
    exponents = (f.bits - 1 - f.mantissa, f.mantissa)
    infinity = (1 << exponents[0]) - 1 << f.mantissa
    patterns = [0, least, 2, (1 << f.mantissa) - 1, 1 << f.mantissa, infinity - 1, infinity, infinity | 1 << f.mantissa - 1]
    return [f.value(p | sign) for p in patterns for sign in (0, top)]


def inputs(f: Format, name: str, right_angles: list[float], random_: random.Random) -> list[float]:
    limits = (-127, 128) if f is F32 else (-1022, 1024)
    values = special(f)
    step = 4 if f is F32 else 32
    values += [math.ldexp(s * m, e) for e in range(*limits, step) for m in (1, 1.37) for s in (1, -1)]
    around = [0, 1, -1, 0.5, math.pi / 2, math.pi, 88.72284, -87.33655, -103.97, 128, -126, -149, 89.4, 9.01, 709.78, -745.1, 1023.99, -1074]
    for centre in around:
        pattern = f.pattern(centre)
        values += [f.value((pattern + d) % (1 << f.bits)) for d in (-2, -1, 0, 1, 2)]
    values += [random_.uniform(-1, 1) * 10.0**e for e in (-6, -3, -1, 0, 1, 2) for _ in range(8)]
    if name in ("sin", "cos", "tan"):
        values += right_angles
    patterns = {f.pattern(v) for v in values}
    return [f.value(p) for p in sorted(patterns)][:: 1 if f is F32 else 3]


def power(x: float, y: float):
    """pow for what is neither special nor a matter of signs."""
    return INF if (abs(y * math.log2(abs(x))) > 3000 and y * math.log2(abs(x)) > 0) else mpmath.mpf(0) if y * math.log2(
        abs(x)
    ) < -3000 else mpmath.power(mpmath.mpf(x), mpmath.mpf(y))


def binary(f: Format, random_: random.Random):
    r = lambda v: f.value(f.pattern(v))
    one = f.pattern(1.0)
    for _ in range(120):
        x = r(math.exp(random_.uniform(-60, 60)))
        y = r(random_.uniform(-1, 1) * 10 ** random_.uniform(-3, 2.5))
        yield "pow", x, y, power(x, y)
    for _ in range(80):  # Close to one, to large powers.
        x = f.value(one + random_.randrange(-4000, 4000))
        y = r(random_.uniform(-1, 1) * 10 ** random_.uniform(3, 7))
        yield "pow", x, y, power(x, y)
    for _ in range(40):  # A negative base to a whole power.
        x, y = r(-random_.uniform(0.1, 9)), float(random_.randrange(-40, 40))
        yield "pow", x, y, power(x, y)
    for _ in range(200):
        x, y = (r(random_.choice([-1, 1]) * 10 ** random_.uniform(-37, 37)) for _ in range(2))
        if random_.random() < 0.5:
            y = r(x * random_.uniform(-2, 2)) or x
        yield "atan2", x, y, mpmath.atan2(mpmath.mpf(x), mpmath.mpf(y))


def powers(f: Format, random_: random.Random):
    for _ in range(120):
        n = random_.choice([-1, 1]) * random_.choice([0, 1, 2, 3, 7, 64, 1000, 16777217, 2**31 - 1])
        x = r_value(f, random_.choice([-1, 1]) * math.exp(random_.uniform(-1, 1) * 80 / max(abs(n), 1)))
        yield x, n, mpmath.power(mpmath.mpf(x), n)


def r_value(f: Format, v: float) -> float:
    return f.value(f.pattern(v))


def table(f: Format) -> list[str]:
    random_ = random.Random(f.bits)
    right_angles = near_right_angles(f, random_)
    digits = f.bits // 4
    lines = []

    def put(name, patterns, value):
        parts = [f"{part:016x}" for part in halves(value)]
        lines.append(" ".join([name, *patterns, *parts[: 1 if f is F32 else 2]]))

    for name, function in UNARY.items():
        for x in inputs(f, name, right_angles, random_):
            put(name, [f"{f.pattern(x):0{digits}x}"], unary(name, function, x))
    for name, x, y, value in binary(f, random_):
        put(name, [f"{f.pattern(v):0{digits}x}" for v in (x, y)], value)
    for x, n, value in powers(f, random_):
        put("powi", [f"{f.pattern(x):0{digits}x}", str(n)], value)
    return lines


for f in (F32, F64):
    (HERE / f"{f.name}.txt").write_text("\n".join(table(f)) + "\n")
