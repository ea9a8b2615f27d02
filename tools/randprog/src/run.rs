//! Runs a program in the interpreter and, compiled, in the simulator, and compares what memory holds then.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ptxsim::Launch as SimLaunch;
use ptxsim::arguments::Arguments;
use ptxsim::manifest::Manifest;
use tilec::compile::{OptLevel, Options, to_ptx};
use tilec::eval::{Argument, Elem as EvalElem, Hooks, Launch, Memory, Program as Evaluated};
use tilec::ir::Module;
use tilec::{asm, verify};

use crate::known::{Key, Known, key};
use crate::program::{Param, Program};
use crate::types::Elem;

/// How a program is compiled and run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Way {
    pub target: &'static str,
    pub opt_level: u8,
    pub tma: bool,
    /// Interleaving of warps and completion of asynchronous work.
    pub seed: u64,
}

/// One of each kind of target that differs in what it compiles to.
pub const TARGETS: [&str; 6] = ["sm_75", "sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a"];

/// What else decides the code: the level, and whether TMA is used. Every program is compiled so on every target.
const SETTINGS: [(u8, bool); 2] = [(3, true), (0, true)];

/// Settings that matter only on targets with TMA, where they leave some of it out: the code that they make is made of
/// the parts of other targets' code.
const WITHOUT: [(u8, bool); 2] = [(2, true), (3, false)];

/// On how many targets what is in [`WITHOUT`] is tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// On all that have TMA.
    All,
    /// On one of them, which the program's number picks.
    One,
}

/// The ways of a program, with interleavings that depend on its number: half as many where it is not compiled as usual,
/// since most of that code has less that may overlap.
pub fn ways(targets: &[&'static str], interleavings: u64, number: u64, extent: Extent) -> Vec<Way> {
    let has_tma = |t: &&&str| matches!(**t, "sm_90a" | "sm_100a" | "sm_120a");
    let with_tma: Vec<_> = targets.iter().filter(has_tma).collect();
    let mut all = Vec::new();
    for &target in targets {
        let place = with_tma.iter().position(|&&t| t == target);
        let mut settings = SETTINGS.to_vec();
        for (turn, without) in (number..).zip(WITHOUT) {
            let its_turn = |at| (at as u64) == turn % with_tma.len() as u64;
            if place.is_some_and(|at| extent == Extent::All || its_turn(at)) {
                settings.push(without);
            }
        }
        for (opt_level, tma) in settings {
            let most = if (opt_level, tma) == SETTINGS[0] {
                interleavings
            } else {
                interleavings.div_ceil(2)
            };
            all.extend((0..most).map(|i| Way {
                target,
                opt_level,
                tma,
                seed: 1 + number * interleavings + i,
            }));
        }
    }
    all
}

/// What went wrong.
#[derive(Clone, PartialEq, Debug)]
pub enum Finding {
    /// The generator made what is no valid program, or what is undefined.
    Invalid(String),
    /// The compiler refuses it, with a diagnostic.
    Refused(Way, String),
    /// The compiler or the simulator panics.
    Panic(Way, String),
    /// The simulator reports a fault or a hazard, or cannot read the PTX.
    Fault(Way, String),
    /// Memory differs from the interpreter's.
    Wrong(Way, String),
}

impl Finding {
    /// Two findings that shrinking takes for the same.
    pub fn like(&self, other: &Self) -> bool {
        let head = |text: &str| {
            text.chars()
                .filter(|c| !c.is_ascii_digit())
                .take(24)
                .collect::<String>()
        };
        match (self, other) {
            (Self::Invalid(a), Self::Invalid(b))
            | (Self::Refused(_, a), Self::Refused(_, b))
            | (Self::Panic(_, a), Self::Panic(_, b))
            | (Self::Fault(_, a), Self::Fault(_, b)) => head(a) == head(b),
            (Self::Wrong(..), Self::Wrong(..)) => true,
            _ => false,
        }
    }

    pub fn text(&self) -> String {
        match self {
            Self::Invalid(text) => format!("invalid: {text}"),
            Self::Refused(w, text) => format!("refused ({w:?}): {text}"),
            Self::Panic(w, text) => format!("panic ({w:?}): {text}"),
            Self::Fault(w, text) => format!("fault ({w:?}): {text}"),
            Self::Wrong(w, text) => format!("wrong ({w:?}): {text}"),
        }
    }
}

/// A program with its right answer.
pub struct Case<'p> {
    program: &'p Program,
    /// What each parameter that is a buffer holds at the start; nothing for others.
    before: Vec<Vec<u8>>,
    /// What each buffer holds at the end, in the order of parameters.
    expected: Vec<Vec<u8>>,
    /// All of the above.
    key: Key,
    known: Option<&'p Known>,
}

