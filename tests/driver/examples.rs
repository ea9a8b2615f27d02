//! The programs of `examples/` in Rust run; they check their own results. Those in Python: `tools/python/tests/package.rs`.

#[path = "../../examples/embed.rs"]
mod embed;
#[path = "../../examples/rule_file.rs"]
mod rule_file;
#[path = "../../examples/simulate.rs"]
mod simulate;
#[path = "../../examples/verify.rs"]
mod verify;

type Outcome = Result<(), Box<dyn std::error::Error>>;

#[test]
fn embed_compiles_a_matmul_for_two_targets() -> Outcome {
    embed::main()
}

#[test]
fn rule_file_checks_rules_and_compiles_with_one() -> Outcome {
    rule_file::main()
}

#[test]
fn simulate_doubles_an_array() -> Outcome {
    simulate::main()
}

#[test]
fn verify_names_what_is_wrong() -> Outcome {
    verify::main()
}
