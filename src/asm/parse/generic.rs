//! `"dialect.name"(operands) <{attributes}> ({regions}) : (types) -> types`.

use smallvec::SmallVec;

use super::cursor::Result;
use super::state::Parser;
use crate::asm::type_text;
use crate::dialect::{Arity, OpDef, OpKind, Traits};
use crate::ir::{Attr, BlockId, Op, OpId, ValueId};

impl<'t> Parser<'t> {
    pub fn generic_operation(
        &mut self,
        block: BlockId,
        names: &[(&'t str, Option<usize>)],
    ) -> Result<OpId> {
        let at = self.c.offset();
        let name = self.c.string()?;
        let Some(kind) = OpKind::by_name(&name) else {
            return Err(self.c.error_at(at, format!("unknown operation '{name}'")));
        };
        let mut op = Op::new(kind);
        self.c.expect("(")?;
        let operands = self.value_list()?;
        self.c.expect(")")?;
        let mut sizes = None;
        if self.c.eat("<{") {
            self.properties(&mut op, &mut sizes, "}>")?;
        }
        if self.c.peek("(") {
            self.c.expect("(")?;
            let isolated = kind.def().traits.has(Traits::ISOLATED);
            loop {
                let region = self.generic_region(isolated)?;
                op.regions.push(region);
                if !self.c.eat(",") {
                    break;
                }
            }
            self.c.expect(")")?;
        }
        if self.c.eat("{") {
            self.properties(&mut op, &mut sizes, "}")?;
        }
        self.c.expect(":")?;
        let types_at = self.c.offset();
        let types = self.type_group()?;
        self.c.expect("->")?;
        let results = self.type_group()?;
        if types.len() != operands.len() {
            let message = format!(
                "expected {} operand types, got {}",
                operands.len(),
                types.len()
            );
            return Err(self.c.error_at(types_at, message));
        }
        for (&value, &ty) in operands.iter().zip(&types) {
            self.same_type(types_at, value, ty)?;
        }
        op.groups = groups(kind.def(), operands.len(), sizes.as_deref())
            .map_err(|message| self.c.error_at(at, message))?;
        op.operands = operands.into();
        let op = self.module.push_op(block, op, &results);
        let results = self.module.op(op).results.clone();
        self.define_results(at, names, &results)?;
        Ok(op)
    }

    /// The type written for a value is the value's.
    pub fn same_type(&self, at: usize, value: ValueId, ty: crate::ir::TypeId) -> Result<()> {
        let got = self.module.ty(value);
        if got == ty {
            return Ok(());
        }
        let message = format!(
            "use of value '{}' expects different type than prior uses: '{}' vs '{}'",
            self.name_of(value),
            type_text(&self.module, ty),
            type_text(&self.module, got)
        );
        Err(self.c.error_at(at, message))
    }

    fn properties(&mut self, op: &mut Op, sizes: &mut Option<Vec<i32>>, close: &str) -> Result<()> {
        let mut first = true;
        while !self.c.eat(close) {
            if !std::mem::take(&mut first) {
                self.c.expect(",")?;
            }
            let at = self.c.offset();
            let key = self.c.key()?;
            if key == "operandSegmentSizes" {
                self.c.expect("=")?;
                match self.any_attr()? {
                    Attr::I32s(list) => *sizes = Some(list),
                    _ => return Err(self.c.error_at(at, "expected array<i32: …>".into())),
                }
                continue;
            }
            let Some(i) = op.def().attr_index(&key) else {
                return Err(self
                    .c
                    .error_at(at, format!("'{}' has no attribute '{key}'", op.kind)));
            };
            let kind = op.def().attrs[i].kind;
            op.attrs[i] = Some(match self.c.eat("=") {
                true => self.attr(kind)?,
                false => Attr::Unit,
            });
        }
        Ok(())
    }
}

/// Ends of the operand groups.
fn groups(
    def: &OpDef,
    n: usize,
    sizes: Option<&[i32]>,
) -> std::result::Result<SmallVec<[u32; 4]>, String> {
    let mut ends = SmallVec::new();
    let mut end = 0usize;
    let single = def
        .operands
        .iter()
        .filter(|o| o.arity == Arity::One)
        .count();
    let open = def.operands.len() - single;
    if sizes.is_some_and(|s| s.len() != def.operands.len()) {
        return Err(format!(
            "operandSegmentSizes must have {} numbers",
            def.operands.len()
        ));
    }
    if sizes.is_none() && open > 1 {
        return Err(format!("'{}' needs operandSegmentSizes", def.name));
    }
    for (i, group) in def.operands.iter().enumerate() {
        let size = match (sizes, group.arity) {
            (Some(sizes), _) => usize::try_from(sizes[i]).unwrap_or(usize::MAX),
            (None, Arity::One) => 1,
            (None, _) => n.saturating_sub(single),
        };
        end = end.saturating_add(size);
        ends.push(u32::try_from(end).unwrap_or(u32::MAX));
    }
    match end == n {
        true => Ok(ends),
        false => Err(format!("'{}' got {n} operands, expected {end}", def.name)),
    }
}
