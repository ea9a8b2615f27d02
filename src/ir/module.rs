//! Arenas, operations and the builder.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use slotmap::SlotMap;
use smallvec::SmallVec;

use super::name::Name;
use super::op::{Block, BlockId, Def, Op, OpId, Region, RegionId, Value, ValueId};
use super::uses::{OpMut, Uses};
use super::{Attr, DebugAttr, Dense, LayoutTable, LocId, Locations, Place, TypeId, Types};
use crate::dialect::OpKind;

/// A compilation unit at any stage.
#[derive(Debug)]
pub struct Module {
    pub name: Name,
    /// Who wrote it, as far as it says.
    pub producer: Option<Name>,
    pub body: BlockId,
    pub types: Types,
    pub locs: Locations,
    /// Layouts that `Distributed` and `SharedTile` types refer to.
    pub layouts: LayoutTable,
    names: lasso::Rodeo,
    ops: SlotMap<OpId, Op>,
    values: SlotMap<ValueId, Value>,
    uses: Uses,
    blocks: SlotMap<BlockId, Block>,
    regions: SlotMap<RegionId, Region>,
}

macro_rules! arena_access {
    ($($get:ident $get_mut:ident $field:ident $key:ident $item:ident;)*) => { $(
        /// The item behind a live key of this module.
        pub fn $get(&self, key: $key) -> &$item {
            &self.$field[key]
        }

        pub fn $get_mut(&mut self, key: $key) -> &mut $item {
            &mut self.$field[key]
        }
    )* };
}

impl Module {
    /// An empty module.
    pub fn new(name: &str) -> Self {
        let mut names = lasso::Rodeo::default();
        let name = Name(names.get_or_intern(name));
        let mut regions: SlotMap<RegionId, Region> = SlotMap::with_key();
        let mut blocks: SlotMap<BlockId, Block> = SlotMap::with_key();
        let region = regions.insert(Region::default());
        let body = blocks.insert(Block {
            region,
            ..Block::default()
        });
        regions[region].blocks.push(body);
        Self {
            name,
            producer: None,
            body,
            types: Types::default(),
            locs: Locations::default(),
            layouts: LayoutTable::default(),
            names,
            ops: SlotMap::with_key(),
            values: SlotMap::with_key(),
            uses: Uses::default(),
            blocks,
            regions,
        }
    }

    arena_access! {
        value value_mut values ValueId Value;
        block block_mut blocks BlockId Block;
        region region_mut regions RegionId Region;
    }

    /// The operation behind a live key of this module.
    pub fn op(&self, key: OpId) -> &Op {
        &self.ops[key]
    }

