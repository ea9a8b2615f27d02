//! Which types an operand or result may have, and what messages call them.

use crate::scalar::FloatFormat;

/// What a type may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Is {
    /// A tile with one of these elements.
    Tile {
        elems: &'static [Elem],
        scalar: bool,
        /// What messages call it.
        label: &'static str,
    },
    AnyTile,
    Token,
    TensorView,
    /// Any of the three views that have tiles.
    TileView,
    PartitionView,
    StridedView,
    GatherScatterView,
    Any,
}

/// An element type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Elem {
    I(u32),
    F(FloatFormat),
    Pointer,
}

const fn tile(elems: &'static [Elem]) -> Is {
    Is::Tile {
        elems,
        scalar: false,
        label: "tile",
    }
}

const fn scalar(elems: &'static [Elem]) -> Is {
    Is::Tile {
        elems,
        scalar: true,
        label: "0D tile",
    }
}

const fn labelled(label: &'static str, elems: &'static [Elem]) -> Is {
    Is::Tile {
        elems,
        scalar: false,
        label,
    }
}

const F16: Elem = Elem::F(FloatFormat::F16);
const BF16: Elem = Elem::F(FloatFormat::BF16);
const F32: Elem = Elem::F(FloatFormat::F32);
const F64: Elem = Elem::F(FloatFormat::F64);
const TF32: Elem = Elem::F(FloatFormat::TF32);
const E4M3: Elem = Elem::F(FloatFormat::F8E4M3FN);
const E5M2: Elem = Elem::F(FloatFormat::F8E5M2);
const E8M0: Elem = Elem::F(FloatFormat::F8E8M0FNU);
const E2M1: Elem = Elem::F(FloatFormat::F4E2M1FN);
const E5M3: Elem = Elem::F(FloatFormat::F8E5M3FNU);
const I1: Elem = Elem::I(1);
const I8: Elem = Elem::I(8);
const I16: Elem = Elem::I(16);
const I32: Elem = Elem::I(32);
const I64: Elem = Elem::I(64);

const INTS: &[Elem] = &[I1, I8, I16, I32, I64];
pub const INT: Is = tile(INTS);
pub const INT_I4: Is = tile(&[I1, I8, I16, I32, I64, Elem::I(4)]);
pub const SMALL_INT: Is = tile(&[I1, I8, I16, I32]);
pub const BASE_FLOAT: Is = tile(&[F16, BF16, F32, F64]);
pub const FLOAT: Is = tile(&[F16, BF16, F32, F64, TF32, E4M3, E5M2, E8M0, E2M1, E5M3]);
pub const NUMBER: Is = tile(&[
    I1, I8, I16, I32, I64, F16, BF16, F32, F64, TF32, E4M3, E5M2, E8M0, E2M1, E5M3,
]);
pub const NUMBER_I4: Is = tile(&[
    I1,
    I8,
    I16,
    I32,
    I64,
    F16,
    BF16,
    F32,
    F64,
    TF32,
    E4M3,
    E5M2,
    E8M0,
    E2M1,
    E5M3,
    Elem::I(4),
]);
pub const BOOL: Is = tile(&[I1]);
pub const BYTES: Is = tile(&[I8]);
pub const LONG: Is = tile(&[I64]);
pub const POINTER: Is = tile(&[Elem::Pointer]);
pub const TILE: Is = Is::AnyTile;
pub const SCALAR_POINTER: Is = scalar(&[Elem::Pointer]);
pub const SCALAR_INT: Is = scalar(INTS);
pub const SCALAR_I32: Is = scalar(&[I32]);
pub const SCALAR_BOOL: Is = scalar(&[I1]);
pub const MMAF: Is = labelled(
    "mmaf operand tile type",
    &[F16, BF16, F32, F64, TF32, E4M3, E5M2],
);
pub const MMAF_ACC: Is = labelled("mmaf acc/result tile type", &[F16, F32, F64]);
pub const SCALED: Is = labelled("mmaf_scaled operand tile type", &[E4M3, E5M2, E2M1]);
pub const SCALED_SCALE: Is = labelled("mmaf_scaled scale tile type", &[E4M3, E8M0, E5M3]);
pub const SCALED_ACC: Is = labelled("mmaf_scaled result tile type", &[F32]);
pub const MMAI: Is = labelled("mmai operand tile type", &[I8]);
pub const MMAI_ACC: Is = labelled("mmai acc tile type", &[I32]);
pub const ANY: Is = Is::Any;
pub const TOKEN: Is = Is::Token;
pub const VIEW: Is = Is::TileView;

impl Is {
    /// The names of the element types of what this holds of.
    pub fn elements(self) -> Vec<String> {
        let list = |elems: &[Elem]| elems.iter().map(|e| e.name()).collect();
        let numbers = |is: Is| match is {
            Is::Tile { elems, .. } => list(elems),
            _ => Vec::new(),
        };
        match self {
            Is::Tile { elems, .. } => list(elems),
            Is::Token => Vec::new(),
            Is::AnyTile | Is::Any => {
                let mut all: Vec<String> = numbers(NUMBER_I4);
                all.push(Elem::Pointer.name());
                all
            }
            _ => numbers(NUMBER),
        }
    }

    /// What messages call it.
    pub fn name(self) -> String {
        match self {
            Is::Tile { elems, label, .. } => {
                let names: Vec<String> = elems.iter().map(|e| e.name()).collect();
                format!("{label} of {} values", names.join(" or "))
            }
            Is::AnyTile => "Tile type".into(),
            Is::Token => "cuda tile token type".into(),
            Is::TensorView => "tensor view type".into(),
            Is::TileView => "TileView instance".into(),
            Is::PartitionView => "partition view type".into(),
            Is::StridedView => "strided view type".into(),
            Is::GatherScatterView => "gather/scatter view type".into(),
            // It holds of everything.
            Is::Any => String::new(),
        }
    }
}

impl Elem {
    fn name(self) -> String {
        match self {
            Elem::I(n) => format!("i{n}"),
            Elem::F(f) => f.name().into(),
            Elem::Pointer => "Pointer type".into(),
        }
    }
}
