//! Write a rewrite rule, have it checked, and compile with it.
//!
//!     cargo run --example rule_file

use std::error::Error;
use std::path::Path;

use tilec::compile::{Compiler, Options, Stage};
use tilec::rules::files::{self, Group};
use tilec::rules::soundness::{self, Effort};
use tilec::rules::{RuleSet, examples};

/// `x & (x | y) = x`.
const ABSORB: &str = r#"
(dialect cuda_tile)
(rule andi-absorbs "x & (x | y) = x"
  (andi ?x (ori ?x ?y)) => ?x
  (example (andi ?x:i32 (ori ?x ?y:i32)) => ?x:i32))
"#;

/// Wrong where the product overflows.
const UNSOUND: &str = r#"
(dialect cuda_tile)
(rule divi-muli "(x * y) / y = x"
  (divi unsigned _ (muli _ ?x ?y) ?y) => ?x
  (where (nonzero ?y)))
"#;

const KERNEL: &str = "
entry @k(%p: tile<ptr<i32>>, %x: tile<i32>, %y: tile<i32>) {
  %both = ori %x, %y : tile<i32>
  %same = andi %x, %both : tile<i32>
  %stored = store_ptr_tko weak %p, %same : tile<ptr<i32>>, tile<i32> -> token
  return
}";

pub fn main() -> Result<(), Box<dyn Error>> {
    // 1. A rule is parsed, its examples run, and both sides are compared by the interpreter's arithmetic.
    let set = RuleSet::parse(ABSORB, "absorb.rules")?;
    for rule in set.rules.iter() {
        let count = examples::run(&set, rule)?;
        let covered = soundness::check(rule, Effort::default())?;
        println!("{}: {count} example, {} trials", rule.name, covered.trials);
    }

    // 2. A rule that is not true is refused, with operands that show it.
    for rule in RuleSet::parse(UNSOUND, "unsound.rules")?.rules.iter() {
        match soundness::check(rule, Effort::default()) {
            Err(why) => println!("{}: {why}", rule.name),
            Ok(_) => return Err(format!("{} was accepted", rule.name).into()),
        }
    }

    // 3. A directory of rules replaces the ones that are compiled in: theirs, and one file more.
    let folder = std::env::temp_dir().join(format!("tilec-rules-{}", std::process::id()));
    write_rules(&folder)?;
    let options = Options {
        rules_dir: Some(folder.clone()),
        explain: true,
        ..Options::new("sm_90a".parse()?)
    };
    let compiler = Compiler::new(options);
    std::fs::remove_dir_all(&folder)?;
    let compiled = compiler?.lower_to(tilec::asm::parse(KERNEL)?, Stage::NvTileaa)?;
    let fired = compiled
        .reports
        .iter()
        .flat_map(|group| &group.functions)
        .flat_map(|(_, report)| &report.fired)
        .find(|fired| fired.rule == "andi-absorbs")
        .ok_or("andi-absorbs did not fire")?;
    println!("{}: applied {} time(s)", fired.rule, fired.times);
    println!("{}", compiled.text());
    Ok(())
}

/// All compiled-in rules as files in `folder`, and [`ABSORB`] beside those on `cuda_tile`.
fn write_rules(folder: &Path) -> std::io::Result<()> {
    for group in [Group::Tile, Group::TileAaToTileAs, Group::TileAsToNvvm] {
        for name in group.folders() {
            std::fs::create_dir_all(folder.join(name))?;
            for (file, text) in files::builtin(name) {
                std::fs::write(folder.join(file), text)?;
            }
        }
    }
    std::fs::write(folder.join("tile/absorb.rules"), ABSORB)
}
