//! Writes what the fuzzers start from: `seeds CORPUS OUT` makes `OUT/bytecode` (a file per entry of
//! the modules under `CORPUS`), `OUT/text` (those in both textual forms) and `OUT/text.dict`.

use std::path::{Path, PathBuf};

use tilec::dialect::{Dialect, cuda_tile::Op as Name};
use tilec::ir::{Attr, Module, OpId};
use tilec::{asm, bytecode};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Larger files teach the fuzzers nothing that smaller ones do not.
const LARGEST: usize = 6000;

fn main() -> Result<()> {
    let [corpus, out] = &std::env::args().skip(1).collect::<Vec<_>>()[..] else {
        return Err("usage: seeds CORPUS OUT".into());
    };
    let out = Path::new(out);
    std::fs::create_dir_all(out.join("bytecode"))?;
    std::fs::create_dir_all(out.join("text"))?;
    let mut files = Vec::new();
    collect(Path::new(corpus), &mut files)?;
    files.sort();
    let mut written = 0;
    for file in &files {
        let data = std::fs::read(file)?;
        let contents = bytecode::read_full(&data).map_err(|e| e.to_string())?;
        for entry in 0..entries(&contents.module).len() {
            let module = only(&data, entry)?;
            let bytes = bytecode::write(&module, contents.version).map_err(|e| e.to_string())?;
            if bytes.len() > LARGEST {
                continue;
            }
            written += 1;
            std::fs::write(out.join(format!("bytecode/{written:05}")), bytes)?;
            // Newest forms only: what a text says does not depend on a version.
            if contents.version == tilec::dialect::Version::V13_5 || written % 8 == 0 {
                std::fs::write(
                    out.join(format!("text/{written:05}p")),
                    asm::print_pretty(&module),
                )?;
                std::fs::write(
                    out.join(format!("text/{written:05}g")),
                    asm::print_generic(&module),
                )?;
            }
        }
    }
    std::fs::write(out.join("text.dict"), words())?;
    println!("{written} modules of {} files", files.len());
    Ok(())
}

fn collect(dir: &Path, out: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, out)?;
        } else if path.extension().is_some_and(|e| e == "tilebc") {
            out.push(path);
        }
    }
    Ok(())
}

fn entries(m: &Module) -> Vec<OpId> {
    let entry = |op: &OpId| Name::of(m.op(*op).kind) == Some(Name::Entry);
    m.block(m.body).ops.iter().copied().filter(entry).collect()
}

/// The module with one of its entries, and the globals that it names.
fn only(data: &[u8], keep: usize) -> Result<Module> {
    let mut m = bytecode::read(data).map_err(|e| e.to_string())?;
    let entries = entries(&m);
    for (_, &op) in entries.iter().enumerate().filter(|(i, _)| *i != keep) {
        m.erase(op);
    }
    let names: Vec<_> = m
        .ops_under(m.body)
        .iter()
        .flat_map(|&op| m.op(op).attrs.iter().flatten())
        .filter_map(|a| {
            if let Attr::Symbol(name) = a {
                Some(*name)
            } else {
                None
            }
        })
        .collect();
    let unused = |op: &OpId| {
        Name::of(m.op(*op).kind) == Some(Name::Global)
            && !matches!(m.op(*op).attr_named("sym_name"), Some(Attr::Str(n)) if names.contains(n))
    };
    let unused: Vec<OpId> = m.block(m.body).ops.iter().copied().filter(unused).collect();
    unused.into_iter().for_each(|op| m.erase(op));
    Ok(m)
}

/// A libFuzzer dictionary of the language's words.
fn words() -> String {
    let mut words: Vec<String> = Vec::new();
    for def in Dialect::CudaTile.table() {
        words.push(def.name.to_owned());
        words.push(format!("\"cuda_tile.{}\"", def.name));
        for attr in def.attrs {
            words.push(attr.name.to_owned());
            if let tilec::dialect::AttrKind::Enum(e) = attr.kind {
                words.extend(e.cases.iter().map(|c| (*c).to_owned()));
            }
        }
    }
    words.extend(tilec::ir::Float::NAMES.iter().map(|(_, n)| (*n).to_owned()));
    words.extend(
        [
            "i1",
            "i4",
            "i8",
            "i16",
            "i32",
            "i64",
            "!cuda_tile.tile<",
            "tile<",
            "ptr<",
            "tensor_view<",
            "partition_view<",
            "strided_view<",
            "gather_scatter_view<",
            "token",
            "dense<",
            "loc(",
            "->",
            "<{",
            "}>",
            "strides=[",
            "padding_value = ",
            "dim_map=[",
            "tile=(",
            "0x",
            "\"0x",
            "true",
            "false",
            "inf",
            "nan",
            "#cuda_tile.",
            "callsite(",
            "di_loc",
            "div_by<",
            "bounded<",
            "same_elements<",
            "array<i32: ",
            "{elide}",
            "unsigned",
            "step",
            "iter_values(",
        ]
        .map(str::to_owned),
    );
    words.sort();
    words.dedup();
    let quote = |w: &String| format!("\"{}\"\n", w.replace('\\', "\\\\").replace('"', "\\\""));
    words.iter().map(quote).collect()
}
