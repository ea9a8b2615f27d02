//! The engine on small functions: what is merged, where it is placed, what remains.

use tilec::dialect::{Dialect, OpKind, nvvm};
use tilec::egraph::{self, Context, Legal, Limits, TableCost};
use tilec::ir::{Attr, BlockId, Dense, EnumAttr, Module, OpId, TypeId, ValueId};
use tilec::rules::RuleSet;

/// A kernel under construction.
struct Kernel {
    module: Module,
    func: OpId,
    body: BlockId,
    i32: TypeId,
}

impl Kernel {
    fn new(params: usize) -> Kernel {
        let mut module = Module::new("test");
        let i32 = module.types.int(32);
        let region = module.new_region();
        let body = module.new_block(region, &vec![i32; params]);
        let name = Attr::Str(module.intern("kernel"));
        let int = |value| Some(Attr::Int { value, ty: i32 });
        let top = module.body;
        let attrs = [Some(name), int(128), int(1), None, None, int(0)];
        let func = module
            .at_end(top)
            .op(nvvm::Op::Func, &[], attrs, &[], &[region]);
        Kernel {
            module,
            func,
            body,
            i32,
        }
    }

    fn param(&self, i: usize) -> ValueId {
        self.module.block(self.body).args[i]
    }

    fn constant(&mut self, block: BlockId, value: i32) -> ValueId {
        let ty = self.i32;
        let data = Dense::Bytes(value.to_le_bytes().to_vec());
        self.module
            .at_end(block)
            .value(nvvm::Op::Const, &[], [Some(Attr::Dense { data, ty })], ty)
    }

    fn binary(&mut self, block: BlockId, op: nvvm::Op, a: ValueId, b: ValueId) -> ValueId {
        let ty = self.i32;
        self.module.at_end(block).value(op, &[a, b], [], ty)
    }

    fn less(&mut self, block: BlockId, a: ValueId, b: ValueId) -> ValueId {
        let i1 = self.module.types.int(1);
        let signed_less = [Some(Attr::Enum(EnumAttr(2))), Some(Attr::Enum(EnumAttr(1)))];
        self.module
            .at_end(block)
            .value(nvvm::Op::ICmp, &[a, b], signed_less, i1)
    }

    /// An `if` that prints a value of `op`; its block.
    fn branch(
        &mut self,
        block: BlockId,
        condition: ValueId,
        op: nvvm::Op,
        a: ValueId,
        b: ValueId,
    ) -> BlockId {
        let region = self.module.new_region();
        let inner = self.module.new_block(region, &[]);
        let value = self.binary(inner, op, a, b);
        self.keep(inner, value);
        self.close(inner);
        self.module
            .at_end(block)
            .op(nvvm::Op::If, &[&[condition]], [], &[], &[region]);
        inner
    }

    /// A loop from 0 to `end` whose body `fill` writes; its block.
    fn counted(
        &mut self,
        block: BlockId,
        end: ValueId,
        fill: impl FnOnce(&mut Kernel, BlockId, ValueId),
    ) -> BlockId {
        let (zero, one) = (self.constant(block, 0), self.constant(block, 1));
        let region = self.module.new_region();
        let inner = self.module.new_block(region, &[self.i32]);
        let index = self.module.block(inner).args[0];
        fill(self, inner, index);
        self.close(inner);
        let operands = [&[zero][..], &[end], &[one], &[]];
        self.module
            .at_end(block)
            .op(nvvm::Op::For, &operands, [], &[], &[region]);
        inner
    }

    /// Ends a block inside another.
    fn close(&mut self, block: BlockId) {
        self.module
            .at_end(block)
            .op(nvvm::Op::Yield, &[&[]], [], &[], &[]);
    }

    /// `print` is the effect that keeps a value alive.
    fn keep(&mut self, block: BlockId, value: ValueId) {
        let format = Attr::Str(self.module.intern("%d"));
        self.module
            .at_end(block)
            .op(nvvm::Op::Print, &[&[value]], [Some(format)], &[], &[]);
    }

    fn end(&mut self) {
        let body = self.body;
        self.module
            .at_end(body)
            .op(nvvm::Op::Return, &[&[]], [], &[], &[]);
    }

