//! A program being built.

use super::binding::Binding;
use super::placed::Places;
use crate::parse::ast;
use crate::program::{GlobalVariable, LANES, Row, window};
use rustc_hash::FxHashMap;

/// A program being built.
pub struct Builder<'a> {
    pub(super) module: &'a ast::Module<'a>,
    pub(super) constants: Vec<Row>,
    pub(super) constant_index: FxHashMap<u64, u32>,
    pub(super) variables: FxHashMap<&'a str, Binding>,
    pub(super) globals: Vec<GlobalVariable>,
    /// functions by name, in the order in which they will be decoded
    pub(super) function_index: FxHashMap<&'a str, u32>,
    pub(super) order: Vec<&'a ast::Function<'a>>,
    pub(super) shared_end: u64,
    pub(super) shared_names: Vec<(String, u32, u32)>,
    pub(super) next_global: u64,
    pub(super) next_const: u64,
    pub(super) dynamic_shared: Vec<(&'a str, u32)>,
    /// who places global and constant variables, if not the launch does
    pub(super) places: Option<&'a mut dyn Places>,
}

impl<'a> Builder<'a> {
    /// The index of the row that holds `bits` in every lane.
    pub fn constant(&mut self, bits: u64) -> u32 {
        let next = self.constants.len() as u32;
        let index = *self.constant_index.entry(bits).or_insert(next);
        if index == next {
            self.constants.push([bits; LANES]);
        }
        index
    }

    /// A module variable.
    pub fn variable(&self, name: &str) -> Option<Binding> {
        self.variables.get(name).copied()
    }

    /// The number of a function; it will be decoded.
    pub fn function(&mut self, name: &str) -> Option<u32> {
        if let Some(&index) = self.function_index.get(name) {
            return Some(index);
        }
        // A definition wins over its declarations.
        let function = self
            .module
            .functions
            .iter()
            .find(|f| f.name == name && f.body.is_some())?;
        let index = self.order.len() as u32;
        self.order.push(function);
        self.function_index.insert(function.name, index);
        Some(index)
    }

    /// The code address of a function whose address is taken.
    pub fn function_address(&mut self, name: &str) -> Option<u64> {
        let index = self.function(name)?;
        code_address(self.module, self.order.get(index as usize)?)
    }
}

/// The code address of a function: the same for every entry of the module, since tables of functions may lie in
/// variables that entries share.
pub(super) fn code_address(module: &ast::Module<'_>, function: &ast::Function<'_>) -> Option<u64> {
    let mut functions = module.functions.iter();
    let index = functions.position(|f| std::ptr::eq(f, function))?;
    Some(window::CODE + index as u64 * 16)
}
