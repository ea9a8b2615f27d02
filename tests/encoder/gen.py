"""Writes modules that hold every operation, with the encoder of the cuda-tile package.

Usage: gen.py OUTDIR. One file per bytecode version; each operation in its simplest and its fullest form.
"""
import enum
import struct
import sys
from contextlib import contextmanager
from pathlib import Path

from cuda.tile import _bytecode as bc
from cuda.tile._bytecode import encodings as e
from cuda.tile._bytecode import writer
from cuda.tile._bytecode.attribute import (Bool, Bounded, Dictionary, DivBy, EntryHints, Float,
                                           Integer, LoadStoreHints, make_load_store_hints)
from cuda.tile._bytecode.type import I32_TYPE_ID, SimpleType as S
from cuda.tile._bytecode.type_base import PaddingValue as P, PtrAttr
from cuda.tile._bytecode.version import BytecodeVersion as V
from cuda.tile._bytecode.writer import write_bytecode

DYN = -(1 << 63)


class PtrKind(enum.Enum):
    """Attributes of pointers; the encoder's own enumeration has the first alone."""
    NONE = b"\x00"
    UNICAST = b"\x01"
    MULTICAST = b"\x02"


MULTICAST = PtrKind.MULTICAST
R, O = e.RoundingMode, e.IntegerOverflow
SG, US = e.Signedness.Signed, e.Signedness.Unsigned


def i32s(*v):
    return struct.pack(f"<{len(v)}i", *v)


def f32s(*v):
    return struct.pack(f"<{len(v)}f", *v)


class Kernel:
    """Types and values that many operations share."""

    def __init__(self, w, builder, params):
        self.w, self.b, self.v = w, builder, w.version
        t = self.t = w.type_table
        self.params = params
        self.i1 = t.tile(t.I1, ())
        self.i32 = t.tile(t.I32, ())
        self.token = t.Token
        s = t.simple
        self.f32x = t.tile(s(S.F32), (8, 4))
        self.f16x = t.tile(s(S.F16), (8, 4))
        self.f64x = t.tile(s(S.F64), (8, 4))
        self.bf16x = t.tile(s(S.BF16), (8, 4))
        self.i32x = t.tile(t.I32, (8, 4))
        self.i8x = t.tile(s(S.I8), (8, 4))
        self.i64x = t.tile(s(S.I64), (8, 4))
        self.i16x = t.tile(s(S.I16), (8, 4))
        self.i1x = t.tile(t.I1, (8, 4))
        self.ptrx = t.tile(self.pointer(s(S.F32)), (8, 4))
        self.ptr8x = t.tile(self.pointer(s(S.I8)), (8, 4))
        b = self.b
        self.a = e.encode_ConstantOp(b, self.f32x, f32s(1.5))
        self.c = e.encode_ConstantOp(b, self.f32x, f32s(*[i / 7 for i in range(32)]))
        self.h = e.encode_ConstantOp(b, self.f16x, b"\x00\x3c")
        self.d = e.encode_ConstantOp(b, self.f64x, struct.pack("<d", 0.1))
        self.i = e.encode_ConstantOp(b, self.i32x, i32s(-3))
        self.j = e.encode_ConstantOp(b, self.i32x, i32s(*range(32)))
        self.m = e.encode_ConstantOp(b, self.i1x, b"\xff")
        self.m2 = e.encode_ConstantOp(b, self.i1x, b"\x05\x0a\xf0\x01")
        self.s0 = e.encode_ConstantOp(b, self.i32, i32s(0))
        self.s1 = e.encode_ConstantOp(b, self.i32, i32s(1))
        self.s8 = e.encode_ConstantOp(b, self.i32, i32s(8))
        self.cond = e.encode_ConstantOp(b, self.i1, b"\xff")

    def pointer(self, ty):
        return self.t.pointer(ty, PtrAttr.Missing)

    def view_type(self, elem, shape, strides):
        return self.t.tensor_view(elem, shape, strides, PtrAttr.Missing)


