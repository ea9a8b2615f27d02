//! The page of `tilec view` in a headless browser: nothing complains, and what can be clicked, pointed at and pressed works.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::toolkit;

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("page")
        .join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Writes the page of a kernel.
fn write(module: &str, target: &str, more: &[&str], page: &Path) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilec"));
    command
        .current_dir(toolkit::repository_root())
        .arg("view")
        .arg(format!("tests/corpus/bytecode/{module}.tilebc"))
        .args(["--gpu-name", target, "-o"])
        .arg(page)
        .arg("--ptxas")
        .arg(toolkit::ptxas())
        .args(more);
    if !more.is_empty() {
        let array = page.with_extension("npy");
        std::fs::write(&array, zeros(1500)).expect("a file");
        for _ in 0..3 {
            let argument = format!("inout:{}", array.display());
            command.args(["--arg", &argument, "--arg", "i32:1500", "--arg", "i32:1"]);
        }
    }
    let output = command.output().expect("tilec runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
}

/// A file of numpy's with so many f32 zeros.
fn zeros(count: usize) -> Vec<u8> {
    let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({count},), }}");
    let length = (10 + header.len() + 1).next_multiple_of(64) - 10;
    header = format!("{header:<0$}\n", length - 1);
    let length = u16::try_from(length).expect("a short header");
    let start = [b"\x93NUMPY\x01\x00".as_slice(), &length.to_le_bytes()].concat();
    [start, header.into_bytes(), vec![0; 4 * count]].concat()
}

/// A test for each kind of kernel: its name, the module, the target, and what a run needs.
macro_rules! pages {
    ($($name:ident: $module:literal for $target:literal with $more:expr;)*) => {
        $(#[test]
        fn $name() {
            opens_and_what_is_on_it_works(stringify!($name), $module, $target, &$more);
        })*
    };
}

pages! {
    matmul_on_hopper: "matmul/f16_128x128x64" for "sm_90a" with [];
    matmul_on_blackwell: "matmul/f16_128x128x64" for "sm_100a" with [];
    attention: "production_attention/forward_f16_causal" for "sm_90a" with [];
    softmax: "softmax/f32_4x256" for "sm_80" with [];
    vadd_with_a_run: "vadd/f32" for "sm_120a" with ["--run", "2"];
}

fn opens_and_what_is_on_it_works(name: &str, module: &str, target: &str, more: &[&str]) {
    let folder = folder(name);
    let page = folder.join("page.html");
    write(module, target, more, &page);
    let mut browser = Browser::start(&toolkit::chromium(), &folder.join("browser"), [1600, 1000]);
    browser.open(&page);
    links_lead_somewhere(&mut browser);
    lines_light_each_other(&mut browser);
    keys_work(&mut browser);
    layouts_are_drawn(&mut browser);
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:#?}");
}

/// Each link brings its section to the top, below the header, or to where the page ends.
fn links_lead_somewhere(browser: &mut Browser) {
    let outside = browser.evaluate(
        "[...document.querySelectorAll('a')].map(a => a.getAttribute('href')).filter(h => !h.startsWith('#'))",
    );
    assert_eq!(outside, json!([]), "links out of the page");
    let count = browser.evaluate("document.querySelectorAll('a').length");
    let count = count.as_u64().expect("a number");
    assert!(count >= 5, "a link for each section: {count}");
    for i in 0..count {
        browser.evaluate(&format!("document.querySelectorAll('a')[{i}].click()"));
        let there = browser.settle(
            &format!(
                "(() => {{
                const link = document.querySelectorAll('a')[{i}];
                const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
                if (!target || '#' + target.id !== link.getAttribute('href')) return 'no target';
                const top = target.getBoundingClientRect().top;
                const end = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
                return (top >= 0 && top < 200) || end ? '' : 'not in view: ' + top;
            }})()"
            ),
            |there| *there == json!(""),
        );
        assert_eq!(there, json!(""), "link {i}");
    }
    browser.evaluate("scrollTo(0, 0)");
}

