//! Inline assembly: the instructions that instruction selection has for one operation, where LLVM's language
//! has nothing for it. What an instruction reads and writes its row of `isel/ptx.insn` says.

mod text;

use super::body::Val;
use super::kernel::{Kernel, fail};
use super::types::Ty;
use crate::dialect::nvvm::view;
use crate::ir::{Float, Op, OpId};
use crate::isel::{Elem, Fail, Selected};
use crate::machine::mir::{self, Atom, Inst, VReg};
use crate::machine::table::Does;
use rustc_hash::FxHashMap;
use text::{Asm, Token, letter, of_class};

/// What registers are: values of LLVM's.
type Env = FxHashMap<VReg, Val>;

impl Kernel<'_, '_> {
    /// An operation as one `asm` for each instruction.
    pub(super) fn assembly(&mut self, id: OpId) -> Result<(), Fail> {
        let selected = self.alone.select(id)?;
        if selected
            .func
            .insts
            .iter()
            .any(|i| !matches!(i, Inst::Op(_) | Inst::Copy { .. }))
        {
            return self.block_of(id, &selected);
        }
        let (mut env, hints) = self.environment(id, &selected)?;
        for inst in &selected.func.insts {
            match inst {
                Inst::Copy { dst, src } => {
                    let values = self.copied(dst, src, &env, &selected, &hints);
                    env.extend(dst.iter().copied().zip(values));
                }
                Inst::Op(op) => {
                    for rep in 0..op.reps as usize {
                        self.one(op, rep, &selected, &hints, &mut env)?;
                    }
                }
                _ => {}
            }
        }
        self.define_from(id, &selected, &env)
    }

    /// An operation as one `asm` of all its instructions: nothing may come between them.
    pub(super) fn assembly_block(&mut self, id: OpId) -> Result<(), Fail> {
        let selected = self.alone.select(id)?;
        self.block_of(id, &selected)
    }

    fn block_of(&mut self, id: OpId, selected: &Selected) -> Result<(), Fail> {
        let (mut env, hints) = self.environment(id, selected)?;
        let tables = self.tables;
        let mut asm = Asm::default();
        for inst in &selected.func.insts {
            match inst {
                Inst::Copy { dst, src } => {
                    let early = |a: &Atom| a.reg().is_none_or(|r| !asm.written.contains(&r));
                    if !src.iter().all(early) || dst.iter().any(|d| asm.written.contains(d)) {
                        return fail("a copy between instructions of one operation");
                    }
                    let values = self.copied(dst, src, &env, selected, &hints);
                    env.extend(dst.iter().copied().zip(values));
                }
                Inst::Op(op) => {
                    for rep in 0..op.reps as usize {
                        asm.instruction(op, tables.insns.row(&op.insn), rep)?;
                    }
                }
                Inst::Label(label) => {
                    asm.line();
                    asm.text(&format!("L{}:", label.0));
                }
                Inst::Branch { to, guard, .. } => {
                    asm.line();
                    if let Some((pred, negate)) = guard {
                        asm.text(if *negate { "@!" } else { "@" });
                        asm.reg(*pred, true);
                        asm.text(" ");
                    }
                    asm.text(&format!("bra L{};", to.0));
                }
            }
        }
        let results: Vec<VReg> = selected
            .results
            .iter()
            .flatten()
            .filter_map(|a| a.reg())
            .collect();
        let outputs: Vec<VReg> = asm
            .written
            .iter()
            .copied()
            .filter(|r| results.contains(r))
            .collect();
        self.write_asm(&asm, &outputs, selected, &hints, &mut env);
        self.define_from(id, selected, &env)
    }

    /// One instruction; a constant that is moved to a register is written where the register is read.
    fn one(
        &mut self,
        op: &mir::Op,
        rep: usize,
        selected: &Selected,
        hints: &FxHashMap<VReg, Ty>,
        env: &mut Env,
    ) -> Result<(), Fail> {
        let tables = self.tables;
        let row = tables.insns.row(&op.insn);
        if row.does == Does::Constant
            && let [to, from] = &op.operands[..]
            && let (Some(Atom::Reg(to)), Some(Atom::Imm(bits))) =
                (to.atoms.get(rep), from.atoms.get(rep))
        {
            let value = self
                .body
                .constant(of_class(selected.func.class(*to)), *bits);
            env.insert(*to, value);
            return Ok(());
        }
        let known = self.as_intrinsic(op, row, rep, |k, atom| k.atom(env, atom, Ty::Int(32)));
        if let Some(result) = known {
            let def = op
                .operands
                .first()
                .and_then(|o| o.atoms.get(rep))
                .and_then(|a| a.reg());
            if let (Some(value), Some(reg)) = (result, def) {
                let ty = self.natural(selected, hints, reg);
                let value = self.body.cast(&value, ty);
                env.insert(reg, value);
            }
            return Ok(());
        }
        let mut asm = Asm::default();
        asm.instruction(op, row, rep)?;
        let outputs = asm.written.clone();
        self.write_asm(&asm, &outputs, selected, hints, env);
        Ok(())
    }

