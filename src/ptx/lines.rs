//! Line information: `.file` and `.loc` with functions and the places that they are inlined at.
//!
//! PTX ISA, "Debugging Directives". A place within an inlined function names the place of its call,
//! which a directive before it has to have named.

use std::fmt::Write;

use crate::ir::{InlinedPlace, LocId, Module};

/// How much of a module's debug information reaches the PTX.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Debug {
    #[default]
    None,
    /// Lines, functions and inlined calls.
    Lines,
    /// The same for a debugger: `.target …, debug`.
    Full,
}

/// A place in a file that [`Lines`] has a number for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Spot {
    file: usize,
    line: u32,
    column: u32,
    /// The function that it is in, a number in [`Lines`], if known.
    function: Option<usize>,
}

/// The files and functions of the places that were written.
pub struct Lines<'m> {
    module: &'m Module,
    debug: Debug,
    files: Vec<String>,
    functions: Vec<String>,
}

impl<'m> Lines<'m> {
    pub fn new(module: &'m Module, debug: Debug) -> Self {
        Self {
            module,
            debug,
            files: Vec::new(),
            functions: Vec::new(),
        }
    }

    /// `, debug` behind the target.
    pub fn target_suffix(&self) -> &'static str {
        match self.debug {
            Debug::Full => ", debug",
            _ => "",
        }
    }

    /// The directives that say that what follows comes from `at`; none where that is not known.
    pub fn at(&mut self, at: LocId) -> Option<String> {
        if self.debug == Debug::None {
            return None;
        }
        let places = self.calls(at);
        // Innermost first. Outside of all is the kernel itself, which needs no name.
        let mut text = String::new();
        for (i, spot) in places.iter().enumerate().rev() {
            let _ = write!(text, "\t.loc {} {} {}", spot.file, spot.line, spot.column);
            if let (Some(caller), Some(function)) = (places.get(i + 1), spot.function) {
                let _ = write!(
                    text,
                    ", function_name $L__info_string{function}, inlined_at {} {} {}",
                    caller.file, caller.line, caller.column
                );
            }
            text.push('\n');
        }
        (!text.is_empty()).then_some(text)
    }

    /// The place and those of the calls that it is in, innermost first.
    fn calls(&mut self, at: LocId) -> Vec<Spot> {
        let module = self.module;
        let places = module.inlined_places(at).into_iter();
        let spot = |place: InlinedPlace| Spot {
            file: number(&mut self.files, module.str(place.file)) + 1,
            line: place.line,
            column: place.column,
            function: place.function.map(|(name, linkage)| {
                let (name, linkage) = (module.str(name), module.str(linkage));
                // Tools demangle C++; other linkage names are their makers' own business.
                let name = if linkage.starts_with("_Z") {
                    linkage
                } else {
                    name
                };
                number(&mut self.functions, name)
            }),
        };
        places.map(spot).collect()
    }

    /// What stands at the end of the module: files, and the names of functions.
    pub fn tables(&self) -> String {
        let mut text = String::new();
        for (i, file) in self.files.iter().enumerate() {
            let file = file.replace('\\', "\\\\").replace('"', "\\\"");
            let _ = writeln!(text, ".file {} \"{file}\"", i + 1);
        }
        if self.files.is_empty() || self.functions.is_empty() {
            return text;
        }
        text.push_str(".section .debug_str\n{\n");
        for (i, function) in self.functions.iter().enumerate() {
            let bytes: Vec<String> = function.bytes().chain([0]).map(|b| b.to_string()).collect();
            let _ = writeln!(text, "$L__info_string{i}:\n\t.b8 {}", bytes.join(", "));
        }
        text.push_str("}\n");
        text
    }
}

/// The place of `text` in `list`, at its end if it is new.
fn number(list: &mut Vec<String>, text: &str) -> usize {
    list.iter()
        .position(|known| known == text)
        .unwrap_or_else(|| {
            list.push(text.to_owned());
            list.len() - 1
        })
}
