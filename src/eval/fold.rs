//! `reduce` and `scan` with any body.
//!
//! A body that works element by element runs on all positions outside the folded dimension at
//! once. A reduction then combines neighbours pairwise, keeping their order, so it needs a
//! logarithm of steps and only associativity; its identity is not needed. Other bodies run once
//! per element, in order, starting from the identity, and so does every scan.
//!
//! A body takes what has been combined so far in front of the next element, for each operand: as `tileiras` calls it, and
//! the example of `scan` in the documentation names its arguments, whose text has them the other way round.

use smallvec::smallvec;

use super::code::{Code, Fold, FoldKind as Kind};
use super::context::Fault;
use super::machine::Machine;
use super::operation::Operation;
use super::types::{Dims, Elem};
use super::value::{Args, Value, Values};
use crate::dialect::cuda_tile::Op as Name;
use crate::ir::{Attr, OpId};
use crate::scalar::{Lanes, int};

impl Fold {
    pub fn new(o: &Operation, body: Code) -> Result<Self, String> {
        let first = o.operand(0)?;
        let dim = o.dim(first.shape.len())?;
        let (outer, inner) = around(&first.shape, dim);
        let Attr::Array(identities) = o.attr("identities")? else {
            return Err("attribute `identities` is not a list".into());
        };
        let count = o.op.operands.len();
        if identities.len() != count || body.arguments.len() != 2 * count {
            return Err("needs one identity and two body arguments per operand".into());
        }
        let mut operands = Vec::new();
        for (i, identity) in identities.iter().enumerate() {
            let ty = o.operand(i)?;
            if ty.shape != first.shape {
                return Err("operands differ in shape".into());
            }
            operands.push((ty.elem.bits(), pattern(ty.elem, identity)?));
        }
        let kind = match (o.name, o.op.attr_named("reverse")) {
            (Name::Scan, Some(Attr::Bool(reverse))) => Kind::Scan { reverse: *reverse },
            (Name::Scan, _) => Kind::Scan { reverse: false },
            _ => Kind::Reduce,
        };
        Ok(Self {
            kind,
            outer,
            extent: first.shape[dim],
            inner,
            operands,
            body,
        })
    }

    pub fn run(&self, machine: &mut Machine, op: OpId, args: &Args) -> Result<Values, Fault> {
        let fault = |message| Fault { op, message };
        let count = self.outer * self.extent * self.inner;
        let tiles: Result<Vec<Lanes>, String> = (0..self.operands.len())
            .map(|i| Ok(args.lanes(i)?.expand(count).into_owned()))
            .collect();
        let tiles = tiles.map_err(fault)?;
        match self.kind {
            Kind::Reduce if self.body.lanewise && self.extent.is_power_of_two() => {
                self.reduce_pairs(machine, op, tiles)
            }
            Kind::Reduce => self.in_order(machine, op, &tiles, false, false),
            Kind::Scan { reverse } => self.in_order(machine, op, &tiles, reverse, true),
        }
    }

    /// Runs the body on elements and accumulators, one of each per operand.
    fn combine(
        &self,
        machine: &mut Machine,
        op: OpId,
        elements: Vec<Lanes>,
        accumulators: Vec<Lanes>,
        lanes: usize,
    ) -> Result<Vec<Lanes>, Fault> {
        let arguments = elements
            .into_iter()
            .zip(accumulators)
            .flat_map(|(element, accumulator)| [Value::tile(accumulator), Value::tile(element)])
            .collect();
        let values = machine.call_lanes(&self.body, lanes, arguments)?;
        let lanes_of = |(i, value): (usize, Value)| match value {
            Value::Tile(tile) => Ok(tile.expand(lanes).into_owned()),
            _ => Err(Fault {
                op,
                message: format!("the body's value {i} is not an element"),
            }),
        };
        let results: Vec<Lanes> = values
            .into_iter()
            .enumerate()
            .map(lanes_of)
            .collect::<Result<_, _>>()?;
        if results.len() == self.operands.len() {
            Ok(results)
        } else {
            Err(Fault {
                op,
                message: "the body does not yield a value per operand".into(),
            })
        }
    }

