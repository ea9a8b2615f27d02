//! What a suite prints.

use super::{Row, Verdict};
use std::collections::BTreeMap;
use std::time::Duration;

impl Verdict {
    /// One word, and what there is to say about it.
    fn words(&self) -> (&'static str, String) {
        match self {
            Verdict::Same => ("same", String::new()),
            Verdict::Legal(reasons) => ("legal", reasons.join("; ")),
            Verdict::Different(why) => ("DIFFERENT", why.clone()),
            Verdict::Failed(why) => ("FAILED", why.clone()),
            Verdict::Skipped(why) => ("skipped", why.clone()),
        }
    }
}

/// Prints a case as soon as it is done: a long run that is cut off has told what it knew.
pub fn progress(row: &Row) {
    let (word, detail) = row.verdict.words();
    let name = &row.name;
    println!(
        "{word:<9} {:>9.3} ms {:>9.1} ms  {name}{}{detail}",
        row.gpu_ms,
        row.simulator_ms,
        if detail.is_empty() { "" } else { ": " }
    );
}

/// Prints how many went how, which instructions gave other bits, and what must be looked into.
pub fn print(rows: &[Row], chosen: usize, time: Duration) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut legal: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows {
        *counts.entry(row.verdict.words().0).or_default() += 1;
        if let Verdict::Legal(reasons) = &row.verdict {
            for reason in reasons {
                *legal.entry(reason).or_default() += 1;
            }
        }
    }
    println!();
    for (reason, count) in &legal {
        println!("{count} legal differences may come from {reason}");
    }
    for row in rows.iter().filter(|r| r.verdict.is_bad()) {
        let (word, detail) = row.verdict.words();
        println!("{word} {}: {detail}", row.name);
    }
    if rows.len() < chosen {
        println!("time is up: {} cases were not run", chosen - rows.len());
    }
    let counts: Vec<String> = counts.iter().map(|(w, n)| format!("{n} {w}")).collect();
    println!("{} in {:.0} s", counts.join(", "), time.as_secs_f64());
}
