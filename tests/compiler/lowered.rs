//! The verifiers of the lower stages: each rule with a module that keeps it but for one thing.

use crate::change;
use crate::nvvm;
use change::{all, last, lowered, set, set_int};
use nvvm::{Kernel, element, enumeration};
use tilec::compile::Stage;
use tilec::dialect::OpKind;
use tilec::dialect::cuda_tile::Op as C;
use tilec::dialect::nv_tileaa::Op as A;
use tilec::dialect::nv_tileas::Op as S;
use tilec::dialect::nvvm::Op as N;
use tilec::ir::{Attr, Dense, Module, OpId, Type, TypeId, ValueId};
use tilec::verify::verify;

const MATMUL: &str = "matmul/f16_128x128x64.tilebc";

// ---- nv_tileaa -----------------------------------------------------------------------------

fn tileaa(operation: A, why: &str, change: impl FnOnce(&mut Module)) {
    let m = lowered(MATMUL, "sm_80", Stage::NvTileaa);
    change::rejects(verify, m, operation, why, change);
}

#[test]
fn the_lists_of_a_tiled_access_fit_its_dimensions() {
    let load = |m: &Module| last(m, A::TiledLoad);
    let lists = [
        (
            "dim_map",
            vec![0],
            "1 'dim_map' entries for 2 tile dimensions",
        ),
        (
            "dim_map",
            vec![1, 1],
            "two tile dimensions walk tensor dimension 1",
        ),
        (
            "dim_map",
            vec![0, 2],
            "'dim_map' names tensor dimension 2 of 2",
        ),
        (
            "traversal",
            vec![1; 3],
            "3 'traversal' entries for 2 tile dimensions",
        ),
    ];
    for (name, list, why) in lists {
        tileaa(A::TiledLoad, why, |m| {
            set(m, load(m), name, Attr::I32s(list))
        });
    }
    tileaa(A::TiledLoad, "1 'inbounds' entries for 2 tile", |m| {
        set(m, load(m), "inbounds", Attr::Bools(vec![true]));
    });
    tileaa(A::TiledLoad, "'sparse' names no tile dimension", |m| {
        set_int(m, load(m), "sparse", 2);
    });
}

#[test]
fn a_tiled_access_moves_what_its_base_points_to() {
    tileaa(A::TiledLoad, "the base is no pointer but", |m| {
        let load = last(m, A::TiledLoad);
        m.op_mut(load).operands[0] = m.op(load).operands[1];
    });
    tileaa(A::TiledStore, "is accessed through", |m| {
        let (load, store) = (last(m, A::TiledLoad), last(m, A::TiledStore));
        let pointee = m.types.int(32);
        let ty = m.types.intern(Type::Ptr { pointee, attr: 0 });
        let other = m.op(load).operands[0];
        assert_ne!(other, m.op(store).operands[0]);
        let base = m.op(store).operands[0];
        let func = last(m, A::Func);
        let body = m.body_of(func, 0).unwrap();
        let stranger = m.add_arg(body, ty);
        m.op_mut(store).operands[0] = stranger;
        assert_ne!(base, stranger);
    });
}

#[test]
fn kernels_return_nothing() {
    // The reference's words (notes, 002).
    let why = "Kernel functions do not support return with operands";
    tileaa(A::Return, why, |m| {
        let func = last(m, A::Func);
        let arg = m.block(m.body_of(func, 0).unwrap()).args[0];
        let op = last(m, A::Return);
        m.op_mut(op).operands.push(arg);
        m.op_mut(op).groups[0] = 1;
    });
}

#[test]
fn pointers_masks_and_values_have_one_shape() {
    let m = || lowered("ops_pointer/masked-13.1.tilebc", "sm_80", Stage::NvTileaa);
    let masked = |m: &Module| {
        let masked = |&&o: &&OpId| !m.op(o).group(1).is_empty();
        *all(m, A::Load).iter().find(masked).expect("a masked load")
    };
    change::rejects(verify, m(), A::Load, "the mask is", |m| {
        let load = masked(m);
        let stranger = m.op(load).operands[0];
        let at = m.op(load).groups[0] as usize;
        m.op_mut(load).operands[at] = stranger;
    });
}

// ---- nv_tileas -----------------------------------------------------------------------------

