//! Machine code on the page of `tilec view`: its lines belong to those of the PTX and of the source.

use std::collections::BTreeSet;
use std::process::Command;

use crate::html::Element;
use crate::toolkit;

#[test]
fn machine_code_is_related_to_ptx_and_source() {
    let output = Command::new(env!("CARGO_BIN_EXE_tilec"))
        .current_dir(toolkit::repository_root())
        .args([
            "view",
            "tests/corpus/bytecode/matmul/f16_128x128x64.tilebc",
            "--ptxas",
        ])
        .arg(toolkit::ptxas())
        .output()
        .expect("tilec runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let document = Element::parse(&String::from_utf8_lossy(&output.stdout));
    let lines = |panel: &str, text: &str| -> Vec<&Element> {
        let panel = document.by_id(panel).expect("a panel");
        let lines = panel.named("li").into_iter();
        lines.filter(|li| li.text.contains(text)).collect()
    };
    let keys = |lines: &[&Element]| -> BTreeSet<String> {
        let keys = lines.iter().filter_map(|l| l.attribute("data-exact"));
        keys.flat_map(str::split_whitespace)
            .map(str::to_owned)
            .collect()
    };
    // The thread's number is read by one instruction each, and ptxas names its line.
    let read = keys(&lines("sass", "SR_TID.X"));
    let named = keys(&lines("ptx", "%tid.x"));
    assert!(
        !read.is_empty() && read.is_subset(&named),
        "{read:?} of {named:?}"
    );
    // HGMMA is what ptxas makes of wgmma.mma_async.
    let ptx = lines("ptx", "wgmma.mma_async");
    let machine = lines("sass", "HGMMA");
    assert!(!ptx.is_empty() && !machine.is_empty());
    for line in &machine {
        assert_eq!(
            line.attribute("data-line"),
            ptx[0].attribute("data-line"),
            "{}",
            line.text
        );
        // 64 registers of accumulator and more are alive there.
        let live: u32 = line
            .attribute("data-live")
            .expect("a count")
            .parse()
            .expect("a number");
        assert!((64..=255).contains(&live), "{live}");
    }
}
