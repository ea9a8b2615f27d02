//! Reductions and scans.

use super::Gen;
use crate::types::{Elem, Fact, Float, Tile, anything, tile_type};

/// How the elements of a dimension are combined.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum With {
    Add,
    Max,
    Min,
    /// An operation on integers that wraps or is bitwise.
    Int(&'static str),
}

impl Gen {
    pub(super) fn fold(&mut self, scan: bool) {
        let shape = self.shape();
        if shape.is_empty() {
            return self.float_binary();
        }
        let elem = self.any_elem();
        let a = self.operand_where(elem, &shape, &|_| true);
        let with = if elem.is_float() {
            self.c.pick(&[With::Add, With::Max, With::Min])
        } else if elem == Elem::I1 {
            self.c
                .pick(&[With::Int("andi"), With::Int("ori"), With::Int("xori")])
        } else {
            self.c.pick(&[
                With::Add,
                With::Max,
                With::Min,
                With::Int("muli"),
                With::Int("xori"),
                With::Int("andi"),
                With::Int("ori"),
            ])
        };
        let dim = self.c.below(shape.len());
        self.fold_with(&a, dim, with, scan);
    }

    /// A reduction (or scan) along a dimension, if its result can be said something of.
    pub(super) fn fold_with(
        &mut self,
        a: &Tile,
        dim: usize,
        with: With,
        scan: bool,
    ) -> Option<Tile> {
        let n = a.shape[dim];
        let (operation, identity, fact) = match a.fact {
            Fact::Int { .. } => int_fold(a.elem, with)?,
            Fact::Float(x) => float_fold(a.elem, x, with, n)?,
        };
        let mut shape = a.shape.clone();
        if !scan {
            shape.remove(dim);
        }
        let name = self.fresh();
        let order = match (scan, self.c.chance(30)) {
            (false, _) => "",
            (true, false) => " reverse=false",
            (true, true) => " reverse=true",
        };
        let which = if scan { "scan" } else { "reduce" };
        let own = tile_type(a.elem, &[]);
        self.line(&format!(
            "{name} = {which} {} dim={dim}{order} identities=[{identity}] : {} -> {}",
            a.name,
            a.ty(),
            tile_type(a.elem, &shape)
        ));
        let (x, y, z) = (self.fresh(), self.fresh(), self.fresh());
        self.line(&format!("({x}: {own}, {y}: {own}) {{"));
        let (head, flag) = operation.split_once(' ').unwrap_or((&operation, ""));
        self.line(&format!("  {z} = {head} {x}, {y} {flag}: {own}"));
        self.line(&format!("  yield {z} : {own}"));
        self.line("}");
        let tile = Tile {
            name,
            elem: a.elem,
            shape,
            fact,
        };
        self.env.push(tile.clone());
        Some(tile)
    }

