//! Every elementwise operation that the verifier accepts, on every element type: it compiles, and in
//! the simulator it computes what the interpreter's scalar arithmetic says.

#[path = "elementwise/cases.rs"]
mod cases;
#[path = "elementwise/kernel.rs"]
mod kernel;

use cases::Case;
use kernel::{ELEMENTS, bytes};
use tilec::compile::{Options, to_ptx};
use tilec::dialect::OpKind;
use tilec::dialect::cuda_tile::Op;
use tilec::facts::Leaf;
use tilec::facts::semantics::{Attrs, Element, Outcome, Scalar, eval};
use tilec::ir::{Float, Module};
use tilec::rules::Random;
use tilec::target::Target;

fn module(cases: &[Case]) -> Module {
    let mut module = Module::new("test");
    for (i, case) in cases.iter().enumerate() {
        kernel::add(&mut module, &format!("case{i}"), case);
    }
    module
}

/// The combinations that are valid.
fn valid(op: Op) -> Vec<Case> {
    let is_valid = |case: &Case| tilec::verify::verify(&module(std::slice::from_ref(case))).is_ok();
    cases::candidates(op).into_iter().filter(is_valid).collect()
}

/// Units in the last place by which a result may be off.
fn tolerance(case: &Case) -> i64 {
    let attributes = case.attributes();
    let has = |name| attributes.contains(&name);
    let narrow = matches!(case.result, Scalar::Float(Float::F16 | Float::BF16));
    match case.op {
        Op::Exp if has("approx") => 200,
        Op::TanH if has("approx") => 1 << 13,
        Op::DivF | Op::Sqrt if has("approx") || has("full") => 3,
        Op::Exp
        | Op::Exp2
        | Op::Log
        | Op::Log2
        | Op::Sin
        | Op::Cos
        | Op::Tan
        | Op::SinH
        | Op::CosH
        | Op::TanH
        | Op::Rsqrt
        | Op::FPowF
        | Op::FPowI
        | Op::Atan2 => {
            if narrow {
                1
            } else {
                5
            }
        }
        _ => 0,
    }
}

/// What each element of the result must be, if that is said, by operands.
struct Data {
    operands: Vec<Vec<u64>>,
    expected: Vec<Option<u64>>,
}

fn data(case: &Case) -> Data {
    let mut random = Random::named(&case.to_string());
    let total: u32 = case.operands.iter().map(|s| s.bits()).sum();
    let mut operands = vec![Vec::new(); case.operands.len()];
    let mut expected = Vec::new();
    for i in 0..ELEMENTS as u64 {
        let mut rest = i;
        let mut args: Vec<Element> = Vec::new();
        for (&scalar, values) in case.operands.iter().zip(&mut operands) {
            // All of them where those are few.
            let bits = match total {
                ..10 => rest & ((1 << scalar.bits()) - 1),
                _ => random.value(scalar),
            };
            rest >>= scalar.bits().min(63);
            let bits = match scalar {
                Scalar::Float(Float::TF32) => bits & 0xffff_e000,
                _ => bits,
            };
            values.push(bits);
            args.push((bits, scalar));
        }
        let leaf = |i: usize| case.attrs.get(i).copied().unwrap_or(Leaf::Absent);
        expected.push(
            match eval(case.op.into(), Attrs(&leaf), &args, case.result) {
                Outcome::Value(bits) if is_said(case, &args, bits) => Some(bits),
                Outcome::Value(_) | Outcome::Undefined => None,
                Outcome::Unknown => panic!("{case}: no semantics"),
            },
        );
    }
    Data { operands, expected }
}

/// Integers beyond a small format's range become anything; PTX's approximate division by more than 2^126 is 0 (PTX ISA
/// 9.7.3.8).
fn is_said(case: &Case, args: &[Element], bits: u64) -> bool {
    if case.op == Op::DivF && case.attributes().contains(&"approx") {
        const LARGEST: f64 = (1u128 << 126) as f64;
        let divisor = args
            .last()
            .copied()
            .unwrap_or((0, Scalar::Float(Float::F32)));
        return !matches!(divisor, (b, Scalar::Float(f)) if f.decode(b).abs() > LARGEST);
    }
    match case.result {
        Scalar::Float(f) if case.op == Op::IToF && f.bits() <= 8 => {
            let format = f;
            let size = format.decode(bits).abs();
            size < format.decode(format.max_finite(false))
        }
        _ => true,
    }
}

fn agree(case: &Case, expected: u64, got: u64) -> bool {
    let Scalar::Float(float) = case.result else {
        return expected == got;
    };
    let format = float;
    if format.is_nan(expected) || format.is_nan(got) {
        return format.is_nan(expected) && format.is_nan(got);
    }
    let allowed = tolerance(case);
    let distance = format
        .total_order_key(expected)
        .abs_diff(format.total_order_key(got));
    expected == got || allowed > 0 && distance <= allowed as u64 + 1
}

