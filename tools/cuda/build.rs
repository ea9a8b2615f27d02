//! Turns `functions.tsv` into the table of functions, and into exported functions for those that are not emulated.

use std::fmt::Write;
use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=functions.tsv");
    // Programs ask for this name, whatever the file is called; and its threads outlive a dlclose.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1,-z,nodelete");
    let rows = std::fs::read_to_string("functions.tsv").expect("functions.tsv can be read");
    let (mut table, mut stubs) = (String::new(), String::new());
    for row in rows
        .lines()
        .filter(|r| !r.starts_with('#') && !r.is_empty())
    {
        let [symbol, name, since, place] = row.split('\t').collect::<Vec<_>>()[..] else {
            panic!("functions.tsv: `{row}` has not four columns");
        };
        let path = match place {
            "-" => {
                let _ = writeln!(
                    stubs,
                    "#[unsafe(no_mangle)]\npub extern \"C\" fn {symbol}() -> Status {{ crate::call::unsupported({symbol:?}) }}"
                );
                format!("stubs::{symbol}")
            }
            file => format!("crate::api::{file}::{symbol}"),
        };
        let _ = writeln!(
            table,
            "    Row {{ symbol: {symbol:?}, name: {name:?}, since: {since}, emulated: {}, address: Address({path} as *const ()) }},",
            place != "-"
        );
    }
    let text = format!(
        "/// Every function of `functions.tsv`.\npub static TABLE: &[Row] = &[\n{table}];\n\n\
         #[allow(non_snake_case)]\nmod stubs {{\nuse crate::status::Status;\n{stubs}}}\n"
    );
    let folder = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    std::fs::write(Path::new(&folder).join("functions.rs"), text)
        .expect("the table can be written");
}
