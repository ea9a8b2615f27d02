"""Forms of instructions that no other kernel here has, one by one, on random operands; answers are exact fractions."""

from fractions import Fraction

import forms_build
from exact import BF16, E2M1, E2M3, E3M2, E4M3, E5M2, F16, F32, F64, TF32, clamp, halves, saturated, signed
from foreign import kernel
from forms_build import Row


def unit(x: Fraction) -> Fraction:
    """`.sat`"""
    return clamp(x, Fraction(0), Fraction(1))


def relu(x: Fraction) -> Fraction:
    return max(x, Fraction(0))


def on(form, f, into=None, mode="rn"):
    """A function of values as one of patterns."""
    return lambda *bits: (into or form).round(f(*map(form.value, bits)), mode)


def pairs(form, f, mode="rn"):
    return lambda *words: halves(on(form, f, mode=mode), *words, bits=form.bits)


def xorsign(form, x: int, y: int) -> int:
    """`max.xorsign.abs`: the larger magnitude, negative if the signs differ."""
    sign = 1 << (form.bits - 1)
    return max(x & ~sign, y & ~sign) | (x ^ y) & sign


def bfind(x: int, bits: int) -> int:
    x = ~x if signed(x, bits) < 0 else x
    return (x & ((1 << bits) - 1)).bit_length() - 1


def bfe(x: int, start: int, length: int) -> int:
    start, length = start & 0xFF, length & 0xFF
    if length == 0:
        return 0
    top = min(start + length - 1, 63)
    field = x >> start & ((1 << length) - 1) if start < 64 else 0
    # What lies beyond the field is its topmost bit.
    sign = x >> top & 1
    width = max(top - start + 1, 0)
    return field | (-sign << width)


def szext(x: int, n: int, is_signed: bool) -> int:
    return 0 if n == 0 else signed(x, n) if is_signed else x & ((1 << n) - 1)


def mask(start: int, width: int) -> int:
    return ((1 << width) - 1) << start


def prmt(x: int, y: int, selectors) -> int:
    joined = x | y << 32
    return sum((joined >> 8 * s & 0xFF) << 8 * i for i, s in enumerate(selectors))


def dot(c: int, x: list[int], y: list[int]) -> int:
    return c + sum(a * b for a, b in zip(x, y, strict=True))


def u8s(word: int) -> list[int]:
    return [word >> 8 * i & 0xFF for i in range(4)]


def truth(*conditions) -> int:
    return sum(bool(c) << i for i, c in enumerate(conditions))


# A predicate, or two, as a number.
ONE = " selp.b32 d, 1, 0, p;"
TWO = " selp.b32 d, 1, 0, p; selp.b32 t, 2, 0, q; or.b32 d, d, t;"

s8, s16, s24, s32, s64 = (lambda x, n=n: signed(x, n) for n in (8, 16, 24, 32, 64))

