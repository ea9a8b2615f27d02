// The row of a block, in registers that are all the same: one wide product.
// run: compile --gpu-name sm_80
// show: mul | ld.global
entry @k(%a: tile<ptr<f16>>, %stride: tile<i32>) {
  %q0 = assume div_by<16>, %a : tile<ptr<f16>>
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %bx64 = exti %bx signed : tile<i32> -> tile<i64>
  %bx1 = reshape %bx64 : tile<i64> -> tile<1xi64>
  %bxb = broadcast %bx1 : tile<1xi64> -> tile<1024xi64>
  %n0 = assume bounded<0, ?>, %stride : tile<i32>
  %n8 = assume div_by<8>, %n0 : tile<i32>
  %n64 = exti %n8 signed : tile<i32> -> tile<i64>
  %n1 = reshape %n64 : tile<i64> -> tile<1xi64>
  %nb = broadcast %n1 : tile<1xi64> -> tile<1024xi64>
  %row = muli %bxb, %nb : tile<1024xi64>
  %num = iota : tile<1024xi32>
  %wide = exti %num signed : tile<1024xi32> -> tile<1024xi64>
  %place = addi %row, %wide : tile<1024xi64>
  %q = reshape %q0 : tile<ptr<f16>> -> tile<1xptr<f16>>
  %b = broadcast %q : tile<1xptr<f16>> -> tile<1024xptr<f16>>
  %at = offset %b, %place : tile<1024xptr<f16>>, tile<1024xi64> -> tile<1024xptr<f16>>
  %x, %l = load_ptr_tko weak %at : tile<1024xptr<f16>> -> tile<1024xf16>, token
  %s = store_ptr_tko weak %at, %x token=%l : tile<1024xptr<f16>>, tile<1024xf16> -> token
  return
}
