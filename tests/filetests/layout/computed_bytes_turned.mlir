// Bytes that are computed from what lies with N contiguous, and stored with K contiguous: threads hold blocks of neighbours on both sides,
// which they transpose in registers, so that they read and write words.
// run: compile --gpu-name sm_90a
// run: compile --gpu-name sm_100a
// show: st.shared
entry @main(%a: tile<ptr<i8>>, %b: tile<ptr<i8>>, %c: tile<ptr<i32>>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 8> : tile<i32>
  %a16 = assume div_by<16>, %a : tile<ptr<i8>>
  %b16 = assume div_by<16>, %b : tile<ptr<i8>>
  %c16 = assume div_by<16>, %c : tile<ptr<i32>>
  %at = make_tensor_view %a16, shape = [64, 512], strides = [512, 1] : tensor_view<64x512xi8, strides=[512,1]>
  %bt = make_tensor_view %b16, shape = [512, 64], strides = [64, 1] : tensor_view<512x64xi8, strides=[64,1]>
  %ap = make_partition_view %at : partition_view<tile=(64x64), tensor_view<64x512xi8, strides=[512,1]>>
  %bp = make_partition_view %bt : partition_view<tile=(64x64), tensor_view<512x64xi8, strides=[64,1]>>
  %zero = constant <i32: 0> : tile<64x64xi32>
  %three = constant <i8: 3> : tile<64x64xi8>
  %one = constant <i8: 1> : tile<64x64xi8>
  %sum = for %k in (%0 to %n, step %1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x64xi32>) {
    %x, %t0 = load_view_tko weak %ap[%0, %k] : partition_view<tile=(64x64), tensor_view<64x512xi8, strides=[512,1]>>, tile<i32> -> tile<64x64xi8>, token
    %y, %t1 = load_view_tko weak %bp[%k, %0] : partition_view<tile=(64x64), tensor_view<512x64xi8, strides=[64,1]>>, tile<i32> -> tile<64x64xi8>, token
    %bits = andi %y, %three : tile<64x64xi8>
    %w = subi %bits, %one overflow<none> : tile<64x64xi8>
    %d = mmai %x, %w, %acc signed signed : tile<64x64xi8>, tile<64x64xi8>, tile<64x64xi32>
    continue %d : tile<64x64xi32>
  }
  %ct = make_tensor_view %c16, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xi32, strides=[64,1]>
  %cp = make_partition_view %ct : partition_view<tile=(64x64), tensor_view<64x64xi32, strides=[64,1]>>
  %t2 = store_view_tko weak %sum, %cp[%0, %0] : tile<64x64xi32>, partition_view<tile=(64x64), tensor_view<64x64xi32, strides=[64,1]>>, tile<i32> -> token
  return
}
