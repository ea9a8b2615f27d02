//! What the table of targets says of a multiprocessor is what ptxas knows of it.

use std::process::Command;

use tilec::target::{Suffix, Target};

use crate::toolkit;

/// Threads of the blocks that are asked for: what a multiprocessor holds is a multiple of them.
const THREADS: u32 = 512;

/// What ptxas says to a kernel that asks for so many blocks on a multiprocessor.
fn asked(target: Target, blocks: u32) -> String {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join(format!("blocks_{blocks}_{target}.ptx"));
    let version = target.ptx_version();
    let text = format!(
        ".version {version}\n.target {target}\n.address_size 64\n\
         .visible .entry k() .maxntid {THREADS} .minnctapersm {blocks} {{ ret; }}\n"
    );
    std::fs::write(&file, text).expect("a file");
    let output = Command::new(toolkit::ptxas())
        .args(["-arch", &target.to_string(), "-o", "/dev/null"])
        .arg(&file)
        .output()
        .expect("ptxas runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{target}: {said}");
    said
}

#[test]
fn a_multiprocessor_holds_as_many_threads_as_ptxas_says() {
    for target in Target::all().filter(|t| t.suffix == Suffix::None) {
        let most = target.threads_per_sm() / THREADS;
        let [fits, does_not] = [most, most + 1].map(|blocks| asked(target, blocks));
        assert!(!fits.contains("out of range"), "{target}: {fits}");
        assert!(does_not.contains("out of range"), "{target}: {does_not}");
    }
}
