//! `nvvm`: one thread's program. Values are scalars or register arrays (`Type::Regs`).
//!
//! Conventions, checked by the verifier:
//! * Elementwise operations take operands of one register count; a scalar is widened by `splat`.
//! * A memory operation makes `n / vec` accesses, where `n` is the element count of the value and
//!   `vec` the elements per access. Access `j` goes to `addr[j] + offsets[j]` bytes; `addr` may be
//!   a scalar, then every access shares it. `offsets` has one entry per access. A mask has one
//!   i1 per access (or is a scalar); masked-off elements of a load take their value from `other`.
//! * Addresses: `!ptr` (64-bit, global) or `!shared_ptr` (32-bit, shared).
//! * Control flow is structured: `for`, `if`, `loop` with `yield`, `continue`, `break`.

use super::ResultType::{BoolLike, Explicit, Operand};
use super::declare::dialect_table;
use super::enums::{
    Cache, FenceKind, MapField, NanOrder, Ordering, Predicate, Reduction, RmwMode, Rounding, Scope,
    Shuffle, Space, SpecialRegister, TensorKind, TensorMove, WarpReduction,
};
use super::meaning::{
    Meaning,
    Meaning::{
        Advance, Float1, Float2, Float2ByNan, FloatCompare, FloatToFloat, FloatToInt, Int1, Int2,
        IntCompare, IntToFloat, Integral, Math1, Narrow, Reciprocal, Widen,
    },
    Nan, Saturate, Sign, Unit,
};
use super::parts::{Bool, Dense, Flag, Group, I32s, I64s, Int, One, Opt, Str, Ty, Var};
use super::{
    AttrDef, AttrKind, OpDef, OperandDef, RegionDef, ResultDef, Traits, attr, enums, modes, one,
    op, result,
};

use crate::scalar::Signedness::{self, Signed, Unsigned};
use crate::scalar::int::IntRounding;
use crate::scalar::{FloatBinary, FloatUnary, IntBinary, IntUnary, MathUnary};

const PURE: Traits = Traits::PURE;
const ELEMENTWISE: Traits = Traits::PURE.or(Traits::ELEMENTWISE);
const COMMUTATIVE: Traits = ELEMENTWISE.or(Traits::COMMUTATIVE);
const TERMINATOR: Traits = Traits::TERMINATOR;

/// An elementwise row: one result of operand 0's type.
const fn unary(name: &'static str, doc: &'static str) -> OpDef {
    op(name)
        .operands(SOURCE)
        .results(SAME)
        .traits(ELEMENTWISE)
        .doc(doc)
}

const fn binary(name: &'static str, traits: Traits, doc: &'static str) -> OpDef {
    op(name)
        .operands(LHS_RHS)
        .results(SAME)
        .traits(traits)
        .doc(doc)
}

/// A conversion: the result type is written out.
const fn convert(name: &'static str, doc: &'static str) -> OpDef {
    op(name)
        .operands(SOURCE)
        .results(OTHER)
        .traits(ELEMENTWISE)
        .doc(doc)
}

const SOURCE: &[OperandDef] = &[one("source")];
const LHS_RHS: &[OperandDef] = &[one("lhs"), one("rhs")];
const SAME: &[ResultDef] = &[result("result", Operand(0))];
const OTHER: &[ResultDef] = &[result("result", Explicit)];

const ROUNDING: AttrDef = attr("rounding", AttrKind::Enum(&enums::ROUNDING));
const FTZ: AttrDef = attr("ftz", AttrKind::Unit).optional();
const FLOAT: &[AttrDef] = &[ROUNDING, FTZ];
const FTZ_ONLY: &[AttrDef] = &[FTZ];
const FMINMAX: &[AttrDef] = &[attr("nan", AttrKind::Unit).optional(), FTZ];

const ONE_REGION: &[RegionDef] = &[RegionDef {
    name: "body",
    optional: false,
}];

