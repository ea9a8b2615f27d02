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
use super::def::dialect_table;
use super::meaning::{
    Meaning,
    Meaning::{
        Advance, Float1, Float2, Float2ByNan, FloatCompare, FloatToFloat, FloatToInt, Int1, Int2,
        IntCompare, IntToFloat, Integral, Math1, Narrow, Reciprocal, Widen,
    },
    Nan, Saturate, Sign, Unit,
};
use super::{
    AttrDef, AttrKind, OpDef, OperandDef, RegionDef, ResultDef, Traits, attr, enums, one, op, opt,
    result, var,
};

use crate::scalar::Signedness::{Signed, Unsigned};
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

const I32: AttrKind = AttrKind::Int(32);
const SOURCE: &[OperandDef] = &[one("source")];
const LHS_RHS: &[OperandDef] = &[one("lhs"), one("rhs")];
const SAME: &[ResultDef] = &[result("result", Operand(0))];
const OTHER: &[ResultDef] = &[result("result", Explicit)];

const ROUNDING: AttrDef = attr("rounding", AttrKind::Enum(&enums::ROUNDING));
const FTZ: AttrDef = attr("ftz", AttrKind::Unit).optional();
const ORDER: AttrDef = attr("order", AttrKind::Enum(&enums::ORDERING));
const SCOPE: AttrDef = attr("scope", AttrKind::Enum(&enums::SCOPE));
const SPACE: AttrDef = attr("space", AttrKind::Enum(&enums::SPACE));
const CACHE: AttrDef = attr("cache", AttrKind::Enum(&enums::CACHE));
const OFFSETS: AttrDef = attr("offsets", AttrKind::I64s);
const VEC: AttrDef = attr("vec", I32);
const PREDICATE: AttrDef = attr("predicate", AttrKind::Enum(&enums::CMP_PREDICATE));
const FLOAT: &[AttrDef] = &[ROUNDING, FTZ];
const FTZ_ONLY: &[AttrDef] = &[FTZ];
const FMINMAX: &[AttrDef] = &[attr("nan", AttrKind::Unit).optional(), FTZ];
const ACCESS: &[AttrDef] = &[SPACE, VEC, OFFSETS, CACHE, ORDER, SCOPE];
const TENSOR_ACCESS: &[AttrDef] = &[
    attr("shape", AttrKind::Enum(&enums::TENSOR_MOVE)),
    attr("count", I32),
    attr("pairs", AttrKind::Unit).optional(),
    OFFSETS,
];

const ONE_REGION: &[RegionDef] = &[RegionDef {
    name: "body",
    optional: false,
}];

