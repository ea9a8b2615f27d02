//! The command line, the documentation and the examples.

#[path = "../common/html.rs"]
mod html;

mod cli;
mod documentation;
mod examples;
mod readme;
mod run;
mod view;
