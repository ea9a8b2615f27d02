//! What one use of an elementwise operation computes.
//!
//! With the attributes and types of a use, the [`Meaning`] of its row becomes a [`Function`], which the
//! interpreter runs on arrays, and constant folding, the soundness check and the proofs of rules on single
//! elements.

use super::def::{AttrKind, EnumDef, OpDef};
use super::enums::{self, rounding};
use super::meaning::{Meaning, Nan, Saturate, Sign, Unit};
use crate::scalar::int::IntRounding;
use crate::scalar::{
    Compare, Element, FloatFormat, FloatMode, Function, IntBinary, Ordering, Overflow, Rounding,
    Signedness,
};

/// An attribute's value as far as a meaning depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Given {
    Absent,
    Unit,
    /// A case of an enumeration.
    Case(u8),
    /// Something that no meaning depends on.
    Other,
}

/// The attributes of one use of an operation.
#[derive(Clone, Copy)]
pub struct Attributes<'a> {
    pub row: &'a OpDef,
    /// The value of attribute `i` of the row.
    pub value: &'a dyn Fn(usize) -> Given,
}

/// Names of the unit attribute by which subnormals are zeros.
const FLUSH: [&str; 2] = ["flush_to_zero", "ftz"];
/// Names of the unit attribute by which NaN wins over numbers.
const NAN: [&str; 2] = ["propagate_nan", "nan"];

impl Attributes<'_> {
    /// The case of the row's attribute with this enumeration; `None` when it has none or it is absent.
    pub fn case(&self, of: &'static EnumDef) -> Option<u8> {
        let is = |kind: &AttrKind| matches!(kind, AttrKind::Enum(def) if std::ptr::eq(*def, of));
        let i = self.row.attrs.iter().position(|a| is(&a.kind))?;
        match (self.value)(i) {
            Given::Case(case) => Some(case),
            _ => None,
        }
    }

    /// Whether a unit attribute with one of these names is there.
    pub fn unit(&self, names: &[&str]) -> bool {
        let i = self.row.attrs.iter().position(|a| names.contains(&a.name));
        i.is_some_and(|i| (self.value)(i) == Given::Unit)
    }

    fn sign(&self) -> Result<Signedness, String> {
        match self.case(&enums::SIGNEDNESS) {
            Some(0) => Ok(Signedness::Unsigned),
            Some(_) => Ok(Signedness::Signed),
            None => Err("attribute `signedness` is missing".into()),
        }
    }

    /// Rounding of floats: `approx`, `full` and an absent attribute round to nearest.
    fn rounding(&self) -> Result<Rounding, String> {
        use rounding as r;
        Ok(match self.case(&enums::ROUNDING) {
            None | Some(r::NEAREST_EVEN | r::APPROX | r::FULL) => Rounding::NearestEven,
            Some(r::ZERO | r::NEAREST_INT_TO_ZERO) => Rounding::Zero,
            Some(r::NEGATIVE_INF) => Rounding::NegativeInf,
            Some(r::POSITIVE_INF) => Rounding::PositiveInf,
            Some(r::NEAREST_AWAY) => Rounding::NearestAway,
            Some(other) => return Err(format!("unknown rounding mode {other}")),
        })
    }

    /// Rounding of integer quotients.
    fn int_rounding(&self) -> Result<IntRounding, String> {
        match self.case(&enums::ROUNDING) {
            None | Some(rounding::ZERO) => Ok(IntRounding::Zero),
            Some(rounding::NEGATIVE_INF) => Ok(IntRounding::NegativeInf),
            Some(rounding::POSITIVE_INF) => Ok(IntRounding::PositiveInf),
            Some(_) => Err("integers are not divided with that rounding".into()),
        }
    }

    fn mode(&self) -> Result<FloatMode, String> {
        Ok(FloatMode {
            rounding: self.rounding()?,
            flush: self.unit(&FLUSH),
        })
    }

    fn predicate(&self) -> Result<Compare, String> {
        use Compare::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        let case = self.case(&enums::CMP_PREDICATE);
        case.and_then(|case| {
            [Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual]
                .get(usize::from(case))
                .copied()
        })
        .ok_or_else(|| "a comparison without a known predicate".into())
    }

    fn ordering(&self) -> Result<Ordering, String> {
        match self.case(&enums::CMP_ORDERING) {
            Some(0) => Ok(Ordering::Unordered),
            Some(_) => Ok(Ordering::Ordered),
            None => Err("a float comparison without an ordering".into()),
        }
    }
}

