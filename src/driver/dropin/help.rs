//! The help of an option table, laid out as LLVM's tools do.

use std::fmt::Write as _;

use super::options::{Group, Kind, Opt, dashed};

/// What a tool says of itself.
pub struct About {
    pub name: &'static str,
    pub overview: &'static str,
    /// The heading of its own options, and that of the remarks with what stands below it.
    pub main: &'static str,
    pub remarks: &'static str,
}

/// The whole help. `grouped`: under headings; `hidden`: with the options that are not for everyone.
pub fn text(about: &About, table: &[Opt], hidden: bool, grouped: bool) -> String {
    let mut shown: Vec<&Opt> = table.iter().filter(|opt| hidden || !opt.hidden).collect();
    if !grouped && !hidden {
        // It is what is being shown.
        shown.retain(|opt| opt.name != "help-list");
    }
    shown.sort_by_key(|opt| opt.name);
    let width = shown.iter().map(|opt| width(opt)).max().unwrap_or(0);
    let mut out = format!(
        "OVERVIEW: {}: {}\n\nUSAGE: {} [options] <tile bytecode file>\n\nOPTIONS:\n",
        about.name, about.overview, about.name
    );
    if !grouped {
        shown.iter().for_each(|opt| option(&mut out, opt, width));
        return out;
    }
    let headings = [
        (Group::Generic, "Generic Options:\n"),
        (Group::Main, about.main),
        (Group::Remarks, about.remarks),
    ];
    for (group, heading) in headings {
        let mut members = shown.iter().filter(|opt| opt.group == group).peekable();
        if members.peek().is_some() {
            let _ = write!(out, "\n{heading}\n");
            members.for_each(|opt| option(&mut out, opt, width));
        }
    }
    out
}

/// Name and value as the help shows them.
fn head(opt: &Opt) -> String {
    match (opt.value, opt.name.len()) {
        ("", _) => dashed(opt.name),
        (value, 1) => format!("-{} <{value}>", opt.name),
        (value, _) => format!("--{}=<{value}>", opt.name),
    }
}

fn width(opt: &Opt) -> usize {
    let choices = match opt.kind {
        Kind::Choice(of) => of.iter().map(|(name, _)| name.len() + 5).max(),
        _ => None,
    };
    choices.unwrap_or(0).max(head(opt).len() + 2)
}

fn option(out: &mut String, opt: &Opt, width: usize) {
    let help = match opt.kind {
        Kind::Alias(of) => format!("Alias for {}", dashed(of)),
        _ => opt.help.to_owned(),
    };
    let _ = writeln!(out, "{:<width$} - {help}", format!("  {}", head(opt)));
    if let Kind::Choice(of) = opt.kind {
        for (name, help) in of {
            let _ = writeln!(out, "{:<width$} -   {help}", format!("    ={name}"));
        }
    }
}
