//! The elements that a view's index selects: where they lie, and their way to and from memory.

use smallvec::SmallVec;

use super::memory::Memory;
use super::operation::Operation;
use super::types::{Elem, ViewType};
use super::value::Args;
use crate::ir::Attr;
use crate::scalar::lanes::Word;
use crate::scalar::{Lanes, int};

/// Where the elements of one tile lie.
pub struct Selection {
    base: u64,
    elem: Elem,
    /// Per tile dimension and position in it, the offset in elements; `None` outside the tensor.
    offsets: SmallVec<[Vec<Option<i64>>; 4]>,
    /// Whether positions of the last dimension are consecutive in memory.
    consecutive: bool,
}

/// How to make a [`Selection`] from operands.
pub struct Selector {
    pub view: ViewType,
    tensor: usize,
    index: usize,
    /// Widths of the index operands.
    widths: SmallVec<[u32; 4]>,
    /// Dimensions whose tiles must lie inside.
    inside: SmallVec<[bool; 4]>,
}

impl Selector {
    /// For the view in operand `tensor` and the indices in group `group`.
    pub fn new(o: &Operation, tensor: usize, group: usize) -> Result<Self, String> {
        let view = o.view(tensor)?;
        let index = o.group_start(group);
        let rank = view.tile.len();
        if o.op.group(group).len() != rank {
            return Err(format!("a view of rank {rank} takes that many indices"));
        }
        let mut widths = SmallVec::new();
        for d in 0..rank {
            let ty = o.operand(index + d)?;
            let count = if view.sparse == Some(d) {
                view.tile[d]
            } else {
                1
            };
            if ty.count() != count {
                return Err(format!("index {d} must have {count} elements"));
            }
            widths.push(ty.int_width()?);
        }
        let mut inside: SmallVec<[bool; 4]> = match o.op.attr_named("inbounds") {
            Some(Attr::Bools(inside)) => inside.iter().copied().collect(),
            _ => SmallVec::new(),
        };
        inside.resize(rank, false);
        Ok(Self {
            view,
            tensor,
            index,
            widths,
            inside,
        })
    }

    /// The tile that the operands select.
    pub fn select(&self, args: &Args) -> Result<Selection, String> {
        let tensor = args.tensor(self.tensor)?;
        let view = &self.view;
        let mut offsets = SmallVec::new();
        for (d, &count) in view.tile.iter().enumerate() {
            let at = view.dim_map[d];
            let (Some(&extent), Some(&stride)) = (tensor.shape.get(at), tensor.strides.get(at))
            else {
                return Err("the tensor has fewer dimensions than its view".into());
            };
            let index = args.lanes(self.index + d)?;
            let position = |i: usize| -> Option<u64> {
                let mask = int::mask(self.widths[d]);
                if view.sparse == Some(d) {
                    Some(index.get(i) & mask)
                } else {
                    let start = (index.get(0) & mask).checked_mul(view.step[d])?;
                    start.checked_add(i as u64)
                }
            };
            let offset = |i: usize| -> Result<Option<i64>, String> {
                let Some(position) = position(i).filter(|&p| p < extent) else {
                    if self.inside[d] {
                        return Err(format!(
                            "index {} of dimension {d} is declared to be inside the view and is not",
                            index.get(if view.sparse == Some(d) { i } else { 0 })
                        ));
                    }
                    return Ok(None);
                };
                let offset = i128::from(position) * i128::from(stride);
                i64::try_from(offset).map(Some).map_err(|_| {
                    format!("element {position} of dimension {d} is beyond 2^63 elements away")
                })
            };
            offsets.push((0..count).map(offset).collect::<Result<Vec<_>, _>>()?);
        }
        let last = view.tile.len().wrapping_sub(1);
        let consecutive = view.sparse != Some(last)
            && view
                .dim_map
                .last()
                .is_none_or(|&d| tensor.strides.get(d) == Some(&1));
        Ok(Selection {
            base: tensor.base,
            elem: view.elem,
            offsets,
            consecutive,
        })
    }
}

