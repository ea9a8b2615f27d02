//! Operands of instructions.

/// A general register: a row of the current frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reg(pub u32);

/// A predicate register: a mask of the current frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pred(pub u32);

/// A source: a register of the frame, or a row of the program's constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Src {
    /// register row
    Reg(u32),
    /// constant row
    Const(u32),
}

/// A predicate as a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PredSrc {
    /// which; `None` is the constant true
    pub pred: Option<Pred>,
    /// negated
    pub negated: bool,
}
