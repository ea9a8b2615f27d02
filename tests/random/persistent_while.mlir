// Two loops in each other that go on in a branch and end where their bodies do, as nvcc makes of C++'s `for (; k * 64 < depth; k++)`
// in a persistent kernel.
// grid: 2,1,1
// arg: buffer f16 98304 whole -2 2 seed 0
// arg: buffer f16 16384 whole -2 2 seed 1
// arg: buffer f32 24576 whole 7 7 seed 0
// arg: i32 6
// arg: i32 200
entry @main(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>, %n: tile<i32>, %depth: tile<i32>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %bid, %by, %bz = get_tile_block_id : tile<i32>
  %nb, %nby, %nbz = get_num_tile_blocks : tile<i32>
  %a16 = assume div_by<16>, %a : tile<ptr<f16>>
  %b16 = assume div_by<16>, %b : tile<ptr<f16>>
  %c16 = assume div_by<16>, %c : tile<ptr<f32>>
  %at = make_tensor_view %a16, shape = [384, 256], strides = [256, 1] : tensor_view<384x256xf16, strides=[256,1]>
  %bt = make_tensor_view %b16, shape = [256, 64], strides = [64, 1] : tensor_view<256x64xf16, strides=[64,1]>
  %ct = make_tensor_view %c16, shape = [384, 64], strides = [64, 1] : tensor_view<384x64xf32, strides=[64,1]>
  %ap = make_partition_view %at : partition_view<tile=(64x64), tensor_view<384x256xf16, strides=[256,1]>>
  %bp = make_partition_view %bt : partition_view<tile=(64x64), tensor_view<256x64xf16, strides=[64,1]>>
  %cp = make_partition_view %ct : partition_view<tile=(64x64), tensor_view<384x64xf32, strides=[64,1]>>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %true = constant <i1: true> : tile<i1>
  %tiles = loop iter_values(%id = %bid) : tile<i32> -> tile<i32> {
    %more = cmpi less_than %id, %n, signed : tile<i32> -> tile<i1>
    if %more {
      %sum:3 = loop iter_values(%acc = %zero, %before = %0, %first = %1) : tile<64x64xf32>, tile<i32>, tile<i32> -> tile<64x64xf32>, tile<i32>, tile<i32> {
        %starts = cmpi not_equal %first, %0, signed : tile<i32> -> tile<i1>
        %after = addi %before, %1 : tile<i32>
        %k = select %starts, %before, %after : tile<i1>, tile<i32>
        %64 = constant <i32: 64> : tile<i32>
        %at_k = muli %k, %64 : tile<i32>
        %runs = cmpi less_than %at_k, %depth, signed : tile<i32> -> tile<i1>
        if %runs {
          %l, %u0 = load_view_tko weak %ap[%id, %k] : partition_view<tile=(64x64), tensor_view<384x256xf16, strides=[256,1]>>, tile<i32> -> tile<64x64xf16>, token
          %r, %u1 = load_view_tko weak %bp[%k, %0] : partition_view<tile=(64x64), tensor_view<256x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
          %s = mmaf %l, %r, %acc : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
          continue %s, %k, %0 : tile<64x64xf32>, tile<i32>, tile<i32>
        }
        break %acc, %k, %0 : tile<64x64xf32>, tile<i32>, tile<i32>
      }
      %t = store_view_tko weak %sum#0, %cp[%id, %0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<384x64xf32, strides=[64,1]>>, tile<i32> -> token
      %next = addi %id, %nb : tile<i32>
      continue %next : tile<i32>
    }
    break %id : tile<i32>
  }
  return
}
