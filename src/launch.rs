//! The launch manifest: everything beside the PTX that a launcher must know.
//!
//! The lowering fills these structures; `--emit manifest` writes them as JSON. A launcher passes
//! the entry's own parameters in order, then one tensor map per [`TensorMap`], encoded as its
//! recipe says (the fields are those of `cuTensorMapEncodeTiled`).

use serde::Serialize;

/// The constant that carries a module's manifest inside its PTX and, through `ptxas`, inside its
/// cubin: `.global .align 1 .b8 __tilec_manifest[N]`, whose N bytes are the manifest's JSON (UTF-8,
/// no final zero). In a cubin it is a local symbol of section `.nv.global.init`.
pub const MANIFEST_SYMBOL: &str = "__tilec_manifest";

/// The manifest of a module.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Manifest {
    pub entries: Vec<Entry>,
}

/// How to launch one entry.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Entry {
    pub name: String,
    /// Threads of a block.
    pub block: [u32; 3],
    /// Blocks of the cluster that executes a tile block; all 1 when a block alone does. Grids are counted in tile
    /// blocks either way: such an entry has `.blocksareclusters`.
    pub cluster: [u32; 3],
    /// Dynamic shared memory in bytes; 0 when the kernel declares its own.
    pub shared_bytes: u32,
    /// What lies where in shared memory.
    pub shared_map: Vec<SharedRegion>,
    /// The entry's own parameters.
    pub params: Vec<Param>,
    pub tensor_maps: Vec<TensorMap>,
}

/// A part of a block's shared memory. Regions overlap where one is used after another.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SharedRegion {
    /// First byte, from the start of `global_smem`.
    pub offset: u64,
    pub bytes: u64,
    /// What it holds.
    pub what: String,
}

/// One of the entry's own parameters.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Param {
    pub kind: ParamKind,
    /// Element type of a scalar (`i32`, `f16`, …), pointee of a pointer.
    #[serde(rename = "type")]
    pub ty: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ParamKind {
    Ptr,
    Scalar,
}

/// A number the launcher computes from the entry's parameters.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(untagged)]
pub enum Expr {
    Number(u64),
    Param { param: u32 },
    Mul { mul: [Box<Expr>; 2] },
    Add { add: [Box<Expr>; 2] },
    Sub { sub: [Box<Expr>; 2] },
    CeilDiv { ceildiv: [Box<Expr>; 2] },
}

impl Expr {
    /// The value of entry parameter `i`.
    pub fn param(i: u32) -> Self {
        Expr::Param { param: i }
    }

    /// `self * other`, computed now where both are known.
    pub fn times(self, other: Expr) -> Self {
        match (self, other) {
            (Expr::Number(1), e) | (e, Expr::Number(1)) => e,
            (Expr::Number(a), Expr::Number(b)) => Expr::Number(a.saturating_mul(b)),
            (a, b) => Expr::Mul {
                mul: [Box::new(a), Box::new(b)],
            },
        }
    }

    /// `self + other`, computed now where both are known.
    pub fn plus(self, other: Expr) -> Self {
        match (self, other) {
            (Expr::Number(0), e) | (e, Expr::Number(0)) => e,
            (Expr::Number(a), Expr::Number(b)) => Expr::Number(a.saturating_add(b)),
            (a, b) => Expr::Add {
                add: [Box::new(a), Box::new(b)],
            },
        }
    }

    /// `self - other`, computed now where both are known; no number where that is negative.
    pub fn minus(self, other: Expr) -> Self {
        match (self, other) {
            (e, Expr::Number(0)) => e,
            (Expr::Number(a), Expr::Number(b)) if a >= b => Expr::Number(a - b),
            (a, b) => Expr::Sub {
                sub: [Box::new(a), Box::new(b)],
            },
        }
    }

    /// `self / divisor`, rounded up; `divisor` is not 0.
    pub fn ceil_div(self, divisor: Expr) -> Self {
        match (self, divisor) {
            (e, Expr::Number(1)) => e,
            (Expr::Number(a), Expr::Number(b)) if b != 0 => Expr::Number(a.div_ceil(b)),
            (a, b) => Expr::CeilDiv {
                ceildiv: [Box::new(a), Box::new(b)],
            },
        }
    }
}

/// The recipe of a hidden tensor-map parameter. Dimensions are innermost first.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TensorMap {
    /// Position in the PTX parameter list.
    pub param: u32,
    /// Which entry parameter is the global address.
    pub base: u32,
    /// Bytes added to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_offset: Option<Expr>,
    /// Element type by its textual name (`f16`, `i8`, `f8E4M3FN`, …).
    pub element: String,
    /// Extents in elements. Hardware knows no empty dimension: a launcher encodes an extent of 0 as
    /// 1, since a kernel loads nothing of an empty tensor.
    pub dims: Vec<Expr>,
    /// Byte strides of dimensions 1 and up: the innermost one is contiguous.
    pub strides_bytes: Vec<Expr>,
    /// Elements of the box per dimension.
    #[serde(rename = "box")]
    pub box_dims: Vec<u32>,
    pub element_strides: Vec<u32>,
    pub swizzle: Swizzle,
    pub interleave: Interleave,
    pub oob_fill: OobFill,
    pub l2_promotion: L2Promotion,
}

/// How a box's rows are permuted in shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
pub enum Swizzle {
    #[serde(rename = "none")]
    None,
    #[serde(rename = "32B")]
    B32,
    #[serde(rename = "64B")]
    B64,
    #[serde(rename = "128B")]
    B128,
    #[serde(rename = "128B_atom_32B")]
    B128Atom32,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Interleave {
    None,
}

/// What a load yields outside the tensor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OobFill {
    Zero,
    Nan,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
pub enum L2Promotion {
    #[serde(rename = "none")]
    None,
    #[serde(rename = "64B")]
    B64,
    #[serde(rename = "128B")]
    B128,
    #[serde(rename = "256B")]
    B256,
}

impl Manifest {
    /// The manifest as indented JSON with a final newline.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|s| s + "\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_small_json() {
        let rows = Expr::param(1).times(Expr::Number(2));
        assert_eq!(
            serde_json::to_string(&rows).unwrap(),
            r#"{"mul":[{"param":1},2]}"#
        );
        assert_eq!(Expr::Number(3).times(Expr::Number(4)), Expr::Number(12));
        assert_eq!(Expr::param(0).plus(Expr::Number(0)), Expr::param(0));
        assert_eq!(Expr::Number(7).minus(Expr::Number(2)), Expr::Number(5));
        assert_eq!(Expr::Number(7).ceil_div(Expr::Number(2)), Expr::Number(4));
    }
}