    /// Values of the operands' registers, and the types of registers that hold floats.
    fn environment(
        &mut self,
        id: OpId,
        selected: &Selected,
    ) -> Result<(Env, FxHashMap<VReg, Ty>), Fail> {
        let mut env = Env::default();
        let mut hints = FxHashMap::default();
        let floats = |ty: Ty| matches!(ty, Ty::Float | Ty::Double);
        for (value, regs) in &selected.operands {
            let values = self.get(*value)?;
            // Multiplicands in tf32 are bits to matrix instructions.
            let is_tf32 = self.form(*value)?.elem == Elem::Float(Float::TF32);
            for (&reg, value) in regs.iter().zip(values.iter()) {
                if floats(value.ty) && !is_tf32 {
                    hints.insert(reg, value.ty);
                }
                let value = match value.ty {
                    Ty::Int(8) => self.body.cast(value, Ty::Int(16)),
                    Ty::Float if is_tf32 => self.body.cast(value, Ty::Int(32)),
                    _ => value.clone(),
                };
                env.insert(reg, value);
            }
        }
        let module = self.module;
        for (&result, atoms) in module.op(id).results.iter().zip(&selected.results) {
            let form = self.form(result)?;
            let ty = Ty::of_register(form);
            if floats(ty) && form.elem != Elem::Float(Float::TF32) {
                hints.extend(atoms.iter().filter_map(|a| a.reg()).map(|r| (r, ty)));
            }
        }
        Ok((env, hints))
    }

    /// What a parallel copy brings to `dst`.
    fn copied(
        &mut self,
        dst: &[VReg],
        src: &[Atom],
        env: &Env,
        selected: &Selected,
        hints: &FxHashMap<VReg, Ty>,
    ) -> Vec<Val> {
        let mut values = Vec::new();
        for (&to, &from) in dst.iter().zip(src) {
            let ty = self.natural(selected, hints, to);
            values.push(self.atom(env, from, ty));
        }
        values
    }

    fn natural(&self, selected: &Selected, hints: &FxHashMap<VReg, Ty>, reg: VReg) -> Ty {
        let class = of_class(selected.func.class(reg));
        hints.get(&reg).copied().unwrap_or(class)
    }

    /// What an atom is, as a value of type `ty`.
    fn atom(&mut self, env: &Env, atom: Atom, ty: Ty) -> Val {
        match atom {
            Atom::Reg(reg) => env.get(&reg).cloned().unwrap_or_else(|| Val::undef(ty)),
            Atom::Imm(bits) => self.body.constant(ty, bits),
            _ => Val::undef(ty),
        }
    }

    fn define_from(&mut self, id: OpId, selected: &Selected, env: &Env) -> Result<(), Fail> {
        let module = self.module;
        let op = module.op(id);
        let mut results = Vec::new();
        for (&result, atoms) in op.results.iter().zip(&selected.results) {
            let ty = Ty::of_register(self.form(result)?);
            results.push(atoms.iter().map(|&a| self.atom(env, a, ty)).collect());
        }
        self.define(op, results)
    }

