//! What a solver says to a query.

/// What a query was answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// No values satisfy it.
    Unsatisfiable,
    /// These values of the inputs do.
    Values(Vec<u64>),
    /// The solver gave up within its steps.
    Unknown,
}
