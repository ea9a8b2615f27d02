//! Bytes of the simulator against bytes of a GPU.

use ptxsim::Buffer;

/// Says where a buffer differs, if it does.
pub fn difference(simulated: &Buffer, real: &[u8]) -> Option<String> {
    let places: Vec<usize> = (0..simulated.bytes.len().max(real.len()))
        .filter(|&i| simulated.bytes.get(i) != real.get(i))
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

    #[test]
    fn the_word_that_differs() {
        let buffer = Buffer {
            name: "y".into(),
            bytes: vec![1, 2, 3, 4, 5, 6, 7, 8],
        };
        assert_eq!(difference(&buffer, &[1, 2, 3, 4, 5, 6, 7, 8]), None);
        let text = difference(&buffer, &[1, 2, 3, 4, 5, 9, 7, 8]).unwrap();
        assert!(text.contains("1 of 8 bytes, first at 5"), "{text}");
        assert!(
            text.contains("simulated 0x08070605, real 0x08070905"),
            "{text}"
        );
        assert!(difference(&buffer, &[]).is_some());
    }
}
