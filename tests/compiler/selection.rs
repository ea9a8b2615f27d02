//! Every row of `isel/select/*.sel`, run in the PTX simulator against the arithmetic of the
//! evaluator (`rules::semantics`): two implementations that share no code.

use crate::nvvm;
use std::collections::{BTreeMap, BTreeSet};

use nvvm::{Kernel, element};
use ptxsim::{Arg, Buffer, Launch, Module as Ptx};
use tilec::dialect::nvvm::Op as N;
use tilec::dialect::{OpDef, OpKind, ResultType};
use tilec::facts::Leaf;
use tilec::facts::semantics::{self, Attrs, Element, Outcome, Scalar};
use tilec::ir::{Attr, EnumAttr, Float, TypeId, ValueId};
use tilec::isel::proof::attributes;
use tilec::isel::{Chooser, Form, Tables};
use tilec::target::Target;

const THREADS: usize = 128;
const ELEMENTS: &[&str] = &[
    "i1", "i4", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "tf32", "f64", "f8E4M3FN",
    "f8E5M2",
];

/// An operation on operands of given element types.
#[derive(Clone, Debug)]
struct Case {
    op: N,
    attrs: Vec<Leaf>,
    operands: Vec<&'static str>,
    result: &'static str,
}

impl Case {
    fn def(&self) -> &'static OpDef {
        OpKind::from(self.op).def()
    }

    fn scalar(name: &str) -> Scalar {
        match Float::NAMES.iter().find(|(_, n)| *n == name) {
            Some((f, _)) => Scalar::Float(*f),
            None => Scalar::Int(name[1..].parse().expect("i and a width")),
        }
    }

    /// What one element of the result should be.
    fn expected(&self, args: &[u64]) -> Outcome {
        let args: Vec<Element> = args
            .iter()
            .zip(&self.operands)
            .map(|(&bits, name)| (bits, Self::scalar(name)))
            .collect();
        let attrs = |i: usize| self.attrs.get(i).copied().unwrap_or(Leaf::Absent);
        semantics::eval(
            self.op.into(),
            Attrs(&attrs),
            &args,
            Self::scalar(self.result),
        )
    }

    /// Relative and absolute error that PTX allows (PTX ISA, the section of each instruction).
    fn tolerance(&self) -> (f64, f64) {
        const APPROX: Leaf = Leaf::Enum(4);
        const FULL: Leaf = Leaf::Enum(5);
        match self.op {
            N::FDiv if matches!(self.attrs[0], APPROX | FULL) => (2f64.powi(-22), 0.0),
            N::Sqrt | N::Rcp if self.attrs[0] == APPROX => (2f64.powi(-22), 0.0),
            N::Rsqrt => (2f64.powi(-22), 0.0),
            N::Ex2 if self.result == "f32" => (2f64.powi(-22), 0.0),
            N::Ex2 if self.result == "f16" => (2f64.powi(-9), 0.0),
            N::Ex2 => (2f64.powi(-7), 0.0),
            N::Lg2 => (2f64.powi(-21), 2f64.powi(-20)),
            N::Sin | N::Cos => (0.0, 2f64.powi(-20)),
            N::Tanh if self.result == "f32" => (2f64.powi(-10), 0.0),
            N::Tanh if self.result == "f16" => (2f64.powi(-9), 2f64.powi(-10)),
            N::Tanh => (2f64.powi(-7), 2f64.powi(-8)),
            _ => (0.0, 0.0),
        }
    }

    /// Whether PTX says nothing of an approximation at these arguments: far from zero for `sin` and
    /// `cos`, beyond 2^126 for approximate divisors, below the normal range.
    fn open(&self, args: &[u64]) -> bool {
        if self.tolerance() == (0.0, 0.0) {
            return false;
        }
        args.iter().zip(&self.operands).any(|(&bits, name)| {
            let Scalar::Float(f) = Self::scalar(name) else {
                return false;
            };
            let value = f.decode(bits).abs();
            match self.op {
                N::Sin | N::Cos => value > std::f64::consts::PI,
                _ => value > 2f64.powi(126) || value < 2f64.powi(-126) && value != 0.0,
            }
        })
    }

    fn agrees(&self, got: u64, want: u64) -> bool {
        let Scalar::Float(f) = Self::scalar(self.result) else {
            return got == want;
        };
        if f.is_nan(want) {
            return f.is_nan(got);
        }
        let (relative, absolute) = self.tolerance();
        if got == want || (relative, absolute) == (0.0, 0.0) {
            return got == want;
        }
        let (got, want) = (f.decode(got), f.decode(want));
        // Approximations flush results below the normal range or leave them.
        let tiny = 2f64.powi(-126);
        (got - want).abs() <= (want.abs() * relative).max(absolute)
            || got.abs() <= tiny && want.abs() <= tiny
    }
}

