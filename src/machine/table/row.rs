//! A row of the instruction table.

use serde::Serialize;

use super::super::class::Class;
use super::super::rows::{self, Items, Mistake, Rows, Text, named, wrong};
use crate::ir::Diagnostic;
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
    Branches,
    Registers,
    Barrier,
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
        ("branches", Does::Branches),
        ("registers", Does::Registers),
        ("barrier", Does::Barrier),
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
    /// What stands for the mnemonic's first word in the instruction that does the same and yields nothing.
    pub unread: Option<Text>,
    /// What stands for the mnemonic's first word in the instruction for the quotient, of which this one yields the remainder.
    pub quotient: Option<Text>,
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
    /// Takes note of a fact.
    fn learn<'t>(&mut self, fact: &'t str) -> Result<(), Mistake<'t>> {
        let Some((name, value)) = fact.split_once('=') else {
            return self.learn_word(fact);
        };
        match name {
            "feature" => self.feature = Some(named(Feature::NAMES, value, "feature")?),
            "does" => self.does = named(Does::NAMES, value, "answer to what it does")?,
            "fold" => self.fold = Some(named(Fold::NAMES, value, "way to fold")?),
            "pairs" => self.pairs = Some(value.to_owned().into()),
            "unread" => self.unread = Some(value.to_owned().into()),
            "quotient" => self.quotient = Some(value.to_owned().into()),
            "lanes" => self.lanes = number(value)?,
            "columns" => self.columns = number(value)?,
            "align" => self.align = number(value)?,
            "unit" => self.algebra.unit = Some(number(value)?),
            "right-unit" => self.algebra.right_unit = Some(number(value)?),
            "zero" => self.algebra.zero = Some(number(value)?),
            _ => return unknown(fact),
        }
        Ok(())
    }

    fn learn_word<'t>(&mut self, fact: &'t str) -> Result<(), Mistake<'t>> {
        if fact == "idempotent" {
            self.algebra.idempotent = true;
        } else if let Some(sm) = fact.strip_prefix("sm") {
            self.own_features = sm.ends_with('a');
            self.sm = number(sm.trim_end_matches('a'))?;
        } else if let Some(version) = fact.strip_prefix("ptx") {
            let Ok(version) = version.parse() else {
                return wrong(
                    version,
                    format!("'{version}' is no version: expected ptxM.N"),
                );
            };
            self.ptx = version;
        } else {
            return unknown(fact);
        }
        Ok(())
    }
}

fn unknown<T>(fact: &str) -> Result<T, Mistake<'_>> {
    const KNOWN: &str = "unit=K, right-unit=K, zero=K, idempotent, feature=F, does=D, fold=H, pairs=S, unread=S, quotient=S, lanes=N, \
                         columns=N, align=N, smNN or ptxM.N";
    wrong(fact, format!("unknown fact '{fact}': expected {KNOWN}"))
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, Mistake<'_>> {
    match text.parse() {
        Ok(number) => Ok(number),
        Err(_) => wrong(text, format!("'{text}' is no number that may stand here")),
    }
}

/// Reads a table. A row is found by its identifier (several have one where their mnemonics need different targets), an
/// `@` before it, or, without one, by the first components of what its pattern stands for.
///
/// # Errors
/// The first row that is malformed, where it is; `file` is the name of the text.
pub fn read(text: &str, file: &str) -> Result<Rows<Row>, Diagnostic> {
    let mut rows = Rows::default();
    for (_, line) in rows::lines(text) {
        add(&mut rows, line).map_err(|mistake| mistake.shown(text, file))?;
    }
    Ok(rows)
}

/// Adds the row `[@ID] PATTERN OPERANDS ; UNIT COST FACT …`.
fn add<'t>(rows: &mut Rows<Row>, line: &'t str) -> Result<(), Mistake<'t>> {
    let (id, line) = match line.starts_with('@') {
        true => match line.split_once(' ') {
            Some(parts) => parts,
            None => return wrong(line, "nothing behind the name: expected @ID MNEMONIC …"),
        },
        false => ("", line),
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
fn parse<'t>(pattern: &'t str, text: &'t str) -> Result<Row, Mistake<'t>> {
    const FORM: &str = "expected MNEMONIC OPERANDS ; UNIT COST FACT …";
    let Some((operands, facts)) = text.split_once(';') else {
        return wrong(pattern, format!("no ';' before the unit: {FORM}"));
    };
    let operands = match operands.trim() {
        "" => ":",
        operands => operands,
    };
    let (slots, pieces) = parse_operands(operands)?;
    let mut words = facts.split_whitespace();
    let (Some(unit), Some(cost)) = (words.next(), words.next()) else {
        return wrong(facts, format!("no unit or no cost: {FORM}"));
    };
    let mut row = Row {
        pattern: pattern.to_owned().into(),
        slots: slots.into(),
        pieces: pieces.into(),
        unit: named(Unit::NAMES, unit, "unit")?,
        cost: number(cost)?,
        algebra: Algebra::default(),
        fold: None,
        does: Does::default(),
        pairs: None,
        unread: None,
        quotient: None,
        lanes: 1,
        columns: 0,
        align: 1,
        feature: None,
        sm: 75,
        own_features: false,
        ptx: PtxVersion(6, 3),
    };
    words.try_for_each(|fact| row.learn(fact))?;
    Ok(row)
}

/// Splits operand text into slots and the text between them.
fn parse_operands(text: &str) -> Result<(Vec<Slot>, Vec<Piece>), Mistake<'_>> {
    let (results, sources) = match text.strip_prefix(':') {
        Some(sources) => ("", sources.trim()),
        None => {
            let Some((results, sources)) = text.split_once('=') else {
                return wrong(
                    text,
                    "neither '=' behind results nor ':' where there are none",
                );
            };
            (results.trim(), sources.trim())
        }
    };
    let mut out = (Vec::new(), Vec::new());
    scan(results, Role::Def, &mut out);
    if !results.is_empty() && !sources.is_empty() {
        push_text(&mut out.1, ", ");
    }
    scan(sources, Role::Use, &mut out);
    Ok(out)
}

fn push_text(pieces: &mut Vec<Piece>, text: &str) {
    match pieces.last_mut() {
        Some(Piece::Text(last)) => last.to_mut().push_str(text),
        _ => pieces.push(Piece::Text(text.to_owned().into())),
    }
}

fn scan(text: &str, role: Role, (slots, pieces): &mut (Vec<Slot>, Vec<Piece>)) {
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
