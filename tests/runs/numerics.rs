//! `tilec run` on every run of the corpus, against what numpy and ml_dtypes computed.

use crate::runs;
use crate::toolkit;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use runs::check_all;
use tilec::ir::Attr;

macro_rules! corpus_files {
    ($($file:ident)*) => {
        /// The corpus files with runs.
        const FILES: &[&str] = &[$(stringify!($file)),*];

        $(#[test]
        fn $file() {
            check_all(&[concat!(stringify!($file), "/")], &[&[]], &[]);
            if stringify!($file).starts_with("ops_") {
                every_entry_is_run(stringify!($file));
            }
        })*
    };
}

corpus_files! {
    vadd softmax matmul
    ops_atomic ops_control ops_convert ops_float ops_integer ops_math ops_mma
    ops_other ops_pointer ops_reduce ops_shape ops_types ops_view
    programs_attention programs_layers programs_control programs_gather programs_gemm programs_memory programs_norm
    programs_models programs_numeric
    production_gemm production_attention production_rows production_widened production_cuda production_cluster
}

/// All entries of a file's modules of single operations have runs, which have been written.
fn every_entry_is_run(file: &str) {
    let root = toolkit::repository_root();
    let written = runs::references_of(file).join(file);
    let mut run = BTreeSet::new();
    for case in children(&written) {
        for label in children(&case) {
            let text = std::fs::read_to_string(label.join("manifest.json")).expect("a manifest");
            let manifest: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            let text = |key: &str| manifest[key].as_str().expect("a name").to_owned();
            run.insert((root.join(text("module")), text("entry")));
        }
    }
    // The newest version of a case has every entry of the older ones.
    let newest: BTreeMap<String, PathBuf> =
        children(&root.join("tests/corpus/bytecode").join(file))
            .into_iter()
            .filter_map(|path| Some((path.to_str()?.rsplit_once('-')?.0.to_owned(), path)))
            .collect();
    for path in newest.into_values() {
        let module =
            tilec::bytecode::read(&std::fs::read(&path).expect("a file")).expect("a module");
        for &op in &module.block(module.body).ops {
            let op = module.op(op);
            if let (Some(Attr::Str(name)), "entry") = (op.attr_named("sym_name"), op.def().name) {
                let entry = (path.clone(), module.str(*name).to_owned());
                assert!(run.contains(&entry), "no run of {entry:?}");
            }
        }
    }
}

fn children(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<_> = entries.map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    paths
}

/// Corpus files that are not listed above.
#[test]
fn others() {
    let bytecode = toolkit::repository_root().join("tests/corpus/bytecode");
    let mut others: Vec<String> = std::fs::read_dir(bytecode)
        .expect("a folder")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| !FILES.contains(&name.as_str()))
        .map(|name| format!("{name}/"))
        .collect();
    others.sort();
    if !others.is_empty() {
        let prefixes: Vec<&str> = others.iter().map(String::as_str).collect();
        check_all(&prefixes, &[&[]], &[]);
    }
}
