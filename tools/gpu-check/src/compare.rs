//! Bytes of the simulator against bytes of a GPU.

use ptxsim::Buffer;
use ptxsim::suite::{BufferFile, both_nan};

/// Says where a buffer differs, if it does. Which NaN it is makes no difference, where the
/// type of its elements is known.
pub fn difference(file: Option<&BufferFile>, simulated: &Buffer, real: &[u8]) -> Option<String> {
    let size = file.map_or(1, |f| f.size.max(1));
    let element = |bytes: &[u8], i: usize| {
        let start = i / size * size;
        bytes.get(start..start + size).map(<[u8]>::to_owned)
    };
    let nan = |i| match (element(&simulated.bytes, i), element(real, i)) {
        (Some(one), Some(other)) => file.is_some_and(|f| both_nan(f, &one, &other)),
        _ => false,
    };
    let places: Vec<usize> = (0..simulated.bytes.len().max(real.len()))
        .filter(|&i| simulated.bytes.get(i) != real.get(i) && !nan(i))
        .collect();
    let &first = places.first()?;
    let word = first / 4 * 4;
    let hex = |bytes: &[u8]| -> String {
        let word: Vec<u8> = bytes.iter().skip(word).take(4).copied().collect();
        word.iter().rev().map(|b| format!("{b:02x}")).collect()
    };
    Some(format!(
        "`{}` differs in {} of {} bytes, first at {first}: simulated 0x{}, real 0x{}",
        simulated.name,
        places.len(),
        real.len(),
        hex(&simulated.bytes),
        hex(real)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(element: &str, size: usize) -> BufferFile {
        BufferFile {
            name: "y".into(),
            file: "y".into(),
            size,
            element: element.into(),
            expected: None,
            scratch: false,
            ulp: 0,
            absolute: 0.0,
            relative: 0.0,
        }
    }

    #[test]
    fn any_nan_will_do() {
        let bytes = |words: [u32; 2]| words.map(u32::to_le_bytes).concat();
        let simulated = Buffer {
            name: "y".into(),
            bytes: bytes([0x7fc0_0000, 0x3f80_0000]),
        };
        let real = bytes([0x7fff_ffff, 0x3f80_0000]);
        assert_eq!(difference(Some(&file("f32", 4)), &simulated, &real), None);
        assert!(difference(Some(&file("u32", 4)), &simulated, &real).is_some());
        let real = bytes([0x7fff_ffff, 0x3f80_0001]);
        assert!(difference(Some(&file("f32", 4)), &simulated, &real).is_some());
    }

    #[test]
    fn the_word_that_differs() {
        let buffer = Buffer {
            name: "y".into(),
            bytes: vec![1, 2, 3, 4, 5, 6, 7, 8],
        };
        assert_eq!(difference(None, &buffer, &[1, 2, 3, 4, 5, 6, 7, 8]), None);
        let text = difference(None, &buffer, &[1, 2, 3, 4, 5, 9, 7, 8]).unwrap();
        assert!(text.contains("1 of 8 bytes, first at 5"), "{text}");
        assert!(
            text.contains("simulated 0x08070605, real 0x08070905"),
            "{text}"
        );
        assert!(difference(None, &buffer, &[]).is_some());
    }
}
