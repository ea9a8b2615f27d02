//! What was decided, as tables.

use std::fmt::Write;

use super::html::escape;
use crate::explain::Explanation;

/// A row of a table.
fn row(text: &mut String, cells: &[&str]) {
    text.push_str("<tr>");
    for cell in cells {
        let _ = write!(text, "<td>{}</td>", escape(cell));
    }
    text.push_str("</tr>\n");
}

fn table(name: &str, heads: &[&str], rows: &str) -> String {
    if rows.is_empty() {
        return format!("<p>{}: none</p>\n", escape(name));
    }
    let heads: String = heads.iter().map(|h| format!("<th>{h}</th>")).collect();
    let name = escape(name);
    format!(
        "<table><caption>{name}</caption><thead><tr>{heads}</tr></thead><tbody>\n{rows}</tbody></table>\n"
    )
}

/// Schedules, and what was considered and not done.
pub fn schedule(e: &Explanation) -> String {
    let mut text = String::new();
    for kernel in &e.kernels {
        let name = escape(&kernel.name);
        let _ = writeln!(text, "<h3>{name}: {} warps</h3>", kernel.warps);
        let mut rows = String::new();
        for decision in &kernel.decisions {
            let line = decision.line();
            row(&mut rows, &[line.what, &line.how, line.at]);
        }
        text += &table("done", &["what", "how", "where"], &rows);
        let mut rows = String::new();
        for missed in &kernel.missed {
            row(&mut rows, &[missed.what, &missed.why, &missed.at]);
        }
        text += &table("not done", &["what", "why not", "where"], &rows);
    }
    text
}

/// Rules that fired, and choices between equal forms.
pub fn rules(e: &Explanation) -> String {
    let mut text = String::new();
    for group in &e.rules {
        let _ = writeln!(
            text,
            "<h3>{} on {}</h3>\n<p>{} iterations, {} nodes in {} classes</p>",
            escape(&group.group),
            escape(&group.kernel),
            group.iterations,
            group.nodes,
            group.classes
        );
        let mut rows = String::new();
        for f in &group.fired {
            let file = format!("{}:{}", f.file, f.line);
            let (times, chosen) = (f.times.to_string(), f.chosen.to_string());
            row(
                &mut rows,
                &[&f.rule, &file, &times, &chosen, &f.at.join(", ")],
            );
        }
        let heads = ["rule", "in", "fired", "chosen", "where"];
        text += &table("rules that fired", &heads, &rows);
        let mut rows = String::new();
        for choice in &group.choices {
            let others = choice.others.iter();
            let others: Vec<String> = others.map(|(form, c)| format!("{form} at {c}")).collect();
            row(
                &mut rows,
                &[&choice.chosen, &choice.cost.to_string(), &others.join(", ")],
            );
        }
        text += &table("choices", &["chosen", "cost", "instead of"], &rows);
    }
    text
}

/// The map of each kernel's shared memory, to scale.
pub fn memory(e: &Explanation) -> String {
    let mut text = String::new();
    for entry in &e.launches {
        let end = |r: &crate::launch::SharedRegion| r.offset + r.bytes;
        let total = entry.shared_map.iter().map(end).max().unwrap_or(0);
        let _ = writeln!(
            text,
            "<h3>{}: {total} bytes of shared memory, {} threads</h3>",
            escape(&entry.name),
            entry.block[0]
        );
        if total == 0 {
            continue;
        }
        text.push_str("<div class=\"memory\">\n");
        for region in &entry.shared_map {
            // Hundredths of a percent, so that the same input gives the same text.
            let share = |bytes: u64| bytes as u128 * 10_000 / u128::from(total);
            let (left, width) = (share(region.offset), share(region.bytes));
            let _ = writeln!(
                text,
                "<div class=\"region\" style=\"--left:{}.{:02}%;--width:{}.{:02}%\"><span></span>{}..{} {}</div>",
                left / 100,
                left % 100,
                width / 100,
                width % 100,
                region.offset,
                end(region),
                escape(&region.what)
            );
        }
        text.push_str("</div>\n");
        let mut rows = String::new();
        for map in &entry.tensor_maps {
            row(
                &mut rows,
                &[
                    &map.param.to_string(),
                    &format!("{} of parameter {}", map.element, map.base),
                    &format!("{:?}", map.box_dims),
                    &format!("{:?}", map.swizzle),
                ],
            );
        }
        text += &table("tensor maps", &["parameter", "of", "box", "swizzle"], &rows);
    }
    text
}
