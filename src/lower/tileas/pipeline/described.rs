//! Which tensors a tensor map describes: those whose numbers are computed of parameters and constants, for whoever launches the
//! kernel makes the map, and slices of them whose first row and number of rows the kernel computes.
//!
//! **Slices.** A map cannot be told where a slice begins and ends, but coordinates can say it. The tensor gets two more
//! dimensions, and the one that is sliced an extent of [`ROWS`] = 2^30. With `rest` rows from the first row of the tile to
//! the slice's end, as many of them as the tile has at most, the coordinates of the tile's first row are
//!
//! | dimension | stride in bytes | coordinate |
//! |---|---|---|
//! | sliced | `s` | `ROWS - rest` |
//! | further | `s` | first row of the slice + first row of the tile + `rest` |
//! | last | `2^34 - s` | `ROWS` |
//!
//! Their sum is the row's address: `ROWS * (2^34 - s)` is `-ROWS * s` modulo 2^64, and addresses wrap around. What lies
//! behind the end of the slice is outside in the sliced dimension, where copies read zeros and write nothing. Triton's
//! `ragged_tma` describes ragged batches in this way, on sm_90 and up.
//!
//! **Columns.** A tensor may begin in the middle of a row of memory, as the columns of one head do among those of all. Then rows of
//! the map are rows of memory, and the innermost coordinate counts from their first element. No copy may end behind the
//! tensor's own columns, for the map does not know where they end.

use super::sum::Sum;
use crate::dialect::cuda_tile::{Op as C, view};
use crate::facts::FactMap;
use crate::facts::access::{Access, constant, destination, operand, pointee, tile_of};
use crate::ir::{Module, OpId, ValueId};
use crate::launch::Expr;

/// Bytes of which a tensor copy moves whole ones along the innermost dimension, and to whose multiples maps start.
pub const GRANULE: u64 = 16;
/// Extent of a sliced dimension in the map.
pub const ROWS: i64 = 1 << 30;
/// Extent of the two dimensions that a slice adds: more than any coordinate there.
pub const BEHIND: u64 = 0x7fff_0000;
/// What the stride of the last dimension and that of the sliced one add up to, in bytes: times `ROWS`, 2^64.
pub const WRAP: u64 = 1 << 34;
/// Bytes of a tensor map.
pub const MAP: u64 = 128;
/// Bytes of shared memory of a tensor map that the kernel makes: the map, and the numbers of which it is made.
pub const RECORD: u64 = 2 * MAP;
/// Dimensions that a slice adds.
const ADDED: usize = 2;
/// Most dimensions of a tensor map.
const MOST: usize = 5;
/// Most operations behind each other in what a launcher computes.
const DEEPEST: u32 = 8;

/// How a tensor map describes the tensor of an access.
pub struct Described {
    /// The address from which the map starts, an entry parameter.
    pub address: ValueId,
    /// The number of that parameter.
    pub base: u32,
    /// Whether a map is known to be allowed to start there.
    pub aligned: bool,
    /// Elements in front of the tensor's first one in its row of memory.
    pub column: Sum,
    pub slice: Option<Slice>,
}

/// The rows of a tensor that an access is to.
pub struct Slice {
    /// The tile's dimension along which the tensor is sliced.
    pub dim: usize,
    /// The first of these rows.
    pub start: Sum,
}

