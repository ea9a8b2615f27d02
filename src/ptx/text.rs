//! Writing machine functions as PTX.
//!
//! Registers get compact numbers per class in the order they first appear; the version is the
//! lowest that has every instruction and directive used. The same functions give the same text.

use std::fmt::Write;

use rustc_hash::FxHashMap;

use super::lines::Lines;
use crate::ir::{Diagnostic, LocId};
use crate::machine::class::Class;
use crate::machine::mir::{Atom, Func, Global, Inst, Label, Op, Param, VReg};
use crate::machine::table::{Immediate, Piece, Role, Slot, Table};
use crate::target::{PtxVersion, Target};

/// A PTX module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Text {
    pub text: String,
    pub version: PtxVersion,
    /// Bytes of dynamic shared memory of each kernel, in order.
    pub dynamic_shared: Vec<u32>,
}

/// Least alignment of `global_smem`: vectors of 16 bytes.
const ALIGNMENT: u32 = 16;

/// Alignment of `global_smem`: what its vectors and its instructions need.
fn shared_align(func: &Func, table: &Table) -> u32 {
    let needs = func.insts.iter().filter_map(|inst| match inst {
        Inst::Op(op) => Some(table.row(&op.insn).align),
        _ => None,
    });
    needs.fold(ALIGNMENT, u32::max)
}

/// The version that has `inlined_at`. Source: PTX ISA, release history.
const LINES: PtxVersion = PtxVersion(7, 2);

/// Bytes of a usual line.
const LINE: usize = 48;

/// Column at which operands start.
const OPERANDS: usize = 16;

/// A function that the driver provides, and the names that a kernel's calls of it have in
/// `isel/ptx.insn`. Source: PTX interoperability, "System Calls".
struct Call {
    name: &'static str,
    used: fn(&Func) -> bool,
    result: Option<(&'static str, &'static str)>,
    params: &'static [(&'static str, &'static str)],
}

const CALLS: &[Call] = &[Call {
    name: "vprintf",
    used: |f| f.prints,
    result: Some(("print_result", ".b32")),
    params: &[("print_format", ".b64"), ("print_arguments", ".b64")],
}];

impl Call {
    fn declare(&self, out: &mut String) {
        let result = self
            .result
            .map(|(name, ty)| format!("(.param {ty} {name}) "));
        let params: Vec<String> = self
            .params
            .iter()
            .map(|(name, ty)| format!(".param {ty} {name}"))
            .collect();
        let (result, params) = (result.unwrap_or_default(), params.join(", "));
        let _ = write!(out, "\n.extern .func {result}{}({params});\n", self.name);
    }

    /// The parameters of calls, which a kernel declares once.
    fn parameters(&self, out: &mut String) {
        for (name, ty) in self.params.iter().chain(&self.result) {
            let _ = writeln!(out, "\t.param {ty} {name};");
        }
    }
}

/// Writes a module.
pub fn write(
    globals: &[Global],
    funcs: &[Func],
    target: Target,
    table: &Table,
    mut lines: Lines,
) -> Result<Text, Diagnostic> {
    let mut version = target.ptx_version();
    let mut bodies = String::new();
    for func in funcs {
        check_name(&func.name)?;
        check_limits(func, target)?;
        version = version.max(version_of(func, table));
        let mut writer = Writer::new(func, table);
        writer.body(&mut lines);
        writer.kernel(&mut bodies);
    }
    let tables = lines.tables();
    if !tables.is_empty() {
        version = version.max(LINES);
    }
    let debug = lines.target_suffix();
    let mut text = format!(".version {version}\n.target {target}{debug}\n.address_size 64\n");
    let dynamic = funcs.iter().filter(|f| f.shared > Target::STATIC_SHARED);
    if let Some(align) = dynamic.map(|f| shared_align(f, table)).max() {
        let _ = write!(
            text,
            "\n.extern .shared .align {align} .b8 global_smem[];\n"
        );
    }
    for call in CALLS.iter().filter(|c| funcs.iter().any(c.used)) {
        call.declare(&mut text);
    }
    for global in globals {
        check_name(&global.name)?;
        write_global(&mut text, global);
    }
    text.push_str(&bodies);
    if !tables.is_empty() {
        text.push('\n');
        text.push_str(&tables);
    }
    let dynamic_shared = funcs
        .iter()
        .map(|f| match f.shared > Target::STATIC_SHARED {
            true => f.shared,
            false => 0,
        })
        .collect();
    Ok(Text {
        text,
        version,
        dynamic_shared,
    })
}

/// A module-scope constant of bytes, for the end of a module; `name` is a PTX identifier.
pub fn constant(name: &str, bytes: &[u8]) -> String {
    let mut text = String::new();
    write_global(
        &mut text,
        &Global {
            name: name.to_owned(),
            align: 1,
            bytes: bytes.to_vec(),
        },
    );
    text
}

