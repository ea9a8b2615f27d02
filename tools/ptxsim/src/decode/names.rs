//! Names of a function: scopes of registers, variables and labels.

use super::Result;
use super::binding::Binding;
use super::builder::Builder;
use crate::clock::weight::{Pipe, Weight};
use crate::parse::ParseError;
use crate::parse::ast::{Instruction, Statement, VarSpace, Variable};
use crate::program::FunctionInfo;
use crate::program::class::Class;
use crate::program::inst::{Inst, Op, Pred, PredSrc, Reg, Special};
use crate::program::types::Ty;
use rustc_hash::FxHashMap;

#[derive(Default)]
struct Scope<'a> {
    names: FxHashMap<&'a str, Binding>,
    /// `%r<10>`: prefix to count and the binding of number 0
    ranges: FxHashMap<&'a str, (u32, Binding)>,
    labels: FxHashMap<&'a str, usize>,
    targets: FxHashMap<&'a str, Vec<&'a str>>,
}

/// A function being decoded.
pub struct Function<'m, 'a> {
    /// the program that grows
    pub program: &'m mut Builder<'a>,
    /// what a call of it needs
    pub info: FunctionInfo,
    /// its instructions; branch targets are label numbers until the end
    pub code: Vec<Inst>,
    /// the line being decoded
    pub line: u32,
    /// class of the instruction under way
    pub class: Class,
    /// its weight
    pub weight: Weight,
    /// true for the entry
    pub is_entry: bool,
    scopes: Vec<Scope<'a>>,
    labels: Vec<Option<u32>>,
    carry: Option<Pred>,
}

impl<'m, 'a> Function<'m, 'a> {
    /// An empty function.
    pub fn new(program: &'m mut Builder<'a>, name: &str, is_entry: bool, line: u32) -> Self {
        let info = FunctionInfo {
            name: name.to_owned(),
            ..FunctionInfo::default()
        };
        Function {
            program,
            info,
            code: Vec::new(),
            line,
            class: Class::Control,
            weight: Weight {
                pipe: Pipe::Control,
                times: 1,
                extra: 0,
            },
            is_entry,
            scopes: vec![Scope::default()],
            labels: Vec::new(),
            carry: None,
        }
    }

