//! Tiles that two are joined to, and those of which a part is taken.
//!
//! Where registers alone step between the parts, joining and taking rename them; where threads do, the tile takes a trip
//! through shared memory. So the layout of one side follows from the other's.

use super::relation::{canonical, default_layout, shape_of};
use crate::dialect::cuda_tile::view::View;
use crate::facts::FactMap;
use crate::facts::access::constant;
use crate::ir::{Module, OpId, ValueId};
use crate::layout::pieces::Extract;
use crate::layout::{Layout, LayoutError};

/// A tile and a part of it.
pub struct Parts {
    pub whole: ValueId,
    pub part: ValueId,
}

impl Parts {
    /// Of an operation whose parts are known.
    pub fn of(m: &Module, facts: &FactMap, op: OpId) -> Option<Parts> {
        match View::of(m.op(op))? {
            View::Cat(v) => Some(Parts {
                whole: v.result(),
                part: v.lhs(),
            }),
            View::Extract(v) => {
                let known = v.indices().iter().all(|&i| constant(facts, i).is_some());
                known.then_some(Parts {
                    whole: v.source(),
                    part: v.result(),
                })
            }
            _ => None,
        }
    }

    /// How the part lies where the tile lies like `whole`; `None`: in several threads.
    pub fn part_of(&self, m: &Module, whole: &Layout) -> Result<Option<Layout>, LayoutError> {
        let taken = Extract::new(whole, &shape_of(m, self.part)?);
        Ok(taken.ok().map(|parts| canonical(&parts.layout)))
    }

    /// How the tile lies where each part lies like `part`; `None` where a thread then holds more of it than of any other
    /// tile of its size.
    pub fn whole_of(
        &self,
        m: &Module,
        part: &Layout,
        warps: u64,
    ) -> Result<Option<Layout>, LayoutError> {
        let layout = canonical(&part.repeated(&shape_of(m, self.whole)?)?);
        let usual = canonical(&default_layout(m, self.whole, warps)?);
        Ok((layout.registers() <= usual.registers()).then_some(layout))
    }
}