/// `.global` data as a list of bytes; zeros are what there is without one.
fn write_global(text: &mut String, global: &Global) {
    let Global { name, align, bytes } = global;
    if bytes.len() > 1 && bytes.iter().all(|&b| b == 0) {
        let _ = write!(
            text,
            "\n.global .align {align} .b8 {name}[{}];\n",
            bytes.len()
        );
        return;
    }
    let list: Vec<String> = bytes.iter().map(u8::to_string).collect();
    let size = bytes.len().max(1);
    let _ = write!(
        text,
        "\n.global .align {align} .b8 {name}[{size}] = {{{}}};\n",
        if list.is_empty() {
            "0".to_owned()
        } else {
            list.join(", ")
        }
    );
}

/// The lowest PTX ISA version with everything `func` uses.
fn version_of(func: &Func, table: &Table) -> PtxVersion {
    let directives = match func.cluster {
        Some(_) => PtxVersion(9, 0),
        None => PtxVersion(6, 3),
    };
    func.insts
        .iter()
        .filter_map(|inst| match inst {
            Inst::Op(op) => Some(table.row(&op.insn).ptx_version()),
            _ => None,
        })
        .fold(directives, PtxVersion::max)
}

/// PTX identifiers: a letter, `_`, `$` or `%` first.
fn check_name(name: &str) -> Result<(), Diagnostic> {
    let mut chars = name.chars();
    let first = chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || matches!(c, '_' | '$'));
    let rest = chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$'));
    if first && rest && name != "_" {
        Ok(())
    } else {
        Err(Diagnostic::error(format!(
            "name '{name}' is no PTX identifier"
        )))
    }
}

fn check_limits(func: &Func, target: Target) -> Result<(), Diagnostic> {
    let most = target.shared_per_block();
    if func.shared > most {
        return Err(Diagnostic::error(format!(
            "kernel '{}' needs {} bytes of shared memory, {target} has {most} for a block",
            func.name, func.shared
        )));
    }
    Ok(())
}

struct Writer<'f> {
    func: &'f Func,
    table: &'f Table,
    /// The number of each register, 0 of one that has none yet.
    numbers: Vec<u32>,
    counts: [u32; 4],
    labels: FxHashMap<Label, u32>,
    out: String,
}

impl<'f> Writer<'f> {
    fn new(func: &'f Func, table: &'f Table) -> Self {
        Self {
            func,
            table,
            numbers: vec![0; func.regs.len()],
            counts: [0; 4],
            labels: FxHashMap::default(),
            out: String::with_capacity(LINE * func.insts.len()),
        }
    }

    /// Writes directives, declarations and the body that was written before.
    fn kernel(&self, out: &mut String) {
        let f = self.func;
        let _ = write!(out, "\n.visible .entry {}(", f.name);
        for (i, param) in f.params.iter().enumerate() {
            let comma = if i == 0 { "\n" } else { ",\n" };
            let name = format!("{}_param_{i}", f.name);
            let _ = match param {
                Param::Pointer => write!(out, "{comma}\t.param .u64 .ptr .global .align 1 {name}"),
                Param::Scalar { bits } => write!(out, "{comma}\t.param .b{bits} {name}"),
                Param::TensorMap => write!(out, "{comma}\t.param .align 64 .b8 {name}[128]"),
            };
        }
        let _ = writeln!(out, "\n)\n.reqntid {}", f.block);
        if let Some([x, y, z]) = f.cluster {
            // A tile block is a cluster: launches count grids in tile blocks.
            let _ = writeln!(out, ".reqnctapercluster {x}, {y}, {z}\n.blocksareclusters");
        }
        match f.max_regs {
            Some(max) => {
                let _ = writeln!(out, ".maxnreg {max}");
            }
            None if f.min_ctas > 0 => {
                let _ = writeln!(out, ".minnctapersm {}", f.min_ctas);
            }
            None => {}
        }
        out.push_str("{\n");
        for class in Class::ALL {
            let count = self.counts[class as usize];
            if count > 0 {
                let _ = writeln!(
                    out,
                    "\t.reg {:<6} {}<{}>;",
                    class.ty(),
                    class.prefix(),
                    count + 1
                );
            }
        }
        if f.shared > 0 && f.shared <= Target::STATIC_SHARED {
            let _ = writeln!(
                out,
                "\t.shared .align {} .b8 global_smem[{}];",
                shared_align(f, self.table),
                f.shared
            );
        }
        for call in CALLS.iter().filter(|c| (c.used)(f)) {
            call.parameters(out);
        }
        if f.local > 0 {
            let _ = writeln!(out, "\t.local .align 8 .b8 local_depot[{}];", f.local);
        }
        out.push('\n');
        out.push_str(&self.out);
        out.push_str("}\n");
    }

