//! The assembly form of every cuda_tile operation, as data that printer and parser share.
//!
//! A format is text with these parts (white space stands for optional white space):
//!
//! | part | meaning |
//! |---|---|
//! | `$x` | the values of operand group `x`, or the value of attribute `x` |
//! | `type(x)` | the types of operand group or result `x` |
//! | `(x? …)` | present when `x` is: operands given, attribute given and not its default |
//! | `(x~case? …)` | present when enumeration `x` is not `case`; absence means `case` |
//! | `{flags x y}` | unit attributes, in any order |
//! | `{name …}` | a form written in Rust, see [`Custom`] |
//! | anything else | itself |

use std::sync::LazyLock;

use crate::dialect::cuda_tile::{Op, TABLE};
use crate::dialect::{AttrKind, OpDef};

const UNARY: &str = "$source : type(result)";
const BINARY: &str = "$lhs, $rhs : type(result)";
const OVERFLOW: &str = "$lhs, $rhs (overflow? overflow<$overflow>) : type(result)";
const SIGNED: &str = "$lhs, $rhs $signedness : type(result)";
const ROUNDED: &str = "$lhs, $rhs (rounding_mode~nearest_even? rounding<$rounding_mode>) \
     (flush_to_zero? flush_to_zero) : type(result)";
const MINMAX: &str = "$lhs, $rhs {flags flush_to_zero propagate_nan} : type(result)";
const RECAST: &str = "$source : type(source) -> type(result)";
const FULL: &str = "$source (rounding_mode~full? rounding<$rounding_mode>) : type(result)";
const FTZ: &str = "$source (flush_to_zero? flush_to_zero) : type(result)";
const VIEW: &str = "$tensor_view : {view result}";
const EXIT: &str = "(operands? $operands : type(operands))";

