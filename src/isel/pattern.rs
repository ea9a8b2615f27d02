//! Which instructions compute an operation of nvvm on operands of which types, by the rows of the selection tables.

use super::table::Patterns;
use super::table::elem::Elem;
use super::table::row::{Expr, Row, Shape};
use super::values::Form;
use crate::dialect::{Dialect, OpKind};
use crate::ir::Float;
use crate::machine::rows::Text;

/// An attribute as a row sees it: its name, and its case if it has one.
pub struct Case<'a> {
    pub attribute: &'a str,
    /// `absent`, `present`, an enumeration's case; `None` for other values.
    pub case: Option<&'a str>,
}

/// A row with its placeholders filled in for given operands.
#[derive(Clone, PartialEq, Debug)]
pub struct Candidate {
    /// The number of the row it came from.
    pub row: usize,
    pub operands: Vec<Shape>,
    pub result: Shape,
    pub expr: Expr,
}

impl Patterns {
    /// How many rows there are.
    #[expect(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.rows.rows.len() + self.effects.rows.len() + self.spelling.len()
    }

    /// File and line of each row, in order.
    pub fn places(&self) -> Vec<String> {
        let lines = self.rows.rows.iter().map(|row| &row.line);
        lines
            .map(|line| format!("{}:{}", line.file, line.number))
            .collect()
    }

    /// The rows about an operation and their numbers, in the order of the table.
    fn about(&self, kind: OpKind) -> impl Iterator<Item = (usize, &Row)> {
        let name = match kind.dialect {
            Dialect::Nvvm => kind.def().name,
            _ => "",
        };
        self.rows.named(name)
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
            let holds = |case: &Text| match case.strip_prefix('!') {
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

impl Shape {
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
            Expr::Insn(name, args) => Expr::Insn(self.name(name)?.into(), all(args)?.into()),
            Expr::Interleave(args) => Expr::Interleave(all(args)?.into()),
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
        let mut known = self.patterns.spelling.iter();
        let known = known.find(|spelling| spelling.attribute == attribute)?;
        let (_, text) = known.cases.iter().find(|(name, _)| name == case)?;
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::super::builtin;
    use super::*;
    use crate::rules::files;

    #[test]
    fn the_compiled_in_rows_are_those_of_the_files() {
        for (folder, table) in [("select", &builtin::SELECT), ("llvm", &builtin::LLVM)] {
            let mut patterns = Patterns::default();
            for (name, text) in files::builtin(&format!("isel/{folder}")) {
                patterns.add(text, name).unwrap();
            }
            assert!(patterns.rows.rows.len() > 50);
            assert!(patterns.covers(crate::dialect::nvvm::Op::Add.into()));
            assert_eq!(format!("{patterns:?}"), format!("{table:?}"));
        }
    }

    #[test]
    fn wrong_rows_are_refused() {
        let deep = format!("fneg f32 : {}a{}", "f(".repeat(30), ")".repeat(30));
        for (row, column, why) in [
            (
                "add i32 add.s32(a, b)",
                1,
                "no ' : ' before what computes it: expected ",
            ),
            ("add 4 : f(a)", 5, "'4' is no type: expected i1, i4, "),
            (
                "plus i32 : add.s32(a, b)",
                1,
                "there is no operation called `plus` in nvvm",
            ),
            (
                "add|plus i32 : add.s32(a, b)",
                5,
                "there is no operation called `plus` in nvvm",
            ),
            (
                "add  i33 : add.s32(a, b)",
                6,
                "'i33' is no type: expected i1, i4, ",
            ),
            ("add i32|f16,f17 : add.s32(a, b)", 13, "'f17' is no type"),
            (
                "add f16x3 : add.s32(a, b)",
                5,
                "'f16x3' is no register: expected ",
            ),
            (
                "add i32 : add.s32(a, d)",
                22,
                "'d' is no operand, number or attribute: expected ",
            ),
            ("add i32 : add.s32(a.2/2, b)", 19, "'a.2/2' is no operand"),
            ("add i32 : add.s32(a, b", 23, "expected ',' or ')'"),
            (
                "add i32 : add.s32(a, b) c",
                25,
                "'c' is left over: expected the end of the row",
            ),
            (&deep, 54, "nested too deeply: expected at most 20 levels"),
            (
                "spell rounding rn",
                16,
                "'rn' is no spelling: expected CASE=TEXT",
            ),
            (
                "ber : bar.sync id",
                1,
                "there is no operation called `ber` in nvvm: expected `bar`?",
            ),
            (
                "bar[x=1] : bar.sync id",
                5,
                "nvvm.bar has no attribute 'x': expected id, threads",
            ),
            (
                "bar[threads=x] : bar.sync id",
                13,
                "'x' is no number: expected NAME=NUMBER",
            ),
            (
                "bulk.wait[!red] : trap",
                12,
                "nvvm.bulk.wait has no flag or case 'red': expected read",
            ),
            (
                "bar : bar.sync ix",
                16,
                "nvvm.bar has no operand or attribute 'ix': expected ",
            ),
            (
                "trip : trap",
                1,
                "there is no operation called `trip` in nvvm: expected `trap`?",
            ),
            (
                "mbarrier.init : f &count",
                20,
                "nvvm.mbarrier.init has no operand 'count': expected ",
            ),
            (
                "bar : bar.sync &id",
                17,
                "nvvm.bar has no operand 'id': it has none",
            ),
            (
                "bar : bar.{kind} id",
                12,
                "nvvm.bar has no part to spell called 'kind': it has none",
            ),
        ] {
            let text = format!("# rows\n\n  {row}  # a comment\n");
            let error = Patterns::default().add(&text, "f.sel");
            let error = error.expect_err(row).to_string();
            let place = format!("f.sel:3:{}: error: {why}", column + 2);
            assert!(error.starts_with(&place), "{row}: {error}");
            let caret = format!("  note:   {row}  # a comment\n          {:>column$}", '^');
            assert!(error.ends_with(&caret), "{error}");
        }
    }
}