    fn body(&mut self, lines: &mut Lines) {
        let mut at = LocId::UNKNOWN;
        for inst in &self.func.insts {
            match inst {
                Inst::Op(op) => {
                    if op.loc != at {
                        at = op.loc;
                        self.out.push_str(&lines.at(at).unwrap_or_default());
                    }
                    for rep in (0..op.reps as usize).filter(|&rep| !op.is_dead(rep)) {
                        self.op(op, rep);
                    }
                }
                Inst::Label(label) => {
                    let name = self.label(*label);
                    let _ = writeln!(self.out, "{name}:");
                }
                Inst::Branch { to, guard, uniform } => {
                    self.out.push('\t');
                    if let Some((pred, negate)) = guard {
                        self.pred(*pred, *negate);
                    }
                    let suffix = if *uniform { ".uni" } else { "" };
                    let name = self.label(*to);
                    let _ = writeln!(self.out, "bra{suffix} {name};");
                }
                // Parallel copies are moves by now.
                Inst::Copy { .. } => {}
            }
        }
    }

    fn label(&mut self, label: Label) -> String {
        let next = self.labels.len() as u32 + 1;
        let number = *self.labels.entry(label).or_insert(next);
        format!("$L_{}_{number}", self.func.labels[label.0 as usize])
    }

    fn pred(&mut self, pred: VReg, negate: bool) {
        self.out.push_str(if negate { "@!" } else { "@" });
        self.reg(pred);
        self.out.push(' ');
    }

    fn op(&mut self, op: &Op, rep: usize) {
        let row = self.table.row(&op.insn);
        self.out.push('\t');
        if let Some(pred) = op.pred(rep) {
            let negate = op.guard.as_ref().is_some_and(|g| g.negate);
            self.pred(pred, negate);
        }
        if row.pieces.is_empty() {
            self.out.push_str(&op.insn.mnemonic);
            self.out.push_str(";\n");
            return;
        }
        self.out.push_str(&op.insn.mnemonic);
        let room = OPERANDS.saturating_sub(op.insn.mnemonic.len()).max(1);
        self.out.extend(std::iter::repeat_n(' ', room));
        for piece in row.pieces.iter() {
            match piece {
                Piece::Text(text) => self.out.push_str(text),
                Piece::Slot(i) => {
                    let slot = &row.slots[*i];
                    let operand = &op.operands[*i];
                    for (k, &atom) in operand.of(slot, rep).iter().enumerate() {
                        if k > 0 {
                            self.out.push_str(", ");
                        }
                        self.atom(slot, atom, operand.offset(rep));
                    }
                }
            }
        }
        self.out.push_str(";\n");
    }

    fn reg(&mut self, reg: VReg) {
        let class = self.func.class(reg);
        let number = &mut self.numbers[reg.0 as usize];
        if *number == 0 {
            let count = &mut self.counts[class as usize];
            *count += 1;
            *number = *count;
        }
        self.out.push_str(class.prefix());
        decimal(&mut self.out, (*number).into());
    }

    fn atom(&mut self, slot: &Slot, atom: Atom, offset: i64) {
        match atom {
            Atom::Reg(reg) => self.reg(reg),
            Atom::Shared(bytes) => {
                self.out.push_str("global_smem");
                return self.offset(bytes + offset);
            }
            Atom::Param(i) => {
                let _ = write!(self.out, "{}_param_{i}", self.func.name);
            }
            Atom::Global(i) => {
                let name = self.func.globals.get(i as usize);
                self.out.push_str(name.map_or("", String::as_str));
            }
            Atom::Special(name) => self.out.push_str(name),
            Atom::Imm(bits) => write_immediate(&mut self.out, slot, bits),
            Atom::Undef => self.out.push('0'),
        }
        if slot.role == Role::Address {
            self.offset(offset);
        }
    }

    fn offset(&mut self, offset: i64) {
        // `ptxas` reads `+-4`, but no `-4`.
        if offset != 0 {
            self.out.push('+');
            decimal(&mut self.out, offset);
        }
    }
}

/// A constant in an operand slot.
pub fn immediate(slot: &Slot, bits: u64) -> String {
    let mut out = String::new();
    write_immediate(&mut out, slot, bits);
    out
}

fn write_immediate(out: &mut String, slot: &Slot, bits: u64) {
    let _ = match (slot.immediate, slot.class) {
        (Immediate::Float, Class::B64) => write!(out, "0d{bits:016X}"),
        (Immediate::Float, _) => write!(out, "0f{:08X}", bits as u32),
        (Immediate::Hex, Class::B16) => write!(out, "0x{:x}", bits as u16),
        (Immediate::Hex, Class::B32) => write!(out, "0x{:x}", bits as u32),
        (Immediate::Hex, _) => write!(out, "0x{bits:x}"),
        (_, Class::Pred) => return decimal(out, (bits & 1) as i64),
        (_, Class::B16) => return decimal(out, (bits as u16 as i16).into()),
        (_, Class::B32) => return decimal(out, (bits as u32 as i32).into()),
        (_, Class::B64) => return decimal(out, bits as i64),
    };
}

/// Writes a number. Most of a kernel's text is numbers of registers, and the formatter takes several times as long.
fn decimal(out: &mut String, number: i64) {
    let mut digits = [0; 20];
    let (mut at, mut rest) = (digits.len(), number.unsigned_abs());
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        out.push('-');
    }
    out.push_str(std::str::from_utf8(&digits[at..]).unwrap_or_default());
}
