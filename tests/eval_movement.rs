//! Strided views, gathers, scatters, allocations and casts of pointers at every element type of whole
//! bytes: elements arrive where they should, bit for bit. The corpus has these at f32 and i32.

use tilec::eval::{Argument, Hooks, Launch, Memory, Program};
use tilec::{asm, verify};

/// Element types and their bytes.
const TYPES: [(&str, usize); 14] = [
    ("i1", 1),
    ("i8", 1),
    ("i16", 2),
    ("i32", 4),
    ("i64", 8),
    ("f16", 2),
    ("bf16", 2),
    ("f32", 4),
    ("tf32", 4),
    ("f64", 8),
    ("f8E4M3FN", 1),
    ("f8E5M2", 1),
    ("f8E8M0FNU", 1),
    ("fnv8E5M3FNU", 1),
];

/// Rows and columns of the tensor.
const N: usize = 8;

/// `T` is the element type. Rows gathered: 6, 0, 9 (there is none), 3; scattered to 1, 7, 4, 2.
const KERNEL: &str = r"
entry @kernel(%x: tile<ptr<T>>, %s: tile<ptr<T>>, %g: tile<ptr<T>>, %a: tile<ptr<T>>, %d: tile<ptr<T>>) {
  %tensor = make_tensor_view %x, shape = [8, 8], strides = [8, 1] : tensor_view<8x8xT, strides=[8,1]>
  %strided = make_strided_view %tensor : strided_view<tile=(2x4), traversal_strides=[3,3], tensor_view<8x8xT, strides=[8,1]>>
  %one = constant <i32: 1> : tile<i32>
  %four = constant <i32: 4> : tile<i32>
  %v, %t0 = load_view_tko weak %strided[%one, %one] : strided_view<tile=(2x4), traversal_strides=[3,3], tensor_view<8x8xT, strides=[8,1]>>, tile<i32> -> tile<2x4xT>, token
  %flat = reshape %v : tile<2x4xT> -> tile<8xT>
  %at = iota : tile<8xi32>
  %s1 = reshape %s : tile<ptr<T>> -> tile<1xptr<T>>
  %s2 = broadcast %s1 : tile<1xptr<T>> -> tile<8xptr<T>>
  %s3 = offset %s2, %at : tile<8xptr<T>>, tile<8xi32> -> tile<8xptr<T>>
  %t1 = store_ptr_tko weak %s3, %flat : tile<8xptr<T>>, tile<8xT> -> token

  %gather = make_gather_scatter_view %tensor : gather_scatter_view<tile=(4x4), padding_value = zero, tensor_view<8x8xT, strides=[8,1]>, sparse_dim=0>
  %rows = constant <i32: [6, 0, 9, 3]> : tile<4xi32>
  %w, %t2 = load_view_tko weak %gather[%rows, %four] : gather_scatter_view<tile=(4x4), padding_value = zero, tensor_view<8x8xT, strides=[8,1]>, sparse_dim=0>, tile<4xi32>, tile<i32> -> tile<4x4xT>, token
  %out = make_tensor_view %g, shape = [8, 8], strides = [8, 1] : tensor_view<8x8xT, strides=[8,1]>
  %scatter = make_gather_scatter_view %out : gather_scatter_view<tile=(4x4), tensor_view<8x8xT, strides=[8,1]>, sparse_dim=0>
  %to = constant <i32: [1, 7, 4, 2]> : tile<4xi32>
  %t3 = store_view_tko weak %w, %scatter[%to, %one] : tile<4x4xT>, gather_scatter_view<tile=(4x4), tensor_view<8x8xT, strides=[8,1]>, sparse_dim=0>, tile<4xi32>, tile<i32> -> token

  %own = alloca num_elem = 8, alignment = 16 : tile<ptr<T>>
  %o1 = reshape %own : tile<ptr<T>> -> tile<1xptr<T>>
  %o2 = broadcast %o1 : tile<1xptr<T>> -> tile<8xptr<T>>
  %o3 = offset %o2, %at : tile<8xptr<T>>, tile<8xi32> -> tile<8xptr<T>>
  %t4 = store_ptr_tko weak %o3, %flat : tile<8xptr<T>>, tile<8xT> -> token
  %addresses = ptr_to_int %o3 : tile<8xptr<T>> -> tile<8xi64>
  %back = int_to_ptr %addresses : tile<8xi64> -> tile<8xptr<T>>
  %u, %t5 = load_ptr_tko weak %back token=%t4 : tile<8xptr<T>> -> tile<8xT>, token
  %a1 = reshape %a : tile<ptr<T>> -> tile<1xptr<T>>
  %a2 = broadcast %a1 : tile<1xptr<T>> -> tile<8xptr<T>>
  %a3 = offset %a2, %at : tile<8xptr<T>>, tile<8xi32> -> tile<8xptr<T>>
  %t6 = store_ptr_tko weak %a3, %u : tile<8xptr<T>>, tile<8xT> -> token

  %bytes = ptr_to_ptr %o3 : tile<8xptr<T>> -> tile<8xptr<i8>>
  %b, %t7 = load_ptr_tko weak %bytes token=%t4 : tile<8xptr<i8>> -> tile<8xi8>, token
  %d1 = ptr_to_ptr %d : tile<ptr<T>> -> tile<ptr<i8>>
  %d2 = reshape %d1 : tile<ptr<i8>> -> tile<1xptr<i8>>
  %d3 = broadcast %d2 : tile<1xptr<i8>> -> tile<8xptr<i8>>
  %d4 = offset %d3, %at : tile<8xptr<i8>>, tile<8xi32> -> tile<8xptr<i8>>
  %t8 = store_ptr_tko weak %d4, %b : tile<8xptr<i8>>, tile<8xi8> -> token
  return
}
";

