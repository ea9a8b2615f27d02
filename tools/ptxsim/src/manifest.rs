//! The launch manifest that a compiler leaves beside its PTX: block and cluster size, shared memory, and the recipe of
//! each hidden tensor-map parameter.

use serde::{Deserialize, Serialize};

/// All entries of a module.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Manifest {
    /// one per entry
    pub entries: Vec<EntryManifest>,
}

/// How to launch one entry.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EntryManifest {
    /// PTX name
    pub name: String,
    /// threads per block
    pub block: [u32; 3],
    /// blocks per cluster
    #[serde(default = "one")]
    pub cluster: [u32; 3],
    /// dynamic shared memory in bytes
    #[serde(default)]
    pub shared_bytes: u32,
    /// the entry's own parameters, in order
    #[serde(default)]
    pub params: Vec<ParamManifest>,
    /// hidden parameters
    #[serde(default)]
    pub tensor_maps: Vec<TensorMapManifest>,
}

fn one() -> [u32; 3] {
    [1; 3]
}

/// One parameter of an entry.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ParamManifest {
    /// pointer or scalar
    pub kind: ParamKind,
    /// element or scalar type, such as `i32`
    #[serde(rename = "type", default)]
    pub ty: String,
}

/// Kinds of parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ParamKind {
    /// device address
    Ptr,
    /// value
    Scalar,
}

/// The recipe of one tensor map, dimensions innermost first as `cuTensorMapEncodeTiled` has them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TensorMapManifest {
    /// index among all PTX parameters
    pub param: usize,
    /// index of the entry parameter that holds the base address
    pub base: usize,
    /// bytes added to the base
    #[serde(default)]
    pub base_offset: Option<Expr>,
    /// element type
    pub element: String,
    /// extents in elements; 0 stands for 1, since hardware knows no empty dimension
    pub dims: Vec<Expr>,
    /// strides of dimensions 1.. in bytes
    pub strides_bytes: Vec<Expr>,
    /// box extents in elements
    #[serde(rename = "box")]
    pub box_dims: Vec<u32>,
    /// steps between elements
    #[serde(default)]
    pub element_strides: Vec<u32>,
    /// `none`, `32B`, `64B`, `128B` or `128B_atom_32B`
    #[serde(default = "none")]
    pub swizzle: String,
    /// `none`, `16B` or `32B`
    #[serde(default = "none")]
    pub interleave: String,
    /// `zero` or `nan`
    #[serde(default = "zero")]
    pub oob_fill: String,
    /// `none`, `64B`, `128B` or `256B`
    #[serde(default = "none")]
    pub l2_promotion: String,
}

fn none() -> String {
    "none".into()
}

fn zero() -> String {
    "zero".into()
}

/// An expression over the entry's scalar parameters.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Expr {
    /// a number
    Number(i64),
    /// the value of scalar entry parameter `param`
    Param {
        /// its index
        param: usize,
    },
    /// a product
    Mul {
        /// factors
        mul: Box<[Expr; 2]>,
    },
    /// a sum
    Add {
        /// terms
        add: Box<[Expr; 2]>,
    },
    /// a difference
    Sub {
        /// what is left of the first without the second
        sub: Box<[Expr; 2]>,
    },
    /// a quotient rounded up
    CeilDiv {
        /// dividend and divisor
        ceildiv: Box<[Expr; 2]>,
    },
}

impl Expr {
    /// The value, given the scalar parameters' values by index.
    pub fn evaluate(&self, scalar: &dyn Fn(usize) -> Option<i64>) -> Result<i64, String> {
        let two = |e: &[Expr; 2]| Ok::<_, String>((e[0].evaluate(scalar)?, e[1].evaluate(scalar)?));
        let result = match self {
            Expr::Number(n) => Some(*n),
            Expr::Param { param } => {
                return scalar(*param).ok_or_else(|| {
                    format!("parameter {param} of the manifest is no integer scalar")
                });
            }
            Expr::Mul { mul } => two(mul).map(|(a, b)| a.checked_mul(b))?,
            Expr::Add { add } => two(add).map(|(a, b)| a.checked_add(b))?,
            Expr::Sub { sub } => two(sub).map(|(a, b)| a.checked_sub(b))?,
            Expr::CeilDiv { ceildiv } => match two(ceildiv)? {
                (_, b) if b <= 0 => None,
                (a, b) => a.checked_add(b - 1).map(|s| s.div_euclid(b)),
            },
        };
        result.ok_or_else(|| "an expression of the manifest overflows or divides by zero".into())
    }
}

impl Manifest {
    /// Reads a manifest from JSON.
    pub fn parse(json: &str) -> Result<Manifest, serde_json::Error> {
        serde_json::from_str(json)
    }

    /// The entry called `name`; without a name, the only one.
    pub fn entry(&self, name: Option<&str>) -> Result<&EntryManifest, String> {
        match (self.entries.as_slice(), name) {
            (entries, Some(name)) => entries
                .iter()
                .find(|e| e.name == name)
                .ok_or_else(|| format!("the module has no entry `{name}`")),
            ([entry], None) => Ok(entry),
            _ => Err("the module has several entries: name one".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Manifest;

    #[test]
    fn expressions_read_and_evaluate() {
        let json = r#"{"entries":[{"name":"k","block":[128,1,1],"tensor_maps":[{"param":3,"base":0,"element":"f16",
            "dims":[{"param":1},{"ceildiv":[{"param":2},8]}],"strides_bytes":[{"mul":[{"param":1},{"sub":[5,3]}]}],"box":[64,64],
            "swizzle":"128B"}]}]}"#;
        let manifest = Manifest::parse(json).unwrap();
        let map = &manifest.entries[0].tensor_maps[0];
        let scalar = |i: usize| [None, Some(100), Some(17)][i];
        assert_eq!(map.dims[0].evaluate(&scalar), Ok(100));
        assert_eq!(map.dims[1].evaluate(&scalar), Ok(3));
        assert_eq!(map.strides_bytes[0].evaluate(&scalar), Ok(200));
        assert!(map.dims[0].evaluate(&|_| None).is_err());
        assert_eq!(manifest.entries[0].cluster, [1, 1, 1]);
    }
}
