//! Locations in printed text, whatever their aliases are called.

use std::collections::BTreeMap;

/// The locations of the operations, in order, with aliases replaced by what they stand for.
pub fn locations(text: &str) -> Vec<String> {
    let definitions: BTreeMap<&str, &str> = text
        .lines()
        .filter(|line| line.starts_with('#'))
        .filter_map(|line| line.split_once(" = "))
        .collect();
    let mut expanded: BTreeMap<&str, String> = BTreeMap::new();
    let operations = text.lines().filter(|line| !line.starts_with('#'));
    operations
        // A terminator without operands is implicit, unless it has a location of its own.
        .filter(|line| {
            let line = line.trim_start();
            !line.starts_with("continue loc") && !line.starts_with("yield loc")
        })
        .filter_map(|line| line.rsplit_once("loc(")?.1.strip_suffix(')'))
        .map(|place| expand(place, &definitions, &mut expanded))
        .collect()
}

fn expand<'t>(
    text: &'t str,
    definitions: &BTreeMap<&'t str, &'t str>,
    expanded: &mut BTreeMap<&'t str, String>,
) -> String {
    let Some(at) = text
        .find('#')
        .filter(|&at| !text[at..].starts_with("#cuda_tile.") && !text[..at].contains('"'))
    else {
        // An attribute's own name, or a string.
        return match text.strip_prefix("#cuda_tile.") {
            Some(rest) => format!("#cuda_tile.{}", expand(rest, definitions, expanded)),
            None => match text
                .find(['"'])
                .and_then(|q| Some(q + 1 + text[q + 1..].find('"')? + 1))
            {
                Some(end) => format!(
                    "{}{}",
                    &text[..end],
                    expand(&text[end..], definitions, expanded)
                ),
                None => text.replace("loc(unknown)", "unknown"),
            },
        };
    };
    let end = text[at + 1..]
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .map_or(text.len(), |n| at + 1 + n);
    let alias = &text[at..end];
    let meaning = match expanded.get(alias) {
        Some(meaning) => meaning.clone(),
        None => {
            let meaning = expand(definitions[alias], definitions, expanded);
            expanded.insert(alias, meaning.clone());
            meaning
        }
    };
    format!(
        "{}{meaning}{}",
        &text[..at],
        expand(&text[end..], definitions, expanded)
    )
}
