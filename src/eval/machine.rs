//! One tile block running.

use std::sync::atomic::Ordering;

use smallvec::SmallVec;

use super::code::{Code, Ending, Step, What};
use super::context::{Context, Fault};
use super::value::{Args, Value, Values};
use crate::scalar::int::{self, Signedness};
use crate::scalar::lanes::{Lanes, Word, with_lanes};

/// How a region was left, with the values its terminator carries.
enum Flow {
    /// Past its last operation.
    Fell,
    Ended(Ending, Values),
}

pub struct Machine<'a> {
    pub context: Context<'a>,
    values: Vec<Value>,
    /// Elements at a time while a region written for single elements runs on many.
    lanes: Option<usize>,
    steps: u64,
}

impl<'a> Machine<'a> {
    pub fn new(context: Context<'a>, slots: usize) -> Self {
        Self {
            context,
            values: vec![Value::Token; slots],
            lanes: None,
            steps: 0,
        }
    }

    /// Runs a region to its end with the given arguments; the values that its terminator carries.
    pub fn call(&mut self, code: &Code, arguments: Values) -> Result<Values, Fault> {
        Ok(match self.enter(code, arguments)? {
            Flow::Fell => Values::new(),
            Flow::Ended(_, values) => values,
        })
    }

    /// [`Machine::call`] on `lanes` elements at once.
    pub fn call_lanes(
        &mut self,
        code: &Code,
        lanes: usize,
        arguments: Values,
    ) -> Result<Values, Fault> {
        let outer = self.lanes.replace(lanes);
        let result = self.call(code, arguments);
        self.lanes = outer;
        result
    }

    fn enter(&mut self, code: &Code, arguments: Values) -> Result<Flow, Fault> {
        for (&slot, value) in code.arguments.iter().zip(arguments) {
            self.set(slot, value);
        }
        let live = self.context.allocations.borrow().len();
        let result = self.run(&code.steps);
        for address in self.context.allocations.borrow_mut().drain(live..) {
            self.context.memory.release(address);
        }
        result
    }

    fn set(&mut self, slot: u32, value: Value) {
        if let Some(place) = self.values.get_mut(slot as usize) {
            *place = value;
        }
    }

    fn get(&self, slot: u32) -> Value {
        self.values
            .get(slot as usize)
            .cloned()
            .unwrap_or(Value::Token)
    }

    fn run(&mut self, steps: &[Step]) -> Result<Flow, Fault> {
        for step in steps {
            self.count(step)?;
            let inputs: SmallVec<[Value; 4]> = step.inputs.iter().map(|&s| self.get(s)).collect();
            let results = match &step.what {
                What::Do(action) => {
                    action(&self.context, &Args(&inputs)).map_err(|message| Fault {
                        op: step.op,
                        message,
                    })?
                }
                What::End(ending) => {
                    return Ok(Flow::Ended(*ending, inputs.into_iter().collect()));
                }
                What::Fold(fold) => fold.run(self, step.op, &Args(&inputs))?,
                What::If { then, otherwise } => {
                    match self.branch(step, then, otherwise.as_ref(), &Args(&inputs))? {
                        Flow::Fell => Values::new(),
                        Flow::Ended(Ending::Yield, values) => values,
                        left => return Ok(left),
                    }
                }
                What::For { .. } | What::Loop(_) => match self.repeat(step, &Args(&inputs))? {
                    Flow::Ended(Ending::Return, values) => {
                        return Ok(Flow::Ended(Ending::Return, values));
                    }
                    Flow::Ended(_, values) => values,
                    Flow::Fell => Values::new(),
                },
            };
            self.finish(step, results)?;
        }
        Ok(Flow::Fell)
    }

    /// Counts a step and stops a block that need not go on.
    fn count(&mut self, step: &Step) -> Result<(), Fault> {
        self.steps += 1;
        let message = if self.steps > self.context.steps {
            format!("more than {} operations ran", self.context.steps)
        } else if self.context.failed.load(Ordering::Relaxed) < self.context.index {
            "stopped because an earlier block failed".into()
        } else {
            return Ok(());
        };
        Err(Fault {
            op: step.op,
            message,
        })
    }

    /// Stores results, after checking that tiles have the elements that their types say.
    fn finish(&mut self, step: &Step, results: Values) -> Result<(), Fault> {
        let fault = |message: String| Fault {
            op: step.op,
            message,
        };
        if results.len() < step.outputs.len() {
            return Err(fault(format!(
                "yields {} values, not {}",
                results.len(),
                step.outputs.len()
            )));
        }
        for ((&slot, tile), value) in step.outputs.iter().zip(&step.tiles).zip(results) {
            if let Some((bits, count)) = *tile {
                let count = self.lanes.unwrap_or(count);
                if !matches!(&value, Value::Tile(lanes) if fits(lanes, bits, count)) {
                    return Err(fault(format!(
                        "does not yield the {count} elements of {bits} bits of its type"
                    )));
                }
            }
            self.set(slot, value);
        }
        Ok(())
    }

    fn branch(
        &mut self,
        step: &Step,
        then: &Code,
        otherwise: Option<&Code>,
        args: &Args,
    ) -> Result<Flow, Fault> {
        let condition = args.scalar(0).map_err(|message| Fault {
            op: step.op,
            message,
        })?;
        if condition != 0 {
            self.enter(then, Values::new())
        } else if let Some(otherwise) = otherwise {
            self.enter(otherwise, Values::new())
        } else {
            Ok(Flow::Fell)
        }
    }

    fn repeat(&mut self, step: &Step, args: &Args) -> Result<Flow, Fault> {
        match &step.what {
            What::For {
                width,
                unsigned,
                body,
            } => self.count_up(step, *width, *unsigned, body, args),
            What::Loop(body) => {
                let mut carried: Values = args.0.iter().cloned().collect();
                loop {
                    self.count(step)?;
                    match self.enter(body, carried)? {
                        Flow::Ended(Ending::Continue | Ending::Yield, values) => carried = values,
                        Flow::Fell => carried = Values::new(),
                        ended => return Ok(ended),
                    }
                }
            }
            _ => Ok(Flow::Fell),
        }
    }

    fn count_up(
        &mut self,
        step: &Step,
        width: u32,
        unsigned: bool,
        body: &Code,
        args: &Args,
    ) -> Result<Flow, Fault> {
        let fault = |message: String| Fault {
            op: step.op,
            message,
        };
        let sign = if unsigned {
            Signedness::Unsigned
        } else {
            Signedness::Signed
        };
        let bound = |i: usize| Ok(int::value(width, sign, args.scalar(i).map_err(fault)?));
        let (mut at, end, by) = (bound(0)?, bound(1)?, bound(2)?);
        if by <= 0 {
            return Err(fault(format!("the step is {by}; it must be positive")));
        }
        let mut carried: Values = args.0.iter().skip(3).cloned().collect();
        while at < end {
            self.count(step)?;
            let induction = Value::splat(width, at as u64 & int::mask(width));
            let arguments = std::iter::once(induction).chain(carried).collect();
            match self.enter(body, arguments)? {
                Flow::Ended(Ending::Continue | Ending::Yield, values) => carried = values,
                Flow::Fell => carried = Values::new(),
                left => return Ok(left),
            }
            at += by;
        }
        Ok(Flow::Ended(Ending::Yield, carried))
    }
}

fn fits(lanes: &Lanes, bits: u32, count: usize) -> bool {
    let width = with_lanes!(lanes, v => word_bits(v));
    let len = lanes.len();
    width == bits.max(8) && (len == 1 || len == count)
}

fn word_bits<W: Word>(_: &[W]) -> u32 {
    W::BITS
}
