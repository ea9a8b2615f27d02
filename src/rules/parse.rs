//! Rule files: headers, tables of variants, rules, costs.

use rustc_hash::FxHashMap;

use super::ast::{Check, ElemTest, Example, OpCost, Pattern, Rule, RuleSet, Side};
use super::lower::Lower;
use super::sexpr::{self, Form, Sexpr};
use crate::dialect::{Dialect, OpDef};
use crate::egraph::node::Head;
use crate::ir::Diagnostic;

/// Variants of one `for` may not multiply beyond this.
const VARIANTS: usize = 100_000;

impl RuleSet {
    /// An empty set whose machine names are rows of `machine`.
    pub fn new(machine: &'static [OpDef]) -> RuleSet {
        RuleSet {
            machine,
            ..RuleSet::default()
        }
    }

    /// The rules of one text.
    pub fn parse(text: &str, file: &str) -> Result<RuleSet> {
        let mut set = RuleSet::default();
        set.add(text, file)?;
        Ok(set)
    }

    /// Adds the rules of a text; `file` is its name in messages.
    pub fn add(&mut self, text: &str, file: &str) -> Result<()> {
        let forms = sexpr::read(text, file)?;
        let mut reader = FileReader {
            set: self,
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

struct FileReader<'a> {
    set: &'a mut RuleSet,
    file: &'a str,
    sides: Option<(Side, Side)>,
    left: usize,
    /// Abbreviations: a head, and the items it stands for.
    short: Vec<(String, Vec<Sexpr>)>,
}

type Result<T> = std::result::Result<T, Diagnostic>;

impl FileReader<'_> {
    fn error<T>(&self, at: &Sexpr, message: impl Into<String>) -> Result<T> {
        Err(at.pos.error(self.file, message))
    }

    fn form(&mut self, form: &Sexpr) -> Result<()> {
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
        let side = |name: &str| match name {
            "machine" => Some(Side::Machine),
            _ => Dialect::ALL
                .into_iter()
                .find(|d| d.name() == name)
                .map(Side::Dialect),
        };
        let pair = match names.as_slice() {
            [one] => side(one).map(|s| (s, s)),
            [from, "=>", to] => side(from).zip(side(to)),
            _ => None,
        };
        if pair.is_none() {
            return self.error(form, "expected (dialect NAME) or (dialect NAME => NAME) of cuda_tile, nv_tileaa, nv_tileas, nvvm, machine");
        }
        self.sides = pair;
        Ok(())
    }

    /// `(abbreviate $name (ITEM …))`: `($name X …)` is `(ITEM … X …)` from here on.
    fn abbreviate(&mut self, form: &Sexpr, items: &[Sexpr]) -> Result<()> {
        let [_, name, long] = items else {
            return self.error(form, "expected (abbreviate $NAME (ITEM …))");
        };
        match (name.symbol().filter(|n| n.starts_with('$')), long.list()) {
            (Some(name), Some(long)) => self.short.push((name.to_string(), long.to_vec())),
            _ => return self.error(form, "expected (abbreviate $NAME (ITEM …))"),
        }
        Ok(())
    }

    /// `form` with abbreviations written out.
    fn expand(&self, form: &Sexpr) -> Sexpr {
        let Some(items) = form.list() else {
            return form.clone();
        };
        let long = form
            .keyword()
            .and_then(|k| self.short.iter().find(|(name, _)| name == k));
        let head = long.map_or(&[][..], |(_, items)| items);
        let rest = items.iter().skip(usize::from(long.is_some()));
        Sexpr {
            form: Form::List(
                head.iter()
                    .cloned()
                    .chain(rest.map(|i| self.expand(i)))
                    .collect(),
            ),
            pos: form.pos,
        }
    }

    fn cost(&mut self, item: &Sexpr) -> Result<()> {
        let Some([name, cost, rest @ ..]) = item.list() else {
            return self.error(item, "expected (OPERATION COST [cheap])");
        };
        let head = name
            .symbol()
            .and_then(|n| resolve(n, self.sides.map(|s| s.0), self.set.machine));
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

    fn variants(&mut self, form: &Sexpr, items: &[Sexpr]) -> Result<()> {
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
                self.form(&substitute(form, &names, values))?;
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
            ] => (doc.clone(), rest),
            _ => (String::new(), rest),
        };
        let [pattern, rest @ ..] = rest else {
            return self.error(form, "the rule has no pattern");
        };
        let mut lower = Lower::new(self.file, self.set.machine, sides);
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
                    rule.examples.push(Example {
                        before: before.clone(),
                        after: after.clone(),
                    })
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
                Some(Form::Text(reason)) => check.skip = Some(reason.clone()),
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

/// `form` with every `$name` replaced.
fn substitute(form: &Sexpr, names: &[&str], values: &[Sexpr]) -> Sexpr {
    let form_of = |s: &str, text: bool| -> Form {
        if let Some(i) = names.iter().position(|n| *n == s)
            && !text
        {
            return values[i].form.clone();
        }
        let out = replace_names(s, names, values);
        if text {
            Form::Text(out)
        } else {
            Form::Symbol(out)
        }
    };
    let new = match &form.form {
        Form::Symbol(s) => form_of(s, false),
        Form::Text(s) => form_of(s, true),
        Form::List(items) => {
            Form::List(items.iter().map(|i| substitute(i, names, values)).collect())
        }
    };
    Sexpr {
        form: new,
        pos: form.pos,
    }
}

/// `text` with each whole `$name` replaced.
fn replace_names(text: &str, names: &[&str], values: &[Sexpr]) -> String {
    let mut out = String::new();
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
    out + rest
}

/// The operation or instruction that a name means on a side.
pub(super) fn resolve(name: &str, side: Option<Side>, machine: &'static [OpDef]) -> Option<Head> {
    static OPS: std::sync::LazyLock<FxHashMap<(Dialect, &'static str), u8>> =
        std::sync::LazyLock::new(|| {
            let rows = |d: Dialect| {
                d.table()
                    .iter()
                    .enumerate()
                    .map(move |(i, row)| ((d, row.name), i as u8))
            };
            Dialect::ALL.into_iter().flat_map(rows).collect()
        });
    let op = |dialect: Dialect, name: &str| {
        let (_, &index) = OPS.get_key_value(&(dialect, leak_free(name)?))?;
        Some(Head::Op(crate::dialect::OpKind { dialect, index }))
    };
    if let Some((prefix, rest)) = name.split_once('.')
        && let Some(dialect) = Dialect::ALL.into_iter().find(|d| d.name() == prefix)
    {
        return op(dialect, rest);
    }
    match side? {
        Side::Dialect(dialect) => op(dialect, name),
        Side::Machine => {
            let index = machine.iter().position(|row| row.name == name)?;
            Some(Head::Machine(index as u16))
        }
    }
}

/// The table's own copy of a name, so that it can key a map of `'static` names.
fn leak_free(name: &str) -> Option<&'static str> {
    static NAMES: std::sync::LazyLock<rustc_hash::FxHashSet<&'static str>> =
        std::sync::LazyLock::new(|| {
            Dialect::ALL
                .into_iter()
                .flat_map(|d| d.table().iter().map(|row| row.name))
                .collect()
        });
    NAMES.get(name).copied()
}
