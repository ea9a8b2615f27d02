//! `vprintf` and `__assertfail`, the two functions that every driver provides.

use super::env::Env;
use super::fault::Trap;
use super::flow::Flow;
use super::memory::{place, read};
use super::warp::Warp;
use crate::exec::frame::Frame;
use crate::program::inst::{CallValue, Space};
use crate::program::{LANES, Row, lanes};

/// Longest string that is read from device memory.
const MAX_STRING: usize = 4096;

/// Argument `index` of a call.
pub(super) fn argument(
    warp: &Warp,
    frame: Frame,
    lane: usize,
    args: &[CallValue],
    index: usize,
) -> u64 {
    let Some(CallValue::Param(offset, size)) = args.get(index) else {
        return 0;
    };
    let at = (frame.params + offset) as usize;
    let mut word = [0; 8];
    let n = (*size as usize).min(8);
    if let Some(bytes) = warp.params[lane].get(at..at + n) {
        word[..n].copy_from_slice(bytes);
    }
    u64::from_le_bytes(word)
}

fn string(
    env: &mut Env<'_>,
    warp: &mut Warp,
    lane: usize,
    mut address: u64,
) -> Result<String, Trap> {
    let mut bytes = Vec::new();
    while bytes.len() < MAX_STRING {
        let at = place(env, warp, Space::Generic, address)?;
        match read(env, warp, lane, at, 1)? as u8 {
            0 => break,
            byte => bytes.push(byte),
        }
        address += 1;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// `vprintf(format, arguments)`: formats into the launch's output.
pub fn call(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    args: &[CallValue],
    returns: &[CallValue],
) -> Result<Flow, Trap> {
    for lane in lanes(active) {
        let format = argument(warp, frame, lane, args, 0);
        let values = argument(warp, frame, lane, args, 1);
        let format = string(env, warp, lane, format).map_err(|t| t.at(lane))?;
        let text = expand(env, warp, lane, &format, values).map_err(|t| t.at(lane))?;
        if let Ok(mut output) = env.shared.output.lock() {
            output.push_str(&text);
        }
    }
    give_back(warp, frame, active, returns, &[0; LANES]);
    Ok(Flow::Next)
}

/// Hands a result to the caller of a function that every driver provides.
pub(super) fn give_back(
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    returns: &[CallValue],
    row: &Row,
) {
    for target in returns {
        match target {
            CallValue::Param(offset, size) => {
                let n = (*size as usize).min(8);
                for lane in lanes(active) {
                    let at = (frame.params + offset) as usize;
                    if let Some(bytes) = warp.params[lane].get_mut(at..at + n) {
                        bytes.copy_from_slice(&row[lane].to_le_bytes()[..n]);
                    }
                }
            }
            CallValue::Target(reg) => warp.set(frame, *reg, active, row),
            CallValue::Value(_) => {}
        }
    }
}

/// `__assertfail(message, file, line, function, char size)`
pub fn assertion(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    args: &[CallValue],
) -> Result<Flow, Trap> {
    let Some(lane) = lanes(active).next() else {
        return Ok(Flow::Next);
    };
    let mut text = |warp: &mut Warp, i| {
        let address = argument(warp, frame, lane, args, i);
        string(env, warp, lane, address)
    };
    let (message, file) = (text(warp, 0)?, text(warp, 1)?);
    let line = argument(warp, frame, lane, args, 2) as u32;
    Err(Trap::lane(
        lane,
        format!("assertion failed: {file}:{line}: {message}"),
    ))
}

/// The format with its arguments, which lie in a buffer aligned to their sizes.
fn expand(
    env: &mut Env<'_>,
    warp: &mut Warp,
    lane: usize,
    format: &str,
    mut values: u64,
) -> Result<String, Trap> {
    let mut out = String::new();
    let mut chars = format.chars().peekable();
    let mut next = |env: &mut Env<'_>, warp: &mut Warp, size: u32| -> Result<u64, Trap> {
        values = values.next_multiple_of(size.into());
        let at = place(env, warp, Space::Generic, values)?;
        values += u64::from(size);
        read(env, warp, lane, at, size)
    };
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut spec = String::new();
        let mut long = false;
        let kind = loop {
            match chars.next() {
                Some(c @ ('l' | 'h' | 'z' | 'j')) => long |= c != 'h',
                Some('*') => spec.push_str(&(next(env, warp, 4)? as i32).to_string()),
                Some(c) if c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | ' ' | '#') => {
                    spec.push(c)
                }
                Some(c) => break c,
                None => return Ok(out),
            }
        };
        let text = match kind {
            '%' => "%".into(),
            'd' | 'i' if long => (next(env, warp, 8)? as i64).to_string(),
            'd' | 'i' => (next(env, warp, 4)? as i32).to_string(),
            'u' | 'x' | 'X' | 'o' => {
                let value = next(env, warp, if long { 8 } else { 4 })?;
                match kind {
                    'u' => value.to_string(),
                    'o' => format!("{value:o}"),
                    'x' => format!("{value:x}"),
                    _ => format!("{value:X}"),
                }
            }
            'p' => format!("{:#x}", next(env, warp, 8)?),
            'c' => char::from(next(env, warp, 4)? as u8).to_string(),
            's' => {
                let address = next(env, warp, 8)?;
                string(env, warp, lane, address)?
            }
            'f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A' => {
                real(f64::from_bits(next(env, warp, 8)?), kind, &spec)
            }
            other => format!("%{other}"),
        };
        let signed = matches!(
            kind,
            'd' | 'i' | 'f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A'
        );
        out.push_str(&pad(with_sign(text, &spec, signed), &spec));
    }
    Ok(out)
}

