//! Rules as data: read from text, or written out by the build script as constants of the program.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::dialect::{Dialect, OpKind};
use crate::egraph::head::Head;
use crate::facts::Leaf;
use crate::scalar::FloatFormat as Float;
use crate::sexpr::Pos;
use crate::target::Feature;

/// Parts of a rule: made by reading one, or constants.
pub type Items<T> = Cow<'static, [T]>;
/// Words of a rule.
pub type Text = Cow<'static, str>;

/// What an element type may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
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
}

/// What a variable's class must satisfy.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub enum Constraint {
    /// One of these.
    Elem(Items<ElemTest>),
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
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub enum Literal {
    Int(i128),
    Float(f64),
    Nan,
    Bool(bool),
    Bits(u64),
}

/// What an attribute must be.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub enum AttrPattern {
    Any,
    Is(Leaf),
    OneOf(Items<Leaf>),
    /// A type whose element is one of these.
    Elem(Items<ElemTest>),
    /// Remembered; a type whose element is one of `tests` if there are any.
    Var {
        slot: u8,
        tests: Items<ElemTest>,
    },
}

/// The left side of a rule.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub enum Pattern {
    Any,
    Var {
        slot: u8,
        constraints: Items<Constraint>,
    },
    Literal(Literal),
    Absent,
    List(Items<Pattern>),
    Op(OpPattern),
}

/// An operation of the left side.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct OpPattern {
    pub head: Head,
    /// Attributes, then explicit result types.
    pub attrs: Items<AttrPattern>,
    pub children: Items<Pattern>,
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
#[derive(Clone, PartialEq, Debug, Serialize)]
pub enum Expr {
    Int(i128),
    Float(f64),
    /// A constant class (signed value; float value) or an integer attribute.
    Var(u8),
    Apply(Function, Items<Expr>),
}

/// What computes numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
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
    /// Extent of the last dimension but one of a variable's type.
    Rows,
    /// Extent of the last dimension of a variable's type.
    Columns,
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
        ("rows", Function::Rows, 1, 1),
        ("columns", Function::Columns, 1, 1),
        ("u", Function::Unsigned, 1, 1),
        ("bits", Function::Bits, 1, 1),
        ("float", Function::ToFloat, 1, 1),
        ("lo", Function::Lo, 1, 1),
        ("hi", Function::Hi, 1, 1),
        ("divisor", Function::Divisor, 1, 1),
    ];
}

/// A type that a replacement writes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub enum TypeExpr {
    /// That element in the shape of the root.
    Elem(ElemTest),
    /// That element in the shape of a variable.
    Like(u8, ElemTest),
    /// The type of a variable (of its class, or the bound type itself).
    Of(u8),
    /// The element type of a variable.
    ElemOf(u8),
    /// The type of a variable, of which a dimension, counted from the last one, keeps its extent; the others' is one.
    Only(u8, u8),
    /// That dimension alone.
    Dimension(u8, u8),
    Root,
    Scalar(ElemTest),
}

/// An attribute that a replacement writes.
#[derive(Clone, PartialEq, Debug, Serialize)]
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
    Ints(Items<Expr>),
}

/// The right side of a rule.
#[derive(Clone, PartialEq, Debug, Serialize)]
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
    List(Items<Template>),
    Op(OpTemplate),
}

/// The value of a constant in a replacement.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub enum ConstValue {
    Literal(Literal),
    Computed(Expr),
}

/// An operation of the right side.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct OpTemplate {
    pub head: Head,
    pub attrs: Items<AttrExpr>,
    pub children: Items<Template>,
}

/// A condition.
#[derive(Clone, PartialEq, Debug, Serialize)]
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
    TypeIs(u8, Items<ElemTest>),
    SameType(u8, u8),
    SameShape(u8, u8),
    /// The first can be computed outside of a loop that the second is computed in.
    Outside(u8, u8),
    /// The elements of the first are wider than those of the second.
    Wider(u8, u8),
    EachFits(u8, Expr, Expr),
    Sm(u16, u16),
    Feature(Feature),
    /// None of these.
    Not(Items<Guard>),
    And(Items<Guard>),
    Or(Items<Guard>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
}

/// BEFORE ⇒ AFTER, with the types of the leaves: two forms as text.
#[derive(Clone, Debug, Serialize)]
pub struct Example {
    pub before: Text,
    pub after: Text,
    pub pos: crate::sexpr::Pos,
}

/// How soundness is checked.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Check {
    /// Units in the last place that results may differ.
    pub ulp: f64,
    /// Subnormal operands and results may be zeros.
    pub flush: bool,
    /// Absolute difference that is allowed besides.
    pub abs: f64,
    pub ranges: Items<(u8, f64, f64)>,
    pub types: Items<(u8, Items<ElemTest>)>,
    pub skip: Option<Text>,
}

/// A named rule.
#[derive(Clone, Debug, Serialize)]
pub struct Rule {
    pub name: Text,
    pub doc: Text,
    pub file: Text,
    pub pos: Pos,
    pub pattern: Pattern,
    pub templates: Items<Template>,
    /// What `let`s of the templates name.
    pub locals: Items<Template>,
    /// Names of the variables, by slot.
    pub vars: Items<Text>,
    pub guards: Items<Guard>,
    pub cost: AddedCost,
    pub examples: Items<Example>,
    pub check: Check,
    /// Default dialects of the two sides.
    pub dialects: (Dialect, Dialect),
}

/// What a rule adds to the cost of what it makes, in tenths of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub enum AddedCost {
    Once(i32),
    /// For each element that a thread handles.
    Each(i32),
}

impl AddedCost {
    pub fn is_nothing(self) -> bool {
        matches!(self, AddedCost::Once(0) | AddedCost::Each(0))
    }

    /// To the cost of a value of so many elements.
    pub fn of(self, elements: u64) -> i64 {
        match self {
            AddedCost::Once(cost) => cost.into(),
            AddedCost::Each(cost) => i64::from(cost).saturating_mul(elements as i64),
        }
    }
}

/// The cost a rule file gives an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct OpCost {
    /// Tenths of an instruction per element.
    pub cost: u32,
    /// Recomputed where it is used rather than kept in a register.
    pub cheap: bool,
}

/// Rules that run together.
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    pub rules: Items<Rule>,
    pub costs: FxHashMap<Head, OpCost>,
    /// Rules by the head of their pattern.
    pub by_head: FxHashMap<Head, Items<u32>>,
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
