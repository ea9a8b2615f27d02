//! The readable form of layouts.

use std::fmt;

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
                write!(f, " {} [", name(input))?;
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

fn name(input: In) -> &'static str {
    match input {
        In::Register => "reg",
        In::Lane => "lane",
        In::Warp => "warp",
        In::Block => "block",
        In::Offset => "offset",
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
