//! `cuda_tile`: the dialect of the public bytecode, versions 13.1 … 13.5.
//!
//! Rows follow the opcodes. A row lists attributes in the order in which they are encoded; the
//! `since` of an operand, attribute or result is the first version that encodes it. Sources: the
//! public dialect's definitions (13.3) and the encoder of the `cuda-tile` package (13.5).

use super::ResultType::{BoolLike, Explicit, Operand, Token};
use super::{
    AttrDef, AttrKind, Default, OpDef, OperandDef, ResultDef, Traits, Version, attr,
    def::dialect_table, enums, one, op, opt, region, result, var,
};

const PURE: Traits = Traits::PURE;
const ELEMENTWISE: Traits = PURE.or(Traits::ELEMENTWISE);
const ARITH: Traits = ELEMENTWISE.or(Traits::SAME_TYPE);
const COMMUTATIVE: Traits = ARITH.or(Traits::COMMUTATIVE);
const TERMINATOR: Traits = Traits::TERMINATOR;
const MEMORY: Traits = Traits::MEMORY;
const SEGMENTED_MEMORY: Traits = MEMORY.or(Traits::SEGMENTED);

const V13_2: Version = Version::V13_2;
const V13_3: Version = Version::V13_3;
const V13_4: Version = Version::V13_4;
const V13_5: Version = Version::V13_5;

const SOURCE: &[OperandDef] = &[one("source")];
const FROM: &[OperandDef] = &[one("from")];
const LHS_RHS: &[OperandDef] = &[one("lhs"), one("rhs")];
const LHS_RHS_ACC: &[OperandDef] = &[one("lhs"), one("rhs"), one("acc")];
const TENSOR_VIEW: &[OperandDef] = &[one("tensor_view")];
const OPERANDS: &[OperandDef] = &[var("operands")];

const SAME: &[ResultDef] = &[result("result", Operand(0))];
const OTHER: &[ResultDef] = &[result("result", Explicit)];
const TO: &[ResultDef] = &[result("to", Explicit)];
const ACC: &[ResultDef] = &[result("result", Operand(2))];
const I1: &[ResultDef] = &[result("result", BoolLike(0))];
const TOKEN: &[ResultDef] = &[result("result_token", Token)];
const TILE_TOKEN: &[ResultDef] = &[result("tile", Explicit), result("result_token", Token)];
const RESULT_TOKEN: &[ResultDef] = &[result("result", Explicit), result("result_token", Token)];

const ROUNDING: AttrDef = attr("rounding_mode", AttrKind::Enum(&enums::ROUNDING));
const FULL: Default = Default::Case(enums::rounding::FULL);
const NEAREST_EVEN: Default = Default::Case(enums::rounding::NEAREST_EVEN);
const SIGNEDNESS: AttrDef = attr("signedness", AttrKind::Enum(&enums::SIGNEDNESS));
const OVERFLOW: AttrDef =
    attr("overflow", AttrKind::Enum(&enums::OVERFLOW)).default(Default::Case(0));
const FTZ: AttrDef = attr("flush_to_zero", AttrKind::Unit).optional();
const NAN: AttrDef = attr("propagate_nan", AttrKind::Unit).optional();
const PREDICATE: AttrDef = attr(
    "comparison_predicate",
    AttrKind::Enum(&enums::CMP_PREDICATE),
);
const ORDERING: AttrDef = attr(
    "memory_ordering_semantics",
    AttrKind::Enum(&enums::ORDERING),
);
const SCOPE: AttrDef = attr("memory_scope", AttrKind::Enum(&enums::SCOPE));
const HINTS: AttrDef = attr("optimization_hints", AttrKind::Hints).optional();
const RMW_MODE: AttrDef = attr("mode", AttrKind::Enum(&enums::RMW_MODE));
const MULTIMEM: AttrDef =
    attr("reduction", AttrKind::Enum(&enums::MULTIMEM_REDUCTION)).default(Default::Case(0));
