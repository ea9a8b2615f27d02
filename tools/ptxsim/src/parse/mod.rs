//! PTX text to a syntax tree.

pub mod ast;
mod body;
mod declaration;
mod lexer;
pub mod number;
mod parser;

pub use parser::parse;

/// Text that is not a PTX module, or not one that this simulator knows.
#[derive(Debug, Clone, thiserror::Error)]
#[error("PTX line {line}: {message}")]
pub struct ParseError {
    /// 1-based line.
    pub line: u32,
    /// What is wrong there.
    pub message: String,
}