/// How a tensor map describes what `op`, an `access`, goes to, or why none does.
pub fn described(
    m: &Module,
    func: OpId,
    op: OpId,
    access: &Access,
    facts: &FactMap,
) -> Result<Described, String> {
    let known = |v: ValueId| number(m, func, v, facts).is_some();
    let wrong = |of: &str| {
        format!(
            "a tensor map needs {of}, for whoever launches the kernel makes the map; here one is computed"
        )
    };
    let rank = access.index.len();
    let inner = access.order(facts).first().copied();
    let computed: Vec<usize> = (0..rank)
        .filter(|&dim| !access.extent(dim).is_some_and(known))
        .collect();
    if !access.strides.iter().all(|&v| known(v)) {
        return Err(wrong("strides of parameters and constants"));
    }
    if computed.len() > 1 || computed.first().is_some_and(|&dim| Some(dim) == inner) {
        return Err(wrong(
            "extents of parameters and constants, but for a number of rows",
        ));
    }
    let no_base =
        || wrong("a base address that is a parameter, or rows and less than a row behind one");
    let (address, behind) = behind_parameter(m, func, access.base, facts).ok_or_else(no_base)?;
    let base = parameter(m, func, address).ok_or_else(no_base)?;
    let room = row_room(m, op, access, facts);
    let in_rows = |dim: usize| {
        let (rows, column) = rows_of(m, func, &behind, access.stride(dim)?, facts)?;
        let room = || {
            let (lo, hi) = column.range(facts)?;
            Some(lo >= 0 && hi <= room?)
        };
        let here = rows.is_zero() || computed.iter().all(|&d| d == dim);
        (here && (column.is_zero() || room() == Some(true))).then_some((Some(dim), rows, column))
    };
    let mut outer = (0..rank).filter(|&dim| Some(dim) != inner);
    let place = match behind.is_zero() {
        true => Some((None, Sum::default(), Sum::default())),
        false => outer.find_map(in_rows),
    };
    let (dim, start, column) = place.ok_or_else(no_base)?;
    let dim = computed
        .first()
        .copied()
        .or(dim.filter(|_| !start.is_zero()));
    let described = Described {
        address,
        base,
        aligned: starts_aligned(m, access, address, &behind, facts),
        column,
        slice: dim.map(|dim| Slice { dim, start }),
    };
    if let Some(slice) = &described.slice {
        if access.sparse == Some(slice.dim) {
            return Err("rows of a slice are gathered by their numbers".into());
        }
        if rank + ADDED > MOST {
            return Err(
                "a slice of a tensor of more than three dimensions has no tensor map".into(),
            );
        }
        begins_inside(m, op, access, facts, slice.dim)?;
    }
    if is_aligned(access.base, facts) && !described.aligned {
        return Err(
            "a tensor map starts at a parameter, and this one is not known to be a multiple of 16 bytes: assume it of the parameter itself (`div_by`)".to_owned(),
        );
    }
    Ok(described)
}

/// Whether an address is known to be one from which a tensor map may start.
pub fn is_aligned(address: ValueId, facts: &FactMap) -> bool {
    (facts.get(address)).is_some_and(|f| f.divisor.is_multiple_of(GRANULE))
}

/// Whether a tensor map may start at the parameter `address`, so many elements in front of the tensor of `access`: that is
/// known of the parameter, or of the tensor wherever the kernel goes, and of the elements between them.
fn starts_aligned(
    m: &Module,
    access: &Access,
    address: ValueId,
    behind: &Sum,
    facts: &FactMap,
) -> bool {
    let bytes = u64::from(m.types.bits(pointee(m, access.base)).unwrap_or(8)) / 8;
    let choice = |&op: &OpId| C::of(m.op(op).kind) == Some(C::If);
    let mut around = std::iter::successors(m.def_op(access.base), |&op| m.parent_op(op));
    let always = !around.any(|op| choice(&op));
    let between = || behind.divides(facts, (GRANULE / bytes.max(1)).max(1));
    is_aligned(address, facts) || is_aligned(access.base, facts) && always && between()
}

/// Whether no tile begins in front of the slice along `dim` and ends inside: only where the slice ends do copies look.
fn begins_inside(
    m: &Module,
    op: OpId,
    access: &Access,
    facts: &FactMap,
    dim: usize,
) -> Result<(), String> {
    let rows = tile_extent(m, op, dim);
    let step = access
        .traversal
        .get(dim)
        .and_then(|&t| u64::try_from(t).ok());
    let index = access.index.get(dim).and_then(|&i| facts.get(i));
    match rows.is_some_and(|rows| step >= Some(rows)) || index.is_some_and(|f| f.nonneg()) {
        true => Ok(()),
        false => Err("a tile may begin in front of the slice and end inside".to_owned()),
    }
}

/// Elements along `dim` of the tile that an access moves.
fn tile_extent(m: &Module, op: OpId, dim: usize) -> Option<u64> {
    let data = m.op(op);
    let buffer = destination(data).or_else(|| operand(data, "source"));
    let (_, extents) = m.types.as_tile(m.ty(tile_of(m, op).or(buffer)?))?;
    extents.get(dim).copied()
}

/// A number of a tensor as whoever launches the kernel computes it: sums and products of parameters and constants. They are
/// extents and strides, which neither are negative nor overflow.
pub fn number(m: &Module, func: OpId, value: ValueId, facts: &FactMap) -> Option<Expr> {
    number_within(m, func, value, facts, DEEPEST)
}

