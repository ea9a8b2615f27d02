//! Turns `functions.tsv` into the table of functions, and into exported functions for those that are not emulated.

use std::fmt::Write;
use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=functions.tsv");
    // Programs ask for this name, whatever the file is called; and its threads outlive a dlclose. Its table has its own
    // functions, also where another driver is loaded.
    println!(
        "cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1,-z,nodelete,-Bsymbolic-functions"
    );
    let rows = std::fs::read_to_string("functions.tsv").expect("functions.tsv can be read");
    let (mut table, mut stubs, mut slots) = (String::new(), String::new(), String::new());
    // Elsewhere the library is not put in front of a driver.
    let jumps = std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|a| a == "x86_64");
    for row in rows
        .lines()
        .filter(|r| !r.starts_with('#') && !r.is_empty())
    {
        let [symbol, name, since, place] = row.split('\t').collect::<Vec<_>>()[..] else {
            panic!("functions.tsv: `{row}` has not four columns");
        };
        let path = match place {
            "-" => {
                stub(&mut stubs, symbol, jumps);
                if jumps {
                    let _ = writeln!(
                        slots,
                        "    Stub {{ name: c{symbol:?}, slot: &stubs::{symbol}_slot }},"
                    );
                }
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
         /// The functions that are not emulated.\npub static STUBS: &[Stub] = &[\n{slots}];\n\n\
         #[allow(non_snake_case, non_upper_case_globals)]\nmod stubs {{\nuse crate::status::Status;\n\
         #[allow(unused_imports)]\nuse std::{{ffi::c_void, sync::atomic::AtomicPtr}};\n{stubs}}}\n"
    );
    let folder = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    std::fs::write(Path::new(&folder).join("functions.rs"), text)
        .expect("the table can be written");
}

/// A function that is not emulated. Where it can be, it is a jump, so that a real driver's function sees all arguments,
/// whatever they are.
fn stub(text: &mut String, symbol: &str, jumps: bool) {
    let says = format!("crate::call::unsupported({symbol:?})");
    let _ = match jumps {
        false => writeln!(
            text,
            "#[unsafe(no_mangle)]\npub extern \"C\" fn {symbol}() -> Status {{ {says} }}"
        ),
        true => writeln!(
            text,
            "extern \"C\" fn {symbol}_says() -> Status {{ {says} }}\n\
             pub static {symbol}_slot: AtomicPtr<c_void> = AtomicPtr::new({symbol}_says as *const () as *mut c_void);\n\
             #[unsafe(naked)]\n#[unsafe(no_mangle)]\npub extern \"C\" fn {symbol}() -> Status {{\n    \
             core::arch::naked_asm!(\"jmp qword ptr [rip + {{slot}}]\", slot = sym {symbol}_slot)\n}}"
        ),
    };
}
