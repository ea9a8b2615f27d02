//! Texts side by side, and which of their lines have a common origin.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;

use super::html::escape;
use crate::asm::{self, Form};
use crate::ir::{Module, Place};

/// A place of the source: file, line, column.
type Spot = (String, u32, u32);

/// Numbers of the places that lines come from.
#[derive(Default)]
pub struct Places {
    lines: BTreeMap<(String, u32), usize>,
    columns: HashMap<Spot, usize>,
}

/// What relates a line to others.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Relation {
    /// The number of a line of the source.
    pub line: Option<usize>,
    /// What only few lines share: a place down to its column, a line of PTX.
    pub exact: Vec<String>,
}

impl Places {
    /// The relation of what stands at a place; of a whole line where the column is not known.
    pub fn at(&mut self, file: &str, line: u32, column: Option<u32>) -> Relation {
        let next = self.lines.len();
        let number = *self.lines.entry((file.to_owned(), line)).or_insert(next);
        let exact = column.map(|column| {
            let next = self.columns.len();
            let spot = (file.to_owned(), line, column);
            format!("c{}", self.columns.entry(spot).or_insert(next))
        });
        Relation {
            line: Some(number),
            exact: exact.into_iter().collect(),
        }
    }

    /// The files that places are in.
    pub fn files(&self) -> BTreeSet<String> {
        self.lines.keys().map(|(file, _)| file.clone()).collect()
    }
}

/// A line of a panel.
pub struct Line {
    /// As it is counted in its file.
    pub number: usize,
    pub text: String,
    pub relation: Relation,
    /// Registers that hold something there.
    pub live: Option<u32>,
}

/// A text.
pub struct Panel {
    pub id: &'static str,
    pub name: &'static str,
    pub lines: Vec<Line>,
}

impl Panel {
    /// A stage of the compilation.
    pub fn of_module(
        id: &'static str,
        name: &'static str,
        module: &Module,
        form: Form,
        places: &mut Places,
    ) -> Panel {
        let (text, locations) = asm::print_with_places(module, form);
        let lines = text.lines().zip(locations).enumerate();
        let lines = lines.map(|(i, (text, at))| Line {
            number: i + 1,
            text: text.to_owned(),
            relation: match module.source_of(at) {
                Place::Line { file, line, column } => places.at(&file, line, Some(column)),
                _ => Relation::default(),
            },
            live: None,
        });
        let lines = lines.collect();
        Panel { id, name, lines }
    }

    /// A text that says nothing of its origin.
    pub fn plain(id: &'static str, name: &'static str, text: &str) -> Panel {
        let lines = text.lines().enumerate().map(|(i, text)| Line {
            number: i + 1,
            text: text.to_owned(),
            relation: Relation::default(),
            live: None,
        });
        let lines = lines.collect();
        Panel { id, name, lines }
    }

    /// PTX with `.loc` directives (PTX ISA, "Debugging Directives"), which are not shown.
    pub fn of_ptx(text: &str, places: &mut Places) -> Panel {
        let files: HashMap<&str, &str> = text.lines().filter_map(file_directive).collect();
        let mut lines = Vec::new();
        let mut at: Option<(&str, u32, u32)> = None;
        let mut tables = false;
        for (i, text) in text.lines().enumerate() {
            if let Some((file, line, column)) = loc_directive(text) {
                at = files.get(file).map(|name| (*name, line, column));
                continue;
            }
            // A function ends with its brace; what follows are tables for debuggers.
            if text.starts_with('}') {
                at = None;
            }
            tables |= text.starts_with(".file") || text.starts_with(".section");
            if tables {
                continue;
            }
            let mut relation = match at.filter(|_| !text.trim().is_empty()) {
                Some((file, line, column)) => places.at(file, line, Some(column)),
                None => Relation::default(),
            };
            relation.exact.push(format!("p{}", i + 1));
            lines.push(Line {
                number: i + 1,
                text: text.to_owned(),
                relation,
                live: None,
            });
        }
        Panel {
            id: "ptx",
            name: "PTX",
            lines,
        }
    }