fn tileas(target: &str, operation: impl Into<OpKind>, why: &str, change: impl FnOnce(&mut Module)) {
    let m = lowered(MATMUL, target, Stage::NvTileas);
    change::rejects(verify, m, operation, why, change);
}

/// The value's type with another layout.
fn relayout(m: &mut Module, value: ValueId, to: ValueId) {
    let (Type::Distributed { layout, .. }, Type::Distributed { elem, shape, .. }) = (
        m.types.get(m.ty(to)).clone(),
        m.types.get(m.ty(value)).clone(),
    ) else {
        panic!("no layouts")
    };
    let ty = Type::Distributed {
        elem,
        shape,
        layout,
    };
    m.value_mut(value).ty = m.types.intern(ty);
}

#[test]
fn elementwise_operands_have_one_layout() {
    tileas("sm_80", C::FToF, "different layouts", |m| {
        let (convert, dot) = (last(m, C::FToF), last(m, S::TiledStore));
        let stored = m.op(dot).group(4)[0];
        let result = m.op(convert).results[0];
        relayout(m, result, stored);
    });
}

#[test]
fn layouts_are_of_the_shape_and_of_the_kernels_warps() {
    tileas("sm_80", S::LocalLoad, "is one of another shape", |m| {
        let load = last(m, S::LocalLoad);
        let (value, stranger) = (m.op(load).results[0], m.op(last(m, S::Dot)).results[0]);
        relayout(m, value, stranger);
    });
    tileas("sm_80", S::LocalLoad, "warps, the kernel has 1", |m| {
        let func = last(m, S::Func);
        set_int(m, func, "num_warps", 1);
    });
}

#[test]
fn buffers_that_share_bytes_begin_where_swizzles_do() {
    let file = "production_attention/gated_chunks_bf16.tilebc";
    for (byte, why) in [
        (-1024, "is -1024, no multiple"),
        (512, "is 512, no multiple of 1024"),
    ] {
        let m = lowered(file, "sm_90a", Stage::NvTileas);
        change::rejects(verify, m, S::AllocTensor, why, |m| {
            let alloc = last(m, S::AllocTensor);
            set_int(m, alloc, "byte", byte);
        });
    }
    let m = lowered(MATMUL, "sm_90a", Stage::NvTileas);
    let why = "a ring shares bytes with other buffers";
    change::rejects(verify, m, S::AllocTensor, why, |m| {
        let ring = all(m, S::AllocTensor)[0];
        set_int(m, ring, "byte", 0);
    });
}

#[test]
fn what_goes_through_shared_memory_is_the_buffers_tile() {
    tileas("sm_80", S::LocalLoad, "are not the same tile", |m| {
        let loaded = m.op(last(m, S::LocalLoad)).results[0];
        let Type::Distributed { shape, layout, .. } = m.types.get(m.ty(loaded)).clone() else {
            panic!("no layout")
        };
        let elem = m.types.int(16);
        m.value_mut(loaded).ty = m.types.intern(Type::Distributed {
            elem,
            shape,
            layout,
        });
    });
}

#[test]
fn factors_fit_their_matmul() {
    tileas("sm_80", S::Dot, "is not", |m| {
        let dot = last(m, S::Dot);
        let lhs = m.op(dot).operands[0];
        let rhs = m.op(dot).operands[1];
        m.op_mut(dot).operands[1] = lhs;
        m.op_mut(dot).operands[0] = rhs;
    });
}

// ---- nvvm ----------------------------------------------------------------------------------

/// A kernel with values of the usual types.
struct Values {
    i32: ValueId,
    i64: ValueId,
    i1: ValueId,
    f32: ValueId,
    ptr: ValueId,
    shared: ValueId,
    map: ValueId,
    /// Four i32.
    four: ValueId,
    /// Four f16.
    halves: ValueId,
}

fn values(k: &mut Kernel) -> Values {
    let ptr = k.ptr();
    let map = k.module.types.intern(Type::TensorMap);
    let (ptr, map) = (k.param(ptr), k.param(map));
    let shared = k.module.types.intern(Type::SharedPtr);
    let offset = vec![k.i(0)];
    let shared = k.value(N::SmemBase, &[], offset, shared);
    let mut of = |name: &str, n: u32| {
        let elem = element(k, name);
        let ty = k.module.types.regs(elem, n);
        k.value(N::Undef, &[], vec![], ty)
    };
    Values {
        i32: of("i32", 1),
        i64: of("i64", 1),
        i1: of("i1", 1),
        f32: of("f32", 1),
        four: of("i32", 4),
        halves: of("f16", 4),
        ptr,
        shared,
        map,
    }
}

