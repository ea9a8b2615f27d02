//! From an nvvm kernel to machine instructions: the walk over regions, and operations that are
//! only a renaming of registers.

use rustc_hash::FxHashMap;
use slotmap::SecondaryMap;

use super::build::{Builder, Fail, about, fail};
use super::choose::{Chooser, Tables};
use super::values::{Elem, Form};
use crate::dialect::enums::SpecialRegister;
use crate::dialect::nvvm;
use crate::dialect::nvvm::view::{self, View};
use crate::ir::{Attr, BlockId, Dense, Diagnostic, Module, Op, OpId, Type, ValueId};
use crate::machine::class::Class;
use crate::machine::mir::{Atom, Func, Label, Operand, Param, VReg};
use crate::target::Target;

/// What `continue` and `break` refer to.
pub(super) struct Loop {
    pub carried: Vec<Vec<VReg>>,
    pub next: Label,
    /// Where `break` goes, and the registers of the results; `None` for a counted loop.
    pub exit: Option<(Label, Vec<Vec<VReg>>)>,
}

/// Selection of one kernel.
pub struct Selector<'m> {
    pub module: &'m Module,
    pub b: Builder<'m>,
    pub(super) chooser: Chooser<'m>,
    values: SecondaryMap<ValueId, Vec<Atom>>,
    pub(super) loops: Vec<Loop>,
    /// Registers that are another one plus a constant: address slots take them apart.
    pub(super) offsets: FxHashMap<VReg, (Atom, i64)>,
    /// Descriptors of the matrix instructions being selected, by base and steps.
    pub(super) descriptors: FxHashMap<(Atom, i64), Atom>,
}

impl<'m> Selector<'m> {
    pub fn new(module: &'m Module, tables: &'m Tables, target: Target) -> Self {
        Self {
            module,
            b: Builder::new(&tables.insns, target),
            chooser: Chooser::new(tables, target),
            values: SecondaryMap::new(),
            loops: Vec::new(),
            offsets: FxHashMap::default(),
            descriptors: FxHashMap::default(),
        }
    }

    /// Selects the kernel `op` (an `nvvm.func`).
    pub fn func(mut self, op: OpId) -> Result<Func, Diagnostic> {
        match self.kernel(op) {
            Ok(()) => Ok(self.b.func),
            Err(diagnostic) => Err(*diagnostic),
        }
    }

    fn kernel(&mut self, id: OpId) -> Result<(), Fail> {
        let op = self.module.op(id);
        let Some(v) = view::Func::of(op) else {
            return fail("no kernel");
        };
        self.b.func.name = self.module.str(v.sym_name()).to_owned();
        self.b.func.block = v.reqntid() as u32;
        self.b.func.min_ctas = v.minctasm() as u32;
        self.b.func.max_regs = v.maxnreg().map(|n| n as u32);
        self.b.func.cluster = v.cluster_dim().and_then(|dims| {
            let dim = |i: usize| dims.get(i).map_or(1, |&d| d.max(1) as u32);
            let dims = [dim(0), dim(1), dim(2)];
            (dims != [1, 1, 1]).then_some(dims)
        });
        self.b.func.shared = v.smem_bytes() as u32;
        let Some(body) = self.module.body_of(id, 0) else {
            return fail("a kernel without a body");
        };
        let mut ops = 0;
        self.module.walk(body, &mut |_| ops += 1);
        self.b.func.insts.reserve(2 * ops);
        self.params(body)?;
        self.block(body)
    }