    /// The files that places are in.
    pub fn of_sources(texts: &HashMap<String, String>, places: &mut Places) -> Panel {
        let mut lines = Vec::new();
        for file in places.files() {
            let Some(text) = texts.get(&file) else {
                continue;
            };
            lines.push(Line {
                number: 0,
                text: file.clone(),
                relation: Relation::default(),
                live: None,
            });
            let used: BTreeMap<u32, usize> = places
                .lines
                .iter()
                .filter(|((of, _), _)| *of == file)
                .map(|((_, line), number)| (*line, *number))
                .collect();
            for (number, text) in (1..).zip(text.lines()) {
                lines.push(Line {
                    number: number as usize,
                    text: text.to_owned(),
                    relation: Relation {
                        line: used.get(&number).copied(),
                        exact: Vec::new(),
                    },
                    live: None,
                });
            }
        }
        Panel {
            id: "source",
            name: "Source",
            lines,
        }
    }

    pub fn write(&self, out: &mut String) {
        let (id, name) = (self.id, self.name);
        let most = self.lines.iter().filter_map(|l| l.live).max();
        let _ = writeln!(
            out,
            "<article class=\"panel\" id=\"{id}\" data-name=\"{name}\"><h3>{name}</h3>"
        );
        if let Some(most) = most {
            let _ = writeln!(
                out,
                "<p class=\"peak\">at most {most} registers hold something at once</p>"
            );
        }
        let _ = writeln!(out, "<ol tabindex=\"0\" aria-label=\"{name}\">");
        for line in &self.lines {
            line.write(out, id, most);
        }
        out.push_str("</ol></article>\n");
    }
}

impl Line {
    fn write(&self, out: &mut String, panel: &str, most: Option<u32>) {
        let number = self.number;
        match number {
            0 => out.push_str("<li class=\"file\""),
            _ => {
                let _ = write!(out, "<li value=\"{number}\"");
            }
        }
        // Files follow one another in the panel of the source: only other panels have unique numbers.
        if panel != "source" {
            let _ = write!(out, " id=\"{panel}-{number}\"");
        }
        if let Some(line) = self.relation.line {
            let _ = write!(out, " data-line=\"{line}\"");
        }
        if !self.relation.exact.is_empty() {
            let _ = write!(out, " data-exact=\"{}\"", self.relation.exact.join(" "));
        }
        if let (Some(live), Some(most)) = (self.live, most) {
            let percent = 100 * live / most.max(1);
            let _ = write!(
                out,
                " class=\"live\" style=\"--live-width:{percent}%\" data-live=\"{live}\""
            );
        }
        let _ = writeln!(out, ">{}</li>", escape(&self.text));
    }
}

/// `.file 1 "name"`.
fn file_directive(line: &str) -> Option<(&str, &str)> {
    let (number, name) = line.strip_prefix(".file ")?.split_once(' ')?;
    Some((number, name.trim().strip_prefix('"')?.strip_suffix('"')?))
}

/// `.loc 1 34 19…`.
fn loc_directive(line: &str) -> Option<(&str, u32, u32)> {
    let mut words = line.trim_start().strip_prefix(".loc ")?.split([' ', ',']);
    let file = words.next()?;
    Some((
        file,
        words.next()?.parse().ok()?,
        words.next()?.parse().ok()?,
    ))
}

#[cfg(test)]
mod tests {
    use super::{Panel, Places};

    #[test]
    fn ptx_lines_have_their_place() {
        let text = "{\n\t.loc 1 7 3\n\tadd.s32 %r1, %r2, 1;\n\t.loc 1 7 3\n\
                    \t.loc 1 9 1, function_name $L__info_string0, inlined_at 1 7 3\n\tret;\n}\n.file 1 \"k.py\"\n";
        let mut places = Places::default();
        let panel = Panel::of_ptx(text, &mut places);
        let found: Vec<_> = panel
            .lines
            .iter()
            .map(|l| (l.number, l.relation.line, l.relation.exact.join(" ")))
            .collect();
        assert_eq!(
            found,
            [
                (1, None, "p1".to_owned()),
                (3, Some(0), "c0 p3".to_owned()),
                (6, Some(1), "c1 p6".to_owned()),
                (7, None, "p7".to_owned()),
            ]
        );
        assert_eq!(places.files().into_iter().collect::<Vec<_>>(), ["k.py"]);
    }
}
