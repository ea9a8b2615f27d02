//! Where the bytes of a box really lie in shared memory (PTX ISA 5.5.7 "Swizzling Modes").

use serde::{Deserialize, Serialize};

/// Swizzle modes of shared memory, in bytes of the span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Swizzle {
    None,
    B32,
    B64,
    B128,
}

impl Swizzle {
    /// By manifest name.
    pub fn parse(name: &str) -> Option<Swizzle> {
        Some(match name {
            "none" => Swizzle::None,
            "32B" => Swizzle::B32,
            "64B" => Swizzle::B64,
            "128B" => Swizzle::B128,
            _ => return None,
        })
    }

    /// By the number that `tensormap.replace` and `CUtensorMapSwizzle` use.
    pub(crate) fn from_code(code: u64) -> Option<Swizzle> {
        [Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128]
            .get(usize::try_from(code).ok()?)
            .copied()
    }

    /// The span in bytes that the innermost box dimension may not exceed.
    pub fn span(self) -> Option<u32> {
        match self {
            Swizzle::None => None,
            Swizzle::B32 => Some(32),
            Swizzle::B64 => Some(64),
            Swizzle::B128 => Some(128),
        }
    }

    /// Where the byte that would lie at shared address `address` really lies: 16-byte chunk numbers are XORed with
    /// bits of the 128-byte row number.
    #[inline]
    pub fn apply(self, address: u64) -> u64 {
        match self {
            Swizzle::None => address,
            Swizzle::B32 => address ^ (address >> 7 & 1) << 4,
            Swizzle::B64 => address ^ (address >> 7 & 3) << 4,
            Swizzle::B128 => address ^ (address >> 7 & 7) << 4,
        }
    }
}

/// What a 128-byte swizzle keeps together; the other modes keep 16 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)]
pub enum Atomicity {
    #[default]
    B16,
    B32,
    /// and the halves of every 16 bytes change places in odd 128-byte rows; loads only
    B32Flip8,
    B64,
}

impl Atomicity {
    /// By the number of `tensormap.replace.swizzle_atomicity`.
    pub(crate) fn from_code(code: u64) -> Option<Atomicity> {
        [
            Atomicity::B16,
            Atomicity::B32,
            Atomicity::B32Flip8,
            Atomicity::B64,
        ]
        .get(usize::try_from(code).ok()?)
        .copied()
    }
}

/// A swizzle mode with what it keeps together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pattern {
    /// span
    pub mode: Swizzle,
    /// what is kept together
    pub atomicity: Atomicity,
}

impl Pattern {
    /// Bytes stay where they are.
    pub const NONE: Pattern = Pattern {
        mode: Swizzle::None,
        atomicity: Atomicity::B16,
    };

    /// Bytes from an aligned address that stay neighbours.
    pub fn piece(self) -> usize {
        match self.atomicity {
            Atomicity::B32Flip8 => 8,
            _ => 16,
        }
    }

    /// Where the byte that would lie at shared address `address` really lies.
    #[inline]
    pub fn apply(self, address: u64) -> u64 {
        let row = address >> 7;
        match (self.mode, self.atomicity) {
            (Swizzle::B128, Atomicity::B32) => address ^ (row & 3) << 5,
            (Swizzle::B128, Atomicity::B32Flip8) => address ^ (row & 3) << 5 ^ (row & 1) << 3,
            (Swizzle::B128, Atomicity::B64) => address ^ (row & 1) << 6,
            (mode, _) => mode.apply(address),
        }
    }

    /// Where up to 16 bytes at `address` lie. What is swizzled comes in whole chunks of 16, within which their order
    /// may change; other copies, such as those of `st.async`, may be smaller and lie anywhere.
    pub fn chunk(self, address: u64) -> u64 {
        match self.mode {
            Swizzle::None => address,
            _ => self.apply(address) & !15,
        }
    }

