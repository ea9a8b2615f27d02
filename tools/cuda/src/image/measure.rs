//! How long an image is: the driver's functions are given a pointer and nothing else.

use super::fatbin::FATBIN;

/// Bytes at an unknown distance, read one by one.
struct Far(*const u8);

impl Far {
    fn byte(&self, at: usize) -> u8 {
        // SAFETY: `measure`'s caller has promised a whole image, and only bytes that the format says exist are read.
        unsafe { self.0.add(at).read() }
    }

    fn number(&self, at: usize, bytes: usize) -> u64 {
        (0..bytes)
            .rev()
            .fold(0, |n, i| n << 8 | u64::from(self.byte(at + i)))
    }

    fn starts_with(&self, magic: &[u8]) -> bool {
        (0..).zip(magic).all(|(i, &b)| self.byte(i) == b)
    }

    /// An unsigned LEB128 number, and where it ends.
    fn varint(&self, mut at: usize) -> Option<(u64, usize)> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte(at);
            at += 1;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some((value, at));
            }
        }
        None
    }
}

/// What nvcc's host code hands on: a structure that points to a fatbin.
const FATBIN_WRAPPER: u32 = 0x4662_43b1;

/// The image at a pointer; `None` if its own numbers contradict each other.
///
/// # Safety
/// `image` is not null and points to a whole image of a kind that can be recognised: Tile IR bytecode, ELF, a fatbin, or
/// text that ends with NUL.
pub unsafe fn measure<'a>(image: *const u8) -> Option<&'a [u8]> {
    let far = Far(image);
    let length = if far.starts_with(&tilec::bytecode::MAGIC) {
        tile(&far)?
    } else if far.starts_with(b"\x7fELF") {
        elf(&far)?
    } else if far.number(0, 1) == u64::from(FATBIN as u8) && far.number(0, 4) == u64::from(FATBIN) {
        let (header, size) = (far.number(6, 2), far.number(8, 8));
        usize::try_from(header.checked_add(size)?).ok()?
    } else if far.number(0, 1) == u64::from(FATBIN_WRAPPER as u8)
        && far.number(0, 4) == u64::from(FATBIN_WRAPPER)
    {
        let inner = std::ptr::with_exposed_provenance::<u8>(far.number(8, 8) as usize);
        return match inner.is_null() {
            true => None,
            // SAFETY: the wrapper points to a fatbin, by its definition.
            false => unsafe { measure(inner) },
        };
    } else {
        (0..).find(|&i| far.byte(i) == 0)?
    };
    // SAFETY: the caller's promise.
    Some(unsafe { std::slice::from_raw_parts(image, length) })
}

/// Sections up to the one that ends the file.
fn tile(far: &Far) -> Option<usize> {
    let mut at = tilec::bytecode::MAGIC.len() + 4;
    loop {
        let id = far.byte(at);
        at += 1;
        if id & 0x7f == 0 {
            return Some(at);
        }
        let (length, next) = far.varint(at)?;
        at = next;
        if id & 0x80 != 0 {
            let (alignment, next) = far.varint(at)?;
            at = next.checked_next_multiple_of(usize::try_from(alignment).ok()?.max(1))?;
        }
        at = at.checked_add(usize::try_from(length).ok()?)?;
    }
}

/// The end of the last section, header or table of a 64-bit little-endian file.
fn elf(far: &Far) -> Option<usize> {
    let (phoff, shoff) = (far.number(0x20, 8), far.number(0x28, 8));
    let (phsize, phnum) = (far.number(0x36, 2), far.number(0x38, 2));
    let (shsize, shnum) = (far.number(0x3a, 2), far.number(0x3c, 2));
    let mut end = (phoff + phsize * phnum)
        .max(shoff + shsize * shnum)
        .max(0x40);
    for i in 0..shnum {
        let at = usize::try_from(shoff + i * shsize).ok()?;
        const NOBITS: u64 = 8;
        if far.number(at + 4, 4) != NOBITS {
            let last = far
                .number(at + 0x18, 8)
                .checked_add(far.number(at + 0x20, 8))?;
            end = end.max(last);
        }
    }
    usize::try_from(end).ok()
}

#[cfg(test)]
mod tests {
    use super::measure;

    #[test]
    fn bytecode_and_text_end_where_they_end() {
        let mut bytes =
            include_bytes!("../../../../tests/corpus/bytecode/vadd/f32.tilebc").to_vec();
        let length = bytes.len();
        bytes.extend([0xaa; 16]);
        // SAFETY: whole images.
        unsafe {
            assert_eq!(measure(bytes.as_ptr()).map(<[u8]>::len), Some(length));
            let text = b".version 8.0\n\0rest";
            assert_eq!(measure(text.as_ptr()), Some(&text[..13]));
        }
    }
}
