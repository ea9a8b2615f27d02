//! Loads and stores that LLVM has: weak ones that no mask guards. Others are inline assembly.

use super::body::Val;
use super::kernel::{Kernel, fail};
use super::types::{Scalar, Ty};
use crate::dialect::enums::{Cache, Ordering, Space};
use crate::dialect::nvvm::view;
use crate::ir::{Float, Op, ValueId};
use crate::isel::{Elem, Fail, Form};

/// One access: its type in memory, and the values it moves.
struct Access {
    ty: Ty,
    /// The type of a word, and words per access.
    word: Ty,
    words: usize,
    bytes: u32,
}

impl Access {
    /// The access of `vec` elements of a value of `form`.
    fn of(form: Form, vec: usize) -> Option<Access> {
        let bytes = form.elem.bits() * vec as u32 / 8;
        let scalar = match form.elem {
            Elem::Float(Float::F32 | Float::TF32) => Scalar::Float,
            Elem::Float(Float::F64) => Scalar::Double,
            elem if elem.bits() == 64 => Scalar::I64,
            _ => Scalar::I32,
        };
        let word = match bytes {
            1 | 2 => Ty::Int(8 * bytes),
            _ => scalar.ty(),
        };
        let words = (8 * bytes / word.bits()) as usize;
        let ty = match words {
            0 => return None,
            1 => word,
            n @ (2 | 4 | 8) if bytes <= 32 => Ty::Vector(n as u8, scalar),
            _ => return None,
        };
        Some(Access {
            ty,
            word,
            words,
            bytes,
        })
    }
}

/// Elements that memory has as registers have them.
fn is_plain(form: Form) -> bool {
    form.elem.bits() >= 8
}

impl Kernel<'_, '_> {
    pub(super) fn is_plain_load(&self, v: &view::Ld<Op>) -> Result<bool, Fail> {
        let cached = matches!(v.cache(), Cache::Default | Cache::Nc) || v.space() == Space::Shared;
        Ok(v.order() == Ordering::Weak
            && v.mask().is_none()
            && cached
            && is_plain(self.form(v.result())?))
    }

    pub(super) fn is_plain_store(&self, v: &view::St<Op>) -> Result<bool, Fail> {
        let cached = v.cache() == Cache::Default || v.space() == Space::Shared;
        Ok(v.order() == Ordering::Weak
            && v.mask().is_none()
            && cached
            && is_plain(self.form(v.value())?))
    }

    /// One address per access.
    fn addresses(
        &mut self,
        addr: ValueId,
        space: Space,
        offsets: &[i64],
    ) -> Result<Vec<Val>, Fail> {
        let mut bases = self.get(addr)?.to_vec();
        if let [one] = &bases[..] {
            bases = vec![one.clone(); offsets.len()];
        }
        if bases.len() != offsets.len() {
            return fail(format!(
                "{} addresses and {} offsets",
                bases.len(),
                offsets.len()
            ));
        }
        let mut out = Vec::new();
        for (base, &offset) in bases.iter().zip(offsets) {
            let base = match space {
                Space::Generic => self.body.cast(base, Ty::Generic),
                _ => base.clone(),
            };
            out.push(match offset {
                0 => base,
                offset => {
                    let width = Ty::Int(base.ty.bits());
                    let offset = self.body.constant(width, offset as u64);
                    self.body.advance(&base, &offset)
                }
            });
        }
        Ok(out)
    }

