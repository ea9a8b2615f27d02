//! The process that runs cases on the GPU. A kernel that faults takes its context with it and one that hangs never
//! returns; `--suite` starts another process then.
//!
//! Numbers of cases come on standard input, a line each. What a kernel prints goes to standard output as it is; then
//! come [`MARK`] and a [`Message`] as JSON on one line.

use super::{Message, Row, Verdict};
use crate::driver::{Driver, DriverError};
use crate::{Error, compare, device, promise};
use ptxsim::exec::env::Checks;
use ptxsim::suite::{self, Case};
use ptxsim::{Buffer, Module};
use std::ffi::{OsStr, c_int, c_void};
use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Instant;

/// Separates what a kernel printed from the message.
pub const MARK: u8 = 0x1e;

unsafe extern "C" {
    /// `stdio.h`: the driver prints through the C library's buffers.
    fn fflush(stream: *mut c_void) -> c_int;
}

fn say(message: &Message) -> Result<(), Error> {
    // SAFETY: a null stream means all of them.
    unsafe { fflush(std::ptr::null_mut()) };
    let mut out = std::io::stdout().lock();
    out.write_all(&[MARK])?;
    serde_json::to_writer(&mut out, message)?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}

/// Runs cases until there are no more, or the GPU's context is lost.
pub fn run(folder: &Path, driver: Option<&OsStr>) -> Result<(), Error> {
    let cases = suite::load(folder)?;
    let driver = match Driver::open(driver) {
        Ok(driver) => driver,
        Err(DriverError::Missing(why)) => return say(&Message::NoDriver(why)),
        Err(error) => return say(&Message::Broken(error.to_string())),
    };
    let architecture = driver.architecture()?;
    say(&Message::Hello(driver.describe()?))?;
    for line in std::io::stdin().lock().lines() {
        let index: usize = line?.trim().parse()?;
        let case = cases.get(index).ok_or("no such case")?;
        let (row, lost) = check(case, folder, &driver, architecture);
        say(&Message::Done(row))?;
        if lost {
            break;
        }
    }
    Ok(())
}

/// Runs a case on both; true if the GPU cannot be used any more.
fn check(case: &Case, folder: &Path, driver: &Driver, architecture: u32) -> (Row, bool) {
    let mut row = Row::default();
    let lost = match on_both(case, folder, driver, architecture, &mut row) {
        Ok(verdict) => {
            row.verdict = verdict;
            false
        }
        Err(error) => {
            row.verdict = Verdict::Failed(error.to_string());
            matches!(error.downcast_ref(), Some(DriverError::Call { .. }))
        }
    };
    (row, lost)
}

fn on_both(
    case: &Case,
    folder: &Path,
    driver: &Driver,
    architecture: u32,
    row: &mut Row,
) -> Result<Verdict, Error> {
    let ptx = case.text(folder)?;
    let program = Module::new(&*ptx)?.entry(Some(&case.entry))?;
    if let Some(needed) = lacks(program.target, architecture) {
        return Ok(Verdict::Skipped(needed));
    }
    if promise::needs_multicast(&ptx, &program) {
        let needed = "memory of a multicast object, which several GPUs share".to_owned();
        return Ok(Verdict::Skipped(needed));
    }
    let mut launch = case.launch(folder, &program)?;
    let before = launch.buffers.clone();
    let real = device::run(driver, &ptx, case.code(folder)?.as_deref(), &launch)?;
    row.gpu_ms = real.time.as_secs_f64() * 1e3;
    let named = |(buffer, bytes): (&Buffer, &Vec<u8>)| Buffer {
        name: buffer.name.clone(),
        bytes: bytes.clone(),
    };
    let after: Vec<Buffer> = before.iter().zip(&real.buffers).map(named).collect();
    let right = case.check_buffers(folder, &after);
    let start = Instant::now();
    launch.checks = Checks::NONE;
    launch.run().map_err(|e| format!("ptxsim: {e}"))?;
    row.simulator_ms = start.elapsed().as_secs_f64() * 1e3;
    let pairs = launch.buffers.iter().zip(&real.buffers).zip(&case.buffers);
    let differences: Vec<String> = pairs
        .filter(|(_, file)| !file.scratch)
        .filter_map(|((simulated, bytes), file)| compare::difference(Some(file), simulated, bytes))
        .collect();
    let mut open: Vec<String> = promise::open_results(&ptx, &program)
        .iter()
        .map(|o| format!("{} {}", o.opcode, o.reason))
        .collect();
    open.sort();
    open.dedup();
    Ok(match (right, differences.is_empty()) {
        (Ok(()), true) => Verdict::Same,
        (Ok(()), false) if !open.is_empty() => Verdict::Legal(open),
        (Ok(()), false) => {
            // A hazard would explain it.
            (launch.checks, launch.buffers) = (Checks::ALL, before);
            let hazard = launch.run().err();
            let hazard = hazard.map_or(String::new(), |e| format!("; ptxsim finds {e}"));
            Verdict::Different(differences.join("; ") + &hazard)
        }
        (Err(wrong), true) => Verdict::Different(format!(
            "the GPU is wrong, and the simulator with it: {wrong}"
        )),
        (Err(wrong), false) if open.is_empty() => {
            Verdict::Different(format!("the GPU is wrong: {wrong}"))
        }
        (Err(wrong), false) => Verdict::Different(format!(
            "the GPU is wrong, or the tolerance too tight for what PTX leaves open ({}): {wrong}",
            open.join("; ")
        )),
    })
}

/// What a target needs and the GPU is not: `sm_90a` runs on sm_90 alone, `sm_120f` on its family, others on what is newer.
fn lacks((number, suffix): (u32, Option<char>), architecture: u32) -> Option<String> {
    let fits = match suffix {
        Some('a') => number == architecture,
        Some('f') => number / 10 == architecture / 10 && number <= architecture,
        _ => number <= architecture,
    };
    let suffix = suffix.map_or(String::new(), String::from);
    (!fits).then(|| format!("needs sm_{number}{suffix}"))
}

#[cfg(test)]
mod tests {
    use super::lacks;

    #[test]
    fn targets_and_gpus() {
        for (target, gpu, fits) in [
            ((80, None), 90, true),
            ((90, Some('a')), 90, true),
            ((90, Some('a')), 120, false),
            ((120, Some('a')), 90, false),
            ((100, Some('f')), 103, true),
            ((100, Some('f')), 120, false),
            ((90, None), 80, false),
        ] {
            assert_eq!(lacks(target, gpu).is_none(), fits, "{target:?} on {gpu}");
        }
    }
}