const SYM_NAME: AttrDef = attr("sym_name", AttrKind::Str);
/// Dimensions of the index (group `i`) that are known to lie inside the view.
const fn inbounds(i: u8, since: Version) -> AttrDef {
    attr("inbounds", AttrKind::Bools)
        .default(Default::AllFalse(i))
        .since(since)
}

/// `result = f(source)` of one float type.
const fn unary(name: &'static str, code: u16, doc: &'static str) -> OpDef {
    op(name)
        .code(code)
        .operands(SOURCE)
        .results(SAME)
        .traits(ARITH)
        .doc(doc)
}

/// `result = f(lhs, rhs)` of one type.
const fn binary(name: &'static str, code: u16, doc: &'static str) -> OpDef {
    op(name)
        .code(code)
        .operands(LHS_RHS)
        .results(SAME)
        .traits(ARITH)
        .doc(doc)
}

/// `to = convert(from)`, element by element.
const fn cast(name: &'static str, code: u16, doc: &'static str) -> OpDef {
    op(name)
        .code(code)
        .operands(FROM)
        .results(TO)
        .traits(ELEMENTWISE)
        .doc(doc)
}

/// `result = reinterpret(source)`, element by element.
const fn recast(name: &'static str, code: u16, doc: &'static str) -> OpDef {
    op(name)
        .code(code)
        .operands(SOURCE)
        .results(OTHER)
        .traits(ELEMENTWISE)
        .doc(doc)
}

/// A pure operation on one tile or view that yields another type.
const fn reform(name: &'static str, code: u16, doc: &'static str) -> OpDef {
    op(name)
        .code(code)
        .operands(SOURCE)
        .results(OTHER)
        .traits(PURE)
        .doc(doc)
}

const fn make_view(name: &'static str, code: u16, doc: &'static str) -> OpDef {
    op(name)
        .code(code)
        .operands(TENSOR_VIEW)
        .results(OTHER)
        .traits(PURE)
        .doc(doc)
}

