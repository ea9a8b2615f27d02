//! What is said of a cluster that cannot go on.

use super::cluster::Cluster;
use super::fault::{Fault, Trap};
use super::report::{describe, fault};

impl Cluster<'_> {
    /// The fault for a cluster that ran too long.
    pub fn give_up(&self, limit: u64) -> Fault {
        let culprit = self
            .warps
            .iter()
            .find(|w| w.live != 0)
            .unwrap_or(&self.warps[0]);
        let pc = culprit.fragments.first().map_or(0, |f| f.pc as usize);
        let line = self.env.shared.program.code.get(pc).map_or(0, |i| i.line);
        fault(
            &self.env,
            culprit,
            line,
            Trap::new(format!(
                "still running after {limit} warp instructions: a loop without end?"
            )),
        )
    }

    /// A report of who waits for what.
    pub fn deadlock(&self) -> Fault {
        let mut lines = Vec::new();
        let program = self.env.shared.program;
        for warp in &self.warps {
            for fragment in &warp.fragments {
                let line = program.code.get(fragment.pc as usize).map_or(0, |i| i.line);
                lines.push(format!(
                    "  block {:?} warp {} lanes {:#010x} at line {line} {}",
                    self.env.ctas[warp.cta].index,
                    warp.id,
                    fragment.mask,
                    describe(&self.env, warp, fragment)
                ));
            }
        }
        let shown = lines.len().min(40);
        let more = if lines.len() > shown {
            format!("\n  and {} more", lines.len() - shown)
        } else {
            String::new()
        };
        let culprit = self
            .warps
            .iter()
            .find(|w| !w.fragments.is_empty())
            .unwrap_or(&self.warps[0]);
        let line = culprit
            .fragments
            .first()
            .and_then(|f| program.code.get(f.pc as usize))
            .map_or(0, |i| i.line);
        let message = format!(
            "deadlock: nothing can run any more\n{}{more}",
            lines[..shown].join("\n")
        );
        fault(&self.env, culprit, line, Trap::new(message))
    }
}