    /// The same, to be changed.
    pub fn op_mut(&mut self, key: OpId) -> OpMut<'_> {
        OpMut::new(&mut self.ops[key], &mut self.uses, key)
    }

    /// The operations that have `value` as an operand, each once, in no particular order.
    pub fn users(&self, value: ValueId) -> Vec<OpId> {
        let mut users: Vec<OpId> = self.uses.of(value).to_vec();
        users.retain(|&o| self.ops.get(o).is_some_and(|o| o.operands.contains(&value)));
        users.sort_unstable();
        users.dedup();
        users
    }

    /// Whether the value has not been erased.
    pub fn holds(&self, value: ValueId) -> bool {
        self.values.contains_key(value)
    }

    /// Whether an operation has `value` as an operand.
    pub fn is_used(&self, value: ValueId) -> bool {
        let mut users = self.uses.of(value).iter();
        users.any(|&o| self.ops.get(o).is_some_and(|o| o.operands.contains(&value)))
    }

    /// Whether `op` is the only user of a value and has it as one operand alone: a matmul may multiply what it adds to.
    pub fn is_used_once(&self, value: ValueId, op: OpId) -> bool {
        let here = |&&v: &&ValueId| v == value;
        self.users(value) == [op] && self.ops[op].operands.iter().filter(here).count() == 1
    }

    /// Where in the source a location points.
    pub fn source_place(&self, loc: LocId) -> Place {
        let mut at = loc;
        // A call site points at its caller, which the reader has checked to be no cycle.
        while let DebugAttr::CallSite { caller, .. } = self.locs.get(at) {
            at = *caller;
        }
        match *self.locs.get(at) {
            DebugAttr::Loc {
                file, line, column, ..
            } => Place::Line {
                file: self.str(file).to_owned(),
                line,
                column,
            },
            _ => Place::Nowhere,
        }
    }

    /// The interned form of `s`.
    pub fn intern(&mut self, s: &str) -> Name {
        Name(self.names.get_or_intern(s))
    }

    /// The text of an interned name.
    pub fn str(&self, name: Name) -> &str {
        self.names.resolve(&name.0)
    }

    pub fn ty(&self, value: ValueId) -> TypeId {
        self.values[value].ty
    }

    /// The first result of an operation that has results.
    pub fn result(&self, op: OpId) -> ValueId {
        self.part(op, self.ops[op].results.first(), "result")
    }

    /// A value of an operation; an operation without it is an error in the pass that made it.
    fn part(&self, op: OpId, value: Option<&ValueId>, what: &str) -> ValueId {
        match value {
            Some(&value) => value,
            None => {
                let data = &self.ops[op];
                let place = self.source_of(data.loc);
                panic!("internal error: '{}' without {what} at {place}", data.kind)
            }
        }
    }

    /// The name of an operation that declares a symbol.
    pub fn symbol(&self, op: OpId) -> Option<&str> {
        match self.op(op).attr_named("sym_name")? {
            Attr::Str(name) | Attr::Symbol(name) => Some(self.str(*name)),
            _ => None,
        }
    }

    /// The bytes of the constant data of an operation with a `value`, a splat of bytes written out.
    pub fn bytes(&self, op: OpId) -> Option<Cow<'_, [u8]>> {
        let Attr::Dense {
            data: Dense::Bytes(bytes),
            ty,
        } = self.op(op).attr_named("value")?
        else {
            return None;
        };
        let elements = self.types.as_constant(*ty)?.1.iter().product::<u64>();
        Some(match (&bytes[..], usize::try_from(elements)) {
            (&[byte], Ok(n)) if n > 1 => Cow::Owned(vec![byte; n]),
            (bytes, _) => Cow::Borrowed(bytes),
        })
    }

    /// The attribute called `name` in the operation's row.
    pub fn attr_mut(&mut self, op: OpId, name: &str) -> &mut Option<Attr> {
        let data = &mut self.ops[op];
        &mut data.attrs[data.kind.def().attribute_index(name)]
    }

    /// Writes the 32-bit integer attribute called `name` in the operation's row.
    pub fn set_i32(&mut self, op: OpId, name: &str, value: i64) {
        let ty = self.types.int(32);
        *self.attr_mut(op, name) = Some(Attr::Int { value, ty });
    }

    /// Makes an operation another of the same operands and results.
    pub fn become_op(
        &mut self,
        op: OpId,
        kind: impl Into<OpKind>,
        attrs: impl IntoIterator<Item = Option<Attr>>,
    ) {
        let data = &mut self.ops[op];
        data.kind = kind.into();
        data.attrs = attrs.into_iter().collect();
    }

    /// Makes `value` the operand of the group called `name`, which holds one value or none.
    pub fn set_operand(&mut self, op: OpId, name: &str, value: ValueId) {
        let mut data = self.op_mut(op);
        let group = data.def().operand_index(name);
        let start = match group {
            0 => 0,
            _ => data.groups[group - 1] as usize,
        };
        if data.groups[group] as usize > start {
            data.operands[start] = value;
            return;
        }
        data.operands.insert(start, value);
        for end in data.groups.iter_mut().skip(group) {
            *end += 1;
        }
    }

    /// The operand of an operation of one operand.
    pub fn source(&self, op: OpId) -> ValueId {
        self.part(op, self.ops[op].operands.first(), "operand")
    }

    /// The operation that defines `value`, unless it is a block argument.
    pub fn def_op(&self, value: ValueId) -> Option<OpId> {
        match self.values[value].def {
            Def::Result { op, .. } => Some(op),
            Def::Argument { .. } => None,
        }
    }

    /// Number of live operations.
    pub fn op_count(&self) -> usize {
        self.ops.len()
    }

    /// A region with no block, to be given to an operation.
    pub fn new_region(&mut self) -> RegionId {
        self.regions.insert(Region::default())
    }

    /// A block at the end of `region` with arguments of the given types.
    pub fn new_block(&mut self, region: RegionId, args: &[TypeId]) -> BlockId {
        let block = self.blocks.insert(Block {
            region,
            ..Block::default()
        });
        self.regions[region].blocks.push(block);
        args.iter().for_each(|&ty| {
            self.add_arg(block, ty);
        });
        block
    }

    /// Appends an argument to a block.
    pub fn add_arg(&mut self, block: BlockId, ty: TypeId) -> ValueId {
        let index = self.blocks[block].args.len() as u32;
        let value = self.values.insert(Value {
            ty,
            def: Def::Argument { block, index },
        });
        self.blocks[block].args.push(value);
        value
    }

    /// Appends a result to an operation.
    pub fn add_result(&mut self, op: OpId, ty: TypeId) -> ValueId {
        let index = self.ops[op].results.len() as u32;
        let value = self.values.insert(Value {
            ty,
            def: Def::Result { op, index },
        });
        self.ops[op].results.push(value);
        value
    }

    /// Takes argument number `index` away from a block, whose others stay the same values. Nothing may use it any more.
    pub fn drop_arg(&mut self, block: BlockId, index: usize) {
        let args = &mut self.blocks[block].args;
        let dropped = args.remove(index);
        let behind = args[index..].to_vec();
        self.close_gap(dropped, &behind);
    }

    /// Takes result number `index` away from an operation, whose others stay the same values. Nothing may use it any more.
    pub fn drop_result(&mut self, op: OpId, index: usize) {
        let results = &mut self.ops[op].results;
        let dropped = results.remove(index);
        let behind = results[index..].to_vec();
        self.close_gap(dropped, &behind);
    }

    /// Frees a value; those `behind` it have numbers of one less.
    fn close_gap(&mut self, dropped: ValueId, behind: &[ValueId]) {
        self.values.remove(dropped);
        for &value in behind {
            match &mut self.values[value].def {
                Def::Argument { index, .. } | Def::Result { index, .. } => *index -= 1,
            }
        }
    }

    /// Where a location points in the source: for a call site, the innermost function.
    pub fn source_of(&self, loc: LocId) -> Place {
        let mut at = loc;
        // The reader has checked that call sites form no cycle.
        while let DebugAttr::CallSite { callee, .. } = self.locs.get(at) {
            at = *callee;
        }
        match self.locs.get(at) {
            DebugAttr::Loc {
                file, line, column, ..
            } => Place::Line {
                file: self.str(*file).to_owned(),
                line: *line,
                column: *column,
            },
            _ => Place::Nowhere,
        }
    }

    /// The only block of region `i` of `op`.
    pub fn body_of(&self, op: OpId, i: usize) -> Option<BlockId> {
        self.regions[*self.ops[op].regions.get(i)?]
            .blocks
            .first()
            .copied()
    }

    /// The operation that encloses `op`, or `None` at module level.
    pub fn parent_op(&self, op: OpId) -> Option<OpId> {
        self.parent_of_block(self.ops[op].block)
    }

    /// The operation whose region a block stands in.
    pub fn parent_of_block(&self, block: BlockId) -> Option<OpId> {
        let region = self.blocks.get(block)?.region;
        let parent = self.regions[region].parent;
        self.ops.contains_key(parent).then_some(parent)
    }

    /// The last operation of a block.
    pub fn terminator(&self, block: BlockId) -> Option<OpId> {
        self.blocks[block].ops.last().copied()
    }

    /// Inserts a detached operation with results of the given types. Absent attributes are given their defaults, so that
    /// equal operations are equal, whoever made them.
    pub(super) fn insert_op(&mut self, op: Op, results: &[TypeId]) -> OpId {
        // It is moved once, into its slot: an operation is as large as several lines of a cache.
        let id = self.ops.insert(op);
        let op = &mut self.ops[id];
        op.fill_defaults(&mut self.types);
        op.results.clear();
        for (&ty, index) in results.iter().zip(0..) {
            let def = Def::Result { op: id, index };
            op.results.push(self.values.insert(Value { ty, def }));
        }
        for &region in &op.regions {
            self.regions[region].parent = id;
        }
        self.uses.add(id, &op.operands);
        id
    }

    /// Appends an operation to `block`, with results of the given types.
    pub fn push_op(&mut self, block: BlockId, mut op: Op, results: &[TypeId]) -> OpId {
        op.block = block;
        let id = self.insert_op(op, results);
        self.blocks[block].ops.push(id);
        id
    }

    /// Makes room for so many more operations, of a result each.
    pub fn reserve(&mut self, ops: usize) {
        self.ops.reserve(ops);
        self.values.reserve(ops);
        self.uses.reserve(self.values.capacity());
    }

    /// Puts a detached operation into `block` before position `at`.
    pub fn place(&mut self, op: OpId, block: BlockId, at: usize) {
        self.ops[op].block = block;
        self.blocks[block].ops.insert(at, op);
    }

    /// Removes an operation from its block and frees it, its results and its regions.
    pub fn erase(&mut self, op: OpId) {
        let block = self.ops[op].block;
        if let Some(block) = self.blocks.get_mut(block) {
            block.ops.retain(|&o| o != op);
        }
        self.free(op);
    }

    fn free(&mut self, op: OpId) {
        let Some(op) = self.ops.remove(op) else {
            return;
        };
        op.results.iter().for_each(|&v| {
            self.values.remove(v);
        });
        for region in op.regions {
            for block in self
                .regions
                .remove(region)
                .map(|r| r.blocks)
                .unwrap_or_default()
            {
                let Some(block) = self.blocks.remove(block) else {
                    continue;
                };
                block.args.iter().for_each(|&v| {
                    self.values.remove(v);
                });
                block.ops.into_iter().for_each(|o| self.free(o));
            }
        }
    }

    /// Makes every use of `old` in the module a use of `new`.
    pub fn replace_all_uses(&mut self, old: ValueId, new: ValueId) {
        for user in self.uses.take(old) {
            let Some(op) = self.ops.get_mut(user) else {
                continue;
            };
            let mut operands = op.operands.iter_mut().filter(|v| **v == old).peekable();
            if operands.peek().is_some() {
                operands.for_each(|v| *v = new);
                self.uses.add(user, &[new]);
            }
        }
    }

    /// Replaces the operands of one operation that `replaced` has; passes that visit definitions
    /// before uses replace any number of values in one walk this way.
    pub fn replace_operands(&mut self, op: OpId, replaced: &FxHashMap<ValueId, ValueId>) {
        for operand in &mut self.op_mut(op).operands {
            if let Some(&new) = replaced.get(operand) {
                *operand = new;
            }
        }
    }

    /// A builder that appends to `block`.
    pub fn at_end(&mut self, block: BlockId) -> OpBuilder<'_> {
        OpBuilder {
            module: self,
            block,
            at: None,
            loc: LocId::UNKNOWN,
        }
    }

    /// A builder that inserts before position `at` of `block`.
    pub fn at(&mut self, block: BlockId, at: usize) -> OpBuilder<'_> {
        OpBuilder {
            module: self,
            block,
            at: Some(at),
            loc: LocId::UNKNOWN,
        }
    }
}

