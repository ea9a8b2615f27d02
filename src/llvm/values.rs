//! Operations that only rename registers, and what packed registers are made of.

use super::body::Val;
use super::kernel::{Kernel, fail};
use super::types::{Flavor, Ty, pointer};
use crate::dialect::nvvm::Op as N;
use crate::dialect::nvvm::view::View;
use crate::ir::{Attr, Dense, Op, ValueId};
use crate::isel::{Fail, Form};

impl Kernel<'_, '_> {
    /// One value per element.
    pub fn elements(&mut self, value: ValueId) -> Result<Vec<Val>, Fail> {
        let form = self.form(value)?;
        let registers = self.get(value)?;
        Ok(self.unpack(form, &registers))
    }

    /// One value per element of `registers`.
    pub fn unpack(&mut self, form: Form, registers: &[Val]) -> Vec<Val> {
        match form.per {
            2 => registers.iter().flat_map(|r| self.halves(r)).collect(),
            4 => registers.iter().flat_map(|r| self.bytes(r)).collect(),
            _ => registers.to_vec(),
        }
    }

    /// Registers of `form`, of its elements.
    pub fn pack(&mut self, form: Form, elements: &[Val]) -> Vec<Val> {
        match form.per {
            2 => elements.chunks(2).map(|pair| self.join(pair)).collect(),
            4 => elements
                .chunks(4)
                .map(|four| self.join_bytes(four))
                .collect(),
            _ => elements.to_vec(),
        }
    }

    /// The type that a register of two halves is taken apart as: one that the target has registers for.
    fn pair(&self) -> (&'static str, Ty) {
        match self.body.flavor {
            Flavor::Legacy => ("<2 x half>", Ty::Half),
            Flavor::Modern => ("<2 x i16>", Ty::Int(16)),
        }
    }

    /// The 16-bit halves of a 32-bit register, low first.
    fn halves(&mut self, word: &Val) -> [Val; 2] {
        let (pair, half) = self.pair();
        let text = format!("bitcast {} to {pair}", self.body.typed(word));
        let name = self.body.def_other(&text);
        [0, 1].map(|i| {
            let text = format!("extractelement {pair} {name}, i32 {i}");
            let value = self.body.def(half, &text);
            self.body.cast(&value, Ty::Int(16))
        })
    }

    /// The inverse of [`Self::halves`]; a missing high half is anything.
    pub fn join(&mut self, halves: &[Val]) -> Val {
        let (pair, half) = self.pair();
        let mut so_far: std::rc::Rc<str> = "undef".into();
        for (i, value) in halves.iter().enumerate() {
            let value = self.body.cast(value, half);
            let value = self.body.typed(&value);
            so_far = self
                .body
                .def_other(&format!("insertelement {pair} {so_far}, {value}, i32 {i}"));
        }
        self.body
            .def(Ty::Int(32), &format!("bitcast {pair} {so_far} to i32"))
    }

    fn bytes(&mut self, word: &Val) -> Vec<Val> {
        let shifted = |k: &mut Self, by: u64| match by {
            0 => word.clone(),
            by => {
                let by = k.body.constant(Ty::Int(32), by);
                k.body.binary("lshr", word, &by)
            }
        };
        (0..4)
            .map(|i| {
                let moved = shifted(self, i * 8);
                self.body.convert("trunc", &moved, Ty::Int(8))
            })
            .collect()
    }

    fn join_bytes(&mut self, bytes: &[Val]) -> Val {
        let mut word: Option<Val> = None;
        for (i, byte) in bytes.iter().enumerate() {
            let wide = self.body.cast(byte, Ty::Int(32));
            let by = self.body.constant(Ty::Int(32), i as u64 * 8);
            word = Some(match word {
                None => wide,
                Some(below) => {
                    let moved = self.body.binary("shl", &wide, &by);
                    self.body.binary("or", &below, &moved)
                }
            });
        }
        word.unwrap_or_else(|| Val::undef(Ty::Int(32)))
    }

    /// The registers as 32-bit words, the first element lowest.
    pub fn words(&mut self, form: Form, registers: &[Val]) -> Result<Vec<Val>, Fail> {
        let int = |k: &mut Self, v: &Val| k.body.cast(v, Ty::Int(32));
        match (form.elem.stored(), form.per) {
            (1, _) => fail("i1 values have no bit pattern in memory order"),
            (64, _) => {
                let mut words = Vec::new();
                for register in registers {
                    let whole = self.body.cast(register, Ty::Int(64));
                    let by = self.body.constant(Ty::Int(64), 32);
                    let high = self.body.binary("lshr", &whole, &by);
                    words.push(self.body.convert("trunc", &whole, Ty::Int(32)));
                    words.push(self.body.convert("trunc", &high, Ty::Int(32)));
                }
                Ok(words)
            }
            (16, 1) => Ok(registers.chunks(2).map(|pair| self.join(pair)).collect()),
            (8, 1) => Ok(registers.chunks(4).map(|b| self.join_bytes(b)).collect()),
            _ => Ok(registers.iter().map(|r| int(self, r)).collect()),
        }
    }