    fn params(&mut self, body: BlockId) -> Result<(), Fail> {
        for (i, &arg) in self.module.block(body).args.iter().enumerate() {
            let ty = self.module.ty(arg);
            let place = Operand {
                atoms: vec![Atom::Param(i as u32)],
                offsets: Vec::new(),
            };
            let atoms = if matches!(self.module.types.get(ty), Type::TensorMap) {
                self.b.func.params.push(Param::TensorMap);
                // Copies take a generic address; a parameter's own is one in .param.
                let place = self.b.value("@param64", &[&[Atom::Param(i as u32)]])?;
                self.b.value("cvta.param.u64", &[&place])?
            } else {
                let form = Form::of(&self.module.types, ty)?;
                self.b.func.params.push(match form.elem {
                    Elem::Global => Param::Pointer,
                    elem => Param::Scalar {
                        bits: elem.bits().max(8),
                    },
                });
                let load = match form.elem.bits() {
                    1 | 8 => "ld.param.b8",
                    16 => "ld.param.b16",
                    32 => "ld.param.b32",
                    _ => "ld.param.b64",
                };
                let loaded = self.b.op(load, 1, vec![place])?.concat();
                match form.elem {
                    Elem::Int(1) => self.b.value("setp.ne.u16", &[&loaded, &[Atom::Imm(0)]])?,
                    _ => loaded,
                }
            };
            self.values.insert(arg, atoms);
        }
        Ok(())
    }

    /// Selects the operations of a block, terminator included.
    pub fn block(&mut self, block: BlockId) -> Result<(), Fail> {
        for &op in &self.module.block(block).ops {
            let around = std::mem::replace(&mut self.b.loc, self.module.op(op).loc);
            self.operation(op)
                .map_err(|error| about(self.module, op, error))?;
            self.b.loc = around;
        }
        Ok(())
    }

    /// Selects one operation.
    pub(super) fn operation(&mut self, id: OpId) -> Result<(), Fail> {
        use nvvm::Op as N;
        let op = self.module.op(id);
        let Some(kind) = N::of(op.kind) else {
            return fail("no operation of another dialect may reach instruction selection");
        };
        if op.def().is_pure() {
            let value = match self.structural(op)? {
                Some(atoms) => atoms,
                None => match kind {
                    N::PtrAdd => self.pointer_add(op)?,
                    N::Select => self.select(op)?,
                    _ => self.computed(kind, op)?,
                },
            };
            return self.define(op, vec![value]);
        }
        if let Some(selected) = View::of(op).and_then(|view| self.memory(&view)) {
            return selected;
        }
        match kind {
            N::For | N::If | N::Loop | N::Yield | N::Continue | N::Break | N::Return => {
                self.control(id)
            }
            N::MmaSync | N::MmaScaled | N::Wgmma | N::WgmmaWait => self.matrix(op),
            N::TensorLd | N::TensorSt | N::TensorMma | N::TensorCopy | N::TensorMmaScaled => {
                self.tensor(op)
            }
            N::Settle => Ok(()),
            _ => self.sync(op),
        }
    }

    /// Binds the results of an operation to registers.
    pub fn define(&mut self, op: &Op, results: Vec<Vec<Atom>>) -> Result<(), Fail> {
        if op.results.len() != results.len() {
            return fail(format!(
                "{} results were selected, the operation has {}",
                results.len(),
                op.results.len()
            ));
        }
        for (&result, atoms) in op.results.iter().zip(results) {
            let form = self.form(result)?;
            if form.regs() != atoms.len() {
                return fail(format!(
                    "{} registers were selected for a value of {}",
                    atoms.len(),
                    form.regs()
                ));
            }
            self.values.insert(result, atoms);
        }
        Ok(())
    }

    /// Binds a block argument.
    pub fn bind(&mut self, value: ValueId, atoms: Vec<Atom>) {
        self.values.insert(value, atoms);
    }

    /// The registers of a value.
    pub fn get(&self, value: ValueId) -> Result<Vec<Atom>, Fail> {
        match self.values.get(value) {
            Some(atoms) => Ok(atoms.clone()),
            None => fail("an operand is used before it is defined"),
        }
    }

    /// The single register of a scalar.
    pub fn scalar(&self, value: ValueId) -> Result<Atom, Fail> {
        match self.get(value)?[..] {
            [atom] => Ok(atom),
            _ => fail("a scalar operand is an array"),
        }
    }

    pub fn form(&self, value: ValueId) -> Result<Form, Fail> {
        Form::of(&self.module.types, self.module.ty(value))
    }

    /// One atom per element of a value.
    pub fn elements(&mut self, value: ValueId) -> Result<Vec<Atom>, Fail> {
        let atoms = self.get(value)?;
        let form = self.form(value)?;
        self.b.unpack(form, &atoms)
    }

