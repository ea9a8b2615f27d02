//! Zero-column masks of `tcgen05.mma.ws` (PTX ISA 9.7.16.4.3).

/// Columns of B that count as zero, and the column of B in memory where the others begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZeroColumns {
    /// by column of the product
    pub zero: Vec<bool>,
    /// added to the column for its place in memory
    pub shift: usize,
}

impl ZeroColumns {
    /// What 64 bits say for a product of `m` × `n`. The examples of the ISA take *skip* for the columns that are zero
    /// (its table has the two spans exchanged).
    pub fn decode(bits: u64, m: usize, n: usize) -> Result<ZeroColumns, String> {
        let field = |shift: u32, width: u32| bits >> shift & ((1 << width) - 1);
        let shift = field(56, 6) as usize;
        let most = if m == 32 { 16 } else { 32 };
        if shift > most {
            return Err(format!(
                "shifts columns by {shift}; the most for M = {m} is {most}"
            ));
        }
        if field(36, 3) != 0 || field(62, 2) != 0 {
            return Err("has reserved bits set".into());
        }
        let mut zero = vec![false; n];
        if field(39, 1) == 1 {
            let parts = 128 / m;
            let (skip, used) = (field(40, 8) as usize + 1, field(48, 8) as usize + 1);
            for part in 0..parts {
                let start = field(8 * part as u32, 8) as usize;
                let skip_first = field(32 + part as u32, 1) == 1;
                let width = n / parts;
                for (i, column) in zero[part * width..(part + 1) * width]
                    .iter_mut()
                    .enumerate()
                {
                    let at = (i + start) % (skip + used);
                    *column = if skip_first { at < skip } else { at >= used };
                }
            }
        }
        Ok(ZeroColumns { zero, shift })
    }
}

#[cfg(test)]
mod tests {
    use super::ZeroColumns;

    fn bits(
        starts: [u64; 4],
        first: [u64; 4],
        generate: u64,
        skip: u64,
        used: u64,
        shift: u64,
    ) -> u64 {
        let mut word = generate << 39 | skip << 40 | used << 48 | shift << 56;
        for i in 0..4 {
            word |= starts[i] << (8 * i) | first[i] << (32 + i);
        }
        word
    }

    fn low(mask: &[bool]) -> String {
        mask.iter()
            .rev()
            .map(|&z| if z { '1' } else { '0' })
            .collect()
    }

    /// The examples of the ISA, least significant column last.
    #[test]
    fn masks_are_those_of_the_examples() {
        let one = ZeroColumns::decode(bits([0; 4], [0; 4], 0, 4, 3, 0), 128, 64).unwrap();
        assert!(one.zero.iter().all(|z| !z));
        let two = ZeroColumns::decode(bits([0; 4], [0; 4], 1, 2, 3, 0), 128, 64).unwrap();
        assert!(low(&two.zero).ends_with("11100001110000"));
        let three = ZeroColumns::decode(bits([0; 4], [1, 0, 0, 0], 1, 2, 3, 0), 64, 64).unwrap();
        assert!(low(&three.zero[..32]).ends_with("11100001110000111"));
        assert!(low(&three.zero[32..]).ends_with("00001110000"));
        let four =
            ZeroColumns::decode(bits([0, 1, 2, 1], [1, 1, 0, 0], 1, 2, 3, 2), 32, 64).unwrap();
        assert_eq!(four.shift, 2);
        assert!(low(&four.zero[..16]).ends_with("00001110000111"));
        assert!(low(&four.zero[16..32]).ends_with("0000111000011"));
        assert!(low(&four.zero[32..48]).ends_with("111000011100"));
        assert!(low(&four.zero[48..]).ends_with("1110000111000"));
    }
}