/// What is wrong with one case.
fn check(case: &Case, ptx: &ptxsim::Module, entry: &tilec::launch::Entry) -> Result<(), String> {
    let data = data(case);
    let program = ptx.entry(Some(&entry.name)).map_err(|e| e.to_string())?;
    let mut launch = ptxsim::Launch::new(&program);
    launch.grid = [1, 1, 1];
    launch.block = entry.block;
    launch.dynamic_shared = entry.shared_bytes;
    let size = bytes(case.result);
    let mut arrays: Vec<Vec<u8>> = Vec::new();
    for (values, &scalar) in data.operands.iter().zip(&case.operands) {
        let element = |v: &u64| v.to_le_bytes()[..bytes(scalar)].to_vec();
        arrays.push(values.iter().flat_map(element).collect());
    }
    arrays.push(vec![0; ELEMENTS * size]);
    let results = arrays.len() - 1;
    for (i, bytes) in arrays.into_iter().enumerate() {
        launch.buffers.push(ptxsim::Buffer {
            name: format!("argument {i}"),
            bytes,
        });
        launch.args.push(ptxsim::Arg::buffer(i));
    }
    launch.run().map_err(|e| e.to_string())?;
    let out = &launch.buffers[results].bytes;
    let mut wrong = Vec::new();
    for (i, (expected, bytes)) in data.expected.iter().zip(out.chunks(size)).enumerate() {
        let mut word = [0; 8];
        word[..size].copy_from_slice(bytes);
        let got = u64::from_le_bytes(word);
        if let Some(expected) = *expected
            && !agree(case, expected, got)
        {
            let operands: Vec<String> = data
                .operands
                .iter()
                .map(|o| format!("{:#x}", o[i]))
                .collect();
            wrong.push(format!(
                "({}) is {got:#x}, not {expected:#x}",
                operands.join(", ")
            ));
        }
    }
    match wrong.first() {
        Some(first) => Err(format!("{} wrong: {first}", wrong.len())),
        None => Ok(()),
    }
}

/// The PTX of each kernel by itself: parsing all of them for each would take long.
fn split(ptx: &str) -> Vec<String> {
    const ENTRY: &str = ".visible .entry";
    let mut parts = ptx.split(ENTRY);
    let head = parts.next().unwrap_or_default();
    parts.map(|body| format!("{head}{ENTRY}{body}")).collect()
}

/// Compiles the cases together; where that fails, each by itself. What is wrong with them.
fn compile_and_check(cases: &[Case], target: Target) -> Vec<String> {
    let kernel = match to_ptx(module(cases), &Options::new(target)) {
        Ok(kernel) => kernel,
        Err(errors) if cases.len() == 1 => return vec![format!("{}: {errors}", cases[0])],
        Err(_) => {
            let (first, second) = cases.split_at(cases.len() / 2);
            let mut failures = compile_and_check(first, target);
            failures.extend(compile_and_check(second, target));
            return failures;
        }
    };
    let texts = split(&kernel.ptx);
    assert_eq!(texts.len(), cases.len());
    let checked = cases.iter().zip(texts).zip(&kernel.manifest.entries);
    checked
        .filter_map(|((case, text), entry)| {
            let ptx = ptxsim::Module::new(text).map_err(|e| e.to_string());
            let error = ptx.and_then(|ptx| check(case, &ptx, entry)).err()?;
            Some(format!("{case}: {error}"))
        })
        .collect()
}

/// What is wrong with the cases of one operation, and how many there are.
fn check_operation(op: Op, target: Target) -> (Vec<String>, usize) {
    let cases = valid(op);
    (compile_and_check(&cases, target), cases.len())
}

fn check_all(target: &str) {
    let target: Target = target.parse().expect("a target");
    let operations = cases::operations();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let found = std::sync::Mutex::new((Vec::new(), 0));
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                let take = || next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                while let Some(&op) = operations.get(take()) {
                    let (failures, count) = check_operation(op, target);
                    assert!(count > 0, "no case of {}", OpKind::from(op).def().name);
                    let mut found = found.lock().expect("no panics");
                    found.0.extend(failures);
                    found.1 += count;
                }
            });
        }
    });
    let (mut failures, count) = found.into_inner().expect("no panics");
    failures.sort();
    println!("{count} cases for {target}");
    assert!(
        failures.is_empty(),
        "{} of {count} cases are wrong for {target}:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn on_sm_75() {
    check_all("sm_75");
}

#[test]
fn on_sm_80() {
    check_all("sm_80");
}

#[test]
fn on_sm_89() {
    check_all("sm_89");
}

#[test]
fn on_sm_90a() {
    check_all("sm_90a");
}
