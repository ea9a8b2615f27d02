//! The text of a function: instructions, values, blocks.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::rc::Rc;

use super::types::{Flavor, Ty, pointer};

/// A value: its name or a constant, and its type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Val {
    pub text: Rc<str>,
    pub ty: Ty,
}

impl Val {
    pub fn new(ty: Ty, text: impl Into<Rc<str>>) -> Self {
        Self {
            text: text.into(),
            ty,
        }
    }

    pub fn undef(ty: Ty) -> Self {
        Self::new(ty, "undef")
    }

    /// The constant of these bits.
    pub fn constant(ty: Ty, bits: u64, flavor: Flavor) -> Self {
        let text = match ty {
            Ty::Int(1) => (if bits & 1 == 1 { "true" } else { "false" }).to_owned(),
            Ty::Int(width) => {
                let shift = 64 - width.clamp(1, 64);
                (((bits << shift) as i64) >> shift).to_string()
            }
            Ty::Float => format!("0x{:016X}", widened(bits as u32)),
            Ty::Double => format!("0x{bits:016X}"),
            Ty::Half => format!("0xH{:04X}", bits as u16),
            Ty::Bfloat => format!("0xR{:04X}", bits as u16),
            _ if ty.space().is_some() && bits == 0 => "null".to_owned(),
            _ if ty.space().is_some() => {
                let width = ty.bits();
                format!("inttoptr (i{width} {bits} to {})", ty.text(flavor))
            }
            _ => {
                let width = ty.bits();
                format!("bitcast (i{width} {bits} to {})", ty.text(flavor))
            }
        };
        Self::new(ty, text)
    }

    /// Whether it is written as itself: no name.
    pub fn is_constant(&self) -> bool {
        !self.text.starts_with('%')
    }
}

/// The bits of an f32 as a double: how LLVM writes constants. NaNs keep their payload.
fn widened(bits: u32) -> u64 {
    let (sign, exponent, fraction) = (
        u64::from(bits >> 31),
        bits >> 23 & 0xff,
        u64::from(bits & 0x7f_ffff),
    );
    match exponent {
        0xff => sign << 63 | 0x7ff << 52 | fraction << 29,
        _ => f64::from(f32::from_bits(bits)).to_bits(),
    }
}

/// A value, and what it is from each block that jumps to where it stands.
pub type Phi = (Val, Vec<(Val, Rc<str>)>);

/// What a module has besides its functions' instructions, collected while they are written.
#[derive(Default)]
pub struct Module {
    /// Declarations, by name.
    pub declared: BTreeMap<String, String>,
    /// Texts that kernels print: names and contents.
    pub texts: Vec<(String, String)>,
}

/// A function's instructions.
pub struct Body {
    pub flavor: Flavor,
    lines: Vec<String>,
    values: u32,
    labels: u32,
    /// The block that is being written.
    pub here: Rc<str>,
    /// Whether it has no terminator yet.
    pub open: bool,
    /// What stands behind every instruction: where it comes from.
    pub place: String,
}

impl Body {
    pub fn new(flavor: Flavor) -> Self {
        Self {
            flavor,
            lines: vec!["entry:".to_owned()],
            values: 0,
            labels: 0,
            here: "entry".into(),
            open: true,
            place: String::new(),
        }
    }

    pub fn ty(&self, ty: Ty) -> String {
        ty.text(self.flavor)
    }

    /// `TYPE VALUE`.
    pub fn typed(&self, value: &Val) -> String {
        format!("{} {}", self.ty(value.ty), value.text)
    }

    pub fn constant(&self, ty: Ty, bits: u64) -> Val {
        Val::constant(ty, bits, self.flavor)
    }

    /// A name for a value that is written later.
    pub fn name(&mut self, ty: Ty) -> Val {
        self.values += 1;
        Val::new(ty, format!("%v{}", self.values))
    }

    pub fn new_label(&mut self, name: &str) -> Rc<str> {
        self.labels += 1;
        format!("{name}{}", self.labels).into()
    }

    /// An instruction without result.
    pub fn effect(&mut self, text: &str) {
        self.lines.push(format!("  {text}{}", self.place));
    }

    /// An instruction with a result of type `ty`.
    pub fn def(&mut self, ty: Ty, text: &str) -> Val {
        let value = self.name(ty);
        self.lines
            .push(format!("  {} = {text}{}", value.text, self.place));
        value
    }

    /// An instruction whose result's type is no [`Ty`], such as a structure: its name.
    pub fn def_other(&mut self, text: &str) -> Rc<str> {
        let value = self.name(Ty::Int(32));
        self.lines
            .push(format!("  {} = {text}{}", value.text, self.place));
        value.text
    }

    /// `OP TYPE a, b`, of the type of `a` unless said otherwise.
    pub fn binary(&mut self, op: &str, a: &Val, b: &Val) -> Val {
        let ty = match op.starts_with("icmp") || op.starts_with("fcmp") {
            true => Ty::Int(1),
            false => a.ty,
        };
        let text = format!("{op} {}, {}", self.typed(a), b.text);
        self.def(ty, &text)
    }

    /// `OP TYPE a to TYPE`.
    pub fn convert(&mut self, op: &str, a: &Val, to: Ty) -> Val {
        let text = format!("{op} {} to {}", self.typed(a), self.ty(to));
        self.def(to, &text)
    }