INTEGERS = [
    Row("add.u16 d, a, b;", "16 16 16", lambda a, b: a + b),
    Row("add.sat.s32 d, a, b;", "32 32 32", lambda a, b: saturated(s32(a) + s32(b), 32)),
    Row("sub.sat.s32 d, a, b;", "32 32 32", lambda a, b: saturated(s32(a) - s32(b), 32)),
    Row("add.u16x2 d, a, b;", "32 32 32", lambda a, b: halves(int.__add__, a, b)),
    Row("add.s16x2 d, a, b;", "32 32 32", lambda a, b: halves(int.__add__, a, b)),
    Row("sub.u64 d, a, b;", "64 64 64", lambda a, b: a - b),
    Row("mad.hi.sat.s32 d, a, b, c;", "32 32 32 32", lambda a, b, c: saturated((s32(a) * s32(b) >> 32) + s32(c), 32)),
    Row("mul24.lo.u32 d, a, b;", "32 32 32", lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF)),
    Row("mul24.hi.s32 d, a, b;", "32 32 32", lambda a, b: s24(a) * s24(b) >> 16),
    Row("mad24.lo.s32 d, a, b, c;", "32 32 32 32", lambda a, b, c: s24(a) * s24(b) + c),
    Row(
        "mad24.hi.sat.s32 d, a, b, c;",
        "32 32 32 32",
        lambda a, b, c: saturated((s24(a) * s24(b) >> 16) + s32(c), 32),
    ),
    Row("sad.u16 d, a, b, c;", "16 16 16 16", lambda a, b, c: c + abs(a - b)),
    Row("sad.s64 d, a, b, c;", "64 64 64 64", lambda a, b, c: c + abs(s64(a) - s64(b))),
    Row("abs.s64 d, a;", "64 64", lambda a: abs(s64(a))),
    Row("min.u16x2 d, a, b;", "32 32 32", lambda a, b: halves(min, a, b)),
    Row("min.relu.s32 d, a, b;", "32 32 32", lambda a, b: max(min(s32(a), s32(b)), 0)),
    Row("max.relu.s16x2 d, a, b;", "32 32 32", lambda a, b: halves(lambda x, y: max(s16(x), s16(y), 0), a, b)),
    Row("bfind.s64 d, a;", "32 64", lambda a: bfind(a, 64)),
    Row("brev.b64 d, a;", "64 64", lambda a: int(f"{a:064b}"[::-1], 2)),
    Row("bfe.s64 d, a, b, c;", "64 64 n n", bfe),
    Row("szext.clamp.s32 d, a, b;", "32 32 n", lambda a, b: szext(a, min(b, 32), True)),
    Row("szext.wrap.u32 d, a, b;", "32 32 n", lambda a, b: szext(a, b % 32, False)),
    Row("bmsk.clamp.b32 d, a, b;", "32 n n", lambda a, b: mask(min(a, 32), min(b, 32))),
    Row("bmsk.wrap.b32 d, a, b;", "32 n n", lambda a, b: mask(a % 32, b % 32)),
    Row("dp4a.u32.s32 d, a, b, c;", "32 32 32 32", lambda a, b, c: dot(c, u8s(a), [s8(y) for y in u8s(b)])),
    Row("dp2a.lo.s32.u32 d, a, b, c;", "32 32 32 32", lambda a, b, c: dot(c, [s16(a), s16(a >> 16)], u8s(b)[:2])),
]

M32, M64 = (1 << 32) - 1, (1 << 64) - 1


def carry_chain(a: int, b: int, c: int) -> int:
    second = b + c + (a + b > M32)
    return (second & M32) + (second > M32)


CARRIES = [
    Row("add.cc.u32 t, a, b; addc.cc.s32 t, b, c; addc.u32 d, t, 0;", "32 32 32 32", carry_chain),
    Row("add.cc.u64 t, a, b; addc.u64 d, b, c;", "64 64 64 64", lambda a, b, c: b + c + (a + b > M64)),
    Row("sub.cc.s32 t, a, b; subc.s32 d, b, c;", "32 32 32 32", lambda a, b, c: b - c - (a < b)),
    Row("sub.cc.s64 t, a, b; subc.s64 d, b, c;", "64 64 64 64", lambda a, b, c: b - c - (a < b)),
    Row(
        "mad.hi.cc.s64 t, a, b, c; addc.u64 d, t, 0;",
        "64 64 64 64",
        lambda a, b, c: (h := s64(a) * s64(b) >> 64 & M64) + c + (h + c > M64),
    ),
]

FLOATS = [
    Row(f"testp.finite.f32 p, a;{ONE}", "32 32", lambda a: (a >> 23 & 0xFF) != 0xFF),
    Row(
        f"testp.subnormal.f64 p, a;{ONE}", "32 64", lambda a: (a >> 52 & 0x7FF) == 0 and a & ((1 << 52) - 1) != 0
    ),
    Row("add.rm.ftz.sat.f32 d, a, b;", "32 f32 f32", on(F32, lambda a, b: unit(a + b), mode="rm")),
    Row("mul.rp.sat.f32 d, a, b;", "32 f32 f32", on(F32, lambda a, b: unit(a * b), mode="rp")),
    Row("fma.rn.ftz.sat.f32 d, a, b, c;", "32 f32 f32 f32", on(F32, lambda a, b, c: unit(a * b + c))),
    Row("mad.rn.f32 d, a, b, c;", "32 f32 f32 f32", on(F32, lambda a, b, c: a * b + c)),
    Row("mad.rp.f64 d, a, b, c;", "64 f64 f64 f64", on(F64, lambda a, b, c: a * b + c, mode="rp")),
    Row("max.ftz.NaN.xorsign.abs.f32 d, a, b;", "32 f32 f32", lambda a, b: xorsign(F32, a, b)),
    Row("rcp.rz.f32 d, a;", "32 f32", on(F32, lambda a: 1 / a, mode="rz")),
    Row("rcp.rp.f64 d, a;", "64 f64", on(F64, lambda a: 1 / a, mode="rp")),
]