    fn run(&mut self, rules: &str) -> egraph::Report {
        let rules = RuleSet::parse(rules, "test.rules").unwrap_or_else(|e| panic!("{e}"));
        let context = Context {
            explain: true,
            ..Context::new("sm_80".parse().expect("a target"), Dialect::Nvvm)
        };
        let model = TableCost {
            rules: &rules,
            legal: Legal::All,
        };
        egraph::rewrite(
            &mut self.module,
            self.func,
            &rules,
            &context,
            &model,
            Limits::default(),
        )
        .unwrap_or_else(|e| panic!("{e}"))
    }

    /// Names of the operations of a block.
    fn names(&self, block: BlockId) -> Vec<&'static str> {
        self.module
            .block(block)
            .ops
            .iter()
            .map(|&o| self.module.op(o).def().name)
            .collect()
    }
}

fn kind(op: nvvm::Op) -> OpKind {
    op.into()
}

#[test]
fn a_rule_replaces_and_dead_code_goes() {
    let mut k = Kernel::new(1);
    let (body, x) = (k.body, k.param(0));
    let zero = k.constant(body, 0);
    let sum = k.binary(body, nvvm::Op::Add, zero, x);
    k.keep(body, sum);
    k.end();
    let report = k.run("(dialect nvvm) (rule add-zero (add ?x 0) => ?x)");
    assert_eq!(k.names(body), ["print", "return"]);
    assert_eq!(report.fired.len(), 1);
    assert_eq!(report.fired[0].rule, "add-zero");
    let print = k.module.block(body).ops[0];
    assert_eq!(k.module.op(print).operands.as_slice(), [x]);
}

#[test]
fn equal_expressions_are_computed_once_and_effects_stay() {
    let mut k = Kernel::new(2);
    let (body, x, y) = (k.body, k.param(0), k.param(1));
    let a = k.binary(body, nvvm::Op::Mul, x, y);
    k.keep(body, a);
    let b = k.binary(body, nvvm::Op::Mul, x, y);
    k.keep(body, b);
    k.end();
    k.run("");
    assert_eq!(k.names(body), ["mul", "print", "print", "return"]);
}

#[test]
fn constants_fold_by_bounds() {
    let mut k = Kernel::new(0);
    let body = k.body;
    let (a, b) = (k.constant(body, 6), k.constant(body, 7));
    let matmul = k.binary(body, nvvm::Op::Mul, a, b);
    k.keep(body, matmul);
    k.end();
    k.run("");
    assert_eq!(k.names(body), ["const", "print", "return"]);
    let constant = k.module.block(body).ops[0];
    let Some(Attr::Dense {
        data: Dense::Bytes(bytes),
        ..
    }) = k.module.op(constant).attr(0)
    else {
        panic!("a constant");
    };
    assert_eq!(bytes, &42i32.to_le_bytes());
}

/// A loop from 0 to x whose body prints x*y and i*y.
fn looped() -> (Kernel, BlockId) {
    let mut k = Kernel::new(2);
    let (body, x, y) = (k.body, k.param(0), k.param(1));
    let inner = k.counted(body, x, |k, inner, i| {
        let fixed = k.binary(inner, nvvm::Op::Mul, x, y);
        k.keep(inner, fixed);
        let moving = k.binary(inner, nvvm::Op::Mul, i, y);
        k.keep(inner, moving);
    });
    k.end();
    (k, inner)
}

#[test]
fn what_does_not_change_leaves_the_loop() {
    let (mut k, inner) = looped();
    k.run("");
    assert_eq!(k.names(k.body), ["const", "const", "mul", "for", "return"]);
    assert_eq!(k.names(inner), ["print", "mul", "print", "yield"]);
    let uses = |op: OpId| k.module.op(op).operands.clone();
    let first = k.module.block(inner).ops[0];
    assert_eq!(
        k.module.def_op(uses(first)[0]).map(|o| k.module.op(o).kind),
        Some(kind(nvvm::Op::Mul))
    );
}

