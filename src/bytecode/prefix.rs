//! The notes' variable-length integers ("VarInt Encoding").
//!
//! As many bytes follow the first as it has low-order 1-bits; the bits above the zero that ends
//! that run are the low bits of the value, the following bytes are appended above them. Readings:
//! the notes also say "LEB128" (which they define to be this) and show `03` for 3 in a worked
//! record; this form's own section with its three decoded examples is followed instead. Its table
//! marks the nine-byte form by `00000000`, which is the one-byte zero: by the rule it is `11111111`.
//! More than nine bytes cannot be expressed, so "over-long" and "non-canonical" are the same thing.

/// Bytes after one that begins with `first`.
pub fn extra_bytes(first: u8) -> usize {
    first.trailing_ones() as usize
}

/// Bytes of the shortest encoding.
pub fn encoded_len(value: u64) -> usize {
    let bits = 64 - (value | 1).leading_zeros() as usize;
    match bits.div_ceil(7) {
        n @ ..=8 => n,
        _ => 9,
    }
}

/// The value of a first byte and the bytes that it announced.
pub fn decode(first: u8, more: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    for (to, from) in bytes.iter_mut().zip(more) {
        *to = *from;
    }
    let high = u64::from_le_bytes(bytes);
    match more.len() {
        // The first byte holds `7 - n` bits above the run and its zero.
        n @ 0..=7 => high << (7 - n) | u64::from(first) >> (n + 1),
        _ => high,
    }
}

/// Appends the shortest encoding.
pub fn encode(value: u64, out: &mut Vec<u8>) {
    let extra = encoded_len(value) - 1;
    if extra == 8 {
        out.push(0xFF);
        out.extend_from_slice(&value.to_le_bytes());
        return;
    }
    let marked = value << (extra + 1) | ((1 << extra) - 1);
    out.extend_from_slice(&marked.to_le_bytes()[..=extra]);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The three decoded examples of the notes.
    #[test]
    fn worked_examples() {
        assert_eq!(decode(0x0A, &[]), 5);
        assert_eq!(decode(0x01, &[0x02]), 128);
        assert_eq!(decode(0xFB, &[0xFF, 0x0F]), 131_071);
    }

    #[test]
    fn every_length_reads_back() {
        let edges = (0..64).flat_map(|bit| {
            let power = 1u64 << bit;
            [power - 1, power, power + 1]
        });
        for value in edges.chain([u64::MAX]) {
            let mut bytes = Vec::new();
            encode(value, &mut bytes);
            assert_eq!(bytes.len(), encoded_len(value), "{value}");
            assert_eq!(bytes.len(), extra_bytes(bytes[0]) + 1, "{value}");
            assert_eq!(decode(bytes[0], &bytes[1..]), value);
        }
        // The table's last value of each length.
        for (len, bits) in (1..=8).zip((7..).step_by(7)) {
            assert_eq!(encoded_len((1 << bits) - 1), len);
            assert_eq!(encoded_len(1 << bits), len + 1);
        }
    }
}
