//! Typed views of operations: what the rows' operands, attributes and results are to code.
//!
//! A row that names its parts, `AsyncDot(lhs: One, enable: Opt) { pending: Int<32> }`, gets a view of its name
//! in its dialect's module `view`: `view::AsyncDot::of(op)?.lhs()`. A view reads any operation that is
//! [`Parts`]; the IR's operations are.

use super::{Arity, AttrKind, OpDef, OpKind};

/// An operation as a view reads it: groups, attributes and results by their positions in the row.
pub trait Parts {
    /// A reference to an SSA value.
    type Value: Copy;
    /// An interned string.
    type Name: Copy;
    /// An interned type.
    type Type: Copy;
    /// An attribute's value in full.
    type Attr;

    fn kind(&self) -> OpKind;
    fn group(&self, i: usize) -> &[Self::Value];
    fn results(&self) -> &[Self::Value];
    fn attr(&self, i: usize) -> Option<&Self::Attr>;

    fn int(attr: &Self::Attr) -> Option<i64>;
    fn bool(attr: &Self::Attr) -> Option<bool>;
    /// The index of an enumeration's case.
    fn case(attr: &Self::Attr) -> Option<u8>;
    fn i32s(attr: &Self::Attr) -> Option<&[i32]>;
    fn i64s(attr: &Self::Attr) -> Option<&[i64]>;
    fn bools(attr: &Self::Attr) -> Option<&[bool]>;
    /// A string's or a symbol's.
    fn name(attr: &Self::Attr) -> Option<Self::Name>;
    fn ty(attr: &Self::Attr) -> Option<Self::Type>;
}

/// How many values a group of operands or results has, as a type.
pub trait Group {
    const ARITY: Arity;
    /// What the accessor yields.
    type Of<'m, V: Copy + 'm>;
    /// `None` where there are not as many values as the row says.
    fn read<V: Copy>(values: &[V]) -> Option<Self::Of<'_, V>>;
}

/// A group of exactly one value.
pub struct One;
/// A group of at most one value.
pub struct Opt;
/// A group of any number of values.
pub struct Var;

impl Group for One {
    const ARITY: Arity = Arity::One;
    type Of<'m, V: Copy + 'm> = V;
    fn read<V: Copy>(values: &[V]) -> Option<V> {
        values.first().copied()
    }
}

impl Group for Opt {
    const ARITY: Arity = Arity::Optional;
    type Of<'m, V: Copy + 'm> = Option<V>;
    fn read<V: Copy>(values: &[V]) -> Option<Option<V>> {
        Some(values.first().copied())
    }
}

impl Group for Var {
    const ARITY: Arity = Arity::Variadic;
    type Of<'m, V: Copy + 'm> = &'m [V];
    fn read<V: Copy>(values: &[V]) -> Option<&[V]> {
        Some(values)
    }
}

/// What an attribute holds, as a type.
pub trait Attribute {
    const KIND: AttrKind;
    const OPTIONAL: bool = false;
    /// What the accessor yields.
    type Of<'m, P: Parts + 'm>;
    /// `None` where the attribute is not what the row says.
    fn read<'m, P: Parts + 'm>(attr: Option<&'m P::Attr>) -> Option<Self::Of<'m, P>>;
}

macro_rules! attributes {
    ($($(#[$doc:meta])* $name:ident $kind:expr, $of:ty, $read:ident;)*) => { $(
        $(#[$doc])*
        pub struct $name;

        impl Attribute for $name {
            const KIND: AttrKind = $kind;
            type Of<'m, P: Parts + 'm> = $of;
            fn read<'m, P: Parts + 'm>(attr: Option<&'m P::Attr>) -> Option<Self::Of<'m, P>> {
                P::$read(attr?)
            }
        }
    )* };
}

attributes! {
    Bool AttrKind::Bool, bool, bool;
    I32s AttrKind::I32s, &'m [i32], i32s;
    I64s AttrKind::I64s, &'m [i64], i64s;
    Bools AttrKind::Bools, &'m [bool], bools;
    Str AttrKind::Str, P::Name, name;
    Symbol AttrKind::Symbol, P::Name, name;
    /// A type as an attribute.
    Ty AttrKind::Type, P::Type, ty;
}

/// An integer of `WIDTH` bits.
pub struct Int<const WIDTH: u32>;

impl<const WIDTH: u32> Attribute for Int<WIDTH> {
    const KIND: AttrKind = AttrKind::Int(WIDTH);
    type Of<'m, P: Parts + 'm> = i64;
    fn read<'m, P: Parts + 'm>(attr: Option<&'m P::Attr>) -> Option<i64> {
        P::int(attr?)
    }
}

/// A unit attribute: whether it is there.
pub struct Flag;

impl Attribute for Flag {
    const KIND: AttrKind = AttrKind::Unit;
    const OPTIONAL: bool = true;
    type Of<'m, P: Parts + 'm> = bool;
    fn read<'m, P: Parts + 'm>(attr: Option<&'m P::Attr>) -> Option<bool> {
        Some(attr.is_some())
    }
}

/// An attribute that may be absent.
impl<A: Attribute> Attribute for Option<A> {
    const KIND: AttrKind = A::KIND;
    const OPTIONAL: bool = true;
    type Of<'m, P: Parts + 'm> = Option<A::Of<'m, P>>;
    fn read<'m, P: Parts + 'm>(attr: Option<&'m P::Attr>) -> Option<Self::Of<'m, P>> {
        match attr {
            Some(_) => A::read::<P>(attr).map(Some),
            None => Some(None),
        }
    }
}

macro_rules! whole {
    ($($(#[$doc:meta])* $name:ident $kind:ident;)*) => { $(
        $(#[$doc])*
        pub struct $name;

        impl Attribute for $name {
            const KIND: AttrKind = AttrKind::$kind;
            type Of<'m, P: Parts + 'm> = &'m P::Attr;
            fn read<'m, P: Parts + 'm>(attr: Option<&'m P::Attr>) -> Option<&'m P::Attr> {
                attr
            }
        }
    )* };
}

whole! {
    /// Constant data with its type.
    Dense Dense;
    /// What an `assume` promises.
    Assumption Assume;
    /// Self-contained attributes.
    Array Array;
    /// Optimization hints by architecture.
    Hints Hints;
}

/// Reads a part of an operation. An operation that is not as its row says is an error in the pass that made it.
pub fn part<T>(read: Option<T>, def: &OpDef, name: &str) -> T {
    match read {
        Some(value) => value,
        None => panic!("internal error: a '{}' without its '{name}'", def.name),
    }
}

impl OpDef {
    /// Position of the operand group called `name`.
    pub const fn operand_index(&self, name: &str) -> usize {
        let mut i = 0;
        while !same(self.operands[i].name, name) {
            i += 1;
        }
        i
    }

    /// Position of the result called `name`.
    pub const fn result_index(&self, name: &str) -> usize {
        let mut i = 0;
        while !same(self.results[i].name, name) {
            i += 1;
        }
        i
    }

    /// Position of the attribute called `name`.
    pub const fn attribute_index(&self, name: &str) -> usize {
        let mut i = 0;
        while !same(self.attrs[i].name, name) {
            i += 1;
        }
        i
    }
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}
