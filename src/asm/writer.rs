//! Output buffer with indentation and names of values.

use slotmap::SecondaryMap;

use super::locations::Aliases;
use crate::ir::{LocId, Module, ValueId};

/// What both printers share.
pub struct Writer<'m> {
    pub module: &'m Module,
    pub out: String,
    /// Number, and position for one of a list of results.
    names: SecondaryMap<ValueId, (u32, Option<u32>)>,
    next: u32,
    /// Names that values have instead of numbers.
    given: SecondaryMap<ValueId, (String, Option<u32>)>,
    /// Whether blanks are left where NVIDIA's printer leaves them.
    blank: bool,
    pub indent: usize,
    /// Set where locations are printed.
    pub aliases: Option<Aliases>,
    /// Where operations begin and end, in bytes.
    marks: Vec<(usize, LocId)>,
}

impl<'m> Writer<'m> {
    pub fn new(module: &'m Module) -> Self {
        Self {
            module,
            out: String::new(),
            names: SecondaryMap::new(),
            next: 0,
            given: SecondaryMap::new(),
            blank: false,
            indent: 0,
            aliases: None,
            marks: Vec::new(),
        }
    }

    /// A writer that prints locations if `debug_info` is set.
    pub fn with_debug_info(module: &'m Module, debug_info: bool) -> Self {
        let mut writer = Self::new(module);
        writer.aliases = debug_info.then(|| Aliases::new(module));
        writer
    }

    /// The locations of the operations that were written, as they stand in the text.
    pub fn places(&self) -> impl Iterator<Item = LocId> {
        self.marks.iter().map(|mark| mark.1)
    }

    /// Gives values names, and positions to those that share one.
    pub fn name(&mut self, given: SecondaryMap<ValueId, (String, Option<u32>)>) {
        self.given = given;
        self.blank = true;
    }

    /// The blank that NVIDIA's printer leaves where something optional is not there.
    pub fn blank(&mut self) {
        if self.blank {
            self.out.push(' ');
        }
    }

    /// What is written next is an operation.
    pub fn begin_op(&mut self, loc: LocId) {
        self.marks.push((self.out.len(), loc));
    }

    /// Ends the line of an operation.
    pub fn end_op(&mut self, loc: LocId) {
        self.marks.push((self.out.len(), loc));
        if let Some(aliases) = &self.aliases {
            self.out.push_str(" loc(");
            self.out.push_str(aliases.reference(loc));
            self.out.push(')');
        }
        self.out.push('\n');
    }

    /// The text, and for each of its lines the location of the operation that begins or ends there.
    pub fn finish_with_places(self) -> (String, Vec<LocId>) {
        let mut marks = self.marks.into_iter().peekable();
        let (mut places, mut end) = (Vec::new(), 0);
        for line in self.out.split_inclusive('\n') {
            end += line.len();
            let mut place = LocId::UNKNOWN;
            while let Some((_, at)) = marks.next_if(|mark| mark.0 < end) {
                place = at;
            }
            places.push(place);
        }
        (self.out, places)
    }

    /// The finished text, with the definitions that it needs.
    pub fn finish(mut self) -> String {
        if let Some(aliases) = &self.aliases {
            self.out.push_str(&aliases.definitions);
        }
        self.out
    }

    pub fn str(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Starts a line.
    pub fn line(&mut self) {
        self.out.extend(std::iter::repeat_n("  ", self.indent));
    }

    /// Gives a value the next number.
    pub fn define(&mut self, value: ValueId) {
        self.names.insert(value, (self.next, None));
        self.next += 1;
    }

    /// Gives several values one number, as `%0#0`, `%0#1`, ….
    pub fn define_pack(&mut self, values: &[ValueId]) {
        for (&value, i) in values.iter().zip(0..) {
            self.names.insert(value, (self.next, Some(i)));
        }
        self.next += 1;
    }

    /// The name that a list of results shares.
    pub fn pack_name(&mut self, value: ValueId) {
        if let Some((name, _)) = self.given.get(value) {
            self.out.push_str(&format!("%{name}"));
            return;
        }
        let number = self.names.get(value).map_or(0, |n| n.0);
        self.out.push_str(&format!("%{number}"));
    }

    pub fn value(&mut self, value: ValueId) {
        match self.given.get(value) {
            Some((name, None)) => return self.out.push_str(&format!("%{name}")),
            Some((name, Some(i))) => return self.out.push_str(&format!("%{name}#{i}")),
            None => {}
        }
        match self.names.get(value) {
            Some((n, None)) => self.out.push_str(&format!("%{n}")),
            Some((n, Some(i))) => self.out.push_str(&format!("%{n}#{i}")),
            // Only invalid modules use values that no block above defines.
            None => self.str("%<undefined>"),
        }
    }

    pub fn values(&mut self, values: &[ValueId]) {
        self.list(values, |w, &v| w.value(v));
    }

    /// Items with commas between.
    pub fn list<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut each: impl FnMut(&mut Self, T),
    ) {
        for (i, item) in items.into_iter().enumerate() {
            if i > 0 {
                self.str(", ");
            }
            each(self, item);
        }
    }
}
