//! Programs that decisions make (`tools/randprog`): the simulator agrees with the interpreter.
#![no_main]

use libfuzzer_sys::fuzz_target;
use randprog::choices::Choices;
use randprog::generate;
use randprog::run::{Case, Finding, TARGETS, Way};

fuzz_target!(|data: &[u8]| {
    let program = generate::program(&mut Choices::bytes(data));
    let sum: usize = data.iter().map(|&b| usize::from(b)).sum();
    let way = Way {
        target: TARGETS[sum % TARGETS.len()],
        opt_level: if sum / TARGETS.len() % 4 == 0 { 0 } else { 3 },
        tma: true,
        seed: sum as u64 + 1,
    };
    let finding = Case::new(&program).map_or_else(Some, |case| case.check(&[way]));
    // What is refused is refused with a reason.
    if let Some(finding) = finding.filter(|f| !matches!(f, Finding::Refused(..))) {
        panic!("{}\n{program}", finding.text());
    }
});
