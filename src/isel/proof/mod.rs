//! Do the instructions that a row of the selection tables names compute the operation that it is about? The operation and
//! the instructions that selection makes of it, packing and unpacking included, become a solver's terms: the operation as
//! rules are proven ([`crate::rules::prove`]), the instructions as the PTX ISA describes them ([`ptx`]).

mod bits;
mod cases;
mod fragments;
mod machine;
mod matmul;
mod ptx;
mod rules;
pub mod subjects;
mod units;

use std::collections::{BTreeMap, BTreeSet};

pub use self::cases::attributes;

use self::bits::Bits;
use self::cases::{Case, scalar};
use self::machine::Registers;
use self::ptx::Refusal;
use super::alone::{Alone, Selected};
use super::choose::{Chooser, Tables};
use super::values::{Elem, Form};
use crate::dialect::{AttrKind, OpKind};
use crate::facts::Leaf;
use crate::facts::semantics::{self, Attrs, Element, Outcome};
use crate::ir::{Attr, EnumAttr, Float, Module, TypeId};
use crate::machine::mir::VReg;
use crate::rules::prove::query::same;
use crate::rules::prove::solver::{Answer, Solver};
use crate::rules::prove::steps::{self, Value};
use crate::rules::prove::terms::Script;
use crate::rules::prove::{Class, HARD, PATIENCE, Verdict};
use crate::rules::{Rule, Wrong};
use crate::target::Target;

/// Numbers of elements that are looked at: alone, in pairs, in fours, and what is left over.
const ELEMENTS: [usize; 4] = [1, 2, 3, 4];
/// Rows are fewer than rules: the solver has so many times as many steps for them.
const LONGER: u64 = 10;
/// The targets whose choices are looked at: each has instructions that others lack.
const TARGETS: [&str; 6] = ["sm_75", "sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a"];

/// What is known of a rule that makes matrix instructions: each computes the matmul, on fragments as the layouts say.
/// Nothing where the rule makes none.
pub fn prove_matmul(rule: &Rule, tables: &Tables) -> Option<Result<Verdict, Wrong>> {
    let matmuls = rules::matmuls(rule);
    if matmuls.is_empty() {
        return None;
    }
    let mut elements = 0;
    for &matmul in &matmuls {
        match matmul::check(matmul, tables) {
            Ok((_, compared)) => elements += compared,
            Err(wrong) => return Some(Err(wrong)),
        }
    }
    Some(Ok(Verdict {
        class: Class::Proven,
        instances: matmuls.len(),
        proven: matmuls.len(),
        why: format!(
            "{elements} elements, each the sum of its products, in any order and precision"
        ),
    }))
}

/// A case for which a row is chosen.
struct Instance {
    case: Case,
    elements: usize,
    target: Target,
}

/// What the rows of the tables are chosen for.
pub struct Rows<'t> {
    tables: &'t Tables,
    instances: BTreeMap<usize, Vec<Instance>>,
}

