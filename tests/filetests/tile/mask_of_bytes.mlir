// A mask of one byte an element, as CUDA Tile C++ has it: truth values are widened, shown in other shapes, combined and
// compared with zero. They stay truth values.
// run: compile --emit nv_tileaa
// show: exti | andi | cmpi | select
entry @k(%p: tile<ptr<f32>>, %n: tile<i32>) {
  %v = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
  %t = make_partition_view %v : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %num = iota : tile<64xi32>
  %n1 = reshape %n : tile<i32> -> tile<1xi32>
  %nb = broadcast %n1 : tile<1xi32> -> tile<64xi32>
  %in = cmpi less_than %num, %nb, signed : tile<64xi32> -> tile<64xi1>
  %byte = exti %in unsigned : tile<64xi1> -> tile<64xi8>
  %row = reshape %byte : tile<64xi8> -> tile<1x64xi8>
  %rows = broadcast %row : tile<1x64xi8> -> tile<64x64xi8>
  %i1 = reshape %num : tile<64xi32> -> tile<64x1xi32>
  %i = broadcast %i1 : tile<64x1xi32> -> tile<64x64xi32>
  %j1 = reshape %num : tile<64xi32> -> tile<1x64xi32>
  %j = broadcast %j1 : tile<1x64xi32> -> tile<64x64xi32>
  %past = cmpi greater_than_or_equal %i, %j, signed : tile<64x64xi32> -> tile<64x64xi1>
  %pastb = exti %past unsigned : tile<64x64xi1> -> tile<64x64xi8>
  %both = andi %rows, %pastb : tile<64x64xi8>
  %zero = constant <i8: 0> : tile<64x64xi8>
  %mask = cmpi not_equal %both, %zero, signed : tile<64x64xi8> -> tile<64x64xi1>
  %none = constant <f32: 0.0> : tile<64x64xf32>
  %x, %l = load_view_tko weak %t[%c0, %c0] : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<64x64xf32>, token
  %y = select %mask, %x, %none : tile<64x64xi1>, tile<64x64xf32>
  %s = store_view_tko weak %y, %t[%c0, %c0] token=%l : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
