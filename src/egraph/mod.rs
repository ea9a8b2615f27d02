//! Equality saturation over the pure part of a function, and the facts it decides by.

pub mod facts;