/// Where a line is on the screen.
fn place(browser: &mut Browser, line: &str) -> Option<(f64, f64)> {
    let at = browser.evaluate(&format!(
        "(() => {{ const li = {line}; if (!li) return null; li.scrollIntoView({{ block: 'center' }});
            const box = li.getBoundingClientRect(); return [box.left + 20, box.top + box.height / 2]; }})()"
    ));
    Some((at[0].as_f64()?, at[1].as_f64()?))
}

/// Pointing at a line of the Tile IR lights lines of other panels; a click keeps them, Escape lets go.
fn lines_light_each_other(browser: &mut Browser) {
    let line = "[...document.querySelectorAll('#tile li[data-line]')].find(
        li => [...document.querySelectorAll('#ptx li')].some(o => o.dataset.line === li.dataset.line))";
    let (x, y) = place(browser, line).expect("a line of Tile IR that PTX comes from");
    let lit = "[...new Set([...document.querySelectorAll('li.same, li.exact')].map(li => li.closest('.panel').id))]";
    browser.point(x, y, false);
    let wanted = ["tile", "ptx", "sass"];
    let panels = browser.settle(lit, |lit| wanted.iter().all(|panel| has(lit, panel)));
    for panel in wanted {
        assert!(has(&panels, panel), "{panel} is not lit, {panels} are");
    }
    browser.point(x, y, true);
    browser.point(5.0, 5.0, false);
    assert_eq!(browser.evaluate(lit), panels, "a click keeps what is lit");
    browser.press("Escape");
    let after = browser.settle(lit, |lit| *lit == json!([]));
    assert_eq!(after, json!([]), "Escape lets go");
}

fn has(list: &Value, name: &str) -> bool {
    list.as_array()
        .is_some_and(|list| list.contains(&json!(name)))
}

fn keys_work(browser: &mut Browser) {
    browser.press("j");
    let current = "document.querySelector('li.current')?.closest('.panel').id";
    let first = browser.evaluate(current);
    assert!(first.is_string(), "j chooses a line");
    browser.press("l");
    assert_ne!(browser.evaluate(current), first, "l goes to another panel");
    browser.press("h");
    assert_eq!(browser.evaluate(current), first, "h goes back");
    let hidden = "document.getElementById('ptx').hidden";
    let number = browser
        .evaluate("[...document.querySelectorAll('.panel')].findIndex(p => p.id === 'ptx') + 1");
    browser.press(&number.to_string());
    assert_eq!(
        browser.evaluate(hidden),
        json!(true),
        "a number hides a panel"
    );
    browser.press(&number.to_string());
    assert_eq!(browser.evaluate(hidden), json!(false));
    let paper = "getComputedStyle(document.body).backgroundColor";
    let before = browser.evaluate(paper);
    browser.press("t");
    assert_ne!(browser.evaluate(paper), before, "t changes light and dark");
    browser.press("t");
    assert_eq!(browser.evaluate(paper), before);
}

/// Every layout has a grid with colours, and pointing at it says where an element lives.
fn layouts_are_drawn(browser: &mut Browser) {
    let empty = browser.evaluate(
        "[...document.querySelectorAll('figure.layout canvas')].filter(canvas => {
            const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
            return !pixels.some((v, i) => i % 4 === 3 && v > 0);
        }).length",
    );
    assert_eq!(empty, json!(0), "grids without colours");
    let (x, y) =
        place(browser, "document.querySelector('figure.layout canvas')").expect("a layout");
    browser.point(x, y, false);
    let names_a_place = |said: &Value| {
        let said = said.as_str().unwrap_or_default();
        said.contains("warp") || said.contains("offset")
    };
    let output = "document.querySelector('figure.layout output').textContent";
    let said = browser.settle(output, names_a_place);
    assert!(names_a_place(&said), "{said:?}");
}

/// The test sees what it looks for.
#[test]
fn complaints_are_heard() {
    let folder = folder("complaints");
    let page = folder.join("page.html");
    let text = "<script>console.error('one'); setTimeout(() => { throw new Error('two'); }, 0);</script>\
                <img src='http://localhost:9/three.png'>";
    std::fs::write(&page, text).expect("a file");
    let mut browser = Browser::start(&toolkit::chromium(), &folder.join("browser"), [400, 300]);
    browser.open(&page);
    let all = browser.complaints().join("\n");
    for what in ["one", "two", "three.png"] {
        assert!(all.contains(what), "{all}");
    }
}