def floats(k):
    b, a, c, t = k.b, k.a, k.c, k.f32x
    e.encode_AbsFOp(b, t, a)
    for r in (R.NEAREST_EVEN, R.ZERO, R.NEGATIVE_INF, R.POSITIVE_INF):
        e.encode_AddFOp(b, t, a, c, r, False)
    e.encode_AddFOp(b, t, a, c, R.NEAREST_EVEN, True)
    e.encode_SubFOp(b, t, a, c, R.ZERO, True)
    e.encode_MulFOp(b, t, a, c, R.NEAREST_EVEN, False)
    e.encode_MulFOp(b, t, a, c, R.POSITIVE_INF, True)
    for r in (R.NEAREST_EVEN, R.ZERO, R.APPROX, R.FULL):
        e.encode_DivFOp(b, t, a, c, r, False)
    e.encode_DivFOp(b, t, a, c, R.FULL, True)
    e.encode_FmaOp(b, t, a, c, a, R.NEAREST_EVEN, False)
    e.encode_FmaOp(b, t, a, c, a, R.ZERO, True)
    for op in (e.encode_CeilOp, e.encode_CosOp, e.encode_CosHOp, e.encode_FloorOp, e.encode_LogOp,
               e.encode_Log2Op, e.encode_NegFOp, e.encode_SinOp, e.encode_SinHOp, e.encode_TanOp):
        op(b, t, a)
    for ftz in (False, True):
        e.encode_Exp2Op(b, t, a, ftz)
        e.encode_RsqrtOp(b, t, a, ftz)
        for nan in (False, True):
            e.encode_MaxFOp(b, t, a, c, nan, ftz)
            e.encode_MinFOp(b, t, a, c, nan, ftz)
    e.encode_ExpOp(b, t, a, R.FULL)
    e.encode_TanHOp(b, t, a, R.FULL)
    if k.v >= V.V_13_3:
        e.encode_ExpOp(b, t, a, R.APPROX)
    if k.v >= V.V_13_2:
        e.encode_TanHOp(b, t, a, R.APPROX)
        e.encode_Atan2Op(b, t, a, c)
    e.encode_SqrtOp(b, t, a, R.NEAREST_EVEN, False)
    e.encode_SqrtOp(b, t, a, R.APPROX, True)
    e.encode_FPowFOp(b, t, a, c)
    if k.v >= V.V_13_4:
        e.encode_FPowIOp(b, t, a, k.i)
    e.encode_RemFOp(b, t, a, c)
    for p in e.ComparisonPredicate:
        e.encode_CmpFOp(b, k.i1x, a, c, p, e.ComparisonOrdering.ORDERED)
    e.encode_CmpFOp(b, k.i1x, a, c, e.ComparisonPredicate.EQUAL, e.ComparisonOrdering.UNORDERED)


def integers(k):
    b, i, j, t = k.b, k.i, k.j, k.i32x
    e.encode_AbsIOp(b, t, i)
    for o in O:
        e.encode_AddIOp(b, t, i, j, o)
        e.encode_SubIOp(b, t, i, j, o)
        e.encode_MulIOp(b, t, i, j, o)
        e.encode_ShLIOp(b, t, i, j, o)
        e.encode_TruncIOp(b, k.i8x, i, o)
    e.encode_NegIOp(b, t, i, O.NONE)
    if k.v >= V.V_13_2:
        e.encode_NegIOp(b, t, i, O.NSW)
    for op in (e.encode_AndIOp, e.encode_OrIOp, e.encode_XOrIOp, e.encode_MulhiIOp):
        op(b, t, i, j)
    for s in (SG, US):
        for r in (R.ZERO, R.NEGATIVE_INF, R.POSITIVE_INF):
            if s == SG or r != R.NEGATIVE_INF:
                e.encode_DivIOp(b, t, i, j, s, r)
        for op in (e.encode_RemIOp, e.encode_MaxIOp, e.encode_MinIOp, e.encode_ShRIOp):
            op(b, t, i, j, s)
        e.encode_ExtIOp(b, k.i64x, i, s)
        e.encode_IToFOp(b, k.f32x, i, s, R.NEAREST_EVEN)
        e.encode_IToFOp(b, k.f16x, i, s, R.NEAREST_EVEN)
        e.encode_FToIOp(b, t, k.a, s, R.NEAREST_INT_TO_ZERO, False)
        if k.v >= V.V_13_4:
            e.encode_FToIOp(b, t, k.a, s, R.NEAREST_INT_TO_ZERO, True)
        e.encode_CmpIOp(b, k.i1x, i, j, e.ComparisonPredicate.LESS_THAN, s)
    e.encode_FToFOp(b, k.f16x, k.a, R.NEAREST_EVEN)
    e.encode_FToFOp(b, k.f64x, k.a, R.NEAREST_EVEN)
    e.encode_BitcastOp(b, t, k.a)


