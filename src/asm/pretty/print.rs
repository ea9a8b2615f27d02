//! Printing by format.

mod bodies;

use super::formats::{Custom, Field, Piece, format_of};
use super::names;
use crate::asm::locations::Aliases;
use crate::asm::parse::PRODUCER;
use crate::asm::quote::{quoted, symbol};
use crate::asm::types::{bare_type, join};
use crate::asm::writer::Writer;
use crate::asm::{attrs, generic, layouts};
use crate::dialect::cuda_tile::Op as CudaTile;
use crate::dialect::{AttrKind, Default};
use crate::ir::{Attr, DYNAMIC, Dim, LocId, Module, Op, OpId, Type, ValueId};

/// The module in the cuda_tile assembly form; operations of other dialects in the generic form.
pub fn print_pretty(module: &Module) -> String {
    print(module, false)
}

/// The same, with the place of each line.
pub fn print_with_places(module: &Module) -> (String, Vec<LocId>) {
    write(module, Writer::new(module), true).finish_with_places()
}

/// The same, with locations and debug info if that is asked for.
pub fn print(module: &Module, debug_info: bool) -> String {
    write(module, Writer::with_debug_info(module, debug_info), true).finish()
}

/// The text of NVIDIA's `tileirdisasm`: as [`print_pretty`], with names for values instead of numbers; of `tileirdisasm -g`
/// with debug info.
pub fn print_disassembly(module: &Module, debug_info: bool) -> String {
    // Of an empty module the tool writes an empty line and the place of nothing.
    let empty = module.block(module.body).ops.is_empty();
    let text = |aliases| {
        let mut writer = Writer::new(module);
        writer.aliases = aliases;
        writer.name(names::of(module));
        let mut writer = write(module, writer, false);
        if empty {
            writer.str("\n");
        }
        writer
    };
    let plain = text(None);
    if !debug_info {
        return plain.finish();
    }
    let nothing = empty.then_some(LocId::UNKNOWN);
    let used = plain.places().chain(nothing);
    text(Some(Aliases::of_used(module, used))).finish()
}

fn write<'m>(module: &'m Module, w: Writer<'m>, reads_back: bool) -> Writer<'m> {
    let mut p = Printer {
        w,
        reads_back,
        space: false,
    };
    // Bytecode has no module name and this is what every reader calls it.
    let producer = module.producer.map(|name| module.str(name));
    let line = producer.filter(|text| !text.contains(['\n', '\r']));
    if let Some(text) = line {
        p.w.str(&format!("{PRODUCER}{text}\n"));
    }
    p.w.str(&layouts::definitions(module));
    let wrapped = module.str(module.name) != "kernels" || producer != line;
    if wrapped {
        p.w.str(&format!(
            "cuda_tile.module {}",
            symbol(module.str(module.name))
        ));
        if let Some(producer) = producer.filter(|_| line.is_none()) {
            let text = quoted(producer);
            p.w.str(&format!(" attributes {{producer = {text}}}"));
        }
        p.w.str(" {\n");
        p.w.indent += 1;
    }
    for &op in &module.block(module.body).ops {
        p.operation(op);
    }
    if wrapped {
        p.w.str("}\n");
    }
    p.w
}

/// Whether NVIDIA's printer leaves a blank where a field is left out: where a function of its own writes the field.
fn leaves_blank(op: &Op, field: Field) -> bool {
    let Field::Attr(i) = field else {
        return false;
    };
    let def = op.def();
    def.attrs.get(i).is_some_and(|attr| match attr.name {
        "rounding_mode" => true,
        "inbounds" => def.name.starts_with("multimem_"),
        _ => false,
    })
}

struct Printer<'m> {
    w: Writer<'m>,
    /// Whether what would not read back as it is takes its generic form.
    reads_back: bool,
    /// A space is due before the next text.
    space: bool,
}

/// Whether a load without a mask has truth values for padding, which its assembly form does not tell from a
/// mask.
fn looks_masked(module: &Module, op: &Op) -> bool {
    let padding = |v| module.types.bits(module.ty(v)) == Some(1);
    CudaTile::of(op.kind) == Some(CudaTile::LoadPtr)
        && op.optional(1).is_none()
        && op.optional(2).is_some_and(padding)
}