#[test]
fn cheap_operations_stay_where_they_are_used() {
    let (mut k, inner) = looped();
    k.run("(costs (nvvm.mul 1 cheap))");
    assert_eq!(k.names(k.body), ["const", "const", "for", "return"]);
    assert_eq!(k.names(inner), ["mul", "print", "mul", "print", "yield"]);
}

#[test]
fn branches_do_not_run_early() {
    let mut k = Kernel::new(2);
    let (body, x, y) = (k.body, k.param(0), k.param(1));
    let less = k.less(body, x, y);
    let inner = k.branch(body, less, nvvm::Op::DivS, x, y);
    k.end();
    k.run("");
    assert_eq!(k.names(body), ["icmp", "if", "return"]);
    assert_eq!(k.names(inner), ["div.s", "print", "yield"]);
}

#[test]
fn what_a_branch_and_something_behind_it_need_is_computed_before_the_branch() {
    let mut k = Kernel::new(2);
    let (body, x, y) = (k.body, k.param(0), k.param(1));
    let less = k.less(body, x, y);
    let first = k.branch(body, less, nvvm::Op::DivS, x, y);
    let other = k.branch(body, less, nvvm::Op::RemS, x, y);
    let second = k.branch(body, less, nvvm::Op::DivS, x, y);
    k.end();
    k.run("");
    let before = ["icmp", "div.s", "if", "if", "if", "return"];
    assert_eq!(k.names(body), before);
    assert_eq!(k.names(first), ["print", "yield"]);
    assert_eq!(k.names(other), ["rem.s", "print", "yield"]);
    assert_eq!(k.names(second), ["print", "yield"]);
}

#[test]
fn what_a_loop_needs_is_shared_with_the_branches_before_it() {
    let mut k = Kernel::new(2);
    let (body, x, y) = (k.body, k.param(0), k.param(1));
    let less = k.less(body, x, y);
    let first = k.branch(body, less, nvvm::Op::DivS, x, y);
    let inner = k.counted(body, x, |k, inner, _| {
        let value = k.binary(inner, nvvm::Op::DivS, x, y);
        k.keep(inner, value);
    });
    k.end();
    k.run("");
    let before = ["icmp", "div.s", "if", "const", "const", "for", "return"];
    assert_eq!(k.names(body), before);
    assert_eq!(k.names(first), ["print", "yield"]);
    assert_eq!(k.names(inner), ["print", "yield"]);
}

/// The other of the two branches, without masks mostly, would compute it for nothing.
#[test]
fn what_one_of_two_branches_needs_stays_there() {
    let mut k = Kernel::new(2);
    let (body, x, y) = (k.body, k.param(0), k.param(1));
    let less = k.less(body, x, y);
    let halves = [less, less].map(|condition| {
        let regions = [(); 2].map(|()| k.module.new_region());
        let blocks = regions.map(|r| k.module.new_block(r, &[]));
        k.keep(blocks[0], x);
        let quotient = k.binary(blocks[1], nvvm::Op::DivS, x, y);
        k.keep(blocks[1], quotient);
        blocks.into_iter().for_each(|b| k.close(b));
        k.module
            .at_end(body)
            .op(nvvm::Op::If, &[&[condition]], [], &[], &regions);
        blocks[1]
    });
    k.end();
    k.run("");
    for half in halves {
        assert_eq!(k.names(half), ["div.s", "print", "yield"]);
    }
}

/// It would be kept in a register while the loop runs.
#[test]
fn what_is_needed_before_a_loop_and_behind_it_is_computed_twice() {
    let mut k = Kernel::new(2);
    let (body, x, y) = (k.body, k.param(0), k.param(1));
    let less = k.less(body, x, y);
    let first = k.branch(body, less, nvvm::Op::DivS, x, y);
    k.counted(body, x, |k, inner, i| k.keep(inner, i));
    let second = k.branch(body, less, nvvm::Op::DivS, x, y);
    k.end();
    k.run("");
    assert_eq!(k.names(first), ["div.s", "print", "yield"]);
    assert_eq!(k.names(second), ["div.s", "print", "yield"]);
}

