//! Which matmuls `tcgen05.mma` can do.

use crate::dialect::nv_tileas::Op as S;
use crate::facts::matmul::Matmul;
use crate::ir::{Module, OpId, Type, ValueId};
use crate::layout::tcgen05::{Atom, K_BITS, ScaledFormat};
use crate::layout::tensor::{COLUMNS, LANES};
use crate::layout::tensor_scales::TensorScales;
use crate::target::{Feature, Suffix, Target};

/// Most columns of an instruction.
const MOST_COLUMNS: u64 = 256;

/// What [`Atom`] calls a tile's elements.
pub fn element_name(m: &Module, value: ValueId) -> String {
    match m.types.get(m.types.elem(m.ty(value))) {
        Type::Int(n) => format!("i{n}"),
        Type::Float(f) => f.name().to_owned(),
        _ => String::new(),
    }
}

/// Extents of a matmul that `tcgen05.mma` can do.
#[derive(Clone, Copy, Debug)]
pub struct Extents {
    pub rows: u64,
    pub columns: u64,
    pub k: u64,
    /// Rows of an instruction, each in a lane of its own.
    pub lanes: u64,
}

impl Extents {
    /// The extents of `dot`, or why there is no instruction for it.
    pub fn of(m: &Module, dot: OpId, target: &Target) -> Result<Extents, String> {
        let data = m.op(dot);
        let &[lhs, rhs, acc, ..] = data.operands.as_slice() else {
            return Err("an operand is missing".to_owned());
        };
        let shape = |v: ValueId| m.types.as_tile(m.ty(v)).map(|t| t.1);
        let (Some(&[rows, columns]), Some(&[_, k])) = (shape(acc), shape(lhs)) else {
            return Err("the matmul has a batch dimension".to_owned());
        };
        if let Some(matmul) = Matmul::of(data).filter(|p| p.scales.is_some()) {
            let lanes = LANES;
            return scaled_extents(
                m,
                matmul,
                Extents {
                    rows,
                    columns,
                    k,
                    lanes,
                },
            );
        }
        let [a, b, c] = [lhs, rhs, acc].map(|v| element_name(m, v));
        let Some(atom) = Atom::of(&a, &b, &c) else {
            return Err(format!("no tcgen05.mma multiplies {a} and {b} into {c}"));
        };
        if [atom.a, atom.b].iter().any(|f| {
            let family = f.own && target.suffix != Suffix::Arch;
            family || f.missing_on.contains(&target.sm)
        }) {
            return Err(format!("{target} has no tcgen05.mma of {a}"));
        }
        let k_bits = k * u64::from(m.types.width(m.ty(lhs)));
        // Instructions of 128 rows have at least 16 columns.
        let lanes = if columns < 16 { LANES / 2 } else { LANES }.min(rows);
        match () {
            () if rows < 64 => Err(format!("{rows} rows, 64 needed")),
            () if columns < 8 => Err(format!("{columns} columns, 8 needed")),
            () if k_bits < K_BITS => Err(format!("{k_bits} bits of K, {K_BITS} needed")),
            () => Ok(Extents {
                rows,
                columns,
                k,
                lanes,
            }),
        }
    }

    /// Whether matmuls of both may have one accumulator.
    pub fn shares_accumulator(self, other: Extents) -> bool {
        let place = |e: Extents| (e.rows, e.columns, e.lanes);
        place(self) == place(other)
    }

    /// Warpgroups whose threads can hold what they read of the accumulator.
    pub fn warpgroups(self) -> u64 {
        let registers = self.rows * self.columns / LANES;
        if registers > MOST_REGISTERS || self.rows > LANES {
            2
        } else {
            1
        }
    }
}

/// Registers of a thread for its part of an accumulator that is read at once.
pub const MOST_REGISTERS: u64 = 128;

/// The extents of a matmul that [`super::convert`] takes.
pub fn takes(m: &Module, op: OpId, target: &Target) -> Option<Extents> {
    let matmul = matches!(S::of(m.op(op).kind), Some(S::Dot | S::ScaledDot));
    let fits = target.has(Feature::Tcgen05) && matmul;
    fits.then(|| Extents::of(m, op, target).ok()).flatten()
}

/// What a scaled matmul's instructions multiply.
#[derive(Clone, Copy, Debug)]
pub struct Scaled {
    pub format: &'static ScaledFormat,
    /// The scales of the left operand and of the right one.
    pub sides: [TensorScales; 2],
}

impl Scaled {
    /// Reads off the types of the operands and their scales, tiles or buffers of them.
    pub fn of(m: &Module, lhs: ValueId, rhs: ValueId, scales: [ValueId; 2]) -> Option<Scaled> {
        let shape = |v: ValueId| m.types.as_tile(m.ty(v)).map(|t| t.1);
        let (&[rows, k], &[_, columns]) = (shape(lhs)?, shape(rhs)?) else {
            return None;
        };
        let along_k = *shape(scales[0])?.last()?;
        let block = k.checked_div(along_k)?;
        let format = ScaledFormat::of(&element_name(m, lhs), &element_name(m, scales[0]), block)?;
        let sides = [
            TensorScales::new(rows, LANES, along_k),
            TensorScales::new(columns, MOST_COLUMNS, along_k),
        ];
        Some(Scaled { format, sides })
    }

    /// Columns of tensor memory for all scales.
    pub fn columns(&self) -> u64 {
        let all: u64 = self.sides.iter().map(TensorScales::columns).sum();
        all.next_power_of_two()
    }
}

/// In how many parts the sums of a scaled matmul have a place in tensor memory beside its scales; `None` of others, and where
/// there is no instruction.
pub fn parts_beside_scales(m: &Module, op: OpId, target: &Target) -> Option<u64> {
    let matmul = Matmul::of(m.op(op)).filter(|_| target.has(Feature::Tcgen05))?;
    let scaled = Scaled::of(m, matmul.lhs, matmul.rhs, matmul.scales?)?;
    let Extents { rows, columns, .. } = Extents::of(m, op, target).ok()?;
    let sums = rows.div_ceil(LANES) * columns;
    let room = COLUMNS.checked_sub(scaled.columns())?;
    Some(sums.div_ceil(room.max(1)).next_power_of_two())
}

/// The extents of a scaled matmul, or why there is no instruction for it.
fn scaled_extents(m: &Module, matmul: Matmul, extents: Extents) -> Result<Extents, String> {
    let Some(scales) = matmul.scales else {
        return Err("it has no scales".to_owned());
    };
    let Some(scaled) = Scaled::of(m, matmul.lhs, matmul.rhs, scales) else {
        let [a, scale] = [matmul.lhs, scales[0]].map(|v| element_name(m, v));
        return Err(format!(
            "no tcgen05.mma multiplies {a} by such scales of {scale}"
        ));
    };
    let k_bits = extents.k * u64::from(m.types.width(m.ty(matmul.lhs)));
    if !extents.rows.is_multiple_of(LANES) {
        return Err(format!("{} rows, {LANES} needed", extents.rows));
    }
    if k_bits < K_BITS {
        return Err(format!("{k_bits} bits of K, {K_BITS} needed"));
    }
    for (side, k_dim) in scaled.sides.iter().zip([1, 0]) {
        side.memory(k_dim).map_err(|e| e.to_string())?;
    }
    Ok(extents)
}
