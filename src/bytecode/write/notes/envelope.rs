//! The file around the sections.

use super::Buffer;
use crate::bytecode::Format;
use crate::bytecode::container::SectionId;
use crate::bytecode::notes::{DESCRIPTOR, DIALECT, MAGIC, VERSION};
use crate::bytecode::prefix;

/// A file of these sections, whose functions have so many operations.
pub fn file(sections: &[(SectionId, Buffer)], records: u64) -> Vec<u8> {
    let mut out = Buffer::new(Format::Notes);
    out.bytes(&MAGIC);
    for number in [u64::from(VERSION.0), u64::from(VERSION.1), 0] {
        out.varint(number);
    }
    out.varint(1);
    out.varint(DIALECT.len() as u64);
    out.bytes(DIALECT.as_bytes());
    out.varint(records);
    let descriptors = out.data.len();
    let start = descriptors + DESCRIPTOR * (sections.len() + 1);
    out.data.resize(start, 0);
    for (i, (id, payload)) in sections.iter().enumerate() {
        let offset = section(&mut out, *id, &payload.data);
        let record = descriptor(*id, offset, payload.data.len(), id.alignment() as u32);
        let at = descriptors + DESCRIPTOR * i;
        out.data[at..at + DESCRIPTOR].copy_from_slice(&record);
    }
    let end = descriptor(SectionId::End, out.data.len(), 0, 0);
    out.data[start - DESCRIPTOR..start].copy_from_slice(&end);
    out.byte(SectionId::End as u8);
    out.data
}

/// Appends a section: its header, whose length covers what follows it, and its payload at an
/// aligned offset, which is returned.
fn section(out: &mut Buffer, id: SectionId, payload: &[u8]) -> usize {
    let alignment = id.alignment();
    let fields = prefix::encoded_len(alignment);
    let start = out.data.len() + 1;
    // The padding depends on how many bytes the length takes, which depends on the padding.
    let place = |bytes: usize| {
        let offset = (start + bytes + fields).next_multiple_of(alignment as usize);
        (offset, (offset - start - bytes + payload.len()) as u64)
    };
    let fits = |bytes: &usize| prefix::encoded_len(place(*bytes).1) == *bytes;
    let (offset, length) = match (1..=9).find(fits) {
        Some(bytes) => place(bytes),
        // One byte of length more makes the padding one less: a whole unit more of it settles it.
        None => {
            let bytes = (1..9)
                .find(|&n| prefix::encoded_len(place(n).1) <= n)
                .unwrap_or(9);
            let (offset, length) = place(bytes);
            (offset + alignment as usize, length + alignment)
        }
    };
    out.byte(id as u8 | 0x80);
    out.varint(length);
    out.varint(alignment);
    out.data.resize(offset, Format::Notes.padding());
    out.bytes(payload);
    offset
}

fn descriptor(id: SectionId, offset: usize, length: usize, alignment: u32) -> [u8; DESCRIPTOR] {
    let mut out = [0; DESCRIPTOR];
    out[0] = id as u8;
    out[4..12].copy_from_slice(&(offset as u64).to_le_bytes());
    out[12..20].copy_from_slice(&(length as u64).to_le_bytes());
    out[20..].copy_from_slice(&alignment.to_le_bytes());
    out
}