    pub(super) fn load(&mut self, v: &view::Ld<Op>) -> Result<(), Fail> {
        let form = self.form(v.result())?;
        let (vec, offsets) = (v.vec().max(1) as usize, v.offsets());
        if vec * offsets.len() != form.n {
            return fail("'vec' and 'offsets' do not fit the type");
        }
        let Some(access) = Access::of(form, vec) else {
            return fail(format!("an access of {vec} elements of {}", form.elem));
        };
        // What no thread writes while the kernel runs.
        let constant = match (v.cache(), v.space()) {
            (Cache::Nc, Space::Global) => ", !invariant.load !0",
            _ => "",
        };
        let mut words = Vec::new();
        for address in self.addresses(v.addr(), v.space(), offsets)? {
            let pointer = self.body.pointer_to(&address, access.ty);
            let (ty, align) = (self.body.ty(access.ty), access.bytes);
            let text = format!("load {ty}, {pointer}, align {align}{constant}");
            let loaded = self.body.def(access.ty, &text);
            match access.words {
                1 => words.push(loaded),
                n => {
                    for i in 0..n {
                        let text = format!("extractelement {}, i32 {i}", self.body.typed(&loaded));
                        words.push(self.body.def(access.word, &text));
                    }
                }
            }
        }
        let registers = self.registers_of(form, vec, words);
        self.define(v.op(), vec![registers])
    }

    /// Registers of `form`, of the words that accesses of `vec` elements moved.
    fn registers_of(&mut self, form: Form, vec: usize, words: Vec<Val>) -> Vec<Val> {
        let bits = form.elem.bits() as usize * vec;
        if bits >= 32 {
            return words;
        }
        let elements = match (form.elem.bits(), vec) {
            (8, 2) => {
                let by = self.body.constant(Ty::Int(16), 8);
                let mut bytes = Vec::new();
                for pair in &words {
                    let high = self.body.binary("lshr", pair, &by);
                    bytes.push(self.body.convert("trunc", pair, Ty::Int(8)));
                    bytes.push(self.body.convert("trunc", &high, Ty::Int(8)));
                }
                bytes
            }
            _ => words,
        };
        self.pack(form, &elements)
    }

    /// The inverse of [`Self::registers_of`].
    fn accessed_of(&mut self, form: Form, vec: usize, registers: &[Val]) -> Vec<Val> {
        let bits = form.elem.bits() as usize * vec;
        if bits >= 32 {
            return registers.to_vec();
        }
        let elements = self.unpack(form, registers);
        match (form.elem.bits(), vec) {
            (8, 2) => {
                let by = self.body.constant(Ty::Int(16), 8);
                let mut pairs = Vec::new();
                for pair in elements.chunks(2) {
                    let wide: Vec<Val> = pair
                        .iter()
                        .map(|b| self.body.cast(b, Ty::Int(16)))
                        .collect();
                    pairs.push(match &wide[..] {
                        [low, high] => {
                            let high = self.body.binary("shl", high, &by);
                            self.body.binary("or", low, &high)
                        }
                        _ => wide[0].clone(),
                    });
                }
                pairs
            }
            _ => elements,
        }
    }

    pub(super) fn store(&mut self, v: &view::St<Op>) -> Result<(), Fail> {
        let form = self.form(v.value())?;
        let (vec, offsets) = (v.vec().max(1) as usize, v.offsets());
        if vec * offsets.len() != form.n {
            return fail("'vec' and 'offsets' do not fit the type");
        }
        let Some(access) = Access::of(form, vec) else {
            return fail(format!("an access of {vec} elements of {}", form.elem));
        };
        let registers = self.get(v.value())?;
        let words = self.accessed_of(form, vec, &registers);
        let words: Vec<Val> = words
            .iter()
            .map(|w| self.body.cast(w, access.word))
            .collect();
        let addresses = self.addresses(v.addr(), v.space(), offsets)?;
        for (address, words) in addresses.iter().zip(words.chunks(access.words)) {
            let value = match words {
                [one] => one.clone(),
                words => {
                    let mut so_far = Val::undef(access.ty);
                    for (i, word) in words.iter().enumerate() {
                        let text = format!(
                            "insertelement {}, {}, i32 {i}",
                            self.body.typed(&so_far),
                            self.body.typed(word)
                        );
                        so_far = self.body.def(access.ty, &text);
                    }
                    so_far
                }
            };
            let pointer = self.body.pointer_to(address, access.ty);
            let text = format!(
                "store {}, {pointer}, align {}",
                self.body.typed(&value),
                access.bytes
            );
            self.body.effect(&text);
        }
        Ok(())
    }
}
