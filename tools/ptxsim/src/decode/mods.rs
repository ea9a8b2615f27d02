//! The dotted words of an opcode, consumed one by one so that a word nobody understood is an error.

use crate::num::Round;
use crate::program::types::Ty;

/// The modifiers of one opcode.
pub struct Mods<'a> {
    words: &'a [&'a str],
    used: u64,
}

impl<'a> Mods<'a> {
    /// The words after the mnemonic.
    pub fn new(opcode: &'a [&'a str]) -> Self {
        Mods {
            words: opcode.get(1..).unwrap_or(&[]),
            used: 0,
        }
    }

    fn unused(&self) -> impl Iterator<Item = (usize, &'a str)> + '_ {
        self.words
            .iter()
            .copied()
            .enumerate()
            .filter(|(i, _)| self.used >> (i & 63) & 1 == 0)
    }

    /// True if `word` is there; it is consumed.
    pub fn flag(&mut self, word: &str) -> bool {
        let hit = self.unused().find(|(_, w)| *w == word).map(|(i, _)| i);
        if let Some(i) = hit {
            self.used |= 1 << (i & 63);
        }
        hit.is_some()
    }

    /// The first unused word that `read` understands.
    pub fn take<T>(&mut self, read: impl Fn(&'a str) -> Option<T>) -> Option<T> {
        let hit = self.unused().find_map(|(i, w)| read(w).map(|v| (i, v)));
        hit.map(|(i, v)| {
            self.used |= 1 << (i & 63);
            v
        })
    }

    /// The first unused word of `table`.
    pub fn one_of<T: Copy>(&mut self, table: &[(&str, T)]) -> Option<T> {
        self.take(|w| table.iter().find(|(n, _)| *n == w).map(|&(_, v)| v))
    }

    /// The next type in order.
    pub fn ty(&mut self) -> Option<Ty> {
        self.take(Ty::parse)
    }

    /// `.rn`, `.rz`, `.rm`, `.rp`, `.rna`
    pub fn round(&mut self) -> Option<Round> {
        self.one_of(&[
            ("rn", Round::Nearest),
            ("rz", Round::Zero),
            ("rm", Round::Down),
            ("rp", Round::Up),
            ("rna", Round::NearestAway),
        ])
    }

    /// A word that nobody consumed.
    pub fn leftover(&self) -> Option<&'a str> {
        self.unused().next().map(|(_, w)| w)
    }
}
