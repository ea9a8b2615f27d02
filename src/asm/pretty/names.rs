//! The names that NVIDIA's disassembler gives values: by what they are, then a number where a name is taken.
//!
//! Numbers and suffixes are given out as MLIR does for its printed form (MLIR, "AsmPrinter", `SSANameState`): all of a
//! region before what its operations contain; each nested region goes on from where the one around it ended. Which value
//! is called what was observed with `tileirdisasm` 13.5.37.

use rustc_hash::FxHashSet;
use slotmap::SecondaryMap;

use crate::asm::attrs;
use crate::asm::types::simple_type_name;
use crate::dialect::cuda_tile::Op as C;
use crate::ir::{Attr, Dense, Float, Module, Op, OpId, RegionId, Type, TypeId, ValueId};

/// A value's name without `%`, and its position where several results share the name.
pub type Names = SecondaryMap<ValueId, (String, Option<u32>)>;

/// Names for all values of a module.
pub fn of(m: &Module) -> Names {
    let mut namer = Namer {
        m,
        names: Names::new(),
    };
    for &op in &m.block(m.body).ops {
        for &region in &m.op(op).regions {
            namer.region(region, Some(op), Counts::default(), FxHashSet::default());
        }
    }
    namer.names
}

/// The next number of values, arguments and taken names.
#[derive(Clone, Copy, Default)]
struct Counts {
    value: u32,
    argument: u32,
    conflict: u32,
}

struct Namer<'m> {
    m: &'m Module,
    names: Names,
}

impl Namer<'_> {
    fn region(
        &mut self,
        region: RegionId,
        owner: Option<OpId>,
        mut counts: Counts,
        mut used: FxHashSet<String>,
    ) {
        let m = self.m;
        let kind = owner.and_then(|op| C::of(m.op(op).kind));
        for &block in &m.region(region).blocks {
            let args = &m.block(block).args;
            for (i, &arg) in args.iter().enumerate() {
                let side = ["lhs", "rhs"][i % 2];
                let name = match (kind, i) {
                    (Some(C::For), 0) => "loopIdx".to_owned(),
                    (Some(C::For), i) => format!("iterArg{}", i - 1),
                    (Some(C::Reduce), _) if args.len() == 2 => format!("reduce_{side}"),
                    (Some(C::Reduce), i) => format!("reduce_{side}{}", i / 2),
                    _ => {
                        counts.argument += 1;
                        format!("arg{}", counts.argument - 1)
                    }
                };
                let name = unique(name, &mut counts, &mut used);
                self.names.insert(arg, (name, None));
            }
            for &op in &m.block(block).ops {
                self.results(m.op(op), &mut counts, &mut used);
            }
        }
        let ops = m.region(region).blocks.iter();
        for &op in ops.flat_map(|&block| &m.block(block).ops) {
            for &inner in &m.op(op).regions {
                self.region(inner, Some(op), counts, used.clone());
            }
        }
    }

    fn results(&mut self, op: &Op, counts: &mut Counts, used: &mut FxHashSet<String>) {
        let packed = op.def().results.len() == 1 && op.results.len() > 1;
        if packed {
            let Some(&first) = op.results.first() else {
                return;
            };
            let name = self.next(first, counts, used);
            for (&value, i) in op.results.iter().zip(0..) {
                self.names.insert(value, (name.clone(), Some(i)));
            }
            return;
        }
        for &value in &op.results {
            let name = self.next(value, counts, used);
            self.names.insert(value, (name, None));
        }
    }

    fn next(&self, value: ValueId, counts: &mut Counts, used: &mut FxHashSet<String>) -> String {
        match wanted(self.m, value) {
            Some(name) => unique(name, counts, used),
            None => {
                counts.value += 1;
                (counts.value - 1).to_string()
            }
        }
    }
}

/// `name`, with a number behind it if another value has it.
fn unique(name: String, counts: &mut Counts, used: &mut FxHashSet<String>) -> String {
    let mut own = name.clone();
    while !used.insert(own.clone()) {
        own = format!("{name}_{}", counts.conflict);
        counts.conflict += 1;
    }
    own
}

