//! A row of the instruction table.

use serde::Serialize;

use super::super::class::Class;
use super::super::rows::{self, Items, Rows, Text};
use crate::target::{Feature, PtxVersion};

/// What executes an instruction; see the table's header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub enum Unit {
    Alu,
    Fma,
    F64,
    Xu,
    Cvt,
    Mem,
    Sync,
    Mma,
    Ctrl,
}

impl Unit {
    const NAMES: &[(&'static str, Unit)] = &[
        ("alu", Unit::Alu),
        ("fma", Unit::Fma),
        ("f64", Unit::F64),
        ("xu", Unit::Xu),
        ("cvt", Unit::Cvt),
        ("mem", Unit::Mem),
        ("sync", Unit::Sync),
        ("mma", Unit::Mma),
        ("ctrl", Unit::Ctrl),
    ];

    /// Whether an instruction of this unit does nothing but write its results.
    pub fn is_pure(self) -> bool {
        matches!(
            self,
            Unit::Alu | Unit::Fma | Unit::F64 | Unit::Xu | Unit::Cvt
        )
    }
}

/// How an operand slot takes a number instead of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub enum Immediate {
    No,
    Integer,
    Hex,
    Float,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub enum Role {
    Def,
    Use,
    /// Read, then written.
    InOut,
    /// Base of an address.
    Address,
}

/// How many registers of an operand one instruction takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub enum Width {
    Each(u8),
    All,
}

/// A register operand of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Slot {
    pub class: Class,
    pub width: Width,
    pub immediate: Immediate,
    pub role: Role,
}

/// A stretch of the operand text.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub enum Piece {
    Text(Text),
    Slot(usize),
}

/// What is known of an instruction of two operands without computing it; see the table's header.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Algebra {
    pub unit: Option<u64>,
    pub right_unit: Option<u64>,
    pub zero: Option<u64>,
    pub idempotent: bool,
}

/// What passes over selected instructions ask about an instruction; see the table's header.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub enum Does {
    /// Nothing of what follows.
    #[default]
    Otherwise,
    Exchange,
    Fragments,
    Store,
    TensorLoad,
    TensorStore,
    TensorLoaded,
    TensorStored,
    Tensor,
    MatmulFence,
    WarpMatmul,
    Constant,
    Sum,
}

impl Does {
    const NAMES: &[(&'static str, Does)] = &[
        ("exchange", Does::Exchange),
        ("fragments", Does::Fragments),
        ("store", Does::Store),
        ("tensor.load", Does::TensorLoad),
        ("tensor.store", Does::TensorStore),
        ("tensor.loaded", Does::TensorLoaded),
        ("tensor.stored", Does::TensorStored),
        ("tensor", Does::Tensor),
        ("matmul.fence", Does::MatmulFence),
        ("warp.matmul", Does::WarpMatmul),
        ("constant", Does::Constant),
        ("sum", Does::Sum),
    ];
}

/// How an instruction's result follows from a source that is a number; see the table's header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub enum Fold {
    Not,
    Integers,
}

