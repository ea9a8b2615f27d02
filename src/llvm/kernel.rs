//! The walk over a kernel's regions, and its boundary: parameters and properties.

use std::rc::Rc;

use slotmap::SecondaryMap;

use super::body::{Body, Module as Collected, Val};
use super::debug::Debug;
use super::rows::Rows;
use super::types::{Flavor, Ty, pointer};
use crate::dialect::nvvm::view::View;
use crate::dialect::nvvm::{Op as N, view};
use crate::ir::{BlockId, Module, Op, OpId, Type, ValueId};
use crate::isel::{Alone, Elem, Fail, Form, Tables, about};
use crate::target::Target;

pub(super) use crate::isel::failure as fail;

/// What `continue` and `break` refer to.
pub(super) struct Loop {
    /// Where `continue` jumps, and what was carried there from which blocks.
    pub next: Rc<str>,
    pub continues: Vec<(Rc<str>, Vec<Val>)>,
    /// Where `break` jumps; `None` for a counted loop.
    pub exit: Option<Rc<str>>,
    pub breaks: Vec<(Rc<str>, Vec<Val>)>,
}

/// A kernel that is being written.
pub(super) struct Kernel<'m, 'c> {
    pub module: &'m Module,
    pub rows: &'m Rows,
    pub tables: &'m Tables,
    pub alone: Alone<'m>,
    pub body: Body,
    pub collected: &'c mut Collected,
    pub debug: &'c mut Debug<'m>,
    values: SecondaryMap<ValueId, Rc<[Val]>>,
    pub loops: Vec<Loop>,
    pub name: String,
    /// The kernel's shared memory: its name and bytes, 0 where the launch says how many.
    shared: (String, u32),
}

/// Parameters of a kernel.
#[derive(Default)]
struct Params {
    /// Types and names.
    named: Vec<String>,
    types: Vec<String>,
    /// The numbers (from 1) of tensor maps.
    maps: Vec<usize>,
}

/// A written kernel.
pub(super) struct Written {
    pub text: String,
    /// Operands of its entry in `!nvvm.annotations`, and the operand of `grid_constant`.
    pub annotations: Vec<String>,
    pub maps: Vec<usize>,
    /// The shared memory's name and bytes, and whether the launch says how many they are.
    pub shared: String,
    pub bytes: u32,
    pub dynamic: bool,
}

impl<'m, 'c> Kernel<'m, 'c> {
    pub fn new(
        module: &'m Module,
        tables: &'m Tables,
        rows: &'m Rows,
        target: Target,
        collected: &'c mut Collected,
        debug: &'c mut Debug<'m>,
    ) -> Self {
        Self {
            module,
            rows,
            tables,
            alone: Alone::new(module, tables, target),
            body: Body::new(Flavor::of(target)),
            collected,
            debug,
            values: SecondaryMap::new(),
            loops: Vec::new(),
            name: String::new(),
            shared: (String::new(), 0),
        }
    }

