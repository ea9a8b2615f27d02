//! What is found to be wrong with a rule.

/// What is wrong with a rule.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct Wrong {
    pub message: String,
    /// The variables' values for which the sides differ, where there are such.
    pub operands: Vec<(String, u64)>,
}

impl From<String> for Wrong {
    fn from(message: String) -> Wrong {
        Wrong {
            message,
            operands: Vec::new(),
        }
    }
}