HALVES = [
    Row("add.rn.ftz.sat.f16 d, a, b;", "16 f16 f16", on(F16, lambda a, b: unit(a + b))),
    Row("add.rn.bf16x2 d, a, b;", "32 bf16x2 bf16x2", pairs(BF16, lambda a, b: a + b)),
    Row("mul.ftz.sat.f16x2 d, a, b;", "32 f16x2 f16x2", pairs(F16, lambda a, b: unit(a * b))),
    Row("fma.rn.ftz.relu.f16 d, a, b, c;", "16 f16 f16 f16", on(F16, lambda a, b, c: relu(a * b + c))),
    Row("fma.rn.sat.f16x2 d, a, b, c;", "32 f16x2 f16x2 f16x2", pairs(F16, lambda a, b, c: unit(a * b + c))),
    Row("neg.ftz.f16x2 d, a;", "32 f16x2", pairs(F16, lambda a: -a)),
    Row("min.NaN.bf16x2 d, a, b;", "32 bf16x2 bf16x2", pairs(BF16, min)),
    Row(
        "max.ftz.NaN.xorsign.abs.f16x2 d, a, b;",
        "32 f16x2 f16x2",
        lambda a, b: halves(lambda x, y: xorsign(F16, x, y), a, b),
    ),
]


def compare(f, form=F32):
    return lambda a, b: f(form.value(a), form.value(b))


COMPARISONS = [
    Row(
        "set.lt.and.ftz.f32.f32 d, a, b, !s;",
        "32 f32 f32 f32",
        # No float of this kind is 0, so that s holds.
        lambda a, b, c: 0,
    ),
    Row("set.geu.u32.f64 d, a, b;", "32 f64 f64", lambda a, b: -compare(lambda x, y: x >= y, F64)(a, b)),
    Row("set.eq.s32.b16 d, a, b;", "32 16 16", lambda a, b: -(a == b)),
    Row("set.gt.u16.f16 d, a, b;", "16 f16 f16", lambda a, b: -compare(lambda x, y: x > y, F16)(a, b)),
    Row(
        "set.neu.f16x2.f16x2 d, a, b;",
        "32 f16x2 f16x2",
        lambda a, b: halves(lambda x, y: 0x3C00 * (x != y), a, b),
    ),
    Row(
        "set.lt.bf16x2.bf16x2 d, a, b;",
        "32 bf16x2 bf16x2",
        lambda a, b: halves(lambda x, y: 0x3F80 * compare(lambda v, w: v < w, BF16)(x, y), a, b),
    ),
    Row(
        f"setp.hs.or.u32 p|q, a, b, s;{TWO}",
        "32 32 32 32",
        lambda a, b, c: truth(a >= b or c != 0, a < b or c != 0),
    ),
    Row(f"setp.num.and.ftz.f32 p, a, b, s;{ONE}", "32 f32 f32 32", lambda a, b, c: c != 0),
    Row(f"setp.ltu.bf16 p, a, b;{ONE}", "32 bf16 bf16", compare(lambda x, y: x < y, BF16)),
    Row(f"setp.lo.u64 p, a, b;{ONE}", "32 64 64", lambda a, b: a < b),
    Row(
        f"setp.eq.f16x2 p|q, a, b;{TWO}",
        "32 f16x2 f16x2",
        lambda a, b: truth(a & 0xFFFF == b & 0xFFFF, a >> 16 == b >> 16),
    ),
    Row("slct.u32.s32 d, a, b, c;", "32 32 32 32", lambda a, b, c: a if s32(c) >= 0 else b),
    Row("slct.ftz.s64.f32 d, a, b, c;", "64 64 64 f32", lambda a, b, c: a if F32.value(c) >= 0 else b),
    Row("cnot.b16 d, a;", "16 16", lambda a: a == 0),
    Row(
        "lop3.or.b32 d|p, a, b, c, 0xe8, s; selp.b32 t, 1, 0, p; xor.b32 d, d, t;",
        "32 32 32 32",
        lambda a, b, c: (m := a & b | a & c | b & c) ^ (m != 0 or c != 0),
    ),
    Row("shf.l.clamp.b32 d, a, b, c;", "32 32 32 n", lambda a, b, c: ((b << 32 | a) << min(c, 32)) >> 32),
    Row("shf.r.wrap.b32 d, a, b, c;", "32 32 32 n", lambda a, b, c: (b << 32 | a) >> c % 32),
    Row("prmt.b32.f4e d, a, b, c;", "32 32 32 n", lambda a, b, c: prmt(a, b, [(c % 4) + i for i in range(4)])),
    Row("prmt.b32.rc16 d, a, b, c;", "32 32 32 n", lambda a, b, c: prmt(a, b, [0, 1] * 2 if c % 2 == 0 else [2, 3] * 2)),
]


