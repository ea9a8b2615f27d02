//! Choosing instructions for an operation: of all rows of the selection tables that fit its
//! operands, the one whose instructions exist on the target and cost least.

use std::hash::Hash;
use std::path::Path;
use std::sync::{Arc, RwLock};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::builtin;
use super::pattern::{Candidate, Case};
use super::table::Patterns;
use super::table::row::{Expr, Shape};
use super::values::Form;
use crate::dialect::OpKind;
use crate::facts::Leaf;
use crate::ir::Diagnostic;
use crate::machine::table::Table;
use crate::rules::files;
use crate::target::Target;

/// What was chosen for an operation of a target; `None` where nothing fits.
type Choices = FxHashMap<(Target, Key), Option<Arc<Choice>>>;

/// What instruction selection knows: instructions, and which operations they compute.
#[derive(Debug)]
pub struct Tables {
    pub insns: Table,
    pub patterns: Patterns,
    memory: Memory,
}

/// What was chosen before, for any module: the same few operations are in all of them.
#[derive(Debug, Default)]
struct Memory {
    choices: RwLock<Choices>,
    covered: RwLock<FxHashMap<OpKind, bool>>,
}

/// What `map` has for `key`, made where it has nothing yet.
fn remembered<K: Eq + Hash, V: Clone>(
    map: &RwLock<FxHashMap<K, V>>,
    key: K,
    make: impl FnOnce(&K) -> V,
) -> V {
    let known = map.read().ok().and_then(|map| map.get(&key).cloned());
    known.unwrap_or_else(|| {
        let value = make(&key);
        if let Ok(mut map) = map.write() {
            map.insert(key, value.clone());
        }
        value
    })
}

impl Tables {
    /// The tables of `dir` (a replacement of `isel/`) if given, else those compiled in.
    pub fn load(dir: Option<&Path>) -> Result<Tables, Diagnostic> {
        let Some(dir) = dir else {
            return Ok(Tables::new(Table::builtin(), builtin::SELECT.clone()));
        };
        let mut patterns = Patterns::default();
        for (name, text) in files::read_folder(&dir.join("select"), "sel")? {
            patterns.add(&text, &name)?;
        }
        let file = dir.join("ptx.insn");
        let insns = Table::parse(&files::read_file(&file)?, &file.display().to_string())?;
        Ok(Tables::new(insns, patterns))
    }

    /// The instructions that are compiled in and how attributes are spelled, without rows.
    pub fn spelling() -> Tables {
        Tables::new(Table::builtin(), Patterns::spelled())
    }

    fn new(insns: Table, patterns: Patterns) -> Tables {
        Tables {
            insns,
            patterns,
            memory: Memory::default(),
        }
    }
}

impl Patterns {
    /// How attributes are spelled in the tables that are compiled in, without rows.
    fn spelled() -> Patterns {
        Patterns {
            spelling: builtin::SELECT.spelling.clone(),
            ..Patterns::default()
        }
    }

    /// The rows of `isel/llvm/*.sel` that are compiled in.
    pub(crate) fn llvm() -> Patterns {
        Patterns {
            spelling: builtin::SELECT.spelling.clone(),
            ..builtin::LLVM.clone()
        }
    }
}

/// What a choice depends on: the operation, the cases of its attributes, where its registers are.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Key {
    kind: OpKind,
    attrs: SmallVec<[Leaf; 4]>,
    operands: SmallVec<[Form; 3]>,
    result: Form,
}

impl Key {
    fn new(kind: OpKind, attrs: &[Leaf], operands: &[Form], result: Form) -> Self {
        // Numbers and types are no cases (see `cases`), and a number of a module's attribute means nothing in another.
        let case = |leaf: &Leaf| match leaf {
            Leaf::Absent | Leaf::Unit | Leaf::Enum(_) => *leaf,
            _ => Leaf::Other,
        };
        Key {
            kind,
            attrs: attrs.iter().map(case).collect(),
            operands: SmallVec::from_slice(operands),
            result,
        }
    }
}

/// The chosen row and what it costs, in quarters of an instruction.
#[derive(Debug)]
pub struct Choice {
    pub candidate: Candidate,
    pub cost: u64,
}

/// The cases of an operation's attributes, in the order of its row.
pub fn cases(kind: OpKind, attrs: &[Leaf]) -> SmallVec<[Case<'static>; 4]> {
    let case = |(i, def): (usize, &'static crate::dialect::AttrDef)| Case {
        attribute: def.name,
        case: match (attrs.get(i), def.kind) {
            (None | Some(Leaf::Absent), _) => Some("absent"),
            (Some(Leaf::Unit), _) => Some("present"),
            (Some(Leaf::Enum(case)), crate::dialect::AttrKind::Enum(names)) => {
                names.cases.get(*case as usize).copied()
            }
            _ => None,
        },
    };
    kind.def().attrs.iter().enumerate().map(case).collect()
}

/// Chooses, and remembers.
pub struct Chooser<'t> {
    pub tables: &'t Tables,
    pub target: Target,
    known: FxHashMap<Key, Option<Arc<Choice>>>,
    covered: FxHashMap<OpKind, bool>,
}

