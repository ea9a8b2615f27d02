//! `rulefinder`: looks for rewrite rules that tilec does not have, and for those that it does not need.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use rulefinder::corpus::{self, Fires};
use rulefinder::engine::Engine;
use rulefinder::find::{Finder, Found, Limits};
use rulefinder::mine;
use rulefinder::shipped::{self, Standing};
use rulefinder::themes;
use tilec::dialect::Dialect;
use tilec::rules::files::{self, Group};
use tilec::rules::prove::solver;
use tilec::rules::{Examples, RuleSet};

#[derive(Parser)]
#[command(about = "Rewrite rules of tilec, found by machine")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Look for rules, and print them as a rule file.
    Find(Find),
    /// Say of each shipped rule whether the others do the same.
    Shipped {
        /// Only rules whose name contains this.
        #[arg(long)]
        only: Option<String>,
    },
    /// List the themes: fragments of the operations that are enumerated together.
    Themes,
}

#[derive(Args)]
struct Find {
    /// Themes to enumerate; all if none is named, none with `-`.
    #[arg(long)]
    theme: Vec<String>,
    /// Bytecode files, or folders of them: rules are ranked by what they do there, and cheaper forms of these kernels'
    /// terms are looked for.
    #[arg(long)]
    corpus: Vec<PathBuf>,
    /// Look at what no kernel of the corpus has, too.
    #[arg(long)]
    all: bool,
    /// The target of costs and kernels.
    #[arg(long, default_value = "sm_90a")]
    gpu_name: String,
    /// Rules that are known besides the shipped ones.
    #[arg(long)]
    rules: Vec<PathBuf>,
    /// Shipped rules that are taken as unknown.
    #[arg(long)]
    without: Vec<String>,
    /// The solver: Z3, by default the `z3` in PATH or in `target/toolkit`.
    #[arg(long)]
    solver: Option<PathBuf>,
    /// Only sample the rules.
    #[arg(long)]
    unproven: bool,
    /// Terms of a theme, at most.
    #[arg(long, default_value_t = Limits::default().terms)]
    terms: usize,
    /// Terms that are tried as replacements of a kernel's term, at most.
    #[arg(long, default_value_t = Limits::default().search)]
    search: usize,
    /// Terms of kernels that are looked at, at most.
    #[arg(long, default_value_t = Limits::default().mined)]
    mined: usize,
    /// Say which rules were refuted, and by what.
    #[arg(long)]
    refuted: bool,
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Find(find) => run(&find),
        Command::Shipped { only } => report(only.as_deref()),
        Command::Themes => {
            for theme in themes::all() {
                println!(
                    "{}: {} operations of {}",
                    theme.name,
                    theme.size,
                    theme.rows.join(" ")
                );
            }
            Ok(())
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn shipped_rules(group: Group) -> Result<RuleSet, String> {
    files::load(group, None, Examples::Kept).map_err(|e| e.to_string())
}

fn run(find: &Find) -> Result<(), String> {
    let mut rules = shipped_rules(Group::Isel)?
        .filtered(|rule| !find.without.iter().any(|name| *name == rule.name));
    for path in &find.rules {
        let text = files::read_file(path).map_err(|e| e.to_string())?;
        rules
            .add(&text, &path.display().to_string())
            .map_err(|e| e.to_string())?;
    }
    let target = find.gpu_name.parse().map_err(|e| format!("{e}"))?;
    let engine = Engine::new(rules, target)?;
    let solver = match find.unproven {
        true => None,
        false => Some(solver::find(find.solver.as_deref())?),
    };
    let files = corpus::files(&find.corpus)?;
    let terms = corpus::terms(&files, &engine)?;
    let limits = Limits {
        terms: find.terms,
        search: find.search,
        mined: find.mined,
        ..Limits::default()
    };
    let mut finder = Finder::new(engine, limits, solver);
    if !files.is_empty() && !find.all {
        finder.shapes = Some(terms.values().map(|t| mine::shape(&t.tree)).collect());
    }
    println!("; {} terms in {} kernels' files", terms.len(), files.len());
    for theme in themes::all() {
        if find.theme.is_empty() || find.theme.contains(&theme.name) {
            finder.theme(&theme)?;
            println!("; {}: {:?}", theme.name, finder.counts);
        }
    }
    finder.mined(&terms)?;
    println!("; kernels' terms: {:?}", finder.counts);
    print(find, &finder, &files)
}

/// Prints the rules, those that save most first.
fn print(find: &Find, finder: &Finder, files: &[PathBuf]) -> Result<(), String> {
    let fires = corpus::fires(files, &finder.engine, &finder.engine.rules)?;
    let of = |found: &Found| fires.get(&*found.rule.name).copied().unwrap_or_default();
    let mut list: Vec<(&Found, Fires)> = finder.found.iter().map(|f| (f, of(f))).collect();
    list.sort_by_key(|(found, fires)| {
        std::cmp::Reverse((found.saves * fires.chosen, found.saves * fires.times))
    });
    println!("\n(dialect nvvm)");
    for (found, fires) in list {
        println!(
            "\n; {}: saves {}; chosen {} times in {} modules, matched {} times",
            found.class.name(),
            found.saves as f64 / 10.0,
            fires.chosen,
            fires.modules,
            fires.times
        );
        print!("{}", found.text);
    }
    if find.refuted {
        for (rule, why) in &finder.refuted {
            println!("\n; refuted: {why}");
            rule.lines().for_each(|line| println!("; {line}"));
        }
    }
    Ok(())
}

/// Prints of each shipped rule whether the others do the same.
fn report(only: Option<&str>) -> Result<(), String> {
    println!("| group | rule | is | instances |\n|---|---|---|---|");
    for group in Group::ALL {
        let rules = shipped_rules(group)?;
        let target = "sm_90a".parse().map_err(|e| format!("{e}"))?;
        let engine = Engine::new(RuleSet::default(), target)?;
        let constants = match group {
            Group::Tile | Group::TileAaToTileAs => Dialect::CudaTile,
            Group::TileAsToNvvm | Group::Isel => Dialect::Nvvm,
        };
        let wanted = |name: &str| only.is_none_or(|only| name.contains(only));
        for (name, standing) in shipped::standings(&engine, &rules, constants, &wanted)? {
            let (is, instances) = match standing {
                Standing::Needed(d) => ("needed", d.instances),
                Standing::Redundant(d) => ("redundant", d.instances),
                Standing::ShortCut(d) => ("short cut", d.instances),
                Standing::Unknown => ("not looked at", 0),
            };
            println!("| {group:?} | `{name}` | {is} | {instances} |");
        }
    }
    Ok(())
}