    /// The largest element of each row and where it is: the first of equals.
    pub(super) fn arg_max(&mut self) {
        let shape = self.shape();
        if shape.is_empty() {
            return self.float_binary();
        }
        let elem = self.c.pick(&[Elem::F32, Elem::I32, Elem::F16]);
        let fits = |t: &Tile| t.is_exact() && !(t.elem.is_float() && t.float().nan);
        let a = self.operand_where(elem, &shape, &fits);
        let dim = self.c.below(shape.len());
        let mut line = vec![1; shape.len()];
        line[dim] = shape[dim];
        let number = self.iota(Elem::I32, shape[dim]);
        let number = self.reshape(&number, &line);
        let number = self.broadcast(&number, &shape);
        let mut to = shape.clone();
        to.remove(dim);
        let (least, compare, equal) = match elem {
            Elem::F32 => (
                "0xFF800000 : f32",
                "cmpf greater_than ordered",
                "cmpf equal ordered",
            ),
            Elem::F16 => (
                "0xFC00 : f16",
                "cmpf greater_than ordered",
                "cmpf equal ordered",
            ),
            _ => ("-2147483648 : i32", "cmpi greater_than", "cmpi equal"),
        };
        let sign = if elem.is_float() { "" } else { ", signed" };
        let e = elem.name();
        let name = self.fresh();
        let (v, w, i, j) = (self.fresh(), self.fresh(), self.fresh(), self.fresh());
        self.line(&format!(
            "{name}:2 = reduce {}, {} dim={dim} identities=[{least}, 2147483647 : i32] : {}, {} -> {}, {}",
            a.name, number.name, a.ty(), number.ty(), tile_type(elem, &to), tile_type(Elem::I32, &to)
        ));
        self.line(&format!(
            "({v}: tile<{e}>, {w}: tile<{e}>, {i}: tile<i32>, {j}: tile<i32>) {{"
        ));
        let k: Vec<String> = (0..7).map(|_| self.fresh()).collect();
        self.line(&format!(
            "  {} = {compare} {v}, {w}{sign} : tile<{e}> -> tile<i1>",
            k[0]
        ));
        self.line(&format!(
            "  {} = {equal} {v}, {w}{sign} : tile<{e}> -> tile<i1>",
            k[1]
        ));
        self.line(&format!(
            "  {} = cmpi less_than {i}, {j}, signed : tile<i32> -> tile<i1>",
            k[2]
        ));
        self.line(&format!("  {} = andi {}, {} : tile<i1>", k[3], k[1], k[2]));
        self.line(&format!("  {} = ori {}, {} : tile<i1>", k[4], k[0], k[3]));
        self.line(&format!(
            "  {} = select {}, {v}, {w} : tile<i1>, tile<{e}>",
            k[5], k[4]
        ));
        self.line(&format!(
            "  {} = select {}, {i}, {j} : tile<i1>, tile<i32>",
            k[6], k[4]
        ));
        self.line(&format!(
            "  yield {}, {} : tile<{e}>, tile<i32>",
            k[5], k[6]
        ));
        self.line("}");
        // Zeros of both signs are equal: which of them is the value is settled by where it is.
        self.env.push(Tile {
            name: format!("{name}#0"),
            elem,
            shape: to.clone(),
            fact: a.fact,
        });
        self.env.push(Tile {
            name: format!("{name}#1"),
            elem: Elem::I32,
            shape: to,
            fact: Fact::Int {
                lo: 0,
                hi: i128::from(i32::MAX),
            },
        });
    }
}

/// Operation, identity, what holds of results.
fn int_fold(elem: Elem, with: With) -> Option<(String, String, Fact)> {
    let all = anything(elem);
    let Fact::Int { lo, hi } = all else {
        return None;
    };
    let (operation, identity) = match with {
        With::Add => ("addi", 0),
        With::Max => ("maxi signed ", lo),
        With::Min => ("mini signed ", hi),
        With::Int("muli") => ("muli", 1),
        With::Int("andi") => ("andi", -1),
        With::Int(name) => (name, 0),
    };
    let identity = match elem {
        Elem::I1 => (identity != 0).to_string(),
        _ => format!("{identity} : {}", elem.name()),
    };
    Some((operation.into(), identity, all))
}

fn float_fold(elem: Elem, x: Float, with: With, n: u64) -> Option<(String, String, Fact)> {
    let infinity = match elem {
        Elem::F16 => (0x7c00u64, 0xfc00u64),
        Elem::BF16 => (0x7f80, 0xff80),
        Elem::F32 => (0x7f80_0000, 0xff80_0000),
        _ => (0x7ff0_0000_0000_0000, 0xfff0_0000_0000_0000),
    };
    let pattern = |bits: u64| {
        format!(
            "0x{bits:0width$X} : {}",
            elem.name(),
            width = elem.bits() as usize / 4
        )
    };
    match with {
        With::Max | With::Min => {
            let (name, identity) = if with == With::Max {
                ("maxf", infinity.1)
            } else {
                ("minf", infinity.0)
            };
            // Of a row without numbers the identity would be seen.
            let flag = if x.nan { " propagate_nan " } else { "" };
            Some((format!("{name}{flag}"), pattern(identity), Fact::Float(x)))
        }
        With::Add => {
            let n = n as f64;
            let size = n * x.max();
            if !x.is_finite() || size > elem.extent().0 / 4.0 {
                return None;
            }
            let exact = x.is_exact()
                && x.quantum
                    .is_some_and(|q| size <= 2f64.powi(elem.precision() + q));
            let error = if exact {
                0.0
            } else {
                n * x.error + n * elem.epsilon() * (size + n * x.error)
            };
            let lo = if x.lo >= 0.0 { 0.0 } else { n * x.lo };
            let hi = if x.hi <= 0.0 { 0.0 } else { n * x.hi };
            let fact = Float {
                lo: lo - error,
                hi: hi + error,
                error,
                ..x
            };
            Some((
                "addf".into(),
                // +0 changes -0, which some combine with the first element and others do not.
                format!("-0.0 : {}", elem.name()),
                Fact::Float(fact),
            ))
        }
        With::Int(_) => None,
    }
}