impl<'m> Printer<'m> {
    fn module(&self) -> &'m Module {
        self.w.module
    }

    fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let glued = matches!(text.as_bytes()[0], b',' | b']' | b')' | b'>');
        if std::mem::take(&mut self.space) && !glued {
            self.w.str(" ");
        }
        self.w.str(text);
    }

    fn types(&self, values: &[ValueId]) -> String {
        let types = &self.module().types;
        join(
            values
                .iter()
                .map(|&v| bare_type(types, self.module().ty(v))),
            ", ",
        )
    }

    fn values(&mut self, values: &[ValueId]) {
        if !values.is_empty() {
            self.text("");
            if std::mem::take(&mut self.space) {
                self.w.str(" ");
            }
            self.w.values(values);
        }
    }

    fn operation(&mut self, id: OpId) {
        let module = self.module();
        let op = module.op(id);
        let generic = self.reads_back && looks_masked(module, op);
        let format = CudaTile::of(op.kind).filter(|_| !generic);
        let Some((kind, format)) = format.and_then(|k| Some((k, format_of(k)?))) else {
            generic::operation(&mut self.w, id);
            return;
        };
        self.w.begin_op(op.loc);
        self.w.line();
        self.results(op);
        self.w.str(op.def().name);
        self.space = true;
        self.pieces(op, format);
        self.space = false;
        self.w.end_op(op.loc);
        debug_assert!(kind as u8 == op.kind.index);
    }

    /// `%a, %b = `, or `%a:2 = ` for a list of results.
    fn results(&mut self, op: &Op) {
        if op.results.is_empty() {
            return;
        }
        if op.def().results.len() == 1 && op.results.len() > 1 {
            self.w.define_pack(&op.results);
            self.w.pack_name(op.results[0]);
            self.w.str(&format!(":{}", op.results.len()));
        } else {
            op.results.iter().for_each(|&r| self.w.define(r));
            self.w.values(&op.results);
        }
        self.w.str(" = ");
    }

    fn pieces(&mut self, op: &Op, pieces: &[Piece]) {
        for piece in pieces {
            match piece {
                Piece::Space => self.space = true,
                Piece::Literal(text) => self.text(text),
                Piece::Value(Field::Attr(i)) => self.attr(op, *i),
                Piece::Value(Field::Operand(i)) => self.values(op.group(*i)),
                Piece::Value(Field::Result(_)) => {}
                Piece::Type(Field::Operand(i)) => {
                    let text = self.types(op.group(*i));
                    self.text(&text);
                }
                Piece::Type(Field::Result(i)) => {
                    let text = self.types(result_group(op, *i));
                    self.text(&text);
                }
                Piece::Type(Field::Attr(_)) => {}
                Piece::Group {
                    field,
                    unless,
                    pieces,
                } => {
                    if self.present(op, *field, *unless) {
                        self.pieces(op, pieces);
                    } else if leaves_blank(op, *field) {
                        self.w.blank();
                    }
                }
                Piece::Custom(custom) => self.custom(op, custom),
            }
        }
    }

    fn present(&self, op: &Op, field: Field, unless: Option<u8>) -> bool {
        match field {
            Field::Operand(i) => !op.group(i).is_empty(),
            Field::Result(_) => !op.results.is_empty(),
            Field::Attr(i) => match (op.attr(i), unless) {
                (None, _) => false,
                (Some(Attr::Enum(case)), Some(elided)) => case.0 != elided,
                (Some(attr), _) => match (op.def().attrs[i].default, attr) {
                    (Default::Case(default), Attr::Enum(case)) => case.0 != default,
                    (Default::Int(default), Attr::Int { value, .. }) => *value != default,
                    (Default::AllFalse(_), Attr::Bools(list)) => list.contains(&true),
                    _ => true,
                },
            },
        }
    }

    fn attr(&mut self, op: &Op, i: usize) {
        let def = &op.def().attrs[i];
        let Some(attr) = op.attr(i) else {
            return self.text("<missing>");
        };
        let module = self.module();
        let text = match (attr, def.kind) {
            (Attr::Enum(case), AttrKind::Enum(e)) => e
                .cases
                .get(usize::from(case.0))
                .copied()
                .unwrap_or("<invalid>")
                .to_owned(),
            (Attr::Int { value, .. }, _) => value.to_string(),
            (Attr::I32s(v), _) => format!("[{}]", join(v, ", ")),
            (Attr::Bools(v), _) => format!("[{}]", join(v, ", ")),
            (Attr::Assume(p), _) => attrs::predicate(p),
            (Attr::Hints(h), _) => attrs::hints(module, h),
            _ => attrs::generic(module, op.kind.dialect, Some(def.kind), attr),
        };
        self.text(&text);
    }

    fn custom(&mut self, op: &Op, custom: &Custom) {
        match custom {
            Custom::Dense { attr, result } => self.dense(op, *attr, *result),
            Custom::Attributes(i) => {
                if let (true, Some(attr)) = (self.present(op, Field::Attr(*i), None), op.attr(*i)) {
                    let def = &op.def().attrs[*i];
                    let value =
                        attrs::generic(self.module(), op.kind.dialect, Some(def.kind), attr);
                    self.text(&format!("attributes {{{} = {value}}}", def.name));
                }
            }
            Custom::Flags(list) => {
                for &i in list.iter().filter(|i| op.attr(**i).is_some()) {
                    self.text(op.def().attrs[i].name);
                    self.space = true;
                }
            }
            Custom::Index(group) => self.index_types(op.group(*group)),
            Custom::Rank | Custom::Triple => {
                let text = self.types(&op.results[..op.results.len().min(1)]);
                self.text(&text);
            }
            Custom::View => {
                let text = self.types(&op.results);
                self.text(&text);
            }
            Custom::TensorView => self.tensor_view(op),
            Custom::Visibility(i) => {
                if self.present(op, Field::Attr(*i), None) {
                    self.attr(op, *i);
                }
                self.w.blank();
            }
            Custom::Symbol(i) => {
                if let Some(Attr::Str(name)) = op.attr(*i) {
                    let text = symbol(self.module().str(*name));
                    self.text(&text);
                }
            }
            Custom::Entry => self.entry(op),
            Custom::For => self.for_loop(op),
            Custom::Loop => self.loop_op(op),
            Custom::Branches => self.branches(op),
            Custom::Combination => self.combination(op),
        }
    }

    fn dense(&mut self, op: &Op, attr: usize, result: Option<usize>) {
        let module = self.module();
        let Some(Attr::Dense { data, ty }) = op.attr(attr) else {
            return self.text("<missing>");
        };
        let shown = result
            .and_then(|i| op.results.get(i))
            .map_or(*ty, |&r| module.ty(r));
        let elem = bare_type(&module.types, module.types.elem(*ty));
        let elements = attrs::elements(module, data, *ty);
        self.text(&format!(
            "<{elem}: {elements}> : {}",
            bare_type(&module.types, shown)
        ));
    }

    fn index_types(&mut self, index: &[ValueId]) {
        let module = self.module();
        let Some((&first, rest)) = index.split_first() else {
            return;
        };
        let same = rest.iter().all(|&v| module.ty(v) == module.ty(first));
        let text = self.types(if same { &index[..1] } else { index });
        self.text(&format!(", {text}"));
    }

    /// Numbers of the type and values of the group, one for each dynamic number.
    fn mixed(&mut self, dims: &[Dim], values: &[ValueId]) {
        let mut values = values.iter();
        self.w.str("[");
        self.w.list(dims, |w, &dim| match dim {
            DYNAMIC => match values.next() {
                Some(&v) => w.value(v),
                None => w.str("<missing>"),
            },
            n => w.str(&n.to_string()),
        });
        self.w.str("]");
    }

    fn tensor_view(&mut self, op: &Op) {
        let module = self.module();
        self.values(op.group(0));
        let view = op.results.first().map(|&r| module.types.get(module.ty(r)));
        let (shape, strides) = match view {
            Some(Type::TensorView { shape, strides, .. }) => (shape.as_slice(), strides.as_slice()),
            _ => (&[][..], &[][..]),
        };
        self.text(", shape = ");
        self.mixed(shape, op.group(1));
        self.text(", strides = ");
        self.mixed(strides, op.group(2));
        self.text(" : ");
        // The base's type is written when the view's does not give it.
        let base = op.group(0).first().map(|&b| module.ty(b));
        let attributed = base.is_some_and(|b| {
            matches!(
                module.types.get(module.types.elem(b)),
                Type::Ptr { attr: 1.., .. }
            )
        });
        let dynamic = op.group(1).first().or(op.group(2).first());
        let shown: Vec<ValueId> = (op.group(0).iter().filter(|_| attributed))
            .chain(dynamic)
            .copied()
            .collect();
        if !shown.is_empty() {
            let text = format!("{} -> ", self.types(&shown));
            self.text(&text);
        }
        let text = self.types(&op.results);
        self.text(&text);
    }
}

/// The results that belong to row `i` of the results.
fn result_group(op: &Op, i: usize) -> &[ValueId] {
    if op.def().results.len() == 1 {
        return &op.results;
    }
    op.results.get(i..=i).unwrap_or(&[])
}
