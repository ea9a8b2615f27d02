//! `tcgen05.mma`: what it multiplies, its instruction descriptor, and the matrix descriptors of operands in shared
//! memory.
//!
//! Source: PTX ISA, "tcgen05.mma": "Shape", "Instruction Descriptor", "Matrix Descriptor Format".

use super::LayoutError;
use super::shared::{SharedLayout, Swizzle};
use super::wgmma_desc::{OperandDescriptor, describe_for};

/// Elements that a kind of the instruction multiplies.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// As the dialects call it.
    pub element: &'static str,
    /// As the instruction's `.kind`.
    pub kind: &'static str,
    /// In the instruction descriptor; integers with a sign have the next one.
    pub code: u32,
    /// Accumulators: name and code.
    pub accumulators: &'static [(&'static str, u32)],
    /// Architectures that have tensor memory, but not this (`ptxas` says so).
    pub missing_on: &'static [u16],
    /// Only the architecture's own target has it (`sm_100a`), not its family's (`sm_100f`).
    pub own: bool,
}

const F32: (&str, u32) = ("f32", 1);
const F16: (&str, u32) = ("f16", 0);

/// The formats, a row each. The elements of both operands are of one kind; of `f16` they are the same.
pub const FORMATS: &[Format] = &[
    Format {
        element: "f16",
        kind: "f16",
        code: 0,
        accumulators: &[F32, F16],
        missing_on: &[],
        own: false,
    },
    Format {
        element: "bf16",
        kind: "f16",
        code: 1,
        accumulators: &[F32],
        missing_on: &[],
        own: false,
    },
    Format {
        element: "tf32",
        kind: "tf32",
        code: 2,
        accumulators: &[F32],
        missing_on: &[],
        own: false,
    },
    Format {
        element: "f8E4M3FN",
        kind: "f8f6f4",
        code: 0,
        accumulators: &[F32, F16],
        missing_on: &[],
        own: false,
    },
    Format {
        element: "f8E5M2",
        kind: "f8f6f4",
        code: 1,
        accumulators: &[F32, F16],
        missing_on: &[],
        own: false,
    },
    Format {
        element: "i8",
        kind: "i8",
        code: 0,
        accumulators: &[("i32", 2)],
        missing_on: &[103],
        own: true,
    },
];

/// What one matmul multiplies.
#[derive(Clone, Copy, Debug)]
pub struct Atom {
    pub a: &'static Format,
    pub b: &'static Format,
    accumulator: u32,
}

impl Atom {
    /// The instruction for elements called `a` and `b` that accumulates in `acc`.
    pub fn of(a: &str, b: &str, acc: &str) -> Option<Atom> {
        let format = |name: &str| FORMATS.iter().find(|f| f.element == name);
        let (a, b) = (format(a)?, format(b)?);
        let accumulator = |f: &Format| f.accumulators.iter().find(|x| x.0 == acc).map(|x| x.1);
        let same = a.kind == b.kind && (a.kind != "f16" || a.code == b.code);
        let (code, _) = (accumulator(a)?, accumulator(b)?);
        same.then_some(Atom {
            a,
            b,
            accumulator: code,
        })
    }

    /// The instruction descriptor of m×n. `signed`: integers; `transposed`: M or N is contiguous in memory.
    pub fn descriptor(&self, [m, n]: [u64; 2], signed: [bool; 2], transposed: [bool; 2]) -> u32 {
        let code = |f: &Format, signed: bool| match f.kind {
            "i8" => f.code + u32::from(signed),
            _ => f.code,
        };
        let [m, n] = [m, n].map(|x| x as u32);
        self.accumulator << 4
            | code(self.a, signed[0]) << 7
            | code(self.b, signed[1]) << 10
            | u32::from(transposed[0]) << 15
            | u32::from(transposed[1]) << 16
            | (n >> 3) << 17
            | (m >> 4) << 24
    }
}

/// Elements and scales that a block-scaled kind multiplies: A and B are of the same.
#[derive(Clone, Copy, Debug)]
pub struct ScaledFormat {
    /// As the dialects call the elements, and the scales.
    pub element: &'static str,
    pub scale: &'static str,
    /// Elements of K that share a scale.
    pub block: u64,
    /// As the instruction's `.kind`.
    pub kind: &'static str,
    /// The elements' code in the instruction descriptor.
    code: u32,
}

/// The block-scaled formats, a row each.
///
/// Source: PTX ISA, "Valid combinations of scale_vectorsize with types and MMA-Kind".
pub const SCALED: &[ScaledFormat] = &[
    ScaledFormat::row("f8E4M3FN", "f8E8M0FNU", 32, "mxf8f6f4", 0),
    ScaledFormat::row("f8E5M2", "f8E8M0FNU", 32, "mxf8f6f4", 1),
    ScaledFormat::row("f4E2M1FN", "f8E8M0FNU", 32, "mxf4", 1),
    ScaledFormat::row("f4E2M1FN", "f8E8M0FNU", 16, "mxf4nvf4", 1),
    ScaledFormat::row("f4E2M1FN", "f8E4M3FN", 16, "mxf4nvf4", 1),
];

impl ScaledFormat {
    const fn row(
        element: &'static str,
        scale: &'static str,
        block: u64,
        kind: &'static str,
        code: u32,
    ) -> ScaledFormat {
        ScaledFormat {
            element,
            scale,
            block,
            kind,
            code,
        }
    }

