//! Matrix descriptors of `wgmma` operands in shared memory, read off their layout.
//!
//! The hardware computes an element's address as the descriptor's start address plus
//! strides, then applies the swizzle to the address bits. So a shared layout fits if,
//! with the swizzle undone, every coordinate bit has one power-of-two stride and those
//! strides are the ones of a canonical form.
//!
//! Sources: PTX ISA, "Asynchronous warpgroup level matrix shared memory layout" and
//! "Matrix Descriptor Format"; the canonical forms are also stated in CuTe
//! (`cute/atom/mma_traits_sm90_gmma.hpp`).

use super::gf2::ones;
use super::shared::{SharedLayout, Swizzle};
use super::{In, LayoutError};

/// The dimension of an operand that is contiguous in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Major {
    /// The dimension that is summed over.
    K,
    /// The rows of A or the columns of B; of `wgmma`, 16-bit elements only.
    Mn,
}

/// How instructions address an operand tile in shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperandDescriptor {
    /// Which dimension is contiguous: the instruction's transpose flag is set for [`Major::Mn`].
    pub major: Major,
    /// The swizzle.
    pub swizzle: Swizzle,
    /// Leading dimension byte offset.
    pub leading_bytes: u64,
    /// Stride dimension byte offset.
    pub stride_bytes: u64,
    /// Bytes to add to the start address for the `i`-th instruction along K (256 bits each).
    pub k_steps: Vec<u64>,
    /// Bytes to add to the start address for the `i`-th instruction along M or N.
    pub mn_steps: Vec<u64>,
}

impl OperandDescriptor {
    /// The descriptor's bits other than the start address.
    ///
    /// Bits 16-29 are the leading offset, 32-45 the stride offset, both in 16-byte units;
    /// 49-51 the base offset, 0 since the buffer is aligned to the swizzle's pattern;
    /// 62-63 the swizzle.
    pub fn constant(&self) -> u64 {
        let mode = match self.swizzle {
            Swizzle::None => 0,
            // No operand of `wgmma` is described by the other one.
            Swizzle::B128 | Swizzle::B128Atom32 => 1,
            Swizzle::B64 => 2,
            Swizzle::B32 => 3,
        };
        field(self.leading_bytes) << 16 | field(self.stride_bytes) << 32 | mode << 62
    }

    /// The whole descriptor for a start address in the shared window. The address must be
    /// [`OperandDescriptor::alignment`]-aligned, plus steps.
    pub fn encode(&self, address: u64) -> u64 {
        field(address) | self.constant()
    }

    /// Bytes to whose multiple the operand's buffer must be aligned.
    pub fn alignment(&self) -> u64 {
        self.swizzle.alignment()
    }

    /// What to add to a descriptor to move its start address on by `bytes`.
    pub fn advance(bytes: u64) -> u64 {
        bytes >> 4
    }
}

/// A descriptor's 14-bit field of an address or offset: bits 4-17 of it.
fn field(bytes: u64) -> u64 {
    (bytes & 0x3ffff) >> 4
}

/// The descriptor of the 2-dimensional operand tile in `shared`, whose dimension
/// `mn_dim` is M or N and whose other dimension is K, for instructions that cover
/// `instruction_mn` elements of M or N. Fails if no canonical form fits.
pub fn describe(
    shared: &SharedLayout,
    mn_dim: usize,
    instruction_mn: u64,
) -> Result<OperandDescriptor, LayoutError> {
    describe_for(shared, mn_dim, instruction_mn, &[16])
}

/// The same for an instruction that takes elements of `transposable` bits with M or N contiguous: those of 32 bits in atoms of
/// 32 bytes ([`Swizzle::B128Atom32`]), others in those of 16.
pub fn describe_for(
    shared: &SharedLayout,
    mn_dim: usize,
    instruction_mn: u64,
    transposable: &[u32],
) -> Result<OperandDescriptor, LayoutError> {
    let shape = shared.shape();
    if shape.rank() != 2 || mn_dim > 1 {
        return Err(LayoutError::NoSuchDim {
            dim: mn_dim,
            rank: shape.rank(),
        });
    }
    if !matches!(shared.element_bits(), 8 | 16 | 32) {
        return Err(LayoutError::Unsupported(format!(
            "wgmma operand of {}-bit elements",
            shared.element_bits()
        )));
    }
    let all = Swizzle::ALL.into_iter();
    all.filter_map(|swizzle| Strides::new(shared, mn_dim, swizzle))
        .find_map(|s| s.canonical(instruction_mn, transposable))
        .ok_or_else(|| {
            LayoutError::Unsupported(format!(
                "no wgmma descriptor for {} elements of dimension {mn_dim} of {}",
                instruction_mn,
                shared.layout()
            ))
        })
}