    pub fn select(&mut self, condition: &Val, a: &Val, b: &Val) -> Val {
        let text = format!(
            "select i1 {}, {}, {}",
            condition.text,
            self.typed(a),
            self.typed(b)
        );
        self.def(a.ty, &text)
    }

    /// The same bits as another type; between i8 and i16 the high half is zeros or dropped.
    pub fn cast(&mut self, value: &Val, to: Ty) -> Val {
        let from = value.ty;
        if from == to {
            return value.clone();
        }
        if &*value.text == "undef" {
            return Val::undef(to);
        }
        let is_pointer = |ty: Ty| ty.space().is_some();
        let is_int = |ty: Ty| matches!(ty, Ty::Int(_));
        match (is_pointer(from), is_pointer(to)) {
            (true, true) => {
                let bits = self.convert("ptrtoint", value, Ty::Int(from.bits()));
                self.cast(&bits, to)
            }
            (true, false) => {
                let bits = self.convert("ptrtoint", value, Ty::Int(from.bits()));
                self.cast(&bits, to)
            }
            (false, true) => {
                let bits = self.cast(value, Ty::Int(to.bits()));
                self.convert("inttoptr", &bits, to)
            }
            _ if from.bits() == to.bits() => self.convert("bitcast", value, to),
            _ if is_int(from) && is_int(to) && from.bits() < to.bits() => {
                self.convert("zext", value, to)
            }
            _ if is_int(from) && is_int(to) => self.convert("trunc", value, to),
            _ if is_int(from) => {
                let bits = self.cast(value, Ty::Int(to.bits()));
                self.cast(&bits, to)
            }
            _ => {
                let bits = self.cast(value, Ty::Int(from.bits()));
                self.cast(&bits, to)
            }
        }
    }

    /// `base` plus bytes.
    pub fn advance(&mut self, base: &Val, offset: &Val) -> Val {
        let text = format!(
            "getelementptr i8, {}, {}",
            self.typed(base),
            self.typed(offset)
        );
        self.def(base.ty, &text)
    }

    /// A pointer to `to` for an access, as text with its type.
    pub fn pointer_to(&mut self, pointer_value: &Val, to: Ty) -> String {
        if self.flavor == Flavor::Modern || to == Ty::Int(8) {
            return self.typed(pointer_value);
        }
        let space = pointer_value.ty.space().unwrap_or(0);
        let ty = pointer(self.flavor, &self.ty(to), space);
        let text = format!("bitcast {} to {ty}", self.typed(pointer_value));
        let name = self.def_other(&text);
        format!("{ty} {name}")
    }

    /// Starts a block.
    pub fn label(&mut self, label: &Rc<str>) {
        self.lines.push(format!("{label}:"));
        self.here = label.clone();
        self.open = true;
    }

    fn end(&mut self, text: &str) {
        self.effect(text);
        self.open = false;
    }

    pub fn jump(&mut self, to: &str) {
        self.end(&format!("br label %{to}"));
    }

    pub fn branch(&mut self, condition: &Val, yes: &str, no: &str) {
        let text = format!("br i1 {}, label %{yes}, label %{no}", condition.text);
        self.end(&text);
    }

    pub fn ret(&mut self) {
        self.end("ret void");
    }

    /// A place for phis, which are written when all that jump here are known.
    pub fn reserve(&mut self) -> usize {
        self.lines.push(String::new());
        self.lines.len() - 1
    }

    /// Writes phis at a reserved place: a value, and what it is from each block.
    pub fn fill(&mut self, at: usize, phis: &[Phi]) {
        let mut text = String::new();
        for (value, edges) in phis {
            let edges: Vec<String> = edges
                .iter()
                .map(|(from, block)| format!("[ {}, %{block} ]", from.text))
                .collect();
            if !text.is_empty() {
                text.push('\n');
            }
            let ty = self.ty(value.ty);
            let _ = write!(text, "  {} = phi {ty} {}", value.text, edges.join(", "));
        }
        if let Some(line) = self.lines.get_mut(at) {
            *line = text;
        }
    }

    /// What values are that come from several blocks.
    pub fn merge(&mut self, types: &[Ty], edges: &[(Rc<str>, Vec<Val>)]) -> Vec<Val> {
        let mut phis = Vec::new();
        let mut values = Vec::new();
        for (i, &ty) in types.iter().enumerate() {
            let from =
                |(block, all): &(Rc<str>, Vec<Val>)| Some((all.get(i)?.clone(), block.clone()));
            let incoming: Vec<(Val, Rc<str>)> = edges.iter().filter_map(from).collect();
            values.push(match &incoming[..] {
                [] => Val::undef(ty),
                [(only, _)] => only.clone(),
                [(first, _), rest @ ..]
                    if rest.iter().all(|(v, _)| v == first) && first.is_constant() =>
                {
                    first.clone()
                }
                _ => {
                    let value = self.name(ty);
                    phis.push((value.clone(), incoming));
                    value
                }
            });
        }
        if !phis.is_empty() {
            let at = self.reserve();
            self.fill(at, &phis);
        }
        values
    }

    /// All lines.
    pub fn text(self) -> String {
        let lines: Vec<String> = self.lines.into_iter().filter(|l| !l.is_empty()).collect();
        lines.join("\n")
    }
}
