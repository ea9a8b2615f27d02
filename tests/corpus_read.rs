//! Every bytecode file of the corpus is read.

use std::path::{Path, PathBuf};

fn files(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|e| e == "tilebc") {
            out.push(path);
        }
    }
}

#[test]
fn every_corpus_file_is_read() {
    let mut paths = Vec::new();
    files(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus"),
        &mut paths,
    );
    assert!(!paths.is_empty());
    for path in paths {
        let bytes = std::fs::read(&path).unwrap();
        let module =
            tilec::bytecode::read(&bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert!(module.op_count() > 3, "{}", path.display());
    }
}
