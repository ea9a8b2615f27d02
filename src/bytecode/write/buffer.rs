//! Bytes being written.

use crate::bytecode::container::SectionId;
use crate::bytecode::{Format, prefix};

pub struct Buffer {
    pub data: Vec<u8>,
    format: Format,
}

impl Buffer {
    pub fn new(format: Format) -> Self {
        Self {
            data: Vec::new(),
            format,
        }
    }

    /// The container that this becomes part of.
    pub fn format(&self) -> Format {
        self.format
    }

    pub fn byte(&mut self, byte: u8) {
        self.data.push(byte);
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        self.data.extend_from_slice(bytes);
    }

    /// The container's variable-length integer.
    pub fn varint(&mut self, value: u64) {
        match self.format {
            Format::Public => self.leb128(value),
            Format::Notes => prefix::encode(value, &mut self.data),
        }
    }

    fn leb128(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.byte(value as u8 | 0x80);
            value >>= 7;
        }
        self.byte(value as u8);
    }

    /// Zig-zag over [`Buffer::varint`].
    pub fn signed_varint(&mut self, value: i64) {
        self.varint((value << 1 ^ value >> 63) as u64);
    }

    /// Pads to a multiple of `alignment`.
    pub fn align(&mut self, alignment: usize) {
        let len = self.data.len().next_multiple_of(alignment);
        self.data.resize(len, self.format.padding());
    }

    /// A section: header, padding, payload.
    pub fn section(&mut self, id: SectionId, payload: &Buffer) {
        let alignment = id.alignment();
        self.byte(id as u8 | if alignment > 1 { 0x80 } else { 0 });
        self.varint(payload.data.len() as u64);
        if alignment > 1 {
            self.varint(alignment);
            self.align(alignment as usize);
        }
        self.bytes(&payload.data);
    }

    /// A count, start offsets of `width` bytes, the items.
    pub fn table(&mut self, items: &[Vec<u8>], width: usize) {
        self.varint(items.len() as u64);
        self.align(width);
        let mut start = 0u64;
        for item in items {
            self.bytes(&start.to_le_bytes()[..width]);
            start += item.len() as u64;
        }
        items.iter().for_each(|item| self.bytes(item));
    }
}

/// [`Buffer::table`] by itself.
pub fn table(items: &[Vec<u8>], width: usize, format: Format) -> Buffer {
    let mut out = Buffer::new(format);
    out.table(items, width);
    out
}