dialect_table! { Nvvm {
    // ---- module level ----------------------------------------------------------------------
    Func()
        { sym_name: Str, reqntid: Int<32>, minctasm: Int<32>, maxnreg: Option<Int<32>>, cluster_dim: Option<I32s>,
          smem_bytes: Int<32> }
        = op("func").regions(ONE_REGION).traits(Traits::ISOLATED.or(Traits::SYMBOL))
        .doc("A kernel. Block arguments are its parameters; tensor maps come last. `smem_bytes` sizes `global_smem`.");
    Return(operands: Var)
        = op("return").traits(TERMINATOR).doc("Ends the kernel.");

    Global() { sym_name: Str, value: Dense, alignment: Int<64> }
        = op("global")
        .traits(Traits::SYMBOL)
        .doc("Initialised global memory of the module: the bytes `value` (i8 registers), aligned.");

    // ---- values ----------------------------------------------------------------------------
    Const() { value: Dense } -> (result: One(Explicit))
        = op("const")
        .traits(PURE.or(Traits::CONSTANT))
        .doc("A constant: one element (every register the same) or one per register.");
    Splat(source: One) -> (result: One(Explicit))
        = op("splat").traits(PURE)
        .doc("Every register of the result is the scalar operand.");
    Take(source: One) { indices: I32s } -> (result: One(Explicit))
        = op("take").traits(PURE)
        .doc("Register i of the result is register indices[i] of the source. Costs nothing.");
    Concat(sources: Var) -> (result: One(Explicit))
        = op("concat").traits(PURE)
        .doc("The registers of all sources, one after another. Costs nothing.");
    Sreg() { register: SpecialRegister } -> (result: One(Explicit))
        = op("sreg").traits(PURE).doc("A special register (i32), constant for a thread.");
    SmemBase() { offset: Int<32> } -> (result: One(Explicit))
        = op("smem_base").traits(PURE)
        .doc("Shared address of `global_smem` plus a byte offset.");
    AddressOf() { name: Str } -> (result: One(Explicit))
        = op("address_of").traits(PURE)
        .doc("Pointer to the first byte of a `global` of the module.");
    Generic(source: One) -> (result: One(Explicit))
        = op("generic").traits(PURE)
        .doc("The pointer (64 bits) that generic accesses reach a shared address by.");
    PtrAdd(base: One, offset: One) -> (result: One(Operand(0)))
        = op("ptr_add")
        .traits(ELEMENTWISE).doc("Address plus a byte offset (i64 for global, i32 for shared addresses).")
        .meaning(Advance(Unit::Byte));
    Undef() -> (result: One(Explicit))
        = op("undef").traits(PURE).doc("Registers of no particular value.");

    // ---- integers --------------------------------------------------------------------------
    Add = binary("add", COMMUTATIVE, "Sum modulo 2^n.")
        .meaning(Int2(IntBinary::Add));
    Sub = binary("sub", ELEMENTWISE, "Difference modulo 2^n.")
        .meaning(Int2(IntBinary::Sub));
    Mul = binary("mul", COMMUTATIVE, "Low half of the product.")
        .meaning(Int2(IntBinary::Mul));
    MulHi = binary("mulhi", COMMUTATIVE, "High half of the unsigned product.")
        .meaning(Int2(IntBinary::MulHi(Unsigned)));
    MulHiS = binary("mulhi.s", COMMUTATIVE, "High half of the signed product.")
        .meaning(Int2(IntBinary::MulHi(Signed)));
    DivS = binary("div.s", ELEMENTWISE, "Signed quotient, rounded towards zero.")
        .meaning(Int2(IntBinary::Div(Signed, IntRounding::Zero)));
    DivU = binary("div.u", ELEMENTWISE, "Unsigned quotient.")
        .meaning(Int2(IntBinary::Div(Unsigned, IntRounding::Zero)));
    RemS = binary("rem.s", ELEMENTWISE, "Remainder of div.s: the dividend's sign.")
        .meaning(Int2(IntBinary::Rem(Signed)));
    RemU = binary("rem.u", ELEMENTWISE, "Remainder of div.u.")
        .meaning(Int2(IntBinary::Rem(Unsigned)));
    MinS = binary("min.s", COMMUTATIVE, "Signed minimum.")
        .meaning(Int2(IntBinary::Min(Signed)));
    MinU = binary("min.u", COMMUTATIVE, "Unsigned minimum.")
        .meaning(Int2(IntBinary::Min(Unsigned)));
    MaxS = binary("max.s", COMMUTATIVE, "Signed maximum.")
        .meaning(Int2(IntBinary::Max(Signed)));
    MaxU = binary("max.u", COMMUTATIVE, "Unsigned maximum.")
        .meaning(Int2(IntBinary::Max(Unsigned)));
    And = binary("and", COMMUTATIVE, "Bitwise and; logical on i1.")
        .meaning(Int2(IntBinary::And));
    Or = binary("or", COMMUTATIVE, "Bitwise or; logical on i1.")
        .meaning(Int2(IntBinary::Or));
    Xor = binary("xor", COMMUTATIVE, "Bitwise exclusive or; logical on i1.")
        .meaning(Int2(IntBinary::Xor));
    Not = unary("not", "Bitwise complement; logical on i1.")
        .meaning(Int1(IntUnary::Not));
    Shl = binary("shl", ELEMENTWISE, "Left shift; amounts of n and more give 0.")
        .meaning(Int2(IntBinary::Shl));
    ShrS = binary("shr.s", ELEMENTWISE, "Arithmetic right shift; amounts of n and more give the sign.")
        .meaning(Int2(IntBinary::Shr(Signed)));
    ShrU = binary("shr.u", ELEMENTWISE, "Logical right shift; amounts of n and more give 0.")
        .meaning(Int2(IntBinary::Shr(Unsigned)));
    Abs = unary("abs", "Absolute value; the minimum maps to itself.")
        .meaning(Int1(IntUnary::Abs));
    ICmp(lhs: One, rhs: One) { predicate: Predicate, signedness: Signedness } -> (result: One(BoolLike(0)))
        = op("icmp").traits(ELEMENTWISE).doc("Integer comparison.")
        .meaning(IntCompare);
    Select = op("select").operands(&[one("condition"), one("then"), one("else")])
        .results(&[result("result", Operand(1))]).traits(ELEMENTWISE).doc("`then` where the condition holds, else `else`.")
        .meaning(Meaning::Select);
    Rarely(condition: One, always: One, mostly: One) -> (result: One(Operand(1)))
        = op("rarely").traits(ELEMENTWISE)
        .doc("`mostly` where the condition does not hold, else `always`, which equals `mostly` there: what is computed for either alone goes into a branch, for seldom does a register's condition hold.")
        .meaning(Meaning::Select);

    // ---- floats ----------------------------------------------------------------------------
    FAdd = binary("fadd", COMMUTATIVE, "Sum.").attrs(FLOAT)
        .meaning(Float2(FloatBinary::Add)).rounding(&modes::IEEE);
    FSub = binary("fsub", ELEMENTWISE, "Difference.").attrs(FLOAT)
        .meaning(Float2(FloatBinary::Sub)).rounding(&modes::IEEE);
    FMul = binary("fmul", COMMUTATIVE, "Product.").attrs(FLOAT)
        .meaning(Float2(FloatBinary::Mul)).rounding(&modes::IEEE);
    FDiv = binary("fdiv", ELEMENTWISE, "Quotient; rounding approx and full are the PTX forms of those names.").attrs(FLOAT)
        .meaning(Float2(FloatBinary::Div)).rounding(&modes::IEEE_OR_FAST);
    Fma(a: One, b: One, c: One) { rounding: Rounding, ftz: Flag } -> (result: One(Operand(0)))
        = op("fma").traits(ELEMENTWISE).doc("a * b + c with one rounding.")
        .meaning(Meaning::Fma).rounding(&modes::IEEE);
    FMin = binary("fmin", COMMUTATIVE, "Minimum; a NaN operand is ignored unless `nan`.").attrs(FMINMAX)
        .meaning(Float2ByNan(|nan| FloatBinary::Min { nan }));
    FMax = binary("fmax", COMMUTATIVE, "Maximum; a NaN operand is ignored unless `nan`.").attrs(FMINMAX)
        .meaning(Float2ByNan(|nan| FloatBinary::Max { nan }));
    FNeg = unary("fneg", "Sign flipped.").meaning(Float1(FloatUnary::Neg));
    FAbs = unary("fabs", "Sign cleared.").meaning(Float1(FloatUnary::Abs));
    FCmp(lhs: One, rhs: One) { predicate: Predicate, ordering: NanOrder } -> (result: One(BoolLike(0)))
        = op("fcmp").traits(ELEMENTWISE)
        .doc("Float comparison: ordered is false, unordered true, on NaN.")
        .meaning(FloatCompare);
    Sqrt = unary("sqrt", "Square root.").attrs(FLOAT)
        .meaning(Float1(FloatUnary::Sqrt)).rounding(&modes::IEEE_OR_APPROX);
    Rsqrt = unary("rsqrt", "Reciprocal square root, approximate.").attrs(FTZ_ONLY)
        .meaning(Math1(MathUnary::Rsqrt));
    Rcp = unary("rcp", "Reciprocal.").attrs(FLOAT).meaning(Reciprocal);
    Ex2 = unary("ex2", "2^x, approximate (PTX ex2.approx).").attrs(FTZ_ONLY)
        .meaning(Math1(MathUnary::Exp2));
    Lg2 = unary("lg2", "log2 x, approximate (PTX lg2.approx).").attrs(FTZ_ONLY)
        .meaning(Math1(MathUnary::Log2));
    Sin = unary("sin", "Sine, approximate (PTX sin.approx).").attrs(FTZ_ONLY)
        .meaning(Math1(MathUnary::Sin));
    Cos = unary("cos", "Cosine, approximate (PTX cos.approx).").attrs(FTZ_ONLY)
        .meaning(Math1(MathUnary::Cos));
    Tanh = unary("tanh", "Hyperbolic tangent, approximate (PTX tanh.approx).")
        .meaning(Math1(MathUnary::Tanh));
    FRound = unary("fround", "Rounds to an integral value.")
        .attrs(FLOAT).meaning(Integral);
    Popc = unary("popc", "Number of set bits.")
        .meaning(Int1(IntUnary::CountOnes));
    Clz = unary("clz", "Number of leading zero bits.")
        .meaning(Int1(IntUnary::LeadingZeros));

    // ---- conversions -----------------------------------------------------------------------
    Trunc = convert("trunc", "Keeps the low bits of an integer.")
        .meaning(Narrow);
    ZExt = convert("zext", "Widens an integer with zeros.")
        .meaning(Widen(Sign::Always(Unsigned)));
    SExt = convert("sext", "Widens an integer with its sign.")
        .meaning(Widen(Sign::Always(Signed)));
    SIToF = convert("sitof", "Signed integer to float.").attrs(FLOAT)
        .meaning(IntToFloat(Sign::Always(Signed)));
    UIToF = convert("uitof", "Unsigned integer to float.").attrs(FLOAT)
        .meaning(IntToFloat(Sign::Always(Unsigned)));
    FToSI = convert("ftosi", "Float to signed integer, saturating.").attrs(FLOAT)
        .meaning(FloatToInt(Sign::Always(Signed), Nan::TopOfLong));
    FToUI = convert("ftoui", "Float to unsigned integer, saturating.").attrs(FLOAT)
        .meaning(FloatToInt(Sign::Always(Unsigned), Nan::TopOfLong));
    FToF = convert("ftof", "Float to float.").attrs(&[
        ROUNDING, FTZ,
        attr("satfinite", AttrKind::Unit).optional(),
    ]).meaning(FloatToFloat(Saturate::Attribute));
    Bitcast(source: One) -> (result: One(Explicit))
        = op("bitcast").traits(ELEMENTWISE)
        .doc("The same bits as another type; widths may differ when the total does not.")
        .meaning(Meaning::Copy);

    // ---- fused forms: only instruction selection's rules (`isel/`) introduce them ----------
    Mad(a: One, b: One, c: One) -> (result: One(Operand(0)))
        = op("mad").traits(ELEMENTWISE)
        .doc("a * b + c modulo 2^n.");
    MulWideS(lhs: One, rhs: One) -> (result: One(Explicit))
        = op("mul.wide.s").traits(COMMUTATIVE)
        .doc("The whole signed product, twice as wide.");
    MulWideU(lhs: One, rhs: One) -> (result: One(Explicit))
        = op("mul.wide.u").traits(COMMUTATIVE)
        .doc("The whole unsigned product, twice as wide.");
    MadWideS(a: One, b: One, c: One) -> (result: One(Operand(2)))
        = op("mad.wide.s").traits(ELEMENTWISE)
        .doc("The whole signed product plus c, which is twice as wide (an i64 or an address).");
    MadWideU(a: One, b: One, c: One) -> (result: One(Operand(2)))
        = op("mad.wide.u").traits(ELEMENTWISE)
        .doc("The whole unsigned product plus c, which is twice as wide (an i64 or an address).");
    Lop3(a: One, b: One, c: One) { table: Int<32> } -> (result: One(Operand(0)))
        = op("lop3").traits(ELEMENTWISE)
        .doc("Bit i of the result is bit 4·a_i + 2·b_i + c_i of the table.");
    ShfL(low: One, high: One, amount: One) -> (result: One(Operand(0)))
        = op("shf.l").traits(ELEMENTWISE)
        .doc("High half of high:low shifted left by amount modulo 32.");
    ShfR(low: One, high: One, amount: One) -> (result: One(Operand(0)))
        = op("shf.r").traits(ELEMENTWISE)
        .doc("Low half of high:low shifted right by amount modulo 32.");
    JoinBytes(low: One, high: One) -> (result: One(Explicit))
        = op("join_bytes").traits(ELEMENTWISE)
        .doc("The 16-bit integer of two bytes.");
    SpreadByte(source: One) -> (result: One(Explicit))
        = op("spread_byte").traits(ELEMENTWISE)
        .doc("The 16-bit integer whose top bit is the byte's, and whose bits from 7 on are the byte's other seven: an f8E4M3FN as an f16 that is 256 times smaller.");
    ShlBy(source: One) { by: Int<32> } -> (result: One(Operand(0)))
        = op("shl_by").traits(ELEMENTWISE)
        .doc("Shifted left by a number: elements that share a register are shifted together.");
    ShrBy(source: One) { by: Int<32> } -> (result: One(Operand(0)))
        = op("shr_by").traits(ELEMENTWISE)
        .doc("Shifted right by a number, zeros coming from above; likewise.");
    SpreadNibble(source: One) { by: Int<32> } -> (result: One(Explicit))
        = op("spread_nibble").traits(ELEMENTWISE)
        .doc("The 16-bit integer whose top bit is that of four bits, and whose bits from `by` on are the other three: an f4E2M1FN as a smaller f16 (9) or bf16 (6).");
    TestClear(source: One, mask: One) -> (result: One(BoolLike(0)))
        = op("test_clear").traits(ELEMENTWISE)
        .doc("Whether the source has none of the mask's bits: one machine instruction, in PTX two. Of a thread's number it is not simplified to a comparison with 0: after that, ptxas writes branches where it could predicate.");
    WarpUniform(source: One) -> (result: One(Operand(0)))
        = op("warp_uniform").traits(ELEMENTWISE)
        .doc("The source, which all lanes of a converged warp have alike, by an instruction that tells ptxas so: what is computed from it alone needs one register for the warp.");
    ICmpAnd(lhs: One, rhs: One, also: One)
        { predicate: Predicate, signedness: Signedness }
        -> (result: One(Operand(2)))
        = op("icmp.and").traits(ELEMENTWISE)
        .doc("An integer comparison and another condition.");
    ICmpOr(lhs: One, rhs: One, also: One)
        { predicate: Predicate, signedness: Signedness }
        -> (result: One(Operand(2)))
        = op("icmp.or").traits(ELEMENTWISE)
        .doc("An integer comparison or another condition.");

    // ---- memory ----------------------------------------------------------------------------
    Ld(addr: One, mask: Opt, other: Opt)
        { space: Space, vec: Int<32>, offsets: I64s, cache: Cache, order: Ordering, scope: Scope }
        -> (result: One(Explicit))
        = op("ld").doc("Loads (see the conventions above).");
    St(addr: One, value: One, mask: Opt)
        { space: Space, vec: Int<32>, offsets: I64s, cache: Cache, order: Ordering, scope: Scope }
        = op("st")
        .doc("Stores (see the conventions above).");
    AtomicRmw(addr: One, value: One, mask: Opt, other: Opt)
        { mode: RmwMode, offsets: I64s, order: Ordering, scope: Scope, space: Space }
        -> (result: One(Explicit))
        = op("atom").doc("Atomic read-modify-write; the result is the old value, `other` (or anything) where masked off.");
    AtomicCas(addr: One, compare: One, value: One, mask: Opt, other: Opt)
        { offsets: I64s, order: Ordering, scope: Scope, space: Space }
        -> (result: One(Explicit))
        = op("cas").doc("Atomic compare-and-swap; the result is the old value, `other` (or anything) where masked off.");
    RedAdd(addr: One, value: One, mask: Opt)
        { vec: Int<32>, offsets: I64s, order: Ordering, scope: Scope }
        = op("red.add")
        .doc("Adds to global memory, each element atomically by itself: two or four f32 an access, or two, four or eight 16-bit floats.");
    MultimemLoad(addr: One, mask: Opt, other: Opt)
        { reduction: Reduction, vec: Int<32>, offsets: I64s, order: Ordering, scope: Scope }
        -> (result: One(Explicit))
        = op("multimem.ld_reduce")
        .doc("Loads from every device of a multicast address, combined; 16-bit elements by twos, fours or eights.");
    MultimemReduce(addr: One, value: One, mask: Opt)
        { reduction: Reduction, vec: Int<32>, offsets: I64s, order: Ordering, scope: Scope }
        = op("multimem.red")
        .doc("Combines values into the memory of every device of a multicast address, atomically.");
    MultimemStore(addr: One, value: One, mask: Opt)
        { vec: Int<32>, offsets: I64s, order: Ordering, scope: Scope }
        = op("multimem.st")
        .doc("Stores to the memory of every device of a multicast address, at least 4 bytes an access.");
    CpAsync(dst: One, src: One, read: Opt, mask: Opt) { bytes: Int<32>, dst_offsets: I64s, src_offsets: I64s }
        = op("cp_async")
        .doc("Starts copies global → shared of `bytes` (4, 8, 16) each, of which the first `read` (i32; all) are read and the others are zeros; none where `mask` is false.");
    CpAsyncCommit = op("cp_async.commit").doc("Closes the group of copies started since the last commit.");
    CpAsyncWait() { pending: Int<32> }
        = op("cp_async.wait").doc("Waits until at most `pending` groups are in flight.");
    LdMatrix(addr: One) { num: Int<32>, trans: Flag, offsets: I64s, bytes: Flag } -> (result: One(Explicit))
        = op("ldmatrix")
        .doc("Loads `num` matrices per access: 8x8 of 16 bits, 32 bits of each per thread; or 16x16 of `bytes`, `trans`, 64 bits of each per thread.");
    StMatrix(addr: One, value: One) { num: Int<32>, trans: Flag, offsets: I64s }
        = op("stmatrix")
        .doc("Stores 8x8 16-bit matrices, `num` per access.");

    // ---- threads ---------------------------------------------------------------------------
    Shfl(source: One, lane: Opt) { mode: Shuffle, constant: Int<32> } -> (result: One(Operand(0)))
        = op("shfl")
        .doc("Exchanges registers within the warp; the lane (or xor mask, or distance) is the operand, else `constant`.");
    Redux(source: One) { kind: WarpReduction } -> (result: One(Operand(0)))
        = op("redux")
        .doc("What all lanes of a converged warp have, reduced: each register by itself.");
    Bar() { id: Int<32>, threads: Int<32> }
        = op("bar").doc("Barrier `id` of `threads` threads (0: the whole block).");
    BarArrive() { id: Int<32>, threads: Int<32> }
        = op("bar.arrive").doc("Arrives at a barrier without waiting.");
    BarWarp = op("bar.warp").doc("Barrier of a converged warp's lanes.");
    Elect() -> (result: One(Explicit))
        = op("elect").doc("True in one lane of a converged warp.");
    SetMaxNReg() { count: Int<32>, increase: Bool }
        = op("setmaxnreg")
        .doc("Gives registers back or takes more, per warpgroup.");
    Trap = op("trap").doc("Aborts the grid.");
    Print(args: Var) { format: Str }
        = op("print").doc("vprintf of scalars.");
    Nanosleep() { nanoseconds: Int<32> }
        = op("nanosleep").doc("Lets other threads run for about that long.");
    ClusterArrive() { relaxed: Flag }
        = op("cluster.arrive").doc("barrier.cluster.arrive with release, unless `relaxed`.");
    ClusterWait = op("cluster.wait").doc("barrier.cluster.wait with acquire.");
    GridDepLaunch = op("griddep.launch").doc("griddepcontrol.launch_dependents.");
    GridDepWait = op("griddep.wait").doc("griddepcontrol.wait.");
    Settle(values: Var)
        = op("settle").doc("Its operands are computed no later than here; no instruction.");
    Fence() { kind: FenceKind }
        = op("fence").doc("A memory or proxy fence.");

    // ---- mbarriers and TMA -----------------------------------------------------------------
    MbarInit(addr: One) { count: Int<32> }
        = op("mbarrier.init").doc("Initialises an mbarrier for `count` arrivals.");
    MbarArrive(addr: One)
        = op("mbarrier.arrive").doc("Arrives once.");
    MbarArriveCopies(addr: One)
        = op("mbarrier.arrive.copies")
        .doc("Arrives once the `cp_async`s that this thread has started are done.");
    MbarArriveAt(addr: One, block: One)
        = op("mbarrier.arrive.cluster")
        .doc("Arrives once at the mbarrier that lies there in block number `block` (i32) of the cluster.");
    MbarExpectTx(addr: One, bytes: One)
        = op("mbarrier.arrive.expect_tx").doc("Arrives once and expects `bytes` (i32) of transactions.");
    MbarWait(addr: One, parity: One)
        = op("mbarrier.wait.parity").doc("Waits until the phase of the given parity (i32) has completed.");
    TmaLoad(dst: One, map: One, coords: Var, mbarrier: One)
        = op("tma.load")
        .doc("Starts a tensor copy global → shared that completes on the mbarrier. Coordinates innermost first.");
    TmaMulticast(dst: One, map: One, coords: Var, mbarrier: One) { blocks: Int<32> }
        = op("tma.multicast")
        .doc("As tma.load, to the same place of each block of the cluster whose bit `blocks` has; in each it completes on its own mbarrier.");
    TmaPair(dst: One, map: One, coords: Var, mbarrier: One)
        = op("tma.pair")
        .doc("As tma.load, but it completes on the mbarrier that lies there in the first block of the pair.");
    TmaStore(map: One, coords: Var, src: One)
        = op("tma.store").doc("Starts a tensor copy shared → global in the bulk group. Coordinates innermost first.");
    BulkCommit = op("bulk.commit").doc("Closes the bulk group.");
    BulkWait() { pending: Int<32>, read: Flag }
        = op("bulk.wait").doc("Waits until at most `pending` bulk groups are in flight (`read`: until their sources were read).");
    PrefetchMap(map: One)
        = op("prefetch.tensormap").doc("Prefetches a tensor map.");
    MapNumber(addr: One, value: One) { field: MapField, index: Int<32> }
        = op("tensormap.number")
        .doc("Sets the address (i64), a stride (i64, bytes) or an extent (i32) of the tensor map at a shared address.");
    MapConstant(addr: One) { field: MapField, index: Int<32>, value: Int<32> }
        = op("tensormap.constant")
        .doc("Sets another field of the tensor map at a shared address, as numbers of PTX ISA's `tensormap.replace`.");
    MapAcquire(map: One)
        = op("tensormap.acquire")
        .doc("Tensor copies that this thread starts later see what was written to the tensor map at a global address, and released by `fence` of `map_written`.");

    // ---- matrix units ----------------------------------------------------------------------
    MmaSync(a: One, b: One, c: One)
        { shape: I32s, tiles: I32s, a_type: Ty, b_type: Ty, signed_a: Bool, signed_b: Bool }
        -> (result: One(Operand(2)))
        = op("mma.sync")
        .doc("c + a·b over tiles [mt, nt, kt] of the instruction shape [m, n, k]. Register order: a [mt][kt][fragment], b [nt][kt][fragment], c [mt][nt][fragment].");
    MmaScaled(a: One, b: One, c: One, a_scale: One, b_scale: One)
        { shape: I32s, tiles: I32s, a_type: Ty, b_type: Ty, scale_type: Ty, scales: Int<32> }
        -> (result: One(Operand(2)))
        = op("mma.block_scale")
        .doc("As mma.sync, each operand multiplied by its scales: `scales` for an instruction's K. Their registers are those of crate::layout::scales, four to a word.");
    Wgmma(a: One, b: One, acc: One, accumulate: Opt)
        { n: Int<32>, k: Int<32>, m_tiles: Int<32>, k_steps: Int<32>, a_m_step: Int<32>, a_k_steps: I64s,
          b_k_steps: I64s, a_type: Ty, b_type: Ty, trans_a: Bool, trans_b: Bool, signed_a: Bool,
          signed_b: Bool }
        -> (result: One(Operand(2)))
        = op("wgmma")
        .doc("acc + a·b by m64nNkK instructions: for each k step, for each m tile. `a` and `b` are i64 descriptors (steps are added to them, in descriptor units of 16 bytes) or, for `a`, a register fragment. A wgmma.fence comes first. With `accumulate` (i1) false the old accumulator is ignored on the first k step. The result is in flight until waited for.");
    WgmmaCommit = op("wgmma.commit").doc("Closes the wgmma group.");
    WgmmaWait(accs: Var) { pending: Int<32> } -> (results: Var(Explicit))
        = op("wgmma.wait")
        .doc("Waits until at most `pending` groups are in flight; the results are the operands (same registers), usable when their group is done.");
    TensorAlloc(slot: One) { columns: Int<32>, pair: Flag }
        = op("tcgen05.alloc")
        .doc("Allocates columns of tensor memory and writes their address to shared memory. One warp. `pair`: together with a warp of the other block of the pair, the same columns in both.");
    TensorRelinquish() { pair: Flag }
        = op("tcgen05.relinquish").doc("The block will allocate no more tensor memory. One warp.");
    TensorDealloc(address: One) { columns: Int<32>, pair: Flag }
        = op("tcgen05.dealloc")
        .doc("Gives columns of tensor memory (address: i32) back. The warp that allocated them.");
    TensorLd(address: One)
        { shape: TensorMove, count: Int<32>, pairs: Flag, offsets: I64s }
        -> (result: One(Explicit))
        = op("tcgen05.ld")
        .doc("Loads from tensor memory (i32 address plus columns), `count` repetitions of the shape for each offset, and waits. `pairs`: elements of 16 bits, each in a column of its own.");
    TensorSt(address: One, value: One) { shape: TensorMove, count: Int<32>, pairs: Flag, offsets: I64s }
        = op("tcgen05.st")
        .doc("Stores to tensor memory and waits.");
    TensorMma(d: One, a: One, b: One, accumulate: Opt)
        { kind: TensorKind, descriptor: Int<32>, d_m_steps: I64s, d_n_steps: I64s, a_m_steps: I64s, a_k_steps: I64s,
          b_n_steps: I64s, b_k_steps: I64s, pair: Flag }
        = op("tcgen05.mma")
        .doc("d + a·b in tensor memory, by one thread: for each k step, for each tile of M, for each of N. `d` is an i32 address (steps in columns), `b` an i64 descriptor (steps in its units of 16 bytes), `a` a descriptor or an address. With `accumulate` (i1) false the first k step overwrites d. `pair`: in the memory of both blocks of a pair, each of which has a half of the rows of `d` and `a` and of the columns of `b`.");
    TensorCopy(address: One, source: One) { columns: I64s, steps: I64s }
        = op("tcgen05.cp")
        .doc("Copies 32 rows of 16 bytes from shared memory to all quarters of tensor memory, by one thread, for each of `columns` (from `address`, i32) and of `steps` (added to the i64 descriptor `source`). Matrix products that the thread issues afterwards wait for it.");
    TensorMmaScaled(d: One, a: One, b: One, scales: One, accumulate: Opt)
        { kind: TensorKind, block: Int<32>, descriptors: I64s, d_m_steps: I64s, d_n_steps: I64s, a_m_steps: I64s,
          a_k_steps: I64s, b_n_steps: I64s, b_k_steps: I64s, a_scale_m_steps: I64s, a_scale_k_steps: I64s,
          b_scale_n_steps: I64s, b_scale_k_steps: I64s }
        = op("tcgen05.mma.block_scale")
        .doc("As tcgen05.mma, with scales for blocks of K at `scales` (i32) in tensor memory; an instruction descriptor for each k step.");
    TensorCommit(mbarrier: One) { blocks: Int<32>, pair: Flag }
        = op("tcgen05.commit")
        .doc("An arrival at the mbarrier once this thread's products so far are done; with `blocks`, at those that lie there in each block of the cluster whose bit it has. `pair`: they are products of a pair of blocks.");

    // ---- control flow ----------------------------------------------------------------------
    For(lower: One, upper: One, step: One, inits: Var)
        { unsigned: Flag, rare: Flag }
        -> (results: Var(Explicit))
        = op("for").regions(ONE_REGION)
        .doc("Counts from lower to below upper. The block's arguments are the counter, then the carried values; `yield` (or `continue`) gives the next ones. `rare`: seldom does a thread come here, so that it should rather be short than fast.");
    If(condition: One) { uniform: Flag } -> (results: Var(Explicit))
        = op("if")
        .regions(&[RegionDef { name: "then", optional: false }, RegionDef { name: "else", optional: true }])
        .doc("Two ways; `uniform` when all threads of a warp agree.");
    Loop(inits: Var) -> (results: Var(Explicit))
        = op("loop").regions(ONE_REGION)
        .doc("Repeats until `break`, whose operands are the results.");
    Yield(operands: Var)
        = op("yield").traits(TERMINATOR).doc("Values of an `if` or the next ones of a `for`.");
    Continue(operands: Var)
        = op("continue").traits(TERMINATOR).doc("Next iteration of the innermost `for` or `loop`, also from inside an `if`.");
    Break(operands: Var)
        = op("break").traits(TERMINATOR).doc("Leaves the innermost `loop` with its results, also from inside an `if`.");
}}
