// Three matmuls add to one accumulator, which the loop carries from the last to the first: it stays in tensor memory, is neither loaded nor
// stored in the loop, and the first matmul of all overwrites it. The left operands that are computed are stored in front of the first
// matmul, and all three are waited for once.
// run: compile --gpu-name sm_100a --emit nv_tileas
// show: consumer_wait | tensor_load | tensor_store | tensor_dot | cuda_tile.for | cuda_tile.continue
entry @main(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 8> : tile<i32>
  %a16 = assume div_by<16>, %a : tile<ptr<f16>>
  %b16 = assume div_by<16>, %b : tile<ptr<f16>>
  %c16 = assume div_by<16>, %c : tile<ptr<f32>>
  %at = make_tensor_view %a16, shape = [128, 512], strides = [512, 1] : tensor_view<128x512xf16, strides=[512,1]>
  %bt = make_tensor_view %b16, shape = [512, 128], strides = [128, 1] : tensor_view<512x128xf16, strides=[128,1]>
  %ap = make_partition_view %at : partition_view<tile=(128x64), tensor_view<128x512xf16, strides=[512,1]>>
  %bp = make_partition_view %bt : partition_view<tile=(64x128), tensor_view<512x128xf16, strides=[128,1]>>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %sum = for %k in (%0 to %n, step %1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x128xf32>) {
    %x, %t0 = load_view_tko weak %ap[%0, %k] : partition_view<tile=(128x64), tensor_view<128x512xf16, strides=[512,1]>>, tile<i32> -> tile<128x64xf16>, token
    %y, %t1 = load_view_tko weak %bp[%k, %0] : partition_view<tile=(64x128), tensor_view<512x128xf16, strides=[128,1]>>, tile<i32> -> tile<64x128xf16>, token
    %xn = negf %x : tile<128x64xf16>
    %xe = exp2 %x : tile<128x64xf16>
    %d1 = mmaf %x, %y, %acc : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
    %d2 = mmaf %xn, %y, %d1 : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
    %d3 = mmaf %xe, %y, %d2 : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
    continue %d3 : tile<128x128xf32>
  }
  %ct = make_tensor_view %c16, shape = [128, 128], strides = [128, 1] : tensor_view<128x128xf32, strides=[128,1]>
  %cp = make_partition_view %ct : partition_view<tile=(128x128), tensor_view<128x128xf32, strides=[128,1]>>
  %t2 = store_view_tko weak %sum, %cp[%0, %0] : tile<128x128xf32>, partition_view<tile=(128x128), tensor_view<128x128xf32, strides=[128,1]>>, tile<i32> -> token
  return
}
