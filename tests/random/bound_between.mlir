// A loop that ends by a condition bounds a loop of matmuls by what it carries second; what it carries first is not used behind it:
// a search between two places, which come nearer to each other.
// grid: 3,1,1
// arg: buffer i32 8 whole 3 6 seed 5
// arg: buffer f16 32768 whole -2 2 seed 0
// arg: buffer f16 16384 whole -2 2 seed 1
// arg: buffer f32 24576 whole 7 7 seed 0
entry @main(%table: tile<ptr<i32>>, %a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %n, %by, %bz = get_tile_block_id : tile<i32>
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %4 = constant <i32: 4> : tile<i32>
  %a16 = assume div_by<16>, %a : tile<ptr<f16>>
  %b16 = assume div_by<16>, %b : tile<ptr<f16>>
  %c16 = assume div_by<16>, %c : tile<ptr<f32>>
  %at = make_tensor_view %a16, shape = [128, 256], strides = [256, 1] : tensor_view<128x256xf16, strides=[256,1]>
  %bt = make_tensor_view %b16, shape = [256, 64], strides = [64, 1] : tensor_view<256x64xf16, strides=[64,1]>
  %ct = make_tensor_view %c16, shape = [384, 64], strides = [64, 1] : tensor_view<384x64xf32, strides=[64,1]>
  %ap = make_partition_view %at : partition_view<tile=(128x64), tensor_view<128x256xf16, strides=[256,1]>>
  %bp = make_partition_view %bt : partition_view<tile=(64x64), tensor_view<256x64xf16, strides=[64,1]>>
  %cp = make_partition_view %ct : partition_view<tile=(128x64), tensor_view<384x64xf32, strides=[64,1]>>
  %at_n = offset %table, %n : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %high, %t0 = load_ptr_tko weak %at_n : tile<ptr<i32>> -> tile<i32>, token
  %last, %count = loop iter_values(%hi = %high, %lo = %0) : tile<i32>, tile<i32> -> tile<i32>, tile<i32> {
    %apart = cmpi greater_than %hi, %lo, signed : tile<i32> -> tile<i1>
    if %apart {
    } else {
      break %hi, %lo : tile<i32>, tile<i32>
    }
    %less = subi %hi, %1 : tile<i32>
    %more = addi %lo, %1 : tile<i32>
    continue %less, %more : tile<i32>, tile<i32>
  }
  %zero = constant <f32: 0.0> : tile<128x64xf32>
  %sum = for %k in (%0 to %count, step %1) : tile<i32> iter_values(%s = %zero) -> (tile<128x64xf32>) {
    %l, %t1 = load_view_tko weak %ap[%0, %k] : partition_view<tile=(128x64), tensor_view<128x256xf16, strides=[256,1]>>, tile<i32> -> tile<128x64xf16>, token
    %r, %t2 = load_view_tko weak %bp[%k, %0] : partition_view<tile=(64x64), tensor_view<256x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
    %p = mmaf %l, %r, %s : tile<128x64xf16>, tile<64x64xf16>, tile<128x64xf32>
    continue %p : tile<128x64xf32>
  }
  %t3 = store_view_tko weak %sum, %cp[%n, %0] : tile<128x64xf32>, partition_view<tile=(128x64), tensor_view<384x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
