// An index of a row and a column, as gathers have: a thread's column is added to the pointer once, and each of its rows takes
// one addition, also where several columns of the rows are loaded.
// run: compile --gpu-name sm_90a
// show: .entry | add.s64 | shl.b64 | ld.global
entry @k(%p: tile<ptr<f32>>, %o: tile<ptr<f32>>, %first: tile<i32>, %stride: tile<i32>) {
  %numbers = iota : tile<4xi32>
  %f1 = reshape %first : tile<i32> -> tile<1xi32>
  %fs = broadcast %f1 : tile<1xi32> -> tile<4xi32>
  %r = addi %numbers, %fs : tile<4xi32>
  %r2 = reshape %r : tile<4xi32> -> tile<4x1xi32>
  %r64 = exti %r2 signed : tile<4x1xi32> -> tile<4x1xi64>
  %rows = broadcast %r64 : tile<4x1xi64> -> tile<4x128xi64>
  %s64 = exti %stride signed : tile<i32> -> tile<i64>
  %s1 = reshape %s64 : tile<i64> -> tile<1x1xi64>
  %ss = broadcast %s1 : tile<1x1xi64> -> tile<4x128xi64>
  %starts = muli %rows, %ss : tile<4x128xi64>
  %columns = iota : tile<128xi32>
  %c2 = reshape %columns : tile<128xi32> -> tile<1x128xi32>
  %c64 = exti %c2 signed : tile<1x128xi32> -> tile<1x128xi64>
  %cs = broadcast %c64 : tile<1x128xi64> -> tile<4x128xi64>
  %index = addi %starts, %cs : tile<4x128xi64>
  %p1 = reshape %p : tile<ptr<f32>> -> tile<1x1xptr<f32>>
  %ps = broadcast %p1 : tile<1x1xptr<f32>> -> tile<4x128xptr<f32>>
  %at = offset %ps, %index : tile<4x128xptr<f32>>, tile<4x128xi64> -> tile<4x128xptr<f32>>
  %x, %t0 = load_ptr_tko weak %at : tile<4x128xptr<f32>> -> tile<4x128xf32>, token
  %v = make_tensor_view %o, shape = [4, 128], strides = [128, 1] : tensor_view<4x128xf32, strides=[128,1]>
  %tiles = make_partition_view %v : partition_view<tile=(4x128), tensor_view<4x128xf32, strides=[128,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %t1 = store_view_tko weak %x, %tiles[%c0, %c0] : tile<4x128xf32>, partition_view<tile=(4x128), tensor_view<4x128xf32, strides=[128,1]>>, tile<i32> -> token
  return
}
