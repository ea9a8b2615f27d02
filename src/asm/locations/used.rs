//! The aliases of `tileirdisasm -g`: of what operations use, equal entries as one, in MLIR's order. What refers to
//! nothing comes first, then what refers to that alone, and so on; equally deep entries are ordered by the names
//! of their classes, and then as the text needs them.

use std::collections::HashMap;
use std::fmt::Write;

use super::{Aliases, CLASSES, class, definition, numbered, references};
use crate::ir::{DebugAttr, LocId, Locations, Module};

impl Aliases {
    /// Aliases of the given locations and of what they refer to.
    pub fn of_used(module: &Module, used: impl Iterator<Item = LocId>) -> Self {
        let mut entries = Entries {
            table: &module.locs,
            found: vec![None; module.locs.len()],
            opened: vec![false; module.locs.len()],
            numbers: HashMap::new(),
            list: Vec::new(),
        };
        for loc in used {
            entries.find(loc);
        }
        entries.aliases(module)
    }
}

/// An entry whose references are numbers of entries, plus one, in [`Entries::list`].
struct Entry {
    attr: DebugAttr,
    /// The entry of a scoped location's place.
    plain: Option<usize>,
    depth: u32,
}

struct Entries<'m> {
    table: &'m Locations,
    /// By the module's table: the entry.
    found: Vec<Option<usize>>,
    /// By the module's table: another entry has asked for it.
    opened: Vec<bool>,
    numbers: HashMap<DebugAttr, usize>,
    /// Each after those it refers to; otherwise as the text needs them.
    list: Vec<Entry>,
}

impl Entries<'_> {
    fn entry_of(&self, id: LocId) -> Option<usize> {
        self.found.get(id.0 as usize).copied().flatten()
    }

    /// Adds an entry of the table after those it refers to. A chain of references may be as long as the table.
    fn find(&mut self, id: LocId) {
        let mut open = vec![id];
        while let Some(&id) = open.last() {
            let attr = self.table.get(id);
            let missing = needed(attr).find(|&r| self.entry_of(r).is_none());
            let fresh = |r: &LocId| {
                let slot = self.opened.get_mut(r.0 as usize);
                slot.is_some_and(|opened| !std::mem::replace(opened, true))
            };
            match missing.filter(fresh) {
                Some(first) => {
                    self.place(attr);
                    open.push(first);
                }
                None => {
                    open.pop();
                    self.add(id);
                }
            }
        }
    }

    /// The place of a scoped location, which comes before what the scope refers to.
    fn place(&mut self, attr: &DebugAttr) -> Option<usize> {
        let &DebugAttr::Loc {
            scope,
            file,
            line,
            column,
        } = attr
        else {
            return None;
        };
        let place = DebugAttr::Loc {
            scope: LocId::UNKNOWN,
            file,
            line,
            column,
        };
        (scope != LocId::UNKNOWN).then(|| self.number(place, None))
    }

    fn add(&mut self, id: LocId) {
        if self.entry_of(id).is_some() {
            return;
        }
        let attr = self.table.get(id).clone();
        let plain = self.place(&attr);
        let attr = self.with_numbers(attr);
        let number = self.number(attr, plain);
        if let Some(slot) = self.found.get_mut(id.0 as usize) {
            *slot = Some(number);
        }
    }

    /// The number of an entry whose references are numbers; a new one if there is none like it.
    fn number(&mut self, attr: DebugAttr, plain: Option<usize>) -> usize {
        if let Some(&number) = self.numbers.get(&attr) {
            return number;
        }
        let deep = |number: usize| self.list.get(number).map_or(0, |e| e.depth);
        let below = references(&attr)
            .filter_map(position)
            .chain(plain)
            .map(deep)
            .max();
        let depth = below.unwrap_or(0) + 1;
        self.numbers.insert(attr.clone(), self.list.len());
        self.list.push(Entry { attr, plain, depth });
        self.list.len() - 1
    }

    fn with_numbers(&self, mut attr: DebugAttr) -> DebugAttr {
        let change = |id: &mut LocId| {
            let number = self.entry_of(*id).and_then(|n| u32::try_from(n + 1).ok());
            *id = LocId(number.unwrap_or(0));
        };
        match &mut attr {
            DebugAttr::Unknown | DebugAttr::File { .. } => {}
            DebugAttr::CompileUnit { file } => change(file),
            DebugAttr::LexicalBlock { scope, file, .. } => {
                change(scope);
                change(file);
            }
            // 0 is none here, and the unknown location elsewhere.
            DebugAttr::Loc { scope, .. } if *scope == LocId::UNKNOWN => {}
            DebugAttr::Loc { scope, .. } => change(scope),
            DebugAttr::Subprogram { file, unit, .. } => {
                change(file);
                change(unit);
            }
            DebugAttr::CallSite { callee, caller } => {
                change(callee);
                change(caller);
            }
        }
        attr
    }

    fn aliases(self, module: &Module) -> Aliases {
        let mut order: Vec<usize> = (0..self.list.len()).collect();
        order.sort_by_key(|&i| (self.list[i].depth, CLASSES[class(&self.list[i].attr)]));
        let mut counts = [0; CLASSES.len()];
        let mut names = vec![String::new(); self.list.len()];
        let mut definitions = String::new();
        for i in order {
            let Entry { attr, plain, .. } = &self.list[i];
            let class = class(attr);
            let alias = numbered(class, counts[class]);
            counts[class] += 1;
            let get = |id: LocId| position(id).map_or("unknown", |n| names[n].as_str());
            let plain = plain.map_or("", |n| &names[n]);
            let text = definition(module, attr, plain, get);
            // Writing to a string does not fail.
            let _ = writeln!(definitions, "{alias} = {text}");
            names[i] = alias;
        }
        let of = |entry: &Option<usize>| entry.map(|n| names[n].clone());
        Aliases {
            names: self.found.iter().map(of).collect(),
            definitions,
        }
    }
}

/// What an entry's text names: an unknown location only in a call site.
fn needed(attr: &DebugAttr) -> impl Iterator<Item = LocId> {
    let call = matches!(attr, DebugAttr::CallSite { .. });
    references(attr).filter(move |&r| call || r != LocId::UNKNOWN)
}

/// The index of an entry that a number stands for.
fn position(number: LocId) -> Option<usize> {
    (number.0 as usize).checked_sub(1)
}