fn number_within(
    m: &Module,
    func: OpId,
    value: ValueId,
    facts: &FactMap,
    depth: u32,
) -> Option<Expr> {
    if let Some(known) = constant(facts, value) {
        return u64::try_from(known).ok().map(Expr::Number);
    }
    if let Some(parameter) = parameter(m, func, value) {
        return Some(Expr::param(parameter));
    }
    let depth = depth.checked_sub(1)?;
    let op = m.op(m.def_op(value)?);
    let of = |i: usize| number_within(m, func, *op.operands.get(i)?, facts, depth);
    match C::of(op.kind)? {
        C::Assume | C::ExtI => of(0),
        C::MulI => Some(of(0)?.times(of(1)?)),
        C::AddI => Some(of(0)?.plus(of(1)?)),
        C::ShLI => match of(1)? {
            Expr::Number(by @ 0..63) => Some(of(0)?.times(Expr::Number(1 << by))),
            _ => None,
        },
        _ => None,
    }
}

/// The entry parameter that a scalar is, through assumptions and other types of what it points at.
pub fn parameter(m: &Module, func: OpId, value: ValueId) -> Option<u32> {
    let value = through(m, value, &[C::Assume, C::PtrToPtr]);
    let body = m.body_of(func, 0)?;
    m.block(body)
        .args
        .iter()
        .position(|&a| a == value)
        .map(|i| i as u32)
}

/// What `value` is made of by operations of these kinds, which have one operand.
fn through(m: &Module, mut value: ValueId, kinds: &[C]) -> ValueId {
    while let Some(op) = m.def_op(value) {
        if !C::of(m.op(op).kind).is_some_and(|kind| kinds.contains(&kind)) {
            break;
        }
        value = m.source(op);
    }
    value
}

/// The parameter behind which `base` lies, and how many elements.
fn behind_parameter(
    m: &Module,
    func: OpId,
    base: ValueId,
    facts: &FactMap,
) -> Option<(ValueId, Sum)> {
    let (mut address, mut elements) = (base, Sum::default());
    while parameter(m, func, address).is_none() {
        let offset = m.op(m.def_op(through(m, address, &[C::Assume]))?);
        let offset = view::Offset::of(offset)?;
        elements = elements.plus(&Sum::of(m, facts, offset.offset()));
        address = offset.ptr();
    }
    Some((address, elements))
}

/// Rows of `stride` elements each, and elements of one row, that make up so many elements.
fn rows_of(
    m: &Module,
    func: OpId,
    elements: &Sum,
    stride: ValueId,
    facts: &FactMap,
) -> Option<(Sum, Sum)> {
    if let Some(stride) = constant(facts, stride) {
        return (stride > 0).then(|| elements.divided(stride));
    }
    let stride = number(m, func, stride, facts)?;
    let is_stride = |value: ValueId| number(m, func, value, facts).as_ref() == Some(&stride);
    let mut rows = Sum::default();
    for &(value, times) in &elements.terms {
        // A known number of rows.
        if is_stride(value) {
            rows = rows.plus(&Sum::number(times));
            continue;
        }
        let product = m.op(m.def_op(through(m, value, &[C::Assume, C::ExtI]))?);
        let [a, b] = <[ValueId; 2]>::try_from(product.operands.as_slice()).ok()?;
        let of = |value| Sum::of(m, facts, value).times(times);
        rows = match (C::of(product.kind)?, is_stride(a), is_stride(b)) {
            (C::MulI, _, true) => rows.plus(&of(a)),
            (C::MulI, true, _) => rows.plus(&of(b)),
            _ => return None,
        };
    }
    (elements.plus == 0).then_some((rows, Sum::default()))
}

/// Elements that may stand in front of what is accessed of a row in memory, where it is known to end inside of its tensor: then
/// the map's rows are as long as those of memory.
fn row_room(m: &Module, op: OpId, access: &Access, facts: &FactMap) -> Option<i64> {
    let inner = *access.order(facts).first()?;
    let extent = facts.get(access.extent(inner)?)?;
    let index = facts.get(*access.index.get(inner)?)?;
    let step = *access.traversal.get(inner)?;
    let columns = i64::try_from(tile_extent(m, op, inner)?).ok()?;
    let ends = index.hi.checked_mul(step)?.checked_add(columns)?;
    let inside = access.inbounds.get(inner) == Some(&true) || index.lo >= 0 && ends <= extent.lo;
    let row = i64::try_from(row_in_memory(access, facts)?).ok()?;
    inside.then(|| row.checked_sub(extent.hi))?
}

/// Elements of a row of the map of a tensor that begins in the middle of the rows of memory: those of memory.
pub fn row_in_memory(access: &Access, facts: &FactMap) -> Option<u64> {
    let inner = *access.order(facts).first()?;
    let others = (0..access.index.len()).filter(|&dim| dim != inner);
    let strides = others.map(|dim| constant(facts, access.stride(dim)?));
    let row = strides.collect::<Option<Vec<i64>>>()?.into_iter().min()?;
    u64::try_from(row).ok()
}