    fn reduce_pairs(
        &self,
        machine: &mut Machine,
        op: OpId,
        mut tiles: Vec<Lanes>,
    ) -> Result<Values, Fault> {
        let mut extent = self.extent;
        while extent > 1 {
            let half = |tiles: &[Lanes], odd: usize| -> Vec<Lanes> {
                let at = |o: usize, i: usize| (o * extent + 2 * i + odd) * self.inner;
                tiles
                    .iter()
                    .map(|tile| {
                        let rows =
                            (0..self.outer).flat_map(|o| (0..extent / 2).map(move |i| at(o, i)));
                        tile.gather(rows.flat_map(|start| start..start + self.inner))
                    })
                    .collect()
            };
            let (elements, accumulators) = (half(&tiles, 1), half(&tiles, 0));
            let lanes = self.outer * (extent / 2) * self.inner;
            tiles = self.combine(machine, op, elements, accumulators, lanes)?;
            extent /= 2;
        }
        Ok(tiles.into_iter().map(Value::tile).collect())
    }

    /// Folds from the identity on, along all positions at once where the body allows it.
    fn in_order(
        &self,
        machine: &mut Machine,
        op: OpId,
        tiles: &[Lanes],
        reverse: bool,
        keep: bool,
    ) -> Result<Values, Fault> {
        let positions = self.outer * self.inner;
        let step = if self.body.lanewise { positions } else { 1 };
        let length = if keep {
            positions * self.extent
        } else {
            positions
        };
        let mut results: Vec<Vec<u64>> = vec![vec![0; length]; tiles.len()];
        for start in (0..positions).step_by(step.max(1)) {
            let mut accumulators: Vec<Lanes> = self
                .operands
                .iter()
                .map(|&(bits, identity)| Lanes::splat(bits, identity))
                .collect();
            for k in 0..self.extent {
                let j = if reverse { self.extent - 1 - k } else { k };
                let at =
                    |p: usize| ((p / self.inner) * self.extent + j) * self.inner + p % self.inner;
                let slice = |tile: &Lanes| tile.gather((start..start + step).map(at));
                let elements = tiles.iter().map(slice).collect();
                accumulators = self.combine(machine, op, elements, accumulators, step)?;
                if keep {
                    for (result, lanes) in results.iter_mut().zip(&accumulators) {
                        (0..step).for_each(|i| result[at(start + i)] = lanes.get(i));
                    }
                }
            }
            if !keep {
                for (result, lanes) in results.iter_mut().zip(&accumulators) {
                    (0..step).for_each(|i| result[start + i] = lanes.get(i));
                }
            }
        }
        let value = |(result, &(bits, _)): (Vec<u64>, &(u32, u64))| {
            Value::tile(Lanes::collect(bits, result.into_iter()))
        };
        let mut values: Values = smallvec![];
        values.extend(results.into_iter().zip(&self.operands).map(value));
        Ok(values)
    }
}

/// An identity attribute as a pattern of the operand's element type.
fn pattern(elem: Elem, attr: &Attr) -> Result<u64, String> {
    match (elem, attr) {
        (Elem::Int(width), Attr::Int { value, .. }) => Ok(*value as u64 & int::mask(width)),
        (Elem::Float(_), Attr::Float { bits, .. }) => Ok(*bits),
        (Elem::Int(1), Attr::Bool(value)) => Ok(u64::from(*value)),
        _ => Err(format!("an identity that is not of type {elem}")),
    }
}

/// The product of the extents before and after dimension `dim`.
fn around(shape: &Dims, dim: usize) -> (usize, usize) {
    (
        shape[..dim].iter().product(),
        shape[dim + 1..].iter().product(),
    )
}