/// Byte strides of the coordinate bits of an operand once its swizzle is undone.
struct Strides {
    swizzle: Swizzle,
    element_bits: u32,
    mn: Vec<u64>,
    k: Vec<u64>,
}

impl Strides {
    fn new(shared: &SharedLayout, mn_dim: usize, swizzle: Swizzle) -> Option<Strides> {
        let plain = shared.with_address_swizzle(swizzle).ok()?;
        let element_bytes = u64::from(shared.element_bits()) / 8;
        let bases = plain.layout().bases(In::Offset);
        // Stride of the element that is `1 << bit` along `dim`.
        let stride = |dim: usize, bit: u32| {
            let unit = shared.shape().along(dim, 1 << bit);
            bases
                .iter()
                .position(|&b| b == unit)
                .map(|i| element_bytes << i)
        };
        let of = |dim: usize| -> Option<Vec<u64>> {
            (0..shared.shape().dim_bits(dim))
                .map(|b| stride(dim, b))
                .collect()
        };
        Some(Strides {
            swizzle,
            element_bits: shared.element_bits(),
            mn: of(mn_dim)?,
            k: of(1 - mn_dim)?,
        })
    }

    fn canonical(&self, instruction_mn: u64, transposable: &[u32]) -> Option<OperandDescriptor> {
        let mn_bits = instruction_mn
            .checked_ilog2()
            .filter(|&b| 1 << b == instruction_mn)?;
        let k_bits = (256 / self.element_bits).ilog2();
        let (mn, mn_steps) = self.mn.split_at_checked(mn_bits as usize)?;
        let (k, k_steps) = self.k.split_at_checked(k_bits as usize)?;
        let (major, (leading_bytes, stride_bytes)) = match self.k_major(mn, k) {
            Some(strides) => (Major::K, strides),
            None if self.is_transposable(transposable) => (Major::Mn, self.mn_major(mn, k)?),
            None => return None,
        };
        // Steps never change which row of the pattern the start address is in: the forms
        // give those address bits to the first 8 rows (columns) of an instruction.
        if leading_bytes.max(stride_bytes) >= 1 << 18 {
            return None;
        }
        Some(OperandDescriptor {
            major,
            swizzle: self.swizzle,
            leading_bytes,
            stride_bytes,
            k_steps: combinations(k_steps),
            mn_steps: combinations(mn_steps),
        })
    }

    fn is_transposable(&self, transposable: &[u32]) -> bool {
        let wide = self.swizzle == Swizzle::B128Atom32;
        transposable.contains(&self.element_bits) && wide == (self.element_bits == 32)
    }

    fn chunk_bits(&self) -> usize {
        (128 / self.element_bits).ilog2() as usize
    }

    /// K-major: 16-byte chunks along K; 8 rows at the swizzle's span; then the stride
    /// offset. The two chunks of the instruction are neighbours, or without a swizzle
    /// apart by the leading offset. (leading, stride)
    fn k_major(&self, mn: &[u64], k: &[u64]) -> Option<(u64, u64)> {
        let chunk = self.chunk_bits();
        let (in_chunk, next_chunk) = (k.get(..chunk)?, *k.get(chunk)?);
        let rows = mn.get(..3)?;
        let swizzled = self.swizzle != Swizzle::None;
        if self.swizzle == Swizzle::B128Atom32 {
            return None;
        }
        let fits = geometric(in_chunk, u64::from(self.element_bits) / 8)
            && geometric(rows, self.swizzle.span_bytes())
            && (!swizzled || next_chunk == 16);
        let stride = mn.get(3).copied().unwrap_or(8 * self.swizzle.span_bytes());
        (fits && geometric(&mn[3..], stride)).then_some((next_chunk, stride))
    }

