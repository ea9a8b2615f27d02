"""Inputs for elementwise operations: special values first, then random bits."""

import itertools

import numpy as np

from formats import FLOATS, INTS


def storage(type_: str):
    """The numpy type of a buffer of such elements."""
    if type_ == "i1":
        return np.dtype(bool)
    if type_ in INTS:
        return np.dtype(f"i{INTS[type_] // 8}")
    return {"f16": np.dtype("f2"), "f32": np.dtype("f4"), "f64": np.dtype("f8")}.get(type_, np.dtype(FLOATS[type_].raw))


def special_bits(type_: str) -> list[int]:
    if type_ in INTS:
        width = INTS[type_]
        low, high = -(1 << width - 1), (1 << width - 1) - 1
        return sorted({v & ((1 << width) - 1) for v in (0, 1, -1, 2, 3, -2, 7, low, low + 1, high, high - 1)})
    f = FLOATS[type_]
    one = f.encode(1.0)
    bits = [f.encode(0.0), one, one + 1, f.encode(2.0), f.encode(0.5), f.largest]
    if f.subnormals:
        bits += [1, 1 << f.mantissa, (1 << f.mantissa) - 1]  # least, least normal, largest subnormal
    if f.mantissa > 1:
        bits += [f.encode(1.5), f.encode(3.0)]
    if f.special == "ieee":
        bits.append(f.infinity)
    if f.signed:
        bits += [b | f.sign_bit(True) for b in bits]
    if f.special != "finite":
        bits.append(f.nan)
    return list(dict.fromkeys(bits))


def random_bits(type_: str, count: int, rng) -> list[int]:
    """Half any pattern at all, half numbers of ordinary size."""
    if type_ in INTS:
        width = INTS[type_]
        wide = [
            int(rng.integers(0, 1 << width, dtype=np.uint64))
            if width < 64
            else int(rng.integers(0, 2**63)) * 2 + int(rng.integers(2))
            for _ in range(count)
        ]
        small = [int(rng.integers(-9, 10)) & (1 << width) - 1 for _ in range(count)]
        return [w if i % 2 else s for i, (w, s) in enumerate(zip(wide, small))]
    f = FLOATS[type_]
    wide = [int(b) for b in rng.integers(0, 2 ** min(f.bits, 63), count, dtype=np.uint64)]
    near = rng.standard_normal(count) * 2.0 ** rng.integers(-3, 4, count)
    if not f.signed:
        near = np.abs(near)
    return [w if i % 2 else f.encode(float(x)) for i, (w, x) in enumerate(zip(wide, near))]


def decode(type_: str, bits: int):
    """A signed integer, or a Number."""
    if type_ in INTS:
        width = INTS[type_]
        return bits - (1 << width) if bits >> (width - 1) else bits
    return FLOATS[type_].decode(bits)


def encode(type_: str, value, mode="rn") -> int:
    if type_ in INTS:
        return int(value) & (1 << INTS[type_]) - 1
    return FLOATS[type_].encode(value, mode)


def to_array(type_: str, bits) -> np.ndarray:
    """Bits as a buffer; four-bit types two to a byte, the first in the low half."""
    if type_ in ("i4", "f4E2M1FN"):
        pairs = np.array(list(bits), np.uint8).reshape(-1, 2)
        return (pairs[:, 0] | pairs[:, 1] << 4).view(np.int8)
    if type_ == "i1":
        return np.array(list(bits), bool)
    if type_ in INTS:
        return np.array(list(bits), np.dtype(f"u{INTS[type_] // 8}")).view(storage(type_))
    f = FLOATS[type_]
    return np.array([b << f.shift for b in bits], f.raw).view(storage(type_))


def tuples(types: list[str], count: int, rng, valid=None) -> list[tuple[int, ...]]:
    """`count` argument tuples: combinations of special values, then random
    ones. Those that are not `valid` (given decoded values) are left out."""

    def ok(bits):
        return valid is None or valid(*(decode(t, b) for t, b in zip(types, bits)))

    specials = [bits for bits in itertools.product(*(special_bits(t) for t in types)) if ok(bits)]
    if len(specials) > count * 3 // 4:
        chosen = rng.choice(len(specials), count * 3 // 4, replace=False)
        specials = [specials[i] for i in sorted(chosen)]
    found = list(specials)
    for _ in range(1000):
        if len(found) >= count:
            return found[:count]
        columns = [random_bits(t, count, rng) for t in types]
        # Ordinary and arbitrary numbers meet in every combination.
        columns = [c[i:] + c[:i] for i, c in enumerate(columns)]
        found += [bits for bits in zip(*columns) if ok(bits)]
    raise AssertionError(f"hardly any tuple of {types} is valid")
