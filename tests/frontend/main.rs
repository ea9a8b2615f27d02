//! Bytecode, text and the verifier.

#[path = "../common/aliases.rs"]
mod aliases;
#[path = "../common/binary.rs"]
mod binary;
#[allow(dead_code)] // What only the fuzzers call.
#[path = "../../tools/fuzz/src/checks.rs"]
mod checks;
#[path = "../../tools/fuzz/src/mutate.rs"]
mod mutate;
#[path = "../common/ssa.rs"]
mod ssa;

mod bad_bytecode;
mod coverage;
mod fuzzed;
mod mutations;
mod notes;
mod roundtrip;
mod second_producer;
mod text;
mod verifier;
