//! What of a rule can be wrong without knowing its types: that its operations exist, and how many parts each has.
//!
//! `build.rs` asks this of every compiled-in rule, so that a misspelt operation fails the build; the tests ask the rest
//! (`super::lower`, the soundness check).

use crate::dialect::{Dialect, OpDef, OpKind, ResultType};
use crate::sexpr::{Error, Sexpr};

/// Checks the sides of a rule between two dialects.
///
/// # Errors
/// The first operation that its dialect does not have, or that has another number of parts, at its place.
pub fn rule(items: &[Sexpr], sides: (&str, &str)) -> Result<(), Error> {
    let clause =
        |item: &Sexpr| matches!(item.keyword(), Some("where" | "cost" | "example" | "check"));
    let forms = items.iter().skip(2).filter(|item| !clause(item));
    let mut side = sides.0;
    for form in forms {
        match form.symbol() {
            Some("=>") => side = sides.1,
            _ => operations(form, side)?,
        }
    }
    Ok(())
}

/// Checks that the operations whose costs are stated exist.
///
/// # Errors
/// As [`rule`].
pub fn costs(items: &[Sexpr], side: &str) -> Result<(), Error> {
    for item in items.iter().skip(1) {
        if let Some(name) = item.keyword() {
            row(item, name, side)?;
        }
    }
    Ok(())
}

fn operations(form: &Sexpr, side: &str) -> Result<(), Error> {
    let (Some(items), Some(name)) = (form.list(), form.keyword()) else {
        return Ok(());
    };
    match name {
        "const" => return Ok(()),
        "let" => return bindings(items, side),
        "list" | "horner" => {
            return items
                .iter()
                .skip(1)
                .try_for_each(|item| operations(item, side));
        }
        _ => {}
    }
    let def = row(form, name, side)?;
    let explicit = def.results.iter().filter(|r| r.ty == ResultType::Explicit);
    let (attrs, types) = (def.attrs.len(), explicit.count());
    let operands = def.operands.len();
    let given = items.len() - 1;
    let first = match given {
        n if n == attrs + operands => attrs,
        n if n == attrs + types + operands => attrs + types,
        _ => {
            let types = if types == 0 {
                String::new()
            } else {
                format!(" (and {types} types)")
            };
            return Err(form.pos.wrong(format!(
                "`{name}` has {attrs} attributes{types} and {operands} operands, {given} are given"
            )));
        }
    };
    let operands = items.iter().skip(1 + first);
    operands
        .into_iter()
        .try_for_each(|item| operations(item, side))
}

/// `(let (($name FORM) …) BODY)`.
fn bindings(items: &[Sexpr], side: &str) -> Result<(), Error> {
    for binding in items.get(1).and_then(Sexpr::list).unwrap_or(&[]) {
        let value = binding.list().and_then(|pair| pair.get(1));
        value.map_or(Ok(()), |value| operations(value, side))?;
    }
    items.get(2).map_or(Ok(()), |body| operations(body, side))
}

/// The row that a name means on a side.
fn row(form: &Sexpr, name: &str, side: &str) -> Result<&'static OpDef, Error> {
    let prefixed = name
        .split_once('.')
        .and_then(|(prefix, rest)| Some((Dialect::by_name(prefix)?, rest)));
    let found = prefixed.or_else(|| Some((Dialect::by_name(side)?, name)));
    let row = found.and_then(|(dialect, name)| dialect.operation(name));
    row.map(OpKind::def).ok_or_else(|| {
        form.pos
            .wrong(format!("`{side}` has no operation `{name}`"))
    })
}

#[cfg(test)]
mod tests {
    fn checked(rule: &str) -> Result<(), String> {
        let arena = bumpalo::Bump::new();
        let forms = crate::sexpr::read(rule, &arena).unwrap();
        let items = forms[0].list().unwrap();
        super::rule(items, ("cuda_tile", "nvvm"))
            .map_err(|error| format!("{}:{}: {}", error.pos.line, error.pos.column, error.message))
    }

    #[test]
    fn operations_of_both_sides_and_their_parts_are_known() {
        let rule = "(rule r (muli _ ?x:i32 1) => (let (($y (nvvm.add ?x 0))) (add $y ?x)) (where (nonneg ?x)))";
        assert_eq!(checked(rule), Ok(()));
    }

    #[test]
    fn a_misspelt_operation_is_named_with_its_place() {
        let unknown = |side, name| format!("`{side}` has no operation `{name}`");
        assert_eq!(
            checked("(rule r (mulli _ ?x 1) => ?x)"),
            Err(format!("1:9: {}", unknown("cuda_tile", "mulli")))
        );
        let inner = checked("(rule r (muli _ ?x 1) => (let (($y (ad ?x 0))) $y))");
        assert_eq!(inner, Err(format!("1:36: {}", unknown("nvvm", "ad"))));
    }

    #[test]
    fn a_part_too_few_is_an_error() {
        let wrong = "1:9: `muli` has 1 attributes and 2 operands, 2 are given";
        assert_eq!(checked("(rule r (muli ?x 1) => ?x)"), Err(wrong.to_owned()));
    }

    #[test]
    fn costs_are_of_operations_that_exist() {
        let arena = bumpalo::Bump::new();
        let forms = crate::sexpr::read("(costs (muli 5 cheap) (mulli 5))", &arena).unwrap();
        let error = super::costs(forms[0].list().unwrap(), "cuda_tile").unwrap_err();
        assert_eq!(error.message, "`cuda_tile` has no operation `mulli`");
        assert_eq!(error.pos.column, 23);
    }
}
