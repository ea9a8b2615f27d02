//! The table of what is proven, as the repository keeps it.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Class, Verdict};

/// A rule's place in the table: its file and name.
pub type Key = (String, String);

const HEADER: &str = "\
# What is proven of the rules

Written by `tilec rules --prove --table`; `docs/proofs.md` says what the classes mean.

";

/// The table as Markdown, with how many rules are in each class.
pub fn write(verdicts: &BTreeMap<Key, Verdict>) -> String {
    let mut text = String::from(HEADER);
    let _ = writeln!(text, "| class | rules |\n|---|---|");
    for class in Class::ALL {
        let count = verdicts.values().filter(|v| v.class == class).count();
        let _ = writeln!(text, "| {} | {count} |", class.name());
    }
    let mut file = "";
    for ((of, name), v) in verdicts {
        if of != file {
            file = of;
            let _ = writeln!(
                text,
                "\n## `{file}`\n\n| rule | class | instances | remark |\n|---|---|---|---|"
            );
        }
        let instances = match v.class {
            Class::Exempt => String::new(),
            _ if v.proven == v.instances => v.instances.to_string(),
            _ => format!("{} of {} proven", v.proven, v.instances),
        };
        let why = v.why.replace('|', "\\|");
        let _ = writeln!(
            text,
            "| `{name}` | {} | {instances} | {why} |",
            v.class.name()
        );
    }
    text
}

/// The class of each rule in a table.
pub fn read(text: &str) -> BTreeMap<Key, Class> {
    let mut file = String::new();
    let mut classes = BTreeMap::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("## `").and_then(|l| l.strip_suffix('`')) {
            file = name.to_owned();
        }
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if let [_, name, class, ..] = cells[..]
            && let Some(name) = name.strip_prefix('`').and_then(|n| n.strip_suffix('`'))
            && let Some(class) = Class::parse(class)
        {
            classes.insert((file.clone(), name.to_owned()), class);
        }
    }
    classes
}
