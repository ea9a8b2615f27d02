//! What a table row says about an operation.

use super::constraint::Is;
use super::meaning::Meaning;

/// A Tile IR bytecode version.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Version(pub u8, pub u8);

impl Version {
    pub const V13_1: Version = Version(13, 1);
    pub const V13_2: Version = Version(13, 2);
    pub const V13_3: Version = Version(13, 3);
    pub const V13_4: Version = Version(13, 4);
    pub const V13_5: Version = Version(13, 5);
}

impl std::str::FromStr for Version {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('.');
        let version = parts.and_then(|(a, b)| Some(Version(a.parse().ok()?, b.parse().ok()?)));
        let known = |v: &Version| (Version::V13_1..=Version::V13_5).contains(v);
        version
            .filter(known)
            .ok_or_else(|| format!("'{text}' is no bytecode version: 13.1 to 13.5 exist"))
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

/// The dialects, from what was written to what is emitted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, serde::Serialize)]
#[repr(u8)]
pub enum Dialect {
    CudaTile,
    TileAa,
    TileAs,
    Nvvm,
}

/// How many values an operand or result group holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arity {
    One,
    Optional,
    Variadic,
}

#[derive(Clone, Copy, Debug)]
pub struct OperandDef {
    pub name: &'static str,
    pub arity: Arity,
    /// First version that encodes it.
    pub since: Version,
}

/// How a result's type is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResultType {
    /// Written out wherever the operation is.
    Explicit,
    /// The type of operand `i`.
    Operand(u8),
    /// The shape of operand `i` with element i1.
    BoolLike(u8),
    /// A token.
    Token,
}

#[derive(Clone, Copy, Debug)]
pub struct ResultDef {
    pub name: &'static str,
    pub arity: Arity,
    pub ty: ResultType,
    pub since: Version,
}

/// The cases of an enumeration attribute; the index is the encoding.
#[derive(Debug, PartialEq, Eq)]
pub struct EnumDef {
    pub name: &'static str,
    pub cases: &'static [&'static str],
}

impl EnumDef {
    /// The name of the case with this encoding.
    pub fn case(&self, code: u8) -> Option<&'static str> {
        self.cases.get(usize::from(code)).copied()
    }
}

#[derive(Clone, Copy, Debug)]
pub enum AttrKind {
    /// Presence is the value.
    Unit,
    Bool,
    /// An integer of a fixed width.
    Int(u32),
    Enum(&'static EnumDef),
    Type,
    Str,
    Symbol,
    I32s,
    I64s,
    Bools,
    /// Constant data with a tile type.
    Dense,
    Assume,
    /// An array of self-contained attributes.
    Array,
    Hints,
}

impl AttrKind {
    /// What messages call it.
    pub fn words(self) -> String {
        let text = match self {
            Self::Int(width) => return format!("{width}-bit signless integer attribute"),
            Self::Enum(def) => return format!("one of {{{}}}", def.cases.join(", ")),
            Self::Unit => "unit attribute",
            Self::Bool => "bool attribute",
            Self::Type => "type attribute",
            Self::Str => "string attribute",
            Self::Symbol => "flat symbol reference attribute",
            Self::I32s => "i32 dense array attribute",
            Self::I64s => "i64 dense array attribute",
            Self::Bools => "i1 dense array attribute",
            Self::Dense => "constant data",
            Self::Assume => "assume predicate",
            Self::Array => "array attribute",
            Self::Hints => "optimization hints",
        };
        text.into()
    }
}

/// What an attribute is when it was not written (older bytecode, or elided in text).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Default {
    /// It must be written.
    None,
    /// A case of the enumeration.
    Case(u8),
    Int(i64),
    /// `false` once per value of operand group `i`.
    AllFalse(u8),
}

#[derive(Clone, Copy, Debug)]
pub struct AttrDef {
    pub name: &'static str,
    pub kind: AttrKind,
    pub optional: bool,
    pub default: Default,
    pub since: Version,
}

#[derive(Clone, Copy, Debug)]
pub struct RegionDef {
    pub name: &'static str,
    /// The region may be absent or empty.
    pub optional: bool,
}

