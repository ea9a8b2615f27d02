//! The table that is compiled in, as the build script read it: constants of the program.

use std::borrow::Cow;

use super::super::class::Class;
use super::super::rows::Rows;
use super::row::*;
use crate::target::{Feature, PtxVersion};

include!(concat!(env!("OUT_DIR"), "/instructions.rs"));