def shapes(k):
    b, t = k.b, k.t
    f32 = t.F32
    e.encode_ReshapeOp(b, t.tile(f32, (4, 8)), k.a)
    one = e.encode_ReshapeOp(b, t.tile(f32, (32, 1)), k.a)
    e.encode_BroadcastOp(b, t.tile(f32, (32, 16)), one)
    e.encode_CatOp(b, t.tile(f32, (16, 4)), k.a, k.c, 0)
    e.encode_CatOp(b, t.tile(f32, (8, 8)), k.a, k.c, 1)
    e.encode_ExtractOp(b, t.tile(f32, (4, 2)), k.a, (k.s0, k.s1))
    e.encode_PermuteOp(b, t.tile(f32, (4, 8)), k.a, (1, 0))
    e.encode_SelectOp(b, k.f32x, k.m, k.a, k.c)
    e.encode_IotaOp(b, t.tile(t.I32, (64,)))
    if k.v >= V.V_13_4:
        small = e.encode_ExtractOp(b, t.tile(f32, (4, 2)), k.a, (k.s0, k.s1))
        e.encode_InsertOp(b, k.f32x, small, k.a, (k.s1, k.s0))
    if k.v >= V.V_13_3:
        flat = e.encode_ReshapeOp(b, t.tile(f32, (32,)), k.a)
        packed = e.encode_PackOp(b, t.tile(t.simple(S.I8), (128,)), flat)
        e.encode_UnpackOp(b, t.tile(t.simple(S.F4E2M1FN), (256,)), packed)
    # A combination with two tiles, and one with an integer.
    r = t.tile(f32, (4,))
    ri = t.tile(t.I32, (4,))
    ids = (Float(0.0, S.F32, t), Float(float("-inf"), S.F32, t))
    nb = e.encode_ReduceOp(b, (r, r), (k.a, k.c), 0, ids)
    f = t.tile(f32, ())
    with nb.new_block((f, f, f, f)) as args:
        x = e.encode_AddFOp(b, f, args[0], args[1], R.NEAREST_EVEN, False)
        y = e.encode_MaxFOp(b, f, args[2], args[3], False, False)
        e.encode_YieldOp(b, (x, y))
    nb.done()
    nb = e.encode_ReduceOp(b, (ri,), (k.i,), 0, (Integer(I32_TYPE_ID, 32, -5),))
    with nb.new_block((k.i32, k.i32)) as args:
        e.encode_YieldOp(b, (e.encode_AddIOp(b, k.i32, args[0], args[1], O.NONE),))
    nb.done()
    for reverse in (False, True):
        nb = e.encode_ScanOp(b, (k.f32x,), (k.a,), 1, reverse, (Float(0.1, S.F32, t),))
        with nb.new_block((f, f)) as args:
            e.encode_YieldOp(b, (e.encode_MulFOp(b, f, args[0], args[1], R.NEAREST_EVEN, False),))
        nb.done()


def matrices(k):
    b, t, s = k.b, k.t, k.t.simple
    def zero(elem, shape, width):
        ty = t.tile(elem, shape)
        return e.encode_ConstantOp(b, ty, b"\0" * width)
    for elem, width in ((S.F16, 2), (S.BF16, 2), (S.TF32, 3), (S.F32, 4), (S.F64, 8), (S.F8E4M3FN, 1)):
        x, y = zero(s(elem), (16, 32), width), zero(s(elem), (32, 8), width)
        acc_elem, acc_width = (S.F64, 8) if elem == S.F64 else (S.F32, 4)
        acc = zero(s(acc_elem), (16, 8), acc_width)
        e.encode_MmaFOp(b, t.tile(s(acc_elem), (16, 8)), x, y, acc, False)
        if k.v >= V.V_13_3 and elem == S.F8E4M3FN:
            e.encode_MmaFOp(b, t.tile(s(acc_elem), (16, 8)), x, y, acc, True)
    x, y = zero(s(S.I8), (2, 16, 32), 1), zero(s(S.I8), (2, 32, 8), 1)
    e.encode_MmaIOp(b, t.tile(t.I32, (2, 16, 8)), x, y, zero(t.I32, (2, 16, 8), 4), SG, US)
    if k.v >= V.V_13_3:
        x, y = zero(s(S.F8E4M3FN), (16, 64), 1), zero(s(S.F8E4M3FN), (64, 8), 1)
        sx, sy = zero(s(S.F8E8M0FNU), (16, 2), 1), zero(s(S.F8E8M0FNU), (2, 8), 1)
        e.encode_MmaFScaledOp(b, t.tile(t.F32, (16, 8)), x, y, zero(t.F32, (16, 8), 4), sx, sy)