impl Sign {
    fn of(self, attributes: Attributes) -> Result<Signedness, String> {
        match self {
            Sign::Attribute => attributes.sign(),
            Sign::Always(sign) => Ok(sign),
        }
    }
}

impl Meaning {
    /// The integer operation on two operands that this is.
    pub fn int_binary(self, attributes: Attributes) -> Result<Option<IntBinary>, String> {
        Ok(Some(match self {
            Meaning::Int2(op) => op,
            Meaning::Int2BySign(op) => op(attributes.sign()?),
            Meaning::Divide => IntBinary::Div(attributes.sign()?, attributes.int_rounding()?),
            _ => return Ok(None),
        }))
    }

    /// The function on these types. An error says which type or attribute does not fit.
    pub fn function(
        self,
        attributes: Attributes,
        operands: &[Element],
        result: Element,
    ) -> Result<Function, String> {
        let float_of_all = || float(same(operands)?);
        Ok(match self {
            Meaning::Copy => copy(only(operands)?, result)?,
            Meaning::Int1(op) => Function::Int1(op, int(only(operands)?)?),
            Meaning::Int2(_) | Meaning::Int2BySign(_) | Meaning::Divide => {
                let [a, _] = exactly(operands)?;
                let op = self.int_binary(attributes)?;
                let op = op.ok_or_else(|| format!("{self:?} is no function of integers"))?;
                same(operands)?;
                Function::Int2(op, int(a)?)
            }
            Meaning::IntCompare => {
                let [a, _] = exactly(operands)?;
                same(operands)?;
                Function::IntCompare(attributes.predicate()?, attributes.sign()?, int(a)?)
            }
            Meaning::Float1(op) => {
                Function::Float1(op, float(only(operands)?)?, attributes.mode()?)
            }
            Meaning::Float2(op) => {
                let [_, _] = exactly(operands)?;
                Function::Float2(op, float_of_all()?, attributes.mode()?)
            }
            Meaning::Float2ByNan(op) => {
                let [_, _] = exactly(operands)?;
                let op = op(attributes.unit(&NAN));
                Function::Float2(op, float_of_all()?, attributes.mode()?)
            }
            Meaning::Reciprocal => {
                Function::Reciprocal(float(only(operands)?)?, attributes.mode()?)
            }
            Meaning::Integral => Function::Integral(float(only(operands)?)?, attributes.mode()?),
            Meaning::Fma => {
                let [_, _, _] = exactly(operands)?;
                Function::Fma(float_of_all()?, attributes.mode()?)
            }
            Meaning::FloatCompare => {
                let [_, _] = exactly(operands)?;
                let (predicate, ordering) = (attributes.predicate()?, attributes.ordering()?);
                Function::FloatCompare(predicate, ordering, float_of_all()?)
            }
            Meaning::Math1(op) => Function::Math1 {
                op,
                format: float(only(operands)?)?,
                flush: attributes.unit(&FLUSH),
            },
            Meaning::Math2(op) => {
                let [_, _] = exactly(operands)?;
                Function::Math2(op, float_of_all()?)
            }
            Meaning::Power => {
                let [a, b] = exactly(operands)?;
                Function::Power(float(a)?, int(b)?)
            }
            Meaning::Select => {
                let [condition, a, b] = exactly(operands)?;
                match condition == Element::Int(1) && a == b {
                    true => Function::Select,
                    false => {
                        return Err(format!("{condition} does not choose between {a} and {b}"));
                    }
                }
            }
            Meaning::Widen(sign) => {
                let a = only(operands)?;
                resize(a, result, sign.of(attributes)?, int(a)? < int(result)?)?
            }
            Meaning::Narrow => {
                let a = only(operands)?;
                resize(a, result, Signedness::Unsigned, int(a)? > int(result)?)?
            }
            Meaning::IntToFloat(sign) => Function::IntToFloat {
                width: int(only(operands)?)?,
                sign: sign.of(attributes)?,
                to: float(result)?,
                rounding: attributes.rounding()?,
            },
            Meaning::FloatToInt(sign, nan) => {
                let a = only(operands)?;
                Function::FloatToInt {
                    from: float(a)?,
                    mode: attributes.mode()?,
                    width: int(result)?,
                    sign: sign.of(attributes)?,
                    nan_is_top: nan == Nan::TopOfLong && (a.bits() == 64 || result.bits() == 64),
                }
            }
            Meaning::FloatToFloat(saturate) => Function::FloatToFloat {
                from: float(only(operands)?)?,
                to: float(result)?,
                rounding: attributes.rounding()?,
                overflow: saturate.overflow(attributes, result),
            },
            Meaning::Advance(unit) => {
                let [a, b] = exactly(operands)?;
                unit.advance(a, b)?
            }
        })
    }
}

