//! Lists the rule files of `rules/` and `isel/`, so that they are compiled in.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() {
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut files = Vec::new();
    for top in ["rules", "isel"] {
        println!("cargo::rerun-if-changed={top}");
        collect(&root.join(top), &mut files);
    }
    files.sort();
    let mut code = String::from(
        "/// Every rule file: path below `rules/` (or from `isel/` on) and text.\npub static FILES: &[(&str, &str)] = &[\n",
    );
    for file in &files {
        println!("cargo::rerun-if-changed={}", file.display());
        let relative = file.strip_prefix(&root).unwrap_or(file);
        let name = relative.strip_prefix("rules").unwrap_or(relative);
        let _ = writeln!(
            code,
            "    ({:?}, include_str!({:?})),",
            name.display().to_string(),
            file.display().to_string()
        );
    }
    code.push_str("];\n");
    let out = PathBuf::from(std::env::var("OUT_DIR").unwrap_or_default()).join("rule_files.rs");
    if std::fs::read_to_string(&out).is_ok_and(|old| old == code) {
        return;
    }
    if let Err(error) = std::fs::write(&out, code) {
        panic!("cannot write the list of rule files: {error}");
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for path in entries.flatten().map(|e| e.path()) {
        if path.is_dir() {
            println!("cargo::rerun-if-changed={}", path.display());
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "rules" || e == "sel") {
            files.push(path);
        }
    }
}
