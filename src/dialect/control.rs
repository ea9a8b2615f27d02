//! Control flow, in whichever dialect it is written.

use super::{OpKind, cuda_tile, nv_tileaa, nv_tileas, nvvm};

/// What an operation does to the flow of control.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Control {
    If,
    /// Repeats until something in it breaks.
    Loop,
    /// Counts.
    For,
    /// Goes on with the next iteration of the loop around it.
    Continue,
    /// Leaves the loop around it.
    Break,
    /// Ends the kernel.
    Return,
}

impl Control {
    /// What operations of this kind do; `None` where they do none of these.
    pub fn of(kind: OpKind) -> Option<Control> {
        use Control::{Break, Continue, For, If, Loop, Return};
        let tile = |op| match op {
            cuda_tile::Op::If => Some(If),
            cuda_tile::Op::Loop => Some(Loop),
            cuda_tile::Op::For => Some(For),
            cuda_tile::Op::Continue => Some(Continue),
            cuda_tile::Op::Break => Some(Break),
            cuda_tile::Op::Return => Some(Return),
            _ => None,
        };
        let thread = |op| match op {
            nvvm::Op::If => Some(If),
            nvvm::Op::Loop => Some(Loop),
            nvvm::Op::For => Some(For),
            nvvm::Op::Continue => Some(Continue),
            nvvm::Op::Break => Some(Break),
            nvvm::Op::Return => Some(Return),
            _ => None,
        };
        let lowered = [
            OpKind::from(nv_tileaa::Op::Return),
            OpKind::from(nv_tileas::Op::Return),
        ];
        match (cuda_tile::Op::of(kind), nvvm::Op::of(kind)) {
            (Some(op), _) => tile(op),
            (_, Some(op)) => thread(op),
            _ => lowered.contains(&kind).then_some(Return),
        }
    }
}
