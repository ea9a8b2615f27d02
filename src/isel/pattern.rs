//! The selection tables `isel/select/*.sel`: which instructions compute an operation of nvvm on
//! operands of which types. `docs/selection.md` describes the format.

mod heads;

use std::borrow::Cow;

use rustc_hash::FxHashMap;

pub use heads::Head;

use super::effects::Effects;
use super::values::{Elem, Form};
use crate::dialect::{Dialect, OpKind};
use crate::ir::{Diagnostic, Float, Place};
use crate::machine::rows::{self, Read, Rows};

/// The element of a type in a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    pub elem: Elem,
    /// Elements per register that the instruction works on.
    pub per: usize,
}

impl Shape {
    const NAMES: &[(&'static str, Elem)] = &[
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

    /// What PTX calls it.
    fn ptx_name(self) -> String {
        let name = match self.elem {
            Elem::Float(Float::TF32) => "f32",
            elem => Self::NAMES
                .iter()
                .find(|(_, e)| *e == elem)
                .map_or("", |(n, _)| n),
        };
        match self.per {
            1 => name.to_owned(),
            per => format!("{name}x{per}"),
        }
    }

    /// Whether a value that lives in registers as `form` says can be brought into this shape.
    fn admits(self, form: Form) -> bool {
        self.elem == form.elem
            && (self.per == 1 || self.per == form.per || self.elem.stored() == 8 && self.per == 2)
    }

    /// Whether a result in this shape can be brought into `form`.
    fn yields(self, form: Form) -> bool {
        self.admits(form) || self.elem == form.elem && self.per == 2 && form.per == 1
    }
}

/// What computes a row's result.
#[derive(Clone, PartialEq, Debug)]
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
    Attr(String),
    /// An instruction; the mnemonic may have `{…}` in it.
    Insn(String, Vec<Expr>),
    /// The registers of all, the first of each, then the second of each, and so on.
    Interleave(Vec<Expr>),
}

/// A row of the table.
#[derive(Debug)]
struct Row {
    /// Cases of enumerations, and names of unit attributes, that the operation must have.
    cases: Vec<String>,
    operands: Vec<Vec<Shape>>,
    results: Vec<Shape>,
    expr: Expr,
}

/// All rows, by operation.
#[derive(Debug, Default)]
pub struct Patterns {
    rows: Rows<Row>,
    files: Vec<String>,
    /// File (an index of `files`) and line of each row.
    places: Vec<(usize, usize)>,
    /// The same of the rows of `effects`.
    effect_places: Vec<(usize, usize)>,
    /// Cases of each attribute, and how they are spelled.
    spelling: FxHashMap<String, Vec<(String, String)>>,
    /// Operations that are one instruction without results.
    pub(super) effects: Effects,
}

/// An attribute as a row sees it: its name, and its case if it has one.
pub struct Case<'a> {
    pub attribute: &'a str,
    /// `absent`, `present`, an enumeration's case; `None` for other values.
    pub case: Option<&'a str>,
}

/// A row with its placeholders filled in for given operands.
#[derive(Clone, PartialEq, Debug)]
pub struct Candidate {
    /// The row it came from: an index of [`Patterns::places`].
    pub row: usize,
    pub operands: Vec<Shape>,
    pub result: Shape,
    pub expr: Expr,
}

impl Patterns {
    /// Adds the rows of a file.
    ///
    /// # Errors
    /// The first row that is malformed, if they are read now.
    pub fn add(
        &mut self,
        text: impl Into<Cow<'static, str>>,
        file: &str,
        read: Read,
    ) -> Result<(), Diagnostic> {
        self.files.push(file.to_owned());
        for (number, line) in rows::lines(&text.into()) {
            let end = line.find('#').unwrap_or(line.len());
            let line = rows::part(&line, 0..line[..end].trim_end().len());
            let added = match line.strip_prefix("spell ") {
                Some(rest) => self.spell(rest),
                None => self.row(line, number, read),
            };
            added.map_err(|what| {
                Diagnostic::error(what).at(Place::Line {
                    file: file.to_owned(),
                    line: number as u32,
                    column: 1,
                })
            })?;
        }
        Ok(())
    }

