// Places of a block that begins at a multiple of its length: they do not wrap, wherever the block is.
// run: compile --gpu-name sm_80
// show: setp | sub.s32 | max | add.s32 | max.f16
entry @k(%a: tile<ptr<f16>>, %n: tile<i32>) {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %length = constant <i32: 1024> : tile<i32>
  %start = muli %x, %length : tile<i32>
  %s1 = reshape %start : tile<i32> -> tile<1xi32>
  %sb = broadcast %s1 : tile<1xi32> -> tile<1024xi32>
  %num = iota : tile<1024xi32>
  %place = addi %sb, %num : tile<1024xi32>
  %q = reshape %a : tile<ptr<f16>> -> tile<1xptr<f16>>
  %b = broadcast %q : tile<1xptr<f16>> -> tile<1024xptr<f16>>
  %at = offset %b, %place : tile<1024xptr<f16>>, tile<1024xi32> -> tile<1024xptr<f16>>
  %n1 = reshape %n : tile<i32> -> tile<1xi32>
  %nb = broadcast %n1 : tile<1xi32> -> tile<1024xi32>
  %m = cmpi less_than %place, %nb, signed : tile<1024xi32> -> tile<1024xi1>
  %zero = constant <f16: 0.0> : tile<1024xf16>
  %v, %l = load_ptr_tko weak %at, %m, %zero : tile<1024xptr<f16>>, tile<1024xi1>, tile<1024xf16> -> tile<1024xf16>, token
  %above = cmpf greater_than ordered %v, %zero : tile<1024xf16> -> tile<1024xi1>
  %w = select %above, %v, %zero : tile<1024xi1>, tile<1024xf16>
  %s = store_ptr_tko weak %at, %w, %m token=%l : tile<1024xptr<f16>>, tile<1024xf16>, tile<1024xi1> -> token
  return
}
