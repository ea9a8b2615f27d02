//! Machine functions as text, for `--emit machine`: what was selected, before copies disappear.
//!
//! One line an operation: results, `=`, mnemonic, operands. `x8` after a mnemonic says that the
//! line stands for eight instructions; an operand in braces then has a register for each.

use std::fmt::Write;

use super::mir::{Atom, Func, Inst, Op, Operand, Param, VReg};
use super::table::{Role, Table};

/// The text of a function.
pub fn write(func: &Func, table: &Table) -> String {
    let mut out = String::new();
    let _ = write!(out, "kernel {}(", func.name);
    for (i, param) in func.params.iter().enumerate() {
        let comma = if i > 0 { ", " } else { "" };
        let _ = match param {
            Param::Pointer => write!(out, "{comma}pointer"),
            Param::Scalar { bits } => write!(out, "{comma}b{bits}"),
            Param::TensorMap => write!(out, "{comma}tensormap"),
        };
    }
    let _ = writeln!(out, ") threads {} shared {}", func.block, func.shared);
    for inst in &func.insts {
        match inst {
            Inst::Op(op) => operation(&mut out, func, table, op),
            Inst::Copy { dst, src } => {
                let dst: Vec<Atom> = dst.iter().map(|&r| Atom::Reg(r)).collect();
                let _ = writeln!(
                    out,
                    "    {} = copy {}",
                    list(func, &dst.into()),
                    list(func, &src.clone().into())
                );
            }
            Inst::Label(label) => {
                let _ = writeln!(out, "{}_{}:", func.labels[label.0 as usize], label.0);
            }
            Inst::Branch { to, guard, uniform } => {
                let uni = if *uniform { ".uni" } else { "" };
                let guard = guard.map(|(p, negate)| guard_text(func, p, negate));
                let name = func.labels[to.0 as usize];
                let _ = writeln!(
                    out,
                    "    {}bra{uni} {name}_{}",
                    guard.unwrap_or_default(),
                    to.0
                );
            }
        }
    }
    out
}

fn operation(out: &mut String, func: &Func, table: &Table, op: &Op) {
    let slots = &table.row(&op.insn).slots;
    let texts = |def: bool| {
        let of_kind = slots.iter().zip(&op.operands);
        let chosen = of_kind.filter(|(slot, _)| (slot.role == Role::Def) == def);
        let texts: Vec<String> = chosen.map(|(_, operand)| list(func, operand)).collect();
        texts.join(", ")
    };
    let (defs, uses) = (texts(true), texts(false));
    out.push_str("    ");
    if let Some(guard) = &op.guard {
        let preds: Vec<String> = guard
            .preds
            .iter()
            .map(|p| p.map_or("always".into(), |p| guard_text(func, p, guard.negate)))
            .collect();
        let _ = write!(out, "[{}] ", preds.join(" ").replace("  ", " ").trim_end());
    }
    if !defs.is_empty() {
        let _ = write!(out, "{defs} = ");
    }
    out.push_str(&op.insn.mnemonic);
    if op.reps > 1 {
        let _ = write!(out, " x{}", op.reps);
    }
    let space = if uses.is_empty() { "" } else { " " };
    let _ = writeln!(out, "{space}{uses}");
}

fn guard_text(func: &Func, pred: VReg, negate: bool) -> String {
    let not = if negate { "!" } else { "" };
    format!("@{not}{} ", atom(func, Atom::Reg(pred)))
}

/// An operand's atoms, in braces when there are several.
fn list(func: &Func, operand: &Operand) -> String {
    let texts: Vec<String> = operand
        .atoms
        .iter()
        .enumerate()
        .map(|(i, &a)| {
            let offset = operand.offset(i);
            match offset {
                0 => atom(func, a),
                offset => format!("{}{offset:+}", atom(func, a)),
            }
        })
        .collect();
    match texts.as_slice() {
        [one] => one.clone(),
        all => format!("{{{}}}", all.join(" ")),
    }
}

fn atom(func: &Func, atom: Atom) -> String {
    match atom {
        Atom::Reg(r) => format!("{}{}", func.class(r).prefix(), r.0),
        Atom::Imm(bits) if bits < 1 << 16 => bits.to_string(),
        Atom::Imm(bits) => format!("{bits:#x}"),
        Atom::Shared(bytes) => format!("global_smem{bytes:+}"),
        Atom::Param(i) => format!("param{i}"),
        Atom::Global(i) => func
            .globals
            .get(i as usize)
            .cloned()
            .unwrap_or_else(|| format!("global{i}")),
        Atom::Special(name) => name.to_owned(),
        Atom::Undef => "undef".to_owned(),
    }
}
