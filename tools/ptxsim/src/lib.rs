//! A functional simulator of PTX.
