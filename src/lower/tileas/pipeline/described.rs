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

use crate::dialect::cuda_tile::Op as C;
use crate::facts::FactMap;
use crate::facts::access::{Access, constant, destination, operand, tile_of};
use crate::ir::{Module, OpId, ValueId};
use crate::launch::Expr;

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
    pub slice: Option<Slice>,
}

/// The rows of a tensor that an access is to.
pub struct Slice {
    /// The tile's dimension along which the tensor is sliced.
    pub dim: usize,
    /// The first of these rows, an integer; `None`: row 0.
    pub start: Option<ValueId>,
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
    let mut rows = (0..rank).filter(|&dim| Some(dim) != inner);
    let behind = |dim: usize| {
        let stride = access.stride(dim)?;
        let (address, start) = rows_behind(m, func, access.base, stride, facts)?;
        let slice = Slice {
            dim,
            start: Some(start),
        };
        let is_it = parameter(m, func, address).is_some() && computed.iter().all(|&d| d == dim);
        is_it.then_some((address, Some(slice)))
    };
    let found = match parameter(m, func, access.base) {
        Some(_) => {
            let slice = computed.first().map(|&dim| Slice { dim, start: None });
            Some((access.base, slice))
        }
        None => rows.find_map(behind),
    };
    let based = found.and_then(|(address, slice)| {
        Some(Described {
            address,
            base: parameter(m, func, address)?,
            slice,
        })
    });
    let described = based
        .ok_or_else(|| wrong("a base address that is a parameter, or whole rows behind one"))?;
    if let Some(slice) = &described.slice {
        if rank + ADDED > MOST {
            return Err(
                "a slice of a tensor of more than three dimensions has no tensor map".into(),
            );
        }
        begins_inside(m, op, access, facts, slice.dim)?;
    }
    Ok(described)
}

/// Whether no tile begins in front of the slice along `dim` and ends inside: only where the slice ends do copies look.
fn begins_inside(
    m: &Module,
    op: OpId,
    access: &Access,
    facts: &FactMap,
    dim: usize,
) -> Result<(), String> {
    let data = m.op(op);
    let buffer = destination(data).or_else(|| operand(data, "source"));
    let tile = tile_of(m, op).or(buffer);
    let shape = tile.and_then(|t| m.types.as_tile(m.ty(t)));
    let rows = shape.and_then(|(_, extents)| extents.get(dim).copied());
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

/// The address and the number of rows, `stride` elements each, that `base` lies behind it. Where a number of elements of
/// 32 bits overflows, the address is that of the row all the same.
fn rows_behind(
    m: &Module,
    func: OpId,
    base: ValueId,
    stride: ValueId,
    facts: &FactMap,
) -> Option<(ValueId, ValueId)> {
    let operands = |value: ValueId, kind: C| {
        let op = m.op(m.def_op(value)?);
        let own = C::of(op.kind) == Some(kind);
        <[ValueId; 2]>::try_from(op.operands.as_slice())
            .ok()
            .filter(|_| own)
    };
    const SAME: [C; 2] = [C::Assume, C::ExtI];
    let stride_is = number(m, func, stride, facts)?;
    let is_stride = |value: ValueId| number(m, func, value, facts).as_ref() == Some(&stride_is);
    let [address, elements] = operands(through(m, base, &[C::Assume]), C::Offset)?;
    let elements = through(m, elements, &SAME);
    if let Some([rows, by]) = operands(elements, C::ShLI) {
        let by = constant(facts, by).filter(|by| (0..63).contains(by))?;
        return (constant(facts, stride)? == 1 << by).then_some((address, rows));
    }
    let [a, b] = operands(elements, C::MulI)?;
    match (is_stride(a), is_stride(b)) {
        (_, true) => Some((address, a)),
        (true, _) => Some((address, b)),
        _ => None,
    }
}