/// The formats; an operation that is not here has only the generic form.
#[rustfmt::skip]
static FORMATS: &[(Op, &str)] = &[
    (Op::AbsF, UNARY),
    (Op::AbsI, UNARY),
    (Op::AddF, ROUNDED),
    (Op::AddI, OVERFLOW),
    (Op::Alloca, "num_elem = $num_elem, alignment = $alignment (global? global) : type(result)"),
    (Op::AndI, BINARY),
    (Op::Assert, "$condition, $message : type(condition)"),
    (Op::Assume, "$predicate, $value : type(value)"),
    (Op::Atan2, "$x, $y : type(result)"),
    (Op::AtomicCas, "$memory_ordering_semantics $memory_scope $pointers, $cmp, $val (mask?, $mask) \
        (token? token=$token) : type(pointers), type(val) (mask?, type(mask)) -> type(result), type(result_token)"),
    (Op::AtomicRedView, "$memory_ordering_semantics $memory_scope $view[$index], $mode, $value \
        (token? token = $token) (inbounds? inbounds = $inbounds) \
        : type(value), type(view) {index index} -> type(result_token)"),
    (Op::AtomicRmw, "$memory_ordering_semantics $memory_scope $pointers, $mode, $arg (mask?, $mask) \
        (token? token=$token) : type(pointers), type(arg) (mask?, type(mask)) -> type(result), type(result_token)"),
    (Op::Bitcast, RECAST),
    (Op::Break, EXIT),
    (Op::Broadcast, RECAST),
    (Op::Cat, "$lhs, $rhs dim = $dim : type(lhs), type(rhs) -> type(result)"),
    (Op::Ceil, UNARY),
    (Op::CmpF, "$comparison_predicate $comparison_ordering $lhs, $rhs : type(lhs) -> type(result)"),
    (Op::CmpI, "$comparison_predicate $lhs, $rhs, $signedness : type(lhs) -> type(result)"),
    (Op::Constant, "{dense value result}"),
    (Op::Continue, EXIT),
    (Op::Cos, UNARY),
    (Op::CosH, UNARY),
    (Op::DivF, ROUNDED),
    (Op::DivI, "$lhs, $rhs $signedness (rounding? rounding<$rounding>) : type(result)"),
    (Op::Entry, "{entry}"),
    (Op::Exp, FULL),
    (Op::Exp2, FTZ),
    (Op::ExtI, "$from $signedness : type(from) -> type(to)"),
    (Op::Extract, "$source[$indices] : type(source) -> type(result)"),
    (Op::Floor, UNARY),
    (Op::Fma, "$lhs, $rhs, $acc (rounding_mode~nearest_even? rounding<$rounding_mode>) \
        (flush_to_zero? flush_to_zero) : type(result)"),
    (Op::For, "(unsignedCmp? unsigned) {for}"),
    (Op::FPowF, "$source, $exponent : type(result)"),
    (Op::FPowI, "$source, $exponent : type(result), type(exponent)"),
    (Op::FToF, "$from (rounding_mode~nearest_even? rounding<$rounding_mode>) : type(from) -> type(to)"),
    (Op::FToI, "$from $signedness (rounding_mode~nearest_int_to_zero? rounding<$rounding_mode>) \
        (saturating? saturating) : type(from) -> type(to)"),
    (Op::GdcLaunchDependents, "(token? token = $token) -> type(result_token)"),
    (Op::GdcWait, "(token? token = $token) -> type(result_token)"),
    (Op::GetGlobal, "$name : type(result)"),
    (Op::GetIndexSpaceShape, "$src : type(src) -> {rank src result}"),
    (Op::GetNumTileBlocks, ": {triple}"),
    (Op::GetTensorShape, "$src : type(src) -> {rank src result}"),
    (Op::GetTileBlockId, ": {triple}"),
    (Op::Global, "{visibility symbol_visibility} (constant? constant) {symbol sym_name} \
        (alignment? alignment = $alignment) {dense value}"),
    (Op::If, "$condition (results? -> (type(results))) {branches}"),
    (Op::Insert, "$source, $destination[$indices] : type(source), type(destination)"),
    (Op::IntToPtr, RECAST),
    (Op::Iota, ": type(result)"),
    (Op::IToF, "$from $signedness (rounding_mode~nearest_even? rounding<$rounding_mode>) : type(from) -> type(to)"),
    (Op::JoinTokens, "$tokens : type(result)"),
    (Op::LoadPtr, "$memory_ordering_semantics (memory_scope? $memory_scope) $source (mask?, $mask) \
        (paddingValue?, $paddingValue) (token? token=$token) \
        (optimization_hints? optimization_hints = $optimization_hints) : type(source) (mask?, type(mask)) \
        (paddingValue?, type(paddingValue)) -> type(result), type(result_token)"),
    (Op::LoadView, "$memory_ordering_semantics (memory_scope? $memory_scope) $view[$index] \
        (token? token = $token) (optimization_hints? optimization_hints = $optimization_hints) \
        (inbounds? inbounds = $inbounds) : type(view) {index index} -> type(tile), type(result_token)"),
    (Op::Log, UNARY),
    (Op::Log2, UNARY),
    (Op::Loop, "{loop}"),
    (Op::MakeGatherScatterView, VIEW),
    (Op::MakePartitionView, VIEW),
    (Op::MakeStridedView, VIEW),
    (Op::MakeTensorView, "{tensor_view}"),
    (Op::MakeToken, ": type(result)"),
    (Op::MaxF, MINMAX),
    (Op::MaxI, SIGNED),
    (Op::MemoryFenceAlias, "$token"),
    (Op::MinF, MINMAX),
    (Op::MinI, SIGNED),
    (Op::MmaF, "$lhs, $rhs, $acc (fast_acc? fast_acc) : type(lhs), type(rhs), type(acc)"),
    (Op::MmaFScaled, "$lhs, $rhs, $acc, $lhs_scale, $rhs_scale \
        : type(lhs), type(rhs), type(acc), type(lhs_scale), type(rhs_scale)"),
    (Op::MmaI, "$lhs, $rhs, $acc $signedness_lhs $signedness_rhs : type(lhs), type(rhs), type(acc)"),
    (Op::MulF, ROUNDED),
    (Op::MulhiI, "$x, $y : type(result)"),
    (Op::MulI, OVERFLOW),
    (Op::MultimemLoadReduceView, "$memory_ordering_semantics (memory_scope? $memory_scope) \
        $view[$index] (token? token = $token) (inbounds? inbounds = $inbounds) {attributes reduction} \
        : type(view) {index index} (token?, type(token)) -> type(reduced_values), type(result_token)"),
    (Op::MultimemReduceView, "$memory_ordering_semantics $memory_scope \
        $view, $tile[$index] (token? token = $token) (inbounds? inbounds = $inbounds) {attributes reduction} \
        : type(view), type(tile) {index index} (token?, type(token)) -> type(result_token)"),
    (Op::MultimemStoreView, "$memory_ordering_semantics (memory_scope? $memory_scope) $view, $tile[$index] \
        (token? token = $token) (inbounds? inbounds = $inbounds) \
        : type(view), type(tile) {index index} (token?, type(token)) -> type(result_token)"),
    (Op::NegF, UNARY),
    (Op::NegI, "$source (overflow? overflow<$overflow>) : type(result)"),
    (Op::Offset, "$ptr, $offset : type(ptr), type(offset) -> type(result)"),
    (Op::OrI, BINARY),
    (Op::Pack, RECAST),
    (Op::Permute, "$source $permutation : type(source) -> type(result)"),
    (Op::Print, "$str (args?, $args) (token? token=$token) (args? : type(args)) -> type(result_token)"),
    (Op::PtrToInt, RECAST),
    (Op::PtrToPtr, RECAST),
    (Op::Reduce, "$operands dim=$dim identities=$identities : type(operands) -> type(results) {combination}"),
    (Op::RemF, BINARY),
    (Op::RemI, SIGNED),
    (Op::Reshape, RECAST),
    (Op::Return, EXIT),
    (Op::Rsqrt, FTZ),
    (Op::Scan, "$operands dim=$dim reverse=$reverse identities=$identities \
        : type(operands) -> type(results) {combination}"),
    (Op::Select, "$cond, $val_if_true, $val_if_false : type(cond), type(result)"),
    (Op::ShLI, OVERFLOW),
    (Op::ShRI, SIGNED),
    (Op::Sin, UNARY),
    (Op::SinH, UNARY),
    (Op::Sqrt, "$source (rounding_mode~nearest_even? rounding<$rounding_mode>) \
        (flush_to_zero? flush_to_zero) : type(result)"),
    (Op::StorePtr, "$memory_ordering_semantics (memory_scope? $memory_scope) $destination, $value \
        (mask?, $mask) (token? token=$token) (optimization_hints? optimization_hints = $optimization_hints) \
        : type(destination), type(value) (mask?, type(mask)) -> type(result_token)"),
    (Op::StoreView, "$memory_ordering_semantics (memory_scope? $memory_scope) $tile, $view[$index] \
        (token? token = $token) (optimization_hints? optimization_hints = $optimization_hints) \
        (inbounds? inbounds = $inbounds) : type(tile), type(view) {index index} -> type(result_token)"),
    (Op::SubF, ROUNDED),
    (Op::SubI, OVERFLOW),
    (Op::Tan, UNARY),
    (Op::TanH, FULL),
    (Op::TruncI, "$from (overflow? overflow<$overflow>) : type(from) -> type(to)"),
    (Op::Unpack, RECAST),
    (Op::XOrI, BINARY),
    (Op::Yield, EXIT),
];