def memory(k):
    b, t, v = k.b, k.t, k.v
    sem, scope = e.MemoryOrderingSemantics, e.MemoryScope
    token = e.encode_MakeTokenOp(b, k.token)
    base = k.params[0]
    p = e.encode_ReshapeOp(b, t.tile(k.pointer(t.F32), (1, 1)), base)
    p = e.encode_BroadcastOp(b, k.ptrx, p)
    p = e.encode_OffsetOp(b, k.ptrx, p, k.j)
    hints = make_load_store_hints({"sm_90": LoadStoreHints(latency=4)})
    view_hints = make_load_store_hints({"sm_90": LoadStoreHints(latency=4, allow_tma=False)})
    x, t1 = e.encode_LoadPtrTkoOp(b, k.f32x, k.token, p, None, None, None, sem.WEAK, None, None)
    x, t2 = e.encode_LoadPtrTkoOp(b, k.f32x, k.token, p, k.m, None, token, sem.RELAXED, scope.DEVICE, None)
    x, t3 = e.encode_LoadPtrTkoOp(b, k.f32x, k.token, p, k.m, k.a, token, sem.ACQUIRE, scope.SYS, hints)
    e.encode_StorePtrTkoOp(b, k.token, p, x, None, None, sem.WEAK, None, None)
    e.encode_StorePtrTkoOp(b, k.token, p, x, k.m, t3, sem.RELEASE, scope.TL_BLK, hints)
    e.encode_JoinTokensOp(b, k.token, (token, t1, t2))
    pi = e.encode_PtrToIntOp(b, k.i64x, p)
    e.encode_IntToPtrOp(b, k.ptrx, pi)
    ptr_i = t.tile(k.pointer(t.I32), (8, 4))
    pi = e.encode_PtrToPtrOp(b, ptr_i, p)
    for mode in (e.AtomicRMWMode.AND, e.AtomicRMWMode.ADD, e.AtomicRMWMode.UMAX, e.AtomicRMWMode.XCHG):
        e.encode_AtomicRMWTkoOp(b, k.i32x, k.token, pi, k.i, None, None, sem.RELAXED, scope.DEVICE, mode)
    e.encode_AtomicRMWTkoOp(b, k.f32x, k.token, p, k.a, k.m, token, sem.ACQ_REL, scope.SYS,
                            e.AtomicRMWMode.ADDF)
    e.encode_AtomicCASTkoOp(b, k.i32x, k.token, pi, k.i, k.j, None, None, sem.RELAXED, scope.DEVICE)
    e.encode_AtomicCASTkoOp(b, k.i32x, k.token, pi, k.i, k.j, k.m, token, sem.ACQUIRE, scope.TL_BLK)
    n, m = k.params[1], k.params[2]
    static = k.view_type(t.F32, (64, 32), (32, 1))
    dynamic = k.view_type(t.F32, (DYN, 32), (DYN, 1))
    sv = e.encode_MakeTensorViewOp(b, static, base, (), ())
    dv = e.encode_MakeTensorViewOp(b, dynamic, base, (n,), (m,))
    zero_d = e.encode_MakeTensorViewOp(b, k.view_type(t.F32, (), ()), base, (), ())
    e.encode_GetTensorShapeOp(b, (k.i32, k.i32), dv)
    e.encode_AssumeOp(b, dynamic, dv, DivBy(16))
    e.encode_AssumeOp(b, k.i32x, k.i, DivBy(4, 2, 1))
    e.encode_AssumeOp(b, k.i32x, k.i, Bounded(None, None))
    e.encode_AssumeOp(b, k.i32x, k.i, Bounded(-4, 99))
    e.encode_AssumeOp(b, k.i32x, k.i, Bounded(None, 7))
    for view_ty in (t.partition_view((8, 4), dynamic, (0, 1), P.Missing),
                    t.partition_view((8, 4), dynamic, (1, 0), P.Zero),
                    t.partition_view((8, 4), static, (0, 1), P.NegInf)):
        source = sv if view_ty is static or view_ty.type_id == t.partition_view(
            (8, 4), static, (0, 1), P.NegInf).type_id else dv
        pv = e.encode_MakePartitionViewOp(b, view_ty, source)
        e.encode_GetIndexSpaceShapeOp(b, (k.i32, k.i32), pv)
        views(k, pv, (k.s0, k.s1), k.f32x, token, view_hints)
    if v >= V.V_13_3:
        st = t.strided_view((8, 4), (2, 3), dynamic, (0, 1), P.Nan)
        views(k, e.encode_MakeStridedViewOp(b, st, dv), (k.s0, k.s1), k.f32x, token, None)
        st = t.strided_view((8, 4), (2, 3), dynamic, (1, 0), P.Missing)
        views(k, e.encode_MakeStridedViewOp(b, st, dv), (k.s0, k.s1), k.f32x, token, None)
        gs = t.gather_scatter_view((8, 4), dynamic, 0, P.Zero)
        rows = e.encode_IotaOp(b, t.tile(t.I32, (8,)))
        views(k, e.encode_MakeGatherScatterViewOp(b, gs, dv), (rows, k.s1), k.f32x, token, None, False)
        gs = t.gather_scatter_view((8, 4), dynamic, 1, P.Missing)
        rows = e.encode_IotaOp(b, t.tile(t.I32, (4,)))
        views(k, e.encode_MakeGatherScatterViewOp(b, gs, dv), (k.s0, rows), k.f32x, token, None, False)
        scalar = t.tile(k.pointer(t.F32), ())
        e.encode_AllocaOp(b, scalar, 256, 16, False)
        e.encode_AllocaOp(b, scalar, 64, 128, True)
    if v >= V.V_13_2:
        e.encode_PrintTkoOp(b, k.token, (), None, "hello\n")
        e.encode_PrintTkoOp(b, k.token, (k.i, k.a), token, "%d \"%f\"\t\\\n")
    else:
        e.encode_PrintTkoOp(b, None, (k.i,), None, "%d")
    e.encode_AssertOp(b, k.m2, "must \"hold\"")
    if v >= V.V_13_4:
        e.encode_GdcWaitTkoOp(b, k.token, None)
        e.encode_GdcWaitTkoOp(b, k.token, token)
        e.encode_GdcLaunchDependentsTkoOp(b, k.token, None)
        e.encode_GdcLaunchDependentsTkoOp(b, k.token, token)
        e.encode_MemoryFenceAliasTkoOp(b, k.token, token)


