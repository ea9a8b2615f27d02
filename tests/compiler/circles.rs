//! No circle of files, in the library or in a tool: what files take from each other leads downwards.
//!
//! A file takes from another what it names by a path, in a `use` or in its code; a name that is handed on (`pub use`) is
//! taken from where it is defined. What a file takes from the module that it is a part of does not count, nor do
//! methods, which no path names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The path of a module, without `crate`.
type Name = Vec<String>;

/// The modules of a crate by their names.
#[derive(Default)]
struct Sources {
    modules: BTreeMap<Name, Module>,
}

#[derive(Default)]
struct Module {
    /// What it defines.
    items: BTreeSet<String>,
    /// What it imports: the name, the path, and whether others take it from here.
    imports: Vec<Import>,
    /// The paths in its code.
    paths: Vec<Name>,
}

struct Import {
    name: String,
    path: Name,
    handed_on: bool,
}

fn words(path: &str) -> Name {
    let parts = path.split("::").map(|part| part.trim().to_owned());
    parts.filter(|part| !part.is_empty()).collect()
}

/// The paths of a tree of imports, each with the name that it gets.
fn imports(tree: &str, before: &[String], found: &mut Vec<(String, Name)>) {
    let tree = tree.trim();
    if let Some((stem, list)) = tree.split_once('{') {
        let stem = [before, &words(stem)].concat();
        let list = list.strip_suffix('}').unwrap_or(list);
        let (mut depth, mut start) = (0, 0);
        for (at, c) in list.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    imports(&list[start..at], &stem, found);
                    start = at + 1;
                }
                _ => {}
            }
        }
        return imports(&list[start..], &stem, found);
    }
    let (path, alias) = match tree.split_once(" as ") {
        Some((path, alias)) => (path, Some(alias.trim().to_owned())),
        None => (tree, None),
    };
    let mut path = [before, &words(path)].concat();
    path.pop_if(|last| last == "self");
    if let Some(last) = path.last().cloned() {
        found.push((alias.unwrap_or(last), path));
    }
}

/// A file without comments, texts and unit tests.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or("");
    let lines = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or(""));
    let mut out = String::new();
    for line in lines {
        let mut quoted = false;
        for part in line.split('"') {
            out.push_str(if quoted { "" } else { part });
            quoted = !quoted;
        }
        out.push('\n');
    }
    out
}

impl Module {
    fn of(text: &str) -> Module {
        let mut module = Module::default();
        let mut rest = String::new();
        let mut statement: Option<String> = None;
        for line in code(text).lines() {
            let opening = line.trim_start();
            let starts = opening.starts_with("use ")
                || opening.starts_with("pub") && opening.contains(" use ");
            if starts && statement.is_none() {
                statement = Some(String::new());
            }
            let Some(open) = &mut statement else {
                rest.push_str(line);
                rest.push('\n');
                continue;
            };
            open.push_str(opening);
            open.push(' ');
            if let Some((whole, _)) = open.clone().split_once(';') {
                let (before, tree) = whole.split_once("use ").unwrap_or(("", whole));
                let mut found = Vec::new();
                imports(tree, &[], &mut found);
                let handed_on = before.starts_with("pub");
                module
                    .imports
                    .extend(found.into_iter().map(|(name, path)| Import {
                        name,
                        path,
                        handed_on,
                    }));
                statement = None;
            }
        }
        let tokens: Vec<&str> = rest
            .split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':')
            .filter(|token| !token.is_empty())
            .collect();
        const DEFINES: [&str; 8] = [
            "fn", "struct", "enum", "trait", "type", "const", "static", "union",
        ];
        for pair in tokens.windows(2) {
            if DEFINES.contains(&pair[0]) {
                module
                    .items
                    .insert(pair[1].trim_end_matches(':').to_owned());
            }
        }
        let paths = tokens.iter().filter(|token| token.contains("::"));
        module.paths = paths
            .map(|token| words(token))
            .filter(|path| path.len() > 1)
            .collect();
        module
    }
}

