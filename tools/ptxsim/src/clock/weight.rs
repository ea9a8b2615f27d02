//! What an instruction of PTX costs: the pipeline it keeps busy, and how many machine instructions ptxas usually makes
//! of it. Registers that are only renamed cost nothing. Counts of the longer sequences (divisions, exact roots) are those
//! of code that ptxas 13 emits for them, the path that is taken for ordinary operands.

/// A pipeline of a multiprocessor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Pipe {
    /// nothing remains of it
    Free,
    /// only issued: branches, barriers
    Control,
    Alu,
    Fma,
    /// two of them in one instruction
    FmaPair,
    Half,
    Double,
    Multiply,
    Special,
    Convert,
    ConvertWide,
    Count,
    Vote,
    Shuffle,
    Memory,
    /// between registers and tensor memory
    TensorMemory,
    Tensor,
}

/// What an instruction costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weight {
    /// where it goes
    pub pipe: Pipe,
    /// how often
    pub times: u8,
    /// arithmetic instructions around it
    pub extra: u8,
}

const fn on(pipe: Pipe, times: u8) -> Weight {
    Weight {
        pipe,
        times,
        extra: 0,
    }
}

const fn around(pipe: Pipe, extra: u8) -> Weight {
    Weight {
        pipe,
        times: 1,
        extra,
    }
}

/// Element types that decide.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Single,
    SinglePair,
    Double,
    Half,
    Wide,
    Word,
    Predicate,
}

fn kind(words: &[&str]) -> Kind {
    let of = |word: &&str| match *word {
        "f32" => Some(Kind::Single),
        "f32x2" => Some(Kind::SinglePair),
        "f64" => Some(Kind::Double),
        "f16" | "f16x2" | "bf16" | "bf16x2" => Some(Kind::Half),
        "b64" | "u64" | "s64" => Some(Kind::Wide),
        "pred" => Some(Kind::Predicate),
        _ => None,
    };
    words.iter().find_map(of).unwrap_or(Kind::Word)
}

impl Weight {
    /// The weight of an opcode's words.
    pub fn of(opcode: &[&str]) -> Weight {
        let Some((&name, words)) = opcode.split_first() else {
            return on(Pipe::Control, 1);
        };
        let (kind, approximate) = (kind(words), words.contains(&"approx"));
        let wide = if kind == Kind::Wide { 2 } else { 1 };
        match name {
            "mov" | "cvta" | "createpolicy" | "mapa" | "stacksave" => on(Pipe::Free, 0),
            "add" | "sub" | "mul" | "fma" | "mad" if kind != Kind::Wide && kind != Kind::Word => {
                arithmetic(kind)
            }
            "mul" | "mad" | "mul24" | "mad24" | "dp4a" | "dp2a" => {
                let long = words.contains(&"wide") || words.contains(&"hi");
                on(
                    Pipe::Multiply,
                    match (kind, long) {
                        (Kind::Wide, _) => 4,
                        (_, true) => 2,
                        _ => 1,
                    },
                )
            }
            "div" | "rem" => division(kind, approximate || words.contains(&"full")),
            "rcp" | "sqrt" | "rsqrt" if kind == Kind::Double => on(Pipe::Double, 12),
            "rcp" | "sqrt" if !approximate => around(Pipe::Special, 7),
            "ex2" | "lg2" | "sqrt" | "rsqrt" if kind == Kind::Single && !words.contains(&"ftz") => {
                // Subnormal arguments are scaled.
                around(Pipe::Special, 3)
            }
            "rcp" | "sqrt" | "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh" => {
                on(Pipe::Special, 1)
            }
            "min" | "max" | "neg" | "abs" | "set" | "setp" | "copysign" | "testp" => match kind {
                Kind::Double => on(Pipe::Double, 1),
                Kind::Half => on(Pipe::Half, 1),
                _ => on(Pipe::Alu, wide),
            },
            "cvt" => conversion(words),
            "popc" | "clz" | "brev" | "bfind" => on(Pipe::Count, wide),
            "shfl" => on(Pipe::Shuffle, 1),
            "vote" | "match" | "redux" | "elect" | "activemask" => on(Pipe::Vote, 1),
            "ld" | "ldu" | "st" | "atom" | "red" | "multimem" | "ldmatrix" | "stmatrix" | "cp"
            | "prefetch" | "prefetchu" | "mbarrier" => on(Pipe::Memory, 1),
            "mma" | "wmma" | "wgmma" | "tcgen05" | "movmatrix" => on(Pipe::Tensor, 1),
            "bra"
            | "brx"
            | "call"
            | "ret"
            | "exit"
            | "trap"
            | "brkpt"
            | "nanosleep"
            | "pmevent"
            | "setmaxnreg"
            | "bar"
            | "barrier"
            | "fence"
            | "membar"
            | "griddepcontrol"
            | "applypriority"
            | "discard"
            | "clusterlaunchcontrol"
            | "tensormap" => on(Pipe::Control, 1),
            _ => on(Pipe::Alu, wide),
        }
    }
}

