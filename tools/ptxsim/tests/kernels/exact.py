"""Exact arithmetic on bit patterns, for the right answers of single instructions: fractions, rounded once.

Values are finite; where a format has several zeros, results are the positive one.
"""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Format:
    """A binary format: widths of the exponent and the fraction."""

    exponent: int
    fraction: int

    @property
    def bits(self) -> int:
        return 1 + self.exponent + self.fraction

    @property
    def bias(self) -> int:
        return (1 << (self.exponent - 1)) - 1

    def value(self, bits: int) -> Fraction:
        """What a pattern stands for."""
        field = bits >> self.fraction & ((1 << self.exponent) - 1)
        low = bits & ((1 << self.fraction) - 1)
        whole = low if field == 0 else low | 1 << self.fraction
        scale = max(field, 1) - self.bias - self.fraction
        sign = -1 if bits >> (self.bits - 1) & 1 else 1
        return sign * Fraction(whole) * Fraction(2) ** scale

    def round(self, x: Fraction, mode: str = "rn") -> int:
        """The pattern nearest to `x` in a direction: rn, rna, rz, rm or rp."""
        if x == 0:
            return 0
        size = abs(x)
        exponent = size.numerator.bit_length() - size.denominator.bit_length()
        if Fraction(2) ** exponent > size:
            exponent -= 1
        exponent = max(exponent, 1 - self.bias)
        scaled = size / Fraction(2) ** (exponent - self.fraction)
        kept, rest = scaled.numerator // scaled.denominator, scaled % 1
        half = Fraction(1, 2)
        up = {
            "rn": rest > half or rest == half and kept % 2 == 1,
            "rna": rest >= half,
            "rz": False,
            "rm": x < 0 and rest > 0,
            "rp": x > 0 and rest > 0,
        }[mode]
        kept += up
        # A carry out of the fraction moves into the exponent.
        bits = kept + ((exponent - 1 + self.bias) << self.fraction)
        return bits | (x < 0) << (self.bits - 1)


F16, BF16, TF32, F32, F64 = Format(5, 10), Format(8, 7), Format(8, 10), Format(8, 23), Format(11, 52)
E4M3, E5M2, E2M3, E3M2, E2M1 = Format(4, 3), Format(5, 2), Format(2, 3), Format(3, 2), Format(2, 1)


def signed(x: int, bits: int) -> int:
    """The low bits as a two's complement number."""
    x &= (1 << bits) - 1
    return x - (x >> (bits - 1) << bits)


def clamp(x, low, high):
    return min(max(x, low), high)


def saturated(x: int, bits: int) -> int:
    """A signed number moved into range."""
    return clamp(x, -(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def halves(f, *words: int, bits: int = 16) -> int:
    """A function of the lower parts and of the upper parts."""
    low = [w & ((1 << bits) - 1) for w in words]
    high = [w >> bits & ((1 << bits) - 1) for w in words]
    mask = (1 << bits) - 1
    return int(f(*low)) & mask | (int(f(*high)) & mask) << bits
