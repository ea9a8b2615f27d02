//! A decoded program: one entry and the functions it can call, ready to run.
//!
//! Names are gone: registers are rows of a frame, predicates are bits of masks, labels are indices into one list of
//! instructions. Arithmetic is a closure over whole rows of 32 lanes.

pub mod address;
pub mod class;
pub mod copies;
pub mod inst;
mod lanes;
pub mod matrix;
pub mod operand;
pub mod tensor;
pub mod types;
pub mod words;

use rustc_hash::FxHashMap;

pub use lanes::lanes;

/// One value per lane of a warp, as raw bits; the unused upper bits are zero.
pub type Row = [u64; LANES];
/// Lanes of a warp.
pub const LANES: usize = 32;
/// The most elements that a vector in memory has, and the most bytes of an access (PTX ISA, "Vectors": 256 bits).
pub const VECTOR: usize = 8;
/// See [`VECTOR`].
pub const WIDEST: usize = 32;

/// Where things lie in the generic address space. Shared and local windows have zero low halves, so that the low
/// 32 bits of a generic address are the offset that `cvta` would give, as on hardware.
pub mod window {
    /// Kernel parameters, in `.param`: no generic addresses, as on hardware, where `cvta.param` adds the address of the
    /// launch's constant bank.
    pub const PARAM: u64 = 0x1000;
    /// What `cvta.param` adds.
    pub const PARAM_GENERIC: u64 = 0x7c00_0000_0000;
    /// Constant variables.
    pub const CONST: u64 = 0x1_0000;
    /// Shared memory of a cluster.
    pub const SHARED: u64 = 0x7a00_0000_0000;
    /// A thread's local memory.
    pub const LOCAL: u64 = 0x7b00_0000_0000;
    /// Size of the shared and local windows.
    pub const SIZE: u64 = 1 << 32;
    /// Variables of the module.
    pub const GLOBAL: u64 = 0x70_0000_0000;
    /// Buffers of the launch.
    pub const BUFFERS: u64 = 0x71_0000_0000;
    /// What `malloc` gives.
    pub const HEAP: u64 = 0x72_0000_0000;
    /// What the blocks of a cooperative launch meet at.
    pub const GRID: u64 = 0x73_0000_0000;
    /// Code addresses: index of an instruction times 16.
    pub const CODE: u64 = 0x7c00_0000_0000;
    /// First shared address; hardware keeps the first kilobyte to itself, and compilers rely on its alignment.
    pub const SHARED_BASE: u64 = 1024;
    /// A cluster address is (rank + 1) in these upper bits, or 0 for one's own block.
    pub const RANK_SHIFT: u32 = 24;
}

/// A function's needs per call.
#[derive(Debug, Clone, Default)]
pub struct FunctionInfo {
    /// its name
    pub name: String,
    /// index of its first instruction
    pub start: u32,
    /// rows of general registers
    pub rows: u32,
    /// predicate registers
    pub preds: u32,
    /// bytes of local memory
    pub local_bytes: u32,
    /// bytes of call parameters: its own formals, returns and the arguments it prepares
    pub param_bytes: u32,
    /// formal parameters: offset and size in its parameter area
    pub params: Vec<(u32, u32)>,
    /// return values: offset and size in its parameter area
    pub returns: Vec<(u32, u32)>,
    /// register formals instead of memory formals: their rows
    pub param_rows: Vec<Option<u32>>,
    /// register returns: their rows
    pub return_rows: Vec<Option<u32>>,
}

/// A module variable with its initial bytes.
#[derive(Debug, Clone)]
pub struct GlobalVariable {
    /// its name
    pub name: String,
    /// generic address
    pub address: u64,
    /// initial contents
    pub bytes: Vec<u8>,
    /// true for `.const`
    pub is_const: bool,
    /// true if its memory is not the launch's own: a driver has placed it, and its contents outlive launches
    pub placed: bool,
}

/// One entry parameter.
#[derive(Debug, Clone)]
pub struct EntryParam {
    /// its name
    pub name: String,
    /// byte offset among the parameters
    pub offset: u32,
    /// size in bytes
    pub size: u32,
}

/// Launch bounds and attributes of the entry.
#[derive(Debug, Clone, Default)]
pub struct EntryAttributes {
    /// `.reqntid`
    pub reqntid: Option<[u32; 3]>,
    /// `.maxntid`
    pub maxntid: Option<[u32; 3]>,
    /// `.reqnctapercluster`
    pub cluster: Option<[u32; 3]>,
    /// `.blocksareclusters`: a launch counts its grid in clusters
    pub blocks_are_clusters: bool,
    /// `.maxnreg`
    pub maxnreg: Option<u32>,
    /// `.minnctapersm`
    pub minnctapersm: Option<u32>,
}

/// What an entry needs of its launch besides parameters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Needs {
    /// memory for `malloc`
    pub heap: bool,
    /// a cooperative launch: it reads the address of the grid's workspace, as `grid.sync()` does
    pub cooperation: bool,
}

/// An entry with all it can reach.
pub struct Program {
    /// entry name
    pub entry: String,
    /// architecture number such as 90, and whether it is `a` or `f` specific
    pub target: (u32, Option<char>),
    /// every instruction of every function
    pub code: Vec<inst::Inst>,
    /// functions; the entry is the first
    pub functions: Vec<FunctionInfo>,
    /// rows of constants, shared by all functions
    pub constants: Vec<Row>,
    /// entry parameters
    pub params: Vec<EntryParam>,
    /// bytes of all entry parameters
    pub param_bytes: u32,
    /// launch bounds
    pub attributes: EntryAttributes,
    /// what it needs of its launch
    pub needs: Needs,
    /// global and constant variables
    pub variables: Vec<GlobalVariable>,
    /// end of static shared memory: the address of dynamic shared memory
    pub shared_end: u32,
    /// names of shared variables with address and size, for messages
    pub shared_names: Vec<(String, u32, u32)>,
    /// function index by code address for indirect calls
    pub function_addresses: FxHashMap<u64, u32>,
}
