//! Rows about operations that have results: which instructions compute them on operands of which types.

use serde::Serialize;

use super::Line;
use super::elem::Elem;
use crate::dialect::Dialect;
use crate::machine::rows::{Items, Rows, Text};
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

    pub fn parse(text: &str) -> Option<Shape> {
        let find = |name: &str| Self::NAMES.iter().find(|(n, _)| *n == name);
        let (name, per) = match text.rsplit_once('x') {
            Some((name, per)) => (name, per.parse().ok()?),
            None => (text, 1),
        };
        let &(_, elem) = find(name)?;
        // A packed register is a whole number of elements in 16 or 32 bits.
        let whole = per == 1 || matches!(elem.stored() * per as u32, 16 | 32);
        whole.then_some(Shape { elem, per })
    }
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
    pub(super) fn add(rows: &mut Rows<Row>, line: Line) -> Result<(), String> {
        let text = line.text.clone();
        let (head, expr) = text
            .split_once(" : ")
            .ok_or("no ' : ' before what computes it")?;
        let (about, types) = head.trim().split_once(' ').ok_or("no types")?;
        let cases = about.strip_suffix(']').and_then(|o| o.split_once('['));
        let (names, cases) = cases.unwrap_or((about, ""));
        for name in names.split('|') {
            if Dialect::Nvvm.operation(name).is_none() {
                return Err(format!("no operation 'nvvm.{name}'"));
            }
        }
        let shapes = |text: &str| -> Result<Items<Shape>, String> {
            let parse = |t: &str| Shape::parse(t).ok_or_else(|| format!("unknown type '{t}'"));
            text.trim().split('|').map(parse).collect()
        };
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
    fn parse(text: &'t str) -> Result<Expr, String> {
        let mut parser = ExprParser { rest: text };
        let expr = parser.expr(0)?;
        match parser.rest.trim() {
            "" => Ok(expr),
            more => Err(format!("'{more}' is left over")),
        }
    }

    fn expr(&mut self, depth: u32) -> Result<Expr, String> {
        if depth > 20 {
            return Err("nested too deeply".into());
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
                return Err("expected ',' or ')'".into());
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
fn leaf(word: &str) -> Result<Expr, String> {
    let unknown = || format!("'{word}' is no operand, number or attribute");
    if let Some(name) = word.strip_prefix('{').and_then(|w| w.strip_suffix('}')) {
        return Ok(Expr::Attr(name.to_owned().into()));
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
