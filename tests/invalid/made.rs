//! Modules that the text form cannot say, made through the library. Where bytecode can say them, the
//! harness asks `tileirdisasm` too.

use tilec::asm;
use tilec::dialect::cuda_tile::Op;
use tilec::ir::{Attr, Dense, Module, Type};

use super::change::{last, set};

type Change = fn(&mut Module);

/// What it is, a body for the prelude, what is then changed, and the message.
const CASES: &[(&str, &str, Change, &str)] = &[
    (
        "made.rs: addi without its operand groups",
        "%r = addi %n, %n : tile<i32>",
        no_groups,
        "expected 2 operand groups over all operands, got 0",
    ),
    (
        "made.rs: addi without its attributes",
        "%r = addi %n, %n : tile<i32>",
        no_attributes,
        "expected 1 attributes, got 0",
    ),
    (
        "made.rs: a value used before its definition",
        "%r = addi %n, %n : tile<i32>",
        used_before,
        "operand #0 does not dominate this use",
    ),
    (
        "made.rs: two bytes of data",
        "",
        short_data,
        "value has 2 bytes, expected 4 or 128",
    ),
    (
        "made.rs: a negative stride",
        "%u = make_tensor_view %p, shape = [8], strides = [1] : tensor_view<8xf32, strides=[1]>",
        backwards,
        "dimensions must have strictly positive constant strides but got [-1]",
    ),
    (
        "made.rs: a negative extent of a tile",
        "%u = make_partition_view %tv : partition_view<tile=(8x4), tensor_view<?x32xf32, strides=[?,1]>>",
        no_tile,
        "tile shape dimensions must have positive length but got [-8, 4]",
    ),
    (
        "made.rs: a view of a tile",
        "%u = make_partition_view %tv : partition_view<tile=(8x4), tensor_view<?x32xf32, strides=[?,1]>>",
        of_a_tile,
        "expected 'tensor_view' type, but got '!cuda_tile.tile<i32>'",
    ),
];

/// Makes a module.
pub type Make = Box<dyn Fn() -> Module + Sync + Send>;

fn parsed(body: &str) -> Module {
    asm::parse(&super::module_text(body)).unwrap()
}

/// Every case: where it stands, the module, the message.
pub fn cases() -> Vec<(String, Make, String)> {
    let mut out = wrong_attributes();
    for (what, body, change, message) in CASES {
        let make = move || {
            let mut module = parsed(body);
            change(&mut module);
            module
        };
        let make: Make = Box::new(make);
        out.push(((*what).to_owned(), make, (*message).to_owned()));
    }
    out
}

/// Each attribute of each operation of the prelude and of [`OPERATIONS`], of a wrong kind.
fn wrong_attributes() -> Vec<(String, Make, String)> {
    let module = parsed(OPERATIONS);
    let mut out = Vec::new();
    for (at, id) in module.ops_under(module.body).into_iter().enumerate() {
        let row = module.op(id).def();
        for (i, def) in row.attrs.iter().enumerate() {
            let make = move || {
                let mut wrong = parsed(OPERATIONS);
                let id = wrong.ops_under(wrong.body)[at];
                // No operation has such an attribute.
                wrong.op_mut(id).attrs[i] = Some(Attr::Dict(Vec::new()));
                wrong
            };
            let (name, words) = (def.name, def.kind.words());
            let message = format!("attribute '{name}' failed to satisfy constraint: {words}");
            out.push((
                format!("{name} of {}", row.name),
                Box::new(make) as Make,
                message,
            ));
        }
    }
    out
}

/// Operations that have all kinds of attributes.
const OPERATIONS: &str = "
%r0 = addf %f, %f flush_to_zero : tile<8x4xf32>
%r1 = cat %f, %f dim = 0 : tile<8x4xf32>, tile<8x4xf32> -> tile<16x4xf32>
%r2 = permute %f [1, 0] : tile<8x4xf32> -> tile<4x8xf32>
%r3 = scan %f dim=0 reverse=false identities=[0.0 : f32] : tile<8x4xf32> -> tile<8x4xf32> (%a: tile<f32>, %e: tile<f32>) { yield %a : tile<f32> }
%r4 = assume div_by<4>, %n : tile<i32>
%r5, %r6 = load_view_tko weak %pv[%n, %n] : partition_view<tile=(8x4), tensor_view<?x32xf32, strides=[?,1]>>, tile<i32> -> tile<8x4xf32>, token
%r7 = get_global @none : tile<ptr<f32>>
assert %b, \"text\" : tile<i1>
";

fn no_groups(m: &mut Module) {
    let id = last(m, Op::AddI);
    m.op_mut(id).groups.clear();
}

fn no_attributes(m: &mut Module) {
    let id = last(m, Op::AddI);
    m.op_mut(id).attrs.clear();
}

fn used_before(m: &mut Module) {
    let id = last(m, Op::AddI);
    let own = m.op(id).results[0];
    m.op_mut(id).operands[0] = own;
}

fn short_data(m: &mut Module) {
    let id = constant(m);
    let Some(Attr::Dense { ty, .. }) = m.op(id).attr(0) else {
        unreachable!("a constant has data")
    };
    let (data, ty) = (Dense::Bytes(vec![0; 2]), *ty);
    set(m, id, "value", Attr::Dense { data, ty });
}

/// `%f`, of 8x4xf32.
fn constant(m: &Module) -> tilec::ir::OpId {
    super::change::all(m, Op::Constant)[1]
}

fn change_result(m: &mut Module, op: Op, to: Type) {
    let id = last(m, op);
    let value = m.op(id).results[0];
    let ty = m.types.intern(to);
    m.value_mut(value).ty = ty;
}

fn result_type(m: &Module, op: Op) -> Type {
    m.types.get(m.ty(m.op(last(m, op)).results[0])).clone()
}

fn backwards(m: &mut Module) {
    let mut ty = result_type(m, Op::MakeTensorView);
    if let Type::TensorView { strides, .. } = &mut ty {
        strides[0] = -1;
    }
    change_result(m, Op::MakeTensorView, ty);
}

fn no_tile(m: &mut Module) {
    let mut ty = result_type(m, Op::MakePartitionView);
    if let Type::PartitionView { tile, .. } = &mut ty {
        tile[0] = -8;
    }
    change_result(m, Op::MakePartitionView, ty);
}

fn of_a_tile(m: &mut Module) {
    let int = m.types.int(32);
    let scalar = m.types.tile(int, &[]);
    let mut ty = result_type(m, Op::MakePartitionView);
    if let Type::PartitionView { view, .. } = &mut ty {
        *view = scalar;
    }
    change_result(m, Op::MakePartitionView, ty);
}
