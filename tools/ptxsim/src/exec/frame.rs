//! A function's activation.

/// One function's activation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame {
    /// index of the function
    pub function: u32,
    /// where the caller goes on
    pub return_pc: u32,
    /// first row
    pub rows: u32,
    /// first predicate
    pub preds: u32,
    /// first byte of local memory
    pub local: u32,
    /// first byte of call parameters
    pub params: u32,
}