/// The name that a result would have if it were alone; none where it gets a number.
fn wanted(m: &Module, value: ValueId) -> Option<String> {
    let mut at = m.def_op(value)?;
    let mut assumed = 0;
    // Promises stand in chains.
    while C::of(m.op(at).kind) == Some(C::Assume) {
        assumed += 1;
        match m.op(at).operands.first().and_then(|&v| m.def_op(v)) {
            Some(under) => at = under,
            None => return Some(vec!["assume"; assumed].join("_")),
        }
    }
    let own = match assumed {
        0 => result_name(m, at, value),
        _ => m
            .op(at)
            .results
            .first()
            .and_then(|&v| result_name(m, at, v)),
    };
    if assumed == 0 {
        return own;
    }
    let parts = vec!["assume"; assumed].into_iter().map(str::to_owned);
    Some(parts.chain(own).collect::<Vec<_>>().join("_"))
}

fn result_name(m: &Module, op: OpId, value: ValueId) -> Option<String> {
    let data = m.op(op);
    let at = data.results.iter().position(|&r| r == value)?;
    let names: &[&str] = match C::of(data.kind)? {
        C::Constant => return constant(m, data),
        C::LoadPtr | C::AtomicRmw | C::AtomicCas => &["result", "result_token"],
        C::LoadView => &["tile", "result_token"],
        C::MultimemLoadReduceView => &["reduced_values", "result_token"],
        C::GetTileBlockId => &["blockId_x", "blockId_y", "blockId_z"],
        C::GetNumTileBlocks => &["gridSize_x", "gridSize_y", "gridSize_z"],
        C::MakeTensorView => &["tview"],
        C::MakePartitionView => &["pview"],
        C::MakeStridedView => &["sview"],
        C::MakeGatherScatterView => &["gsview"],
        C::Reshape => &["reshape"],
        C::Broadcast => &["bcast"],
        C::Reduce => &["reduce"],
        C::For => &["for"],
        _ => &[],
    };
    names.get(at).map(|&name| name.to_owned())
}

/// `cst_VALUE_TYPE` for equal elements that are whole numbers, floats not below zero; else `cst_TYPE`.
fn constant(m: &Module, op: &Op) -> Option<String> {
    let Some(Attr::Dense { data, ty }) = op.attr_named("value") else {
        return None;
    };
    let (elem, _) = m.types.as_tile(*ty)?;
    let ty = simple_type_name(m.types.get(elem));
    Some(match whole(m, elem, data) {
        Some(text) if matches!(m.types.get(elem), Type::Int(1)) => text,
        Some(text) => format!("cst_{text}_{ty}"),
        None => format!("cst_{ty}"),
    })
}

/// The number that all elements of a constant are, as it is written, if there is one number and it is whole.
fn whole(m: &Module, elem: TypeId, data: &Dense) -> Option<String> {
    let Dense::Bytes(bytes) = data else {
        return None;
    };
    let width = usize::try_from(m.types.bits(elem)?.div_ceil(8)).ok()?;
    if bytes.len() != width {
        return None;
    }
    let mut raw = [0; 8];
    raw.get_mut(..width)?.copy_from_slice(bytes);
    let text = attrs::element(m, elem, u64::from_le_bytes(raw));
    if matches!(m.types.get(elem), Type::Int(_)) {
        return Some(text);
    }
    if let Some(pattern) = text.strip_prefix("0x") {
        let pattern = u64::from_str_radix(pattern, 16).ok()?;
        return is_positive_nan(m.types.get(elem), pattern).then(|| "NaN".to_owned());
    }
    let value: f64 = text.parse().ok()?;
    let exact = value.is_sign_positive() && value.fract() == 0.0 && value < 2f64.powi(63);
    exact.then(|| format!("{value:.0}"))
}

/// Whether a pattern that no decimal number has is a NaN without sign, rather than an infinity.
fn is_positive_nan(ty: &Type, pattern: u64) -> bool {
    let Type::Float(float) = ty else {
        return false;
    };
    let fraction = match float {
        Float::F64 => 52,
        Float::F32 | Float::TF32 => 23,
        Float::F16 => 10,
        Float::BF16 => 7,
        Float::F8E5M2 => 2,
        // These have no infinities.
        _ => 8,
    };
    let negative = pattern >> (float.bits() - 1) & 1 == 1 && fraction != 8;
    pattern & ((1 << fraction) - 1) != 0 && !negative
}
