//! Conversions between element types.

use super::Gen;
use crate::types::{Elem, Fact, Float, Tile, anything, tile_type};

impl Gen {
    pub(super) fn convert(&mut self) {
        let shape = self.shape();
        let from = self.any_elem();
        let a = self.operand_where(from, &shape, &|_| true);
        if self.c.chance(25) && from.is_float() {
            // There and back through a format that has no arithmetic.
            let small = self.c.pick(&[Elem::TF32, Elem::E4M3, Elem::E5M2]);
            if let Some(b) = self.convert_to(&a, small) {
                self.convert_to(&b, from);
            }
            return;
        }
        let to = self.any_elem();
        if to != from {
            self.convert_to(&a, to);
        }
    }

    /// The tile with elements of another type; `None` where there is no way that is defined.
    pub(super) fn convert_to(&mut self, a: &Tile, to: Elem) -> Option<Tile> {
        if a.elem == to {
            return Some(a.clone());
        }
        let types = format!("{} -> {}", a.ty(), tile_type(to, &a.shape));
        let (text, fact) = match (a.elem, to) {
            (Elem::I(n), Elem::I(m)) => self.resize(a, n, m),
            (Elem::I(n), _)
                if n > 1 && n == to.bits() && to.has_arithmetic() && self.c.chance(15) =>
            {
                (format!("bitcast {}", a.name), anything(to))
            }
            (Elem::I(_), _) => self.as_float(a, to),
            (_, Elem::I(n)) => self.as_int(a, n)?,
            _ => {
                let x = a.float();
                if !x.is_exact() && x.max() > to.extent().0 / 4.0 {
                    return None;
                }
                let fact = match x.max() > to.extent().0 {
                    true => Float::ANY,
                    // Formats of few bits lose the small ones.
                    false => Float {
                        lo: x.lo.min(0.0),
                        hi: x.hi.max(0.0),
                        quantum: x.quantum,
                        ..x
                    }
                    .rounded(to),
                };
                (format!("ftof {}", a.name), Fact::Float(fact))
            }
        };
        Some(self.value(&text, Some(&types), to, &a.shape, fact))
    }

    fn resize(&mut self, a: &Tile, n: u32, m: u32) -> (String, Fact) {
        let all = anything(Elem::I(m));
        let Fact::Int {
            lo: least,
            hi: most,
        } = all
        else {
            return (String::new(), all);
        };
        let (lo, hi) = a.int();
        if n > m {
            let fact = if lo >= least && hi <= most {
                a.fact
            } else {
                all
            };
            return (format!("trunci {}", a.name), fact);
        }
        let signed = self.c.chance(60);
        let fact = match (signed, lo >= 0) {
            (true, _) | (false, true) => a.fact,
            (false, false) => Fact::Int {
                lo: 0,
                hi: (1 << n) - 1,
            },
        };
        (
            format!(
                "exti {} {}",
                a.name,
                if signed { "signed" } else { "unsigned" }
            ),
            fact,
        )
    }

    fn as_float(&mut self, a: &Tile, to: Elem) -> (String, Fact) {
        let signed = self.c.chance(70);
        let (lo, hi) = a.int();
        let (lo, hi) = if signed || lo >= 0 {
            (lo, hi)
        } else {
            let Elem::I(n) = a.elem else {
                return (String::new(), anything(to));
            };
            (0, (1 << n) - 1)
        };
        let exact = Float {
            quantum: Some(0),
            ..Float::range(lo as f64, hi as f64)
        };
        let fact = if exact.max() > to.extent().0 {
            Float::ANY
        } else {
            exact.rounded(to)
        };
        let sign = if signed { "signed" } else { "unsigned" };
        (format!("itof {} {sign}", a.name), Fact::Float(fact))
    }

    fn as_int(&mut self, a: &Tile, n: u32) -> Option<(String, Fact)> {
        let x = a.float();
        if !x.is_exact() || x.nan || n == 1 {
            return None;
        }
        if n == a.elem.bits() && a.elem.has_arithmetic() && self.c.chance(15) {
            return Some((format!("bitcast {}", a.name), anything(Elem::I(n))));
        }
        let half = 2f64.powi(n as i32 - 1);
        if x.lo > -half && x.hi < half {
            let fact = Fact::Int {
                lo: x.lo.floor() as i128,
                hi: x.hi.ceil() as i128,
            };
            return Some((format!("ftoi {} signed", a.name), fact));
        }
        let sign = self.c.pick(&["signed", "unsigned"]);
        Some((
            format!("ftoi {} {sign} saturating", a.name),
            anything(Elem::I(n)),
        ))
    }
}