    /// Bytes from a box's start, `bytes` of it written, within which all of them lie: swizzled ones may lie anywhere
    /// in their spans.
    pub fn extent(self, bytes: u64) -> u64 {
        match self.mode.span() {
            None => bytes,
            Some(span) => bytes.next_multiple_of(span.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tables of PTX ISA 5.5.7: in each 128-byte row, which of its 16-byte elements lies at each place.
    #[test]
    fn tables_of_the_isa() {
        let pattern = |mode, atomicity| Pattern { mode, atomicity };
        let tables: [(Pattern, &[[u64; 8]]); 5] = [
            (
                pattern(Swizzle::B32, Atomicity::B16),
                &[[0, 1, 2, 3, 4, 5, 6, 7], [1, 0, 3, 2, 5, 4, 7, 6]],
            ),
            (
                pattern(Swizzle::B64, Atomicity::B16),
                &[
                    [0, 1, 2, 3, 4, 5, 6, 7],
                    [1, 0, 3, 2, 5, 4, 7, 6],
                    [2, 3, 0, 1, 6, 7, 4, 5],
                    [3, 2, 1, 0, 7, 6, 5, 4],
                ],
            ),
            (
                pattern(Swizzle::B128, Atomicity::B16),
                &[
                    [0, 1, 2, 3, 4, 5, 6, 7],
                    [1, 0, 3, 2, 5, 4, 7, 6],
                    [2, 3, 0, 1, 6, 7, 4, 5],
                    [3, 2, 1, 0, 7, 6, 5, 4],
                    [4, 5, 6, 7, 0, 1, 2, 3],
                    [5, 4, 7, 6, 1, 0, 3, 2],
                    [6, 7, 4, 5, 2, 3, 0, 1],
                    [7, 6, 5, 4, 3, 2, 1, 0],
                ],
            ),
            (
                pattern(Swizzle::B128, Atomicity::B32),
                &[
                    [0, 1, 2, 3, 4, 5, 6, 7],
                    [2, 3, 0, 1, 6, 7, 4, 5],
                    [4, 5, 6, 7, 0, 1, 2, 3],
                    [6, 7, 4, 5, 2, 3, 0, 1],
                ],
            ),
            (
                pattern(Swizzle::B128, Atomicity::B64),
                &[[0, 1, 2, 3, 4, 5, 6, 7], [4, 5, 6, 7, 0, 1, 2, 3]],
            ),
        ];
        for (pattern, table) in tables {
            for row in 0..16 {
                let expected = table[row as usize % table.len()];
                for (place, element) in expected.into_iter().enumerate() {
                    let from = 4096 + row * 128 + element * 16;
                    let to = 4096 + row * 128 + place as u64 * 16;
                    assert_eq!(pattern.apply(from), to, "{pattern:?}, row {row}");
                }
            }
        }
    }

    #[test]
    fn bytes_stay_in_their_spans() {
        let of = |mode| Pattern {
            mode,
            atomicity: Atomicity::B16,
        };
        for mode in [Swizzle::B32, Swizzle::B64, Swizzle::B128] {
            let pattern = of(mode);
            for bytes in (16..2048).step_by(16) {
                let places = (0..bytes).map(|byte| pattern.apply(4096 + byte) - 4096);
                assert!(
                    places.max() < Some(pattern.extent(bytes)),
                    "{mode:?}, {bytes}"
                );
            }
        }
        assert_eq!(of(Swizzle::B64).extent(64), 64);
        assert_eq!(of(Swizzle::B64).extent(16), 64);
    }

    #[test]
    fn a_flip_moves_halves_of_sixteen_bytes_in_odd_rows() {
        let flip = Pattern {
            mode: Swizzle::B128,
            atomicity: Atomicity::B32Flip8,
        };
        assert_eq!(flip.apply(1024 + 24), 1024 + 24);
        assert_eq!(flip.apply(1024 + 128), 1024 + 128 + 32 + 8);
        assert_eq!(flip.apply(1024 + 128 + 8), 1024 + 128 + 32);
        assert_eq!(flip.chunk(1024 + 128), 1024 + 128 + 32);
    }
}
