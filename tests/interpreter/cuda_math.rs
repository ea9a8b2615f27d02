//! Elementary functions of f32 against the CUDA functions, bit for bit: `tests/math/cuda.py` made the tables
//! with nvcc. A NaN may be any NaN.

use tilec::compile::{Options, to_ptx};
use tilec::target::Target;

/// Operation and table.
const FUNCTIONS: [(&str, &[u8]); 16] = [
    ("exp", include_bytes!("../math/cuda/exp.bits")),
    ("exp2", include_bytes!("../math/cuda/exp2.bits")),
    ("log", include_bytes!("../math/cuda/log.bits")),
    ("log2", include_bytes!("../math/cuda/log2.bits")),
    ("sin", include_bytes!("../math/cuda/sin.bits")),
    ("cos", include_bytes!("../math/cuda/cos.bits")),
    ("tan", include_bytes!("../math/cuda/tan.bits")),
    ("sinh", include_bytes!("../math/cuda/sinh.bits")),
    ("cosh", include_bytes!("../math/cuda/cosh.bits")),
    ("tanh", include_bytes!("../math/cuda/tanh.bits")),
    ("rsqrt", include_bytes!("../math/cuda/rsqrt.bits")),
    ("sqrt", include_bytes!("../math/cuda/sqrt.bits")),
    ("fpowf", include_bytes!("../math/cuda/pow.bits")),
    ("atan2", include_bytes!("../math/cuda/atan2.bits")),
    ("remf", include_bytes!("../math/cuda/rem.bits")),
    ("divf", include_bytes!("../math/cuda/div.bits")),
];
/// Elements of each table.
const ELEMENTS: usize = 4096;
/// Threads of a block.
const THREADS: usize = 128;

/// An entry that applies `operation` to tiles of its operands' arrays.
fn text(operation: &str, operands: usize, tile: usize) -> String {
    let parameters: Vec<String> = (0..=operands)
        .map(|i| format!("%p{i}: tile<ptr<f32>>"))
        .collect();
    let mut text = format!(
        "entry @k({}) {{
  %b, %by, %bz = get_tile_block_id : tile<i32>
  %n = constant <i32: {tile}> : tile<i32>
  %first = muli %b, %n : tile<i32>
  %first1 = reshape %first : tile<i32> -> tile<1xi32>
  %firsts = broadcast %first1 : tile<1xi32> -> tile<{tile}xi32>
  %iota = iota : tile<{tile}xi32>
  %at = addi %iota, %firsts : tile<{tile}xi32>\n",
        parameters.join(", ")
    );
    for i in 0..=operands {
        text += &format!(
            "  %a{i} = reshape %p{i} : tile<ptr<f32>> -> tile<1xptr<f32>>
  %b{i} = broadcast %a{i} : tile<1xptr<f32>> -> tile<{tile}xptr<f32>>
  %q{i} = offset %b{i}, %at : tile<{tile}xptr<f32>>, tile<{tile}xi32> -> tile<{tile}xptr<f32>>\n"
        );
    }
    for i in 0..operands {
        text += &format!(
            "  %x{i}, %t{i} = load_ptr_tko weak %q{i} : tile<{tile}xptr<f32>> -> tile<{tile}xf32>, token\n"
        );
    }
    let values: Vec<String> = (0..operands).map(|i| format!("%x{i}")).collect();
    text += &format!(
        "  %r = {operation} {} : tile<{tile}xf32>
  %s = store_ptr_tko weak %q{operands}, %r : tile<{tile}xptr<f32>>, tile<{tile}xf32> -> token
  return
}}\n",
        values.join(", ")
    );
    text
}

/// What compiled code gives for the columns of inputs, of which each thread has so many at a time; and its PTX.
fn run(operation: &str, columns: &[&[u8]], target: &str, each: usize) -> (Vec<u8>, String) {
    let tile = each * THREADS;
    let module = tilec::asm::parse(&text(operation, columns.len(), tile))
        .unwrap_or_else(|e| panic!("{operation}: {e:?}"));
    let target: Target = target.parse().expect("a target");
    let kernel = to_ptx(module, &Options::new(target)).unwrap_or_else(|e| panic!("{e:?}"));
    let entry = &kernel.manifest.entries[0];
    let ptx = ptxsim::Module::new(kernel.ptx.clone()).expect("PTX");
    let program = ptx.entry(Some(&entry.name)).expect("the entry");
    let mut launch = ptxsim::Launch::new(&program);
    launch.grid = [(ELEMENTS / tile) as u32, 1, 1];
    launch.block = entry.block;
    launch.dynamic_shared = entry.shared_bytes;
    let zeros = vec![0; ELEMENTS * 4];
    for (i, bytes) in columns.iter().copied().chain([&zeros[..]]).enumerate() {
        launch.buffers.push(ptxsim::Buffer {
            name: format!("argument {i}"),
            bytes: bytes.to_vec(),
        });
        launch.args.push(ptxsim::Arg::buffer(i));
    }
    launch.run().unwrap_or_else(|e| panic!("{operation}: {e}"));
    let bytes = launch.buffers.pop().expect("the results").bytes;
    (bytes, kernel.ptx)
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    bytes
        .chunks_exact(4)
        .map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]))
}

fn is_nan(bits: u32) -> bool {
    f32::from_bits(bits).is_nan()
}

fn check(target: &str, each: usize) {
    let mut wrong = Vec::new();
    for (operation, table) in FUNCTIONS {
        let columns: Vec<&[u8]> = table.chunks_exact(ELEMENTS * 4).collect();
        let (&expected, inputs) = columns.split_last().expect("results");
        let (got, ptx) = run(operation, inputs, target, each);
        assert!(!ptx.contains(".f64"), "{operation} needs no f64");
        let bad: Vec<usize> = words(expected)
            .zip(words(&got))
            .enumerate()
            .filter(|(_, (e, g))| e != g && !(is_nan(*e) && is_nan(*g)))
            .map(|(i, _)| i)
            .collect();
        for &i in bad.iter().take(3) {
            let at = |column: &[u8]| words(column).nth(i).unwrap_or_default();
            let inputs: Vec<String> = inputs.iter().map(|c| format!("{:08x}", at(c))).collect();
            wrong.push(format!(
                "{operation}({}) is {:08x}, not {:08x} ({} wrong)",
                inputs.join(", "),
                at(expected),
                at(&got),
                bad.len()
            ));
        }
    }
    assert!(wrong.is_empty(), "{target}:\n{}", wrong.join("\n"));
}

#[test]
fn f32_functions_are_cudas_on_sm_75() {
    check("sm_75", 4);
}

#[test]
fn f32_functions_are_cudas_on_sm_90a() {
    check("sm_90a", 4);
}

/// A branch for what one element alone needs is another than one for several.
#[test]
fn f32_functions_of_single_elements_are_cudas() {
    check("sm_90a", 1);
}