/// Builds one operation on the usual values: rejected on `operation`, with `why`.
#[track_caller]
fn bad(operation: N, why: &str, build: impl FnOnce(&mut Kernel, &Values)) {
    let mut k = Kernel::new();
    let v = values(&mut k);
    build(&mut k, &v);
    k.finish();
    let errors = verify(&k.module).expect_err(why);
    let error = &errors.0[0];
    let name = OpKind::from(operation).to_string();
    assert_eq!(error.operation.as_deref(), Some(name.as_str()), "{error}");
    assert!(error.message.contains(why), "{error}\nexpected: {why}");
}

fn regs(k: &mut Kernel, name: &str, n: u32) -> TypeId {
    let elem = element(k, name);
    k.module.types.regs(elem, n)
}

#[test]
fn registers_count_up() {
    bad(N::Add, "values of 4 and of 1 registers", |k, v| {
        let ty = regs(k, "i32", 4);
        k.value(N::Add, &[v.four, v.i32], vec![], ty);
    });
    bad(N::Splat, "not a scalar", |k, v| {
        let ty = regs(k, "i32", 8);
        k.value(N::Splat, &[v.four], vec![], ty);
    });
    bad(N::Splat, "elements of i32 become", |k, v| {
        let ty = regs(k, "f32", 8);
        k.value(N::Splat, &[v.i32], vec![], ty);
    });
    bad(N::Take, "2 indices for", |k, v| {
        let ty = regs(k, "i32", 4);
        k.value(N::Take, &[v.four], vec![Some(Attr::I32s(vec![0, 1]))], ty);
    });
    for index in [4, -1] {
        bad(N::Take, &format!("index {index} into"), |k, v| {
            let ty = regs(k, "i32", 2);
            let indices = Some(Attr::I32s(vec![0, index]));
            k.value(N::Take, &[v.four], vec![indices], ty);
        });
    }
    bad(N::Concat, "5 registers become", |k, v| {
        let ty = regs(k, "i32", 4);
        let body = k.body;
        k.at(body)
            .op(N::Concat, &[&[v.four, v.i32]], [], &[ty], &[]);
    });
    bad(N::Bitcast, "different sizes", |k, v| {
        let ty = regs(k, "f16", 4);
        k.value(N::Bitcast, &[v.four], vec![], ty);
    });
    bad(N::Const, "2 bytes of value", |k, _| {
        let ty = k.int(32);
        let data = Dense::Bytes(vec![0; 2]);
        k.value(N::Const, &[], vec![Some(Attr::Dense { data, ty })], ty);
    });
}

#[test]
fn elements_are_what_the_operation_takes() {
    bad(N::Add, "'lhs' must be integers, but is f32", |k, v| {
        let ty = k.module.ty(v.f32);
        k.value(N::Add, &[v.f32, v.f32], vec![], ty);
    });
    bad(N::FAdd, "'lhs' must be floats, but is i32", |k, v| {
        let ty = k.int(32);
        let rounding = vec![enumeration(0), None];
        k.value(N::FAdd, &[v.i32, v.i32], rounding, ty);
    });
    bad(N::Trunc, "i32 becomes i64", |k, v| {
        let ty = k.int(64);
        k.value(N::Trunc, &[v.i32], vec![], ty);
    });
    bad(N::ZExt, "i64 becomes i32", |k, v| {
        let ty = k.int(32);
        k.value(N::ZExt, &[v.i64], vec![], ty);
    });
    bad(N::MulWideU, "i64 becomes i64", |k, v| {
        let ty = k.int(64);
        k.value(N::MulWideU, &[v.i64, v.i64], vec![], ty);
    });
    bad(N::Select, "'condition' must be i1", |k, v| {
        let ty = k.int(32);
        k.value(N::Select, &[v.i32, v.i32, v.i32], vec![], ty);
    });
    bad(N::PtrAdd, "i32 is added to", |k, v| {
        let ty = k.module.ty(v.ptr);
        k.value(N::PtrAdd, &[v.ptr, v.i32], vec![], ty);
    });
    bad(N::Lop3, "the table 256", |k, v| {
        let (ty, table) = (k.int(32), k.i(256));
        k.value(N::Lop3, &[v.i32, v.i32, v.i32], vec![table], ty);
    });
}

