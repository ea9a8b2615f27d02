//! Block-scaled `mma.sync`.

use super::build::{Fail, fail};
use super::select::{Selector, int, ints};
use crate::ir::{Attr, Float, Op, Type};
use crate::layout::scales::Side;
use crate::machine::mir::{Atom, Operand, VReg};

/// Scales of an operand as the instructions take them: registers, and their selectors.
#[derive(Default)]
struct Scales {
    words: Vec<Atom>,
    bytes: Vec<Atom>,
    threads: Vec<Atom>,
}

impl Scales {
    /// Those of one more instruction, whose first scale has the number `first`.
    fn push(&mut self, side: Side, words: &[Atom], first: u64) -> Result<(), Fail> {
        let at = side.select(first);
        let Some(&word) = words.get(at.word as usize) else {
            return fail("fewer scales than the tiles need");
        };
        self.words.push(word);
        self.bytes.push(Atom::Imm(at.byte));
        self.threads.push(Atom::Imm(at.thread));
        Ok(())
    }

    fn operands(self) -> [Operand; 3] {
        [self.words, self.bytes, self.threads].map(Operand::from)
    }
}

impl Selector<'_> {
    pub(super) fn mma_scaled(&mut self, op: &Op) -> Result<(), Fail> {
        let form = self.result_form(op)?;
        let (shape, tiles, per) = (ints(op, "shape")?, ints(op, "tiles")?, int(op, "scales")?);
        let (&[m, n, k], &[mt, nt, kt]) = (&shape[..], &tiles[..]) else {
            return fail("'shape' and 'tiles' have three entries each");
        };
        let (mt, nt, kt, per) = (mt as usize, nt as usize, kt as usize, per as u64);
        let [a_type, b_type] = [
            self.multiplicand(op, "a_type", "")?,
            self.multiplicand(op, "b_type", "")?,
        ];
        let scale_type = self.scale(op)?;
        let kind = match (per, scale_type) {
            (1, "ue8m0") => "mxf8f6f4",
            (2, "ue8m0") => "mxf4",
            (4, _) => "mxf4nvf4",
            _ => return fail(format!("no matrix unit takes {per} scales of {scale_type}")),
        };
        let name = format!(
            "mma.sync.aligned.m{m}n{n}k{k}.row.col.kind::{kind}.block_scale.scale_vec::{per}X.f32.{a_type}.{b_type}.f32.{scale_type}"
        );
        let insn = self.b.insn(&name)?;
        let (a, b) = (self.words(op, 0)?, self.words(op, 1)?);
        let c = self.get(self.operand(op, 2)?)?;
        let (a_scales, b_scales) = (self.words(op, 3)?, self.words(op, 4)?);
        if a.len() != mt * kt * 4 || b.len() != nt * kt * 2 || c.len() != mt * nt * 4 {
            return fail("the operands' registers do not add up to the tiles");
        }
        let result: Vec<VReg> = c.iter().map(|_| self.b.func.new_reg(form.class)).collect();
        let result_atoms: Vec<Atom> = result.iter().copied().map(Atom::Reg).collect();
        for step in 0..kt {
            let (mut av, mut bv) = (Vec::new(), Vec::new());
            let (mut sa, mut sb) = (Scales::default(), Scales::default());
            let first = |tile: usize| (tile * kt + step) as u64 * per;
            for (i, j) in (0..mt).flat_map(|i| (0..nt).map(move |j| (i, j))) {
                av.extend_from_slice(&a[(i * kt + step) * 4..][..4]);
                bv.extend_from_slice(&b[(j * kt + step) * 2..][..2]);
                sa.push(Side::A, &a_scales, first(i))?;
                sb.push(Side::B, &b_scales, first(j))?;
            }
            let source = if step == 0 { &c } else { &result_atoms };
            let mut operands: Vec<Operand> = vec![av.into(), bv.into(), source.clone().into()];
            operands.extend(sa.operands());
            operands.extend(sb.operands());
            let into = Some(vec![result.clone()]);
            self.b.emit(insn.clone(), mt * nt, operands, None, into)?;
        }
        self.define(op, vec![result_atoms])
    }

    /// PTX name of the scales' type.
    fn scale(&self, op: &Op) -> Result<&'static str, Fail> {
        let Some(Attr::Type(ty)) = op.attr_named("scale_type") else {
            return fail("attribute 'scale_type' is missing");
        };
        match self.module.types.get(*ty) {
            Type::Float(Float::F8E8M0FNU) => Ok("ue8m0"),
            Type::Float(Float::F8E4M3FN) => Ok("ue4m3"),
            other => fail(format!("no matrix unit scales by {other:?}")),
        }
    }
}