impl<'t> Chooser<'t> {
    pub fn new(tables: &'t Tables, target: Target) -> Self {
        Chooser {
            tables,
            target,
            known: FxHashMap::default(),
            covered: FxHashMap::default(),
        }
    }

    /// Whether some row is about the operation.
    pub fn covers(&mut self, kind: OpKind) -> bool {
        let covered = self.covered.entry(kind);
        *covered.or_insert_with(|| {
            let Tables {
                patterns, memory, ..
            } = self.tables;
            remembered(&memory.covered, kind, |kind| patterns.covers(*kind))
        })
    }

    /// The cheapest instructions for an operation; `None` if the target has none.
    pub fn choose(
        &mut self,
        kind: OpKind,
        attrs: &[Leaf],
        operands: &[Form],
        result: Form,
    ) -> Option<Arc<Choice>> {
        let key = Key::new(kind, attrs, operands, result);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let all = &self.tables.memory.choices;
        let best = remembered(all, (self.target, key.clone()), |(_, key)| self.best(key));
        self.known.insert(key, best.clone());
        best
    }

    fn best(&self, key: &Key) -> Option<Arc<Choice>> {
        let mut best: Option<Choice> = None;
        for candidate in self.candidates(key) {
            if let Some(cost) = self.cost(&candidate, key)
                && best.as_ref().is_none_or(|b| cost < b.cost)
            {
                best = Some(Choice { candidate, cost });
            }
        }
        best.map(Arc::new)
    }

    /// Why nothing computes an operation: the instruction that the target lacks, if that is it.
    pub fn refusal(&self, kind: OpKind, attrs: &[Leaf], operands: &[Form], result: Form) -> String {
        let key = Key::new(kind, attrs, operands, result);
        let mut missing = Vec::new();
        for candidate in self.candidates(&key) {
            self.unavailable(&candidate.expr, &mut missing);
        }
        let target = self.target;
        let names: Vec<String> = operands.iter().map(|f| f.elem.to_string()).collect();
        let types = format!("{} -> {}", names.join(", "), result.elem);
        match missing.first() {
            Some(name) => {
                format!("{types}: instruction '{name}' needs a later target than {target}")
            }
            None => format!("{types}: no instruction of {target} computes this"),
        }
    }

    fn candidates(&self, key: &Key) -> Vec<Candidate> {
        let cases = cases(key.kind, &key.attrs);
        let patterns = &self.tables.patterns;
        patterns.candidates(key.kind, &cases, &key.operands, key.result)
    }

    fn exists(&self, name: &str) -> Option<u64> {
        let insn = self.tables.insns.find(name)?;
        let row = self.tables.insns.row(&insn);
        row.available_on(self.target).then_some(row.cost.into())
    }

    fn unavailable(&self, expr: &Expr, names: &mut Vec<String>) {
        match expr {
            Expr::Insn(name, args) => {
                if self.exists(name).is_none() && self.tables.insns.find(name).is_some() {
                    names.push(name.to_string());
                }
                args.iter().for_each(|e| self.unavailable(e, names));
            }
            Expr::Interleave(args) => args.iter().for_each(|e| self.unavailable(e, names)),
            _ => {}
        }
    }

    /// Cost of a candidate in quarters of an instruction; `None` if an instruction does not exist.
    fn cost(&self, candidate: &Candidate, key: &Key) -> Option<u64> {
        let (_, mut cost) = self.cost_of(&candidate.expr, candidate, key)?;
        for (shape, form) in candidate.operands.iter().zip(&key.operands) {
            cost += reshaping(*shape, *form);
        }
        Some(cost + reshaping(candidate.result, key.result))
    }

    /// Registers and cost of an expression.
    fn cost_of(&self, expr: &Expr, candidate: &Candidate, key: &Key) -> Option<(usize, u64)> {
        match expr {
            Expr::Operand(i) => {
                let form = key.operands.get(*i)?;
                Some((form.n.div_ceil(candidate.operands.get(*i)?.per), 0))
            }
            Expr::Lane { operand, of, .. } => {
                Some((key.operands.get(*operand)?.n.div_ceil(*of), 0))
            }
            Expr::Imm(_) | Expr::Attr(_) | Expr::Kept { .. } => Some((1, 0)),
            Expr::Insn(name, args) => {
                let each = self.exists(name)?;
                let (mut registers, mut cost) = (1, 0);
                for arg in args.iter() {
                    let (n, own) = self.cost_of(arg, candidate, key)?;
                    registers = registers.max(n);
                    cost += own;
                }
                Some((registers, cost + each * registers as u64))
            }
            Expr::Interleave(args) => args.iter().try_fold((0, 0), |(n, cost), arg| {
                let (more, own) = self.cost_of(arg, candidate, key)?;
                Some((n + more, cost + own))
            }),
        }
    }
}

/// What unpacking or packing the registers of a value costs: half an instruction for two halves,
/// for bytes an instruction each.
fn reshaping(shape: Shape, form: Form) -> u64 {
    match form.elem.stored() {
        _ if shape.per == form.per => 0,
        8 => 4 * form.n as u64,
        _ => form.n as u64,
    }
}