/// Creates operations at a place in a block.
pub struct OpBuilder<'m> {
    pub module: &'m mut Module,
    pub block: BlockId,
    at: Option<usize>,
    pub loc: LocId,
}

impl OpBuilder<'_> {
    /// An operation from its operand groups (one slice per group of the table entry), attributes
    /// (positional; those that are missing are their defaults, if they have one), result types and regions.
    pub fn op(
        &mut self,
        kind: impl Into<OpKind>,
        groups: &[&[ValueId]],
        attrs: impl IntoIterator<Item = Option<Attr>>,
        results: &[TypeId],
        regions: &[RegionId],
    ) -> OpId {
        let kind = kind.into();
        let mut operands = SmallVec::new();
        let mut ends = SmallVec::new();
        for group in groups {
            operands.extend_from_slice(group);
            ends.push(operands.len() as u32);
        }
        let mut attrs: SmallVec<[Option<Attr>; 4]> = attrs.into_iter().collect();
        while attrs.len() < kind.def().attrs.len() {
            attrs.push(None);
        }
        let op = Op {
            kind,
            operands,
            groups: ends,
            attrs,
            results: SmallVec::new(),
            regions: regions.into(),
            loc: self.loc,
            block: BlockId::default(),
        };
        let id = self.module.insert_op(op, results);
        let at = match &mut self.at {
            Some(at) => {
                *at += 1;
                *at - 1
            }
            None => self.module.blocks[self.block].ops.len(),
        };
        self.module.place(id, self.block, at);
        id
    }

    /// An operation of single-value operand groups and one result.
    pub fn value(
        &mut self,
        kind: impl Into<OpKind>,
        operands: &[ValueId],
        attrs: impl IntoIterator<Item = Option<Attr>>,
        result: TypeId,
    ) -> ValueId {
        let groups: SmallVec<[&[ValueId]; 4]> = operands.chunks(1).collect();
        let op = self.op(kind, &groups, attrs, &[result], &[]);
        self.module.op(op).results[0]
    }
}