/// Properties that passes ask about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Traits(pub u32);

impl Traits {
    pub const NONE: Traits = Traits(0);
    /// No effect: may be merged, moved, dropped.
    pub const PURE: Traits = Traits(1);
    /// Works element by element: all operands and results have one shape.
    pub const ELEMENTWISE: Traits = Traits(2);
    pub const COMMUTATIVE: Traits = Traits(4);
    /// Ends a block.
    pub const TERMINATOR: Traits = Traits(8);
    /// Its regions do not see values from outside.
    pub const ISOLATED: Traits = Traits(16);
    /// Declares a symbol (its first string attribute).
    pub const SYMBOL: Traits = Traits(32);
    /// All operands and results have one type.
    pub const SAME_TYPE: Traits = Traits(64);
    /// A pure operation with no operand (constants).
    pub const CONSTANT: Traits = Traits(128);
    /// Each operand group is encoded by itself (MLIR's `AttrSizedOperandSegments`).
    pub const SEGMENTED: Traits = Traits(256);
    /// Reads or writes memory, or orders accesses to it: consumes or yields a token.
    pub const MEMORY: Traits = Traits(512);
    /// Belongs to the asynchronous protocol: starts work that goes on beside the threads, orders it or waits for it.
    pub const ASYNC: Traits = Traits(1024);
    /// A step of a pipeline's protocol.
    pub const STEP: Traits = Traits(2048);
    /// Reads and writes an element of memory at once.
    pub const ATOMIC: Traits = Traits(4096);

    pub const fn or(self, other: Traits) -> Traits {
        Traits(self.0 | other.0)
    }

    pub const fn has(self, other: Traits) -> bool {
        self.0 & other.0 == other.0
    }
}

/// One row: everything that is common to all uses of an operation.
#[derive(Debug)]
pub struct OpDef {
    /// Without the dialect's prefix.
    pub name: &'static str,
    /// Public bytecode opcode; `None` for operations that are never encoded.
    pub opcode: Option<u16>,
    pub since: Version,
    pub operands: &'static [OperandDef],
    pub attrs: &'static [AttrDef],
    pub results: &'static [ResultDef],
    pub regions: &'static [RegionDef],
    pub traits: Traits,
    /// Which types each operand group may have; empty where nothing checks them.
    pub operand_types: &'static [Is],
    /// Which types each result may have.
    pub result_types: &'static [Is],
    /// The form in assembly text, in the language that [`crate::asm`] defines; empty for the generic form.
    pub text: &'static str,
    /// What an elementwise operation computes.
    pub meaning: Option<Meaning>,
    /// What its rounding attribute may be; `None` where it has none, or where that depends on the types.
    pub rounding: Option<&'static Modes>,
    /// Tenths of an instruction per element: what choosing among equal forms weighs, unless a rule file
    /// says otherwise.
    pub cost: u32,
    pub doc: &'static str,
}

impl OpDef {
    /// Whether the operation has no effect.
    pub fn is_pure(&self) -> bool {
        self.traits.has(Traits::PURE)
    }

    /// Whether its results are one value.
    pub fn has_one_result(&self) -> bool {
        matches!(self.results, [only] if only.arity == Arity::One)
    }

    /// Position of the attribute called `name`.
    pub fn attr_index(&self, name: &str) -> Option<usize> {
        self.attrs.iter().position(|a| a.name == name)
    }
}

/// Encodings of `rounding` that an operation's rounding attribute may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Modes {
    /// For every format.
    pub any: &'static [u8],
    /// For f32 besides.
    pub f32: &'static [u8],
}

impl Modes {
    /// All of them, by encoding.
    pub fn all(&self) -> Vec<u8> {
        let mut all = [self.any, self.f32].concat();
        all.sort_unstable();
        all
    }

    /// Whether `mode` is one of them, for f32 or for another format.
    pub fn admit(&self, mode: u8, is_f32: bool) -> bool {
        self.any.contains(&mode) || is_f32 && self.f32.contains(&mode)
    }
}

