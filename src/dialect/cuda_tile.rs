//! `cuda_tile`: the dialect of the public bytecode, versions 13.1 … 13.5.
//!
//! Rows follow the opcodes. A row lists attributes in the order in which they are encoded; the
//! `since` of an operand, attribute or result is the first version that encodes it. Sources: the
//! public dialect's definitions (13.3) and the encoder of the `cuda-tile` package (13.5).

use super::ResultType::{BoolLike, Explicit, Operand, Token};
use super::constraint::*;
use super::declare::dialect_table;
use super::enums::{
    NanOrder, Ordering, Predicate, Reduction, RmwMode, Rounding, Scope, Visibility,
};
use super::meaning::{Meaning, Meaning::*, Nan, Saturate, Sign, Unit};
use super::parts::{
    Array, Assumption, Bool, Bools, Dense, Flag, Group, Hints, I32s, Int, One, Opt, Str, Symbol,
    Ty, Var,
};
use super::{
    AttrDef, AttrKind, Default, OpDef, OperandDef, ResultDef, Traits, Version, attr, enums, modes,
    one, op, region, result,
};

use crate::scalar::{
    FloatBinary, FloatUnary, IntBinary, IntUnary, MathBinary, MathUnary, Signedness,
};

const PURE: Traits = Traits::PURE;
const ELEMENTWISE: Traits = PURE.or(Traits::ELEMENTWISE);
const ARITH: Traits = ELEMENTWISE.or(Traits::SAME_TYPE);
const COMMUTATIVE: Traits = ARITH.or(Traits::COMMUTATIVE);
const TERMINATOR: Traits = Traits::TERMINATOR;
const MEMORY: Traits = Traits::MEMORY;
const SEGMENTED_MEMORY: Traits = MEMORY.or(Traits::SEGMENTED);
const ATOMIC: Traits = SEGMENTED_MEMORY.or(Traits::ATOMIC);

const V13_2: Version = Version::V13_2;
const V13_3: Version = Version::V13_3;
const V13_4: Version = Version::V13_4;
const V13_5: Version = Version::V13_5;

const SOURCE: &[OperandDef] = &[one("source")];
const FROM: &[OperandDef] = &[one("from")];
const LHS_RHS: &[OperandDef] = &[one("lhs"), one("rhs")];

const SAME: &[ResultDef] = &[result("result", Operand(0))];
const OTHER: &[ResultDef] = &[result("result", Explicit)];
const TO: &[ResultDef] = &[result("to", Explicit)];

const ROUNDING: AttrDef = attr("rounding_mode", AttrKind::Enum(&enums::ROUNDING));
const TO_FULL: Default = Default::Case(Rounding::Full as u8);
const NEAREST_EVEN: Default = Default::Case(Rounding::NearestEven as u8);
const SIGNEDNESS: AttrDef = attr("signedness", AttrKind::Enum(&enums::SIGNEDNESS));
const WRAP: AttrDef = attr("overflow", AttrKind::Enum(&enums::OVERFLOW)).default(Default::Case(0));
const FLUSH: AttrDef = attr("flush_to_zero", AttrKind::Unit).optional();
const NAN: AttrDef = attr("propagate_nan", AttrKind::Unit).optional();
// ---- assembly forms that several operations share (their language: `src/asm/pretty/formats.rs`) --------------

const UNARY: &str = "$source : type(result)";
const BINARY: &str = "$lhs, $rhs : type(result)";
const OVERFLOW: &str = "$lhs, $rhs (overflow? overflow<$overflow>) : type(result)";
const SIGNED: &str = "$lhs, $rhs $signedness : type(result)";
const ROUNDED: &str = "$lhs, $rhs (rounding_mode~nearest_even? rounding<$rounding_mode>) \
     (flush_to_zero? flush_to_zero) : type(result)";
const MINMAX: &str = "$lhs, $rhs {flags flush_to_zero propagate_nan} : type(result)";
const RECAST: &str = "$source : type(source) -> type(result)";
const FULL: &str = "$source (rounding_mode~full? rounding<$rounding_mode>) : type(result)";
const FTZ: &str = "$source (flush_to_zero? flush_to_zero) : type(result)";
const VIEW_TEXT: &str = "$tensor_view : {view result}";
const EXIT: &str = "(operands? $operands : type(operands))";

/// A row of one operand and a result of its type.
const fn unary(name: &'static str, code: u16, meaning: Meaning, doc: &'static str) -> OpDef {
    op(name)
        .code(code)
        .operands(SOURCE)
        .results(SAME)
        .traits(ARITH)
        .text(UNARY)
        .meaning(meaning)
        .doc(doc)
}

/// `result = f(source)` of one float type.
const fn float1(name: &'static str, code: u16, meaning: Meaning, doc: &'static str) -> OpDef {
    unary(name, code, meaning, doc).types(&[BASE_FLOAT], &[BASE_FLOAT])
}

/// `result = f(source)` of one integer type.
const fn int1(name: &'static str, code: u16, meaning: Meaning, doc: &'static str) -> OpDef {
    unary(name, code, meaning, doc).types(&[INT], &[INT])
}

