//! Instruction descriptors of `tcgen05.mma` (PTX ISA 9.7.16.4.2) and the shapes that they may name (table 39).

use crate::program::inst::{AccTy, MatTy};
use crate::program::tensor::{MmaKind, ScaleSize, TensorMma};

/// A decoded descriptor.
#[derive(Debug, Clone, PartialEq)]
pub struct Instruction {
    /// family of types
    pub kind: MmaKind,
    /// rows of the whole product
    pub m: usize,
    /// columns
    pub n: usize,
    /// length of the sums, zeros of a sparse A included
    pub k: usize,
    /// A has half its elements
    pub sparse: bool,
    /// column of the metadata
    pub selector: usize,
    /// of integers
    pub saturate: bool,
    /// types
    pub d: AccTy,
    /// of A
    pub a: MatTy,
    /// of B
    pub b: MatTy,
    /// signs
    pub negate: (bool, bool),
    /// A and B are M- and N-major
    pub transposed: (bool, bool),
    /// scale factors
    pub scales: Option<Scaling>,
}

/// What the descriptor and the qualifiers say about scale factors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scaling {
    /// scales of each row of A and column of B
    pub count: usize,
    /// powers of two, else positive e4m3
    pub powers: bool,
    /// byte of the first scale in its word, of A and of B
    pub first: (usize, usize),
}

/// Bits of the descriptor.
struct Bits(u32);

impl Bits {
    fn field(&self, shift: u32, width: u32) -> usize {
        (self.0 >> shift & ((1 << width) - 1)) as usize
    }

    fn flag(&self, shift: u32) -> bool {
        self.0 >> shift & 1 == 1
    }

    fn zero(&self, shift: u32, width: u32, what: &str) -> Result<(), String> {
        match self.field(shift, width) {
            0 => Ok(()),
            other => Err(format!(
                "bits {shift}-{} ({what}) hold {other} and must be 0",
                shift + width - 1
            )),
        }
    }
}

const SMALL: [Option<MatTy>; 8] = [
    Some(MatTy::E4M3),
    Some(MatTy::E5M2),
    None,
    Some(MatTy::E2M3),
    Some(MatTy::E3M2),
    Some(MatTy::E2M1),
    None,
    None,
];

fn element(kind: MmaKind, code: usize, which: &str) -> Result<MatTy, String> {
    let found = match kind {
        MmaKind::F16 => [Some(MatTy::F16), Some(MatTy::BF16)].get(code).copied(),
        MmaKind::Tf32 => (code == 2).then_some(Some(MatTy::TF32)),
        MmaKind::I8 => [Some(MatTy::U8), Some(MatTy::S8)].get(code).copied(),
        MmaKind::F8f6f4 | MmaKind::Mxf8f6f4 => SMALL.get(code).copied(),
        MmaKind::Mxf4 | MmaKind::Mxf4nvf4 => (code == 1).then_some(Some(MatTy::E2M1)),
    };
    found
        .flatten()
        .ok_or_else(|| format!("type {code} of {which} is none of this .kind"))
}

impl Instruction {
    /// Decodes and checks the descriptor of an instruction.
    pub fn decode(bits: u32, mma: &TensorMma) -> Result<Instruction, String> {
        Self::fields(&Bits(bits), mma)
            .and_then(|i| i.check(mma).map(|()| i))
            .map_err(|message| {
                format!("instruction descriptor {bits:#010x} of tcgen05.mma: {message}")
            })
    }

    fn fields(bits: &Bits, mma: &TensorMma) -> Result<Instruction, String> {
        let kind = mma.kind;
        let (sparse, scaled) = (bits.flag(2), kind.is_scaled());
        let b_width = if kind.is_packed() { 2 } else { 3 };
        bits.zero(6, 1, "reserved")?;
        let k_96 = kind.is_packed() && bits.flag(31);
        let (m, d) = if scaled {
            bits.zero(0, 2, "reserved")?;
            bits.zero(3, 1, "reserved")?;
            bits.zero(24, 3, "reserved")?;
            if !kind.is_packed() {
                bits.zero(31, 1, "reserved")?;
            } else {
                bits.zero(12, 1, "reserved")?;
            }
            (bits.field(27, 2) * 128, AccTy::F32)
        } else {
            bits.zero(23, 1, "reserved")?;
            bits.zero(29, 1, "reserved")?;
            if !mma.stationary {
                bits.zero(30, 2, "maximum shift, of .ws")?;
            }
            if kind != MmaKind::I8 {
                bits.zero(3, 1, "saturation, of integers")?;
            }
            if !sparse {
                bits.zero(0, 2, "sparsity selector of a dense product")?;
            }
            (bits.field(24, 5) * 16, accumulator(kind, bits.field(4, 2))?)
        };
        let dense = match kind {
            MmaKind::F16 => 16,
            MmaKind::Tf32 => 8,
            MmaKind::F8f6f4 | MmaKind::I8 | MmaKind::Mxf8f6f4 => 32,
            MmaKind::Mxf4 | MmaKind::Mxf4nvf4 if k_96 => 96,
            MmaKind::Mxf4 | MmaKind::Mxf4nvf4 => 64,
        };
        if k_96 && sparse {
            return Err("K = 96 has no sparse form".into());
        }
        let mut instruction = Instruction {
            kind,
            m,
            n: bits.field(17, 6) * 8,
            k: if sparse { 2 * dense } else { dense },
            sparse,
            selector: if scaled { 0 } else { bits.field(0, 2) },
            saturate: !scaled && bits.flag(3),
            d,
            a: element(kind, bits.field(7, 3), "A")?,
            b: element(kind, bits.field(10, b_width), "B")?,
            negate: (bits.flag(13), bits.flag(14)),
            transposed: (bits.flag(15), bits.flag(16)),
            scales: None,
        };
        if let Some(scales) = &mma.scales {
            instruction.scales = Some(scaling(bits, kind, dense, scales.block)?);
        }
        Ok(instruction)
    }