/// Steps of the interpreter per block.
const STEPS: u64 = 200_000;
/// Warp instructions of a cluster; what takes more hangs.
const SIM_STEPS: u64 = 1 << 26;

impl<'p> Case<'p> {
    pub fn new(program: &'p Program) -> Result<Self, Finding> {
        let invalid = |e: &dyn std::fmt::Display| Finding::Invalid(e.to_string());
        let module = asm::parse(&program.text).map_err(|e| invalid(&e))?;
        verify::verify(&module).map_err(|e| invalid(&e))?;
        let before: Vec<_> = program.params.iter().map(Param::bytes).collect();
        let expected = evaluate(program, &before, &module).map_err(|e| invalid(&e))?;
        Ok(Self {
            program,
            key: key((program.to_string(), &before, &expected)),
            before,
            expected,
            known: None,
        })
    }

    /// Leaves out what ran before and agreed, and notes there what does now.
    pub fn with_known(self, known: Option<&'p Known>) -> Self {
        Self { known, ..self }
    }

    /// Runs it in one way after another; those that differ in the seed alone stand together. What compiles to the same
    /// code as an earlier way, and has its seed, would run as that did.
    pub fn check(&self, ways: &[Way]) -> Option<Finding> {
        let mut done = HashSet::new();
        ways.chunk_by(|a, b| (a.target, a.opt_level, a.tma) == (b.target, b.opt_level, b.tma))
            .find_map(|group| self.check_group(group, &mut done))
    }

    fn check_group(&self, ways: &[Way], done: &mut HashSet<Key>) -> Option<Finding> {
        let mut at = ways[0];
        let run = AssertUnwindSafe(|| self.compile_and_run(ways, &mut at, done));
        match catch_unwind(run) {
            Ok(result) => result.err(),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
                Some(Finding::Panic(at, text.unwrap_or_default()))
            }
        }
    }

    fn compile_and_run(
        &self,
        ways: &[Way],
        at: &mut Way,
        done: &mut HashSet<Key>,
    ) -> Result<(), Finding> {
        let first = ways[0];
        let target = first
            .target
            .parse()
            .map_err(|_| Finding::Invalid(format!("no target {}", first.target)))?;
        let options = Options {
            opt_level: OptLevel::from_number(first.opt_level).unwrap_or_default(),
            tma: first.tma,
            verify: true,
            ..Options::new(target)
        };
        // A module is consumed; another comes of the text.
        let module = asm::parse(&self.program.text).map_err(|e| Finding::Invalid(e.to_string()))?;
        let kernel =
            to_ptx(module, &options).map_err(|e| Finding::Refused(first, e.to_string()))?;
        let fault = |way: Way, e: &dyn std::fmt::Display| Finding::Fault(way, e.to_string());
        let manifest = kernel.manifest.to_json().map_err(|e| fault(first, &e))?;
        let code = key((self.key, what_runs(&kernel.ptx), &manifest));
        let new: Vec<(Key, Way)> = ways
            .iter()
            .map(|&way| (key((code, way.seed)), way))
            .filter(|&(run, _)| done.insert(run) && !self.known.is_some_and(|k| k.contains(run)))
            .collect();
        if new.is_empty() {
            return Ok(());
        }
        let manifest = Manifest::parse(&manifest).map_err(|e| fault(first, &e))?;
        let ptx = ptxsim::Module::new(kernel.ptx).map_err(|e| fault(first, &e))?;
        let entry = &manifest.entries[0];
        let program = ptx.entry(Some(&entry.name)).map_err(|e| fault(first, &e))?;
        for (run, way) in new {
            *at = way;
            let mut arguments = self.arguments();
            arguments
                .add_tensor_maps(entry)
                .map_err(|e| fault(way, &e))?;
            let mut launch = SimLaunch::new(&program);
            launch.grid = self.program.grid;
            launch.block = entry.block;
            launch.cluster = entry.cluster;
            launch.dynamic_shared = entry.shared_bytes;
            launch.seed = way.seed;
            launch.max_steps = SIM_STEPS;
            launch.args = arguments.args;
            launch.buffers = arguments.buffers;
            launch.run().map_err(|e| fault(way, &e))?;
            let after: Vec<&[u8]> = launch.buffers.iter().map(|b| b.bytes.as_slice()).collect();
            self.compare(&after).map_err(|e| Finding::Wrong(way, e))?;
            if let Some(known) = self.known {
                known.add(run);
            }
        }
        Ok(())
    }

    fn arguments(&self) -> Arguments {
        let mut arguments = Arguments::default();
        for (i, (param, before)) in self.program.params.iter().zip(&self.before).enumerate() {
            arguments.args.push(match param {
                Param::Scalar { elem, bits } => {
                    let bytes = (elem.bits() / 8) as usize;
                    ptxsim::Arg::Scalar(bits.to_le_bytes()[..bytes].to_vec())
                }
                Param::Buffer { .. } => {
                    arguments.buffers.push(ptxsim::Buffer {
                        name: format!("%a{i}"),
                        bytes: before.clone(),
                    });
                    ptxsim::Arg::buffer(arguments.buffers.len() - 1)
                }
            });
        }
        arguments
    }

    /// Holds buffers against the interpreter's.
    fn compare(&self, after: &[&[u8]]) -> Result<(), String> {
        let buffers = self
            .program
            .params
            .iter()
            .enumerate()
            .filter_map(|(i, p)| match p {
                &Param::Buffer { elem, within, .. } => Some((i, elem, within)),
                Param::Scalar { .. } => None,
            });
        for ((i, elem, within), (want, got)) in buffers.zip(self.expected.iter().zip(after)) {
            let width = (elem.bits() / 8) as usize;
            for (at, (want, got)) in want.chunks(width).zip(got.chunks(width)).enumerate() {
                if want != got && !agree(elem, within, number(want), number(got)) {
                    let (w, g) = (number(want), number(got));
                    let text = if elem.is_float() {
                        format!(
                            "{:e} ({g:#x}) for {:e} ({w:#x})",
                            elem.decode(g),
                            elem.decode(w)
                        )
                    } else {
                        format!("{g:#x} for {w:#x}")
                    };
                    return Err(format!("%a{i}[{at}] is {text}, within {within:e}"));
                }
            }
        }
        Ok(())
    }
}

