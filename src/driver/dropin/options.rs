//! Command lines in the manner of LLVM's `cl` library, which the tools that are stood in for use:
//! `-name`, `--name`, `-name=value`, `--name value`, prefixed values (`-O3`), grouped letters (`-gh`),
//! and its words for what is wrong. (LLVM documentation, "CommandLine 2.0 Library Manual".)

use std::collections::BTreeMap;

/// What an option takes.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Nothing, or a boolean after `=`.
    Flag,
    /// A number, as in C.
    Integer,
    /// One of these; the texts describe them.
    Choice(&'static [(&'static str, &'static str)]),
    /// Any text; several occurrences are kept.
    Text,
    /// A list with commas, of these.
    Features(&'static [&'static str]),
    /// Nothing: parsing ends here.
    Action(Action),
    /// Another option by its name.
    Alias(&'static str),
}

/// What an option does at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    Help { hidden: bool, grouped: bool },
    Version,
    ListVersions,
}

/// Headings of the help.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Group {
    Generic,
    Main,
    Remarks,
}

/// One option.
#[derive(Clone, Copy, Debug)]
pub struct Opt {
    pub name: &'static str,
    pub kind: Kind,
    /// What the help calls its value.
    pub value: &'static str,
    pub help: &'static str,
    pub group: Group,
    pub hidden: bool,
    /// The value follows directly, as in `-O3`.
    pub prefix: bool,
}

impl Opt {
    pub const fn new(
        name: &'static str,
        kind: Kind,
        value: &'static str,
        help: &'static str,
    ) -> Self {
        Opt {
            name,
            kind,
            value,
            help,
            group: Group::Main,
            hidden: false,
            prefix: false,
        }
    }

    pub const fn generic(mut self) -> Self {
        self.group = Group::Generic;
        self
    }

    pub const fn remarks(mut self) -> Self {
        self.group = Group::Remarks;
        self
    }

    pub const fn hide(mut self) -> Self {
        self.hidden = true;
        self
    }

    pub const fn prefixed(mut self) -> Self {
        self.prefix = true;
        self
    }

    /// Letters may stand together behind one dash.
    fn groups(&self) -> bool {
        self.name.len() == 1 && !self.prefix
    }

    fn dashed(&self) -> String {
        dashed(self.name)
    }
}

/// An option's name as messages and help have it.
pub fn dashed(name: &str) -> String {
    let dashes = if name.chars().count() == 1 { "-" } else { "--" };
    format!("{dashes}{name}")
}

/// A command line that was read.
#[derive(Default, Debug)]
pub struct Line {
    /// By name; the last of several is the one that counts, except for lists.
    values: BTreeMap<&'static str, Vec<String>>,
    pub positional: Vec<String>,
    /// Lines for standard error, the program's name not yet before them.
    pub errors: Vec<String>,
    pub action: Option<Action>,
}

impl Line {
    pub fn text(&self, name: &str) -> Option<&str> {
        Some(self.values.get(name)?.last()?)
    }

    pub fn all(&self, name: &str) -> &[String] {
        self.values.get(name).map_or(&[], Vec::as_slice)
    }

    pub fn flag(&self, name: &str) -> bool {
        self.text(name) == Some("true")
    }

    /// The value of an integer option.
    pub fn integer(&self, name: &str) -> Option<i64> {
        integer(self.text(name)?)
    }
}

/// Reads `args`, the program's name `program` left out.
pub fn parse(table: &'static [Opt], program: &str, args: &[String]) -> Line {
    let mut reader = Reader {
        table,
        line: Line::default(),
    };
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if arg == "--" {
            reader.line.positional.extend(rest.cloned());
            break;
        }
        match arg.strip_prefix('-') {
            None | Some("") => reader.line.positional.push(arg.clone()),
            Some(_) => reader.option(program, arg, &mut rest),
        }
        if reader.line.action.is_some() {
            return reader.line;
        }
    }
    if reader.line.positional.len() > 1 {
        reader.line.errors.push(format!(
            "Too many positional arguments specified!\n\
             Can specify at most 1 positional arguments: See: {program} --help"
        ));
    }
    reader.line
}

struct Reader {
    table: &'static [Opt],
    line: Line,
}

