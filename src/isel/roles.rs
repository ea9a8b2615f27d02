//! Warps with roles compute what they need themselves, each after it has taken its number of registers.
//!
//! `ptxas` gives a value one register for its whole life. What is computed ahead of `setmaxnreg` is therefore among the
//! few registers that a thread has at launch, and crowds out others there, although the warps that use it have many.

use rustc_hash::FxHashMap;

use super::uses;
use crate::machine::mir::{Func, Inst, Label, VReg};
use crate::machine::table::{Does, Role, Table};

/// Moves computations from before the roles into those that use them. Returns how many left their place.
pub(super) fn compute(func: &mut Func, table: &Table) -> usize {
    let Some(roles) = roles(func, table) else {
        return 0;
    };
    let ahead = Ahead::of(func, table, roles[0].start);
    let moves = ahead.moved(func, table, &roles);
    let count = moves.iter().filter(|moves| **moves).count();
    if count > 0 {
        carry_out(func, table, &roles, &ahead, &moves);
    }
    count
}

/// The code of a role: from where it takes its registers to where others' code joins.
#[derive(Clone, Copy)]
struct Code {
    start: usize,
    end: usize,
}

impl Code {
    fn has(self, at: usize) -> bool {
        (self.start..self.end).contains(&at)
    }
}

/// The roles, in the order of the text. `None` where there are none, or where their code is entered from elsewhere.
fn roles(func: &Func, table: &Table) -> Option<Vec<Code>> {
    let is_start = |inst: &Inst| match inst {
        Inst::Op(op) => table.row(&op.insn).does == Does::Registers,
        _ => false,
    };
    let count = func.insts.len();
    let starts: Vec<usize> = (0..count).filter(|&at| is_start(&func.insts[at])).collect();
    if starts.is_empty() {
        return None;
    }
    let mut from: FxHashMap<Label, Vec<usize>> = FxHashMap::default();
    for (at, inst) in func.insts.iter().enumerate() {
        if let Inst::Branch { to, .. } = inst {
            from.entry(*to).or_default().push(at);
        }
    }
    let branches = |at: usize| match &func.insts[at] {
        Inst::Label(label) => from.get(label).map_or(&[][..], Vec::as_slice),
        _ => &[],
    };
    let mut roles: Vec<Code> = Vec::new();
    for start in starts {
        let joins = |at: &usize| branches(*at).iter().any(|&branch| branch < start);
        let end = (start..count).find(joins).unwrap_or(count);
        let code = Code { start, end };
        let entered = |at: usize| branches(at).iter().any(|&branch| !code.has(branch));
        if roles.last().is_some_and(|before| before.end > start) || (start..code.end).any(entered) {
            return None;
        }
        roles.push(code);
    }
    Some(roles)
}

/// The computations ahead of the roles.
struct Ahead {
    /// How many instructions are ahead of the roles.
    count: usize,
    /// By register: the computation that alone writes it.
    computed: Vec<Option<usize>>,
    /// By instruction: the computations it reads, if it is a computation.
    reads: Vec<Option<Vec<usize>>>,
}

impl Ahead {
    fn of(func: &Func, table: &Table, count: usize) -> Self {
        let writers = uses::writers(func, table);
        let mut ahead = Ahead {
            count,
            computed: vec![None; func.regs.len()],
            reads: vec![None; count],
        };
        for (at, inst) in func.insts[..count].iter().enumerate() {
            let (mut reads, mut alone) = (Vec::new(), is_computation(inst, table));
            uses::visit(inst, table, &mut |_, register, write| {
                let register = register.0 as usize;
                match (write, ahead.computed[register]) {
                    (true, _) => alone &= writers[register] == 1,
                    (false, Some(computation)) => reads.push(computation),
                    (false, None) => alone = false,
                }
            });
            if alone {
                uses::visit(inst, table, &mut |_, register, write| {
                    if write {
                        ahead.computed[register.0 as usize] = Some(at);
                    }
                });
                ahead.reads[at] = Some(reads);
            }
        }
        ahead
    }

