//! What planning roles knows of a kernel.

use crate::facts::FactMap;
use crate::ir::{BlockId, OpId};
use crate::lower::tileas::expected::Expected;
use rustc_hash::FxHashSet;

/// What a [`super::Plan`] brings tiles by, in messages.
pub const WHAT: &str = crate::lower::tileas::missed::TENSOR_COPIES;

/// What is known about a kernel while it is planned.
pub struct Context<'a> {
    pub func: OpId,
    pub body: BlockId,
    pub facts: &'a FactMap,
    /// How tiles will lie in the registers of warps that multiply.
    pub expected: Expected,
    /// Operations that stay in front of the roles.
    pub shared: FxHashSet<OpId>,
    /// Whether a producer's threads may copy by themselves what no tensor copy brings.
    pub threads: bool,
    /// Whether the kernel may make tensor maps.
    pub maps: bool,
    /// Whether what is loaded behind the last iteration's accesses can be brought: the threads that make these hand a stage
    /// back.
    pub behind: bool,
}