/// All type signatures that an operation may have.
fn signatures(op: N) -> Vec<(Vec<&'static str>, &'static str)> {
    let def = OpKind::from(op).def();
    let mut out = Vec::new();
    for &first in ELEMENTS {
        let arity = def.operands.len();
        let last: &[&str] = match op {
            N::MadWideS | N::MadWideU => &["i64"],
            N::ICmpAnd | N::ICmpOr => &["i1"],
            _ => &[first],
        };
        for &last in last {
            let mut operands = vec![first; arity];
            if arity == 3 {
                operands[2] = last;
            }
            match def.results.first().map(|r| r.ty) {
                Some(ResultType::Operand(i)) => out.push((operands.clone(), operands[i as usize])),
                Some(ResultType::BoolLike(_)) => out.push((operands, "i1")),
                _ => out.extend(ELEMENTS.iter().map(|&result| (operands.clone(), result))),
            }
        }
    }
    out
}

/// Deterministic operands: special and random values.
struct Inputs {
    random: tilec::rules::Random,
}

impl Inputs {
    /// A value's bits. A tf32 in a register has its low 13 bits clear.
    fn draw(&mut self, name: &str) -> u64 {
        let bits = self.random.value(Case::scalar(name));
        if name == "tf32" { bits & !0x1fff } else { bits }
    }
}

