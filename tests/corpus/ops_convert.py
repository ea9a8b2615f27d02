"""Conversions between every pair of types that the verifier allows."""

import math
import zlib
from dataclasses import replace
from fractions import Fraction

import numpy as np
from cuda.tile._bytecode.encodings import IntegerOverflow

import elementwise
from elementwise import COUNT, Op
from emit import Entry, Module, Ptr, Round, Signedness, Tile
from formats import FLOATS, INTS, SINCE
from numerics import Buffer, Run
from values import random_bits, special_bits, storage, to_array

SIGNED, UNSIGNED = Signedness.Signed, Signedness.Unsigned
WIDE = ["i8", "i16", "i32", "i64"]


def since(*types, at_least="13.1"):
    return max(at_least, *(SINCE.get(t, "13.1") for t in types))


def unsigned(x, t):
    return x & (1 << INTS[t]) - 1


def convert(encoder, to, **attributes):
    return lambda b, x: b.op(encoder, Tile(to, x.shape), from_=x, **attributes)


def extensions():
    for source in INTS:
        for target in INTS:
            if target == "i1" or INTS[target] <= INTS[source]:
                continue
            version = since(source, target)
            yield Op(
                f"exti_{source}_{target}", (source,), (target,), convert("ExtI", target), lambda x: x, since=version
            )
            yield Op(
                f"exti_unsigned_{source}_{target}",
                (source,),
                (target,),
                convert("ExtI", target, signedness=UNSIGNED),
                lambda x, t=source: unsigned(x, t),
                since=version,
            )


def truncations():
    fits = {
        "": (IntegerOverflow.NONE, lambda x, s, t: True),
        "_nsw": (IntegerOverflow.NSW, lambda x, s, t: -(1 << INTS[t] - 1) <= x < 1 << INTS[t] - 1),
        "_nuw": (IntegerOverflow.NUW, lambda x, s, t: unsigned(x, s) < 1 << INTS[t]),
        "_nw": (IntegerOverflow.NW, lambda x, s, t: 0 <= x < 1 << INTS[t] - 1),
    }
    for source in INTS:
        for target in INTS:
            if INTS[target] >= INTS[source]:
                continue
            for suffix, (overflow, valid) in fits.items():
                # The promises at ordinary widths only.
                if suffix and (target not in WIDE or source not in WIDE):
                    continue
                yield Op(
                    f"trunci{suffix}_{source}_{target}",
                    (source,),
                    (target,),
                    convert("TruncI", target, overflow=overflow),
                    lambda x: x,
                    valid=lambda x, s=source, t=target, valid=valid: valid(x, s, t),
                    since=since(source, target),
                )


def in_range(x, f, mode="rn"):
    """A finite number that stays finite: what happens beyond differs between
    formats without infinities, and is no matter of arithmetic."""
    if isinstance(x, float):
        if math.isnan(x):
            return f.special != "finite"
        if x == 0:
            return f.subnormals and (f.signed or math.copysign(1, x) > 0)
        return f.special == "ieee" and f.name != "f8E5M2"
    if not f.signed and x < 0:
        return False
    if not f.subnormals and abs(x) < Fraction(2) ** f.min_exponent:
        return False
    if f.special == "ieee" and f.name != "f8E5M2":
        return True
    magnitude = f.encode(x, mode) & ~f.sign_bit(True)
    return magnitude <= f.largest and abs(x) <= f.decode(f.largest)


def from_integers():
    for source in ["i1", *WIDE]:
        for target, f in FLOATS.items():
            if target == "f8E8M0FNU":
                continue
            for suffix, signedness in (("", SIGNED), ("_unsigned", UNSIGNED)):

                def number(x, t=source, signedness=signedness):
                    x = unsigned(x, t) if signedness is UNSIGNED else x
                    return Fraction(x) if x else 0.0

                yield Op(
                    f"itof{suffix}_{source}_{target}",
                    (source,),
                    (target,),
                    convert("IToF", target, signedness=signedness),
                    number,
                    valid=lambda x, number=number, f=f: in_range(number(x), f),
                    since=since(source, target),
                )


def limits(t, signedness):
    width = INTS[t]
    return (-(1 << width - 1), (1 << width - 1) - 1) if signedness is SIGNED else (0, (1 << width) - 1)


def to_integers():
    for source in FLOATS:
        for target in WIDE:
            for suffix, signedness in (("", SIGNED), ("_unsigned", UNSIGNED)):
                low, high = limits(target, signedness)
                yield Op(
                    f"ftoi{suffix}_{source}_{target}",
                    (source,),
                    (target,),
                    convert("FToI", target, signedness=signedness),
                    int,
                    valid=lambda x, low=low, high=high: math.isfinite(x) and low <= int(x) <= high,
                    since=since(source),
                )


