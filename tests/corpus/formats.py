"""Number formats, exactly: bits to rationals and back with every rounding mode.

The references for arithmetic and conversions are computed with these, one
rounding each, so they depend on no floating-point unit and on no library.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np


@dataclass(frozen=True)
class Float:
    """A binary floating-point format.

    `special` says what the largest exponent means: "ieee" infinities and NaN,
    "nan" NaN in its last pattern alone, "finite" neither.
    """

    name: str
    bits: int
    exponent: int
    mantissa: int
    special: str = "ieee"
    signed: bool = True
    subnormals: bool = True
    storage: int = 0  # bits in memory, where that is more
    # Added to the usual exponent bias.
    extra_bias: int = 0

    @property
    def bias(self) -> int:
        return 2 ** (self.exponent - 1) - 1 + self.extra_bias

    @property
    def min_exponent(self) -> int:
        """Exponent of the smallest normal number."""
        return (1 if self.subnormals else 0) - self.bias

    @property
    def raw(self):
        """The numpy type that holds the bits."""
        return {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}[max(self.storage or self.bits, 8)]

    @property
    def shift(self) -> int:
        """Bits below the value in memory."""
        return (self.storage - self.bits) if self.storage > 8 else 0

    @property
    def nan(self) -> int:
        if self.special == "ieee":
            return (2**self.exponent - 1) << self.mantissa | 1 << (self.mantissa - 1)
        assert self.special == "nan", f"{self.name} has no NaN"
        return 2 ** (self.bits - self.signed) - 1

    @property
    def infinity(self) -> int:
        assert self.special == "ieee"
        return (2**self.exponent - 1) << self.mantissa

    @property
    def largest(self) -> int:
        """Bits of the largest finite number."""
        if self.special == "ieee":
            return self.infinity - 1
        return 2 ** (self.bits - self.signed) - (1 if self.special == "finite" else 2)

    def sign_bit(self, negative: bool) -> int:
        return (1 << (self.bits - 1)) if negative and self.signed else 0

    def decode(self, bits: int) -> "Number":
        """The number that the bits stand for."""
        negative = bool(self.signed and bits >> (self.bits - 1))
        magnitude = bits & (2 ** (self.bits - self.signed) - 1)
        if magnitude > self.largest:
            if self.special == "ieee" and magnitude == self.infinity:
                return -math.inf if negative else math.inf
            return math.nan
        fraction = magnitude & (2**self.mantissa - 1)
        exponent = magnitude >> self.mantissa
        if self.subnormals and exponent == 0:
            value = Fraction(fraction, 2**self.mantissa) * Fraction(2) ** self.min_exponent
        else:
            value = (1 + Fraction(fraction, 2**self.mantissa)) * Fraction(2) ** (exponent - self.bias)
        if value == 0:
            return -0.0 if negative else 0.0
        return -value if negative else value

    def encode(self, value: "Number", mode: str = "rn", saturate: bool = False) -> int:
        """The bits of a number after one rounding. `mode`: rn (ties to even),
        rz, rm (down), rp (up). Past the largest: infinity or the largest, as
        the mode has it; NaN, or with `saturate` the largest, in formats
        without infinities."""
        if isinstance(value, float):
            if math.isnan(value):
                return self.nan if self.special != "finite" else self.largest
            negative = math.copysign(1, value) < 0
            if math.isinf(value):
                return self._overflow(negative, saturate)
            if value == 0:
                return self.sign_bit(negative) if self.subnormals else 0
            value = Fraction(value)
        negative = value < 0
        value = abs(value)
        if negative and not self.signed:
            return self.nan
        exponent = max(_floor_log2(value), self.min_exponent)
        units = value / Fraction(2) ** (exponent - self.mantissa)
        whole, rest = divmod(units, 1)
        whole = int(whole)
        up = {
            "rn": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1),
            "rz": False,
            "rm": negative and rest > 0,
            "rp": not negative and rest > 0,
            "ra": rest >= Fraction(1, 2),
        }[mode]
        whole += up
        # A carry into the next power of two falls out of this sum.
        if self.subnormals:
            bits = ((exponent - self.min_exponent) << self.mantissa) + whole
        else:
            bits = max(((exponent + self.bias) << self.mantissa) + whole - 2**self.mantissa, 0)
        if bits > self.largest:
            towards_zero = mode == "rz" or (mode == "rm" and not negative) or (mode == "rp" and negative)
            if towards_zero:
                return self.largest | self.sign_bit(negative)
            return self._overflow(negative, saturate)
        return bits | self.sign_bit(negative)

    def _overflow(self, negative: bool, saturate: bool) -> int:
        if saturate or self.special == "finite":
            return self.largest | self.sign_bit(negative)
        over = self.infinity if self.special == "ieee" else self.nan
        return over | self.sign_bit(negative)

    # Arrays, in the form they have in memory.

    def numbers(self, raw: np.ndarray) -> "list[Number]":
        return [self.decode(int(bits) >> self.shift) for bits in raw.ravel()]

    def array(self, values, mode: str = "rn", saturate: bool = False) -> np.ndarray:
        bits = [self.encode(v, mode, saturate) << self.shift for v in values]
        return np.array(bits, self.raw)

    def is_subnormal(self, value: "Number") -> bool:
        return isinstance(value, Fraction) and abs(value) < Fraction(2) ** self.min_exponent


# A finite non-zero number is a Fraction; zeros, infinities and NaN are floats,
# because they have signs.
Number = Fraction | float


def _floor_log2(value: Fraction) -> int:
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess if value >= Fraction(2) ** guess else guess - 1


FLOATS = {
    f.name: f
    for f in [
        Float("f16", 16, 5, 10),
        Float("bf16", 16, 8, 7),
        Float("f32", 32, 8, 23),
        Float("tf32", 19, 8, 10, storage=32),
        Float("f64", 64, 11, 52),
        Float("f8E4M3FN", 8, 4, 3, special="nan"),
        Float("f8E5M2", 8, 5, 2),
        Float("f8E8M0FNU", 8, 8, 0, special="nan", signed=False, subnormals=False),
        Float("fnv8E5M3FNU", 8, 5, 3, special="nan", signed=False),
        Float("f4E2M1FN", 4, 2, 1, special="finite"),
    ]
}
INTS = {"i1": 1, "i4": 4, "i8": 8, "i16": 16, "i32": 32, "i64": 64}
# The first bytecode version that has a type, where that is not 13.1.
SINCE = {"f8E8M0FNU": "13.2", "f4E2M1FN": "13.3", "i4": "13.3", "fnv8E5M3FNU": "13.4"}


# Arithmetic with one rounding. Numbers in, a Number out (not yet rounded).


def _is_zero(x):
    return isinstance(x, float) and x == 0


def add(x: Number, y: Number, mode: str = "rn") -> Number:
    if isinstance(x, float) or isinstance(y, float):
        if not (_is_zero(x) or _is_zero(y)):
            # An infinity or a NaN decides; the other's size does not matter.
            return _as_float(x) + _as_float(y)
        if _is_zero(x) and _is_zero(y):
            same = math.copysign(1, x) == math.copysign(1, y)
            return x if same else (-0.0 if mode == "rm" else 0.0)
        return y if _is_zero(x) else x
    total = x + y
    return total if total != 0 else (-0.0 if mode == "rm" else 0.0)


def neg(x: Number) -> Number:
    return -x


def mul(x: Number, y: Number) -> Number:
    if isinstance(x, float) or isinstance(y, float):
        return _as_float(x) * _as_float(y)
    return x * y


def div(x: Number, y: Number) -> Number:
    if _is_zero(y):
        if _is_zero(x) or math.isnan(_as_float(x)):
            return math.nan
        return math.copysign(math.inf, _sign(x) * _sign(y))
    if isinstance(x, float) or isinstance(y, float):
        return _as_float(x) / _as_float(y)
    return x / y


def fma(x: Number, y: Number, z: Number, mode: str = "rn") -> Number:
    return add(mul(x, y), z, mode)


def sqrt(x: Number) -> Number:
    """Close enough to the root that no rounding below 80 bits can differ:
    a root is never a midpoint, so a sticky bit is all that is missing."""
    if isinstance(x, float):
        return x if x == 0 or math.isnan(x) or x > 0 else math.nan
    if x < 0:
        return math.nan
    scale = 4 ** max(0, 200 - _floor_log2(x))
    scaled = x * scale
    root = math.isqrt(int(scaled))
    exact = root * root == scaled
    return (Fraction(root) if exact else root + Fraction(1, 2)) / Fraction(math.isqrt(scale))


def remainder(x: Number, y: Number) -> Number:
    """What is left of x after a whole number (towards zero) of y: the sign of x."""
    if (isinstance(x, float) and not _is_zero(x)) or _is_zero(y) or (isinstance(y, float) and math.isnan(y)):
        return math.nan
    if _is_zero(x) or isinstance(y, float):
        return x
    left = x - y * int(x / y)
    return left if left != 0 else math.copysign(0.0, x)


def _sign(x: Number) -> float:
    return math.copysign(1, x) if isinstance(x, float) else (1 if x > 0 else -1)


def _as_float(x: Number) -> float:
    """For products and sums with an infinity, NaN or zero: any size will do."""
    if isinstance(x, float):
        return x
    return 1.0 if x > 0 else -1.0


def flush(x: Number, format_: Float) -> Number:
    """A subnormal becomes a zero of its sign."""
    if format_.is_subnormal(x):
        return 0.0 if x > 0 else -0.0
    return x