/// The operands, of which there are `N`.
fn exactly<const N: usize>(operands: &[Element]) -> Result<[Element; N], String> {
    let count = operands.len();
    <[Element; N]>::try_from(operands).map_err(|_| format!("{count} operands, not {N}"))
}

/// The one operand.
fn only(operands: &[Element]) -> Result<Element, String> {
    exactly(operands).map(|[a]| a)
}

fn copy(from: Element, to: Element) -> Result<Function, String> {
    match from.bits() == to.bits() {
        true => Ok(Function::Copy),
        false => Err(format!("{from} is not as wide as {to}")),
    }
}

impl Saturate {
    fn overflow(self, attributes: Attributes, result: Element) -> Overflow {
        let saturates = match self {
            Saturate::Narrow => result.bits() <= 8,
            Saturate::Attribute => attributes.unit(&["satfinite"]),
        };
        match saturates {
            true => Overflow::Saturate,
            false => Overflow::Ieee,
        }
    }
}

impl Unit {
    fn advance(self, pointer: Element, by: Element) -> Result<Function, String> {
        let scale = match (self, pointer) {
            (Unit::Pointee, Element::Ptr(bits)) if bits % 8 == 0 => bits / 8,
            (Unit::Pointee, Element::Ptr(_)) => {
                return Err("pointers to elements of less than a byte cannot be advanced".into());
            }
            (Unit::Byte, Element::Ptr(_) | Element::Shared) if pointer.bits() == by.bits() => 1,
            _ => return Err(format!("{pointer} is not advanced by {by}")),
        };
        Ok(Function::Advance {
            address: pointer.bits(),
            width: int(by)?,
            scale,
        })
    }
}

fn resize(from: Element, to: Element, sign: Signedness, fits: bool) -> Result<Function, String> {
    if !fits {
        return Err(format!("{from} cannot become {to} by this operation"));
    }
    Ok(Function::Resize {
        from: int(from)?,
        to: int(to)?,
        sign,
    })
}

/// The one type of all operands.
fn same(operands: &[Element]) -> Result<Element, String> {
    match operands {
        [first, rest @ ..] if rest.iter().all(|e| e == first) => Ok(*first),
        _ => Err("operands of several types".into()),
    }
}

fn int(element: Element) -> Result<u32, String> {
    element
        .int()
        .ok_or_else(|| format!("expected integers, not {element}"))
}

fn float(element: Element) -> Result<FloatFormat, String> {
    element
        .float()
        .ok_or_else(|| format!("expected floats, not {element}"))
}
