// What a loop loads for its next iteration, and for the one behind that, is loaded by the iteration that multiplies it: it comes
// ahead through a pipeline then, not in registers.
// run: explain --gpu-name sm_90a
// run: compile --emit nv_tileas --gpu-name sm_90a
// show: pipeline of | warp roles | no tensor | kernel main | async. | cuda_tile.for
entry @main(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %2 = constant <i32: 2> : tile<i32>
  %3 = constant <i32: 3> : tile<i32>
  %8 = constant <i32: 8> : tile<i32>
  %bid, %by, %bz = get_tile_block_id : tile<i32>
  %a16 = assume div_by<16>, %a : tile<ptr<f16>>
  %b16 = assume div_by<16>, %b : tile<ptr<f16>>
  %c16 = assume div_by<16>, %c : tile<ptr<f32>>
  %at = make_tensor_view %a16, shape = [192, 512], strides = [512, 1] : tensor_view<192x512xf16, strides=[512,1]>
  %bt = make_tensor_view %b16, shape = [512, 64], strides = [64, 1] : tensor_view<512x64xf16, strides=[64,1]>
  %ct = make_tensor_view %c16, shape = [192, 64], strides = [64, 1] : tensor_view<192x64xf32, strides=[64,1]>
  %ap = make_partition_view %at : partition_view<tile=(64x64), tensor_view<192x512xf16, strides=[512,1]>>
  %bp = make_partition_view %bt : partition_view<tile=(64x64), tensor_view<512x64xf16, strides=[64,1]>>
  %cp = make_partition_view %ct : partition_view<tile=(64x64), tensor_view<192x64xf32, strides=[64,1]>>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %less = muli %bid, %3 : tile<i32>
  %n = subi %8, %less : tile<i32>
  %a0, %t0 = load_view_tko weak %ap[%bid, %0] : partition_view<tile=(64x64), tensor_view<192x512xf16, strides=[512,1]>>, tile<i32> -> tile<64x64xf16>, token
  %a1, %t1 = load_view_tko weak %ap[%bid, %1] : partition_view<tile=(64x64), tensor_view<192x512xf16, strides=[512,1]>>, tile<i32> -> tile<64x64xf16>, token
  %b0, %t2 = load_view_tko weak %bp[%0, %0] : partition_view<tile=(64x64), tensor_view<512x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
  %sums, %la, %ln, %lb = for %k in (%2 to %n, step %1) : tile<i32> iter_values(%acc = %zero, %x0 = %a0, %x1 = %a1, %y = %b0) -> (tile<64x64xf32>, tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf16>) {
    %x2, %t3 = load_view_tko weak %ap[%bid, %k] : partition_view<tile=(64x64), tensor_view<192x512xf16, strides=[512,1]>>, tile<i32> -> tile<64x64xf16>, token
    %s = mmaf %x0, %y, %acc : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
    %before = subi %k, %1 : tile<i32>
    %wrapped = remi %before, %n signed : tile<i32>
    %y1, %t4 = load_view_tko weak %bp[%wrapped, %0] : partition_view<tile=(64x64), tensor_view<512x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
    continue %s, %x1, %x2, %y1 : tile<64x64xf32>, tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf16>
  }
  %last = mmaf %la, %lb, %sums : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
  %t5 = store_view_tko weak %last, %cp[%bid, %0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<192x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
