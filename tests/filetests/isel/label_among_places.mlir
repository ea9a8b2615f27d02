// Places of a row are compared with a label of 64 bits, which is a number of the row or none. How far the label is behind a thread's
// first place is found once; each place is then compared with a number of 32 bits, and no place is computed.
// run: compile --emit ptx --gpu-name sm_80
// show: setp | sub.s64 | min.u64 | add.s32 | cvt
entry @k(%labels: tile<ptr<i64>>, %x: tile<ptr<f32>>) {
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %pl = assume div_by<8>, %labels : tile<ptr<i64>>
  %vl = make_tensor_view %pl, shape = [64], strides = [1] : tensor_view<64xi64, strides=[1]>
  %tl = make_partition_view %vl : partition_view<tile=(1), tensor_view<64xi64, strides=[1]>>
  %px = assume div_by<16>, %x : tile<ptr<f32>>
  %vx = make_tensor_view %px, shape = [64, 4096], strides = [4096, 1] : tensor_view<64x4096xf32, strides=[4096,1]>
  %tx = make_partition_view %vx : partition_view<tile=(1x1024), tensor_view<64x4096xf32, strides=[4096,1]>>
  %label, %t0 = load_view_tko weak %tl[%bx] : partition_view<tile=(1), tensor_view<64xi64, strides=[1]>>, tile<i32> -> tile<1xi64>, token
  %labels0 = broadcast %label : tile<1xi64> -> tile<1024xi64>
  %lane = iota : tile<1024xi32>
  %length = constant <i32: 1024> : tile<i32>
  %byb = assume bounded<0, 3>, %by : tile<i32>
  %first = muli %byb, %length : tile<i32>
  %first1 = reshape %first : tile<i32> -> tile<1xi32>
  %firsts = broadcast %first1 : tile<1xi32> -> tile<1024xi32>
  %place = addi %firsts, %lane : tile<1024xi32>
  %wide = exti %place unsigned : tile<1024xi32> -> tile<1024xi64>
  %is = cmpi equal %wide, %labels0, signed : tile<1024xi64> -> tile<1024xi1>
  %row, %t1 = load_view_tko weak %tx[%bx, %by] : partition_view<tile=(1x1024), tensor_view<64x4096xf32, strides=[4096,1]>>, tile<i32> -> tile<1x1024xf32>, token
  %flat = reshape %row : tile<1x1024xf32> -> tile<1024xf32>
  %one = constant <f32: 1.0> : tile<1024xf32>
  %less = subf %flat, %one rounding<nearest_even> : tile<1024xf32>
  %new = select %is, %less, %flat : tile<1024xi1>, tile<1024xf32>
  %new2 = reshape %new : tile<1024xf32> -> tile<1x1024xf32>
  %t2 = store_view_tko weak %new2, %tx[%bx, %by] token=%t1 : tile<1x1024xf32>, partition_view<tile=(1x1024), tensor_view<64x4096xf32, strides=[4096,1]>>, tile<i32> -> token
  return
}
