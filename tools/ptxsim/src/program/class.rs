//! Families of instructions, for counting.

use serde::Serialize;

/// What an instruction spends its time on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Class {
    Integer,
    Logic,
    Single,
    Double,
    Half,
    Approximate,
    Convert,
    Compare,
    Move,
    GlobalMemory,
    SharedMemory,
    OtherMemory,
    Atomic,
    AsyncCopy,
    Mbarrier,
    Matrix,
    WarpCollective,
    Barrier,
    Fence,
    Control,
}

use Class as C;

/// First word of the opcode to class; arithmetic goes on to look at its type.
const BY_NAME: &[(&[&str], Class)] = &[
    (
        &[
            "and", "or", "xor", "not", "cnot", "lop3", "shl", "shr", "shf", "prmt", "bfe", "bfi",
            "bfind", "brev", "popc", "clz", "fns", "bmsk", "szext",
        ],
        C::Logic,
    ),
    (
        &["rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh"],
        C::Approximate,
    ),
    (&["cvt"], C::Convert),
    (&["set", "setp", "testp"], C::Compare),
    (
        &[
            "mov",
            "selp",
            "slct",
            "cvta",
            "mapa",
            "getctarank",
            "isspacep",
            "createpolicy",
            "alloca",
            "stacksave",
            "stackrestore",
        ],
        C::Move,
    ),
    (&["atom", "red", "multimem"], C::Atomic),
    (
        &[
            "cp",
            "tensormap",
            "clusterlaunchcontrol",
            "prefetch",
            "prefetchu",
            "applypriority",
            "discard",
        ],
        C::AsyncCopy,
    ),
    (&["mbarrier"], C::Mbarrier),
    (
        &[
            "mma",
            "wmma",
            "wgmma",
            "ldmatrix",
            "stmatrix",
            "movmatrix",
            "tcgen05",
        ],
        C::Matrix,
    ),
    (
        &["shfl", "vote", "match", "redux", "elect", "activemask"],
        C::WarpCollective,
    ),
    (&["bar", "barrier"], C::Barrier),
    (&["fence", "membar", "griddepcontrol"], C::Fence),
    (
        &[
            "bra",
            "brx",
            "call",
            "ret",
            "exit",
            "trap",
            "brkpt",
            "nanosleep",
            "pmevent",
            "setmaxnreg",
        ],
        C::Control,
    ),
];

/// Last type word of an arithmetic opcode to class.
const BY_TYPE: &[(&[&str], Class)] = &[
    (&["f32", "f32x2"], C::Single),
    (&["f64"], C::Double),
    (&["f16", "f16x2", "bf16", "bf16x2"], C::Half),
];

impl Class {
    /// The class of an opcode's words.
    pub fn of(opcode: &[&str]) -> Class {
        let Some((&name, words)) = opcode.split_first() else {
            return C::Control;
        };
        if matches!(name, "ld" | "ldu" | "st") {
            let within = |space: &str| words.iter().any(|w| w.split("::").next() == Some(space));
            return match () {
                () if words.contains(&"async") => C::AsyncCopy,
                () if within("shared") => C::SharedMemory,
                () if within("local") || within("param") || within("const") => C::OtherMemory,
                () => C::GlobalMemory,
            };
        }
        if let Some((_, class)) = BY_NAME.iter().find(|(names, _)| names.contains(&name)) {
            return *class;
        }
        let typed = |word: &str| BY_TYPE.iter().find(|(names, _)| names.contains(&word));
        let class = words
            .iter()
            .find_map(|word| typed(word))
            .map(|(_, class)| *class);
        class.unwrap_or(C::Integer)
    }
}
