//! Our text is `tileirdisasm`'s, modulo SSA names and white space; in the place of `tileirdisasm`, to the byte.

use crate::ssa;
use crate::toolkit;
use std::process::Command;

use rayon::prelude::*;

/// `tileirdisasm` 13.5 loses bit 63 of f64 attributes that the cuda-tile encoder wrote, so that it
/// shows −∞ as +∞ (see `Cursor::wide_signed_varint`).
fn same(theirs: &str, ours: &str) -> bool {
    theirs == ours || (theirs, ours) == ("0x7FF0000000000000", "0xFFF0000000000000")
}

#[test]
fn prints_as_tileirdisasm_does() {
    let tool = toolkit::tileirdisasm();
    ssa::bytecode_files().par_iter().for_each(|path| {
        let theirs = Command::new(&tool).arg(path).output().unwrap();
        let stderr = String::from_utf8_lossy(&theirs.stderr);
        assert!(theirs.status.success(), "{}: {stderr}", path.display());
        let module = tilec::bytecode::read(&std::fs::read(path).unwrap())
            .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let theirs = ssa::tokens(&String::from_utf8(theirs.stdout).unwrap());
        let ours = ssa::tokens(&tilec::asm::print_pretty(&module));
        let differ = theirs.iter().zip(&ours).position(|(t, o)| !same(t, o));
        let at = differ.unwrap_or(theirs.len().min(ours.len()));
        assert!(
            differ.is_none() && theirs.len() == ours.len(),
            "{}:\n theirs: {:?}\n ours:   {:?}",
            path.display(),
            &theirs[at.saturating_sub(20)..theirs.len().min(at + 20)],
            &ours[at.saturating_sub(20)..ours.len().min(at + 20)],
        );
    });
}

/// Names, blanks and all, and with `-g` locations and their aliases; but for the bit that `tileirdisasm` loses.
#[test]
fn the_disassembler_in_its_place_writes_the_same_bytes() {
    let tool = toolkit::tileirdisasm();
    ssa::bytecode_files().par_iter().for_each(|path| {
        for debug_info in [false, true] {
            let flags: &[&str] = if debug_info { &["-g"] } else { &[] };
            let theirs = Command::new(&tool).args(flags).arg(path).output().unwrap();
            let theirs = String::from_utf8(theirs.stdout).unwrap();
            let module = tilec::bytecode::read(&std::fs::read(path).unwrap()).unwrap();
            let ours = tilec::asm::print_disassembly(&module, debug_info);
            let ours = ours.replace("0xFFF0000000000000 : f64", "0x7FF0000000000000 : f64");
            let theirs = theirs.replace("0xFFF0000000000000 : f64", "0x7FF0000000000000 : f64");
            let differ = theirs.lines().zip(ours.lines()).find(|(t, o)| t != o);
            assert_eq!(differ, None, "{}", path.display());
            assert_eq!(theirs, ours, "{}", path.display());
        }
    });
}
