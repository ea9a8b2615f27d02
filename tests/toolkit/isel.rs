//! Instruction selection over hand-built nvvm kernels: `ptxas` accepts the result for every
//! target that has the instructions, and what a target lacks is an error that names it.

use crate::nvvm;
use crate::toolkit;
use std::process::Command;

use nvvm::{Kernel, element, enumeration};

use tilec::dialect::nvvm::Op as N;
use tilec::ir::{Attr, Float, Type, ValueId};

const TARGETS: &[&str] = &[
    "sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a",
];

/// What `ptxas` says of a PTX text; `Ok` holds its resource report.
fn assemble(ptx: &str, target: &str, name: &str) -> Result<String, String> {
    let dir = std::env::temp_dir().join(format!("tilec-isel-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a scratch directory");
    let input = dir.join(format!("{name}.{target}.ptx"));
    std::fs::write(&input, ptx).expect("a scratch file");
    let output = Command::new(toolkit::ptxas())
        .args(["-v", "-arch", target, "-o", "/dev/null"])
        .arg(&input)
        .output()
        .expect("ptxas runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    let _ = std::fs::remove_file(&input);
    if output.status.success() && !said.contains("arning") {
        Ok(said)
    } else {
        Err(said)
    }
}

/// Attributes of an operation: to the nearest even where it rounds.
fn rounding(op: N) -> Vec<Option<Attr>> {
    let attrs = tilec::dialect::OpKind::from(op).def().attrs;
    let rounds = attrs.first().is_some_and(|a| a.name == "rounding");
    rounds.then(|| enumeration(0)).into_iter().collect()
}

/// Compiles one kernel for every target and hands it to ptxas.
fn on_all_targets(name: &str, targets: &[&str], build: impl Fn() -> Kernel) {
    for target in targets {
        let ptx = build()
            .compile(target)
            .unwrap_or_else(|e| panic!("{name} for {target}: {e}"));
        if let Err(said) = assemble(&ptx, target, name) {
            panic!("{name} for {target}: {said}\n{ptx}");
        }
    }
}

/// Loads two or three arrays, applies every operation of a list and stores all results.
fn sweep(ops: &[(N, usize)], elem: &str, counts: &[u32]) -> Kernel {
    let mut k = Kernel::new();
    let ptr = k.ptr();
    let (input, output) = (k.param(ptr), k.param(ptr));
    for &n in counts {
        let elem = element(&mut k, elem);
        let ty = k.module.types.regs(elem, n);
        let sources: Vec<ValueId> = (0..3).map(|_| k.load(input, ty, 1)).collect();
        for &(op, arity) in ops {
            let value = k.value(op, &sources[..arity], rounding(op), ty);
            k.store(output, value);
        }
    }
    k
}

#[test]
fn integer_operations_on_every_width() {
    let binary = [
        N::Add,
        N::Sub,
        N::Mul,
        N::MulHi,
        N::MulHiS,
        N::DivS,
        N::DivU,
        N::RemS,
        N::RemU,
        N::MinS,
        N::MinU,
        N::MaxS,
        N::MaxU,
        N::And,
        N::Or,
        N::Xor,
        N::Shl,
        N::ShrS,
        N::ShrU,
    ];
    let mut ops: Vec<(N, usize)> = binary.iter().map(|&op| (op, 2)).collect();
    ops.extend([(N::Abs, 1), (N::Popc, 1), (N::Clz, 1)]);
    for elem in ["i8", "i16", "i32", "i64"] {
        on_all_targets(elem, &["sm_75", "sm_90a"], || {
            sweep(&ops, elem, &[1, 2, 3, 4])
        });
    }
    let logic = [(N::And, 2), (N::Or, 2), (N::Xor, 2)];
    on_all_targets("i1", &["sm_80"], || sweep(&logic, "i1", &[1, 3]));
}

#[test]
fn float_operations_on_every_format() {
    let common = [
        (N::FAdd, 2),
        (N::FSub, 2),
        (N::FMul, 2),
        (N::Fma, 3),
        (N::FMin, 2),
        (N::FMax, 2),
        (N::FNeg, 1),
        (N::FAbs, 1),
        (N::FDiv, 2),
        (N::Sqrt, 1),
        (N::Rcp, 1),
        (N::FRound, 1),
    ];
    let approximate = [
        (N::Rsqrt, 1),
        (N::Ex2, 1),
        (N::Lg2, 1),
        (N::Sin, 1),
        (N::Cos, 1),
        (N::Tanh, 1),
    ];
    let all = [&common[..], &approximate[..]].concat();
    let bf16 = &all[..];
    on_all_targets("f32", TARGETS, || sweep(&all, "f32", &[1, 4]));
    on_all_targets("f64", &["sm_80"], || sweep(&common, "f64", &[1, 2]));
    on_all_targets("f16", TARGETS, || sweep(&all, "f16", &[1, 2, 4]));
    on_all_targets("bf16", &TARGETS[1..], || sweep(bf16, "bf16", &[1, 2, 4]));
}

#[test]
fn conversions_between_all_types() {
    let kinds = ["i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"];
    let build = || {
        let mut k = Kernel::new();
        let ptr = k.ptr();
        let (input, output) = (k.param(ptr), k.param(ptr));
        for n in [1, 2, 4] {
            for from in kinds {
                for to in kinds.iter().filter(|&&to| to != from) {
                    let (a, b) = (element(&mut k, from), element(&mut k, to));
                    let (bits, to_bits) = (
                        k.module.types.bits(a).unwrap_or(0),
                        k.module.types.bits(b).unwrap_or(0),
                    );
                    let (ty, result) = (k.module.types.regs(a, n), k.module.types.regs(b, n));
                    let source = k.load(input, ty, 1);
                    let ops: &[N] = match (from.starts_with('i'), to.starts_with('i')) {
                        (true, true) if bits < to_bits => &[N::SExt, N::ZExt],
                        (true, true) => &[N::Trunc],
                        (true, false) if *to == "bf16" && bits == 64 => &[],
                        (true, false) => &[N::SIToF, N::UIToF],
                        (false, true) => &[N::FToSI, N::FToUI],
                        (false, false) if from == "f64" && *to == "bf16" => &[],
                        (false, false) => &[N::FToF],
                    };
                    for &op in ops {
                        let value = k.value(op, &[source], rounding(op), result);
                        k.store(output, value);
                    }
                }
            }
        }
        k
    };
    on_all_targets("conversions", &["sm_80", "sm_90a", "sm_120a"], build);
}

#[test]
fn eight_bit_floats() {
    let build = || {
        let mut k = Kernel::new();
        let ptr = k.ptr();
        let (input, output) = (k.param(ptr), k.param(ptr));
        for n in [1, 2, 4, 8] {
            for small in ["f8E4M3FN", "f8E5M2"] {
                for wide in ["f16", "f32", "bf16"] {
                    let (a, b) = (element(&mut k, small), element(&mut k, wide));
                    let (a, b) = (k.module.types.regs(a, n), k.module.types.regs(b, n));
                    let source = k.load(input, a, 1);
                    let value = k.value(N::FToF, &[source], rounding(N::FToF), b);
                    k.store(output, value);
                    let attrs = vec![enumeration(0), None, Some(Attr::Unit)];
                    let back = k.value(N::FToF, &[value], attrs, a);
                    k.store(output, back);
                }
            }
        }
        k
    };
    on_all_targets("f8", &["sm_89", "sm_90a"], build);
    let error = build().compile("sm_80").expect_err("sm_80 has no f8");
    assert!(error.contains("'nvvm.ftof'"), "{error}");
    assert!(error.contains("x2' needs a later target"), "{error}");
    assert!(error.contains("sm_80"), "{error}");
}

#[test]
fn comparisons_and_selections() {
    let build = || {
        let mut k = Kernel::new();
        let ptr = k.ptr();
        let (input, output) = (k.param(ptr), k.param(ptr));
        let bool_ty = k.int(1);
        for n in [1, 2, 4] {
            for name in ["i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"] {
                let elem = element(&mut k, name);
                let ty = k.module.types.regs(elem, n);
                let flags = k.module.types.regs(bool_ty, n);
                let (a, b) = (k.load(input, ty, 1), k.load(input, ty, 1));
                for predicate in 0..6 {
                    for variant in 0..2 {
                        let attrs = vec![enumeration(predicate), enumeration(variant)];
                        let op = if name.starts_with('i') {
                            N::ICmp
                        } else {
                            N::FCmp
                        };
                        let c = k.value(op, &[a, b], attrs, flags);
                        let value = k.value(N::Select, &[c, a, b], vec![], ty);
                        k.store(output, value);
                    }
                }
            }
        }
        k
    };
    on_all_targets("compare", &["sm_80", "sm_90a"], build);
}

#[test]
fn vector_accesses_of_every_width() {
    let build = || {
        let mut k = Kernel::new();
        let ptr = k.ptr();
        let (input, output) = (k.param(ptr), k.param(ptr));
        let i1 = k.int(1);
        let mask = k.param(i1);
        for (name, widest) in [("i8", 16), ("f16", 8), ("f32", 4), ("f64", 2), ("i1", 8)] {
            let elem = element(&mut k, name);
            let bytes = i64::from(k.module.types.bits(elem).unwrap_or(8).max(8) / 8);
            for vec in [1i64, 2, 4, 8, 16].into_iter().filter(|&v| v <= widest) {
                let ty = k.module.types.regs(elem, vec as u32 * 2);
                let offsets = vec![0, vec * bytes];
                let other = k.load(input, ty, 1);
                for guarded in [false, true] {
                    let attrs = k.access(0, vec, offsets.clone());
                    let (m, o): (&[ValueId], &[ValueId]) = match guarded {
                        true => (&[mask], &[other]),
                        false => (&[], &[]),
                    };
                    let body = k.body;
                    let op = k
                        .at(body)
                        .op(N::Ld, &[&[input], m, o], attrs.clone(), &[ty], &[]);
                    let value = k.module.op(op).results[0];
                    k.effect(N::St, &[&[output], &[value], m], attrs);
                }
            }
        }
        k
    };
    on_all_targets("access", TARGETS, build);
}

#[test]
fn loops_that_swap_and_leave_early() {
    let build = || {
        let mut k = Kernel::new();
        let (ptr, i32) = (k.ptr(), k.int(32));
        let output = k.param(ptr);
        let n = k.param(i32);
        let (zero, one) = (k.constant(i32, 0), k.constant(i32, 1));
        let f32 = k.module.types.float(Float::F32);
        let quad = k.module.types.regs(f32, 4);
        let (a, b) = (k.load(output, quad, 4), k.load(output, quad, 4));
        // for i in 0..n carrying (a, b, c): next is (b, a, -c), which needs a real swap.
        let region = k.module.new_region();
        let inner = k.module.new_block(region, &[i32, quad, quad, quad]);
        let args = k.module.block(inner).args.clone();
        let negated = k.at(inner).value(N::FNeg, &[args[3]], vec![], quad);
        let less = vec![enumeration(2), enumeration(1)];
        let i1 = k.int(1);
        let odd = k.at(inner).value(N::ICmp, &[args[0], one], less, i1);
        let then = k.module.new_region();
        let then_block = k.module.new_block(then, &[]);
        let next = [args[1], args[2], negated];
        k.at(then_block).op(N::Continue, &[&next], [], &[], &[]);
        k.at(inner).op(N::If, &[&[odd]], [], &[], &[then]);
        let next = [args[2], args[1], negated];
        k.at(inner).op(N::Yield, &[&next], [], &[], &[]);
        let body = k.body;
        let op = k.at(body).op(
            N::For,
            &[&[zero], &[n], &[one], &[a, b, a]],
            [],
            &[quad, quad, quad],
            &[region],
        );
        let results = k.module.op(op).results.clone();
        for result in results {
            k.store(output, result);
        }
        // loop carrying x: x + 1 until x == n.
        let region = k.module.new_region();
        let inner = k.module.new_block(region, &[i32]);
        let x = k.module.block(inner).args[0];
        let equal = vec![enumeration(0), enumeration(1)];
        let done = k.at(inner).value(N::ICmp, &[x, n], equal, i1);
        let then = k.module.new_region();
        let then_block = k.module.new_block(then, &[]);
        k.at(then_block).op(N::Break, &[&[x]], [], &[], &[]);
        k.at(inner).op(N::If, &[&[done]], [], &[], &[then]);
        let next = k.at(inner).value(N::Add, &[x, one], vec![], i32);
        k.at(inner).op(N::Continue, &[&[next]], [], &[], &[]);
        let op = k.at(body).op(N::Loop, &[&[zero]], [], &[i32], &[region]);
        let result = k.module.op(op).results[0];
        k.store(output, result);
        k
    };
    on_all_targets("loops", &["sm_80"], build);
    insta::assert_snapshot!(build().compile("sm_80").expect("it compiles"));
}

#[test]
fn atomics_in_every_mode() {
    let build = |elems: &[(&str, &[u8])]| {
        let mut k = Kernel::new();
        let (ptr, i1) = (k.ptr(), k.int(1));
        let (address, mask) = (k.param(ptr), k.param(i1));
        for &(name, modes) in elems {
            let elem = element(&mut k, name);
            let ty = k.module.types.regs(elem, 2);
            let value = k.load(address, ty, 1);
            for &mode in modes {
                let attrs = vec![
                    enumeration(mode),
                    Some(Attr::I64s(vec![0, 8])),
                    enumeration(1 + mode % 4),
                    enumeration(mode % 3),
                    enumeration(0),
                ];
                let body = k.body;
                let groups: &[&[ValueId]] = &[&[address], &[value], &[mask]];
                let op = k.at(body).op(N::AtomicRmw, groups, attrs, &[ty], &[]);
                let old = k.module.op(op).results[0];
                k.store(address, old);
            }
            let attrs = vec![
                Some(Attr::I64s(vec![0, 8])),
                enumeration(4),
                enumeration(1),
                enumeration(0),
            ];
            let body = k.body;
            let groups: &[&[ValueId]] = &[&[address], &[value], &[value], &[]];
            let op = k.at(body).op(N::AtomicCas, groups, attrs, &[ty], &[]);
            let old = k.module.op(op).results[0];
            k.store(address, old);
        }
        k
    };
    let integers: &[u8] = &[0, 1, 2, 3, 5, 6, 7, 8, 9];
    on_all_targets("atomics", TARGETS, || {
        build(&[
            ("i32", integers),
            ("i64", integers),
            ("f32", &[4, 9]),
            ("f64", &[4, 9]),
            ("f16", &[4]),
        ])
    });
    on_all_targets("atomics-bf16", &["sm_90a"], || build(&[("bf16", &[4])]));
}

#[test]
fn threads_exchange_and_wait() {
    let build = || {
        let mut k = Kernel::new();
        let ptr = k.ptr();
        let address = k.param(ptr);
        for name in ["i1", "i8", "f16", "i32", "f64"] {
            for n in [1, 4] {
                let elem = element(&mut k, name);
                let ty = k.module.types.regs(elem, n);
                let mut value = k.load(address, ty, 1);
                for mode in 0..4 {
                    let attrs = vec![enumeration(mode), k.i(1)];
                    let body = k.body;
                    let groups: &[&[ValueId]] = &[&[value], &[]];
                    let op = k.at(body).op(N::Shfl, groups, attrs, &[ty], &[]);
                    value = k.module.op(op).results[0];
                }
                k.store(address, value);
            }
        }
        let ids = [(N::Bar, 0, 0), (N::Bar, 1, 64), (N::BarArrive, 2, 96)];
        for (op, id, threads) in ids {
            let attrs = vec![k.i(id), k.i(threads)];
            k.effect(op, &[], attrs);
        }
        for kind in 2..5 {
            k.effect(N::Fence, &[], vec![enumeration(kind)]);
        }
        k
    };
    on_all_targets("threads", TARGETS, build);
}

#[test]
fn cp_async_ldmatrix_and_mma() {
    let build = || {
        let mut k = Kernel::new();
        k.shared = 65536;
        let (ptr, i32) = (k.ptr(), k.int(32));
        let (source, output, n) = (k.param(ptr), k.param(ptr), k.param(i32));
        let shared = k.module.types.intern(Type::SharedPtr);
        let (f16, f32) = (
            k.module.types.float(Float::F16),
            k.module.types.float(Float::F32),
        );
        let attrs = vec![k.i(1024)];
        let base = k.value(N::SmemBase, &[], attrs, shared);
        let tid = k.tid();
        let base = k.value(N::PtrAdd, &[base, tid], vec![], shared);
        let (zero, one) = (k.constant(i32, 0), k.constant(i32, 1));
        let acc_ty = k.module.types.regs(f32, 16);
        let acc = k.value(N::Undef, &[], vec![], acc_ty);
        let region = k.module.new_region();
        let inner = k.module.new_block(region, &[i32, acc_ty]);
        let acc_arg = k.module.block(inner).args[1];
        let outer = std::mem::replace(&mut k.body, inner);
        for (bytes, some) in [(16, true), (16, false), (8, true), (4, false)] {
            let attrs = vec![
                k.i(bytes),
                Some(Attr::I64s(vec![0, 512])),
                Some(Attr::I64s(vec![0, 4096])),
            ];
            let read: &[ValueId] = if some { &[n] } else { &[] };
            k.effect(N::CpAsync, &[&[base], &[source], read], attrs);
        }
        k.effect(N::CpAsyncCommit, &[], vec![]);
        let attrs = vec![k.i(2)];
        k.effect(N::CpAsyncWait, &[], attrs);
        let attrs = vec![k.i(0), k.i(0)];
        k.effect(N::Bar, &[], attrs);
        let a_ty = k.module.types.regs(f16, 16);
        let b_ty = k.module.types.regs(f16, 8);
        let attrs = vec![k.i(4), None, Some(Attr::I64s(vec![0, 64]))];
        let a = k.value(N::LdMatrix, &[base], attrs, a_ty);
        let attrs = vec![k.i(2), Some(Attr::Unit), Some(Attr::I64s(vec![128, 192]))];
        let b = k.value(N::LdMatrix, &[base], attrs, b_ty);
        let attrs = vec![
            Some(Attr::I32s(vec![16, 8, 16])),
            Some(Attr::I32s(vec![2, 2, 1])),
            Some(Attr::Type(f16)),
            Some(Attr::Type(f16)),
            Some(Attr::Bool(false)),
            Some(Attr::Bool(false)),
        ];
        let next = k.value(N::MmaSync, &[a, b, acc_arg], attrs, acc_ty);
        k.effect(N::Yield, &[&[next]], vec![]);
        k.body = outer;
        let op = k.at(outer).op(
            N::For,
            &[&[zero], &[n], &[one], &[acc]],
            [],
            &[acc_ty],
            &[region],
        );
        let result = k.module.op(op).results[0];
        let half = k.module.types.regs(f16, 16);
        let result = k.value(N::FToF, &[result], vec![], half);
        let attrs = k.access(0, 8, vec![0, 16]);
        k.effect(N::St, &[&[output], &[result], &[]], attrs);
        k
    };
    on_all_targets("mma", &TARGETS[1..], build);
    let ptx = build().compile("sm_80").expect("it compiles");
    let moves = ptx.lines().filter(|l| l.contains("mov.b32")).count();
    assert!(moves <= 3, "accumulators are copied:\n{ptx}");
    insta::assert_snapshot!(ptx);
    let error = build().compile("sm_75").expect_err("no cp.async on sm_75");
    assert!(error.contains("nvvm.cp_async"), "{error}");
}

#[test]
fn tma_mbarriers_and_wgmma() {
    let build = || {
        let mut k = Kernel::new();
        k.shared = 100_000;
        let (ptr, i32, i64, i1) = (k.ptr(), k.int(32), k.int(64), k.int(1));
        let (output, n, desc) = (k.param(ptr), k.param(i32), k.param(i64));
        let map_ty = k.module.types.intern(Type::TensorMap);
        let map = k.param(map_ty);
        let shared = k.module.types.intern(Type::SharedPtr);
        let attrs = vec![k.i(0)];
        let tile = k.value(N::SmemBase, &[], attrs, shared);
        let attrs = vec![k.i(98304)];
        let barrier = k.value(N::SmemBase, &[], attrs, shared);
        let (zero, one) = (k.constant(i32, 0), k.constant(i32, 1));
        let bytes = k.constant(i32, 16384);
        k.effect(N::PrefetchMap, &[&[map]], vec![]);
        let attrs = vec![k.i(1)];
        k.effect(N::MbarInit, &[&[barrier]], attrs);
        k.effect(N::Fence, &[], vec![enumeration(1)]);
        let attrs = vec![k.i(0), k.i(0)];
        k.effect(N::Bar, &[], attrs);
        let chosen = k.value(N::Elect, &[], vec![], i1);
        let then = k.module.new_region();
        let then_block = k.module.new_block(then, &[]);
        let outer = std::mem::replace(&mut k.body, then_block);
        k.effect(N::MbarExpectTx, &[&[barrier], &[bytes]], vec![]);
        let groups: &[&[ValueId]] = &[&[tile], &[map], &[zero, n], &[barrier]];
        k.effect(N::TmaLoad, groups, vec![]);
        k.effect(N::Yield, &[&[]], vec![]);
        k.body = outer;
        k.at(outer).op(N::If, &[&[chosen]], [], &[], &[then]);

        let f32 = k.module.types.float(Float::F32);
        let f16 = k.module.types.float(Float::F16);
        let acc_ty = k.module.types.regs(f32, 128);
        let acc = k.value(N::Undef, &[], vec![], acc_ty);
        let no = k.constant(i1, 0);
        let yes = k.constant(i1, 1);
        let region = k.module.new_region();
        let inner = k.module.new_block(region, &[i32, acc_ty, i1]);
        let args = k.module.block(inner).args.clone();
        k.body = inner;
        let parity = k.value(N::And, &[args[0], one], vec![], i32);
        k.effect(N::MbarWait, &[&[barrier], &[parity]], vec![]);
        let attrs = vec![
            k.i(128),
            k.i(16),
            k.i(2),
            k.i(4),
            k.i(512),
            Some(Attr::I64s(vec![0, 2, 4, 6])),
            Some(Attr::I64s(vec![0, 2, 4, 6])),
            Some(Attr::Type(f16)),
            Some(Attr::Type(f16)),
            Some(Attr::Bool(false)),
            Some(Attr::Bool(true)),
            Some(Attr::Bool(false)),
            Some(Attr::Bool(false)),
        ];
        let groups: &[&[ValueId]] = &[&[desc], &[desc], &[args[1]], &[args[2]]];
        let op = k.at(inner).op(N::Wgmma, groups, attrs, &[acc_ty], &[]);
        let next = k.module.op(op).results[0];
        k.effect(N::WgmmaCommit, &[], vec![]);
        let attrs = vec![k.i(0)];
        let op = k
            .at(inner)
            .op(N::WgmmaWait, &[&[next]], attrs, &[acc_ty], &[]);
        let next = k.module.op(op).results[0];
        k.effect(N::MbarArrive, &[&[barrier]], vec![]);
        k.effect(N::Yield, &[&[next, yes]], vec![]);
        k.body = outer;
        let op = k.at(outer).op(
            N::For,
            &[&[zero], &[n], &[one], &[acc, no]],
            [],
            &[acc_ty, i1],
            &[region],
        );
        let result = k.module.op(op).results[0];
        let half = k.module.types.regs(f16, 128);
        let result = k.value(N::FToF, &[result], vec![], half);
        let attrs = vec![
            k.i(4),
            None,
            Some(Attr::I64s((0..16).map(|i| i * 256).collect())),
        ];
        k.effect(N::StMatrix, &[&[tile], &[result]], attrs);
        let attrs = k.access(0, 8, (0..16).map(|i| i * 16).collect());
        k.effect(N::St, &[&[output], &[result], &[]], attrs);
        k.effect(N::Fence, &[], vec![enumeration(0)]);
        k.effect(N::TmaStore, &[&[map], &[zero, n], &[tile]], vec![]);
        k.effect(N::BulkCommit, &[], vec![]);
        let attrs = vec![k.i(0), Some(Attr::Unit)];
        k.effect(N::BulkWait, &[], attrs);
        let attrs = vec![k.i(40), Some(Attr::Bool(false))];
        k.effect(N::SetMaxNReg, &[], attrs);
        k.effect(N::ClusterArrive, &[], vec![]);
        k.effect(N::ClusterWait, &[], vec![]);
        k.effect(N::GridDepWait, &[], vec![]);
        k.effect(N::GridDepLaunch, &[], vec![]);
        k
    };
    on_all_targets("wgmma", &["sm_90a"], build);
    let ptx = build().compile("sm_90a").expect("it compiles");
    let copies = ptx
        .lines()
        .filter(|l| l.contains("mov.b32") && l.contains(", %r"));
    assert_eq!(copies.count(), 0, "accumulators are copied:\n{ptx}");
    let error = build().compile("sm_100a").expect_err("wgmma is sm_90a's");
    assert!(error.contains("nvvm.wgmma"), "{error}");
}
