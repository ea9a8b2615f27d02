//! 2:4 structured sparsity (PTX ISA 9.7.14.6): two of four neighbours along k are stored, metadata says which.

use crate::exec::fault::Trap;
use crate::program::Row;

/// The dense matrix of m × k from its stored half and the lanes' metadata.
///
/// Each pair of metadata bits is the position of one stored element in its group of four (for 32-bit elements: a
/// nibble per group of two, 0b0100 or 0b1110).
pub fn expand<T: Copy + Default>(
    m: usize,
    k: usize,
    bits: u32,
    stored: &[T],
    metadata: &Row,
    selector: u32,
) -> Result<Vec<T>, Trap> {
    if m != 16 || !matches!(bits, 4 | 8 | 16 | 32) {
        return Err(Trap::new("mma.sp has no such elements"));
    }
    // 4-bit elements are kept or dropped in pairs, 4 of 8; a pair is then what an 8-bit element is to the metadata.
    let unit = if bits == 4 { 2 } else { 1 };
    let (units, unit_bits) = (k / unit, bits * unit as u32);
    let mut dense = vec![T::default(); m * k];
    // tf32 groups two elements; the nibble positions count halves of them.
    let group = if bits == 32 { 2 } else { 4 };
    let kept = group / 2;
    for row in 0..m {
        for g in 0..units / group {
            for s in 0..kept {
                let position = metadata_position(row, g, s, units, unit_bits, metadata, selector);
                let to = row * k + (g * group + position) * unit;
                let from = (row * units / 2 + g * kept + s) * unit;
                dense[to..to + unit].copy_from_slice(&stored[from..from + unit]);
            }
        }
    }
    Ok(dense)
}

/// Position within group `g` of its stored element `s`.
fn metadata_position(
    row: usize,
    g: usize,
    s: usize,
    k: usize,
    bits: u32,
    metadata: &Row,
    selector: u32,
) -> usize {
    // 4 bits of metadata per group. A 32-bit word of a lane covers 8 groups.
    let groups_per_row = k / if bits == 32 { 2 } else { 4 };
    let (lane, nibble) = match (bits, groups_per_row) {
        // 16 bits of metadata per row: rows g and g+8 share a word of one lane pair, chosen by the selector.
        (16 | 32, 4) => {
            let lane = row % 8 * 4 + (selector as usize & 3);
            (lane, g + 4 * (row / 8))
        }
        // 32 bits per row: two lanes, one per half of the rows.
        (_, 8) => {
            let lane = row % 8 * 4 + (selector as usize & 1) * 2 + g / 4;
            (lane, g % 4 + 4 * (row / 8))
        }
        // 64 bits per row: all four lanes.
        _ => (row % 8 * 4 + g / 4, g % 4 + 4 * (row / 8)),
    };
    let word = metadata[lane] >> (4 * nibble) & 0xf;
    if bits == 32 {
        usize::from(word == 0xe)
    } else {
        (word >> (2 * s) & 3) as usize
    }
}