/// Elements of which each byte tells where it comes from, within what the type can hold.
fn elements(name: &str, size: usize) -> Vec<u8> {
    let byte = |at: usize| (at as u8).wrapping_mul(37).wrapping_add(11);
    let mut bytes: Vec<u8> = (0..N * N * size).map(byte).collect();
    match name {
        "i1" => bytes.iter_mut().for_each(|b| *b = (*b >> 3) & 1),
        // The low 13 bits of the f32 pattern are none of tf32's.
        "tf32" => bytes.chunks_mut(4).for_each(|element| {
            element[0] = 0;
            element[1] &= 0xe0;
        }),
        _ => (),
    }
    bytes
}

#[test]
fn elements_of_every_type_arrive() {
    for (name, size) in TYPES {
        let text = KERNEL
            .replace("<T>", &format!("<{name}>"))
            .replace("xT", &format!("x{name}"));
        let module = asm::parse(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        verify::verify(&module).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        let mut memory = Memory::default();
        let program =
            Program::new(&module, None, &mut memory).unwrap_or_else(|e| panic!("{name}: {e}"));
        let x = elements(name, size);
        // A mark that no element is.
        let empty = vec![0xee; x.len()];
        let mut add = |data: &[u8]| memory.add("buffer", data).expect("room");
        let addresses = [add(&x), add(&empty), add(&empty), add(&empty), add(&empty)];
        let launch = Launch {
            grid: [1, 1, 1],
            arguments: addresses.map(Argument::Pointer).to_vec(),
        };
        let hooks = Hooks {
            output: &mut std::io::sink(),
            progress: &|_| (),
            steps: 1000,
        };
        program
            .run(&launch, &memory, hooks)
            .unwrap_or_else(|e| panic!("{name}: {e}"));

        let element = |row: usize, column: usize| &x[(row * N + column) * size..][..size];
        let tile: Vec<u8> = (3..5)
            .flat_map(|row| (3..7).flat_map(move |column| element(row, column)))
            .copied()
            .collect();
        let got = |i: usize| memory.bytes(addresses[i]).expect("a buffer");
        assert_eq!(got(0), x, "{name}: the input is as it was");
        assert_eq!(got(1)[..8 * size], tile, "{name}: strided view");
        assert!(
            got(1)[8 * size..].iter().all(|&b| b == 0xee),
            "{name}: no more than that"
        );
        let mut scattered = empty.clone();
        for (from, to) in [(Some(6), 1), (Some(0), 7), (None, 4), (Some(3), 2)] {
            for column in 0..4 {
                let zero = vec![0; size];
                let value = from.map_or(&zero[..], |row| element(row, 4 + column));
                scattered[(to * N + 1 + column) * size..][..size].copy_from_slice(value);
            }
        }
        assert_eq!(got(2), scattered, "{name}: gather and scatter");
        assert_eq!(got(3)[..8 * size], tile, "{name}: an allocation");
        let first: Vec<u8> = tile.chunks(size).map(|element| element[0]).collect();
        assert_eq!(got(4)[..8], first, "{name}: pointers to bytes");
    }
}