    /// The computations that an instruction reads.
    fn read_by(&self, inst: &Inst, table: &Table, found: &mut impl FnMut(usize)) {
        uses::visit(inst, table, &mut |_, register, write| {
            if let (false, Some(at)) = (write, self.computed[register.0 as usize]) {
                found(at);
            }
        });
    }

    /// Which instructions move: computations that nothing but roles and other moved computations use, and that read
    /// what moves or what takes no register of its own (parameters, special registers).
    fn moved(&self, func: &Func, table: &Table, roles: &[Code]) -> Vec<bool> {
        let mut moves: Vec<bool> = self.reads.iter().map(Option::is_some).collect();
        let mut stays: Vec<usize> = Vec::new();
        for (at, inst) in func.insts.iter().enumerate() {
            let computation = moves.get(at).copied().unwrap_or(false);
            if !computation && !roles.iter().any(|role| role.has(at)) {
                self.read_by(inst, table, &mut |used| stays.push(used));
            }
        }
        let reads = |at: usize| self.reads[at].as_deref().unwrap_or(&[]);
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); self.count];
        for at in 0..self.count {
            reads(at).iter().for_each(|&read| users[read].push(at));
        }
        while let Some(at) = stays.pop() {
            if std::mem::replace(&mut moves[at], false) {
                let takes_no_register = reads(at).is_empty();
                let users = if takes_no_register {
                    &[][..]
                } else {
                    &users[at]
                };
                stays.extend(reads(at).iter().chain(users));
            }
        }
        moves
    }
}

/// Whether an instruction does one thing: to compute registers from others.
fn is_computation(inst: &Inst, table: &Table) -> bool {
    let Inst::Op(op) = inst else { return false };
    let row = table.row(&op.insn);
    let writes_alone = row.slots.iter().all(|slot| slot.role != Role::InOut);
    row.unit.is_pure() && writes_alone && op.reps == 1 && op.guard.is_none()
}

/// Puts what each role needs of the moved computations at its start, under registers of its own.
fn carry_out(func: &mut Func, table: &Table, roles: &[Code], ahead: &Ahead, moves: &[bool]) {
    let mut starts: FxHashMap<usize, Vec<Inst>> = FxHashMap::default();
    for role in roles {
        let needed = needed(&func.insts, table, *role, ahead, moves);
        let mut computed: Vec<Inst> = needed.iter().map(|&at| func.insts[at].clone()).collect();
        let mut own: FxHashMap<VReg, VReg> = FxHashMap::default();
        for inst in &computed {
            uses::visit(inst, table, &mut |_, register, write| {
                if write {
                    own.insert(register, func.new_reg(func.class(register)));
                }
            });
        }
        for inst in computed
            .iter_mut()
            .chain(&mut func.insts[role.start..role.end])
        {
            uses::rename_in(inst, &mut |r| own.get(&r).copied().unwrap_or(r));
        }
        starts.insert(role.start, computed);
    }
    let insts = std::mem::take(&mut func.insts);
    for (at, inst) in insts.into_iter().enumerate() {
        if moves.get(at) != Some(&true) {
            func.insts.push(inst);
        }
        func.insts.extend(starts.remove(&at).into_iter().flatten());
    }
}

/// The moved computations that a role needs, in the order of the text.
fn needed(insts: &[Inst], table: &Table, role: Code, ahead: &Ahead, moves: &[bool]) -> Vec<usize> {
    let mut needs = vec![false; ahead.count];
    let mut work: Vec<usize> = Vec::new();
    for inst in &insts[role.start..role.end] {
        ahead.read_by(inst, table, &mut |at| work.push(at));
    }
    while let Some(at) = work.pop() {
        if moves[at] && !std::mem::replace(&mut needs[at], true) {
            work.extend(ahead.reads[at].iter().flatten());
        }
    }
    (0..ahead.count).filter(|&at| needs[at]).collect()
}
