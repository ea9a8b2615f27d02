//! Instructions that need not be written for some registers of an array, because their operands
//! are known: offsets often start with 0, masks are often all true.

use super::build::{Builder, Fail, fail};
use crate::machine::mir::Atom;
use crate::machine::table::{Algebra, Fold};

impl Builder<'_> {
    /// Like [`Builder::value`], but only for those registers whose result is not known.
    pub fn folded(&mut self, name: &str, sources: &[&[Atom]]) -> Result<Vec<Atom>, Fail> {
        let reps = sources.iter().map(|s| s.len()).max().unwrap_or(1);
        let at = |source: &[Atom], i: usize| source.get(i).or(source.first()).copied();
        let insn = self.insn(name)?;
        let row = self.table.row(&insn);
        let (algebra, fold) = (row.algebra, row.fold);
        let known: Vec<Option<Atom>> = (0..reps)
            .map(|i| match *sources {
                [a] => unary(fold?, name, at(a, i)?),
                [a, b] => binary(algebra, at(a, i)?, at(b, i)?),
                _ => None,
            })
            .collect();
        let open: Vec<usize> = (0..reps).filter(|&i| known[i].is_none()).collect();
        if open.len() == reps {
            return self.value(name, sources);
        }
        let mut out: Vec<Atom> = known.iter().map(|k| k.unwrap_or(Atom::Undef)).collect();
        if open.is_empty() {
            return Ok(out);
        }
        let mut rest = Vec::with_capacity(sources.len());
        for source in sources {
            let picked = open
                .iter()
                .map(|&i| at(source, i))
                .collect::<Option<Vec<_>>>();
            match picked {
                Some(picked) => rest.push(picked),
                None => return fail("an operand without registers"),
            }
        }
        let rest: Vec<&[Atom]> = rest.iter().map(Vec::as_slice).collect();
        for (i, atom) in open.into_iter().zip(self.value(name, &rest)?) {
            out[i] = atom;
        }
        Ok(out)
    }
}

fn binary(algebra: Algebra, a: Atom, b: Atom) -> Option<Atom> {
    let is = |atom: Atom, k: Option<u64>| k.is_some_and(|k| atom == Atom::Imm(k));
    if is(b, algebra.unit) || is(b, algebra.right_unit) || is(a, algebra.zero) {
        Some(a)
    } else if is(a, algebra.unit) || is(b, algebra.zero) {
        Some(b)
    } else {
        (algebra.idempotent && a == b).then_some(a)
    }
}

fn unary(fold: Fold, name: &str, a: Atom) -> Option<Atom> {
    let Atom::Imm(value) = a else { return None };
    match fold {
        Fold::Not => Some(Atom::Imm(!value & 1)),
        Fold::Integers => integer_conversion(name, value).map(Atom::Imm),
    }
}

/// The value of `cvt(.sat).(u|s)N.(u|s)M` of a constant, in a register of at least 16 bits.
fn integer_conversion(name: &str, value: u64) -> Option<u64> {
    let mut parts = name.rsplit('.');
    let (from, to) = (parts.next()?, parts.next()?);
    let saturate = parts.next() == Some("sat");
    let ((to_signed, to), (from_signed, from)) = (integer(to)?, integer(from)?);
    let low = i128::from(value) & ((1 << from) - 1);
    let exact = match from_signed && low >> (from - 1) == 1 {
        true => low - (1 << from),
        false => low,
    };
    let wanted = match (saturate, to_signed) {
        (false, _) => exact,
        (true, false) => exact.clamp(0, (1 << to) - 1),
        (true, true) => exact.clamp(-(1 << (to - 1)), (1 << (to - 1)) - 1),
    };
    Some((wanted & ((1 << to.max(16)) - 1)) as u64)
}

/// Signedness and width of an integer type of PTX.
fn integer(name: &str) -> Option<(bool, u32)> {
    let signed = name.starts_with('s');
    let bits = name.strip_prefix(['s', 'u'])?.parse().ok()?;
    matches!(bits, 8 | 16 | 32 | 64).then_some((signed, bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integer_conversions_of_constants() {
        // PTX ISA, "cvt": integer to integer extends by the source's sign, or chops.
        assert_eq!(integer_conversion("cvt.s16.s8", 0xff), Some(0xffff));
        assert_eq!(integer_conversion("cvt.u16.u8", 0x1ff), Some(0xff));
        assert_eq!(
            integer_conversion("cvt.s64.s32", 0x8000_0000),
            Some(0xffff_ffff_8000_0000)
        );
        assert_eq!(
            integer_conversion("cvt.sat.u32.u64", 1 << 40),
            Some(0xffff_ffff)
        );
        assert_eq!(integer_conversion("cvt.u16.u32", 0x12345), Some(0x2345));
        assert_eq!(integer_conversion("cvt.rn.f32.s32", 1), None);
    }

    #[test]
    fn units_and_zeros() {
        let and = Algebra {
            unit: Some(1),
            zero: Some(0),
            idempotent: true,
            right_unit: None,
        };
        let x = Atom::Reg(crate::machine::mir::VReg(3));
        assert_eq!(binary(and, x, Atom::Imm(1)), Some(x));
        assert_eq!(binary(and, Atom::Imm(0), x), Some(Atom::Imm(0)));
        assert_eq!(binary(and, x, x), Some(x));
        let sub = Algebra {
            right_unit: Some(0),
            ..Algebra::default()
        };
        assert_eq!(binary(sub, x, Atom::Imm(0)), Some(x));
        assert_eq!(binary(sub, Atom::Imm(0), x), None);
    }
}