/// A field of an operation, by its place in the table row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Field {
    Operand(usize),
    Attr(usize),
    Result(usize),
}

/// Forms that are not a sequence of fields.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Custom {
    /// `<f32: 1.0> : tile<…>`: attribute, and the result that has its type.
    Dense {
        attr: usize,
        result: Option<usize>,
    },
    /// `attributes {x = …}` unless the attribute is its default.
    Attributes(usize),
    /// Unit attributes in any order.
    Flags(Vec<usize>),
    /// `, type` of an index group: once when all are equal, else each.
    Index(usize),
    /// One type that all results have, as many as the source's rank.
    Rank,
    /// One type that the three results have.
    Triple,
    /// The result's view type, which gives the operand's.
    View,
    /// Base, shape and strides, constant or not.
    TensorView,
    /// `public` is not written.
    Visibility(usize),
    /// A string attribute written `@name`.
    Symbol(usize),
    Entry,
    For,
    Loop,
    /// The regions of an `if`.
    Branches,
    /// The region of a reduction, its arguments before it.
    Combination,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Piece {
    Space,
    Literal(String),
    Value(Field),
    Type(Field),
    Group {
        field: Field,
        /// Enumeration case that absence stands for.
        unless: Option<u8>,
        pieces: Vec<Piece>,
    },
    Custom(Custom),
}

/// The format of an operation, if it has one.
pub fn format_of(op: Op) -> Option<&'static [Piece]> {
    static PARSED: LazyLock<Vec<Option<Vec<Piece>>>> = LazyLock::new(|| {
        let mut all = vec![None; TABLE.len()];
        for &(op, text) in FORMATS {
            let row = &TABLE[op as usize];
            all[op as usize] = Some(FormatParser { row, rest: text }.pieces());
        }
        all
    });
    PARSED[op as usize].as_deref()
}

/// Parses a format. The formats are constants above, so an error is a bug and panics; a test
/// parses them all.
struct FormatParser {
    row: &'static OpDef,
    rest: &'static str,
}

impl FormatParser {
    fn pieces(&mut self) -> Vec<Piece> {
        let mut out = Vec::new();
        while let Some(c) = self.rest.chars().next() {
            match c {
                ')' => break,
                ' ' => {
                    self.rest = self.rest.trim_start();
                    out.push(Piece::Space);
                }
                '$' => {
                    self.rest = &self.rest[1..];
                    let name = self.word();
                    out.push(Piece::Value(self.field(name)));
                }
                '{' => out.push(Piece::Custom(self.custom())),
                _ if self.rest.starts_with("type(") => {
                    self.rest = &self.rest[5..];
                    let name = self.word();
                    self.skip(")");
                    out.push(Piece::Type(self.field(name)));
                }
                '(' => out.push(self.group()),
                _ => out.push(self.literal()),
            }
        }
        out
    }

