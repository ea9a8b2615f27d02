//! Decisions, and how they are told.

use serde::{Serialize, Serializer};

use crate::dialect::enums::PipelineKind;

/// One decision; `at` is where in the source, if known.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Decision {
    /// Blocks that execute a tile block together.
    Cluster {
        blocks: i64,
    },
    /// Blocks that should share a multiprocessor, by which registers are limited.
    Sharing {
        blocks: i64,
    },
    /// A change of what was written, before it was scheduled.
    Changed {
        what: &'static str,
        how: String,
        at: String,
    },
    /// A tile of which each block of the cluster brings a part for all.
    Multicast {
        ty: String,
        at: String,
    },
    /// Matmuls that two blocks do together.
    Pair {
        at: String,
    },
    /// A matmul whose products are added in f32; `part`: columns multiplied at a time.
    Promotion {
        part: Option<i64>,
        at: String,
    },
    SharedBuffer {
        ty: String,
    },
    Pipeline {
        /// What fills it.
        #[serde(serialize_with = "as_text")]
        filled_by: PipelineKind,
        stages: i64,
        /// Of a stage, where transactions are counted.
        bytes: i64,
        /// Warps of the producer that copy the rest of a stage by themselves.
        copiers: i64,
        /// The first load that it is for.
        at: String,
    },
    WarpRoles {
        consumer_warps: i64,
        consumer_registers: i64,
        producer_registers: i64,
        producer_warps: i64,
    },
    Conversion {
        from: String,
        to: String,
        at: String,
    },
}

/// A decision in words: what it is about, how it was decided, and where in the source.
pub(crate) struct Line<'d> {
    pub what: &'static str,
    /// What stands between the two in a sentence.
    pub between: &'static str,
    pub how: String,
    /// Empty where it is about the kernel, or the place is not known.
    pub at: &'d str,
}

impl Decision {
    pub fn line(&self) -> Line<'_> {
        let line = |what, how, at| Line {
            what,
            between: ": ",
            how,
            at,
        };
        match self {
            Decision::Cluster { blocks } => line(
                "clusters",
                format!("{blocks} blocks execute a tile block"),
                "",
            ),
            Decision::Sharing { blocks } => {
                let how = format!("registers for {blocks} blocks on a multiprocessor");
                line("occupancy", how, "")
            }
            Decision::Changed { what, how, at } => line(what, how.clone(), at),
            Decision::Multicast { ty, at } => {
                line("multicast", format!("{ty}, a part by each block"), at)
            }
            Decision::Pair { at } => {
                line("cta_group::2", "a pair of blocks multiplies".to_owned(), at)
            }
            Decision::Promotion { part, at } => line("sums in f32", promotion(*part), at),
            Decision::SharedBuffer { ty } => Line {
                between: " ",
                ..line("shared buffer", ty.clone(), "")
            },
            Decision::Pipeline {
                filled_by,
                stages,
                bytes,
                copiers,
                at,
            } => {
                let how = stages_of(*stages, *bytes) + &copied_by(*copiers);
                Line {
                    between: " of ",
                    ..line(pipeline(*filled_by), how, at)
                }
            }
            Decision::WarpRoles {
                consumer_warps,
                consumer_registers,
                producer_registers,
                producer_warps,
            } => {
                // Without setmaxnreg all warps have the same number.
                let of = |registers: i64| match consumer_registers {
                    0 => String::new(),
                    _ => format!(" of {registers} registers"),
                };
                let producer = producer(*producer_warps) + &of(*producer_registers);
                let consumers = of(*consumer_registers);
                let how = format!("{consumer_warps} consumer warps{consumers}, {producer}");
                line("warp roles", how, "")
            }
            Decision::Conversion { from, to, at } => Line {
                between: " ",
                ..line("conversion", format!("{from} to {to}"), at)
            },
        }
    }
}

fn as_text<S: Serializer>(kind: &PipelineKind, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(kind.text())
}

/// What a pipeline is called by what fills it.
fn pipeline(filled_by: PipelineKind) -> &'static str {
    match filled_by {
        PipelineKind::Tma => "TMA pipeline",
        PipelineKind::Mma => "pipeline of matmuls",
        PipelineKind::Registers => "pipeline through registers",
        PipelineKind::CpAsync => "cp.async pipeline",
    }
}

/// What warps of a producer copy by themselves of a stage.
fn copied_by(copiers: i64) -> String {
    match copiers {
        0 => String::new(),
        warps => format!(", the rest by cp.async of {warps} producer warps"),
    }
}

/// A producer's warps: one, beside which each role of matmuls has its own, a warpgroup, or those that copy.
fn producer(warps: i64) -> String {
    match warps {
        1..=3 => "a producer warp".to_owned(),
        4 => "a producer warpgroup".to_owned(),
        warps => format!("{warps} producer warps"),
    }
}

/// Stages, and the bytes of one where transactions are counted.
fn stages_of(stages: i64, bytes: i64) -> String {
    let plural = if stages == 1 { "" } else { "s" };
    match bytes {
        0 => format!("{stages} stage{plural}"),
        bytes => format!("{stages} stage{plural} of {bytes} bytes"),
    }
}

/// How the products of a matmul are added whose instruction's sums are rougher than f32.
fn promotion(part: Option<i64>) -> String {
    let all = "each K tile's product starts from zero and is added in f32".to_owned();
    match part {
        None => all,
        Some(columns) => format!("{all}, {columns} columns at a time"),
    }
}
