//! Kernels of the nvvm stage, built by hand.

#![allow(dead_code, reason = "each test uses a part")]

use tilec::compile::stage;
use tilec::dialect::nvvm::Op as N;
use tilec::ir::{Attr, BlockId, Dense, EnumAttr, Float, Module, OpBuilder, Type, TypeId, ValueId};
use tilec::isel;
use tilec::ptx::Debug;
use tilec::rules::Examples;
use tilec::rules::files::{self, Group};
use tilec::target::Target;

/// A kernel under construction.
pub struct Kernel {
    pub module: Module,
    pub body: BlockId,
    pub shared: i64,
    pub threads: i64,
}

pub fn enumeration(case: u8) -> Option<Attr> {
    Some(Attr::Enum(EnumAttr(case)))
}

impl Kernel {
    pub fn new() -> Self {
        let mut module = Module::new("test");
        let region = module.new_region();
        let body = module.new_block(region, &[]);
        Kernel {
            module,
            body,
            shared: 0,
            threads: 128,
        }
    }

    pub fn int(&mut self, bits: u32) -> TypeId {
        self.module.types.int(bits)
    }

    pub fn i(&mut self, value: i64) -> Option<Attr> {
        let ty = self.int(32);
        Some(Attr::Int { value, ty })
    }

    pub fn ptr(&mut self) -> TypeId {
        let pointee = self.int(8);
        self.module.types.intern(Type::Ptr { pointee, attr: 0 })
    }

    pub fn param(&mut self, ty: TypeId) -> ValueId {
        self.module.add_arg(self.body, ty)
    }

    pub fn at(&mut self, block: BlockId) -> OpBuilder<'_> {
        self.module.at_end(block)
    }

    pub fn value(
        &mut self,
        op: N,
        operands: &[ValueId],
        attrs: Vec<Option<Attr>>,
        ty: TypeId,
    ) -> ValueId {
        let body = self.body;
        self.at(body).value(op, operands, attrs, ty)
    }

    pub fn effect(&mut self, op: N, groups: &[&[ValueId]], attrs: Vec<Option<Attr>>) {
        let body = self.body;
        self.at(body).op(op, groups, attrs, &[], &[]);
    }

    pub fn constant(&mut self, ty: TypeId, value: i64) -> ValueId {
        let bytes = self
            .module
            .types
            .bits(ty)
            .expect("a sized type")
            .div_ceil(8) as usize;
        let data = Dense::Bytes(value.to_le_bytes()[..bytes].to_vec());
        self.value(N::Const, &[], vec![Some(Attr::Dense { data, ty })], ty)
    }

    /// Access attributes: space, vec, offsets, cache, order, scope.
    pub fn access(&mut self, space: u8, vec: i64, offsets: Vec<i64>) -> Vec<Option<Attr>> {
        vec![
            enumeration(space),
            self.i(vec),
            Some(Attr::I64s(offsets)),
            enumeration(0),
            enumeration(0),
            enumeration(1),
        ]
    }

    pub fn load(&mut self, addr: ValueId, ty: TypeId, vec: i64) -> ValueId {
        let n = i64::from(self.module.types.reg_count(ty));
        let bytes = i64::from(self.module.types.bits(ty).expect("a sized type").max(8)) / 8;
        let offsets = (0..n / vec).map(|j| j * vec * bytes).collect();
        let attrs = self.access(0, vec, offsets);
        let body = self.body;
        let mut at = self.at(body);
        let op = at.op(N::Ld, &[&[addr], &[], &[]], attrs, &[ty], &[]);
        self.module.op(op).results[0]
    }

    pub fn store(&mut self, addr: ValueId, value: ValueId) {
        let ty = self.module.ty(value);
        let n = i64::from(self.module.types.reg_count(ty));
        let bytes = i64::from(self.module.types.bits(ty).expect("a sized type").max(8)) / 8;
        let attrs = self.access(0, 1, (0..n).map(|j| j * bytes).collect());
        self.effect(N::St, &[&[addr], &[value], &[]], attrs);
    }

    pub fn tid(&mut self) -> ValueId {
        let i32 = self.int(32);
        self.value(N::Sreg, &[], vec![enumeration(0)], i32)
    }

    /// Wraps the body in a kernel.
    pub fn finish(&mut self) {
        let body = self.body;
        self.at(body).op(N::Return, &[&[]], [], &[], &[]);
        let name = self.module.intern("kernel");
        let region = self.module.block(body).region;
        let attrs = vec![
            Some(Attr::Str(name)),
            self.i(self.threads),
            self.i(1),
            None,
            None,
            self.i(self.shared),
        ];
        let top = self.module.body;
        self.at(top).op(N::Func, &[], attrs, &[], &[region]);
    }

    /// The PTX of the kernel, after the rules of `isel/`.
    pub fn compile(mut self, target: &str) -> Result<String, String> {
        self.finish();
        let target: Target = target.parse().expect("a target");
        let tables = isel::Tables::load(None).expect("the built-in tables");
        let rules = stage::Options {
            tables: Some(&tables),
            ..stage::Options::new(target)
        };
        let isel = files::load(Group::Isel, None, Examples::Dropped).expect("the built-in rules");
        stage::run(&mut self.module, Group::Isel, &isel, &rules)
            .map_err(|error| error.to_string())?;
        self.select(&tables, target)
    }

    /// The PTX of the finished kernel as it is.
    pub fn select(&self, tables: &isel::Tables, target: Target) -> Result<String, String> {
        isel::compile(&self.module, &target, tables, Debug::None, &[])
            .map(|(text, _)| text.text)
            .map_err(|errors| errors.to_string())
    }
}

/// Element types of the elementwise sweep.
pub fn element(k: &mut Kernel, name: &str) -> TypeId {
    match Float::NAMES.iter().find(|(_, n)| *n == name) {
        Some((f, _)) => k.module.types.float(*f),
        None => k.int(name[1..].parse().expect("i and a width")),
    }
}
