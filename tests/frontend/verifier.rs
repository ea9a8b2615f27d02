//! The verifier accepts what the real tools accept.

use crate::ssa;
#[test]
fn the_corpus_is_valid() {
    for path in ssa::bytecode_files() {
        let module = tilec::bytecode::read(&std::fs::read(&path).unwrap()).unwrap();
        if let Err(errors) = tilec::verify::verify(&module) {
            panic!("{}: {errors}", path.display());
        }
    }
}
