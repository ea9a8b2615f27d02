//! Values written as Rust constants: enums, structs, numbers, texts and lists, the latter two as `Cow::Borrowed`.

use std::fmt::{self, Display, Write as _};

use serde::Serialize;
use serde::ser::{self, Serializer};

/// `value` as an expression. The names of its types have to be in scope.
pub fn expression(value: &impl Serialize) -> Result<String> {
    let mut text = String::new();
    value.serialize(Writer(&mut text))?;
    Ok(text)
}

/// What cannot be written.
#[derive(Debug)]
pub struct Error(String);

impl Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl ser::Error for Error {
    fn custom<T: Display>(message: T) -> Self {
        Error(message.to_string())
    }
}

type Result<T = ()> = std::result::Result<T, Error>;

struct Writer<'t>(&'t mut String);

/// The parts of something, one after another, and what ends it.
struct Parts<'t> {
    text: &'t mut String,
    end: &'static str,
}

impl<'t> Writer<'t> {
    fn text(self, text: impl Display) -> Result {
        write!(self.0, "{text}").map_err(|error| Error(error.to_string()))
    }

    fn parts(self, start: impl Display, end: &'static str) -> Result<Parts<'t>> {
        let text = self.0;
        Writer(text).text(start)?;
        Ok(Parts { text, end })
    }

    fn no<T>(self, what: &str) -> Result<T> {
        Err(Error(format!("{what} have no constants")))
    }
}

impl Parts<'_> {
    fn part<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result {
        self.text.push_str(name);
        value.serialize(Writer(self.text))?;
        self.text.push_str(", ");
        Ok(())
    }

    fn finish(self) -> Result {
        self.text.push_str(self.end);
        Ok(())
    }
}

macro_rules! numbers {
    ($($method:ident $type:ty),*) => {
        $(fn $method(self, value: $type) -> Result {
            self.text(value)
        })*
    };
}

impl<'t> Serializer for Writer<'t> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Parts<'t>;
    type SerializeTuple = Parts<'t>;
    type SerializeTupleStruct = Parts<'t>;
    type SerializeTupleVariant = Parts<'t>;
    type SerializeMap = ser::Impossible<(), Error>;
    type SerializeStruct = Parts<'t>;
    type SerializeStructVariant = Parts<'t>;

    numbers!(serialize_bool bool, serialize_i8 i8, serialize_i16 i16, serialize_i32 i32, serialize_i64 i64,
        serialize_i128 i128, serialize_u8 u8, serialize_u16 u16, serialize_u32 u32, serialize_u64 u64);

    fn serialize_f32(self, value: f32) -> Result {
        self.text(format_args!("f32::from_bits({:#x})", value.to_bits()))
    }

    fn serialize_f64(self, value: f64) -> Result {
        self.text(format_args!("f64::from_bits({:#x})", value.to_bits()))
    }

    fn serialize_char(self, value: char) -> Result {
        self.text(format_args!("{value:?}"))
    }

    fn serialize_str(self, value: &str) -> Result {
        self.text(format_args!("Cow::Borrowed({value:?})"))
    }

    fn serialize_bytes(self, _: &[u8]) -> Result {
        self.no("bytes")
    }

    fn serialize_none(self) -> Result {
        self.text("None")
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result {
        let mut parts = self.parts("Some(", ")")?;
        parts.part("", value)?;
        parts.finish()
    }

    fn serialize_unit(self) -> Result {
        self.text("()")
    }

    fn serialize_unit_struct(self, name: &'static str) -> Result {
        self.text(name)
    }

    fn serialize_unit_variant(self, name: &'static str, _: u32, variant: &'static str) -> Result {
        self.text(format_args!("{name}::{variant}"))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result {
        let mut parts = self.parts(format_args!("{name}("), ")")?;
        parts.part("", value)?;
        parts.finish()
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result {
        let mut parts = self.parts(format_args!("{name}::{variant}("), ")")?;
        parts.part("", value)?;
        parts.finish()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Parts<'t>> {
        self.parts("Cow::Borrowed(&[", "])")
    }

    fn serialize_tuple(self, _: usize) -> Result<Parts<'t>> {
        self.parts("(", ")")
    }

    fn serialize_tuple_struct(self, name: &'static str, _: usize) -> Result<Parts<'t>> {
        self.parts(format_args!("{name}("), ")")
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Parts<'t>> {
        self.parts(format_args!("{name}::{variant}("), ")")
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap> {
        self.no("maps")
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Parts<'t>> {
        self.parts(format_args!("{name} {{ "), "}")
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Parts<'t>> {
        self.parts(format_args!("{name}::{variant} {{ "), "}")
    }
}

/// Parts without names (`$method`), and with them.
macro_rules! parts {
    ($($list:ident $method:ident),*; $($fields:ident),*) => {
        $(impl ser::$list for Parts<'_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result {
                self.part("", value)
            }

            fn end(self) -> Result {
                self.finish()
            }
        })*
        $(impl ser::$fields for Parts<'_> {
            type Ok = ();
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result {
                self.part(&format!("{name}: "), value)
            }

            fn end(self) -> Result {
                self.finish()
            }
        })*
    };
}

parts!(
    SerializeSeq serialize_element, SerializeTuple serialize_element, SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field; SerializeStruct, SerializeStructVariant
);
