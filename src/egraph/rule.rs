//! Rules as data.

use rustc_hash::FxHashMap;

use crate::dialect::{Dialect, OpKind};
use crate::egraph::node::{Head, Leaf};
use crate::ir::{Float, Type, TypeId, Types};
use crate::scalar::{Overflow, Rounding};
use crate::sexpr::Pos;
use crate::target::Feature;

/// What an element type may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ElemTest {
    Int,
    Float,
    IntOf(u32),
    FloatOf(Float),
    Ptr,
    SharedPtr,
}

impl ElemTest {
    /// The test of that name.
    pub fn by_name(name: &str) -> Option<ElemTest> {
        Some(match name {
            "int" => ElemTest::Int,
            "float" => ElemTest::Float,
            "ptr" => ElemTest::Ptr,
            "shared_ptr" => ElemTest::SharedPtr,
            _ => match Float::NAMES.iter().find(|(_, n)| *n == name) {
                Some((float, _)) => ElemTest::FloatOf(*float),
                None => ElemTest::IntOf(
                    name.strip_prefix('i')?
                        .parse()
                        .ok()
                        .filter(|b| (1..=64).contains(b))?,
                ),
            },
        })
    }

    /// The scalar type it names, if it names one.
    pub fn scalar(self, types: &mut Types) -> Option<TypeId> {
        Some(match self {
            ElemTest::IntOf(bits) => types.int(bits),
            ElemTest::FloatOf(float) => types.float(float),
            ElemTest::SharedPtr => types.intern(Type::SharedPtr),
            _ => return None,
        })
    }
}

/// What a variable's class must satisfy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Constraint {
    /// One of these.
    Elem(Vec<ElemTest>),
    Const,
    /// Every element is a known number, one or several.
    Numbers,
    Scalar,
    Array,
    Nonneg,
    Uniform,
    /// Neither a number nor, in any form, a sum with one.
    Pure,
}

/// A constant that is written out.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Literal {
    Int(i128),
    Float(f64),
    Nan,
    Bool(bool),
    Bits(u64),
}

/// What an attribute must be.
#[derive(Clone, PartialEq, Debug)]
pub enum AttrPattern {
    Any,
    Is(Leaf),
    OneOf(Vec<Leaf>),
    /// A type whose element is one of these.
    Elem(Vec<ElemTest>),
    /// Remembered; a type whose element is one of `tests` if there are any.
    Var {
        slot: u8,
        tests: Vec<ElemTest>,
    },
}

/// The left side of a rule.
#[derive(Clone, PartialEq, Debug)]
pub enum Pattern {
    Any,
    Var {
        slot: u8,
        constraints: Vec<Constraint>,
    },
    Literal(Literal),
    Absent,
    List(Vec<Pattern>),
    Op(OpPattern),
}

/// An operation of the left side.
#[derive(Clone, PartialEq, Debug)]
pub struct OpPattern {
    pub head: Head,
    /// Attributes, then explicit result types.
    pub attrs: Vec<AttrPattern>,
    pub children: Vec<Pattern>,
    pub commutative: bool,
}

impl Pattern {
    /// Levels of operations.
    pub fn depth(&self) -> usize {
        match self {
            Pattern::Op(op) => 1 + op.children.iter().map(Pattern::depth).max().unwrap_or(0),
            Pattern::List(items) => 1 + items.iter().map(Pattern::depth).max().unwrap_or(0),
            _ => 0,
        }
    }
}

/// A computed number.
#[derive(Clone, PartialEq, Debug)]
pub enum Expr {
    Int(i128),
    Float(f64),
    /// A constant class (signed value; float value) or an integer attribute.
    Var(u8),
    Apply(Function, Vec<Expr>),
}

