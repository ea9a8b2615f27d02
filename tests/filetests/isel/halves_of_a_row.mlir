// Two halves of a row: a number that is added to the index before it is widened is the immediate offset of an address.
// run: compile --gpu-name sm_80
// show: add.s32 | cvt | ld.global
entry @k(%a: tile<ptr<f16>>, %o: tile<ptr<f16>>) {
  %q0 = assume div_by<16>, %a : tile<ptr<f16>>
  %num = iota : tile<256xi32>
  %half = constant <i32: 256> : tile<256xi32>
  %second = addi %num, %half : tile<256xi32>
  %wide = exti %num signed : tile<256xi32> -> tile<256xi64>
  %wide2 = exti %second signed : tile<256xi32> -> tile<256xi64>
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %bx64 = exti %bx signed : tile<i32> -> tile<i64>
  %bx1 = reshape %bx64 : tile<i64> -> tile<1xi64>
  %bxb = broadcast %bx1 : tile<1xi64> -> tile<256xi64>
  %width = constant <i64: 512> : tile<256xi64>
  %row = muli %bxb, %width : tile<256xi64>
  %place = addi %row, %wide : tile<256xi64>
  %place2 = addi %row, %wide2 : tile<256xi64>
  %q = reshape %q0 : tile<ptr<f16>> -> tile<1xptr<f16>>
  %b = broadcast %q : tile<1xptr<f16>> -> tile<256xptr<f16>>
  %at = offset %b, %place : tile<256xptr<f16>>, tile<256xi64> -> tile<256xptr<f16>>
  %at2 = offset %b, %place2 : tile<256xptr<f16>>, tile<256xi64> -> tile<256xptr<f16>>
  %x, %l = load_ptr_tko weak %at : tile<256xptr<f16>> -> tile<256xf16>, token
  %y, %l2 = load_ptr_tko weak %at2 : tile<256xptr<f16>> -> tile<256xf16>, token
  %sum = addf %x, %y : tile<256xf16>
  %p = reshape %o : tile<ptr<f16>> -> tile<1xptr<f16>>
  %pb = broadcast %p : tile<1xptr<f16>> -> tile<256xptr<f16>>
  %to = offset %pb, %wide : tile<256xptr<f16>>, tile<256xi64> -> tile<256xptr<f16>>
  %s = store_ptr_tko weak %to, %sum : tile<256xptr<f16>>, tile<256xf16> -> token
  return
}
