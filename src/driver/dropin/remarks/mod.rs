//! Remarks: what became of loads, stores, matmuls and loops, in the two forms that `tileiras` 13.5.37 has for them.
//!
//! Names, texts and arguments of remarks on memory accesses and on matmuls are those of `tileiras`; remarks on loops
//! (`RemarkLoopPipelined`, `RemarkLoopNotPipelined`) and on matmuls without warpgroups are tilec's own.

mod gather;
mod write;

use std::fs::File;
use std::io::Write as _;

use super::Failure;
use super::options::Line;
use crate::compile::Compilation;
use crate::ir::Place;

/// Where remarks in YAML go if nothing else is said.
const FILE: &str = "tileir_remarks.yaml";

/// What a remark says of an optimization.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Passed,
    Missed,
    Failed,
}

/// What a remark is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Category {
    Memory,
    TensorCore,
}

/// One remark; `args` are name and text, those called "Reason" apart in the form for people.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Remark {
    kind: Kind,
    category: Category,
    name: &'static str,
    function: String,
    place: Place,
    text: &'static str,
    args: Vec<(&'static str, String)>,
}

/// What was asked for on the command line.
pub struct Remarks {
    /// The categories of passed, missed and failed remarks.
    wanted: [Option<String>; 3],
    yaml: Option<File>,
}

impl Remarks {
    /// The remarks that a command line asks for, if any. A file for YAML is opened before anything is compiled.
    ///
    /// # Errors
    /// That file cannot be written; exit code 3.
    pub fn wanted(line: &Line) -> Result<Option<Self>, Failure> {
        // Remarks of a kind of their own go before those of every kind.
        let category = |option: &str| line.text(option).filter(|text| *text != "none");
        let of = |option| category(option).or(category("remarks")).map(str::to_owned);
        let wanted = ["remarks-passed", "remarks-missed", "remarks-failed"].map(of);
        let analysis = category("remarks-analysis").is_some();
        if wanted.iter().all(Option::is_none) && !analysis {
            return Ok(None);
        }
        let yaml = match line.text("remark-format") {
            Some("yaml") => Some(open(line)?),
            _ => None,
        };
        Ok(Some(Remarks { wanted, yaml }))
    }

    /// Writes what `scheduled`, a compilation that has reached nv_tileas, tells.
    ///
    /// # Errors
    /// The file cannot be written; exit code 3.
    pub fn write(self, scheduled: &Compilation) -> Result<(), Failure> {
        let all = gather::remarks(scheduled);
        let mut all = all.iter().filter(|r| self.wants(r)).peekable();
        let Some(mut file) = self.yaml.as_ref() else {
            if all.peek().is_some() {
                super::print(&write::text(&all.collect::<Vec<_>>()));
            }
            return Ok(());
        };
        file.write_all(write::yaml(all).as_bytes())
            .map_err(|e| Failure::new(3, format!("cannot write remarks: {e}")))
    }

    fn wants(&self, remark: &Remark) -> bool {
        let [passed, missed, failed] = &self.wanted;
        let category = match remark.kind {
            Kind::Passed => passed,
            Kind::Missed => missed,
            Kind::Failed => failed,
        };
        let name = match remark.category {
            Category::Memory => "memory",
            Category::TensorCore => "tensorcore",
        };
        category.as_deref().is_some_and(|c| c == "all" || c == name)
    }
}

fn open(line: &Line) -> Result<File, Failure> {
    let path = line.text("remarks-output-file").filter(|p| !p.is_empty());
    let path = path.unwrap_or(FILE);
    File::create(path).map_err(|e| {
        let text = e.to_string();
        let reason = text.split(" (os error").next().unwrap_or_default();
        Failure {
            code: 3,
            lines: vec![format!(
                "Error opening remark output file '{path}': {reason}"
            )],
        }
        .and("failed to enable optimization remarks")
    })
}
