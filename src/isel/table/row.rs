//! Rows about operations that have results: which instructions compute them on operands of which types.

use serde::Serialize;

use super::Line;
use super::elem::Elem;
use crate::dialect::Dialect;
use crate::machine::rows::{self, Items, Mistake, Rows, Text, wrong};
use crate::scalar::FloatFormat as Float;

/// The element of a type in a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Shape {
    pub elem: Elem,
    /// Elements per register that the instruction works on.
    pub per: usize,
}

impl Shape {
    pub(in crate::isel) const NAMES: &[(&'static str, Elem)] = &[
        ("i1", Elem::Int(1)),
        ("i4", Elem::Int(4)),
        ("i8", Elem::Int(8)),
        ("i16", Elem::Int(16)),
        ("i32", Elem::Int(32)),
        ("i64", Elem::Int(64)),
        ("f16", Elem::Float(Float::F16)),
        ("bf16", Elem::Float(Float::BF16)),
        ("f32", Elem::Float(Float::F32)),
        ("tf32", Elem::Float(Float::TF32)),
        ("f64", Elem::Float(Float::F64)),
        ("e4m3", Elem::Float(Float::F8E4M3FN)),
        ("e5m2", Elem::Float(Float::F8E5M2)),
        ("ptr", Elem::Global),
        ("shared", Elem::Shared),
    ];

    pub(crate) fn parse(text: &str) -> Result<Shape, Mistake<'_>> {
        let (name, per) = match text.rsplit_once('x') {
            Some((name, per)) => (name, per.parse::<u32>().unwrap_or(0)),
            None => (text, 1),
        };
        let elem = rows::named(Self::NAMES, name, "type")?;
        // A packed register is a whole number of elements in 16 or 32 bits.
        match per == 1 || matches!(elem.stored().checked_mul(per), Some(16 | 32)) {
            true => Ok(Shape {
                elem,
                per: per as usize,
            }),
            false => wrong(
                text,
                format!(
                    "'{text}' is no register: expected as many of {name} as have 16 or 32 bits"
                ),
            ),
        }
    }
}

/// An end of an element's bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub enum End {
    Low,
    High,
}

/// What computes a row's result.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub enum Expr {
    /// An operand.
    Operand(usize),
    /// Every `of`-th element of an operand, from `lane` on.
    Lane {
        operand: usize,
        lane: usize,
        of: usize,
    },
    Imm(u64),
    /// The integer attribute of this name.
    Attr(Text),
    /// Ones in each element of the first operand's registers that are packed, but for as many as the integer attribute says:
    /// the lowest of them, or the highest.
    Kept {
        attr: Text,
        from: End,
    },
    /// An instruction; the mnemonic may have `{…}` in it.
    Insn(Text, Items<Expr>),
    /// The registers of all, the first of each, then the second of each, and so on.
    Interleave(Items<Expr>),
}

/// A row about operations that have results.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub line: Line,
    /// Cases of enumerations, and names of unit attributes, that the operation must have.
    pub cases: Items<Text>,
    pub operands: Items<Items<Shape>>,
    pub results: Items<Shape>,
    pub expr: Expr,
}

impl Row {
    /// Adds the row `OPERATION|…[CASE,…] TYPES : EXPRESSION`.
    pub(super) fn add<'t>(
        rows: &mut Rows<Row>,
        about: &'t str,
        rest: &'t str,
        line: Line,
    ) -> Result<(), Mistake<'t>> {
        let Some((types, expr)) = rest.split_once(" : ") else {
            return wrong(
                about,
                "no ' : ' before what computes it: expected OPERATION[CASE,…] TYPES : EXPRESSION",
            );
        };
        let cases = about.strip_suffix(']').and_then(|o| o.split_once('['));
        let (names, cases) = cases.unwrap_or((about, ""));
        for name in names.split('|') {
            if Dialect::Nvvm.operation(name).is_none() {
                return wrong(name, Dialect::Nvvm.no_operation(name));
            }
        }
        fn shapes(text: &str) -> Result<Items<Shape>, Mistake<'_>> {
            text.trim().split('|').map(Shape::parse).collect()
        }
        let (operands, results) = types.split_once("->").unwrap_or((types, ""));
        let results = match results.trim() {
            "" => Items::default(),
            text => shapes(text)?,
        };
        let operands = operands.trim().split(',').map(shapes);
        let cases = cases.split(',').filter(|case| !case.is_empty());
        let row = Row {
            line,
            cases: cases.map(|case| case.to_owned().into()).collect(),
            operands: operands.collect::<Result<_, _>>()?,
            results,
            expr: ExprParser::parse(expr)?,
        };
        rows.add(names.split('|'), row);
        Ok(())
    }
}

/// Reads what stands behind the colon of a row.
struct ExprParser<'t> {
    rest: &'t str,
}

impl<'t> ExprParser<'t> {
    fn parse(text: &'t str) -> Result<Expr, Mistake<'t>> {
        let mut parser = ExprParser { rest: text };
        let expr = parser.expr(0)?;
        match parser.rest.trim() {
            "" => Ok(expr),
            more => wrong(
                more,
                format!("'{more}' is left over: expected the end of the row"),
            ),
        }
    }

    fn expr(&mut self, depth: u32) -> Result<Expr, Mistake<'t>> {
        if depth > 20 {
            return wrong(self.rest, "nested too deeply: expected at most 20 levels");
        }
        let text = self.rest.trim_start();
        let end = text.find(['(', ')', ',']).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        let word = word.trim();
        self.rest = rest;
        if !rest.starts_with('(') {
            return leaf(word);
        }
        let mut args = Vec::new();
        while !self.rest.starts_with(')') {
            self.rest = self.rest.get(1..).unwrap_or_default();
            args.push(self.expr(depth + 1)?);
            self.rest = self.rest.trim_start();
            if !self.rest.starts_with([',', ')']) {
                return wrong(self.rest, "expected ',' or ')'");
            }
        }
        self.rest = &self.rest[1..];
        Ok(match word {
            "interleave" => Expr::Interleave(args.into()),
            name => Expr::Insn(name.to_owned().into(), args.into()),
        })
    }
}

/// An operand, some of its elements, a number or an attribute.
fn leaf(word: &str) -> Result<Expr, Mistake<'_>> {
    let unknown = || Mistake {
        at: word,
        message: format!(
            "'{word}' is no operand, number or attribute: expected a, b, c, a.LANE/OF, a number or {{ATTRIBUTE}}"
        ),
    };
    if let Some(name) = word.strip_prefix('{').and_then(|w| w.strip_suffix('}')) {
        let low = name.strip_suffix("..").map(|name| (name, End::Low));
        let high = || name.strip_prefix("..-").map(|name| (name, End::High));
        return Ok(match low.or_else(high) {
            Some((attr, from)) => Expr::Kept {
                attr: attr.to_owned().into(),
                from,
            },
            None => Expr::Attr(name.to_owned().into()),
        });
    }
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    };
    if let Some(value) = number(word) {
        return Ok(Expr::Imm(value));
    }
    let operand = |name: &str| ["a", "b", "c"].iter().position(|n| *n == name);
    let Some((name, lanes)) = word.split_once('.') else {
        return operand(word).map(Expr::Operand).ok_or_else(unknown);
    };
    let (lane, of) = lanes.split_once('/').ok_or_else(unknown)?;
    match (operand(name), lane.parse(), of.parse()) {
        (Some(operand), Ok(lane), Ok(of)) if lane < of => Ok(Expr::Lane { operand, lane, of }),
        _ => Err(unknown()),
    }
}