#[test]
fn accesses_move_what_they_say() {
    let load = |k: &mut Kernel, groups: &[&[ValueId]], space, vec, offsets: Vec<i64>| {
        let (attrs, ty) = (k.access(space, vec, offsets), regs(k, "i32", 4));
        let body = k.body;
        k.at(body).op(N::Ld, groups, attrs, &[ty], &[]);
    };
    bad(N::Ld, "1 accesses of 2 elements", |k, v| {
        load(k, &[&[v.ptr], &[], &[]], 0, 2, vec![0]);
    });
    bad(N::Ld, "0 elements", |k, v| {
        load(k, &[&[v.ptr], &[], &[]], 0, 0, vec![0]);
    });
    bad(
        N::Ld,
        "32 bytes are more than one access can move",
        |k, v| {
            let (attrs, ty) = (k.access(0, 4, vec![0]), regs(k, "i64", 4));
            let body = k.body;
            k.at(body)
                .op(N::Ld, &[&[v.ptr], &[], &[]], attrs, &[ty], &[]);
        },
    );
    bad(N::Ld, "the space is not that of", |k, v| {
        load(k, &[&[v.shared], &[], &[]], 0, 4, vec![0]);
    });
    bad(N::Ld, "4 masks for 2 accesses", |k, v| {
        let ty = regs(k, "i1", 4);
        let mask = k.value(N::Undef, &[], vec![], ty);
        load(k, &[&[v.ptr], &[mask], &[]], 0, 2, vec![0, 8]);
    });
    bad(N::Ld, "'other' and the result differ", |k, v| {
        load(k, &[&[v.ptr], &[v.i1], &[v.i32]], 0, 4, vec![0]);
    });
    bad(N::St, "'addr' must be addresses", |k, v| {
        let attrs = k.access(0, 4, vec![0]);
        k.effect(N::St, &[&[v.i64], &[v.four], &[]], attrs);
    });
    bad(N::LdMatrix, "1 accesses of 2 matrices", |k, v| {
        let attrs = [k.i(2), None, Some(Attr::I64s(vec![0]))];
        let ty = regs(k, "f16", 8);
        let body = k.body;
        k.at(body)
            .op(N::LdMatrix, &[&[v.shared]], attrs, &[ty], &[]);
    });
    bad(N::StMatrix, "1 accesses of 3 matrices", |k, v| {
        let attrs = vec![k.i(3), None, Some(Attr::I64s(vec![0]))];
        k.effect(N::StMatrix, &[&[v.shared], &[v.halves]], attrs);
    });
    bad(N::CpAsync, "copies of 2 bytes", |k, v| {
        let one = Some(Attr::I64s(vec![0]));
        let attrs = vec![k.i(2), one.clone(), one];
        k.effect(N::CpAsync, &[&[v.shared], &[v.ptr], &[], &[]], attrs);
    });
    bad(N::CpAsync, "2 sources for 1 destinations", |k, v| {
        let offsets = |n| Some(Attr::I64s(vec![0; n]));
        let attrs = vec![k.i(16), offsets(1), offsets(2)];
        k.effect(N::CpAsync, &[&[v.shared], &[v.ptr], &[], &[]], attrs);
    });
    bad(N::AtomicRmw, "2 accesses for", |k, v| {
        let attrs = [
            enumeration(0),
            Some(Attr::I64s(vec![0, 4])),
            enumeration(1),
            enumeration(1),
            enumeration(0),
        ];
        let ty = k.int(32);
        let body = k.body;
        k.at(body).op(
            N::AtomicRmw,
            &[&[v.ptr], &[v.i32], &[], &[]],
            attrs,
            &[ty],
            &[],
        );
    });
}