    /// Writes an `asm`. Registers that are written and no outputs are its own.
    fn write_asm(
        &mut self,
        asm: &Asm,
        outputs: &[VReg],
        selected: &Selected,
        hints: &FxHashMap<VReg, Ty>,
        env: &mut Env,
    ) {
        let is_own = |r: &VReg| asm.written.contains(r) && !outputs.contains(r);
        let inputs: Vec<VReg> = asm
            .read
            .iter()
            .copied()
            .filter(|r| !outputs.contains(r))
            .collect();
        let mut text = String::new();
        for token in &asm.tokens {
            match token {
                Token::Text(part) => text.push_str(part),
                Token::Reg(reg) => {
                    let output = outputs.iter().position(|r| r == reg);
                    let input = inputs
                        .iter()
                        .position(|r| r == reg)
                        .map(|i| i + outputs.len());
                    match output.or(input) {
                        Some(i) => text.push_str(&format!("${i}")),
                        None => text.push_str(&format!("t{}", reg.0)),
                    }
                }
            }
        }
        let own: Vec<VReg> = asm.written.iter().copied().filter(is_own).collect();
        let labels = asm
            .tokens
            .iter()
            .any(|t| matches!(t, Token::Text(t) if t.contains("L0:")));
        if !own.is_empty() || labels {
            let declared = own
                .iter()
                .map(|r| format!(".reg {} t{}; ", selected.func.class(*r).ty(), r.0));
            text = format!("{{ {}\\0A\\09{text} }}", declared.collect::<String>());
        }
        let early = if asm.instructions > 1 { "&" } else { "" };
        let mut constraints = Vec::new();
        let mut types = Vec::new();
        for &reg in outputs {
            let ty = self.natural(selected, hints, reg);
            let early = if asm.read.contains(&reg) { "" } else { early };
            constraints.push(format!("={early}{}", letter(ty)));
            types.push(ty);
        }
        let mut args = Vec::new();
        for &reg in &inputs {
            let ty = self.natural(selected, hints, reg);
            let value = self.atom(env, Atom::Reg(reg), ty);
            constraints.push(letter(value.ty).to_owned());
            args.push(value);
        }
        for (i, reg) in outputs.iter().enumerate() {
            if asm.read.contains(reg) {
                let value = self.atom(env, Atom::Reg(*reg), types[i]);
                args.push(self.body.cast(&value, types[i]));
                constraints.push(i.to_string());
            }
        }
        let values = self.asm_call(&text, asm, &types, constraints, &args);
        env.extend(outputs.iter().copied().zip(values));
    }

    /// Calls an `asm`: a value for each of `types`.
    fn asm_call(
        &mut self,
        text: &str,
        asm: &Asm,
        types: &[Ty],
        mut constraints: Vec<String>,
        args: &[Val],
    ) -> Vec<Val> {
        let effect = match asm.effects {
            true => {
                constraints.push("~{memory}".to_owned());
                " sideeffect"
            }
            false => "",
        };
        let attributes = if asm.convergent { "#0" } else { "#1" };
        let texts: Vec<String> = types.iter().map(|&t| self.body.ty(t)).collect();
        let result = match &texts[..] {
            [] => "void".to_owned(),
            [one] => one.clone(),
            all => format!("{{ {} }}", all.join(", ")),
        };
        let args: Vec<String> = args.iter().map(|a| self.body.typed(a)).collect();
        let call = format!(
            "call {result} asm{effect} \"{text}\", \"{}\"({}) {attributes}",
            constraints.join(","),
            args.join(", ")
        );
        match types {
            [] => {
                self.body.effect(&call);
                Vec::new()
            }
            [one] => vec![self.body.def(*one, &call)],
            all => {
                let whole = self.body.def_other(&call);
                let part = |(i, &ty): (usize, &Ty)| {
                    self.body
                        .def(ty, &format!("extractvalue {result} {whole}, {i}"))
                };
                all.iter().enumerate().map(part).collect()
            }
        }
    }

    /// The wait for matmuls, through which all accumulators go: nothing may read them before.
    pub(super) fn wait_for_matmuls(&mut self, v: &view::WgmmaWait<Op>) -> Result<(), Fail> {
        let mut values = Vec::new();
        let mut counts = Vec::new();
        for &acc in v.accs() {
            let registers = self.get(acc)?;
            counts.push(registers.len());
            values.extend(registers.iter().cloned());
        }
        let types: Vec<Ty> = values.iter().map(|v| v.ty).collect();
        let outputs = types.iter().map(|&ty| format!("={}", letter(ty)));
        let constraints = outputs
            .chain((0..types.len()).map(|i| i.to_string()))
            .collect();
        let asm = Asm {
            effects: true,
            convergent: true,
            ..Asm::default()
        };
        let text = format!("wgmma.wait_group.sync.aligned {};", v.pending());
        let mut waited = self.asm_call(&text, &asm, &types, constraints, &values);
        let mut results = Vec::new();
        for count in counts {
            let rest = waited.split_off(count);
            results.push(std::mem::replace(&mut waited, rest));
        }
        self.define(v.op(), results)
    }
}
