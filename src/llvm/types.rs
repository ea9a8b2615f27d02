//! Types of LLVM's language, and how registers of nvvm are typed in it.

use crate::ir::Float;
use crate::isel::{Elem, Form};
use crate::target::Target;

/// Which of libNVVM's two dialects of LLVM's language a module is in.
///
/// Source: NVVM IR specification, "NVVM IR Dialects": up to `compute_90` the language of LLVM 7, whose
/// pointers have the type of what they point to and which has no `bfloat`; from `compute_100` on that of a
/// recent LLVM.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flavor {
    Legacy,
    Modern,
}

impl Flavor {
    pub fn of(target: Target) -> Self {
        match target.sm >= 100 {
            true => Flavor::Modern,
            false => Flavor::Legacy,
        }
    }
}

/// A type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Ty {
    Int(u32),
    Half,
    Bfloat,
    Float,
    Double,
    /// Two of 16 bits in a register.
    Halves,
    Bfloats,
    /// A byte in global memory.
    Global,
    Shared,
    Generic,
    /// So many i32, i64, float, double.
    Vector(u8, Scalar),
}

/// Elements of [`Ty::Vector`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Scalar {
    I32,
    I64,
    Float,
    Double,
}

impl Ty {
    /// As `flavor` writes it.
    pub fn text(self, flavor: Flavor) -> String {
        let named = |name: &str| name.to_owned();
        match self {
            Ty::Int(bits) => format!("i{bits}"),
            Ty::Half => named("half"),
            Ty::Bfloat => named("bfloat"),
            Ty::Float => named("float"),
            Ty::Double => named("double"),
            Ty::Halves => named("<2 x half>"),
            Ty::Bfloats => named("<2 x bfloat>"),
            Ty::Global | Ty::Shared | Ty::Generic => {
                let space = self.space().unwrap_or(0);
                pointer(flavor, "i8", space)
            }
            Ty::Vector(n, of) => format!("<{n} x {}>", of.ty().text(flavor)),
        }
    }

    /// Number of a pointer's address space.
    pub fn space(self) -> Option<u32> {
        match self {
            Ty::Global => Some(1),
            Ty::Shared => Some(3),
            Ty::Generic => Some(0),
            _ => None,
        }
    }

    pub fn bits(self) -> u32 {
        match self {
            Ty::Int(bits) => bits,
            Ty::Half | Ty::Bfloat => 16,
            Ty::Float | Ty::Halves | Ty::Bfloats | Ty::Shared => 32,
            Ty::Double | Ty::Global | Ty::Generic => 64,
            Ty::Vector(n, of) => u32::from(n) * of.ty().bits(),
        }
    }

    /// The name of this type in an overloaded intrinsic's.
    pub fn mangled(self) -> String {
        match self {
            Ty::Int(bits) => format!("i{bits}"),
            Ty::Half => "f16".into(),
            Ty::Bfloat => "bf16".into(),
            Ty::Float => "f32".into(),
            Ty::Double => "f64".into(),
            Ty::Halves => "v2f16".into(),
            Ty::Bfloats => "v2bf16".into(),
            Ty::Global | Ty::Shared | Ty::Generic => format!("p{}", self.space().unwrap_or(0)),
            Ty::Vector(n, of) => format!("v{n}{}", of.ty().mangled()),
        }
    }

    /// The type of one register of a value.
    pub fn of_register(form: Form) -> Ty {
        match form.per {
            1 => Ty::of_element(form.elem),
            _ => Ty::Int(32),
        }
    }

    /// The type of an element by itself, as values carry it.
    pub fn of_element(elem: Elem) -> Ty {
        match elem {
            Elem::Global => Ty::Global,
            Elem::Shared => Ty::Shared,
            Elem::Float(Float::F64) => Ty::Double,
            Elem::Float(Float::F32 | Float::TF32) => Ty::Float,
            _ => Ty::Int(elem.stored()),
        }
    }

    /// The type that arithmetic on `per` elements in one register has; `None` where there is none.
    pub fn of_arithmetic(elem: Elem, per: usize) -> Option<Ty> {
        match (elem, per) {
            (Elem::Float(Float::F16), 1) => Some(Ty::Half),
            (Elem::Float(Float::F16), 2) => Some(Ty::Halves),
            (Elem::Float(Float::BF16), 1) => Some(Ty::Bfloat),
            (Elem::Float(Float::BF16), 2) => Some(Ty::Bfloats),
            (elem, 1) => Some(Ty::of_element(elem)),
            (Elem::Int(_), _) => Some(Ty::Int(32)),
            _ => None,
        }
    }
}

impl Scalar {
    pub fn ty(self) -> Ty {
        match self {
            Scalar::I32 => Ty::Int(32),
            Scalar::I64 => Ty::Int(64),
            Scalar::Float => Ty::Float,
            Scalar::Double => Ty::Double,
        }
    }
}

/// A pointer to `to`, which a modern pointer doesn't say.
pub fn pointer(flavor: Flavor, to: &str, space: u32) -> String {
    match (flavor, space) {
        (Flavor::Legacy, 0) => format!("{to}*"),
        (Flavor::Legacy, _) => format!("{to} addrspace({space})*"),
        (Flavor::Modern, 0) => "ptr".to_owned(),
        (Flavor::Modern, _) => format!("ptr addrspace({space})"),
    }
}
