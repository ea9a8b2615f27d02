//! Rule files, written out ([`super::expand`]): headers, rules, costs.

use bumpalo::Bump;
use rustc_hash::FxHashSet;

use super::expand::expand;
use super::lower::Lower;
use super::names::resolve;
use crate::dialect::Dialect;
use crate::egraph::head::Head;
use crate::egraph::rule::{
    AddedCost, Check, ElemTest, Example, Examples, Items, OpCost, Pattern, Rule, RuleSet, Text,
};
use crate::ir::{Diagnostic, Place};
use crate::sexpr::{self, Error, Form, Pos, Sexpr};

impl RuleSet {
    /// An empty set; `examples` says whether rules keep theirs, which only checking needs.
    pub fn new(examples: Examples) -> RuleSet {
        RuleSet {
            keeps: examples,
            ..RuleSet::default()
        }
    }

    /// The rules of one text, with their examples.
    pub fn parse(text: &str, file: &str) -> Result<RuleSet> {
        let mut set = RuleSet::new(Examples::Kept);
        set.add(text, file)?;
        Ok(set)
    }

    /// Adds the rules of a text; `file` is its name in messages, which show the line that is wrong.
    pub fn add(&mut self, text: &str, file: &str) -> Result<()> {
        self.add_forms(text, file)
            .map_err(|error| error.shown_in(text))
    }

    fn add_forms(&mut self, text: &str, file: &str) -> Result<()> {
        let arena = Bump::new();
        let at = |error: Error| error.pos.error(file, error.message);
        let forms = sexpr::read(text, &arena).map_err(at)?;
        let mut reader = FileReader::new(file, None, self.keeps);
        let mut names: FxHashSet<Text> = self.rules.iter().map(|r| r.name.clone()).collect();
        for form in expand(&forms, &arena).map_err(at)? {
            match form.keyword() {
                Some("dialect") => reader.dialect(&form)?,
                Some("rule") => {
                    let rule = reader.rule(&form)?;
                    if !names.insert(rule.name.clone()) {
                        let message = format!("there is another rule called {}", rule.name);
                        return reader.error(&form, message);
                    }
                    self.push(rule);
                }
                Some("costs") => self.costs.extend(reader.costs(&form)?),
                _ => {
                    return reader.error(
                        &form,
                        "expected (dialect …), (rule …), (for …), (abbreviate …) or (costs …)",
                    );
                }
            }
        }
        Ok(())
    }

    /// Adds a rule and indexes it.
    pub fn push(&mut self, rule: Rule) {
        let Pattern::Op(op) = &rule.pattern else {
            return;
        };
        self.depth = self.depth.max(rule.pattern.depth());
        self.by_head
            .entry(op.head)
            .or_default()
            .to_mut()
            .push(self.rules.len() as u32);
        self.rules.to_mut().push(rule);
    }

    /// The set without the rules that are not to be kept.
    pub fn filtered(&self, keep: impl Fn(&Rule) -> bool) -> RuleSet {
        let mut set = RuleSet::new(self.keeps);
        set.costs = self.costs.clone();
        let kept = self.rules.iter().filter(|rule| keep(rule));
        kept.for_each(|rule| set.push(rule.clone()));
        set
    }
}

impl Pos {
    /// An error here.
    pub(super) fn error(self, file: &str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(message).at(Place::Line {
            file: file.to_string(),
            line: self.line,
            column: self.column,
        })
    }
}

/// Makes rules and costs of the forms of a file.
pub(super) struct FileReader<'s> {
    file: &'s str,
    sides: Option<(Dialect, Dialect)>,
    keeps: Examples,
}

type Result<T> = std::result::Result<T, Diagnostic>;

impl<'s> FileReader<'s> {
    pub fn new(file: &'s str, sides: Option<(Dialect, Dialect)>, keeps: Examples) -> Self {
        FileReader { file, sides, keeps }
    }

    fn error<T>(&self, at: &Sexpr, message: impl Into<String>) -> Result<T> {
        Err(at.pos.error(self.file, message))
    }

    fn dialect(&mut self, form: &Sexpr) -> Result<()> {
        let items = form.list().unwrap_or(&[]).iter();
        let names: Vec<_> = items.skip(1).filter_map(Sexpr::symbol).collect();
        let side = Dialect::by_name;
        let pair = match names.as_slice() {
            [one] => side(one).map(|s| (s, s)),
            [from, "=>", to] => side(from).zip(side(to)),
            _ => None,
        };
        if pair.is_none() {
            return self.error(form, "expected (dialect NAME) or (dialect NAME => NAME) of cuda_tile, nv_tileaa, nv_tileas, nvvm");
        }
        self.sides = pair;
        Ok(())
    }

    /// `(costs (OPERATION COST [cheap]) …)`.
    pub fn costs(&self, form: &Sexpr) -> Result<Vec<(Head, OpCost)>> {
        let items = form.list().unwrap_or(&[]).iter().skip(1);
        items.map(|item| self.cost(item)).collect()
    }

    fn cost(&self, item: &Sexpr) -> Result<(Head, OpCost)> {
        let Some([name, cost, rest @ ..]) = item.list() else {
            return self.error(item, "expected (OPERATION COST [cheap])");
        };
        let head = name
            .symbol()
            .and_then(|n| resolve(n, self.sides.map(|s| s.0)));
        let (Some(head), Some(Ok(cost))) = (head, cost.symbol().map(str::parse::<u32>)) else {
            return self.error(
                item,
                "expected an operation and its cost in tenths of an instruction",
            );
        };
        let cheap = match rest {
            [] => false,
            [word] if word.symbol() == Some("cheap") => true,
            _ => return self.error(item, "after the cost only `cheap` may follow"),
        };
        Ok((head, OpCost { cost, cheap }))
    }

