//! Constant data: numbers in nested lists, converted once their type is known.

use super::cursor::Result;
use super::state::Parser;
use crate::asm::{float, type_text};
use crate::ir::{Attr, Dense, Type, TypeId};

/// Numbers as written, with the shape that the brackets give.
struct Literal<'t> {
    at: usize,
    items: Vec<(usize, &'t str)>,
    strings: Vec<String>,
    /// `None` for one number without brackets.
    shape: Option<Vec<usize>>,
}

impl<'t> Parser<'t> {
    /// `<elements> : type`, after `dense`.
    pub fn dense_attr(&mut self) -> Result<Attr> {
        self.c.expect("<")?;
        let literal = self.literal()?;
        self.c.expect(">")?;
        self.c.expect(":")?;
        let ty = self.ty()?;
        self.convert(literal, ty)
    }

    /// `<f32: elements> : type`, the assembly form; the element type is that of the type.
    pub fn typed_dense(&mut self) -> Result<(Attr, TypeId)> {
        self.c.expect("<")?;
        let at = self.c.offset();
        let elem = self.ty()?;
        self.c.expect(":")?;
        let literal = self.literal()?;
        self.c.expect(">")?;
        self.c.expect(":")?;
        let ty = self.ty()?;
        if self.module.types.elem(ty) != elem {
            let message = format!(
                "mismatch between the element type: '{}' and the tile element type '{}'",
                type_text(&self.module, elem),
                type_text(&self.module, self.module.types.elem(ty))
            );
            return Err(self.c.error_at(at, message));
        }
        self.convert(literal, ty).map(|attr| (attr, ty))
    }

    fn literal(&mut self) -> Result<Literal<'t>> {
        let mut literal = Literal {
            at: self.c.offset(),
            items: Vec::new(),
            strings: Vec::new(),
            shape: None,
        };
        if self.c.peek("[") {
            let mut shape = Vec::new();
            self.elements(&mut literal, 0, &mut shape)?;
            literal.shape = Some(shape);
        } else {
            self.element(&mut literal)?;
        }
        Ok(literal)
    }

    fn element(&mut self, literal: &mut Literal<'t>) -> Result<()> {
        let at = self.c.offset();
        if self.c.peek("\"") {
            literal.strings.push(self.c.string()?);
            return Ok(());
        }
        let text = match self.c.peek_word() {
            word @ ("true" | "false") => {
                self.c.expect(word)?;
                word
            }
            _ => self.c.number()?,
        };
        literal.items.push((at, text));
        Ok(())
    }

    /// A bracketed list; all lists of one level have one length.
    fn elements(
        &mut self,
        literal: &mut Literal<'t>,
        level: usize,
        shape: &mut Vec<usize>,
    ) -> Result<()> {
        if level == 32 {
            return Err(self.c.error("lists nested too deeply".into()));
        }
        self.c.expect("[")?;
        let at = self.c.offset();
        let mut n = 0;
        // Inner lists end first: this level's length is not known yet.
        if shape.len() <= level {
            shape.push(usize::MAX);
        }
        while !self.c.eat("]") {
            if n > 0 {
                self.c.expect(",")?;
            }
            match self.c.peek("[") {
                true => self.elements(literal, level + 1, shape)?,
                false => self.element(literal)?,
            }
            n += 1;
        }
        if shape[level] == usize::MAX {
            shape[level] = n;
        }
        match shape[level] == n {
            true => Ok(()),
            false => {
                let message = format!(
                    "tensor literal is invalid; ranks are not consistent between elements: {n} and {}",
                    shape[level]
                );
                Err(self.c.error_at(at, message))
            }
        }
    }

    fn convert(&mut self, literal: Literal, ty: TypeId) -> Result<Attr> {
        if !literal.strings.is_empty() {
            let names = literal
                .strings
                .iter()
                .map(|s| self.module.intern(s))
                .collect();
            let data = Dense::Strings(names);
            return Ok(Attr::Dense { data, ty });
        }
        let Some((elem, shape)) = self.module.types.as_constant(ty) else {
            return Err(self
                .c
                .error_at(literal.at, "expected a tile type for constant data".into()));
        };
        if let Some(got) = &literal.shape
            && !got.iter().map(|&d| d as u64).eq(shape.iter().copied())
        {
            let message = format!(
                "inferred shape of elements literal ({got:?}) does not match type ({shape:?})"
            );
            return Err(self.c.error_at(literal.at, message));
        }
        let elem = self.module.types.get(elem);
        let mut bytes = Vec::new();
        for (at, text) in literal.items {
            match number(elem, text) {
                Ok((value, width)) => bytes.extend_from_slice(&value.to_le_bytes()[..width]),
                Err(message) => return Err(self.c.error_at(at, message)),
            }
        }
        let data = Dense::Bytes(bytes);
        Ok(Attr::Dense { data, ty })
    }
}

/// A number of an element type: its bits and how many bytes it takes.
fn number(elem: &Type, text: &str) -> std::result::Result<(u64, usize), String> {
    match elem {
        Type::Float(f) => {
            let bits = float::encode(*f, text);
            let width = f.bits().div_ceil(8) as usize;
            bits.map(|b| (b, width))
                .ok_or_else(|| format!("'{text}' is no value of {}", f.name()))
        }
        Type::Int(width) => {
            let value = match text {
                "true" | "false" if *width == 1 => Some(i128::from(text == "true")),
                "true" | "false" => return Err(format!("expected integer value, got '{text}'")),
                _ => integer(text),
            };
            let range = -(1i128 << (width - 1).min(63))..1i128 << width;
            let value = value.filter(|v| range.contains(v));
            let bytes = width.div_ceil(8) as usize;
            let mask = if *width == 64 {
                u64::MAX
            } else {
                (1 << width) - 1
            };
            value
                .map(|v| (v as u64 & mask, bytes))
                .ok_or_else(|| format!("integer constant out of range for type i{width}: {text}"))
        }
        _ => Err("constant data must be numbers".into()),
    }
}

/// A decimal or hexadecimal integer.
fn integer(text: &str) -> Option<i128> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let value = match digits.strip_prefix("0x") {
        // Longer ones would overflow, and a sign in the middle must not be read.
        Some(hex) if hex.len() <= 16 => i128::from(u64::from_str_radix(hex, 16).ok()?),
        Some(_) => return None,
        None => digits.parse().ok()?,
    };
    Some(sign * value)
}