dialect_table! { Nvvm {
    // ---- module level ----------------------------------------------------------------------
    Func = op("func").attrs(&[
            attr("sym_name", AttrKind::Str),
            attr("reqntid", I32), attr("minctasm", I32), attr("maxnreg", I32).optional(),
            attr("cluster_dim", AttrKind::I32s).optional(),
            attr("smem_bytes", I32),
        ]).regions(ONE_REGION).traits(Traits::ISOLATED.or(Traits::SYMBOL))
        .doc("A kernel. Block arguments are its parameters; tensor maps come last. `smem_bytes` sizes `global_smem`.");
    Return = op("return").operands(&[var("operands")]).traits(TERMINATOR).doc("Ends the kernel.");

    Global = op("global").attrs(&[attr("sym_name", AttrKind::Str), attr("value", AttrKind::Dense), attr("alignment", AttrKind::Int(64))])
        .traits(Traits::SYMBOL)
        .doc("Initialised global memory of the module: the bytes `value` (i8 registers), aligned.");

    // ---- values ----------------------------------------------------------------------------
    Const = op("const").attrs(&[attr("value", AttrKind::Dense)]).results(OTHER)
        .traits(PURE.or(Traits::CONSTANT))
        .doc("A constant: one element (every register the same) or one per register.");
    Splat = op("splat").operands(SOURCE).results(OTHER).traits(PURE)
        .doc("Every register of the result is the scalar operand.");
    Take = op("take").operands(SOURCE).attrs(&[attr("indices", AttrKind::I32s)])
        .results(OTHER).traits(PURE)
        .doc("Register i of the result is register indices[i] of the source. Costs nothing.");
    Concat = op("concat").operands(&[var("sources")]).results(OTHER).traits(PURE)
        .doc("The registers of all sources, one after another. Costs nothing.");
    Sreg = op("sreg").attrs(&[attr("register", AttrKind::Enum(&enums::SPECIAL_REGISTER))])
        .results(OTHER).traits(PURE).doc("A special register (i32), constant for a thread.");
    SmemBase = op("smem_base").attrs(&[attr("offset", I32)]).results(OTHER).traits(PURE)
        .doc("Shared address of `global_smem` plus a byte offset.");
    AddressOf = op("address_of").attrs(&[attr("name", AttrKind::Str)]).results(OTHER).traits(PURE)
        .doc("Pointer to the first byte of a `global` of the module.");
    Generic = op("generic").operands(SOURCE).results(OTHER).traits(PURE)
        .doc("The pointer (64 bits) that generic accesses reach a shared address by.");
    PtrAdd = op("ptr_add").operands(&[one("base"), one("offset")]).results(SAME)
        .traits(ELEMENTWISE).doc("Address plus a byte offset (i64 for global, i32 for shared addresses).")
        .meaning(Advance(Unit::Byte));
    Undef = op("undef").results(OTHER).traits(PURE).doc("Registers of no particular value.");

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
    ICmp = op("icmp").operands(LHS_RHS)
        .attrs(&[PREDICATE, attr("signedness", AttrKind::Enum(&enums::SIGNEDNESS))])
        .results(&[result("result", BoolLike(0))]).traits(ELEMENTWISE).doc("Integer comparison.")
        .meaning(IntCompare);
    Select = op("select").operands(&[one("condition"), one("then"), one("else")])
        .results(&[result("result", Operand(1))]).traits(ELEMENTWISE).doc("`then` where the condition holds, else `else`.")
        .meaning(Meaning::Select);

    // ---- floats ----------------------------------------------------------------------------
    FAdd = binary("fadd", COMMUTATIVE, "Sum.").attrs(FLOAT)
        .meaning(Float2(FloatBinary::Add));
    FSub = binary("fsub", ELEMENTWISE, "Difference.").attrs(FLOAT)
        .meaning(Float2(FloatBinary::Sub));
    FMul = binary("fmul", COMMUTATIVE, "Product.").attrs(FLOAT)
        .meaning(Float2(FloatBinary::Mul));
    FDiv = binary("fdiv", ELEMENTWISE, "Quotient; rounding approx and full are the PTX forms of those names.").attrs(FLOAT)
        .meaning(Float2(FloatBinary::Div));
    Fma = op("fma").operands(&[one("a"), one("b"), one("c")]).attrs(FLOAT)
        .results(SAME).traits(ELEMENTWISE).doc("a * b + c with one rounding.")
        .meaning(Meaning::Fma);
    FMin = binary("fmin", COMMUTATIVE, "Minimum; a NaN operand is ignored unless `nan`.").attrs(FMINMAX)
        .meaning(Float2ByNan(|nan| FloatBinary::Min { nan }));
    FMax = binary("fmax", COMMUTATIVE, "Maximum; a NaN operand is ignored unless `nan`.").attrs(FMINMAX)
        .meaning(Float2ByNan(|nan| FloatBinary::Max { nan }));
    FNeg = unary("fneg", "Sign flipped.").meaning(Float1(FloatUnary::Neg));
    FAbs = unary("fabs", "Sign cleared.").meaning(Float1(FloatUnary::Abs));
    FCmp = op("fcmp").operands(LHS_RHS)
        .attrs(&[PREDICATE, attr("ordering", AttrKind::Enum(&enums::CMP_ORDERING))])
        .results(&[result("result", BoolLike(0))]).traits(ELEMENTWISE)
        .doc("Float comparison: ordered is false, unordered true, on NaN.")
        .meaning(FloatCompare);
    Sqrt = unary("sqrt", "Square root.").attrs(FLOAT)
        .meaning(Float1(FloatUnary::Sqrt));
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
    Bitcast = convert("bitcast", "The same bits as another type; widths may differ when the total does not.")
        .meaning(Meaning::Copy);

    // ---- fused forms: only instruction selection's rules (`isel/`) introduce them ----------
    Mad = op("mad").operands(&[one("a"), one("b"), one("c")]).results(SAME).traits(ELEMENTWISE)
        .doc("a * b + c modulo 2^n.");
    MulWideS = op("mul.wide.s").operands(LHS_RHS).results(OTHER).traits(COMMUTATIVE)
        .doc("The whole signed product, twice as wide.");
    MulWideU = op("mul.wide.u").operands(LHS_RHS).results(OTHER).traits(COMMUTATIVE)
        .doc("The whole unsigned product, twice as wide.");
    MadWideS = op("mad.wide.s").operands(&[one("a"), one("b"), one("c")])
        .results(&[result("result", Operand(2))]).traits(ELEMENTWISE)
        .doc("The whole signed product plus c, which is twice as wide (an i64 or an address).");
    MadWideU = op("mad.wide.u").operands(&[one("a"), one("b"), one("c")])
        .results(&[result("result", Operand(2))]).traits(ELEMENTWISE)
        .doc("The whole unsigned product plus c, which is twice as wide (an i64 or an address).");
    Lop3 = op("lop3").operands(&[one("a"), one("b"), one("c")]).attrs(&[attr("table", I32)])
        .results(SAME).traits(ELEMENTWISE)
        .doc("Bit i of the result is bit 4·a_i + 2·b_i + c_i of the table.");
    ShfL = op("shf.l").operands(&[one("low"), one("high"), one("amount")]).results(SAME).traits(ELEMENTWISE)
        .doc("High half of high:low shifted left by amount modulo 32.");
    ShfR = op("shf.r").operands(&[one("low"), one("high"), one("amount")]).results(SAME).traits(ELEMENTWISE)
        .doc("Low half of high:low shifted right by amount modulo 32.");
    ICmpAnd = op("icmp.and").operands(&[one("lhs"), one("rhs"), one("also")])
        .attrs(&[PREDICATE, attr("signedness", AttrKind::Enum(&enums::SIGNEDNESS))])
        .results(&[result("result", Operand(2))]).traits(ELEMENTWISE)
        .doc("An integer comparison and another condition.");
    ICmpOr = op("icmp.or").operands(&[one("lhs"), one("rhs"), one("also")])
        .attrs(&[PREDICATE, attr("signedness", AttrKind::Enum(&enums::SIGNEDNESS))])
        .results(&[result("result", Operand(2))]).traits(ELEMENTWISE)
        .doc("An integer comparison or another condition.");

    // ---- memory ----------------------------------------------------------------------------
    Ld = op("ld").operands(&[one("addr"), opt("mask"), opt("other")])
        .attrs(ACCESS)
        .results(OTHER).doc("Loads (see the conventions above).");
    St = op("st").operands(&[one("addr"), one("value"), opt("mask")])
        .attrs(ACCESS)
        .doc("Stores (see the conventions above).");
    AtomicRmw = op("atom").operands(&[one("addr"), one("value"), opt("mask"), opt("other")])
        .attrs(&[attr("mode", AttrKind::Enum(&enums::RMW_MODE)), OFFSETS,
                 ORDER, SCOPE, SPACE])
        .results(OTHER).doc("Atomic read-modify-write; the result is the old value, `other` (or anything) where masked off.");
    AtomicCas = op("cas").operands(&[one("addr"), one("compare"), one("value"), opt("mask"), opt("other")])
        .attrs(&[OFFSETS, ORDER, SCOPE, SPACE])
        .results(OTHER).doc("Atomic compare-and-swap; the result is the old value, `other` (or anything) where masked off.");
    CpAsync = op("cp_async").operands(&[one("dst"), one("src"), opt("read"), opt("mask")])
        .attrs(&[attr("bytes", I32), attr("dst_offsets", AttrKind::I64s), attr("src_offsets", AttrKind::I64s)])
        .doc("Starts copies global → shared of `bytes` (4, 8, 16) each, of which the first `read` (i32; all) are read and the others are zeros; none where `mask` is false.");
    CpAsyncCommit = op("cp_async.commit").doc("Closes the group of copies started since the last commit.");
    CpAsyncWait = op("cp_async.wait").attrs(&[attr("pending", I32)]).doc("Waits until at most `pending` groups are in flight.");
    LdMatrix = op("ldmatrix").operands(&[one("addr")])
        .attrs(&[attr("num", I32), attr("trans", AttrKind::Unit).optional(), OFFSETS])
        .results(OTHER)
        .doc("Loads 8x8 16-bit matrices, `num` per access; 2*num 16-bit elements per access and thread.");
    StMatrix = op("stmatrix").operands(&[one("addr"), one("value")])
        .attrs(&[attr("num", I32), attr("trans", AttrKind::Unit).optional(), OFFSETS])
        .doc("Stores 8x8 16-bit matrices, `num` per access.");

    // ---- threads ---------------------------------------------------------------------------
    Shfl = op("shfl").operands(&[one("source"), opt("lane")])
        .attrs(&[attr("mode", AttrKind::Enum(&enums::SHFL)), attr("constant", I32)])
        .results(SAME)
        .doc("Exchanges registers within the warp; the lane (or xor mask, or distance) is the operand, else `constant`.");
    Bar = op("bar").attrs(&[attr("id", I32), attr("threads", I32)]).doc("Barrier `id` of `threads` threads (0: the whole block).");
    BarArrive = op("bar.arrive").attrs(&[attr("id", I32), attr("threads", I32)]).doc("Arrives at a barrier without waiting.");
    BarWarp = op("bar.warp").doc("Barrier of a converged warp's lanes.");
    Elect = op("elect").results(OTHER).doc("True in one lane of a converged warp.");
    SetMaxNReg = op("setmaxnreg").attrs(&[attr("count", I32), attr("increase", AttrKind::Bool)])
        .doc("Gives registers back or takes more, per warpgroup.");
    Trap = op("trap").doc("Aborts the grid.");
    Print = op("print").operands(&[var("args")]).attrs(&[attr("format", AttrKind::Str)]).doc("vprintf of scalars.");
    Nanosleep = op("nanosleep").attrs(&[attr("nanoseconds", I32)]).doc("Lets other threads run for about that long.");
    ClusterArrive = op("cluster.arrive").doc("barrier.cluster.arrive with release.");
    ClusterWait = op("cluster.wait").doc("barrier.cluster.wait with acquire.");
    GridDepLaunch = op("griddep.launch").doc("griddepcontrol.launch_dependents.");
    GridDepWait = op("griddep.wait").doc("griddepcontrol.wait.");
    Fence = op("fence").attrs(&[attr("kind", AttrKind::Enum(&enums::FENCE))]).doc("A memory or proxy fence.");

    // ---- mbarriers and TMA -----------------------------------------------------------------
    MbarInit = op("mbarrier.init").operands(&[one("addr")]).attrs(&[attr("count", I32)]).doc("Initialises an mbarrier for `count` arrivals.");
    MbarArrive = op("mbarrier.arrive").operands(&[one("addr")]).doc("Arrives once.");
    MbarExpectTx = op("mbarrier.arrive.expect_tx").operands(&[one("addr"), one("bytes")]).doc("Arrives once and expects `bytes` (i32) of transactions.");
    MbarWait = op("mbarrier.wait.parity").operands(&[one("addr"), one("parity")]).doc("Waits until the phase of the given parity (i32) has completed.");
    TmaLoad = op("tma.load").operands(&[one("dst"), one("map"), var("coords"), one("mbarrier")])
        .doc("Starts a tensor copy global → shared that completes on the mbarrier. Coordinates innermost first.");
    TmaStore = op("tma.store").operands(&[one("map"), var("coords"), one("src")]).doc("Starts a tensor copy shared → global in the bulk group. Coordinates innermost first.");
    BulkCommit = op("bulk.commit").doc("Closes the bulk group.");
    BulkWait = op("bulk.wait").attrs(&[attr("pending", I32), attr("read", AttrKind::Unit).optional()]).doc("Waits until at most `pending` bulk groups are in flight (`read`: until their sources were read).");
    PrefetchMap = op("prefetch.tensormap").operands(&[one("map")]).doc("Prefetches a tensor map.");

    // ---- matrix units ----------------------------------------------------------------------
    MmaSync = op("mma.sync").operands(&[one("a"), one("b"), one("c")])
        .attrs(&[attr("shape", AttrKind::I32s), attr("tiles", AttrKind::I32s),
                 attr("a_type", AttrKind::Type), attr("b_type", AttrKind::Type),
                 attr("signed_a", AttrKind::Bool), attr("signed_b", AttrKind::Bool)])
        .results(&[result("result", Operand(2))])
        .doc("c + a·b over tiles [mt, nt, kt] of the instruction shape [m, n, k]. Register order: a [mt][kt][fragment], b [nt][kt][fragment], c [mt][nt][fragment].");
    Wgmma = op("wgmma").operands(&[one("a"), one("b"), one("acc"), opt("accumulate")])
        .attrs(&[attr("n", I32), attr("k", I32), attr("m_tiles", I32), attr("k_steps", I32),
                 attr("a_m_step", I32), attr("a_k_steps", AttrKind::I64s), attr("b_k_steps", AttrKind::I64s),
                 attr("a_type", AttrKind::Type), attr("b_type", AttrKind::Type),
                 attr("trans_a", AttrKind::Bool), attr("trans_b", AttrKind::Bool),
                 attr("signed_a", AttrKind::Bool), attr("signed_b", AttrKind::Bool)])
        .results(&[result("result", Operand(2))])
        .doc("acc + a·b by m64nNkK instructions: for each k step, for each m tile. `a` and `b` are i64 descriptors (steps are added to them, in descriptor units of 16 bytes) or, for `a`, a register fragment. A wgmma.fence comes first. With `accumulate` (i1) false the old accumulator is ignored on the first k step. The result is in flight until waited for.");
    WgmmaCommit = op("wgmma.commit").doc("Closes the wgmma group.");
    WgmmaWait = op("wgmma.wait").operands(&[var("accs")]).attrs(&[attr("pending", I32)])
        .results(&[result("results", Explicit).variadic()])
        .doc("Waits until at most `pending` groups are in flight; the results are the operands (same registers), usable when their group is done.");
    TensorAlloc = op("tcgen05.alloc").operands(&[one("slot")]).attrs(&[attr("columns", I32)])
        .doc("Allocates columns of tensor memory and writes their address to shared memory. One warp.");
    TensorRelinquish = op("tcgen05.relinquish").doc("The block will allocate no more tensor memory. One warp.");
    TensorDealloc = op("tcgen05.dealloc").operands(&[one("address")]).attrs(&[attr("columns", I32)])
        .doc("Gives columns of tensor memory (address: i32) back. The warp that allocated them.");
    TensorLd = op("tcgen05.ld").operands(&[one("address")]).attrs(TENSOR_ACCESS).results(OTHER)
        .doc("Loads from tensor memory (i32 address plus columns), `count` repetitions of the shape for each offset, and waits. `pairs`: elements of 16 bits, each in a column of its own.");
    TensorSt = op("tcgen05.st").operands(&[one("address"), one("value")]).attrs(TENSOR_ACCESS)
        .doc("Stores to tensor memory and waits.");
    TensorMma = op("tcgen05.mma").operands(&[one("d"), one("a"), one("b"), opt("accumulate")])
        .attrs(&[attr("kind", AttrKind::Enum(&enums::TENSOR_KIND)), attr("descriptor", I32),
                 attr("d_m_steps", AttrKind::I64s), attr("d_n_steps", AttrKind::I64s), attr("a_m_steps", AttrKind::I64s),
                 attr("a_k_steps", AttrKind::I64s), attr("b_n_steps", AttrKind::I64s), attr("b_k_steps", AttrKind::I64s)])
        .doc("d + a·b in tensor memory, by one thread: for each k step, for each tile of M, for each of N. `d` is an i32 address (steps in columns), `b` an i64 descriptor (steps in its units of 16 bytes), `a` a descriptor or an address. With `accumulate` (i1) false the first k step overwrites d.");
    TensorCommit = op("tcgen05.commit").operands(&[one("mbarrier")])
        .doc("An arrival at the mbarrier once this thread's products so far are done.");

    // ---- control flow ----------------------------------------------------------------------
    For = op("for").operands(&[one("lower"), one("upper"), one("step"), var("inits")]).regions(ONE_REGION)
        .attrs(&[attr("unsigned", AttrKind::Unit).optional(), attr("unroll", I32).optional()])
        .results(&[result("results", Explicit).variadic()])
        .doc("Counts from lower to below upper. The block's arguments are the counter, then the carried values; `yield` (or `continue`) gives the next ones.");
    If = op("if").operands(&[one("condition")])
        .attrs(&[attr("uniform", AttrKind::Unit).optional()])
        .regions(&[RegionDef { name: "then", optional: false }, RegionDef { name: "else", optional: true }])
        .results(&[result("results", Explicit).variadic()])
        .doc("Two ways; `uniform` when all threads of a warp agree.");
    Loop = op("loop").operands(&[var("inits")]).regions(ONE_REGION).results(&[result("results", Explicit).variadic()])
        .doc("Repeats until `break`, whose operands are the results.");
    Yield = op("yield").operands(&[var("operands")]).traits(TERMINATOR).doc("Values of an `if` or the next ones of a `for`.");
    Continue = op("continue").operands(&[var("operands")]).traits(TERMINATOR).doc("Next iteration of the innermost `for` or `loop`, also from inside an `if`.");
    Break = op("break").operands(&[var("operands")]).traits(TERMINATOR).doc("Leaves the innermost `loop` with its results, also from inside an `if`.");
}}
