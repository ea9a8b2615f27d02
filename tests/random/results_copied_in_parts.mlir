// A persistent matmul whose results are copied out of tensor memory in parts of their columns, beyond the ends of the tensor, too;
// each store waits for the one before.
// grid: 2,1,1
// arg: buffer f16 76800 whole -2 2 seed 0
// arg: buffer f16 66560 whole -2 2 seed 1
// arg: buffer f16 312000 whole 7 7 seed 0
entry @main(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f16>>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %2 = constant <i32: 2> : tile<i32>
  %3 = constant <i32: 3> : tile<i32>
  %9 = constant <i32: 9> : tile<i32>
  %bid, %by, %bz = get_tile_block_id : tile<i32>
  %gx, %gy, %gz = get_num_tile_blocks : tile<i32>
  %a16 = assume div_by<16>, %a : tile<ptr<f16>>
  %b16 = assume div_by<16>, %b : tile<ptr<f16>>
  %c16 = assume div_by<16>, %c : tile<ptr<f16>>
  %at = make_tensor_view %a16, shape = [600, 128], strides = [128, 1] : tensor_view<600x128xf16, strides=[128,1]>
  %bt = make_tensor_view %b16, shape = [128, 520], strides = [520, 1] : tensor_view<128x520xf16, strides=[520,1]>
  %ct = make_tensor_view %c16, shape = [600, 520], strides = [520, 1] : tensor_view<600x520xf16, strides=[520,1]>
  %ap = make_partition_view %at : partition_view<tile=(256x64), padding_value = zero, tensor_view<600x128xf16, strides=[128,1]>>
  %bp = make_partition_view %bt : partition_view<tile=(64x256), padding_value = zero, tensor_view<128x520xf16, strides=[520,1]>>
  %cp = make_partition_view %ct : partition_view<tile=(256x256), tensor_view<600x520xf16, strides=[520,1]>>
  %zero = constant <f32: 0.0> : tile<256x256xf32>
  %first = make_token : token
  %last = for %t in (%bid to %9, step %gx) : tile<i32> iter_values(%before = %first) -> (token) {
    %i = divi %t, %3 signed : tile<i32>
    %j = remi %t, %3 signed : tile<i32>
    %sums = for %k in (%0 to %2, step %1) : tile<i32> iter_values(%acc = %zero) -> (tile<256x256xf32>) {
      %l, %t0 = load_view_tko weak %ap[%i, %k] : partition_view<tile=(256x64), padding_value = zero, tensor_view<600x128xf16, strides=[128,1]>>, tile<i32> -> tile<256x64xf16>, token
      %r, %t1 = load_view_tko weak %bp[%k, %j] : partition_view<tile=(64x256), padding_value = zero, tensor_view<128x520xf16, strides=[520,1]>>, tile<i32> -> tile<64x256xf16>, token
      %s = mmaf %l, %r, %acc : tile<256x64xf16>, tile<64x256xf16>, tile<256x256xf32>
      continue %s : tile<256x256xf32>
    }
    %h = ftof %sums : tile<256x256xf32> -> tile<256x256xf16>
    %t2 = store_view_tko weak %h, %cp[%i, %j] token = %before : tile<256x256xf16>, partition_view<tile=(256x256), tensor_view<600x520xf16, strides=[520,1]>>, tile<i32> -> token
    continue %t2 : token
  }
  return
}
