// A quotient of a block's number is not negative, whatever it is divided by: times a stride it is one wide product.
// run: compile --gpu-name sm_80
// show: mul. | mad. | cvt.
entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %stride: tile<i32>, %x: tile<f32>) {
  %b, %by, %bz = get_tile_block_id : tile<i32>
  %row = divi %b, %n unsigned : tile<i32>
  %row64 = exti %row unsigned : tile<i32> -> tile<i64>
  %stride64 = exti %stride signed : tile<i32> -> tile<i64>
  %index = muli %row64, %stride64 : tile<i64>
  %at = offset %p, %index : tile<ptr<f32>>, tile<i64> -> tile<ptr<f32>>
  %t = store_ptr_tko weak %at, %x : tile<ptr<f32>>, tile<f32> -> token
  return
}