def saturating():
    for source in ["f16", "bf16", "f32", "f64"]:
        for target in WIDE:
            for suffix, signedness in (("", SIGNED), ("_unsigned", UNSIGNED)):
                low, high = limits(target, signedness)

                def right(x, low=low, high=high):
                    if isinstance(x, float) and math.isinf(x):
                        return high if x > 0 else low
                    return min(max(int(x), low), high)

                yield Op(
                    f"ftoi_saturating{suffix}_{source}_{target}",
                    (source,),
                    (target,),
                    convert("FToI", target, signedness=signedness, saturating=True),
                    right,
                    valid=lambda x: not (isinstance(x, float) and math.isnan(x)),
                    since="13.4",
                )


def between_floats():
    for source in FLOATS:
        for target, f in FLOATS.items():
            if source == target:
                continue
            # Powers of two alone: only these two modes, toward zero the usual one.
            modes = (
                {"rz": Round.ZERO, "rp": Round.POSITIVE_INF} if target == "f8E8M0FNU" else {"rn": Round.NEAREST_EVEN}
            )
            for mode, rounding in modes.items():
                yield Op(
                    f"ftof{'' if mode == 'rn' else '_' + mode}_{source}_{target}",
                    (source,),
                    (target,),
                    convert("FToF", target, rounding_mode=rounding),
                    lambda x: x,
                    mode,
                    valid=lambda x, f=f, mode=mode: in_range(x, f, mode),
                    since=since(source, target),
                )


def towards_zero():
    """The directed mode that conversions to wide types learnt in 13.5."""
    for source, target in (("f64", "f32"), ("f32", "f16"), ("f32", "bf16"), ("f32", "tf32"), ("f64", "f16")):
        yield Op(
            f"ftof_rz_{source}_{target}",
            (source,),
            (target,),
            convert("FToF", target, rounding_mode=Round.ZERO),
            lambda x: x,
            "rz",
            since="13.5",
        )


WIDTHS = {
    8: ["i8", "f8E4M3FN", "f8E5M2", "f8E8M0FNU", "fnv8E5M3FNU"],
    16: ["i16", "f16", "bf16"],
    32: ["i32", "f32"],
    64: ["i64", "f64"],
}


BITS = {t: n for n, types in WIDTHS.items() for t in types} | {"i1": 8, "tf32": 32}  # in memory


def moved(name, source, target, emit):
    """An entry that moves bits and changes none: `emit(body, tile)`."""

    def fill(body, x, y):
        count = COUNT // 8 if name == "unpack_i1" else COUNT
        body.store(y, emit(body, body.load(x, (count,))))

    return Entry(name, (Tile(Ptr(source)), Tile(Ptr(target))), fill, since(source, target))


def bitcasts():
    for types in WIDTHS.values():
        for source in types:
            for target in types:
                if source != target:
                    yield moved(
                        f"bitcast_{source}_{target}",
                        source,
                        target,
                        lambda b, x, t=target: b.op("Bitcast", Tile(t, x.shape), source=x),
                    )


# Four-bit types are packed and unpacked by every conversion from and to them.
PACKED = ["i1", "i16", "i32", "i64", "f16", "bf16", "f32", "tf32", "f64"]


def packs():
    for t in PACKED:
        size = COUNT // 8 if t == "i1" else COUNT * BITS[t] // 8
        pack = moved(f"pack_{t}", t, "i8", lambda b, x, n=size: b.op("Pack", Tile("i8", (n,)), source=x))
        yield replace(pack, since="13.3")

        def unpack(b, x, t=t):
            bits = 1 if t == "i1" else BITS[t]
            return b.op("Unpack", Tile(t, (x.shape[0] * 8 // bits,)), source=x)

        yield replace(moved(f"unpack_{t}", "i8", t, unpack), since="13.3")


def moved_run(case, entry):
    """The same bytes on both sides; i1 lies in memory one to a byte."""
    kind, _, rest = entry.name.partition("_")
    source, target = (p.element.pointee for p in entry.parameters)
    rng = np.random.default_rng(zlib.crc32(entry.name.encode()))
    count = COUNT // 8 if entry.name == "unpack_i1" else COUNT
    bits = (special_bits(source) + random_bits(source, count, rng))[:count]
    before = to_array(source, bits)
    if rest == "i1":
        octets = before.view(np.uint8)
        after = np.packbits(octets, bitorder="little") if kind == "pack" else np.unpackbits(octets, bitorder="little")
        after = after.view(storage(target))
    else:
        after = np.frombuffer(before.tobytes(), storage(target))
    args = [Buffer("x", before, type=source), Buffer("y", np.zeros_like(after), after, type=target)]
    return Run(case, entry.name, (1,), args, entry=entry.name)


GROUPS = {
    "exti": list(extensions()),
    "trunci": list(truncations()),
    "itof": list(from_integers()),
    "ftoi": [*to_integers(), *saturating()],
    "ftof": [*between_floats(), *towards_zero()],
}
MOVES = {"bitcast": list(bitcasts()), "pack": list(packs())}

CASES = [elementwise.module(name, ops) for name, ops in GROUPS.items()]
CASES += [Module(name, entries) for name, entries in MOVES.items()]


def runs():
    yield from elementwise.runs(GROUPS)
    for case, entries in MOVES.items():
        for entry in entries:
            yield moved_run(case, entry)