    /// The inverse of [`Self::words`].
    pub fn of_words(&mut self, form: Form, words: &[Val]) -> Result<Vec<Val>, Fail> {
        match (form.elem.stored(), form.per) {
            (1, _) => fail("i1 values have no bit pattern in memory order"),
            (64, _) => {
                let mut registers = Vec::new();
                for pair in words.chunks(2) {
                    let [low, high] = pair else {
                        return fail("an odd number of words for 64-bit elements");
                    };
                    let (low, high) = (
                        self.body.convert("zext", low, Ty::Int(64)),
                        self.body.convert("zext", high, Ty::Int(64)),
                    );
                    let by = self.body.constant(Ty::Int(64), 32);
                    let high = self.body.binary("shl", &high, &by);
                    registers.push(self.body.binary("or", &low, &high));
                }
                Ok(registers)
            }
            (bits @ (8 | 16), 1) => {
                let whole = Form::new(form.elem, words.len() * (32 / bits as usize));
                let mut elements = self.unpack(whole, words);
                elements.truncate(form.n);
                Ok(elements)
            }
            _ => Ok(words.to_vec()),
        }
    }

    /// Operations that only rename registers; `None` for others.
    pub(super) fn structural(&mut self, kind: N, op: &Op) -> Result<Option<Vec<Val>>, Fail> {
        let Some(&result) = op.results.first() else {
            return Ok(None);
        };
        let form = self.form(result)?;
        let Some(view) = View::of(op) else {
            return fail("an operation of another form than its row's");
        };
        let values = match view {
            View::Const(_) => self.constant(op, form)?,
            View::Undef(_) => vec![Val::undef(Ty::of_register(form)); form.regs()],
            View::Splat(v) => {
                let elements = self.elements(v.source())?;
                let [element] = &elements[..] else {
                    return fail("splat wants a scalar");
                };
                let group = vec![element.clone(); form.per];
                let packed = self.pack(
                    Form {
                        n: form.per,
                        ..form
                    },
                    &group,
                );
                vec![packed[0].clone(); form.regs()]
            }
            View::Take(v) => self.take(v.source(), v.indices(), form)?,
            View::Concat(v) => self.concat(v.sources(), form)?,
            View::Sreg(v) => return Ok(self.special(v.register().text()).map(|v| vec![v])),
            View::SmemBase(v) => {
                let base = self.shared_base();
                let offset = self.body.constant(Ty::Int(32), v.offset() as u64);
                vec![self.body.advance(&base, &offset)]
            }
            View::AddressOf(v) => {
                let name = self.module.str(v.name());
                let size = self.global_size(name)?;
                let array = format!("[{size} x i8]");
                let from = pointer(self.body.flavor, &array, 1);
                let text = match self.body.flavor {
                    Flavor::Legacy => format!("bitcast ({from} @{name} to i8 addrspace(1)*)"),
                    Flavor::Modern => format!("@{name}"),
                };
                vec![Val::new(Ty::Global, text)]
            }
            View::Generic(v) => {
                let address = self.scalar(v.source())?;
                let generic = self.body.convert("addrspacecast", &address, Ty::Generic);
                vec![self.body.cast(&generic, Ty::of_register(form))]
            }
            View::PtrAdd(v) => {
                let (base, offset) = (self.get(v.base())?, self.get(v.offset())?);
                if base.len() != offset.len() {
                    return fail("base and offset differ in their register counts");
                }
                let pairs = base.iter().zip(offset.iter());
                pairs.map(|(b, o)| self.body.advance(b, o)).collect()
            }
            _ if kind == N::Bitcast => {
                let &[source] = &op.operands[..] else {
                    return fail("bitcast has one operand");
                };
                let (from, registers) = (self.form(source)?, self.get(source)?);
                self.bitcast(from, form, &registers)?
            }
            _ if kind == N::Select => self.choose(op)?,
            _ => return Ok(None),
        };
        Ok(Some(values))
    }

    fn constant(&mut self, op: &Op, form: Form) -> Result<Vec<Val>, Fail> {
        let Some(Attr::Dense {
            data: Dense::Bytes(bytes),
            ..
        }) = op.attr(0)
        else {
            return fail("constant data is missing");
        };
        let size = form.elem.bits().div_ceil(8) as usize;
        let bits = |chunk: &[u8]| chunk.iter().rev().fold(0u64, |v, &b| v << 8 | u64::from(b));
        let mut elements: Vec<u64> = bytes.chunks(size).map(bits).collect();
        if let [one] = elements[..] {
            elements = vec![one; form.n];
        }
        if elements.len() != form.n {
            return fail(format!(
                "{} constants for {} registers",
                elements.len(),
                form.n
            ));
        }
        let ty = Ty::of_register(form);
        let packed = elements.chunks(form.per).map(|group| {
            let shift = 32 / form.per as u32;
            let whole = |v: u64, &b: &u64| v << shift | b & ((1u64 << shift) - 1);
            match group {
                [one] => *one,
                group => group.iter().rev().fold(0u64, whole),
            }
        });
        let packed: Vec<u64> = packed.collect();
        Ok(packed
            .into_iter()
            .map(|b| self.body.constant(ty, b))
            .collect())
    }

