//! The assembly form of every cuda_tile operation, read from its row: printer and parser share it.
//!
//! A format is text with these parts (white space stands for optional white space):
//!
//! | part | meaning |
//! |---|---|
//! | `$x` | the values of operand group `x`, or the value of attribute `x` |
//! | `type(x)` | the types of operand group or result `x` |
//! | `(x? …)` | present when `x` is: operands given, attribute given and not its default |
//! | `(x~case? …)` | present when enumeration `x` is not `case`; absence means `case` |
//! | `{flags x y}` | unit attributes, in any order |
//! | `{name …}` | a form written in Rust, see [`Custom`] |
//! | anything else | itself |

use std::sync::LazyLock;

use crate::dialect::cuda_tile::{Op, TABLE};
use crate::dialect::{AttrKind, OpDef};

/// A field of an operation, by its place in the table row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Field {
    Operand(usize),
    Attr(usize),
    Result(usize),
}

/// Forms that are not a sequence of fields.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Custom {
    /// `<f32: 1.0> : tile<…>`: attribute, and the result that has its type.
    Dense {
        attr: usize,
        result: Option<usize>,
    },
    /// `attributes {x = …}` unless the attribute is its default.
    Attributes(usize),
    /// Unit attributes in any order.
    Flags(Vec<usize>),
    /// `, type` of an index group: once when all are equal, else each.
    Index(usize),
    /// One type that all results have, as many as the source's rank.
    Rank,
    /// One type that the three results have.
    Triple,
    /// The result's view type, which gives the operand's.
    View,
    /// Base, shape and strides, constant or not.
    TensorView,
    /// `public` is not written.
    Visibility(usize),
    /// A string attribute written `@name`.
    Symbol(usize),
    Entry,
    For,
    Loop,
    /// The regions of an `if`.
    Branches,
    /// The region of a reduction, its arguments before it.
    Combination,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Piece {
    Space,
    Literal(String),
    Value(Field),
    Type(Field),
    Group {
        field: Field,
        /// Enumeration case that absence stands for.
        unless: Option<u8>,
        pieces: Vec<Piece>,
    },
    Custom(Custom),
}

/// The format of an operation, if it has one.
pub fn format_of(op: Op) -> Option<&'static [Piece]> {
    static PARSED: LazyLock<Vec<Option<Vec<Piece>>>> = LazyLock::new(|| {
        let mut all = vec![None; TABLE.len()];
        for (row, parsed) in TABLE.iter().zip(&mut all) {
            if !row.text.is_empty() {
                *parsed = Some(
                    FormatParser {
                        row,
                        rest: row.text,
                    }
                    .pieces(),
                );
            }
        }
        all
    });
    PARSED[op as usize].as_deref()
}

/// Parses a format. The formats stand in the operation table, so an error is a bug and panics; a test
/// parses them all.
struct FormatParser {
    row: &'static OpDef,
    rest: &'static str,
}

impl FormatParser {
    fn pieces(&mut self) -> Vec<Piece> {
        let mut out = Vec::new();
        while let Some(c) = self.rest.chars().next() {
            match c {
                ')' => break,
                ' ' => {
                    self.rest = self.rest.trim_start();
                    out.push(Piece::Space);
                }
                '$' => {
                    self.rest = &self.rest[1..];
                    let name = self.word();
                    out.push(Piece::Value(self.field(name)));
                }
                '{' => out.push(Piece::Custom(self.custom())),
                _ if self.rest.starts_with("type(") => {
                    self.rest = &self.rest[5..];
                    let name = self.word();
                    self.skip(")");
                    out.push(Piece::Type(self.field(name)));
                }
                '(' => out.push(self.group()),
                _ => out.push(self.literal()),
            }
        }
        out
    }

    fn skip(&mut self, text: &str) {
        self.rest = self.rest.strip_prefix(text).expect("format syntax");
    }

