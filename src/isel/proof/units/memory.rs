//! Operands in shared memory: names of elements at addresses, and what a matrix descriptor says of where an element is.

use rustc_hash::FxHashMap;

use super::Place;
use crate::layout::shared::{SharedLayout, Swizzle};
use crate::layout::wgmma_desc::{Major, OperandDescriptor};
use crate::layout::{LayoutError, Shape};

/// How an operand lies in shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lies {
    pub major: Major,
    pub swizzle: Swizzle,
}

impl Lies {
    /// The common way, beside which others are tried.
    pub const PLAINLY: Lies = Lies {
        major: Major::K,
        swizzle: Swizzle::B128,
    };

    /// All ways for elements of which those of `transposable` bits may have M or N contiguous.
    pub fn all(bits: u64, transposable: &[u64]) -> Vec<Lies> {
        let majors = match transposable.contains(&bits) {
            true => &[Major::K, Major::Mn][..],
            false => &[Major::K],
        };
        let swizzles = [Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128];
        let of = |&major: &Major| swizzles.map(|swizzle| Lies { major, swizzle });
        majors.iter().flat_map(of).collect()
    }
}

/// An operand in shared memory, as instructions are told of it.
#[derive(Clone, Debug)]
pub struct Operand {
    at: FxHashMap<u64, Place>,
    /// Bytes of an element.
    pub bytes: u64,
    pub address: u64,
    /// The descriptor without the address.
    pub constant: u64,
    pub mn_steps: Vec<u64>,
    pub k_steps: Vec<u64>,
    pub transposed: bool,
}

impl Operand {
    /// The operand `shape` whose dimension `mn_dim` is M or N, from `address` on; `describe` gives its descriptor, and
    /// that without the address as bits. None where so small an operand does not lie like this.
    pub fn new(
        shape: [u64; 2],
        mn_dim: usize,
        bits: u64,
        lies: Lies,
        address: u64,
        describe: impl Fn(&SharedLayout) -> Result<(OperandDescriptor, u64), LayoutError>,
    ) -> Option<Operand> {
        let inner = match lies.major {
            Major::K => 1 - mn_dim,
            Major::Mn => mn_dim,
        };
        let tile = Shape::new(&shape).ok()?;
        let order = [inner, 1 - inner];
        let layout = SharedLayout::strips(&tile, &order, bits as u32, lies.swizzle).ok()?;
        let (found, constant) = describe(&layout).ok()?;
        let places = (0..shape[0]).flat_map(|i| (0..shape[1]).map(move |j| [i, j]));
        Some(Operand {
            at: places
                .map(|p| (address + layout.byte_offset(&p), p))
                .collect(),
            bytes: bits / 8,
            address,
            constant,
            mn_steps: found.mn_steps,
            k_steps: found.k_steps,
            transposed: found.major == Major::Mn,
        })
    }

    /// The descriptor of a part that begins so many bytes behind the operand.
    pub fn descriptor(&self, behind: u64) -> u64 {
        ((self.address + behind) & 0x3ffff) >> 4 | self.constant
    }

    /// Which elements an instruction with this descriptor reads: `[M or N][K]`.
    pub fn read(
        &self,
        descriptor: Descriptor,
        transposed: bool,
        [mn, k]: [u64; 2],
    ) -> Result<Vec<Vec<Place>>, String> {
        let element = |mn: u64, k: u64| {
            let address = descriptor.address(transposed, self.bytes, mn, k);
            let found = self.at.get(&address).copied();
            found.ok_or_else(|| format!("no element of the operand lies at {address:#x}"))
        };
        (0..mn)
            .map(|i| (0..k).map(|j| element(i, j)).collect())
            .collect()
    }
}

/// A matrix descriptor's fields, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Descriptor {
    start: u64,
    leading: u64,
    stride: u64,
    /// 16-byte chunks of a row of the swizzle's pattern.
    chunks: u64,
}

impl Descriptor {
    fn fields(bits: u64, chunks: u64) -> Descriptor {
        let field = |from: u32| (bits >> from & 0x3fff) << 4;
        Descriptor {
            start: field(0),
            leading: field(16),
            stride: field(32),
            chunks,
        }
    }

    /// PTX ISA, "Matrix Descriptor Format" of `wgmma`: the swizzle in bits 62 and 63.
    pub fn of_wgmma(bits: u64) -> Descriptor {
        Descriptor::fields(bits, [1, 8, 4, 2][(bits >> 62) as usize])
    }

    /// The same of `tcgen05`: the swizzle in bits 61 to 63, and 1 in bits 46 to 48.
    pub fn of_tcgen05(bits: u64) -> Result<Descriptor, String> {
        let chunks = match (bits >> 46 & 7, bits >> 61) {
            (1, 0) => 1,
            (1, 2) => 8,
            (1, 4) => 4,
            (1, 6) => 2,
            _ => return Err(format!("{bits:#x} is no matrix descriptor")),
        };
        Ok(Descriptor::fields(bits, chunks))
    }

    /// PTX ISA, "Strides" and "Swizzling modes": where an element is. `transposed`: M or N is contiguous.
    fn address(&self, transposed: bool, bytes: u64, mn: u64, k: u64) -> u64 {
        // Elements of a chunk, and of a row of chunks.
        let (chunk, row) = (16 / bytes, 16 * self.chunks / bytes);
        let offset = match (transposed, self.chunks) {
            (false, 1) => {
                mn % 8 * 16 + mn / 8 * self.stride + k % chunk * bytes + k / chunk * self.leading
            }
            (false, chunks) => mn % 8 * chunks * 16 + mn / 8 * self.stride + k * bytes,
            (true, 1) => {
                mn % chunk * bytes + mn / chunk * self.stride + k % 8 * 16 + k / 8 * self.leading
            }
            (true, chunks) => {
                let (in_row, rows) = (mn % row * bytes, mn / row * self.leading);
                in_row + rows + k % 8 * chunks * 16 + k / 8 * self.stride
            }
        };
        let address = self.start + offset;
        // The chunk's number in its row, changed by the row's in the pattern of eight times 128 bytes.
        address ^ (((address >> 7) & (self.chunks - 1)) << 4)
    }
}
