//! Machine code, from the text that NVIDIA's `nvdisasm` writes of a cubin.

use std::collections::HashMap;

use super::panel::{Line, Panel, Places, Relation};

/// The same code in three forms.
pub struct Disassembly {
    /// `-c -gi`: with lines of the source.
    pub source: String,
    /// `-c -gp`: with lines of the PTX.
    pub ptx: String,
    /// `-c -plr -lrm count`: with the number of live registers.
    pub live: String,
}

/// What stands before an instruction: the kernel, and the address in it.
type Address = (String, String);

/// The code of all kernels, with where each instruction comes from.
pub fn panel(text: &Disassembly, places: &mut Places) -> Panel {
    let mut ptx = HashMap::new();
    let mut latest = None;
    walk(&text.ptx, &mut |kernel, line| match line {
        Said::Place(list) => latest = list.first().map(|p| p.1),
        Said::Instruction { address, .. } => {
            if let Some(line) = latest {
                ptx.insert((kernel.to_owned(), address.to_owned()), line);
            }
        }
        Said::Other(_) => {}
    });
    let live = live(&text.live);
    let mut lines = Vec::new();
    let mut at: Option<(String, u32)> = None;
    walk(&text.source, &mut |kernel, line| match line {
        // The innermost function's place comes first.
        Said::Place(list) => at = list.first().map(|(file, line)| ((*file).to_owned(), *line)),
        Said::Instruction { address, text } => {
            let key: Address = (kernel.to_owned(), address.to_owned());
            let mut relation = match &at {
                Some((file, line)) => places.at(file, *line, None),
                None => Relation::default(),
            };
            relation
                .exact
                .extend(ptx.get(&key).map(|l| format!("p{l}")));
            lines.push((text.to_owned(), relation, live.get(&key).copied()));
        }
        Said::Other(text) => {
            if text.ends_with(':') {
                // A place holds behind labels, too, but not in another kernel.
                if text.starts_with(".text.") {
                    at = None;
                }
                lines.push((text.to_owned(), Relation::default(), None));
            }
        }
    });
    let lines = lines.into_iter().enumerate();
    let lines = lines.map(|(i, (text, relation, live))| Line {
        number: i + 1,
        text,
        relation,
        live,
    });
    Panel {
        id: "sass",
        name: "SASS",
        lines: lines.collect(),
    }
}

/// A line of a disassembly.
enum Said<'a> {
    /// Where what follows comes from: files and lines, innermost first. Several such lines are one list.
    Place(&'a [(&'a str, u32)]),
    Instruction {
        address: &'a str,
        text: &'a str,
    },
    Other(&'a str),
}

/// Calls `each` for every line that says something, with the kernel that it is in.
fn walk(text: &str, each: &mut dyn FnMut(&str, Said)) {
    let mut kernel = String::new();
    let mut places: Vec<(&str, u32)> = Vec::new();
    let mut fresh = true;
    for line in text.lines() {
        if let Some(name) = line
            .strip_prefix(".text.")
            .and_then(|l| l.strip_suffix(':'))
        {
            kernel = name.to_owned();
            each(&kernel, Said::Other(line));
            continue;
        }
        let trimmed = line.trim();
        if let Some(place) = place(trimmed) {
            if std::mem::take(&mut fresh) {
                places.clear();
            }
            places.push(place);
            continue;
        }
        if !fresh {
            fresh = true;
            each(&kernel, Said::Place(&places));
        }
        match instruction(trimmed) {
            Some((address, text)) => each(&kernel, Said::Instruction { address, text }),
            None if trimmed.starts_with('.') && !trimmed.ends_with(':') => {}
            None => each(&kernel, Said::Other(trimmed)),
        }
    }
}

/// `//## File "name", line 34…`.
fn place(line: &str) -> Option<(&str, u32)> {
    let (file, rest) = line.strip_prefix("//## File \"")?.split_once("\", line ")?;
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    Some((file, digits.parse().ok()?))
}

/// `/*0010*/  LDC.64 R6, c[0x0][0x248] ;  // …`: the address, and the instruction.
fn instruction(line: &str) -> Option<(&str, &str)> {
    let (address, rest) = line.strip_prefix("/*")?.split_once("*/")?;
    let is_address = address.len() >= 4 && address.bytes().all(|b| b.is_ascii_hexdigit());
    let end = rest.find(';')?;
    let text = rest.get(..end)?.trim();
    // Data of other sections has addresses, too.
    (is_address && !text.starts_with('.')).then_some((address, text))
}

/// The number of general registers that hold something at each instruction: the first column of the comment.
fn live(text: &str) -> HashMap<Address, u32> {
    let mut counts = HashMap::new();
    let mut kernel = "";
    for line in text.lines() {
        let (code, comment) = line.split_once("//").unwrap_or((line, ""));
        let code = code.trim();
        if let Some(name) = code
            .strip_prefix(".text.")
            .and_then(|l| l.strip_suffix(':'))
        {
            kernel = name;
        }
        let Some((address, _)) = instruction(code) else {
            continue;
        };
        let column = comment.split('|').nth(1).map(str::trim);
        if let Some(count) = column.and_then(|c| c.parse().ok()) {
            counts.insert((kernel.to_owned(), address.to_owned()), count);
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `nvdisasm` 13.1 writes it.
    #[test]
    fn instructions_have_origins_and_registers() {
        let source = ".text.k:\n\t//## File \"k.py\", line 21 inlined at \"k.py\", line 32\n\
                      \t//## File \"k.py\", line 32\n        /*0020*/                   BSSY B0, `(.L_x_0) ;\n\
                      .L_x_0:\n        /*0030*/              @!P0 IMAD.MOV R2, RZ, RZ, R0 ;\n";
        let ptx = ".text.k:\n\t//## File \".nv_debug_ptx_txt\", line 75\n        /*0020*/   BSSY B0, `(.L_x_0) ;\n\
                   \t//## File \".nv_debug_ptx_txt\", line 69\n        /*0030*/   IMAD.MOV R2, RZ, RZ, R0 ;\n";
        let live = ".text.k:   // |  |\n  /*0020*/  BSSY B0, `(.L_x_0) ;  // |   3   |   |\n\
                    \x20 /*0030*/  IMAD.MOV R2, RZ, RZ, R0 ;   // |   12  |  1 |\n";
        let text = Disassembly {
            source: source.into(),
            ptx: ptx.into(),
            live: live.into(),
        };
        let mut places = Places::default();
        let found: Vec<_> = panel(&text, &mut places)
            .lines
            .into_iter()
            .map(|l| (l.text, l.relation.line, l.relation.exact.join(" "), l.live))
            .collect();
        let none = String::new;
        assert_eq!(
            found,
            [
                (".text.k:".to_owned(), None, none(), None),
                (
                    "BSSY B0, `(.L_x_0)".to_owned(),
                    Some(0),
                    "p75".to_owned(),
                    Some(3)
                ),
                (".L_x_0:".to_owned(), None, none(), None),
                (
                    "@!P0 IMAD.MOV R2, RZ, RZ, R0".to_owned(),
                    Some(0),
                    "p69".to_owned(),
                    Some(12)
                ),
            ]
        );
    }
}
