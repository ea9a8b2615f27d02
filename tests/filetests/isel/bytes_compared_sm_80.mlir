// The median of three, the absolute value, and which of two is less: of bytes, four at a time in a register.
// run: compile --gpu-name sm_80
// show: lop3 | prmt | setp | min | max | sel | cvt
entry @main(%a: tile<ptr<i8>>, %b: tile<ptr<i8>>, %c: tile<ptr<i8>>, %o: tile<ptr<i8>>) {
  %0 = constant <i32: 0> : tile<i32>
  %a16 = assume div_by<16>, %a : tile<ptr<i8>>
  %b16 = assume div_by<16>, %b : tile<ptr<i8>>
  %c16 = assume div_by<16>, %c : tile<ptr<i8>>
  %o16 = assume div_by<16>, %o : tile<ptr<i8>>
  %at = make_tensor_view %a16, shape = [512], strides = [1] : tensor_view<512xi8, strides=[1]>
  %bt = make_tensor_view %b16, shape = [512], strides = [1] : tensor_view<512xi8, strides=[1]>
  %ct = make_tensor_view %c16, shape = [512], strides = [1] : tensor_view<512xi8, strides=[1]>
  %ot = make_tensor_view %o16, shape = [512], strides = [1] : tensor_view<512xi8, strides=[1]>
  %ap = make_partition_view %at : partition_view<tile=(512), tensor_view<512xi8, strides=[1]>>
  %bp = make_partition_view %bt : partition_view<tile=(512), tensor_view<512xi8, strides=[1]>>
  %cp = make_partition_view %ct : partition_view<tile=(512), tensor_view<512xi8, strides=[1]>>
  %op = make_partition_view %ot : partition_view<tile=(512), tensor_view<512xi8, strides=[1]>>
  %x, %t0 = load_view_tko weak %ap[%0] : partition_view<tile=(512), tensor_view<512xi8, strides=[1]>>, tile<i32> -> tile<512xi8>, token
  %y, %t1 = load_view_tko weak %bp[%0] : partition_view<tile=(512), tensor_view<512xi8, strides=[1]>>, tile<i32> -> tile<512xi8>, token
  %z, %t2 = load_view_tko weak %cp[%0] : partition_view<tile=(512), tensor_view<512xi8, strides=[1]>>, tile<i32> -> tile<512xi8>, token
  %low = mini %x, %y signed : tile<512xi8>
  %high = maxi %x, %y signed : tile<512xi8>
  %rest = mini %high, %z signed : tile<512xi8>
  %median = maxi %low, %rest signed : tile<512xi8>
  %size = absi %median : tile<512xi8>
  %less = cmpi less_than %x, %z, unsigned : tile<512xi8> -> tile<512xi1>
  %r = select %less, %size, %y : tile<512xi1>, tile<512xi8>
  %t3 = store_view_tko weak %r, %op[%0] : tile<512xi8>, partition_view<tile=(512), tensor_view<512xi8, strides=[1]>>, tile<i32> -> token
  return
}