/// A row of two operands and a result of their type.
const fn binary(name: &'static str, code: u16, meaning: Meaning, doc: &'static str) -> OpDef {
    op(name)
        .code(code)
        .operands(LHS_RHS)
        .results(SAME)
        .traits(ARITH)
        .text(BINARY)
        .meaning(meaning)
        .doc(doc)
}

/// `result = f(lhs, rhs)` of one float type.
const fn float2(name: &'static str, code: u16, meaning: Meaning, doc: &'static str) -> OpDef {
    binary(name, code, meaning, doc).types(&[BASE_FLOAT, BASE_FLOAT], &[BASE_FLOAT])
}

/// `result = f(lhs, rhs)` of one integer type.
const fn int2(name: &'static str, code: u16, meaning: Meaning, doc: &'static str) -> OpDef {
    binary(name, code, meaning, doc).types(&[INT, INT], &[INT])
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
        .text(RECAST)
        .doc(doc)
}

/// A pure operation on one tile or view that yields another type.
const fn reform(name: &'static str, code: u16, doc: &'static str) -> OpDef {
    op(name).code(code).traits(PURE).text(RECAST).doc(doc)
}

const fn make_view(name: &'static str, code: u16, doc: &'static str) -> OpDef {
    op(name).code(code).traits(PURE).text(VIEW_TEXT).doc(doc)
}

