//! `print_tko`: the first thread of the block prints every element, by `vprintf`.
//!
//! A tile prints as `[0, 1, 2]`, nested by dimension. Its elements come through scratch memory.

use super::Lower;
use super::emit::AccessAttrs;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::cuda_tile::view;
use crate::dialect::enums::Rounding;
use crate::dialect::nvvm::Op as N;
use crate::ir::{Attr, Diagnostic, Float, Op, OpId, Type, TypeId, ValueId};
use crate::lower::build::cased;
use crate::lower::unsupported;

/// Arguments of one `vprintf`. Source: CUDA C++ programming guide, "Formatted Output: Limitations".
const ARGUMENTS: usize = 32;
/// Elements of all tiles of one operation: each is a few instructions.
const ELEMENTS: u64 = 8192;

/// Text up to a conversion, and the conversion: flags, width, precision; and its letter.
struct Piece {
    text: String,
    conversion: Option<(String, char)>,
}

/// Reads a C format; the last piece has no conversion.
fn parse(format: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        text.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            text.push_str("%%");
            rest = after;
            continue;
        }
        let flags = rest.len()
            - rest
                .trim_start_matches(|c| "-+ #0123456789.".contains(c))
                .len();
        let after = rest[flags..].trim_start_matches(|c| "hljztL".contains(c));
        match after.chars().next() {
            Some(letter) if "diuoxXcfFeEgGaAp".contains(letter) => {
                pieces.push(Piece {
                    text: std::mem::take(&mut text),
                    conversion: Some((rest[..flags].to_owned(), letter)),
                });
                rest = &after[letter.len_utf8()..];
            }
            _ => text.push_str("%%"),
        }
    }
    text.push_str(rest);
    pieces.push(Piece {
        text,
        conversion: None,
    });
    pieces
}

/// What is printed so far: text with conversions, and their arguments.
#[derive(Default)]
struct Line {
    format: String,
    arguments: Vec<ValueId>,
}