def near(form, mode="rn", limit=None, positive=False):
    """Conversion from f32 with its qualifiers."""

    def convert(bits: int) -> int:
        x = F32.value(bits)
        x = relu(x) if positive else x
        x = clamp(x, -limit, limit) if limit else x
        return form.round(x, mode)

    return convert


def two(f, bits: int):
    """`d, a, b`: a is the upper part."""
    return lambda a, b: f(a) << bits | f(b)


CONVERSIONS = [
    Row("cvt.sat.u8.s32 t, a; cvt.u32.u8 d, t;", "32 32", lambda a: clamp(s32(a), 0, 255)),
    Row("cvt.rzi.u64.f64 d, a;", "64 f64", lambda a: max(int(F64.value(a)), 0)),
    Row("cvt.rm.f32.f64 d, a;", "32 f64", on(F64, lambda a: a, F32, "rm")),
    Row("cvt.rp.f64.s64 d, a;", "64 64", lambda a: F64.round(Fraction(s64(a)), "rp")),
    Row(
        "cvt.rn.relu.satfinite.f16x2.f32 d, a, b;",
        "32 f32 f32",
        two(near(F16, positive=True), 16),
    ),
    Row("cvt.rz.relu.bf16x2.f32 d, a, b;", "32 f32 f32", two(near(BF16, "rz", positive=True), 16)),
    Row("cvt.rz.f16.f32 d, a;", "16 f32", near(F16, "rz")),
    Row(
        "cvt.rn.relu.f16x2.e4m3x2 d, a;",
        "32 e4m3x2",
        lambda a: F16.round(relu(E4M3.value(a >> 8))) << 16 | F16.round(relu(E4M3.value(a & 0xFF))),
    ),
    Row("cvt.rzi.s16.f16 d, a;", "16 f16", lambda a: int(F16.value(a))),
    Row("cvt.rna.satfinite.tf32.f32 d, a;", "32 f32", lambda a: near(TF32, "rna")(a) << 13),
    Row("cvt.rz.relu.tf32.f32 d, a;", "32 f32", lambda a: near(TF32, "rz", positive=True)(a) << 13),
    Row(
        "cvt.rn.satfinite.relu.e4m3x2.f32 d, a, b;",
        "16 f32 f32",
        two(near(E4M3, limit=Fraction(448), positive=True), 8),
    ),
    Row(
        "cvt.rn.satfinite.e5m2x2.f16x2 d, a;",
        "16 f16x2",
        lambda a: E5M2.round(F16.value(a >> 16)) << 8 | E5M2.round(F16.value(a & 0xFFFF)),
    ),
    Row("cvt.pack.sat.u16.s32 d, a, b;", "32 32 32", two(lambda x: clamp(s32(x), 0, 0xFFFF), 16)),
    Row(
        "cvt.pack.sat.s8.s32.b32 d, a, b, c;",
        "32 32 32 32",
        lambda a, b, c: (c & 0xFFFF) << 16 | two(lambda x: saturated(s32(x), 8) & 0xFF, 8)(a, b),
    ),
    Row(
        "cvt.pack.sat.u4.s32.b32 d, a, b, c;",
        "32 32 32 32",
        lambda a, b, c: (c & 0xFFFFFF) << 8 | two(lambda x: clamp(s32(x), 0, 15), 4)(a, b),
    ),
]

