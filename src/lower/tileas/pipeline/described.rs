//! Which tensors a tensor map describes: those whose numbers are parameters or constants, for whoever launches the kernel
//! makes the map, and slices of them whose first row and number of rows the kernel computes.
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
use crate::facts::access::{Access, constant};
use crate::ir::{Module, OpId, ValueId};

/// Extent of a sliced dimension in the map.
pub const ROWS: i64 = 1 << 30;
/// Extent of the two dimensions that a slice adds: more than any coordinate there.
pub const BEHIND: u64 = 0x7fff_0000;
/// What the stride of the last dimension and that of the sliced one add up to, in bytes: times `ROWS`, 2^64.
pub const WRAP: u64 = 1 << 34;
/// Dimensions that a slice adds.
const ADDED: usize = 2;
/// Most dimensions of a tensor map.
const MOST: usize = 5;

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

/// How a tensor map describes what `access` goes to, or why none does.
pub fn described(
    m: &Module,
    func: OpId,
    access: &Access,
    facts: &FactMap,
) -> Result<Described, String> {
    let known = |v: ValueId| constant(facts, v).is_some() || parameter(m, func, v).is_some();
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
        return Err(wrong("strides that are parameters or constants"));
    }
    if computed.len() > 1 || computed.first().is_some_and(|&dim| Some(dim) == inner) {
        return Err(wrong(
            "extents that are parameters or constants, but for a number of rows",
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
    match based {
        None => Err(wrong(
            "a base address that is a parameter, or whole rows behind one",
        )),
        Some(d) if d.slice.is_some() && rank + ADDED > MOST => {
            Err("a slice of a tensor of more than three dimensions has no tensor map".to_owned())
        }
        Some(d) => Ok(d),
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
    let is_stride = |value: ValueId| {
        let number = constant(facts, stride);
        let value = through(m, value, &SAME);
        number.is_some() && number == constant(facts, value)
            || parameter(m, func, stride).is_some_and(|p| parameter(m, func, value) == Some(p))
    };
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
