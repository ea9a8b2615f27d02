//! Places of inlined code: where an operation stands, and the calls that it is in.

use super::{DebugAttr, LocId, Module, Name};

/// A module may be made so that calls nest without end; nobody reads more.
const DEEPEST: usize = 64;

/// A place in a file, and the function that it is in.
#[derive(Clone, Copy, Debug)]
pub struct InlinedPlace {
    /// Name and linkage name.
    pub function: Option<(Name, Name)>,
    pub file: Name,
    pub line: u32,
    pub column: u32,
}

impl Module {
    /// The place of `at` and those of the calls that it is in, innermost first.
    pub fn inlined_places(&self, at: LocId) -> Vec<InlinedPlace> {
        let mut places = Vec::new();
        self.collect_places(at, &mut places);
        places
    }

    fn collect_places(&self, at: LocId, places: &mut Vec<InlinedPlace>) {
        if places.len() >= DEEPEST {
            return;
        }
        match *self.locs.get(at) {
            DebugAttr::CallSite { callee, caller } => {
                self.collect_places(callee, places);
                self.collect_places(caller, places);
            }
            DebugAttr::Loc {
                scope,
                file,
                line,
                column,
            } if line > 0 => places.push(InlinedPlace {
                function: self.function_around(scope),
                file,
                line,
                column,
            }),
            _ => {}
        }
    }

    /// Name and linkage name of the function around a scope.
    fn function_around(&self, mut scope: LocId) -> Option<(Name, Name)> {
        for _ in 0..DEEPEST {
            match *self.locs.get(scope) {
                DebugAttr::LexicalBlock { scope: outer, .. } => scope = outer,
                DebugAttr::Subprogram {
                    name, linkage_name, ..
                } => return Some((name, linkage_name)),
                _ => return None,
            }
        }
        None
    }
}
