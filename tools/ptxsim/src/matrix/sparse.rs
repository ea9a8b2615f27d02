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
    // 4 bits of metadata per group, so 8 groups in a lane's word: for elements of 16 and 32 bits four of row g and four of
    // row g + 8, for smaller ones eight of row g, and those of row g + 8 in the next lane.
    let (run, lanes_per_run) = if bits >= 16 { (4, 1) } else { (8, 2) };
    let groups_per_row = k / if bits == 32 { 2 } else { 4 };
    let lanes = groups_per_row / run * lanes_per_run;
    let first = row % 8 * 4 + selector as usize % (4 / lanes) * lanes + g / run * lanes_per_run;
    let (lane, nibble) = match lanes_per_run {
        1 => (first, g % run + 4 * (row / 8)),
        _ => (first + row / 8, g % run),
    };
    let word = metadata[lane] >> (4 * nibble) & 0xf;
    if bits == 32 {
        usize::from(word == 0xe)
    } else {
        (word >> (2 * s) & 3) as usize
    }
}