#[test]
fn the_cheaper_form_is_chosen_and_guards_are_asked() {
    let rules = "(dialect nvvm)
        (costs (div.u 200) (shr.u 10) (const 0 cheap))
        (rule by-power (div.u ?x ?c:const) => (shr.u ?x (const (log2 ?c))) (where (is-pow2 ?c)))";
    for (divisor, expected) in [(8, "shr.u"), (6, "div.u")] {
        let mut k = Kernel::new(1);
        let (body, x) = (k.body, k.param(0));
        let c = k.constant(body, divisor);
        let quotient = k.binary(body, nvvm::Op::DivU, x, c);
        k.keep(body, quotient);
        k.end();
        k.run(rules);
        assert_eq!(k.names(body), ["const", expected, "print", "return"]);
    }
}

#[test]
fn a_choice_says_what_a_value_is_that_no_operation_of_the_graph_computes() {
    let mut k = Kernel::new(2);
    let (body, x) = (k.body, k.param(1));
    let zero = k.constant(body, 0);
    let sum = k.binary(body, nvvm::Op::Add, zero, x);
    k.keep(body, sum);
    k.end();
    let report =
        k.run("(dialect nvvm) (costs (add 20) (const 0 cheap)) (rule add-zero (add ?x 0) => ?x)");
    let [choice] = &*report.choices else {
        panic!("{:?}", report.choices);
    };
    assert_eq!(choice.chosen, "argument 1 of nvvm.func");
    assert_eq!(choice.others, [("nvvm.add".to_owned(), 20)]);
}

#[test]
fn an_effect_is_rewritten_in_its_place() {
    let mut k = Kernel::new(1);
    let (body, x, i32) = (k.body, k.param(0), k.i32);
    let ptr = k.module.types.intern(tilec::ir::Type::Ptr {
        pointee: i32,
        attr: 0,
    });
    let i64 = k.module.types.int(64);
    let base = k.module.add_arg(body, ptr);
    let data = Dense::Bytes(16i64.to_le_bytes().to_vec());
    let sixteen = k.module.at_end(body).value(
        nvvm::Op::Const,
        &[],
        [Some(Attr::Dense { data, ty: i64 })],
        i64,
    );
    let address = k
        .module
        .at_end(body)
        .value(nvvm::Op::PtrAdd, &[base, sixteen], [], ptr);
    let access = |offset| {
        let case = |c| Some(Attr::Enum(EnumAttr(c)));
        let vec = Some(Attr::Int { value: 1, ty: i32 });
        [
            case(0),
            vec,
            Some(Attr::I64s(vec![offset])),
            case(0),
            case(0),
            case(0),
        ]
    };
    k.module
        .at_end(body)
        .op(nvvm::Op::St, &[&[address], &[x], &[]], access(4), &[], &[]);
    k.end();
    k.run(
        "(dialect nvvm)
        (rule fold (st ?s ?v ?offsets ?c ?o ?p (ptr_add ?base ?n:const) ?x ?m)
            => (st ?s ?v (add-each ?offsets ?n) ?c ?o ?p ?base ?x ?m)
            (cost -1)
            (where (each-fits ?offsets -1000 1000) (fits-signed ?n 32)))",
    );
    assert_eq!(k.names(body), ["st", "return"]);
    let store = k.module.block(body).ops[0];
    assert_eq!(
        k.module.op(store).attr_named("offsets"),
        Some(&Attr::I64s(vec![20]))
    );
}

#[test]
fn mistakes_in_rules_name_the_place() {
    let cases = [
        ("(dialect nvvm)\n(rule r (add ?x) => ?x)", "test.rules:2:9"),
        (
            "(dialect nvvm) (rule r (add ?x 0) => ?y)",
            "test.rules:1:38",
        ),
        ("(dialect nvvm) (rule r (nothing ?x) => ?x)", "nothing"),
        ("(dialect nvvm) (rule r (add ?x 0) => ?x", "never closed"),
        ("(rule r (add ?x 0) => ?x)", "dialect"),
        (
            "(dialect nvvm) (rule r (add ?x ?c:const) => ?x (where (is-odd ?c)))",
            "no such guard",
        ),
    ];
    for (text, expected) in cases {
        let error = RuleSet::parse(text, "test.rules")
            .expect_err(text)
            .to_string();
        assert!(error.contains(expected), "{error}");
    }
}