    /// An error on the current line.
    pub fn error<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(ParseError {
            line: self.line,
            message: message.into(),
        })
    }

    /// The error for an instruction that is not known.
    pub fn unsupported<T>(&self, inst: &Instruction<'_>) -> Result<T> {
        self.error(format!("`{}` is not supported", inst.mnemonic()))
    }

    /// Appends an instruction.
    pub fn push(&mut self, guard: PredSrc, op: Op) {
        self.code.push(Inst {
            guard,
            op,
            line: self.line,
            class: self.class,
            weight: self.weight,
        });
    }

    /// A fresh register row.
    pub fn temporary(&mut self) -> Reg {
        self.info.rows += 1;
        Reg(self.info.rows - 1)
    }

    /// A fresh predicate.
    pub fn temporary_pred(&mut self) -> Pred {
        self.info.preds += 1;
        Pred(self.info.preds - 1)
    }

    /// The condition code register of extended-precision arithmetic.
    pub fn carry(&mut self) -> Pred {
        match self.carry {
            Some(pred) => pred,
            None => {
                let pred = self.temporary_pred();
                self.carry = Some(pred);
                pred
            }
        }
    }

    /// What `name` means here.
    pub fn lookup(&self, name: &str) -> Option<Binding> {
        for scope in self.scopes.iter().rev() {
            if let Some(binding) = scope.names.get(name) {
                return Some(*binding);
            }
            if let Some(binding) = numbered(&scope.ranges, name) {
                return Some(binding);
            }
        }
        self.program.variable(name)
    }

    /// True if `name` is a parameter of the entry being decoded.
    pub fn is_entry_param(&self, name: &str) -> bool {
        self.is_entry
            && self
                .scopes
                .first()
                .is_some_and(|s| s.names.contains_key(name))
            && {
                !self
                    .scopes
                    .iter()
                    .skip(1)
                    .any(|s| s.names.contains_key(name))
            }
    }

    fn bind(&mut self, name: &'a str, binding: Binding) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.names.insert(name, binding);
        }
    }

    /// Binds a variable of the innermost scope.
    pub fn bind_variable(&mut self, name: &'a str, space: VarSpace, address: u64, size: u32) {
        self.bind(
            name,
            Binding::Variable {
                space,
                address,
                size,
            },
        );
    }

    /// Declares registers.
    pub fn declare_registers(
        &mut self,
        ty: &str,
        vector: u32,
        names: &[(&'a str, Option<u32>)],
    ) -> Result<()> {
        let Some(ty) = Ty::parse(ty) else {
            return self.error(format!("register type .{ty} is not supported"));
        };
        for &(name, count) in names {
            let binding = self.allocate(ty, vector, count.unwrap_or(1))?;
            let Some(scope) = self.scopes.last_mut() else {
                continue;
            };
            match count {
                None => scope.names.insert(name, binding),
                Some(count) => scope.ranges.insert(name, (count, binding)).map(|(_, b)| b),
            };
        }
        Ok(())
    }

    fn allocate(&mut self, ty: Ty, vector: u32, count: u32) -> Result<Binding> {
        const LIMIT: u32 = 1 << 20;
        if count > LIMIT || self.info.rows > LIMIT {
            return self.error("more registers than this simulator takes (1048576)");
        }
        if ty == Ty::Pred {
            self.info.preds += count;
            return Ok(Binding::Predicate(Pred(self.info.preds - count)));
        }
        let rows = count * vector * rows_of(ty);
        self.info.rows += rows;
        Ok(Binding::Register {
            row: self.info.rows - rows,
            vector,
            ty,
        })
    }

    /// Opens a scope whose labels are those of `statements`.
    pub fn open_scope(&mut self, statements: &[Statement<'a>]) -> Result<()> {
        let mut scope = Scope::default();
        for statement in statements {
            match statement {
                Statement::Label(name, line) => {
                    self.labels.push(None);
                    if scope.labels.insert(name, self.labels.len() - 1).is_some() {
                        self.line = *line;
                        return self.error(format!("label `{name}` is defined twice"));
                    }
                }
                Statement::BranchTargets(name, targets) => {
                    scope.targets.insert(name, targets.clone());
                }
                _ => {}
            }
        }
        self.scopes.push(scope);
        Ok(())
    }

    /// Closes the innermost scope.
    pub fn close_scope(&mut self) {
        self.scopes.pop();
    }

    /// Puts `name` at the next instruction.
    pub fn place_label(&mut self, name: &str) {
        let index = self.scopes.last().and_then(|s| s.labels.get(name)).copied();
        if let Some(slot) = index.and_then(|i| self.labels.get_mut(i)) {
            *slot = Some(self.code.len() as u32);
        }
    }

    /// The number of the label `name`.
    pub fn label(&self, name: &str) -> Result<u32> {
        match self.scopes.iter().rev().find_map(|s| s.labels.get(name)) {
            Some(&index) => Ok(index as u32),
            None => self.error(format!("label `{name}` is not defined")),
        }
    }

    /// The labels of a `.branchtargets` list.
    pub fn branch_targets(&self, name: &str) -> Result<Vec<u32>> {
        match self.scopes.iter().rev().find_map(|s| s.targets.get(name)) {
            Some(targets) => targets.iter().map(|t| self.label(t)).collect(),
            None => self.error(format!("`{name}` is no .branchtargets list")),
        }
    }

    /// Replaces label numbers by instruction indices, `start` being where the function begins in the program.
    pub fn resolve_labels(&mut self, start: u32) -> Result<()> {
        let Function { code, labels, .. } = self;
        let end = code.len() as u32;
        let position =
            |label: u32| start + labels.get(label as usize).copied().flatten().unwrap_or(end);
        for inst in code {
            match &mut inst.op {
                Op::Branch { target, .. } => *target = position(*target),
                Op::BranchIndirect { targets, .. } => {
                    targets.iter_mut().for_each(|t| *t = position(*t))
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Size and alignment of a variable, or an error.
    pub fn layout(&mut self, variable: &Variable<'_>) -> Result<(u32, u32)> {
        self.line = variable.line;
        super::placed::layout_of(variable)
    }
}

/// Rows that a register of type `ty` takes.
pub fn rows_of(ty: Ty) -> u32 {
    if ty.bits() > 64 { 2 } else { 1 }
}

fn numbered(ranges: &FxHashMap<&str, (u32, Binding)>, name: &str) -> Option<Binding> {
    if ranges.is_empty() {
        return None;
    }
    // Digits may belong to the prefix (`%r1<5>`): try every split.
    let mut split = name.len();
    while split > 0 && name.as_bytes()[split - 1].is_ascii_digit() {
        split -= 1;
        if let Some(&(count, first)) = ranges.get(&name[..split]) {
            let index: u32 = name[split..].parse().ok()?;
            if index < count {
                return Some(match first {
                    Binding::Register { row, vector, ty } => Binding::Register {
                        row: row + index * vector * rows_of(ty),
                        vector,
                        ty,
                    },
                    Binding::Predicate(Pred(p)) => Binding::Predicate(Pred(p + index)),
                    other => other,
                });
            }
        }
    }
    None
}

/// The special register that a name with its suffix means (PTX ISA 10).
pub fn special_register(name: &str, suffix: Option<&str>) -> Option<Special> {
    let axis = match suffix {
        Some("x") => Some(0),
        Some("y") => Some(1),
        Some("z") => Some(2),
        Some("w") => Some(3),
        _ => None,
    };
    if let Some(axis) = axis {
        return Some(match name {
            "%tid" => Special::Tid(axis),
            "%ntid" => Special::Ntid(axis),
            "%ctaid" => Special::Ctaid(axis),
            "%nctaid" => Special::Nctaid(axis),
            "%clusterid" => Special::Clusterid(axis),
            "%nclusterid" => Special::Nclusterid(axis),
            "%cluster_ctaid" => Special::ClusterCtaid(axis),
            "%cluster_nctaid" => Special::ClusterNctaid(axis),
            _ => return None,
        });
    }
    Some(match name {
        "%laneid" => Special::Laneid,
        "%warpid" => Special::Warpid,
        "%nwarpid" => Special::Nwarpid,
        "%smid" => Special::Smid,
        "%nsmid" => Special::Nsmid,
        "%gridid" => Special::Gridid,
        "%lanemask_eq" => Special::LanemaskEq,
        "%lanemask_le" => Special::LanemaskLe,
        "%lanemask_lt" => Special::LanemaskLt,
        "%lanemask_ge" => Special::LanemaskGe,
        "%lanemask_gt" => Special::LanemaskGt,
        "%clock" => Special::Clock,
        "%clock_hi" => Special::ClockHi,
        "%clock64" => Special::Clock64,
        "%globaltimer" => Special::Globaltimer,
        "%globaltimer_lo" => Special::GlobaltimerLo,
        "%globaltimer_hi" => Special::GlobaltimerHi,
        "%cluster_ctarank" => Special::ClusterCtarank,
        "%cluster_nctarank" => Special::ClusterNctarank,
        "%dynamic_smem_size" => Special::DynamicSmemSize,
        "%total_smem_size" => Special::TotalSmemSize,
        "%aggr_smem_size" => Special::AggrSmemSize,
        "%reserved_smem_offset_begin" | "%reserved_smem_offset_cap" => Special::ReservedSmem,
        "%is_explicit_cluster" => Special::IsExplicitCluster,
        "%current_graph_exec" => Special::Envreg(None),
        _ if name.starts_with("%pm") => Special::Envreg(None),
        _ if name.starts_with("%envreg") => Special::Envreg(name.get(7..)?.parse().ok()),
        _ => return None,
    })
}