/// How an element lies in the buffers: i1 and i4 as bytes.
fn stored(name: &'static str) -> &'static str {
    if matches!(name, "i1" | "i4") {
        "i8"
    } else {
        name
    }
}

fn bytes(name: &'static str) -> usize {
    Case::scalar(stored(name)).bits().div_ceil(8) as usize
}

/// Address of thread `tid`'s part of a buffer.
fn at_thread(k: &mut Kernel, base: ValueId, size: usize) -> ValueId {
    let i64 = k.int(64);
    let tid = k.tid();
    let tid = k.value(N::ZExt, &[tid], vec![], i64);
    let size = k.constant(i64, size as i64);
    let offset = k.value(N::Mul, &[tid, size], vec![], i64);
    let ty = k.module.ty(base);
    k.value(N::PtrAdd, &[base, offset], vec![], ty)
}

/// Loads a thread's elements.
fn load(k: &mut Kernel, base: ValueId, name: &'static str, n: u32) -> ValueId {
    let addr = at_thread(k, base, bytes(name) * n as usize);
    let elem = element(k, stored(name));
    let ty = k.module.types.regs(elem, n);
    let loaded = k.load(addr, ty, 1);
    if stored(name) == name {
        return loaded;
    }
    let elem = element(k, name);
    let ty = k.module.types.regs(elem, n);
    k.value(N::Trunc, &[loaded], vec![], ty)
}

/// Stores a thread's elements.
fn store(k: &mut Kernel, base: ValueId, name: &'static str, n: u32, value: ValueId) {
    let addr = at_thread(k, base, bytes(name) * n as usize);
    if stored(name) == name {
        return k.store(addr, value);
    }
    let i8 = k.int(8);
    let ty = k.module.types.regs(i8, n);
    if name == "i4" {
        let value = k.value(N::ZExt, &[value], vec![], ty);
        return k.store(addr, value);
    }
    let constant = |k: &mut Kernel, v: i64| {
        let c = k.constant(i8, v);
        k.value(N::Splat, &[c], vec![], ty)
    };
    let (one, zero) = (constant(k, 1), constant(k, 0));
    let value = k.value(N::Select, &[value, one, zero], vec![], ty);
    k.store(addr, value);
}

/// The attribute of a leaf.
fn attribute(k: &mut Kernel, leaf: Leaf) -> Option<Attr> {
    match leaf {
        Leaf::Enum(case) => Some(Attr::Enum(EnumAttr(case))),
        Leaf::Unit => Some(Attr::Unit),
        Leaf::Int(value) => k.i(value),
        _ => None,
    }
}

/// Runs one case on arrays of `n` elements per thread and compares every element.
fn run(case: &Case, n: u32, tables: &Tables, target: Target) -> Result<(), String> {
    let mut k = Kernel::new();
    let ptr = k.ptr();
    let params: Vec<ValueId> = (0..=case.operands.len()).map(|_| k.param(ptr)).collect();
    let sources: Vec<ValueId> = case
        .operands
        .iter()
        .zip(&params)
        .map(|(name, &base)| load(&mut k, base, name, n))
        .collect();
    let elem = element(&mut k, case.result);
    let ty: TypeId = k.module.types.regs(elem, n);
    let attrs = case
        .attrs
        .iter()
        .map(|&leaf| attribute(&mut k, leaf))
        .collect();
    let value = k.value(case.op, &sources, attrs, ty);
    store(&mut k, params[case.operands.len()], case.result, n, value);
    k.finish();
    let text = k.select(tables, target)?;

    let mut inputs = Inputs {
        random: tilec::rules::Random::named(case.def().name),
    };
    let total = THREADS * n as usize;
    // Where all lanes must agree, they have the first one's values.
    let different = match case.op {
        N::WarpUniform => n as usize,
        _ => total,
    };
    let mut values: Vec<Vec<u64>> = case
        .operands
        .iter()
        .map(|name| (0..different).map(|_| inputs.draw(name)).collect())
        .collect();
    for values in &mut values {
        *values = values.iter().copied().cycle().take(total).collect();
    }
    let mut buffers: Vec<Buffer> = Vec::new();
    for (name, values) in case.operands.iter().zip(&values) {
        let width = bytes(name);
        let bytes = values
            .iter()
            .flat_map(|v| v.to_le_bytes()[..width].to_vec())
            .collect();
        buffers.push(Buffer {
            name: "operand".into(),
            bytes,
        });
    }
    buffers.push(Buffer {
        name: "result".into(),
        bytes: vec![0; total * bytes(case.result)],
    });

    let ptx = Ptx::new(text.clone()).map_err(|e| format!("{e}\n{text}"))?;
    let program = ptx.entry(None).map_err(|e| format!("{e}\n{text}"))?;
    let mut launch = Launch::new(&program);
    launch.grid = [1, 1, 1];
    launch.block = [THREADS as u32, 1, 1];
    launch.args = (0..buffers.len()).map(Arg::buffer).collect();
    launch.buffers = buffers;
    launch.run().map_err(|e| format!("{e}\n{text}"))?;

    let width = bytes(case.result);
    let results = &launch.buffers[case.operands.len()].bytes;
    for i in 0..total {
        let args: Vec<u64> = values.iter().map(|v| v[i]).collect();
        let want = match case.expected(&args) {
            Outcome::Value(want) => want,
            Outcome::Undefined => continue,
            Outcome::Unknown => return Err("has no semantics".into()),
        };
        let mut got = [0; 8];
        got[..width].copy_from_slice(&results[i * width..][..width]);
        let got = u64::from_le_bytes(got);
        if !case.open(&args) && !case.agrees(got, want) {
            return Err(format!(
                "of {args:x?} is {got:x}, should be {want:x}\n{text}"
            ));
        }
    }
    Ok(())
}

/// Every case that the tables have a row for on a target, with that row.
fn cases(tables: &Tables, target: Target) -> Vec<(Case, u32, usize)> {
    let mut chooser = Chooser::new(tables, target);
    let mut cases = Vec::new();
    for &op in N::ALL {
        if !tables.patterns.covers(op.into()) {
            continue;
        }
        for (operands, result) in signatures(op) {
            for attrs in attributes(OpKind::from(op).def()) {
                let case = Case {
                    op,
                    attrs,
                    operands: operands.clone(),
                    result,
                };
                for n in [1, 2, 3, 4] {
                    if let Some(row) = choose(&mut chooser, &case, n) {
                        cases.push((case.clone(), n, row));
                    }
                }
            }
        }
    }
    cases
}

/// Runs every case of a target.
fn sweep(target: &str) {
    let tables = Tables::load(None).expect("the built-in tables");
    let target: Target = target.parse().expect("a target");
    let places = tables.patterns.places();
    let mut wrong: BTreeMap<&String, Vec<String>> = BTreeMap::new();
    for (case, n, row) in cases(&tables, target) {
        if let Err(why) = run(&case, n, &tables, target) {
            let what = format!("{n} x {case:?} {why}");
            wrong.entry(&places[row]).or_default().push(what);
        }
    }
    for (place, cases) in &wrong {
        eprintln!("{place}: {} cases, the first: {}", cases.len(), cases[0]);
    }
    assert!(wrong.is_empty(), "{} rows are wrong", wrong.len());
}

/// The row that would be chosen.
fn choose(chooser: &mut Chooser, case: &Case, n: u32) -> Option<usize> {
    let mut k = Kernel::new();
    let mut form = |name: &str| {
        let elem = element(&mut k, name);
        let ty = k.module.types.regs(elem, n);
        Form::of(&k.module.types, ty).ok()
    };
    let operands = case
        .operands
        .iter()
        .map(|name| form(name))
        .collect::<Option<Vec<_>>>()?;
    let result = form(case.result)?;
    let choice = chooser.choose(case.op.into(), &case.attrs, &operands, result)?;
    Some(choice.candidate.row)
}

#[test]
fn rows_of_sm_75() {
    sweep("sm_75");
}

#[test]
fn rows_of_sm_80() {
    sweep("sm_80");
}

#[test]
fn rows_of_sm_90a() {
    sweep("sm_90a");
}

#[test]
fn every_row_is_chosen_for_something() {
    let tables = Tables::load(None).expect("the built-in tables");
    let mut used = BTreeSet::new();
    for target in ["sm_75", "sm_80", "sm_90a"] {
        let target: Target = target.parse().expect("a target");
        used.extend(cases(&tables, target).into_iter().map(|(_, _, row)| row));
    }
    let places = tables.patterns.places();
    let unused: Vec<&String> = places
        .iter()
        .enumerate()
        .filter(|(i, _)| !used.contains(i))
        .map(|(_, p)| p)
        .collect();
    assert!(unused.is_empty(), "rows that no case reaches: {unused:?}");
}
