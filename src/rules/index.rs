//! The compiled-in rules by the operation they rewrite, written out and stripped by `build.rs`.
//!
//! A compilation reads the rules that can matter to the operations it has: those that match one of
//! them, those that match what these make, and so on, as far as the target admits them. Most
//! kernels need a fifth of all rules, and reading is most of what a rule costs.

use std::collections::BTreeMap;

use bumpalo::Bump;
use rustc_hash::FxHashSet;

use super::group::Group;
use super::parse::FileReader;
use crate::dialect::{Dialect, OpKind};
use crate::egraph::guards;
use crate::egraph::node::Head;
use crate::egraph::rule::{Examples, Rule, RuleSet, Template};
use crate::ir::Diagnostic;
use crate::sexpr::{self, Error, Pos, Sexpr};
use crate::target::Target;

/// A form of a rule file, without what only checking needs.
pub(super) struct Written {
    /// Its number among all forms, so that rules keep the order of the files.
    pub order: u32,
    pub file: &'static str,
    /// Line and column in that file.
    pub at: (u32, u32),
    /// Names of the dialects of its two sides.
    pub sides: (&'static str, &'static str),
    pub text: &'static str,
}

/// What `build.rs` knows of a folder.
pub(super) struct Folder {
    pub name: &'static str,
    pub costs: &'static [Written],
    /// Rules by the operation at the root of their patterns, sorted by dialect and name.
    pub rules: &'static [((&'static str, &'static str), &'static [Written])],
}

include!(concat!(env!("OUT_DIR"), "/rule_index.rs"));

/// The compiled-in rules of a group that can matter where these operations are, in the order of
/// the files; and all costs.
pub(super) fn needed(
    group: Group,
    target: Target,
    present: impl Iterator<Item = OpKind>,
) -> Result<RuleSet, Diagnostic> {
    let folder = |name: &&str| FOLDERS.iter().find(|f| f.name == *name);
    let folders = || group.folders().iter().filter_map(folder);
    let arena = Bump::new();
    let mut set = RuleSet::new(Examples::Dropped);
    for costs in folders().flat_map(|f| f.costs) {
        set.costs
            .extend(read(costs, &arena, |reader, form| reader.costs(form))?);
    }
    let mut rules: BTreeMap<(usize, u32), Rule> = BTreeMap::new();
    let mut met: FxHashSet<OpKind> = FxHashSet::default();
    let mut open: Vec<OpKind> = present.collect();
    while let Some(kind) = open.pop() {
        if !met.insert(kind) {
            continue;
        }
        let matching = folders().enumerate();
        let matching = matching.flat_map(|(i, f)| f.matching(kind).iter().map(move |w| (i, w)));
        for (folder, written) in matching {
            let rule = read(written, &arena, |reader, form| reader.rule(form))?;
            let never = |guard| guards::on(target, guard) == Some(false);
            if rule.guards.iter().any(never) {
                continue;
            }
            let made = rule.templates.iter().chain(&rule.locals);
            made.for_each(|template| operations(template, &mut open));
            rules.insert((folder, written.order), rule);
        }
    }
    rules.into_values().for_each(|rule| set.push(rule));
    Ok(set)
}

impl Folder {
    /// The rules whose pattern has this operation at its root.
    fn matching(&self, kind: OpKind) -> &'static [Written] {
        let key = (kind.dialect.name(), kind.def().name);
        match self.rules.binary_search_by_key(&key, |row| row.0) {
            Ok(at) => self.rules[at].1,
            Err(_) => &[],
        }
    }
}

/// Reads a form of a compiled-in file.
fn read<T>(
    written: &Written,
    arena: &Bump,
    make: impl FnOnce(&FileReader, &Sexpr) -> Result<T, Diagnostic>,
) -> Result<T, Diagnostic> {
    let (line, column) = written.at;
    let pos = Pos { line, column };
    let at = |error: Error| pos.error(written.file, error.message);
    let forms = sexpr::read(written.text, arena).map_err(at)?;
    let sides = Dialect::by_name(written.sides.0).zip(Dialect::by_name(written.sides.1));
    let reader = FileReader::new(written.file, sides, Examples::Dropped);
    match forms.as_slice() {
        [form] => make(&reader, &Sexpr { pos, ..*form }),
        _ => Err(pos.error(written.file, "not one form")),
    }
}

/// The operations that a replacement makes.
fn operations(template: &Template, out: &mut Vec<OpKind>) {
    match template {
        Template::Op(op) => {
            if let Head::Op(kind) = op.head {
                out.push(kind);
            }
            op.children.iter().for_each(|t| operations(t, out));
        }
        Template::List(items) => items.iter().for_each(|t| operations(t, out)),
        Template::Const { kind, .. } => out.push(*kind),
        Template::Var(_) | Template::Local(_) | Template::Absent => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::files;
    use super::*;

    /// All operations that rules can match.
    fn everything() -> impl Iterator<Item = OpKind> {
        Dialect::ALL.into_iter().flat_map(|dialect| {
            let rows = 0..dialect.table().len() as u8;
            rows.map(move |index| OpKind { dialect, index })
        })
    }

    fn names(set: &RuleSet) -> Vec<&str> {
        set.rules.iter().map(|r| r.name.as_str()).collect()
    }

    fn target() -> Target {
        "sm_90a".parse().unwrap()
    }

    #[test]
    fn where_every_operation_is_present_every_rule_is_read_as_from_its_file() {
        for group in Group::ALL {
            let mut all = files::load(group, None, Examples::Dropped).unwrap();
            let never = |guard: &_| guards::on(target(), guard) == Some(false);
            all.rules.retain(|rule| !rule.guards.iter().any(never));
            let found = needed(group, target(), everything()).unwrap();
            assert_eq!(names(&all), names(&found));
            for (a, b) in all.rules.iter().zip(&found.rules) {
                assert_eq!(a.pattern, b.pattern, "{}", a.name);
                assert_eq!(a.templates, b.templates, "{}", a.name);
                assert_eq!(a.locals, b.locals, "{}", a.name);
                assert_eq!(a.guards, b.guards, "{}", a.name);
                assert_eq!((a.cost, a.dialects), (b.cost, b.dialects), "{}", a.name);
                assert_eq!((&a.file, a.pos), (&b.file, b.pos), "{}", a.name);
            }
            assert_eq!(all.costs, found.costs);
        }
    }

    #[test]
    fn what_a_replacement_makes_is_matched_too() {
        let of = |kinds: &[OpKind]| {
            let set = needed(Group::TileAsToNvvm, target(), kinds.iter().copied());
            set.unwrap()
        };
        let exp: OpKind = crate::dialect::cuda_tile::Op::Exp.into();
        let (some, all) = (of(&[exp]), of(&everything().collect::<Vec<_>>()));
        assert!(some.by_head.contains_key(&Head::Op(exp)));
        assert!(some.rules.len() < all.rules.len() / 2, "{:?}", names(&some));
        let mut made = Vec::new();
        for rule in &some.rules {
            let templates = rule.templates.iter().chain(&rule.locals);
            templates.for_each(|t| operations(t, &mut made));
        }
        for head in made.into_iter().map(Head::Op) {
            let count = |set: &RuleSet| set.by_head.get(&head).map_or(0, Vec::len);
            assert_eq!(count(&some), count(&all), "{head:?}");
        }
    }
}