    fn take(&mut self, source: ValueId, indices: &[i32], form: Form) -> Result<Vec<Val>, Fail> {
        let (from, registers) = (self.form(source)?, self.get(source)?);
        let fits = |&i: &i32| usize::try_from(i).is_ok_and(|i| i < from.n);
        if indices.len() != form.n || !indices.iter().all(fits) {
            return fail("'indices' do not fit the types");
        }
        let indices: Vec<usize> = indices.iter().map(|&i| i as usize).collect();
        let whole = indices.chunks(form.per).all(|group| {
            from.per == form.per
                && group[0].is_multiple_of(form.per)
                && group.iter().enumerate().all(|(k, &i)| i == group[0] + k)
        });
        if whole {
            let firsts = indices.chunks(form.per).map(|g| g[0] / form.per);
            return Ok(firsts.map(|i| registers[i].clone()).collect());
        }
        let elements = self.unpack(from, &registers);
        let taken: Vec<Val> = indices.iter().map(|&i| elements[i].clone()).collect();
        Ok(self.pack(form, &taken))
    }

    fn concat(&mut self, sources: &[ValueId], form: Form) -> Result<Vec<Val>, Fail> {
        let forms = sources.iter().map(|&s| self.form(s));
        let forms = forms.collect::<Result<Vec<_>, _>>()?;
        if forms.iter().map(|f| f.n).sum::<usize>() != form.n {
            return fail("the sources do not add up to the result");
        }
        let mut values = Vec::new();
        if forms.iter().all(|f| f.per == form.per) {
            for &source in sources {
                values.extend(self.get(source)?.iter().cloned());
            }
            return Ok(values);
        }
        for &source in sources {
            values.extend(self.elements(source)?);
        }
        Ok(self.pack(form, &values))
    }

    /// The same bits in another form.
    fn bitcast(&mut self, from: Form, to: Form, registers: &[Val]) -> Result<Vec<Val>, Fail> {
        let ty = Ty::of_register(to);
        if from.elem.bits() == to.elem.bits() {
            return Ok(registers.iter().map(|r| self.body.cast(r, ty)).collect());
        }
        let words = self.words(from, registers)?;
        let registers = self.of_words(to, &words)?;
        Ok(registers.iter().map(|r| self.body.cast(r, ty)).collect())
    }

    /// `select`: of whole registers where their elements go the same way.
    fn choose(&mut self, op: &Op) -> Result<Vec<Val>, Fail> {
        let &[condition, then, other] = &op.operands[..] else {
            return fail("select has three operands");
        };
        let form = self.form(then)?;
        let mut conditions = self.get(condition)?.to_vec();
        if let [one] = &conditions[..] {
            conditions = vec![one.clone(); form.n];
        }
        if conditions.len() != form.n {
            return fail("condition and values differ in their register counts");
        }
        let agree = |group: &[Val]| group.iter().all(|c| *c == group[0]);
        if conditions.chunks(form.per).all(agree) {
            let (a, b) = (self.get(then)?, self.get(other)?);
            let groups = conditions.chunks(form.per).zip(a.iter().zip(b.iter()));
            return Ok(groups
                .map(|(c, (a, b))| self.body.select(&c[0], a, b))
                .collect());
        }
        let (a, b) = (self.elements(then)?, self.elements(other)?);
        let picked = conditions.iter().zip(a.iter().zip(&b));
        let picked: Vec<Val> = picked
            .map(|(c, (a, b))| self.body.select(c, a, b))
            .collect();
        Ok(self.pack(form, &picked))
    }

    /// A special register, where an intrinsic reads it.
    fn special(&mut self, name: &str) -> Option<Val> {
        const READ: &[&str] = &["tid.", "ctaid.", "nctaid.", "laneid"];
        let known = READ.iter().any(|stem| name.starts_with(stem));
        known.then(|| self.call(&format!("llvm.nvvm.read.ptx.sreg.{name}"), Ty::Int(32), &[]))
    }

    /// Bytes of the global called `name`.
    fn global_size(&self, name: &str) -> Result<usize, Fail> {
        for &op in &self.module.block(self.module.body).ops {
            if let Some(View::Global(v)) = View::of(self.module.op(op))
                && self.module.str(v.sym_name()) == name
                && let Some(bytes) = self.module.bytes(op)
            {
                return Ok(bytes.len().max(1));
            }
        }
        fail(format!("there is no global '{name}'"))
    }
}