impl Reader {
    fn find(&self, name: &str) -> Option<&'static Opt> {
        self.table.iter().find(|opt| opt.name == name)
    }

    fn option(&mut self, program: &str, arg: &str, rest: &mut std::slice::Iter<String>) {
        let body = arg.trim_start_matches('-');
        let (name, value) = match body.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (body, None),
        };
        match self
            .find(name)
            .filter(|opt| !(opt.prefix && value.is_some()))
        {
            Some(opt) => self.provide(opt, value, Some(rest)),
            None => {
                let mut left = body.to_owned();
                if let Some((opt, value)) = self.grouped(&mut left) {
                    self.provide(opt, value.as_deref(), Some(rest));
                } else if self.line.action.is_none() {
                    self.unknown(program, arg, &left);
                }
            }
        }
    }

    /// An option whose name begins `body`: with a prefixed value, or the last letter of a group.
    /// `body` becomes what could not be read.
    fn grouped(&mut self, body: &mut String) -> Option<(&'static Opt, Option<String>)> {
        let mut first = true;
        loop {
            // The longest name of all that the text begins with must be one that can stand there.
            let ends = body.char_indices().map(|(at, c)| at + c.len_utf8()).rev();
            let (opt, end) = ends
                .filter_map(|end| Some((self.find(body.get(..end)?)?, end)))
                .next()
                .filter(|(opt, _)| opt.groups() || (first && opt.prefix))?;
            let value = body.get(end..).unwrap_or_default().to_owned();
            if value.is_empty() {
                return Some((opt, None));
            }
            if opt.prefix {
                return Some((opt, Some(value)));
            }
            if let Some(value) = value.strip_prefix('=') {
                return Some((opt, Some(value.to_owned())));
            }
            if needs_value(self.resolve(opt)) {
                self.error(opt.name, "may not occur within a group!");
                body.truncate(end);
                return None;
            }
            self.provide(opt, None, None);
            if self.line.action.is_some() {
                return None;
            }
            *body = value;
            first = false;
        }
    }

    fn resolve(&self, opt: &'static Opt) -> &'static Opt {
        match opt.kind {
            Kind::Alias(of) => self.find(of).unwrap_or(opt),
            _ => opt,
        }
    }

    fn error(&mut self, name: &str, what: &str) {
        let name = dashed(name);
        self.line
            .errors
            .push(format!("for the {name} option: {what}"));
    }

    fn provide(
        &mut self,
        given: &'static Opt,
        value: Option<&str>,
        rest: Option<&mut std::slice::Iter<String>>,
    ) {
        let opt = self.resolve(given);
        let value = match (value, needs_value(opt)) {
            (Some(value), _) => Some(value.to_owned()),
            (None, true) => {
                // A prefixed value never stands apart.
                let next = rest.filter(|_| !given.prefix).and_then(Iterator::next);
                let Some(value) = next else {
                    return self.error(given.name, "requires a value!");
                };
                Some(value.clone())
            }
            (None, false) => None,
        };
        self.take(given, opt, value);
    }

    fn take(&mut self, given: &'static Opt, opt: &'static Opt, value: Option<String>) {
        let text = value.as_deref().unwrap_or_default();
        let wrong = match opt.kind {
            Kind::Action(action) => {
                if value.is_some() {
                    let what = format!("does not allow a value! '{text}' specified.");
                    return self.error(given.name, &what);
                }
                self.line.action = Some(action);
                return;
            }
            Kind::Flag => {
                let Some(on) = boolean(text) else {
                    let what =
                        format!("'{text}' is invalid value for boolean argument! Try 0 or 1");
                    return self.error(opt.name, &what);
                };
                return self.keep(opt, on.to_string());
            }
            Kind::Integer if integer(text).is_none() => {
                Some(format!("'{text}' value invalid for integer argument!"))
            }
            Kind::Choice(of) if !of.iter().any(|(name, _)| *name == text) => {
                Some(format!("Cannot find option named '{text}'!"))
            }
            Kind::Features(known) => {
                let unknown = text.split(',').find(|f| !known.contains(f));
                let known = known.join(", ");
                unknown
                    .map(|f| format!("unknown preview feature '{f}'; supported features: {known}"))
            }
            _ => None,
        };
        match wrong {
            Some(what) => self.error(opt.name, &what),
            None => self.keep(opt, text.to_owned()),
        }
    }

    fn keep(&mut self, opt: &'static Opt, value: String) {
        self.line.values.entry(opt.name).or_default().push(value);
    }

    fn unknown(&mut self, program: &str, arg: &str, body: &str) {
        let errors = &mut self.line.errors;
        errors.push(format!(
            "Unknown command line argument '{arg}'.  Try: '{program} --help'"
        ));
        if let Some(near) = nearest(self.table, body) {
            errors.push(format!("Did you mean '{near}'?"));
        }
    }
}

fn needs_value(opt: &Opt) -> bool {
    !matches!(opt.kind, Kind::Flag | Kind::Action(_))
}

fn boolean(text: &str) -> Option<bool> {
    match text {
        "" | "true" | "TRUE" | "True" | "1" => Some(true),
        "false" | "FALSE" | "False" | "0" => Some(false),
        _ => None,
    }
}

/// A number as C writes it: hexadecimal after `0x`, binary after `0b`, octal after `0`.
fn integer(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, digits.get(2..)?),
        [b'0', b'b' | b'B', ..] => (2, digits.get(2..)?),
        [b'0', b'o', ..] => (8, digits.get(2..)?),
        [b'0', _, ..] => (8, digits.get(1..)?),
        _ => (10, digits),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let value = i32::from_str_radix(digits, radix).ok()?;
    Some(i64::from(if negative { -value } else { value }))
}

/// The option that takes the fewest edits, if any is visible.
fn nearest(table: &[Opt], body: &str) -> Option<String> {
    let (name, value) = match body.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (body, None),
    };
    // One of several that are equally near, as the tools have it.
    let rank = |opt: &Opt| match opt.name {
        "l" => 0,
        "g" => 1,
        "help" => 3,
        _ => 2,
    };
    let distance = |opt: &Opt| {
        let whole = matches!(opt.kind, Kind::Action(_));
        edits(opt.name, if whole { body } else { name })
    };
    let best = table.iter().min_by_key(|opt| (distance(opt), rank(opt)))?;
    let value = value.filter(|v| !v.is_empty() && !matches!(best.kind, Kind::Action(_)));
    let name = match value {
        // A name with a value is longer than a letter.
        Some(value) => format!("--{}={value}", best.name),
        None => best.dashed(),
    };
    Some(name)
}

/// The Levenshtein distance.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = i;
        let mut left = i + 1;
        let next = row.iter().skip(1).zip(&b).map(|(&up, &y)| {
            let here = (corner + usize::from(x != y)).min(left + 1).min(up + 1);
            corner = up;
            left = here;
            here
        });
        let next: Vec<usize> = next.collect();
        row = std::iter::once(i + 1).chain(next).collect();
    }
    row.last().copied().unwrap_or(0)
}