impl Fold {
    const NAMES: &[(&'static str, Fold)] = &[("not", Fold::Not), ("integers", Fold::Integers)];
}

/// A row of the table; stands for every mnemonic its pattern matches.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The mnemonic, with alternatives in parentheses and `#` for numbers.
    pub pattern: Text,
    pub slots: Items<Slot>,
    pub pieces: Items<Piece>,
    pub unit: Unit,
    pub cost: u32,
    pub algebra: Algebra,
    pub fold: Option<Fold>,
    pub does: Does,
    /// What stands behind the mnemonic of the instruction that does two repetitions on pairs of registers.
    pub pairs: Option<Text>,
    /// Elements in each operand.
    pub lanes: u32,
    /// Columns of tensor memory that a register of a load or store is.
    pub columns: u32,
    /// Bytes that shared memory must be aligned to.
    pub align: u32,
    pub(super) feature: Option<Feature>,
    pub(super) sm: u16,
    pub(super) own_features: bool,
    pub(super) ptx: PtxVersion,
}

impl Row {
    /// Takes note of `NAME=VALUE` if it is one of these facts; `None` if it is malformed.
    fn learn(&mut self, fact: &str) -> Option<bool> {
        let Some((name, value)) = fact.split_once('=') else {
            return Some(false);
        };
        match name {
            "feature" => self.feature = Some(Feature::named(value)?),
            "does" => self.does = Does::NAMES.iter().find(|row| row.0 == value)?.1,
            "fold" => self.fold = Some(Fold::NAMES.iter().find(|row| row.0 == value)?.1),
            "pairs" => self.pairs = Some(value.to_owned().into()),
            "lanes" => self.lanes = value.parse().ok()?,
            "columns" => self.columns = value.parse().ok()?,
            "align" => self.align = value.parse().ok()?,
            _ => return Some(false),
        }
        Some(true)
    }
}

/// Reads a table. A row is found by its identifier (several have one where their mnemonics need different targets), an
/// `@` before it, or, without one, by the first components of what its pattern stands for.
///
/// # Errors
/// The first row that is malformed, with its line.
pub fn read(text: &str) -> Result<Rows<Row>, String> {
    let mut rows = Rows::default();
    for (number, line) in rows::lines(text) {
        add(&mut rows, line).map_err(|what| format!("instruction table, line {number}: {what}"))?;
    }
    Ok(rows)
}

/// Adds the row `[@ID] PATTERN OPERANDS ; UNIT COST FACT …`.
fn add(rows: &mut Rows<Row>, line: &str) -> Result<(), String> {
    let (id, line) = match line.strip_prefix('@') {
        Some(rest) => {
            let (id, _) = rest.split_once(' ').ok_or("nothing after the id")?;
            line.split_at(id.len() + 1)
        }
        None => ("", line),
    };
    let line = line.trim_start();
    let (pattern, rest) = line.split_at(line.find([' ', ';']).unwrap_or(line.len()));
    let row = parse(pattern, rest)?;
    match id {
        "" => rows.add(heads(pattern), row),
        id => rows.add([id], row),
    }
    Ok(())
}

/// First components (up to the dot) of everything `pattern` can start with.
fn heads(pattern: &str) -> impl Iterator<Item = &str> {
    let alternatives = pattern.strip_prefix('(');
    let alternatives = alternatives.and_then(|rest| rest.split_once(')'));
    let (starts, count) = match alternatives {
        Some((alternatives, _)) => (alternatives, usize::MAX),
        None => (pattern, 1),
    };
    let head = |start| str::split(start, ['.', '(']).next().unwrap_or(start);
    starts.split('|').take(count).map(head)
}

/// Reads what stands behind a row's mnemonic: `OPERANDS ; UNIT COST FACT …`.
fn parse(pattern: &str, text: &str) -> Result<Row, String> {
    let (operands, facts) = text.split_once(';').ok_or("no ';' before the unit")?;
    let operands = match operands.trim() {
        "" => ":",
        operands => operands,
    };
    let (slots, pieces) = parse_operands(operands)?;
    let mut facts = facts.split_whitespace();
    let unit = facts.next().ok_or("no unit")?;
    let unit = Unit::NAMES
        .iter()
        .find(|(name, _)| *name == unit)
        .map(|&(_, unit)| unit)
        .ok_or_else(|| format!("unknown unit '{unit}'"))?;
    let cost = facts.next().and_then(|c| c.parse().ok()).ok_or("no cost")?;
    let mut row = Row {
        pattern: pattern.to_owned().into(),
        slots: slots.into(),
        pieces: pieces.into(),
        unit,
        cost,
        algebra: Algebra::default(),
        fold: None,
        does: Does::default(),
        pairs: None,
        lanes: 1,
        columns: 0,
        align: 1,
        feature: None,
        sm: 75,
        own_features: false,
        ptx: PtxVersion(6, 3),
    };
    for fact in facts {
        let unknown = || format!("unknown fact '{fact}'");
        if row.learn(fact).ok_or_else(unknown)? || row.algebra.learn(fact).ok_or_else(unknown)? {
            continue;
        }
        if let Some(sm) = fact.strip_prefix("sm") {
            row.own_features = sm.ends_with('a');
            row.sm = sm.trim_end_matches('a').parse().map_err(|_| unknown())?;
        } else if let Some(version) = fact.strip_prefix("ptx") {
            row.ptx = version.parse().map_err(|()| unknown())?;
        } else {
            return Err(unknown());
        }
    }
    Ok(row)
}

impl Algebra {
    /// Takes note of a fact if it is one of these; `None` if it is malformed.
    fn learn(&mut self, fact: &str) -> Option<bool> {
        if fact == "idempotent" {
            self.idempotent = true;
            return Some(true);
        }
        let Some((name, value)) = fact.split_once('=') else {
            return Some(false);
        };
        let value = Some(value.parse().ok()?);
        match name {
            "unit" => self.unit = value,
            "right-unit" => self.right_unit = value,
            "zero" => self.zero = value,
            _ => return None,
        }
        Some(true)
    }
}

/// Splits operand text into slots and the text between them.
fn parse_operands(text: &str) -> Result<(Vec<Slot>, Vec<Piece>), String> {
    let (results, sources) = match text.strip_prefix(':') {
        Some(sources) => ("", sources.trim()),
        None => {
            let (results, sources) = text.split_once('=').ok_or("neither '=' nor ':'")?;
            (results.trim(), sources.trim())
        }
    };
    let mut out = (Vec::new(), Vec::new());
    scan(results, Role::Def, &mut out)?;
    if !results.is_empty() && !sources.is_empty() {
        push_text(&mut out.1, ", ");
    }
    scan(sources, Role::Use, &mut out)?;
    Ok(out)
}

fn push_text(pieces: &mut Vec<Piece>, text: &str) {
    match pieces.last_mut() {
        Some(Piece::Text(last)) => last.to_mut().push_str(text),
        _ => pieces.push(Piece::Text(text.to_owned().into())),
    }
}

fn scan(
    text: &str,
    role: Role,
    (slots, pieces): &mut (Vec<Slot>, Vec<Piece>),
) -> Result<(), String> {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let mut role = role;
        let mut after = rest;
        if let Some((literal, after)) = rest.strip_prefix('\'').and_then(|r| r.split_once('\'')) {
            push_text(pieces, literal);
            rest = after;
            continue;
        }
        match c {
            '&' => (role, after) = (Role::Address, &rest[1..]),
            '+' => (role, after) = (Role::InOut, &rest[1..]),
            _ => {}
        }
        let class = match after.chars().next() {
            Some('p') => Class::Pred,
            Some('h') => Class::B16,
            Some('r') => Class::B32,
            Some('d') => Class::B64,
            _ => {
                push_text(pieces, &rest[..c.len_utf8()]);
                rest = &rest[c.len_utf8()..];
                continue;
            }
        };
        after = &after[1..];
        let mut slot = Slot {
            class,
            width: Width::Each(1),
            immediate: Immediate::No,
            role,
        };
        if let Some(more) = after.strip_prefix('*') {
            slot.width = Width::All;
            after = more;
        } else {
            let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            if let Some(Ok(each)) = after.get(..digits).map(str::parse) {
                slot.width = Width::Each(each);
                after = &after[digits..];
            }
        }
        slot.immediate = match after.chars().next() {
            Some('#') => Immediate::Integer,
            Some('x') => Immediate::Hex,
            Some('~') => Immediate::Float,
            _ => Immediate::No,
        };
        if slot.immediate != Immediate::No {
            after = &after[1..];
        }
        pieces.push(Piece::Slot(slots.len()));
        slots.push(slot);
        rest = after;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_carry_class_width_and_role() {
        let (slots, pieces) = parse_operands("{r4} = [&d], r#").unwrap();
        assert_eq!(slots.len(), 3);
        assert_eq!((slots[0].role, slots[0].width), (Role::Def, Width::Each(4)));
        assert_eq!((slots[1].role, slots[1].class), (Role::Address, Class::B64));
        assert_eq!(slots[2].immediate, Immediate::Integer);
        assert_eq!(pieces[0], Piece::Text("{".into()));
        assert_eq!(pieces[2], Piece::Text("}, [".into()));
    }
}