NEW_FLOATS = [
    Row("add.rn.ftz.f32x2 d, a, b;", "64 f32x2 f32x2", pairs(F32, lambda a, b: a + b)),
    Row("sub.rz.f32x2 d, a, b;", "64 f32x2 f32x2", pairs(F32, lambda a, b: a - b, "rz")),
    Row("mul.rp.f32x2 d, a, b;", "64 f32x2 f32x2", pairs(F32, lambda a, b: a * b, "rp")),
    Row("fma.rm.f32x2 d, a, b, c;", "64 f32x2 f32x2 f32x2", pairs(F32, lambda a, b, c: a * b + c, "rm")),
    Row("max.NaN.abs.f32 d, a, b, c;", "32 f32 f32 f32", on(F32, lambda a, b, c: max(abs(a), abs(b), abs(c)))),
    Row(
        "add.rz.sat.f32.f16 d, a, b;",
        "32 f16 f32",
        lambda a, b: F32.round(unit(F16.value(a) + F32.value(b)), "rz"),
    ),
    Row("add.f32.bf16 d, a, b;", "32 bf16 f32", lambda a, b: F32.round(BF16.value(a) + F32.value(b))),
    Row("sub.rm.f32.bf16 d, a, b;", "32 bf16 f32", lambda a, b: F32.round(BF16.value(a) - F32.value(b), "rm")),
    Row(
        "fma.rn.f32.f16 d, a, b, c;",
        "32 f16 f16 f32",
        lambda a, b, c: F32.round(F16.value(a) * F16.value(b) + F32.value(c)),
    ),
    Row(
        "fma.rp.sat.f32.bf16 d, a, b, c;",
        "32 bf16 bf16 f32",
        lambda a, b, c: F32.round(unit(BF16.value(a) * BF16.value(b) + F32.value(c)), "rp"),
    ),
    Row(
        "{ .reg .b8 x; cvt.rn.satfinite.e2m1x2.f32 x, a, b; cvt.u32.u8 d, x; }",
        "32 f32 f32",
        two(near(E2M1, limit=Fraction(6)), 4),
    ),
    Row("cvt.rn.satfinite.e2m3x2.f32 d, a, b;", "16 f32 f32", two(near(E2M3, limit=Fraction(15, 2)), 8)),
    Row(
        "cvt.rn.satfinite.relu.e3m2x2.f32 d, a, b;",
        "16 f32 f32",
        two(near(E3M2, limit=Fraction(28), positive=True), 8),
    ),
    Row(
        "cvt.rz.satfinite.ue8m0x2.f32 d, a, b;",
        "16 positive positive",
        # The exponent's field: rounding towards zero drops the fraction.
        two(lambda x: x >> 23, 8),
    ),
]

VIDEO = [
    Row("vadd.s32.u32.s32.sat d, a.b0, b.h1;", "32 32 32", lambda a, b: saturated((a & 0xFF) + s16(b >> 16), 32)),
    Row(
        "vsub.u32.s32.s32.sat.add d, a, b, c;",
        "32 32 32 32",
        lambda a, b, c: clamp(s32(a) - s32(b), 0, M32) + c,
    ),
    Row("vmin.s32.s32.s32.max d, a, b.b1, c;", "32 32 32 32", lambda a, b, c: max(min(s32(a), s8(b >> 8)), s32(c))),
    Row("vmax.u32.u32.u32 d, a, b;", "32 32 32", max),
    Row("vshl.s32.u32.u32.clamp d, a, b;", "32 32 n", lambda a, b: a << min(b, 32)),
    Row("vshr.u32.u32.u32.wrap.min d, a, b, c;", "32 32 n 32", lambda a, b, c: min(a >> b % 32, c)),
    Row(
        "vmad.s32.s32.u32.sat.shr15 d, a.h0, b.h1, c;",
        "32 32 32 32",
        lambda a, b, c: saturated((s16(a) * (b >> 16) + s32(c)) >> 15, 32),
    ),
    Row("vset.s32.u32.lt.add d, a, b, c;", "32 32 32 32", lambda a, b, c: (s32(a) < b) + c),
    Row(
        "vadd2.s32.s32.s32.sat d, a, b, c;",
        "32 32 32 32",
        lambda a, b, c: halves(lambda x, y: saturated(s16(x) + s16(y), 16), a, b),
    ),
    Row(
        "vabsdiff4.u32.u32.u32.add d, a, b, c;",
        "32 32 32 32",
        lambda a, b, c: sum(abs(x - y) for x, y in zip(u8s(a), u8s(b), strict=True)) + c,
    ),
    Row(
        "vset4.s32.s32.ne.add d, a, b, c;",
        "32 32 32 32",
        lambda a, b, c: sum(x != y for x, y in zip(u8s(a), u8s(b), strict=True)) + c,
    ),
]