def views(k, view, index, tile_ty, token, hints, reducible=True):
    b, v = k.b, k.v
    sem, scope = e.MemoryOrderingSemantics, e.MemoryScope
    no = (False,) * len(index)
    x, _ = e.encode_LoadViewTkoOp(b, tile_ty, k.token, view, index, None, sem.WEAK, None, None, no)
    e.encode_LoadViewTkoOp(b, tile_ty, k.token, view, index, token, sem.ACQUIRE, scope.DEVICE, hints, no)
    e.encode_StoreViewTkoOp(b, k.token, x, view, index, None, sem.WEAK, None, None, no)
    e.encode_StoreViewTkoOp(b, k.token, x, view, index, token, sem.RELEASE, scope.SYS, hints, no)
    if v >= V.V_13_4:
        yes = (True, False)
        e.encode_LoadViewTkoOp(b, tile_ty, k.token, view, index, token, sem.WEAK, None, hints, yes)
        e.encode_StoreViewTkoOp(b, k.token, x, view, index, token, sem.WEAK, None, None, (True, True))
    if not reducible:
        return
    if v >= V.V_13_3:
        e.encode_AtomicRedViewTkoOp(b, k.token, view, index, x, None, sem.RELAXED, scope.DEVICE,
                                    e.AtomicRMWMode.ADDF, no)
        e.encode_AtomicRedViewTkoOp(b, k.token, view, index, x, token, sem.RELAXED, scope.TL_BLK,
                                    e.AtomicRMWMode.ADDF, no)
    if v >= V.V_13_5:
        e.encode_AtomicRedViewTkoOp(b, k.token, view, index, x, token, sem.RELAXED, scope.DEVICE,
                                    e.AtomicRMWMode.ADDF, (False, True))