impl Lower<'_> {
    pub(super) fn print(&mut self, op: OpId, v: &view::Print<Op>) -> Result<(), Diagnostic> {
        let text = self.m.str(v.str()).to_owned();
        let pieces = parse(&text);
        let arguments = v.args().to_vec();
        if pieces.iter().filter(|p| p.conversion.is_some()).count() != arguments.len() {
            return Err(unsupported(
                self.m,
                op,
                "the format takes another number of values",
            ));
        }
        let tiles = self.print_rooms(op, &arguments)?;
        let repeats = self.role.warps * 32 - 1;
        let Some(first) = self.emit().threads_without(repeats) else {
            return Ok(());
        };
        self.when(first, false, |l| {
            let mut line = Line::default();
            let mut tiles = tiles.iter();
            for piece in &pieces {
                line.format.push_str(&piece.text);
                if let (Some((flags, letter)), Some(tile)) = (&piece.conversion, tiles.next()) {
                    l.print_tile(&mut line, tile, flags, *letter);
                }
            }
            l.print_line(&mut line);
            Ok(())
        })
    }

    /// Where thread 0 finds each argument.
    fn print_rooms(&mut self, op: OpId, arguments: &[ValueId]) -> Result<Vec<Printed>, Diagnostic> {
        let shape = |l: &Self, v: ValueId| -> Vec<u64> {
            let tile = l.m.types.as_tile(l.m.ty(v));
            tile.map_or(vec![], |t| t.1.to_vec())
        };
        let mut total = 0;
        let mut starts = Vec::new();
        for &argument in arguments {
            let elements: u64 = shape(self, argument).iter().product();
            let bytes = u64::from(self.m.types.width(self.m.ty(argument)).max(8) / 8);
            starts.push((total, elements));
            total += (elements * bytes).next_multiple_of(16);
        }
        if starts.iter().map(|s| s.1).sum::<u64>() > ELEMENTS {
            return Err(unsupported(
                self.m,
                op,
                format!("prints more than {ELEMENTS} elements"),
            ));
        }
        let any_tile = arguments.iter().any(|&v| self.layout(v).is_some());
        let at = if any_tile { self.scratch(total) } else { 0 };
        let mut printed = Vec::new();
        for (&argument, (start, elements)) in arguments.iter().zip(starts) {
            let value = self.get(op, argument)?;
            let elem = self.emit().elem(value);
            let address = match self.layout(argument) {
                Some(layout) => {
                    let base = self.emit().smem(at + start);
                    let bits = self.m.types.width(elem).max(8);
                    let order = layout.shape().row_major_order();
                    let shared = crate::layout::shared::SharedLayout::row_major(
                        layout.shape(),
                        &order,
                        bits,
                    );
                    let shared = self.layout_error(op, shared)?;
                    let stored = self.stored(elem);
                    let room = super::spill::Spilled {
                        base,
                        shared,
                        elem,
                        stored,
                    };
                    self.fill(op, &room, base, value, &layout)?;
                    Some(base)
                }
                None => None,
            };
            printed.push(Printed {
                shape: shape(self, argument),
                elem,
                address,
                value,
                elements: elements as u32,
            });
        }
        if any_tile {
            self.barrier();
        }
        Ok(printed)
    }

    fn print_tile(&mut self, line: &mut Line, tile: &Printed, flags: &str, letter: char) {
        let value = match tile.address {
            None => tile.value,
            Some(address) => {
                let stored = self.stored(tile.elem);
                let bytes = i64::from(self.m.types.width(stored) / 8);
                let ty = self.m.types.regs(stored, tile.elements);
                let offsets = (0..i64::from(tile.elements)).map(|i| i * bytes).collect();
                let mut e = self.emit();
                let attrs = AccessAttrs::shared(1, offsets).list(&mut e);
                let value = e.get(N::Ld, &[&[address], &[], &[]], attrs, ty);
                self.from_bytes(value, tile.elem)
            }
        };
        let (value, length) = self.print_argument(value, tile.elem, letter);
        let letter = if letter == 'p' { 'x' } else { letter };
        let prefix = if matches!(self.m.types.get(tile.elem), Type::Ptr { .. }) {
            "0x"
        } else {
            ""
        };
        for i in 0..tile.elements {
            let (open, close) = brackets(&tile.shape, u64::from(i));
            if line.arguments.len() == ARGUMENTS {
                self.print_line(line);
            }
            line.format.push_str(&open);
            line.format
                .push_str(&format!("{prefix}%{flags}{length}{letter}"));
            line.format.push_str(&close);
            let element = self.emit().take(value, &[i]);
            line.arguments.push(element);
        }
    }

    /// Prints what there is.
    fn print_line(&mut self, line: &mut Line) {
        let Line { format, arguments } = std::mem::take(line);
        if format.is_empty() {
            return;
        }
        let format = self.m.intern(&format);
        self.emit()
            .op(N::Print, &[&arguments], [Some(Attr::Str(format))], &[]);
    }

    /// The registers as C passes them to a variadic function, and the length modifier for them.
    fn print_argument(
        &mut self,
        value: ValueId,
        elem: TypeId,
        letter: char,
    ) -> (ValueId, &'static str) {
        let float = "fFeEgGaA".contains(letter);
        let signed = float || "di".contains(letter);
        match self.m.types.get(elem).clone() {
            Type::Float(format) => {
                let wide = self.print_float(value, format);
                if float {
                    return (wide, "");
                }
                let (i64_ty, n) = (self.emit().int(64), self.emit().count(value));
                let ty = self.m.types.regs(i64_ty, n);
                let zero = [cased(Rounding::Zero)];
                let whole = self.emit().get(N::FToSI, &[&[wide]], zero, ty);
                (whole, "ll")
            }
            Type::Int(bits) => {
                let to = if bits == 64 { 64 } else { 32 };
                let n = self.emit().count(value);
                let mut e = self.emit();
                let int_ty = e.int(to);
                let ty = e.m.types.regs(int_ty, n);
                let value = match bits {
                    b if b == to => value,
                    1 => e.get(N::ZExt, &[&[value]], [], ty),
                    _ if signed => e.get(N::SExt, &[&[value]], [], ty),
                    _ => e.get(N::ZExt, &[&[value]], [], ty),
                };
                if float {
                    let f64_ty = e.m.types.float(Float::F64);
                    let ty = e.m.types.regs(f64_ty, n);
                    let even = [cased(Rounding::NearestEven)];
                    return (e.get(N::SIToF, &[&[value]], even, ty), "");
                }
                (value, if to == 64 { "ll" } else { "" })
            }
            _ => {
                let i64_ty = self.emit().int(64);
                (self.emit().bitcast(value, i64_ty), "ll")
            }
        }
    }

    /// Any float format as f64.
    fn print_float(&mut self, mut value: ValueId, format: Float) -> ValueId {
        let steps: &[Float] = match format {
            Float::F64 => &[],
            Float::F32 => &[Float::F64],
            _ => &[Float::F32, Float::F64],
        };
        for &step in steps {
            value = self.float_cast(value, step);
        }
        value
    }

    /// `value` in another float format, rounded to nearest; rules choose how.
    pub fn float_cast(&mut self, value: ValueId, to: Float) -> ValueId {
        let mut e = self.emit();
        let n = e.count(value);
        let elem = e.m.types.float(to);
        if e.elem(value) == elem {
            return value;
        }
        let ty = e.m.types.regs(elem, n);
        let rounding = [cased(Rounding::NearestEven)];
        e.get(C::FToF, &[&[value]], rounding, ty)
    }
}

/// An argument on its way to thread 0.
struct Printed {
    shape: Vec<u64>,
    elem: TypeId,
    /// Where a tile's elements lie; none for a scalar, which every thread has.
    address: Option<ValueId>,
    value: ValueId,
    elements: u32,
}

/// What stands before and after element `i` of a tile of `shape`.
fn brackets(shape: &[u64], i: u64) -> (String, String) {
    let mut open = 0;
    let mut close = 0;
    let mut run = 1;
    for &extent in shape.iter().rev() {
        run *= extent;
        open += usize::from(i.is_multiple_of(run));
        close += usize::from((i + 1).is_multiple_of(run));
    }
    let last = i + 1 == run;
    let comma = if last { "" } else { ", " };
    ("[".repeat(open), format!("{}{comma}", "]".repeat(close)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_nested_lists() {
        let text: String = (0..4)
            .map(|i| {
                let (open, close) = brackets(&[2, 2], i);
                format!("{open}{i}{close}")
            })
            .collect();
        assert_eq!(text, "[[0, 1], [2, 3]]");
        assert_eq!(brackets(&[], 0), (String::new(), String::new()));
    }

    #[test]
    fn formats_are_cut_at_conversions() {
        let shown: Vec<String> = parse("a %5.2lf b%% %d\n")
            .iter()
            .map(|p| format!("{:?} {:?}", p.text, p.conversion))
            .collect();
        assert_eq!(
            shown,
            [
                "\"a \" Some((\"5.2\", 'f'))",
                "\" b%% \" Some((\"\", 'd'))",
                "\"\\n\" None"
            ]
        );
    }
}
