//! Attribute values.

use super::cursor::Result;
use super::state::{Parser, UNTYPED};
use crate::asm::float;
use crate::dialect::{AttrKind, Dialect, EnumDef, enums};
use crate::ir::{AssumePredicate, Attr, EnumAttr, Name, Type, TypeId};

impl Parser<'_> {
    /// An attribute that the operation's table declares as `kind`.
    pub fn attr(&mut self, kind: AttrKind) -> Result<Attr> {
        match kind {
            AttrKind::Unit => {
                self.c.expect("unit")?;
                Ok(Attr::Unit)
            }
            AttrKind::Int(width) => self.integer_attr(width),
            AttrKind::Enum(def) => match self.c.peek_byte() {
                Some(b'0'..=b'9') => self.numbered_case(def),
                _ => self.enumeration(def),
            },
            AttrKind::Symbol => {
                let name = self.c.symbol()?;
                Ok(Attr::Symbol(self.module.intern(&name)))
            }
            AttrKind::Assume => self.predicate(),
            AttrKind::Hints => self.hints(),
            AttrKind::I32s if self.c.peek("[") => {
                let list = self.list(|p| p.i32_item())?;
                Ok(Attr::I32s(list))
            }
            AttrKind::Bools if self.c.peek("[") => Ok(Attr::Bools(self.list(Self::boolean)?)),
            AttrKind::Type => self.ty().map(Attr::Type),
            _ => self.checked_attr(kind),
        }
    }

    /// Any attribute, which must be of `kind`.
    fn checked_attr(&mut self, kind: AttrKind) -> Result<Attr> {
        let at = self.c.offset();
        let attr = self.any_attr()?;
        let fits = matches!(
            (kind, &attr),
            (AttrKind::Bool, Attr::Bool(_))
                | (AttrKind::Str, Attr::Str(_))
                | (AttrKind::I32s, Attr::I32s(_))
                | (AttrKind::I64s, Attr::I64s(_))
                | (AttrKind::Bools, Attr::Bools(_))
                | (AttrKind::Dense, Attr::Dense { .. })
                | (AttrKind::Array, Attr::Array(_))
        );
        match fits {
            true => Ok(attr),
            false => Err(self.c.error_at(at, format!("expected {}", kind.words()))),
        }
    }

    /// An integer without its type.
    pub fn bare_integer(&mut self, width: u32) -> Result<Attr> {
        let at = self.c.offset();
        let value = self.c.integer()?;
        let ty = self.module.types.int(width);
        self.sized_integer(at, value, ty)
    }

    fn integer_attr(&mut self, width: u32) -> Result<Attr> {
        let at = self.c.offset();
        let value = self.c.integer()?;
        let ty = match self.c.eat(":") {
            true => self.ty()?,
            false => self.module.types.int(width),
        };
        if *self.module.types.get(ty) != Type::Int(width) {
            return Err(self
                .c
                .error_at(at, format!("expected an integer of type i{width}")));
        }
        self.sized_integer(at, value, ty)
    }

    /// `value` as an attribute of integer type `ty`, in either reading of its sign bit.
    fn sized_integer(&mut self, at: usize, value: i64, ty: TypeId) -> Result<Attr> {
        let Type::Int(width) = *self.module.types.get(ty) else {
            return Err(self.c.error_at(at, "expected an integer type".into()));
        };
        let shift = 64 - width.clamp(1, 64);
        let (signed, unsigned) = (
            value << shift >> shift,
            ((value as u64) << shift >> shift) as i64,
        );
        if value != signed && value != unsigned {
            let message = format!("integer constant {value} out of range for type i{width}");
            return Err(self.c.error_at(at, message));
        }
        Ok(Attr::Int { value: signed, ty })
    }

    /// `2 : i32`, the number of a case: some enumerations are plain integers in MLIR's generic form.
    fn numbered_case(&mut self, def: &'static EnumDef) -> Result<Attr> {
        let at = self.c.offset();
        let value = match self.integer_attr(32)? {
            Attr::Int { value, .. } => usize::try_from(value).ok(),
            _ => None,
        };
        match value.filter(|&v| v < def.cases.len()) {
            Some(case) => Ok(Attr::Enum(EnumAttr(case as u8))),
            None => {
                let words = AttrKind::Enum(def).words();
                Err(self.c.error_at(at, format!("expected {words}")))
            }
        }
    }

    /// `case`, or `#dialect.name<case>`.
    pub fn enumeration(&mut self, def: &'static EnumDef) -> Result<Attr> {
        let wrapped = self.c.eat("#");
        if wrapped {
            self.c.word("an attribute's name")?;
            self.c.expect("<")?;
        }
        let at = self.c.offset();
        let word = self.c.peek_word();
        let case = def.cases.iter().position(|c| *c == word);
        let Some(case) = case else {
            let cases: Vec<_> = def.cases.iter().map(|c| format!("'{c}'")).collect();
            let message = format!(
                "expected '{}' to be one of: {{{}}}, got '{word}'",
                def.name,
                cases.join(", ")
            );
            return Err(self.c.error_at(at, message));
        };
        self.c.word("a case")?;
        if wrapped {
            self.c.expect(">")?;
        }
        Ok(Attr::Enum(EnumAttr(case as u8)))
    }

    fn boolean(&mut self) -> Result<bool> {
        if self.c.eat("true") {
            return Ok(true);
        }
        match self.c.eat("false") {
            true => Ok(false),
            false => Err(self.c.expected("'true' or 'false'")),
        }
    }

    fn i32_item(&mut self) -> Result<i32> {
        let at = self.c.offset();
        let n = self.c.integer()?;
        i32::try_from(n).map_err(|_| self.c.error_at(at, format!("{n} is out of range for i32")))
    }

    /// `[a, b]`.
    pub fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        self.c.expect("[")?;
        let mut items = Vec::new();
        while !self.c.eat("]") {
            if !items.is_empty() {
                self.c.expect(",")?;
            }
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// An attribute whose form says what it is.
    pub fn any_attr(&mut self) -> Result<Attr> {
        self.deeper()?;
        let attr = self.any_attr_inner();
        self.depth -= 1;
        attr
    }

    fn any_attr_inner(&mut self) -> Result<Attr> {
        match self.c.peek_byte() {
            Some(b'"') => {
                let text = self.c.string()?;
                Ok(Attr::Str(self.module.intern(&text)))
            }
            Some(b'@') => self.attr(AttrKind::Symbol),
            Some(b'[') => self.list(Self::any_attr).map(Attr::Array),
            Some(b'{') => self.dictionary("{", "}").map(Attr::Dict),
            Some(b'#') => self.dialect_attr(),
            Some(b'-' | b'0'..=b'9') => self.number_attr(),
            _ => self.word_attr(),
        }
    }

    fn word_attr(&mut self) -> Result<Attr> {
        match self.c.peek_word() {
            "true" | "false" => self.boolean().map(Attr::Bool),
            "unit" => self.attr(AttrKind::Unit),
            "dense" => {
                self.c.expect("dense")?;
                self.dense_attr()
            }
            "array" => self.array_attr(),
            _ => self.ty().map(Attr::Type),
        }
    }

    /// `5`, `5 : i32`, `1.0 : f16`, `0x7F : f8E5M2`.
    fn number_attr(&mut self) -> Result<Attr> {
        let at = self.c.offset();
        let text = self.c.number()?;
        let hex = text.starts_with("0x");
        let fraction = !hex && text.contains(['.', 'e', 'E']);
        let ty = match self.c.eat(":") {
            true => self.ty()?,
            false if fraction => self.module.types.float(crate::ir::Float::F64),
            false => self.module.types.int(self.untyped),
        };
        if let Type::Float(f) = *self.module.types.get(ty) {
            let bits = float::encode(f, text);
            let message = || format!("'{text}' is no value of {}", f.name());
            return match bits {
                Some(bits) => Ok(Attr::Float { bits, ty }),
                None => Err(self.c.error_at(at, message())),
            };
        }
        let value = match hex {
            true => u64::from_str_radix(&text[2..], 16).ok().map(|v| v as i64),
            false => text
                .parse()
                .ok()
                .or_else(|| text.parse::<u64>().ok().map(|v| v as i64)),
        };
        match value {
            Some(value) => self.sized_integer(at, value, ty),
            None => Err(self.c.error_at(at, format!("'{text}' is no integer"))),
        }
    }

    /// `array<i32: 1, 2>`.
    fn array_attr(&mut self) -> Result<Attr> {
        self.c.expect("array")?;
        self.c.expect("<")?;
        let at = self.c.offset();
        let elem = self.c.word("an element type")?;
        let mut numbers = Vec::new();
        let mut bools = Vec::new();
        if self.c.eat(":") {
            loop {
                match elem {
                    "i1" => bools.push(self.boolean()?),
                    _ => numbers.push(self.c.integer()?),
                }
                if !self.c.eat(",") {
                    break;
                }
            }
        }
        self.c.expect(">")?;
        let narrow = |v: &i64| i32::try_from(*v).ok();
        match elem {
            "i1" => Ok(Attr::Bools(bools)),
            "i64" => Ok(Attr::I64s(numbers)),
            "i32" => match numbers.iter().map(narrow).collect() {
                Some(list) => Ok(Attr::I32s(list)),
                None => Err(self
                    .c
                    .error_at(at, "a number is out of range for i32".into())),
            },
            _ => Err(self
                .c
                .error_at(at, format!("arrays of {elem} are not supported"))),
        }
    }

    /// `{a = 1, b}`.
    pub fn dictionary(&mut self, open: &str, close: &str) -> Result<Vec<(Name, Attr)>> {
        self.c.expect(open)?;
        let mut entries: Vec<(Name, Attr)> = Vec::new();
        while !self.c.eat(close) {
            if !entries.is_empty() {
                self.c.expect(",")?;
            }
            let at = self.c.offset();
            let key = self.c.key()?;
            let name = self.module.intern(&key);
            if entries.iter().any(|(n, _)| *n == name) {
                return Err(self.c.error_at(at, format!("duplicate key '{key}'")));
            }
            let value = match self.c.eat("=") {
                true => self.any_attr()?,
                false => Attr::Unit,
            };
            entries.push((name, value));
        }
        Ok(entries)
    }

    /// `<sm_90 = {latency = 4}>`; integers are i32 unless they say otherwise, except in the generic
    /// form, which names the attribute.
    fn hints(&mut self) -> Result<Attr> {
        let named = self.c.eat("#");
        if named {
            self.c.word("an attribute's name")?;
        }
        let at = self.c.offset();
        // A hint may hold hints, which no operation takes: then the rest of the outer ones goes on as it began.
        let outer = self.untyped;
        self.untyped = if named { UNTYPED } else { 32 };
        let entries = self.dictionary("<", ">")?;
        self.untyped = outer;
        for (name, value) in &entries {
            if !matches!(value, Attr::Dict(_)) {
                let key = self.module.str(*name);
                let message =
                    format!("expected dictionary attribute for optimization_hints entry `{key}`");
                return Err(self.c.error_at(at, message));
            }
        }
        Ok(Attr::Hints(entries))
    }

    fn dialect_attr(&mut self) -> Result<Attr> {
        let at = self.c.offset();
        let mut ahead = self.c.clone();
        ahead.expect("#")?;
        let full = ahead.word("an attribute's name")?;
        let name = full.split_once('.').map_or(full, |(_, n)| n);
        match name {
            "div_by" | "same_elements" | "bounded" => self.predicate(),
            "optimization_hints" => self.hints(),
            "case" => {
                // An enumeration's case that its attribute does not name.
                self.c = ahead;
                self.c.expect("<")?;
                let n = self.c.count()?;
                self.c.expect(">")?;
                Ok(Attr::Enum(EnumAttr(n as u8)))
            }
            _ => match enums::by_name(name) {
                Some(def) => self.enumeration(def),
                None => Err(self.c.error_at(at, format!("unknown attribute '#{full}'"))),
            },
        }
    }

    /// `div_by<16, every 2 along 1>`, `same_elements<[1, 2]>`, `bounded<0, ?>`.
    fn predicate(&mut self) -> Result<Attr> {
        self.c.eat("#");
        let at = self.c.offset();
        let word = self.c.word("an assume predicate")?;
        let prefix = format!("{}.", Dialect::CudaTile.name());
        let predicate = match word.strip_prefix(&prefix).unwrap_or(word) {
            "div_by" => self.div_by()?,
            "same_elements" => {
                self.c.expect("<")?;
                let values = self.list(|p| p.c.integer())?;
                self.c.expect(">")?;
                AssumePredicate::SameElements(values)
            }
            "bounded" => {
                self.c.expect("<")?;
                let lower = self.bound()?;
                self.c.expect(",")?;
                let upper = self.bound()?;
                self.c.expect(">")?;
                AssumePredicate::Bounded { lower, upper }
            }
            other => {
                let message = format!(
                    "unknown assume predicate attribute: {other} (expected 'div_by', 'same_elements', or 'bounded')"
                );
                return Err(self.c.error_at(at, message));
            }
        };
        Ok(Attr::Assume(predicate))
    }

    fn div_by(&mut self) -> Result<AssumePredicate> {
        self.c.expect("<")?;
        let divisor = self.c.integer()? as u64;
        let (mut every, mut along) = (None, None);
        if self.c.eat(",") {
            if self.c.eat("every") {
                every = Some(self.c.integer()?);
            }
            if self.c.eat("along") {
                along = Some(self.c.integer()?);
            }
        }
        self.c.expect(">")?;
        Ok(AssumePredicate::DivBy {
            divisor,
            every,
            along,
        })
    }

    fn bound(&mut self) -> Result<Option<i64>> {
        match self.c.eat("?") {
            true => Ok(None),
            false => self.c.integer().map(Some),
        }
    }
}
