//! Rule files: headers, tables of variants, rules, costs.

use std::sync::LazyLock;

use bumpalo::Bump;
use bumpalo::collections::String as Text;
use rustc_hash::FxHashMap;

use super::ast::{Check, ElemTest, Example, Examples, OpCost, Pattern, Rule, RuleSet};
use super::lower::Lower;
use super::sexpr::{self, Form, Sexpr};
use crate::dialect::Dialect;
use crate::egraph::node::Head;
use crate::ir::Diagnostic;

/// Variants of one `for` may not multiply beyond this.
const VARIANTS: usize = 100_000;

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

    /// Adds the rules of a text; `file` is its name in messages.
    pub fn add(&mut self, text: &str, file: &str) -> Result<()> {
        let arena = Bump::new();
        let forms = sexpr::read(text, file, &arena)?;
        let mut reader = FileReader {
            set: self,
            arena: &arena,
            file,
            sides: None,
            left: VARIANTS,
            short: Vec::new(),
        };
        forms.iter().try_for_each(|form| reader.form(form))
    }

    /// Adds a rule and indexes it.
    pub(super) fn push(&mut self, rule: Rule) {
        let Pattern::Op(op) = &rule.pattern else {
            return;
        };
        self.depth = self.depth.max(rule.pattern.depth());
        self.by_head
            .entry(op.head)
            .or_default()
            .push(self.rules.len() as u32);
        self.rules.push(rule);
    }
}