/// Starts a row.
pub const fn op(name: &'static str) -> OpDef {
    OpDef {
        name,
        opcode: None,
        since: Version::V13_1,
        operands: &[],
        attrs: &[],
        results: &[],
        regions: &[],
        traits: Traits::NONE,
        operand_types: &[],
        result_types: &[],
        text: "",
        meaning: None,
        rounding: None,
        cost: 10,
        doc: "",
    }
}

impl OpDef {
    pub const fn code(mut self, opcode: u16) -> Self {
        self.opcode = Some(opcode);
        self
    }
    pub const fn since(mut self, version: Version) -> Self {
        self.since = version;
        self
    }
    pub const fn operands(mut self, operands: &'static [OperandDef]) -> Self {
        self.operands = operands;
        self
    }
    pub const fn attrs(mut self, attrs: &'static [AttrDef]) -> Self {
        self.attrs = attrs;
        self
    }
    pub const fn results(mut self, results: &'static [ResultDef]) -> Self {
        self.results = results;
        self
    }
    pub const fn regions(mut self, regions: &'static [RegionDef]) -> Self {
        self.regions = regions;
        self
    }
    pub const fn traits(mut self, traits: Traits) -> Self {
        self.traits = traits;
        self
    }
    /// Which types each operand group and each result may have.
    pub const fn types(mut self, operands: &'static [Is], results: &'static [Is]) -> Self {
        self.operand_types = operands;
        self.result_types = results;
        self
    }
    pub const fn text(mut self, text: &'static str) -> Self {
        self.text = text;
        self
    }
    pub const fn meaning(mut self, meaning: Meaning) -> Self {
        self.meaning = Some(meaning);
        self
    }
    pub const fn rounding(mut self, modes: &'static Modes) -> Self {
        self.rounding = Some(modes);
        self
    }
    pub const fn cost(mut self, cost: u32) -> Self {
        self.cost = cost;
        self
    }
    pub const fn doc(mut self, doc: &'static str) -> Self {
        self.doc = doc;
        self
    }
}

/// A group of exactly one operand.
pub const fn one(name: &'static str) -> OperandDef {
    OperandDef {
        name,
        arity: Arity::One,
        since: Version::V13_1,
    }
}

/// A group of at most one operand.
pub const fn opt(name: &'static str) -> OperandDef {
    OperandDef {
        name,
        arity: Arity::Optional,
        since: Version::V13_1,
    }
}

/// A group of any number of operands.
pub const fn var(name: &'static str) -> OperandDef {
    OperandDef {
        name,
        arity: Arity::Variadic,
        since: Version::V13_1,
    }
}

impl OperandDef {
    pub const fn since(mut self, version: Version) -> Self {
        self.since = version;
        self
    }
}

/// A required attribute.
pub const fn attr(name: &'static str, kind: AttrKind) -> AttrDef {
    AttrDef {
        name,
        kind,
        optional: false,
        default: Default::None,
        since: Version::V13_1,
    }
}

impl AttrDef {
    pub const fn default(mut self, default: Default) -> Self {
        self.default = default;
        self
    }
    pub const fn optional(mut self) -> Self {
        self.optional = true;
        self
    }
    pub const fn since(mut self, version: Version) -> Self {
        self.since = version;
        self
    }
}

/// A region that must have a block.
pub const fn region(name: &'static str) -> RegionDef {
    RegionDef {
        name,
        optional: false,
    }
}

impl RegionDef {
    pub const fn optional(mut self) -> Self {
        self.optional = true;
        self
    }
}

/// One result.
pub const fn result(name: &'static str, ty: ResultType) -> ResultDef {
    ResultDef {
        name,
        arity: Arity::One,
        ty,
        since: Version::V13_1,
    }
}

impl ResultDef {
    pub const fn variadic(mut self) -> Self {
        self.arity = Arity::Variadic;
        self
    }
    pub const fn since(mut self, version: Version) -> Self {
        self.since = version;
        self
    }
}

/// An operation's identity: a dialect and a row of its table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
pub struct OpKind {
    pub dialect: Dialect,
    pub index: u8,
}