fn arithmetic(kind: Kind) -> Weight {
    match kind {
        Kind::SinglePair => on(Pipe::FmaPair, 1),
        Kind::Double => on(Pipe::Double, 1),
        Kind::Half => on(Pipe::Half, 1),
        _ => on(Pipe::Fma, 1),
    }
}

fn division(kind: Kind, approximate: bool) -> Weight {
    match kind {
        Kind::Single if approximate => around(Pipe::Special, 2),
        Kind::Single => around(Pipe::Special, 8),
        Kind::Double => on(Pipe::Double, 16),
        Kind::Wide => around(Pipe::Special, 70),
        _ => around(Pipe::Special, 18),
    }
}

/// `cvt`: the last two types are to and from.
fn conversion(words: &[&str]) -> Weight {
    let types: Vec<&str> = words
        .iter()
        .copied()
        .filter(|w| {
            w.starts_with(['f', 'b', 'u', 's', 'e', 't'])
                && w.contains(|c: char| c.is_ascii_digit())
        })
        .collect();
    let [to, .., from] = types[..] else {
        return on(Pipe::Convert, 1);
    };
    let integer = |t: &str| t.starts_with(['u', 's']);
    let bits64 = |t: &str| t.ends_with("64");
    match () {
        // Widening without a sign, and dropping upper bits, rename registers.
        () if integer(to) && integer(from) && (from.starts_with('u') || !bits64(to)) => {
            on(Pipe::Free, 0)
        }
        () if integer(to) && integer(from) => on(Pipe::Alu, 1),
        () if bits64(to) || bits64(from) => on(Pipe::ConvertWide, 1),
        () if integer(to) => on(Pipe::Special, 1),
        () if from == "f16" || from == "bf16" => on(Pipe::Half, 1),
        () => on(Pipe::Convert, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(opcode: &str) -> Weight {
        Weight::of(&opcode.split('.').collect::<Vec<_>>())
    }

    /// Pipelines as Nsight Compute names them for the machine instructions FFMA, HFMA2, IADD3, IMAD.WIDE, MUFU, F2FP; of
    /// `fma.rn.f32x2` ptxas makes one instruction, FFMA2.
    #[test]
    fn pipelines() {
        assert_eq!(of("fma.rn.f32"), on(Pipe::Fma, 1));
        assert_eq!(of("fma.rn.f32x2"), on(Pipe::FmaPair, 1));
        assert_eq!(of("fma.rn.f16x2"), on(Pipe::Half, 1));
        assert_eq!(of("add.s32"), on(Pipe::Alu, 1));
        assert_eq!(of("add.s64"), on(Pipe::Alu, 2));
        assert_eq!(of("mul.wide.u32"), on(Pipe::Multiply, 2));
        assert_eq!(of("ex2.approx.ftz.f32"), on(Pipe::Special, 1));
        assert_eq!(of("cvt.rn.f16x2.f32"), on(Pipe::Convert, 1));
        assert_eq!(of("cvt.u64.u32"), on(Pipe::Free, 0));
        assert_eq!(of("cvt.s64.s32"), on(Pipe::Alu, 1));
        assert_eq!(of("mov.b32"), on(Pipe::Free, 0));
        assert_eq!(of("max.f32"), on(Pipe::Alu, 1));
        assert_eq!(of("setp.lt.s32"), on(Pipe::Alu, 1));
    }
}