OLD = {
    "forms_integer": INTEGERS,
    "forms_carry": CARRIES,
    "forms_float": FLOATS,
    "forms_half": HALVES,
    "forms_compare": COMPARISONS,
    "forms_convert": CONVERSIONS,
    "forms_video": VIDEO,
}
NEW = {"forms_sm_120": NEW_FLOATS}


def drawn(form, x: int, random: int, bits: int, positive: bool = False) -> int:
    """A single rounded away from zero if its random bits carry out of as many that rounding drops."""
    value = F32.value(x)
    if positive:
        value = relu(value)
    # .satfinite, in formats without infinity; others have room for these values.
    largest = form.value((1 << (form.bits - 1)) - 1)
    value = clamp(value, -largest, largest)
    low, high = form.round(value, "rz"), form.round(value, "rm" if value < 0 else "rp")
    if low == high:
        return low
    below, above = abs(form.value(low)), abs(form.value(high))
    dropped = int((abs(value) - below) / (above - below) * (1 << bits))
    return high if dropped + random % (1 << bits) >= 1 << bits else low


def drawn_pair(form, bits):
    return lambda a, b, r: drawn(form, a, r >> 16, bits) << 16 | drawn(form, b, r & 0xFFFF, bits)


def drawn_four(form, width, positive=False):
    def result(first, second, r):
        high, low = r >> 16, r & 0xFFFF
        if width == 4:
            high, low = high & 0xFF00 | low >> 8, (high & 0xFF) << 8 | low & 0xFF
        word = 0
        for x, random in ((first >> 32, high), (first, high), (second >> 32, low), (second, low)):
            word = word << width | drawn(form, x & 0xFFFFFFFF, random, 16, positive)
        return word

    return result


def four(instruction):
    return f"{{ .reg .f32 v, w, x, y; mov.b64 {{w, v}}, a; mov.b64 {{y, x}}, b; {instruction} d, {{v, w, x, y}}, c; }}"


RANDOM = {
    "forms_sm_100": [
        Row("cvt.rs.f16x2.f32 d, a, b, c;", "32 f32 f32 32", drawn_pair(F16, 13)),
        Row("cvt.rs.satfinite.bf16x2.f32 d, a, b, c;", "32 f32 f32 32", drawn_pair(BF16, 16)),
        Row(four("cvt.rs.satfinite.e4m3x4.f32"), "32 f32x2 f32x2 32", drawn_four(E4M3, 8)),
        Row(four("cvt.rs.relu.satfinite.e5m2x4.f32"), "32 f32x2 f32x2 32", drawn_four(E5M2, 8, True)),
        Row(four("cvt.rs.satfinite.e2m3x4.f32"), "32 f32x2 f32x2 32", drawn_four(E2M3, 8)),
        Row(four("cvt.rs.satfinite.e3m2x4.f32"), "32 f32x2 f32x2 32", drawn_four(E3M2, 8)),
        Row(four("cvt.rs.satfinite.e2m1x4.f32"), "16 f32x2 f32x2 32", drawn_four(E2M1, 4)),
    ]
}


def register(groups: dict, name: str, targets: str) -> None:
    instructions = sorted({row.ptx.split()[0] for row in groups[name] if row.ptx[0] != "{"})
    families = sorted({i.split(".")[0] for i in instructions})

    @kernel(targets, f"{len(groups[name])} single forms of {', '.join(families)}", name=name)
    def launches(rng, target):
        return forms_build.launch(groups, name, target, rng)


for group in OLD:
    register(OLD, group, "sm_90a sm_120a")
register(NEW, "forms_sm_120", "sm_120a")
register(RANDOM, "forms_sm_100", "sm_100a")
