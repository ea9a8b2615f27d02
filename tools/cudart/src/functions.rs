//! What `functions.tsv` says can be generated.
#![allow(
    missing_docs,
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    clippy::missing_transmute_annotations
)]

use crate::driver::Function;

include!(concat!(env!("OUT_DIR"), "/functions.rs"));