#[test]
fn threads_barriers_and_copies() {
    bad(N::Bar, "barrier 16 of 16", |k, _| {
        let attrs = vec![k.i(16), k.i(128)];
        k.effect(N::Bar, &[], attrs);
    });
    bad(N::BarArrive, "100 threads are no whole warps", |k, _| {
        let attrs = vec![k.i(1), k.i(100)];
        k.effect(N::BarArrive, &[], attrs);
    });
    bad(N::SetMaxNReg, "100 registers", |k, _| {
        let attrs = vec![k.i(100), Some(Attr::Bool(true))];
        k.effect(N::SetMaxNReg, &[], attrs);
    });
    bad(N::MbarInit, "no arrivals", |k, v| {
        let count = vec![k.i(0)];
        k.effect(N::MbarInit, &[&[v.shared]], count);
    });
    bad(N::MbarWait, "'addr' must be shared addresses", |k, v| {
        k.effect(N::MbarWait, &[&[v.ptr], &[v.i32]], vec![]);
    });
    bad(N::TmaLoad, "6 coordinates", |k, v| {
        let coords = [v.i32; 6];
        k.effect(
            N::TmaLoad,
            &[&[v.shared], &[v.map], &coords, &[v.shared]],
            vec![],
        );
    });
    bad(N::TmaStore, "'map' must be a tensor map", |k, v| {
        k.effect(N::TmaStore, &[&[v.shared], &[v.i32], &[v.shared]], vec![]);
    });
}

#[test]
fn fragments_add_up() {
    let types = |k: &mut Kernel| {
        let f16 = element(k, "f16");
        [Some(Attr::Type(f16)), Some(Attr::Type(f16))]
    };
    bad(
        N::MmaSync,
        "'a' has 128 elements in a warp, the tiles 256",
        |k, v| {
            let [a_type, b_type] = types(k);
            let attrs = vec![
                Some(Attr::I32s(vec![16, 8, 16])),
                Some(Attr::I32s(vec![1, 1, 1])),
                a_type,
                b_type,
                Some(Attr::Bool(true)),
                Some(Attr::Bool(true)),
            ];
            let ty = regs(k, "f32", 4);
            let acc = k.value(N::Undef, &[], vec![], ty);
            k.value(N::MmaSync, &[v.halves, v.halves, acc], attrs, ty);
        },
    );
    let wgmma = |k: &mut Kernel, v: &Values, n: i64, acc: u32, steps: Vec<i64>| {
        let [a_type, b_type] = types(k);
        let attrs = [
            k.i(n),
            k.i(16),
            k.i(1),
            k.i(2),
            k.i(0),
            Some(Attr::I64s(steps.clone())),
            Some(Attr::I64s(steps)),
            a_type,
            b_type,
            Some(Attr::Bool(false)),
            Some(Attr::Bool(false)),
            Some(Attr::Bool(true)),
            Some(Attr::Bool(true)),
        ];
        let ty = regs(k, "f32", acc);
        let acc = k.value(N::Undef, &[], vec![], ty);
        let body = k.body;
        k.at(body).op(
            N::Wgmma,
            &[&[v.i64], &[v.i64], &[acc], &[]],
            attrs,
            &[ty],
            &[],
        );
    };
    bad(N::Wgmma, "n is 12", |k, v| wgmma(k, v, 12, 4, vec![0, 2]));
    bad(N::Wgmma, "for an accumulator of 4", |k, v| {
        wgmma(k, v, 8, 8, vec![0, 2])
    });
    bad(N::Wgmma, "descriptor steps for 1 and 1 of 2", |k, v| {
        wgmma(k, v, 8, 4, vec![0])
    });
}