    /// `(rule NAME "DOC" PATTERN => REPLACEMENT … CLAUSE …)`.
    pub fn rule(&self, form: &Sexpr) -> Result<Rule> {
        let items = form.list().unwrap_or(&[]);
        let Some(sides) = self.sides else {
            return self.error(form, "a (dialect …) header must come first");
        };
        let (Some(name), rest) = (
            items.get(1).and_then(Sexpr::symbol),
            items.get(2..).unwrap_or(&[]),
        ) else {
            return self.error(form, "expected (rule NAME …)");
        };
        let (doc, rest) = match rest {
            [
                Sexpr {
                    form: Form::Text(doc),
                    ..
                },
                rest @ ..,
            ] => (doc.to_string().into(), rest),
            _ => (Text::default(), rest),
        };
        let [pattern, rest @ ..] = rest else {
            return self.error(form, "the rule has no pattern");
        };
        let mut lower = Lower::new(self.file, sides);
        let pattern = lower.pattern(pattern)?;
        let Pattern::Op(_) = pattern else {
            return self.error(form, "a pattern's root must be an operation");
        };
        let mut rule = Rule {
            name: name.to_string().into(),
            doc,
            file: self.file.to_string().into(),
            pos: form.pos,
            pattern,
            templates: Items::default(),
            locals: Items::default(),
            vars: Items::default(),
            guards: Items::default(),
            cost: AddedCost::Once(0),
            examples: Items::default(),
            check: Check::default(),
            dialects: sides,
        };
        let mut rest = rest.iter();
        while let Some(item) = rest.next() {
            if item.symbol() == Some("=>") {
                let Some(template) = rest.next() else {
                    return self.error(item, "nothing follows `=>`");
                };
                rule.templates.to_mut().push(lower.template(template)?);
            } else {
                self.clause(&mut lower, &mut rule, item)?;
            }
        }
        if rule.templates.is_empty() {
            return self.error(form, "the rule has no replacement");
        }
        (rule.vars, rule.locals) = lower.finish();
        Ok(rule)
    }

    fn clause(&self, lower: &mut Lower, rule: &mut Rule, item: &Sexpr) -> Result<()> {
        let items = item.list().unwrap_or(&[]);
        match item.keyword() {
            Some("where") => {
                for guard in &items[1..] {
                    rule.guards.to_mut().push(lower.guard(guard)?);
                }
            }
            Some("cost") => {
                let number = |item: &Sexpr| item.symbol()?.parse().ok();
                rule.cost = match items {
                    [_, cost] => number(cost).map(AddedCost::Once),
                    [_, cost, each] if each.symbol() == Some("each") => {
                        number(cost).map(AddedCost::Each)
                    }
                    _ => None,
                }
                .map_or_else(
                    || self.error(item, "expected (cost NUMBER) or (cost NUMBER each)"),
                    Ok,
                )?;
            }
            Some("example") => match items {
                [_, before, arrow, after] if arrow.symbol() == Some("=>") => {
                    if self.keeps == Examples::Kept {
                        rule.examples.to_mut().push(Example {
                            before: before.to_string().into(),
                            after: after.to_string().into(),
                            pos: before.pos,
                        });
                    }
                }
                _ => return self.error(item, "expected (example BEFORE => AFTER)"),
            },
            Some("check") => {
                for option in &items[1..] {
                    self.check(lower, &mut rule.check, option)?;
                }
            }
            _ => {
                return self.error(
                    item,
                    "expected `=>`, (where …), (cost …), (example …) or (check …)",
                );
            }
        }
        Ok(())
    }

    fn check(&self, lower: &Lower, check: &mut Check, option: &Sexpr) -> Result<()> {
        let items = option.list().unwrap_or(&[]);
        let number = |i: usize| {
            items
                .get(i)
                .and_then(Sexpr::symbol)
                .and_then(|s| s.parse::<f64>().ok())
        };
        let slot = || {
            items
                .get(1)
                .and_then(Sexpr::symbol)
                .and_then(|s| lower.slot_of(s))
        };
        match option.keyword() {
            Some("ulp") if number(1).is_some() => {
                check.ulp = number(1).unwrap_or(0.0);
                check.flush = items.get(2).and_then(Sexpr::symbol) == Some("flush");
            }
            Some("abs") if number(1).is_some() => check.abs = number(1).unwrap_or(0.0),
            Some("range") => match (slot(), number(2), number(3)) {
                (Some(slot), Some(lo), Some(hi)) => check.ranges.to_mut().push((slot, lo, hi)),
                _ => return self.error(option, "expected (range ?VAR LO HI)"),
            },
            Some("types") => {
                let tests: Option<Items<_>> = items
                    .iter()
                    .skip(2)
                    .map(|t| t.symbol().and_then(ElemTest::by_name))
                    .collect();
                match (slot(), tests) {
                    (Some(slot), Some(tests)) if !tests.is_empty() => {
                        check.types.to_mut().push((slot, tests))
                    }
                    _ => return self.error(option, "expected (types ?VAR TYPE …)"),
                }
            }
            Some("skip") => match items.get(1).map(|s| &s.form) {
                Some(Form::Text(reason)) => check.skip = Some(reason.to_string().into()),
                _ => return self.error(option, "expected (skip \"REASON\")"),
            },
            _ => return self.error(
                option,
                "expected (ulp N), (abs X), (range ?v LO HI), (types ?v T …) or (skip \"REASON\")",
            ),
        }
        Ok(())
    }
}