fn real(value: f64, kind: char, spec: &str) -> String {
    let precision = spec
        .split_once('.')
        .and_then(|(_, p)| p.parse().ok())
        .unwrap_or(6usize)
        .min(64);
    match kind {
        'e' | 'E' => {
            let text = format!("{value:.precision$e}");
            // C writes at least two exponent digits and a sign.
            match text
                .split_once('e')
                .and_then(|(m, e)| Some((m, e.parse::<i32>().ok()?)))
            {
                Some((m, e)) => format!("{m}{kind}{}{:02}", if e < 0 { '-' } else { '+' }, e.abs()),
                None => text,
            }
        }
        'g' | 'G' => format!("{value}"),
        'a' | 'A' => {
            let digits = spec.split_once('.').and_then(|(_, p)| p.parse().ok());
            let text = by_bits(value, digits);
            if kind == 'A' {
                text.to_uppercase()
            } else {
                text
            }
        }
        _ => format!("{value:.precision$}"),
    }
}

/// `%a` of C's library on Linux: a hexadecimal fraction and a power of two; exact unless `digits` says how many.
fn by_bits(value: f64, digits: Option<usize>) -> String {
    let sign = if value.is_sign_negative() && !value.is_nan() {
        "-"
    } else {
        ""
    };
    if !value.is_finite() {
        return format!("{sign}{}", if value.is_nan() { "nan" } else { "inf" });
    }
    let bits = value.abs().to_bits();
    let power = match bits {
        0 => 0,
        _ => (bits >> 52).max(1) as i32 - 1023,
    };
    // 1.52 or 0.52 bits, as an integer.
    let mut number = u128::from(bits & ((1 << 52) - 1)) | u128::from(bits >> 52 != 0) << 52;
    let mut nibbles = 13;
    let wanted = digits.unwrap_or(nibbles);
    if wanted < nibbles {
        let unit = 1 << (4 * (nibbles - wanted));
        let odd = number / unit % 2;
        // To nearest, ties to even.
        number = (number + unit / 2 - 1 + odd) / unit;
        nibbles = wanted;
    }
    while digits.is_none() && nibbles > 0 && number % 16 == 0 {
        number /= 16;
        nibbles -= 1;
    }
    let (whole, rest) = (number >> (4 * nibbles), number % (1 << (4 * nibbles)));
    let mut text = format!("{sign}0x{whole:x}");
    if wanted > 0 && nibbles > 0 {
        text.push_str(&format!(".{rest:0nibbles$x}"));
        text.push_str(&"0".repeat(digits.unwrap_or(0).saturating_sub(nibbles)));
    }
    text.push_str(&format!("p{power:+}"));
    text
}

/// The `+` and space flags of signed conversions.
fn with_sign(text: String, spec: &str, signed: bool) -> String {
    let flags: String = spec
        .chars()
        .take_while(|c| !c.is_ascii_digit() && *c != '.')
        .collect();
    if !signed || text.starts_with('-') {
        text
    } else if flags.contains('+') {
        format!("+{text}")
    } else if flags.contains(' ') {
        format!(" {text}")
    } else {
        text
    }
}

fn pad(text: String, spec: &str) -> String {
    let flags: String = spec
        .chars()
        .take_while(|c| matches!(c, '-' | '+' | ' ' | '#' | '0'))
        .collect();
    let width: usize = spec[flags.len()..]
        .split('.')
        .next()
        .and_then(|w| w.parse().ok())
        .unwrap_or(0)
        .min(256);
    if flags.contains('-') {
        format!("{text:<width$}")
    } else if flags.contains('0') && text.len() < width {
        let split = usize::from(text.starts_with(['-', '+', ' ']));
        let (sign, digits) = text.split_at(split);
        format!("{sign}{digits:0>w$}", w = width - sign.len())
    } else {
        format!("{text:>width$}")
    }
}

#[cfg(test)]
mod tests {
    use super::by_bits;

    /// Expected strings are those of C's printf.
    #[test]
    fn floats_by_their_bits() {
        assert_eq!(by_bits(0.1, None), "0x1.999999999999ap-4");
        assert_eq!(by_bits(-1.0, None), "-0x1p+0");
        assert_eq!(by_bits(3.15, Some(2)), "0x1.93p+1");
        assert_eq!(by_bits(1.5, Some(0)), "0x2p+0");
        assert_eq!(by_bits(5e-324, None), "0x0.0000000000001p-1022");
        assert_eq!(by_bits(0.0, Some(15)), "0x0.000000000000000p+0");
        assert_eq!(by_bits(f64::INFINITY, None), "inf");
    }
}
