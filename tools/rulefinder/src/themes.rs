//! Fragments of the operations that are enumerated together: a few types, variables and rows each. All rows at once
//! would be more terms than one looks at.

use tilec::dialect::OpDef;
use tilec::dialect::meaning::Meaning;
use tilec::facts::semantics::Scalar;
use tilec::facts::truncate;
use tilec::scalar::IntBinary;

use crate::engine::Engine;
use crate::enumerate::Space;
use crate::operations;
use crate::vectors::{Variable, vectors};

/// A fragment.
#[derive(Clone, Debug)]
pub struct Theme {
    pub name: String,
    /// Types of the variables.
    pub variables: Vec<Scalar>,
    /// Types that only results have.
    pub others: Vec<Scalar>,
    /// Names of rows; empty: all of integers but quotients.
    pub rows: Vec<String>,
    /// Operations of a term.
    pub size: usize,
    /// Constants of each integer type.
    pub constants: Vec<i64>,
    /// Whether no variable is negative.
    pub nonneg: bool,
}

const I1: Scalar = Scalar::Int(1);
const I8: Scalar = Scalar::Int(8);
const I32: Scalar = Scalar::Int(32);
const I64: Scalar = Scalar::Int(64);

/// The fragments that are looked at unless others are named.
pub fn all() -> Vec<Theme> {
    let theme = |name: &str,
                 variables: &[Scalar],
                 others: &[Scalar],
                 rows: &str,
                 size,
                 constants: &[i64]| Theme {
        name: name.to_owned(),
        variables: variables.to_vec(),
        others: others.to_vec(),
        rows: rows.split_whitespace().map(str::to_owned).collect(),
        size,
        constants: constants.to_vec(),
        nonneg: false,
    };
    let mut list = vec![
        theme(
            "truth",
            &[I1, I1, I1],
            &[],
            "and or xor not select",
            3,
            &[0, 1],
        ),
        theme("bits", &[I32, I32, I32], &[], "and or xor not", 3, &[0, -1]),
        theme(
            "sums",
            &[I32, I32, I32],
            &[],
            "add sub mul mad",
            3,
            &[0, 1, -1, 2],
        ),
        theme("integers", &[I32, I32], &[], "", 2, &[0, 1, -1, 2, 5, 31]),
        theme(
            "shifts",
            &[I32, I32],
            &[],
            "shl shr.s shr.u and or add sub",
            2,
            &[1, 3, 5, 7, 27, 31, 32, -8],
        ),
        theme(
            "extremes",
            &[I32, I32, I32],
            &[],
            "min.s max.s min.u max.u add sub not",
            2,
            &[0, 1, -1],
        ),
        theme(
            "comparisons",
            &[I32, I32],
            &[I1],
            "icmp add sub and xor not",
            2,
            &[0, 1, -1, 4],
        ),
        theme(
            "choices",
            &[I32, I32, I1],
            &[],
            "select icmp and or xor not zext sext",
            2,
            &[0, 1, -1],
        ),
        theme(
            "conditions",
            &[I1, I1, I32],
            &[],
            "select icmp zext sext trunc and or xor not",
            2,
            &[0, 1, -1, 2],
        ),
        theme(
            "widened",
            &[I32, I32],
            &[I64],
            "sext zext trunc add sub mul shl shr.u and mul.wide.s mul.wide.u",
            3,
            &[0, 1, 4, 32],
        ),
        theme(
            "wide",
            &[I64, I32],
            &[],
            "sext zext trunc add sub mul shl shr.s shr.u and or",
            2,
            &[0, 1, -1, 4, 32],
        ),
        theme(
            "narrow",
            &[I8, I32],
            &[],
            "sext zext trunc add sub and or xor shl shr.u shr.s",
            2,
            &[0, 1, -1, 4, 24, 127],
        ),
        theme(
            "compared wide",
            &[I32, I32],
            &[I64, I1],
            "sext zext icmp",
            3,
            &[0, 5],
        ),
        theme(
            "quotients",
            &[I32, I32],
            &[],
            "div.s div.u rem.s rem.u mul add sub and shr.u",
            2,
            &[1, 2, 3, 4, 8],
        ),
    ];
    let bounded: Vec<Theme> = list
        .iter()
        .filter(|t| !["truth", "bits", "sums"].contains(&t.name.as_str()))
        .map(|t| Theme {
            name: format!("{}, not negative", t.name),
            nonneg: true,
            ..t.clone()
        })
        .collect();
    list.extend(bounded);
    list
}

impl Theme {
    /// The types of its terms.
    fn types(&self) -> Vec<Scalar> {
        let mut types: Vec<Scalar> = self.variables.iter().chain(&self.others).copied().collect();
        types.sort_by_key(|t| (t.bits(), t.to_string()));
        types.dedup();
        types
    }

    fn has(&self, row: &OpDef) -> bool {
        match self.rows.is_empty() {
            true => is_plain(row),
            false => self.rows.iter().any(|name| name == row.name),
        }
    }

    /// The space of its terms; `more` are vectors that are tried besides the usual ones.
    pub fn space(&self, engine: &Engine, count: usize, more: &[Vec<u64>]) -> Space {
        let names = ["a", "b", "c", "d"];
        let variables: Vec<Variable> = (self.variables.iter().zip(names))
            .map(|(&scalar, name)| Variable::new(name, scalar, self.nonneg && scalar != I1))
            .collect();
        let types = self.types();
        let constants = types
            .iter()
            .flat_map(|&scalar| constants(scalar, &self.constants));
        let operations = operations::all(&types, &|row| self.has(row));
        let costs = engine.costs(&operations);
        // What has no instruction of its own is expressed by others: it may be replaced, and costs what its row says.
        let known = operations
            .into_iter()
            .zip(costs)
            .filter_map(|(operation, cost)| {
                let stated = (!operation.is_fused()).then(|| u64::from(operation.row().cost));
                Some((operation, cost.or(stated)?))
            });
        Space {
            constants: constants.collect(),
            operations: known.collect(),
            vectors: vectors(&variables, count, more),
            variables,
        }
    }
}

/// Those of the numbers that a type has.
pub fn constants(scalar: Scalar, numbers: &[i64]) -> Vec<(u64, Scalar)> {
    let Scalar::Int(width) = scalar else {
        return Vec::new();
    };
    let mut list: Vec<(u64, Scalar)> = Vec::new();
    for &number in numbers {
        let bits = truncate(number as u64, width);
        let fits = width == 1 && matches!(number, 0 | 1)
            || tilec::facts::sign_extend(bits, width) == number;
        if fits && !list.contains(&(bits, scalar)) {
            list.push((bits, scalar));
        }
    }
    list
}

/// Rows of integers, without quotients and without fused forms.
pub fn is_plain(row: &OpDef) -> bool {
    match row.meaning {
        Some(Meaning::Int2(op)) => !matches!(op, IntBinary::Div(..) | IntBinary::Rem(_)),
        Some(
            Meaning::Int1(_)
            | Meaning::IntCompare
            | Meaning::Select
            | Meaning::Widen(_)
            | Meaning::Narrow,
        ) => true,
        _ => false,
    }
}
