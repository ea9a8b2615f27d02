// A branch leaves the loop behind what it loads and in front of the matmul that reads it, whose result is not used then: the
// stage that has been filled is handed back. A loop around it goes on with the next stage.
// grid: 1,1,1
// arg: buffer f16 24576 whole -2 2 seed 0
// arg: buffer f16 24576 whole -2 2 seed 1
// arg: buffer i32 32 whole 0 4 seed 2
// arg: buffer f32 16384 whole 7 7 seed 0
entry @main(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %flags: tile<ptr<i32>>, %c: tile<ptr<f32>>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %4 = constant <i32: 4> : tile<i32>
  %6 = constant <i32: 6> : tile<i32>
  %a16 = assume div_by<16>, %a : tile<ptr<f16>>
  %b16 = assume div_by<16>, %b : tile<ptr<f16>>
  %c16 = assume div_by<16>, %c : tile<ptr<f32>>
  %at = make_tensor_view %a16, shape = [64, 384], strides = [384, 1] : tensor_view<64x384xf16, strides=[384,1]>
  %bt = make_tensor_view %b16, shape = [384, 64], strides = [64, 1] : tensor_view<384x64xf16, strides=[64,1]>
  %ct = make_tensor_view %c16, shape = [256, 64], strides = [64, 1] : tensor_view<256x64xf32, strides=[64,1]>
  %ap = make_partition_view %at : partition_view<tile=(64x64), tensor_view<64x384xf16, strides=[384,1]>>
  %bp = make_partition_view %bt : partition_view<tile=(64x64), tensor_view<384x64xf16, strides=[64,1]>>
  %cp = make_partition_view %ct : partition_view<tile=(64x64), tensor_view<256x64xf32, strides=[64,1]>>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  for %i in (%0 to %4, step %1) : tile<i32> {
    %sum = loop iter_values(%acc = %zero, %k = %0) : tile<64x64xf32>, tile<i32> -> tile<64x64xf32> {
      %more = cmpi less_than %k, %6, signed : tile<i32> -> tile<i1>
      if %more {
        %l, %t0 = load_view_tko weak %ap[%0, %k] : partition_view<tile=(64x64), tensor_view<64x384xf16, strides=[384,1]>>, tile<i32> -> tile<64x64xf16>, token
        %r, %t1 = load_view_tko weak %bp[%k, %0] : partition_view<tile=(64x64), tensor_view<384x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
        %s = mmaf %l, %r, %acc : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
        %row = muli %i, %6 : tile<i32>
        %n = addi %row, %k : tile<i32>
        %p = offset %flags, %n : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %flag, %t2 = load_ptr_tko weak %p : tile<ptr<i32>> -> tile<i32>, token
        %stop = cmpi equal %flag, %0, signed : tile<i32> -> tile<i1>
        if %stop {
          break %zero : tile<64x64xf32>
        }
        %next = addi %k, %1 : tile<i32>
        continue %s, %next : tile<64x64xf32>, tile<i32>
      }
      break %acc : tile<64x64xf32>
    }
    %t3 = store_view_tko weak %sum, %cp[%i, %0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<256x64xf32, strides=[64,1]>>, tile<i32> -> token
  }
  return
}
