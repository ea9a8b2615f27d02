//! The command line, the documentation and the examples.

mod cli;
mod documentation;
mod examples;
mod readme;
mod run;
