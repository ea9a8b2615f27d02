//! `assert`: who finds an element that does not hold prints it, by `vprintf`, and stops the grid.
//!
//! The line is that of tileiras: `FILE:LINE: tile block: [X, Y, Z], position: [I, J]: MESSAGE`, one for each
//! element; so is that a trap ends the grid, not `__assertfail`.

use super::Lower;
use super::atomics::redundant_threads;
use crate::dialect::cuda_tile::view;
use crate::dialect::enums::SpecialRegister as R;
use crate::dialect::nvvm::Op as N;
use crate::ir::{Attr, Diagnostic, Op, OpId, ValueId};

/// Time for other threads to print theirs before a trap ends all; the longest sleep that PTX has.
const NANOSECONDS: i64 = 1_000_000;

impl Lower<'_> {
    pub(super) fn assert(&mut self, op: OpId, v: &view::Assert<Op>) -> Result<(), Diagnostic> {
        let condition = self.get(op, v.condition())?;
        let message = self.m.str(v.message()).to_owned();
        let layout = self.layout(v.condition());
        let repeats = match &layout {
            Some(layout) => redundant_threads(layout),
            None => self.role.warps * 32 - 1,
        };
        let failures = self.failures(condition);
        let mut e = self.emit();
        let registers = e.count(condition);
        let mut any = e.take(failures, &[0]);
        for i in 1..registers {
            let next = e.take(failures, &[i]);
            any = e.binary(N::Or, any, next);
        }
        let owner = self.emit().threads_without(repeats);
        let stops = match owner {
            Some(owner) => self.emit().and(any, owner),
            None => any,
        };
        let mut text = self.place_of_assertion();
        self.when(stops, false, |l| {
            let block = [R::CtaidX, R::CtaidY, R::CtaidZ].map(|r| l.emit().sreg(r));
            let mut positions = Vec::new();
            if let Some(layout) = &layout {
                let all: Vec<u32> = (0..layout.registers() as u32).collect();
                for dim in 0..layout.shape().rank() {
                    let coords = l.coords(op, layout, dim)?;
                    positions.push(l.coord_array(&coords, &all));
                }
            }
            let holes = vec!["%d"; positions.len()].join(", ");
            let message = message.replace('%', "%%");
            text.push_str(&format!("position: [{holes}]: {message}\n"));
            for i in 0..registers {
                let report = |l: &mut Self| l.report(&text, &block, &positions, i);
                match registers {
                    1 => report(l)?,
                    _ => {
                        let failed = l.emit().take(failures, &[i]);
                        l.when(failed, false, report)?;
                    }
                }
            }
            let time = [l.emit().i32_attr(NANOSECONDS)];
            l.emit().op(N::Nanosleep, &[], time, &[]);
            l.emit().op(N::Trap, &[], [], &[]);
            Ok(())
        })
    }

    /// Which elements do not hold.
    fn failures(&mut self, condition: ValueId) -> ValueId {
        let mut e = self.emit();
        let i1 = e.int(1);
        let yes = e.constant(1, i1);
        let n = e.count(condition);
        let yes = e.widen(yes, n);
        e.xor(condition, yes)
    }

    /// The beginning of the line; a percent sign is doubled for `vprintf`.
    fn place_of_assertion(&self) -> String {
        let place = self.m.source_of(self.loc()).file_and_line();
        let place = place.replace('%', "%%");
        format!("{place}: tile block: [%d, %d, %d], ")
    }

    /// Prints that register `i` does not hold.
    fn report(
        &mut self,
        text: &str,
        block: &[ValueId; 3],
        positions: &[ValueId],
        i: u32,
    ) -> Result<(), Diagnostic> {
        let mut arguments = block.to_vec();
        for &position in positions {
            let mut e = self.emit();
            let one = if e.count(position) == 1 { 0 } else { i };
            arguments.push(e.take(position, &[one]));
        }
        let format = self.m.intern(text);
        let format = [Some(Attr::Str(format))];
        self.emit().op(N::Print, &[&arguments], format, &[]);
        Ok(())
    }
}
