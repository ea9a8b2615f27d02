//! The options of `tileiras` and `tileirdisasm`, release 13.5.37.

use super::help::About;
use super::options::{Action, Kind, Opt};

pub const TILEIRAS: About = About {
    name: "tileiras",
    overview: "tilec's optimizing assembler for CUDA Tile IR",
    main: "TileIR Assembler Options:\n",
    remarks: "TileIR Assembler Remark Options:\nWhich remarks are made.\n",
};

pub const TILEIRDISASM: About = About {
    name: "tileirdisasm",
    overview: "tilec's disassembler for CUDA Tile IR",
    main: "TileIR Disassembler Options:\n",
    remarks: "",
};

pub const PREVIEWS: &[&str] = &["simt"];

/// What a GPU may be called: NVIDIA's names, then those that tilec knows besides.
const GPUS: &[(&str, &str)] = &[
    ("sm_80", "SM 80"),
    ("sm_86", "SM 86"),
    ("sm_87", "SM 87"),
    ("sm_88", "SM 88"),
    ("sm_89", "SM 89"),
    ("sm_90", "SM 90"),
    ("sm_100", "SM 100"),
    ("sm_103", "SM 103"),
    ("sm_107", "SM 107"),
    ("sm_110", "SM 110"),
    ("sm_120", "SM 120"),
    ("sm_121", "SM 121"),
    ("sm_75", "SM 75, by tilec only"),
    ("sm_90a", "as sm_90"),
    ("sm_100a", "as sm_100"),
    ("sm_103a", "as sm_103"),
    ("sm_110a", "as sm_110"),
    ("sm_120a", "as sm_120"),
    ("sm_121a", "as sm_121"),
];

const fn help(name: &'static str, hidden: bool, grouped: bool, help: &'static str) -> Opt {
    Opt::new(
        name,
        Kind::Action(Action::Help { hidden, grouped }),
        "",
        help,
    )
    .generic()
}

const HELP: Opt = help(
    "help",
    false,
    true,
    "What can be given here (--help-hidden: all of it)",
);
const HELP_HIDDEN: Opt = help("help-hidden", true, true, "All that can be given here").hide();
const HELP_LIST: Opt = help("help-list", false, false, "The options as one list");
const HELP_LIST_HIDDEN: Opt =
    help("help-list-hidden", true, false, "All options as one list").hide();
const H: Opt = help("h", false, true, "Alias for --help").hide();
const VERSION: Opt = Opt::new(
    "version",
    Kind::Action(Action::Version),
    "",
    "The version of this program",
)
.generic();
const PRINT_ALL: Opt = Opt::new("print-all-options", Kind::Flag, "", "Taken, prints nothing")
    .generic()
    .hide();
const PRINT: Opt = Opt::new("print-options", Kind::Flag, "", "Taken, prints nothing")
    .generic()
    .hide();
const PREVIEW: Opt = Opt::new(
    "preview",
    Kind::Features(PREVIEWS),
    "feature[,feature...]",
    "Take modules that use these features before they are part of the language",
);

const fn alias(name: &'static str, of: &'static str) -> Opt {
    Opt::new(name, Kind::Alias(of), "", "")
}

const fn remarks(name: &'static str, help: &'static str) -> Opt {
    let choices = &[
        ("none", "None"),
        ("all", "All"),
        ("memory", "On memory accesses"),
        ("tensorcore", "On matrix instructions"),
    ];
    Opt::new(name, Kind::Choice(choices), "value", help).remarks()
}

pub const ASSEMBLER: &[Opt] = &[
    HELP,
    HELP_HIDDEN,
    HELP_LIST,
    HELP_LIST_HIDDEN,
    H,
    VERSION,
    PRINT_ALL,
    PRINT,
    PREVIEW,
    alias("O", "opt-level").prefixed(),
    Opt::new("apply-controls", Kind::Text, "path", "Not supported"),
    alias("arch", "gpu-name"),
    Opt::new(
        "device-debug",
        Kind::Flag,
        "",
        "Debug information, from that of the module; with -O0",
    ),
    alias("g", "device-debug"),
    Opt::new(
        "gpu-name",
        Kind::Choice(GPUS),
        "value",
        "The GPU to assemble for",
    ),
    Opt::new(
        "host-arch",
        Kind::Choice(&[("x86_64", "x86_64"), ("aarch64", "aarch64")]),
        "value",
        "Taken for compatibility: the output has no host code",
    ),
    Opt::new(
        "host-os",
        Kind::Choice(&[("linux", "linux"), ("windows", "windows")]),
        "value",
        "Taken for compatibility: the output has no host code",
    ),
    Opt::new("l", Kind::Text, "path", "Not supported"),
    Opt::new(
        "lineinfo",
        Kind::Flag,
        "",
        "Line numbers, from the debug information of the module",
    ),
    Opt::new(
        "list-versions",
        Kind::Action(Action::ListVersions),
        "",
        "The bytecode versions that are read",
    ),
    alias("o", "output-file"),
    Opt::new(
        "opt-level",
        Kind::Integer,
        "N",
        "0 to 3: how much is rewritten (3)",
    ),
    Opt::new(
        "output-file",
        Kind::Text,
        "file",
        "Where the cubin goes (elf.o)",
    ),
    Opt::new(
        "sanitize",
        Kind::Choice(&[("memcheck", "Memory accesses")]),
        "value",
        "Check at run time",
    ),
    Opt::new(
        "remark-format",
        Kind::Choice(&[
            ("command-line", "On standard output, for people"),
            ("yaml", "In a file, for programs"),
        ]),
        "value",
        "How remarks are written",
    )
    .remarks(),
    remarks("remarks", "Remarks of every kind"),
    remarks("remarks-analysis", "Remarks on what was found out"),
    remarks("remarks-failed", "Remarks on what failed"),
    remarks("remarks-missed", "Remarks on what could have been better"),
    remarks("remarks-passed", "Remarks on what was done"),
    Opt::new(
        "remarks-output-file",
        Kind::Text,
        "string",
        "Where remarks go as YAML (tileir_remarks.yaml)",
    )
    .remarks(),
];

pub const DISASSEMBLER: &[Opt] = &[
    HELP,
    HELP_HIDDEN,
    HELP_LIST,
    HELP_LIST_HIDDEN,
    H,
    VERSION,
    PRINT_ALL,
    PRINT,
    PREVIEW,
    alias("g", "print-debug-info"),
    Opt::new(
        "print-debug-info",
        Kind::Flag,
        "",
        "Print locations and scopes, too",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::{Suffix, Target};

    /// `f` is of no use to a program that makes machine code for one GPU.
    #[test]
    fn every_target_can_be_named() {
        for target in Target::all().filter(|t| t.suffix != Suffix::Family) {
            let name = target.to_string();
            assert!(GPUS.iter().any(|gpu| gpu.0 == name), "{name}");
        }
    }
}