impl Sources {
    fn read(root: &Path) -> Sources {
        fn add(root: &Path, folder: &Path, sources: &mut Sources) {
            for entry in std::fs::read_dir(folder).expect("a folder of sources") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    add(root, &path, sources);
                    continue;
                }
                let inside = path
                    .strip_prefix(root)
                    .expect("a file of the folder")
                    .with_extension("");
                let mut name: Name = inside
                    .iter()
                    .map(|n| n.to_string_lossy().into_owned())
                    .collect();
                let tests = name.iter().any(|n| n.ends_with("tests") || n == "made_up");
                let program = inside == Path::new("main") && root.join("lib.rs").exists();
                if path.extension().is_none_or(|e| e != "rs") || tests || program {
                    continue;
                }
                name.pop_if(|last| ["mod", "lib", "main"].contains(&last.as_str()));
                let text = std::fs::read_to_string(&path).expect("text");
                sources.modules.insert(name, Module::of(&text));
            }
        }
        let mut sources = Sources::default();
        add(root, root, &mut sources);
        sources
    }

    /// A path from the root of the crate, if it is of the crate.
    fn absolute(&self, here: &[String], path: &[String]) -> Option<Name> {
        let first = path.first()?;
        if first == "crate" {
            return Some(path[1..].to_vec());
        }
        let up = path.iter().take_while(|part| *part == "super").count();
        if up > 0 || first == "self" {
            let base = here.get(..here.len().checked_sub(up)?)?;
            let rest = path[up..].iter().filter(|part| *part != "self");
            return Some(base.iter().chain(rest).cloned().collect());
        }
        let inner = [here, std::slice::from_ref(first)].concat();
        if self.modules.contains_key(&inner) {
            return Some([here, path].concat());
        }
        let import = self
            .modules
            .get(here)?
            .imports
            .iter()
            .find(|i| i.name == *first)?;
        let rooted = ["crate", "super", "self"].contains(&import.path[0].as_str())
            || self
                .modules
                .contains_key(&[here, &import.path[..1]].concat());
        let path = [&import.path[..], &path[1..]].concat();
        (rooted && import.path[0] != *first).then(|| self.absolute(here, &path))?
    }

    /// The module that defines what an absolute path names.
    fn home(&self, path: &[String], steps: usize) -> Option<Name> {
        let depth = (0..=path.len())
            .rev()
            .find(|&n| self.modules.contains_key(&path[..n]))?;
        let (here, rest) = path.split_at(depth);
        let module = &self.modules[here];
        let Some(name) = rest
            .first()
            .filter(|n| !module.items.contains(*n) && steps > 0)
        else {
            return Some(here.to_vec());
        };
        let import = module.imports.iter().find(|i| i.name == *name);
        let onward = import.and_then(|i| self.absolute(here, &[&i.path[..], &rest[1..]].concat()));
        match onward {
            Some(path) => self.home(&path, steps - 1),
            None => Some(here.to_vec()),
        }
    }

    /// What each module takes from which.
    fn arrows(&self) -> BTreeMap<&Name, BTreeSet<Name>> {
        let of = |(here, module): (&'_ Name, &'_ Module)| {
            let own = module
                .imports
                .iter()
                .filter(|i| !i.handed_on)
                .map(|i| &i.path);
            let named = own.chain(&module.paths);
            let homes = named.filter_map(|path| {
                let path: Name = path.iter().filter(|part| *part != "*").cloned().collect();
                self.home(&self.absolute(here, &path)?, 8)
            });
            homes.filter(|home| !here.starts_with(home)).collect()
        };
        self.modules
            .iter()
            .map(|(name, module)| (name, of((name, module))))
            .collect()
    }

    /// The modules that take from each other in a circle.
    fn circles(&self) -> Vec<String> {
        let arrows = self.arrows();
        let below = |from: &Name| {
            let mut seen: BTreeSet<Name> = BTreeSet::new();
            let mut work: Vec<&Name> = vec![from];
            while let Some(name) = work.pop() {
                for next in arrows.get(name).into_iter().flatten() {
                    if seen.insert(next.clone()) {
                        work.push(next);
                    }
                }
            }
            seen
        };
        let reach: BTreeMap<&Name, BTreeSet<Name>> =
            arrows.keys().map(|n| (*n, below(n))).collect();
        let mut found = Vec::new();
        for (from, to) in &arrows {
            let back = to
                .iter()
                .filter(|t| reach.get(t).is_some_and(|r| r.contains(*from)));
            found.extend(back.map(|t| format!("{} uses {}", from.join("/"), t.join("/"))));
        }
        found
    }
}

/// The folders of sources: the library's, and those of the tools.
fn roots() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tools = std::fs::read_dir(root.join("tools")).expect("the folder of tools");
    let tools = tools.map(|tool| tool.expect("a tool").path().join("src"));
    let mut all: Vec<PathBuf> = tools.filter(|p| p.is_dir()).collect();
    all.push(root.join("src"));
    all.sort();
    all
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    let mut wrong = Vec::new();
    for root in roots() {
        let found = Sources::read(&root).circles();
        wrong.extend(
            found
                .into_iter()
                .map(|line| format!("{}: {line}", root.display())),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Modules of these names with these texts.
fn sources(modules: &[(&str, &str)]) -> Sources {
    let modules = modules
        .iter()
        .map(|(name, text)| (words(name), Module::of(text)));
    Sources {
        modules: modules.collect(),
    }
}

#[test]
fn a_circle_is_found_through_a_name_that_is_handed_on() {
    let found = sources(&[
        ("", "mod a;\nmod b;\n"),
        ("a", "mod inner;\npub use inner::Thing;\n"),
        (
            "a::inner",
            "use crate::b::{f,\n    g};\npub struct Thing;\n",
        ),
        (
            "b",
            "pub fn f() -> usize { size_of::<crate::a::Thing>() }\npub fn g() {}\n",
        ),
    ]);
    assert_eq!(found.circles(), ["a/inner uses b", "b uses a/inner"]);
}

#[test]
fn parts_may_use_their_module_and_tests_everything() {
    let found = sources(&[
        ("", "pub mod a;\npub mod b;\n"),
        ("a", "pub mod inner;\npub struct Whole(inner::Part);\n"),
        (
            "a::inner",
            "use super::Whole;\npub struct Part(Box<Whole>);\n// crate::b::f\n",
        ),
        ("b", "use crate::a::Whole;\npub fn f(_: Whole) {}\n"),
        (
            "c",
            "const TEXT: &str = \"crate::b::f\";\n#[cfg(test)]\nmod tests {\nuse crate::b;\n}\n",
        ),
    ]);
    assert_eq!(found.circles(), [""; 0]);
}
