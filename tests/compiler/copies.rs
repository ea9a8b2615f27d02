//! Asynchronous copies of tiles that have fewer pieces than the block has threads.

use tilec::compile::{Options, to_ptx};
use tilec::target::Target;

/// A matmul of 8x8 tiles: 64 pieces of four bytes for 128 threads.
const TEXT: &str = "
entry @matmul(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %c: tile<ptr<f32>>, %k: tile<i32>) {
  %token = make_token : token
  %a16 = assume div_by<16>, %a : tile<ptr<f32>>
  %b16 = assume div_by<16>, %b : tile<ptr<f32>>
  %depth = assume bounded<0, ?>, %k : tile<i32>
  %av = make_tensor_view %a16, shape = [8, %depth], strides = [%depth, 1] : tile<i32> -> tensor_view<8x?xf32, strides=[?,1]>
  %bv = make_tensor_view %b16, shape = [%depth, 8], strides = [8, 1] : tile<i32> -> tensor_view<?x8xf32, strides=[8,1]>
  %cv = make_tensor_view %c, shape = [8, 8], strides = [8, 1] : tensor_view<8x8xf32, strides=[8,1]>
  %ap = make_partition_view %av : partition_view<tile=(8x8), padding_value = zero, tensor_view<8x?xf32, strides=[?,1]>>
  %bp = make_partition_view %bv : partition_view<tile=(8x8), padding_value = zero, tensor_view<?x8xf32, strides=[8,1]>>
  %cp = make_partition_view %cv : partition_view<tile=(8x8), tensor_view<8x8xf32, strides=[8,1]>>
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %eight = constant <i32: 8> : tile<i32>
  %steps = divi %depth, %eight signed rounding<positive_inf> : tile<i32>
  %none = constant <f32: 0.0> : tile<8x8xf32>
  %sum = for %i in (%zero to %steps, step %one) : tile<i32> iter_values(%acc = %none) -> (tile<8x8xf32>) {
    %x, %t0 = load_view_tko weak %ap[%zero, %i] token = %token : partition_view<tile=(8x8), padding_value = zero, tensor_view<8x?xf32, strides=[?,1]>>, tile<i32> -> tile<8x8xf32>, token
    %y, %t1 = load_view_tko weak %bp[%i, %zero] token = %token : partition_view<tile=(8x8), padding_value = zero, tensor_view<?x8xf32, strides=[8,1]>>, tile<i32> -> tile<8x8xf32>, token
    %next = mmaf %x, %y, %acc : tile<8x8xf32>, tile<8x8xf32>, tile<8x8xf32>
    continue %next : tile<8x8xf32>
  }
  %t2 = store_view_tko weak %sum, %cp[%zero, %zero] token = %token : tile<8x8xf32>, partition_view<tile=(8x8), tensor_view<8x8xf32, strides=[8,1]>>, tile<i32> -> token
  return
}";

/// Each piece is copied by one thread: the simulator takes several that write one place for a race.
#[test]
fn a_piece_is_copied_once() {
    const DEPTH: usize = 20;
    let module = tilec::asm::parse(TEXT).unwrap_or_else(|e| panic!("{e:?}"));
    let target: Target = "sm_80".parse().expect("a target");
    let kernel = to_ptx(module, &Options::new(target)).unwrap_or_else(|e| panic!("{e:?}"));
    let copies: Vec<&str> = kernel
        .ptx
        .lines()
        .filter(|l| l.contains("cp.async.c"))
        .filter(|l| !l.contains("commit_group"))
        .collect();
    assert!(!copies.is_empty());
    assert!(
        copies.iter().all(|l| l.trim().starts_with('@')),
        "{copies:?}"
    );

    // Small integers: sums are exact in any order.
    let number = |i: usize| ((i * 7 + 3) % 11) as f32 - 5.0;
    let a: Vec<f32> = (0..8 * DEPTH).map(number).collect();
    let b: Vec<f32> = (0..DEPTH * 8).map(|i| number(i + 5)).collect();
    let right: Vec<f32> = (0..64)
        .map(|i| {
            (0..DEPTH)
                .map(|k| a[i / 8 * DEPTH + k] * b[k * 8 + i % 8])
                .sum()
        })
        .collect();
    let bytes = |v: &[f32]| v.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();

    let entry = &kernel.manifest.entries[0];
    let ptx = ptxsim::Module::new(kernel.ptx.clone()).expect("PTX");
    let program = ptx.entry(Some(&entry.name)).expect("the entry");
    for seed in 1..=4 {
        let mut launch = ptxsim::Launch::new(&program);
        launch.block = entry.block;
        launch.dynamic_shared = entry.shared_bytes;
        launch.seed = seed;
        for (i, bytes) in [bytes(&a), bytes(&b), vec![0; 256]].into_iter().enumerate() {
            launch.buffers.push(ptxsim::Buffer {
                name: format!("argument {i}"),
                bytes,
            });
            launch.args.push(ptxsim::Arg::buffer(i));
        }
        let depth = (DEPTH as i32).to_le_bytes();
        launch.args.push(ptxsim::Arg::scalar(depth));
        launch.run().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(launch.buffers[2].bytes, bytes(&right));
    }
}