impl Selection {
    /// Visits the rows of the last dimension in order, with each row's offset: `None` outside.
    pub fn rows(
        &self,
        mut visit: impl FnMut(Option<i64>, &[Option<i64>]) -> Result<(), String>,
    ) -> Result<(), String> {
        let Some((last, outer)) = self.offsets.split_last() else {
            return visit(Some(0), &[Some(0)]);
        };
        let mut rows: Vec<Option<i64>> = vec![Some(0)];
        for dim in outer {
            rows = rows
                .iter()
                .flat_map(|&row| dim.iter().map(move |&at| row?.checked_add(at?)))
                .collect();
        }
        rows.into_iter().try_for_each(|row| visit(row, last))
    }

    /// Address of an element of at least a byte.
    fn address(&self, offset: i64) -> u64 {
        let bytes = i64::from(self.elem.memory_bits() / 8);
        self.base.wrapping_add_signed(offset.wrapping_mul(bytes))
    }

    /// How many of a row's elements, from its start, lie inside, when they are consecutive.
    fn run(&self, row: Option<i64>, last: &[Option<i64>]) -> Option<(i64, usize)> {
        if !self.consecutive || self.elem.memory_bits() < 8 || self.elem == Elem::Int(1) {
            return None;
        }
        let count = last.iter().take_while(|at| at.is_some()).count();
        Some((row?.checked_add((*last.first()?)?)?, count))
    }

    fn read(&self, memory: &Memory, offset: i64) -> Result<u64, String> {
        match self.elem.memory_bits() {
            4 => {
                let byte = memory.read(self.base.wrapping_add_signed(offset >> 1), 1)?;
                Ok((byte >> (4 * (offset & 1))) & 0xf)
            }
            bits => {
                let value = memory.read(self.address(offset), bits as usize / 8)?;
                Ok(canonical(self.elem, value))
            }
        }
    }

    /// Replaces one element by a function of it.
    pub fn update(
        &self,
        memory: &Memory,
        offset: i64,
        f: impl Fn(u64) -> u64,
    ) -> Result<u64, String> {
        match self.elem.memory_bits() {
            4 => {
                let shift = 4 * (offset & 1);
                let address = self.base.wrapping_add_signed(offset >> 1);
                memory.update(address, 1, |byte| {
                    (byte & !(0xf << shift)) | (f((byte >> shift) & 0xf) & 0xf) << shift
                })
            }
            bits => memory.update(self.address(offset), bits as usize / 8, f),
        }
    }

    /// The elements; `padding` for those outside.
    pub fn load<W: Word>(
        &self,
        memory: &Memory,
        padding: W,
        count: usize,
    ) -> Result<Lanes, String> {
        let mut out: Vec<W> = Vec::with_capacity(count);
        self.rows(|row, last| {
            let end = out.len() + last.len();
            if let Some((start, count)) = self.run(row, last) {
                if count > 0 {
                    memory.read_row(self.address(start), count, &mut out)?;
                }
            } else if let Some(row) = row {
                for &at in last {
                    out.push(match at.and_then(|at| row.checked_add(at)) {
                        Some(offset) => W::of(self.read(memory, offset)?),
                        None => padding,
                    });
                }
            }
            out.resize(end, padding);
            Ok(())
        })?;
        Ok(W::lanes(out))
    }

    /// Writes the elements that lie inside.
    pub fn store<W: Word>(&self, memory: &Memory, values: &[W]) -> Result<(), String> {
        let mut rest = values;
        self.rows(|row, last| {
            let Some((now, later)) = rest.split_at_checked(last.len()) else {
                return Err("the tile is smaller than the view's".into());
            };
            rest = later;
            if let Some((start, count)) = self.run(row, last) {
                if count > 0 {
                    memory.write_row(self.address(start), &now[..count])?;
                }
            } else if let Some(row) = row {
                for (&at, value) in last.iter().zip(now) {
                    if let Some(offset) = at.and_then(|at| row.checked_add(at)) {
                        let value = canonical(self.elem, value.bits());
                        self.update(memory, offset, |_| value)?;
                    }
                }
            }
            Ok(())
        })
    }
}

/// An element as memory holds it: i1 is 0 or 1.
pub fn canonical(elem: Elem, value: u64) -> u64 {
    if elem == Elem::Int(1) {
        u64::from(value != 0)
    } else {
        value
    }
}
