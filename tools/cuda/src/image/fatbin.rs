//! Fatbins: what nvcc puts into a program, images for several architectures. The layout is that of files which nvcc 13.5
//! writes.
//!
//! | header of a member, at | bytes | what |
//! |---|---|---|
//! | 0 | 2 | kind: 1 PTX, 2 a cubin, 128 Tile IR bytecode |
//! | 4 | 4 | bytes of this header |
//! | 8 | 8 | bytes of the payload, with its padding |
//! | 16 | 4 | bytes of the payload, if it is compressed |
//! | 28 | 4 | architecture, 90 for sm_90 |
//! | 40 | 8 | flags: `0x2000` LZ4, `0x8000` zstd |
//! | 56 | 8 | bytes that the payload has decompressed |

use super::bytes::{number, range};
use std::borrow::Cow;
use std::io::Read;

/// `.nv_fatbin`'s magic number.
pub const FATBIN: u32 = 0xba55_ed50;

const LZ4: u64 = 0x2000;
const ZSTD: u64 = 0x8000;
/// No payload grows beyond this.
const MOST: u64 = 1 << 30;

/// What a member is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// PTX text
    Ptx,
    /// Tile IR bytecode
    TileIr,
    /// a cubin, or something else
    Other,
}

/// A member of a fatbin.
#[derive(Debug)]
pub struct Member<'a> {
    /// what it is
    pub kind: Kind,
    /// the architecture that it is for
    pub sm: u64,
    payload: &'a [u8],
    flags: u64,
    size: u64,
}

/// The members, as far as the fatbin's numbers make sense.
pub fn members(image: &[u8]) -> Vec<Member<'_>> {
    let mut all = Vec::new();
    let mut at = number(image, 6, 2);
    while let Some(start) = at {
        let field =
            |offset: usize, bytes| number(image, (start as usize).checked_add(offset)?, bytes);
        let (Some(kind), Some(header), Some(size)) = (field(0, 2), field(4, 4), field(8, 8)) else {
            break;
        };
        let payload = start
            .checked_add(header)
            .and_then(|from| range(image, from, size));
        let Some(mut payload) = payload.filter(|_| header >= 16) else {
            break;
        };
        let later = |offset: usize, bytes| match header >= 64 {
            true => field(offset, bytes).unwrap_or(0),
            false => 0,
        };
        let flags = later(40, 8) & (LZ4 | ZSTD);
        if flags != 0 {
            payload = payload.get(..later(16, 4) as usize).unwrap_or(payload);
        }
        all.push(Member {
            kind: match kind {
                1 => Kind::Ptx,
                128 => Kind::TileIr,
                _ => Kind::Other,
            },
            sm: later(28, 4),
            payload,
            flags,
            size: later(56, 8).min(MOST),
        });
        at = start.checked_add(header).and_then(|a| a.checked_add(size));
    }
    all
}

impl<'a> Member<'a> {
    /// The image, decompressed, or why it cannot be.
    pub fn content(&self) -> Result<Cow<'a, [u8]>, String> {
        let failed = |e: &dyn std::fmt::Display| format!("a compressed member of the fatbin: {e}");
        match self.flags {
            0 => Ok(Cow::Borrowed(self.payload)),
            ZSTD => {
                let mut bytes = Vec::new();
                let decoder = ruzstd::decoding::StreamingDecoder::new(self.payload);
                let decoder = decoder.map_err(|e| failed(&e))?;
                let read = decoder.take(self.size).read_to_end(&mut bytes);
                read.map_err(|e| failed(&e))?;
                Ok(Cow::Owned(bytes))
            }
            LZ4 => {
                let bytes = lz4_flex::block::decompress(self.payload, self.size as usize);
                Ok(Cow::Owned(bytes.map_err(|e| failed(&e))?))
            }
            _ => Err(failed(&"two kinds of compression")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fatbin(kind: u16, flags: u64, payload: &[u8], size: u64) -> Vec<u8> {
        let padded = payload.len().next_multiple_of(8);
        let mut image = FATBIN.to_le_bytes().to_vec();
        image.extend([1, 0, 16, 0]);
        image.extend((64 + padded as u64).to_le_bytes());
        let mut header = [0u8; 64];
        header[..2].copy_from_slice(&kind.to_le_bytes());
        header[4] = 64;
        header[8..16].copy_from_slice(&(padded as u64).to_le_bytes());
        header[16..20].copy_from_slice(&(payload.len() as u32).to_le_bytes());
        header[28] = 90;
        header[40..48].copy_from_slice(&flags.to_le_bytes());
        header[56..].copy_from_slice(&size.to_le_bytes());
        image.extend(header);
        image.extend(payload);
        image.resize(80 + padded, 0);
        image
    }

    const TEXT: &[u8] = b"abababababababababababababababababababababxyz";
    /// The text by `lz4`, the block alone.
    const LZ4_BLOCK: &[u8] = &[
        0x2f, 0x61, 0x62, 0x02, 0x00, 0x13, 0x50, 0x61, 0x62, 0x78, 0x79, 0x7a,
    ];
    /// The text by `zstd -19 --no-check`.
    const ZSTD_FRAME: &[u8] = &[
        0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x2d, 0x5d, 0x00, 0x00, 0x28, 0x61, 0x62, 0x78, 0x79, 0x7a,
        0x01, 0x00, 0x2b, 0x1d, 0x16,
    ];

    #[test]
    fn members_are_decompressed() {
        let size = TEXT.len() as u64;
        for (flags, payload) in [(0x11, TEXT), (0x2011, LZ4_BLOCK), (0x8011, ZSTD_FRAME)] {
            let image = fatbin(128, flags, payload, size);
            let found = members(&image);
            assert_eq!(found.len(), 1);
            assert_eq!((found[0].kind, found[0].sm), (Kind::TileIr, 90));
            assert!(found[0].content().unwrap().starts_with(TEXT));
            assert!(members(&image[..40]).is_empty());
        }
        let broken = fatbin(1, 0x8011, b"no frame", 8);
        assert!(members(&broken)[0].content().is_err());
    }
}