    /// MN-major: a span along M or N; 8 columns at the span, or the 4 of a wide atom's pattern; the leading offset between
    /// spans and the stride offset between groups of so many columns (the other way round
    /// without a swizzle). (leading, stride)
    fn mn_major(&self, mn: &[u64], k: &[u64]) -> Option<(u64, u64)> {
        let span = self.swizzle.span_bytes();
        let span_bits = (span * 8 / u64::from(self.element_bits)).ilog2() as usize;
        let (in_span, spans) = mn.split_at_checked(span_bits)?;
        let pattern = match self.swizzle {
            Swizzle::B128Atom32 => 2,
            _ => 3,
        };
        let (columns, groups) = k.split_at_checked(pattern)?;
        let between_spans = spans.first().copied().unwrap_or(16);
        let between_groups = groups.first().copied()?;
        let fits = geometric(in_span, u64::from(self.element_bits) / 8)
            && geometric(columns, span)
            && geometric(spans, between_spans)
            && geometric(groups, between_groups);
        fits.then_some(match self.swizzle {
            Swizzle::None => (between_groups, between_spans),
            _ => (between_spans, between_groups),
        })
    }
}

/// Whether the strides are `first`, twice that, four times that, …
fn geometric(strides: &[u64], first: u64) -> bool {
    strides.iter().enumerate().all(|(i, &s)| s == first << i)
}