impl<'t> Rows<'t> {
    pub fn new(tables: &'t Tables) -> Rows<'t> {
        let mut instances: BTreeMap<usize, Vec<Instance>> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for target in TARGETS.iter().filter_map(|name| name.parse().ok()) {
            let mut chooser = Chooser::new(tables, target);
            for case in cases::all(&mut chooser) {
                for elements in ELEMENTS {
                    let Some(row) = cases::row(&mut chooser, &case, elements) else {
                        continue;
                    };
                    if seen.insert((row, format!("{case:?} {elements}"))) {
                        instances.entry(row).or_default().push(Instance {
                            case: case.clone(),
                            elements,
                            target,
                        });
                    }
                }
            }
        }
        Rows { tables, instances }
    }

    /// Proves a row as far as that goes. The error says for which values it is wrong.
    pub fn prove(&self, row: usize, solver: &mut Solver) -> Result<Verdict, Wrong> {
        let Some(instances) = self.instances.get(&row) else {
            return Err("the row is chosen for nothing that was tried"
                .to_owned()
                .into());
        };
        let mut count = Count::default();
        for instance in instances {
            match self.one(instance, &mut count, solver)? {
                true => count.proven += 1,
                false => count.open += 1,
            }
        }
        Ok(count.verdict())
    }

    /// Whether an instance is proven.
    fn one(
        &self,
        instance: &Instance,
        count: &mut Count,
        solver: &mut Solver,
    ) -> Result<bool, Wrong> {
        let mut script = Script::default();
        let sides = match self.sides(instance, &mut script) {
            Ok(sides) => sides,
            Err(Problem::Refused(Refusal::Approximate)) => {
                count.approximate += 1;
                return Ok(false);
            }
            Err(Problem::Refused(Refusal::Unknown)) => {
                count.without_term += 1;
                return Ok(false);
            }
            Err(Problem::Other(why)) => return Err(format!("{}: {why}", instance.text()).into()),
        };
        count.named |= instance.is_named_only();
        let elements = sides.iter().filter(|side| side.before != side.after);
        for side in elements {
            if !self.agrees(instance, &script, side, count, solver)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the solver finds no operands for which an element differs. The error is a difference that the interpreter
    /// finds, too.
    fn agrees(
        &self,
        instance: &Instance,
        script: &Script,
        side: &Side,
        count: &mut Count,
        solver: &mut Solver,
    ) -> Result<bool, Wrong> {
        if script.hard > HARD * instance.elements || count.given_up >= PATIENCE {
            count.given_up += 1;
            return Ok(false);
        }
        let same = same(scalar(instance.case.result), &side.before, &side.after);
        let query = format!(
            "{}(assert {})\n(assert (not {same}))\n",
            script.text, side.defined
        );
        let mut unknowns = side.operands.clone();
        unknowns.push(side.after.clone());
        match solver.ask_longer(&query, &unknowns, LONGER)? {
            Answer::Unsatisfiable => Ok(true),
            Answer::Unknown => {
                count.given_up += 1;
                Ok(false)
            }
            Answer::Values(mut values) => {
                let got = values.pop().unwrap_or_default();
                instance.compare(&values, got)?;
                Ok(false)
            }
        }
    }

    /// Each element of the result, as the operation says and as the instructions leave it.
    fn sides(&self, instance: &Instance, script: &mut Script) -> Result<Vec<Side>, Problem> {
        let case = &instance.case;
        let mut module = Module::new("proof");
        let region = module.new_region();
        let types: Vec<TypeId> = case
            .operands
            .iter()
            .map(|&elem| instance.registers(&mut module, elem))
            .collect();
        let block = module.new_block(region, &types);
        let operands = module.block(block).args.clone();
        let result = instance.registers(&mut module, case.result);
        let attrs: Vec<Option<Attr>> = case
            .attrs
            .iter()
            .map(|&leaf| attribute(&mut module, leaf))
            .collect();
        let value = module
            .at_end(block)
            .value(case.op, &operands, attrs, result);
        let Some(op) = module.def_op(value) else {
            return Err(Problem::Other("no operation".into()));
        };
        let mut alone = Alone::new(&module, self.tables, instance.target);
        let selected = alone.select(op);
        let selected = selected.map_err(|why| Problem::Other(why.to_string()))?;

        let mut registers = Registers::default();
        let elements: Vec<Vec<String>> = selected
            .operands
            .iter()
            .zip(&case.operands)
            .enumerate()
            .map(|(i, ((_, held), &elem))| {
                instance.fill(script, &mut registers, i, elem, held.as_slice())
            })
            .collect();
        registers
            .run(script, &selected.func, &self.tables.insns)
            .map_err(Problem::Refused)?;
        let after = instance.result(script, &mut registers, &selected)?;
        after
            .into_iter()
            .enumerate()
            .map(|(i, after)| {
                let operands: Vec<String> =
                    elements.iter().filter_map(|e| e.get(i).cloned()).collect();
                instance.side(script, operands, after)
            })
            .collect()
    }
}

/// Why an instance has no sides.
enum Problem {
    Refused(Refusal),
    Other(String),
}

/// An element of the result.
struct Side {
    /// The operands' elements.
    operands: Vec<String>,
    before: String,
    defined: String,
    after: String,
}

impl Instance {
    fn registers(&self, module: &mut Module, elem: Elem) -> TypeId {
        let elem = match elem {
            Elem::Int(bits) => module.types.int(bits),
            Elem::Float(float) => module.types.float(float),
            Elem::Global => module.types.int(64),
            Elem::Shared => module.types.int(32),
        };
        module.types.regs(elem, self.elements as u32)
    }

    /// Puts unknowns into the registers of operand `i`, as values lie in registers; the elements' names.
    fn fill(
        &self,
        script: &mut Script,
        registers: &mut Registers,
        i: usize,
        elem: Elem,
        held: &[VReg],
    ) -> Vec<String> {
        let form = Form::new(elem, self.elements);
        let (bits, class) = (elem.bits(), form.class.bits());
        let mut names = Vec::new();
        for &register in held {
            let mut parts = Vec::new();
            for _ in 0..form.per {
                let name = format!("x{i}_{}", names.len());
                script.declare(&name, bits);
                if elem == Elem::Float(Float::TF32) {
                    // Every operation that makes one leaves its low bits zero.
                    script.assert_tf32(&name);
                }
                // What lies beside an element is anything.
                let room = class / form.per as u32 - bits;
                parts.push(Bits::new(name.clone(), bits));
                if room > 0 {
                    parts.push(Bits::new(registers.unknown(script, room), room));
                }
                names.push(name);
            }
            registers.set(register, Bits::join(parts));
        }
        names
    }

    /// The elements of the result.
    fn result(
        &self,
        script: &mut Script,
        registers: &mut Registers,
        selected: &Selected,
    ) -> Result<Vec<String>, Problem> {
        let form = Form::new(self.case.result, self.elements);
        let (bits, step) = (form.elem.bits(), form.class.bits() / form.per as u32);
        let mut elements = Vec::new();
        for &atom in selected.results.iter().flatten() {
            let word = registers.read(script, atom, form.class);
            let word = word.ok_or(Problem::Refused(Refusal::Unknown))?;
            for i in 0..form.per as u32 {
                elements.push(word.part(script, i * step, bits).term(script));
            }
        }
        match elements.len() == self.elements {
            true => Ok(elements),
            false => Err(Problem::Other("the result has other registers".into())),
        }
    }

    fn side(
        &self,
        script: &mut Script,
        operands: Vec<String>,
        after: String,
    ) -> Result<Side, Problem> {
        let types: Vec<_> = self.case.operands.iter().map(|&e| scalar(e)).collect();
        let values: Vec<Value> = operands
            .iter()
            .zip(&types)
            .map(|(name, ty)| Value {
                term: name.clone(),
                defined: "true".into(),
                width: ty.bits(),
            })
            .collect();
        let values: Vec<&Value> = values.iter().collect();
        let (kind, result) = (self.case.op.into(), scalar(self.case.result));
        let given = (values.as_slice(), types.as_slice());
        let value = steps::operation(script, kind, &self.case.attrs, given, result);
        let value = value.ok_or(Problem::Refused(Refusal::Unknown))?;
        Ok(Side {
            operands,
            before: value.term,
            defined: value.defined,
            after,
        })
    }

    /// What the interpreter makes of operands against what the instructions leave.
    fn compare(&self, values: &[u64], got: u64) -> Result<(), Wrong> {
        let args: Vec<Element> = values
            .iter()
            .zip(&self.case.operands)
            .map(|(&bits, &elem)| (bits, scalar(elem)))
            .collect();
        let leaf = |i: usize| self.case.attrs.get(i).copied().unwrap_or(Leaf::Absent);
        let result = scalar(self.case.result);
        let Outcome::Value(want) =
            semantics::eval(self.case.op.into(), Attrs(&leaf), &args, result)
        else {
            return Ok(());
        };
        let nan = |bits| matches!(self.case.result, Elem::Float(f) if f.is_nan(bits));
        if want == got || nan(want) && nan(got) {
            return Ok(());
        }
        let names = ["a", "b", "c"].iter().zip(values);
        Err(Wrong {
            message: format!(
                "{}: the instructions give {got:#x} where the operation gives {want:#x}, for {}",
                self.text(),
                names
                    .clone()
                    .map(|(name, bits)| format!("{name} = {bits:#x}"))
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
            operands: names
                .map(|(name, bits)| ((*name).to_owned(), *bits))
                .collect(),
        })
    }

    /// Whether nothing is known of the function but its name.
    fn is_named_only(&self) -> bool {
        use crate::dialect::nvvm::Op as N;
        let op = self.case.op;
        matches!(op, N::Rsqrt | N::Ex2 | N::Lg2 | N::Sin | N::Cos | N::Tanh)
    }

    fn text(&self) -> String {
        let Case {
            op,
            attrs,
            operands,
            result,
        } = &self.case;
        let def = OpKind::from(*op).def();
        let attrs = def.attrs.iter().zip(attrs).filter_map(|(def, leaf)| {
            Some(match (def.kind, leaf) {
                (AttrKind::Enum(names), Leaf::Enum(case)) => names.case(*case)?.to_owned(),
                (_, Leaf::Unit) => def.name.to_owned(),
                (_, Leaf::Int(value)) => format!("{value:#x}"),
                _ => return None,
            })
        });
        let attrs: Vec<String> = attrs.collect();
        let types: Vec<String> = operands.iter().map(Elem::to_string).collect();
        format!(
            "{} [{}] of {} x {} to {result} on {}",
            def.name,
            attrs.join(" "),
            self.elements,
            types.join(", "),
            self.target
        )
    }
}

/// The attribute of a leaf.
fn attribute(module: &mut Module, leaf: Leaf) -> Option<Attr> {
    match leaf {
        Leaf::Enum(case) => Some(Attr::Enum(EnumAttr(case))),
        Leaf::Unit => Some(Attr::Unit),
        Leaf::Int(value) => Some(Attr::Int {
            value,
            ty: module.types.int(32),
        }),
        _ => None,
    }
}

/// What was found of the instances of a row.
#[derive(Default)]
struct Count {
    proven: usize,
    open: usize,
    /// Queries that the solver did not answer.
    given_up: usize,
    approximate: usize,
    without_term: usize,
    /// There are functions of which only the name is known.
    named: bool,
}

impl Count {
    fn verdict(&self) -> Verdict {
        let class = match self.open {
            0 => Class::Proven,
            _ => Class::Sampled,
        };
        let why = match self {
            _ if self.given_up > 0 => "the solver gave up",
            _ if self.approximate > 0 => {
                "approximate division and roots: PTX bounds their error only"
            }
            _ if self.open > 0 => "an operation or format that the solver has no theory of",
            _ if self.named => "approximations of the same function",
            _ => "",
        };
        Verdict {
            class,
            instances: self.proven + self.open,
            proven: self.proven,
            why: why.to_owned(),
        }
    }
}