    /// Writes the kernel `id` (an `nvvm.func`).
    pub fn write(mut self, id: OpId) -> Result<Written, Fail> {
        let op = self.module.op(id);
        let Some(v) = view::Func::of(op) else {
            return fail("no kernel");
        };
        let name = self.module.str(v.sym_name()).to_owned();
        self.name.clone_from(&name);
        let shared = v.smem_bytes() as u32;
        self.shared = match shared > Target::STATIC_SHARED {
            true => (super::DYNAMIC.to_owned(), 0),
            false => (format!("{name}_smem"), shared),
        };
        let Some(block) = self.module.body_of(id, 0) else {
            return fail("a kernel without a body");
        };
        let scope = self.debug.function(&name, op.loc);
        let params = self.params(block)?;
        self.block(block)?;
        if self.body.open {
            self.body.ret();
        }
        let mut annotations = vec![
            format!("void ({})* @{name}", params.types.join(", ")),
            "!\"kernel\", i32 1".to_owned(),
        ];
        if self.body.flavor == Flavor::Modern {
            annotations[0] = format!("ptr @{name}");
        }
        let mut note = |key: &str, value: i64| annotations.push(format!("!\"{key}\", i32 {value}"));
        note("reqntidx", v.reqntid());
        if let Some(most) = v.maxnreg() {
            note("maxnreg", most);
        } else if v.minctasm() > 0 {
            note("minctasm", v.minctasm());
        }
        if let Some(dims) = v.cluster_dim() {
            let dim = |i: usize| i64::from(dims.get(i).map_or(1, |&d| d.max(1)));
            if (0..3).any(|i| dim(i) != 1) {
                for (i, axis) in ["x", "y", "z"].into_iter().enumerate() {
                    note(&format!("cluster_dim_{axis}"), dim(i));
                }
            }
        }
        let text = format!(
            "define void @{name}({}){scope} {{\n{}\n}}\n",
            params.named.join(", "),
            self.body.text()
        );
        Ok(Written {
            text,
            annotations,
            maps: params.maps,
            shared: self.shared.0,
            bytes: shared,
            dynamic: shared > Target::STATIC_SHARED,
        })
    }

    /// Binds the parameters.
    fn params(&mut self, block: BlockId) -> Result<Params, Fail> {
        let mut all = Params::default();
        for (i, &arg) in self.module.block(block).args.iter().enumerate() {
            let ty = self.module.ty(arg);
            if matches!(self.module.types.get(ty), Type::TensorMap) {
                let map = pointer(self.body.flavor, "[128 x i8]", 0);
                let byval = match self.body.flavor {
                    Flavor::Legacy => "byval",
                    Flavor::Modern => "byval([128 x i8])",
                };
                all.named.push(format!("{map} {byval} align 64 %p{i}"));
                all.types.push(map.clone());
                all.maps.push(i + 1);
                let address = self
                    .body
                    .def(Ty::Int(64), &format!("ptrtoint {map} %p{i} to i64"));
                let value = self.body.cast(&address, Ty::Global);
                self.bind(arg, vec![value]);
                continue;
            }
            let form = self.form(arg)?;
            let reg = Ty::of_register(form);
            let passed = match form.elem {
                // A byte, of which any that is not 0 is true.
                Elem::Int(1) => Ty::Int(8),
                _ => reg,
            };
            all.named.push(format!("{} %p{i}", self.body.ty(passed)));
            all.types.push(self.body.ty(passed));
            let value = Val::new(passed, format!("%p{i}"));
            let value = match form.elem {
                Elem::Int(1) => {
                    let zero = self.body.constant(passed, 0);
                    self.body.binary("icmp ne", &value, &zero)
                }
                _ => value,
            };
            self.bind(arg, vec![value]);
        }
        Ok(all)
    }

    /// Writes the operations of a block, terminator included.
    pub fn block(&mut self, block: BlockId) -> Result<(), Fail> {
        let module = self.module;
        for &op in &module.block(block).ops {
            let place = self.debug.at(module.op(op).loc);
            let around = std::mem::replace(&mut self.body.place, place);
            self.op(op).map_err(|error| about(self.module, op, error))?;
            self.body.place = around;
        }
        Ok(())
    }

