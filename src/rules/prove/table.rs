//! The table of what is proven, as the repository keeps it.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::record::Record;
use super::{Class, Verdict};

/// A rule's place in the table: its file and name.
pub type Key = (String, String);

/// What the table calls a file, which is named from the repository's root: the files that are compiled in stand in it
/// without the folder of all rules.
pub fn file(path: &str) -> &str {
    let path = path.strip_prefix("./").unwrap_or(path);
    path.strip_prefix("rules/").unwrap_or(path)
}

/// What the table says of a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    pub class: Class,
    /// How many instances are proven, of how many.
    pub instances: String,
    pub remark: String,
    /// What the solver answered, where all of the proof can be told from that.
    pub record: Option<Record>,
}

impl Row {
    pub fn new(v: &Verdict, record: Option<&Record>) -> Row {
        Row {
            class: v.class,
            instances: match v.class {
                Class::Exempt => String::new(),
                _ if v.proven == v.instances => v.instances.to_string(),
                _ => format!("{} of {} proven", v.proven, v.instances),
            },
            remark: v.why.replace('|', "/"),
            // Samples are left to other tests, so that nobody asks what the solver said.
            record: record.filter(|_| v.class.is_proof()).cloned(),
        }
    }
}

const HEADER: &str = "\
# What is proven of the rules

Written by `tilec rules --prove --update rules/PROOFS.md`; `docs/proofs.md` says what the classes mean.

";

/// The table as Markdown, with how many rules are in each class.
pub fn write(rows: &BTreeMap<Key, Row>) -> String {
    let mut text = String::from(HEADER);
    let _ = writeln!(text, "| class | rules |\n|---|---|");
    for class in Class::ALL {
        let count = rows.values().filter(|row| row.class == class).count();
        let _ = writeln!(text, "| {} | {count} |", class.name());
    }
    let mut file = "";
    for ((of, name), row) in rows {
        if of != file {
            file = of;
            let _ = writeln!(
                text,
                "\n## `{file}`\n\n| rule | class | instances | remark | solver |\n|---|---|---|---|---|"
            );
        }
        let (class, instances, remark) = (row.class.name(), &row.instances, &row.remark);
        let record = row.record.as_ref().map(Record::to_string);
        let record = record.unwrap_or_default();
        let _ = writeln!(
            text,
            "| `{name}` | {class} | {instances} | {remark} | {record} |"
        );
    }
    text
}

/// The rows of a table.
pub fn read(text: &str) -> BTreeMap<Key, Row> {
    let mut file = String::new();
    let mut rows = BTreeMap::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("## `").and_then(|l| l.strip_suffix('`')) {
            file = name.to_owned();
        }
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if let [_, name, class, instances, remark, record, _] = cells[..]
            && let Some(name) = name.strip_prefix('`').and_then(|n| n.strip_suffix('`'))
            && let Some(class) = Class::parse(class)
        {
            let row = Row {
                class,
                instances: instances.to_owned(),
                remark: remark.to_owned(),
                record: record.parse().ok(),
            };
            rows.insert((file.clone(), name.to_owned()), row);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        let row = |class, instances: &str, remark: &str| Row {
            class,
            instances: instances.into(),
            remark: remark.into(),
            record: (class == Class::Proven).then(Record::default),
        };
        let key = |file: &str, name: &str| (file.to_owned(), name.to_owned());
        let rows = BTreeMap::from([
            (key("a.rules", "x"), row(Class::Proven, "12", "")),
            (
                key("a.rules", "y"),
                row(Class::ProvenByCase, "3", "a constant is a float"),
            ),
            (key("b.rules", "x"), row(Class::Exempt, "", "no values")),
        ]);
        let text = write(&rows);
        assert_eq!(read(&text), rows);
        assert!(text.contains("| proven by case | 1 |"), "{text}");
    }
}
