//! A PTX module as written: names unresolved, opcodes as lists of words.

/// A whole module.
#[derive(Debug, Default)]
pub struct Module<'a> {
    /// `.version`, as (major, minor).
    pub version: (u32, u32),
    /// `.target` words, architecture first.
    pub target: Vec<&'a str>,
    /// Variables outside functions.
    pub variables: Vec<Variable<'a>>,
    /// Entries and device functions, declarations too.
    pub functions: Vec<Function<'a>>,
}

/// An `.entry` or `.func`.
#[derive(Debug)]
pub struct Function<'a> {
    /// Its name.
    pub name: &'a str,
    /// True for `.entry`.
    pub is_entry: bool,
    /// Return values of a `.func`.
    pub returns: Vec<Variable<'a>>,
    /// Formal parameters.
    pub params: Vec<Variable<'a>>,
    /// Performance directives such as `("reqntid", [128])`.
    pub directives: Vec<(&'a str, Vec<u64>)>,
    /// Statements, or nothing for a declaration.
    pub body: Option<Vec<Statement<'a>>>,
    /// 1-based line of the name.
    pub line: u32,
}

/// A state space that variables can be declared in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VarSpace {
    /// `.reg` as a function parameter
    Reg,
    /// `.param`
    Param,
    /// `.global`
    Global,
    /// `.const`
    Const,
    /// `.shared`
    Shared,
    /// `.local`
    Local,
}

/// A declared variable other than a body register.
#[derive(Debug, Clone)]
pub struct Variable<'a> {
    /// Its name.
    pub name: &'a str,
    /// Where it lives.
    pub space: VarSpace,
    /// Alignment in bytes if written.
    pub align: Option<u64>,
    /// Element type such as `b8` or `f32`.
    pub ty: &'a str,
    /// Elements of a `.v2`/`.v4` vector element type; 1 otherwise.
    pub vector: u64,
    /// Number of elements; `None` for `name[]`.
    pub count: Option<u64>,
    /// `.extern`
    pub is_extern: bool,
    /// Flat initialiser; missing elements are zero.
    pub init: Vec<Init<'a>>,
    /// 1-based line.
    pub line: u32,
}

/// One element of an initialiser.
#[derive(Debug, Clone)]
pub enum Init<'a> {
    /// A number as written, with its sign.
    Number {
        /// literal text
        text: &'a str,
        /// true after a minus sign
        negative: bool,
    },
    /// The address of a variable or function plus an offset; `generic` if wrapped in `generic(...)`.
    Address {
        /// whose address
        symbol: &'a str,
        /// bytes added
        offset: i64,
        /// generic address asked for
        generic: bool,
    },
}

/// A statement of a body.
#[derive(Debug)]
pub enum Statement<'a> {
    /// `.reg .b32 %r<10>;`
    Registers {
        /// type word
        ty: &'a str,
        /// elements per register for `.v2`, `.v4`; 1 otherwise
        vector: u32,
        /// names with a count when written `%r<10>`
        names: Vec<(&'a str, Option<u32>)>,
        /// 1-based line
        line: u32,
    },
    /// `.local`, `.shared`, `.param`, … inside a body.
    Variable(Variable<'a>),
    /// `name:`
    Label(&'a str, u32),
    /// `{ … }`
    Block(Vec<Statement<'a>>),
    /// `name: .branchtargets a, b;`
    BranchTargets(&'a str, Vec<&'a str>),
    /// `name: .callprototype …;` Only the name matters to a call.
    CallPrototype(&'a str),
    /// An instruction.
    Instruction(Instruction<'a>),
}

/// An instruction as written.
#[derive(Debug)]
pub struct Instruction<'a> {
    /// `@p` or `@!p`: name and negation.
    pub guard: Option<(&'a str, bool)>,
    /// Mnemonic, then its dotted modifiers.
    pub opcode: Vec<&'a str>,
    /// Operands in order.
    pub operands: Vec<Operand<'a>>,
    /// 1-based line.
    pub line: u32,
}

impl Instruction<'_> {
    /// The opcode as written.
    pub fn mnemonic(&self) -> String {
        self.opcode.join(".")
    }
}

/// An operand as written.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand<'a> {
    /// A register, symbol, label or special register, with an optional `.x` suffix.
    Name(&'a str, Option<&'a str>),
    /// `!%p`
    Not(&'a str),
    /// a literal
    Number {
        /// literal text
        text: &'a str,
        /// after a minus sign
        negative: bool,
    },
    /// `-%r`, which `vmad` takes
    Minus(Box<Operand<'a>>),
    /// `symbol+8` outside brackets.
    SymbolOffset(&'a str, i64),
    /// `{a, b}`
    Vector(Vec<Operand<'a>>),
    /// `(a, b)` of a call
    Tuple(Vec<Operand<'a>>),
    /// `p|q`
    Pair(Box<Operand<'a>>, Box<Operand<'a>>),
    /// `[base+offset, extra…]`; the extra part is tensor coordinates.
    Memory {
        /// register, symbol or number
        base: Box<Operand<'a>>,
        /// bytes added to the base
        offset: i64,
        /// what follows a comma inside the brackets
        extra: Vec<Operand<'a>>,
    },
}