    fn skip(&mut self, text: &str) {
        self.rest = self.rest.strip_prefix(text).expect("format syntax");
    }

    fn word(&mut self) -> &'static str {
        let end = self
            .rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        word
    }

    fn field(&self, name: &str) -> Field {
        let row = self.row;
        let operand = row
            .operands
            .iter()
            .position(|o| o.name == name)
            .map(Field::Operand);
        let attr = || row.attr_index(name).map(Field::Attr);
        let result = || {
            row.results
                .iter()
                .position(|r| r.name == name)
                .map(Field::Result)
        };
        let field = operand.or_else(attr).or_else(result);
        field.unwrap_or_else(|| panic!("'{}' has no field '{name}'", row.name))
    }

    fn literal(&mut self) -> Piece {
        let first = self.rest.chars().next().expect("not at the end");
        if first.is_ascii_alphabetic() {
            return Piece::Literal(self.word().into());
        }
        let len = if self.rest.starts_with("->") { 2 } else { 1 };
        let (text, rest) = self.rest.split_at(len);
        self.rest = rest;
        Piece::Literal(text.into())
    }

    /// `(x? …)`, or a literal parenthesis with what it encloses.
    fn group(&mut self) -> Piece {
        let before = self.rest;
        self.skip("(");
        let name = self.word();
        let case = self.rest.strip_prefix('~').map(|rest| {
            self.rest = rest;
            self.word()
        });
        if !self.rest.starts_with('?') {
            // Literal: the closing one is met as a literal too.
            self.rest = &before[1..];
            let mut pieces = vec![Piece::Literal("(".into())];
            pieces.extend(self.pieces());
            self.skip(")");
            pieces.push(Piece::Literal(")".into()));
            return Piece::Group {
                field: Field::Result(0),
                unless: None,
                pieces,
            };
        }
        self.skip("?");
        let field = self.field(name);
        let unless = case.map(|case| self.case(field, case));
        let pieces = self.pieces();
        self.skip(")");
        Piece::Group {
            field,
            unless,
            pieces,
        }
    }

    fn case(&self, field: Field, case: &str) -> u8 {
        let Field::Attr(i) = field else {
            panic!("'{}': only attributes have cases", self.row.name);
        };
        let AttrKind::Enum(def) = self.row.attrs[i].kind else {
            panic!("'{}': only enumerations have cases", self.row.name);
        };
        let index = def.cases.iter().position(|c| *c == case);
        index.unwrap_or_else(|| panic!("no case '{case}'")) as u8
    }

    fn custom(&mut self) -> Custom {
        self.skip("{");
        let end = self.rest.find('}').expect("format syntax");
        let (inside, rest) = self.rest.split_at(end);
        self.rest = &rest[1..];
        let mut words = inside.split(' ');
        let name = words.next().unwrap_or("");
        let fields: Vec<usize> = words
            .map(|w| match self.field(w) {
                Field::Operand(i) | Field::Attr(i) | Field::Result(i) => i,
            })
            .collect();
        match name {
            "dense" => Custom::Dense {
                attr: fields[0],
                result: fields.get(1).copied(),
            },
            "attributes" => Custom::Attributes(fields[0]),
            "flags" => Custom::Flags(fields),
            "index" => Custom::Index(fields[0]),
            "rank" => Custom::Rank,
            "triple" => Custom::Triple,
            "view" => Custom::View,
            "tensor_view" => Custom::TensorView,
            "visibility" => Custom::Visibility(fields[0]),
            "symbol" => Custom::Symbol(fields[0]),
            "entry" => Custom::Entry,
            "for" => Custom::For,
            "loop" => Custom::Loop,
            "branches" => Custom::Branches,
            "combination" => Custom::Combination,
            other => panic!("no custom form '{other}'"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_a_format() {
        // The module is written around its operations; the preview call has no published form.
        for &op in Op::ALL {
            let has = format_of(op).is_some();
            assert_eq!(has, !matches!(op, Op::Module | Op::PreviewCall), "{op:?}");
        }
    }

    #[test]
    fn formats_are_in_alphabetical_order_of_operations() {
        let names: Vec<_> = FORMATS
            .iter()
            .map(|(op, _)| format!("{op:?}").to_lowercase())
            .collect();
        assert!(names.is_sorted());
    }
}