def multimem(k):
    """13.5 only."""
    b, t = k.b, k.t
    sem, scope, red = e.MemoryOrderingSemantics, e.MemoryScope, e.MultimemReductionKind
    token = e.encode_MakeTokenOp(b, k.token)
    ty = t.tensor_view(t.F32, (64, 32), (32, 1), MULTICAST)
    tv = e.encode_MakeTensorViewOp(b, ty, k.params[3], (), ())
    pv = e.encode_MakePartitionViewOp(b, t.partition_view((8, 4), ty, (0, 1), P.Missing), tv)
    index, no = (k.s0, k.s1), (False, False)
    e.encode_MultimemLoadReduceViewTkoOp(b, k.f32x, k.token, pv, index, None, sem.WEAK, None, red.ADD, no)
    e.encode_MultimemLoadReduceViewTkoOp(b, k.f32x, k.token, pv, index, token, sem.RELAXED, scope.SYS,
                                         red.ADD, (True, False))
    e.encode_MultimemReduceViewTkoOp(b, k.token, pv, k.a, index, None, sem.RELAXED, scope.SYS, red.ADD, no)
    e.encode_MultimemReduceViewTkoOp(b, k.token, pv, k.a, index, token, sem.RELAXED, scope.SYS, red.ADD,
                                     (True, True))
    e.encode_MultimemStoreViewTkoOp(b, k.token, pv, k.a, index, None, sem.WEAK, None, no)
    e.encode_MultimemStoreViewTkoOp(b, k.token, pv, k.a, index, token, sem.RELAXED, scope.SYS, (True, False))


def rare(k):
    """Cases of attributes and types that cuTile kernels never have."""
    b, t, v = k.b, k.t, k.v
    sem, scope = e.MemoryOrderingSemantics, e.MemoryScope
    if v >= V.V_13_2:
        e.encode_NegIOp(b, k.i32x, k.i, O.NW)
    token = e.encode_MakeTokenOp(b, k.token)
    base, n, m = k.params[:3]
    dynamic, static = ((DYN, 32), (DYN, 1)), ((64, 32), (32, 1))
    tensor = k.view_type(t.F32, *dynamic)
    source = e.encode_MakeTensorViewOp(b, tensor, base, (n,), (m,))
    view = e.encode_MakePartitionViewOp(b, t.partition_view((8, 4), tensor, (0, 1), P.Missing), source)
    index, no = (k.s0, k.s1), (False, False)
    e.encode_LoadViewTkoOp(b, k.f32x, k.token, view, index, token, sem.RELAXED, scope.TL_BLK, None, no)
    e.encode_StoreViewTkoOp(b, k.token, k.a, view, index, token, sem.RELAXED, scope.TL_BLK, None, no)
    if v >= V.V_13_3:
        rows = e.encode_IotaOp(b, t.tile(t.I32, (8,)))
        for padding in (P.Zero, P.NegZero, P.Nan, P.PosInf, P.NegInf, P.Missing):
            strided = t.strided_view((8, 4), (2, 3), tensor, (0, 1), padding)
            view = e.encode_MakeStridedViewOp(b, strided, source)
            e.encode_LoadViewTkoOp(b, k.f32x, k.token, view, index, None, sem.WEAK, None, None, no)
            sparse = t.gather_scatter_view((8, 4), tensor, 0, padding)
            view = e.encode_MakeGatherScatterViewOp(b, sparse, source)
            e.encode_LoadViewTkoOp(b, k.f32x, k.token, view, (rows, k.s1), None, sem.WEAK, None, None, no)
    if v >= V.V_13_5:
        e.encode_FToFOp(b, k.t.tile(t.simple(S.TF32), (8, 4)), k.a, R.NEAREST_AWAY)
        for mode in (R.ZERO, R.NEGATIVE_INF, R.POSITIVE_INF):
            e.encode_FToFOp(b, k.f32x, k.d, mode)
        several(k, index, token)
        # Each parameter is a pointer of its kind: the view has the same.
        for kind, pointer in zip(PtrKind, k.params[4:], strict=True):
            for shape, given in ((dynamic, ((n,), (m,))), (static, ((), ()))):
                e.encode_MakeTensorViewOp(b, t.tensor_view(t.F32, *shape, kind), pointer, *given)


def several(k, index, token):
    """Orderings and scopes of multimem operations; 13.5 only."""
    b, t = k.b, k.t
    sem, scope, red = e.MemoryOrderingSemantics, e.MemoryScope, e.MultimemReductionKind
    ty = t.tensor_view(t.F32, (64, 32), (32, 1), MULTICAST)
    tv = e.encode_MakeTensorViewOp(b, ty, k.params[3], (), ())
    pv = e.encode_MakePartitionViewOp(b, t.partition_view((8, 4), ty, (0, 1), P.Missing), tv)
    no = (False, False)
    for where in scope:
        for order in (sem.RELAXED, sem.ACQUIRE):
            e.encode_MultimemLoadReduceViewTkoOp(b, k.f32x, k.token, pv, index, token, order, where, red.ADD, no)
        for order in (sem.RELAXED, sem.RELEASE):
            e.encode_MultimemReduceViewTkoOp(b, k.token, pv, k.a, index, token, order, where, red.ADD, no)
            e.encode_MultimemStoreViewTkoOp(b, k.token, pv, k.a, index, token, order, where, no)