/// The sums of all subsets of `strides`, in binary order.
fn combinations(strides: &[u64]) -> Vec<u64> {
    (0..1u64 << strides.len())
        .map(|i| ones(i).map(|b| strides[b as usize]).sum())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::Shape;
    use super::*;

    /// Those that `wgmma` knows.
    const SWIZZLES: [Swizzle; 4] = [Swizzle::B128, Swizzle::B64, Swizzle::B32, Swizzle::None];

    /// Address of element (mn, k) of one instruction's operand, as the hardware finds it
    /// from the descriptor's bits: the canonical layouts of the CuTe documentation, in
    /// elements of 16 bytes for the outer structure.
    fn hardware(desc: u64, major: Major, element_bytes: u64, mn: u64, k: u64) -> u64 {
        let start = (desc & 0x3fff) << 4;
        let leading = (desc >> 16 & 0x3fff) << 4;
        let stride = (desc >> 32 & 0x3fff) << 4;
        let (swizzle, w) = match desc >> 62 {
            0 => (Swizzle::None, 1),
            1 => (Swizzle::B128, 8),
            2 => (Swizzle::B64, 4),
            _ => (Swizzle::B32, 2),
        };
        let t = 16 / element_bytes;
        let offset = match (major, swizzle) {
            // ((8,m),(T,2)):((1T,SBO),(1,LBO))
            (Major::K, Swizzle::None) => {
                mn % 8 * 16 + mn / 8 * stride + k % t * element_bytes + k / t * leading
            }
            // ((8,m),(T,2)):((W*T,SBO),(1,T))
            (Major::K, _) => mn % 8 * w * 16 + mn / 8 * stride + k * element_bytes,
            // ((T,1,m),(8,k)):((1,T,SBO),(1T,LBO))
            (Major::Mn, Swizzle::None) => {
                mn % t * element_bytes + mn / t * stride + k % 8 * 16 + k / 8 * leading
            }
            // ((T,W,m),(8,k)):((1,T,LBO),(W*T,SBO))
            (Major::Mn, _) => {
                mn % (t * w) * element_bytes
                    + mn / (t * w) * leading
                    + k % 8 * w * 16
                    + k / 8 * stride
            }
        };
        swizzle.apply(start + offset)
    }

    fn check(
        shared: &SharedLayout,
        mn_dim: usize,
        instruction_mn: u64,
        major: Major,
    ) -> OperandDescriptor {
        let d = describe(shared, mn_dim, instruction_mn).unwrap();
        assert_eq!(d.major, major);
        let bytes = u64::from(shared.element_bits()) / 8;
        let buffer = 0x2000;
        let k_per = 32 / bytes;
        for (i, mn_step) in (0..).zip(&d.mn_steps) {
            for (j, k_step) in (0..).zip(&d.k_steps) {
                let desc = d.encode(buffer) + OperandDescriptor::advance(mn_step + k_step);
                for (mn, k) in (0..instruction_mn).flat_map(|mn| (0..k_per).map(move |k| (mn, k))) {
                    let at = (i * instruction_mn + mn, j * k_per + k);
                    let coords = if mn_dim == 0 {
                        [at.0, at.1]
                    } else {
                        [at.1, at.0]
                    };
                    assert_eq!(
                        hardware(desc, major, bytes, mn, k),
                        buffer + shared.byte_offset(&coords)
                    );
                }
            }
        }
        d
    }

    #[test]
    fn k_major_operands() {
        for swizzle in SWIZZLES {
            for bits in [8, 16, 32] {
                if 64 * u64::from(bits) / 8 < swizzle.span_bytes() {
                    continue;
                }
                let shape = Shape::new(&[128, 64]).unwrap();
                let s = SharedLayout::strips(&shape, &[1, 0], bits, swizzle).unwrap();
                let d = check(&s, 0, 64, Major::K);
                assert_eq!(
                    (d.swizzle, d.stride_bytes),
                    (swizzle, 8 * swizzle.span_bytes())
                );
                assert_eq!(
                    (d.k_steps.len() as u32, d.mn_steps.len()),
                    (64 * bits / 256, 2)
                );
                check(&s.permute(&[1, 0]).unwrap(), 1, 128, Major::K);
            }
        }
    }

    #[test]
    fn k_steps_walk_the_swizzled_row() {
        let s = SharedLayout::strips(&Shape::new(&[64, 128]).unwrap(), &[1, 0], 16, Swizzle::B128)
            .unwrap();
        let d = check(&s, 0, 64, Major::K);
        assert_eq!(d.k_steps, [0, 32, 64, 96, 8192, 8224, 8256, 8288]);
        // Swizzle 128B, stride offset 1024, leading offset 1 (unused).
        assert_eq!(d.constant(), 1 << 62 | 64 << 32 | 1 << 16);
    }

    #[test]
    fn mn_major_operands() {
        for swizzle in SWIZZLES {
            for n in [64, 128, 256] {
                let shape = Shape::new(&[64, 256]).unwrap();
                let s = SharedLayout::strips(&shape, &[1, 0], 16, swizzle).unwrap();
                let d = check(&s, 1, n, Major::Mn);
                assert_eq!((d.k_steps.len(), d.mn_steps.len() as u64), (4, 256 / n));
            }
        }
        let s = SharedLayout::strips(&Shape::new(&[64, 128]).unwrap(), &[1, 0], 16, Swizzle::B128)
            .unwrap();
        let d = check(&s, 1, 128, Major::Mn);
        // Two strips of 64 columns, 64 rows of 128 bytes each; k16 is 16 rows further.
        assert_eq!((d.leading_bytes, d.stride_bytes), (8192, 1024));
        assert_eq!(d.k_steps, [0, 2048, 4096, 6144]);
    }

    #[test]
    fn small_instructions_have_no_stride_to_read() {
        let s = SharedLayout::strips(&Shape::new(&[8, 64]).unwrap(), &[1, 0], 16, Swizzle::B128)
            .unwrap();
        check(&s, 0, 8, Major::K);
    }

    #[test]
    fn other_layouts_are_refused() {
        let shape = Shape::new(&[64, 64]).unwrap();
        let plain = SharedLayout::row_major(&shape, &[1, 0], 16).unwrap();
        assert!(
            describe(&plain, 0, 64)
                .unwrap_err()
                .to_string()
                .contains("no wgmma descriptor")
        );
        let bytes = SharedLayout::strips(&shape, &[1, 0], 8, Swizzle::B64).unwrap();
        assert!(
            describe(&bytes, 1, 64).is_err(),
            "8-bit operands must be K-major"
        );
        let odd = SharedLayout::swizzled(&shape, &[1, 0], 16, 8, 2, 8).unwrap();
        assert!(describe(&odd, 0, 64).is_err());
    }
}