    fn check(&self, mma: &TensorMma) -> Result<(), String> {
        if self.sparse != mma.metadata.is_some() {
            return Err(if self.sparse {
                "says sparse (bit 2), the instruction is not .sp".into()
            } else {
                "says dense (bit 2), the instruction is .sp".into()
            });
        }
        if self.kind == MmaKind::I8 && (self.negate.0 || self.negate.1) {
            return Err("negates integers".into());
        }
        if self.selector != 0 && !matches!(self.kind, MmaKind::F16 | MmaKind::Tf32) {
            return Err("the sparsity selector must be 0 for 8-bit elements".into());
        }
        if mma.shift_a && !matches!(self.m, 128 | 256) {
            return Err(".ashift needs M = 128 or 256".into());
        }
        for (transposed, ty, name) in [
            (self.transposed.0, self.a, "A"),
            (self.transposed.1, self.b, "B"),
        ] {
            let narrow = matches!(ty, MatTy::E2M3 | MatTy::E3M2 | MatTy::E2M1);
            if transposed && narrow {
                return Err(format!(
                    "transposes {name}, whose elements have fewer than 8 bits"
                ));
            }
        }
        self.check_shape(mma)
    }

    /// Table 39.
    fn check_shape(&self, mma: &TensorMma) -> Result<(), String> {
        let (m, n) = (self.m, self.n);
        let rows: &[usize] = match (mma.stationary, mma.pair, self.kind.is_scaled()) {
            (true, _, _) => &[32, 64, 128],
            (false, false, false) => &[64, 128],
            (false, false, true) => &[128],
            (false, true, true) if self.sparse => &[256],
            (false, true, true) if self.k == 96 => &[256],
            (false, true, _) => &[128, 256],
        };
        if !rows.contains(&m) {
            return Err(format!("M = {m}, it may be one of {rows:?} here"));
        }
        let bytes_transposed = self.transposed.1 && matches!(self.b.container_bits(false), 8);
        let good = if mma.stationary {
            matches!(n, 64 | 128) || n == 256 && !self.sparse
        } else {
            let step = match (self.kind, mma.pair) {
                (MmaKind::I8, true) => 32,
                (MmaKind::I8, false) if n > 32 => 16,
                (_, pair) if bytes_transposed => 16 << usize::from(pair),
                (_, true) => 16,
                (_, false) => 8,
            };
            n >= step && n.is_multiple_of(step) && n <= 256
        };
        if !good {
            return Err(format!(
                "N = {n} is none that this .kind has with these qualifiers"
            ));
        }
        Ok(())
    }

    /// Bytes of a row of A as it is stored.
    pub fn a_bytes(&self) -> usize {
        if self.k == 96 { 48 } else { 32 }
    }

    /// Bytes of a column of B as it is stored.
    pub fn b_bytes(&self) -> usize {
        self.a_bytes() * if self.sparse { 2 } else { 1 }
    }

    /// Elements of a row of A as it is stored.
    pub fn stored_k(&self) -> usize {
        if self.sparse { self.k / 2 } else { self.k }
    }
}

fn accumulator(kind: MmaKind, code: usize) -> Result<AccTy, String> {
    match (kind, code) {
        (MmaKind::I8, 2) => Ok(AccTy::S32),
        (MmaKind::F16 | MmaKind::Tf32 | MmaKind::F8f6f4, 1) => Ok(AccTy::F32),
        (MmaKind::F16 | MmaKind::F8f6f4, 0) => Ok(AccTy::F16),
        _ => Err(format!("type {code} of D is none of this .kind")),
    }
}

/// Tables 56 and 57.
fn scaling(
    bits: &Bits,
    kind: MmaKind,
    dense_k: usize,
    size: Option<ScaleSize>,
) -> Result<Scaling, String> {
    let count = match (size, kind) {
        (Some(ScaleSize::Vectors(n)), _) => n,
        (Some(ScaleSize::Block(n)), _) => dense_k / n,
        (None, MmaKind::Mxf4nvf4) => return Err(".kind::mxf4nvf4 needs a .scale_vectorsize".into()),
        (None, _) => dense_k / 32,
    };
    let powers = bits.flag(23);
    let sizes: &[usize] = match (kind, dense_k, powers) {
        (MmaKind::Mxf8f6f4, _, true) => &[1],
        (MmaKind::Mxf4, 96, true) => &[3],
        (MmaKind::Mxf4, _, true) => &[2],
        (MmaKind::Mxf4nvf4, 96, true) => &[3, 6],
        (MmaKind::Mxf4nvf4, 96, false) => &[6],
        (MmaKind::Mxf4nvf4, _, true) => &[2, 4],
        (MmaKind::Mxf4nvf4, _, false) => &[4],
        _ => return Err("scales of type ue4m3 (bit 23) are only for .kind::mxf4nvf4".into()),
    };
    if !sizes.contains(&count) {
        return Err(format!(
            "{count} scales per row: this .kind and type of scales have {sizes:?}"
        ));
    }
    let first = (bits.field(29, 2), bits.field(4, 2));
    for id in [first.0, first.1] {
        let good = match count {
            1 | 3 => true,
            2 | 6 => id % 2 == 0,
            _ => id == 0,
        };
        if !good {
            return Err(format!(
                "scale factor data ID {id} does not go with {count} scales per row"
            ));
        }
    }
    Ok(Scaling {
        count,
        powers,
        first,
    })
}
