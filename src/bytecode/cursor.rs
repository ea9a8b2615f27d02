//! A bounded reader over part of a file; errors carry the offset in the file.

use super::{Format, Result, prefix};
use crate::ir::{Diagnostic, Place};

/// A position in `data[base..end]`.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    data: &'a [u8],
    base: usize,
    pos: usize,
    end: usize,
    format: Format,
}

impl<'a> Cursor<'a> {
    pub fn new(data: &'a [u8], format: Format) -> Self {
        Self {
            data,
            base: 0,
            pos: 0,
            end: data.len(),
            format,
        }
    }

    /// The container that this reads.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Where in the file it stands.
    pub fn offset(&self) -> usize {
        self.pos
    }

    pub fn remaining(&self) -> usize {
        self.end - self.pos
    }

    pub fn is_empty(&self) -> bool {
        self.remaining() == 0
    }

    /// An error at the present offset.
    pub fn error(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(message).at(Place::Offset(self.pos))
    }

    /// A cursor over the next `len` bytes, which are skipped here.
    pub fn split(&mut self, len: usize) -> Result<Cursor<'a>> {
        let start = self.pos;
        self.bytes(len)?;
        Ok(Cursor {
            data: self.data,
            base: start,
            pos: start,
            end: start + len,
            format: self.format,
        })
    }

    /// A cursor over the bytes `from..to` counted from the present position.
    pub fn slice(&self, from: usize, to: usize) -> Option<Cursor<'a>> {
        (from <= to && to <= self.remaining()).then(|| Cursor {
            data: self.data,
            base: self.pos + from,
            pos: self.pos + from,
            end: self.pos + to,
            format: self.format,
        })
    }

    pub fn bytes(&mut self, len: usize) -> Result<&'a [u8]> {
        if len > self.remaining() {
            return Err(self.error(format!(
                "unexpected end of data: {len} bytes wanted, {} left",
                self.remaining()
            )));
        }
        let bytes = &self.data[self.pos..self.pos + len];
        self.pos += len;
        Ok(bytes)
    }

    /// Everything that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        let bytes = &self.data[self.pos..self.end];
        self.pos = self.end;
        bytes
    }

    #[inline]
    pub fn u8(&mut self) -> Result<u8> {
        if self.pos >= self.end {
            return Err(self.error("unexpected end of data: 1 bytes wanted, 0 left"));
        }
        let byte = self.data[self.pos];
        self.pos += 1;
        Ok(byte)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut out = [0; N];
        out.copy_from_slice(self.bytes(N)?);
        Ok(out)
    }

    pub fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    pub fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// The container's variable-length integer, shortest form only.
    #[inline]
    pub fn varint(&mut self) -> Result<u64> {
        match self.format {
            // Nearly all are one byte.
            Format::Public
                if self.data[self.pos..self.end]
                    .first()
                    .is_some_and(|&b| b < 0x80) =>
            {
                self.pos += 1;
                Ok(u64::from(self.data[self.pos - 1]))
            }
            Format::Public => self.leb128(),
            Format::Notes => self.prefix_varint(),
        }
    }

    fn prefix_varint(&mut self) -> Result<u64> {
        let start = self.pos;
        let first = self.u8()?;
        let more = self.bytes(prefix::extra_bytes(first))?;
        let value = prefix::decode(first, more);
        if prefix::encoded_len(value) != more.len() + 1 {
            self.pos = start;
            return Err(self.error("non-canonical VarInt"));
        }
        Ok(value)
    }

    fn leb128(&mut self) -> Result<u64> {
        let first = self.u8()?;
        if first < 0x80 {
            return Ok(u64::from(first));
        }
        let start = self.pos - 1;
        let mut value = u64::from(first & 0x7F);
        let mut shift = 7;
        loop {
            let byte = self.u8()?;
            let bits = u64::from(byte & 0x7F);
            if shift == 63 && byte > 1 {
                self.pos = start;
                return Err(self.error("over-long VarInt: more than 64 bits"));
            }
            value |= bits << shift;
            if byte < 0x80 {
                if bits == 0 {
                    self.pos = start;
                    return Err(self.error("non-canonical VarInt"));
                }
                return Ok(value);
            }
            shift += 7;
        }
    }

    /// Zig-zag over [`Cursor::varint`].
    pub fn signed_varint(&mut self) -> Result<i64> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Zig-zag over LEB128 of up to 65 bits, truncated to 64.
    ///
    /// The encoder of the `cuda-tile` package doubles the bits of a float attribute without
    /// regarding bit 63 as a sign, so negative f64 values take 65 bits. (`tileirdisasm` 13.5 drops
    /// the last bit and reads −∞ as +∞; what the producer meant is read here.)
    pub fn wide_signed_varint(&mut self) -> Result<u64> {
        if self.format == Format::Notes {
            return self.signed_varint().map(|value| value as u64);
        }
        let mut value = 0u128;
        for shift in (0..70).step_by(7) {
            let byte = self.u8()?;
            value |= u128::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                if shift > 0 && byte == 0 {
                    return Err(self.error("non-canonical VarInt"));
                }
                if value >> 65 != 0 {
                    break;
                }
                return Ok((value >> 1) as u64 ^ ((value & 1) as u64).wrapping_neg());
            }
        }
        Err(self.error("over-long VarInt: more than 65 bits"))
    }

    /// A count of things that take at least `size` bytes each, so that it is bounded by the input.
    pub fn count(&mut self, size: usize, what: &str) -> Result<usize> {
        let n = self.varint()?;
        let most = self.remaining() / size.max(1);
        if n > most as u64 {
            return Err(self.error(format!(
                "number of {what} ({n}) exceeds the maximum of {most} that can fit in the remaining payload of {} bytes.",
                self.remaining()
            )));
        }
        Ok(n as usize)
    }

    /// Skips to a multiple of `alignment` from the start of this cursor's part.
    pub fn align(&mut self, alignment: usize) -> Result<()> {
        let at = self.pos - self.base;
        self.bytes(at.next_multiple_of(alignment.max(1)) - at)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints() {
        for (bytes, value) in [
            (&[0x00][..], 0),
            (&[0x7F], 127),
            (&[0x80, 0x01], 128),
            (
                &[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01],
                u64::MAX,
            ),
        ] {
            assert_eq!(Cursor::new(bytes, Format::Public).varint(), Ok(value));
        }
        for (bytes, message) in [
            (&[0x80, 0x00][..], "non-canonical VarInt"),
            (&[0x81, 0x80, 0x00], "non-canonical VarInt"),
            (
                &[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02],
                "over-long VarInt",
            ),
            (&[0x80; 11], "over-long VarInt"),
            (&[0x80], "unexpected end of data"),
        ] {
            let error = Cursor::new(bytes, Format::Public).varint().unwrap_err();
            assert!(error.message.starts_with(message), "{error}");
        }
    }

    #[test]
    fn zigzag() {
        for (byte, value) in [(0, 0), (1, -1), (2, 1), (0x7F, -64)] {
            assert_eq!(
                Cursor::new(&[byte], Format::Public).signed_varint(),
                Ok(value)
            );
        }
    }
}