    /// The format of elements and scales called so.
    pub fn of(element: &str, scale: &str, block: u64) -> Option<&'static ScaledFormat> {
        let is = |f: &&ScaledFormat| f.element == element && f.scale == scale && f.block == block;
        SCALED.iter().find(is)
    }

    /// The instruction descriptor of m×n; `ids`: the first byte of the scales of A and of B in their words.
    pub fn descriptor(&self, [m, n]: [u64; 2], transposed: [bool; 2], ids: [u64; 2]) -> u32 {
        let [m, n, a_id, b_id] = [m, n, ids[0], ids[1]].map(|x| x as u32);
        b_id << 4
            | self.code << 7
            | self.code << 10
            | u32::from(transposed[0]) << 15
            | u32::from(transposed[1]) << 16
            | (n >> 3) << 17
            | u32::from(self.scale == "f8E8M0FNU") << 23
            | (m >> 7) << 27
            | a_id << 29
    }
}

/// The bits of the matrix descriptor of what `tcgen05.cp.32x128b` copies, other than the start address: 32 rows of 16
/// bytes, eight after each other.
pub const COPY: u64 = 8 << 32 | 8 << 16 | 1 << 46;

/// Bits of K of one instruction.
pub const K_BITS: u64 = 256;

/// The descriptor of the operand tile in `shared`, as [`super::wgmma_desc::describe`]; those of 8 and of 32
/// bits may have M or N contiguous, too.
pub fn describe(
    shared: &SharedLayout,
    mn_dim: usize,
    instruction_mn: u64,
) -> Result<OperandDescriptor, LayoutError> {
    describe_for(shared, mn_dim, instruction_mn, &[8, 16, 32])
}

/// The bits of a matrix descriptor other than the start address.
pub fn constant(operand: &OperandDescriptor) -> u64 {
    let field = |bytes: u64| (bytes & 0x3ffff) >> 4;
    let mode = match operand.swizzle {
        Swizzle::None => 0,
        Swizzle::B128Atom32 => 1,
        Swizzle::B128 => 2,
        Swizzle::B64 => 4,
        Swizzle::B32 => 6,
    };
    field(operand.leading_bytes) << 16 | field(operand.stride_bytes) << 32 | 1 << 46 | mode << 61
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Shape;

    /// The descriptor that CUTLASS's `make_instr_desc` documents for f16 × f16 → f32, 128 × 256, K-major.
    #[test]
    fn instruction_descriptors() {
        let atom = Atom::of("f16", "f16", "f32").unwrap();
        assert_eq!(
            atom.descriptor([128, 256], [false; 2], [false; 2]),
            0x0840_0010
        );
        let bf16 = Atom::of("bf16", "bf16", "f32").unwrap();
        let bits = bf16.descriptor([64, 32], [false; 2], [true, false]);
        assert_eq!(
            bits,
            1 << 4 | 1 << 7 | 1 << 10 | 1 << 15 | 4 << 17 | 4 << 24
        );
        let mixed = Atom::of("f8E4M3FN", "f8E5M2", "f32").unwrap();
        assert_eq!(
            mixed.descriptor([128, 8], [false; 2], [false, true]) >> 10 & 7,
            1
        );
        let i8 = Atom::of("i8", "i8", "i32").unwrap();
        let bits = i8.descriptor([128, 16], [true, false], [false; 2]);
        assert_eq!((bits >> 4 & 3, bits >> 7 & 7, bits >> 10 & 7), (2, 1, 0));
        assert!(Atom::of("f16", "bf16", "f32").is_none());
        assert!(Atom::of("tf32", "tf32", "f16").is_none());
        assert!(Atom::of("f64", "f64", "f64").is_none());
    }

    #[test]
    fn matrix_descriptors() {
        let shape = Shape::new(&[128, 64]).unwrap();
        let s = SharedLayout::strips(&shape, &[1, 0], 16, Swizzle::B128).unwrap();
        let d = describe(&s, 0, 128).unwrap();
        assert_eq!(constant(&d), 2 << 61 | 1 << 46 | 64 << 32 | 1 << 16);
        assert_eq!(d.k_steps, [0, 32, 64, 96]);
        // Bytes with N contiguous: 128 columns a row, 8 rows of k 1024 bytes apart.
        let shape = Shape::new(&[64, 128]).unwrap();
        let s = SharedLayout::strips(&shape, &[1, 0], 8, Swizzle::B128).unwrap();
        let d = describe(&s, 1, 128).unwrap();
        assert_eq!((d.stride_bytes, &d.k_steps[..]), (1024, &[0, 4096][..]));
    }

    /// `tf32` with N contiguous: the ISA's form for the 128-byte swizzle with atoms of 32 bytes, `Swizzle<2,5,2>` over
    /// `((32, n), (4, k)) : ((1, LBO), (32, SBO))` in elements.
    #[test]
    fn transposed_tf32() {
        let shape = Shape::new(&[16, 64]).unwrap();
        let s = SharedLayout::strips(&shape, &[1, 0], 32, Swizzle::B128Atom32).unwrap();
        let d = describe(&s, 1, 64).unwrap();
        assert_eq!(constant(&d) >> 61, 1);
        assert_eq!(d.k_steps, [0, 1024]);
        for (k, n) in (0..16).flat_map(|k| (0..64).map(move |n| (k, n))) {
            let (step, within) = (k / 8, k % 8);
            let linear = d.k_steps[step as usize]
                + n % 32 * 4
                + n / 32 * d.leading_bytes
                + within % 4 * 128
                + within / 4 * d.stride_bytes;
            let bits = linear >> 7 & 3;
            assert_eq!(linear ^ bits << 5, s.byte_offset(&[k, n]), "{k}, {n}");
        }
        let narrow = SharedLayout::strips(&shape, &[1, 0], 32, Swizzle::B128).unwrap();
        assert!(describe(&narrow, 1, 64).is_err());
    }
}
