//! What the forms of an operation cost in an e-graph: the instructions that would be chosen.

use std::cell::RefCell;

use smallvec::SmallVec;

use super::choose::{Chooser, Tables};
use super::values::Form;
use crate::dialect::OpKind;
use crate::egraph::analysis::Know;
use crate::egraph::node::{Head, Node};
use crate::egraph::{CostModel, TableCost};
use crate::ir::TypeId;
use crate::target::Target;

/// Costs of the instructions of the selection tables; an operation that the target has none for
/// may not be chosen. What the tables do not cover costs what the rule files say.
pub struct SelectionCost<'t> {
    rest: TableCost<'t>,
    chooser: RefCell<Chooser<'t>>,
}

impl<'t> SelectionCost<'t> {
    pub fn new(rest: TableCost<'t>, tables: &'t Tables, target: Target) -> Self {
        let chooser = RefCell::new(Chooser::new(tables, target));
        SelectionCost { rest, chooser }
    }

    /// In tenths of an instruction.
    fn computed(
        &self,
        know: &Know,
        kind: OpKind,
        node: &Node,
        result: TypeId,
        operand: &dyn Fn(usize) -> Option<TypeId>,
    ) -> Option<u64> {
        let form = |ty: TypeId| Form::of(&know.types, ty).ok();
        let operands = (0..node.children.len()).map(|i| form(operand(i)?));
        let operands = operands.collect::<Option<SmallVec<[Form; 3]>>>()?;
        let mut chooser = self.chooser.borrow_mut();
        let choice = chooser.choose(kind, know.attrs_of(node), &operands, form(result)?)?;
        Some(choice.cost * 10 / 4)
    }
}

impl CostModel for SelectionCost<'_> {
    fn cost(
        &self,
        know: &Know,
        node: &Node,
        ty: Option<TypeId>,
        operand: &dyn Fn(usize) -> Option<TypeId>,
    ) -> Option<u64> {
        match (node.head, ty) {
            (Head::Op(kind), Some(ty)) if self.chooser.borrow_mut().covers(kind) => {
                self.computed(know, kind, node, ty, operand)
            }
            _ => self.rest.cost(know, node, ty, operand),
        }
    }

    fn refusal(
        &self,
        know: &Know,
        node: &Node,
        ty: Option<TypeId>,
        operand: &dyn Fn(usize) -> Option<TypeId>,
    ) -> Option<String> {
        let Head::Op(kind) = node.head else {
            return None;
        };
        let form = |ty: TypeId| Form::of(&know.types, ty).ok();
        let operands = (0..node.children.len()).map(|i| form(operand(i)?));
        let operands = operands.collect::<Option<SmallVec<[Form; 3]>>>()?;
        let chooser = self.chooser.borrow();
        Some(chooser.refusal(kind, know.attrs_of(node), &operands, form(ty?)?))
    }

    fn cheap(&self, know: &Know, node: &Node) -> bool {
        self.rest.cheap(know, node)
    }
}
