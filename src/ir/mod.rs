//! The intermediate representation: one arena-allocated SSA graph for every dialect.
//!
//! A [`Module`] owns operations, values, blocks and regions in slotmap arenas; keys
//! ([`OpId`], [`ValueId`], [`BlockId`], [`RegionId`]) are how everything refers to everything
//! else, so nothing borrows and nothing dangles silently: a key of an erased operation no longer
//! resolves. Types and names are interned and compare by number.
//!
//! ```text
//! Module ── body: Region ── Block ── Op(cuda_tile.entry)
//!                                     └─ Region ── Block(args: parameters) ── Op … Op
//! ```
//!
//! What an operation *is* (its operand groups, attributes, results, regions, traits) is declared
//! once in [`crate::dialect`]; an [`Op`] stores only what varies: which declaration, which
//! operands, which attribute values.

mod attr;
mod diag;
mod inlined;
mod layouts;
mod loc;
mod module;
mod name;
mod op;
mod parts;
mod types;
mod uses;
mod walk;

pub use crate::dialect::enums::Padding;
pub use attr::{AssumePredicate, Attr, Dense, EnumAttr};
pub use diag::{Diagnostic, Diagnostics, Place, Severity};
pub use inlined::InlinedPlace;
pub use layouts::LayoutTable;
pub use loc::{DebugAttr, LocId, Locations};
pub use module::{Module, OpBuilder};
pub use name::Name;
pub use op::{Block, BlockId, Def, Op, OpId, Region, RegionId, Value, ValueId, grouped};
pub use types::{DYNAMIC, Dim, Float, Type, TypeId, Types};
pub use uses::OpMut;