dialect_table! { CudaTile {
    AbsF = unary("absf", 0x00, "Clears the sign.");
    AbsI = unary("absi", 0x01, "Absolute value of a signed integer; the minimum maps to itself.");
    AddF = binary("addf", 0x02, "Sum of floats.").attrs(&[ROUNDING, FTZ]).traits(COMMUTATIVE);
    AddI = binary("addi", 0x03, "Sum of integers, modulo 2^n.").attrs(&[OVERFLOW]).traits(COMMUTATIVE);
    AndI = binary("andi", 0x04, "Bitwise and.").traits(COMMUTATIVE);
    Assert = op("assert").code(0x05).operands(&[one("condition")]).attrs(&[attr("message", AttrKind::Str)])
        .doc("Reports the message where an element of the condition is false.");
    Assume = op("assume").code(0x06).operands(&[one("value")])
        .attrs(&[attr("predicate", AttrKind::Assume)])
        .results(SAME).traits(PURE).doc("The value, with a fact about it that the compiler may rely on.");
    AtomicCas = op("atomic_cas_tko").code(0x07)
        .operands(&[one("pointers"), one("cmp"), one("val"), opt("mask"), opt("token")])
        .attrs(&[ORDERING, SCOPE])
        .results(&[result("result", Operand(2)), result("result_token", Token)])
        .traits(SEGMENTED_MEMORY).doc("Writes `val` where memory equals `cmp`; yields what was there.");
    AtomicRmw = op("atomic_rmw_tko").code(0x08)
        .operands(&[one("pointers"), one("arg"), opt("mask"), opt("token")])
        .attrs(&[ORDERING, SCOPE, RMW_MODE])
        .results(&[result("result", Operand(1)), result("result_token", Token)])
        .traits(SEGMENTED_MEMORY).doc("Updates memory atomically; yields what was there.");
    Bitcast = recast("bitcast", 0x09, "The same bits as another element type of equal width.");
    Break = op("break").code(0x0A).operands(OPERANDS).traits(TERMINATOR)
        .doc("Leaves the enclosing loop with these results.");
    Broadcast = reform("broadcast", 0x0B, "Repeats extents of 1.");
    Cat = op("cat").code(0x0C).operands(LHS_RHS).attrs(&[attr("dim", AttrKind::Int(64))]).results(OTHER)
        .traits(PURE).doc("Concatenates two tiles along a dimension.");
    Ceil = unary("ceil", 0x0D, "Rounds up to an integral value.");
    CmpF = op("cmpf").code(0x0E).operands(LHS_RHS)
        .attrs(&[PREDICATE, attr("comparison_ordering", AttrKind::Enum(&enums::CMP_ORDERING))])
        .results(I1).traits(ELEMENTWISE).doc("Compares floats; unordered comparisons hold when an operand is NaN.");
    CmpI = op("cmpi").code(0x0F).operands(LHS_RHS).attrs(&[PREDICATE, SIGNEDNESS])
        .results(I1).traits(ELEMENTWISE).doc("Compares integers.");
    Constant = op("constant").code(0x10).attrs(&[attr("value", AttrKind::Dense)]).results(OTHER)
        .traits(PURE.or(Traits::CONSTANT)).doc("A tile of given values.");
    Continue = op("continue").code(0x11).operands(OPERANDS).traits(TERMINATOR)
        .doc("Starts the next iteration of the enclosing loop with these values.");
    Cos = unary("cos", 0x12, "Cosine.");
    CosH = unary("cosh", 0x13, "Hyperbolic cosine.");
    DivF = binary("divf", 0x14, "Quotient of floats.").attrs(&[ROUNDING, FTZ]);
    DivI = binary("divi", 0x15, "Quotient of integers.").attrs(&[SIGNEDNESS,
        attr("rounding", AttrKind::Enum(&enums::ROUNDING)).default(Default::Case(enums::rounding::ZERO))]);
    Entry = op("entry").code(0x16)
        .attrs(&[SYM_NAME, attr("function_type", AttrKind::Type),
            attr("arg_attrs", AttrKind::Array).optional().since(V13_5),
            attr("res_attrs", AttrKind::Array).optional(), HINTS])
        .regions(&[region("body")]).traits(Traits::ISOLATED.or(Traits::SYMBOL))
        .doc("A kernel: what one tile block runs.");
    Exp = unary("exp", 0x17, "e to the power of the source.").attrs(&[ROUNDING.default(FULL).since(V13_3)]);
    Exp2 = unary("exp2", 0x18, "2 to the power of the source.").attrs(&[FTZ]);
    ExtI = cast("exti", 0x25, "Widens integers, by sign or by zeros.").attrs(&[SIGNEDNESS]);
    Extract = op("extract").code(0x26).operands(&[one("source"), var("indices")]).results(OTHER).traits(PURE)
        .doc("One of the equal slices of a tile; indices count slices.");
    Floor = unary("floor", 0x27, "Rounds down to an integral value.");
    Fma = op("fma").code(0x28).operands(LHS_RHS_ACC).attrs(&[ROUNDING, FTZ]).results(SAME).traits(ARITH)
        .doc("lhs · rhs + acc, rounded once.");
    For = op("for").code(0x29)
        .operands(&[one("lowerBound"), one("upperBound"), one("step"), var("initValues")])
        .attrs(&[attr("unsignedCmp", AttrKind::Unit).optional().since(V13_2)])
        .results(&[result("resultValues", Explicit).variadic()]).regions(&[region("region")])
        .doc("Counts from the lower bound, while below the upper bound, by steps, carrying values.");
    FToF = cast("ftof", 0x2A, "Converts between float formats.").attrs(&[ROUNDING.default(NEAREST_EVEN)]);
    FToI = cast("ftoi", 0x2B, "Converts floats to integers.")
        .attrs(&[SIGNEDNESS, ROUNDING, attr("saturating", AttrKind::Unit).optional().since(V13_4)]);
    GetGlobal = op("get_global").code(0x2C).attrs(&[attr("name", AttrKind::Symbol)]).results(OTHER).traits(PURE)
        .doc("Pointer to a global of the module.");
    GetIndexSpaceShape = op("get_index_space_shape").code(0x2D).operands(&[one("src")])
        .results(&[result("result", Explicit).variadic()]).traits(PURE)
        .doc("How many tiles a view has along each dimension.");
    GetNumTileBlocks = op("get_num_tile_blocks").code(0x2E)
        .results(&[result("gridSize_x", Explicit), result("gridSize_y", Explicit), result("gridSize_z", Explicit)])
        .traits(PURE).doc("The grid's extents, in tile blocks.");
    GetTensorShape = op("get_tensor_shape").code(0x2F).operands(&[one("src")])
        .results(&[result("result", Explicit).variadic()]).traits(PURE).doc("A tensor view's extents.");
    GetTileBlockId = op("get_tile_block_id").code(0x30)
        .results(&[result("blockId_x", Explicit), result("blockId_y", Explicit), result("blockId_z", Explicit)])
        .traits(PURE).doc("This tile block's coordinates in the grid.");
    Global = op("global").code(0x31)
        .attrs(&[SYM_NAME, attr("value", AttrKind::Dense),
            attr("alignment", AttrKind::Int(64)).default(Default::Int(0)),
            attr("constant", AttrKind::Unit).optional().since(V13_3),
            attr("symbol_visibility", AttrKind::Enum(&enums::VISIBILITY)).default(Default::Case(0)).since(V13_3)])
        .traits(Traits::SYMBOL).doc("A variable of the module, with its first value.");
    If = op("if").code(0x32).operands(&[one("condition")])
        .results(&[result("results", Explicit).variadic()])
        .regions(&[region("thenRegion"), region("elseRegion").optional()])
        .doc("Runs one of two regions.");
    IntToPtr = recast("int_to_ptr", 0x33, "Pointers from 64-bit addresses.");
    Iota = op("iota").code(0x3A).results(OTHER).traits(PURE).doc("0, 1, 2, … along the only dimension.");
    IToF = cast("itof", 0x3B, "Converts integers to floats.").attrs(&[SIGNEDNESS, ROUNDING]);
    JoinTokens = op("join_tokens").code(0x3C).operands(&[var("tokens")])
        .results(&[result("result", Token)]).traits(PURE).doc("A token that follows all the given ones.");
    LoadPtr = op("load_ptr_tko").code(0x3D)
        .operands(&[one("source"), opt("mask"), opt("paddingValue"), opt("token")])
        .attrs(&[ORDERING, SCOPE.optional(), HINTS]).results(RESULT_TOKEN).traits(SEGMENTED_MEMORY)
        .doc("Gathers from pointers; masked-off elements take the padding value.");
    LoadView = op("load_view_tko").code(0x3E).operands(&[one("view"), var("index"), opt("token")])
        .attrs(&[ORDERING, SCOPE.optional(), HINTS, inbounds(1, V13_4)])
        .results(TILE_TOKEN).traits(SEGMENTED_MEMORY).doc("Loads one tile of a view.");
    Log = unary("log", 0x3F, "Natural logarithm.");
    Log2 = unary("log2", 0x40, "Logarithm to base 2.");
    Loop = op("loop").code(0x41).operands(&[var("initValues")])
        .results(&[result("resultValues", Explicit).variadic()]).regions(&[region("region")])
        .doc("Repeats until a break, carrying values.");
    MakePartitionView = make_view("make_partition_view", 0x42, "Divides a tensor view into a grid of tiles.");
    MakeTensorView = op("make_tensor_view").code(0x43)
        .operands(&[one("base"), var("dynamicShape"), var("dynamicStrides")]).results(OTHER)
        .traits(PURE.or(Traits::SEGMENTED)).doc("A tensor in memory: base pointer, extents and strides in elements.");
    MakeToken = op("make_token").code(0x44).results(&[result("result", Token)]).traits(PURE)
        .doc("A token that follows nothing.");
    MaxF = binary("maxf", 0x45, "The larger float.").attrs(&[NAN, FTZ]).traits(COMMUTATIVE);
    MaxI = binary("maxi", 0x46, "The larger integer.").attrs(&[SIGNEDNESS]).traits(COMMUTATIVE);
    MinF = binary("minf", 0x47, "The smaller float.").attrs(&[NAN, FTZ]).traits(COMMUTATIVE);
    MinI = binary("mini", 0x48, "The smaller integer.").attrs(&[SIGNEDNESS]).traits(COMMUTATIVE);
    MmaF = op("mmaf").code(0x49).operands(LHS_RHS_ACC)
        .attrs(&[attr("fast_acc", AttrKind::Unit).optional().since(V13_3)]).results(ACC).traits(PURE)
        .doc("Matrix product plus accumulator, floats; rank 2, or 3 with a batch.");
    MmaI = op("mmai").code(0x4A).operands(LHS_RHS_ACC)
        .attrs(&[attr("signedness_lhs", AttrKind::Enum(&enums::SIGNEDNESS)),
            attr("signedness_rhs", AttrKind::Enum(&enums::SIGNEDNESS))])
        .results(ACC).traits(PURE).doc("Matrix product plus accumulator, 8-bit integers into 32.");
    Module = op("module").code(0x4B)
        .attrs(&[SYM_NAME, attr("producer", AttrKind::Str).optional().since(V13_3)])
        .regions(&[region("body").optional()]).traits(Traits::ISOLATED.or(Traits::SYMBOL))
        .doc("Holds entries and globals.");
    MulF = binary("mulf", 0x4C, "Product of floats.").attrs(&[ROUNDING, FTZ]).traits(COMMUTATIVE);
    MulhiI = op("mulhii").code(0x4D).operands(&[one("x"), one("y")]).results(SAME).traits(COMMUTATIVE)
        .doc("The upper half of the unsigned product.");
    MulI = binary("muli", 0x4E, "Product of integers, modulo 2^n.").attrs(&[OVERFLOW]).traits(COMMUTATIVE);
    NegF = unary("negf", 0x4F, "Flips the sign.");
    NegI = unary("negi", 0x50, "Two's complement negation.").attrs(&[OVERFLOW.since(V13_2)]);
    Offset = op("offset").code(0x51).operands(&[one("ptr"), one("offset")]).results(SAME).traits(ELEMENTWISE)
        .doc("Advances pointers by whole pointees.");
    OrI = binary("ori", 0x52, "Bitwise or.").traits(COMMUTATIVE);
    Permute = op("permute").code(0x53).operands(SOURCE).attrs(&[attr("permutation", AttrKind::I32s)])
        .results(OTHER).traits(PURE).doc("Reorders dimensions: result dimension i is source dimension permutation[i].");
    FPowF = op("fpowf").code(0x54).operands(&[one("source"), one("exponent")]).results(SAME).traits(ARITH)
        .doc("Float to the power of a float (`pow` before 13.4).");
    Print = op("print_tko").code(0x55)
        .operands(&[var("args"), opt("token").since(V13_2)]).attrs(&[attr("str", AttrKind::Str)])
        .results(&[result("result_token", Token).since(V13_2)])
        .traits(SEGMENTED_MEMORY).doc("Prints tiles by a C-style format string.");
    PtrToInt = recast("ptr_to_int", 0x56, "64-bit addresses of pointers.");
    PtrToPtr = recast("ptr_to_ptr", 0x57, "The same addresses with another pointee.");
    Reduce = op("reduce").code(0x58).operands(OPERANDS)
        .attrs(&[attr("dim", AttrKind::Int(32)), attr("identities", AttrKind::Array)])
        .results(&[result("results", Explicit).variadic()]).regions(&[region("body")]).traits(PURE)
        .doc("Folds a dimension by the region's combination of (new, so far) element pairs.");
    RemF = binary("remf", 0x59, "Remainder of floats, with the sign of lhs.");
    RemI = binary("remi", 0x5A, "Remainder of integers, with the sign of lhs.").attrs(&[SIGNEDNESS]);
    Reshape = reform("reshape", 0x5B, "The same elements in row-major order in another shape.");
    Return = op("return").code(0x5C).operands(OPERANDS).traits(TERMINATOR).doc("Ends the tile block's work.");
    Rsqrt = unary("rsqrt", 0x5D, "Reciprocal square root.").attrs(&[FTZ]);
    Scan = op("scan").code(0x5E).operands(OPERANDS)
        .attrs(&[attr("dim", AttrKind::Int(32)), attr("reverse", AttrKind::Bool), attr("identities", AttrKind::Array)])
        .results(&[result("results", Explicit).variadic()]).regions(&[region("body")]).traits(PURE)
        .doc("Inclusive prefix combination along a dimension.");
    Select = op("select").code(0x5F).operands(&[one("cond"), one("val_if_true"), one("val_if_false")])
        .results(&[result("result", Operand(1))]).traits(ELEMENTWISE).doc("Chooses element by element.");
    ShLI = binary("shli", 0x60, "Shifts left.").attrs(&[OVERFLOW]);
    ShRI = binary("shri", 0x61, "Shifts right, by sign or by zeros.").attrs(&[SIGNEDNESS]);
    Sin = unary("sin", 0x62, "Sine.");
    SinH = unary("sinh", 0x63, "Hyperbolic sine.");
    Sqrt = unary("sqrt", 0x64, "Square root.").attrs(&[ROUNDING, FTZ]);
    StorePtr = op("store_ptr_tko").code(0x65)
        .operands(&[one("destination"), one("value"), opt("mask"), opt("token")])
        .attrs(&[ORDERING, SCOPE.optional(), HINTS]).results(TOKEN).traits(SEGMENTED_MEMORY)
        .doc("Scatters to pointers where the mask holds.");
    StoreView = op("store_view_tko").code(0x66).operands(&[one("tile"), one("view"), var("index"), opt("token")])
        .attrs(&[ORDERING, SCOPE.optional(), HINTS, inbounds(2, V13_4)])
        .results(TOKEN).traits(SEGMENTED_MEMORY).doc("Stores one tile of a view.");
    SubF = binary("subf", 0x67, "Difference of floats.").attrs(&[ROUNDING, FTZ]);
    SubI = binary("subi", 0x68, "Difference of integers, modulo 2^n.").attrs(&[OVERFLOW]);
    Tan = unary("tan", 0x69, "Tangent.");
    TanH = unary("tanh", 0x6A, "Hyperbolic tangent.").attrs(&[ROUNDING.default(FULL).since(V13_2)]);
    TruncI = cast("trunci", 0x6B, "Keeps the low bits.").attrs(&[OVERFLOW]);
    XOrI = binary("xori", 0x6C, "Bitwise exclusive or.").traits(COMMUTATIVE);
    Yield = op("yield").code(0x6D).operands(OPERANDS).traits(TERMINATOR).doc("Ends a region with its results.");

    Atan2 = op("atan2").code(0x6E).since(V13_2).operands(&[one("x"), one("y")]).results(SAME).traits(ARITH)
        .doc("Angle of the point whose ordinate is the first operand and abscissa the second.");
    Pack = reform("pack", 0x6F, "The tile's bits as bytes.").since(V13_3);
    Unpack = reform("unpack", 0x70, "Elements from bytes.").since(V13_3);
    Alloca = op("alloca").code(0x71).since(V13_3)
        .attrs(&[attr("num_elem", AttrKind::Int(64)), attr("alignment", AttrKind::Int(64)),
            attr("global", AttrKind::Unit).optional()])
        .results(OTHER).doc("Memory of this tile block's own.");
    MmaFScaled = op("mmaf_scaled").code(0x72).since(V13_3)
        .operands(&[one("lhs"), one("rhs"), one("acc"), one("lhs_scale"), one("rhs_scale")])
        .results(ACC).traits(PURE).doc("Matrix product of block-scaled floats plus accumulator.");
    MakeGatherScatterView = make_view("make_gather_scatter_view", 0x73,
        "Tiles whose rows along one dimension are chosen by an index tile.").since(V13_3);
    MakeStridedView = make_view("make_strided_view", 0x74,
        "Tiles that start every `traversal_strides` elements, and may overlap.").since(V13_3);
    AtomicRedView = op("atomic_red_view_tko").code(0x75).since(V13_3)
        .operands(&[one("view"), var("index"), one("value"), opt("token")])
        .attrs(&[ORDERING, SCOPE, RMW_MODE, inbounds(1, V13_5)])
        .results(TOKEN).traits(SEGMENTED_MEMORY).doc("Updates one tile of a view atomically, yielding nothing.");
    Insert = op("insert").code(0x76).since(V13_4)
        .operands(&[one("source"), one("destination"), var("indices")])
        .results(&[result("result", Operand(1))]).traits(PURE)
        .doc("The destination with one of its equal slices replaced by the source.");
    GdcLaunchDependents = op("gdc_launch_dependents_tko").code(0x77).since(V13_4).operands(&[opt("token")])
        .results(TOKEN).traits(MEMORY).doc("Lets the grids that depend on this one start.");
    GdcWait = op("gdc_wait_tko").code(0x78).since(V13_4).operands(&[opt("token")])
        .results(TOKEN).traits(MEMORY).doc("Waits for the grids that this one depends on.");
    FPowI = op("fpowi").code(0x79).since(V13_4).operands(&[one("source"), one("exponent")]).results(SAME)
        .traits(ELEMENTWISE).doc("Float to the power of an integer.");
    MemoryFenceAlias = op("memory_fence_alias_tko").code(0x7A).since(V13_4).operands(&[one("token")])
        .results(TOKEN).traits(MEMORY).doc("Orders accesses to one memory through different views.");
    MultimemLoadReduceView = op("multimem_load_reduce_view_tko").code(0x7B).since(V13_5)
        .operands(&[one("view"), var("index"), opt("token")])
        .attrs(&[ORDERING, SCOPE.optional(), MULTIMEM, inbounds(1, V13_5)])
        .results(&[result("reduced_values", Explicit), result("result_token", Token)])
        .traits(SEGMENTED_MEMORY).doc("Loads the same tile from several devices, combined.");
    MultimemReduceView = op("multimem_reduce_view_tko").code(0x7C).since(V13_5)
        .operands(&[one("view"), one("tile"), var("index"), opt("token")])
        .attrs(&[ORDERING, SCOPE, MULTIMEM, inbounds(2, V13_5)])
        .results(TOKEN).traits(SEGMENTED_MEMORY).doc("Combines a tile into the memory of several devices.");
    MultimemStoreView = op("multimem_store_view_tko").code(0x7D).since(V13_5)
        .operands(&[one("view"), one("tile"), var("index"), opt("token")])
        .attrs(&[ORDERING, SCOPE.optional(), inbounds(2, V13_5)])
        .results(TOKEN).traits(SEGMENTED_MEMORY).doc("Stores a tile to the memory of several devices.");
    PreviewCall = op("preview$call").code(0x4002).since(V13_5).operands(OPERANDS)
        .attrs(&[attr("callee", AttrKind::Symbol), attr("const_args", AttrKind::Array),
            attr("arg_attrs", AttrKind::Array).optional(), attr("res_attrs", AttrKind::Array).optional()])
        .results(&[result("results", Explicit).variadic()])
        .doc("Calls an external function (preview).");
}}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opcodes_are_unique_and_ordered() {
        let codes: Vec<_> = TABLE.iter().filter_map(|o| o.opcode).collect();
        assert!(codes.windows(2).all(|w| w[0] < w[1]), "{codes:?}");
        assert_eq!(TABLE.len(), Op::ALL.len());
    }

    #[test]
    fn table_names_are_unique() {
        let names: std::collections::BTreeSet<_> = TABLE.iter().map(|o| o.name).collect();
        assert_eq!(names.len(), TABLE.len());
    }
}
