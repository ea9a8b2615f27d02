//! Matrix instructions.

use super::inst::{Address, PredSrc, Reg, Src};

/// Element types of matrix multiplications.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum MatTy {
    F16,
    BF16,
    TF32,
    F64,
    E4M3,
    E5M2,
    E2M3,
    E3M2,
    E2M1,
    S8,
    U8,
    S4,
    U4,
    B1,
}

/// Accumulator types of matrix multiplications.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum AccTy {
    F16,
    F32,
    F64,
    S32,
}

/// D = A × B + C with fragments in registers: what `mma` and `wmma.mma` have in common.
#[derive(Debug)]
#[allow(missing_docs)]
pub struct Product {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub a_ty: MatTy,
    pub b_ty: MatTy,
    pub c_ty: AccTy,
    pub d_ty: AccTy,
    pub d: Vec<Reg>,
    pub a: Vec<Src>,
    pub b: Vec<Src>,
    pub c: Vec<Src>,
    /// `.satfinite` of integers
    pub saturate: bool,
    /// 1-bit operation: true for `.and.popc`, false for `.xor.popc`
    pub bit_and: bool,
}

/// `mma.sync`
#[derive(Debug)]
#[allow(missing_docs)]
pub struct Mma {
    pub product: Product,
    /// `.row` of A and `.col` of B, which `m8n8k4` of halves may have otherwise
    pub a_row: bool,
    pub b_col: bool,
    /// `mma.sp`: metadata, selector, and whether it is `::ordered_metadata`
    pub sparse: Option<(Src, u32)>,
    /// block scaling: scale vector size, scale format is e4m3 (else e8m0), (a data, byte, thread), (b data, byte, thread)
    pub scale: Option<BlockScale>,
}

/// Block scale operands of `mma … .block_scale`.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct BlockScale {
    pub vectors: usize,
    pub e4m3: bool,
    pub a: (Src, Src, Src),
    pub b: (Src, Src, Src),
}

/// `ldmatrix` and `stmatrix`
#[derive(Debug)]
#[allow(missing_docs)]
pub struct MatrixMove {
    pub address: Address,
    pub regs: Vec<Src>,
    pub trans: bool,
    /// bytes per row: 16 for b16 rows of 8; 8-bit matrices are 16 rows with `.trans`
    pub shape: MatrixShape,
    pub store: bool,
}

/// Matrix shapes of `ldmatrix`/`stmatrix`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum MatrixShape {
    M8n8B16,
    M16n8B8,
    M16n16B8,
    /// 4-bit or 6-bit elements padded in memory, expanded to bytes; true for 6-bit
    M8n16Unpack {
        six: bool,
    },
    M16n16Unpack {
        six: bool,
    },
}

/// `wgmma.mma_async`
#[derive(Debug)]
#[allow(missing_docs)]
pub struct Wgmma {
    pub n: usize,
    pub k: usize,
    pub a_ty: MatTy,
    pub b_ty: MatTy,
    pub d_ty: AccTy,
    pub d: Vec<Reg>,
    pub a: WgmmaA,
    pub b: Src,
    pub scale_d: PredSrc,
    pub negate_a: bool,
    pub negate_b: bool,
    pub a_mn_major: bool,
    pub b_mn_major: bool,
    pub saturate: bool,
    pub sparse: Option<(Src, u32)>,
    pub bit_and: bool,
}

/// `wmma.load` and `wmma.store` of one matrix
#[derive(Debug)]
#[allow(missing_docs)]
pub struct WmmaMove {
    pub rows: usize,
    pub columns: usize,
    /// of an element, in memory and in registers
    pub bits: u32,
    pub row_major: bool,
    pub regs: Vec<Src>,
    pub address: Address,
    /// elements between rows (columns where column-major)
    pub stride: Option<Src>,
    pub store: bool,
}

/// Where `wgmma`'s A lies.
#[derive(Debug)]
#[allow(missing_docs)]
pub enum WgmmaA {
    Descriptor(Src),
    Registers(Vec<Src>),
}
