//! Rows of the selection tables by where they stand.

use super::Patterns;

/// Where a row stands, and its text, single-spaced.
pub struct Head<'p> {
    /// Among those of its kind: for rows that compute an index of [`Patterns::places`].
    pub number: usize,
    pub file: &'p str,
    pub line: usize,
    pub text: String,
}

impl Patterns {
    /// The rows that compute something.
    pub fn heads(&self) -> impl Iterator<Item = Head<'_>> {
        let places = self.places.iter().enumerate();
        places.filter_map(|(number, place)| self.head(number, place, self.rows.text(number)?))
    }

    /// The rows about operations without results.
    pub fn effect_heads(&self) -> impl Iterator<Item = Head<'_>> {
        let places = self.effect_places.iter().enumerate();
        places.filter_map(|(number, place)| self.head(number, place, self.effects.text(number)?))
    }

    fn head(&self, number: usize, place: &(usize, usize), text: &str) -> Option<Head<'_>> {
        let words: Vec<&str> = text.split_whitespace().collect();
        Some(Head {
            number,
            file: self.files.get(place.0)?,
            line: place.1,
            text: words.join(" "),
        })
    }
}
