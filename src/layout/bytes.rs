//! Tiles of elements smaller than a byte, and the tiles of their bytes.

use super::shape::log2;
use super::{In, Layout, LayoutError, Shape};

/// The layout of the elements of which `many` are in each element of `bytes`, next to each other along `dim` and in
/// a thread's registers, or in memory.
///
/// ```
/// use tilec::layout::{Layout, Shape, bytes::{joined, spread}};
/// let bytes = Layout::distributed(Shape::new(&[2, 2]).unwrap(), vec![1], vec![2], vec![]).unwrap();
/// let elements = spread(&bytes, 1, 2).unwrap();
/// assert_eq!(elements.to_string(), "2x4: reg [(0,1),(0,2)] lane [(1,0)] warp []");
/// assert_eq!(joined(&elements, 1, 2).unwrap(), Some(bytes));
/// assert_eq!(joined(&elements, 0, 2).unwrap(), None);
/// ```
pub fn spread(bytes: &Layout, dim: usize, many: u64) -> Result<Layout, LayoutError> {
    let shape = resized(bytes.shape(), dim, |n| n * many)?;
    let within = 0..log2("elements of a byte", many)?;
    let holder = holder(bytes);
    let bases = In::ALL.map(|input| {
        let first = within.clone().filter(|_| input == holder);
        let first = first.map(|bit| shape.along(dim, 1 << bit));
        let wide = |&v: &u64| {
            let mut at = bytes.shape().unflatten(v);
            if let Some(x) = at.get_mut(dim) {
                *x *= many;
            }
            shape.flatten(&at)
        };
        first.chain(bytes.bases(input).iter().map(wide)).collect()
    });
    Layout::new(shape, bases)
}

/// The layout of the bytes of `elements`, `many` along `dim` in each: where the elements of each byte are next to each
/// other in one thread's registers, or in memory.
pub fn joined(elements: &Layout, dim: usize, many: u64) -> Result<Option<Layout>, LayoutError> {
    let within = log2("elements of a byte", many)?;
    let shape = elements.shape();
    let extent = shape.extents().get(dim).copied().unwrap_or(0);
    let places = elements.bases(holder(elements));
    let first =
        (0..within).all(|bit| places.get(bit as usize) == Some(&shape.along(dim, 1 << bit)));
    if extent < many || !first {
        return Ok(None);
    }
    let narrow = resized(shape, dim, |n| n / many)?;
    let mut bases = In::ALL.map(|input| elements.bases(input).to_vec());
    if let Some(places) = bases.get_mut(holder(elements) as usize) {
        places.drain(..within as usize);
    }
    for base in bases.iter_mut().flatten() {
        let mut at = shape.unflatten(*base);
        let Some(x) = at.get_mut(dim).filter(|x| x.is_multiple_of(many)) else {
            return Ok(None);
        };
        *x /= many;
        *base = narrow.flatten(&at);
    }
    Layout::new(narrow, bases).map(Some)
}

/// The dimension along which two elements are in a byte, in both layouts, and the layouts of the bytes.
pub fn pairs(from: &Layout, to: &Layout) -> Option<[Layout; 2]> {
    (0..from.shape().rank()).find_map(|dim| {
        let one = |layout| joined(layout, dim, 2).ok().flatten();
        Some([one(from)?, one(to)?])
    })
}

/// What holds neighbouring elements: memory, or a thread's registers.
fn holder(layout: &Layout) -> In {
    match layout.bases(In::Offset) {
        [] => In::Register,
        _ => In::Offset,
    }
}

/// `shape` with another extent along `dim`.
fn resized(shape: &Shape, dim: usize, f: impl Fn(u64) -> u64) -> Result<Shape, LayoutError> {
    let mut extents = shape.extents().to_vec();
    if let Some(extent) = extents.get_mut(dim) {
        *extent = f(*extent);
    }
    Shape::new(&extents)
}