/// What computes numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Function {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    And,
    Or,
    Xor,
    Not,
    Min,
    Max,
    Log2,
    Pow2,
    /// Bits of an element of a variable's type.
    Width,
    /// Number of elements of a variable's type.
    Elems,
    /// The constant's unsigned value.
    Unsigned,
    /// The constant's bits (floats too).
    Bits,
    ToFloat,
    Lo,
    Hi,
    Divisor,
}

impl Function {
    /// Names and numbers of arguments (least, most).
    pub const NAMES: &'static [(&'static str, Function, usize, usize)] = &[
        ("+", Function::Add, 2, 9),
        ("-", Function::Sub, 1, 2),
        ("*", Function::Mul, 2, 9),
        ("/", Function::Div, 2, 2),
        ("%", Function::Rem, 2, 2),
        ("<<", Function::Shl, 2, 2),
        (">>", Function::Shr, 2, 2),
        ("&", Function::And, 2, 9),
        ("|", Function::Or, 2, 9),
        ("^", Function::Xor, 2, 9),
        ("~", Function::Not, 1, 1),
        ("min", Function::Min, 2, 9),
        ("max", Function::Max, 2, 9),
        ("log2", Function::Log2, 1, 1),
        ("pow2", Function::Pow2, 1, 1),
        ("width", Function::Width, 1, 1),
        ("elems", Function::Elems, 1, 1),
        ("u", Function::Unsigned, 1, 1),
        ("bits", Function::Bits, 1, 1),
        ("float", Function::ToFloat, 1, 1),
        ("lo", Function::Lo, 1, 1),
        ("hi", Function::Hi, 1, 1),
        ("divisor", Function::Divisor, 1, 1),
    ];
}

/// A type that a replacement writes.
#[derive(Clone, PartialEq, Debug)]
pub enum TypeExpr {
    /// That element in the shape of the root.
    Elem(ElemTest),
    /// That element in the shape of a variable.
    Like(u8, ElemTest),
    /// The type of a variable (of its class, or the bound type itself).
    Of(u8),
    /// The element type of a variable.
    ElemOf(u8),
    Root,
    Scalar(ElemTest),
}

/// An attribute that a replacement writes.
#[derive(Clone, PartialEq, Debug)]
pub enum AttrExpr {
    Is(Leaf),
    Var(u8),
    Int(Expr),
    Type(TypeExpr),
    /// The type is known from the place.
    Inferred,
    /// An integer list plus a number in each place.
    AddEach(u8, Expr),
    /// An integer list written out.
    Ints(Vec<Expr>),
}

/// The right side of a rule.
#[derive(Clone, PartialEq, Debug)]
pub enum Template {
    Var(u8),
    /// What a `let` of the rule named, by number.
    Local(u8),
    /// A constant of the side's dialect.
    Const {
        kind: OpKind,
        value: ConstValue,
        ty: Option<TypeExpr>,
    },
    Absent,
    List(Vec<Template>),
    Op(OpTemplate),
}

/// The value of a constant in a replacement.
#[derive(Clone, PartialEq, Debug)]
pub enum ConstValue {
    Literal(Literal),
    Computed(Expr),
}

/// An operation of the right side.
#[derive(Clone, PartialEq, Debug)]
pub struct OpTemplate {
    pub head: Head,
    pub attrs: Vec<AttrExpr>,
    pub children: Vec<Template>,
}

