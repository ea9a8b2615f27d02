//! `tilec view`: the page is well-formed, whole and the same each time, and related lines are related.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crate::html::Element;

const MATMUL: &str = "tests/corpus/bytecode/matmul/f16_128x128x64.tilebc";

/// The page that the command writes, run in the repository.
fn page(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_tilec"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .arg("view")
        .args(args)
        .output()
        .expect("tilec runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout).expect("text")
}

/// Lines of a panel whose text contains something, with what they come from.
fn lines<'a>(document: &'a Element, panel: &str, text: &str) -> Vec<&'a Element> {
    let panel = document.by_id(panel).expect("a panel");
    let lines = panel.named("li").into_iter();
    let found: Vec<_> = lines.filter(|li| li.text.contains(text)).collect();
    assert!(!found.is_empty(), "no line of the panel has {text}");
    found
}

#[test]
fn the_page_is_whole() {
    let text = page(&[MATMUL]);
    let document = Element::parse(&text);
    let ids: Vec<&str> = (document.all().iter())
        .filter_map(|e| e.attribute("id"))
        .collect();
    let different: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), different.len(), "an id is there twice");
    for id in [
        "code",
        "decisions",
        "rules",
        "layouts",
        "memory",
        "source",
        "tile",
        "tileaa",
        "tileas",
        "nvvm",
        "machine",
        "ptx",
    ] {
        assert!(different.contains(id), "no {id}");
    }
    // Nothing is loaded, and nothing could be.
    for element in document.all() {
        for name in ["src", "href", "srcset", "action"] {
            assert_eq!(element.attribute(name), None, "<{}>", element.name);
        }
        assert!(!element.attribute("style").unwrap_or("").contains("url("));
    }
    let policy = document.named("meta");
    let policy = policy.iter().find_map(|m| {
        m.attribute("content")
            .filter(|c| c.contains("default-src 'none'"))
    });
    assert!(policy.is_some());
}

/// `acc = ct.mma(x, y, acc)` is the one product, and `wgmma` its only instruction.
#[test]
fn lines_of_all_panels_have_a_common_origin() {
    let text = page(&[MATMUL]);
    let document = Element::parse(&text);
    let [source] = lines(&document, "source", "acc = ct.mma(x, y, acc)")[..] else {
        panic!("several lines");
    };
    let origin = source
        .attribute("data-line")
        .expect("a line that others come from");
    for (panel, text) in [
        ("tile", "mmaf"),
        ("tileaa", "mmaf"),
        ("tileas", "dot"),
        ("nvvm", "nvvm.wgmma"),
        ("ptx", "wgmma.mma_async"),
    ] {
        for line in lines(&document, panel, text) {
            assert_eq!(line.attribute("data-line"), Some(origin), "{}", line.text);
        }
    }
    // Lines of Tile IR and of PTX with one place down to the column.
    let exact = |panel: &str, text: &str| -> BTreeSet<String> {
        let lines = lines(&document, panel, text).into_iter();
        let keys = lines.filter_map(|l| l.attribute("data-exact"));
        keys.flat_map(str::split_whitespace)
            .filter(|k| k.starts_with('c'))
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(exact("tile", "mmaf"), exact("ptx", "wgmma.mma_async"));
}

/// The product's accumulator, drawn: the fragment of `wgmma` in PTX ISA's figure of matrix D.
#[test]
fn layouts_are_drawn_from_their_bases() {
    let text = page(&[MATMUL]);
    let document = Element::parse(&text);
    let figures: Vec<&Element> = document.named("figure");
    let maps: Vec<serde_json::Value> = figures
        .iter()
        .map(|f| serde_json::from_str(f.attribute("data-map").expect("a map")).expect("JSON"))
        .collect();
    let fragment = maps
        .iter()
        .find(|m| m["warp"].as_array().is_some_and(|w| w.len() == 3))
        .expect("a layout of 8 warps");
    // Lanes 0 and 1 hold columns 0 and 2 of one row, lane 4 the next row; register 2 is 8 rows below.
    assert_eq!(fragment["lane"][0], serde_json::json!([0, 2]));
    assert_eq!(fragment["lane"][2], serde_json::json!([1, 0]));
    assert_eq!(fragment["register"][0], serde_json::json!([0, 1]));
    assert_eq!(fragment["register"][1], serde_json::json!([8, 0]));
    // Operands in shared memory are f16: the page computes banks from that.
    assert!(
        maps.iter()
            .any(|m| m["bits"] == 16 && m["offset"].as_array().is_some_and(|o| !o.is_empty()))
    );
}

#[test]
fn decisions_and_rules_are_there() {
    let document = Element::parse(&page(&[MATMUL]));
    let section = |id: &str| document.by_id(id).expect("a section").whole_text();
    let decisions = section("decisions");
    assert!(decisions.contains("TMA pipeline"), "{decisions}");
    assert!(decisions.contains("8 consumer warps"), "{decisions}");
    assert!(section("rules").contains("divi-ceil-power-of-two"));
    assert!(section("memory").contains("ring of 4 stages"));
    // An older target gets less, and says why.
    let document = Element::parse(&page(&[MATMUL, "--gpu-name", "sm_80"]));
    let decisions = document.by_id("decisions").expect("a section").whole_text();
    assert!(decisions.contains("cp.async pipeline"), "{decisions}");
}

#[test]
fn the_same_module_gives_the_same_page() {
    assert_eq!(page(&[MATMUL]), page(&[MATMUL]));
}

#[test]
fn a_run_is_drawn() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("view");
    std::fs::create_dir_all(&folder).expect("a folder");
    let array = folder.join("x.npy");
    std::fs::write(&array, crate::run::npy(&vec![1.0; 1500])).expect("a file");
    let before = std::fs::read(&array).expect("the file");
    let argument = format!("inout:{}", array.display());
    let mut args = vec!["tests/corpus/bytecode/vadd/f32.tilebc", "--run", "2"];
    for _ in 0..3 {
        args.extend(["--arg", &argument, "--arg", "i32:1500", "--arg", "i32:1"]);
    }
    let text = page(&args);
    let document = Element::parse(&text);
    let timeline = document.by_id("timeline").expect("a timeline");
    assert!(!timeline.named("svg").is_empty());
    // The kernel has four warps, and none waits for another.
    let bars: Vec<String> = (timeline.named("title").iter().map(|t| t.text.clone())).collect();
    for warp in 0..4 {
        let start = format!("warp {warp} runs");
        assert!(bars.iter().any(|b| b.starts_with(&start)), "{bars:?}");
    }
    assert_eq!(
        std::fs::read(&array).expect("the file"),
        before,
        "written back"
    );
}

#[test]
fn what_is_missing_is_said() {
    let text = page(&[MATMUL, "--source-dir", "/nonexistent"]);
    let notes = Element::parse(&text)
        .by_id("notes")
        .expect("notes")
        .whole_text();
    assert!(
        notes.contains("the source tests/corpus/matmul.py cannot be read"),
        "{notes}"
    );
}