    fn op(&mut self, id: OpId) -> Result<(), Fail> {
        let module = self.module;
        let op = module.op(id);
        let Some(kind) = N::of(op.kind) else {
            return fail("no operation of another dialect may reach LLVM's language");
        };
        if op.def().is_pure() {
            let value = match self.structural(kind, op)? {
                Some(value) => Some(value),
                None => self.computed(op)?,
            };
            return match value {
                Some(value) => self.define(op, vec![value]),
                None => self.assembly(id),
            };
        }
        let Some(view) = View::of(op) else {
            return fail("an operation of another form than its row's");
        };
        match view {
            View::For(_) | View::If(_) | View::Loop(_) | View::Yield(_) => self.control(kind, id),
            View::Continue(_) | View::Break(_) | View::Return(_) => self.control(kind, id),
            View::Ld(v) if self.is_plain_load(&v)? => self.load(&v),
            View::St(v) if self.is_plain_store(&v)? => self.store(&v),
            View::Print(v) => self.print(&v),
            View::WgmmaWait(v) => self.wait_for_matmuls(&v),
            View::Wgmma(_) | View::TensorLd(_) | View::TensorSt(_) | View::MbarWait(_) => {
                self.assembly_block(id)
            }
            View::Settle(_) => Ok(()),
            _ => self.assembly(id),
        }
    }

    /// Binds the results of an operation.
    pub fn define(&mut self, op: &Op, results: Vec<Vec<Val>>) -> Result<(), Fail> {
        if op.results.len() != results.len() {
            return fail("the operation has another number of results");
        }
        for (&result, values) in op.results.iter().zip(results) {
            let form = self.form(result)?;
            if form.regs() != values.len() {
                let (n, of) = (values.len(), form.regs());
                return fail(format!("{n} registers for a value of {of}"));
            }
            let ty = Ty::of_register(form);
            let values = values.iter().map(|v| self.body.cast(v, ty)).collect();
            self.bind(result, values);
        }
        Ok(())
    }

    pub fn bind(&mut self, value: ValueId, values: Vec<Val>) {
        self.values.insert(value, values.into());
    }

    /// The registers of a value.
    pub fn get(&self, value: ValueId) -> Result<Rc<[Val]>, Fail> {
        match self.values.get(value) {
            Some(values) => Ok(values.clone()),
            None => fail("an operand is used before it is defined"),
        }
    }

    /// The single register of a scalar.
    pub fn scalar(&self, value: ValueId) -> Result<Val, Fail> {
        match &self.get(value)?[..] {
            [one] => Ok(one.clone()),
            _ => fail("a scalar operand is an array"),
        }
    }

    pub fn form(&self, value: ValueId) -> Result<Form, Fail> {
        Form::of(&self.module.types, self.module.ty(value))
    }

    /// Declares a function that is called.
    pub fn declare(&mut self, name: &str, result: &str, params: &[Ty]) {
        let params: Vec<String> = params.iter().map(|&p| self.body.ty(p)).collect();
        let text = format!("declare {result} @{name}({})", params.join(", "));
        self.collected.declared.insert(name.to_owned(), text);
    }

    /// Calls an intrinsic of one result.
    pub fn call(&mut self, name: &str, result: Ty, args: &[Val]) -> Val {
        let types: Vec<Ty> = args.iter().map(|a| a.ty).collect();
        let result_text = self.body.ty(result);
        self.declare(name, &result_text, &types);
        let args: Vec<String> = args.iter().map(|a| self.body.typed(a)).collect();
        let text = format!("call {result_text} @{name}({})", args.join(", "));
        self.body.def(result, &text)
    }

    /// Calls an intrinsic without a result.
    pub fn call_effect(&mut self, name: &str, args: &[Val]) {
        let types: Vec<Ty> = args.iter().map(|a| a.ty).collect();
        self.declare(name, "void", &types);
        let args: Vec<String> = args.iter().map(|a| self.body.typed(a)).collect();
        self.body
            .effect(&format!("call void @{name}({})", args.join(", ")));
    }

    /// Byte 0 of the kernel's shared memory.
    pub fn shared_base(&self) -> Val {
        let (name, bytes) = &self.shared;
        let array = pointer(self.body.flavor, &format!("[{bytes} x i8]"), 3);
        let text = match self.body.flavor {
            Flavor::Legacy => format!("bitcast ({array} @{name} to i8 addrspace(3)*)"),
            Flavor::Modern => format!("@{name}"),
        };
        Val::new(Ty::Shared, text)
    }
}