@contextmanager
def argument_attributes(part, count):
    """The writer gives every function an empty array of them; in `rare` each argument has one."""
    usual = writer.AttributeArray

    def given(_):
        return usual([Dictionary([("rare.position", Integer(I32_TYPE_ID, 32, i))]) for i in range(count)])

    if part == "rare":
        writer.AttributeArray = given
    try:
        yield
    finally:
        writer.AttributeArray = usual


def control(k):
    b, t = k.b, k.t
    e.encode_GetTileBlockIdOp(b, k.i32, k.i32, k.i32)
    e.encode_GetNumTileBlocksOp(b, k.i32, k.i32, k.i32)
    nb = e.encode_ForOp(b, (), k.s0, k.s8, k.s1, (), False)
    with nb.new_block((k.i32,)) as _:
        e.encode_ContinueOp(b, ())
    nb.done()
    unsigned = k.v >= V.V_13_2
    nb = e.encode_ForOp(b, (k.f32x, k.i32), k.s0, k.s8, k.s1, (k.a, k.s0), unsigned)
    with nb.new_block((k.i32, k.f32x, k.i32)) as (i, x, y):
        c = e.encode_CmpIOp(b, k.i1, i, y, e.ComparisonPredicate.EQUAL, SG)
        inner = e.encode_IfOp(b, (), c)
        with inner.new_block(()):
            e.encode_ContinueOp(b, (x, y))
        with inner.new_block(()):
            e.encode_YieldOp(b, ())
        inner.done()
        z = e.encode_AddIOp(b, k.i32, i, y, O.NONE)
        e.encode_ContinueOp(b, (x, z))
    nb.done()
    nb = e.encode_LoopOp(b, (), ())
    with nb.new_block(()):
        inner = e.encode_IfOp(b, (), k.cond)
        with inner.new_block(()):
            e.encode_BreakOp(b, ())
        with inner.new_block(()):
            e.encode_YieldOp(b, ())
        inner.done()
        e.encode_ContinueOp(b, ())
    nb.done()
    nb = e.encode_LoopOp(b, (k.f32x,), (k.s0, k.a))
    with nb.new_block((k.i32, k.f32x)) as (i, x):
        inner = e.encode_IfOp(b, (k.i32,), k.cond)
        with inner.new_block(()):
            e.encode_BreakOp(b, (x,))
        with inner.new_block(()):
            e.encode_YieldOp(b, (i,))
        (n,) = inner.done()
        e.encode_ContinueOp(b, (n, x))
    nb.done()
    nb = e.encode_LoopOp(b, (k.i32,), ())
    with nb.new_block(()):
        e.encode_BreakOp(b, (k.s1,))
    nb.done()
    nb = e.encode_IfOp(b, (k.f32x, k.i32), k.cond)
    with nb.new_block(()):
        e.encode_YieldOp(b, (k.a, k.s0))
    with nb.new_block(()):
        e.encode_YieldOp(b, (k.c, k.s1))
    nb.done()
    nb = e.encode_IfOp(b, (), k.cond)
    with nb.new_block(()):
        e.encode_ReturnOp(b, ())
    with nb.new_block(()):
        e.encode_AssertOp(b, k.cond, "else")
        e.encode_YieldOp(b, ())
    nb.done()


