//! Rule files written out: every `for` as its variants, every abbreviation as what it stands for.
//!
//! This is text to text and knows nothing of operations.

use bumpalo::Bump;
use bumpalo::collections::String as Text;

use crate::sexpr::{Error, Form, Sexpr};

/// Variants of one file may not multiply beyond this.
const VARIANTS: usize = 100_000;

type Result<T> = std::result::Result<T, Error>;

/// The forms of a file without `for` and `abbreviate`, in order.
pub fn expand<'a>(forms: &[Sexpr<'a>], arena: &'a Bump) -> Result<Vec<Sexpr<'a>>> {
    let mut writer = Writer {
        arena,
        left: VARIANTS,
        short: Vec::new(),
        out: Vec::new(),
    };
    forms.iter().try_for_each(|form| writer.form(form))?;
    Ok(writer.out)
}

struct Writer<'a> {
    arena: &'a Bump,
    left: usize,
    /// Abbreviations: a head, and the items it stands for.
    short: Vec<(&'a str, &'a [Sexpr<'a>])>,
    out: Vec<Sexpr<'a>>,
}

impl<'a> Writer<'a> {
    fn form(&mut self, form: &Sexpr<'a>) -> Result<()> {
        let items = form.list().unwrap_or(&[]);
        match form.keyword() {
            Some("for") => self.variants(form, items),
            Some("abbreviate") => self.abbreviate(form, items),
            Some("rule") => {
                let form = self.long(form);
                self.out.push(form);
                Ok(())
            }
            _ => {
                self.out.push(*form);
                Ok(())
            }
        }
    }

    /// `(abbreviate $name (ITEM …))`: `($name X …)` is `(ITEM … X …)` from here on.
    fn abbreviate(&mut self, form: &Sexpr<'a>, items: &[Sexpr<'a>]) -> Result<()> {
        let expected = || form.pos.wrong("expected (abbreviate $NAME (ITEM …))");
        let [_, name, long] = items else {
            return Err(expected());
        };
        match (name.symbol().filter(|n| n.starts_with('$')), long.list()) {
            (Some(name), Some(long)) => self.short.push((name, long)),
            _ => return Err(expected()),
        }
        Ok(())
    }

    /// `form` with abbreviations written out; itself where it has none.
    fn long(&self, form: &Sexpr<'a>) -> Sexpr<'a> {
        let Some(items) = form.list().filter(|_| !self.short.is_empty()) else {
            return *form;
        };
        let long = form
            .keyword()
            .and_then(|k| self.short.iter().find(|(name, _)| *name == k));
        let head = long.map_or(&[][..], |(_, items)| items);
        let rest = &items[usize::from(long.is_some())..];
        let written = head
            .iter()
            .copied()
            .chain(rest.iter().map(|i| self.long(i)));
        let items = self
            .arena
            .alloc_slice_fill_iter(written.collect::<Vec<_>>());
        Sexpr {
            form: Form::List(items),
            pos: form.pos,
        }
    }

    /// `(for ($a $b) ((x y) …) FORM …)`: the forms once for every row.
    fn variants(&mut self, form: &Sexpr<'a>, items: &[Sexpr<'a>]) -> Result<()> {
        let [_, names, rows, body @ ..] = items else {
            return Err(form.pos.wrong("expected (for (NAMES) (ROWS) FORMS …)"));
        };
        let names = names.list().unwrap_or(&[]).iter();
        let names: Vec<&str> = names.filter_map(Sexpr::symbol).collect();
        if names.is_empty() || !names.iter().all(|n| n.starts_with('$')) {
            return Err(form.pos.wrong("the names of a `for` start with `$`"));
        }
        for row in rows.list().unwrap_or(&[]) {
            let values: &[Sexpr] = match &row.form {
                Form::List(values) if names.len() > 1 => values,
                _ => std::slice::from_ref(row),
            };
            if values.len() != names.len() {
                return Err(row.pos.wrong(format!("expected {} entries", names.len())));
            }
            for form in body {
                self.left = self.left.saturating_sub(1);
                if self.left == 0 {
                    return Err(form.pos.wrong("too many variants"));
                }
                self.form(&substitute(self.arena, form, &names, values))?;
            }
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
