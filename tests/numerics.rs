//! `tilec run` on every run of the corpus, against what numpy and ml_dtypes computed.

#[path = "common/npy.rs"]
mod npy;
#[path = "common/runs.rs"]
mod runs;
#[path = "common/toolkit.rs"]
mod toolkit;

use runs::check_all;

macro_rules! corpus_files {
    ($($file:ident)*) => {
        /// The corpus files with runs.
        const FILES: &[&str] = &[$(stringify!($file)),*];

        $(#[test]
        fn $file() {
            check_all("numerics", &[concat!(stringify!($file), "/")], &[&[]], &[]);
        })*
    };
}

corpus_files! {
    vadd softmax matmul
    ops_atomic ops_control ops_convert ops_float ops_integer ops_math ops_mma
    ops_other ops_pointer ops_reduce ops_shape ops_view
    programs_attention programs_layers programs_control programs_gemm programs_memory programs_norm
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
        check_all("numerics", &prefixes, &[&[]], &[]);
    }
}