    /// The operand of group `i`, which has one.
    pub fn operand(&self, op: &Op, i: usize) -> Result<ValueId, Fail> {
        match op.optional(i) {
            Some(value) => Ok(value),
            None => fail(format!("operand {i} is missing")),
        }
    }

    /// The form of the operation's result.
    pub fn result_form(&self, op: &Op) -> Result<Form, Fail> {
        match op.results.first() {
            Some(&result) => self.form(result),
            None => fail("the operation has no result"),
        }
    }

    /// Operations that only rename registers.
    pub(super) fn structural(&mut self, op: &Op) -> Result<Option<Vec<Atom>>, Fail> {
        let form = self.result_form(op)?;
        let Some(view) = View::of(op) else {
            return Ok(None);
        };
        let atoms = match view {
            View::Const(v) => self.constant(v.value(), form)?,
            View::Undef(_) => vec![Atom::Undef; form.regs()],
            View::Splat(v) => {
                let element = self.elements(v.source())?;
                let [element] = element[..] else {
                    return fail("splat wants a scalar");
                };
                self.splat(element, form)?
            }
            View::Take(v) => self.take(&v, form)?,
            View::Concat(v) => self.concat(v.sources(), form)?,
            View::Sreg(v) => {
                let name = SPECIAL[v.register() as usize];
                self.b.value("@sreg", &[&[Atom::Special(name)]])?
            }
            View::SmemBase(v) => vec![Atom::Shared(v.offset())],
            View::AddressOf(v) => {
                let at = self.b.func.global(self.module.str(v.name()));
                self.b.value("@globaladdr", &[&[Atom::Global(at)]])?
            }
            View::Generic(v) => {
                let address = self.scalar(v.source())?;
                let address = Atom::Reg(self.b.register(Class::B32, address)?);
                let wide = self.b.value("cvt.u64.u32", &[&[address]])?;
                self.b.value("cvta.shared.u64", &[&wide])?
            }
            View::Bitcast(_) => {
                let source = self.operand(op, 0)?;
                let (from, atoms) = (self.form(source)?, self.get(source)?);
                self.bitcast(from, form, atoms)?
            }
            _ => return Ok(None),
        };
        Ok(Some(atoms))
    }

    /// Registers that all hold an element.
    fn splat(&mut self, element: Atom, form: Form) -> Result<Vec<Atom>, Fail> {
        let group = vec![element; form.per];
        let one = Form {
            n: form.per,
            ..form
        };
        let packed = self.b.pack(one, &group)?;
        Ok(vec![packed[0]; form.regs()])
    }

    fn constant(&mut self, data: &Attr, form: Form) -> Result<Vec<Atom>, Fail> {
        let Attr::Dense {
            data: Dense::Bytes(bytes),
            ..
        } = data
        else {
            return fail("constant data is missing");
        };
        let elements: Vec<Atom> = match form.elem {
            // A byte per element, of which the lowest bit counts.
            Elem::Int(1) => bytes.iter().map(|b| Atom::Imm(u64::from(b & 1))).collect(),
            elem => bytes
                .chunks(elem.bits().div_ceil(8) as usize)
                .map(|chunk| {
                    Atom::Imm(chunk.iter().rev().fold(0u64, |v, &b| v << 8 | u64::from(b)))
                })
                .collect(),
        };
        match elements.len() {
            1 => self.splat(elements[0], form),
            n if n == form.n => self.b.pack(form, &elements),
            n => fail(format!("{n} constants for {} registers", form.n)),
        }
    }