dialect_table! { CudaTile {
    AbsF = float1("absf", 0x00, Float1(FloatUnary::Abs), "Clears the sign.");
    AbsI = int1("absi", 0x01, Int1(IntUnary::Abs), "Absolute value of a signed integer; the minimum maps to itself.")
        .cost(15);
    AddF = float2("addf", 0x02, Float2(FloatBinary::Add), "Sum of floats.").attrs(&[ROUNDING, FLUSH]).traits(COMMUTATIVE)
        .rounding(&modes::IEEE).text(ROUNDED);
    AddI = int2("addi", 0x03, Int2(IntBinary::Add), "Sum of integers, modulo 2^n.").attrs(&[WRAP]).traits(COMMUTATIVE)
        .text(OVERFLOW);
    AndI = int2("andi", 0x04, Int2(IntBinary::And), "Bitwise and.").traits(COMMUTATIVE);
    Assert(condition: One) { message: Str }
        = op("assert").code(0x05)
        .doc("Reports the message where an element of the condition is false.")
        .types(&[BOOL], &[]).text("$condition, $message : type(condition)");
    Assume(value: One) { predicate: Assumption } -> (result: One(Operand(0)))
        = op("assume").code(0x06).traits(PURE).doc("The value, with a fact about it that the compiler may rely on.")
        .types(&[ANY], &[ANY]).text("$predicate, $value : type(value)");
    AtomicCas(pointers: One, cmp: One, val: One, mask: Opt, token: Opt)
        { memory_ordering_semantics: Ordering, memory_scope: Scope }
        -> (result: One(Operand(2)), result_token: One(Token))
        = op("atomic_cas_tko").code(0x07)
        .traits(ATOMIC).doc("Writes `val` where memory equals `cmp`; yields what was there.")
        .types(&[POINTER, TILE, TILE, BOOL, TOKEN], &[TILE, TOKEN])
        .text("$memory_ordering_semantics $memory_scope $pointers, $cmp, $val (mask?, $mask) \
        (token? token=$token) : type(pointers), type(val) (mask?, type(mask)) -> type(result), type(result_token)");
    AtomicRmw(pointers: One, arg: One, mask: Opt, token: Opt)
        { memory_ordering_semantics: Ordering, memory_scope: Scope, mode: RmwMode }
        -> (result: One(Operand(1)), result_token: One(Token))
        = op("atomic_rmw_tko").code(0x08)
        .traits(ATOMIC).doc("Updates memory atomically; yields what was there.")
        .types(&[POINTER, TILE, BOOL, TOKEN], &[TILE, TOKEN])
        .text("$memory_ordering_semantics $memory_scope $pointers, $mode, $arg (mask?, $mask) \
        (token? token=$token) : type(pointers), type(arg) (mask?, type(mask)) -> type(result), type(result_token)");
    Bitcast = recast("bitcast", 0x09, "The same bits as another element type of equal width.")
        .types(&[NUMBER], &[NUMBER]).meaning(Copy);
    Break(operands: Var)
        = op("break").code(0x0A).traits(TERMINATOR)
        .doc("Leaves the enclosing loop with these results.")
        .types(&[ANY], &[]).text(EXIT);
    Broadcast(source: One) -> (result: One(Explicit)) = reform("broadcast", 0x0B, "Repeats extents of 1.")
        .types(&[TILE], &[TILE]);
    Cat(lhs: One, rhs: One) { dim: Int<64> } -> (result: One(Explicit))
        = op("cat").code(0x0C)
        .traits(PURE).doc("Concatenates two tiles along a dimension.")
        .types(&[TILE, TILE], &[TILE]).text("$lhs, $rhs dim = $dim : type(lhs), type(rhs) -> type(result)");
    Ceil = float1("ceil", 0x0D, Float1(FloatUnary::Ceil), "Rounds up to an integral value.");
    CmpF(lhs: One, rhs: One)
        { comparison_predicate: Predicate, comparison_ordering: NanOrder }
        -> (result: One(BoolLike(0)))
        = op("cmpf").code(0x0E).traits(ELEMENTWISE).doc("Compares floats; unordered comparisons hold when an operand is NaN.")
        .types(&[BASE_FLOAT, BASE_FLOAT], &[BOOL])
        .text("$comparison_predicate $comparison_ordering $lhs, $rhs : type(lhs) -> type(result)")
        .meaning(FloatCompare);
    CmpI(lhs: One, rhs: One)
        { comparison_predicate: Predicate, signedness: Signedness }
        -> (result: One(BoolLike(0)))
        = op("cmpi").code(0x0F).traits(ELEMENTWISE).doc("Compares integers.")
        .types(&[INT, INT], &[BOOL])
        .text("$comparison_predicate $lhs, $rhs, $signedness : type(lhs) -> type(result)")
        .meaning(IntCompare);
    Constant() { value: Dense } -> (result: One(Explicit))
        = op("constant").code(0x10)
        .traits(PURE.or(Traits::CONSTANT)).doc("A tile of given values.")
        .types(&[], &[NUMBER]).text("{dense value result}");
    Continue(operands: Var)
        = op("continue").code(0x11).traits(TERMINATOR)
        .doc("Starts the next iteration of the enclosing loop with these values.")
        .types(&[ANY], &[]).text(EXIT);
    Cos = float1("cos", 0x12, Math1(MathUnary::Cos), "Cosine.")
        .cost(150);
    CosH = float1("cosh", 0x13, Math1(MathUnary::Cosh), "Hyperbolic cosine.")
        .cost(200);
    DivF = float2("divf", 0x14, Float2(FloatBinary::Div), "Quotient of floats.").attrs(&[ROUNDING, FLUSH])
        .rounding(&modes::IEEE_OR_FAST).text(ROUNDED).cost(120);
    DivI = int2("divi", 0x15, Divide, "Quotient of integers.").attrs(&[SIGNEDNESS,
        attr("rounding", AttrKind::Enum(&enums::ROUNDING)).default(Default::Case(Rounding::Zero as u8))])
        .text("$lhs, $rhs $signedness (rounding? rounding<$rounding>) : type(result)").cost(300);
    Entry()
        { sym_name: Str, function_type: Ty, arg_attrs: Option<Array> => since(V13_5), res_attrs: Option<Array>,
          optimization_hints: Option<Hints> }
        = op("entry").code(0x16)
        .regions(&[region("body")]).traits(Traits::ISOLATED.or(Traits::SYMBOL))
        .doc("A kernel: what one tile block runs.")
        .text("{entry}");
    Exp = float1("exp", 0x17, Math1(MathUnary::Exp), "e to the power of the source.").attrs(&[ROUNDING.default(TO_FULL).since(V13_3)])
        .rounding(&modes::FULL_OR_APPROX).text(FULL).cost(80);
    Exp2 = float1("exp2", 0x18, Math1(MathUnary::Exp2), "2 to the power of the source.").attrs(&[FLUSH])
        .text(FTZ).cost(40);
    ExtI = cast("exti", 0x25, "Widens integers, by sign or by zeros.").attrs(&[SIGNEDNESS])
        .types(&[INT_I4], &[INT_I4]).text("$from $signedness : type(from) -> type(to)")
        .meaning(Widen(Sign::Attribute)).cost(12);
    Extract(source: One, indices: Var) -> (result: One(Explicit))
        = op("extract").code(0x26).traits(PURE)
        .doc("One of the equal slices of a tile; indices count slices.")
        .types(&[TILE, SCALAR_I32], &[TILE]).text("$source[$indices] : type(source) -> type(result)");
    Floor = float1("floor", 0x27, Float1(FloatUnary::Floor), "Rounds down to an integral value.");
    Fma(lhs: One, rhs: One, acc: One)
        { rounding_mode: Rounding, flush_to_zero: Flag }
        -> (result: One(Operand(0)))
        = op("fma").code(0x28).traits(ARITH)
        .doc("lhs · rhs + acc, rounded once.")
        .types(&[BASE_FLOAT, BASE_FLOAT, BASE_FLOAT], &[BASE_FLOAT])
        .text("$lhs, $rhs, $acc (rounding_mode~nearest_even? rounding<$rounding_mode>) \
        (flush_to_zero? flush_to_zero) : type(result)")
        .meaning(Fma).rounding(&modes::IEEE);
    For(lowerBound: One, upperBound: One, step: One, initValues: Var)
        { unsignedCmp: Flag => since(V13_2) }
        -> (resultValues: Var(Explicit))
        = op("for").code(0x29).regions(&[region("region")])
        .doc("Counts from the lower bound, while below the upper bound, by steps, carrying values.")
        .types(&[SCALAR_INT, SCALAR_INT, SCALAR_INT, ANY], &[ANY]).text("(unsignedCmp? unsigned) {for}");
    FToF = cast("ftof", 0x2A, "Converts between float formats.").attrs(&[ROUNDING.default(NEAREST_EVEN)])
        .types(&[FLOAT], &[FLOAT])
        .text("$from (rounding_mode~nearest_even? rounding<$rounding_mode>) : type(from) -> type(to)")
        .meaning(FloatToFloat(Saturate::Narrow)).cost(12);
    FToI = cast("ftoi", 0x2B, "Converts floats to integers.")
        .attrs(&[SIGNEDNESS, ROUNDING, attr("saturating", AttrKind::Unit).optional().since(V13_4)])
        .types(&[FLOAT], &[INT])
        .text("$from $signedness (rounding_mode~nearest_int_to_zero? rounding<$rounding_mode>) \
        (saturating? saturating) : type(from) -> type(to)")
        .meaning(FloatToInt(Sign::Attribute, Nan::Zero)).cost(30);
    GetGlobal() { name: Symbol } -> (result: One(Explicit))
        = op("get_global").code(0x2C).traits(PURE)
        .doc("Pointer to a global of the module.")
        .types(&[], &[SCALAR_POINTER]).text("$name : type(result)");
    GetIndexSpaceShape(src: One) -> (result: Var(Explicit))
        = op("get_index_space_shape").code(0x2D).traits(PURE)
        .doc("How many tiles a view has along each dimension.")
        .types(&[VIEW], &[SCALAR_INT]).text("$src : type(src) -> {rank src result}");
    GetNumTileBlocks() -> (gridSize_x: One(Explicit), gridSize_y: One(Explicit), gridSize_z: One(Explicit))
        = op("get_num_tile_blocks").code(0x2E)
        .traits(PURE).doc("The grid's extents, in tile blocks.")
        .types(&[], &[SCALAR_I32, SCALAR_I32, SCALAR_I32]).text(": {triple}");
    GetTensorShape(src: One) -> (result: Var(Explicit))
        = op("get_tensor_shape").code(0x2F).traits(PURE).doc("A tensor view's extents.")
        .types(&[Is::TensorView], &[SCALAR_INT]).text("$src : type(src) -> {rank src result}");
    GetTileBlockId() -> (blockId_x: One(Explicit), blockId_y: One(Explicit), blockId_z: One(Explicit))
        = op("get_tile_block_id").code(0x30)
        .traits(PURE).doc("This tile block's coordinates in the grid.")
        .types(&[], &[SCALAR_I32, SCALAR_I32, SCALAR_I32]).text(": {triple}");
    Global()
        { sym_name: Str, value: Dense, alignment: Int<64> => default(Default::Int(0)), constant: Flag => since(V13_3),
          symbol_visibility: Visibility => default(Default::Case(0)).since(V13_3) }
        = op("global").code(0x31)
        .traits(Traits::SYMBOL).doc("A variable of the module, with its first value.")
        .text("{visibility symbol_visibility} (constant? constant) {symbol sym_name} \
        (alignment? alignment = $alignment) {dense value}");
    If(condition: One) -> (results: Var(Explicit))
        = op("if").code(0x32)
        .regions(&[region("thenRegion"), region("elseRegion").optional()])
        .doc("Runs one of two regions.")
        .types(&[SCALAR_BOOL], &[ANY]).text("$condition (results? -> (type(results))) {branches}");
    IntToPtr = recast("int_to_ptr", 0x33, "Pointers from 64-bit addresses.")
        .types(&[LONG], &[POINTER]).meaning(Copy);
    Iota() -> (result: One(Explicit))
        = op("iota").code(0x3A).traits(PURE).doc("0, 1, 2, … along the only dimension.")
        .types(&[], &[INT]).text(": type(result)");
    IToF = cast("itof", 0x3B, "Converts integers to floats.").attrs(&[SIGNEDNESS, ROUNDING])
        .types(&[INT], &[FLOAT])
        .text("$from $signedness (rounding_mode~nearest_even? rounding<$rounding_mode>) : type(from) -> type(to)")
        .meaning(IntToFloat(Sign::Attribute)).cost(30);
    JoinTokens(tokens: Var) -> (result: One(Token))
        = op("join_tokens").code(0x3C).traits(PURE).doc("A token that follows all the given ones.")
        .types(&[TOKEN], &[TOKEN]).text("$tokens : type(result)");
    LoadPtr(source: One, mask: Opt, paddingValue: Opt, token: Opt)
        { memory_ordering_semantics: Ordering, memory_scope: Option<Scope>, optimization_hints: Option<Hints> }
        -> (result: One(Explicit), result_token: One(Token))
        = op("load_ptr_tko").code(0x3D).traits(SEGMENTED_MEMORY)
        .doc("Gathers from pointers; masked-off elements take the padding value.")
        .types(&[POINTER, BOOL, NUMBER, TOKEN], &[TILE, TOKEN])
        .text("$memory_ordering_semantics (memory_scope? $memory_scope) $source (mask?, $mask) \
        (paddingValue?, $paddingValue) (token? token=$token) \
        (optimization_hints? optimization_hints = $optimization_hints) : type(source) (mask?, type(mask)) \
        (paddingValue?, type(paddingValue)) -> type(result), type(result_token)");
    LoadView(view: One, index: Var, token: Opt)
        { memory_ordering_semantics: Ordering, memory_scope: Option<Scope>, optimization_hints: Option<Hints>,
          inbounds: Bools => default(Default::AllFalse(1)).since(V13_4) }
        -> (tile: One(Explicit), result_token: One(Token))
        = op("load_view_tko").code(0x3E).traits(SEGMENTED_MEMORY).doc("Loads one tile of a view.")
        .types(&[VIEW, INT, TOKEN], &[TILE, TOKEN])
        .text("$memory_ordering_semantics (memory_scope? $memory_scope) $view[$index] \
        (token? token = $token) (optimization_hints? optimization_hints = $optimization_hints) \
        (inbounds? inbounds = $inbounds) : type(view) {index index} -> type(tile), type(result_token)");
    Log = float1("log", 0x3F, Math1(MathUnary::Log), "Natural logarithm.")
        .cost(80);
    Log2 = float1("log2", 0x40, Math1(MathUnary::Log2), "Logarithm to base 2.")
        .cost(60);
    Loop(initValues: Var) -> (resultValues: Var(Explicit))
        = op("loop").code(0x41).regions(&[region("region")])
        .doc("Repeats until a break, carrying values.")
        .types(&[ANY], &[ANY]).text("{loop}");
    MakePartitionView(tensor_view: One) -> (result: One(Explicit)) = make_view("make_partition_view", 0x42, "Divides a tensor view into a grid of tiles.")
        .types(&[Is::TensorView], &[Is::PartitionView]);
    MakeTensorView(base: One, dynamicShape: Var, dynamicStrides: Var) -> (result: One(Explicit))
        = op("make_tensor_view").code(0x43)
        .traits(PURE.or(Traits::SEGMENTED)).doc("A tensor in memory: base pointer, extents and strides in elements.")
        .types(&[SCALAR_POINTER, SCALAR_INT, SCALAR_INT], &[Is::TensorView]).text("{tensor_view}");
    MakeToken() -> (result: One(Token))
        = op("make_token").code(0x44).traits(PURE)
        .doc("A token that follows nothing.")
        .types(&[], &[TOKEN]).text(": type(result)");
    MaxF = float2("maxf", 0x45, Float2ByNan(|nan| FloatBinary::Max { nan }), "The larger float.").attrs(&[NAN, FLUSH]).traits(COMMUTATIVE)
        .text(MINMAX);
    MaxI = int2("maxi", 0x46, Int2BySign(IntBinary::Max), "The larger integer.").attrs(&[SIGNEDNESS]).traits(COMMUTATIVE)
        .text(SIGNED);
    MinF = float2("minf", 0x47, Float2ByNan(|nan| FloatBinary::Min { nan }), "The smaller float.").attrs(&[NAN, FLUSH]).traits(COMMUTATIVE)
        .text(MINMAX);
    MinI = int2("mini", 0x48, Int2BySign(IntBinary::Min), "The smaller integer.").attrs(&[SIGNEDNESS]).traits(COMMUTATIVE)
        .text(SIGNED);
    MmaF(lhs: One, rhs: One, acc: One) { fast_acc: Flag => since(V13_3) } -> (result: One(Operand(2)))
        = op("mmaf").code(0x49).traits(PURE)
        .doc("Matrix product plus accumulator, floats; rank 2, or 3 with a batch.")
        .types(&[MMAF, MMAF, MMAF_ACC], &[MMAF_ACC])
        .text("$lhs, $rhs, $acc (fast_acc? fast_acc) : type(lhs), type(rhs), type(acc)");
    MmaI(lhs: One, rhs: One, acc: One)
        { signedness_lhs: Signedness, signedness_rhs: Signedness }
        -> (result: One(Operand(2)))
        = op("mmai").code(0x4A).traits(PURE).doc("Matrix product plus accumulator, 8-bit integers into 32.")
        .types(&[MMAI, MMAI, MMAI_ACC], &[MMAI_ACC])
        .text("$lhs, $rhs, $acc $signedness_lhs $signedness_rhs : type(lhs), type(rhs), type(acc)");
    Module() { sym_name: Str, producer: Option<Str> => since(V13_3) }
        = op("module").code(0x4B)
        .regions(&[region("body").optional()]).traits(Traits::ISOLATED.or(Traits::SYMBOL))
        .doc("Holds entries and globals.");
    MulF = float2("mulf", 0x4C, Float2(FloatBinary::Mul), "Product of floats.").attrs(&[ROUNDING, FLUSH]).traits(COMMUTATIVE)
        .rounding(&modes::IEEE).text(ROUNDED);
    MulhiI(x: One, y: One) -> (result: One(Operand(0)))
        = op("mulhii").code(0x4D).traits(COMMUTATIVE)
        .doc("The upper half of the unsigned product.")
        .types(&[INT, INT], &[INT]).text("$x, $y : type(result)")
        .meaning(Int2(IntBinary::MulHi(Signedness::Unsigned))).cost(20);
    MulI = int2("muli", 0x4E, Int2(IntBinary::Mul), "Product of integers, modulo 2^n.").attrs(&[WRAP]).traits(COMMUTATIVE)
        .text(OVERFLOW).cost(20);
    NegF = float1("negf", 0x4F, Float1(FloatUnary::Neg), "Flips the sign.");
    NegI = int1("negi", 0x50, Int1(IntUnary::Neg), "Two's complement negation.").attrs(&[WRAP.since(V13_2)])
        .text("$source (overflow? overflow<$overflow>) : type(result)");
    Offset(ptr: One, offset: One) -> (result: One(Operand(0)))
        = op("offset").code(0x51).traits(ELEMENTWISE)
        .doc("Advances pointers by whole pointees.")
        .types(&[POINTER, INT], &[POINTER]).text("$ptr, $offset : type(ptr), type(offset) -> type(result)")
        .meaning(Advance(Unit::Pointee));
    OrI = int2("ori", 0x52, Int2(IntBinary::Or), "Bitwise or.").traits(COMMUTATIVE);
    Permute(source: One) { permutation: I32s } -> (result: One(Explicit))
        = op("permute").code(0x53).traits(PURE).doc("Reorders dimensions: result dimension i is source dimension permutation[i].")
        .types(&[TILE], &[TILE]).text("$source $permutation : type(source) -> type(result)");
    FPowF(source: One, exponent: One) -> (result: One(Operand(0)))
        = op("fpowf").code(0x54).traits(ARITH)
        .doc("Float to the power of a float (`pow` before 13.4).")
        .types(&[BASE_FLOAT, BASE_FLOAT], &[BASE_FLOAT]).text("$source, $exponent : type(result)")
        .meaning(Math2(MathBinary::Pow)).cost(300);
    Print(args: Var, token: Opt => since(V13_2)) { str: Str } -> (result_token: One(Token) => since(V13_2))
        = op("print_tko").code(0x55)
        .traits(SEGMENTED_MEMORY).doc("Prints tiles by a C-style format string.")
        .types(&[TILE, TOKEN], &[TOKEN])
        .text("$str (args?, $args) (token? token=$token) (args? : type(args)) -> type(result_token)");
    PtrToInt = recast("ptr_to_int", 0x56, "64-bit addresses of pointers.")
        .types(&[POINTER], &[LONG]).meaning(Copy);
    PtrToPtr = recast("ptr_to_ptr", 0x57, "The same addresses with another pointee.")
        .types(&[POINTER], &[POINTER]).meaning(Copy);
    Reduce(operands: Var) { dim: Int<32>, identities: Array } -> (results: Var(Explicit))
        = op("reduce").code(0x58).regions(&[region("body")]).traits(PURE)
        .doc("Folds a dimension by the region's combination of (so far, new) element pairs, as `tileiras` passes them.")
        .types(&[TILE], &[TILE])
        .text("$operands dim=$dim identities=$identities : type(operands) -> type(results) {combination}");
    RemF = float2("remf", 0x59, Float2(FloatBinary::Rem), "Remainder of floats, with the sign of lhs.")
        .cost(500);
    RemI = int2("remi", 0x5A, Int2BySign(IntBinary::Rem), "Remainder of integers, with the sign of lhs.").attrs(&[SIGNEDNESS])
        .text(SIGNED).cost(300);
    Reshape(source: One) -> (result: One(Explicit)) = reform("reshape", 0x5B, "The same elements in row-major order in another shape.")
        .types(&[TILE], &[TILE]);
    Return(operands: Var)
        = op("return").code(0x5C).traits(TERMINATOR).doc("Ends the tile block's work.")
        .types(&[ANY], &[]).text(EXIT);
    Rsqrt = float1("rsqrt", 0x5D, Math1(MathUnary::Rsqrt), "Reciprocal square root.").attrs(&[FLUSH])
        .text(FTZ).cost(50);
    Scan(operands: Var) { dim: Int<32>, reverse: Bool, identities: Array } -> (results: Var(Explicit))
        = op("scan").code(0x5E).regions(&[region("body")]).traits(PURE)
        .doc("Inclusive prefix combination along a dimension, by the region's combination of (so far, new) element pairs.")
        .types(&[TILE], &[TILE])
        .text("$operands dim=$dim reverse=$reverse identities=$identities \
        : type(operands) -> type(results) {combination}");
    Select(cond: One, val_if_true: One, val_if_false: One) -> (result: One(Operand(1)))
        = op("select").code(0x5F).traits(ELEMENTWISE).doc("Chooses element by element.")
        .types(&[BOOL, TILE, TILE], &[TILE])
        .text("$cond, $val_if_true, $val_if_false : type(cond), type(result)").meaning(Select);
    ShLI = int2("shli", 0x60, Int2(IntBinary::Shl), "Shifts left.").attrs(&[WRAP])
        .text(OVERFLOW);
    ShRI = int2("shri", 0x61, Int2BySign(IntBinary::Shr), "Shifts right, by sign or by zeros.").attrs(&[SIGNEDNESS])
        .text(SIGNED);
    Sin = float1("sin", 0x62, Math1(MathUnary::Sin), "Sine.")
        .cost(150);
    SinH = float1("sinh", 0x63, Math1(MathUnary::Sinh), "Hyperbolic sine.")
        .cost(200);
    Sqrt = float1("sqrt", 0x64, Float1(FloatUnary::Sqrt), "Square root.").attrs(&[ROUNDING, FLUSH])
        .rounding(&modes::IEEE_OR_APPROX).text("$source (rounding_mode~nearest_even? rounding<$rounding_mode>) \
        (flush_to_zero? flush_to_zero) : type(result)")
        .cost(100);
    StorePtr(destination: One, value: One, mask: Opt, token: Opt)
        { memory_ordering_semantics: Ordering, memory_scope: Option<Scope>, optimization_hints: Option<Hints> }
        -> (result_token: One(Token))
        = op("store_ptr_tko").code(0x65).traits(SEGMENTED_MEMORY)
        .doc("Scatters to pointers where the mask holds.")
        .types(&[POINTER, TILE, BOOL, TOKEN], &[TOKEN])
        .text("$memory_ordering_semantics (memory_scope? $memory_scope) $destination, $value \
        (mask?, $mask) (token? token=$token) (optimization_hints? optimization_hints = $optimization_hints) \
        : type(destination), type(value) (mask?, type(mask)) -> type(result_token)");
    StoreView(tile: One, view: One, index: Var, token: Opt)
        { memory_ordering_semantics: Ordering, memory_scope: Option<Scope>, optimization_hints: Option<Hints>,
          inbounds: Bools => default(Default::AllFalse(2)).since(V13_4) }
        -> (result_token: One(Token))
        = op("store_view_tko").code(0x66).traits(SEGMENTED_MEMORY).doc("Stores one tile of a view.")
        .types(&[TILE, VIEW, INT, TOKEN], &[TOKEN])
        .text("$memory_ordering_semantics (memory_scope? $memory_scope) $tile, $view[$index] \
        (token? token = $token) (optimization_hints? optimization_hints = $optimization_hints) \
        (inbounds? inbounds = $inbounds) : type(tile), type(view) {index index} -> type(result_token)");
    SubF = float2("subf", 0x67, Float2(FloatBinary::Sub), "Difference of floats.").attrs(&[ROUNDING, FLUSH])
        .rounding(&modes::IEEE).text(ROUNDED);
    SubI = int2("subi", 0x68, Int2(IntBinary::Sub), "Difference of integers, modulo 2^n.").attrs(&[WRAP])
        .text(OVERFLOW);
    Tan = float1("tan", 0x69, Math1(MathUnary::Tan), "Tangent.")
        .cost(250);
    TanH = float1("tanh", 0x6A, Math1(MathUnary::Tanh), "Hyperbolic tangent.").attrs(&[ROUNDING.default(TO_FULL).since(V13_2)])
        .rounding(&modes::FULL_OR_APPROX).text(FULL).cost(100);
    TruncI = cast("trunci", 0x6B, "Keeps the low bits.").attrs(&[WRAP])
        .types(&[INT_I4], &[INT_I4]).text("$from (overflow? overflow<$overflow>) : type(from) -> type(to)")
        .meaning(Narrow).cost(8);
    XOrI = int2("xori", 0x6C, Int2(IntBinary::Xor), "Bitwise exclusive or.").traits(COMMUTATIVE);
    Yield(operands: Var)
        = op("yield").code(0x6D).traits(TERMINATOR).doc("Ends a region with its results.")
        .types(&[ANY], &[]).text(EXIT);

    Atan2(x: One, y: One) -> (result: One(Operand(0)))
        = op("atan2").code(0x6E).since(V13_2).traits(ARITH)
        .doc("Angle of the point whose ordinate is the first operand and abscissa the second.")
        .types(&[BASE_FLOAT, BASE_FLOAT], &[BASE_FLOAT]).text("$x, $y : type(result)")
        .meaning(Math2(MathBinary::Atan2)).cost(250);
    Pack(source: One) -> (result: One(Explicit)) = reform("pack", 0x6F, "The tile's bits as bytes.").since(V13_3)
        .types(&[NUMBER_I4], &[BYTES]);
    Unpack(source: One) -> (result: One(Explicit)) = reform("unpack", 0x70, "Elements from bytes.").since(V13_3)
        .types(&[BYTES], &[NUMBER_I4]);
    Alloca() { num_elem: Int<64>, alignment: Int<64>, global: Flag } -> (result: One(Explicit))
        = op("alloca").code(0x71).since(V13_3).doc("Memory of this tile block's own.")
        .types(&[], &[SCALAR_POINTER])
        .text("num_elem = $num_elem, alignment = $alignment (global? global) : type(result)");
    MmaFScaled(lhs: One, rhs: One, acc: One, lhs_scale: One, rhs_scale: One) -> (result: One(Operand(2)))
        = op("mmaf_scaled").code(0x72).since(V13_3).traits(PURE).doc("Matrix product of block-scaled floats plus accumulator.")
        .types(&[SCALED, SCALED, SCALED_ACC, SCALED_SCALE, SCALED_SCALE], &[SCALED_ACC])
        .text("$lhs, $rhs, $acc, $lhs_scale, $rhs_scale \
        : type(lhs), type(rhs), type(acc), type(lhs_scale), type(rhs_scale)");
    MakeGatherScatterView(tensor_view: One) -> (result: One(Explicit)) = make_view("make_gather_scatter_view", 0x73,
        "Tiles whose rows along one dimension are chosen by an index tile.").since(V13_3)
        .types(&[Is::TensorView], &[Is::GatherScatterView]);
    MakeStridedView(tensor_view: One) -> (result: One(Explicit)) = make_view("make_strided_view", 0x74,
        "Tiles that start every `traversal_strides` elements, and may overlap.").since(V13_3)
        .types(&[Is::TensorView], &[Is::StridedView]);
    AtomicRedView(view: One, index: Var, value: One, token: Opt)
        { memory_ordering_semantics: Ordering, memory_scope: Scope, mode: RmwMode,
          inbounds: Bools => default(Default::AllFalse(1)).since(V13_5) }
        -> (result_token: One(Token))
        = op("atomic_red_view_tko").code(0x75).since(V13_3).traits(ATOMIC).doc("Updates one tile of a view atomically, yielding nothing.")
        .types(&[VIEW, INT, TILE, TOKEN], &[TOKEN])
        .text("$memory_ordering_semantics $memory_scope $view[$index], $mode, $value \
        (token? token = $token) (inbounds? inbounds = $inbounds) \
        : type(value), type(view) {index index} -> type(result_token)");
    Insert(source: One, destination: One, indices: Var) -> (result: One(Operand(1)))
        = op("insert").code(0x76).since(V13_4).traits(PURE)
        .doc("The destination with one of its equal slices replaced by the source.")
        .types(&[TILE, TILE, SCALAR_I32], &[TILE])
        .text("$source, $destination[$indices] : type(source), type(destination)");
    GdcLaunchDependents(token: Opt) -> (result_token: One(Token))
        = op("gdc_launch_dependents_tko").code(0x77).since(V13_4).traits(MEMORY).doc("Lets the grids that depend on this one start.")
        .types(&[TOKEN], &[TOKEN]).text("(token? token = $token) -> type(result_token)");
    GdcWait(token: Opt) -> (result_token: One(Token))
        = op("gdc_wait_tko").code(0x78).since(V13_4).traits(MEMORY).doc("Waits for the grids that this one depends on.")
        .types(&[TOKEN], &[TOKEN]).text("(token? token = $token) -> type(result_token)");
    FPowI(source: One, exponent: One) -> (result: One(Operand(0)))
        = op("fpowi").code(0x79).since(V13_4)
        .traits(ELEMENTWISE).doc("Float to the power of an integer.")
        .types(&[BASE_FLOAT, SMALL_INT], &[BASE_FLOAT])
        .text("$source, $exponent : type(result), type(exponent)").meaning(Power).cost(300);
    MemoryFenceAlias(token: One) -> (result_token: One(Token))
        = op("memory_fence_alias_tko").code(0x7A).since(V13_4).traits(MEMORY).doc("Orders accesses to one memory through different views.")
        .types(&[TOKEN], &[TOKEN]).text("$token");
    MultimemLoadReduceView(view: One, index: Var, token: Opt)
        { memory_ordering_semantics: Ordering, memory_scope: Option<Scope>,
          reduction: Reduction => default(Default::Case(0)),
          inbounds: Bools => default(Default::AllFalse(1)).since(V13_5) }
        -> (reduced_values: One(Explicit), result_token: One(Token))
        = op("multimem_load_reduce_view_tko").code(0x7B).since(V13_5)
        .traits(SEGMENTED_MEMORY).doc("Loads the same tile from several devices, combined.")
        .types(&[VIEW, INT, TOKEN], &[TILE, TOKEN])
        .text("$memory_ordering_semantics (memory_scope? $memory_scope) \
        $view[$index] (token? token = $token) (inbounds? inbounds = $inbounds) {attributes reduction} \
        : type(view) {index index} (token?, type(token)) -> type(reduced_values), type(result_token)");
    MultimemReduceView(view: One, tile: One, index: Var, token: Opt)
        { memory_ordering_semantics: Ordering, memory_scope: Scope, reduction: Reduction => default(Default::Case(0)),
          inbounds: Bools => default(Default::AllFalse(2)).since(V13_5) }
        -> (result_token: One(Token))
        = op("multimem_reduce_view_tko").code(0x7C).since(V13_5).traits(SEGMENTED_MEMORY).doc("Combines a tile into the memory of several devices.")
        .types(&[VIEW, TILE, INT, TOKEN], &[TOKEN])
        .text("$memory_ordering_semantics $memory_scope \
        $view, $tile[$index] (token? token = $token) (inbounds? inbounds = $inbounds) {attributes reduction} \
        : type(view), type(tile) {index index} (token?, type(token)) -> type(result_token)");
    MultimemStoreView(view: One, tile: One, index: Var, token: Opt)
        { memory_ordering_semantics: Ordering, memory_scope: Option<Scope>,
          inbounds: Bools => default(Default::AllFalse(2)).since(V13_5) }
        -> (result_token: One(Token))
        = op("multimem_store_view_tko").code(0x7D).since(V13_5).traits(SEGMENTED_MEMORY).doc("Stores a tile to the memory of several devices.")
        .types(&[VIEW, TILE, INT, TOKEN], &[TOKEN])
        .text("$memory_ordering_semantics (memory_scope? $memory_scope) $view, $tile[$index] \
        (token? token = $token) (inbounds? inbounds = $inbounds) \
        : type(view), type(tile) {index index} (token?, type(token)) -> type(result_token)");
    PreviewCall(operands: Var)
        { callee: Symbol, const_args: Array, arg_attrs: Option<Array>, res_attrs: Option<Array> }
        -> (results: Var(Explicit))
        = op("preview$call").code(0x4002).since(V13_5)
        .doc("Calls an external function (preview).")
        .types(&[ANY], &[ANY]);

    // Made up: `src/made_up.rs` shows that a row and a rule are all that an operation needs.
    #[cfg(test)]
    MulhiSigned = int2("mulhi_signed", 0x7000, Int2(IntBinary::MulHi(Signedness::Signed)),
        "The upper half of the signed product.").since(V13_5).cost(20);
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