/// PTX without the lines that name the target, of which the simulator wants to know for eight-bit floats alone: sm_89
/// sums fewer bits of their products.
fn what_runs(ptx: &str) -> String {
    if [".e4m3", ".e5m2"].iter().any(|elem| ptx.contains(elem)) {
        return ptx.to_owned();
    }
    let names_target = |line: &&str| line.starts_with(".version") || line.starts_with(".target");
    ptx.lines()
        .filter(|line| !names_target(line))
        .flat_map(|line| [line, "\n"])
        .collect()
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b))
}

fn agree(elem: Elem, within: f64, want: u64, got: u64) -> bool {
    if !elem.is_float() {
        return false;
    }
    let (w, g) = (elem.decode(want), elem.decode(got));
    // Which pattern a result that is no number has is nowhere said.
    (w.is_nan() && g.is_nan()) || (within > 0.0 && (w - g).abs() <= within)
}

fn evaluate(
    program: &Program,
    before: &[Vec<u8>],
    module: &Module,
) -> Result<Vec<Vec<u8>>, String> {
    let mut memory = Memory::with_room(64 << 20);
    let mut addresses = Vec::new();
    let mut arguments = Vec::new();
    for (i, (param, before)) in program.params.iter().zip(before).enumerate() {
        arguments.push(match param {
            &Param::Scalar {
                elem: Elem::I(n),
                bits,
            } => Argument::Scalar {
                elem: EvalElem::Int(n),
                bits,
            },
            Param::Scalar { elem, .. } => return Err(format!("a scalar of {}", elem.name())),
            Param::Buffer { .. } => {
                let address = memory.add(format!("%a{i}"), before)?;
                addresses.push(address);
                Argument::Pointer(address)
            }
        });
    }
    let launch = Launch {
        grid: program.grid,
        arguments,
    };
    let run = Evaluated::new(module, None, &mut memory).map_err(|e| e.to_string())?;
    let hooks = Hooks {
        output: &mut std::io::sink(),
        progress: &|_| (),
        steps: STEPS,
    };
    if let Some(failed) = run
        .run(&launch, &memory, hooks)
        .map_err(|e| e.to_string())?
    {
        return Err(failed.to_string());
    }
    let bytes = |&a: &u64| memory.bytes(a).ok_or_else(|| "a buffer is gone".to_owned());
    addresses.iter().map(bytes).collect()
}