    fn take(&mut self, v: &view::Take<Op>, form: Form) -> Result<Vec<Atom>, Fail> {
        let (from, atoms) = (self.form(v.source())?, self.get(v.source())?);
        let indices = v.indices();
        if indices.len() != form.n || indices.iter().any(|&i| i < 0 || i as usize >= from.n) {
            return fail("'indices' do not fit the types");
        }
        let indices: Vec<usize> = indices.iter().map(|&i| i as usize).collect();
        let whole = indices.chunks(form.per).all(|group| {
            from.per == form.per
                && group[0].is_multiple_of(form.per)
                && group.iter().enumerate().all(|(k, &i)| i == group[0] + k)
        });
        if whole {
            let registers = indices.chunks(form.per).map(|g| atoms[g[0] / form.per]);
            return Ok(registers.collect());
        }
        if let Some((low, high, bytes)) = bytes_of_two(from, form, &atoms, &indices) {
            return self.b.value("prmt.b32", &[&low, &high, &bytes]);
        }
        let elements = self.b.unpack(from, &atoms)?;
        let taken: Vec<Atom> = indices.iter().map(|&i| elements[i]).collect();
        self.b.pack(form, &taken)
    }

    fn concat(&mut self, sources: &[ValueId], form: Form) -> Result<Vec<Atom>, Fail> {
        let forms = sources
            .iter()
            .map(|&s| self.form(s))
            .collect::<Result<Vec<_>, _>>()?;
        if forms.iter().map(|f| f.n).sum::<usize>() != form.n {
            return fail("the sources do not add up to the result");
        }
        let mut atoms = Vec::new();
        if forms.iter().all(|f| f.per == form.per) {
            for &source in sources {
                atoms.extend(self.get(source)?);
            }
            return Ok(atoms);
        }
        for &source in sources {
            atoms.extend(self.elements(source)?);
        }
        self.b.pack(form, &atoms)
    }

    /// The same bits in another form.
    pub fn bitcast(&mut self, from: Form, to: Form, atoms: Vec<Atom>) -> Result<Vec<Atom>, Fail> {
        if from.class == to.class && from.regs() == to.regs() && from.per.max(to.per) > 1
            || from.elem.bits() == to.elem.bits()
        {
            return Ok(atoms);
        }
        if from.class == Class::B32 && to.class == Class::B32 {
            return Ok(atoms);
        }
        let words = self.b.split_words(from, &atoms)?;
        self.b.join_words(to, &words)
    }
}

/// Names of the special registers, in the order of [`SpecialRegister`].
const SPECIAL: [&str; SpecialRegister::ALL.len()] = [
    "%tid.x",
    "%tid.y",
    "%tid.z",
    "%ctaid.x",
    "%ctaid.y",
    "%ctaid.z",
    "%nctaid.x",
    "%nctaid.y",
    "%nctaid.z",
    "%laneid",
    "%warpid",
    "%cluster_ctarank",
    "%clusterid.x",
    "%clusterid.y",
    "%clusterid.z",
    "%nclusterid.x",
    "%nclusterid.y",
    "%nclusterid.z",
];

/// An integer attribute.
pub(super) fn int(op: &Op, name: &str) -> Result<i64, Fail> {
    match op.attr_named(name) {
        Some(Attr::Int { value, .. }) => Ok(*value),
        _ => fail(format!("attribute '{name}' is missing")),
    }
}

/// Where each word of four bytes has bytes of one or two words of the source: these words, and the bytes as `prmt` picks
/// them.
fn bytes_of_two(
    from: Form,
    to: Form,
    atoms: &[Atom],
    indices: &[usize],
) -> Option<(Vec<Atom>, Vec<Atom>, Vec<Atom>)> {
    let registers = atoms.iter().all(|a| a.reg().is_some());
    if from.per != 4 || to.per != 4 || !registers || !indices.len().is_multiple_of(4) {
        return None;
    }
    let (mut low, mut high, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    for word in indices.chunks(4) {
        let first = word[0] / 4;
        let other = word.iter().map(|i| i / 4).find(|&w| w != first);
        let second = other.unwrap_or(first);
        let mut selector = 0;
        for (place, &index) in word.iter().enumerate() {
            let from = match index / 4 {
                w if w == first => index % 4,
                w if w == second => 4 + index % 4,
                _ => return None,
            };
            selector |= (from as u64) << (4 * place);
        }
        low.push(*atoms.get(first)?);
        high.push(*atoms.get(second)?);
        bytes.push(Atom::Imm(selector));
    }
    Some((low, high, bytes))
}
