// A matmul by warps, since shared memory is full of what its loop loads ahead, and one by warpgroups start from the same
// zero. Each has one that lies as its own sum does: no zero is converted.
// run: compile --emit nv_tileas --gpu-name sm_90a
// show: dense<0.0 | .dot | convert_layout
entry @k(%a: tile<ptr<f8E4M3FN>>, %sa: tile<i32>, %b: tile<ptr<f8E4M3FN>>, %w: tile<ptr<bf16>>, %n: tile<i32>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f8E4M3FN>>
  %stride = assume bounded<0, ?>, %sa : tile<i32>
  %va = make_tensor_view %pa, shape = [256, 120], strides = [%stride, 1] : tile<i32> -> tensor_view<256x120xf8E4M3FN, strides=[?,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x256), padding_value = zero, tensor_view<256x120xf8E4M3FN, strides=[?,1]>, dim_map=[1, 0]>
  %pw = assume div_by<16>, %w : tile<ptr<bf16>>
  %vw = make_tensor_view %pw, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xbf16, strides=[64,1]>
  %tw = make_partition_view %vw : partition_view<tile=(64x64), tensor_view<64x64xbf16, strides=[64,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [128, 64], strides = [64, 1] : tensor_view<128x64xf32, strides=[64,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x64), tensor_view<128x64xf32, strides=[64,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x64xf32>
  %second, %t0 = load_view_tko weak %tw[%c0, %c0] : partition_view<tile=(64x64), tensor_view<64x64xbf16, strides=[64,1]>>, tile<i32> -> tile<64x64xbf16>, token
  %rows = iota : tile<256xi32>
  %columns = iota : tile<64xi32>
  %row = reshape %columns : tile<64xi32> -> tile<1x64xi32>
  %across = broadcast %row : tile<1x64xi32> -> tile<256x64xi32>
  %width = constant <i32: 64> : tile<256xi32>
  %starts = muli %rows, %width : tile<256xi32>
  %column = reshape %starts : tile<256xi32> -> tile<256x1xi32>
  %down = broadcast %column : tile<256x1xi32> -> tile<256x64xi32>
  %places = addi %down, %across : tile<256x64xi32>
  %pb = assume div_by<16>, %b : tile<ptr<f8E4M3FN>>
  %one = reshape %pb : tile<ptr<f8E4M3FN>> -> tile<1x1xptr<f8E4M3FN>>
  %all = broadcast %one : tile<1x1xptr<f8E4M3FN>> -> tile<256x64xptr<f8E4M3FN>>
  %from = offset %all, %places : tile<256x64xptr<f8E4M3FN>>, tile<256x64xi32> -> tile<256x64xptr<f8E4M3FN>>
  %first = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x64xf32>) {
    %x, %t1 = load_view_tko weak %ta[%c0, %k] : partition_view<tile=(128x256), padding_value = zero, tensor_view<256x120xf8E4M3FN, strides=[?,1]>, dim_map=[1, 0]>, tile<i32> -> tile<128x256xf8E4M3FN>, token
    %y, %t2 = load_ptr_tko weak %from : tile<256x64xptr<f8E4M3FN>> -> tile<256x64xf8E4M3FN>, token
    %wide_x = ftof %x : tile<128x256xf8E4M3FN> -> tile<128x256xbf16>
    %wide_y = ftof %y : tile<256x64xf8E4M3FN> -> tile<256x64xbf16>
    %sum = mmaf %wide_x, %wide_y, %acc : tile<128x256xbf16>, tile<256x64xbf16>, tile<128x64xf32>
    continue %sum : tile<128x64xf32>
  }
  %low = constant <f32: -8.0> : tile<128x64xf32>
  %high = constant <f32: 8.0> : tile<128x64xf32>
  %above = maxf %first, %low : tile<128x64xf32>
  %between = minf %above, %high : tile<128x64xf32>
  %narrow = ftof %between : tile<128x64xf32> -> tile<128x64xbf16>
  %out = mmaf %narrow, %second, %zero : tile<128x64xbf16>, tile<64x64xbf16>, tile<128x64xf32>
  %t3 = store_view_tko weak %out, %tc[%c0, %c0] : tile<128x64xf32>, partition_view<tile=(128x64), tensor_view<128x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