    fn spell(&mut self, line: &str) -> Result<(), String> {
        let mut words = line.split_whitespace();
        let attribute = words.next().ok_or("no attribute")?;
        let spelled = words.map(|word| {
            let (case, text) = word.split_once('=').ok_or("expected CASE=TEXT")?;
            Ok((case.to_owned(), text.to_owned()))
        });
        let spelled: Vec<_> = spelled.collect::<Result<_, String>>()?;
        let known = self.spelling.entry(attribute.to_owned()).or_default();
        known.extend(spelled);
        Ok(())
    }

    fn row(&mut self, line: Cow<'static, str>, number: usize, read: Read) -> Result<(), String> {
        let text = line.clone();
        let Some(operations) = operations(&text) else {
            self.effects.add(line, read)?;
            self.effect_places.push((self.files.len() - 1, number));
            return Ok(());
        };
        self.rows.add(line, operations, read, Row::parse)?;
        self.places.push((self.files.len() - 1, number));
        Ok(())
    }

    /// File and line of each row, in order.
    pub fn places(&self) -> Vec<String> {
        let place = |&(file, line): &(usize, usize)| format!("{}:{line}", self.files[file]);
        self.places.iter().map(place).collect()
    }

    /// The rows about an operation and their numbers, in the order of the table.
    fn about(&self, kind: OpKind) -> impl Iterator<Item = (usize, &Row)> {
        let name = match kind.dialect {
            Dialect::Nvvm => kind.def().name,
            _ => "",
        };
        let is_about = move |text| operations(text).is_some_and(|mut all| all.any(|n| n == name));
        let rows = self.rows.named(name);
        let rows = rows.filter(move |(_, text)| is_about(text));
        rows.filter_map(|(number, _)| Some((number, self.rows.read(number, Row::parse)?)))
    }

    /// Whether some row is about the operation.
    pub fn covers(&self, kind: OpKind) -> bool {
        self.about(kind).next().is_some()
    }

    /// Every way to compute `kind` on operands and to a result that live in registers like this,
    /// in the order of the table. The instructions may not exist.
    pub fn candidates(
        &self,
        kind: OpKind,
        cases: &[Case],
        operands: &[Form],
        result: Form,
    ) -> Vec<Candidate> {
        let mut found = Vec::new();
        let Some(&first) = operands.first() else {
            return found;
        };
        for (number, row) in self.about(kind) {
            let has = |want: &str| {
                cases.iter().any(|c| {
                    c.case == Some(want) || c.attribute == want && c.case == Some("present")
                })
            };
            let holds = |case: &String| match case.strip_prefix('!') {
                Some(case) => !has(case),
                None => has(case),
            };
            if !row.cases.iter().all(holds) {
                continue;
            }
            for &a in row.operands[0].iter().filter(|a| a.admits(first)) {
                let Some(shapes) = operand_shapes(row, a, operands) else {
                    continue;
                };
                for to in result_shapes(row, a, result) {
                    let fill = Fill {
                        patterns: self,
                        kind,
                        cases,
                        a,
                        to,
                    };
                    if let Some(expr) = fill.expr(&row.expr) {
                        found.push(Candidate {
                            row: number,
                            operands: shapes.clone(),
                            result: to,
                            expr,
                        });
                    }
                }
            }
        }
        found
    }
}

/// The operations of a row `OPERATION|…[CASE,…] TYPES : EXPRESSION`; `None` for a row without types: an effect.
fn operations(line: &str) -> Option<std::str::Split<'_, char>> {
    let (about, rest) = line.split_once(' ')?;
    let effect = rest.trim_start().starts_with(": ");
    let operations = about.split('[').next().unwrap_or(about);
    (!effect).then(|| operations.split('|'))
}

impl Row {
    fn parse(line: &str) -> Result<Row, String> {
        let (head, expr) = line
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
        let shapes = |text: &str| -> Result<Vec<Shape>, String> {
            let parse = |t: &str| Shape::parse(t).ok_or_else(|| format!("unknown type '{t}'"));
            text.trim().split('|').map(parse).collect()
        };
        let (operands, results) = types.split_once("->").unwrap_or((types, ""));
        let results = match results.trim() {
            "" => Vec::new(),
            text => shapes(text)?,
        };
        let cases = cases.split(',').filter(|case| !case.is_empty());
        Ok(Row {
            cases: cases.map(str::to_owned).collect(),
            operands: operands
                .trim()
                .split(',')
                .map(shapes)
                .collect::<Result<_, _>>()?,
            results,
            expr: ExprParser::parse(expr)?,
        })
    }
}