    fn word(&mut self) -> &'static str {
        let end = self
            .rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        word
    }

    fn field(&self, name: &str) -> Field {
        let row = self.row;
        let operand = row
            .operands
            .iter()
            .position(|o| o.name == name)
            .map(Field::Operand);
        let attr = || row.attr_index(name).map(Field::Attr);
        let result = || {
            row.results
                .iter()
                .position(|r| r.name == name)
                .map(Field::Result)
        };
        let field = operand.or_else(attr).or_else(result);
        field.unwrap_or_else(|| panic!("'{}' has no field '{name}'", row.name))
    }

    fn literal(&mut self) -> Piece {
        let first = self.rest.chars().next().expect("not at the end");
        if first.is_ascii_alphabetic() {
            return Piece::Literal(self.word().into());
        }
        let len = if self.rest.starts_with("->") { 2 } else { 1 };
        let (text, rest) = self.rest.split_at(len);
        self.rest = rest;
        Piece::Literal(text.into())
    }

    /// `(x? …)`, or a literal parenthesis with what it encloses.
    fn group(&mut self) -> Piece {
        let before = self.rest;
        self.skip("(");
        let name = self.word();
        let case = self.rest.strip_prefix('~').map(|rest| {
            self.rest = rest;
            self.word()
        });
        if !self.rest.starts_with('?') {
            // Literal: the closing one is met as a literal too.
            self.rest = &before[1..];
            let mut pieces = vec![Piece::Literal("(".into())];
            pieces.extend(self.pieces());
            self.skip(")");
            pieces.push(Piece::Literal(")".into()));
            return Piece::Group {
                field: Field::Result(0),
                unless: None,
                pieces,
            };
        }
        self.skip("?");
        let field = self.field(name);
        let unless = case.map(|case| self.case(field, case));
        let pieces = self.pieces();
        self.skip(")");
        Piece::Group {
            field,
            unless,
            pieces,
        }
    }

    fn case(&self, field: Field, case: &str) -> u8 {
        let Field::Attr(i) = field else {
            panic!("'{}': only attributes have cases", self.row.name);
        };
        let AttrKind::Enum(def) = self.row.attrs[i].kind else {
            panic!("'{}': only enumerations have cases", self.row.name);
        };
        let index = def.cases.iter().position(|c| *c == case);
        index.unwrap_or_else(|| panic!("no case '{case}'")) as u8
    }

    fn custom(&mut self) -> Custom {
        self.skip("{");
        let end = self.rest.find('}').expect("format syntax");
        let (inside, rest) = self.rest.split_at(end);
        self.rest = &rest[1..];
        let mut words = inside.split(' ');
        let name = words.next().unwrap_or("");
        let fields: Vec<usize> = words
            .map(|w| match self.field(w) {
                Field::Operand(i) | Field::Attr(i) | Field::Result(i) => i,
            })
            .collect();
        match name {
            "dense" => Custom::Dense {
                attr: fields[0],
                result: fields.get(1).copied(),
            },
            "attributes" => Custom::Attributes(fields[0]),
            "flags" => Custom::Flags(fields),
            "index" => Custom::Index(fields[0]),
            "rank" => Custom::Rank,
            "triple" => Custom::Triple,
            "view" => Custom::View,
            "tensor_view" => Custom::TensorView,
            "visibility" => Custom::Visibility(fields[0]),
            "symbol" => Custom::Symbol(fields[0]),
            "entry" => Custom::Entry,
            "for" => Custom::For,
            "loop" => Custom::Loop,
            "branches" => Custom::Branches,
            "combination" => Custom::Combination,
            other => panic!("no custom form '{other}'"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_a_format() {
        // The module is written around its operations; the preview call has no published form.
        for &op in Op::ALL {
            let has = format_of(op).is_some();
            assert_eq!(has, !matches!(op, Op::Module | Op::PreviewCall), "{op:?}");
        }
    }
}
