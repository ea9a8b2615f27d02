//! How wide the accesses through pointers are: what alignment and the number of elements of a thread
//! allow, counted by hand.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// The global accesses in the PTX of a case of `programs_gather`, and how often each stands there. No load runs ahead
/// of its use, by copies that are no loads.
fn accesses(case: &str, target: &str) -> BTreeMap<String, usize> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(env!("CARGO_BIN_EXE_tilec"))
        .arg("compile")
        .arg(root.join(format!(
            "tests/corpus/bytecode/programs_gather/{case}-13.1.tilebc"
        )))
        .args(["--gpu-name", target, "--opt-level", "1"])
        .output()
        .expect("tilec runs");
    assert!(output.status.success(), "{case}: {output:?}");
    let mut counts = BTreeMap::new();
    for word in String::from_utf8_lossy(&output.stdout).split_whitespace() {
        if word.starts_with("ld.global") || word.starts_with("st.global") {
            *counts.entry(word.to_owned()).or_insert(0) += 1;
        }
    }
    counts
}

fn check(case: &str, expected: &[(&str, usize)]) {
    for target in ["sm_75", "sm_80", "sm_90a", "sm_120a"] {
        let found = accesses(case, target);
        let expected: BTreeMap<String, usize> =
            expected.iter().map(|&(n, c)| (n.to_owned(), c)).collect();
        assert_eq!(found, expected, "{case} for {target}");
    }
}

/// 1024 elements in 128 threads: eight of two bytes each, one access.
#[test]
fn what_needs_no_mask_moves_in_vectors_alone() {
    let wide = [("ld.global.v4.b32", 1), ("st.global.v4.b32", 1)];
    check("copy_unchecked_f16", &wide);
    check("copy_vector_f16", &wide);
    check(
        "rms_norm_f16",
        &[("ld.global.v4.b32", 3), ("st.global.v4.b32", 1)],
    );
}

/// Rows start anywhere: no two elements are known to be in one aligned word.
#[test]
fn what_may_be_unaligned_moves_element_by_element() {
    let narrow = [("ld.global.b16", 8), ("st.global.b16", 8)];
    check("copy_unaligned_f16", &narrow);
}

/// Nothing is known about the row's length: a vector where all of it is there, else one by one.
#[test]
fn what_a_bound_may_cut_moves_both_ways() {
    check(
        "copy_checked_f16",
        &[
            ("ld.global.b16", 8),
            ("ld.global.v4.b32", 1),
            ("st.global.b16", 8),
            ("st.global.v4.b32", 1),
        ],
    );
    check(
        "copy_checked_i8",
        &[
            ("ld.global.b8", 16),
            ("ld.global.v4.b32", 1),
            ("st.global.b8", 16),
            ("st.global.v4.b32", 1),
        ],
    );
}

/// Two elements on: still eight bytes aligned; three on: nothing, though the store is.
#[test]
fn a_run_that_starts_between_vectors_is_narrower() {
    check(
        "shifted_f32",
        &[
            ("ld.global.b32", 2),
            ("ld.global.v2.b32", 1),
            ("st.global.b32", 2),
            ("st.global.v2.b32", 1),
        ],
    );
    check(
        "shifted_odd_f32",
        &[
            ("ld.global.b32", 2),
            ("st.global.b32", 2),
            ("st.global.v2.b32", 1),
        ],
    );
}

/// The first dimension is the contiguous one: 16 registers of a thread are two vectors of it.
#[test]
fn the_contiguous_dimension_need_not_be_the_last() {
    check(
        "columns_f16",
        &[
            ("ld.global.b16", 16),
            ("ld.global.v4.b32", 2),
            ("st.global.b16", 16),
            ("st.global.v4.b32", 2),
        ],
    );
}
