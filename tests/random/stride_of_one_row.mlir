// The stride of a dimension of extent 1 is assumed to be divisible, as cuTile Python assumes of any. Nothing goes along
// it, so that the interpreter has nothing to object to.
// grid: 1,1,1
// arg: buffer i8 2 whole -5 5 seed 1
// arg: i32 2
// arg: i32 2
// arg: buffer i8 2 zero seed 0
entry @main(%x: tile<ptr<i8>>, %n: tile<i32>, %stride: tile<i32>, %y: tile<ptr<i8>>) {
  %s0 = assume bounded<0, ?>, %stride : tile<i32>
  %s = assume div_by<16>, %s0 : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %vx = make_tensor_view %x, shape = [1, %n], strides = [%s, 1] : tile<i32> -> tensor_view<1x?xi8, strides=[?,1]>
  %tx = make_partition_view %vx : partition_view<tile=(1x2), tensor_view<1x?xi8, strides=[?,1]>>
  %vy = make_tensor_view %y, shape = [1, %n], strides = [%s, 1] : tile<i32> -> tensor_view<1x?xi8, strides=[?,1]>
  %ty = make_partition_view %vy : partition_view<tile=(1x2), tensor_view<1x?xi8, strides=[?,1]>>
  %v, %t0 = load_view_tko weak %tx[%c0, %c0] : partition_view<tile=(1x2), tensor_view<1x?xi8, strides=[?,1]>>, tile<i32> -> tile<1x2xi8>, token
  %t1 = store_view_tko weak %v, %ty[%c0, %c0] : tile<1x2xi8>, partition_view<tile=(1x2), tensor_view<1x?xi8, strides=[?,1]>>, tile<i32> -> token
  return
}
