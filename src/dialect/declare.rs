//! A table of rows as Rust: the table itself, the enumeration of its operations, and their typed views.

use super::def::{Arity, AttrDef, OperandDef, ResultDef, ResultType, attr, one, result};
use super::parts::Attribute;

/// Declares a dialect's table, the enumeration of its operations and the views of those whose parts it names:
///
/// ```text
/// Name(operand: One, other: Var) { attribute: Int<32> } -> (result: One(Explicit)) = op("name").doc("…");
/// ```
///
/// `=> method(argument)` after a part refines its definition.
macro_rules! dialect_table {
    ($dialect:ident { $($(#[$only:meta])? $op:ident
        $(( $($operand:ident : $arity:ident $(=> $($om:ident($oa:expr)).+)? ),* $(,)? )
          $({ $($attr:ident : $kind:ty $(=> $($am:ident($aa:expr)).+)? ),* $(,)? })?
          $(-> ( $($result:ident : $many:ident($ty:expr) $(=> $($rm:ident($ra:expr)).+)? ),* $(,)? ))? )?
        = $def:expr;)* }) => {
        /// The operations, in table order.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        #[repr(u8)]
        pub enum Op { $($(#[$only])? $op),* }

        /// The rows, indexed by [`Op`].
        pub static TABLE: &[$crate::dialect::OpDef] = &[$($(#[$only])?
            $def $(
                .operands(&[$(
                    $crate::dialect::declare::group(stringify!($operand), <$arity as $crate::dialect::parts::Group>::ARITY)
                        $($(.$om($oa))+)?
                ),*])
                $(.attrs(&[$(
                    $crate::dialect::declare::attribute::<$kind>(stringify!($attr)) $($(.$am($aa))+)?
                ),*]))?
                $(.results(&[$(
                    $crate::dialect::declare::results(stringify!($result), <$many as $crate::dialect::parts::Group>::ARITY, $ty)
                        $($(.$rm($ra))+)?
                ),*]))?
            )?
        ),*];

        impl Op {
            /// Every operation.
            pub const ALL: &'static [Op] = &[$($(#[$only])? Op::$op),*];

            /// The operation `kind` names, if it belongs to this dialect.
            pub fn of(kind: $crate::dialect::OpKind) -> Option<Op> {
                if kind.dialect == $crate::dialect::Dialect::$dialect {
                    Self::ALL.get(kind.index as usize).copied()
                } else {
                    None
                }
            }
        }

        impl From<Op> for $crate::dialect::OpKind {
            fn from(op: Op) -> Self {
                Self { dialect: $crate::dialect::Dialect::$dialect, index: op as u8 }
            }
        }

        /// Typed views of the operations whose parts the table names.
        #[allow(non_snake_case)]
        pub mod view {
            #[allow(unused_imports)]
            use super::*;

            /// An operation of the dialect as what it is.
            pub enum View<'m, P> { $($(#[$only])? $op($op<'m, P>)),* }

            impl<'m, P: $crate::dialect::parts::Parts + 'm> View<'m, P> {
                /// `None` for operations of other dialects.
                pub fn of(op: &'m P) -> Option<Self> {
                    Some(match super::Op::of(op.kind())? {
                        $($(#[$only])? super::Op::$op => Self::$op($op(op))),*
                    })
                }
            }

            $(
                $(#[$only])?
                #[doc = concat!("`", stringify!($op), "` of the table.")]
                pub struct $op<'m, P>(&'m P);

                $(#[$only])?
                impl<'m, P: $crate::dialect::parts::Parts + 'm> $op<'m, P> {
                    /// The operation as one of this kind, if it is.
                    pub fn of(op: &'m P) -> Option<Self> {
                        (op.kind() == super::Op::$op.into()).then_some(Self(op))
                    }

                    /// The operation itself.
                    pub fn op(&self) -> &'m P {
                        self.0
                    }

                    $($(pub fn $operand(&self) -> <$arity as $crate::dialect::parts::Group>::Of<'m, P::Value> {
                        const ROW: &$crate::dialect::OpDef = &super::TABLE[super::Op::$op as usize];
                        const AT: usize = ROW.operand_index(stringify!($operand));
                        let values = self.0.group(AT);
                        $crate::dialect::parts::part($arity::read(values), ROW, stringify!($operand))
                    })*)?

                    $($($(pub fn $attr(&self) -> <$kind as $crate::dialect::parts::Attribute>::Of<'m, P> {
                        const ROW: &$crate::dialect::OpDef = &super::TABLE[super::Op::$op as usize];
                        const AT: usize = ROW.attribute_index(stringify!($attr));
                        let read = <$kind as $crate::dialect::parts::Attribute>::read::<P>(self.0.attr(AT));
                        $crate::dialect::parts::part(read, ROW, stringify!($attr))
                    })*)?)?

                    $($($(pub fn $result(&self) -> <$many as $crate::dialect::parts::Group>::Of<'m, P::Value> {
                        const ROW: &$crate::dialect::OpDef = &super::TABLE[super::Op::$op as usize];
                        const AT: usize = ROW.result_index(stringify!($result));
                        let values = self.0.results().get(AT..).unwrap_or(&[]);
                        $crate::dialect::parts::part($many::read(values), ROW, stringify!($result))
                    })*)?)?
                }
            )*
        }
    };
}
pub(crate) use dialect_table;

/// A group of operands, by its arity.
pub const fn group(name: &'static str, arity: Arity) -> OperandDef {
    OperandDef { arity, ..one(name) }
}

/// An attribute, by what it holds.
pub const fn attribute<A: Attribute>(name: &'static str) -> AttrDef {
    AttrDef {
        optional: A::OPTIONAL,
        ..attr(name, A::KIND)
    }
}

/// Results, by their arity.
pub const fn results(name: &'static str, arity: Arity, ty: ResultType) -> ResultDef {
    ResultDef {
        arity,
        ..result(name, ty)
    }
}