struct FileReader<'a, 's> {
    set: &'s mut RuleSet,
    arena: &'a Bump,
    file: &'s str,
    sides: Option<(Dialect, Dialect)>,
    left: usize,
    /// Abbreviations: a head, and the items it stands for.
    short: Vec<(&'a str, &'a [Sexpr<'a>])>,
}

type Result<T> = std::result::Result<T, Diagnostic>;

impl<'a> FileReader<'a, '_> {
    fn error<T>(&self, at: &Sexpr, message: impl Into<String>) -> Result<T> {
        Err(at.pos.error(self.file, message))
    }

    fn form(&mut self, form: &Sexpr<'a>) -> Result<()> {
        let items = form.list().unwrap_or(&[]);
        match form.keyword() {
            Some("dialect") => self.dialect(form, items),
            Some("for") => self.variants(form, items),
            Some("abbreviate") => self.abbreviate(form, items),
            Some("rule") => {
                let form = self.expand(form);
                self.rule(&form, form.list().unwrap_or(&[]))
            }
            Some("costs") => items.iter().skip(1).try_for_each(|item| self.cost(item)),
            _ => self.error(
                form,
                "expected (dialect …), (rule …), (for …), (abbreviate …) or (costs …)",
            ),
        }
    }

    fn dialect(&mut self, form: &Sexpr, items: &[Sexpr]) -> Result<()> {
        let names: Vec<_> = items.iter().skip(1).filter_map(Sexpr::symbol).collect();
        let side = |name: &str| Dialect::ALL.into_iter().find(|d| d.name() == name);
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

    /// `(abbreviate $name (ITEM …))`: `($name X …)` is `(ITEM … X …)` from here on.
    fn abbreviate(&mut self, form: &Sexpr<'a>, items: &[Sexpr<'a>]) -> Result<()> {
        let [_, name, long] = items else {
            return self.error(form, "expected (abbreviate $NAME (ITEM …))");
        };
        match (name.symbol().filter(|n| n.starts_with('$')), long.list()) {
            (Some(name), Some(long)) => self.short.push((name, long)),
            _ => return self.error(form, "expected (abbreviate $NAME (ITEM …))"),
        }
        Ok(())
    }

    /// `form` with abbreviations written out; itself where it has none.
    fn expand(&self, form: &Sexpr<'a>) -> Sexpr<'a> {
        let Some(items) = form.list().filter(|_| !self.short.is_empty()) else {
            return *form;
        };
        let long = form
            .keyword()
            .and_then(|k| self.short.iter().find(|(name, _)| *name == k));
        let head = long.map_or(&[][..], |(_, items)| items);
        let rest = &items[usize::from(long.is_some())..];
        let expanded = head
            .iter()
            .copied()
            .chain(rest.iter().map(|i| self.expand(i)));
        let items = self
            .arena
            .alloc_slice_fill_iter(expanded.collect::<Vec<_>>());
        Sexpr {
            form: Form::List(items),
            pos: form.pos,
        }
    }

    fn cost(&mut self, item: &Sexpr) -> Result<()> {
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
        self.set.costs.insert(head, OpCost { cost, cheap });
        Ok(())
    }

    fn variants(&mut self, form: &Sexpr<'a>, items: &[Sexpr<'a>]) -> Result<()> {
        let [_, names, rows, body @ ..] = items else {
            return self.error(form, "expected (for (NAMES) (ROWS) FORMS …)");
        };
        let names: Vec<&str> = names
            .list()
            .unwrap_or(&[])
            .iter()
            .filter_map(Sexpr::symbol)
            .collect();
        if names.is_empty() || !names.iter().all(|n| n.starts_with('$')) {
            return self.error(form, "the names of a `for` start with `$`");
        }
        for row in rows.list().unwrap_or(&[]) {
            let values: &[Sexpr] = match &row.form {
                Form::List(values) if names.len() > 1 => values,
                _ => std::slice::from_ref(row),
            };
            if values.len() != names.len() {
                return self.error(row, format!("expected {} entries", names.len()));
            }
            for form in body {
                self.left = self.left.saturating_sub(1);
                if self.left == 0 {
                    return self.error(form, "too many variants");
                }
                self.form(&substitute(self.arena, form, &names, values))?;
            }
        }
        Ok(())
    }

    fn rule(&mut self, form: &Sexpr, items: &[Sexpr]) -> Result<()> {
        let Some(sides) = self.sides else {
            return self.error(form, "a (dialect …) header must come first");
        };
        let (Some(name), rest) = (
            items.get(1).and_then(Sexpr::symbol),
            items.get(2..).unwrap_or(&[]),
        ) else {
            return self.error(form, "expected (rule NAME …)");
        };
        if self.set.rules.iter().any(|r| r.name == name) {
            return self.error(form, format!("there is another rule called {name}"));
        }
        let (doc, rest) = match rest {
            [
                Sexpr {
                    form: Form::Text(doc),
                    ..
                },
                rest @ ..,
            ] => (doc.to_string(), rest),
            _ => (String::new(), rest),
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
            name: name.to_string(),
            doc,
            file: self.file.to_string(),
            pos: form.pos,
            pattern,
            templates: Vec::new(),
            locals: Vec::new(),
            vars: Vec::new(),
            guards: Vec::new(),
            cost: 0,
            examples: Vec::new(),
            check: Check::default(),
            dialects: sides,
        };
        let mut rest = rest.iter();
        while let Some(item) = rest.next() {
            if item.symbol() == Some("=>") {
                let Some(template) = rest.next() else {
                    return self.error(item, "nothing follows `=>`");
                };
                rule.templates.push(lower.template(template)?);
            } else {
                self.clause(&mut lower, &mut rule, item)?;
            }
        }
        if rule.templates.is_empty() {
            return self.error(form, "the rule has no replacement");
        }
        (rule.vars, rule.locals) = lower.finish();
        self.set.push(rule);
        Ok(())
    }

    fn clause(&self, lower: &mut Lower, rule: &mut Rule, item: &Sexpr) -> Result<()> {
        let items = item.list().unwrap_or(&[]);
        match item.keyword() {
            Some("where") => {
                for guard in &items[1..] {
                    rule.guards.push(lower.guard(guard)?);
                }
            }
            Some("cost") => match items.get(1).and_then(Sexpr::symbol).map(str::parse) {
                Some(Ok(cost)) => rule.cost = cost,
                _ => return self.error(item, "expected (cost NUMBER)"),
            },
            Some("example") => match items {
                [_, before, arrow, after] if arrow.symbol() == Some("=>") => {
                    if self.set.keeps == Examples::Kept {
                        rule.examples.push(Example {
                            before: before.to_string(),
                            after: after.to_string(),
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
                (Some(slot), Some(lo), Some(hi)) => check.ranges.push((slot, lo, hi)),
                _ => return self.error(option, "expected (range ?VAR LO HI)"),
            },
            Some("types") => {
                let tests: Option<Vec<_>> = items
                    .iter()
                    .skip(2)
                    .map(|t| t.symbol().and_then(ElemTest::by_name))
                    .collect();
                match (slot(), tests) {
                    (Some(slot), Some(tests)) if !tests.is_empty() => {
                        check.types.push((slot, tests))
                    }
                    _ => return self.error(option, "expected (types ?VAR TYPE …)"),
                }
            }
            Some("skip") => match items.get(1).map(|s| &s.form) {
                Some(Form::Text(reason)) => check.skip = Some(reason.to_string()),
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

/// `form` with every `$name` replaced; lists without any are shared.
fn substitute<'a>(
    arena: &'a Bump,
    form: &Sexpr<'a>,
    names: &[&str],
    values: &[Sexpr<'a>],
) -> Sexpr<'a> {
    let new = match form.form {
        Form::Symbol(s) => match names.iter().position(|n| *n == s) {
            Some(i) => values[i].form,
            None => Form::Symbol(replace_names(arena, s, names, values)),
        },
        Form::Text(s) => Form::Text(replace_names(arena, s, names, values)),
        Form::List(items) if items.iter().any(mentions) => {
            Form::List(arena.alloc_slice_fill_with(items.len(), |i| {
                substitute(arena, &items[i], names, values)
            }))
        }
        list => list,
    };
    Sexpr {
        form: new,
        pos: form.pos,
    }
}

/// Whether a `$` is anywhere in a form.
fn mentions(form: &Sexpr) -> bool {
    match form.form {
        Form::Symbol(s) | Form::Text(s) => s.contains('$'),
        Form::List(items) => items.iter().any(mentions),
    }
}

/// `text` with each whole `$name` replaced.
fn replace_names<'a>(
    arena: &'a Bump,
    text: &'a str,
    names: &[&str],
    values: &[Sexpr<'a>],
) -> &'a str {
    if !text.contains('$') {
        return text;
    }
    let mut out = Text::new_in(arena);
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let (before, from) = rest.split_at(at);
        let length = from[1..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let (name, tail) = from.split_at(length.map_or(from.len(), |l| l + 1));
        out.push_str(before);
        let value = names
            .iter()
            .position(|n| *n == name)
            .and_then(|i| values[i].symbol());
        out.push_str(value.unwrap_or(name));
        rest = tail;
    }
    out.push_str(rest);
    out.into_bump_str()
}

/// The operation that a name means on a side.
pub(super) fn resolve(name: &str, side: Option<Dialect>) -> Option<Head> {
    static OPS: LazyLock<FxHashMap<(Dialect, &'static str), u8>> = LazyLock::new(|| {
        let rows = |d: Dialect| {
            let rows = d.table().iter().enumerate();
            rows.map(move |(i, row)| ((d, row.name), i as u8))
        };
        Dialect::ALL.into_iter().flat_map(rows).collect()
    });
    let op = |dialect: Dialect, name: &str| {
        let index = *OPS.get(&(dialect, name))?;
        Some(Head::Op(crate::dialect::OpKind { dialect, index }))
    };
    if let Some((prefix, rest)) = name.split_once('.')
        && let Some(dialect) = Dialect::ALL.into_iter().find(|d| d.name() == prefix)
    {
        return op(dialect, rest);
    }
    op(side?, name)
}
