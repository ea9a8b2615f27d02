//! Rewrite rules found by machine, after Ruler (Nandi et al., OOPSLA 2021).
//!
//! ```text
//! operation rows ──enumerate──► terms, in classes of equal values ──► pairs of which one side is cheaper
//! corpus ──mine──► terms that kernels have ──search──►                        │
//!                                                                            ▼
//!          rule file ◄──rank── proven rules ◄──prove── generalised ◄── what shipped rules do not do
//! ```
//! `docs/rule-finder.md` describes the command.

pub mod corpus;
pub mod engine;
pub mod enumerate;
pub mod equation;
pub mod find;
pub mod generalise;
pub mod mine;
pub mod numbers;
pub mod operations;
pub mod shipped;
pub mod text;
pub mod themes;
pub mod tree;
pub mod vectors;