/// A condition.
#[derive(Clone, PartialEq, Debug)]
pub enum Guard {
    IsPow2(Expr),
    Compare(Comparison, Expr, Expr),
    /// A float constant whose reciprocal is exact and normal.
    ExactReciprocal(u8),
    FitsSigned(Expr, u32),
    FitsUnsigned(Expr, u32),
    DivisibleBy(u8, Expr),
    InRange(u8, Expr, Expr),
    Nonneg(u8),
    Nonzero(u8),
    Uniform(u8),
    Scalar(u8),
    TypeIs(u8, Vec<ElemTest>),
    SameType(u8, u8),
    SameShape(u8, u8),
    /// The first can be computed outside of a loop that the second is computed in.
    Outside(u8, u8),
    /// The elements of the first are wider than those of the second.
    Wider(u8, u8),
    EachFits(u8, Expr, Expr),
    Sm(u16, u16),
    Feature(Feature),
    Not(Box<Guard>),
    And(Vec<Guard>),
    Or(Vec<Guard>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
}

/// BEFORE ⇒ AFTER, with the types of the leaves: two forms as text.
#[derive(Clone, Debug)]
pub struct Example {
    pub before: String,
    pub after: String,
    pub pos: crate::sexpr::Pos,
}

/// How soundness is checked.
#[derive(Clone, Debug, Default)]
pub struct Check {
    /// Units in the last place that results may differ.
    pub ulp: f64,
    /// Subnormal operands and results may be zeros.
    pub flush: bool,
    /// Absolute difference that is allowed besides.
    pub abs: f64,
    pub ranges: Vec<(u8, f64, f64)>,
    pub types: Vec<(u8, Vec<ElemTest>)>,
    pub skip: Option<String>,
}

/// A named rule.
#[derive(Clone, Debug)]
pub struct Rule {
    pub name: String,
    pub doc: String,
    pub file: String,
    pub pos: Pos,
    pub pattern: Pattern,
    pub templates: Vec<Template>,
    /// What `let`s of the templates name.
    pub locals: Vec<Template>,
    /// Names of the variables, by slot.
    pub vars: Vec<String>,
    pub guards: Vec<Guard>,
    pub cost: i32,
    pub examples: Vec<Example>,
    pub check: Check,
    /// Default dialects of the two sides.
    pub dialects: (Dialect, Dialect),
}

/// The cost a rule file gives an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpCost {
    /// Tenths of an instruction per element.
    pub cost: u32,
    /// Recomputed where it is used rather than kept in a register.
    pub cheap: bool,
}

/// Rules that run together.
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    pub rules: Vec<Rule>,
    pub costs: FxHashMap<Head, OpCost>,
    /// Rules by the head of their pattern.
    pub by_head: FxHashMap<Head, Vec<u32>>,
    /// The deepest pattern.
    pub depth: usize,
    /// Whether rules keep their examples.
    pub keeps: Examples,
}

/// Whether rules keep their examples.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Examples {
    /// For checking the rules.
    Kept,
    /// For applying them.
    #[default]
    Dropped,
}

/// The bits of a literal in the element type of `ty`; `None` where it does not exist there.
pub fn literal_bits(types: &Types, literal: &Literal, ty: TypeId) -> Option<u64> {
    let elem = types.get(types.elem(ty));
    match (literal, elem) {
        (Literal::Bits(bits), _) => {
            (crate::facts::truncate(*bits, types.bits(ty)?) == *bits).then_some(*bits)
        }
        (Literal::Bool(b), Type::Int(1)) => Some(*b as u64),
        (Literal::Int(value), Type::Int(bits)) => int_bits(*value, *bits),
        (Literal::Float(value), Type::Float(float)) => {
            let format = *float;
            let bits = format.encode(*value, Rounding::NearestEven, Overflow::Ieee);
            (format.decode(bits).to_bits() == value.to_bits()).then_some(bits)
        }
        (Literal::Nan, Type::Float(float)) => Some(float.nan()),
        _ => None,
    }
}

/// A number that fits `bits` bits, signed or unsigned.
pub fn int_bits(value: i128, bits: u32) -> Option<u64> {
    let (min, max) = (-(1i128 << (bits - 1)), (1i128 << bits) - 1);
    (min..=max)
        .contains(&value)
        .then(|| crate::facts::truncate(value as u64, bits))
}

/// Whether bits of the float type `ty` are a NaN.
pub fn is_nan(types: &Types, ty: TypeId, bits: u64) -> bool {
    match types.get(types.elem(ty)) {
        Type::Float(float) => float.is_nan(bits),
        _ => false,
    }
}
