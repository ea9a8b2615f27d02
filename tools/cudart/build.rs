//! Turns `functions.tsv` into the exported functions that are not written by hand: those that only hand on to the
//! driver, and those that are not there. And gives the library the version that programs linked with NVIDIA's ask for.

use std::fmt::Write;
use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=functions.tsv");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcudart.so.13,-z,nodelete");
    let folder = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let rows = std::fs::read_to_string("functions.tsv").expect("functions.tsv can be read");
    let rows = rows
        .lines()
        .filter(|r| !r.starts_with('#') && !r.is_empty());
    let (mut text, mut names) = (String::new(), String::new());
    for row in rows {
        let (name, how) = row
            .split_once('\t')
            .unwrap_or_else(|| panic!("functions.tsv: `{row}`"));
        match how.split_once(' ') {
            None if how == "-" => {
                let _ = writeln!(
                    text,
                    "#[unsafe(no_mangle)]\npub extern \"C\" fn {name}() -> i32 {{ crate::call::unsupported({name:?}) }}"
                );
            }
            None => {}
            Some((driver, count)) => forward(&mut text, name, driver, count),
        }
        let _ = writeln!(names, "    {name:?},");
    }
    let _ = writeln!(
        text,
        "/// Every function of `functions.tsv`.\npub static NAMES: &[&str] = &[\n{names}];"
    );
    write(&folder, "functions.rs", &text);
    // lld, which Rust links with on this target, takes a second version script; GNU ld does not, and without one a
    // program that was linked with NVIDIA's library is told at its start that there is no version information.
    let target = std::env::var("TARGET").unwrap_or_default();
    if target == "x86_64-unknown-linux-gnu" {
        write(
            &folder,
            "versions.map",
            "libcudart.so.13 { global: cuda*; __cuda*; };\n",
        );
        println!("cargo::rustc-cdylib-link-arg=-Wl,--version-script={folder}/versions.map");
    }
}

fn write(folder: &str, name: &str, text: &str) {
    std::fs::write(Path::new(folder).join(name), text).expect("a file can be written");
}

/// A function that the driver has under another name, with the same arguments: integers and pointers all.
fn forward(text: &mut String, name: &str, driver: &str, count: &str) {
    let count: usize = count
        .parse()
        .unwrap_or_else(|_| panic!("functions.tsv: {name}: `{count}` arguments"));
    let args: Vec<String> = (0..count).map(|i| format!("a{i}: u64")).collect();
    let types = vec!["u64"; count].join(", ");
    let values: Vec<String> = (0..count).map(|i| format!("a{i}")).collect();
    let per_thread = name.ends_with("_ptsz") || name.ends_with("_ptds");
    let _ = writeln!(
        text,
        "#[unsafe(no_mangle)]\npub unsafe extern \"C\" fn {name}({args}) -> i32 {{\n    \
         static DRIVER: Function = Function::new(c{driver:?}, {per_thread});\n    \
         crate::call::answer(|| {{\n        crate::context::enter()?;\n        \
         // SAFETY: the driver's function has these arguments; the caller's promises are those that it asks for.\n        \
         crate::call::check(unsafe {{\n            let f: unsafe extern \"C\" fn({types}) -> i32 = std::mem::transmute(DRIVER.get()?);\n            \
         f({values})\n        }})\n    }})\n}}",
        args = args.join(", "),
        values = values.join(", "),
    );
}
