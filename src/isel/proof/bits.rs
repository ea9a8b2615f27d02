//! The contents of a register as a solver's terms, part by part: packing and unpacking leaves the parts as they are.

use crate::rules::prove::terms::Script;

/// Bit vectors one behind the other, the lowest first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Bits {
    parts: Vec<(String, u32)>,
}

impl Bits {
    pub fn new(term: impl Into<String>, width: u32) -> Bits {
        Bits {
            parts: vec![(term.into(), width)],
        }
    }

    pub fn width(&self) -> u32 {
        self.parts.iter().map(|part| part.1).sum()
    }

    /// All of these, the first lowest.
    pub fn join(list: impl IntoIterator<Item = Bits>) -> Bits {
        let parts = list.into_iter().flat_map(|bits| bits.parts);
        Bits {
            parts: parts.collect(),
        }
    }

    /// The whole as one term with a name.
    pub fn term(&self, script: &mut Script) -> String {
        match self.parts.as_slice() {
            [(term, width)] => script.name(*width, term),
            parts => {
                let terms: Vec<&str> = parts.iter().rev().map(|p| p.0.as_str()).collect();
                script.name(self.width(), &format!("(concat {})", terms.join(" ")))
            }
        }
    }

    /// Bits `low` to `low + width - 1`.
    pub fn part(&self, script: &mut Script, low: u32, width: u32) -> Bits {
        let mut at = 0;
        let mut inside = Vec::new();
        for (term, size) in &self.parts {
            if low <= at && at + size <= low + width {
                inside.push((term.clone(), *size));
            } else if at <= low && low + width <= at + size {
                let (from, to) = (low - at, low - at + width - 1);
                return Bits::new(format!("((_ extract {to} {from}) {term})"), width);
            }
            at += size;
        }
        let parts = Bits { parts: inside };
        if parts.width() == width {
            return parts;
        }
        let whole = self.term(script);
        let high = low + width - 1;
        Bits::new(format!("((_ extract {high} {low}) {whole})"), width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_out_as_they_went_in() {
        let mut script = Script::default();
        let word = Bits::join([Bits::new("a", 16), Bits::new("b", 8), Bits::new("c", 8)]);
        assert_eq!(word.width(), 32);
        assert_eq!(word.part(&mut script, 16, 8), Bits::new("b", 8));
        let upper = Bits::join([Bits::new("b", 8), Bits::new("c", 8)]);
        assert_eq!(word.part(&mut script, 16, 16), upper);
        let inner = Bits::new("((_ extract 7 0) a)", 8);
        assert_eq!(word.part(&mut script, 0, 8), inner);
        // Across parts: of the whole, which gets a name.
        let across = word.part(&mut script, 8, 16);
        assert_eq!(across, Bits::new("((_ extract 23 8) t0)", 16));
        assert!(script.text.contains("(concat c b a)"), "{}", script.text);
    }
}