#[test]
fn control_flow_carries_what_it_says() {
    /// A body with arguments of `types`, ended by `end` of `operands`.
    fn region(
        k: &mut Kernel,
        types: &[TypeId],
        end: N,
        operands: &[ValueId],
    ) -> tilec::ir::RegionId {
        let region = k.module.new_region();
        let block = k.module.new_block(region, types);
        k.at(block).op(end, &[operands], [], &[], &[]);
        region
    }
    let i32 = |k: &mut Kernel| k.int(32);
    bad(N::For, "bounds and step differ", |k, v| {
        let ty = i32(k);
        let body = region(k, &[ty], N::Yield, &[]);
        let at = k.body;
        k.at(at).op(
            N::For,
            &[&[v.i32], &[v.i64], &[v.i32], &[]],
            [],
            &[],
            &[body],
        );
    });
    bad(
        N::For,
        "initial values (i32) are not the results ()",
        |k, v| {
            let ty = i32(k);
            let body = region(k, &[ty, ty], N::Yield, &[v.i32]);
            let at = k.body;
            k.at(at).op(
                N::For,
                &[&[v.i32], &[v.i32], &[v.i32], &[v.i32]],
                [],
                &[],
                &[body],
            );
        },
    );
    bad(N::Yield, "operands () are not the results (i32)", |k, v| {
        let ty = i32(k);
        let body = region(k, &[ty, ty], N::Yield, &[]);
        let at = k.body;
        k.at(at).op(
            N::For,
            &[&[v.i32], &[v.i32], &[v.i32], &[v.i32]],
            [],
            &[ty],
            &[body],
        );
    });
    bad(N::If, "results, but only one way", |k, v| {
        let ty = i32(k);
        let then = region(k, &[], N::Yield, &[v.i32]);
        let nothing = k.module.new_region();
        let at = k.body;
        k.at(at).op(N::If, &[&[v.i1]], [], &[ty], &[then, nothing]);
    });
    bad(N::Break, "are not the loop's results", |k, v| {
        let ty = i32(k);
        let body = region(k, &[ty], N::Break, &[v.i64]);
        let at = k.body;
        k.at(at).op(N::Loop, &[&[v.i32]], [], &[ty], &[body]);
    });
    bad(N::Continue, "are not carried values", |k, v| {
        let ty = i32(k);
        let body = region(k, &[ty], N::Continue, &[]);
        let at = k.body;
        k.at(at).op(N::Loop, &[&[v.i32]], [], &[], &[body]);
    });
    bad(N::Break, "stands in no loop", |k, v| {
        let then = region(k, &[], N::Break, &[]);
        let nothing = k.module.new_region();
        let at = k.body;
        k.at(at).op(N::If, &[&[v.i1]], [], &[], &[then, nothing]);
    });
}

#[test]
fn kernels_have_whole_warps() {
    bad(
        N::Func,
        "100 threads are not 1 to 32 whole warps",
        |k, _| {
            k.threads = 100;
        },
    );
    bad(N::Func, "a parameter of type", |k, _| {
        let ty = regs(k, "i32", 2);
        k.param(ty);
    });
}

// ---- tensor memory -------------------------------------------------------------------------

#[test]
fn tensor_memory_is_allocated_in_powers_of_two() {
    let nvvm = |kind: N, why: &str, change: fn(&mut Module, OpId)| {
        let m = lowered(MATMUL, "sm_100a", Stage::Nvvm);
        change::rejects(verify, m, kind, why, |m| {
            let op = last(m, kind);
            change(m, op);
        });
    };
    nvvm(N::TensorAlloc, "48 columns", |m, op| {
        set_int(m, op, "columns", 48)
    });
    nvvm(N::TensorDealloc, "16 columns", |m, op| {
        set_int(m, op, "columns", 16)
    });
    nvvm(N::TensorLd, "the instructions move 64", |m, op| {
        set_int(m, op, "count", 16)
    });
    nvvm(
        N::TensorMma,
        "3 of 'a_k_steps' and 4 of 'b_k_steps'",
        |m, op| {
            set(m, op, "a_k_steps", Attr::I64s(vec![0, 2, 4]));
        },
    );
}

#[test]
fn buffers_in_tensor_memory_have_a_place_there() {
    let m = || lowered(MATMUL, "sm_100a", Stage::NvTileas);
    let small = |m: &mut Module| {
        let alloc = last(m, S::AllocTensorMemory);
        let value = m.op(alloc).results[0];
        let Type::TensorTile { elem, .. } = *m.types.get(m.ty(value)) else {
            panic!("no buffer in tensor memory");
        };
        let ty = m.types.intern(Type::TensorTile {
            elem,
            shape: [32, 128].into_iter().collect(),
            lanes: 128,
            cell: 32,
            stages: 1,
        });
        m.value_mut(value).ty = ty;
    };
    change::rejects(
        verify,
        m(),
        S::AllocTensorMemory,
        "has no place in tensor memory",
        small,
    );
    change::rejects(
        verify,
        m(),
        S::TensorLoad,
        "is no buffer in tensor memory",
        |m| {
            let load = last(m, S::TensorLoad);
            let ring = all(m, S::AllocTensor)[0];
            m.op_mut(load).operands[0] = m.op(ring).results[0];
        },
    );
}
