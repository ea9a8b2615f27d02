//! What the documentation says about files and tables is true: links resolve, every page is in the book, and the
//! dialects' pages are what the tables say.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tilec::dialect::Dialect;
use tilec::target::Target;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Files in a folder and below it, without build outputs and what git does not know.
fn files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("a folder");
    for path in entries.map(|e| e.expect("an entry").path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            if !name.starts_with('.') && !["target", "shared", "node_modules"].contains(&&*name) {
                files(&path, extension, found);
            }
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
}

fn pages() -> Vec<PathBuf> {
    let mut found = Vec::new();
    files(root(), "md", &mut found);
    found.sort();
    assert!(found.len() > 15, "{found:?}");
    found
}

/// The text outside of fenced code.
fn prose(text: &str) -> String {
    let mut fenced = false;
    let mut kept = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced && !line.starts_with("    ") {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// The targets of `[text](target)`, outside of code.
fn links(text: &str) -> Vec<String> {
    let mut plain = String::new();
    for (i, part) in prose(text).split('`').enumerate() {
        plain.push_str(if i % 2 == 0 { part } else { "code" });
    }
    let mut found = Vec::new();
    let mut rest = plain.as_str();
    while let Some(at) = rest.find("](") {
        rest = &rest[at + 2..];
        if let Some(end) = rest.find(')') {
            found.push(rest[..end].to_owned());
        }
    }
    found
}

/// The name by which a heading can be linked to.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            let kept = title
                .chars()
                .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
            kept.collect::<String>().replace(' ', "-")
        })
        .collect()
}

#[test]
fn every_link_leads_to_a_file_or_heading() {
    let mut broken = Vec::new();
    for page in pages() {
        for link in links(&read(&page)) {
            if link.starts_with("http://") || link.starts_with("https://") {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = match path {
                "" => page.clone(),
                path => page.parent().unwrap_or(root()).join(path),
            };
            let there =
                target.exists() && (anchor.is_empty() || anchors(&read(&target)).contains(anchor));
            if !there {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Links of a page of the book stay in the book, where mdBook would otherwise leave them dangling.
#[test]
fn the_book_has_every_page_and_links_stay_inside() {
    let docs = root().join("docs");
    let listed: BTreeSet<PathBuf> = links(&read(&docs.join("SUMMARY.md")))
        .iter()
        .map(|link| docs.join(link))
        .collect();
    let mut pages = Vec::new();
    files(&docs, "md", &mut pages);
    pages.retain(|page| !page.ends_with("SUMMARY.md"));
    for page in &pages {
        assert!(
            listed.contains(page),
            "{} is not in SUMMARY.md",
            page.display()
        );
        let text = read(page);
        let included = text.trim().strip_prefix("{{#include ");
        let included = included.and_then(|rest| rest.strip_suffix("}}"));
        let text = included.map_or(text.clone(), |path| read(&docs.join(path)));
        for link in links(&text).iter().filter(|link| !link.starts_with("http")) {
            let outside = link.starts_with("../") && page.parent() == Some(docs.as_path());
            assert!(!outside, "{}: {link}", page.display());
            assert!(included.is_none(), "an included page has the link {link}");
        }
    }
    assert_eq!(listed.len(), pages.len(), "SUMMARY.md lists a page twice");
}

/// After a change of a table: `cargo run -- dialects --markdown -o docs/dialects`.
#[test]
fn the_pages_of_the_dialects_are_current() {
    for dialect in Dialect::ALL {
        let path = root().join(format!("docs/dialects/{}.md", dialect.name()));
        assert!(
            read(&path) == dialect.markdown(),
            "{} is not current: cargo run -- dialects --markdown -o docs/dialects",
            path.display()
        );
    }
}

/// The folders of `src/`, and the rows of the pages that list what lies where, exist.
#[test]
fn paths_that_the_contributors_pages_name_exist() {
    let mut missing = Vec::new();
    for page in [
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "README.md",
        "src/lower/README.md",
    ] {
        let text = prose(&read(&root().join(page)));
        let folder = root().join(page);
        let folder = folder.parent().unwrap_or(root());
        for code in text.split('`').skip(1).step_by(2) {
            let plain = code
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
            let path = [
                "src/",
                "rules/",
                "isel/",
                "tests/",
                "tools/",
                "docs/",
                "examples/",
            ]
            .iter()
            .any(|top| code.starts_with(top));
            if plain && path && !(root().join(code).exists() || folder.join(code).exists()) {
                missing.push(format!("{page}: {code}"));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// The numbers in the first columns of the tables of targets.
fn listed(page: &str) -> BTreeSet<u16> {
    let text = read(&root().join(page));
    let rows = text.lines().filter_map(|line| line.strip_prefix("| sm_"));
    let names = rows.filter_map(|row| row.split('|').next());
    let numbers = names.flat_map(|names| names.split(|c: char| !c.is_ascii_digit()));
    numbers.filter_map(|n| n.parse().ok()).collect()
}

#[test]
fn every_target_is_in_the_tables() {
    let targets: BTreeSet<u16> = Target::all().map(|t| t.sm).collect();
    for page in ["README.md", "docs/targets.md"] {
        assert_eq!(listed(page), targets, "{page}");
    }
}