/// The shapes of all operands; those that a row does not mention are like the first.
fn operand_shapes(row: &Row, a: Shape, operands: &[Form]) -> Option<Vec<Shape>> {
    let shape = |(i, &form): (usize, &Form)| match row.operands.get(i) {
        _ if i == 0 => Some(a),
        Some(shapes) => shapes.iter().copied().find(|s| s.admits(form)),
        None => a.admits(form).then_some(a),
    };
    operands.iter().enumerate().map(shape).collect()
}

/// The shapes of the result: those a row mentions, else packed like the first operand.
fn result_shapes(row: &Row, a: Shape, form: Form) -> Vec<Shape> {
    let elem = form.elem;
    match row.results.is_empty() {
        true if elem.bits() == a.elem.bits() && a.per == form.per => {
            vec![Shape { elem, per: a.per }]
        }
        true if a.per == 1 => vec![Shape { elem, per: 1 }],
        true => Vec::new(),
        false => row
            .results
            .iter()
            .copied()
            .filter(|s| s.yields(form))
            .collect(),
    }
}

/// Fills the placeholders of a row.
struct Fill<'a> {
    patterns: &'a Patterns,
    kind: OpKind,
    cases: &'a [Case<'a>],
    a: Shape,
    to: Shape,
}

impl Fill<'_> {
    fn expr(&self, expr: &Expr) -> Option<Expr> {
        let all = |args: &[Expr]| {
            args.iter()
                .map(|e| self.expr(e))
                .collect::<Option<Vec<_>>>()
        };
        Some(match expr {
            Expr::Insn(name, args) => Expr::Insn(self.name(name)?, all(args)?),
            Expr::Interleave(args) => Expr::Interleave(all(args)?),
            other => other.clone(),
        })
    }

    fn name(&self, template: &str) -> Option<String> {
        let mut out = String::with_capacity(template.len() + 8);
        let mut rest = template;
        while let Some((text, after)) = rest.split_once('{') {
            let (key, after) = after.split_once('}')?;
            out.push_str(text);
            match key {
                "op" => out.push_str(self.kind.def().name),
                "n" => out.push_str(&self.a.elem.bits().to_string()),
                "m" => out.push_str(&self.to.elem.bits().to_string()),
                "a" => out.push_str(&self.a.ptx_name()),
                "r" => out.push_str(&self.to.ptx_name()),
                attribute => out.push_str(self.spelled(attribute)?),
            }
            rest = after;
        }
        out.push_str(rest);
        Some(out)
    }

    fn spelled(&self, attribute: &str) -> Option<&str> {
        let case = self.cases.iter().find(|c| c.attribute == attribute);
        let case = case.map_or(Some("absent"), |c| c.case)?;
        let spelled = self.patterns.spelling.get(attribute)?;
        let (_, text) = spelled.iter().find(|(name, _)| name == case)?;
        Some(text)
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
            "interleave" => Expr::Interleave(args),
            name => Expr::Insn(name.to_owned(), args),
        })
    }
}

/// An operand, some of its elements, a number or an attribute.
fn leaf(word: &str) -> Result<Expr, String> {
    let unknown = || format!("'{word}' is no operand, number or attribute");
    if let Some(name) = word.strip_prefix('{').and_then(|w| w.strip_suffix('}')) {
        return Ok(Expr::Attr(name.to_owned()));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::files;

    #[test]
    fn every_row_that_is_compiled_in_is_well_formed() {
        let mut patterns = Patterns::default();
        let folders = ["isel/select", "isel/llvm"];
        for (name, text) in folders.into_iter().flat_map(files::builtin) {
            patterns.add(text, name, Read::Now).unwrap();
        }
        assert!(patterns.places().len() > 150);
        assert!(patterns.covers(crate::dialect::nvvm::Op::Add.into()));
    }

    #[test]
    fn wrong_rows_are_refused() {
        for (row, why) in [
            ("add i32 add.s32(a, b)", "no ' : '"),
            ("plus i32 : add.s32(a, b)", "no operation 'nvvm.plus'"),
            ("add i33 : add.s32(a, b)", "unknown type 'i33'"),
            ("add i32 : add.s32(a, d)", "'d' is no operand"),
            ("spell rounding rn", "expected CASE=TEXT"),
        ] {
            let error = Patterns::default().add(row, "f.sel", Read::Now);
            let error = format!("{:?}", error.expect_err(row));
            assert!(error.contains(why), "{row}: {error}");
        }
    }
}
