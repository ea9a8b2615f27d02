//! Where a dialect leaves an elementwise result open: a rule may then do anything.

use crate::dialect::resolve::Attributes;
use crate::dialect::{Dialect, enums};
use crate::scalar::int::{self, IntBinary};
use crate::scalar::{Compare, FloatFormat, FloatMode, Function, Signedness, convert};

/// Whether the dialect leaves open what the operation makes of these operands.
pub fn undefined(dialect: Dialect, attributes: Attributes, f: Function, operands: &[u64]) -> bool {
    let tile = dialect == Dialect::CudaTile;
    match (f, operands) {
        // Quotients by zero are open in both dialects.
        (Function::Int2(IntBinary::Div(..) | IntBinary::Rem(_), _), [_, 0]) => true,
        (Function::Int2(IntBinary::Div(sign, _) | IntBinary::Rem(sign), width), &[a, b]) => {
            let value = |x| int::value(width, Signedness::Signed, x);
            let least = -(1i128 << (width - 1));
            tile && sign == Signedness::Signed && width > 1 && value(a) == least && value(b) == -1
        }
        (Function::Int2(op, width), &[a, b]) => {
            let promise = attributes.case(&enums::OVERFLOW).unwrap_or(0);
            promise != 0 && wraps(op, width, promise, a, b)
        }
        (Function::Resize { from, to, .. }, &[a]) if to < from => {
            let promise = attributes.case(&enums::OVERFLOW).unwrap_or(0);
            let back = |sign| int::extend(to, from, sign, a & int::mask(to)) != a;
            broken(promise, back)
        }
        (
            Function::FloatToInt {
                from,
                mode,
                width,
                sign,
                ..
            },
            &[a],
        ) => tile && !attributes.unit(&["saturating"]) && outside(from, mode, width, sign, a),
        _ => false,
    }
}

/// Whether a promise of [`enums::OVERFLOW`] is broken, given what is lost for each sign.
fn broken(promise: u8, lost: impl Fn(Signedness) -> bool) -> bool {
    promise & 1 != 0 && lost(Signedness::Signed) || promise & 2 != 0 && lost(Signedness::Unsigned)
}

/// Whether an operation wraps although it may not.
fn wraps(op: IntBinary, width: u32, promise: u8, a: u64, b: u64) -> bool {
    let exact: fn(i128, i128) -> i128 = match op {
        IntBinary::Add => |x, y| x + y,
        IntBinary::Sub => |x, y| x - y,
        IntBinary::Mul => i128::saturating_mul,
        IntBinary::Shl => {
            let inside = int::value(width, Signedness::Unsigned, b) < i128::from(width);
            let shifted = int::binary(op, width, a, b);
            let back = |sign| int::binary(IntBinary::Shr(sign), width, shifted, b) != a;
            return inside && broken(promise, back);
        }
        _ => return false,
    };
    broken(promise, |sign| {
        let range = match sign {
            Signedness::Signed => -(1i128 << (width - 1))..1i128 << (width - 1),
            Signedness::Unsigned => 0..1i128 << width,
        };
        !range.contains(&exact(
            int::value(width, sign, a),
            int::value(width, sign, b),
        ))
    })
}

/// Whether a float has no integer of the type in the rounding's direction.
fn outside(format: FloatFormat, mode: FloatMode, width: u32, sign: Signedness, a: u64) -> bool {
    if width == 1 {
        return false;
    }
    let bits = convert::float_to_int(format, mode.rounding, width, sign, a);
    // In range exactly when the wide result is the same number.
    let wide = convert::float_to_int(format, mode.rounding, 64, Signedness::Signed, a);
    let magnitude = format.decode(a).abs();
    let order = magnitude.partial_cmp(&9.0e18);
    let huge = !Compare::Less.holds(order.unwrap_or(std::cmp::Ordering::Greater));
    let same = i128::from(wide as i64) == int::value(width, sign, bits);
    format.is_nan(a) || (huge && (width < 64 || sign == Signedness::Signed)) || (!huge && !same)
}
