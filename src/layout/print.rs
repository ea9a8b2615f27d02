//! The readable form of layouts.

use std::fmt;

use super::addr::AccessPlan;
use super::convert::{Conversion, SharedPlan, Transfer};
use super::ldmatrix::{Matrices, MatrixPlan};
use super::shared::SharedLayout;
use super::shuffle::ShufflePlan;
use super::{In, Layout, Shape};

/// `128x64: reg [(0,1),(8,0)] lane [...] warp [...]`: the tile, then each input bit's
/// coordinates, lowest bit first. A memory layout prints its offset bits only.
impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.shape())?;
        let memory = self.in_bits(In::Offset) > 0;
        for input in In::ALL {
            let bases = self.bases(input);
            let always = matches!(input, In::Register | In::Lane | In::Warp) && !memory;
            if always || !bases.is_empty() {
                write!(f, " {} [", input.name())?;
                for (i, &b) in bases.iter().enumerate() {
                    f.write_str(if i > 0 { "," } else { "" })?;
                    coords(f, self.shape(), b)?;
                }
                f.write_str("]")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Layout({self})")
    }
}

fn coords(f: &mut fmt::Formatter<'_>, shape: &Shape, flat: u64) -> fmt::Result {
    f.write_str("(")?;
    for (i, c) in shape.unflatten(flat).iter().enumerate() {
        f.write_str(if i > 0 { "," } else { "" })?;
        write!(f, "{c}")?;
    }
    f.write_str(")")
}

/// `16-bit 64x64: offset [(0,1),…]`.
impl fmt::Display for SharedLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-bit {}", self.element_bits(), self.layout())
    }
}

/// One line: what the conversion consists of, counted per thread (matrix instructions per
/// warp).
impl fmt::Display for Conversion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Conversion::Identity => f.write_str("nothing to do"),
            Conversion::Registers(_) => f.write_str("renamed registers"),
            Conversion::Shuffle(s) => s.fmt(f),
            Conversion::Shared(s) => s.fmt(f),
        }
    }
}

impl fmt::Display for ShufflePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.butterfly {
            "butterfly"
        } else {
            "indexed"
        };
        let (before, after) = (self.before.len(), self.after.len());
        write!(
            f,
            "{} {kind} shuffles, {before} + {after} rounds of selects",
            self.rounds.len()
        )
    }
}

impl fmt::Display for SharedPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "through {} bytes of shared memory: ",
            self.shared.bytes()
        )?;
        transfer(f, &self.store, "store", "stmatrix")?;
        f.write_str(", ")?;
        transfer(f, &self.load, "load", "ldmatrix")
    }
}

fn transfer(f: &mut fmt::Formatter<'_>, t: &Transfer, plain: &str, matrix: &str) -> fmt::Result {
    match t {
        Transfer::Plain(p @ AccessPlan { vector_bits, .. }) => {
            write!(f, "{} x {vector_bits}-bit {plain}s", p.instructions())
        }
        Transfer::Matrix(p @ MatrixPlan { matrices, kind, .. }) => {
            let kind = match kind {
                Matrices::Rows => "",
                Matrices::Columns => ".trans",
                Matrices::Bytes => ".trans.b8",
            };
            write!(f, "{} x {matrix}.x{matrices}{kind}", p.instructions())
        }
    }
}
