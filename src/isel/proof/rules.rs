//! The matmuls that a rule about matrices makes.

use super::matmul::{Accumulator, Matmul, Multiplicand, ScaleType};
use crate::dialect::enums::DotAtom;
use crate::dialect::nv_tileas;
use crate::egraph::node::{Head, Leaf};
use crate::egraph::rule::ElemTest;
use crate::ir::Float;
use crate::rules::{AttrExpr, Constraint, OpTemplate, Pattern, Rule, Template};

/// Types of multiplicands.
const MULTIPLICANDS: [Float; 7] = [
    Float::F16,
    Float::BF16,
    Float::TF32,
    Float::F64,
    Float::F8E4M3FN,
    Float::F8E5M2,
    Float::F4E2M1FN,
];

/// The matmuls of all types that a rule admits; none where it makes no matrix instruction.
pub fn matmuls(rule: &Rule) -> Vec<Matmul> {
    let (Pattern::Op(pattern), [Template::Op(made)]) = (&rule.pattern, &*rule.templates) else {
        return Vec::new();
    };
    let operand = |i: usize| pattern.children.get(i);
    let Head::Op(kind) = made.head else {
        return Vec::new();
    };
    let Some(shape) = atom(made) else {
        return Vec::new();
    };
    let scaled = match nv_tileas::Op::of(kind) {
        Some(nv_tileas::Op::Dot) => false,
        Some(nv_tileas::Op::ScaledDot) => true,
        _ => return Vec::new(),
    };
    let (lhs, rhs) = match scaled {
        // Both operands have the first one's form.
        true => (multiplicands(made, operand(0), 1), None),
        false => (
            multiplicands(made, operand(0), 1),
            Some(multiplicands(made, operand(1), 2)),
        ),
    };
    let rhs = rhs.unwrap_or_else(|| lhs.clone());
    let mut found = Vec::new();
    for (&a, &b) in lhs.iter().flat_map(|a| rhs.iter().map(move |b| (a, b))) {
        for accumulator in accumulators(operand(2)) {
            for scales in scales(scaled, operand(3), a) {
                let one = Matmul {
                    shape,
                    a,
                    b,
                    accumulator,
                    scales,
                };
                if one.exists() {
                    found.push(one);
                }
            }
        }
    }
    found
}

impl Matmul {
    /// What the verifier admits: sums of floats are no narrower than f16, those of scaled products f32.
    fn exists(&self) -> bool {
        use Accumulator::{F16, F32, F64, I32};
        match (self.a, self.accumulator) {
            (Multiplicand::Int { .. }, sum) => sum == I32,
            (Multiplicand::Float(Float::F64), sum) => sum == F64,
            (Multiplicand::Float(Float::F16), sum) => matches!(sum, F16 | F32),
            (_, sum) => sum == F32,
        }
    }
}

/// The shape of the instruction.
fn atom(made: &OpTemplate) -> Option<[u64; 3]> {
    let AttrExpr::Is(Leaf::Enum(case)) = made.attrs.first()? else {
        return None;
    };
    match *DotAtom::ALL.get(usize::from(*case))? {
        DotAtom::M16n8k8 => Some([16, 8, 8]),
        DotAtom::M16n8k16 => Some([16, 8, 16]),
        DotAtom::M16n8k32 => Some([16, 8, 32]),
        DotAtom::M16n8k64 => Some([16, 8, 64]),
        DotAtom::M8n8k4 => Some([8, 8, 4]),
        DotAtom::M8n8k16 => Some([8, 8, 16]),
        DotAtom::Fma => None,
    }
}

/// Whether a variable may have this type of elements.
fn admits(pattern: Option<&Pattern>, is: impl Fn(&ElemTest) -> bool) -> bool {
    let Some(Pattern::Var { constraints, .. }) = pattern else {
        return false;
    };
    constraints.iter().all(|constraint| match constraint {
        Constraint::Elem(tests) => tests.iter().any(&is),
        _ => true,
    })
}

fn float(wanted: Float) -> impl Fn(&ElemTest) -> bool {
    move |test| match test {
        ElemTest::Float => true,
        ElemTest::FloatOf(float) => *float == wanted,
        _ => false,
    }
}

fn integer(wanted: u32) -> impl Fn(&ElemTest) -> bool {
    move |test| match test {
        ElemTest::Int => true,
        ElemTest::IntOf(bits) => *bits == wanted,
        _ => false,
    }
}

/// Types of an operand; attribute `flag` of what is made says whether integers have a sign.
fn multiplicands(made: &OpTemplate, pattern: Option<&Pattern>, flag: usize) -> Vec<Multiplicand> {
    let floats = MULTIPLICANDS.into_iter();
    let mut types: Vec<Multiplicand> = floats
        .filter(|&f| admits(pattern, float(f)))
        .map(Multiplicand::Float)
        .collect();
    if admits(pattern, integer(8)) {
        let signed = matches!(
            made.attrs.get(flag),
            Some(AttrExpr::Is(Leaf::Bool(true) | Leaf::Unit))
        );
        types.push(Multiplicand::Int { signed });
    }
    types
}

fn accumulators(pattern: Option<&Pattern>) -> Vec<Accumulator> {
    let mut types = Vec::new();
    for (ty, float_type) in [
        (Accumulator::F16, Float::F16),
        (Accumulator::F32, Float::F32),
        (Accumulator::F64, Float::F64),
    ] {
        if admits(pattern, float(float_type)) {
            types.push(ty);
        }
    }
    if admits(pattern, integer(32)) {
        types.push(Accumulator::I32);
    }
    types
}

/// The scales that the pattern admits for elements of this type: PTX ISA, "Block Scaling for mma.sync".
fn scales(
    scaled: bool,
    pattern: Option<&Pattern>,
    element: Multiplicand,
) -> Vec<Option<(ScaleType, u64)>> {
    if !scaled {
        return vec![None];
    }
    let blocks: &[(ScaleType, u64)] = match element {
        Multiplicand::Float(Float::F4E2M1FN) => &[
            (ScaleType::Power, 32),
            (ScaleType::Power, 16),
            (ScaleType::Float, 16),
        ],
        _ => &[(ScaleType::Power, 32)],
    };
    let admitted = |ty: ScaleType| match ty {
        ScaleType::Power => admits(pattern, float(Float::F8E8M0FNU)),
        ScaleType::Float => admits(pattern, float(Float::F8E4M3FN)),
    };
    let blocks = blocks.iter().filter(|(ty, _)| admitted(*ty));
    blocks.map(|&block| Some(block)).collect()
}
