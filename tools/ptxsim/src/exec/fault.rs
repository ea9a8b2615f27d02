//! What stops a launch, and where.

/// A reason to stop, before its place in the launch is known.
#[derive(Debug, Clone)]
pub struct Trap {
    /// the lane at fault, where one is
    pub lane: Option<u32>,
    /// a sentence that says what happened and what to do
    pub message: String,
}

impl Trap {
    /// A trap of the whole warp.
    pub fn new(message: impl Into<String>) -> Trap {
        Trap {
            lane: None,
            message: message.into(),
        }
    }

    /// A trap of one lane.
    pub fn lane(lane: usize, message: impl Into<String>) -> Trap {
        Trap {
            lane: Some(lane as u32),
            message: message.into(),
        }
    }

    /// The same trap, blamed on `lane` unless it already has one.
    pub fn at(mut self, lane: usize) -> Trap {
        self.lane.get_or_insert(lane as u32);
        self
    }
}

/// A failed launch: what happened, and where.
#[derive(Debug, Clone, thiserror::Error)]
pub struct Fault {
    /// entry name
    pub kernel: String,
    /// block index
    pub block: [u32; 3],
    /// warp within its block
    pub warp: u32,
    /// lane, where one is to blame
    pub lane: Option<u32>,
    /// line of the PTX text
    pub line: u32,
    /// what happened and what to do
    pub message: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [x, y, z] = self.block;
        write!(
            f,
            "kernel `{}`, block ({x}, {y}, {z}), warp {}",
            self.kernel, self.warp
        )?;
        if let Some(lane) = self.lane {
            write!(f, ", lane {lane}")?;
        }
        write!(f, ", PTX line {}: {}", self.line, self.message)
    }
}