def constants(k):
    """Constants of every element type, splat and listed; special values."""
    b, t, s = k.b, k.t, k.t.simple
    for elem, values in ((S.I8, (0, 127, 0x80, 0xFF)), (S.I16, (0, 1, 0x7FFF, 0x8000)),
                         (S.I64, (0, 1, (1 << 63) - 1, 1 << 63)),
                         (S.F16, (0x3C00, 0x7C00, 0xFC00, 0x7E01)), (S.BF16, (0x3F80, 0x3DCD, 0x7F80, 1)),
                         (S.F64, (0x3FB999999999999A, 0x7FF0000000000000, 1, 0x4005BF0A8B145769)),
                         (S.F8E4M3FN, (0x38, 0x7F, 0xFE, 1)), (S.F8E5M2, (0x3C, 0x7C, 0xFC, 1)),
                         (S.F32, (0x3DCCCCCD, 0x7F800000, 0x7FC00000, 0x00000001))):
        width = {S.I8: 1, S.I16: 2, S.I64: 8, S.F16: 2, S.BF16: 2, S.F64: 8, S.F8E4M3FN: 1, S.F8E5M2: 1,
                 S.F32: 4}[elem]
        raw = [v.to_bytes(width, "little") for v in values]
        e.encode_ConstantOp(b, t.tile(s(elem), (4,)), b"".join(raw))
        e.encode_ConstantOp(b, t.tile(s(elem), (2, 2)), b"".join(raw))
        for r in raw:
            e.encode_ConstantOp(b, t.tile(s(elem), ()), r)
        e.encode_ConstantOp(b, t.tile(s(elem), (1,)), raw[0])
    e.encode_ConstantOp(b, t.tile(s(S.TF32), (2,)), bytes((0, 0xFC, 1, 0x66, 0xEE, 1)))
    if k.v >= V.V_13_2:
        e.encode_ConstantOp(b, t.tile(s(S.F8E8M0FNU), (4,)), bytes((0, 127, 254, 255)))
    if k.v >= V.V_13_3:
        e.encode_ConstantOp(b, t.tile(s(S.F4E2M1FN), (4,)), bytes((0, 1, 7, 15)))
    if k.v >= V.V_13_4:
        e.encode_ConstantOp(b, t.tile(s(S.FNV8E5M3FNU), (4,)), bytes((0, 1, 0x78, 255)))


PARTS = dict(floats=floats, integers=integers, shapes=shapes, matrices=matrices, memory=memory,
             control=control, constants=constants, multimem=multimem, rare=rare)


def write(version, part, path):
    buf = bytearray()
    with write_bytecode(1, buf, version) as w:
        t = w.type_table
        if part == "globals":
            define_globals(w)
        params = [t.tile(t.pointer(t.F32, PtrAttr.Missing), ()), t.tile(t.I32, ()), t.tile(t.I32, ())]
        if version >= V.V_13_4:
            attr = MULTICAST if version >= V.V_13_5 else PtrAttr.Default
            params.append(t.tile(t.pointer(t.F32, attr), ()))
        if part == "rare" and version >= V.V_13_5:
            params += [t.tile(t.pointer(t.F32, kind), ()) for kind in PtrKind]
        hints = {"sm_90": EntryHints(num_cta_in_cga=2, occupancy=3)} if part == "control" else {}
        with (argument_attributes(part, len(params)),
              w.function(part, params, (), True, hints, debug_info(w, part)) as fb):
            k = Kernel(w, fb.code_builder, fb.parameters)
            if part == "globals":
                locations(k)
            else:
                PARTS[part](k)
            e.encode_ReturnOp(k.b, ())
    path.write_bytes(buf)


def debug_info(w, part):
    """Debug attributes of every kind, for one of the files."""
    if part != "globals":
        return bc.DebugAttrId(0)
    d = w.debug_attr_table
    f = d.file("kernel.py", "/src")
    scope = d.subprogram(f, 10, "kernel", "globals", d.compile_unit(f), 11)
    return d.loc(scope, "kernel.py", 10, 1)


def locations(k):
    b, t, d = k.b, k.t, k.w.debug_attr_table
    f = d.file("kernel.py", "/src")
    scope = d.subprogram(f, 10, "kernel", "globals", d.compile_unit(f), 11)
    inner = d.lexical_block(scope, f, 12, 5)
    here = d.loc(inner, "kernel.py", 13, 9)
    helper = d.loc(d.subprogram(f, 30, "helper", "helper", d.compile_unit(f), 30), "kernel.py", 31, 2)
    scalar = t.tile(t.pointer(t.F32, PtrAttr.Missing), ())
    with b.debug_attr(here):
        e.encode_GetGlobalOp(b, scalar, "table")
    with b.debug_attr(d.call_site(helper, here)):
        e.encode_GetGlobalOp(b, scalar, "table")


def define_globals(w):
    t = w.type_table
    g = w.global_section
    g.define_global("table", t.tile(t.F32, (4,)), f32s(1, 2, 3, 0.1), 16)
    if w.version >= V.V_13_3:
        g.define_global("ro", t.tile(t.I32, (2,)), i32s(7), 0, True, e.SymbolVisibility.Private)


def main():
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for version in V:
        for part in (*PARTS, "globals"):
            if part == "multimem" and version < V.V_13_5:
                continue
            write(version, part, out / f"{part}_{version.major()}_{version.minor()}.tilebc")


if __name__ == "__main__":
    main()
