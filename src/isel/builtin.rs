//! The selection tables that are compiled in, as the build script read them: constants of the program.

use std::borrow::Cow;

use super::table::effect::*;
use super::table::elem::Elem;
use super::table::row::*;
use super::table::{Line, Patterns, Spelling};
use crate::machine::rows::Rows;
use crate::scalar::FloatFormat;

include!(concat!(env!("OUT_DIR"), "/selection.rs"));
